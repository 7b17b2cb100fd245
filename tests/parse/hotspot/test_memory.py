from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.hotspot.memory import (
    MAX_READ,
    PAGE,
    BadAddressError,
    Pages,
    SpentError,
    span,
    spelled,
)


class Flat:
    """Memory from *low* on that counts its reads; bytes may be changed."""

    def __init__(self, data: bytes, low: int = 0x10000) -> None:
        self.data = bytearray(data)
        self.low = low
        self.reads: list[tuple[int, int]] = []

    def read(self, address: int, length: int) -> bytes:
        self.reads.append((address, length))
        at = address - self.low
        if at < 0 or at + length > len(self.data):
            raise BadAddressError(f"{address:#x}")
        return bytes(self.data[at : at + length])


LOW = 0x10000
DATA = bytes(range(256)) * 64


@given(st.integers(0, (1 << 64) - 2), st.integers(1, MAX_READ))
def test_a_span_reads_as_it_was_spelled(address: int, length: int) -> None:
    if address + length <= 1 << 64:
        assert span(spelled(address, length)) == (address, length)


@pytest.mark.parametrize(
    "path",
    ["", "+", "12", "12+", "+4", "x+4", "12+0", "-1+4", "12+-4", "1" * 17 + "+4", "0+1000001"],
)
def test_what_is_no_span_is_refused(path: str) -> None:
    with pytest.raises(BadAddressError):
        span(path)


@given(st.text(max_size=60))
def test_any_path_is_a_span_or_refused(path: str) -> None:
    try:
        address, length = span(path)
    except BadAddressError:
        return
    assert 0 <= address < 1 << 64
    assert 0 < length <= MAX_READ


def test_a_page_is_read_once() -> None:
    flat = Flat(DATA)
    pages = Pages(flat)
    assert pages.u8(LOW + 5) == 5
    assert pages.u16(LOW + 1) == 0x0201
    assert pages.u32(LOW + 4) == 0x07060504
    assert pages.u64(LOW + 8) == 0x0F0E0D0C0B0A0908
    assert pages.i32(LOW + 0xFC) == -0x00010204
    assert flat.reads == [(LOW, PAGE)]


def test_a_span_over_pages_is_read_at_once_and_kept() -> None:
    flat = Flat(DATA)
    pages = Pages(flat)
    assert pages.read(LOW + 4000, 5000) == DATA[4000:9000]
    assert pages.read(LOW + 8192, 10) == DATA[8192:8202]
    assert flat.reads == [(LOW, 3 * PAGE)]


def test_fresh_goes_past_the_cache_and_forget_drops_it() -> None:
    flat = Flat(DATA)
    pages = Pages(flat)
    pages.u8(LOW)
    flat.data[0] = 99
    assert pages.u8(LOW) == 0
    assert pages.fresh(LOW, 1) == b"c"
    pages.forget()
    assert pages.u8(LOW) == 99


@given(st.integers(-(1 << 70), 1 << 70), st.integers(-(1 << 40), 1 << 40))
def test_no_address_or_length_is_trusted(address: int, length: int) -> None:
    pages = Pages(Flat(DATA))
    for read in (pages.read, pages.fresh):
        try:
            assert len(read(address, length)) == length
        except BadAddressError:
            assert not (address >= LOW and length > 0 and address + length <= LOW + len(DATA))


def test_the_budgets_are_kept() -> None:
    flat = Flat(DATA)
    pages = Pages(flat, max_reads=1)
    pages.u8(LOW)
    with pytest.raises(SpentError, match="more than 1 reads"):
        pages.u8(LOW + PAGE)
    with pytest.raises(SpentError, match="bytes"):
        Pages(flat, max_bytes=PAGE - 1).u8(LOW)
    late = Pages(flat, late=lambda: True)
    with pytest.raises(SpentError, match="too long"):
        _hundred_ticks(late)


def _hundred_ticks(pages: Pages) -> None:
    for _ in range(100):
        pages.tick()


def test_strings_end_at_their_nul_their_limit_or_the_memory() -> None:
    pages = Pages(Flat(b"abc\0" + b"x" * (PAGE - 4) + b"y" * 10 + b"\0" + bytes(PAGE - 11)))
    assert pages.text(LOW) == "abc"
    assert pages.text(LOW + PAGE - 2, 20) == "xx" + "y" * 10
    assert pages.text(LOW + 10, 5) == "xxxxx"
    with pytest.raises(BadAddressError):
        Pages(Flat(b"z" * PAGE)).text(LOW + PAGE - 3)
