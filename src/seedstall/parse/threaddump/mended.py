"""Lines that a mail program or a terminal broke, joined again; what Markdown escaped and editors quoted, undone.

Signs are looked for near the first thread only: a program that breaks lines breaks all of a text. What is missed here
is not lost sight of: a thread whose lines cannot be read is counted as unread.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Final

from seedstall.parse.text import Text
from seedstall.parse.words import find

_SAMPLE: Final = 64 << 10
_ABOVE: Final = 4096
_MOST_JOINED: Final = 12
"""Lines that become one: a header of 400 characters in a mail of 72 columns is six."""
_LONGEST: Final = 4096
_TAB: Final = 7
"""Columns that a tab takes at the start of a line, beside its own."""


def mended(text: Text) -> Text:
    """Undo what broke the lines of the dump in *text*; *text* itself where there is no sign of it."""
    sample = _sample(text.data)
    if b"\\" in sample and _escaped().search(sample):
        text = Text(_escapes().sub(rb"\1", text.data), text.numbers)
        sample = _sample(text.data)
    if _doubled().search(sample):
        text = Text(text.data.replace(b'""', b'"'), text.numbers)
        sample = _sample(text.data)
    if _odd_quotes().search(sample):
        text = Text(_odd_quotes().sub(rb'\1"\2"', text.data), text.numbers)
        sample = _sample(text.data)
    width = _width(sample)
    if width:
        return _rejoined(text, _column(width))
    return _rejoined(text, _word) if _is_wrapped(sample) else text


def _sample(data: bytes) -> bytes:
    start = max(0, find(data, b"tid=") - _ABOVE)
    return data[start : start + _SAMPLE]


@cache
def _doubled() -> re.Pattern[bytes]:
    """The end of a name in CSV, where quotes are doubled."""
    return re.compile(
        rb'""[ \t]++(?:#\d|daemon\b|prio=|os_prio=)|^""[^"\n]{1,200}""[ \t]*+$', re.MULTILINE
    )


@cache
def _odd_quotes() -> re.Pattern[bytes]:
    """A thread's name in other quotes than HotSpot's: a shell's, a locale's, TeX's."""
    return re.compile(
        rb"^([ \t]*+)(?:'|\xc2\xab\x20?|\xe2\x80[\x98\x9a\xb9]|``)([^\n\"]{0,200}?)"
        rb"(?:'|\xc2\xbb|\xe2\x80[\x98\x99\xba]|'')"
        rb"(?=[ \t]++(?:#\d|daemon\b|prio=|os_prio=)[^\n]{0,300}?\btid=0x)",
        re.MULTILINE,
    )


@cache
def _escaped() -> re.Pattern[bytes]:
    return re.compile(rb"\bat [\w.$/@]{0,300}\\[$_<]|\(a [\w.$]{0,300}\\[$_]|os\\_prio=|\" \\#\d")


@cache
def _escapes() -> re.Pattern[bytes]:
    return re.compile(rb"\\([$_<>*`\[\]()#.+!|@~-])")


def _rejoined(text: Text, join: Callable[[bytes, bytes, bytes], bytes | None]) -> Text:
    """Join each line to the one above where *join* gives the two as one. It gets the last piece of the upper, too."""
    lines: list[bytes] = []
    numbers = array("L")
    piece, joined = b"", 0
    for index, line in enumerate(text.data.split(b"\n")):
        fits = lines and joined < _MOST_JOINED and len(lines[-1]) + len(line) < _LONGEST
        whole = join(lines[-1], line, piece) if fits else None
        piece = line
        if whole is not None:
            lines[-1] = whole
            joined += 1
            continue
        joined = 0
        lines.append(line)
        numbers.append(index + 1 if text.numbers is None else text.numbers[index])
    return Text(b"\n".join(lines), numbers)


@cache
def _signs() -> re.Pattern[bytes]:
    return re.compile(rb"\n[ \t]*+(?:at[ \t]*+\n|(?:tid|nid)=(?:0x)?[0-9a-f]|\[0x|Method\)|\(a )")


@cache
def _starts() -> re.Pattern[bytes]:
    """A line of a dump that begins something of its own."""
    return re.compile(
        rb'[ \t]*+(?:$|at(?:[ \t]|$)|-(?:[ \t]|$)|"|java\.lang\.Thread\.State:|Locked ownable|No compile task'
        rb"|Compiling: |Carrying virtual|JNI global|Full thread dump|Found |Threads class SMR|Heap[ \t]*+$)"
    )


@cache
def _unfinished() -> re.Pattern[bytes]:
    """A frame, lock, state, header or banner that a blank may have been the end of."""
    return re.compile(
        rb"[ \t]*+(?:at(?:[ \t][^)]*+)?$|-(?:[ \t][^)]*+)?$"
        rb'|"(?![^\n]*:[ \t]*$)|(?:java\.lang\.)?Thread\.State:[^()]*+\([^)]*+$|Full thread dump[^:]*+$)'
    )


def _is_wrapped(sample: bytes) -> bool:
    return _signs().search(sample) is not None


def _word(above: bytes, line: bytes, _piece: bytes) -> bytes | None:
    """Lines broken at blanks, as mail programs do: the blank is gone, and the indentation of what follows."""
    if _starts().match(line) or not _unfinished().match(above):
        return None
    upper = above.rstrip()
    glue = b"" if upper.endswith(b"-") and upper.lstrip() != b"-" else b" "
    return upper + glue + line.strip()


def _width(sample: bytes) -> int:
    """The column at which all long headers break off, as in a terminal; 0 where they do not."""
    lines = sample.split(b"\n")
    lengths = [
        len(line)
        for line, below in pairwise(lines)
        if line[:1] == b'"' and _breaks_off(line) and not _starts().match(below)
    ]
    longest = max((len(line) for line in lines if line[:1] == b'"'), default=0)
    return longest if len(lengths) > 1 and set(lengths) == {longest} else 0


def _breaks_off(header: bytes) -> bool:
    """A Java thread's header (#N, from 8 on) ends with its stack's address."""
    if b"prio=" not in header and b'" #' not in header:
        return False
    return b" nid=" not in header or (b'" #' in header and not header.rstrip().endswith(b"]"))


def _column(width: int) -> Callable[[bytes, bytes, bytes], bytes | None]:
    """Lines broken wherever they came to *width*."""

    def join(above: bytes, line: bytes, piece: bytes) -> bytes | None:
        full = len(piece) == width or (piece[:1] == b"\t" and len(piece) + _TAB == width)
        within_name = above[:1] == b'"' and above.count(b'"') == 1
        if not full or (_starts().match(line) and not (within_name and line[:1] == b'"')):
            return None
        return above + line

    return join
