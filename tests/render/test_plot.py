from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.render.plot import LEFT, WIDTH, Bar, Group, plot

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*groups: Group, title: str = "t") -> ET.Element:
    return ET.fromstring(plot(title, "MB/s", groups))  # noqa: S314 - our own text


def bars(picture: ET.Element) -> list[ET.Element]:
    return picture.findall(f"{SVG}g")


def test_it_is_a_picture_with_a_title_and_words_for_those_who_listen() -> None:
    picture = drawn(Group("reads", (Bar("a", 10, 9, 11, "10 MB/s"), Bar("b", 1, 1, 1, "1 MB/s"))))
    assert picture.tag == f"{SVG}svg"
    assert picture.get("role") == "img"
    ids = (picture.get("aria-labelledby") or "").split()
    assert [e.get("id") for e in picture[:2]] == ids
    assert [e.tag for e in picture[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert "reads: a 10 MB/s, b 1 MB/s." in (picture[1].text or "")
    assert [g.get("aria-label") for g in bars(picture)] == ["a: 10 MB/s", "b: 1 MB/s"]


def test_ten_times_as_much_is_the_same_step_anywhere() -> None:
    picture = drawn(Group("g", tuple(Bar(str(v), v, v, v, "") for v in (1.0, 10.0, 100.0, 1000.0))))
    ends = [
        float(r.get("x") or 0) + float(r.get("width") or 0)
        for g in bars(picture)
        if (r := g.find(f"{SVG}rect")) is not None
    ]
    steps = [b - a for a, b in itertools.pairwise(ends[1:])]
    assert steps == pytest.approx([steps[0]] * len(steps), abs=0.3)


def test_the_whisker_spans_the_spread() -> None:
    picture = drawn(Group("g", (Bar("a", 10, 1, 100, ""),)))
    (bar,) = bars(picture)
    path = bar.find(f"{SVG}path")
    assert path is not None
    numbers = re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", path.get("d") or "")
    low, high = map(float, numbers[0])
    assert low == LEFT
    assert high > low


@given(
    st.text(max_size=60),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(min_value=1e-9, max_value=1e12),
)
def test_any_name_and_any_figure_is_well_formed(name: str, odd: float, value: float) -> None:
    picture = drawn(
        Group(name, (Bar(name, odd, odd, odd, name), Bar(name, value, value, value, name))),
        title=name,
    )
    for rect in picture.iter(f"{SVG}rect"):
        assert 0 <= float(rect.get("x") or 0) <= WIDTH
        assert 0 <= float(rect.get("width") or -1) <= WIDTH


def test_foreign_text_is_no_markup() -> None:
    hostile = '</title><script>alert(1)</script>" onload="x'
    text = plot(hostile, "MB/s", (Group(hostile, (Bar(hostile, 1, 1, 1, hostile),)),))
    picture = ET.fromstring(text)  # noqa: S314 - our own text
    assert not [e for e in picture.iter() if e.tag.endswith("script")]
    assert not [e for e in picture.iter() if "onload" in e.attrib]


def test_it_has_nothing_from_elsewhere() -> None:
    text = plot("t", "MB/s", (Group("g", (Bar("a", 1, 1, 1, "x"),)),))
    assert "href" not in text
    assert "url(" not in text
    assert text.count("http") == 1  # the name space


def test_nothing_to_draw_is_a_picture_all_the_same() -> None:
    assert bars(drawn()) == []
    assert bars(drawn(Group("g", (Bar("a", 0, 0, 0, ""),)))) == []
