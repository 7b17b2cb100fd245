"""What our own process takes on for a handshake, and gives back whatever happens: held signals, the target's ids."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from seedstall.model.jvm import JvmProcess

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""By which a person or a service manager ends us: Ctrl-C, kill, a lost terminal, Ctrl-backslash."""
HELD = (
    *STOPS,
    *(
        signal.SIGTSTP,
        signal.SIGTTIN,
        signal.SIGTTOU,
    ),  # stopped (Ctrl-Z) we would leave our file for as long
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF),
    *(signal.SIGIO, signal.SIGXCPU, signal.SIGPWR),
)
"""Every signal that ends or stops a process by default, but for SIGKILL, SIGSTOP and those of a fault of its own."""


@contextmanager
def held_signals() -> Generator[None]:
    """Hold Ctrl-C, SIGTERM and the like back while a file of ours lies in the target's directory, or our ids are its.

    They come into effect at the end; a wait in between asks `interrupted`.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD)  # raises what came just before
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def interrupted() -> bool:
    """Whether one of the signals that end us has come and is held back."""
    return not signal.sigpending().isdisjoint(STOPS)


@contextmanager
def as_its_user(process: JvmProcess) -> Generator[None]:
    """With the target's effective ids, where we are root and it is not: JDK 8 answers no other peer, root included.

    The ids of a peer are those it had at connect(2). They are ours again at the end, whatever happens. Without the
    capability to change them (a container's root) we go as we are, which 11 and later accept.

    They are the ids of the whole process: the C library signals every thread and waits for each. One that was left
    behind in a read which nothing ends (`facts.memory`) would hold us for ever, so then we go as we are, too.
    """
    ours = (os.geteuid(), os.getegid())
    theirs = (process.uid, process.gid)
    if ours[0] != 0 or ours == theirs or not alone():
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


def alone(patience_s: float = 0.1) -> bool:
    """Whether we have one thread; another that is just ending is waited for."""
    end = time.monotonic() + patience_s
    while True:
        with os.scandir("/proc/self/task") as tasks:
            if sum(1 for _ in tasks) == 1:
                return True
        if time.monotonic() >= end:
            return False
        time.sleep(0.001)
