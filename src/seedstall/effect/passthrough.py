"""The output of a program on its way through us, read for one text. Nothing of it is changed or held back.

What it costs: the program sees a pipe where it may have seen a terminal (some then buffer their lines, or leave colours
out; a JVM's own streams do not), and each write is copied once more. Only ``--until`` without a file makes it so.
"""

from __future__ import annotations

import os
import select
import threading
from pathlib import Path

CHUNK = 1 << 16
"""A pipe's size: one read takes all that is in it."""


class Passthrough:
    """Pipes in the place of stdout and stderr, and a thread that empties them into ours.

    Where both go to the same file or terminal they share one pipe, so that their lines stay in order.
    """

    def __init__(self, text: bytes) -> None:
        """Make the pipes. Nothing moves before `start`."""
        self._text = text
        self._seen = threading.Event()
        self._tails: dict[int, bytes] = {}
        self._routes: dict[int, int] = {}
        reader, writer = os.pipe()
        self._routes[reader] = 1
        self.streams = {1: writer, 2: writer}
        """What the program gets as its own 1 and 2."""
        if not _same(1, 2):
            reader, writer = os.pipe()
            self._routes[reader] = 2
            self.streams[2] = writer
        self._thread = threading.Thread(target=self._run, name="passthrough", daemon=True)

    @property
    def seen(self) -> bool:
        """Whether the text was printed."""
        return self._seen.is_set()

    def start(self) -> None:
        """Begin; our own copies of the program's ends are closed. All signals must be held back by now."""
        self.abandon()
        self._thread.start()

    def abandon(self) -> None:
        """Close the program's ends, which it has inherited, or never will."""
        for writer in set(self.streams.values()):
            os.close(writer)

    def ended(self, within_s: float) -> bool:
        """Whether the program and all that inherited its output have closed it, by then: as behind ``| tee``."""
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        poller = select.poll()
        for reader in self._routes:
            poller.register(reader, select.POLLIN)
        while self._routes:
            for reader, _ in poller.poll():
                if not self._move(reader):
                    poller.unregister(reader)
                    os.close(reader)
                    del self._routes[reader]

    def _move(self, reader: int) -> bool:
        """One chunk; ``False`` at its end, or where ours takes no more: the program then learns it by SIGPIPE."""
        try:
            data = os.read(reader, CHUNK)
            if data and not self._seen.is_set():
                self._search(reader, data)
            _write(self._routes[reader], data)
        except OSError:
            return False
        return bool(data)

    def _search(self, reader: int, data: bytes) -> None:
        told = self._tails.get(reader, b"") + data
        if self._text in told:
            self._seen.set()
        self._tails[reader] = told[-(len(self._text) - 1) :] if len(self._text) > 1 else b""


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:  # somebody made our stdout non-blocking
            select.select([], [target], [])


def _same(one: int, other: int) -> bool:
    """Whether two descriptors are of the same file, pipe or terminal."""
    try:
        first, second = os.fstat(one), os.fstat(other)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


class LogFile:
    """A log that is written to a file of its own: what is added to it from now on, read for one text."""

    def __init__(self, path: Path, text: bytes) -> None:
        """From its present end on. It need not be there yet."""
        self._path = path
        self._text = text
        self._tail = b""
        found = self._stat()
        self._at = found.st_size if found is not None else 0
        self._inode = found.st_ino if found is not None else 0

    def _stat(self) -> os.stat_result | None:
        try:
            return self._path.stat()
        except OSError:
            return None

    def says(self) -> bool:
        """Whether the text was added since the last question."""
        found = self._stat()
        if found is None:
            return False
        if found.st_ino != self._inode or found.st_size < self._at:  # a new file, or cut to nothing
            self._inode, self._at, self._tail = found.st_ino, 0, b""
        if found.st_size == self._at:
            return False
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            data = os.pread(fd, 1 << 20, self._at)
        except OSError:
            return False
        finally:
            os.close(fd)
        self._at += len(data)
        told = self._tail + data
        self._tail = told[-len(self._text) :]
        return self._text in told
