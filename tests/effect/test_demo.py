from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from seedstall.effect.demo import (
    Trial,
    await_stall,
    end_hung,
    find_java,
    flag_of,
    run_probe,
    start_probe,
)
from seedstall.effect.starvation import DryDevice
from seedstall.model.errors import NoSuchTargetError
from seedstall.model.finding import Fix

FIX = "-Djava.security.egd=file:/dev/urandom"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    program = tmp_path / "jdk/bin/java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path / "jdk"


def test_java_may_be_named_by_program_or_home(home: Path) -> None:
    assert find_java(home) == home / "bin/java"
    assert find_java(home / "bin/java") == home / "bin/java"


@pytest.mark.parametrize("name", ["no/such", "jdk/bin", "."])
def test_what_is_named_must_be_a_java(home: Path, name: str) -> None:
    with pytest.raises(NoSuchTargetError, match="no java program"):
        find_java(home.parent / name)


def test_java_home_comes_before_the_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setenv("JAVA_HOME", "/no/such/home")
    assert find_java(None) == home / "bin/java"
    monkeypatch.setenv("PATH", "/no/such/path")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java(None) == home / "bin/java"
    monkeypatch.setenv("JAVA_HOME", "")
    with pytest.raises(NoSuchTargetError, match="no java is on the PATH"):
        find_java(None)


def test_the_flag_is_the_plain_one() -> None:
    egd = {"egd": "file:/dev/urandom"}
    fixes = [
        Fix(surface="tomcat-setenv", title="", params=egd),
        Fix(surface="java-opts", title="", params=egd),
    ]
    assert flag_of(fixes) == FIX
    assert flag_of([Fix(surface="strong-algorithms", title="", params={"value": "x"})]) == ""


@pytest.mark.jvm
def test_the_probe_hangs_without_the_fix_and_runs_with_it(
    java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a user's environment says must not spoil it.
    monkeypatch.setenv("_JAVA_OPTIONS", FIX)
    with DryDevice() as device:
        process = start_probe(device, java)
        assert await_stall(process)
        before = end_hung(process, after_s=0.5)
        after = run_probe(device, java, [FIX])
    assert before.hung
    assert before.seconds >= 0.5
    assert after.algorithm == "SHA1PRNG"
    assert after.seeding_ms is not None
    assert after.seconds < 3


@pytest.mark.jvm
def test_a_fix_that_does_not_help_is_no_success(
    java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seedstall.effect.demo.HANG_S", 1.0)
    with DryDevice() as device:
        assert run_probe(device, java, ["-Djava.security.edg=file:/dev/urandom"]).hung


def test_a_program_that_ends_is_no_stall(tmp_path: Path) -> None:
    with DryDevice() as device:
        process = device.start(["sh", "-c", "echo oops; exit 3"], output=subprocess.PIPE)
        assert not await_stall(process)
        trial = end_hung(process)
    assert trial == Trial(hung=False, seconds=trial.seconds, output="oops")
