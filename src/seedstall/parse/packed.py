"""Packed inputs: gzip, xz, bzip2, zstd, zip and tar, told by their first bytes, unpacked up to a limit.

zstd is in Python only from 3.14 on. Before, the ``zstandard`` package does where it is installed; it is no dependency,
since hardly anybody's log is packed so and the command that unpacks it is one word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

LIMIT: Final = 256 << 20
"""Bytes that one packed input may unpack to, all its members together."""
STREAM_LIMIT: Final = 2 << 30
"""Bytes that a packed log may unpack to where it is read in pieces and never held: what is refused is the time."""
_PIECE: Final = 4 << 20
MOST_MEMBERS: Final = 10_000
"""Files of one archive."""
_DEPTH: Final = 3
"""Archives in archives: a zip of a ticket with a rotated log that is packed itself."""
_GZIP: Final = b"\x1f\x8b\x08"
_XZ: Final = b"\xfd7zXZ\x00"
_BZIP2: Final = b"BZh"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_STREAMS: Final = (_GZIP, _XZ, _BZIP2, _ZSTD)
_OTHERS: Final = {
    b"\x04\x22\x4d\x18": ("an lz4 file", "lz4 -dc FILE | seedstall diagnose -"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "7z x FILE"),
    b"Rar!\x1a\x07": ("a rar archive", "unrar x FILE"),
    b"LZIP": ("an lzip file", "lzip -dc FILE | seedstall diagnose -"),
    b"\x1f\x9d": ("a file of compress(1)", "uncompress -c FILE | seedstall diagnose -"),
}
_XZ_MEMORY: Final = 128 << 20
"""What an xz stream may ask for its dictionary: ``xz -9`` needs 65 MiB."""
_USTAR: Final = slice(257, 262)


class Member(NamedTuple):
    """A file of an archive: its path there (``""`` for what is no archive) and its content.

    ``lack`` says why the content is not all of it (cut short, damaged); ``""`` where it is.
    """

    name: str
    data: bytes
    lack: str = ""


def members(data: bytes, limit: int = LIMIT) -> tuple[Member, ...]:
    """The files that *data* holds, unpacked themselves; one without a name where it is no archive.

    Of what is cut short or damaged, that which stands before the damage.

    Raises:
        ValueError: nothing can be had of it, it is of a kind that is not unpacked, or unpacks to more than *limit*.
    """
    found: list[Member] = []
    left = limit
    for member in _members("", data, limit, _DEPTH):
        left -= len(member.data)
        if left < 0:
            raise _too_large(limit)
        found.append(member)
    return tuple(found)


def unpacked(data: bytes, limit: int = LIMIT) -> bytes:
    """The content of *data* if it is packed, of all its streams; else *data* itself.

    Raises:
        ValueError: it is damaged, cut short, of a kind that is not unpacked, or unpacks to more than *limit* bytes.
    """
    content, lack = _begun(data, limit)
    if lack:
        raise ValueError(lack)
    return content


def _begun(data: bytes, limit: int) -> tuple[bytes, str]:
    """The content of *data* if it is packed, as far as it can be had, and why that is not all of it."""
    for sign, (kind, command) in _OTHERS.items():
        if data.startswith(sign):
            raise ValueError(f"{kind}: not unpacked here; {command}")
    if data.startswith(_ZSTD):
        content = _zstd(data, limit)
        if len(content) > limit:
            raise _too_large(limit)
        return content, ""
    if data.startswith(_ZIP):
        raise ValueError("a zip archive where one text is looked for")
    if not data.startswith((_GZIP, _XZ, _BZIP2)):
        return data, ""
    parts: list[bytes] = []
    lack = ""
    try:
        parts.extend(_limited(b"", _unpacking(iter((data,))), limit))
    except TooLargeError:
        raise
    except ValueError as error:
        if not any(parts):
            raise
        lack = str(error)
    return b"".join(parts), lack


class TooLargeError(ValueError):
    """It unpacks to more than the limit."""


class NotStreamedError(ValueError):
    """It is an archive, or packed in a way that is unpacked as a whole only. ``taken`` is what was taken of it."""

    def __init__(self, taken: list[bytes]) -> None:
        """Keep what was taken."""
        super().__init__("unpacked as a whole only")
        self.taken = taken


def streamed(pieces: Iterator[bytes], limit: int | None = None) -> Iterator[bytes]:
    """What a file that comes in *pieces* unpacks to, in pieces as well: it is never held as a whole.

    Raises:
        NotStreamedError: it has to be.
        ValueError: it is damaged, cut short, or unpacks to more than *limit* (`STREAM_LIMIT`) bytes; by the iterator,
            when it comes to that.
    """
    taken: list[bytes] = []
    deciding = True

    def noted() -> Iterator[bytes]:
        for piece in pieces:
            if deciding:
                taken.append(piece)
            yield piece

    content = _unpacking(noted())
    head = next(content, b"")
    if is_packed(head[:512]):
        raise NotStreamedError(taken)
    deciding = False
    taken.clear()
    return _limited(head, content, STREAM_LIMIT if limit is None else limit)


def gathered(taken: list[bytes], pieces: Iterator[bytes], limit: int = LIMIT) -> bytes:
    """A file that has to be unpacked as a whole.

    Raises:
        ValueError: it has more than *limit* bytes.
    """
    size = sum(map(len, taken))
    for piece in pieces:
        taken.append(piece)
        size += len(piece)
        if size > limit:
            raise ValueError(f"an archive of more than {limit >> 20} MiB, the limit: not read")
    return b"".join(taken)


def _limited(head: bytes, content: Iterator[bytes], limit: int) -> Iterator[bytes]:
    size = len(head)
    yield head
    for piece in content:
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        yield piece


def _unpacking(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of one stream after the other; what follows the last is padding, as tapes and xz have it."""
    data = next(pieces, b"")
    if not data.startswith((_GZIP, _XZ, _BZIP2)):
        yield data
        yield from pieces
        return
    from lzma import LZMAError  # noqa: PLC0415 - only for such an input
    from zlib import error as zlib_error  # noqa: PLC0415 - see above

    while data.startswith((_GZIP, _XZ, _BZIP2)):
        stream = _stream(data)
        try:
            while not stream.eof:
                part = stream.decompress(data, _PIECE)
                if part:
                    yield part
                data = getattr(stream, "unconsumed_tail", b"")
                if len(part) < _PIECE and not data and not stream.eof:
                    data = next(pieces, b"")
                    if not data and getattr(stream, "needs_input", True):
                        raise ValueError("a packed file that was cut short")
        except (zlib_error, LZMAError, OSError, EOFError) as error:
            raise ValueError(f"not a whole packed file: {error}") from error
        data = stream.unused_data
        while len(data) < len(_XZ) and (more := next(pieces, b"")):
            data += more


def is_packed(head: bytes) -> bool:
    """Whether a file that begins with *head* (262 bytes and more) is packed in any way."""
    return head.startswith((*_STREAMS, *_ZIP, *_OTHERS)) or head[_USTAR] == b"ustar"


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(f"unpacks to more than {limit >> 20} MiB, the limit: not read")


def _members(name: str, data: bytes, limit: int, depth: int) -> Iterator[Member]:
    if data.startswith(_ZIP):
        inner = _zipped(data, limit)
    else:
        data, lack = _begun(data, limit)
        if data[_USTAR] != b"ustar":
            if data.startswith(_ZIP) and depth:
                yield from _members(name, data, limit, depth - 1)
            else:
                yield Member(name, data, lack)
            return
        inner = _tarred(data)
    if not depth:
        raise ValueError(f"{name or 'it'} is an archive in archives: not unpacked further")
    for count, member in enumerate(inner):
        if count >= MOST_MEMBERS:
            raise ValueError(f"more than {MOST_MEMBERS} files in it, the limit: not read")
        whole = f"{name}!{member.name}" if name else member.name
        if member.lack or not is_packed(member.data[:512]):
            yield member._replace(name=whole)
            continue
        try:
            yield from _members(whole, member.data, limit, depth - 1)
        except ValueError as error:
            if "the limit" in str(error):
                raise
            yield Member(whole, b"", str(error))  # a damaged one among many: the others are read


def _zipped(data: bytes, limit: int) -> Iterator[Member]:
    """The files of a zip archive; directories and links hold nothing."""
    import zlib  # noqa: PLC0415 - only for such an input
    from io import BytesIO  # noqa: PLC0415 - see above
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415 - see above

    broken = (BadZipFile, EOFError, OSError, NotImplementedError, zlib.error, RuntimeError)
    left = limit
    try:
        with ZipFile(BytesIO(data)) as archive:
            for info in archive.infolist()[: MOST_MEMBERS + 1]:
                if info.is_dir():
                    continue
                if info.flag_bits & 1:
                    raise ValueError("a zip archive with a password: not unpacked; unzip FILE")
                parts: list[bytes] = []
                lack = ""
                try:
                    with archive.open(info) as file:
                        while left >= 0 and (part := file.read(min(_PIECE, left + 1))):
                            parts.append(part)
                            left -= len(part)
                except broken as error:
                    lack = f"damaged: {error}"
                if left < 0:
                    raise _too_large(limit)
                yield Member(info.filename, b"".join(parts), lack)
    except broken as error:
        raise ValueError(f"not a whole zip archive: {error}") from error


def _tarred(data: bytes) -> Iterator[Member]:
    """The regular files of a tar archive, which is in memory whole and so no larger than the limit."""
    from io import BytesIO  # noqa: PLC0415 - only for such an input
    from tarfile import TarError  # noqa: PLC0415 - see above
    from tarfile import open as opened  # noqa: PLC0415 - see above

    name = ""
    count = 0
    try:
        with opened(fileobj=BytesIO(data), mode="r:") as archive:
            for info in archive:
                name = info.name
                file: IO[bytes] | None = archive.extractfile(info) if info.isreg() else None
                if file is not None:
                    at = info.offset_data
                    cut = at + info.size > len(data)
                    count += 1
                    yield Member(
                        name, data[at:] if cut else file.read(), "cut short" if cut else ""
                    )
                    if cut:
                        return
    except (TarError, OSError, EOFError, ValueError, OverflowError) as error:
        if not count:
            raise ValueError(f"not a whole tar archive: {error}") from error
        yield Member(f"{name} and what follows", b"", f"not a whole tar archive: {error}")


def _zstd(data: bytes, limit: int) -> bytes:
    """The content of zstd frames, a little more than *limit* at the most."""
    from importlib import import_module  # noqa: PLC0415 - only for such an input
    from io import BytesIO  # noqa: PLC0415 - see above

    for name in ("compression.zstd", "zstandard"):
        try:
            library: Any = import_module(name)
        except ImportError:
            continue
        try:
            with library.open(BytesIO(data), "rb") as file:
                content: bytes = file.read(limit + 1)
        except (EOFError, OSError, ValueError, library.ZstdError) as error:
            raise ValueError(f"not a whole zstd file: {error}") from error
        if not content:
            raise ValueError("a zstd file that was cut short, or holds nothing")
        return content
    raise ValueError("a zstd file: not unpacked here; zstd -dc FILE | seedstall diagnose -")


def _stream(data: bytes) -> Any:
    """What unpacks the stream that *data* begins with."""
    if data.startswith(_GZIP):
        import zlib  # noqa: PLC0415 - only for such an input

        return zlib.decompressobj(wbits=31)
    if data.startswith(_XZ):
        from lzma import FORMAT_XZ, LZMADecompressor  # noqa: PLC0415 - only for such an input

        return LZMADecompressor(FORMAT_XZ, memlimit=_XZ_MEMORY)
    from bz2 import BZ2Decompressor  # noqa: PLC0415 - only for such an input

    return BZ2Decompressor()
