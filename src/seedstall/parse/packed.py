"""Packed inputs: gzip, xz, bzip2, told by their first bytes, unpacked up to a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bz2 import BZ2Decompressor
    from lzma import LZMADecompressor

LIMIT: Final = 256 << 20
"""Bytes that one packed input may unpack to."""
_GZIP: Final = b"\x1f\x8b\x08"
_XZ: Final = b"\xfd7zXZ\x00"
_BZIP2: Final = b"BZh"
_OTHERS: Final = {b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_XZ_MEMORY: Final = 128 << 20
"""What an xz stream may ask for its dictionary: ``xz -9`` needs 65 MiB."""


def unpacked(data: bytes, limit: int = LIMIT) -> bytes:
    """The content of *data* if it is packed, of all its streams; else *data* itself.

    Raises:
        ValueError: it is damaged, cut short, of a kind that is not unpacked, or unpacks to more than *limit* bytes.
    """
    for sign, kind in _OTHERS.items():
        if data.startswith(sign):
            raise ValueError(f"a {kind} archive: not unpacked here")
    if data.startswith(_GZIP):
        content = _gunzipped(data, limit)
    elif data.startswith((_XZ, _BZIP2)):
        content = _streams(data, limit)
    else:
        return data
    if len(content) > limit:
        raise ValueError(f"unpacks to more than {limit >> 20} MiB, the limit: not read")
    return content


def _gunzipped(data: bytes, limit: int) -> bytes:
    # Imported only for such an input.
    import zlib  # noqa: PLC0415 - see above
    from gzip import GzipFile  # noqa: PLC0415 - see above
    from io import BytesIO  # noqa: PLC0415 - see above

    try:
        with GzipFile(fileobj=BytesIO(data)) as file:
            return file.read(limit + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"not a whole gzip file: {error}") from error


def _streams(data: bytes, limit: int) -> bytes:
    """The content of one xz or bzip2 stream after the other, a little more than *limit* at the most."""
    from lzma import LZMAError  # noqa: PLC0415 - only for such an input

    parts: list[bytes] = []
    left = limit + 1
    while data.startswith((_XZ, _BZIP2)) and left > 0:
        stream = _stream(data)
        feed = data
        while not stream.eof and left > 0:
            try:
                part = stream.decompress(feed, left)
            except (LZMAError, OSError, EOFError) as error:
                raise ValueError(f"not a whole packed file: {error}") from error
            if not part and stream.needs_input and not stream.eof:
                raise ValueError("a packed file that was cut short")
            parts.append(part)
            left -= len(part)
            feed = b""
        data = stream.unused_data
    return b"".join(parts)


def _stream(data: bytes) -> BZ2Decompressor | LZMADecompressor:
    if data.startswith(_XZ):
        from lzma import FORMAT_XZ, LZMADecompressor  # noqa: PLC0415 - only for such an input

        return LZMADecompressor(FORMAT_XZ, memlimit=_XZ_MEMORY)
    from bz2 import BZ2Decompressor  # noqa: PLC0415 - only for such an input

    return BZ2Decompressor()
