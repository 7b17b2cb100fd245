"""``seedstall dump`` as a command: what it prints, and how it exits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from seedstall.cli.dump import dump
from seedstall.effect.attach import Attacher
from seedstall.model.errors import NoSuchTargetError, SeedstallError, UsageError
from seedstall.model.evidence import Got, Missing, Reading, Why
from seedstall.model.report import Action
from seedstall.source import detect

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(dump)

ANSWER = (
    b'Full thread dump\n"pool \x1b[31m\xff" #1\n\tat a.B.c(B.java:1)\n"http://me:secret@x/" #2\n'
)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> list[Reading[bytes]]:
    """What the JVM answers: a list of one."""
    given: list[Reading[bytes]] = [Got(ANSWER)]
    monkeypatch.setattr(detect, "jvms_of", lambda target: (target.pid,))
    monkeypatch.setattr(Attacher, "ask", lambda *_: given[0])
    return given


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(os.getpid()), *map(str, arguments)])


def failure(result: Result, kind: type[SeedstallError]) -> SeedstallError:
    assert isinstance(result.exception, kind), result.exception
    return result.exception


def test_the_dump_is_printed_fit_for_a_terminal(answer: list[Reading[bytes]]) -> None:
    result = run()
    assert result.exit_code == 0
    assert result.stdout == (
        'Full thread dump\n"pool \\x1b[31m\\udcff" #1\n\tat a.B.c(B.java:1)\n"http://*****:*****@x/" #2\n'
    )
    assert "me:secret" in run("--no-redact").stdout


def test_it_may_go_to_a_file(answer: list[Reading[bytes]], tmp_path: Path) -> None:
    assert run("-o", tmp_path / "dump.txt").stdout == ""
    assert (tmp_path / "dump.txt").read_text().startswith("Full thread dump\n")


def test_a_refusal_is_an_error_with_its_reason(answer: list[Reading[bytes]]) -> None:
    answer[0] = Missing(Why.REFUSED, (), "it is stopped")
    error = failure(run(), SeedstallError)
    assert (str(error), error.code) == (
        f"no thread dump of {os.getpid()}, refused: it is stopped",
        1,
    )
    assert "--passive" in error.hint


def test_one_that_is_gone_is_no_such_target(answer: list[Reading[bytes]]) -> None:
    answer[0] = Missing(Why.VANISHED)
    assert failure(run(), NoSuchTargetError).code == 3


def test_a_dry_run_prints_what_would_be_done(
    answer: list[Reading[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer[0] = Missing(Why.REFUSED, (), "dry run: nothing was done")
    actions = (Action(what="send SIGQUIT", pid=7), Action(what="connect", pid=7))
    monkeypatch.setattr(Attacher, "actions", actions)
    result = run("--dry-run")
    assert (result.exit_code, result.stdout) == (0, "7: would send SIGQUIT\n7: would connect\n")
    monkeypatch.setattr(Attacher, "actions", ())
    failure(run("--dry-run"), SeedstallError)


def test_what_is_no_process_is_no_target(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path)])
    assert failure(result, UsageError).code == 2
    assert failure(CliRunner().invoke(app, ["no-such-file"]), NoSuchTargetError).code == 3


def test_a_process_that_is_no_jvm_is_no_target() -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        error = failure(CliRunner().invoke(app, [str(process.pid)]), NoSuchTargetError)
        assert "is not a JVM" in str(error)
    finally:
        process.kill()
        process.wait()


def test_what_started_a_jvm_leads_to_it(
    answer: list[Reading[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "jvms_of", lambda _: (77,))
    result = run()
    assert result.stdout.startswith("Full thread dump")
    assert f"{os.getpid()} is not a JVM itself; below it: 77" in result.output
    monkeypatch.setattr(detect, "jvms_of", lambda _: (77, 78))
    assert "77, 78" in str(failure(run(), UsageError))
