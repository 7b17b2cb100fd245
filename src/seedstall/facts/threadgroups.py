"""All threads of a case by what they wait for: a dump of ten thousand reads as a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from seedstall.facts.dumpseries import series
from seedstall.facts.standing import waits_for_work
from seedstall.knowledge import places, stacks
from seedstall.knowledge.callers import is_jdk
from seedstall.model.evidence import Missing, Unavailable
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import KernelTask, Tasks
from seedstall.model.threadgroups import Mark, ShownFrame, ShownStack, ThreadGroup, ThreadGroups
from seedstall.model.threads import JavaThread, LockAct, LockLine, ThreadDump, ThreadDumps
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.source.base import Source

MOST_GROUPS = 40
MOST_NAMES = 20
MOST_STACKS = 3
MOST_FRAMES = 80
LONGEST = 200
"""Characters of a foreign name that are kept: a report must not grow with a hostile dump."""
_MOST_LOCKS = 8

_SEEDING = {
    SeedRole.READING: "waits for random bytes",
    SeedRole.QUEUED: "waits for a generator that another thread is seeding",
    SeedRole.THREADED: "waits for the JDK's threaded seed generator",
    SeedRole.WORKING: "works in a random generator",
    SeedRole.LOOKUP: "looks up a name, or lists a directory, for a seed",
}
_NO_STACK = "has no Java stack (the JVM's own)"
_UNKNOWN = "has a stack that could not be read"
_IDLES = "idles"
_POOL = "waits for work in a pool"
_KEEPS_HOUSE = "waits for references to clear"
_HOUSEKEEPING = frozenset(("java.lang.ref.Reference.waitForReferencePendingList",))
"""9 and later: native, and RUNNABLE in every dump."""
_LAST = (_UNKNOWN, _IDLES, _POOL, _KEEPS_HOUSE, _NO_STACK)


def thread_groups(
    _source: Source,
    dumps: ThreadDumps | Missing,
    tasks: Tasks | Missing,
    seeds: SeedEvidence | None,
) -> ThreadGroups:
    """The threads of the newest dump of each JVM; without a dump the kernel's.

    Raises:
        Unavailable: there are neither.
    """
    if isinstance(dumps, ThreadDumps) and dumps.dumps:
        return _of_dumps(series(dumps.dumps), seeds)
    if isinstance(tasks, Tasks):
        return _of_tasks(tasks)
    raise Unavailable(dumps if isinstance(dumps, Missing) else tasks)


@dataclass(slots=True)
class _Group:
    """A group while it is filled."""

    seeding: bool = False
    cause: str = ""
    count: int = 0
    names: list[str] = field(default_factory=list[str])
    stacks: dict[object, tuple[JavaThread, str, int]] = field(
        default_factory=dict[object, tuple[JavaThread, str, int]]
    )

    def add(self, name: str) -> None:
        self.count += 1
        if len(self.names) < MOST_NAMES:
            self.names.append(name)


def _of_dumps(groups: Sequence[Sequence[ThreadDump]], seeds: SeedEvidence | None) -> ThreadGroups:
    waits = {id(w.java): w for w in _waits(seeds) if w.java is not None}
    found: dict[str, _Group] = {}
    known: dict[object, tuple[str, bool, str]] = {}
    for dump in (_newest(group) for group in groups):
        for thread in dump.threads:
            key = _same_stack(thread)
            same = (
                key,
                thread.state,
                thread.activity,
                id(waits.get(id(thread))),
                thread.locks[:1],
                bool(thread.note),
            )
            if same not in known:
                known[same] = _does(thread, waits.get(id(thread)))
            words, seeding, cause = known[same]
            group = found.setdefault(words, _Group(seeding, cause))
            group.add(_short(thread.name) or f"thread {thread.nid or thread.java_id or '?'}")
            if thread.frames or thread.note:
                first, origin, so_many = group.stacks.get(key) or (
                    thread,
                    _origin(dump, thread),
                    0,
                )
                group.stacks[key] = (first, origin, so_many + 1)
    return _in_order(found, "dump")


def _same_stack(thread: JavaThread) -> tuple[object, ...]:
    """What two threads share that are shown as one. Names alone: hashing frames takes ten times as long."""
    shown = thread.frames[:MOST_FRAMES]
    return (
        len(thread.frames),
        *[frame.class_name for frame in shown],
        *[frame.method for frame in shown],
    )


def _newest(group: Sequence[ThreadDump]) -> ThreadDump:
    """The last that lists all threads; a report on single ones where there is no other."""
    return next((dump for dump in reversed(group) if dump.lists_all), group[-1])


def _waits(seeds: SeedEvidence | None) -> Iterable[SeedWait]:
    if seeds is not None:
        yield from (*seeds.waits, *seeds.queued, *seeds.working, *seeds.lookups)


def _does(thread: JavaThread, wait: SeedWait | None) -> tuple[str, bool, str]:
    """In words, whether it is seeding, and its cause as the contract names it."""
    if wait is not None:
        return _seeding(wait), True, ""
    if not thread.frames:
        return (_UNKNOWN if thread.note else _NO_STACK), False, ""
    if waits_for_work(thread):
        return _POOL, False, ""
    if thread.frames[0].name in _HOUSEKEEPING:
        return _KEEPS_HOUSE, False, ""
    place = places.place_of(thread)
    if place is None:
        return _IDLES, False, ""
    return _short(place.words), False, str(place.cause)


def _seeding(wait: SeedWait) -> str:
    words = _SEEDING[wait.role]
    if wait.role is not SeedRole.READING:
        return words
    if wait.stack is not None and wait.stack.network:
        return f"{words} from the network"
    file = wait.task.file if wait.task is not None else None
    return f"{words} from {_short(file.path)}" if file is not None else words


def _origin(dump: ThreadDump, thread: JavaThread) -> str:
    return f"{dump.origin}:{thread.line}" if thread.line else dump.origin


def _in_order(found: dict[str, _Group], told_by: str) -> ThreadGroups:
    """Seeding first, then where ``main`` is, then the many; what waits for nothing in particular last."""
    order = sorted(
        found.items(),
        key=lambda item: (
            not item[1].seeding,
            _LAST.index(item[0]) + 1 if item[0] in _LAST else 0,
            "main" not in item[1].names,
            -item[1].count,
        ),
    )
    return ThreadGroups(
        groups=tuple(_shown(words, group) for words, group in order[:MOST_GROUPS]),
        threads=sum(group.count for group in found.values()),
        told_by=told_by,
        left_out=sum(group.count for _, group in order[MOST_GROUPS:]),
    )


def _shown(words: str, group: _Group) -> ThreadGroup:
    often = sorted(group.stacks.values(), key=lambda told: -told[2])
    return ThreadGroup(
        words=words,
        count=group.count,
        names=tuple(group.names),
        seeding=group.seeding,
        cause=group.cause,
        stacks=tuple(_stack(*told) for told in often[:MOST_STACKS]),
        stacks_in_all=len(often),
    )


def _stack(thread: JavaThread, origin: str, so_many: int) -> ShownStack:
    frames = tuple(_frames(thread))
    return ShownStack(
        thread=_short(thread.name),
        origin=_short(origin),
        threads=so_many,
        frames=frames,
        more=len(thread.frames) - len(frames),
        note=_short(thread.note),
    )


def _frames(thread: JavaThread) -> Iterator[ShownFrame]:
    begin, end = stacks.seed_span(thread.frames)
    stack = stacks.classify(thread)
    asked = stack.caller_frame if stack is not None else ""
    caller = next(
        (
            at
            for at, frame in enumerate(thread.frames[end:], end)
            if frame.name == asked or (not asked and not is_jdk(frame.class_name))
        ),
        -1,
    )
    reads = stack is not None and stack.role in (SeedRole.READING, SeedRole.LOOKUP)
    locks = _locks(thread.locks)
    for at, frame in enumerate(thread.frames[:MOST_FRAMES]):
        if at < end:
            mark = Mark.SEED if at >= begin else Mark.READ if reads else Mark.JDK
        elif at == caller:
            mark = Mark.CALLER
        else:
            mark = Mark.JDK if is_jdk(frame.class_name) else Mark.OWN
        yield ShownFrame(mark, _short(frame.name), _short(frame.location), locks.get(at, ()))


def _locks(lines: Sequence[LockLine]) -> dict[int, tuple[str, ...]]:
    """The lock lines below each frame, as jstack words them."""
    found: dict[int, tuple[str, ...]] = {}
    for line in lines:
        if line.act is not LockAct.OWNED and len(found.get(line.depth, ())) < _MOST_LOCKS:
            address = f" <{line.address}>" if line.address else ""
            told = f"{line.act}{address} (a {_short(line.class_name)})"
            found[line.depth] = (*found.get(line.depth, ()), told)
    return found


def _of_tasks(tasks: Tasks) -> ThreadGroups:
    found: dict[str, _Group] = {}
    for task in tasks.tasks:
        words, seeding = _call(task)
        found.setdefault(words, _Group(seeding)).add(f"{_short(task.comm)} ({task.tid})")
    return _in_order(found, "kernel")


def _call(task: KernelTask) -> tuple[str, bool]:
    """What the kernel shows it in, and whether that is a random device."""
    from seedstall.facts.waits import waits_in_random_device  # noqa: PLC0415 - it is loaded by then

    if task.running:
        return "runs", False
    call = task.syscall
    seeding = waits_in_random_device(task)
    if call is None:
        return (
            f"sleeps in the kernel's {_short(task.wchan)}" if task.wchan else _UNKNOWN_CALL
        ), seeding
    name = call.name or f"system call {call.number}"
    of = f" of {_short(task.file.path)}" if task.file is not None else ""
    return f"is in {name}{of}", seeding


_UNKNOWN_CALL = "is in a call that was not seen"


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}... ({len(text) - LONGEST} characters more)"


PROVIDERS = (thread_groups,)
