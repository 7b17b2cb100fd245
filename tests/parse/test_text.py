import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedstall.parse.text import Lines, Text, excerpt, plain, resplit, shown


@pytest.mark.parametrize(
    ("given_", "data"),
    [
        (b"a\nb\n", b"a\nb\n"),
        ("a\u00e9", b"a\xc3\xa9"),
        ("\udcff", b"\xed\xb3\xbf"),
        (b"\xef\xbb\xbfa", b"a"),
        ("a\u4e2d\n".encode("utf-16"), b"a\xe4\xb8\xad\n"),
        ("main runnable".encode("utf-16-le"), b"main runnable"),
        ("main runnable".encode("utf-16-be"), b"main runnable"),
        (b"a\xff\n", b"a\xff\n"),
        (b"a\r\nb\r\n", b"a\nb\n"),
        (b"a\r\r\nb", b"a\nb"),
        (b"a\rb\rc", b"a\nb\nc"),
        (b"10%\r20%\nb\nc\n", b"10%\r20%\nb\nc\n"),
        (b"a\n \t\nb", b"a\n\nb"),
        (b"&lt;init&gt; &quot;a&quot;", b'<init> "a"'),
        (b"&amp;lt;init&amp;gt;", b"<init>"),
        (b"&amp;&eacute;&amp;amp;lt;", b"&\xc3\xa9&lt;"),
        (b"a&#10;b &lt;", b"a\nb <"),
        (b"\x1b[1;32ma\x1b[0m\x1b[K b", b"a b"),
        (b"a<br/>b<br>\nc", b"a\nb\nc"),
        (b"<p>a <clinit> <0x1f></p>\nb", b"a <clinit> <0x1f>\nb"),
        (b"<td>1</td><td>a</td>\n", b" 1  a \n"),
        (b'{"log":"\\tat a.B.c(D)\\n","stream":"stdout"}', b"\tat a.B.c(D)"),
        (b'{"log":"\\u003cinit\\u003e\\n","time":"x"}', b"<init>"),
        (b"C:\\new\\tmp", b"C:\\new\\tmp"),
    ],
)
def test_one_form(given_: bytes | str, data: bytes) -> None:
    assert plain(given_).data == data


@pytest.mark.parametrize(
    "unit", [b"&amp;", b"&amp;\n", b"&amp;amp;", b"&lt;", b"&#65;", b"&amp;&eacute;", b"&", b"<br>"]
)
def test_a_text_of_nothing_but_markup_is_read_quickly(unit: bytes) -> None:
    """By CPU time, with room for a slow machine: one call of a function for each of them took 16 s for 15 MB."""
    data = unit * (3_000_000 // len(unit))

    start = time.process_time()
    plain(data)

    assert time.process_time() - start < 2


def test_a_program_file_is_not_taken_for_utf_16() -> None:
    elf = b"\x7fELF" + bytes(200) + b"code" * 10

    assert plain(elf).data == elf


def test_a_text_is_not_touched_twice() -> None:
    text = Text(b"&lt;br/&gt;")

    assert plain(text) is text


def test_lines_keep_their_numbers_where_one_became_several() -> None:
    text = plain(b"one\ntwo<br/>two<br/>two\nthree &lt;\n")
    lines = Lines(text)

    assert [lines.at(text.data.index(word)) for word in (b"one", b"three", b"two")] == [1, 3, 2]
    assert lines.at(text.data.rindex(b"two")) == 2


def test_lines_count_in_any_order() -> None:
    data = b"a\nb\nc\nd"
    lines = Lines(Text(data))

    assert [lines.at(at) for at in (6, 0, 4, 2, 2, 6)] == [4, 1, 3, 2, 2, 4]
    lines.at(0)
    assert lines.below(2) == 3


def test_a_split_of_a_split_text_still_counts_in_the_original() -> None:
    text = resplit(plain(b"a<br/>b c\nd e"), lambda line: line.split(b" "))

    assert text.data == b"a\nb\nc\nd\ne"
    assert list(text.numbers or ()) == [1, 1, 1, 2, 2]


def test_excerpts_are_bounded() -> None:
    assert excerpt(b"a\n  some line \nb", 5) == "some line"
    assert len(excerpt(b"x" * 1_000_000, 500_000)) <= 4000
    assert shown(b"caf\xe9") == "caf\u00e9"
    assert shown("caf\u00e9".encode()) == "caf\u00e9"


@settings(deadline=None)
@given(st.binary(max_size=400) | st.text(max_size=200))
def test_any_input(data: bytes | str) -> None:
    text = plain(data)

    assert text.numbers is None or len(text.numbers) == text.data.count(b"\n") + 1


@given(st.text(alphabet="ab<>/br &;lt\n\\nt", max_size=100))
def test_line_numbers_never_pass_the_last(text: str) -> None:
    made = plain(text)
    lines = Lines(made)

    last = len(text.split("\n"))
    assert all(1 <= lines.at(at) <= last for at in range(len(made.data)))
