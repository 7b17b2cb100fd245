"""What descriptors stand for: ``lsof`` and ``ls -l /proc/PID/fd``.

An open descriptor of the device proves nothing (every JVM that loaded the SUN provider has some). It tells what a trace
or a ``/proc/PID/task/TID/syscall`` means that says no more than a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.parse.observation.seen import LONGEST, Seen, finds
from seedstall.parse.text import line_around, shown

_LSOF = re.compile(
    rb"[^\n]{0,120}?[ \t](\d{1,7})[rwu][ \t]*[A-Za-z]?[ \t]+(CHR|FIFO|REG|BLK|DIR)[ \t][^\n]{0,120}?(/dev/u?random)"
    rb"(?: \(deleted\))?[ \t]*$"
)
_LISTED = re.compile(rb"[^\n]{0,160}?[ \t](\d{1,7}) -> (/dev/u?random)(?: \(deleted\))?[ \t]*$")


def opened(data: bytes) -> Iterator[Seen]:
    """Descriptors of the two devices; ``text`` is the path, and the kind of node where lsof says another than CHR."""
    for at in finds(data, b"/dev/"):
        if data[at : at + 12].rstrip()[:11] not in (b"/dev/random", b"/dev/urando"):
            continue
        start, end = line_around(data, at, LONGEST)
        if end - start > LONGEST:
            continue
        match = _LISTED.match(data, start, end)
        if match:
            yield Seen(at, "open-descriptor", int(match[1]), text=shown(match[2]))
            continue
        row = _LSOF.match(data, start, end)
        if row:
            kind = "" if row[2] == b"CHR" else f" ({shown(row[2])})"
            yield Seen(at, "open-descriptor", int(row[1]), text=shown(row[3]) + kind)
