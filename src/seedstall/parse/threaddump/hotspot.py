"""Dumps in HotSpot's own form: a banner, threads with a header each, ``JNI global refs``, perhaps deadlocks.

One pass. The text is searched for what every header of every version holds (`` tid=0x``), so a prefix or a lost quote
does no harm; what stands below a header, up to the next blank line or header, is read once for all threads that have
the same below theirs: a series of dumps repeats its stacks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from seedstall.model.jdk import JdkVersion
from seedstall.model.threads import Frame, JavaThread, ThreadDump
from seedstall.parse.jdkversion import vm_banner
from seedstall.parse.text import Lines, Text, line_around, shown
from seedstall.parse.threaddump import deadlock
from seedstall.parse.threaddump.bare import Bare, bare_stacks
from seedstall.parse.threaddump.frame import Body, body
from seedstall.parse.threaddump.header import LONGEST, Header, header

_ANCHOR: Final = b" tid=0x"
_BANNER: Final = b"Full thread dump"
_END: Final = b"JNI global ref"
_LONGEST_BODY: Final = 1 << 20
"""HotSpot prints at most 1,024 frames of a thread (``MaxJavaStackTraceDepth``): far below this."""
_PLACED_FRAMES: Final = 100_000
"""Frames that get a line number of their own. Beyond (a series of dumps), only threads in a generator do: a frame for
each line of 200 MB would be a gigabyte."""
_TELLING: Final = (b"SecureRandom", b"SeedGenerator", b"NativePRNG", b"Drbg")
_TIME = re.compile(rb"(?:^|[\s|>\]])(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_VM = re.compile(rb"Full thread dump[ \t]*([^\n]*?)[:\s]*$")
_GOES_ON = re.compile(
    rb"\n+[ \t>|]*(?:((?:java\.lang\.)?Thread\.State:|Locked ownable sync)|(?:at |- ))"
)


class Block(NamedTuple):
    """Where a thread stands: its header line is ``data[start:eol]``, what is below it ``data[eol + 1:end]``."""

    start: int
    eol: int
    end: int
    header: Header


@dataclass(slots=True)
class _Open:
    """A dump while it is read."""

    line: int
    taken_at: str = ""
    vm: str = ""
    threads: list[JavaThread] = field(default_factory=list[JavaThread])
    deadlocks: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    tids: set[bytes] = field(default_factory=set[bytes])
    ended: bool = False

    def is_over(self, tid: bytes) -> bool:
        """Whether the thread with *tid* must belong to another dump: each thread stands in one once."""
        return self.ended or (not self.vm and tid in self.tids)


def hotspot_dumps(text: Text, origin: str) -> tuple[ThreadDump, ...]:
    """All dumps of *text*, in its order."""
    return _Reader(text, origin).dumps()


class _Reader:
    """One pass over one text."""

    def __init__(self, text: Text, origin: str) -> None:
        self._data = text.data
        self._origin = origin
        self._lines = Lines(text)
        self._bodies = _Bodies()
        self._placed = 0
        self._open: _Open | None = None
        self._done: list[ThreadDump] = []

    def dumps(self) -> tuple[ThreadDump, ...]:
        marks = _marks(self._data)
        stops = [offset for offset, _ in marks]
        covered: list[tuple[int, int]] = []
        next_mark = 0
        for block in _blocks(self._data, stops):
            while next_mark < len(marks) and marks[next_mark][0] < block.start:
                self._mark(*marks[next_mark], stops, covered)
                next_mark += 1
            if covered and block.start < covered[-1][1]:
                continue  # a name in a deadlock report
            covered.append((block.start, block.end))
            self._thread(block)
        for offset, word in marks[next_mark:]:
            self._mark(offset, word, stops, covered)
        self._bare(covered)
        self._close()
        return tuple(self._done)

    def _mark(
        self, offset: int, word: bytes, stops: list[int], covered: list[tuple[int, int]]
    ) -> None:
        if covered and offset < covered[-1][1]:
            return
        if word is _BANNER:
            self._close()
            self._open = self._begin(offset)
        elif word is _END and self._open is not None:
            self._open.ended = True
        elif word is deadlock.START:
            end, names = deadlock.section(self._data, offset, self._next_dump(stops, offset))
            covered.append((offset, end))
            if self._open is not None and names:
                self._open.deadlocks.append(names)

    def _next_dump(self, stops: list[int], offset: int) -> int:
        for stop in stops[bisect_left(stops, offset + 1) :]:
            if self._data.startswith(_BANNER, stop):
                return stop
        return len(self._data)

    def _begin(self, offset: int) -> _Open:
        start, end = line_around(self._data, offset)
        match = _VM.search(self._data, offset, end)
        return _Open(
            self._lines.at(start),
            _taken_at(self._data, start),
            shown(match[1]) if match else "",
        )

    def _thread(self, block: Block) -> None:
        line = self._lines.at(block.start)
        now = self._open
        if now is None or now.is_over(block.header.tid):
            self._close()
            now = self._open = _Open(line, _taken_at(self._data, block.start))
        now.tids.add(block.header.tid)
        read, telling = self._bodies.read(self._data[block.eol + 1 : block.end])
        head = block.header
        last = block.end >= len(self._data.rstrip()) if read.cut or not head.whole else False
        now.threads.append(
            JavaThread(
                head.name,
                self._frames(read, telling=telling, line=line),
                read.locks,
                head.nid,
                read.state,
                head.activity,
                head.daemon,
                head.cpu_ms,
                head.elapsed_ms,
                line,
                read.cut or (last and not head.whole),
            )
        )

    def _frames(self, read: Body, *, telling: bool, line: int) -> tuple[Frame, ...]:
        """The frames with their lines in the input; those of a long series without."""
        del line
        if self._placed >= _PLACED_FRAMES and not telling:
            return read.frames
        self._placed += len(read.frames)
        below = self._lines.below
        return tuple(
            Frame(frame.class_name, frame.method, frame.location, below(offset + 1))
            for frame, offset in zip(read.frames, read.offsets, strict=True)
        )

    def _bare(self, covered: list[tuple[int, int]]) -> None:
        """Stacks whose header is lost. In a text that has threads with headers, others are exceptions' or repeats."""
        if self._done or self._open is not None:
            return
        ...

    def _close(self) -> None:
        now, self._open = self._open, None
        if now is None or not (now.threads or now.deadlocks):
            return
        self._done.append(
            ThreadDump(
                self._origin,
                tuple(now.threads),
                now.line,
                now.taken_at,
                now.vm,
                _version(now.vm),
                tuple(now.deadlocks),
                complete=bool(now.vm) and now.ended and not any(t.cut for t in now.threads),
            )
        )
