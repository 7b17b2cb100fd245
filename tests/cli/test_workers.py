"""Many files at once: a verdict for each and a summary, whatever becomes of the processes that read them."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import psutil
import pytest
from tests.texts import probes, tomcat_logs

from seedstall.cli import cases
from seedstall.cli.workers import SideBySide, Told
from seedstall.model.report import Failure, Report
from seedstall.render import summary, text
from seedstall.render.schema import schema

SEEDSTALL = [sys.executable, "-m", "seedstall"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twenty-four files: dumps, logs, and one that is neither."""
    chosen = [*sorted(probes().items())[:16], *sorted(tomcat_logs().items())[:7]]
    for name, data in chosen:
        (tmp_path / name.replace("/", "-")).write_bytes(data)
    (tmp_path / "notes.txt").write_text("nothing of the kind\n")
    return tmp_path


def planned(folder: Path) -> tuple[cases.Planned, ...]:
    return cases.plan([str(folder)], cases.Said(), cases.Touch()).cases


def test_processes_tell_what_one_tells(folder: Path) -> None:
    names = [case.target for case in planned(folder)]
    alone = [cases.looked_at(case) for case in planned(folder)]
    chosen = planned(folder)

    run = SideBySide(names, lambda number: cases.looked_at(chosen[number]), workers=3)
    run.run()

    assert [text.render(run.told[n], verbose=1) for n in range(len(names))] == [
        text.render(told, verbose=1) for told in alone
    ]


def dies(number: int) -> Told:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 5:
        os._exit(7)
    if number == 7:
        raise RecursionError("deep")
    return Failure(target=str(number), error="fine")


def test_a_worker_that_dies_takes_one_case_with_it() -> None:
    run = SideBySide([str(n) for n in range(20)], dies, workers=2)
    run.run()

    told = {n: t.error for n, t in run.told.items() if isinstance(t, Failure)}
    assert "ended by SIGKILL" in told.pop(3)
    assert "ended with exit code 7" in told.pop(5)
    assert told.pop(7) == "RecursionError: deep"
    assert set(told.values()) == {"fine"}
    assert len(told) == 17


def test_a_folder_is_summed_up_the_worst_first(folder: Path) -> None:
    done = subprocess.run(
        [*SEEDSTALL, "diagnose", str(folder)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 10
    assert done.stderr == ""  # no bar: it is no terminal
    answer, _, head, *rows = done.stdout.splitlines()
    assert re.match(r"\d+ of 24 cases stalled \(", answer)
    assert head == f"summary of 24 cases in {folder}/"
    blank = rows.index("")
    rows = rows[: rows.index("", blank + 1)]
    verdicts, fleet = rows[:blank], rows[blank + 2 :]
    assert verdicts[0].split()[0] == "stalled"
    assert verdicts[-1].split()[0] in ("unknown", "clear")
    assert f"{folder}/" not in "".join(rows)
    assert sum(int(re.split(r"\s{2,}", row)[2]) for row in verdicts) == 24
    assert sum(int(row.split()[0]) for row in fleet) == 24
    assert done.stdout.count(f"{folder}/") >= 24


def test_the_summary_for_programs_keeps_to_the_schema(folder: Path) -> None:
    done = subprocess.run(
        [*SEEDSTALL, "diagnose", "--format", "json", str(folder)], capture_output=True, check=False
    )
    told = json.loads(done.stdout)

    jsonschema.validate(told, schema())
    assert len(told["cases"]) == told["summary"]["cases"] == told["summary"]["looked_at"] == 24
    assert sum(row["count"] for row in told["summary"]["verdicts"]) == 24


def test_a_terminal_has_a_bar(folder: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*SEEDSTALL, "diagnose", str(folder)], stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(ours)

    assert process.wait() == 10
    assert b"/24" in seen


def wait_for(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interruption_tells_what_is_known_and_leaves_nobody(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, number: signal.Signals
) -> None:
    # A pipe that nobody writes to holds up whoever reads it.
    code = f"""
import os, sys, time
from seedstall.cli import app, cases
real = cases.looked_at
def slow(case, **how):
    if "notes" in case.target:
        open({str(folder / ".held")!r}, "w").close()
        time.sleep(60)
    return real(case, **how)
cases.looked_at = slow
sys.argv = ["seedstall", "diagnose", {str(folder)!r}]
app.main()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    held = folder / ".held"
    wait_for(held.exists)
    workers = psutil.Process(process.pid).children()
    assert workers
    time.sleep(0.3)

    if number is signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=30)

    wait_for(lambda: [w for w in workers if lives(w)] == [])
    if number is signal.SIGKILL:
        return
    assert process.returncode == 130
    assert "not looked at" in err
    assert "interrupted, " in out
    assert out.count(f"\n{folder}/") > 3


def test_counts_put_the_worst_first(folder: Path) -> None:
    told: list[Report | Failure] = [cases.looked_at(case) for case in planned(folder)]
    told.append(Failure(target="x", error="no"))

    rows = summary.counts(told)

    assert [row.status for row in rows] == sorted(
        (row.status for row in rows),
        key=["stalled", "slow", "ended", "at-risk", "error", "unknown", "clear"].index,
    )
