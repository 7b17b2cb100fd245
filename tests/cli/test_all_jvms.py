"""``diagnose --all``: JVMs come and go while we look, and none of that is our failure."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.source.test_processes import mapper, started
from typer.testing import CliRunner, Result

from seedstall.cli import cases
from seedstall.cli.app import application
from seedstall.engine.host import Roots
from seedstall.facts.jdk import TEMPORARY
from seedstall.model.errors import NoSuchTargetError
from seedstall.model.evidence import Ask, Got, Reading, Ref, Space
from seedstall.model.report import Report
from seedstall.model.verdict import Status
from seedstall.source import host


@pytest.fixture
def gone() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@pytest.fixture
def there(tmp_path: Path) -> Iterator[int]:
    """A process that is a JVM by what it maps."""
    library = tmp_path / "libjvm.so"
    library.write_bytes(b"\0" * 4096)
    with started(*mapper(library, "MAP_PRIVATE", "PROT_READ | PROT_EXEC")) as pid:
        yield pid


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application(("diagnose", "list")), ["diagnose", *arguments])


def test_one_that_ended_is_told_and_is_no_case(
    gone: int, there: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "all_jvms", lambda: (gone, there))
    done = run("--all", "--passive", "--format", "json")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert f"ended while we looked: {gone}" in done.stderr
    assert [case["target"] for case in json.loads(done.stdout)["cases"]] == [str(there)]


def test_where_all_have_ended_there_is_no_target(
    gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "all_jvms", lambda: (gone,))
    done = run("--all", "--passive")
    assert isinstance(done.exception, NoSuchTargetError)
    assert done.exception.code == 3


def test_where_none_runs_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "all_jvms", lambda: ())
    done = run("--all")
    assert isinstance(done.exception, NoSuchTargetError)
    assert "no JVM runs here" in str(done.exception)


def test_no_descriptor_stays_open(there: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "all_jvms", lambda: (there,) * 20)
    run("--all", "--passive")  # imports, and what stays open for good
    before = len(list(Path("/proc/self/fd").iterdir()))
    run("--all", "--passive")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


class Counted:
    """A source that counts how often /tmp is listed."""

    def __init__(self, root: bytes) -> None:
        self.root = root
        self.listed = 0

    def read(self, ref: Ref) -> Reading[bytes]:
        if ref == TEMPORARY:
            self.listed += 1
            return Got(b"a\0hsperfdata_x\0" + b"z\0" * 1000, (ref,))
        return Got(self.root if ref.path == "root" else b"mnt:[1]", (ref,))


def test_what_is_in_a_shared_directory_is_read_once() -> None:
    roots = Roots()
    first, second, other = Counted(b"/"), Counted(b"/"), Counted(b"/srv/chroot")
    for source in (first, second, other):
        reading = roots.shared(source).read(TEMPORARY)
        assert isinstance(reading, Got)
        assert reading.value == b"hsperfdata_x\0"
    assert (first.listed, second.listed, other.listed) == (1, 0, 1)
    link = Ref(Space.PROCESS, "root", Ask.LINK)
    assert roots.shared(second).read(link) == second.read(link)


def test_a_script_without_a_jvm_has_no_fix() -> None:
    """``diagnose`` says what holds it up; there is no JVM whose settings could be changed."""
    with subprocess.Popen(["sh", "-c", "sleep 61; true"], process_group=0) as script:
        try:
            app = application(("fix", "diagnose"))
            done = CliRunner().invoke(app, ["fix", str(script.pid), "--surface", "java-opts"])
        finally:
            os.killpg(script.pid, 9)
    assert isinstance(done.exception, NoSuchTargetError)
    assert "is not a JVM" in str(done.exception)


def test_one_that_was_named_is_a_case_even_if_it_ends(there: int) -> None:
    plan = cases.plan([str(there)], cases.Said(), cases.Touch(attach=False, memory=False))
    found = cases.plan([], cases.Said(), cases.Touch(attach=False, memory=False), every_jvm=True)
    os.kill(there, signal.SIGKILL)
    os.waitid(os.P_PID, there, os.WEXITED | os.WNOWAIT)
    (told,) = cases.all_looked_at(plan)
    assert isinstance(told, Report)
    assert told.verdict.status is Status.UNKNOWN
    mine = [case for case in found.cases if case.pid == there]
    with pytest.raises(NoSuchTargetError):
        cases.all_looked_at(replace(found, cases=tuple(mine)))
