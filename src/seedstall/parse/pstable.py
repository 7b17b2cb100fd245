"""What ps(1) prints, by its header: ``ps -elfL``, ``ps auxwww``, ``ps axo pid,...,cmd`` (procps 3.2 to 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

MOST_LINES: Final = 200_000
_LONGEST: Final = 1 << 20
_COMMAND: Final = (b"CMD", b"COMMAND")
_DATED: Final = b"STARTED"
"""``lstart``: five words, ``Mon Nov 30 22:49:56 2026``."""


class Row(NamedTuple):
    """One line: a process, or one of its threads where ``tid`` is another number than ``pid``.

    Words that the table has not are empty. ``cpu_s`` is its processor time in seconds.
    """

    pid: int
    tid: int
    ppid: int
    state: str
    wchan: str
    user: str
    cpu_s: int
    command: str


def rows(data: bytes) -> Iterator[Row]:
    """The lines of each table in *data*; what is none is passed over."""
    columns: list[bytes] = []
    for line in data.split(b"\n", MOST_LINES)[:MOST_LINES]:
        words = line[:_LONGEST].split()
        if b"PID" in words and words and words[-1] in _COMMAND:
            columns = words
            continue
        if columns and (row := _row(columns, line[:_LONGEST])) is not None:
            yield row


def _row(columns: list[bytes], line: bytes) -> Row | None:
    """Each column is one word, but for the last, which is the rest, and a date."""
    found: dict[bytes, bytes] = {}
    rest = line
    for column in columns[:-1]:
        count = 5 if column == _DATED else 1
        words = rest.split(None, count)
        if len(words) <= count:
            return None
        found[column] = b" ".join(words[:count])
        rest = words[count]
    pid = found.get(b"PID", b"")
    if not _is_number(pid):
        return None
    tid, ppid = found.get(b"LWP", pid), found.get(b"PPID", b"0")
    wchan = found.get(b"WCHAN", b"")
    return Row(
        int(pid),
        int(tid) if _is_number(tid) else int(pid),
        int(ppid) if _is_number(ppid) else 0,
        _text(found.get(b"S", found.get(b"STAT", b"?")))[:1],
        "" if wchan in (b"-", b"*", b"?") else _text(wchan),
        _text(found.get(b"USER", found.get(b"UID", b""))),
        _seconds(found.get(b"TIME", b"")),
        _text(rest.strip()),
    )


def _is_number(word: bytes) -> bool:
    return word.isdigit() and len(word) < 10  # noqa: PLR2004 - longer than any pid


def _seconds(word: bytes) -> int:
    """``[DD-]hh:mm:ss`` or ``m:ss``; 0 where it is neither."""
    days, dash, clock = word.rpartition(b"-")
    parts = clock.split(b":")
    if not all(_is_number(part) for part in (*parts, *([days] if dash else []))) or len(parts) > 3:  # noqa: PLR2004
        return 0
    total = 0
    for part in parts:
        total = total * 60 + int(part)
    return total + (int(days) * 86_400 if dash else 0)


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")
