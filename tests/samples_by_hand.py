"""Recordings and accounts of samples made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from seedstall.model.recording import (
    Counters,
    Place,
    Recording,
    SampledProcess,
    SampledThread,
    Span,
)
from seedstall.model.samples import Doing, Ending, SampledWait, Share, StartSamples
from seedstall.model.tasks import FileKind, OpenFile

PID, MAIN, WORKER, GC = 100, 101, 102, 103
RANDOM = Place(4, "/dev/random", "random")
READ, FUTEX, CONNECT, RECV, EPOLL, POLL, GETRANDOM, WAIT4 = 0, 202, 42, 45, 232, 7, 318, 61
JOINED = (1, 265, 101, 0)
"""A futex wait without a time-out: FUTEX_WAIT_BITSET and its flags."""
TIMED = (1, 137, 0, 0x7F00)


def span(
    tid: int,
    since: int,
    until: int,
    call: int = FUTEX,
    args: tuple[int, ...] = JOINED,
    *,
    cpu_ms: int = 0,
    queued_ms: int = 0,
    state: str = "S",
    place: int = -1,
) -> Span:
    return Span(tid, since, until, state, call, args, cpu_ms * 1000, queued_ms * 1000, place)


def read(tid: int, since: int, until: int, length: int = 20, place: int = 0) -> Span:
    return span(tid, since, until, READ, (4, 0x7F00, length, 0), place=place)


def process(pid: int, name: str, since: int, until: int, *, jvm: bool = False) -> SampledProcess:
    return SampledProcess(pid, name, jvm, "x86_64", since, until)


def recording(
    *spans: Span,
    watched_ms: int = 1000,
    ending: Ending = Ending.EXIT,
    places: Sequence[Place] = (RANDOM,),
    processes: Sequence[SampledProcess] = (),
    threads: Sequence[SampledThread] = (),
    throttled: Sequence[tuple[int, int]] = (),
    counters: Sequence[Counters] = (),
    dumped_ms: int | None = None,
) -> Recording:
    """A java with its first thread, main, a thread of the program and one of the collector."""
    jvm = process(PID, "java", 0, watched_ms, jvm=True)
    ours = (
        SampledThread(PID, PID, PID, "java", 1),
        SampledThread(PID, MAIN, MAIN, "java", 2),
        SampledThread(PID, WORKER, WORKER, "pool-1-thread-1", 9),
        SampledThread(PID, GC, GC, "GC Thread#0", 3),
    )
    return Recording(
        watched_ms=watched_ms,
        from_start=True,
        ending=ending,
        samples=40,
        own_cpu_us=5000,
        processes=tuple(processes) or (jvm,),
        threads=(*ours, *threads),
        spans=(span(PID, 0, watched_ms, FUTEX, JOINED), *spans),
        places=tuple(places),
        throttled=tuple(throttled),
        counters=tuple(counters),
        dumped_ms=dumped_ms,
    )


def samples(
    *shares: tuple[Doing, int], waits: Sequence[SampledWait] = (), **changes: object
) -> StartSamples:
    table = tuple(Share(doing=doing, ms=ms, thread="main", tid=MAIN) for doing, ms in shares)
    values: dict[str, object] = {
        "watched_ms": sum(ms for _, ms in shares),
        "from_start": True,
        "ending": Ending.EXIT,
        "samples": 40,
        "table": table,
        "waits": tuple(waits),
    }
    return StartSamples(**{**values, **changes})  # type: ignore[arg-type]


def wait(
    ms: int,
    *,
    over: bool = True,
    ended: bool = False,
    lengths: tuple[int, ...] = (20,),
    jvm: bool = True,
) -> SampledWait:
    file = OpenFile(4, "/dev/random", FileKind.RANDOM)
    return SampledWait(
        tid=MAIN,
        inner_tid=MAIN,
        name="main",
        ms=ms,
        last_ms=ms,
        over=over,
        call="read",
        file=file,
        lengths=lengths,
        jvm=jvm,
        ended=ended,
    )
