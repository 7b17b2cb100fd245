"""What people hand over, as bytes that parsers can search: one encoding, one line end, no markup; line numbers kept.

Parsers search bytes, not characters: a dump of 200 MB is then decoded only where something was found, and a file in
GBK, Shift-JIS or Latin-1 is as good as one in UTF-8, since all that is searched for is ASCII.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, TypeAlias

Input: TypeAlias = "bytes | str | Text"

_SAMPLE = 1 << 20
"""Signs of damage are looked for in pieces of a MiB: damage is done to a whole file by the program that showed it."""


_LONG: Final = 8 << 20
_FEW_ESCAPES: Final = 2
_MOST_ZEROS: Final = 8
"""One byte in so many may be zero in a text."""

# What people cannot see and programs put into what they pass on: zero-width blanks and joiners, word joiners, soft
# hyphens, marks of direction, byte order marks within a text that was put together from several.
_UNSEEN_SIGNS: Final = (
    b"\xe2\x80\x8b",
    b"\xc2\xad",
    b"\xef\xbb\xbf",
    b"\xe2\x81\xa0",
    b"\xe2\x80\x8d",
)

_CONTAINED: Final = (
    *(b'"log":', b'"MESSAGE"', b'"message"', b'"msg"', b'"textPayload"', b"\nMESSAGE"),
    *(b" stdout P ", b" stderr P ", b"=3D", b"ontent-T", b"ONTENT-T", b"IME-V", b'",\n'),
    *(b'"""', b'"" ', b'"\tat ', b'"at ', b'"line"', b'"values"'),
)

_NARROW: Final = (b"\tat ", b" tid=0x", b"Full thread dump")
_WIDE_BLANK: Final = b"\xe3\x80\x80"
"""What Chinese and Japanese pages indent by (U+3000)."""

_ESCAPED_ENDS: Final = (b"&lt;br", b"&lt;/p&gt;", b"&lt;/div&gt;", b"&lt;pre")
"""Markup within markup: what a feed or a ticket's XML has of a page."""

_USUAL = (
    (b"&lt;", b"<"),
    (b"&gt;", b">"),
    (b"&quot;", b'"'),
    (b"&nbsp;", b" "),
    (b"&#39;", b"'"),
    (b"&#x27;", b"'"),
    (b"&#160;", b" "),
)


@dataclass(frozen=True, slots=True)
class Text:
    r"""A text in an encoding that holds ASCII as it is, lines ended by a line feed.

    ``numbers`` gives, for each line, the number of the line of the original it came from, where one line of the
    original became several (``<br/>``, ``\n`` in JSON); ``None`` where they are the same, counted from 1.
    """

    data: bytes
    numbers: Sequence[int] | None = None


class Lines:
    """Line numbers of offsets in a text, cheap for offsets asked in about ascending order."""

    def __init__(self, text: Text) -> None:
        """Count from the start of *text*."""
        self._data = text.data
        self._numbers = text.numbers
        self._offset = 0
        self._index = 0

    @property
    def is_long(self) -> bool:
        """Whether it is a text of which not every line is to be told by its number."""
        return len(self._data) > _LONG

    def at(self, offset: int) -> int:
        """The original's line number of the line that holds *offset*."""
        if offset >= self._offset:
            self._index += self._data.count(b"\n", self._offset, offset)
        else:
            self._index -= self._data.count(b"\n", offset, self._offset)
        self._offset = offset
        return self.number(self._index)

    def skip(self, offset: int, feeds: int) -> None:
        """Go on from *offset*, which the caller knows to be *feeds* lines further down."""
        self._offset = offset
        self._index += feeds

    def below(self, steps: int) -> int:
        """The original's line number *steps* lines below the offset asked last."""
        return self.number(self._index + steps)

    def all_below(self, steps: Iterable[int]) -> Iterable[int]:
        """`below` for each of *steps*, in one go where the lines are numbered one by one."""
        index, numbers = self._index, self._numbers
        if numbers is None:
            return map((index + 1).__add__, steps)
        if isinstance(numbers, range) and numbers.step == 1:
            last = numbers.stop - 1
            return (min(number, last) for number in map((numbers.start + index).__add__, steps))
        return map(self.below, steps)

    def offset(self, number: int) -> int:
        """Where the first line that came from the original's line *number*, or a later one, begins."""
        index = number - 1
        if self._numbers is not None:
            from bisect import bisect_left  # noqa: PLC0415 - seldom asked

            index = bisect_left(self._numbers, number)
        at = 0
        for _ in range(index):
            at = self._data.find(b"\n", at) + 1
            if not at:
                return len(self._data)
        return at

    def number(self, index: int) -> int:
        """The original's number of line *index*, counted from 0."""
        if self._numbers is None:
            return index + 1
        return self._numbers[min(index, len(self._numbers) - 1)] if self._numbers else 1


def plain(given: Input) -> Text:
    """Bring *given* into one form: encoding, line ends, HTML and escapes undone where there are signs of them."""
    if isinstance(given, Text):
        return given
    data = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
    text = Text(normal(data))
    if b"\x1b" in text.data:  # one byte is looked for at the speed of memory, two are not
        text = Text(_colours().sub(b"", text.data))
    sample = _sample(text.data)
    if _is_contained(sample):
        from seedstall.parse.container import opened  # noqa: PLC0415 - only for such a text

        inner = opened(text)
        if inner is not text:
            text = Text(inner.data.replace(b"\0", b""), inner.numbers)
            sample = _sample(text.data)
    if _blank_lines().search(sample):
        text = Text(_blank_lines().sub(b"\n", text.data), text.numbers)
    if _is_markup(sample):
        text = _without_markup(text)
    if _is_escaped(sample):
        text = resplit(text, _split_escaped)
        sample = _sample(text.data)
    if _WIDE_BLANK in sample:
        text = Text(text.data.replace(_WIDE_BLANK, b"  "), text.numbers)
    if any(sign in sample for sign in _UNSEEN_SIGNS):
        text = Text(_unseen().sub(b"", text.data), text.numbers)
    return text


def normal(data: bytes) -> bytes:
    """*data* in an encoding that holds ASCII as it is, its lines ended by line feeds, without zero bytes."""
    return _line_feeds(_without_zeros(_one_encoding(data)))


_ENDS: Final = 256 << 10


def ends(data: bytes) -> bytes:
    """The first and the last quarter of a MiB: what kind of text it is shows in both, as far as it shows at all."""
    return data if len(data) <= 2 * _ENDS else data[:_ENDS] + b"\n" + data[-_ENDS:]


def shown(data: bytes) -> str:
    """Decode a piece for people: UTF-8, or Latin-1 where it is not; never an error."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def line_around(data: bytes, offset: int, limit: int = 2000) -> tuple[int, int]:
    """Start and end of the line that holds *offset*, looking *limit* bytes each way at the most."""
    start = data.rfind(b"\n", max(0, offset - limit), offset) + 1 or max(0, offset - limit)
    end = data.find(b"\n", offset, offset + limit)
    return start, end if end >= 0 else min(len(data), offset + limit)


def excerpt(data: bytes, offset: int) -> str:
    """The line that holds *offset*, for people, without the blanks around it."""
    start, end = line_around(data, offset)
    return shown(data[start:end]).strip()


def resplit(text: Text, split: Callable[[bytes], Sequence[bytes]]) -> Text:
    """Replace each line by the lines that *split* makes of it, and remember which line they came from."""
    lines: list[bytes] = []
    numbers = array("L")
    for index, line in enumerate(text.data.split(b"\n")):
        pieces = split(line)
        lines.extend(pieces)
        number = index + 1 if text.numbers is None else text.numbers[index]
        numbers.extend([number] * len(pieces))
    same = text.numbers is None and len(numbers) == text.data.count(b"\n") + 1
    return Text(b"\n".join(lines), None if same and _is_count(numbers) else numbers)


def _is_count(numbers: Iterable[int]) -> bool:
    return all(number == index for index, number in enumerate(numbers, 1))


def _one_encoding(data: bytes) -> bytes:
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:]
    codec = wide_codec(data)
    if codec == "utf-16" and any(sign in data for sign in _NARROW):
        return data[
            2:
        ]  # what one program wrote and another appended to (">" and ">>" of Windows' shells)
    return data if codec is None else data.decode(codec, "replace").encode("utf-8", "replace")


def _without_zeros(data: bytes) -> bytes:
    """Without the zero bytes that a text has no use for.

    A log that was emptied while its server went on begins with as many as it was long (copytruncate). A program's
    file, which is full of them, is left as it is.
    """
    if b"\0" not in data:
        return data
    rest = data.lstrip(b"\0")
    return rest.replace(b"\0", b"") if rest.count(0) * _MOST_ZEROS < len(rest) else data


def wide_codec(data: bytes) -> str | None:
    """Tell UTF-16 by its mark, or by the zero bytes that ASCII text has in it (Windows' redirected output)."""
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    head = data[:4096]
    many, few = len(head) * 2 // 5, len(head) // 20
    first, second = head[::2].count(0), head[1::2].count(0)
    if many and second >= many and first <= few:
        return "utf-16-le"
    return "utf-16-be" if many and first >= many and second <= few else None


def _line_feeds(data: bytes) -> bytes:
    if b"\r" not in data:
        return data
    data = data.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")
    # A carriage return by itself ends a line only in a file that ends most of them so; else it is a progress bar's.
    return data.replace(b"\r", b"\n") if data.count(b"\r") > data.count(b"\n") else data


@cache
def _colours() -> re.Pattern[bytes]:
    """What a terminal takes for a colour, as ``grep --color`` and CI consoles leave it in what they show."""
    return re.compile(rb"\x1b(?:\[[0-9;:]{0,20}[mK]|\(B)")


@cache
def _unseen() -> re.Pattern[bytes]:
    return re.compile(rb"\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad")


def _is_contained(sample: bytes) -> bool:
    """Whether there are signs of a container (`parse.container`), or none of a text: no blank near the start."""
    return b" " not in sample[:400] or any(sign in sample for sign in _CONTAINED)


@cache
def _blank_lines() -> re.Pattern[bytes]:
    return re.compile(rb"\n[ \t]++(?=\n)")


def _sample(data: bytes) -> bytes:
    """The start of *data* and the surroundings of its first thread: all of it, mostly."""
    if len(data) <= 4 * _SAMPLE:
        return data
    thread = max(0, data.find(b" tid=0x"))
    return data[:_SAMPLE] + data[max(_SAMPLE, thread - 1000) : thread + _SAMPLE]


def _is_markup(sample: bytes) -> bool:
    signs = (b"&lt;", b"&gt;", b"&quot;", b"&nbsp;", b"&#", b"&amp;", b"<br", b"</p>", b"</td>")
    return any(sign in sample for sign in signs)


def _is_escaped(sample: bytes) -> bool:
    if any(sign in sample for sign in (rb"\tat ", rb"\n\"", rb"\"main\"", rb"\n\n", rb'\n","')):
        return True
    # A document of JSON whose strings hold lines; a path (C:\new) elsewhere holds none.
    return sample.lstrip()[:1] in (b"{", b"[", b'"') and sample.count(rb"\n") > _FEW_ESCAPES


@cache
def _markup_patterns() -> tuple[re.Pattern[bytes], re.Pattern[bytes], re.Pattern[bytes]]:
    # Only tags by name: <init>, <clinit> and <0x00000000e0d02e20> are the dump's own.
    inline = (
        rb"a|b|i|u|p|em|tt|wbr|td|th|tr|ul|ol|li|dd|dt|dl|div|pre|code|span|font|table|tbody|strong"
    )
    return (
        re.compile(rb"<br[ \t]*/?>|</(?:p|div|li|tr|pre|h[1-6])>", re.IGNORECASE),
        re.compile(rb"</?(?:%b|blockquote|h[1-6])(?:\s[^<>]{0,400})?/?>" % inline, re.IGNORECASE),
        re.compile(rb"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,10});"),
    )


def _without_markup(text: Text) -> Text:
    """Take *text* as a whole where it has entities only, as most have: line by line is slow."""
    ends, tags, _ = _markup_patterns()
    if any(sign in text.data for sign in _ESCAPED_ENDS):
        text = resplit(text, _split_escaped_markup)
    if ends.search(text.data) is None and tags.search(text.data) is None:
        data = _characters(text.data)
        if data.count(b"\n") == text.data.count(b"\n"):
            return Text(data, text.numbers)
    return resplit(text, _split_markup)


def _characters(data: bytes) -> bytes:
    # Twice: a comment system that escapes what was escaped gives "&amp;lt;clinit&amp;gt;".
    return _once_unescaped(_once_unescaped(data))


def _once_unescaped(data: bytes) -> bytes:
    """Put characters in place of entities. The usual ones without a call for each: 15 MB of them take 16 s else."""
    if b"&" not in data:
        return data
    *_, entities = _markup_patterns()
    data = _usual_characters(data)
    if data.count(b"&") == data.count(b"&amp;"):
        return data.replace(b"&amp;", b"&")
    # In one go with the ampersand's: what that leaves is no entity before the next time.
    return entities.sub(_entity, data)


def _usual_characters(data: bytes) -> bytes:
    for name, character in _USUAL:
        data = data.replace(name, character)
    return data


def _split_escaped_markup(line: bytes) -> list[bytes]:
    """The lines of a page that is written in a line of another: one level of it is undone."""
    return _once_unescaped(line).split(b"\n") if b"&lt;" in line else [line]


def _split_markup(line: bytes) -> list[bytes]:
    ends, tags, _ = _markup_patterns()
    if b"<" in line:
        pieces = ends.split(line)
        if len(pieces) > 1 and not pieces[-1].strip():
            pieces.pop()
        line = b"\n".join(tags.sub(_tag, piece) for piece in pieces)
    if b"&" in line:
        line = _characters(line)
    return line.split(b"\n")


def _tag(match: re.Match[bytes]) -> bytes:
    # Cells stand apart; anything else may stand in the middle of a name.
    return b" " if match[0].lower().startswith((b"<td", b"<th", b"</td", b"</th")) else b""


def _entity(match: re.Match[bytes]) -> bytes:
    return _character(match[0])


@lru_cache(maxsize=4096)
def _character(entity: bytes) -> bytes:
    from html import unescape  # noqa: PLC0415 - its table of names is built only for such a text

    character = unescape(entity.decode())
    return character.replace("\N{NO-BREAK SPACE}", " ").encode("utf-8", "replace")


@cache
def _escape_pattern() -> re.Pattern[bytes]:
    return re.compile(rb"\\(?:u([0-9a-fA-F]{4})|(.))")


@cache
def _key() -> re.Pattern[bytes]:
    """What stands before a string in JSON, up to its opening quote: the string's own are escaped."""
    return re.compile(rb'[^\\\n]{0,300}"[ \t]{0,4}:[ \t]{0,4}"')


def _split_escaped(line: bytes) -> list[bytes]:
    if b"\\" not in line:
        return [line]
    key = _key().match(line)
    if key:
        line = line[key.end() :]
    pieces = _escape_pattern().sub(_escape, line).split(b"\n")
    # What follows the last one is the rest of a JSON object: '","stream":"stdout","time":"..."}'.
    last = pieces[-1].strip()
    if len(pieces) > 1 and (not last or (last[:1] == b'"' and last[-1:] == b"}")):
        pieces.pop()
    return pieces


def _escape(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return chr(int(match[1], 16)).encode("utf-8", "replace").strip(b"\0")
    known = {b"n": b"\n", b"t": b"\t", b"r": b"", b"0": b"", b'"': b'"', b"\\": b"\\", b"/": b"/"}
    return known.get(match[2], match[0])
