"""What a kernel's release text alone says of its ``/dev/random``: true, or "unknown", never a guess.

The blocking pool was removed in mainline 5.6 (commit 90ea1c6436d2) and, in mid-2022, from the stable branches
(4.9.320, 4.14.285, 4.19.249, 5.4.200). ``uname -r`` shows such a sublevel only for makers that build the branch as it
is: Ubuntu, Debian, RHEL and SUSE print a number of their own instead, so each maker needs its own rule.
Rows are those of the decision table (facts: kernel, section 11).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from seedstall.model.kernel import BlockingModel, Certainty

MAX_RELEASE = 1024
POOL_REMOVED = (5, 6)
"""Mainline: commits 90ea1c6436d2 (pool removed) and 30c08efec888 (/dev/random is getrandom(0))."""

STABLE_BORDERS = {(4, 9): 320, (4, 14): 285, (4, 19): 249, (5, 4): 200}
"""First sublevel of each stable branch without the pool (4.9.319, 4.14.280 read with it; 4.9.337, 4.19.255 without;
5.4.200 by Ubuntu's changelog of 5.4.0-126). 4.4.y never got the series."""

UBUNTU_BORDERS = {(4, 15): 194, (5, 4): 126}
"""ABI numbers of Ubuntu's own `linux` package: 4.15.0-193 and 5.4.0-125 booted with the pool, -194 and -126 without."""
UBUNTU_FLAVOURS = frozenset(("generic", "lowlatency", "virtual", "server", "generic-lpae"))
"""Flavours of that package. All others (aws, azure, gcp, oem, kvm, raspi, ...) count ABI numbers of their own."""
UBUNTU_DERIVED_ABI = 1000
"""From here on an ABI number belongs to a derived package, whatever its flavour is called."""
UBUNTU_44_READ = 210
"""Ubuntu's last public 4.4 build, read and booted with the pool; what ESM built later was not read."""

DEBIAN_BORDERS = {(4, 9): 19, (4, 19): 21}
"""ABI numbers: 4.9.0-18 is 4.9.303-1 and -19 is 4.9.320-2; 4.19.0-20 is 4.19.235-1 and -21 is 4.19.249-2
(as their own ``uname -v`` says)."""

EL_BASES = {
    5: ((2, 6, 18),),
    6: ((2, 6, 32),),
    7: ((3, 10, 0), (4, 11, 0), (4, 14, 0), (4, 18, 0)),  # the last three are RHEL-ALT (el7a)
    8: ((4, 18, 0),),
    9: ((5, 14, 0),),
    10: ((6, 12, 0),),
}
"""The kernels RHEL itself ships. Another base with an el tag (ELRepo, Xen4CentOS) is a stable branch, packaged."""
EL8_EXTRNG_BUILD = 240
"""4.18.0-240.el8 (8.3) brought ``extrng``: with fips=1 the crypto DRBG serves the devices."""
UEK_READ_BUILD = 2036
"""UEK's build numbers are year and week. 5.4.17-2036 was reported starving (netdata#10458); which later build dropped
the pool is not known."""

GVISOR_BUILD = "#1 SMP Sun Jan 10 15:06:54 PST 2016"
"""gVisor's fixed ``uname -v``; its ``uname -r`` is 4.19.0-gvisor, once 4.4.0."""


class Maker(StrEnum):
    """Who built the kernel, as far as its release text tells: decides what its numbers mean."""

    PLAIN = "a stable branch as it is"
    UBUNTU = "Ubuntu"
    UBUNTU_FLAVOUR = "an Ubuntu flavour"
    DEBIAN = "Debian"
    EL = "RHEL or a rebuild"
    UEK = "Oracle UEK"
    AMAZON = "Amazon Linux"
    SUSE = "SUSE"
    WSL1 = "WSL 1"
    WSL2 = "WSL 2"
    GVISOR = "gVisor"


class KernelRelease(NamedTuple):
    """A release text taken apart.

    ``base`` is (version, patchlevel, sublevel), sublevel ``None`` where the text has none. ``abi`` is the
    maker's build number (Ubuntu's and Debian's ABI, RHEL's and UEK's first build number). ``el`` is the N of ``elN``.
    ``minor`` is the M of ``elN_M``. ``upstream`` is the true stable version where the text tells it.
    """

    text: str
    base: tuple[int, int, int | None]
    maker: Maker
    abi: int | None = None
    el: int | None = None
    minor: int | None = None
    upstream: tuple[int, int, int] | None = None
    backport: bool = False
    """Debian's ``0.bpo.N`` and ``0.debN.N`` builds: they count ABI numbers of their own."""

    @property
    def branch(self) -> tuple[int, int]:
        """Version and patchlevel: ``(4, 15)``."""
        return self.base[:2]

    def at_least(self, *version: int) -> bool:
        """Whether the base version is that or later."""
        return tuple(n or 0 for n in self.base) >= version


class Statement(NamedTuple):
    """What the release says: ``row`` of the decision table, ``reason`` a clause for people."""

    model: BlockingModel
    certainty: Certainty
    row: int
    reason: str


# Written out, not compiled: `re` compiles (and keeps) the ones that a release really needs, a millisecond each.
_VERSION = (
    r"(?<![\w.])(\d{1,2})\.(\d{1,3})(?:\.(\d{1,5}))?(?=[-+._~a-zA-Z]|$|\s|[,;()])([^\s,;()]{0,160})"
)
_UBUNTU = r"-(\d{1,4})(?:\.\d{1,5})?-([a-z][a-z0-9-]{0,40})"
_DEBIAN = (
    r"-(0\.(?:bpo|deb\d{1,2})\.)?(\d{1,3})-(?:\w{1,20}-)*"
    r"(?:amd64|686(?:-pae)?|arm64|armmp|s390x|powerpc64le|marvell)"
)
_DEBIAN_UPSTREAM = r"Debian (\d{1,2})\.(\d{1,3})\.(\d{1,5})-"
_UBUNTU_UPSTREAM = r"Ubuntu \d{1,2}\.\d{1,3}\.\d{1,3}-\S{1,40} (\d{1,2})\.(\d{1,3})\.(\d{1,5})"
_EL = r"\.el(\d{1,2})(?:_(\d{1,2}))?"
_BUILD = r"-(\d{1,6})"
_SUSE = r"-[\d.]{1,40}-(?:default|azure|preempt|rt|pae|xen|kvmsmall|64kb|vanilla|desktop|ec2|trace)(?:-base)?"


def read_release(release: str, version: str = "") -> KernelRelease | None:
    """Take a release text apart: ``uname -r``, or ``uname -a``, or what stands in ``/proc/version``.

    *version* is ``uname -v`` or ``/proc/version`` where it was had besides. ``None`` if no version stands in it.
    """
    release = release[:MAX_RELEASE].strip()
    version = version[:MAX_RELEASE]
    found = re.search(_VERSION, _without_host(release))
    if found is None:
        return None
    major, minor, sub, suffix = found.groups()
    base = (int(major), int(minor), int(sub) if sub is not None else None)
    return _made(found.group(), base, suffix, f"{release} {version}")


def _without_host(text: str) -> str:
    """``uname -a`` names the host before the release, and a host's name may look like a version."""
    words = text.split(maxsplit=2)
    if len(words) == 3 and words[0] == "Linux":  # noqa: PLR2004 - Linux, host or "version", the rest
        return words[1] if words[2].startswith("#") else words[2]
    return text


def _made(
    text: str, base: tuple[int, int, int | None], suffix: str, everything: str
) -> KernelRelease:
    """Tell the maker by the suffix, and by the rest of the text where that is ambiguous."""
    build = re.match(_BUILD, suffix)
    abi = int(build.group(1)) if build else None
    if (maker := _foreign(suffix, everything)) is not None:
        return KernelRelease(text, base, maker, abi)
    el = re.search(_EL, suffix) if ".el" in suffix and "elrepo" not in suffix else None
    if el is not None:
        number = int(el.group(1))
        own = (base[0], base[1], base[2] or 0) in EL_BASES.get(number, ())
        point = int(el.group(2)) if el.group(2) else None
        return KernelRelease(text, base, Maker.EL if own else Maker.PLAIN, abi, number, point)
    return _deb_or_plain(text, base, suffix, everything)


def _foreign(suffix: str, everything: str) -> Maker | None:
    """Makers that sign the release with a word of their own."""
    lower = suffix.lower()
    if "gvisor" in lower or GVISOR_BUILD in everything:
        return Maker.GVISOR
    if suffix.endswith("-Microsoft"):
        return Maker.WSL1
    words = {"microsoft": Maker.WSL2, "uek": Maker.UEK, ".amzn": Maker.AMAZON}
    return next((maker for word, maker in words.items() if word in lower), None)


def _deb_or_plain(
    text: str, base: tuple[int, int, int | None], suffix: str, everything: str
) -> KernelRelease:
    hidden = base[2] == 0 or base[0] == 2  # noqa: PLR2004 - 2.6.32-21-generic: the third number is no sublevel
    if hidden and (debian := re.fullmatch(_DEBIAN, suffix)) is not None:
        return KernelRelease(
            text,
            base,
            Maker.DEBIAN,
            int(debian.group(2)),
            upstream=_upstream(_DEBIAN_UPSTREAM, base, everything),
            backport=debian.group(1) is not None,
        )
    if hidden and (ubuntu := re.fullmatch(_UBUNTU, suffix)) is not None:
        abi, flavour = int(ubuntu.group(1)), ubuntu.group(2)
        own = flavour in UBUNTU_FLAVOURS and abi < UBUNTU_DERIVED_ABI
        maker = Maker.UBUNTU if own else Maker.UBUNTU_FLAVOUR
        return KernelRelease(
            text, base, maker, abi, upstream=_upstream(_UBUNTU_UPSTREAM, base, everything)
        )
    if (suffix.count("-") > 1 and re.fullmatch(_SUSE, suffix)) or "geeko@" in everything:
        return KernelRelease(text, base, Maker.SUSE)
    upstream = _upstream(_DEBIAN_UPSTREAM, base, everything)
    return KernelRelease(text, base, Maker.DEBIAN if upstream else Maker.PLAIN, upstream=upstream)


def _upstream(
    pattern: str, base: tuple[int, int, int | None], text: str
) -> tuple[int, int, int] | None:
    """The stable version named in the rest of the text, if it is of the same branch."""
    # /proc/version also names the compiler, "(Debian 4.9.2-10)": the kernel's own stands behind the "#".
    found = re.search(pattern, text[max(text.find("#"), 0) :])
    if found is None:
        return None
    version = (int(found.group(1)), int(found.group(2)), int(found.group(3)))
    return version if version[:2] == base[:2] else None


def by_release(release: KernelRelease) -> Statement:
    """What the release text alone allows to say."""
    if release.maker is Maker.GVISOR:
        return _never(
            Certainty.HIGH, 1, "gVisor reads its own generator; its release is a fixed text"
        )
    if release.maker is Maker.WSL1:
        return _never(Certainty.LOW, 8, "WSL 1 is no Linux kernel and draws on Windows' generator")
    if release.branch >= POOL_REMOVED:
        certainty = Certainty.MEDIUM if release.maker is Maker.SUSE else Certainty.HIGH
        return _until(certainty, 9, f"{release.text} is 5.6 or later, which has no blocking pool")
    return _RULES[release.maker](release)


def _never(certainty: Certainty, row: int, reason: str) -> Statement:
    return Statement(BlockingModel.NEVER, certainty, row, reason)


def _until(certainty: Certainty, row: int, reason: str) -> Statement:
    return Statement(BlockingModel.UNTIL_INIT, certainty, row, reason)


def _pool(certainty: Certainty, reason: str) -> Statement:
    return Statement(BlockingModel.BLOCKING_POOL, certainty, 12, reason)


def _unknown(row: int, reason: str) -> Statement:
    return Statement(BlockingModel.UNKNOWN, Certainty.LOW, row, reason)


def _ubuntu(release: KernelRelease) -> Statement:
    abi = release.abi or 0
    border = UBUNTU_BORDERS.get(release.branch)
    if border is not None and abi >= border:
        return _until(
            Certainty.HIGH, 11, f"Ubuntu removed the pool from {_name(release)} at ABI {border}"
        )
    if release.branch == (4, 4) and abi > UBUNTU_44_READ:
        return _pool(Certainty.LOW, "4.4 never lost the pool upstream; this ESM build was not read")
    before = f" before ABI {border}" if border is not None else ""
    return _pool(Certainty.HIGH, f"Ubuntu's {_name(release)} has the blocking pool{before}")


def _ubuntu_flavour(release: KernelRelease) -> Statement:
    if release.upstream is not None and release.branch in STABLE_BORDERS:
        return _by_sublevel(release, release.upstream[2])
    return _unknown(
        22,
        "a flavour counts ABI numbers of its own, so this one does not say whether it has the pool",
    )


def _debian(release: KernelRelease) -> Statement:
    if release.upstream is not None:
        return _by_sublevel(release, release.upstream[2])
    if release.branch not in STABLE_BORDERS:
        return _pool(Certainty.HIGH, f"Debian's {_name(release)} has the blocking pool")
    border = DEBIAN_BORDERS.get(release.branch)
    if border is None or release.backport or release.abi is None:
        return _unknown(
            13,
            "Debian's ABI number does not say the stable version; /proc/version does (Debian 4.19.N-R)",
        )
    text = f"Debian's {_name(release)}-{border} is the first build with the mid-2022 back-port"
    if release.abi >= border:
        return _until(Certainty.MEDIUM, 10, text)
    return _pool(Certainty.MEDIUM, f"{text}, and this one is earlier")


def _enterprise(release: KernelRelease) -> Statement:
    fips = ", unless it runs in FIPS mode" if has_extrng(release) else ""
    return _pool(Certainty.HIGH, f"every el{release.el} kernel has the blocking pool{fips}")


def _uek(release: KernelRelease) -> Statement:
    if release.branch in STABLE_BORDERS and (release.abi or 0) > UEK_READ_BUILD:
        return _unknown(13, "which UEK build dropped the pool is not known")
    return _pool(Certainty.MEDIUM, f"UEK {_name(release)} of that time has the blocking pool")


def _suse(_release: KernelRelease) -> Statement:
    return _unknown(13, "SUSE's release text does not show what was back-ported")


def _plain(release: KernelRelease) -> Statement:
    """Makers that build a stable branch as it is: kernel.org, Amazon, Android, WSL 2, Arch, Alpine, Fedora."""
    sub = release.base[2]
    if release.branch in STABLE_BORDERS:
        if sub:
            return _by_sublevel(release, sub)
        return _unknown(13, f"which sublevel of {_name(release)} it is does not stand in the text")
    if release.branch == (4, 15) and not sub:
        return _unknown(
            13, "4.15.0 is Ubuntu's, which lost the pool at ABI 194: say the whole release"
        )
    if release.text == "4.4.0":
        return _unknown(13, "a bare 4.4.0 is what older gVisor calls itself")
    return _pool(
        Certainty.MEDIUM, f"{release.text} is before 5.6, and its branch never lost the pool"
    )


def _by_sublevel(release: KernelRelease, sub: int) -> Statement:
    border = STABLE_BORDERS.get(release.branch)
    name = _name(release)
    if border is None:
        return _pool(Certainty.HIGH, f"{name} is before 5.6, and its branch never lost the pool")
    if sub >= border:
        reason = f"{name}.{sub} has the mid-2022 back-port that removed the pool ({name}.{border})"
        return _until(Certainty.MEDIUM, 10, reason)
    return _pool(Certainty.MEDIUM, f"{name}.{sub} has the pool, removed with {name}.{border}")


def _name(release: KernelRelease) -> str:
    """The branch, as its makers name it: ``4.15.0`` where a zero hides the sublevel, else ``4.19``."""
    major, minor, sub = release.base
    if release.maker in (Maker.UBUNTU, Maker.UBUNTU_FLAVOUR, Maker.DEBIAN) and not release.upstream:
        return f"{major}.{minor}.{sub or 0}"
    return f"{major}.{minor}"


_RULES = {
    Maker.PLAIN: _plain,
    Maker.AMAZON: _plain,
    Maker.WSL2: _plain,
    Maker.UBUNTU: _ubuntu,
    Maker.UBUNTU_FLAVOUR: _ubuntu_flavour,
    Maker.DEBIAN: _debian,
    Maker.EL: _enterprise,
    Maker.UEK: _uek,
    Maker.SUSE: _suse,
}


def has_extrng(release: KernelRelease) -> bool:
    """Whether FIPS mode hands ``/dev/random`` to the crypto DRBG: RHEL 8.3+, 9, 10 and Amazon Linux 2023."""
    if release.maker is Maker.AMAZON:
        return "amzn2023" in release.text
    if release.maker is not Maker.EL or release.el is None:
        return False
    if release.el == 8:  # noqa: PLR2004 - RHEL 8
        return (release.abi or 0) >= EL8_EXTRNG_BUILD
    return release.el > 8  # noqa: PLR2004 - RHEL 9 and 10


def drains_at_reseed(release: KernelRelease) -> bool:
    """Whether ``entropy_avail`` of 256 falls to 0 at every reseed though all is well: 5.18.0, RHEL 9.1 and 9.2."""
    if release.maker is Maker.EL and release.el == 9:  # noqa: PLR2004 - RHEL 9
        return 162 <= (release.abi or 0) < 362  # noqa: PLR2004 - builds of 9.1 and of 9.3
    return release.branch == (5, 18)


def fed_by_hwrng(release: KernelRelease, name: str, quality: int | None) -> bool:
    """Whether the kernel feeds its pool from hardware generator *name* without a daemon.

    The fill thread is in 3.17 and in RHEL 7.3; virtio-rng declares quality 1000 since then. Others had quality 0 until
    about 6.2 (RHEL 9.3), when the default became 1024. ``rng_quality`` (5.19+) tells where it is had.
    """
    filler = release.at_least(3, 17) or (release.el == 7 and (release.abi or 0) >= 514)  # noqa: PLR2004 - RHEL 7.3
    if not filler:
        return False
    if quality is not None:
        return quality > 0
    late = release.at_least(6, 2) or (release.el == 9 and (release.abi or 0) >= 362)  # noqa: PLR2004 - RHEL 9.3
    return late or name.startswith("virtio")
