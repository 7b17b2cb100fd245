"""Dumps in HotSpot's own form: a banner, threads with a header each, ``JNI global refs``, perhaps deadlocks.

One pass. The text is searched for what every header of every version holds (`` tid=0x``), so a prefix or a lost quote
does no harm; what stands below a header, up to the next blank line or header, is read once for all threads that have
the same below theirs: a series of dumps repeats its stacks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from seedstall.model.jdk import JdkVersion
from seedstall.model.threads import Frame, JavaThread, ThreadDump
from seedstall.parse.jdkversion import vm_banner
from seedstall.parse.text import Lines, Text, line_around, shown
from seedstall.parse.threaddump import deadlock
from seedstall.parse.threaddump.frame import Body, Doubt, body, is_bottom
from seedstall.parse.threaddump.header import LONGEST, Header, header
from seedstall.parse.words import find, holds

_SHORTEST: Final = len("\nat a.b(c)\n")
_ANCHOR: Final = b" tid=0x"
_ID: Final = b"tid=0x"
_VISUALVM: Final = b'" - Thread t@'
"""What VisualVM and JConsole print instead: the JVM's own number, no kernel id."""
_BANNER: Final = b"Full thread dump"
_END: Final = b"JNI global ref"
_LONGEST_BODY: Final = 1 << 20
"""HotSpot prints at most 1,024 frames of a thread (``MaxJavaStackTraceDepth``): far below this."""
_PLACED_FRAMES: Final = 40_000
_TELLING_FRAMES: Final = 400_000
"""Frames that get a line number of their own. Beyond (a series of dumps), only threads in a generator do: a frame for
each line of 200 MB would be a gigabyte."""
_KEPT_BODIES: Final = 32 << 20
"""Bytes of stacks remembered to be recognised."""
_LONGEST_KNOWN: Final = 1 << 16
"""A longer distance between two headers has something else in it (a log): no use to remember it."""
TELLING: Final = (b"SecureRandom", b"SeedGenerator", b"NativePRNG", b"Drbg")
_VM_THREADS: Final = frozenset(("VM Thread", "VM Periodic Task Thread"))
"""Threads of the JVM's own that stand below all Java threads (``Threads::print_on``)."""
_FAR_LIST: Final = 4000
"""Bytes below a banner where the list of Java threads may say its length."""
_NEAR_END: Final = 80
"""Bytes before the end of a text where a header may be its last line."""
_NAME_LINES: Final = 3
"""Lines a thread's name is looked for above its last one: names may hold line feeds."""

_TIME = re.compile(rb"(?:.*\D)?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_BEFORE_BANNER = re.compile(rb"[\s>|*]*|.*[\s|>:\]]", re.DOTALL)
VM = re.compile(rb"Full thread dump[ \t]*+([^\n]*?)[:\s]*")
_IS_BANNER = re.compile(rb"Full thread dump(?:[ \t:]*+(?:\n|\Z)|[^\n]{0,200}?(?:VM|\())")
_ACTIVITIES: Final = frozenset(
    (
        "runnable",
        "waiting on condition",
        "in Object.wait()",
        "waiting for monitor entry",
        "sleeping",
    )
)
_ENDED = re.compile(
    rb"[)\]]\s*$|: (?:NEW|RUNNABLE|TERMINATED)\s*$|- None\s*$|synchronizers:\s*$|task\s*$"
)
LISTED = re.compile(rb"_java_thread_list=0x[0-9a-f]{1,16},\s{1,4}length=(\d{1,7})")
_ID_LAST = re.compile(rb"nid=\w*$")
_GOES_ON = re.compile(
    rb"\n++[ \t>|]*+(?:((?:java\.lang\.)?Thread\.State:|Locked ownable sync|Carrying virtual thread)|at |- )"
)


class Block(NamedTuple):
    """Where a thread stands: its header is ``data[start:eol]``; what is below it goes to ``stop`` at the furthest."""

    start: int
    eol: int
    stop: int
    header: Header


class Known(NamedTuple):
    """A stack that was read before: its length in bytes and line feeds from the header's end on."""

    body: Body
    length: int
    feeds: int
    telling: bool


@dataclass(slots=True)
class _Open:
    """A dump while it is read."""

    line: int
    taken_at: str = ""
    vm: str = ""
    banner: bool = False
    ended: bool = False
    start: int = 0
    listed: int = 0
    """Java threads that the dump says it has (10+)."""
    java: int = 0
    past_java: bool = False
    """A thread stood in it that comes after all Java threads."""
    unread: int = 0
    threads: list[JavaThread] = field(default_factory=list[JavaThread])
    deadlocks: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    tids: set[bytes] = field(default_factory=set[bytes])

    def is_over(self, tid: bytes) -> bool:
        """Whether a thread with *tid* must belong to another dump: each stands in one once."""
        return self.ended or (not self.banner and tid in self.tids)

    def add(self, thread: JavaThread, *, doubtful: bool) -> None:
        """Take in *thread*, whose stack may be there only in part."""
        self.threads.append(thread)
        self.unread += doubtful or thread.cut
        if thread.state or thread.frames:
            self.java += 1
        elif thread.name in _VM_THREADS:
            self.past_java = True

    def closed(self, origin: str) -> ThreadDump:
        """The dump as far as it was read."""
        ended = self.ended or self.past_java
        whole = self.banner and ended and not self.unread and 0 < self.java >= self.listed
        return ThreadDump(
            origin,
            tuple(self.threads),
            self.line,
            self.taken_at,
            self.vm,
            banner_version(self.vm),
            tuple(self.deadlocks),
            complete=whole,
            unread=self.unread,
        )


def hotspot_dumps(text: Text, origin: str) -> tuple[ThreadDump, ...]:
    """All dumps of *text*, in its order."""
    return _Reader(text, origin).dumps()


class _Reader:
    """One pass over one text. ``_covered`` is where the last piece of a dump ended."""

    def __init__(self, text: Text, origin: str) -> None:
        self._data = text.data
        self._origin = origin
        self._lines = Lines(text)
        self._bodies = _Bodies()
        self._placed = 0
        self._covered = 0
        self._open: _Open | None = None
        self._done: list[ThreadDump] = []

    def dumps(self) -> tuple[ThreadDump, ...]:
        """Read threads and what stands between them, in order."""
        marks = _marks(self._data)
        banners = [offset for offset, word in marks if word == _BANNER]
        stops = [offset for offset, _ in marks]
        passed = 0
        for block in _blocks(self._data, stops):
            while passed < len(marks) and stops[passed] < block.start:
                self._mark(*marks[passed], banners)
                passed += 1
            if block.eol > self._covered:
                self._strays(block.start)
                self._thread(block)
        for offset, word in marks[passed:]:
            self._mark(offset, word, banners)
        self._tail()
        self._close()
        return tuple(self._done)

    def _mark(self, offset: int, word: bytes, banners: Sequence[int]) -> None:
        if offset < self._covered:
            return
        if word == _BANNER:
            self._close()
            self._open = self._begin(offset)
            self._covered = offset
        elif word == _END:
            self._strays(offset)
            self._covered = offset
            if self._open is not None:
                self._open.ended = True
        else:
            self._open = self._open or _Open(self._lines.at(offset))
            later = bisect_left(banners, offset)
            limit = banners[later] if later < len(banners) else len(self._data)
            self._covered, names = deadlock.section(self._data, offset, limit)
            if names:
                self._open.deadlocks.append(names)

    def _begin(self, offset: int) -> _Open:
        start, _ = line_around(self._data, offset)
        return _Open(self._lines.at(start), banner=True, start=offset)

    def _head(self, now: _Open) -> None:
        """What the banner of a dump says, and its surroundings: of one that has threads, since anybody may say it."""
        start, end = line_around(self._data, now.start)
        match = VM.fullmatch(self._data, now.start, end)
        now.vm = shown(match[1]) if match else ""
        now.taken_at = taken_at(self._data, start)
        far = now.start + _FAR_LIST
        first = self._data.find(_ANCHOR, now.start, far)
        listed = LISTED.search(self._data, now.start, first if first >= 0 else far)
        now.listed = int(listed[1]) if listed else 0

    def _thread(self, block: Block) -> None:
        start, eol, stop, head = block
        line = self._lines.at(start)
        if self._open is None or self._open.is_over(head.tid):
            self._close()
            self._open = _Open(line, taken_at(self._data, start))
        self._open.tids.add(head.tid)
        known = self._bodies.read(self._data, eol, stop)
        frames = known.body.frames
        budget = _TELLING_FRAMES if known.telling else _PLACED_FRAMES
        if frames and self._placed < budget:
            self._lines.at(eol)
            frames = self._at_their_lines(known.body)
        thread = made(head, known.body, frames, line)
        self._open.add(thread, doubtful=_is_doubtful(head, known.body))
        self._covered = eol + known.length
        self._lines.at(eol)
        self._lines.skip(self._covered, known.feeds)

    def _at_their_lines(self, read: Body, first: int = 1) -> tuple[Frame, ...]:
        """The frames with their lines in the input: those of a long series go without."""
        self._placed += len(read.frames)
        lines = self._lines.all_below(map(first.__add__, read.offsets))
        return tuple(
            Frame(frame.class_name, frame.method, frame.location, line)
            for frame, line in zip(read.frames, lines, strict=True)
        )

    def _strays(self, until: int) -> None:
        """Threads of this dump whose headers are lost: nothing but stacks stands between two of its pieces."""
        if not _SHORTEST <= until - self._covered <= _LONGEST_BODY:
            return
        if self._open is not None and self._open.ended:
            return
        if self._data.find(b"at ", self._covered, until) < 0:
            return
        from seedstall.parse.threaddump import bare  # noqa: PLC0415 - only for such a text

        # Below a banner without any header, no thread kept its own: whatever stands there, its stacks are the dump's.
        headless = self._open is not None and self._open.banner and not self._open.threads
        if headless or bare.is_only_stacks(self._data[self._covered : until]):
            self._stacks(self._covered, until)

    def _stacks(self, start: int, end: int) -> None:
        from seedstall.parse.threaddump import bare  # noqa: PLC0415 - only for such a text

        for found in bare.stacks(self._data, start, end):
            line = self._lines.at(found.start)
            if self._open is None:
                self._open = _Open(line)
            read = body(self._data[found.body : found.end])
            self._covered = found.end
            self._lines.at(found.body)
            frames = self._at_their_lines(read, 0)
            thread = made(found.header, read, frames, line)
            self._open.add(thread, doubtful=_is_doubtful(found.header, read))

    def _tail(self) -> None:
        """What follows the last header: a cut one, or, in a text without any, its bare stacks."""
        if self._open is None and not self._done:
            self._stacks(0, len(self._data))
        else:
            self._strays(len(self._data))
        if self._open is None or self._open.ended:
            return
        if self._open.threads and self._breaks_off(self._open.threads[-1]):
            self._cut_last(self._open)
        from seedstall.parse.threaddump import bare  # noqa: PLC0415 - only for a cut text

        found = bare.cut_header(self._data, self._covered)
        if found is not None:
            start, head = found
            line = self._lines.at(start)
            lost = JavaThread(head.name, daemon=head.daemon, line=line, cut=True)
            self._open.add(lost, doubtful=True)

    @staticmethod
    def _cut_last(now: _Open) -> None:
        last = now.threads[-1]
        if not last.cut:
            now.threads[-1] = replace(last, cut=True)
            now.unread += 1

    def _breaks_off(self, thread: JavaThread) -> bool:
        """Whether *thread*, the last, has lost something with the rest of the text.

        Its stack goes to the end of the text and not down to where threads begin; or the last line has no end.
        """
        if self._data[self._covered :].strip():
            return False
        if thread.frames and not is_bottom(thread.frames[-1]):
            return True
        if self._covered < len(self._data):
            return False
        last = self._data[max(self._data.rfind(b"\n"), len(self._data) - LONGEST) + 1 :]
        return last[:1].isspace() and _ENDED.search(last) is None

    def _close(self) -> None:
        now, self._open = self._open, None
        if now is not None and (now.threads or now.deadlocks):
            if now.banner:
                self._head(now)
            if now.banner and not now.listed:
                # No list says how many threads there are (6-9): each has an id, read or not.
                ids = self._data.count(_ID, now.start, self._covered)
                now.unread += max(0, ids - len(now.tids))
            self._done.append(now.closed(self._origin))


def _is_doubtful(head: Header, read: Body) -> bool:
    """Whether the thread has frames that were not read, cut ones apart."""
    if read.frames and read.doubt is Doubt.NONE:
        return False
    if read.cut or not head.whole:
        return False
    if read.frames or read.doubt is Doubt.FRAMES:
        return read.doubt is Doubt.FRAMES
    if head.stack is not None:
        return head.stack
    return bool(read.state) and read.doubt is not Doubt.NONE


def made(head: Header, read: Body, frames: tuple[Frame, ...], line: int) -> JavaThread:
    """The thread that a header at *line* and what was read below it make."""
    return JavaThread(
        head.name,
        frames,
        read.locks,
        head.nid,
        read.state,
        head.activity,
        head.daemon,
        head.cpu_ms,
        head.elapsed_ms,
        line,
        read.cut or not head.whole,
        head.java_id,
    )


class _Bodies:
    """Stacks already read, by their text."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known] = {}
        self._size = 0

    def read(self, data: bytes, eol: int, stop: int) -> Known:
        """The stack below the header that ends at *eol*, in a text where the next one stands at *stop*.

        Where the dumps of a series differ only in their headers, what stands between two of them is known as a whole,
        and no search for its end is needed.
        """
        whole = data[eol:stop] if stop - eol < _LONGEST_KNOWN else b""
        known = self._known.get(whole) if whole else None
        if known is None:
            known = self._known[whole] = self._new(data, eol, stop)
            self._size += len(whole)
            if self._size > _KEPT_BODIES or not whole:
                self._known.clear()
                self._size = 0
        return known

    @staticmethod
    def _new(data: bytes, eol: int, stop: int) -> Known:
        end = _body_end(data, eol, stop)
        text = data[eol + 1 : end]
        # One search for what all of them have in their package or name, before the others.
        telling = b"ecur" in text and any(word in text for word in TELLING)
        return Known(body(text), end - eol, data.count(b"\n", eol, end), telling)


def _marks(data: bytes) -> list[tuple[int, bytes]]:
    """Where dumps begin and end, and where deadlocks are told of, in order."""
    marks: list[tuple[int, bytes]] = []
    for word in (_BANNER, _END, deadlock.START):
        at = find(data, word)
        while at >= 0:
            if begins_line(data, at) and (word != _BANNER or _IS_BANNER.match(data, at)):
                marks.append((at, word))
            at = data.find(word, at + len(word))
    return sorted(marks)


def begins_line(data: bytes, at: int) -> bool:
    """Whether nothing but a prefix stands before *at* in its line."""
    start = max(data.rfind(b"\n", max(0, at - 200), at) + 1, at - 200, 0)
    return _BEFORE_BANNER.fullmatch(data, start, at) is not None


def _blocks(data: bytes, stops: Sequence[int]) -> Iterator[Block]:
    """Each thread with a header, in order. *stops* are offsets that no thread reaches over."""
    done = passed = 0
    anchor = _ANCHOR if holds(data, _ANCHOR) else _VISUALVM
    at = find(data, anchor)
    while at >= 0:
        start = max(data.rfind(b"\n", done, at) + 1, done)
        eol = data.find(b"\n", at)
        eol = len(data) if eol < 0 else eol
        done = eol
        at = data.find(anchor, eol)
        head = header(data[start:eol]) if eol - start <= LONGEST else None
        if head is None:
            continue
        while passed < len(stops) and stops[passed] < eol:
            passed += 1
        limit = at if at >= 0 else len(data)
        limit = min(limit, eol + _LONGEST_BODY)
        if passed < len(stops):
            limit = min(limit, stops[passed])
        if limit < len(data):
            limit = max(data.rfind(b"\n", eol, limit), eol)
        if head.whole and data[start : start + 1] == b'"' and len(data) - eol > _NEAR_END:
            yield Block(start, eol, limit, head)
        else:
            yield _with_name(data, Block(start, eol, limit, head))


def _body_end(data: bytes, eol: int, limit: int) -> int:
    """Where the thread that has its header's end at *eol* ends: at a blank line, at *limit* the latest."""
    last = eol
    end = data.find(b"\n\n", eol, limit + 1)
    while end >= 0 and data[end + 2 : end + 3] not in (b'"', b"J", b""):
        goes_on = _GOES_ON.match(data, end, limit)
        # jstack -l has a second paragraph; in double-spaced text each line is a paragraph of its own.
        if goes_on is None or not (goes_on[1] or data.find(b"\n", last + 1, end) < 0):
            break
        last = goes_on.end()
        end = data.find(b"\n\n", last, limit + 1)
    return end if end >= 0 else limit


def _with_name(data: bytes, block: Block) -> Block:
    """Find the start of a name that holds line feeds; look for what the end of the text has cut off."""
    start, eol, end, head = block
    if len(data) - eol < _NEAR_END and not data[eol:].strip():
        head = _cut(head, data[start:], ended=eol < len(data))
    elif not head.whole:
        head = head._replace(whole=True)
    if data[start : start + 1] == b'"':
        return Block(start, eol, end, head)
    above = start
    for _ in range(_NAME_LINES):
        before = data.rfind(b"\n", max(0, above - 200), max(0, above - 1)) + 1
        line = data[before : above - 1]
        if not line.strip() or before >= above:
            break
        above = before
        if line.lstrip().startswith(b'"') and _ANCHOR not in line:
            named = header(data[above:eol])
            return Block(above, eol, end, head._replace(name=named.name) if named else head)
    return Block(start, eol, end, head)


def _cut(head: Header, line: bytes, *, ended: bool) -> Header:
    """The header that is the text's last line: an id or word that stands last in it may lack its end."""
    # A Java thread's line (#N, from 8 on) ends with its stack's address, a native one's with what it does.
    known = head.activity in _ACTIVITIES and b'" #' not in line
    whole = head.whole and (ended or line.endswith(b"]") or known)
    lacking = not whole and _ID_LAST.search(line) is not None
    return head._replace(whole=whole, nid=None if lacking else head.nid)


def taken_at(data: bytes, start: int) -> str:
    """The time line above a dump, at most three lines above: the log may have slipped in between."""
    for _ in range(3):
        if start <= 0:
            break
        before = max(data.rfind(b"\n", max(0, start - 300), start - 1) + 1, start - 300, 0)
        match = _TIME.fullmatch(data, before, start - 1)
        if match:
            return shown(match[1])
        start = before
    return ""


@lru_cache(maxsize=64)
def banner_version(vm: str) -> JdkVersion | None:
    """What a banner says of the version, if it can be told."""
    try:
        return vm_banner(vm) if vm else None
    except ValueError:
        return None
