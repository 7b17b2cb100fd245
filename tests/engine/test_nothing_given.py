"""Inputs with nothing in them: what is said first is that."""

from __future__ import annotations

import gzip
import os

import pytest

from seedstall.engine.diagnosis import diagnose_case
from seedstall.model.evidence import Ask, Ref, Space, Why
from seedstall.source.base import Held

WROTE_NOTHING = "what was to write it wrote nothing; its standard error says why"
START = b"01-Jan-2026 10:00:00.000 INFO [main] org.apache.catalina.startup.Catalina.start"


def sentence(**files: bytes) -> str:
    named = {name.replace("__", "."): data for name, data in files.items()}
    held: dict[Ref, bytes | Why] = {Ref(Space.INPUT, name): data for name, data in named.items()}
    held[Ref(Space.INPUT, "", Ask.LIST)] = b"".join(os.fsencode(n) + b"\0" for n in named)
    verdict = diagnose_case(Held(held), "x").verdict
    assert verdict.status == "unknown"
    return verdict.sentence


@pytest.mark.parametrize("data", [b"", gzip.compress(b"")])
@pytest.mark.parametrize("name", ["bundle__tar", "hung__tar__gz", "x__tgz", "my-capture", "a__zip"])
def test_what_a_collector_did_not_write(name: str, data: bytes) -> None:
    shown = name.replace("__", ".")
    assert sentence(**{name: data}) == f"{shown} is empty: 0 bytes were read: {WROTE_NOTHING}"


def test_an_archive_of_no_members() -> None:
    assert sentence(x__tar=bytes(10240)) == f"x.tar holds no file: {WROTE_NOTHING}"


@pytest.mark.parametrize("data", [b" \n", b"\n" * 9000, b"\t\r\n", bytes(4096)])
def test_a_log_of_blanks(data: bytes) -> None:
    assert sentence(catalina__out=data) == "catalina.out holds nothing but blanks"


def test_others() -> None:
    assert sentence(catalina__out=b"") == "catalina.out is empty: 0 bytes were read"
    assert sentence(a=b"", b=b" ") == "all 2 files are empty: a is the first of them"
    assert "empty" not in sentence(a=b"", b=b"not a log\n")
    assert "\x1b" not in sentence(**{"\x1b[31m": b""})
