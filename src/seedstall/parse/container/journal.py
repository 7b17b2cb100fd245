"""The journal's export format (``journalctl -o export``): an entry is ``FIELD=value`` lines, an empty one ends it.

A field that holds a line feed has its length in front: ``FIELD``, a line feed, eight bytes (least first), the value.
"""

from __future__ import annotations

import re
from array import array
from typing import Final

from seedstall.parse.text import Text

_LONGEST: Final = 16 << 20
_FIELD = re.compile(rb"^MESSAGE(?:=([^\n]*)|\n)", re.MULTILINE)


def messages(text: Text) -> Text:
    """The messages alone, a line each or more."""
    data = text.data
    lines: list[bytes] = []
    numbers = array("L")
    at, counted, number = 0, 0, 0
    while (match := _FIELD.search(data, at)) is not None:
        number += data.count(b"\n", counted, match.start())
        counted = match.start()
        value, at = match[1], match.end()
        if value is None:
            size = int.from_bytes(data[at : at + 8], "little")
            if size > _LONGEST:
                continue
            value = data[at + 8 : at + 8 + size]
            at += 8 + size
        pieces = value.split(b"\n")
        lines.extend(pieces)
        line = (
            number + 1 if text.numbers is None else text.numbers[min(number, len(text.numbers) - 1)]
        )
        numbers.extend([line] * len(pieces))
    return Text(b"\n".join(lines), numbers) if lines else text
