"""Each family of settings that do not do what they look like, right and wrong: fixtures/lint/expect.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.lint_by_hand import found, linted

from seedstall.model.finding import Clear, Fired
from seedstall.model.report import Report
from seedstall.rules.lint import ALL

FOLDER = Path(__file__).parents[3] / "fixtures/lint"
CASES: list[dict[str, Any]] = tomllib.loads((FOLDER / "expect.toml").read_text("utf-8"))["case"]

# What no family may be without, so that a table written anew cannot lose it by accident.
FAMILIES = {
    "near-miss-name": {"SS203"},
    "after-the-jar": {"SS203"},
    "no-system-property": {"SS203"},
    "broken-url": {"SS202"},
    "old-jdk": {"SS203"},
    "default-changed": {"SS204"},
    "default-blocks": {"SS201"},
    "strong-instance": {"SS207"},
    "strong-loop": {"SS208"},
    "replaced-file": {"SS209"},
    "json-quotes": {"SS206"},
    "windows": {"SS202"},
    "dropped": {"SS203", "SS211", "SS212"},
    "leftover": {"SS216"},
    "feeder-in-container": {"SS214"},
    "feeds-itself": {"SS215"},
    "fips": {"SS210"},
    "clobbered": {"SS212", "SS213"},
    "malformed": {"SS205"},
    "build-tools": {"SS202", "SS203"},
    "written-by-a-build": {"SS202", "SS203"},
    "crlf": {"SS202", "SS203"},
    "disabled": set[str](),
}


def lint_of(case: dict[str, Any]) -> Report:
    files = {name: (FOLDER / name).read_bytes() for name in case["files"]}
    return linted(files, jdk=case.get("jdk", ""), kernel=case.get("kernel", ""))


def name_of(case: dict[str, Any]) -> str:
    said = [case[key] for key in ("jdk", "kernel") if key in case]
    return " ".join([*case["files"], *said])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_file_gives_what_is_expected_of_it(case: dict[str, Any]) -> None:
    report = lint_of(case)

    assert [tuple(row) for row in case.get("findings", [])] == found(report)
    assert case["status"] == report.verdict.status
    assert all(isinstance(o, Fired | Clear) for o in report.outcomes)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_nothing_right_and_nothing_disabled_is_found(case: dict[str, Any]) -> None:
    blameless = all("/right/" in f or f.startswith("disabled/") for f in case["files"])
    if not blameless or "kernel" in case or "jdk" in case:
        return
    alone = "replaced-file/right/start.sh" in case["files"] and len(case["files"]) == 1

    assert found(lint_of(case)) == [] or alone  # its file was not handed over: a note says so


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_found(family: str) -> None:
    codes = {
        row[1]
        for case in CASES
        if all(f.startswith(f"{family}/") for f in case["files"])
        for row in case.get("findings", [])
    }

    assert codes == FAMILIES[family] or codes > FAMILIES[family] > set()


def test_every_fixture_is_expected_of_and_in_a_family() -> None:
    named = {name for case in CASES for name in case["files"]}
    there = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*") if p.is_file()}

    assert there - {"expect.toml"} == named
    assert {name.partition("/")[0] for name in named} == set(FAMILIES)


def test_every_rule_is_found_somewhere() -> None:
    codes = {row[1] for case in CASES for row in case.get("findings", [])}

    assert codes == {rule.code for rule in ALL}
