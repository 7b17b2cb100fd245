"""A mail as it lies on disk (``.eml``, an mbox): its parts decoded, pictures and second versions left out.

Written by hand and not with `email`, whose parser loses the lines: evidence is told with its place in the file.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from seedstall.parse.container.base64text import content, numbers_of
from seedstall.parse.container.quotedprintable import decoded_lines
from seedstall.parse.text import Text, normal

_DEPTH: Final = 3
"""Mails in mails: what was forwarded as an attachment."""
_MOST_PARTS: Final = 1000
_MOST_BOUNDARIES: Final = 50
_MOST_HEADERS: Final = 500
_HEADER = re.compile(rb"([\w-]{1,80}):[ \t]*+(.*)", re.DOTALL)
_BOUNDARY = re.compile(rb'boundary\s*+=\s*+(?:"([^"\n]{1,200})"|([^\s;"]{1,200}))', re.IGNORECASE)
_SKIPPED: Final = (b"image/", b"audio/", b"video/", b"font/", b"application/pdf", b"text/calendar")


@dataclass(slots=True)
class _Part:
    """A part's headers, by their names in small letters, and its body's lines with the number of the first."""

    headers: dict[bytes, bytes]
    first: int
    alternative: bool = False
    lines: list[bytes] = field(default_factory=list[bytes])

    @property
    def kind(self) -> bytes:
        """``text/plain`` where nothing is said (RFC 2045, 5.2)."""
        return (
            (self.headers.get(b"content-type", b"") or b"text/plain")
            .partition(b";")[0]
            .strip()
            .lower()
        )


def parts(text: Text, depth: int = _DEPTH) -> Text:
    """The subject and the bodies of all parts that can hold text, one below the other."""
    lines: list[bytes] = []
    numbers = array("L")
    plain_seen = 0
    for part in _parts(text.data.split(b"\n")):
        if part.kind.startswith(_SKIPPED) or part.kind.startswith(b"multipart/"):
            continue
        found, places = _forwarded(part, depth) or _decoded(part)
        size = sum(map(len, found))
        if part.alternative and part.kind == b"text/html" and plain_seen * 4 > size:
            continue  # the same text once more
        plain_seen = size if part.kind == b"text/plain" else plain_seen
        subject = part.headers.get(b"subject")
        if subject:
            lines.append(b"Subject: " + subject)
            numbers.append(max(1, part.first - 1))
        lines.extend(found)
        numbers.extend(places)
    if text.numbers is not None:
        known = text.numbers
        numbers = array("L", (known[min(n, len(known)) - 1] for n in numbers))
    return Text(b"\n".join(lines), numbers) if lines else text


def _forwarded(part: _Part, depth: int) -> tuple[list[bytes], array[int]] | None:
    """The lines of a mail that is a part itself, and their numbers; ``None`` for a part of another kind."""
    if part.kind != b"message/rfc822" or not depth or not part.lines:
        return None
    numbers = array("L", range(part.first, part.first + len(part.lines)))
    inner = parts(Text(b"\n".join(part.lines), numbers), depth - 1)
    return inner.data.split(b"\n"), array("L", inner.numbers or ())


def _decoded(part: _Part) -> tuple[list[bytes], array[int]]:
    """The lines of a part's body as they were before they were sent, and their numbers."""
    if not part.lines:
        return [], array("L")
    encoding = part.headers.get(b"content-transfer-encoding", b"").strip().lower()
    if encoding == b"quoted-printable":
        return decoded_lines(part.lines, part.first)
    if encoding == b"base64":
        body = b"\n".join(part.lines)
        held = content(body)
        if held is None:
            return [], array("L")
        inner, sent = held
        return inner.split(b"\n"), numbers_of(inner, sent, len(part.lines[0]) + 1, part.first)
    body = b"\n".join(part.lines)
    whole = normal(body)
    if whole.count(b"\n") == body.count(b"\n"):
        return whole.split(b"\n"), array("L", range(part.first, part.first + len(part.lines)))
    return part.lines, array("L", range(part.first, part.first + len(part.lines)))


def _parts(lines: list[bytes]) -> Iterator[_Part]:
    """Every part of every mail in *lines*."""
    boundaries: dict[bytes, bool] = {}
    part: _Part | None = None
    at = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    count = 0
    heads = True
    while at < len(lines):
        if heads:
            headers, at = _headers(lines, at)
            kind = headers.get(b"content-type", b"")
            alternative = b"multipart/alternative" in kind.lower()
            if (found := _BOUNDARY.search(kind)) and len(boundaries) < _MOST_BOUNDARIES:
                boundaries[b"--" + (found[1] or found[2])] = alternative
            inside = part.alternative if part is not None else False
            part = _Part(headers, at + 1, inside)
            count += 1
            heads = False
            continue
        line = lines[at]
        mark = _mark(line, boundaries)
        if mark is not None and part is not None:
            yield part
            if count >= _MOST_PARTS:
                return
            part = _Part({}, at + 2, boundaries[mark])
            heads = line.rstrip() == mark  # else it is the last, with two more dashes
        elif _begins_mail(lines, at) and part is not None:
            yield part
            part, heads, boundaries = _Part({}, at + 2), True, {}
        elif part is not None:
            part.lines.append(line)
        at += 1
    if part is not None:
        yield part


def _mark(line: bytes, boundaries: dict[bytes, bool]) -> bytes | None:
    if not line.startswith(b"--"):
        return None
    line = line.rstrip()
    if line in boundaries:
        return line
    return line[:-2] if line.endswith(b"--") and line[:-2] in boundaries else None


def _begins_mail(lines: list[bytes], at: int) -> bool:
    """Whether a new mail of an mbox begins at line *at*: ``From `` after an empty line, headers below it."""
    return (
        lines[at].startswith(b"From ")
        and at > 0
        and not lines[at - 1].strip()
        and at + 1 < len(lines)
        and _HEADER.match(lines[at + 1]) is not None
    )


def _headers(lines: list[bytes], at: int) -> tuple[dict[bytes, bytes], int]:
    """The headers from line *at* on, and the line their body begins at."""
    found: dict[bytes, bytes] = {}
    name = b""
    for _ in range(_MOST_HEADERS):
        if at >= len(lines) or not lines[at].strip():
            return found, at + 1
        line = lines[at]
        match = _HEADER.fullmatch(line)
        if line[:1] in (b" ", b"\t") and name:
            found[name] += b" " + line.strip()
        elif match:
            name = match[1].lower()
            found.setdefault(name, match[2])
        elif not line.startswith(b"From "):
            return found, at
        at += 1
    return found, at
