"""The processes of this host, and which of them run a Java virtual machine."""

from __future__ import annotations

import os
from collections import Counter
from typing import NamedTuple

from seedstall.model.evidence import Got, Why
from seedstall.model.jdk import VmFamily
from seedstall.source import host
from seedstall.source.host import HostSource

MAX_PROCESSES = 100_000


class Found(NamedTuple):
    """A JVM. ``told_by`` is ``maps``, or ``name`` where its maps may not be read and its program is called java."""

    pid: int
    vm: VmFamily
    told_by: str = "maps"


class Scan(NamedTuple):
    """One pass over all processes. ``unseen`` are those of which it cannot be told, by the reason."""

    jvms: tuple[Found, ...]
    processes: int
    unseen: Counter[str]
    hidden: bool


def scan() -> Scan:
    """Look at every process once. Those that end meanwhile are none."""
    found: list[Found] = []
    unseen: Counter[str] = Counter()
    pids = all_pids()
    for pid in pids:
        with HostSource(pid) as source:
            told = _told(pid, source)
        if isinstance(told, Found):
            found.append(told)
        elif told:
            unseen[told] += 1
    return Scan(tuple(found), len(pids), unseen, host.hidden(1))


def all_pids() -> tuple[int, ...]:
    """Every process that ``/proc`` shows, lowest first."""
    with os.scandir("/proc") as entries:
        pids = [int(e.name) for e in entries if e.name.isascii() and e.name.isdigit()]
    return tuple(sorted(pids)[:MAX_PROCESSES])


def _told(pid: int, source: HostSource) -> Found | str:
    """The JVM; else why it cannot be told whether it is one, ``""`` where it is none."""
    vm = host.virtual_machine(source)
    if isinstance(vm, Got):
        return Found(pid, vm.value) if vm.value is not None else ""
    if vm.why in (Why.VANISHED, Why.ABSENT):
        return ""
    if vm.why is Why.DENIED and host.is_called_java(source):
        return Found(pid, VmFamily.UNKNOWN, "name")
    if vm.why is Why.DENIED and os.geteuid():
        return f"{vm.why}: run as root"
    return f"{vm.why}: {vm.detail}" if vm.detail else str(vm.why)
