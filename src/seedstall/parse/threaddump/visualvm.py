"""VisualVM's thread dump, which Spring Boot's actuator also writes as plain text: ``"main" - Thread t@1``.

All but the header is in HotSpot's form, and its reader reads it. Where both stand in one text each has its own dumps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from seedstall.parse.text import Text
from seedstall.parse.threaddump import section
from seedstall.parse.threaddump.hotspot import hotspot_dumps
from seedstall.parse.threaddump.mended import mended
from seedstall.parse.threaddump.section import Section

NAME: Final = "VisualVM"
_SIGN: Final = b'" - Thread t@'
_HOTSPOT: Final = b" tid=0x"
_BANNER: Final = b"Full thread dump"
_ABOVE: Final = 1000
"""Bytes above the first thread in which the banner and its time may stand."""
_OWNED: Final = b"\n\n   Locked ownable synchronizers"


def sections(text: Text, origin: str) -> Iterator[Section]:
    """Each dump of *text* in this form."""
    if _HOTSPOT not in text.data:
        return  # the reader of HotSpot's form takes it as it is
    for start, end in _regions(text.data):
        number = text.data.count(b"\n", 0, start)
        lines = text.data.count(b"\n", start, end) + 1
        numbers = text.numbers[number : number + lines] if text.numbers else None
        piece = Text(text.data[start:end] + b"\n", numbers or range(number + 1, number + lines + 1))
        for index, dump in enumerate(hotspot_dumps(mended(piece), origin)):
            # The first has the place of all.
            yield Section(end if index else start, end, replace(dump, form=NAME))


def _regions(data: bytes) -> Iterator[tuple[int, int]]:
    """Where such threads stand one after the other, with the banner above them."""
    start = end = -1
    at = data.find(_SIGN)
    while at >= 0:
        line = data.rfind(b"\n", 0, at) + 1
        if start >= 0 and (data.find(_HOTSPOT, end, line) >= 0 or line - end > section.LONGEST):
            yield start, end
            start = -1
        if start < 0:
            start = _with_banner(data, line, max(end, 0))
        eol = data.find(b"\n", at)
        following = data.find(_SIGN, at + len(_SIGN))
        limit = data.rfind(b"\n", at, following) + 1 if following >= 0 else len(data)
        end = _end(data, eol if eol >= 0 else len(data), max(limit, at))
        at = following
    if start >= 0:
        yield start, end


def _end(data: bytes, eol: int, limit: int) -> int:
    end = section.end_of_stack(data, eol, limit)
    if data.startswith(_OWNED, end):
        end = section.end_of_stack(data, end + len(_OWNED), limit)
    return end


def _with_banner(data: bytes, line: int, least: int) -> int:
    banner = data.rfind(_BANNER, max(least, line - _ABOVE), line)
    if banner < 0:
        return line
    start = data.rfind(b"\n", 0, banner) + 1
    above = data.rfind(b"\n", 0, max(start - 1, 0)) + 1
    return above if above >= least and section.taken_at(data, start) else start
