"""Recordings of samples: what was written is read again, and nothing else is."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples_by_hand import MAIN, read, recording, span

from seedstall.model.recording import Counters, Place, SampledThread
from seedstall.parse import samples


def test_what_is_written_is_read_again() -> None:
    told = recording(
        read(MAIN, 0, 400, 20),
        span(MAIN, 400, 1000, -1, (), cpu_ms=600),
        places=(Place(4, "/tmp/\udcff\x1b[31m", "fifo", "10.0.0.7:1", 2, "tcp"),),
        threads=(SampledThread(7, 8, 9, "na\nme", 10),),
        throttled=((5, 1000),),
        counters=(Counters(1, 2, 3, -1), Counters(9, 8, 7, 6)),
        dumped_ms=77,
    )
    assert samples.recording(samples.recorded(told)) == told
    without = dataclasses.replace(told, exit_code=143, dumped_ms=None)
    assert samples.recording(samples.recorded(without)) == without


@given(st.binary())
def test_any_bytes_raise_only_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"(?s)."):
        samples.recording(data)


_ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
_WHOLE = json.loads(samples.recorded(recording(read(MAIN, 0, 400))))


@given(st.sampled_from(sorted(_WHOLE)), _ODD)
def test_a_damaged_recording_is_refused_or_read(key: str, value: object) -> None:
    data = json.dumps({**_WHOLE, key: value}).encode()
    try:
        told = samples.recording(data)
    except ValueError:
        return
    assert told.watched_ms is not None


@given(st.integers(0, 2), st.integers(0, 8), _ODD)
def test_a_damaged_row_is_refused_or_read(row: int, column: int, value: object) -> None:
    rows = [list(one) for one in _WHOLE["spans"]]
    rows[row % len(rows)][column] = value
    try:
        samples.recording(json.dumps({**_WHOLE, "spans": rows}).encode())
    except ValueError:
        return


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ValueError, match=r"(?s)."):
        samples.recording(b"[" * 100_000)


def test_a_number_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match=r"(?s)."):
        samples.recording(json.dumps({**_WHOLE, "watched_ms": 1 << 70}).encode())
