"""Options out of variables and option files, commands out of a shell's text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.shellwords import assignment, option_words, shell_commands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        (" \t\n\v\f\r ", ()),
        ("-Da=1 -Db=2", ("-Da=1", "-Db=2")),
        ("  -Da=1\n-Db=2\t", ("-Da=1", "-Db=2")),
        ("'-Da=x y' -Db=\"z w\"", ("-Da=x y", "-Db=z w")),
        ("-Da='x'y\"z\"", ("-Da=xyz",)),
        ("-Da='\"'", ('-Da="',)),
        ("''", ("",)),
        ("-Da=\\n \\", ("-Da=\\n", "\\")),
        ("-Da='open end", ("-Da=open end",)),
    ],
)
def test_option_words(text: str, words: tuple[str, ...]) -> None:
    assert option_words(text) == words


@pytest.mark.parametrize(
    ("word", "pair"),
    [
        ("A=b", ("A", "b")),
        ("A=", ("A", "")),
        ("_a1=b=c", ("_a1", "b=c")),
        ("=b", None),
        ("1A=b", None),
        ("-Da=b", None),
        ("a.b=c", None),
        ("A", None),
    ],
)
def test_assignment(word: str, pair: tuple[str, str] | None) -> None:
    assert assignment(word) == pair


def commands(text: str, **variables: str) -> list[tuple[str, ...]]:
    return [command.words for command in shell_commands(text, variables)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("java -jar a.jar", [("java", "-jar", "a.jar")]),
        ("cd /app && exec java -jar a.jar", [("cd", "/app"), ("exec", "java", "-jar", "a.jar")]),
        ("a; b | c & d || e", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("java '-Da=x y' \"-Db=z w\" c\\ d", [("java", "-Da=x y", "-Db=z w", "c d")]),
        ('java "-Da=\\"q\\"" \'b\'"c"d', [("java", '-Da="q"', "bcd")]),
        ("java \\\n  -Da=1", [("java", "-Da=1")]),
        ("java # comment\nnext", [("java",), ("next",)]),
        ("java -Da=1#2", [("java", "-Da=1#2")]),
        ("# all of it", []),
        ("java ''", [("java", "")]),
        ("java 5$", [("java", "5$")]),
        ("(java -Da=1)", [("java", "-Da=1")]),
    ],
)
def test_shell_commands(text: str, words: list[tuple[str, ...]]) -> None:
    assert commands(text) == words


def test_variables_are_split_where_they_stand_bare() -> None:
    assert commands("java $O -jar x", O=" -Da=1  -Db=2 ") == [
        ("java", "-Da=1", "-Db=2", "-jar", "x")
    ]
    assert commands('java "$O" x', O="-Da=1 2") == [("java", "-Da=1 2", "x")]
    assert commands("java -D${N}=1$V", N="a", V="2") == [("java", "-Da=12")]
    assert commands("java '$O'", O="x") == [("java", "$O")]


def test_assignments_reach_later_commands() -> None:
    text = "export A='-Da=1 -Db=2'; B=3; java $A -Dc=$B"
    assert commands(text) == [("java", "-Da=1", "-Db=2", "-Dc=3")]
    (only,) = shell_commands("A=1 B=2 java x", {})
    assert only.words == ("java", "x")
    assert only.assignments == (("A", "1"), ("B", "2"))


def test_what_is_not_known_is_said() -> None:
    (only,) = shell_commands('java $JAVA_OPTS "${MORE}" x', {})
    assert only.words == ("java", "", "x")
    assert only.unknown == ("$JAVA_OPTS", "$MORE")


@given(st.text(alphabet="ab=$'\"\\ \n;&|(){}#-", max_size=60), st.text(max_size=5))
def test_any_text_is_taken(text: str, value: str) -> None:
    option_words(text)
    for command in shell_commands(text, {"a": value, "b": "x"}):
        assert command.words


@given(st.text())
def test_words_without_blanks_and_quotes_come_back(text: str) -> None:
    words = tuple(w for w in text.split() if not set(w) & set("'\" \t\n\v\f\r"))
    assert option_words(" ".join(words)) == words


@pytest.mark.parametrize("piece", ["'", '"', "a ", "\\", "$a", "${a", '"$a" ', "$a$a", "a=b;", "#"])
def test_long_hostile_texts_are_quick(piece: str) -> None:
    text = piece * 100_000
    start = time.monotonic()
    option_words(text)
    for _ in shell_commands(text, {"a": "x y"}):
        pass
    assert time.monotonic() - start < 5
