"""The JVM's own deadlock report, which HotSpot prints after the dump's last line and whose names are no threads."""

from __future__ import annotations

import re

from seedstall.parse.text import shown

START = b"Found one Java-level deadlock"
_LONGEST = 4 << 20
_STACKS = b"Java stack information for the threads listed above"
_END = re.compile(rb"Found (?:\d+ deadlock|a total of \d+ deadlock)[^\n]*")
_NAME = re.compile(
    rb'^[ \t>|*]*+(?:"|\xe2\x80\x9c)?([^\n]*)(?:"|\xe2\x80\x9d):[ \t]*$', re.MULTILINE
)


def section(data: bytes, start: int, limit: int) -> tuple[int, tuple[str, ...]]:
    """Where the report that begins at *start* ends, before *limit*, and the names of its cycle in order.

    Each cycle has a report of its own; ``Found 2 deadlocks.`` ends the last one. Where that line is missing, the report
    is taken to go to *limit*, the next dump or the end: its stacks repeat threads that the dump holds already.
    """
    limit = min(limit, start + _LONGEST, len(data))
    another = data.find(START, start + 1, limit)
    stop = another if another >= 0 else limit
    end = _END.search(data, start, stop)
    stop = end.end() if end else stop
    stacks = data.find(_STACKS, start, stop)
    names = _NAME.findall(data, start, stacks if stacks >= 0 else stop)
    return stop, tuple(dict.fromkeys(map(shown, names)))
