from __future__ import annotations

from seedstall.model.settings import JdkSpan, Placed, placed


def test_a_stretch_knows_its_place() -> None:
    whole = placed("ab cd", 1, 5)

    assert (whole.text, whole.place()) == ("b cd", (1, 5))
    assert whole.part(2, 4).text == "cd"
    assert whole.part(2, 4).place() == (3, 5)
    assert whole.place(1, 1) == (2, 2)
    assert whole.place(4, 4) == (5, 5)


def test_an_empty_stretch_stands_where_it_would() -> None:
    assert Placed("", [], [], (7, 9)).place() == (7, 7)


def test_a_decoded_character_may_be_longer_than_one() -> None:
    escaped = Placed("a'b", [0, 1, 5], [1, 5, 6], (0, 6))

    assert escaped.place(1, 2) == (1, 5)
    assert escaped.part(1, 3).place() == (1, 6)


def test_spans_in_words() -> None:
    assert str(JdkSpan(7, 7, "x")) == "JDK 7"
    assert str(JdkSpan(9, None, "x")) == "JDK 9 and later"
    assert str(JdkSpan(8, 13, "x")) == "JDK 8 to 13"
