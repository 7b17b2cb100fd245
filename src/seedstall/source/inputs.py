"""Files the user handed over, and what the user said on the command line."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator

from seedstall.model.errors import UsageError
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.source import rooted
from seedstall.source.base import Held
from seedstall.source.detect import Kind, Target
from seedstall.source.pipe import Pipe

FILE_LIMIT = 8 << 20
"""Bytes of one file, unpacked, that are read as a whole: more is read in pieces (`InputSource.pieces`)."""
LONGEST = 16 << 30
"""Bytes of one file in pieces: at 300 MB/s a minute's work."""
PIECE = 4 << 20
"""Bytes of a piece: small enough for a processor's cache, large enough to hold a dump or two."""
_GZIP = b"\x1f\x8b"


class InputSource:
    """The files of one case, under their targets' names."""

    def __init__(self, targets: Iterable[Target], limit: int = FILE_LIMIT) -> None:
        """Hold the targets; each file is read when it is first asked for, once."""
        self._targets = {target.name: target for target in targets}
        self._limit = limit
        self._known: dict[str, Reading[bytes]] = {}
        self._begun: dict[str, _Begun] = {}

    def read(self, ref: Ref) -> Reading[bytes]:
        """Answer ``Ref(INPUT, "", LIST)`` and ``Ref(INPUT, name)``; anything else was not collected."""
        if ref.space is not Space.INPUT or not self._targets:
            return Missing(Why.NOT_COLLECTED, (ref,))
        if ref.ask is Ask.LIST and not ref.path:
            return Got(b"".join(os.fsencode(n) + b"\0" for n in sorted(self._targets)), (ref,))
        if ref.ask is not Ask.CONTENT or ref.path not in self._targets:
            return Missing(Why.NOT_COLLECTED, (ref,))
        if ref.path not in self._known:
            self._known[ref.path] = self._reading(ref)
        return self._known[ref.path]

    def pieces(self, ref: Ref) -> Reading[Iterator[bytes]]:
        """The bytes of a file as they are on disk, packed or not, a few MiB at a time; of a pipe only once.

        Read and not mapped into memory: a log that its server empties while it is read (copytruncate) would end us by
        SIGBUS. Taking the next one raises `OSError` where the rest cannot be read.
        """
        if (
            ref.space is not Space.INPUT
            or ref.ask is not Ask.CONTENT
            or ref.path not in self._targets
        ):
            return Missing(Why.NOT_COLLECTED, (ref,))
        try:
            begun = self._begun.pop(ref.path, None) or _Begun(_chunks(self._targets[ref.path]))
            return Got(begun.all(), (ref,))
        except OSError as error:
            return Missing(rooted.why(error), (ref,), error.strerror or str(error))

    def _reading(self, ref: Ref) -> Reading[bytes]:
        try:
            begun = _Begun(_chunks(self._targets[ref.path]))
            data = begun.head(self._limit)
            if data is None:
                self._begun[ref.path] = begun
                raise rooted.TooLargeError(errno.EFBIG, f"larger than {self._limit >> 10} KiB")
            try:
                whole = _unpacked(data, self._limit) if data.startswith(_GZIP) else data
            except rooted.TooLargeError:
                self._begun[ref.path] = begun
                raise
            except ValueError:
                whole = data  # damaged: who reads texts takes what stands before the damage
            return Got(whole, (ref,))
        except OSError as error:
            return Missing(rooted.why(error), (ref,), error.strerror or str(error))


class _Begun:
    """A file of which the beginning was read: what was read of a pipe cannot be read again."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._read: list[bytes] = []

    def head(self, limit: int) -> bytes | None:
        """All of it; ``None`` where that is more than *limit*."""
        size = 0
        for chunk in self._chunks:
            self._read.append(chunk)
            size += len(chunk)
            if size > limit:
                return None
        return b"".join(self._read)

    def all(self) -> Iterator[bytes]:
        """What was read and the rest, once."""
        size = 0
        while self._read:
            chunk = self._read.pop(0)
            size += len(chunk)
            yield chunk
        for chunk in self._chunks:
            size += len(chunk)
            if size > LONGEST:
                raise rooted.TooLargeError(errno.EFBIG, f"larger than {LONGEST >> 30} GiB")
            yield chunk


def _chunks(target: Target) -> Iterator[bytes]:
    """The bytes of a file, or what a pipe holds (``diagnose <(journalctl -u tomcat)``).

    A device, or a file of the kernel's own, is never opened: it may not end.
    """
    if target.pipe is not None:
        yield from target.pipe.chunks()
        return
    if target.kind is Kind.STDIN:
        yield from rooted.chunks(0, PIECE)
        return
    located = os.open(target.path, os.O_PATH | os.O_CLOEXEC)
    try:
        found = os.fstat(located)
        if stat.S_ISFIFO(found.st_mode):
            yield from Pipe(f"/proc/self/fd/{located}").chunks()
            return
        made_by = rooted.pseudo_kind(found.st_dev)
        if made_by and stat.S_ISREG(found.st_mode):
            raise rooted.NotOpenedError(errno.EINVAL, f"the kernel's ({made_by}) is not read")
        if not stat.S_ISREG(found.st_mode):
            raise rooted.NotOpenedError(
                errno.EINVAL, f"{rooted.kind_of(found.st_mode)} is not read"
            )
        opened = os.open(f"/proc/self/fd/{located}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    finally:
        os.close(located)
    try:
        yield from rooted.chunks(opened, PIECE)
    finally:
        os.close(opened)


def _unpacked(data: bytes, limit: int) -> bytes:
    """A gzip file's content, all members of it.

    Raises:
        ValueError: it is damaged, or cut.
        TooLargeError: it unpacks to more than *limit*.
    """
    import zlib  # noqa: PLC0415 - only for packed files

    parts: list[bytes] = []
    size = 0
    while data.startswith(_GZIP):
        stream = zlib.decompressobj(wbits=31)
        try:
            part = stream.decompress(data, limit + 1 - size)
        except zlib.error as error:
            raise ValueError(f"not a whole gzip file: {error}") from error
        size += len(part)
        parts.append(part)
        if size > limit:
            raise rooted.TooLargeError(errno.EFBIG, f"unpacks to more than {limit >> 20} MiB")
        if not stream.eof:
            raise ValueError("a gzip file that was cut short")
        data = stream.unused_data
    return b"".join(parts)


def given(jdk: str = "", egd: str = "", kernel: str = "", first: str = "") -> Held:
    """What the user says of the target: ``--jdk``, ``--egd``, ``--kernel``; ``""`` for what was not said.

    *first* is the way to a thread dump that is to be taken first: ``attach`` (``--attach``).

    Raises:
        UsageError: the version is none.
    """
    said = {
        Ref(Space.INPUT, "given/jdk"): said_jdk(jdk),
        Ref(Space.INPUT, "given/egd"): egd,
        Ref(Space.INPUT, "given/first"): first,
        Ref(Space.KERNEL, "proc/sys/kernel/osrelease"): said_kernel(kernel),
    }
    return Held({ref: os.fsencode(text) for ref, text in said.items() if text})


def said_jdk(text: str) -> str:
    """What ``--jdk`` says, if it is a version; ``""`` where nothing was said.

    Raises:
        UsageError: it names no JDK.
    """
    if text:
        from seedstall.parse.jdkversion import jdk_version  # noqa: PLC0415 - hardly ever said

        try:
            jdk_version(text)
        except ValueError:
            message = f"--jdk: {text[:60]!r} is no JDK version"
            raise UsageError(message, "such as 8u151, 1.8.0_151, 11.0.13 or 17") from None
    return text


def said_kernel(text: str) -> str:
    """What ``--kernel`` says, if it is a release; ``""`` where nothing was said.

    Raises:
        UsageError: no version stands in it.
    """
    if text:
        from seedstall.knowledge.release import read_release  # noqa: PLC0415 - hardly ever said

        if read_release(text) is None:
            message = f"--kernel: {text[:60]!r} is no kernel release"
            hint = "give what uname -r prints there, such as 3.10.0-957.el7.x86_64"
            raise UsageError(message, hint)
    return text
