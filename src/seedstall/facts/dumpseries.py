"""Several dumps of one JVM: in which order they were taken, what stayed in its place, and what is over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from seedstall.knowledge import stacks
from seedstall.model.threads import JavaThread, ThreadDump
from seedstall.model.waits import SeedWait

ANCHORS = ("Reference Handler", "Finalizer", "main", "VM Thread")
"""Threads that a JVM starts once: their ids tell one JVM's dumps from another's."""


def series(dumps: Iterable[ThreadDump]) -> tuple[tuple[ThreadDump, ...], ...]:
    """The dumps of each JVM, oldest first, each moment once.

    One JVM's dumps share the banner and the native ids of the threads that start with it; a dump without them (a bare
    stack) belongs to its input. The same dump pasted twice is one moment.
    """
    by_jvm: dict[object, list[ThreadDump]] = {}
    for dump in dumps:
        known = by_jvm.setdefault(_jvm(dump), [])
        if not any(_same_moment(dump, other) for other in known):
            known.append(dump)
    return tuple(tuple(_in_order(group)) for group in by_jvm.values())


def _jvm(dump: ThreadDump) -> object:
    ids = {t.name: t.nid for t in dump.threads if t.name in ANCHORS and t.nid is not None}
    anchor = next(((name, ids[name]) for name in ANCHORS if name in ids), None)
    return (dump.vm, anchor) if anchor is not None else (dump.vm, dump.origin)


def _same_moment(one: ThreadDump, other: ThreadDump) -> bool:
    if one.taken_at or other.taken_at:
        return one.taken_at == other.taken_at and _elapsed(one) == _elapsed(other)
    if _elapsed(one) is not None:
        return _elapsed(one) == _elapsed(other)
    return _picture(one) == _picture(other)


def _picture(dump: ThreadDump) -> tuple[object, ...]:
    return tuple((t.name, t.nid, tuple(f.name for f in t.frames)) for t in dump.threads)


def _elapsed(dump: ThreadDump) -> float | None:
    """How old the JVM's oldest thread was (11+)."""
    return max((t.elapsed_ms for t in dump.threads if t.elapsed_ms is not None), default=None)


def _in_order(group: list[ThreadDump]) -> list[ThreadDump]:
    """By the JVM's own clock where every dump has it, else by the time line, else as they stood in the input."""
    ages = [_elapsed(dump) for dump in group]
    if all(age is not None for age in ages):
        return sorted(group, key=lambda dump: _elapsed(dump) or 0)
    if all(dump.taken_at for dump in group):
        return sorted(group, key=lambda dump: dump.taken_at)
    return group


def waits(group: tuple[ThreadDump, ...]) -> tuple[list[SeedWait], list[SeedWait]]:
    """What the last dump of one JVM shows of seeding, and the waits of earlier ones that are over by then."""
    before: dict[str, SeedWait] = {}
    over: dict[str, SeedWait] = {}
    for dump in group:
        now = dict(_sights(dump, before))
        over.update({key: wait for key, wait in before.items() if key not in now})
        for key in now:
            over.pop(key, None)
        before = now
    return list(before.values()), list(over.values())


def _sights(dump: ThreadDump, before: dict[str, SeedWait]) -> Iterator[tuple[str, SeedWait]]:
    for thread in dump.threads:
        stack = stacks.classify(thread)
        if stack is None:
            continue
        key = f"{thread.name}/{thread.nid if thread.nid is not None else thread.line}"
        wait = SeedWait(java=thread, stack=stack, dump=dump, dumps_seen=1)
        same = before.get(key)
        yield key, _stayed(same, wait) if same is not None and same.stack == stack else wait


def _stayed(early: SeedWait, late: SeedWait) -> SeedWait:
    """The same thread in the same seed frame in two dumps.

    It may have left and come back: only where its CPU time (11+) hardly moved do two dumps say that it stayed.
    """
    late = replace(late, dumps_seen=early.dumps_seen + 1)
    span = _span(early.java, late.java)
    if span is None:
        return late
    return replace(late, since_ms=(early.since_ms or 0) + span, since_from="two dumps")


def _span(early: JavaThread | None, late: JavaThread | None) -> int | None:
    if early is None or late is None or early.elapsed_ms is None or late.elapsed_ms is None:
        return None
    span = late.elapsed_ms - early.elapsed_ms
    moved = (late.cpu_ms or 0) - (early.cpu_ms or 0)
    return int(span) if span > 0 and moved <= max(5.0, span / 100) else None
