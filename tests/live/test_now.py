"""What frees a process that hangs now: typed as the report prints it, on real JVMs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.live.rig import JDK8, LIMIT_S, Rig, report_of
from tests.machine import Seedstall

pytestmark = pytest.mark.jvm


def fixes_of(report: Any) -> dict[str, Any]:
    (finding,) = [f for f in report["findings"] if f["code"] == report["verdict"]["code"]]
    return {fix["surface"]: fix for fix in finding["fixes"]}


def typed(text: str) -> None:
    """As a person would: the whole text, comments and all."""
    done = subprocess.run(
        ["sh", "-ec", text], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("jdk", "instance"),
    [
        pytest.param(8, "SHA1PRNG", id="jdk8", marks=JDK8.marks),
        pytest.param(17, "strong", id="jdk17"),
    ],
    indirect=["jdk"],
)
def test_what_is_told_first_frees_it(rig: Rig, seedstall: Seedstall, instance: str) -> None:
    process = rig.hung(instance, "nextBytes")

    os.kill(process.pid, signal.SIGSTOP)
    stopped = report_of(seedstall, process.pid)
    assert stopped["verdict"]["code"] == "SS501"
    fixes = fixes_of(stopped)
    assert list(fixes) == ["continue"]
    assert fixes["continue"]["takes"] == "at once"
    typed(fixes["continue"]["text"])

    shown = seedstall("diagnose", process.pid, "--passive").stdout
    report = report_of(seedstall, process.pid)
    fixes = fixes_of(report)
    names = list(fixes)
    assert names[:3] == ["feed-device", "capture", "restart"]
    assert {fixes[n]["when"] for n in names[:3]} == {"now"}
    assert {fixes[n]["when"] for n in names[3:]} == {"next-start"}
    assert fixes["capture"]["text"].splitlines()[-1] == (
        f"seedstall capture {process.pid} -o hung-{process.pid}.tar.gz"
    )
    # In the text the same, before what the next start needs.
    feed = fixes["feed-device"]["text"].splitlines()[-1]
    assert "\n  now: feed" in shown
    assert shown.index(feed) < shown.index("seedstall capture") < shown.index("at the next start")
    assert process.poll() is None

    typed(fixes["feed-device"]["text"])
    assert process.wait(LIMIT_S) == 0


@pytest.mark.parametrize("jdk", [pytest.param(17, id="jdk17")], indirect=True)
def test_a_fifo_of_its_own_that_nobody_writes_to(rig: Rig, seedstall: Seedstall) -> None:
    """Hung in open(2), before any read of it: named as the seed source that it is."""
    fifo = rig.folder / "seed"
    os.mkfifo(fifo)
    options = [f"-Djava.security.egd=file:{fifo}", "-cp", str(rig.folder)]
    process = subprocess.Popen(
        [rig.jdk.java, *options, "SeedProbe", "SHA1PRNG", "nextBytes"], process_group=0
    )
    channels = Path(f"/proc/{process.pid}/task")
    try:
        end = time.monotonic() + LIMIT_S
        while not any(f.read_text() == "wait_for_partner" for f in channels.glob("*/wchan")):
            assert time.monotonic() < end
            time.sleep(0.05)
        report = report_of(seedstall, process.pid)
        assert f"the opening of {fifo}" in report["verdict"]["sentence"]
        assert list(fixes_of(report)) == ["feed-device", "capture", "restart", "java-opts"]
    finally:
        process.kill()
        process.wait()


def test_a_debugger_that_comes_and_goes_lets_it_run(seedstall: Seedstall, full_jdk: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    option = f"-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:{port}"
    process = subprocess.Popen(
        [full_jdk / "java", option, "-version"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        assert process.stdout is not None
        assert b"Listening" in process.stdout.readline()
        report = report_of(seedstall, process.pid)
        assert report["verdict"]["cause"] == "other:jdwp-suspend"
        typed(fixes_of(report)["debugger"]["text"])
        assert process.wait(LIMIT_S) == 0
    finally:
        process.kill()
        process.communicate()
