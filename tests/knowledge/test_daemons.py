from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from seedstall.knowledge.daemons import DAEMONS, daemon_commands, kernel_commands
from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.kernel import BlockingModel, Distribution, KernelRandom

A7 = frozenset(("entropy_avail", "poolsize", "read_wakeup_threshold", "write_wakeup_threshold"))


def pool(release: str) -> KernelRandom:
    return decide(KernelEvidence(release=release, files=A7, entropy_avail=12))


EL = {
    6: "2.6.32-754.35.1.el6.x86_64",
    7: "3.10.0-1160.el7.x86_64",
    8: "4.18.0-553.el8_10.x86_64",
}
ALMA = ("rhel", "centos", "fedora")
AMAZON = "4.14.203-156.332.amzn2.x86_64"

# daemon, distribution, kernel, lines that must be there in this order
CASES = [
    ("rngd", Distribution("rhel", "7.9"), EL[7], ["yum install -y rng-tools", "enable --now rngd"]),
    (
        "rngd",
        Distribution("centos", "6.10"),
        EL[6],
        ["vault.centos.org/6.10", "service rngd start"],
    ),
    (
        "haveged",
        Distribution("rhel", "6.10"),
        EL[6],
        ["epel/6/$basearch", "yum install -y haveged", "service haveged"],
    ),
    (
        "haveged",
        Distribution("centos", "7"),
        EL[7],
        ["epel/7/$basearch", "yum install -y haveged", "--now haveged"],
    ),
    (
        "haveged",
        Distribution("rhel", "8.9"),
        EL[8],
        ["epel-release-latest-8", "dnf install -y haveged"],
    ),
    (
        "haveged",
        Distribution("almalinux", "8.9", ALMA),
        EL[8],
        ["install -y epel-release", "install -y haveged"],
    ),
    (
        "haveged",
        Distribution("centos", "8"),
        EL[8],
        ["vault.centos.org", "epel-release", "install -y haveged"],
    ),
    (
        "haveged",
        Distribution("ol", "8.9"),
        EL[8],
        ["oracle-epel-release-el8", "install -y haveged"],
    ),
    (
        "haveged",
        Distribution("amzn", "2"),
        AMAZON,
        ["extras install -y epel", "yum install -y haveged"],
    ),
    (
        "rngd",
        Distribution("amzn", "2018.03"),
        AMAZON,
        ["install -y rng-tools", "service rngd start"],
    ),
    (
        "rngd",
        Distribution("ubuntu", "18.04"),
        "4.15.0-193-generic",
        ["install -y rng-tools", "--now rng-tools"],
    ),
    (
        "haveged",
        Distribution("ubuntu", "14.04"),
        "3.13.0-170-generic",
        ["install -y haveged", "service haveged start"],
    ),
    (
        "jitterentropy",
        Distribution("ubuntu", "20.04"),
        "5.4.0-125-generic",
        ["jitterentropy-rngd", "--now jitterentropy"],
    ),
    (
        "rngd",
        Distribution("debian", "9"),
        "4.9.0-18-amd64",
        ["archive.debian.org", "install -y rng-tools5", "--now rngd"],
    ),
    (
        "rngd",
        Distribution("debian", "8"),
        "3.16.0-4-amd64",
        ["archive.debian.org", "install -y rng-tools", "rng-tools"],
    ),
    (
        "jitterentropy",
        Distribution("debian", "10"),
        "4.19.0-20-amd64",
        ["jitterentropy-rngd", "--now jitterentropy"],
    ),
    (
        "haveged",
        Distribution("sles", "15.3"),
        "5.3.18-59.90-default",
        ["zypper install -y haveged"],
    ),
    (
        "rngd",
        Distribution("alpine", "3.12.0"),
        "5.4.84-0-virt",
        ["apk add rng-tools", "rc-service rngd start"],
    ),
    ("haveged", Distribution("fedora", "31"), "5.5.17-200.fc31.x86_64", ["dnf install -y haveged"]),
]


@pytest.mark.parametrize(
    ("daemon", "distribution", "release", "lines"),
    CASES,
    ids=[f"{c[0]}-{c[1].id}{c[1].version}" for c in CASES],
)
def test_each_daemon_as_its_distribution_has_it(
    daemon: str, distribution: Distribution, release: str, lines: list[str]
) -> None:
    advice = daemon_commands(daemon, distribution, pool(release))

    text = "\n".join(advice.commands)
    places = [text.index(line) for line in lines]
    assert places == sorted(places)
    assert advice.daemon == daemon
    assert not advice.useless
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_where_it_is_not_packaged_another_one_is_named() -> None:
    for distribution, release in (
        (Distribution("debian", "9"), "4.9.0-18-amd64"),
        (Distribution("ubuntu", "16.04"), "4.4.0-210-generic"),
        (Distribution("sles", "15.3"), "5.3.18-59.90-default"),
    ):
        advice = daemon_commands("jitterentropy", distribution, pool(release))
        assert advice.commands == ()
        assert "haveged" in advice.note
    rhel = daemon_commands("jitterentropy", Distribution("rhel", "8.9"), pool(EL[8]))
    assert "rngd from 6.3" in rhel.note


@pytest.mark.parametrize("daemon", DAEMONS)
def test_no_daemon_on_a_kernel_without_the_pool(daemon: str) -> None:
    for release in ("5.15.0-47-generic", "4.15.0-194-generic", "5.14.0-362.8.1.el9_3.x86_64"):
        advice = daemon_commands(
            daemon, Distribution("ubuntu", "22.04"), decide(KernelEvidence(release=release))
        )
        assert advice.commands == ()
        assert "would change nothing" in advice.useless


@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_distribution_that_is_not_known(daemon: str) -> None:
    kernel = decide(KernelEvidence(files=A7))
    assert daemon_commands(daemon, None, kernel).commands == ()
    assert "on the host" in daemon_commands(daemon, None, kernel).note
    assert daemon_commands(daemon, Distribution("nixos"), kernel).commands == ()
    assert daemon_commands(daemon, None, None).unsure


def test_the_archives_repository_file_is_one_that_yum_reads() -> None:
    import configparser

    advice = daemon_commands("haveged", Distribution("rhel", "7.9"), pool(EL[7]))
    command = advice.commands[0].partition(" > ")[0]
    text = subprocess.run(
        ["bash", "-c", command], text=True, capture_output=True, check=True
    ).stdout
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.read_string(text)
    assert parsed["epel-archive"]["baseurl"].endswith("/7/$basearch/")
    assert parsed["epel-archive"]["gpgcheck"] == "1"


# --- the kernel

KERNELS = [
    (Distribution("ubuntu", "18.04"), "4.15.0-193-generic", "linux-image-generic"),
    (Distribution("ubuntu", "20.04"), "5.4.0-125-generic", "linux-image-generic"),
    (Distribution("ubuntu", "18.04"), "5.4.0-1080-aws", "dist-upgrade"),
    (Distribution("debian", "9"), "4.9.0-18-amd64", "debian-security stretch/updates"),
    (Distribution("debian", "10"), "4.19.0-20-amd64", "archive.debian.org"),
    (Distribution("amzn", "2"), AMAZON, "kernel-5.10"),
    (Distribution("amzn", "2018.03"), "4.14.203-116.332.amzn1.x86_64", "yum update -y kernel"),
    (Distribution("ol", "8.9"), "5.4.17-2036.101.2.el8uek.x86_64", "ol8_UEKR7"),
    (Distribution("fedora", "31"), "5.5.17-200.fc31.x86_64", "dnf upgrade"),
]


@pytest.mark.parametrize(("distribution", "release", "line"), KERNELS, ids=[k[1] for k in KERNELS])
def test_a_kernel_within_the_release(distribution: Distribution, release: str, line: str) -> None:
    advice = kernel_commands(distribution, pool(release))

    text = "\n".join(advice.commands)
    assert line in text
    last = text.splitlines()[-1]
    assert last.startswith(
        "# then, once the host may go down: "
    )  # pasted, it must not end the host
    assert last.endswith("reboot")
    assert "reboot" not in text.removesuffix(last)
    assert not advice.useless
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


NO_KERNEL = [
    (Distribution("rhel", "8.10"), EL[8], "RHEL 9 has none"),
    (Distribution("centos", "7"), EL[7], "a daemon or virtio-rng"),
    (Distribution("ubuntu", "16.04"), "4.4.0-210-generic", "4.15.0-142"),
    (Distribution("debian", "8"), "3.16.0-4-amd64", "no kernel of Debian 8"),
    (Distribution("sles", "15.3"), "5.3.18-59.90-default", "SP4"),
    (Distribution("alpine", "3.12.0"), "5.4.84-0-virt", "3.13"),
    (Distribution("nixos", pretty="NixOS"), "5.4.84", "NixOS"),
]


@pytest.mark.parametrize(
    ("distribution", "release", "why"), NO_KERNEL, ids=[k[1] for k in NO_KERNEL]
)
def test_no_kernel_within_the_release(distribution: Distribution, release: str, why: str) -> None:
    advice = kernel_commands(distribution, pool(release))

    assert advice.commands == ()
    assert why in advice.useless


def test_the_kernel_that_is_there_needs_no_other() -> None:
    kernel = decide(KernelEvidence(release="6.8.0-31-generic"))
    assert "no other kernel is needed" in kernel_commands(None, kernel).useless
    unknown = replace(kernel, model=BlockingModel.UNKNOWN)
    assert kernel_commands(Distribution("amzn", "2"), unknown).unsure
    assert "5.4.200" in kernel_commands(None, None).useless


def test_debians_release_by_its_kernel_where_nothing_else_tells() -> None:
    advice = kernel_commands(None, pool("4.19.0-20-amd64"))
    assert "archive.debian.org/debian buster" in advice.commands[0]
    assert advice.note.startswith("Debian 10 (guessed from the kernel release): check it")
    assert "buster" in daemon_commands("haveged", None, pool("4.19.0-20-amd64")).commands[0]
