"""What the modules of this package share: an observation before its lines are counted, and how a text is searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from seedstall.parse.text import line_around, shown
from seedstall.parse.words import places

LONGEST: Final = 2000
"""Bytes of a line looked at, each way from what was found."""
MOST: Final = 1000
"""Observations of one kind kept."""


@dataclass(slots=True)
class Seen:
    """An observation by its offset, before lines are counted."""

    offset: int
    kind: str
    value: int | None = None
    ms: int | None = None
    text: str = ""
    thread: str = ""


def finds(data: bytes, word: bytes) -> Iterator[int]:
    """Where *word* stands, at most `MOST` times."""
    return places(data, word, MOST)


def whole_line(data: bytes, offset: int) -> str:
    """The line that holds *offset*, for people."""
    start, end = line_around(data, offset, LONGEST)
    return shown(data[start:end]).strip()


def milliseconds(figure: bytes) -> int | None:
    """A figure in seconds, with a point or, as some locales print it, a comma."""
    try:
        return round(float(figure.replace(b",", b".")) * 1000)
    except (ValueError, OverflowError):
        return None
