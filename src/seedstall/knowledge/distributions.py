"""How to feed the entropy pool on each distribution, and where a newer kernel does away with the pool.

Packages, units and their limits: facts, kernel, section 7 (RHEL 6 Security Guide 3.4, developers.redhat.com
2017/10/05, awslabs/amazon-eks-ami#572; Debian's and Ubuntu's package versions). What is not checked there says so in
its note. Dates are the makers' own ends of standard support.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from seedstall.knowledge.release import KernelRelease, Maker, read_release
from seedstall.model.kernel import BlockingModel, Distribution, KernelRandom

RELEASE_FILE = "proc/sys/kernel/osrelease"

_NEEDS_HARDWARE = (
    "rngd before 6.3 needs a hardware source (RDRAND, TPM, virtio-rng) and exits without one"
    ' ("can\'t open any entropy source")'
)
_VIRTIO = "in a virtual machine a virtio-rng device feeds the pool without any daemon"
_NEVER_URANDOM = (
    "never feed it from /dev/urandom (rngd -r /dev/urandom): that only raises the count"
)


class FeederAdvice(NamedTuple):
    """What to type as root on the host.

    ``useless`` says why nothing helps here (then there are no commands), ``""`` where it does help. ``eol`` is true
    where the distribution's own support has ended. ``kernel_update`` names the kernel that does away with the wait,
    where the distribution has one. ``unsure`` is true where the kernel's model is not known. ``daemon`` is the one that
    the commands start.
    """

    commands: tuple[str, ...] = ()
    note: str = ""
    eol: bool = False
    useless: str = ""
    kernel_update: str = ""
    unsure: bool = False
    daemon: str = "rngd"


def feeder_commands(distribution: Distribution | None, kernel: KernelRandom | None) -> FeederAdvice:
    """How to feed the host's pool with the daemon that its distribution has, or why that would be useless here."""
    return advised(distribution, kernel, _of_family)


Advise: TypeAlias = "Callable[[Distribution | None, KernelRelease | None], FeederAdvice]"


def advised(
    distribution: Distribution | None, kernel: KernelRandom | None, advise: Advise
) -> FeederAdvice:
    """What *advise* says of that distribution (guessed from the kernel where not known), with what holds anywhere."""
    if kernel is not None and kernel.can_block is False:
        return FeederAdvice(useless=useless(kernel))
    release = read_release(kernel.release) if kernel is not None and kernel.release else None
    known = distribution or guessed_distribution(release)
    advice = advise(known, release)
    notes = [advice.note, _VIRTIO, _NEVER_URANDOM]
    if known is not None and known.guessed:
        notes.insert(0, f"{known.pretty}: check it before you type this")
    if kernel is not None and any(s.startswith("container") for s in kernel.special):
        notes.insert(0, "on the host, not in the container: the pool is the host's")
    unsure = kernel is None or kernel.model is BlockingModel.UNKNOWN
    if unsure:
        notes.insert(
            0,
            "it helps only where /proc/sys/kernel/random/read_wakeup_threshold exists; whether it does is not known",
        )
    return advice._replace(note="; ".join(n for n in notes if n), unsure=unsure)


def useless(kernel: KernelRandom) -> str:
    """Why nothing need feed a kernel without the blocking pool."""
    what = (
        "never waits for entropy"
        if kernel.model is BlockingModel.NEVER
        else "waits only until it is seeded, once, early at boot"
    )
    return f"an entropy daemon would change nothing: this kernel's /dev/random {what} ({kernel.reason})"


_DEBIAN_BRANCHES = {(3, 16): "8", (4, 9): "9", (4, 19): "10", (5, 10): "11", (6, 1): "12"}
"""The kernel that each release of Debian came with."""


def guessed_distribution(release: KernelRelease | None) -> Distribution | None:
    """Which distribution a kernel release belongs to, where its suffix tells: a guess, and marked as one."""
    if release is None:
        return None
    if release.el is not None and release.maker is Maker.EL:
        number = f"{release.el}" + (f".{release.minor}" if release.minor is not None else "")
        return _guess("rhel", number, f"RHEL {number} or a rebuild of it")
    if release.maker is Maker.AMAZON:
        version = next((v for v in ("2023", "2") if f"amzn{v}" in release.text), "2018.03")
        return _guess("amzn", version, f"Amazon Linux {version}")
    names = {
        Maker.UBUNTU: ("ubuntu", "Ubuntu"),
        Maker.UBUNTU_FLAVOUR: ("ubuntu", "Ubuntu"),
        Maker.DEBIAN: ("debian", "Debian"),
        Maker.SUSE: ("sles", "SUSE"),
        Maker.UEK: ("ol", "Oracle Linux"),
    }
    found = names.get(release.maker)
    if found is None:
        return None
    number = _DEBIAN_BRANCHES.get(release.branch, "") if release.maker is Maker.DEBIAN else ""
    return _guess(found[0], number, f"{found[1]} {number}".rstrip())


def _guess(identity: str, version: str, pretty: str) -> Distribution:
    text = f"{pretty} (guessed from the kernel release)"
    return Distribution(identity, version, (), text, (RELEASE_FILE,), guessed=True)


_ENTERPRISE = frozenset(
    (
        "rhel",
        "centos",
        "almalinux",
        "rocky",
        "ol",
        "scientific",
        "cloudlinux",
        "virtuozzo",
        "eurolinux",
    )
)


def family(distribution: Distribution) -> str:
    """The family whose packages it takes (``el``, ``amzn``, ``ubuntu``, ``debian``, ``suse``, ...), or ``""``."""
    names = (distribution.id, *distribution.like)
    if distribution.id in ("amzn", "fedora", "alpine"):
        return distribution.id
    if any(n in _ENTERPRISE for n in names):
        return "el"
    for name in ("ubuntu", "debian", "alpine", "fedora"):
        if name in names:
            return name
    return "suse" if any(n.startswith(("sle", "suse", "opensuse")) for n in names) else ""


def _of_family(distribution: Distribution | None, release: KernelRelease | None) -> FeederAdvice:
    if distribution is None:
        return FeederAdvice(
            note="the distribution is not known: install rngd (rng-tools 6.3 or later) or haveged on the host"
        )
    advise: dict[str, Callable[[Distribution, KernelRelease | None], FeederAdvice]] = {
        "el": _enterprise,
        "amzn": _amazon,
        "ubuntu": _ubuntu,
        "debian": _debian,
        "suse": _suse,
        "alpine": _alpine,
        "fedora": _fedora,
    }
    found = advise.get(family(distribution))
    if found is None:
        name = distribution.pretty or distribution.id
        return FeederAdvice(
            note=f"how {name} packages rngd or haveged is not known: install one of them on the host"
        )
    return found(distribution, release)


def major_of(distribution: Distribution) -> int:
    """The first number of its version, 0 where it has none."""
    head = distribution.version.partition(".")[0]
    return int(head) if head.isdecimal() and len(head) < 6 else 0  # noqa: PLR2004 - a year at most


# CentOS's mirrors are gone; vault.centos.org keeps the last state. Plain http: the TLS of CentOS 6 is too old.
VAULT = {
    6: (
        "sed -i -e 's|^mirrorlist=|#mirrorlist=|' -e"
        " 's|^#baseurl=http://mirror.centos.org/centos/$releasever|baseurl=http://vault.centos.org/6.10|'"
        " /etc/yum.repos.d/CentOS-Base.repo"
    ),
    7: (
        "sed -i -e 's|^mirrorlist=|#mirrorlist=|' -e"
        " 's|^#baseurl=http://mirror.centos.org/centos/$releasever|baseurl=http://vault.centos.org/7.9.2009|'"
        " /etc/yum.repos.d/CentOS-Base.repo"
    ),
    8: (
        "sed -i -e 's|^mirrorlist=|#mirrorlist=|' -e"
        " 's|^#baseurl=http://mirror.centos.org|baseurl=http://vault.centos.org|'"
        " /etc/yum.repos.d/CentOS-*.repo"
    ),
}
_CENTOS_ENDS = {6: "2020-11-30", 7: "2024-06-30", 8: "2021-12-31 (Stream 8: 2024-05-31)"}
EPEL_ARCHIVE = "archives.fedoraproject.org/pub/archive/epel"


def _enterprise(distribution: Distribution, release: KernelRelease | None) -> FeederAdvice:
    major = major_of(distribution) or (release.el if release is not None and release.el else 0)
    if major >= 9:  # noqa: PLR2004 - RHEL 9 and 10 have no pool
        return FeederAdvice(
            note="RHEL 9 and 10 need no daemon: their own kernels have no blocking pool"
        )
    if major < 6:  # noqa: PLR2004 - before RHEL 6
        return FeederAdvice(
            eol=major > 0,
            note="no package that still can be had is known for this release: set the JVM's seed source instead",
        )
    centos = distribution.id in ("centos", "scientific")
    commands = [VAULT[major]] if distribution.id == "centos" and major in VAULT else []
    tool = "dnf" if major == 8 else "yum"  # noqa: PLR2004 - RHEL 8
    commands.append(f"{tool} install -y rng-tools")
    if major == 6:  # noqa: PLR2004 - RHEL 6 has no systemd
        commands += ["service rngd start", "chkconfig rngd on"]
    else:
        commands.append("systemctl enable --now rngd")
    return FeederAdvice(
        commands=tuple(commands),
        eol=(centos and major in _CENTOS_ENDS) or major == 6,  # noqa: PLR2004 - RHEL 6 ended in 2024 even with ELS
        note="; ".join(_enterprise_notes(distribution, major)),
        kernel_update=_enterprise_update(release),
    )


def _enterprise_notes(distribution: Distribution, major: int) -> list[str]:
    notes: list[str] = []
    if distribution.id == "centos" and major in _CENTOS_ENDS:
        notes.append(
            f"CentOS {major} ended {_CENTOS_ENDS[major]}: the first line turns yum to vault.centos.org, which keeps its"
            " packages without updates; without a network take the RPM from there and install it with rpm -i"
        )
    elif distribution.id == "rhel" and major < 8:  # noqa: PLR2004 - RHEL 8 is in maintenance
        notes.append(f"RHEL {major} needs a subscription with extended support for its packages")
    if major < 8:  # noqa: PLR2004 - RHEL 8 has rng-tools 6.8 and later
        notes.append(
            f"{_NEEDS_HARDWARE}: then haveged of EPEL {major} ({EPEL_ARCHIVE}/{major}) as a local RPM"
        )
    return notes


def _enterprise_update(release: KernelRelease | None) -> str:
    if release is not None and release.maker is Maker.UEK:
        return "UEK R7 (5.15) has no blocking pool; later builds of UEK R6 lost it too, which ones is not known"
    return "no kernel of RHEL 6, 7 or 8 is without the pool; RHEL 9 is"


def _amazon(distribution: Distribution, _release: KernelRelease | None) -> FeederAdvice:
    if distribution.version.startswith("2023"):
        return FeederAdvice(
            note="Amazon Linux 2023 needs no daemon: its kernels have no blocking pool"
        )
    if distribution.version == "2":
        return FeederAdvice(
            commands=("yum install -y rng-tools", "systemctl enable --now rngd"),
            eol=True,
            note=(
                "Amazon Linux 2 ended 2026-06-30; rngd is enabled by default there, yet an ordering cycle can"
                " drop it from the boot (amazon-eks-ami#572): see that it is active"
            ),
            kernel_update="a kernel from 4.14.285 on, or amazon-linux-extras install kernel-5.10, and a reboot",
        )
    return FeederAdvice(
        commands=("yum install -y rng-tools", "service rngd start", "chkconfig rngd on"),
        eol=True,
        note=f"Amazon Linux 1 ended 2023-12-31; {_NEEDS_HARDWARE}",
        kernel_update="a kernel from 4.14.285 on, and a reboot",
    )


_UBUNTU_ENDS = {14: "2019-04-25", 16: "2021-04-30", 18: "2023-05-31", 20: "2025-05-31"}
_UBUNTU_UPDATES = {
    (4, 15): "4.15.0-194 and later: apt-get install -y linux-image-generic, and a reboot",
    (5, 4): "5.4.0-126 and later: apt-get install -y linux-image-generic, and a reboot",
}


def _ubuntu_update(release: KernelRelease | None) -> str:
    if release is None or release.maker is not Maker.UBUNTU:
        return ""  # a flavour counts otherwise
    return _UBUNTU_UPDATES.get(release.branch, "")


def _ubuntu(distribution: Distribution, release: KernelRelease | None) -> FeederAdvice:
    major = major_of(distribution)
    ended = _UBUNTU_ENDS.get(major)
    note = (
        f"Ubuntu {distribution.version} ended {ended} (later only with ESM); archive.ubuntu.com still holds its"
        " packages, and if it does not, old-releases.ubuntu.com does"
        if ended
        else ""
    )
    start = "service haveged start" if major == 14 else "systemctl enable --now haveged"  # noqa: PLR2004 - 14.04 has upstart
    return FeederAdvice(
        commands=("apt-get update", "apt-get install -y haveged", start),
        daemon="haveged",
        eol=ended is not None,
        note=note,
        kernel_update=_ubuntu_update(release),
    )


_DEBIAN_NAMES = {8: "jessie", 9: "stretch", 10: "buster"}
_DEBIAN_ENDS = {8: "2020-06-30", 9: "2022-06-30", 10: "2024-06-30"}
_DEBIAN_UPDATES = {
    9: "linux-image-4.9.0-19 (4.9.320-2), in archive.debian.org/debian-security stretch/updates, and a reboot",
    10: "linux-image-4.19.0-21 (4.19.249-2) or later, in archive.debian.org/debian, and a reboot",
}
ARCHIVE_DEBIAN = "/etc/apt/sources.list.d/archive.list"
_ARCHIVE_OPTIONS = (
    f"-o Acquire::Check-Valid-Until=false -o Dir::Etc::SourceList={ARCHIVE_DEBIAN}"
    " -o Dir::Etc::SourceParts=/dev/null"
)


class Archive(NamedTuple):
    """Where the packages of a Debian that has ended lie: the lines that turn apt there, and what to know of it."""

    lines: tuple[str, ...] = ()
    note: str = ""


def debian_archive(major: int) -> Archive:
    """What goes before ``apt-get install``; empty where the release's own mirrors hold it."""
    name = _DEBIAN_NAMES.get(major)
    if name is None:
        return Archive()
    lines = (
        f"echo 'deb http://archive.debian.org/debian {name} main' > {ARCHIVE_DEBIAN}",
        f"apt-get {_ARCHIVE_OPTIONS} update",
    )
    old = major < 10  # noqa: PLR2004 - the archive's keys of Debian 8 and 9
    keys = (
        "; the keys that signed it have run out, so apt may call it unauthenticated: check the package before you"
        " allow that"
    )
    note = f"Debian {major} ended {_DEBIAN_ENDS[major]} (LTS): its packages are on archive.debian.org alone"
    return Archive(lines, note + (keys if old else ""))


def _debian(distribution: Distribution, _release: KernelRelease | None) -> FeederAdvice:
    major = major_of(distribution)
    archive = debian_archive(major)
    install = ("apt-get install -y haveged", "systemctl enable --now haveged")
    return FeederAdvice(
        commands=(*(archive.lines or ("apt-get update",)), *install),
        daemon="haveged",
        eol=bool(archive.lines),
        note=archive.note,
        kernel_update=_DEBIAN_UPDATES.get(major, ""),
    )


def _suse(_distribution: Distribution, _release: KernelRelease | None) -> FeederAdvice:
    return FeederAdvice(
        commands=("zypper install -y haveged", "systemctl enable --now haveged"),
        daemon="haveged",
        note="not tried on a SUSE host by the makers of this program",
        kernel_update="SLES 15 SP4 and later (5.14) have no blocking pool",
    )


def _alpine(_distribution: Distribution, _release: KernelRelease | None) -> FeederAdvice:
    return FeederAdvice(
        commands=("apk add haveged", "rc-update add haveged", "rc-service haveged start"),
        daemon="haveged",
        note="not tried on an Alpine host by the makers of this program",
        kernel_update="Alpine 3.13 and later (5.10) have no blocking pool",
    )


def _fedora(_distribution: Distribution, _release: KernelRelease | None) -> FeederAdvice:
    return FeederAdvice(
        commands=("dnf install -y rng-tools", "systemctl enable --now rngd"),
        eol=True,
        note="a Fedora with a blocking pool is from before 2020",
        kernel_update="any supported Fedora's kernel has no blocking pool",
    )
