"""One rounding of a length of time, wherever it is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.duration import duration


@pytest.mark.parametrize(
    ("ms", "told"),
    [
        (0, "0 ms"),
        (999.9, "999 ms"),
        (1000, "1.0 s"),
        (59_990, "59.9 s"),
        (60_000, "1 min 0 s"),
        (160_511, "2 min 40 s"),
        (3_599_999, "59 min 59 s"),
        (3_600_000, "1 h 0 min"),
    ],
)
def test_the_words(ms: float, told: str) -> None:
    assert duration(ms) == told


@given(st.floats(min_value=0, max_value=1e12))
def test_nothing_below_a_minute_is_called_sixty_seconds(ms: float) -> None:
    assert not duration(ms).startswith("60")
