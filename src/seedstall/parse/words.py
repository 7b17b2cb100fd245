"""Whether and where words stand in a text: of many that are searched for in a long log, hardly any does.

A log is a few hundred sentences, again and again, with other figures in them. So the text is brought once into a short
form, its digest: without digits, blanks, hex letters and most marks, and each line that is then left only once. A word
whose own short form is not in the digest is nowhere in the text; only for the others is the text itself searched. What
is told is exact, whatever the text. (Of 16 MiB of a Spring Boot log a digest has 8 KiB, and takes as long as four
searches of the text.)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_SHORT: Final = 256 << 10
"""Bytes of a text in which a search takes less than making a digest."""
_DROPPED: Final = b"0123456789abcdef .-:,[])+%&?_*#\t\r"
"""What varies between lines of one sentence (numbers, ids in hex), and what is beside it."""
_STEP: Final = 1 << 20
_MOST_LINES: Final = 200_000
"""Lines that are held: with more of their own, a text has no sentences that come again."""


def holds(data: bytes, word: bytes) -> bool:
    """Whether *word* stands in *data*."""
    return find(data, word) >= 0


def find(data: bytes, word: bytes) -> int:
    """Where *word* stands first in *data*; -1 where it does not."""
    if len(data) > _SHORT and b"\n" not in word and _shortened(word) not in _digest(data):
        return -1
    return data.find(word)


def places(data: bytes, word: bytes, most: int) -> Iterator[int]:
    """Where *word* stands in *data*, in order, at most *most* times."""
    at = find(data, word)
    for _ in range(most):
        if at < 0:
            return
        yield at
        at = data.find(word, at + len(word))


def _shortened(data: bytes) -> bytes:
    return data.translate(None, _DROPPED)


@lru_cache(maxsize=1)
def _digest(data: bytes) -> bytes:
    """The lines of *data* in short form, each once. Kept for the text that was asked of last: many words are."""
    short = _shortened(data)
    lines: set[bytes] = set()
    for start in range(0, len(short), _STEP):
        # A line that is cut here is taken from its start on: what belongs to the piece before is there, too.
        begin = short.rfind(b"\n", 0, start) + 1 if start else 0
        if start - begin > _STEP:
            return short
        lines.update(short[begin : start + _STEP].split(b"\n"))
        if len(lines) > _MOST_LINES:
            return short
    return b"\n".join(lines)
