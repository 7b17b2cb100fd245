"""Exports that are too long to be held give the text that was logged, in its order and with its places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parse.test_records import DUMP, STORES
from tests.texts import live

from seedstall.facts import inputs
from seedstall.model.threads import ThreadDump
from seedstall.parse import longtext
from seedstall.parse.container import exported
from seedstall.parse.container.exported import oldest_first
from seedstall.parse.longtext import LongText
from seedstall.parse.threaddump import thread_dumps

LINES = [f"10:00:{n % 60:02} INFO [main] a.b.C request {n}" for n in range(3000)]
ROWS = [
    {"n": n, "m": line}
    for n, line in enumerate([*LINES[:2000], *DUMP.decode().split("\n"), *LINES[2000:]])
]


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def stacks(dump: ThreadDump) -> list[tuple[str, tuple[str, ...]]]:
    return [(t.name, tuple(f.name for f in t.frames)) for t in dump.threads]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longtext, "PART", 100_000)
    monkeypatch.setattr(longtext, "PIECE", 20_000)
    monkeypatch.setattr(exported, "_BLOCK", 10_000)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("store", STORES)
def test_the_dump_comes_out_once_in_order_and_in_its_place(
    store: str, codec: str, *, backwards: bool
) -> None:
    written = STORES[store](ROWS[::-1] if backwards else ROWS)
    (expected,) = thread_dumps(DUMP, "x")
    export = oldest_first(pieces(written.encode(codec), 30_011))
    long = LongText("x", export.total)

    parts = list(long.parts(export.pieces))

    (found,) = long.dumps
    assert stacks(found) == stacks(expected)
    assert found.complete
    assert not export.lack
    told = b"\n".join(part.data for part in parts).decode().split("\n")
    assert [line for line in told if " request " in line] == LINES
    if "\n" in written.strip():
        main = next(t for t in found.threads if t.name == "main")
        near = written.split("\n")[main.line - 1 :][:4]
        assert any('\\"main\\"' in line for line in near)
        for part in parts:
            numbers = list(part.numbers or ())
            assert numbers == sorted(numbers, reverse=export.total is not None)


def test_what_is_no_export_is_left_as_it_is() -> None:
    for data in (
        b'{"threadDump":{"message":"x"}}' * 9000,
        b'["line"]' * 20_000,
        b"[1, 2]",
        b"",
        live("tomcat10-jdk17-hang.txt") * 20,
        '{"a": "\N{SNOWMAN}", "log": "x"}\n'.encode() * 9000,
    ):
        export = oldest_first(pieces(data, 7001))
        assert b"".join(export.pieces) == data
        assert export.total is None


def test_what_is_too_long_to_be_turned_round_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported, "_PACKED", 5_000)
    written = STORES["logcli"](ROWS[::-1]).encode()

    export = oldest_first(pieces(written, 30_011))

    assert "newest record stands first" in export.lack
    assert b"".join(export.pieces) == written
    lacks: list[str] = []
    inputs._read_long("x", pieces(written, 30_011), lacks)
    assert lacks == [export.lack]


def test_a_list_around_records_that_is_longer_than_a_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exported, "_RECORD", 10_000)

    export = oldest_first(pieces(STORES["Loki's answer"](ROWS).encode(), 4_000))

    told = [json.loads(line)["line"] for line in b"".join(export.pieces).split(b"\n") if line]
    assert told == [row["m"] for row in ROWS]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [b"[", b"]", b"{", b"}", b'"', b"\\", b",", b":", b"\n", b'"hits":[', b'"values":[["1","x"]',
             b'{"message":"x","time":3}', b'"message"', b"\xff", b"\0", b"\xef\xbb\xbf"]
        ),
        max_size=60,
    ).map(b"".join),
    st.integers(1, 50),
)  # fmt: skip
def test_any_bytes(data: bytes, size: int) -> None:
    def told() -> Any:
        return b"".join(oldest_first(pieces(data, size)).pieces)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exported, "_RECORD", 40)
        patch.setattr(exported, "_HEAD", 8)
        assert told() is not None
