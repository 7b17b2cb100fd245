"""A real Tomcat 10 whose start hangs at its first session id: found, patched, started again."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.rig import report_of, surfaces, until, wait_of
from tests.live.tomcats import STARTED, Tomcat, instance
from tests.machine import Seedstall

from seedstall.effect.starvation import Drip, DryDevice, Starved

pytestmark = [pytest.mark.tomcat, pytest.mark.jvm, pytest.mark.root]

WARNING = "Creation of SecureRandom instance"
OWN_OPTIONS = (
    '# memory of this instance\nCATALINA_OPTS="$CATALINA_OPTS -Xmx128m"\nexport CATALINA_OPTS\n'
)


@pytest.fixture
def tomcat(tmp_path: Path, java: Path, namespaces: None) -> Tomcat:
    return instance(tmp_path / "instance", java.parent.parent)


@pytest.fixture
def hung(tomcat: Tomcat, device: DryDevice) -> Starved:
    process = tomcat.start(device)
    until(lambda: process.waiting_thread() is not None, process)
    return process


@pytest.fixture
def dripping() -> Iterator[DryDevice]:
    """A seed of 20 bytes takes about two seconds: three drips after the one that lies there."""
    with DryDevice(Drip(every_s=0.8)) as device:
        yield device


def test_the_hung_start_is_named_in_the_first_line(
    hung: Starved, tomcat: Tomcat, seedstall: Seedstall
) -> None:
    done = seedstall("diagnose", hung.pid)
    assert done.returncode == 10, done.stderr
    first = done.stdout.splitlines()[0]
    assert first.startswith('stalled (blocking-seed, confirmed): "main" ')
    assert "read of /dev/random" in first
    assert "SHA1PRNG" in first
    assert "Tomcat" in first
    assert "session" in first
    assert f"seedstall fix {hung.pid} --surface tomcat-setenv" in done.stdout
    assert "SessionIdGeneratorBase.createSecureRandom" in done.stdout
    assert "FIFO" in done.stdout.upper(), "what /dev/random really is here"
    assert re.search(r"/\./", done.stdout), "why the famous value is not the one"
    assert STARTED not in tomcat.log_text()

    report = report_of(seedstall, hung.pid, tomcat.log)
    assert report["verdict"]["status"] == "stalled"
    assert surfaces(report)[0] == "tomcat-setenv"
    wait = wait_of(report)
    assert wait["name"] == "main"
    assert wait["nid"] == wait["tid"] == hung.waiting_thread()
    assert report["facts"]["jvm"]["product"] == "Apache Tomcat"


@pytest.mark.parametrize(
    "before", [None, OWN_OPTIONS], ids=["no setenv.sh", "a setenv.sh of its own"]
)
def test_the_printed_patch_brings_it_up_on_the_same_device(
    tomcat: Tomcat, device: DryDevice, seedstall: Seedstall, before: str | None
) -> None:
    setenv = tomcat.base / "bin/setenv.sh"
    if before is not None:
        setenv.write_text(before, encoding="utf-8")
    hung = tomcat.start(device)
    until(lambda: hung.waiting_thread() is not None, hung)

    fix = seedstall("fix", hung.pid, "--surface", "tomcat-setenv")
    assert fix.returncode == 0, fix.stderr
    assert setenv.exists() == (before is not None), "nothing is written without --apply"
    patch = tomcat.base.parent / "setenv.patch"
    patch.write_text(fix.stdout, encoding="utf-8")
    hung.end(grace_s=5)

    assert "--- a/bin/setenv.sh" in fix.stdout or "--- /dev/null" in fix.stdout
    assert "+++ b/bin/setenv.sh" in fix.stdout
    dry = ["git", "apply", "--check", str(patch)]
    subprocess.run(
        dry, cwd=tomcat.base, check=True, env={**os.environ, "GIT_CEILING_DIRECTORIES": "/"}
    )
    with patch.open("rb") as diff:
        subprocess.run(["patch", "-p1", "-d", tomcat.base], stdin=diff, check=True)
    assert setenv.read_text(encoding="utf-8").startswith(before or "")

    start = time.monotonic()
    process = tomcat.start(device)
    took = tomcat.await_start(process)
    assert took < 15_000
    assert time.monotonic() - start < 30
    assert WARNING not in tomcat.log_text()
    assert "-Djava.security.egd=file:/dev/urandom" in command_line(process.pid)
    assert ("-Xmx128m" in command_line(process.pid)) == (before is not None)

    # It holds /dev/random open, as every JVM that loaded the SUN provider does, and waits for no seed.
    # What is left to say is true: that device gives nothing, to whoever reads it next.
    after = report_of(seedstall, process.pid)
    assert after["verdict"]["status"] == "at-risk"
    assert [finding["code"] for finding in after["findings"]] == ["SS303"]
    assert after["facts"]["threads"]["waiting_for_seed"] == []
    again = seedstall("fix", process.pid, "--surface", "tomcat-setenv")
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr


def command_line(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


def test_apply_writes_the_same_as_the_patch(
    hung: Starved, tomcat: Tomcat, seedstall: Seedstall
) -> None:
    printed = seedstall("fix", hung.pid, "--surface", "tomcat-setenv").stdout
    done = seedstall("fix", hung.pid, "--surface", "tomcat-setenv", "--apply")
    assert done.returncode == 0, done.stderr
    written = (tomcat.base / "bin/setenv.sh").read_text(encoding="utf-8")
    added = [line[1:] for line in printed.splitlines() if re.match(r"\+(?!\+\+ )", line)]
    assert written.splitlines() == added


def test_a_device_that_drips_makes_the_start_slow(
    tomcat: Tomcat, dripping: DryDevice, seedstall: Seedstall
) -> None:
    process = tomcat.start(dripping)
    startup = tomcat.await_start(process)
    match = re.search(rf"{WARNING}.* took \[([\d,]+)\] milliseconds", tomcat.log_text())
    assert match is not None, tomcat.log_text()
    cost = int(match[1].replace(",", ""))
    assert 1000 < cost < 5000

    for targets in ([tomcat.log], [process.pid, tomcat.log]):
        report = report_of(seedstall, *targets)
        verdict = report["verdict"]
        assert (verdict["status"], verdict["cause"]) == ("slow", "blocking-seed")
        assert verdict["cost_ms"] == cost
        assert verdict["startup_ms"] == startup
        assert verdict["share"] == pytest.approx(cost / startup, abs=0.01)
        assert "tomcat-setenv" in surfaces(report)
