from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.refill import (
    BUSY_RATE,
    Refill,
    bits_short,
    measured,
    wait_at_least_ms,
    wait_ms,
)


def curve(name: str) -> list[tuple[float, int]]:
    """Seconds since boot and bits while one JVM waited for 20 bytes (a booted kernel, 40 disk interrupts a second)."""
    text = Path(__file__).with_name(f"entropy-{name}.tsv").read_text()
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return [(float(seconds), int(bits)) for seconds, bits in rows]


# What the JVM itself measured there: 323.9 s and 543.4 s; it began to read about 2 and 4 s after the first sample.
@pytest.mark.parametrize(
    ("name", "began", "crng_first", "took_s"),
    [("busy-4.15.0-193", 10.5, False, 324), ("busy-5.4.0-125", 12.8, True, 543)],
)
def test_booted_kernels_took_as_long_as_is_told(
    name: str, began: float, *, crng_first: bool, took_s: int
) -> None:
    samples = curve(name)
    refill = measured(samples)
    bits = next(b for t, b in samples if t >= began)
    assert refill is not None

    told = wait_ms(20, bits, refill.rate, crng_first=crng_first)

    assert refill.rate == pytest.approx(0.61, abs=0.01)
    assert refill.taken == 4
    assert told == pytest.approx(took_s * 1000, rel=0.02)


@pytest.mark.parametrize("name", ["busy-4.15.0-193", "busy-5.4.0-125"])
def test_ten_seconds_tell_the_rate(name: str) -> None:
    samples = curve(name)
    for start in range(20, 300, 35):
        window = [(t, b) for t, b in samples if start <= t <= start + 10]
        refill = measured(window)
        assert refill is not None
        if not refill.taken:
            assert refill.rate == pytest.approx(BUSY_RATE, abs=0.25)


def test_a_dd_of_6_bytes_takes_64_bits() -> None:
    """`dd bs=1k count=1` gave 6 bytes after 102-108 s at 0.6 bit/s (4.4, 4.15)."""
    assert bits_short(6, 0) == 64
    assert wait_ms(6, 0, 0.61) == pytest.approx(104_000, rel=0.03)


def test_a_seed_of_20_bytes_is_four_wake_ups() -> None:
    assert bits_short(20, 0) == 256
    assert bits_short(14, 0) == 192
    assert bits_short(8, 0) == 128
    assert bits_short(2, 0) == 64
    assert bits_short(20, 57) == 199
    assert bits_short(20, 0, crng_first=True) == 128 + 256


def test_a_full_pool_gives_at_once() -> None:
    assert bits_short(20, 224) == 0
    assert wait_ms(20, 3000, 0.0) == 0


def test_no_rate_has_no_end() -> None:
    assert wait_ms(20, 0, 0.0) is None
    still = Refill(gained=0, seconds=10.0, first=12, last=12)
    assert still.rate == 0
    assert wait_at_least_ms(20, 12, still) == 244 * 10 * 1000
    assert wait_at_least_ms(20, 12, Refill(1, 10.0, 12, 13)) is None


def test_a_fall_of_the_count_is_somebody_who_took_it() -> None:
    refill = measured([(0.0, 60), (1.0, 63), (2.0, 0), (3.0, 2)])

    assert refill == Refill(gained=5, seconds=3.0, first=60, last=2, taken=1)


def test_too_few_samples_tell_nothing() -> None:
    assert measured([]) is None
    assert measured([(0.0, 5)]) is None
    assert measured([(1.0, 5), (1.0, 6)]) is None
    assert Refill(1, 0.0, 0, 1).rate == 0


@given(wanted=st.integers(0, 1 << 40), entropy=st.integers(0, 1 << 20), first=st.booleans())
def test_more_bytes_need_no_fewer_bits(*, wanted: int, entropy: int, first: bool) -> None:
    short = bits_short(wanted, entropy, crng_first=first)

    assert short >= 0
    assert bits_short(wanted + 1, entropy, crng_first=first) >= short
