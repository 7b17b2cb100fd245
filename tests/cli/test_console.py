from __future__ import annotations

from pathlib import Path

import pytest

from seedstall.cli.console import Exit, complain, exit_code, put
from seedstall.model.errors import SeedstallError
from seedstall.model.finding import Confidence, Finding, Fired, Severity
from seedstall.model.report import Failure, Report, Verdict
from seedstall.model.verdict import Cause, Status


def report(status: Status, *severities: Severity) -> Report:
    found = tuple(
        Finding(
            message="m",
            sentence="s",
            cause=Cause.BLOCKING_SEED,
            status=status,
            severity=severity,
            confidence=Confidence.LIKELY,
        )
        for severity in severities
    )
    verdict = Verdict(status=status, cause=Cause.NONE, confidence=None, sentence="s")
    return Report(target="t", verdict=verdict, outcomes=(Fired("SS101", "n", found, ()),))


CLEAR = report(Status.CLEAR)
NOTED = report(Status.CLEAR, Severity.NOTE)
UNKNOWN = report(Status.UNKNOWN)
WARNED = report(Status.SLOW, Severity.WARNING)
STALLED = report(Status.STALLED, Severity.ERROR)


@pytest.mark.parametrize(
    ("told", "fail_on", "expected"),
    [
        ([CLEAR], "warning", Exit.CLEAR),
        ([NOTED], "warning", Exit.CLEAR),
        ([NOTED], "note", Exit.FOUND),
        ([WARNED], "warning", Exit.FOUND),
        ([WARNED], "error", Exit.CLEAR),
        ([STALLED], "never", Exit.CLEAR),
        ([UNKNOWN], "never", Exit.UNKNOWN),
        ([UNKNOWN, CLEAR], "warning", Exit.UNKNOWN),
        ([UNKNOWN, STALLED], "warning", Exit.FOUND),
        ([CLEAR, Failure(target="1", error="gone")], "warning", Exit.UNKNOWN),
    ],
)
def test_the_worst_case_decides(told: list[Report | Failure], fail_on: str, expected: Exit) -> None:
    assert exit_code(told, fail_on) is expected


def test_errors_have_a_hint_and_no_escape_codes(capsys: pytest.CaptureFixture[str]) -> None:
    complain(SeedstallError("no \x1b[31m -storepass hunter2", "try b"))

    assert capsys.readouterr().err == "error: no \\x1b[31m -storepass *****\nhint: try b\n"


def test_a_file_that_cannot_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(SeedstallError) as caught:
        put("x", tmp_path / "no" / "file")

    assert caught.value.hint
