"""Pipes handed over (``<(journalctl -u tomcat)``, a FIFO by its name): read to their end, and never waited on for ever.

open(2) of a FIFO waits for a writer, and a read for whatever it says: so it is opened with O_NONBLOCK and asked by
poll(2) with a limit. A FIFO has no end before its first writer came (pipe(7)): until then a read gives nothing, and
poll keeps silent.
"""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Iterator
from pathlib import Path

NOBODY_S = 5.0
"""How long a first writer is waited for."""
SILENCE_S = 30.0
"""How long a writer may say nothing: a command over the network takes its time, ``tail -f`` never ends."""
_STEP_S = 0.25


class Pipe:
    """One pipe, open. It is read once."""

    __slots__ = ("_fd", "_head")

    def __init__(self, path: str) -> None:
        """Open it, and wait for its first bytes or its end.

        Raises:
            TimeoutError: nobody writes, or who writes says nothing.
            OSError: it cannot be opened.
        """
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        self._head = self._first()

    def __del__(self) -> None:
        """Close it."""
        fd, self._fd = getattr(self, "_fd", -1), -1
        if fd >= 0:
            os.close(fd)

    def chunks(self) -> Iterator[bytes]:
        """Everything up to its end, as it comes.

        Raises:
            TimeoutError: the writer said nothing for `SILENCE_S` and did not end.
        """
        data = self._head
        while data:
            yield data
            data = self._next(1 << 20)

    def _first(self) -> bytes:
        nameless = str(Path(f"/proc/self/fd/{self._fd}").readlink()).startswith("pipe:")
        end = time.monotonic() + NOBODY_S
        while True:
            data = self._next(1 << 16)
            if data or nameless:  # what has no name can get no other writer
                return data
            if time.monotonic() >= end:
                raise TimeoutError(errno.ETIMEDOUT, f"nobody wrote to it for {NOBODY_S:.0f} s")
            if self._awaits(_STEP_S):
                return self._next(1 << 16)

    def _next(self, size: int) -> bytes:
        """What is there, or comes within `SILENCE_S`; nothing at the end, and before the first writer."""
        try:
            return os.read(self._fd, size)
        except BlockingIOError:
            if not self._awaits(SILENCE_S):
                text = f"its writer has not ended, and said nothing for {SILENCE_S:.0f} s"
                raise TimeoutError(errno.ETIMEDOUT, text) from None
            return os.read(self._fd, size)

    def _awaits(self, seconds: float) -> bool:
        """Whether bytes, or the last writer's end, come in that time."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
