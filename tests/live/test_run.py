"""``seedstall run``, ``diagnose --for`` and ``--wait`` on real JVMs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.live.patients import CLASSES
from tests.live.rig import report_of, until
from tests.live.tomcats import STARTED, instance
from tests.machine import CATALINA_HOME, CHECKOUT, Seedstall

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import Drip, DryDevice, Starved

pytestmark = pytest.mark.jvm

SEEDSTALL = [sys.executable, "-m", "seedstall"]
ENV = {**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}


def errand(java: Path, *arguments: str) -> list[str]:
    return [str(java), "-cp", str(CLASSES), "Errand", *arguments]


def seeding(java: Path) -> list[str]:
    return [str(java), "-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes"]


def start(*arguments: object) -> subprocess.Popen[bytes]:
    """``seedstall run ARGUMENTS``, with every signal at its default."""
    pipe = subprocess.PIPE
    command = [*SEEDSTALL, "run", *map(str, arguments)]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=ENV, process_group=0)


@contextmanager
def starved(device: DryDevice, *arguments: object) -> Iterator[Starved]:
    """The same on that device, in its namespace."""
    process = device.start([*SEEDSTALL, "run", *map(str, arguments)], env=ENV)
    yield process
    process.end()


def told(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def went(report: Any) -> dict[str, int]:
    return {share["what"]: share["ms"] for share in report["facts"]["start"]["went_to"]}


def verdict(report: Any) -> tuple[str, str, str]:
    found = report["verdict"]
    return found["status"], found["cause"], found["confidence"]


def test_a_healthy_program_is_left_as_it_is_and_its_start_is_clear(java: Path) -> None:
    process = start("--", java, "-cp", CLASSES, "Patient", "0")
    out, err = process.communicate(b"??", timeout=60)
    assert (process.returncode, out) == (0, b"up\nalive\nalive\n"), "stdin and stdout are its own"
    text = err.decode()
    assert text.startswith("clear: not entropy: "), text
    assert "from launch to its end" in text
    assert "no thread waited for random bytes" in text
    assert "where the time went: " in text
    assert "\ndone to " not in text, "a healthy start is not asked for anything"


def test_the_exit_code_is_the_programs_through_its_wrapper(java: Path) -> None:
    process = start("-q", "--", "sh", "-c", '"$@"; exit $?', "sh", *errand(java, "exit", "3"))
    process.communicate(timeout=60)
    assert process.returncode == 3


def test_a_start_that_slept_is_slow_and_said_not_to_be_entropy(java: Path, tmp_path: Path) -> None:
    process = start("--format", "json", "-o", tmp_path / "r", "--", *errand(java, "sleep", "1200"))
    process.communicate(timeout=60)
    report = told(tmp_path / "r")
    assert report["verdict"]["sentence"].startswith("not entropy: ")
    assert 1100 < went(report)["sleeping"] < 1500
    assert "random" not in went(report)
    if went(report)["sleeping"] > 0.5 * report["facts"]["start"]["watched_ms"]:  # a busy machine
        assert verdict(report) == ("slow", "other:waiting", "confirmed")


def test_a_connection_that_nobody_answers_is_named_with_its_address(
    java: Path, tmp_path: Path
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(4)]  # its queue is full: packets are dropped
        for one in fillers:
            one.settimeout(0)
            one.connect_ex(address)
        command = errand(java, "connect", str(address[1]))
        process = start("--for", "3", "--format", "json", "-o", tmp_path / "r", "--", *command)
        await_report(tmp_path / "r", process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        for one in fillers:
            one.close()
    assert process.returncode == 143
    report = told(tmp_path / "r")
    assert verdict(report) == ("stalled", "other:connect", "confirmed")
    assert f"connect to 127.0.0.1:{address[1]}" in report["verdict"]["sentence"]


def await_report(path: Path, process: subprocess.Popen[bytes] | Starved) -> None:
    end = time.monotonic() + 60
    while not path.exists() or not path.read_bytes().endswith(b"}\n"):
        assert process.poll() is None, f"ended with {process.poll()}"
        assert time.monotonic() < end, "no report"
        time.sleep(0.05)


def jvm_of(report: Any) -> int:
    pid = report["facts"]["jvm"]["pid"]
    assert isinstance(pid, int)
    return pid


@pytest.mark.usefixtures("namespaces")
def test_a_hung_start_is_reported_while_it_hangs_and_signals_go_through(
    java: Path, device: DryDevice, seedstall: Seedstall, tmp_path: Path
) -> None:
    options = ("--for", "2", "--format", "json", "-o", tmp_path / "r")
    with starved(device, *options, "--", *seeding(java)) as process:
        await_report(tmp_path / "r", process)
        report = told(tmp_path / "r")
        assert verdict(report) == ("stalled", "blocking-seed", "confirmed")
        found = report["verdict"]
        assert 0 < found["share"] <= 1
        assert found["cost_ms"] <= found["startup_ms"]
        assert "from launch on went to it" in found["sentence"]
        if found["cost_ms"] > 1100:  # else the machine is so busy that it waits too shortly to tell
            assert found["progress"] == "stuck"
        assert [action["what"] for action in report["actions"]] == ["sigquit+attach threaddump"]
        assert report["facts"]["start"]["cost_of_a_core"] < 0.02

        again = report_of(seedstall, jvm_of(report), "--for", "1100ms")
        assert again["verdict"]["progress"] == "stuck"
        assert "stuck: it got nothing in the 1." in again["verdict"]["sentence"]
        assert again["verdict"]["since_ms"] > 1100
        assert again["verdict"]["cost_ms"] is None, "what it cost before is not known"

        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(20) == 143


@pytest.mark.usefixtures("namespaces")
def test_a_dripping_device_makes_a_slow_start_with_its_share_and_caller(
    java: Path, tmp_path: Path
) -> None:
    with (
        DryDevice(Drip(every_s=0.5)) as device,
        starved(device, "--format", "json", "-o", tmp_path / "r", "--", *seeding(java)) as process,
    ):
        assert process.wait(60) == 0
    report = told(tmp_path / "r")
    assert verdict(report) == ("slow", "blocking-seed", "confirmed")
    found = report["verdict"]
    assert 1000 < found["cost_ms"] < 4000
    assert found["cost_ms"] == went(report)["random"]
    assert found["share"] == pytest.approx(found["cost_ms"] / found["startup_ms"], abs=0.01)
    assert '"main" in read of /dev/random (fd ' in found["sentence"]
    assert "for SeedProbe.use, and went on" in found["sentence"]
    assert len(report["actions"]) == 1, "one dump, of the stall"


@pytest.mark.usefixtures("namespaces")
def test_a_jvm_that_somebody_else_launches_is_waited_for_and_seen_to_get_on(java: Path) -> None:
    name = f"-Dawaited={os.getpid()}"  # other tests start such programs too
    options = ("--wait", name, "--wait-for", "60", "--for", "2", "--format", "json")
    pipe = subprocess.PIPE
    command = [*SEEDSTALL, "diagnose", *options]
    with (
        DryDevice(Drip(every_s=0.9)) as device,
        subprocess.Popen(command, stdout=pipe, stderr=pipe, env=ENV) as waiting,
    ):
        assert waiting.stderr is not None
        assert waiting.stderr.readline().startswith(b"waiting for a JVM")
        program, *arguments = seeding(java)
        process = device.start([program, name, *arguments])
        out, _ = waiting.communicate(timeout=60)
    report = json.loads(out)
    assert report["target"] == str(process.pid)
    assert report["facts"]["start"]["from_launch"]
    assert report["verdict"]["cause"] == "blocking-seed"
    if report["verdict"]["status"] == "stalled":  # else it had its four drips by then
        assert report["verdict"]["progress"] == "progressing"
    assert report["verdict"]["cost_ms"] > 100


def test_a_wrapper_that_leaves_its_jvm_behind_is_followed(java: Path, tmp_path: Path) -> None:
    """As ``catalina.sh start``: the command ends at once, its log tells when the server is up."""
    fifo, log = tmp_path / "in", tmp_path / "log"
    os.mkfifo(fifo)
    holder = os.open(fifo, os.O_RDWR)
    script = '"$@" <"$IN" >"$LOG" 2>&1 &'
    command = ["env", f"IN={fifo}", f"LOG={log}", "sh", "-c", script, "sh", java, "-cp", CLASSES]
    options = ("--until", "up", "--until-file", log, "--format", "json", "-o", tmp_path / "r")
    process = start(*options, "--", *command, "Patient", "0")
    process.communicate(timeout=60)
    assert process.returncode == 0, "the wrapper's"
    report = told(tmp_path / "r")
    assert report["facts"]["start"]["ended_by"] == "until"
    pid = jvm_of(report)
    assert Path(f"/proc/{pid}").exists(), "it lives on"
    os.kill(pid, signal.SIGTERM)
    os.close(holder)


@pytest.mark.matrix  # the drips race with a start that another half of the suite slows down
@pytest.mark.tomcat
@pytest.mark.root
@pytest.mark.usefixtures("namespaces")
def test_a_tomcat_on_a_dripping_device_until_it_is_up(java: Path, tmp_path: Path) -> None:
    tomcat = instance(tmp_path / "instance", java.parent.parent)
    env = {k: v for k, v in ENV.items() if "JAVA" not in k and "CATALINA" not in k}
    env |= {
        "CATALINA_HOME": str(CATALINA_HOME),
        "CATALINA_BASE": str(tomcat.base),
        "JAVA_HOME": str(tomcat.java_home),
        "JRE_HOME": str(tomcat.java_home),
        "LC_ALL": "C.UTF-8",
    }
    options = ["--until", STARTED, "--format", "json", "-o", str(tmp_path / "r")]
    script = str(CATALINA_HOME / "bin/catalina.sh")
    with DryDevice(Drip(every_s=0.6)) as device, tomcat.log.open("wb") as log:
        command = [*SEEDSTALL, "run", *options, "--", script, "run"]
        process = device.start(command, env=env, output=log)
        until(lambda: STARTED in tomcat.log_text(), process)
        await_report(tmp_path / "r", process)
        assert process.poll() is None, "the server goes on"
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(30) == 143
    assert "Stopping service" in tomcat.log_text(), (
        "it was told to stop, and its output went through"
    )
    report = told(tmp_path / "r")
    assert verdict(report) == ("slow", "blocking-seed", "confirmed")
    sentence = report["verdict"]["sentence"]
    assert f"from launch to '{STARTED}' waiting for random bytes" in sentence
    assert "Tomcat session ids" in sentence
    assert report["facts"]["start"]["ended_by"] == "until"
    assert 1000 < report["verdict"]["cost_ms"] < 5000
