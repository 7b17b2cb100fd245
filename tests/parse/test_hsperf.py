"""HotSpot's performance file: two real ones, and what a hostile one may hold."""

from __future__ import annotations

import lzma
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.hsperf import MAX_ENTRIES, hsperf_strings

HERE = Path(__file__).parent


def captured(name: str) -> bytes:
    return lzma.decompress((HERE / f"hsperfdata-{name}.xz").read_bytes())


def perf_file(entries: dict[str, str], order: str = "<") -> bytes:
    """A file as HotSpot writes it, with string entries only."""
    body = b""
    for name, value in entries.items():
        text, data = name.encode() + b"\0", value.encode() + b"\0"
        length = 20 + len(text) + len(data)
        body += struct.pack(
            f"{order}iiiBBBBi", length, 20, len(data), ord("B"), 0, 5, 2, 20 + len(text)
        )
        body += text + data
    mark = 1 if order == "<" else 0
    head = b"\xca\xfe\xc0\xc0" + bytes((mark, 2, 0, 1))
    return head + struct.pack(f"{order}iiqii", 32 + len(body), 0, 0, 32, len(entries)) + body


def test_a_jdk_8_says_who_it_is() -> None:
    told = hsperf_strings(captured("8u504"))
    assert told["java.property.java.version"] == "1.8.0_504"
    assert told["java.property.java.home"] == "/usr/lib/jvm/java-8-openjdk-amd64/jre"
    assert told["sun.rt.javaCommand"] == "Seed SHA1PRNG"


def test_a_jdk_17_says_which_options_took_effect() -> None:
    told = hsperf_strings(captured("17.0.15"))
    assert told["java.property.java.version"] == "17.0.15"
    assert told["java.rt.vmArgs"] == (
        "-Dtool=1 -Dspaced=a b -Djava.security.egd=file:/dev/./urandom -Dlast=1"
    )
    assert told["sun.rt.javaCommand"] == "Sleep x -Dprogram=1"
    assert "JRE (17.0.15" in told["sun.rt.internalVersion"]


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders(order: str) -> None:
    assert hsperf_strings(perf_file({"a": "1", "b": "x"}, order)) == {"a": "1", "b": "x"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xca\xfe\xc0\xc0",
        b"\xca\xfe\xba\xbe" + bytes(60),
        b"\xca\xfe\xc0\xc0\x07\x02\x00\x01" + bytes(60),
        b"\xca\xfe\xc0\xc0\x01\x01\x00\x01" + bytes(60),
    ],
)
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="hsperfdata"):
        hsperf_strings(data)


def test_a_file_that_leads_in_circles_ends() -> None:
    data = bytearray(perf_file({"a": "1"}))
    struct.pack_into("<i", data, 28, 2**31 - 1)
    start = time.monotonic()
    assert hsperf_strings(bytes(data)) == {"a": "1"}
    struct.pack_into("<i", data, 32, 0)
    assert hsperf_strings(bytes(data)) == {}
    assert time.monotonic() - start < 1


def test_more_entries_than_a_jvm_has_are_cut() -> None:
    data = perf_file({f"n{i}": "v" for i in range(MAX_ENTRIES + 10)})
    assert len(hsperf_strings(data)) == MAX_ENTRIES


@given(st.binary(max_size=300))
def test_any_bytes_raise_only_value_error(tail: bytes) -> None:
    for head in (b"", b"\xca\xfe\xc0\xc0\x01\x02\x00\x01", b"\xca\xfe\xc0\xc0\x00\x02\x00\x01"):
        try:
            hsperf_strings(head + tail)
        except ValueError:
            continue


@given(st.data())
def test_a_damaged_file_raises_only_value_error(data: st.DataObject) -> None:
    whole = bytearray(perf_file({"java.property.java.version": "17", "java.rt.vmArgs": "-Da=1"}))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        hsperf_strings(bytes(whole)[: data.draw(st.integers(0, len(whole)))])
    except ValueError:
        return
