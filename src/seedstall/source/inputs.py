"""Files the user handed over, and what the user said on the command line."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.source import rooted
from seedstall.source.base import Held
from seedstall.source.detect import Kind, Target

FILE_LIMIT = 256 << 20
"""Bytes of one file, unpacked. Thread dumps and logs are text; parsing takes a small multiple of it."""
_GZIP = b"\x1f\x8b"


class InputSource:
    """The files of one case, under their targets' names."""

    def __init__(self, targets: Iterable[Target], limit: int = FILE_LIMIT) -> None:
        """Hold the targets; each file is read when it is first asked for, once."""
        self._targets = {target.name: target for target in targets}
        self._limit = limit
        self._known: dict[str, Reading[bytes]] = {}

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

    def _reading(self, ref: Ref) -> Reading[bytes]:
        try:
            data = _content(self._targets[ref.path], self._limit)
            return Got(_unpacked(data, self._limit) if data.startswith(_GZIP) else data, (ref,))
        except OSError as error:
            return Missing(rooted.why(error), (ref,), error.strerror or str(error))
        except ValueError as error:
            return Missing(Why.MALFORMED, (ref,), str(error))


def _content(target: Target, limit: int) -> bytes:
    """A file, or what a pipe holds (``diagnose <(journalctl -u tomcat)``). A device is never opened: it may not end."""
    if target.kind is Kind.STDIN:
        return rooted.read_all(0, limit)
    located = os.open(target.path, os.O_PATH | os.O_CLOEXEC)
    try:
        mode = os.fstat(located).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise rooted.NotOpenedError(errno.EINVAL, f"{rooted.kind_of(mode)} is not read")
        fd = os.open(f"/proc/self/fd/{located}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    finally:
        os.close(located)
    try:
        return rooted.read_all(fd, limit)
    finally:
        os.close(fd)


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


def given(jdk: str = "", egd: str = "", kernel: str = "") -> Held:
    """What the user says of the target: ``--jdk``, ``--egd``, ``--kernel``; ``""`` for what was not said."""
    said = {
        Ref(Space.INPUT, "given/jdk"): jdk,
        Ref(Space.INPUT, "given/egd"): egd,
        Ref(Space.KERNEL, "proc/sys/kernel/osrelease"): kernel,
    }
    return Held({ref: os.fsencode(text) for ref, text in said.items() if text})
