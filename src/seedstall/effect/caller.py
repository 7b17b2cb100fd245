"""What our own process takes on for a handshake, and gives back whatever happens: held signals, the target's ids."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress

from seedstall.model.jvm import JvmProcess

HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_signals() -> Generator[None]:
    """Hold Ctrl-C, SIGTERM and SIGHUP back while a file of ours lies in the target's directory, or our ids are its.

    They come into effect at the end; a wait in between asks `interrupted`.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def interrupted() -> bool:
    """Whether one of the signals held back has come."""
    return not signal.sigpending().isdisjoint(HELD)


@contextmanager
def as_its_user(process: JvmProcess) -> Generator[None]:
    """With the target's effective ids, where we are root and it is not: JDK 8 answers no other peer, root included.

    The ids of a peer are those it had at connect(2). They are ours again at the end, whatever happens. Without the
    capability to change them (a container's root) we go as we are, which 11 and later accept. They are the
    ids of the whole process (the C library sees to that): no other thread should be at work.
    """
    ours = (os.geteuid(), os.getegid())
    theirs = (process.uid, process.gid)
    if ours[0] != 0 or ours == theirs:
        yield
        return
    with held_signals():
        try:
            with suppress(OSError):
                os.setegid(theirs[1])
                os.seteuid(theirs[0])
            yield
        finally:
            os.seteuid(ours[0])
            os.setegid(ours[1])
