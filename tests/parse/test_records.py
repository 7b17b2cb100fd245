"""Exports of log stores, whatever their shape and order, give the text that was logged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import live

from seedstall.parse.container import opened
from seedstall.parse.container.records import newest_first
from seedstall.parse.text import Text, plain
from seedstall.parse.threaddump import thread_dumps

DUMP = live("tomcat10-jdk17-hang.txt")
LINES = DUMP.decode().split("\n")
DAY = "2026-11-30T10:00:{:02d}.{:06d}Z"


def iso(number: int) -> str:
    return DAY.format(number // 1000 % 60, number % 1000)


Rows = list[dict[str, Any]]


def hits(rows: Rows) -> list[Any]:
    return [{"_source": {"@timestamp": iso(r["n"]), "message": r["m"]}} for r in rows]


def labelled(rows: Rows) -> Rows:
    return [{"labels": {"app": "x"}, "line": r["m"], "timestamp": iso(r["n"])} for r in rows]


def events(rows: Rows) -> Rows:
    return [{"timestamp": 1_796_000_000_000 + r["n"], "message": r["m"], "id": "3"} for r in rows]


def google(rows: Rows) -> Rows:
    return [{"insertId": "a", "textPayload": r["m"], "timestamp": iso(r["n"])} for r in rows]


def payloads(rows: Rows) -> Rows:
    return [{"jsonPayload": {"message": r["m"]}, "timestamp": iso(r["n"])} for r in rows]


def grafana(rows: Rows) -> Rows:
    return [{"line": r["m"], "timestamp": 1_796_000_000_000_000_000 + r["n"]} for r in rows]


def stern(rows: Rows) -> Rows:
    return [{"message": r["m"], "podName": "a-0", "time": iso(r["n"])} for r in rows]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def loki(rows: list[dict[str, Any]]) -> str:
    values = [[str(1_796_000_000_000_000_000 + row["n"]), row["m"]] for row in rows]
    result = [{"stream": {"app": "shop"}, "values": values}]
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": result}})


STORES: dict[str, Callable[[Rows], str]] = {
    "logcli": lambda rows: lines(labelled(rows)),
    "Loki's answer": loki,
    "Elasticsearch, a line each": lambda rows: lines(hits(rows)),
    "Elasticsearch's answer": lambda rows: json.dumps({"hits": {"hits": hits(rows)}}, indent=2),
    "CloudWatch": lambda rows: json.dumps({"events": events(rows)}, indent=4),
    "Google, text": lambda rows: json.dumps(google(rows), indent=2),
    "Google, JSON": lambda rows: json.dumps(payloads(rows)),
    "Grafana": lambda rows: json.dumps(grafana(rows)),
    "stern": lambda rows: lines(stern(rows)),
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("store", STORES)
def test_the_dump_comes_out(store: str, *, backwards: bool) -> None:
    rows = [{"n": number, "m": line} for number, line in enumerate(LINES)]
    given = STORES[store](rows[::-1] if backwards else rows)
    (expected,) = thread_dumps(DUMP, "x")

    (found,) = thread_dumps(given, "x")

    assert [t.name for t in found.threads] == [t.name for t in expected.threads]
    assert [[f.name for f in t.frames] for t in found.threads] == [
        [f.name for f in t.frames] for t in expected.threads
    ]
    assert found.complete


@pytest.mark.parametrize("backwards", [False, True])
def test_lines_are_those_of_what_was_handed_over(*, backwards: bool) -> None:
    rows = [{"n": number, "m": line} for number, line in enumerate(LINES)]
    given = STORES["Google, text"](rows[::-1] if backwards else rows)
    (found,) = thread_dumps(given, "x")
    thread = next(
        t for t in found.threads if t.name.startswith("localhost-startStop") or t.name == "main"
    )

    assert json.dumps(f'"{thread.name}"')[1:-1] in given.split("\n")[thread.line - 1]


def test_a_document_of_another_kind_is_left_alone() -> None:
    for left in (
        b'{"threadDump":{"message":"x"}}',
        b'[{"threadName":"main"}]',
        b'{"message": 3',
        b"[]",
        b'["line"]',
    ):
        assert opened(Text(left)).data == left


def test_only_an_order_of_newest_first_is_turned_round() -> None:
    assert newest_first([3.0, 2.0, None, 1.0])
    assert not newest_first([1.0, 2.0, 3.0])
    assert not newest_first([3.0, 1.0, 2.0, 1.5])
    assert not newest_first([])
    assert not newest_first([1.0, 1.0])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["line", "message", "values", "hits", "_source", "timestamp", "log", "events", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_any_json_is_read_without_an_error(told: Any, many: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    written = json.dumps(told)
    for given_text in (written, (written + "\n") * 3 if many else written[:-1]):
        plain(given_text)
