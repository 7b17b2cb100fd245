"""`seedstall demo` as a person runs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.live.rig import JDKS_SINCE_9, Jdk
from tests.machine import CHECKOUT, FORBID_NAMESPACES, Seedstall

pytestmark = pytest.mark.jvm


def test_it_hangs_is_diagnosed_and_runs_with_the_fix(
    java: Path, seedstall: Seedstall, tmp_path: Path
) -> None:
    start = time.monotonic()
    done = seedstall("demo", "--java", java, env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - start < 30
    rows = dict(re.findall(r"^(\w[\w ]+?)  +(\S.*)$", done.stdout, re.MULTILINE))
    assert re.fullmatch(r"hung, ended after 3\.\d s", rows["without it"])
    assert re.fullmatch(r"[0-2]\.\d s \(SHA1PRNG seeded in \d+ ms\)", rows["with it"])
    assert rows["the fix"] == "-Djava.security.egd=file:/dev/urandom"
    assert 'stalled (blocking-seed, confirmed): "main" ' in done.stdout
    assert "syscall" in done.stdout, "the evidence is shown"
    assert re.search(r"^starting .*java", done.stderr, re.MULTILINE), "progress goes to stderr"
    assert "starting" not in done.stdout
    assert list(tmp_path.iterdir()) == [], "nothing is left"


# The other releases are shown by test_hung_jvm, hang by hang.
@pytest.mark.parametrize("jdk", JDKS_SINCE_9[-1:], indirect=True)
def test_every_jdk_shows_it(jdk: Jdk, seedstall: Seedstall) -> None:
    done = seedstall("demo", "--java", jdk.java)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "without it    hung, ended after 3." in done.stdout


def test_without_namespaces_it_shows_the_same_and_says_how(java: Path) -> None:
    """As in a container whose seccomp profile refuses unshare(2)."""
    script = f"{FORBID_NAMESPACES}\nfrom seedstall.cli.app import main\nmain()\n"
    done = subprocess.run(
        [sys.executable, "-c", script, "demo", "--java", str(java)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "java.security.egd (no mount namespace is allowed here)" in done.stdout
    assert "without it    hung, ended after 3." in done.stdout


def test_without_java_it_says_what_to_do(seedstall: Seedstall, tmp_path: Path) -> None:
    done = seedstall("demo", env={"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert done.returncode == 3
    assert done.stdout == ""
    assert "error: no java is on the PATH" in done.stderr
    assert "hint: " in done.stderr
    assert "--java" in done.stderr


def test_a_java_that_does_not_hang_is_a_broken_promise(
    seedstall: Seedstall, tmp_path: Path
) -> None:
    fake = tmp_path / "java"
    fake.write_text("#!/bin/sh\necho SHA1PRNG 12\n")
    fake.chmod(0o755)
    done = seedstall("demo", "--java", fake)
    assert done.returncode == 1
    assert "error: the program did not hang on the dry device" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_it_leaves_nothing(java: Path, tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "seedstall", "demo", "--java", str(java)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src"), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    while line and not line.startswith("leaving it hung"):
        line = process.stderr.readline()
    process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []
    match = re.search(r"\(PID (\d+)\)", output)
    assert match is not None
    assert not Path(f"/proc/{match[1]}").exists()
