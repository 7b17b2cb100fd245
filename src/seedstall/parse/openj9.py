"""What OpenJ9's attach protocol says: the advertisement of a JVM, and the answer to a diagnostic command.

Facts from the public source of OpenJ9 (``openj9.internal.tools.attach.target``: Advertisement, DiagnosticProperties).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from seedstall.parse import properties

_PREFIX = b"openj9_diagnostics."
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MEANING = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Advertisement(NamedTuple):
    """``attachInfo``: who the JVM is, as it sees itself. -1 where it does not say."""

    pid: int
    uid: int


def advertisement(data: bytes) -> Advertisement:
    """Of the content of ``attachInfo``.

    Raises:
        ValueError: it is malformed, or names no process.
    """
    names = ("processId", "userUid")
    found = {e.name: e.value.strip() for e in properties.entries(data, names.__contains__)}
    numbers = [found.get(name, "") for name in names]
    if not numbers[0].isdecimal():
        raise ValueError("attachInfo names no process")
    pid, uid = (int(n) if n.isdecimal() and len(n) < 19 else -1 for n in numbers)  # noqa: PLR2004 - a long of Java's
    return Advertisement(pid, uid)


def result(reply: bytes) -> bytes:
    """The text that a diagnostic command gave, from its answer (a properties file, one line an entry).

    Raises:
        ValueError: it is an error, with its text, or no such answer.
    """
    entries: dict[bytes, bytes] = {}
    for line in reply.split(b"\n"):
        if line.startswith(_PREFIX):
            name, _, value = line.removeprefix(_PREFIX).partition(b"=")
            entries[name] = value
    if entries.get(b"error", b"").strip() == b"true" or b"string_result" not in entries:
        told = entries.get(b"errormsg") or entries.get(b"errortype") or reply[:200]
        raise ValueError(_decoded(told).decode("utf-8", "replace").strip() or "an empty answer")
    return _decoded(entries[b"string_result"])


def _decoded(value: bytes) -> bytes:
    """The value as ``Properties.load`` takes it, in UTF-8. Linear in its length, which runs to megabytes."""
    text = _ESCAPE.sub(
        lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1 else _MEANING.get(m[1], m[1]),
        value.rstrip(b"\r").decode("latin-1"),
    )
    # Two escapes make one character beyond the first 65,536.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
