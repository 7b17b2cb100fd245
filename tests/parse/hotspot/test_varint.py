from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.hotspot.varint import signed5, unsigned5


def written(value: int, excluded: int) -> bytes:
    """UNSIGNED5 as HotSpot writes it (unsigned5.hpp)."""
    low = 192 - excluded
    found = bytearray()
    for _ in range(4):
        if value < low:
            break
        value -= low
        found.append(low + excluded + (value & 63))
        value >>= 6
    found.append(value + excluded)
    return bytes(found)


@given(st.integers(0, (1 << 32) - 1), st.sampled_from([0, 1]), st.binary(max_size=4))
def test_a_number_is_read_as_it_was_written(value: int, excluded: int, rest: bytes) -> None:
    data = written(value, excluded)
    assert unsigned5(b"?" + data + rest, 1, excluded) == (value, 1 + len(data))


@pytest.mark.parametrize(("value", "signed"), [(0, 0), (1, -1), (2, 1), (3, -2), (400, 200)])
def test_the_lowest_bit_is_the_sign(value: int, signed: int) -> None:
    assert signed5(written(value, 0), 0, 0)[0] == signed


@given(st.binary(max_size=8), st.integers(0, 8), st.sampled_from([0, 1]))
def test_any_bytes_are_a_number_or_refused(data: bytes, at: int, excluded: int) -> None:
    try:
        value, after = unsigned5(data, at, excluded)
    except ValueError:
        return
    assert 0 <= value < 1 << 32
    assert at < after <= at + 5
