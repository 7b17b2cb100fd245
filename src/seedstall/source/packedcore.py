"""Packed cores: streamed into a private temporary file, never held in memory.

systemd-coredump packs with zstd or lz4 (xz before 246), people with gzip. Python has gzip, bzip2 and xz, zstd from
3.14 on; the ``zstandard`` and ``lz4`` packages are used where they are installed. The temporary file has no name
(O_TMPFILE), so that it is gone with this process however that ends, and holes where the core is zero: a core of a JVM
is mostly that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from seedstall.model.errors import SeedstallError
from seedstall.parse import elfcore
from seedstall.source.coreimage import File

SIGNS = {
    b"\x1f\x8b\x08": ("gzip", "gzip -dc"),
    b"\xfd7zXZ\x00": ("xz", "xz -dc"),
    b"BZh": ("bzip2", "bzip2 -dc"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -dc"),
    b"\x04\x22\x4d\x18": ("lz4", "lz4 -dc"),
}
"""The first bytes of what may hold a core: what packed it, and what unpacks it."""
SIZE_LIMIT = 256 << 30
"""Bytes that a core may unpack to, holes included."""
WRITE_LIMIT = 32 << 30
"""Bytes of it that are not zero, and take room on the disk."""
_CHUNK = 1 << 20
_BLOCK = 64 << 10
_ZERO = bytes(_BLOCK)
_XZ_MEMORY = 256 << 20


class NoLibraryError(Exception):
    """This Python cannot unpack it."""


def packer(head: bytes) -> str:
    """What a file that begins so was packed by; ``""`` where by none that packs cores."""
    return next((name for sign, (name, _) in SIGNS.items() if head.startswith(sign)), "")


def is_packed_core(path: str, head: bytes) -> bool:
    """Whether an ELF core is in it, by its first bytes.

    Where they cannot be unpacked here, by its name: systemd's are called ``core.java.1000.BOOT.PID.TIME.zst``.
    """
    kind = packer(head)
    if not kind:
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a plain open is all that is needed
            first = next(_pieces(kind, file.read, _BLOCK), b"")
    except NoLibraryError:
        name = path.rpartition("/")[2]
        return name.startswith("core") or ".core" in name
    except (OSError, EOFError, ValueError):
        return False
    try:
        return elfcore.head(first).is_core
    except ValueError:
        return False


def unpacked(path: str) -> File:
    """The core in it, in a temporary file that goes with it. What is cut short is unpacked as far as it goes.

    Raises:
        SeedstallError: it cannot be unpacked here, or there is not enough room.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - see above
        kind = packer(file.read(16))
        if not kind:
            raise SeedstallError(f"{path} is not packed", "name a core, or a packed one")
        file.seek(0)
        try:
            return _written(path, _pieces(kind, file.read, _CHUNK))
        except NoLibraryError:
            by_hand = SeedstallError(
                f"{path} is packed with {kind}, which this Python cannot unpack",
                f"{_command(kind)} {_quoted(path)} > core; then seedstall diagnose core",
            )
            raise by_hand from None


def _command(kind: str) -> str:
    return next(command for name, command in SIGNS.values() if name == kind)


def _quoted(path: str) -> str:
    import shlex  # noqa: PLC0415 - only for an error

    return shlex.quote(path)


def _written(path: str, pieces: Iterator[bytes]) -> File:
    import tempfile  # noqa: PLC0415 - only for packed cores

    folder = os.environ.get("TMPDIR") or "/var/tmp"  # noqa: S108 - not /tmp, which may be memory
    try:
        space = os.statvfs(folder)
        room = min(WRITE_LIMIT, space.f_bavail * space.f_frsize * 9 // 10)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as made:
            _write(made.fileno(), pieces, room, path)
            return File(os.dup(made.fileno()))
    except OSError as error:
        message = f"{path} cannot be unpacked in {folder}: {error.strerror}"
        raise SeedstallError(message, "set TMPDIR to a directory with room for it") from error


def _write(fd: int, pieces: Iterator[bytes], room: int, path: str) -> None:
    at = written = 0
    try:
        for piece in pieces:
            if at == 0 and not _goes_on(piece):
                os.pwrite(fd, piece, 0)
                at = len(piece)
                break
            for start in range(0, len(piece), _BLOCK):
                block = piece[start : start + _BLOCK]
                if block != _ZERO[: len(block)]:
                    written += len(block)
                    if written > room:
                        raise _too_large(path, room)
                    _all_written(fd, block, at)
                at += len(block)
                if at > SIZE_LIMIT:
                    raise _too_large(path, SIZE_LIMIT)
    except (EOFError, ValueError):
        pass  # damaged or cut: what came before it is a cut core, and said to be so
    os.ftruncate(fd, at)


def _goes_on(first: bytes) -> bool:
    """Whether the rest is worth unpacking: of a core that will be refused, the header says all there is to say."""
    try:
        top = elfcore.head(first)
    except ValueError:
        return False
    return top.is_core and (top.machine, top.bits) == (elfcore.X86_64, 64)


def _all_written(fd: int, block: bytes, at: int) -> None:
    view = memoryview(block)
    while view:
        done = os.pwrite(fd, view, at)
        view, at = view[done:], at + done


def _too_large(path: str, limit: int) -> SeedstallError:
    return SeedstallError(
        f"{path} unpacks to more than {limit >> 20} MiB, the room there is for it",
        "set TMPDIR to a directory with more room, or unpack it there and name the core",
    )


# --- streams ---------------------------------------------------------------------------------------------------------


def _pieces(kind: str, read: Callable[[int], bytes], size: int) -> Iterator[bytes]:
    """The content in pieces of at most *size* bytes; what is damaged ends with an error of the kinds named.

    Raises:
        NoLibraryError: no library is there for it.
        ValueError, EOFError: damaged, or cut short.
    """
    try:
        make = _maker(kind)
    except ImportError as error:
        raise NoLibraryError(kind) from error
    damage = _errors(kind)
    feed = read(_CHUNK)
    while feed:
        stream = make()
        while not stream.eof:
            try:
                piece = stream.decompress(feed, size)
            except damage as error:
                raise ValueError(str(error)) from error
            feed = b""
            if piece:
                yield piece
            elif not stream.eof and stream.needs_input:
                feed = read(_CHUNK)
                if not feed:
                    raise EOFError("cut short")
        feed = stream.unused_data or read(_CHUNK)


def _maker(kind: str) -> Callable[[], Any]:
    """Makes decompressors like those of bz2 and lzma: ``decompress(data, max_length)``, ``needs_input``, ``eof``."""
    from importlib import import_module  # noqa: PLC0415 - only for packed cores

    if kind == "gzip":
        return _Zlib
    if kind == "bzip2":
        return import_module("bz2").BZ2Decompressor  # type: ignore[no-any-return]
    if kind == "xz":
        lzma = import_module("lzma")
        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    if kind == "lz4":
        return import_module("lz4.frame").LZ4FrameDecompressor  # type: ignore[no-any-return]
    try:
        return import_module("compression.zstd").ZstdDecompressor  # type: ignore[no-any-return]
    except ImportError:
        library = import_module("zstandard")
        return lambda: _Zstandard(library)


def _errors(kind: str) -> tuple[type[Exception], ...]:
    from importlib import import_module  # noqa: PLC0415 - see above

    common = (OSError, EOFError, ValueError, RuntimeError, MemoryError)
    if kind == "xz":
        return (*common, import_module("lzma").LZMAError)
    if kind == "gzip":
        return (*common, import_module("zlib").error)
    if kind == "zstd":
        for name in ("compression.zstd", "zstandard"):
            try:
                return (*common, import_module(name).ZstdError)
            except ImportError:
                continue
    return common


class _Zlib:
    """zlib's decompressor with the others' methods: it hands back what it did not take."""

    def __init__(self) -> None:
        import zlib  # noqa: PLC0415 - only for packed cores

        self._stream = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, size: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, size)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data


class _Zstandard:
    """The ``zstandard`` package's decompressor, which has no limit for one piece: it is fed a little at a time.

    A zstd block is at most 128 KiB unpacked (RFC 8878), and takes at least three bytes packed: 512 bytes give at
    most some 20 MiB at once, zeros all of it.
    """

    _FEED = 512

    def __init__(self, library: Any) -> None:
        self._stream = library.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        self._waiting = b""
        self.unused_data = b""
        self.eof = False

    def decompress(self, data: bytes, _size: int) -> bytes:
        self._waiting += data
        parts: list[bytes] = []
        have = 0
        view = memoryview(self._waiting)
        while view and not self.eof and have < _BLOCK:
            parts.append(self._stream.decompress(view[: self._FEED]))
            have += len(parts[-1])
            view = view[self._FEED :]
            if self._stream.eof:
                self.eof = True
                self.unused_data = bytes(self._stream.unused_data) + bytes(view)
                view = view[:0]
        self._waiting = bytes(view)
        return b"".join(parts)

    @property
    def needs_input(self) -> bool:
        return not self._waiting
