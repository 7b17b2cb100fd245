"""What comes by a pipe and is an archive is kept in memory: a bundle is looked at more than once.

``ssh HOST seedstall capture 8712 -o - | seedstall diagnose -``
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from itertools import chain

from seedstall.source import rooted

MOST_KEPT = 512 << 20
"""Bytes of an archive that are kept, as it comes."""
_PIECE = 1 << 20


class Begun:
    """A stream of which the beginning was looked at. It is read once."""

    def __init__(self, head: bytes, rest: Iterator[bytes]) -> None:
        """It begins with *head*."""
        self._chunks = chain((head,) if head else (), rest)

    def chunks(self) -> Iterator[bytes]:
        """Everything up to its end, as it comes."""
        yield from self._chunks


def standard_input() -> Iterator[bytes]:
    """What stands on standard input, as it comes."""
    yield from rooted.chunks(0, _PIECE)


def kept(begun: Begun) -> str:
    """The path of a copy in memory, there as long as this process.

    Raises:
        OSError: it is longer than `MOST_KEPT`, cannot be read, or the kernel has no memfd_create(2) (3.17).
    """
    fd = os.memfd_create("seedstall-bundle", os.MFD_CLOEXEC)
    size = 0
    for chunk in begun.chunks():
        size += len(chunk)
        if size > MOST_KEPT:
            os.close(fd)
            raise OSError(errno.EFBIG, f"an archive of more than {MOST_KEPT >> 20} MiB by a pipe")
        view = memoryview(chunk)
        while view:
            view = view[os.write(fd, view) :]
    return f"/proc/self/fd/{fd}"
