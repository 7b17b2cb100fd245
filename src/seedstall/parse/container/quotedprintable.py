"""Quoted-printable: ``=3D`` for a sign, ``=`` at a line's end where the line goes on (RFC 2045, 6.7)."""

from __future__ import annotations

import re
from array import array
from binascii import a2b_qp
from typing import Final

from seedstall.parse.text import Text

_LONGEST: Final = 1 << 16
_SOFT = re.compile(rb"=[ \t]*+$")


def decoded(text: Text) -> Text:
    """Undo it; each line keeps the number of its first piece."""
    lines, numbers = decoded_lines(text.data.split(b"\n"), 1)
    if text.numbers is not None:
        known = text.numbers
        numbers = array("L", (known[min(n, len(known)) - 1] for n in numbers))
    return Text(b"\n".join(lines), numbers)


def decoded_lines(raws: list[bytes], first: int) -> tuple[list[bytes], array[int]]:
    """The lines that *raws* are the encoding of, the first of which is line *first*, and their numbers."""
    lines: list[bytes] = []
    numbers = array("L")
    pieces: list[bytes] = []
    size = 0
    for number, raw in enumerate(raws, first):
        if not pieces:
            numbers.append(number)
            size = 0
        soft = _SOFT.search(raw) if raw.rstrip().endswith(b"=") else None
        pieces.append(raw[: soft.start()] if soft else raw)
        size += len(raw)
        if soft is None or size > _LONGEST:
            lines.append(a2b_qp(b"".join(pieces)).replace(b"\n", b" "))
            pieces = []
    if pieces:
        lines.append(a2b_qp(b"".join(pieces)).replace(b"\n", b" "))
    return lines, numbers
