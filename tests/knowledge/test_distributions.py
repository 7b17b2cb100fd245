from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from seedstall.knowledge.distributions import (
    family,
    feeder_commands,
    guessed_distribution,
)
from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.knowledge.release import read_release
from seedstall.model.kernel import BlockingModel, Distribution, KernelRandom

A7 = frozenset(
    [
        "boot_id",
        "entropy_avail",
        "poolsize",
        "read_wakeup_threshold",
        "urandom_min_reseed_secs",
        "uuid",
        "write_wakeup_threshold",
    ]
)


def pool(release: str = "", container: str = "") -> KernelRandom:
    return decide(KernelEvidence(release=release, files=A7, entropy_avail=12, container=container))


CENTOS6 = Distribution("centos", "6.10")
CENTOS7 = Distribution("centos", "7", ("rhel", "fedora"))
CENTOS8 = Distribution("centos", "8", ("rhel", "fedora"))

# (distribution, kernel, a line that must be there, out of support)
CASES = [
    (CENTOS6, "2.6.32-754.35.1.el6.x86_64", "service rngd start", True),
    (CENTOS7, "3.10.0-1160.el7.x86_64", "systemctl enable --now rngd", True),
    (CENTOS8, "4.18.0-348.el8.x86_64", "dnf install -y rng-tools", True),
    (Distribution("rhel", "7.9"), "3.10.0-1160.el7.x86_64", "yum install -y rng-tools", False),
    (Distribution("rhel", "8.10"), "4.18.0-553.el8_10.x86_64", "dnf install -y rng-tools", False),
    (
        Distribution("almalinux", "8.10", ("rhel", "centos", "fedora")),
        "4.18.0-553.el8_10.x86_64",
        "dnf install -y rng-tools",
        False,
    ),
    (
        Distribution("rocky", "8.9", ("rhel", "centos", "fedora")),
        "4.18.0-513.el8.x86_64",
        "systemctl enable --now rngd",
        False,
    ),
    (
        Distribution("ol", "7.9", ("fedora",)),
        "3.10.0-1160.el7.x86_64",
        "yum install -y rng-tools",
        False,
    ),
    (Distribution("debian", "8"), "3.16.0-4-amd64", "apt-get install -y haveged", True),
    (Distribution("debian", "9"), "4.9.0-18-amd64", "apt-get install -y haveged", True),
    (Distribution("debian", "10"), "4.19.0-20-amd64", "apt-get install -y haveged", True),
    (Distribution("ubuntu", "14.04"), "3.13.0-170-generic", "service haveged start", True),
    (Distribution("ubuntu", "16.04"), "4.4.0-210-generic", "apt-get install -y haveged", True),
    (Distribution("ubuntu", "18.04"), "4.15.0-193-generic", "systemctl enable --now haveged", True),
    (Distribution("ubuntu", "20.04"), "5.4.0-125-generic", "systemctl enable --now haveged", True),
    (
        Distribution("amzn", "2"),
        "4.14.203-156.332.amzn2.x86_64",
        "systemctl enable --now rngd",
        True,
    ),
    (Distribution("amzn", "2018.03"), "4.14.203-116.332.amzn1.x86_64", "service rngd start", True),
    (
        Distribution("sles", "15.3"),
        "5.3.18-150300.59.90-default",
        "zypper install -y haveged",
        False,
    ),
    (Distribution("alpine", "3.12.0"), "5.4.84-0-virt", "apk add haveged", False),
    (Distribution("fedora", "31"), "5.5.17-200.fc31.x86_64", "dnf install -y rng-tools", True),
    (
        Distribution("linuxmint", "19", ("ubuntu",)),
        "4.15.0-193-generic",
        "apt-get install -y haveged",
        False,
    ),
]


@pytest.mark.parametrize(
    ("distribution", "release", "line", "eol"),
    CASES,
    ids=[f"{c[0].id}{c[0].version}" for c in CASES],
)
def test_commands_by_distribution(
    distribution: Distribution, release: str, line: str, *, eol: bool
) -> None:
    advice = feeder_commands(distribution, pool(release))

    assert line in advice.commands
    assert advice.eol is eol
    assert not advice.useless
    assert not advice.unsure
    assert "virtio-rng" in advice.note
    assert "/dev/urandom" in advice.note


@pytest.mark.parametrize("distribution", [CENTOS6, CENTOS7, CENTOS8, Distribution("debian", "9")])
def test_what_is_out_of_support_is_taken_from_the_archive_and_said_to_be(
    distribution: Distribution,
) -> None:
    advice = feeder_commands(distribution, pool())

    assert advice.eol
    assert "vault.centos.org" in advice.commands[0] or "archive.debian.org" in advice.commands[0]
    assert "ended" in advice.note


@pytest.mark.parametrize("number", [6, 7, 8])
def test_the_vault_line_does_what_it_says(number: int, tmp_path: Path) -> None:
    """On the repository file as that CentOS ships it."""
    base = {
        6: "#baseurl=http://mirror.centos.org/centos/$releasever/os/$basearch/",
        7: "#baseurl=http://mirror.centos.org/centos/$releasever/os/$basearch/",
        8: "#baseurl=http://mirror.centos.org/$contentdir/$releasever/BaseOS/$basearch/os/",
    }[number]
    wanted = {
        6: "baseurl=http://vault.centos.org/6.10/os/$basearch/",
        7: "baseurl=http://vault.centos.org/7.9.2009/os/$basearch/",
        8: "baseurl=http://vault.centos.org/$contentdir/$releasever/BaseOS/$basearch/os/",
    }[number]
    file = tmp_path / "CentOS-Base.repo"
    file.write_text(f"[base]\nname=CentOS\nmirrorlist=http://mirrorlist.centos.org/?x\n{base}\n")
    line = feeder_commands(Distribution("centos", str(number)), pool()).commands[0]

    subprocess.run(["sh", "-c", line.replace("/etc/yum.repos.d", str(tmp_path))], check=True)

    lines = file.read_text().splitlines()
    assert wanted in lines
    assert lines[2].startswith("#mirrorlist=")


@pytest.mark.parametrize("case", CASES, ids=[f"{c[0].id}{c[0].version}" for c in CASES])
def test_every_line_is_shell(case: tuple[Distribution, str, str, bool]) -> None:
    for line in feeder_commands(case[0], pool(case[1])).commands:
        subprocess.run(["sh", "-nc", line], check=True)


@pytest.mark.parametrize(
    ("release", "update"),
    [
        ("4.15.0-193-generic", "4.15.0-194"),
        ("5.4.0-125-generic", "5.4.0-126"),
        ("4.4.0-210-generic", ""),
        ("4.15.0-1139-aws", ""),  # a flavour counts otherwise
    ],
)
def test_ubuntu_names_the_kernel_that_does_away_with_the_pool(release: str, update: str) -> None:
    told = feeder_commands(Distribution("ubuntu", "18.04"), pool(release)).kernel_update

    assert told.startswith(update)
    assert bool(told) is bool(update)


def test_other_kernel_updates() -> None:
    def told(distribution: Distribution, release: str = "") -> str:
        return feeder_commands(distribution, pool(release)).kernel_update

    assert "4.19.249" in told(Distribution("debian", "10"))
    assert "4.9.320" in told(Distribution("debian", "9"))
    assert told(Distribution("debian", "8")) == ""
    assert "4.14.285" in told(Distribution("amzn", "2"))
    assert "RHEL 9" in told(CENTOS7, "3.10.0-957.el7")
    assert "UEK R7" in told(Distribution("ol", "8"), "5.4.17-2036.101.2.el8uek.x86_64")


@pytest.mark.parametrize(
    ("release", "word"), [("6.8.0-31-generic", "once"), ("4.19.0-gvisor", "never")]
)
def test_it_is_useless_where_the_device_does_not_block(release: str, word: str) -> None:
    advice = feeder_commands(
        Distribution("ubuntu", "24.04"), decide(KernelEvidence(release=release))
    )

    assert word in advice.useless
    assert advice.commands == ()


def test_where_the_kernel_is_not_known_it_says_what_to_look_at() -> None:
    for kernel in (None, decide(KernelEvidence(release="4.15.0-1139-aws"))):
        advice = feeder_commands(Distribution("ubuntu", "18.04"), kernel)

        assert advice.unsure
        assert advice.commands
        assert "read_wakeup_threshold" in advice.note


@pytest.mark.parametrize(
    "distribution", [Distribution("rhel", "9.3"), Distribution("amzn", "2023")]
)
def test_what_has_no_pool_needs_no_commands(distribution: Distribution) -> None:
    advice = feeder_commands(distribution, None)

    assert advice.commands == ()
    assert "no blocking pool" in advice.note


def test_unknown_distributions_get_no_made_up_commands() -> None:
    for distribution in (None, Distribution("void"), Distribution("centos", "5.11")):
        advice = feeder_commands(distribution, pool())

        assert advice.commands == ()
        assert advice.note


def test_in_a_container_it_says_where_to_type_it() -> None:
    advice = feeder_commands(CENTOS7, pool("3.10.0-957.el7", container="Docker"))

    assert advice.note.startswith("on the host, not in the container")


@pytest.mark.parametrize(
    ("release", "identity", "version"),
    [
        ("3.10.0-957.el7.x86_64", "rhel", "7"),
        ("4.18.0-553.66.1.el8_10.x86_64", "rhel", "8.10"),
        ("4.14.203-156.332.amzn2.x86_64", "amzn", "2"),
        ("6.1.141-155.222.amzn2023.x86_64", "amzn", "2023"),
        ("4.14.203-116.332.amzn1.x86_64", "amzn", "2018.03"),
        ("4.15.0-193-generic", "ubuntu", ""),
        ("4.19.0-20-amd64", "debian", "10"),
        ("5.3.18-150300.59.90-default", "sles", ""),
        ("5.4.17-2036.101.2.el7uek.x86_64", "ol", ""),
    ],
)
def test_guesses_from_the_release_are_said_to_be_guesses(
    release: str, identity: str, version: str
) -> None:
    found = guessed_distribution(read_release(release))

    assert found is not None
    assert (found.id, found.version, found.guessed) == (identity, version, True)
    assert "guessed" in found.pretty
    told = feeder_commands(None, pool(release))
    assert "guessed" in told.note


def test_no_guess_where_nothing_tells() -> None:
    assert guessed_distribution(read_release("5.4.195")) is None
    assert guessed_distribution(None) is None


def test_families() -> None:
    assert family(Distribution("amzn", "2", ("centos", "rhel", "fedora"))) == "amzn"
    assert family(Distribution("pop", "18.04", ("ubuntu", "debian"))) == "ubuntu"
    assert family(Distribution("raspbian", "10", ("debian",))) == "debian"
    assert family(Distribution("opensuse-leap", "15.3", ("suse", "opensuse"))) == "suse"
    assert family(Distribution("void")) == ""
    assert pool().model is BlockingModel.BLOCKING_POOL
