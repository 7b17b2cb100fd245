"""Tar archives read as they come by, one member at a time: ustar, GNU and pax, as POSIX pax(1) and GNU tar write them.

Our own and not the standard library's ``tarfile``: that reads a header of any length into memory, matches a pax header
by an expression that goes quadratic (CVE-2024-6232), calls itself for each long name, and makes of a member what its
header says. Here every length is bounded where it is read, and what a member is not is told by its type alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

BLOCK: Final = 512
MOST_HEADER: Final = 64 << 10
"""Bytes of one extended header: a path has 4096 at the most, PAX attributes may stand beside it."""
MOST_EXTENDED: Final = 8
"""Extended headers before one member."""
LONGEST_NAME: Final = 4096
DEEPEST: Final = 64
"""Directories on one path."""

FILE: Final = b"0"
HARD_LINK: Final = b"1"
LINK: Final = b"2"
DIRECTORY: Final = b"5"
_KINDS: Final = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a FIFO",
    b"S": "a sparse file",
    b"M": "a part of a file of several volumes",
    b"V": "a volume's label",
}


class Header(NamedTuple):
    """One member: its path with neither ``./`` nor a closing slash, its type, its size, a link's text."""

    name: bytes
    kind: bytes
    size: int
    target: bytes = b""

    @property
    def words(self) -> str:
        """What it is, for people."""
        return _KINDS.get(self.kind, f"of type {self.kind.decode('latin-1')!r}")


class CutError(ValueError):
    """The archive ends in the midst of a member."""


class UnsafeError(ValueError):
    """A member that nobody writes by accident: a path that leads out, a sparse file, a header without end."""


class Tar:
    """An archive in pieces. Iterate over its headers; `data` has the content of the one that was given last."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        """Begin at its first byte."""
        self._pieces = pieces
        self._held = b""
        self._left = 0
        self._padding = 0
        self.taken = 0
        """Bytes of it so far."""

    def __iter__(self) -> Iterator[Header]:
        """Every member in its order.

        Raises:
            CutError: it ends before its closing blocks.
            UnsafeError: a header is longer than any that is meant.
            ValueError: it is no tar archive, or damaged.
        """
        said = _Said()
        while True:
            self.skip()
            block = self._exactly(BLOCK, "a header")
            if not block.strip(b"\0"):
                return
            found = _header(block)
            self._expect(found.size)
            if found.kind in b"xgXLK":
                if found.size > MOST_HEADER or said.headers >= MOST_EXTENDED:
                    raise UnsafeError(f"extended headers of more than {MOST_HEADER >> 10} KiB")
                said.hear(found.kind, self.data(MOST_HEADER))
                continue
            if said.size is not None:
                self._expect(said.size)
            name = said.name or found.name
            kind = FILE if found.kind in (b"\0", b"7") else found.kind
            if kind == FILE and name.endswith(b"/"):
                kind = DIRECTORY
            if kind in (HARD_LINK, LINK, b"3", b"4", DIRECTORY, b"6"):
                self._expect(
                    0
                )  # these have no content, whatever their header says (pax(1), typeflag)
            yield Header(clean(name), kind, self._left, said.target or found.target)
            said = _Said(common=said.common)

    def _expect(self, size: int) -> None:
        """So many bytes of content follow."""
        self._left = size
        self._padding = -size % BLOCK

    def data(self, limit: int) -> bytes:
        """The content of the member that was given last, up to *limit* bytes of it.

        Raises:
            CutError: the archive ends in it. What there is of it is its ``args[1]``.
        """
        size = min(self._left, limit)
        self._left -= size
        return self._exactly(size, "a member")

    def skip(self) -> None:
        """Pass over what is left of the member."""
        left = self._left + self._padding
        self._left = self._padding = 0
        while left:
            if not self._held:
                self._more("a member")
            step = min(left, len(self._held))
            self._held = self._held[step:]
            self.taken += step
            left -= step

    def _more(self, where: str) -> None:
        piece = next((p for p in self._pieces if p), b"")
        if not piece:
            raise CutError(f"it is cut short in {where}", b"")
        self._held = piece

    def _exactly(self, size: int, where: str) -> bytes:
        parts: list[bytes] = []
        left = size
        while left:
            if not self._held:
                try:
                    self._more(where)
                except CutError as error:
                    if not parts and where == "a header":
                        raise CutError("it ends without its closing blocks", b"") from error
                    raise CutError(error.args[0], b"".join(parts)) from error
            part, self._held = self._held[:left], self._held[left:]
            parts.append(part)
            left -= len(part)
            self.taken += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


class _Said:
    """What extended headers say of the member that follows them."""

    def __init__(self, common: dict[bytes, bytes] | None = None) -> None:
        self.common = common or {}
        """For all members (a global pax header)."""
        self.name = self.common.get(b"path", b"")
        self.target = b""
        self.size: int | None = None
        self.headers = 0

    def hear(self, kind: bytes, data: bytes) -> None:
        """One of them."""
        self.headers += 1
        if kind == b"L":
            self.name = data.partition(b"\0")[0]
        elif kind == b"K":
            self.target = data.partition(b"\0")[0]
        elif kind == b"g":
            self.common = self.common | _records(data)
        else:
            records = _records(data)
            self.name = records.get(b"path", self.name)
            self.target = records.get(b"linkpath", self.target)
            self.size = _decimal(records[b"size"]) if b"size" in records else self.size
            if any(key.startswith(b"GNU.sparse") for key in records):
                raise UnsafeError(f"{_shown(self.name)} is a sparse file")


def clean(name: bytes) -> bytes:
    """A member's path as everybody means it: without ``./`` before it and ``/`` behind it.

    Raises:
        UnsafeError: it is absolute, leads out of the archive, is too long or too deep, or holds a NUL byte.
    """
    if b"\0" in name:
        raise UnsafeError(f"a NUL byte in a path: {_shown(name)}")
    if len(name) > LONGEST_NAME:
        raise UnsafeError(f"a path of {len(name)} bytes, the limit is {LONGEST_NAME}")
    if name.startswith(b"/"):
        raise UnsafeError(f"an absolute path: {_shown(name)}")
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise UnsafeError(f"a path that leads out of it: {_shown(name)}")
    if len(parts) > DEEPEST:
        raise UnsafeError(f"a path of {len(parts)} directories, the limit is {DEEPEST}")
    return b"/".join(parts)


def _shown(name: bytes) -> str:
    return name[:120].replace(b"\0", b"\\0").decode("utf-8", "backslashreplace")


def is_tar(block: bytes) -> bool:
    """Whether a file that begins so is a tar archive, by its checksum: old ones have no magic."""
    if len(block) < BLOCK:
        return False
    try:
        _header(block[:BLOCK])
    except ValueError:
        return False
    return True


def _header(block: bytes) -> Header:
    stated = _number(block[148:156])
    if sum(block) - sum(block[148:156]) + 8 * 32 != stated:
        raise ValueError("not a tar archive, or a damaged one: a header's checksum is wrong")
    name = block[:100].partition(b"\0")[0]
    if block[257:263] == b"ustar\0":  # GNU's own magic is "ustar  ": it has other fields there
        prefix = block[345:500].partition(b"\0")[0]
        name = prefix + b"/" + name if prefix else name
    target = block[157:257].partition(b"\0")[0]
    return Header(name, block[156:157], _number(block[124:136]), target)


def _number(field: bytes) -> int:
    """An octal number, or GNU's base 256.

    Raises:
        ValueError: it is neither, or negative.
    """
    if field[0] & 0x80:
        value = int.from_bytes(bytes((field[0] & 0x7F, *field[1:])), "big")
        if value >= 1 << 63:
            raise ValueError("not a tar archive: a length of more than 2^63")
        return value
    digits = field.strip(b" \0")
    if not digits:
        return 0
    if digits.strip(b"01234567"):
        raise ValueError("not a tar archive: a number that is none")
    return int(digits, 8)


def _decimal(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > 18:  # noqa: PLR2004 - below 2^63
        raise ValueError("a damaged tar archive: a size that is no number")
    return int(digits)


def _records(data: bytes) -> dict[bytes, bytes]:
    """Records of a pax header: ``LENGTH KEY=VALUE`` and a newline.

    Raises:
        ValueError: they are none.
    """
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(data) and data[at] != 0:
        space = data.find(b" ", at, at + 20)
        length = _decimal(data[at:space]) if space > 0 else 0
        record = data[space + 1 : at + length]
        if length <= space - at or not record.endswith(b"\n"):
            raise ValueError("a damaged tar archive: a pax header that is none")
        key, _, value = record[:-1].partition(b"=")
        found[key] = value
        at += length
    return found
