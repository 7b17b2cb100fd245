from __future__ import annotations

import pytest

from seedstall.parse.shell.flow import (
    ANYTHING,
    MAX_LENGTH,
    MAX_TEXTS,
    NOTHING,
    UNKNOWN,
    Ending,
    endings,
)
from seedstall.parse.shell.grammar import parse


def ends(text: str, *, bash: bool | None = True) -> tuple[Ending, ...]:
    return endings(parse(text), {"X": NOTHING}, lambda t: t, bash=bash)


def values(text: str, *, bash: bool | None = True) -> set[str]:
    """What X may be, however the script ends."""
    found: set[str] = set()
    for end in ends(text, bash=bash):
        found |= end.values["X"]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {""}),
        ("X=a", {"a"}),
        ("X=a; X=b", {"b"}),
        ("X=a X=b", {"b"}),
        ("X=a true", {""}),
        ("X=a; X=${X}b$X", {"aba"}),
        ("X+=a; X+=b", {"ab"}),
        ("X=$Y", {UNKNOWN}),
        ("X=a$(b)c", {f"a{UNKNOWN}c"}),
        ("export X=a", {"a"}),
        ("Y=a; export X=$Y", {"a"}),
        ("X=a; unset X", {""}),
        ("read X", {UNKNOWN}),
        ("printf -v X %s a", {UNKNOWN}),
        ("X=a; eval 'X=b'", {UNKNOWN}),
        ("X=a; eval 'Y=b'", {"a"}),
        ("(X=a)", {""}),
        ("X=a | b", {""}),
        ("X=a &", {""}),
        ("{ X=a; }", {"a"}),
        ("a && X=b", {"", "b"}),
        ("X=a && b", {"a"}),
        ("if a; then X=b; fi", {"", "b"}),
        ("if a; then X=b; else X=c; fi", {"b", "c"}),
        ("if a; then X=b; elif X=d; then X=c; fi", {"b", "c", "d"}),
        ("case a in b) X=c;; esac", {"", "c"}),
        ("case a in b) X=c;; *) X=d;; esac", {"c", "d"}),
        ("for i in a b; do X=$i; done", {"", "a", "b"}),
        ("while a; do X=${X}b; done", {"", "b", "bb"}),
        (": ${X:=a}", {"a"}),
        ("X=b; : ${X:=a}", {"b"}),
        ("X=${Y:-a}", {UNKNOWN, "a"}),
        ("X=${Y:+a}", {"", "a"}),
        ("X=b; X=${X:-a}", {"b"}),
        ("X=${X-a}", {"", "a"}),
        ("X=${X:?message}", {""}),
        ("X=ab; X=${X#a}", {UNKNOWN}),
        ("f() { X=$1; }; f a b", {"a"}),
        ("f() { X=$*; }; f a b", {"a b"}),
        ("f() { X=$2; }; f a", {""}),
        ("f() { X=a; return; X=b; }; f", {"a"}),
        ("f() { local X=a; }; f", {""}),
        ("f() { shift; X=$1; }; f a b", {UNKNOWN}),
        ("set -- a b; X=$2", {"b"}),
        ("f() { f; X=a; }; f", {"a"}),
        ("X=a; return; X=b", {"a"}),
        ("X=a; exit 1; X=b", {"a"}),
        ("X=a; exec java; X=b", {"a"}),
        ("X=a; exec >log; X=b", {"b"}),
        ("a || return; X=b", {"", "b"}),
        ("(exit); X=b", {"b"}),
        ("[[ a ]]; ((b)); X=c", {"c"}),
    ],
)
def test_what_it_may_be(text: str, expected: set[str]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "bash", "posix", "either"),
    [
        ("X+=a", {"a"}, {""}, {"", "a"}),
        ("declare X=a", {"a"}, {""}, {"", "a"}),
        ("X=a", {"a"}, {"a"}, {"a"}),
    ],
)
def test_what_only_bash_does(text: str, bash: set[str], posix: set[str], either: set[str]) -> None:
    assert values(text, bash=True) == bash
    assert values(text, bash=False) == posix
    assert values(text, bash=None) == either


def test_where_it_ends() -> None:
    text = "X=a\n[ b ] && return\nX=c\n"
    early, late = ends(text)
    assert early.start == text.index("[ b")
    assert early.values["X"] == {"a"}
    assert late.start is None
    assert late.values["X"] == {"c"}


@pytest.mark.parametrize(
    "text", ["readonly X=a; X=b", "X=a; readonly X; X=b", "declare -r X=a; export X=b"]
)
def test_read_only_variables_stop_it(text: str) -> None:
    (end,) = ends(text)
    assert end.failed
    assert end.values["X"] == {"a"}


def test_too_many_values_are_reduced_and_then_unknown() -> None:
    chain = "".join(f"if a; then X=${{X}}{n}; fi\n" for n in range(12))
    assert all(value.startswith(UNKNOWN) for value in values(chain))
    (end,) = endings(parse(chain), {"X": NOTHING}, lambda _: "short")
    assert len(end.values["X"]) <= MAX_TEXTS
    assert end.values["X"] != ANYTHING


def test_functions_that_multiply_are_given_up() -> None:
    text = "".join(f"f{n}() {{ {f'f{n + 1}; ' * 40} }}\n" for n in range(6)) + "f0\n"
    with pytest.raises(ValueError, match="too many"):
        ends(text)


def test_a_value_that_grows_is_given_up() -> None:
    (value,) = values("X=aaaaaaaaaa\n" + "X=$X$X\n" * 20)
    assert len(value) <= MAX_LENGTH
    assert set(value) == {UNKNOWN}
