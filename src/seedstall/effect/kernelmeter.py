"""Run as a program of its own: times reads of the kernel's generator, and prints what it found as one line of JSON.

    python -I -S kernelmeter.py PARENT call KIND SIZE SECONDS BATCHES [PATH]
    python -I -S kernelmeter.py PARENT bulk PATH SIZE SECONDS BATCHES
    python -I -S kernelmeter.py PARENT share PATH SIZE SECONDS
    python -I -S kernelmeter.py PARENT first PATH SIZE

``call``: nanoseconds a call, one figure a batch. KIND is ``getrandom``, ``read`` (PATH held open), ``open`` (PATH
opened, read and closed each time), ``rand`` (the C library's, so many bytes by calls of it), ``nothing`` (a system
call that does nothing: what a call costs from Python) and ``foreign`` (a C function that does nothing: the same for
``rand``).
``bulk``: bytes a second, one figure a batch. ``share``: as one of several at once: prints ``ready``, waits for a line,
reads for SECONDS; tells besides what part of a processor it had. ``first``: one read, as ``dd bs=SIZE count=1`` does.

A process of its own, because any of these may wait for ever: the starter (PARENT) ends it, or its end does.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from time import perf_counter_ns, process_time_ns

PR_SET_PDEATHSIG = 1
WARM_UP = 2
"""Batches that are thrown away: the first ones bring caches, clock speed and the interpreter up."""
TIMER_CALLS = 10_000


def _opened(path: str) -> int:
    """A descriptor, open until this process ends."""
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def caller(kind: str, size: int, path: str) -> Callable[[], object]:
    """A function of no arguments that does the thing once."""
    if kind == "getrandom":
        return lambda: os.getrandom(size)
    if kind == "read":
        fd = _opened(path)
        return lambda: os.read(fd, size)
    if kind == "open":
        return lambda: _read_once(path, size)
    if kind == "nothing":
        return lambda: os.getppid()  # noqa: PLW0108 - the same shape as the others
    libc = ctypes.CDLL(None)
    if kind == "foreign":
        return lambda: libc.abs(1)
    if kind == "rand":
        calls = max(1, size // 4)
        libc.srand(1)
        return lambda: [libc.rand() for _ in range(calls)]
    raise ValueError(kind)


def _read_once(path: str, size: int) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    data = os.read(fd, size)
    os.close(fd)
    return data


def batches(call: Callable[[], object], seconds: float, count: int) -> list[float]:
    """Nanoseconds a call, for *count* batches of about *seconds* / *count* each."""
    begin = perf_counter_ns()
    tries = 0
    while tries < 10 or (perf_counter_ns() - begin < 2_000_000 and tries < 10_000):  # noqa: PLR2004
        call()
        tries += 1
    each = (perf_counter_ns() - begin) / tries
    calls = max(1, int(seconds * 1e9 / count / each))
    found: list[float] = []
    for _ in range(WARM_UP + count):
        start = perf_counter_ns()
        for _ in range(calls):
            call()
        found.append((perf_counter_ns() - start) / calls)
    return found[WARM_UP:]


def timer() -> float:
    """What asking the clock costs, in nanoseconds: the median of what lies between two questions."""
    each: list[int] = []
    for _ in range(TIMER_CALLS):
        start = perf_counter_ns()
        each.append(perf_counter_ns() - start)
    return float(sorted(each)[TIMER_CALLS // 2])


def bulk(path: str, size: int, seconds: float, count: int) -> list[float]:
    """Bytes a second, for *count* spans of *seconds* / *count*, reading *size* at a time into one buffer."""
    fd = _opened(path)
    return [_drawn(fd, size, seconds / count) for _ in range(1 + count)][1:]


def _drawn(fd: int, size: int, seconds: float) -> float:
    buffer = [bytearray(size)]
    total = 0
    start = now = perf_counter_ns()
    end = start + int(seconds * 1e9)
    while now < end:
        total += os.readv(fd, buffer)
        now = perf_counter_ns()
    return total * 1e9 / (now - start)


def first(path: str, size: int) -> dict[str, object]:
    """The first bytes."""
    start = perf_counter_ns()
    got = len(os.read(_opened(path), size))
    return {"bytes": got, "ms": (perf_counter_ns() - start) / 1e6}


def main(argv: list[str]) -> int:
    """Do what the module says."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(argv[1]):
        return 1
    answer: dict[str, object]
    try:
        answer = _answer(argv[2], argv[3:])
    except (OSError, AttributeError) as error:
        answer = {"error": getattr(error, "strerror", None) or str(error)}
    sys.stdout.write(f"{_json(answer)}\n")
    return 0


def _answer(what: str, words: list[str]) -> dict[str, object]:
    if what == "call":
        kind, size, seconds, count = words[0], int(words[1]), float(words[2]), int(words[3])
        call = caller(kind, size, words[4] if len(words) > 4 else "")  # noqa: PLR2004 - see above
        return {"values": batches(call, seconds, count), "timer": timer()}
    if what == "bulk":
        return {"values": bulk(words[0], int(words[1]), float(words[2]), int(words[3]))}
    if what == "first":
        return first(words[0], int(words[1]))
    fd = _opened(words[0])
    _drawn(fd, int(words[1]), 0.02)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    cpu, start = process_time_ns(), perf_counter_ns()
    value = _drawn(fd, int(words[1]), float(words[2]))
    share = (process_time_ns() - cpu) / (perf_counter_ns() - start)
    return {"values": [value, share]}


def _json(answer: dict[str, object]) -> str:
    import json  # noqa: PLC0415 - after the measurement

    return json.dumps(answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
