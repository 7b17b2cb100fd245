"""An export of a log store that is too long to be held: its records a line each, the oldest first, piece by piece.

A list of records may be one line of 100 MB (Grafana, Elasticsearch), and most exports have their newest record at the
top. Parsers want lines in their order. So the records are taken out of a list one by one as it comes by, and what
stands newest first is kept packed (a tenth of its size) until its end has come, and then read from there.
"""

from __future__ import annotations

import json
import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, NamedTuple

from seedstall.parse.container.jsonlines import is_jsonlines, is_listing, stands_newest_first
from seedstall.parse.container.records import LISTS
from seedstall.parse.text import wide_codec

_HEAD: Final = 64 << 10
_RECORD: Final = 8 << 20
"""Characters of one record. What is longer is no record but a list around records, and is looked into."""
_BLOCK: Final = 2 << 20
_PACKED: Final = 48 << 20
"""Bytes of a log, packed, that are held to turn it round: some 500 MB of it."""
_NAMES = "|".join((*LISTS, "result", "values"))
_BEGINS = re.compile(rf'"(?:{_NAMES})"[ \t\r\n]{{0,20}}:[ \t\r\n]{{0,20}}\[')
_LONGEST_BEGIN: Final = 80
_KEPT: Final = "surrogateescape"
"""Bytes that are no UTF-8 pass unchanged."""
_GAP = re.compile(r"[\s,]*+")
TOO_LONG: Final = (
    "its newest record stands first, and it is too long to be turned round: read in that order, so what is told of "
    "starts and silences is not sure; export it oldest first (logcli --forward, order: asc), or a shorter time"
)


class Export(NamedTuple):
    """A text in pieces; ``total`` is the number of its lines where the last came first; ``lack`` what is not sure."""

    pieces: Iterator[bytes]
    total: int | None = None
    lack: str = ""


def oldest_first(pieces: Iterator[bytes]) -> Export:
    """*pieces* as they are where they are no such export; else its records a line each, in the order of their time.

    A record's line keeps its number where the list has line ends between its records.

    Raises:
        ValueError, OSError: as *pieces* does.
    """
    begun: list[bytes] = []
    size = 0
    while size < _HEAD and (piece := next(pieces, b"")):
        begun.append(piece)
        size += len(piece)
    head = b"".join(begun)
    codec = wide_codec(head)
    start = head[: 2 * _HEAD].decode(codec, "replace").encode("utf-8", "replace") if codec else head
    start = start[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
    whole = chain((head,), pieces)
    if is_jsonlines(start):
        if not stands_newest_first(start):
            return Export(whole)
        return _turned(_in_utf8(whole, codec))
    if not is_listing(start):
        return Export(whole)
    # What the parsers of other JSON read (a dump) is left to them: only what shows messages now is taken apart.
    told = _Records(waits=False).fed("".join(_decoded(iter((head,)), codec))).encode("utf-8", _KEPT)
    if not is_jsonlines(told):
        return Export(whole)
    lines = _records(whole, codec)
    return _turned(lines) if stands_newest_first(told) else Export(lines)


def _decoded(pieces: Iterator[bytes], codec: str | None) -> Iterator[str]:
    decoder = getincrementaldecoder(codec or "utf-8-sig")("replace" if codec else _KEPT)
    return map(decoder.decode, pieces)


def _in_utf8(pieces: Iterator[bytes], codec: str | None) -> Iterator[bytes]:
    """*pieces* without a byte order mark: the line that it stands in may become the last."""
    return (piece.encode("utf-8", _KEPT) for piece in _decoded(pieces, codec))


def _records(pieces: Iterator[bytes], codec: str | None) -> Iterator[bytes]:
    """The records of a list that comes in *pieces*, a line each, followed by the line feeds that stood in it."""
    found = _Records()
    for piece in _decoded(pieces, codec):
        lines = found.fed(piece)
        if lines:
            yield lines.encode("utf-8", _KEPT)


class _Records:
    """What was read of a list, and is waited for."""

    def __init__(self, *, waits: bool = True) -> None:
        """Begin; where it does not wait, what does not end in a piece is taken for a list around records."""
        self._most = _RECORD if waits else 0
        self._left = ""
        self._inside = False
        self._begun = False
        self._decode = json.JSONDecoder().raw_decode

    def fed(self, piece: str) -> str:
        """The lines of the records that end in *piece*."""
        text = self._left + piece
        at = 0
        if not self._begun:
            self._begun = True
            at = len(text) - len(text.lstrip())
            self._inside = text[at : at + 1] == "["
            at += self._inside
        lines: list[str] = []
        while (end := self._step(text, at, lines)) is not None:
            at = end
        if not self._inside:
            known = max(at, len(text) - _LONGEST_BEGIN)
            lines.append("\n" * text.count("\n", at, known))
            at = known
        self._left = text[at:]
        return "".join(lines)

    def _step(self, text: str, at: int, lines: list[str]) -> int | None:
        """Go over one record, or up to where a list begins or ends: to where; ``None`` where more has to come."""
        if not self._inside:
            begins = _BEGINS.search(text, at)
            if begins is None:
                return None
            lines.append("\n" * text.count("\n", at, begins.end()))
            self._inside = True
            return begins.end()
        gap = _GAP.match(text, at)
        start = gap.end() if gap else at
        if start == len(text):
            return None
        if text[start] in "{[":
            try:
                value, end = self._decode(text, start)
            except (ValueError, RecursionError):
                if len(text) - start < self._most:
                    return None
            else:
                lines.append("\n" * text.count("\n", at, start))
                lines.append(_line(value, text[start:end]))
                return end
        self._inside = False
        return at


def _line(value: Any, written: str) -> str:
    """A record in one line, and as many line feeds as it had."""
    feeds = "\n" * max(1, written.count("\n"))
    pairs: object = [value] if isinstance(value, list) else value.get("values")  # pyright: ignore[reportUnknownVariableType]
    if isinstance(pairs, list):  # Loki's: nanoseconds and a line
        items: list[Any] = pairs  # pyright: ignore[reportUnknownVariableType]
        found: list[list[Any]] = [pair for pair in items if isinstance(pair, list)]
        told = [{"ts": pair[0], "line": pair[1]} for pair in found if len(pair) > 1]
        return "\n".join(json.dumps(record) for record in told) + feeds
    return "".join(map(str.strip, written.split("\n"))) + feeds


def _turned(pieces: Iterator[bytes]) -> Export:
    """The lines of *pieces*, the last one first."""
    blocks: list[bytes] = []
    held = total = 0
    left = b""
    for piece in pieces:
        data = left + piece
        cut = data.rfind(b"\n") + 1
        left = data[cut:]
        for block in _blocks(data[:cut]):
            blocks.append(zlib.compress(block, 1))
            held += len(blocks[-1])
        total += data.count(b"\n", 0, cut)
        if held > _PACKED or len(left) > _RECORD:
            return Export(chain(map(zlib.decompress, blocks), (left,), pieces), None, TOO_LONG)
    if left:
        blocks.append(zlib.compress(left + b"\n", 1))
        total += 1
    return Export((_backwards(zlib.decompress(block)) for block in reversed(blocks)), total)


def _blocks(lines: bytes) -> Iterator[bytes]:
    """*lines* in pieces of about `_BLOCK` bytes that end with a line."""
    at = 0
    while at < len(lines):
        end = lines.find(b"\n", min(at + _BLOCK, len(lines) - 1)) + 1
        yield lines[at:end]
        at = end


def _backwards(block: bytes) -> bytes:
    return b"\n".join(reversed(block[:-1].split(b"\n"))) + b"\n"
