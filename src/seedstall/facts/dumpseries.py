"""Several dumps of one JVM: in which order they were taken, what stayed in its place, and what is over.

They may be in different forms: a ``jstack`` text has kernel ids and CPU times, ``Thread.dump_to_file`` the process id,
a management bean's JSON only Java's own thread ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from seedstall.knowledge import stacks
from seedstall.model.seeding import SeedRole, SeedStack
from seedstall.model.threads import JavaThread, ThreadDump
from seedstall.model.waits import SeedWait

ANCHORS = ("Reference Handler", "Finalizer", "main", "VM Thread")
"""Threads that a JVM starts once: their ids tell one JVM's dumps from another's."""
_EVERYBODYS: Final = frozenset(
    (
        *ANCHORS,
        "Signal Dispatcher",
        "Notification Thread",
        "Common-Cleaner",
        "Attach Listener",
        "Service Thread",
        "DestroyJavaVM",
        "",
    )
)
"""Threads that any JVM has: their being there tells nothing."""
_SHARED: Final = 0.8
"""How much of the smaller of two dumps of one JVM the larger one has: threads come and go between them."""
_FIRST_IDS: Final = 64
"""``main`` is the second kernel thread of a JVM: its id is the process's and a little, however busy the host."""
_QUARTER_MS: Final = 900_000
"""Time zones differ by multiples of a quarter of an hour."""
_CPU_LEAST_MS: Final = 5.0
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?"
)


def series(dumps: Iterable[ThreadDump]) -> tuple[tuple[ThreadDump, ...], ...]:
    """The dumps of each JVM, oldest first, each moment once.

    One JVM's dumps share the banner and the native ids of the threads that start with it. A dump in a form without
    them belongs to the one JVM whose process id, or whose own threads with their Java ids, it has; to its input where
    there is none. The same dump pasted twice is one moment.
    """
    by_jvm: dict[object, list[ThreadDump]] = {}
    # By what a moment has: a log of a day holds thousands, and each is not to be held against all others.
    moments: dict[object, list[ThreadDump]] = {}
    for dump in dumps:
        jvm = _jvm(dump)
        known = moments.setdefault((jvm, dump.form, dump.taken_at, _elapsed(dump)), [])
        if not any(_same_moment(dump, other) for other in known):
            known.append(dump)
            by_jvm.setdefault(jvm, []).append(dump)
    return tuple(tuple(_in_order(group)) for group in _merged(list(by_jvm.values())))


def _jvm(dump: ThreadDump) -> object:
    ids = {t.name: t.nid for t in dump.threads if t.name in ANCHORS and t.nid is not None}
    anchor = next(((name, ids[name]) for name in ANCHORS if name in ids), None)
    if anchor is not None and not _is_loose(dump):
        return (dump.vm, anchor)
    return (dump.form, dump.process) if dump.process else (dump.form, dump.vm, dump.origin)


def _merged(groups: list[list[ThreadDump]]) -> list[list[ThreadDump]]:
    """Join what is of one JVM by more than its banner: where two may be meant, neither is taken."""
    kept: list[list[ThreadDump]] = []
    # Those in HotSpot's own form first: they know most of themselves.
    order = sorted(range(len(groups)), key=lambda index: (_is_loose(groups[index][0]), index))
    for index in order:
        group = groups[index]
        loose = _is_loose(group[0])
        fits = [other for other in kept if loose and _one_jvm(group[0], other[0])]
        if len(fits) == 1:
            fits[0].extend(d for d in group if not any(_same_moment(d, o) for o in fits[0]))
        else:
            kept.append(group)
    return kept


def _is_loose(dump: ThreadDump) -> bool:
    """Whether its banner and kernel ids do not tell its JVM: another form, or one without ids."""
    return bool(dump.form) or all(t.nid is None for t in dump.threads if t.name in ANCHORS)


def _one_jvm(one: ThreadDump, other: ThreadDump) -> bool:
    """Whether two dumps, at least one of them without HotSpot's ids, are of one JVM."""
    if _contradict(one, other):
        return False
    if one.process and other.process:
        return True
    if not one.lists_all or not other.lists_all:
        part, whole = sorted((one, other), key=lambda dump: dump.lists_all)
        names = {thread.name for thread in part.threads} - _EVERYBODYS
        return bool(names) and names <= {thread.name for thread in whole.threads}
    mine, theirs = _own(one), _own(other)
    small = min(mine, theirs, key=len)
    if not small:
        return _near_process(one, other) or _near_process(other, one)
    return len(mine & theirs) >= _SHARED * len(small)


def _contradict(one: ThreadDump, other: ThreadDump) -> bool:
    """Whether something says that they are of two JVMs."""
    if one.process and other.process and one.process != other.process:
        return True
    if one.jdk is not None and other.jdk is not None:
        updates = {one.jdk.update, other.jdk.update} - {None}
        if one.jdk.feature != other.jdk.feature or len(updates) > 1:
            return True
    for this, that in ((one, other), (other, one)):
        main = next((t.nid for t in that.threads if t.name == "main"), None)
        if this.process and main and not 0 <= main - this.process <= _FIRST_IDS:
            return True
    ids = {t.name: t.nid for t in one.threads if t.name in ANCHORS and t.nid}
    if any(t.nid and ids.get(t.name, t.nid) != t.nid for t in other.threads if t.name in ANCHORS):
        return True
    mains = {name for dump in (one, other) if (name := _main_class(dump))}
    return len(mains) > 1


def _main_class(dump: ThreadDump) -> str:
    """The class whose ``main`` the first thread runs, where the dump shows it."""
    main = next((t for t in dump.threads if t.name == "main" and t.frames and not t.cut), None)
    return (
        main.frames[-1].class_name if main is not None and main.frames[-1].method == "main" else ""
    )


def _own(dump: ThreadDump) -> set[tuple[str, int]]:
    """The program's own threads: names with Java ids, or kernel ids where they have neither."""
    return {
        (t.name, t.java_id or 0) if t.name and t.java_id else ("", t.nid or 0)
        for t in dump.threads
        if t.name not in _EVERYBODYS and (t.java_id or t.nid)
    }


def _near_process(one: ThreadDump, other: ThreadDump) -> bool:
    main = next((t.nid for t in other.threads if t.name == "main"), None)
    return bool(one.process and main and 0 <= main - one.process <= _FIRST_IDS)


def _same_moment(one: ThreadDump, other: ThreadDump) -> bool:
    if one.form != other.form or one.taken_at != other.taken_at:
        return False
    if _elapsed(one) is not None:
        return _elapsed(one) == _elapsed(other)
    return _picture(one) == _picture(other)


def _picture(dump: ThreadDump) -> tuple[object, ...]:
    return tuple((t.name, t.nid, t.busy_ms, tuple(f.name for f in t.frames)) for t in dump.threads)


def _elapsed(dump: ThreadDump) -> float | None:
    """How old the JVM was (11+), by its first threads: a dump in the midst of a long series has no others."""
    first = [t.elapsed_ms for t in dump.threads if t.elapsed_ms is not None and t.name in ANCHORS]
    every = first or [t.elapsed_ms for t in dump.threads if t.elapsed_ms is not None]
    return max(every, default=None)


def _in_order(group: list[ThreadDump]) -> list[ThreadDump]:
    """By the JVM's own clock where every dump has it, else by the time line, else as they stood in the input."""
    ages = [_elapsed(dump) for dump in group]
    if all(age is not None for age in ages):
        return sorted(group, key=lambda dump: _elapsed(dump) or 0)
    times = _times(group)
    keys: list[float] = []
    for time in times:
        # One that does not say when it was taken stays behind the one it stands behind.
        keys.append(time if time is not None else (keys[-1] if keys else 0.0))
    return [group[index] for index in sorted(range(len(group)), key=keys.__getitem__)]


def moments(group: Sequence[ThreadDump]) -> tuple[list[float | None], bool]:
    """When each dump of one JVM was taken, in milliseconds; and whether that counts from the JVM's start (11+)."""
    ages = [_elapsed(dump) for dump in group]
    if group and all(age is not None for age in ages):
        return ages, True
    return _times(group), False


def _times(group: Sequence[ThreadDump]) -> list[float | None]:
    """When each dump was taken, in milliseconds of one clock; ``None`` where it does not say.

    Some forms print UTC and some the JVM's local time without saying which: the latter are shifted by the quarters of
    an hour that bring them nearest to the former.
    """
    read = [_time(dump.taken_at) for dump in group]
    zoned = [time for time, has_zone in read if time is not None and has_zone]
    local = [time for time, has_zone in read if time is not None and not has_zone]
    shift = 0.0
    if zoned and local:
        shift = round((zoned[0] - local[0]) / _QUARTER_MS) * _QUARTER_MS
    return [time + shift if time is not None and not has_zone else time for time, has_zone in read]


def _time(text: str) -> tuple[float | None, bool]:
    from datetime import UTC, datetime  # noqa: PLC0415 - only for series that need it

    match = _TIME.match(text)
    if match is None:
        return None, False
    *figures, fraction, zone = match.groups()
    try:
        year, month, day, hour, minute, second = map(int, figures)
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None, False
    ms = moment.timestamp() * 1000 + float(f"0.{fraction or 0}") * 1000
    if zone and zone != "Z":
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        ms -= minutes * 60_000 * (1 if zone[0] == "+" else -1)
    return ms, bool(zone)


@dataclass(slots=True)
class _Stay:
    """One thread in one seed frame, from the first dump that shows it there to the last."""

    wait: SeedWait
    first: tuple[JavaThread, float | None]
    """The thread as it was first seen there, and when that dump was taken."""
    clocked: tuple[JavaThread, float | None] | None = None
    """The same with the JVM's own account of the thread's age, where the first dump has none."""

    @property
    def java(self) -> JavaThread:
        return self.wait.java or JavaThread("")

    def again(self, wait: SeedWait, time: float | None) -> _Stay:
        """The same thread in the same place in a later dump."""
        late = wait.java or JavaThread("")
        early, at = self.first
        if late.elapsed_ms is not None and early.elapsed_ms is None:
            early, at = self.clocked or self.first
        clocked = self.clocked or ((late, time) if late.elapsed_ms is not None else None)
        over = _over(early, late, at, time)
        used = _used(early, late)
        same = replace(
            wait,
            dumps_seen=self.wait.dumps_seen + 1,
            over_ms=self.wait.over_ms,
            cpu_between_ms=self.wait.cpu_between_ms,
            since_ms=self.wait.since_ms,
            since_from=self.wait.since_from,
        )
        if over is not None and over >= (self.wait.over_ms or 0):
            same = replace(same, over_ms=int(over), cpu_between_ms=used)
            if _stayed(late, over, used):
                same = replace(same, since_ms=int(over), since_from="two dumps")
            elif used is not None:
                same = replace(same, since_ms=None, since_from="")
        return _Stay(same, self.first, clocked)


def waits(group: tuple[ThreadDump, ...]) -> tuple[list[SeedWait], list[SeedWait]]:
    """What the last dump of one JVM shows of seeding, and the waits of earlier ones that are over by then.

    A report on single threads ends no other thread's wait.
    """
    before: list[_Stay] = []
    over: list[_Stay] = []
    for dump, time in zip(group, _times(group), strict=True):
        known = _Known(before)
        now: list[_Stay] = []
        for wait in _sights(dump):
            early = known.of(wait.java)
            stays = early is not None and _is_same_place(early.wait.stack, wait.stack)
            fresh = _Stay(wait, (wait.java or JavaThread(""), time))
            now.append(early.again(wait, time) if early is not None and stays else fresh)
        gone = _Known(now).lacking(before)
        if not dump.lists_all:
            named = _Known(_Stay(SeedWait(java=t), (t, None)) for t in dump.threads)
            carried = named.lacking(gone)
            gone = [stay for stay in gone if named.of(stay.java) is not None]
            now = [*carried, *now]
        over = _Known(now).lacking((*over, *gone))
        before = now
    dumps = len(group)
    return (
        [replace(stay.wait, dumps=dumps) for stay in before],
        [replace(stay.wait, dumps=dumps) for stay in over],
    )


class _Known:
    """Stays by whatever tells a thread: Java's id, the kernel's, else its name, or its place where it has none."""

    def __init__(self, stays: Iterable[_Stay]) -> None:
        self._by_key: dict[tuple[str, object], _Stay] = {}
        for stay in stays:
            for key in _keys(stay.java):
                self._by_key.setdefault(key, stay)

    def of(self, java: JavaThread | None) -> _Stay | None:
        """The stay of that thread, if it is known."""
        if java is None:
            return None
        for key in _keys(java):
            found = self._by_key.get(key)
            if found is not None and not _differ(found.java, java):
                return found
        return None

    def lacking(self, stays: Iterable[_Stay]) -> list[_Stay]:
        """Those of *stays* whose threads are not among the known."""
        return [stay for stay in stays if self.of(stay.java) is None]


def _keys(java: JavaThread) -> Iterator[tuple[str, object]]:
    if java.nid is not None:
        yield "nid", java.nid
    if java.java_id is not None:
        yield "id", java.java_id
    yield ("name", java.name) if java.name else ("line", java.line)


def _differ(one: JavaThread, other: JavaThread) -> bool:
    """Whether an id that both have says that they are two threads."""
    kernel = None not in (one.nid, other.nid) and one.nid != other.nid
    java = None not in (one.java_id, other.java_id) and one.java_id != other.java_id
    return kernel or java


def _sights(dump: ThreadDump) -> Iterator[SeedWait]:
    """The threads of *dump* that are in a generator."""
    found = [(thread, stacks.classify(thread)) for thread in dump.threads]
    ours = [(thread, stack) for thread, stack in found if stack is not None]
    reading = [t for t, stack in ours if stack.role in (SeedRole.READING, SeedRole.THREADED)]
    for thread, stack in ours:
        told = stacks.behind(stack, thread, reading)
        yield SeedWait(java=thread, stack=told, dump=dump, dumps_seen=1)


def _is_same_place(one: SeedStack | None, other: SeedStack | None) -> bool:
    """Whether two looks at a thread show the same wait; one of them may lack who asked for it."""
    if one is None or other is None:
        return False
    if (one.role, one.algorithm, one.operation, one.seed_frame) != (
        other.role,
        other.algorithm,
        other.operation,
        other.seed_frame,
    ):
        return False
    return one.caller_frame == other.caller_frame or "" in (one.caller_frame, other.caller_frame)


def _over(
    early: JavaThread, late: JavaThread, at: float | None, time: float | None
) -> float | None:
    """Milliseconds from one look to the other: by the thread's own age, by its watch, by the time lines."""
    if early.elapsed_ms is not None and late.elapsed_ms is not None:
        span = late.elapsed_ms - early.elapsed_ms
    elif early.busy_ms is not None and late.busy_ms is not None:
        span = late.busy_ms - early.busy_ms
    elif at is not None and time is not None:
        span = time - at
    else:
        return None
    return span if span > 0 else None


def _used(early: JavaThread, late: JavaThread) -> float | None:
    """CPU time between two looks, where both print it (11+, javacores)."""
    if early.cpu_ms is None or late.cpu_ms is None:
        return None
    return max(0.0, late.cpu_ms - early.cpu_ms)


def _stayed(late: JavaThread, over: float, used: float | None) -> bool:
    """Whether it stood there all the time: it may have left and come back.

    Where its CPU time hardly moved it did not; nor where it is in a static initialiser, which runs once in a JVM's
    life, nor where its server's watch counts one and the same task.
    """
    if used is not None:
        return used <= max(_CPU_LEAST_MS, over / 100)
    once = any(frame.method == "<clinit>" and stacks.is_seeder(frame) for frame in late.frames)
    return once or late.busy_ms is not None


def stay(early: JavaThread, late: JavaThread) -> int | None:
    """Milliseconds between two looks at a thread that hardly ran in between (11+); ``None`` where they do not say."""
    over, used = _over(early, late, None, None), _used(early, late)
    return (
        int(over) if over is not None and used is not None and _stayed(late, over, used) else None
    )
