"""``.properties`` files: the entries asked for, with the lines they stand on.

The JDK's own ``java.security`` has 57 kB and 1,400 lines. Entries are found by their logical lines here; the
library javaproperties decodes those that need it. The library costs 40 ms to import and 6 ms for such a file, where one
that holds a dozen plain ``name=value`` lines of interest costs less than one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

BLANKS = b" \t\f"
MAX_LINES = 200_000
MAX_ENTRY = 65_536
"""Bytes of one entry: what is longer is none of ours, and the library's time grows with the square of it."""
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_KEY_END = re.compile(rb"[ \t\f:=]")


class Entry(NamedTuple):
    """One ``name=value``, decoded; its first and last natural line, counted from 1."""

    name: str
    value: str
    line: int
    last_line: int


def entries(data: bytes, wanted: Callable[[str], bool]) -> Iterator[Entry]:
    """The entries whose name *wanted* says yes to, in order; of a name that stands twice the last counts.

    Bytes are ISO 8859-1, as ``Properties.load(InputStream)`` takes them.

    Raises:
        ValueError: an entry asked for holds a malformed Unicode escape, on which the JDK fails too; or the file is
            too long.
    """
    for text, first, last in _logical_lines(data):
        entry = _entry(text, first, last, wanted)
        if entry is not None:
            yield entry


def _logical_lines(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Each entry's natural lines as they stand, without comments and blank lines."""
    number, at, end = 0, 0, len(data)
    while at < end:
        start, first = at, number + 1
        continued = True
        while continued and at < end:
            line = _natural_line(data, at)
            number += 1
            if number > MAX_LINES:
                raise ValueError("a properties file of more lines than any JDK has")
            body = line.rstrip(b"\r\n")
            if at == start and body.lstrip(BLANKS)[:1] in (b"#", b"!", b""):
                start += len(line)
                at = start
                break
            at += len(line)
            continued = (len(body) - len(body.rstrip(b"\\"))) % 2 == 1
        if at > start:
            yield data[start:at], first, number


def _natural_line(data: bytes, at: int) -> bytes:
    match = _LINE.match(data, at)
    return match[0] if match else b""


def _entry(text: bytes, first: int, last: int, wanted: Callable[[str], bool]) -> Entry | None:
    if b"\\" not in text:
        return _plain(text, first, last, wanted)
    if len(text) > MAX_ENTRY:
        return None
    # An escape may stand in the name (``secure\u0072andom.source`` is a valid spelling): let the library read it.
    if not _may_be_wanted(text, wanted):
        return None
    from javaproperties import loads  # noqa: PLC0415 - see the module's docstring

    for name, value in loads(text).items():
        if wanted(name):
            return Entry(name, value, first, last)
    return None


def _may_be_wanted(text: bytes, wanted: Callable[[str], bool]) -> bool:
    """Whether the name can be one that is asked for: it is, or it holds an escape."""
    text = text.lstrip(BLANKS)
    end = _KEY_END.search(text)
    name = text[: end.start()] if end else text
    return b"\\" in name or wanted(name.rstrip(b"\r\n").decode("latin-1"))


def _plain(text: bytes, first: int, last: int, wanted: Callable[[str], bool]) -> Entry | None:
    """An entry without a backslash: nothing to decode but the separator."""
    text = text.lstrip(BLANKS).rstrip(b"\r\n")
    end = _KEY_END.search(text)
    name = (text[: end.start()] if end else text).decode("latin-1")
    if not wanted(name):
        return None
    rest = text[end.start() :].lstrip(BLANKS) if end else b""
    if rest[:1] in (b"=", b":"):
        rest = rest[1:].lstrip(BLANKS)
    return Entry(name, rest.decode("latin-1"), first, last)
