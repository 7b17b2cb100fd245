"""Packed inputs: gzip, xz, bzip2, zstd, zip and tar, told by their first bytes, unpacked up to a limit.

zstd is in Python only from 3.14 on. Before, the ``zstandard`` package does where it is installed; it is no dependency,
since hardly anybody's log is packed so and the command that unpacks it is one word.
"""

from __future__ import annotations

from itertools import chain
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from seedstall.parse.filetype import HEAD, filetype

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
_ZIP_END: Final = b"PK\x05\x06"
_ZIP_TAIL: Final = (1 << 16) + 22
"""Bytes at the end of an archive in which its end record stands: a comment may follow it."""
_LOCAL: Final = Struct("<4s2xHH8xI4xHH")
"""A file's own header: signature, flags, method, packed size, lengths of its name and of what follows that."""
_SIZES_BEHIND: Final = 1 << 3
_ZIP64: Final = 0xFFFF_FFFF
_ZIP_BEHIND: Final = b"PK\x07\x08"
_DESCRIPTOR: Final = 32
_DEFLATED: Final = 8
_INFLATED: Final = 64 << 10
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


def unpacking(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What *pieces* unpack to, or themselves where they are not packed; no limit is held.

    Raises:
        ValueError: it is damaged, cut short, or of a kind that is not unpacked.
    """
    head = next(pieces, b"")
    for sign, (kind, command) in _OTHERS.items():
        if head.startswith(sign):
            raise ValueError(f"{kind}: not unpacked here; {command}")
    if head.startswith(_ZSTD):
        raise ValueError("a zstd file: not unpacked here; zstd -dc FILE | seedstall diagnose -")
    yield from _unpacking(chain((head,), pieces))


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


def _members(name: str, data: bytes, limit: int, depth: int) -> Iterator[Member]:  # noqa: C901 - one case after the other
    if data.startswith(_ZIP):
        if filetype(data[:HEAD]) is not None:
            yield Member(name, data)  # a program or a document, and no archive of texts
            return
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
    return (_listed_zip if _ZIP_END in data[-_ZIP_TAIL:] else _cut_zip)(data, limit)


def _listed_zip(data: bytes, limit: int) -> Iterator[Member]:
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


def _cut_zip(data: bytes, limit: int) -> Iterator[Member]:
    """The files of a zip archive whose end, and with it the list of its files, is lost: by their own headers.

    (APPNOTE.TXT 4.3.7. Where the header leaves the sizes to what follows the content, a stream's own end tells.)
    """
    at = 0
    left = limit
    last: _Local | None = None
    for _ in range(MOST_MEMBERS):
        found = _local(data, at, left)
        if found is None:
            break
        last = found
        left -= len(last.member.data)
        if left < 0:
            raise _too_large(limit)
        if not last.member.name.endswith("/"):
            yield last.member
        if last.member.lack:
            return
        at = last.ends
    if last is None:
        raise ValueError("not a whole zip archive: cut short")
    yield Member("what follows", b"", "cut short: the archive's list of its files is lost")


class _Local(NamedTuple):
    """A file of a cut archive, and where the next one's header begins."""

    member: Member
    ends: int


def _local(data: bytes, at: int, left: int) -> _Local | None:
    if not data.startswith(_ZIP[0], at) or len(data) < at + _LOCAL.size:
        return None
    _, flags, method, size, name_length, extra = _LOCAL.unpack_from(data, at)
    if flags & 1:
        raise ValueError("a zip archive with a password: not unpacked; unzip FILE")
    begins = at + _LOCAL.size + name_length + extra
    name = data[at + _LOCAL.size :][:name_length].decode("utf-8", "replace")
    told = not flags & _SIZES_BEHIND and size < _ZIP64
    if method == _DEFLATED:
        content, ends, lack = _inflated(data, begins, left)
    elif method == 0 and told:
        content, ends = data[begins : begins + size], begins + size
        lack = "" if ends <= len(data) else "cut short"
    else:
        content, ends, lack = b"", len(data), "not unpacked: packed in a way seldom used"
    if not told and not lack:
        ends = data.find(b"PK", ends, ends + _DESCRIPTOR)
        if ends >= 0 and data.startswith(_ZIP_BEHIND, ends):
            ends = data.find(b"PK", ends + len(_ZIP_BEHIND), ends + _DESCRIPTOR)
    return _Local(Member(name, content, lack), ends if ends >= 0 else len(data))


def _inflated(data: bytes, at: int, left: int) -> tuple[bytes, int, str]:
    """What the stream at *at* unpacks to, a little more than *left* at the most; its end, and what it lacks."""
    import zlib  # noqa: PLC0415 - only for such an input

    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    parts: list[bytes] = []
    lack = "cut short"
    try:
        while at < len(data) and not stream.eof and left >= 0:
            part = stream.decompress(stream.unconsumed_tail + data[at : at + _INFLATED], left + 1)
            at += _INFLATED
            parts.append(part)
            left -= len(part)
    except zlib.error as error:
        lack = f"damaged: {error}"
    ends = min(at, len(data)) - len(stream.unused_data)
    return b"".join(parts), ends, "" if stream.eof else lack


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
