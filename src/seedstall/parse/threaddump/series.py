"""Whole dumps of a long text, one after the other: a series repeats its stacks, and is read by comparing.

In a log of hundreds of MB most bytes are stacks that stood in the dump before, thread for thread. So each thread is
held against the one that stood in its place: one comparison of memory, no search, no decoding. What differs is checked
for being nothing but frames and locks. A dump in which any line is anything else (a log between the frames, a prefix,
damage) is not read here: `Irregular`, and the careful reader takes it.

A dump read so holds the threads that matter over time (`ThreadDump.total` counts them all): those in a generator, and
those that tell one JVM from another. All threads of the last dumps are read by the careful reader.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from seedstall.model.threads import Frame, JavaThread, ThreadDump
from seedstall.parse.text import shown
from seedstall.parse.threaddump import deadlock
from seedstall.parse.threaddump.frame import Body, Doubt, body
from seedstall.parse.threaddump.header import LONGEST, header
from seedstall.parse.threaddump.hotspot import (
    LISTED,
    TELLING,
    VM,
    banner_version,
    made,
    taken_at,
)

BANNER: Final = b"Full thread dump"
ANCHOR_NAMES: Final = ("Reference Handler", "Finalizer", "main", "VM Thread")
"""Threads that a JVM starts once: they tell one JVM's dumps from another's, and how old it is."""
_ANCHORS: Final = tuple(f'"{name}" '.encode() for name in ANCHOR_NAMES)
_AT_ONCE: Final = b'\n"'
_END: Final = b"JNI global ref"
_OWNED: Final = b"   Locked ownable synchronizers:\n"
_NONE_OWNED: Final = _OWNED + b"\t- None\n\n"
_STATE: Final = b"\n   java.lang.Thread.State: "
_LONGEST_BODY: Final = 1 << 20
_LONGEST_LIST: Final = 8 << 20
"""Bytes between a banner and its first thread: the list of Java threads (10+) has 20 for each."""
_LIST_STEP: Final = 32 << 10
_NEAR: Final = 8
"""Places ahead, in the dump before, where a thread may have stood: others have ended since."""
_DEADLOCK_NEAR: Final = 64
_KEPT: Final = 8 << 20
"""Bytes of stacks remembered beside those of the last dump: threads of a pool share theirs."""
_PLACED_FRAMES: Final = 40_000
_NO_STACK: Final = b"[0x0000000000000000]"
_QUOTE: Final = ord('"')
_FEED: Final = ord("\n")


class Irregular(Enum):
    """Why a dump was not read here."""

    IRREGULAR = "irregular"
    CUT = "cut"
    """The data ends before the dump does."""


class Walked(NamedTuple):
    """A dump, where it ends, and how many lines it has from its banner's to there."""

    dump: ThreadDump
    end: int
    feeds: int


Outcome: TypeAlias = Walked | Irregular


class _Stack:
    """What stands between one header's end and the next one's start."""

    __slots__ = ("feeds", "framed", "java", "length", "raw", "read", "telling")

    def __init__(
        self, raw: bytes, feeds: int, *, java: bool, framed: bool, read: Body | None
    ) -> None:
        self.raw = raw
        self.length = len(raw)
        self.feeds = feeds
        self.java = java
        self.framed = framed
        # One search for what all of them have in their package or name, before the others.
        self.telling = b"ecur" in raw and any(word in raw for word in TELLING)
        self.read = read

    def body(self) -> Body:
        """The stack as the careful reader has it."""
        if self.read is None:
            self.read = body(self.raw[1:-2])
        return self.read


class _Mattering(NamedTuple):
    """A thread that matters over time: where it starts, where its header ends, and how many lines stand above it."""

    start: int
    eol: int
    stack: _Stack
    feeds: int


class _Threads(NamedTuple):
    """What the threads of a dump come to; the dump's last line begins at ``last``."""

    total: int
    java: int
    feeds: int
    mattering: list[_Mattering]
    last: int


_NO_BLANK_LINE: Final = _Stack(_AT_ONCE, 1, java=False, framed=False, read=None)
"""Between two of the JVM's own threads (JDK 11's "G1 Young RemSet Sampling" and what follows): nothing at all."""
_NO_BLANK_LINE.length = 1


class Series:
    """The dumps of one text, in order."""

    def __init__(self, origin: str) -> None:
        """Begin without a dump to compare with."""
        self._origin = origin
        self._before: list[_Stack] = []
        self._known: dict[bytes, _Stack] = {}
        self._size = 0
        self._placed = 0
        self._changing = False
        """Hardly any stack of the last dump stood in the one before: comparing is no use."""

    def read(self, data: bytes, at: int, line: int) -> Outcome:
        """The dump whose banner stands at *at*, in line number *line*."""
        head = self._head(data, at)
        if isinstance(head, Irregular):
            return head
        vm, listed, first = head
        threads = self._threads(data, first)
        if isinstance(threads, Irregular):
            return threads
        above = data.count(b"\n", at, first)
        ended = self._ended(data, threads.last)
        kept = self._kept(data, threads.mattering, line + above)
        if isinstance(ended, Irregular) or kept is None:
            return ended if isinstance(ended, Irregular) else Irregular.IRREGULAR
        end, cycles = ended
        dump = ThreadDump(
            self._origin,
            kept,
            line,
            taken_at(data, at),
            vm,
            banner_version(vm),
            cycles,
            complete=0 < threads.java >= listed,
            omitted=threads.total - len(kept),
        )
        return Walked(dump, end, above + threads.feeds + data.count(b"\n", threads.last, end))

    def _head(self, data: bytes, at: int) -> tuple[str, int, int] | Irregular:
        """What the banner says of the JVM, how many Java threads there are to be, and where the first one begins."""
        eol = data.find(b"\n", at, at + LONGEST)
        vm = VM.fullmatch(data, at, eol) if eol >= 0 else None
        if vm is None or (at > 0 and data[at - 1] != _FEED):
            return Irregular.IRREGULAR if eol >= 0 else self._short(data, at, LONGEST)
        first = self._first(data, eol)
        if isinstance(first, Irregular):
            return first
        between = data[eol:first].strip()
        if between and (not between.startswith(b"Threads class SMR info:") or b"tid=" in between):
            return Irregular.IRREGULAR
        listed = LISTED.search(between)
        return shown(vm[1]), int(listed[1]) if listed else 0, first + 2

    def _first(self, data: bytes, eol: int) -> int | Irregular:
        """The end of what stands above the first thread: of a banner that another one follows, there is none.

        Searched a bit at a time: the next dump's banner is a MB away, and the first thread is near.
        """
        start, first = eol, -1
        while start < eol + _LONGEST_LIST:
            stop = start + _LIST_STEP
            first = data.find(b'\n\n"', start, stop)
            if data.find(BANNER, start, first if first >= 0 else stop) >= 0:
                return Irregular.IRREGULAR
            if first >= 0 or stop >= len(data):
                break
            start = stop - len(BANNER)
        else:
            return Irregular.IRREGULAR
        return first if first >= 0 else self._short(data, eol, _LONGEST_LIST)

    @staticmethod
    def _short(data: bytes, at: int, limit: int) -> Irregular:
        """What is not there may follow, if it is not past its limit."""
        return Irregular.CUT if len(data) - at < limit else Irregular.IRREGULAR

    def _threads(self, data: bytes, at: int) -> _Threads | Irregular:
        """The threads from *at* on."""
        before = self._before
        last = len(before)
        found: list[_Stack] = []
        mattering: list[_Mattering] = []
        place = missed = feeds = java = 0
        while True:
            eol = data.find(b"\n", at, at + LONGEST)
            if eol < 0:
                return self._short(data, at, LONGEST)
            stack = before[place] if place < last else None
            if stack is not None and not self._changing and data.startswith(stack.raw, eol):
                place += 1
            else:
                other = self._other(data, eol, before, place)
                if isinstance(other, Irregular):
                    return other
                stack, place = other
                missed += 1
            # No other line has the kernel's id; and frames are in what says that it has some.
            if data.find(b" nid=", at, eol) < 0 or not (
                stack.framed or _is_without_stack(data[at:eol])
            ):
                return Irregular.IRREGULAR
            if stack.telling or data.startswith(_ANCHORS, at):
                mattering.append(_Mattering(at, eol, stack, feeds))
            found.append(stack)
            feeds += stack.feeds
            java += stack.java
            at = eol + stack.length
            if at >= len(data) or data[at] != _QUOTE:
                break
        if not data.startswith(_END, at):
            return self._short(data, at, len(_END))
        self._changing = bool(self._before) and missed * 2 > len(found)
        self._before = found
        return _Threads(len(found), java, feeds, mattering, at)

    def _other(
        self, data: bytes, eol: int, before: list[_Stack], place: int
    ) -> tuple[_Stack, int] | Irregular:
        """The stack at *eol*, which is not the one that stood in this place; and the place to go on with."""
        if self._changing:
            # Numbers have changed and not their length: what stands there says whether it is so.
            end = eol + before[place].length - 2 if place < len(before) else -1
            if data.startswith(b'\n\n"', end):
                raw = data[eol : end + 2]
                feeds = raw.count(b"\n")
                if _is_frames_only(raw, feeds):
                    return _Stack(raw, feeds, java=True, framed=True, read=None), place + 1
        else:
            for near in (*range(place + 1, min(place + _NEAR, len(before))), place - 1, place - 2):
                if 0 <= near < len(before) and data.startswith(before[near].raw, eol):
                    return before[near], near + 1
        if data.startswith(_AT_ONCE, eol):
            return _NO_BLANK_LINE, place + 1
        end = data.find(b"\n\n", eol, eol + _LONGEST_BODY)
        while end >= 0 and data.startswith(_OWNED, end + 2):
            end = data.find(b"\n\n", end + 2, eol + _LONGEST_BODY)
        if end < 0:
            return self._short(data, eol, _LONGEST_BODY)
        raw = data[eol : end + 2]
        stack = self._stack(raw)
        return Irregular.IRREGULAR if stack is None else (stack, place + 1)

    def _stack(self, raw: bytes) -> _Stack | None:
        """A stack not compared before; ``None`` where it holds anything but what a dump prints."""
        feeds = raw.count(b"\n")
        if self._before and _is_frames_only(raw, feeds):
            return _Stack(raw, feeds, java=True, framed=True, read=None)
        known = self._known.get(raw)
        if known is not None:
            return known
        read = body(raw[1:-2])
        if read.doubt is not Doubt.NONE or read.cut:
            return None
        framed = bool(read.frames)
        known = _Stack(raw, feeds, java=framed or bool(read.state), framed=framed, read=read)
        self._size += len(raw)
        if self._size > _KEPT:
            self._known.clear()
            self._size = len(raw)
        self._known[raw] = known
        return known

    def _kept(
        self, data: bytes, mattering: list[_Mattering], first: int
    ) -> tuple[JavaThread, ...] | None:
        """The threads that matter over time; ``None`` where the header of one cannot be read."""
        kept: list[JavaThread] = []
        for start, eol, stack, feeds in mattering:
            head = header(data[start:eol])
            if head is None or not head.whole:
                return None
            if stack.telling or head.name in ANCHOR_NAMES:
                line = first + feeds
                frames = self._frames(stack.body(), line + 1)
                kept.append(made(head, stack.body(), frames, line))
        return tuple(kept)

    def _frames(self, read: Body, line: int) -> tuple[Frame, ...]:
        """The frames with their lines in the input, as long as there are few."""
        if self._placed > _PLACED_FRAMES:
            return read.frames
        self._placed += len(read.frames)
        return tuple(
            Frame(frame.class_name, frame.method, frame.location, line + offset)
            for frame, offset in zip(read.frames, read.offsets, strict=True)
        )

    def _ended(self, data: bytes, last: int) -> tuple[int, tuple[tuple[str, ...], ...]] | Irregular:
        """Where the dump ends whose last line begins at *last*, and the JVM's report of deadlocks, which follows."""
        end = data.find(b"\n", last, last + LONGEST)
        if end < 0:
            return self._short(data, last, LONGEST)
        cycles: list[tuple[str, ...]] = []
        at = data.find(deadlock.START, end, end + _DEADLOCK_NEAR)
        while at >= 0:
            end, names = deadlock.section(data, at, len(data))
            if end >= len(data):
                return Irregular.CUT
            if names:
                cycles.append(names)
            at = end if data.startswith(deadlock.START, end) else -1
        return end, tuple(cycles)


def _is_without_stack(head: bytes) -> bool:
    """Whether a header says that its thread has no Java frames."""
    head = head.rstrip()
    return not head.endswith(b"]") or head.endswith(_NO_STACK)


def _is_frames_only(raw: bytes, feeds: int) -> bool:
    """Whether a stack has a state, frames and locks, each on a line of its own, and nothing else.

    By counts: a third of the time that a pattern takes, a tenth of reading the lines.
    """
    if not raw.startswith(_STATE) or not raw.endswith((b")\n\n", _NONE_OWNED)):
        return False
    frames = raw.count(b"\n\tat ")
    # Beside them: the header's line feed, the state's, the blank line's; in jstack -l a blank line and a title more.
    others = feeds - frames - 3
    if others and (raw.endswith(_NONE_OWNED) or _OWNED in raw):
        others -= 2
    if others and others != raw.count(b"\n\t- "):
        return False
    innermost_only = frames < 4 and b"\tat java.io." in raw.replace(b"java.base/", b"")  # noqa: PLR2004
    return frames > 0 and not innermost_only
