"""Waiting for a JVM that somebody else will launch. Passive and cheap: the list of processes, and what is new there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from seedstall.parse import procfs
from seedstall.source import host
from seedstall.source.sampling import Pace

RECHECK_S = 2.0
"""How often a process that is known is looked at again: a script gives way to java by exec, under its own pid."""
YOUNG_S = 3.0
"""A process so young is looked at each time: between fork and exec it still has its parent's name."""


def await_jvm(
    name: str, seconds: float | None, ready: Callable[[tuple[int, ...]], None]
) -> int | None:
    """The pid of the first JVM that comes up from now on and whose command line holds *name*; ``None`` in time's end.

    Those that run already are not meant: *ready* is told of them, when whoever comes from then on will be seen.
    """
    seen: dict[int, float] = dict.fromkeys(_pids(), 0.0)
    there = {pid for pid in seen if _matches(pid, name) and host.is_jvm(pid)}
    ready(tuple(sorted(there)))
    began = checked = time.monotonic()
    pace = Pace()
    while seconds is None or time.monotonic() - began < seconds:
        now = time.monotonic()
        everyone = now - checked >= RECHECK_S
        checked = now if everyone else checked
        pids = _pids()
        for pid in pids:
            first = seen.setdefault(pid, now)
            if pid in there or not (everyone or now - first < YOUNG_S):
                continue
            if _matches(pid, name) and host.is_jvm(pid):
                return pid
        for gone in seen.keys() - pids:
            del seen[gone]
            there.discard(gone)
        time.sleep(pace.after_look())
    return None


def _pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}  # noqa: PTH208 - often


def _matches(pid: int, name: str) -> bool:
    """Whether *name* stands in its command line: a main class, a jar, a script."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - often
            return name in " ".join(procfs.cmdline(file.read(1 << 20)))
    except OSError:
        return False
