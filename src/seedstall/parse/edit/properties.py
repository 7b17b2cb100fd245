"""One entry of a security properties file: where it is set in the end, and the edit that sets it there.

``Properties.load`` takes the last entry of a name, and bytes as ISO 8859-1. A logical line goes on behind an odd number
of backslashes.
"""

from __future__ import annotations

import re

from seedstall.parse.edit.options import Edit
from seedstall.parse.properties import Entry, entries

COMMENT = "# Written by seedstall: seed from a device that does not block"
_VALUE = re.compile(r"[!-~]+(?: [!-~]+)*")


def set_property(data: bytes, name: str, value: str, *, comment: str = COMMENT) -> Edit:
    """Set *name* to *value*: in the place of the entry that counts now, else at the end below *comment*.

    Line ends, comments, a missing last line end and all other entries are kept.

    Raises:
        ValueError: the file is malformed, or the value cannot be written down.
    """
    if not _VALUE.fullmatch(value):
        raise ValueError(f"{value!r} cannot be written into a properties file")
    found = list(entries(data, name.__eq__))
    line = f"{name}={value.replace(chr(92), chr(92) * 2)}".encode()
    end = b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"
    if found:
        last = found[-1]
        if last.value == value:
            return Edit(data, last.line)
        content = _in_place(data, last, line)
        return Edit(content, last.line, ((last.line, f"{name}={last.value}"),))
    before = [(e.name, e.value) for e in entries(data, _any)]
    first = b"" if not data or data.endswith((b"\n", b"\r")) else end
    # An entry that goes on at the file's end would swallow ours; a CR there and our LF are one line end.
    for joint in (first, first + end, first + end * 2):
        start = data + joint + comment.encode("latin-1", "replace") + end
        content = start + line + end
        if [(e.name, e.value) for e in entries(content, _any)] == [*before, (name, value)]:
            return Edit(content, start.count(b"\n") + 1)
    raise ValueError("its end is not understood")


def _any(_: str) -> bool:
    return True


def _in_place(data: bytes, last: Entry, line: bytes) -> bytes:
    """*line* in the place of the natural lines of an entry, with the last one's end."""
    starts = [0, *(m.end() for m in re.finditer(rb"\r\n|\r|\n", data))]
    start = starts[last.line - 1]
    stop = starts[last.last_line] if last.last_line < len(starts) else len(data)
    old = data[start:stop]
    body = old.rstrip(b"\r\n")
    indent = body[: len(body) - len(body.lstrip(b" \t\f"))]
    return data[:start] + indent + line + old[len(body) :] + data[stop:]
