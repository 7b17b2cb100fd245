"""What the figures of a bench mean, in a sentence (facts: kernel, section 9; jdk, section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seedstall.knowledge.refill import BUSY_RATE
from seedstall.model.kernel import KernelRandom, PoolState
from seedstall.model.measure import (
    AFTERWARDS,
    FIRST_USE,
    FOR_TIME,
    TOGETHER,
    Bench,
    Measurement,
    alike,
)

SCALES = 0.4
"""What each further reader (or thread) must add, as a part of what one gets, to be called scaling: with two on two CPUs
a key for each CPU gave 1.9 times as much, one lock 0.3 to 1.25 times (booted kernels)."""
KEPT = 0.8
"""Of its speed for a second of processor time a reader keeps that much beside others, if nothing makes it spin."""
QUEUES = 4.0
"""Percent of their time that threads sleep, from which they are said to queue: without a common lock it is below 1."""
GAINS = 1.25
"""Times as much, from which more threads are said to draw more: below it one lock gave as much as one thread alone."""
SHA1_POOL_MB = 25.0
"""SHA-1 extraction gave 13 MB/s on real machines; ChaCha20 hundreds."""


def kernel_sentence(bench: Bench, kernel: KernelRandom | None, processors: int) -> str:
    """The answer of ``bench kernel``."""
    parts: list[str] = []
    speeds, for_time = _readers(bench, TOGETHER), _readers(bench, FOR_TIME)
    # More readers than processors share these: they tell nothing more of the lock.
    most = max((n for n in speeds if 1 < n <= processors), default=0)
    if 1 in speeds and most:
        one, many = speeds[1], speeds[most]
        told = f"{one:.0f} MB/s for one reader and {many:.0f} for {most} ({many / one:.1f} times)"
        kept = for_time[most] / for_time[1] if 1 in for_time and most in for_time else 1.0
        parts.append(f"{told}: {generation(one, many / one, kept, most)}")
    elif 1 in speeds:
        parts.append(
            f"{speeds[1]:.0f} MB/s for one reader (one processor tells nothing of scaling)"
        )
    small = bench.of("read /dev/urandom 16")
    if small is not None and small.median is not None:
        parts.append(f"a read of 16 bytes takes {small.median:.0f} ns from Python")
    parts += _devices(bench, kernel)
    return "; ".join(parts) or "nothing could be measured"


def _readers(bench: Bench, group: str) -> dict[int, float]:
    """Medians by the number of readers."""
    return {
        int(m.key.partition(" ")[0]): m.median
        for m in bench.measurements
        if m.group == group and m.median is not None
    }


def generation(one: float, ratio: float, kept: float, readers: int) -> str:
    """Which generation of the kernel's generator gives such figures.

    *one* reader gets so many MB/s, *readers* get *ratio* times as much together; *kept* is what they get for a second
    of processor time against one alone. A spinning lock takes the processors' time, other programs take processors.
    """
    if ratio >= 1 + (readers - 1) * SCALES:
        return (
            "it scales with the processors, as since 5.18 and its back-ports (a key for each CPU)"
        )
    if kept >= KEPT:
        return "the processors are busy with other things, so whether it scales is not shown"
    if one <= SHA1_POOL_MB:
        return "slow and no faster with more: SHA-1 behind one lock, as before 4.8"
    return "more readers wait for one lock, as from 4.8 to 5.17"


def _devices(bench: Bench, kernel: KernelRandom | None) -> Iterator[str]:
    random, urandom = bench.of("bulk /dev/random"), bench.of("bulk /dev/urandom")
    if random is None and kernel is not None and kernel.can_block is not False:
        why = "may block" if kernel.can_block is None else "blocks"
        yield f"/dev/random {why} on this kernel and was not read in bulk"
    if random is None or urandom is None or not random.median or not urandom.median:
        return
    if alike(random, urandom):
        yield "/dev/random is as fast as /dev/urandom"
    else:
        yield f"/dev/random gives {random.median / urandom.median:.2g} times what /dev/urandom gives"


def drain_cost(kernel: KernelRandom) -> str:
    """What reading a blocking pool costs everybody on the host, beforehand."""
    bits = kernel.entropy_avail or 0
    seconds = max(bits, 64) / BUSY_RATE
    return (
        f"reading /dev/random takes entropy from every program on this host: {bits} bits are there now, and come back"
        f" at about {BUSY_RATE} bit/s (slower on an idle one): some {seconds / 60:.0f} min in which each JVM that seeds"
        " from it waits"
    )


def kernel_notes(bench: Bench, kernel: KernelRandom | None) -> Iterator[str]:
    """What must be known beside the figures."""
    own = bench.of("call nothing")
    if own is not None and own.median is not None:
        yield (
            f"of each call {own.median:.0f} ns are Python's and the system call's own (measured with one that does"
            " nothing); the column net is without them"
        )
    rand = bench.of("libc rand() 16")
    if rand is not None and rand.net is not None:
        yield "rand() is here for comparison alone: it can be predicted, and makes no key that is one"
    if kernel is not None and kernel.state is PoolState.NOT_READY:
        yield "the kernel's generator is not seeded yet: figures of its first seconds are not those of later"


# --- a JVM ------------------------------------------------------------------------------------------------------------


def jvm_sentence(bench: Bench, processors: int, *, busy: bool = False) -> str:
    """The answer of ``bench jvm``. *busy* is whether other programs wanted the processors, too."""
    threads = _most_threads(bench)
    if threads < 2:  # noqa: PLR2004 - nothing to contend with
        one = bench.of("NativePRNG, 1 thread")
        if one is None or one.median is None:
            return _first_use(bench) or "nothing could be measured"
        return f"NativePRNG gives {one.median:.0f} MB/s to one thread, 16 bytes a call"
    parts = [
        text
        for name in ("NativePRNG", "SHA1PRNG", "DRBG/Hash_DRBG,SHA-256")
        if (text := _scaling(bench, name, threads, busy=busy))
    ]
    tail = "" if processors >= threads else f" (on {processors} processors)"
    return (
        f"{'; '.join(parts)}{tail}" if parts else _first_use(bench) or "nothing could be measured"
    )


def _most_threads(bench: Bench) -> int:
    """The highest N of ``GENERATOR, N threads, ...``."""
    parts = [
        part for m in bench.measurements for part in m.key.split(", ") if part.endswith(" threads")
    ]
    return max((int(part.split()[0]) for part in parts), default=0)


def _scaling(bench: Bench, name: str, threads: int, *, busy: bool) -> str:
    """``NativePRNG: 25 MB/s for one thread, ...``: figures that take turns, so that they can be compared."""
    own, shared = (f"{name}, {threads} threads, {way}" for way in ("own instances", "one shared"))
    one, apart, together = (bench.of(key) for key in (f"{name}, 1 thread", own, shared))
    figures = [m.median for m in (one, apart, together) if m is not None and m.median]
    if len(figures) < 3:  # noqa: PLR2004 - all of them, or no comparison
        return ""
    short = name.partition("/")[0]
    told = f"{short} {figures[0]:.0f} MB/s for one thread, {figures[1]:.0f} for {threads} with an instance each"
    return f"{told}, {figures[2]:.0f} with one shared: {_meaning(bench, own, shared, figures, busy=busy)}"


def _meaning(bench: Bench, own: str, shared: str, speeds: Sequence[float], *, busy: bool) -> str:
    """By how long the threads slept: speeds alone say little where other programs take the processors.

    *speeds* are of one thread, of all with an instance each, and of all with one shared. On a busy machine a thread
    that loses its processor while it holds the lock keeps the others asleep, and none of them waits for the lock's
    sake: there a queue is believed only where the speeds show it as well.
    """
    apart, together = bench.of(f"{own}: queued"), bench.of(f"{shared}: queued")
    if apart is None or together is None or apart.median is None or together.median is None:
        return "whether they queue for a lock is not known (no schedstat)"
    alone, each, one = speeds
    if apart.median >= QUEUES:
        slept = f"{apart.median:.0f} % of their time"
        if each >= GAINS * alone:
            also = " and the processors are busy with other things" if busy else ""
            return f"threads slept {slept}, yet more of them drew more{also}: what one lock costs is not shown"
        return _unless(
            busy, f"all queue for one lock ({slept}), with instances of their own or not"
        )
    if together.median >= QUEUES:
        told = (
            f"a shared instance is a lock ({together.median:.0f} % of their time in its queue), an instance each is the"
            " cure"
        )
        return told if each >= GAINS * one else _unless(busy, told)
    return _unless(busy, "no queue was seen")


def _unless(busy: bool, told: str) -> str:  # noqa: FBT001 - the one thing it asks
    """Not *told* where other programs took the processors."""
    return (
        "the processors are busy with other things, so whether it scales is not shown"
        if busy
        else told
    )


def _first_use(bench: Bench) -> str:
    slowest = max(
        (m for m in bench.measurements if m.group == FIRST_USE and m.median is not None),
        key=lambda m: m.median or 0,
        default=None,
    )
    if slowest is None or slowest.median is None:
        return ""
    return f"the first use takes {slowest.median:.0f} ms at the most ({slowest.key})"


def jvm_notes(bench: Bench) -> Iterator[str]:
    """What must be known beside the figures."""
    if text := _first_use(bench):
        further = [
            m.median for m in bench.measurements if m.group == AFTERWARDS and m.median is not None
        ]
        after = (
            f"; a call afterwards {min(further) / 1000:.1f} to {max(further) / 1000:.1f} us"
            if further
            else ""
        )
        yield f"{text}{after}: what is slow is the start of the provider, and the wait for a seed where there is one"
    yield from _left_out(bench.measurements)


def _left_out(measurements: Sequence[Measurement]) -> Iterator[str]:
    whys: dict[str, list[str]] = {}
    for measurement in measurements:
        if measurement.failure and not measurement.values:
            whys.setdefault(measurement.failure, []).append(measurement.key)
    for why, keys in whys.items():
        yield f"{'; '.join(keys)}: {why}"
