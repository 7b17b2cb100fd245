"""What seedstall reads out of a JVM's memory against what the JVM itself says, thread by thread, frame by frame."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from seedstall.effect.attach import Attacher
from seedstall.facts.memory import memory_dump
from seedstall.model.evidence import Got
from seedstall.model.threads import JavaThread, LockAct, ThreadDump
from seedstall.parse import procfs
from seedstall.parse.threaddump import thread_dumps
from seedstall.source.base import Recorder
from seedstall.source.host import HostSource

_HASH = re.compile(r"/\d+(?=\.|$)")
"""On 8 an anonymous class gets its mirror's identity hash behind its name; memory_dump leaves it out."""
_WAITS = (LockAct.WAITING_TO_LOCK, LockAct.WAITING_ON, LockAct.PARKING)
_OTHERS = ("Attach Listener",)
"""Made by asking the JVM itself."""


@dataclass
class Compared:
    """How many threads and frames were compared, and in which the two differ."""

    threads: int = 0
    frames: int = 0
    differences: list[str] = field(default_factory=list[str])

    def add(self, other: Compared) -> None:
        self.threads += other.threads
        self.frames += other.frames
        self.differences += other.differences


def from_memory(pid: int) -> ThreadDump:
    with HostSource(pid) as source:
        return memory_dump(Recorder(source))


def own(pid: int) -> ThreadDump:
    """The JVM's own dump, by attach."""
    reading = Attacher(pid).ask("threaddump")
    assert isinstance(reading, Got), str(reading)
    (dump,) = thread_dumps(reading.value, "attach")
    return dump


def compare(pid: int) -> Compared:
    """Memory first, then the JVM's word, of the threads that did not run in between: they stood where they stood."""
    before = rests(pid)
    ours = from_memory(pid)
    theirs = own(pid)
    after = rests(pid)
    ran = {thread.nid for thread in theirs.threads} - {
        tid for tid, rest in before.items() if rest is not None and rest == after.get(tid)
    }
    return compared(ours, theirs, ran)


def rests(pid: int) -> dict[int, tuple[int, int] | None]:
    """How often each thread, by its own id, has been switched; ``None`` for one that does not sleep."""
    found: dict[int, tuple[int, int] | None] = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            data = (task / "status").read_bytes()
        except OSError:
            continue
        found[procfs.status(data).ns_pids[-1]] = procfs.switches(data)
    return found


def compared(
    ours: ThreadDump, theirs: ThreadDump, ran: AbstractSet[int | None] = frozenset()
) -> Compared:
    found = Compared()
    by_nid = {thread.nid: thread for thread in ours.threads if not thread.virtual}
    java = [t for t in theirs.threads if t.state and t.name not in _OTHERS and t.nid not in ran]
    for thread in java:
        found.threads += 1
        found.frames += len(thread.frames)
        mine = by_nid.get(thread.nid)
        if mine is None:
            found.differences.append(f"{thread.name!r} is missing")
        elif _picture(mine) != _picture(thread) or not _waits_alike(mine, thread):
            found.differences.append(_difference(mine, thread))
    return found


def _picture(thread: JavaThread) -> tuple[object, ...]:
    frames = tuple((_HASH.sub("", f.class_name), f.method, f.location) for f in thread.frames)
    return thread.name, thread.state, thread.daemon, frames


def _waits_alike(mine: JavaThread, theirs: JavaThread) -> bool:
    """Where the innermost frame is compiled, 8 says nothing of what is waited on; memory does."""
    ours, told = _waits(mine), _waits(theirs)
    return ours == told or (not told and {act for act, _ in ours} == {str(LockAct.WAITING_ON)})


def _waits(thread: JavaThread) -> set[tuple[str, str]]:
    """What it waits for, by class: a collection between the two dumps moves objects.

    9 to 13 say "waiting to re-lock in wait()" beside "waiting on"; where the frame is compiled, "no object reference
    available", which memory does better.
    """
    found = {(str(lock.act), lock.class_name) for lock in thread.locks if lock.act in _WAITS}
    if any(act == LockAct.WAITING_ON for act, _ in found):
        return {(str(LockAct.WAITING_ON), "")}
    return found


def _difference(mine: JavaThread, theirs: JavaThread) -> str:
    ours, told = (*_picture(mine), _waits(mine)), (*_picture(theirs), _waits(theirs))
    pairs = zip(ours, told, strict=True)
    apart = [f"{a!r} against {b!r}" for a, b in pairs if a != b]
    return f"{theirs.name!r}: {'; '.join(apart)} ({mine.note})"
