from __future__ import annotations

import pytest

from seedstall.facts.host import container, distribution
from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.evidence import Ask, Ref, Space, Unavailable, Why
from seedstall.source.base import Held

STAT = b"100644 0 0 1 0 0 0"
EL7 = decide(KernelEvidence(release="3.10.0-957.el7.x86_64"))


def at(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


ON_HOST: dict[Ref, bytes | Why] = {
    at("proc/2/comm"): b"kthreadd\n",
    at("proc/self/ns/mnt", Ask.LINK): b"mnt:[4026531840]",
    at("proc/1/ns/mnt", Ask.LINK): b"mnt:[4026531840]",
}
IN_DOCKER: dict[Ref, bytes | Why] = {
    at("proc/2/comm"): Why.ABSENT,
    at(".dockerenv", Ask.STAT): STAT,
}
# docker run --pid=host: the host's processes, the image's files.
HOST_PIDS: dict[Ref, bytes | Why] = {
    at("proc/2/comm"): b"kthreadd\n",
    at("proc/self/ns/mnt", Ask.LINK): b"mnt:[4026532999]",
    at("proc/1/ns/mnt", Ask.LINK): b"mnt:[4026531840]",
    at("run/.containerenv", Ask.STAT): STAT,
}
OS_RELEASE: dict[Ref, bytes | Why] = {
    at(
        "etc/os-release"
    ): b'ID="centos"\nVERSION_ID="7"\nID_LIKE="rhel fedora"\nPRETTY_NAME="CentOS Linux 7 (Core)"\n'
}


@pytest.mark.parametrize(
    ("held", "name"),
    [
        (ON_HOST, ""),
        ({**ON_HOST, at(".dockerenv", Ask.STAT): STAT}, ""),  # a virtual machine made of an image
        (IN_DOCKER, "Docker"),
        (HOST_PIDS, "Podman"),
        ({at("proc/2/comm"): b"java\n"}, "a pid namespace of its own"),
        ({at("proc/2/comm"): Why.ABSENT, at("run/systemd/container"): b"lxc\n"}, "lxc"),
        ({at("proc/2/comm"): Why.DENIED}, ""),  # hidepid: nothing is known
        ({}, ""),  # a capture
    ],
)
def test_containers(held: dict[Ref, bytes | Why], name: str) -> None:
    assert container(Held(held)) == name


def test_a_service_with_mounts_of_its_own_is_no_container() -> None:
    held = {**HOST_PIDS, at("run/.containerenv", Ask.STAT): Why.ABSENT}

    assert container(Held(held)) == ""


def test_the_hosts_os_release() -> None:
    found = distribution(Held({**ON_HOST, **OS_RELEASE}), None)

    assert (found.id, found.version, found.like) == ("centos", "7", ("rhel", "fedora"))
    assert found.pretty == "CentOS Linux 7 (Core)"
    assert not found.guessed


def test_the_release_files_before_it() -> None:
    held = {**ON_HOST, at("etc/redhat-release"): b"CentOS release 6.10 (Final)\n"}

    found = distribution(Held(held), None)

    assert (found.id, found.version) == ("centos", "6.10")


def test_the_images_files_are_not_the_hosts() -> None:
    for held in (IN_DOCKER, HOST_PIDS):
        found = distribution(Held({**held, **OS_RELEASE}), EL7)
        assert found.guessed
        assert found.id == "rhel"

        with pytest.raises(Unavailable) as raised:
            distribution(Held({**held, **OS_RELEASE}), None)
        assert "the image's" in raised.value.missing.detail


def test_a_guess_from_the_release() -> None:
    found = distribution(Held({}), EL7)

    assert found.guessed
    assert "guessed" in found.pretty


def test_nothing_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        distribution(Held({}), decide(KernelEvidence(release="5.4.195")))
