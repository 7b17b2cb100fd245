from __future__ import annotations

import pytest

from seedstall.engine.bench import (
    drain_cost,
    generation,
    jvm_notes,
    jvm_sentence,
    kernel_notes,
    kernel_sentence,
)
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom, PoolState
from seedstall.model.measure import (
    AFTERWARDS,
    BY_THREADS,
    FIRST_USE,
    FOR_TIME,
    QUEUED,
    TOGETHER,
    Bench,
    Measurement,
)


def speed(key: str, value: float, group: str = TOGETHER, unit: str = "MB/s") -> Measurement:
    return Measurement(key, group, unit, (value, value * 1.01, value * 0.99))


@pytest.mark.parametrize(
    ("one", "ratio", "kept", "readers", "told"),
    [
        # Booted kernels: facts, kernel, section 9 (MB/s under emulation, ratios as they were).
        (72, 134 / 72, 0.95, 2, "as since 5.18"),
        (53, 66 / 53, 0.62, 2, "one lock, as from 4.8 to 5.17"),
        (3.0, 0.8 / 3.0, 0.13, 2, "SHA-1 behind one lock, as before 4.8"),
        (13.4, 1.0, 0.5, 2, "SHA-1 behind one lock, as before 4.8"),
        # A machine that does something else: each reader gets less time, and as much for it.
        (324, 1.04, 1.04, 2, "busy with other things"),
        (300, 3.4, 0.9, 4, "as since 5.18"),
    ],
)
def test_the_generation_is_told_by_how_it_scales(
    one: float, ratio: float, kept: float, readers: int, told: str
) -> None:
    assert told in generation(one, ratio, kept, readers)


NO_POOL = KernelRandom(BlockingModel.UNTIL_INIT, Certainty.HIGH, "", release="6.1")
POOL = KernelRandom(
    BlockingModel.BLOCKING_POOL, Certainty.HIGH, "", release="4.4", entropy_avail=600
)


def test_the_kernels_first_line_answers() -> None:
    bench = Bench(
        "kernel",
        (
            speed("read /dev/urandom 16", 420, "small reads", "ns"),
            speed("bulk /dev/random", 300, "bulk reads"),
            speed("bulk /dev/urandom", 301, "bulk reads"),
            speed("1 reader", 300),
            speed("2 readers", 560),
            speed("8 readers", 570),
            speed("1 reader, by processor time", 300, FOR_TIME),
            speed("2 readers, by processor time", 290, FOR_TIME),
        ),
    )
    assert kernel_sentence(bench, NO_POOL, 2) == (
        "300 MB/s for one reader and 560 for 2 (1.9 times): it scales with the processors, as since 5.18 and its"
        " back-ports (a key for each CPU); a read of 16 bytes takes 420 ns from Python; /dev/random is as fast as"
        " /dev/urandom"
    )
    assert "one processor tells nothing of scaling" in kernel_sentence(bench, NO_POOL, 1)


def test_a_device_that_was_not_read_is_told() -> None:
    bench = Bench("kernel", (speed("bulk /dev/urandom", 13, "bulk reads"),))
    assert kernel_sentence(bench, POOL, 2) == (
        "/dev/random blocks on this kernel and was not read in bulk"
    )
    assert kernel_sentence(Bench("kernel", ()), NO_POOL, 2) == "nothing could be measured"


def test_a_slower_device_is_told() -> None:
    slow = (speed("bulk /dev/random", 30, "b"), speed("bulk /dev/urandom", 300, "b"))
    assert "gives 0.1 times what" in kernel_sentence(Bench("kernel", slow), NO_POOL, 2)


def test_the_price_of_draining_is_told_beforehand() -> None:
    assert "600 bits are there now" in drain_cost(POOL)
    assert "some 17 min" in drain_cost(POOL)


def test_what_python_costs_is_told() -> None:
    own = speed("call nothing", 200, "overhead", "ns")
    young = KernelRandom(BlockingModel.UNTIL_INIT, Certainty.HIGH, "", state=PoolState.NOT_READY)
    first, second = kernel_notes(Bench("kernel", (own,)), young)
    assert first.startswith("of each call 200 ns are Python's and the system call's own")
    assert "not seeded yet" in second


def threads(name: str, *figures: tuple[float, float], one: float) -> list[Measurement]:
    ways = ("own instances", "one shared")
    found = [speed(f"{name}, 1 thread", one, BY_THREADS)]
    for way, (drawn, queued) in zip(ways, figures, strict=True):
        key = f"{name}, 4 threads, {way}"
        found.append(speed(key, drawn, BY_THREADS))
        found.append(speed(f"{key}: queued", queued, QUEUED, "%"))
    return found


def test_the_lock_is_told_by_the_queue() -> None:
    bench = Bench(
        "jvm",
        (
            *threads("NativePRNG", (30, 45), (28, 47), one=32),
            *threads("SHA1PRNG", (300, 0.1), (80, 61), one=85),
            *threads("DRBG/Hash_DRBG,SHA-256", (50, 0), (49, 1), one=14),
        ),
    )
    native, sha1, drbg = jvm_sentence(bench, 4).split("; ")
    assert native == (
        "NativePRNG 32 MB/s for one thread, 30 for 4 with an instance each, 28 with one shared: all queue for one"
        " lock (45 % of their time), with instances of their own or not"
    )
    assert sha1.endswith(
        "a shared instance is a lock (61 % of their time in its queue), an instance each is the cure"
    )
    assert drbg.endswith("no queue was seen")
    assert jvm_sentence(bench, 2).endswith(" (on 2 processors)")


def _told(own: tuple[float, float], shared: tuple[float, float], *, busy: bool) -> str:
    bench = Bench("jvm", tuple(threads("NativePRNG", own, shared, one=25)))
    return jvm_sentence(bench, 4, busy=busy)


@pytest.mark.parametrize("busy", [False, True])
def test_figures_that_rise_with_the_threads_are_no_lock(*, busy: bool) -> None:
    told = _told((46, 45), (41, 47), busy=busy)
    assert "all queue for one lock" not in told
    assert "what one lock costs is not shown" in told
    assert ("the processors are busy with other things" in told) == busy


@pytest.mark.parametrize(
    ("own", "shared"), [((24, 45), (23, 47)), ((24, 0.1), (23, 61)), ((50, 0), (49, 1))]
)
def test_a_busy_machine_shows_no_queue_nor_its_absence(
    own: tuple[float, float], shared: tuple[float, float]
) -> None:
    hedge = "the processors are busy with other things, so whether it scales is not shown"
    assert _told(own, shared, busy=True).endswith(hedge)
    assert hedge not in _told(own, shared, busy=False)


def test_a_shared_lock_that_costs_speed_is_told_on_a_busy_machine_too() -> None:
    assert "an instance each is the cure" in _told((300, 0.1), (80, 61), busy=True)


def test_without_the_schedulers_counts_no_queue_is_claimed() -> None:
    found = [m for m in threads("SHA1PRNG", (300, 0), (80, 60), one=85) if m.group != QUEUED]
    assert "is not known (no schedstat)" in jvm_sentence(Bench("jvm", tuple(found)), 4)


def test_the_first_use_stands_against_those_after_it() -> None:
    bench = Bench(
        "jvm",
        (
            speed("SHA1PRNG, as it is", 120, FIRST_USE, "ms"),
            speed("SHA1PRNG, as it is, afterwards", 1500, AFTERWARDS, "ns"),
            Measurement("DRBG, as it is", FIRST_USE, "ms", failure="left out"),
        ),
    )
    first, left_out = jvm_notes(bench)
    assert first.startswith("the first use takes 120 ms at the most (SHA1PRNG, as it is); a call")
    assert "1.5 to 1.5 us" in first
    assert left_out == "DRBG, as it is: left out"
    assert jvm_sentence(bench, 2).startswith("the first use takes 120 ms at the most")
