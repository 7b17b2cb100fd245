from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.measure import Earlier, Measurement, alike, change, quantile

FIGURES = st.lists(st.floats(min_value=0, max_value=1e9), min_size=1, max_size=50)


def of(*values: float, overhead: float | None = None) -> Measurement:
    return Measurement("k", "g", "ns", values, overhead)


@given(FIGURES)
def test_middle_mean_and_deviation_are_the_libraries(values: list[float]) -> None:
    measured = of(*values)
    assert measured.median == pytest.approx(statistics.median(values))
    assert measured.mean == pytest.approx(statistics.fmean(values))
    if len(values) > 1:
        assert measured.deviation == pytest.approx(statistics.stdev(values), abs=1e-3)
    assert min(values) <= (measured.low or 0) <= (measured.high or 0) <= max(values)


def test_of_nothing_there_is_no_figure() -> None:
    nothing = of()
    figures = (nothing.median, nothing.mean, nothing.deviation, nothing.low, nothing.net)
    assert figures == (None,) * 5
    assert of(1.0).deviation is None
    assert quantile((), 0.5) is None


def test_one_wild_value_does_not_move_the_middle() -> None:
    calm = of(*([10.0] * 19), 100_000.0)
    assert calm.median == 10.0
    assert calm.high == 10.0
    assert (calm.deviation or 0) > 20_000


def test_the_overhead_is_taken_off_and_never_below_zero() -> None:
    assert of(400.0, overhead=150.0).net == 250.0
    assert of(400.0, overhead=500.0).net == 0.0
    assert of(400.0).net == 400.0


@pytest.mark.parametrize(
    ("values", "clear"), [((5.0, 6.0, 7.0), True), ((9.0, 10.0, 11.0), False), ((20.0,), True)]
)
def test_a_change_is_clear_where_the_spreads_lie_apart(
    values: tuple[float, ...], *, clear: bool
) -> None:
    found = change(of(*values), Earlier("ns", 10.0, 9.0, 11.0))
    assert found is not None
    assert found.clear is clear
    assert found.ratio == pytest.approx((of(*values).median or math.nan) / 10.0)


def test_what_cannot_be_compared_is_not() -> None:
    assert change(of(), Earlier("ns", 10.0, 9.0, 11.0)) is None
    assert change(of(1.0), Earlier("MB/s", 10.0, 9.0, 11.0)) is None
    assert change(of(1.0), Earlier("ns", 0.0, 0.0, 0.0)) is None


def test_spreads_that_overlap_are_alike() -> None:
    assert alike(of(1.0, 5.0), of(4.0, 9.0)) is True
    assert alike(of(1.0, 2.0), of(4.0, 9.0)) is False
    assert alike(of(), of(1.0)) is None
