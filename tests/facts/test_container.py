"""Whether a process is in a container, by what /proc shows of it."""

from __future__ import annotations

import pytest
from tests.facts.jvms_by_hand import STATUS, Machine, running

from seedstall.model.evidence import Ask, Got, Missing, Why
from seedstall.model.jvm import Container

ID = "4f1d2c3b" * 8


def container(machine: Machine) -> Container:
    reading = machine.case.get(Container)
    assert isinstance(reading, Got), reading
    return reading.value


def host() -> Machine:
    return running().process("status", STATUS.replace(b"4711\t17", b"4711"))


def test_a_group_names_it() -> None:
    machine = running().process("cgroup", f"0::/system.slice/docker-{ID}.scope\n".encode())
    assert container(machine) == Container(
        inside=True, id="4f1d2c3b4f1d", runtime="Docker", told_by="cgroup"
    )


def test_a_pid_namespace_says_that_there_is_one() -> None:
    machine = running().process("cgroup", b"0::/\n")
    assert container(machine) == Container(inside=True, told_by="NSpid")


def test_another_root_says_so_too() -> None:
    machine = host().process("root", b"/srv/jdk8", Ask.LINK)
    assert container(machine) == Container(inside=True, runtime="chroot", told_by="root /srv/jdk8")


@pytest.mark.parametrize("groups", [b"0::/system.slice/tomcat.service\n", Why.DENIED])
def test_none_on_the_host(groups: bytes | Why) -> None:
    assert container(host().process("cgroup", groups)) == Container(inside=False)


def test_a_malformed_file_is_told() -> None:
    reading = host().process("cgroup", b"nonsense\n").case.get(Container)
    assert isinstance(reading, Missing)
    assert reading.why is Why.MALFORMED
