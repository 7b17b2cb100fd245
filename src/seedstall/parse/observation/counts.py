"""What the files below ``/proc/sys/kernel/random`` held, as a text shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from seedstall.parse.observation.seen import LONGEST, Seen, finds
from seedstall.parse.text import line_around

_MOST_BITS: Final = 1 << 16
_LISTED: Final = 50
"""Lines of numbers taken below one command (``while true; do cat entropy_avail; sleep 1; done``)."""

# Words between the name and the figure, but no comparison, comment, command or other figure.
_SAYS = re.compile(
    rb"[`'\"*]?((?:[ \t]|[^\s\d#$()|;&<>%/\[\]{}]){0,60}?)(?<![\w.,\-])(\d{1,6})(?![\w%]|[.,]\d| *=)"
)
_ADVICE = re.compile(
    rb"(?i)\b(?:if|when|whenever|unless|until|should|must|ought|needs?|ensure|make sure|recommend\w*|threshold"
    rb"|always|typically)\b"
)
_WATCHED = re.compile(rb"(?:^|[^\w])Every \d{1,6}[.,]\d{1,3}s: ")
"""The first line of ``watch``: what follows the command there is the date."""
_UUID: Final = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ALL = re.compile(
    _UUID
    + rb"\s*\n[ \t]*(\d{1,5})\s*\n[ \t]*(\d{1,5})\s*\n[ \t]*(\d{1,5})\s*\n(?:[ \t]*(\d{1,5})\s*\n)?[ \t]*"
    + _UUID
)
_READ_WAKEUP: Final = 64
_NUMBER_LINE = re.compile(rb"[ \t]*(\d{1,6})[ \t]*")


def counts(data: bytes) -> Iterator[Seen]:
    """Entropy counts and pool sizes, as ``cat`` and ``sysctl`` print them or a sentence gives them."""
    for word, kind in (
        (b"entropy_avail", "entropy-avail"),
        (b"poolsize", "poolsize"),
        (b"read_wakeup_threshold", "read-wakeup"),
    ):
        for at in finds(data, word):
            if kind == "poolsize" and data[at - 7 : at] not in (b"random/", b"random."):
                continue  # a thread pool's
            start, end = line_around(data, at, LONGEST)
            after = at + len(word)
            rest = data[after:end].strip(b" \t`'\")")
            if not rest or rest == b"<==" or _WATCHED.search(data, start, at):
                for offset, value in _numbers_below(data, end):
                    yield Seen(offset, kind, value)
                continue
            says = _SAYS.match(data, after, end)
            if says and int(says[2]) <= _MOST_BITS and not _is_advice(data, start, at, says):
                yield Seen(at, kind, int(says[2]))


def listed(data: bytes) -> Iterator[Seen]:
    """``cat /proc/sys/kernel/random/*``: values without their names, told by their order, between the two UUIDs.

    Up to 5.5 (and in back-ported kernels up to mid-2022) ``read_wakeup_threshold`` stands after the pool's size.
    """
    for match in _ALL.finditer(data):
        yield Seen(match.start(1), "entropy-avail", int(match[1]))
        yield Seen(match.start(2), "poolsize", int(match[2]))
        if int(match[3]) == _READ_WAKEUP or match[4] is not None:
            yield Seen(match.start(3), "read-wakeup", int(match[3]))


def _is_advice(data: bytes, start: int, at: int, says: re.Match[bytes]) -> bool:
    before = data[max(start, at - 80) : at]
    return _ADVICE.search(before) is not None or _ADVICE.search(says[1]) is not None


def _numbers_below(data: bytes, end: int) -> Iterator[tuple[int, int]]:
    """The figures in the lines right below a command, as long as lines hold nothing else; one may be empty before."""
    start = end + 1
    for number in range(_LISTED):
        eol = data.find(b"\n", start, start + 100)
        eol = min(len(data), start + 100) if eol < 0 else eol
        line = data[start:eol]
        figure = _NUMBER_LINE.fullmatch(line)
        if figure is None:
            if number or line.strip():
                return
        elif int(figure[1]) <= _MOST_BITS:
            yield start, int(figure[1])
        start = eol + 1
