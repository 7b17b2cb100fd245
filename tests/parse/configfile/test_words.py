from __future__ import annotations

import json
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.settings import UNKNOWN, Placed, placed
from seedstall.parse.configfile.words import (
    joined,
    json_strings,
    lines,
    only_reference,
    references,
    replaced,
    split,
    stripped,
    unknown,
    unquoted,
)
from seedstall.parse.shellwords import option_words

TEXT = st.text(alphabet="ab-=:/ '\"\\$X{}()\t\n,[]é“", max_size=60)


def whole(text: str) -> Placed:
    return placed(text, 0, len(text))


def texts(words: Iterable[Placed]) -> list[str]:
    return [w.text for w in words]


@given(TEXT)
def test_words_are_those_of_the_jvm(text: str) -> None:
    # The two differ on a quote that nothing closes: a JVM does not start on it, here it is a character.
    if text.count("'") % 2 == 0 and text.count('"') == 0:
        assert texts(split(whole(text))) == list(option_words(text))


@given(TEXT, st.booleans())
def test_each_character_stands_where_it_says(text: str, expand: bool) -> None:  # noqa: FBT001 - hypothesis and parametrize hand it over
    for word in split(whole(text), escape="\\", expand=expand):
        for character, start, end in zip(word.text, word.starts, word.ends, strict=True):
            written = text[start:end]
            assert written in (character, f"\\{character}") or character == UNKNOWN
        assert word.outer[0] <= word.outer[1] <= len(text)


def test_quotes_keep_blanks_and_go_away() -> None:
    assert texts(split(whole("""-Da='b c' "-Dd=e f" g"""))) == ["-Da=b c", "-Dd=e f", "g"]


def test_a_quote_that_nothing_closes_is_a_character() -> None:
    assert texts(split(whole('a"b -Dx'))) == ['a"b', "-Dx"]


def test_an_expansion_is_one_unknown_character_with_its_place() -> None:
    (word,) = split(whole("a${JAVA_OPTS:-x}b"), expand=True)

    assert word.text == f"a{UNKNOWN}b"
    assert word.place(1, 2) == (1, 16)


def test_single_quotes_keep_a_dollar() -> None:
    assert texts(split(whole("'$X'"), expand=True)) == ["$X"]


def test_unquoted_is_one_word_whatever_it_holds() -> None:
    assert unquoted(whole('"a b" c'), escape="\\").text == "a b c"


def test_references() -> None:
    assert references("$A ${B:-c} $(D) $1 %E% $A") == ("A", "B", "D")
    assert only_reference("${JAVA_OPTS}")
    assert only_reference("$(JAVA_OPTS)")
    assert not only_reference("-X$A")


def test_placeholders_of_other_programs_are_unknown() -> None:
    for text in ("${seed}", "$(SEED)", "$SEED", "{{ .Values.seed }}", "%SEED%", "@seed.source@"):
        assert unknown(f"file:{text}")
    assert not unknown("file:/dev/urandom")


def test_replaced_escapes_keep_their_place() -> None:
    found = replaced(whole("a\\nb"), "\\n", "\n")

    assert found.text == "a\nb"
    assert found.place(1, 2) == (1, 3)


def test_lines_without_their_ends() -> None:
    assert texts(lines(whole("a\r\nb\n\nc"))) == ["a", "b", "", "c"]


def test_joined_and_stripped() -> None:
    first, second = split(whole("a b"))

    assert joined([first, second]).text == "a b"
    assert stripped(whole("  a ")).text == "a"


@given(st.lists(st.text(max_size=8), max_size=5))
def test_a_json_list_is_read_as_json_does(words: list[str]) -> None:
    text = json.dumps(words)
    found = json_strings(whole(text))

    assert found is not None
    # json.dumps writes characters beyond the basic plane as two escapes.
    joined_pairs = [
        w.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for w in found
    ]
    assert joined_pairs == [
        w.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for w in words
    ]


@given(TEXT)
def test_what_is_no_json_list_of_strings_is_none(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    wanted = value if isinstance(value, list) and all(isinstance(v, str) for v in value) else None
    found = json_strings(whole(text))

    assert (None if found is None else texts(found)) == wanted
