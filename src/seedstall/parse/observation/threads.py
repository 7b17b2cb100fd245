"""Threads by the kernel's view: ``ps -L`` with WCHAN, ``/proc/PID/stack``, ``wchan``, ``syscall``, off-CPU stacks.

A function's name in prose is no thread: it counts with an offset as stacks print it, as a column of ``ps``, or as all
that ``cat .../wchan`` printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from seedstall.knowledge.kernel import waits_for_random
from seedstall.parse.observation.seen import LONGEST, Seen, finds
from seedstall.parse.text import ends, line_around, shown

_WORDS: Final = (b"random_read", b"wait_for_random_bytes", b"crng_wait_ready", b"getrandom")
_SYMBOL = re.compile(rb"[A-Za-z_.][\w.]{2,80}")
_OFFSET = re.compile(rb"\+(?:0x[0-9a-f]{1,8}|\d{1,6})(?![\w.])")
_NUMBERS: Final = 2
"""Numbers that a row of ``ps -L`` has at the least: the process's and the thread's."""
_CALL = re.compile(
    rb"^[ \t>|]*+(?:[\w./\-*]{1,60}:[ \t]?)?(\d{1,4}) (0x[0-9a-f]{1,16})((?: 0x[0-9a-f]{1,16}){7})[ \t]*$",
    re.MULTILINE,
)
"""``/proc/PID/task/TID/syscall`` with its nine fields; x86-64's numbers are taken, which nearly all of them are."""
_READ: Final = (b"0", b"17", b"19")
_GETRANDOM: Final = b"318"
_LONGEST_ROW: Final = 400


def waiting(data: bytes) -> Iterator[Seen]:
    """Threads inside the random device's or getrandom's wait; ``text`` is the kernel's function."""
    last = -1
    over = _is_over(data)
    for at in sorted({at for word in _WORDS for at in finds(data, word)}):
        start, end = line_around(data, at, LONGEST)
        if start == last or end - start > _LONGEST_ROW:
            continue
        symbol = _symbol_at(data, at, start)
        if symbol is None:
            continue
        name, first, after = symbol
        kind = waits_for_random(name)
        # A profile of a busy reader of urandom has its function on top, and no wait.
        if (
            kind is None
            or name.startswith("urandom_read")
            or not _is_shown(data, start, end, first, after)
        ):
            continue
        last = start
        told = "kernel-wait-over" if over else "kernel-wait"
        yield Seen(first, told, text=name, value=1 if kind == "pool" else 0)


def _is_over(data: bytes) -> bool:
    """Whether it is a table of samples, with a column ``wchan``, whose last row shows no wait any more."""
    names = data[: max(0, data.find(b"\n"))][:_LONGEST_ROW].split(b"\t")
    if b"wchan" not in names:
        return False
    rows = data[-LONGEST:].rstrip(b"\r\n")
    last = rows[rows.rfind(b"\n") + 1 :].rstrip(b"\r").split(b"\t")
    if len(last) != len(names):
        return False  # cut on its way
    return waits_for_random(last[names.index(b"wchan")].decode("ascii", "replace")) is None


def _symbol_at(data: bytes, at: int, start: int) -> tuple[str, int, int] | None:
    first = at
    while first > start and re.match(rb"[\w.]", data[first - 1 : first]) and at - first < 80:  # noqa: PLR2004 - symbols are short
        first -= 1
    match = _SYMBOL.match(data, first)
    return (shown(match[0]), first, match.end()) if match else None


def _is_shown(data: bytes, start: int, end: int, first: int, after: int) -> bool:
    if _OFFSET.match(data, after):
        return True
    line = data[start:end]
    fields = line.split()
    name = data[first:after]
    if name in fields and sum(field.isdigit() for field in fields) >= _NUMBERS:
        return True
    # `cat wchan` prints no line feed: the prompt may follow.
    alone = re.fullmatch(
        rb"[ \t>|]*" + re.escape(name) + rb"(?:[\[(]?[\w.-]{1,40}@[^\n]{0,100}|[ \t]*)", line
    )
    above = data[max(0, start - _LONGEST_ROW) : start].rstrip(b"\n").rpartition(b"\n")[2]
    return alone is not None and b"wchan" in above


def calls(data: bytes) -> Iterator[Seen]:
    """System calls by ``/proc/PID/task/TID/syscall``: reads by descriptor (``value``), and getrandom."""
    if _CALL.search(ends(data)) is None:
        return
    for match in _CALL.finditer(data):
        if match[1] in _READ:
            yield Seen(match.start(), "proc-read", int(match[2], 16))
        elif match[1] == _GETRANDOM:
            yield Seen(match.start(), "kernel-wait", 0, text="getrandom")
