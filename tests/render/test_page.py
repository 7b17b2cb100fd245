from __future__ import annotations

from dataclasses import replace

import pytest
from tests.render_by_hand import FINDING, report

from seedstall.model.finding import Evidence, Fired
from seedstall.model.report import Failure, Report
from seedstall.render import page

HOSTILE = '<script>alert(1)</script> `x` | </code> \x1b[31m \u202e "><img src=x>'


def hostile_report() -> Report:
    finding = replace(
        FINDING, evidence=(Evidence(origin=HOSTILE, excerpt=HOSTILE),), notes=(HOSTILE,)
    )
    return report(outcomes=(Fired("SS101", "blocking-seed", (finding,), ()),), target=HOSTILE)


def test_markdown_holds_the_sentence_the_evidence_and_the_fix() -> None:
    shown = page.render([report()], "markdown")

    assert "stalled (blocking-seed, confirmed)" in shown
    assert "/proc/1/task/2/syscall" in shown
    assert "-Djava.security.egd=file:/dev/urandom" in shown
    assert "kernel:dmesg" in shown


def test_html_is_one_file_without_script_and_with_a_strict_policy() -> None:
    shown = page.render([report()], "html")

    assert shown.startswith("<!doctype html>")
    assert "default-src 'none'" in shown
    assert "<script" not in shown
    assert "http" not in shown.replace("http-equiv", "")


def test_foreign_text_is_escaped_in_html() -> None:
    shown = page.render([hostile_report()], "html")

    assert "<script>" not in shown
    assert "<img" not in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_foreign_text_ends_no_span_and_no_cell_in_markdown() -> None:
    shown = page.render([hostile_report()], "markdown")
    (row,) = [line for line in shown.splitlines() if line.startswith("| `<script>")]

    assert "\x1b" not in shown
    assert row.count("`") == 4
    assert row.replace("\\|", "").count("|") == 3


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_secrets_are_redacted(form: str) -> None:
    shown = page.render([report(target="x -storepass hunter2")], form)

    assert "hunter2" not in shown


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_case_that_failed_is_told(form: str) -> None:
    assert "process 12 is gone" in page.render(
        [Failure(target="12", error="process 12 is gone")], form
    )
