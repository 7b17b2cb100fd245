from __future__ import annotations

import contextlib
import json
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.measure import Bench, Measurement, change, differences
from seedstall.render.bench import as_json, drawing, earlier, figure, render
from seedstall.render.schema import schema

FOUND = (
    Measurement("call nothing", "overhead", "ns", (200.0, 210.0, 190.0)),
    Measurement("getrandom 16", "small reads", "ns", (410.0, 400.0, 420.0), 200.0),
    Measurement("libc rand() 16", "small reads", "ns", (2000.0, 2010.0), 1990.0),
    Measurement("bulk /dev/urandom", "bulk reads", "MB/s", (300.0, 310.0)),
    Measurement("bulk /dev/random", "bulk reads", "MB/s", failure="it waits\x1b[2J"),
)
BENCH = Bench("kernel", FOUND, (("kernel", "6.1"), ("timer", "40 ns")), ("a note", "password=x"))


def test_the_answer_stands_first_and_the_tables_below() -> None:
    text = render(BENCH, "it scales")
    lines = text.splitlines()
    assert lines[0] == "it scales"
    assert "kernel       6.1" in lines
    (row,) = [line.split() for line in lines if line.startswith("getrandom 16")]
    assert row == ["getrandom", "16", "410", "210", "402", "to", "418", "410", "10.0", "3"]
    (rand,) = [line for line in lines if line.startswith("libc rand() 16")]
    assert rand.split()[4] == "-", "what is left of a figure that is all overhead means nothing"
    assert "note: net -: nearly all" in text
    assert "net -:" not in render(Bench("kernel", FOUND[:2], ()), "s")
    assert "bulk /dev/random   it waits\\x1b[2J" in text
    assert "password=*****" in text
    assert render(BENCH, "it scales", quiet=True) == "it scales\n"


def test_an_earlier_run_is_read_back_and_compared() -> None:
    before = earlier(as_json(BENCH, "it scales"))
    figures = before.figures
    assert before.what == "kernel"
    assert before.facts == dict(BENCH.facts)
    assert set(figures) == {m.key for m in FOUND if m.values}
    faster = Measurement("bulk /dev/urandom", "bulk reads", "MB/s", (600.0, 610.0))
    found = change(faster, figures["bulk /dev/urandom"])
    assert found is not None
    text = render(BENCH, "s", [found], compared=True)
    assert "1 of 1 figures are clearly other" in text
    assert "bulk /dev/urandom: 305 -> 605, 1.98 times" in text
    assert json.loads(as_json(BENCH, "s", [found]))["changes"][0]["clear"] is True
    assert "it holds none of these figures" in render(BENCH, "s", [], compared=True)


def test_a_baseline_of_something_else_is_told() -> None:
    """Another kernel, another machine: a figure that differs says nothing of a change here then."""
    before = earlier(
        as_json(Bench("kernel", FOUND, (("kernel", "3.10\x1b[2J"), ("load", "9"))), "s")
    )
    other = differences(before.facts, (("kernel", "6.1"), ("load", "1"), ("processors", "2 of 2")))
    assert other == (("kernel", "3.10\x1b[2J", "6.1"),)
    text = render(BENCH, "s", [], compared=True, other=other)
    assert "the baseline is not of the same thing" in text
    assert "  kernel: 3.10\\x1b[2J then, 6.1 now\n" in text
    document = json.loads(as_json(BENCH, "s", [], other))
    jsonschema.validate(document, schema())
    assert document["baseline_differs"][0]["fact"] == "kernel"
    assert "not of the same thing" not in render(BENCH, "s", [], compared=True)


@given(
    st.one_of(
        st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)
    )
)
def test_any_baseline_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        earlier(text)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"measurements": [1]}',
        '{"measurements": [{"key": 3}]}',
        "[" * 100_000,
        '{"measurements": {}}',
    ],
)
def test_what_is_no_earlier_run_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"measurement|nested|Expecting"):
        earlier(text)


def test_the_picture_holds_speeds_alone() -> None:
    text = drawing(BENCH, "it scales: so it does")
    picture = ET.fromstring(text)  # noqa: S314 - our own text
    labels = [g.get("aria-label") for g in picture.iter("{http://www.w3.org/2000/svg}g")]
    assert labels == [
        "getrandom 16 bytes: 39.0 MB/s",
        "libc rand() 16 bytes: 7.98 MB/s",
        "bulk /dev/urandom: 305 MB/s",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (1234.5, "1,234"), (12.34, "12.3"), (1.234, "1.23"), (0, "0.00")],
)
def test_figures_have_as_many_digits_as_mean_something(value: float | None, text: str) -> None:
    assert figure(value) == text
