"""Entries of a .properties file: the same as javaproperties and the JDK read, with their lines."""

from __future__ import annotations

import subprocess
import sys
import time

import javaproperties
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.properties import Entry, entries


def everything(_name: str) -> bool:
    return True


def found(data: bytes) -> list[tuple[str, str]]:
    return [(e.name, e.value) for e in entries(data, everything)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1\nb = 2\nc:3\nd 4\ne\n", [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "")]),
        ("# a=1\n! b=2\n  # c=3\n", []),
        ("a=1\\\n   2\nb=3", [("a", "12"), ("b", "3")]),
        ("# no=way \\\na=1", [("a", "1")]),
        ("a=1\\\\\nb=2", [("a", "1\\"), ("b", "2")]),
        ("a=1   \r\nb=2\rc=3", [("a", "1   "), ("b", "2"), ("c", "3")]),
        ("secure\\u0072andom.source=x", [("securerandom.source", "x")]),
        ("a\\=b=c", [("a=b", "c")]),
        ("a==b", [("a", "=b")]),
        ("a=\\u00e9\\t\\q", [("a", "é\tq")]),
        ("=x", [("", "x")]),
    ],
)
def test_as_java_reads_it(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text.encode("latin-1")) == expected


def test_bytes_are_latin_1() -> None:
    assert found(b"a=\xfc\xff") == [("a", "üÿ")]


def test_lines_are_natural_lines() -> None:
    data = b"# head\r\n\r\nsecurerandom.source=fi\\\r\n  le:/dev\\\r\n/urandom\r\nx=1\n"
    assert list(entries(data, everything)) == [
        Entry("securerandom.source", "file:/dev/urandom", 3, 5),
        Entry("x", "1", 6, 6),
    ]


def test_only_what_is_wanted_is_decoded() -> None:
    data = b"bad=\\u12\nsecurerandom.source=file:/dev/random\n"
    assert [e.name for e in entries(data, lambda n: n.startswith("securerandom."))] == [
        "securerandom.source"
    ]
    with pytest.raises(ValueError, match="Invalid"):
        list(entries(data, everything))


@given(st.text(alphabet="ab =:#!\\\n\r\t\fu0", max_size=60))
def test_the_library_says_the_same(text: str) -> None:
    data = text.encode("latin-1")
    try:
        told = [
            (e.key, e.value)
            for e in javaproperties.parse(data)
            if isinstance(e, javaproperties.KeyValue)
        ]
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - the library's own message
            found(data)
        return
    assert found(data) == told


@given(st.binary(max_size=200))
def test_any_bytes_raise_only_value_error(data: bytes) -> None:
    try:
        list(entries(data, everything))
    except ValueError:
        return


@pytest.mark.parametrize(
    "data",
    [
        b"a=1\\\n" * 150_000,
        b"securerandom.x=" + b"\\\n" * 150_000,
        b"\\" * 1_000_000,
        b" " * 1_000_000,
        b"a" * 1_000_000,
        b"secure\\u0072" * 100_000,
        b"\r" * 150_000,
        b"securerandom.a=" + b" \\ " * 300_000,
    ],
)
def test_long_hostile_files_are_quick(data: bytes) -> None:
    start = time.monotonic()
    list(entries(data, lambda n: n.startswith("securerandom.")))
    assert time.monotonic() - start < 5


def test_a_file_without_an_end_of_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="lines"):
        list(entries(b"\n" * 300_000, everything))


def test_a_plain_file_does_not_cost_the_librarys_import() -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from seedstall.parse.properties import entries\n"
        "list(entries(b'a=1\\nb=2\\n', lambda n: True))\n"
        "assert 'javaproperties' not in sys.modules\n"
        "list(entries(b'a=1\\\\\\n2', lambda n: True))\n"
        "assert 'javaproperties' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, *sys.path], check=True)
