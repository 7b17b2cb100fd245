"""The launcher's argument files. The odd ones were run on 11, 17, 21 and 25 (see test_launcher_on_jvms)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.argfile import file_arguments


def words(text: str) -> list[str]:
    return [argument.text for argument in file_arguments(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\f\r\n", []),
        ("-Da=1 -Db=2\n", ["-Da=1", "-Db=2"]),
        ("-Da=1\n# comment\n-Db=2 # rest", ["-Da=1", "-Db=2"]),
        ('"-Da=x y"z', ["-Da=x yz"]),
        ("'a \"b\"' \"c 'd'\"", ['a "b"', "c 'd'"]),
        ('"-Da=x\\ty\\"z\\\\"', ['-Da=x\ty"z\\']),
        ("-Da=x\\ty", ["-Da=x\\ty"]),
        ('"one\\\n    two"', ["onetwo"]),
        ('"one\\\r\n \t two"', ["onetwo"]),
        ('"cut here\nnext', ["cut here", "next"]),
        ("-Dlost=x#y\n-Dkept=1", ["-Dkept=1"]),
        ('"-Dglued"#y\n-Dkept=1', ["-Dglued-Dkept=1"]),
        ('""\nx', ["", "x"]),
        ('""', []),
        ('"ends in an escape\\', []),
        ("a\vb", ["a\vb"]),
    ],
)
def test_as_the_launcher_reads_it(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_each_argument_has_its_line() -> None:
    text = '# head\n-Da=1 -Db=2\r\n\r\n"-Dc=x\\\n  y"\n-Dd=4'
    assert [(a.text, a.line) for a in file_arguments(text)] == [
        ("-Da=1", 2),
        ("-Db=2", 2),
        ("-Dc=xy", 5),
        ("-Dd=4", 6),
    ]


@given(st.text(alphabet="ab \t\n\r\f#\\'\"", max_size=80))
def test_any_text_is_taken(text: str) -> None:
    for argument in file_arguments(text):
        assert 1 <= argument.line <= text.count("\n") + text.count("\r") + 1


@pytest.mark.parametrize("piece", ['"', "'", "\\", '"\\', "#", "a#", "a ", '"a\\\n', "\n", "a"])
def test_long_hostile_files_are_quick(piece: str) -> None:
    start = time.monotonic()
    for _ in file_arguments(piece * 100_000):
        pass
    assert time.monotonic() - start < 5
