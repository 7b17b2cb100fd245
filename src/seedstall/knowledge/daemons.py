"""Each entropy daemon on each distribution, and the kernel within the release that needs none.

Packages and units: facts, kernel, section 7; Debian's own packages (rng-tools5 5-4.1 has rngd.service,
jitterentropy-rngd 1.2.8 has jitterentropy.service). EPEL 6 and 7 have ended and lie in Fedora's archive, where their
signing keys lie too. What was not tried says so in its note.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from seedstall.knowledge.distributions import (
    ARCHIVE_DEBIAN,
    EPEL_ARCHIVE,
    VAULT,
    FeederAdvice,
    advised,
    debian_archive,
    family,
    guessed_distribution,
    major_of,
    useless,
)
from seedstall.knowledge.release import KernelRelease, Maker, read_release
from seedstall.model.kernel import Distribution, KernelRandom

DAEMONS = ("rngd", "haveged", "jitterentropy")
"""The surfaces that start one."""
_HARDWARE = "rngd 5 reads hardware alone (RDRAND, TPM, virtio-rng) and exits without: then haveged"
_JITTER_IN_RNGD = "no package of its own there: rngd from 6.3 on has the same jitter source in it"


class Repository(NamedTuple):
    """What has to be done before a daemon can be installed: the lines, and what to know of them."""

    lines: tuple[str, ...]
    note: str = ""


def daemon_commands(
    daemon: str, distribution: Distribution | None, kernel: KernelRandom | None
) -> FeederAdvice:
    """How to install and start *daemon* (one of `DAEMONS`), or why that would be useless on this kernel."""
    return advised(distribution, kernel, partial(_of, daemon))


def _of(
    daemon: str, distribution: Distribution | None, release: KernelRelease | None
) -> FeederAdvice:
    if distribution is None:
        note = f"the distribution is not known: install {_package(daemon)} on the host"
        return FeederAdvice(note=note, daemon=daemon)
    advise = {
        "el": _enterprise,
        "amzn": _amazon,
        "ubuntu": _ubuntu,
        "debian": _debian,
        "suse": _suse,
        "alpine": _alpine,
        "fedora": _fedora,
    }.get(family(distribution))
    if advise is None:
        name = distribution.pretty or distribution.id
        return FeederAdvice(note=f"how {name} packages {daemon} is not known", daemon=daemon)
    return advise(daemon, distribution, release)._replace(daemon=daemon)


def _package(daemon: str) -> str:
    return {"rngd": "rng-tools (6.3 or later)", "jitterentropy": "jitterentropy-rngd"}.get(
        daemon, daemon
    )


def _none(note: str) -> FeederAdvice:
    return FeederAdvice(note=note)


def _started(major: int, unit: str) -> tuple[str, ...]:
    """Started now and at every boot; RHEL 6 and Amazon Linux 1 have no systemd."""
    if major == 6:  # noqa: PLR2004 - RHEL 6
        return (f"service {unit} start", f"chkconfig {unit} on")
    return (f"systemctl enable --now {unit}",)


def epel(distribution: Distribution, major: int) -> Repository:
    """The first of two steps: RHEL and its rebuilds do not ship haveged, EPEL does."""
    if major in (6, 7):
        # gpgkey is fetched over TLS; `yum -y` then takes it.
        url = f"https://{EPEL_ARCHIVE}"
        text = (
            f"[epel-archive]\\nname=EPEL {major} (archive)\\nbaseurl={url}/{major}/$basearch/\\n"
            f"gpgcheck=1\\ngpgkey={url}/RPM-GPG-KEY-EPEL-{major}\\nenabled=1\\n"
        )
        lines = (f"printf '{text}' > /etc/yum.repos.d/epel-archive.repo",)
        note = (
            f"EPEL {major} has ended: its packages lie in {EPEL_ARCHIVE}/{major}; without a network fetch"
            " haveged-*.rpm there elsewhere and install it with rpm -i"
        )
        return Repository(lines, note)
    if distribution.id == "ol":
        return Repository((f"dnf install -y oracle-epel-release-el{major}",))
    if distribution.id == "rhel":
        url = f"https://dl.fedoraproject.org/pub/epel/epel-release-latest-{major}.noarch.rpm"
        return Repository((f"dnf install -y {url}",))
    return Repository(("dnf install -y epel-release",))


def _enterprise(
    daemon: str, distribution: Distribution, release: KernelRelease | None
) -> FeederAdvice:
    major = major_of(distribution) or (release.el if release is not None and release.el else 0)
    if major not in (6, 7, 8):
        return _none("RHEL 9 and 10 need no daemon: their own kernels have no blocking pool")
    if daemon == "jitterentropy":
        return _none(_JITTER_IN_RNGD)
    tool = "dnf" if major == 8 else "yum"  # noqa: PLR2004 - RHEL 8
    vault = (VAULT[major],) if distribution.id == "centos" else ()
    if daemon == "rngd":
        lines = (*vault, f"{tool} install -y rng-tools", *_started(major, "rngd"))
        return FeederAdvice(lines, "" if major == 8 else _HARDWARE, eol=bool(vault) or major == 6)  # noqa: PLR2004 - RHEL
    first = epel(distribution, major)
    # EPEL's own release package comes from CentOS's extras, which lie in the vault.
    lines = (
        *(vault if major == 8 else ()),  # noqa: PLR2004 - RHEL 8
        *first.lines,
        f"{tool} install -y haveged",
        *_started(major, "haveged"),
    )
    return FeederAdvice(lines, first.note, eol=bool(vault) or major == 6)  # noqa: PLR2004 - RHEL 6


def _amazon(daemon: str, distribution: Distribution, _: KernelRelease | None) -> FeederAdvice:
    if distribution.version.startswith("2023"):
        return _none("Amazon Linux 2023 needs no daemon: its kernels have no blocking pool")
    if daemon == "jitterentropy":
        return _none(_JITTER_IN_RNGD)
    if distribution.version != "2":
        if daemon == "haveged":
            return _none("Amazon Linux 1 has no haveged: rngd, or a kernel from 4.14.285 on")
        lines = ("yum install -y rng-tools", *_started(6, "rngd"))
        return FeederAdvice(lines, f"Amazon Linux 1 ended 2023-12-31; {_HARDWARE}", eol=True)
    ended = "Amazon Linux 2 ended 2026-06-30"
    if daemon == "haveged":
        lines = (
            "amazon-linux-extras install -y epel",
            "yum install -y haveged",
            *_started(2, "haveged"),
        )
        return FeederAdvice(lines, f"{ended}; EPEL 7, where haveged comes from, has too", eol=True)
    return FeederAdvice(("yum install -y rng-tools", *_started(2, "rngd")), ended, eol=True)


_UBUNTU_ENDED = 20
"""22.04 and later have no pool: what is asked for here has ended."""


def _ubuntu(daemon: str, distribution: Distribution, _: KernelRelease | None) -> FeederAdvice:
    major = major_of(distribution)
    ended = 0 < major <= _UBUNTU_ENDED
    note = (
        f"Ubuntu {distribution.version} has ended: archive.ubuntu.com still holds its packages, and if it does not,"
        " old-releases.ubuntu.com does"
        if ended
        else ""
    )
    if daemon == "jitterentropy" and 0 < major < _UBUNTU_ENDED:
        return _none(
            "jitterentropy-rngd is not packaged before Ubuntu 20.04: haveged needs no hardware either"
        )
    package, unit = {
        # One package for all that rngd 5 was called; its init script has the package's name.
        "rngd": ("rng-tools", "rng-tools"),
        "haveged": ("haveged", "haveged"),
        "jitterentropy": ("jitterentropy-rngd", "jitterentropy"),
    }[daemon]
    start = f"service {unit} start" if major == 14 else f"systemctl enable --now {unit}"  # noqa: PLR2004 - upstart
    more = f"{note}; {_HARDWARE}".lstrip("; ") if daemon == "rngd" else note
    return FeederAdvice(("apt-get update", f"apt-get install -y {package}", start), more, eol=ended)


def _debian(daemon: str, distribution: Distribution, _: KernelRelease | None) -> FeederAdvice:
    major = major_of(distribution)
    if 0 < major < 8:  # noqa: PLR2004 - jessie: the first with systemd, and the last that was tried
        return _none(
            f"Debian {major} lies in archive.debian.org; what packages it has there was not tried"
        )
    if daemon == "jitterentropy" and 0 < major < 10:  # noqa: PLR2004 - buster
        return _none(
            "jitterentropy-rngd is not packaged before Debian 10: haveged needs no hardware either"
        )
    old_tools = major == 8  # noqa: PLR2004 - jessie has rng-tools alone
    package, unit = {
        "rngd": ("rng-tools", "rng-tools") if old_tools else ("rng-tools5", "rngd"),
        "haveged": ("haveged", "haveged"),
        "jitterentropy": ("jitterentropy-rngd", "jitterentropy"),
    }[daemon]
    archive = debian_archive(major)
    lines = (
        *(archive.lines or ("apt-get update",)),
        f"apt-get install -y {package}",
        f"systemctl enable --now {unit}",
    )
    notes = filter(None, (archive.note, _HARDWARE if daemon == "rngd" else ""))
    return FeederAdvice(lines, "; ".join(notes), eol=bool(archive.lines))


def _suse(daemon: str, _: Distribution, __: KernelRelease | None) -> FeederAdvice:
    if daemon == "jitterentropy":
        return _none("not packaged for SLES: haveged needs no hardware either")
    package, unit = ("rng-tools", "rng-tools") if daemon == "rngd" else ("haveged", "haveged")
    lines = (f"zypper install -y {package}", f"systemctl enable --now {unit}")
    return FeederAdvice(lines, "not tried on a SUSE host by the makers of this program")


def _alpine(daemon: str, _: Distribution, __: KernelRelease | None) -> FeederAdvice:
    if daemon == "jitterentropy":
        return _none("not packaged for Alpine: haveged needs no hardware either")
    package, unit = ("rng-tools", "rngd") if daemon == "rngd" else ("haveged", "haveged")
    lines = (f"apk add {package}", f"rc-update add {unit}", f"rc-service {unit} start")
    return FeederAdvice(lines, "not tried on an Alpine host by the makers of this program")


def _fedora(daemon: str, _: Distribution, __: KernelRelease | None) -> FeederAdvice:
    if daemon == "jitterentropy":
        return _none(_JITTER_IN_RNGD)
    package, unit = ("rng-tools", "rngd") if daemon == "rngd" else ("haveged", "haveged")
    lines = (f"dnf install -y {package}", f"systemctl enable --now {unit}")
    return FeederAdvice(lines, "a Fedora with a blocking pool is from before 2020", eol=True)


# --- the kernel -------------------------------------------------------------------------------------------------------


class KernelAdvice(NamedTuple):
    """What to type for a kernel without the pool. ``useless`` says why there is none to be had, or none is needed."""

    commands: tuple[str, ...] = ()
    note: str = ""
    useless: str = ""
    unsure: bool = False


_REBOOT = "# then, once the host may go down: systemctl reboot"
"""No command: whoever pastes the lines above must not lose the host, least of all where one of them failed."""


def kernel_commands(distribution: Distribution | None, kernel: KernelRandom | None) -> KernelAdvice:
    """The kernel within the host's release that has no blocking pool, or why there is none."""
    if kernel is not None and kernel.can_block is False:
        return KernelAdvice(useless=f"no other kernel is needed: {useless(kernel)}")
    release = read_release(kernel.release) if kernel is not None and kernel.release else None
    known = distribution or guessed_distribution(release)
    advice = _kernel_of(known, release)
    if known is not None and known.guessed and advice.commands:
        check = f"{known.pretty}: check it before you type this"
        advice = advice._replace(note=f"{check}; {advice.note}".rstrip("; "))
    unsure = kernel is None or kernel.can_block is None
    return advice._replace(unsure=unsure)


def _kernel_of(distribution: Distribution | None, release: KernelRelease | None) -> KernelAdvice:
    if distribution is None:
        return KernelAdvice(
            useless="the distribution is not known: any kernel from 5.6 on, or 4.9.320, 4.14.285, 4.19.249, 5.4.200 and"
            " later of those branches, has no blocking pool"
        )
    major = major_of(distribution) or (release.el or 0 if release is not None else 0)
    return {
        "el": partial(_kernel_el, distribution, major, release),
        "ubuntu": partial(_kernel_ubuntu, release),
        "debian": partial(_kernel_debian, major_of(distribution)),
        "amzn": partial(_kernel_amazon, distribution),
        "fedora": partial(KernelAdvice, ("dnf upgrade -y kernel", _REBOOT), _FEDORA),
    }.get(family(distribution), partial(_next_release, distribution))()


_FEDORA = "the kernel of any Fedora that is supported has no blocking pool"


def _next_release(distribution: Distribution) -> KernelAdvice:
    wanted = {
        "suse": "SLES 15 SP4 (5.14) is the first without the pool: the way there is a new service pack",
        "alpine": "Alpine 3.13 (5.10) is the first without the pool: the way there is a new release",
    }
    name = distribution.pretty or distribution.id
    return KernelAdvice(
        useless=wanted.get(family(distribution), f"which kernels {name} has is not known")
    )


def _kernel_el(
    distribution: Distribution, major: int, release: KernelRelease | None
) -> KernelAdvice:
    if distribution.id == "ol" and major == 8:  # noqa: PLR2004 - Oracle Linux 8
        lines = ("dnf install -y oraclelinux-release-el8", "dnf config-manager --enable ol8_UEKR7")
        return KernelAdvice(
            (*lines, "dnf install -y kernel-uek", _REBOOT),
            "UEK R7 is 5.15; not tried on such a host by the makers of this program",
        )
    uek = release is not None and release.maker is Maker.UEK
    more = "; UEK R7 (5.15) has none, and is not for Oracle Linux 7" if uek else ""
    return KernelAdvice(
        useless="no kernel of RHEL 6, 7 or 8 (or of a rebuild) is without the pool, up to 8.10: a daemon or virtio-rng"
        f" feeds it, RHEL 9 has none{more}"
    )


def _kernel_ubuntu(release: KernelRelease | None) -> KernelAdvice:
    borders = {(4, 15): "4.15.0-194", (5, 4): "5.4.0-126"}
    first = borders.get(release.branch) if release is not None else None
    if release is not None and release.maker is Maker.UBUNTU_FLAVOUR:
        return KernelAdvice(
            ("apt-get update", "apt-get dist-upgrade -y", _REBOOT),
            "a flavour (aws, azure, gcp) counts its builds by itself: those since September 2022 have no pool; look"
            " afterwards whether /proc/sys/kernel/random/read_wakeup_threshold is gone",
        )
    if first is None:
        return KernelAdvice(
            useless="4.4 never lost the pool; the HWE kernel 4.15 for 16.04 stopped at 4.15.0-142 without ESM, before"
            " the change: do-release-upgrade, or feed the pool"
        )
    return KernelAdvice(
        ("apt-get update", "apt-get install -y linux-image-generic", _REBOOT),
        f"{first} and later have no blocking pool",
    )


def _kernel_debian(major: int) -> KernelAdvice:
    security = "http://archive.debian.org/debian-security stretch/updates main"
    if major == 9:  # noqa: PLR2004 - stretch
        lines = (
            *debian_archive(9).lines[:1],
            f"echo 'deb {security}' >> {ARCHIVE_DEBIAN}",
            *debian_archive(9).lines[1:],
            "apt-get install -y linux-image-amd64",
        )
        return KernelAdvice(
            (*lines, _REBOOT), f"4.9.0-19 (4.9.320-2) and later; {debian_archive(9).note}"
        )
    if major == 10:  # noqa: PLR2004 - buster
        lines = (*debian_archive(10).lines, "apt-get install -y linux-image-amd64")
        return KernelAdvice(
            (*lines, _REBOOT), f"4.19.0-21 (4.19.249-2) and later; {debian_archive(10).note}"
        )
    if major == 8:  # noqa: PLR2004 - jessie
        return KernelAdvice(
            useless="no kernel of Debian 8 (3.16, 4.9 up to 4.9.303) is known to be without the pool"
        )
    return KernelAdvice(("apt-get update", "apt-get install -y linux-image-amd64", _REBOOT))


def _kernel_amazon(distribution: Distribution) -> KernelAdvice:
    if distribution.version == "2":
        return KernelAdvice(
            ("amazon-linux-extras install -y kernel-5.10", _REBOOT),
            "5.10 never had the blocking pool; 4.14.285 and later (yum update -y kernel) lost it",
        )
    return KernelAdvice(
        ("yum update -y kernel", _REBOOT.replace("systemctl ", "")),
        "4.14.285 and later have no blocking pool; uname -r tells",
    )
