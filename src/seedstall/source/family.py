"""A command and all that it starts, sampled until a JVM is among them, and with it from its first moment on."""

from __future__ import annotations

import os
from pathlib import Path

from seedstall.parse import procfs
from seedstall.source import host
from seedstall.source.sampling import Journal, ProcessSampler

MAX_PROCESSES = 64
"""Processes looked at together: a build tool's own children are not all of interest."""
RESCAN_MS = 500
"""How often a JVM's children are looked for; before there is one, at every look."""


class Family:
    """The processes below *roots*, in their own words: who is there, and which of them is the JVM.

    ``jvm`` is the JVM that lives now: of several the one that came first.
    """

    def __init__(self, journal: Journal) -> None:
        """Nobody is there yet."""
        self._journal = journal
        self._samplers: dict[int, ProcessSampler] = {}
        self._left_out: set[int] = set()
        self._scanned_ms = -RESCAN_MS
        self.jvm: ProcessSampler | None = None

    def add(self, pid: int, now_ms: int, *, jvm: bool = False) -> None:
        """Look at that process too, from now on."""
        if pid in self._samplers or pid in self._left_out:
            return
        if len(self._samplers) >= MAX_PROCESSES:
            self._left_out.add(pid)
            return
        try:
            self._samplers[pid] = ProcessSampler(pid, self._journal, now_ms, jvm=jvm)
        except OSError:
            return
        if jvm and self.jvm is None:
            self.jvm = self._samplers[pid]

    def look(self, now_ms: int, adopted: tuple[int, ...] = ()) -> None:
        """Take one sample of each; *adopted* are processes that came to us when their parents ended."""
        if self.jvm is None or now_ms - self._scanned_ms >= RESCAN_MS:
            self._scanned_ms = now_ms
            for pid in adopted:
                self.add(pid, now_ms)
            for parent in list(self._samplers):
                for pid in children_of(parent):
                    self.add(pid, now_ms)
        for pid, sampler in list(self._samplers.items()):
            if not sampler.look(now_ms):
                self._gone(pid, now_ms)
            elif not sampler.jvm and self.jvm is None and host.is_jvm(pid):
                sampler.become_jvm()
                self.jvm = sampler

    def _gone(self, pid: int, now_ms: int) -> None:
        sampler = self._samplers.pop(pid)
        sampler.close(now_ms)
        if sampler is self.jvm:
            self.jvm = next((s for s in self._samplers.values() if s.jvm), None)

    def close(self, now_ms: int) -> None:
        """Write down what each was in."""
        for sampler in self._samplers.values():
            sampler.close(now_ms)
        self._samplers.clear()


def children_of(pid: int | str) -> tuple[int, ...]:
    """The children of a process, whichever of its threads started them (CONFIG_PROC_CHILDREN, Linux 3.5)."""
    found: list[int] = []
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - often, and no Path is needed
            with open(f"/proc/{pid}/task/{tid}/children", "rb") as file:  # noqa: PTH123
                found += [int(word) for word in file.read(65536).split() if word.isdigit()]
    except FileNotFoundError:
        return tuple(found) or _by_parent(pid)
    except OSError:
        return tuple(found)
    return tuple(found)


def _by_parent(pid: int | str) -> tuple[int, ...]:
    """The same where the kernel keeps no list: by the parent that each process names."""
    if Path(
        f"/proc/self/task/{os.getpid()}/children"
    ).exists():  # that process has ended, and no more
        return ()
    parent = os.getpid() if pid == "self" else int(pid)
    found: list[int] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - often
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    if procfs.stat(file.read(4096)).ppid == parent:
                        found.append(int(name))
            except (OSError, ValueError):
                continue
    return tuple(found)
