"""The log format of container runtimes (CRI): ``TIME stdout P piece``, ``TIME stdout F rest``: lines put together.

containerd and CRI-O write a line longer than 16 KiB in pieces; kubectl and Docker join them, the file itself has them.
"""

from __future__ import annotations

import re
from array import array
from typing import Final

from seedstall.parse.text import Text

_LONGEST: Final = 1 << 20
_LINE = re.compile(
    rb"(\d{4}-\d\d-\d\dT[\d:.,]{8,24}(?:Z|[+-]\d\d:?\d\d)) (std(?:out|err)) ([PF])(?::\S*)? ?"
)


def whole_lines(text: Text) -> Text:
    """Join the pieces of each stream; the joined line stands where its first piece stood, and is ``F``."""
    lines: list[bytes] = []
    numbers = array("L")
    waiting: dict[bytes, int] = {}
    for index, line in enumerate(text.data.split(b"\n")):
        match = _LINE.match(line)
        stream = match[2] if match else b""
        above = waiting.get(stream) if match else None
        if match and above is not None and len(lines[above]) + len(line) < _LONGEST:
            lines[above] += line[match.end() :]
            if match[3] == b"F":
                del waiting[stream]
            continue
        waiting.pop(stream, None)
        if match and match[3] == b"P":
            waiting[stream] = len(lines)
            line = b"%b %b F %b" % (match[1], stream, line[match.end() :])  # noqa: PLW2901 - what it is from here on
        lines.append(line)
        numbers.append(index + 1 if text.numbers is None else text.numbers[index])
    return Text(b"\n".join(lines), numbers)
