"""A System V semaphore that is there already: found, raised, lowered. None is ever created or removed."""

from __future__ import annotations

import ctypes
import errno
import os

_IPC_NOWAIT = 0o4000
_libc = ctypes.CDLL(None, use_errno=True)


class _Operation(ctypes.Structure):
    _fields_ = (
        ("number", ctypes.c_ushort),
        ("change", ctypes.c_short),
        ("flags", ctypes.c_short),
    )


def key_of(found: os.stat_result, project: int) -> int:
    """ftok(3) of the file with that stat, as glibc and musl compute it."""
    key = (project & 0xFF) << 24 | (found.st_dev & 0xFF) << 16 | found.st_ino & 0xFFFF
    return key - (1 << 32) if key >> 31 else key


class Semaphore:
    """The first semaphore of the set with that key."""

    def __init__(self, key: int) -> None:
        """Find it.

        Raises:
            OSError: ENOENT where there is none, EACCES where it may not be used.
        """
        self._id = _checked(_libc.semget(ctypes.c_int(key), 1, 0))
        self._posted = 0

    def post(self, times: int) -> None:
        """Raise it by one, so many times: each wakes one process that waits for it.

        Raises:
            OSError: it may not be used, or is gone.
        """
        for _ in range(times):
            self._change(1, 0)
            self._posted += 1

    def take_back(self) -> None:
        """Lower it by what `post` raised it and nobody took, and never wait. Never raises."""
        try:
            while self._posted:
                self._posted -= 1
                self._change(-1, _IPC_NOWAIT)
        except OSError:
            return  # EAGAIN: all are taken; or it is gone

    def _change(self, change: int, flags: int) -> None:
        operation = _Operation(0, change, flags)
        while True:
            try:
                _checked(_libc.semop(self._id, ctypes.byref(operation), ctypes.c_size_t(1)))
            except InterruptedError:
                continue
            return


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno() or errno.EIO
        raise OSError(number, os.strerror(number))
    return result
