"""A text too long to be held: read once, piece by piece, in bounded memory.

What a case needs of hundreds of MB is little: the dumps, and what stands between them. So whole dumps of a series are
read by comparing (`Series`) as they come by; whatever is not such a dump goes to the careful parsers, a few MB at a
time, cut where a dump begins or else at the end of a line; and all that is no dump's is handed on as a text with the
line numbers of the original, for the parsers of logs and measurements.
"""

from __future__ import annotations

from array import array
from codecs import IncrementalDecoder, getincrementaldecoder
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from seedstall.model.threads import JavaThread, ThreadDump
from seedstall.parse.text import Lines, Text, line_around, normal, plain, wide_codec
from seedstall.parse.threaddump import thread_dumps
from seedstall.parse.threaddump.hotspot import TELLING, hotspot_dumps
from seedstall.parse.threaddump.series import ANCHOR_NAMES, BANNER, Irregular, Series, Walked

MOST: Final = 24 << 20
"""Bytes held back while the end of a dump has not come. A dump of 10,000 threads has about as many."""
PIECE: Final = 2 << 20
"""Bytes read at once, where less comes at once (of a pipe)."""
USUAL: Final = 4 << 20
"""Bytes of a dump and what follows it up to the next one, mostly."""
LEAST: Final = 64 << 10
"""Bytes that the careful parsers get at once, so that a banner in every line costs no call for each."""
PART: Final = 16 << 20
"""Bytes of what stands between dumps that are handed on at once."""
WHOLE: Final = 2
"""Dumps at the end of a text that keep all their threads."""
_ABOVE: Final = 3
"""Lines above a banner that are the dump's: its time, and what a log slipped in between."""
_ABOVE_BYTES: Final = 600
_ANCHOR: Final = b" tid=0x"
_DEVICE: Final = b'random"'
_MOST_OPENS: Final = 200
_MOST_KEPT: Final = 20_000
"""Threads of one dump that are held at once."""
_MOST_THREADS: Final = 1_000_000
_TELLING: Final = tuple(word.decode() for word in TELLING)


class _Held(NamedTuple):
    """One of the last dumps: where it stands in the list, and its text where it was read by comparing."""

    place: int
    data: bytes | memoryview
    line: int


class LongText:
    """One text, fed in pieces. `feed` and `finish` give what stands between its dumps, as texts to be parsed."""

    def __init__(self, origin: str, total: int | None = None) -> None:
        """Begin at its first line; at its last one, number *total*, where it comes the last line first."""
        self._origin = origin
        self._total = total
        self._series = Series(origin)
        self._decoder: IncrementalDecoder | None = None
        self._begun = False
        self._left = b""
        self._line = 1
        self._rest: list[bytes] = []
        self._numbers = array("L")
        self._size = 0
        self._searched: set[int] = set()
        """Pieces of `_rest` that the careful parsers have had."""
        self._dumps: list[ThreadDump] = []
        self._goes_on: tuple[int, set[object]] | None = None
        """The dump that stands last in a part, in a form that has no end, and its threads: the next part may go on."""
        self._last: deque[_Held] = deque(maxlen=WHOLE)

    @property
    def dumps(self) -> tuple[ThreadDump, ...]:
        """The dumps read by now; the last `WHOLE` have all their threads when the text has ended."""
        return tuple(sorted(self._dumps, key=lambda dump: dump.line, reverse=bool(self._total)))

    @property
    def lines(self) -> int:
        """How many lines were read."""
        return self._line

    def parts(self, pieces: Iterable[bytes]) -> Iterator[Text]:
        """Read all of *pieces*; give what stands between the dumps, `PART` bytes and more at a time."""
        waiting: list[bytes] = []
        size = 0
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size >= PIECE:
                yield from self.feed(b"".join(waiting) if len(waiting) > 1 else piece)
                waiting, size = [], 0
        if waiting:
            yield from self.feed(b"".join(waiting))
        yield from self.finish()

    def feed(self, piece: bytes) -> Iterator[Text]:
        """Take in the next piece."""
        piece = self._decoded(piece, final=False)
        cut = piece.rfind(b"\n") + 1
        if not cut:
            # No end of a line that long is waited for.
            cut = len(piece) if len(self._left) + len(piece) > MOST else 0
        data = b"".join((self._left, memoryview(piece)[:cut]))  # the only time that it is copied
        self._left = self._read(data, final=False) + piece[cut:] if cut else data + piece
        if self._size >= PART:
            yield self._part()

    def finish(self) -> Iterator[Text]:
        """Take what is left as the end."""
        data, self._left = self._left + self._decoded(b"", final=True), b""
        self._read(data, final=True)
        for held in self._last:
            if held.data:
                whole = _whole(held, self._origin)
                if whole is not None and whole.total == self._dumps[held.place].total:
                    self._dumps[held.place] = whole
        self._last.clear()
        if self._size:
            yield self._part()

    def _decoded(self, piece: bytes, *, final: bool) -> bytes:
        """*piece* in an encoding that holds ASCII as it is, with line feeds."""
        if not self._begun:
            self._begun = True
            codec = wide_codec(piece)
            self._decoder = getincrementaldecoder(codec)("replace") if codec else None
        if self._decoder is not None:
            piece = self._decoder.decode(piece, final).encode("utf-8", "replace")
        return normal(piece) if b"\r" in piece or b"\0" in piece else piece

    def _read(self, data: bytes, *, final: bool) -> bytes:
        """Read what can be read of *data*, whole lines; give back what must wait for what follows."""
        left = self._walked(data, final=final)
        # Of the data itself nothing is kept: of its dumps, only those that stand last by now are copied.
        for index, held in enumerate(tuple(self._last)):
            if isinstance(held.data, memoryview):
                self._last[index] = held._replace(data=bytes(held.data))
        return left

    def _walked(self, data: bytes, *, final: bool) -> bytes:
        done = 0
        at = data.find(BANNER)
        last = data.rfind(BANNER) if at >= 0 else -1
        while at >= 0:
            start = max(_top(data, at), done)
            self._between(data, done, start)
            done = start
            if at == last and not final and len(data) - done < USUAL:
                return data[done:]  # sooner or later its end comes: it is not read twice
            above = data.count(b"\n", done, at)
            walked = self._series.read(data, at, self._line + above)
            if isinstance(walked, Walked):
                self._keep(walked.dump, memoryview(data)[done : walked.end], self._line)
                line = self._line + above + walked.feeds
                self._take(data[done : data.find(b"\n", at) + 1])
                self._line = line
                done = walked.end
                at = data.find(BANNER, done)
                continue
            below = data.find(BANNER, at + len(BANNER))
            if not final and len(data) - done < MOST and (walked is Irregular.CUT or below < 0):
                return data[done:]
            while 0 <= below < done + LEAST:
                below = data.find(BANNER, below + len(BANNER))
            stop = max(_top(data, below), at + 1) if below >= 0 else len(data)
            self._careful(data[done:stop])
            done, at = stop, below
        if not final and len(data) - done < MOST and data.find(_ANCHOR, done) >= 0:
            return data[done:]
        # What stands last may be what stands above a banner.
        end = len(data) if final else max(_top(data, len(data)), done)
        self._between(data, done, end)
        return data[end:]

    def _between(self, data: bytes, start: int, end: int) -> None:
        """Take what stands between two dumps: threads without a banner among it are read with care."""
        if data.find(_ANCHOR, start, end) >= 0:
            self._careful(data[start:end])
        elif start < end:
            self._take(data[start:end])

    def _careful(self, piece: bytes) -> None:
        """Take what only the careful parsers can read."""
        for dump in thread_dumps(self._told(piece), self._origin):
            self._keep(dump, b"", 0)
        self._searched.add(len(self._rest))
        self._take(piece)

    def _keep(self, dump: ThreadDump, data: bytes | memoryview, line: int) -> None:
        """Take in a dump, and let go of what does not matter of the one that is no longer among the last."""
        if len(self._last) == WHOLE:
            old = self._last[0].place
            self._dumps[old] = thinned(self._dumps[old])
        self._last.append(_Held(len(self._dumps), data if len(data) < MOST // WHOLE else b"", line))
        self._dumps.append(dump)

    def _take(self, piece: bytes) -> None:
        feeds = piece.count(b"\n")
        self._rest.append(piece.removesuffix(b"\n"))
        self._numbers.extend(self._range(feeds + (not piece.endswith(b"\n"))))
        self._line += feeds
        self._size += len(piece)

    def _range(self, count: int) -> Iterable[int]:
        """The numbers in the original of *count* lines from here on."""
        if self._total is None:
            return range(self._line, self._line + count)
        last = self._total + 1 - self._line
        return (max(1, number) for number in range(last, last - count, -1))

    def _told(self, piece: bytes) -> Text:
        """*piece*, which begins here, in plain form."""
        if self._total is None:
            return _numbered(plain(piece), self._line)
        return _renumbered(piece, array("L", self._range(piece.count(b"\n") + 1)))

    def _part(self) -> Text:
        """What has come together. It may hold dumps in other forms; beside dumps, stacks without a header are none."""
        text = _renumbered(b"\n".join(self._rest), self._numbers)
        among = bool(self._dumps or self._searched)
        dumps = thread_dumps(self._unsearched() if self._searched else text, self._origin)
        goes_on, self._goes_on = self._goes_on, None
        for index, dump in enumerate(dumps):
            if not dump.form and among:
                continue
            if index == 0 and goes_on is not None:
                rest = self._joined(dump, goes_on)
                if rest is None:
                    self._goes_on = goes_on
                    continue
                dump = rest  # noqa: PLW2901 - what it is from here on
            self._keep(dump, b"", 0)
            if index == len(dumps) - 1 and dump.lists_all:
                self._goes_on = len(self._dumps) - 1, set(map(_key, dump.threads))
        self._rest, self._numbers, self._size = [], array("L"), 0
        self._searched.clear()
        for line, number in _opens(text):
            self._rest.append(line)
            self._numbers.append(number)
        return text

    def _joined(self, dump: ThreadDump, goes_on: tuple[int, set[object]]) -> ThreadDump | None:
        """Take what of *dump* is the rest of the one that the last part ended in, and give what is not.

        Two dumps would be two moments, of which the later one no longer shows the threads of the first. Another
        moment begins where a thread comes again.
        """
        place, seen = goes_on
        begun = self._dumps[place]
        if begun.form != dump.form or len(seen) > _MOST_THREADS:
            return dump
        if dump.process != begun.process and None not in (dump.process, begun.process):
            return dump
        keys = list(map(_key, dump.threads))
        count = next((at for at, key in enumerate(keys) if key in seen), len(keys))
        if not count:
            return dump
        seen.update(keys[:count])
        ends = count == len(keys)
        joined = replace(
            begun,
            threads=begun.threads + dump.threads[:count],
            complete=False,
            unread=begun.unread + dump.unread,
            omitted=begun.omitted + (dump.omitted if ends else 0),
            deadlocks=begun.deadlocks + (dump.deadlocks if ends else ()),
        )
        self._dumps[place] = thinned(joined) if len(joined.threads) > _MOST_KEPT else joined
        if ends:
            return None
        return replace(dump, threads=dump.threads[count:], line=dump.threads[count].line)

    def _unsearched(self) -> Text:
        """What the careful parsers have not had yet."""
        pieces: list[bytes] = []
        numbers = array("L")
        at = 0
        for index, piece in enumerate(self._rest):
            end = at + piece.count(b"\n") + 1
            if index not in self._searched:
                pieces.append(piece)
                numbers += self._numbers[at:end]
            at = end
        return _renumbered(b"\n".join(pieces), numbers)


def _key(thread: JavaThread) -> object:
    """What tells a thread of a dump from its others."""
    ids = (thread.java_id, thread.nid)
    return ids if ids != (None, None) else thread.name


def _opens(text: Text) -> Iterator[tuple[bytes, int]]:
    """The lines of a trace that open a random device, with their numbers: the reads of what follows belong to them."""
    if b"open" not in text.data:
        return
    lines = Lines(text)
    at = text.data.find(_DEVICE)
    for _ in range(_MOST_OPENS):
        if at < 0:
            return
        start, end = line_around(text.data, at)
        if b"open" in text.data[start:at]:
            yield text.data[start:end], lines.at(at)
        at = text.data.find(_DEVICE, end)


def thinned(dump: ThreadDump) -> ThreadDump:
    """*dump* with those of its threads that matter over time: in a generator, or telling one JVM from another."""
    kept = tuple(t for t in dump.threads if t.name in ANCHOR_NAMES or _is_telling(t))
    return replace(dump, threads=kept, omitted=dump.total - len(kept))


def _is_telling(thread: JavaThread) -> bool:
    names = (*(f.class_name for f in thread.frames), *(lock.class_name for lock in thread.locks))
    return any(word in name for name in names if "ecur" in name for word in _TELLING)


def _whole(held: _Held, origin: str) -> ThreadDump | None:
    """The dump with all its threads. Of one that was read by comparing, no line has a prefix or is in another form."""
    dumps = hotspot_dumps(_numbered(Text(bytes(held.data)), held.line), origin)
    return dumps[0] if len(dumps) == 1 else None


def _renumbered(data: bytes, numbers: array[int]) -> Text:
    """*data* in plain form, of whose lines *numbers* gives the original's."""
    text = plain(data)
    if text.numbers is None or not numbers:
        return Text(text.data, numbers)
    return Text(text.data, array("L", (numbers[min(n, len(numbers)) - 1] for n in text.numbers)))


def _numbered(text: Text, first: int) -> Text:
    """*text*, whose first line has the number *first* in the original."""
    if text.numbers is None:
        return Text(text.data, range(first, first + text.data.count(b"\n") + 1))
    return Text(text.data, array("L", (number + first - 1 for number in text.numbers)))


def _top(data: bytes, at: int) -> int:
    """Where the lines begin that stand above *at* and may belong to what follows: at most three, up to a blank one."""
    floor = max(0, at - _ABOVE_BYTES)
    start = data.rfind(b"\n", floor, at) + 1
    if not start and floor:
        return at
    for _ in range(_ABOVE):
        above = data.rfind(b"\n", floor, max(start - 1, floor)) + 1
        if start == 0 or above == start - 1 or (not above and floor):
            break  # at the text's start, below a blank line, or below a line too long
        start = above
    return start
