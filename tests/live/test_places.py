"""Real JVMs that stand still for another reason than entropy: each is called by its own name, by PID."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.replay import assert_same, in_process
from tests.machine import CHECKOUT, Seedstall, java_of, shown

pytestmark = pytest.mark.jvm

PROGRAMS = CHECKOUT / "tests/programs"
SILENT = "127.0.0.77"
"""An address of the loopback at whose port 53 a socket takes questions and answers none."""
LIMIT_S = 40.0

PLACES = {
    # mode: cause, rule, and what the first line must say.
    "connect": ("other:connect", "SS522", "waits for a connection to be accepted (127.0.0.1:"),
    "answer": ("other:connect", "SS522", "waits for an answer over a connection (127.0.0.1:"),
    "lock": ("other:file-lock", "SS525", "waits for a file lock"),
    "child": ("other:child", "SS526", "waits for a process that it started"),
    "library": ("other:native-init", "SS527", "waits for a native library to be loaded"),
    "initialiser": ("other:class-init", "SS524", "waits for class Places$Slow"),
    "circle": ("other:deadlock", "SS502", "a deadlock"),
    "monitor": ("other:connect", "SS522", '"owner" has it, and waits for a connection'),
    "schema": ("other:migration", "SS529", "waits for the lock of a schema migration"),
    "pipe": ("other:io", "SS531", "a pipe whose other end does not fill it, descriptor 0"),
    "console": ("other:io", "SS531", "a pipe whose other end does not empty it, descriptor 1"),
    "provider": ("provider-config", "SS533", "turns in a circle"),
    "directory": ("other:connect", "SS522", "waits for an answer over a connection (127.0.0.1:"),
    "future": ("other:connect", "SS522", 'most likely for "pool-1-thread-1", which waits for'),
    "latch": ("other:waiting", "SS534", "waits in CountDownLatch.await, called by Places.main"),
    "scan": ("other:jar-scan", "SS523", "scans jar files"),
}
NOTES = ("latch", "scan", "pipe")
"""Nothing says that these are wrong: a note, and exit code 0."""


@pytest.fixture(scope="module")
def classes(full_jdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, for 8 and later."""
    out = tmp_path_factory.mktemp("programs")
    sources = [str(path) for path in sorted(PROGRAMS.rglob("*.java"))]
    subprocess.run(
        [full_jdk / "javac", "--release", "8", "-Xlint:-options", "-d", out, *sources], check=True
    )
    return out


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def start(classes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a program in a place, with what that place needs."""
    folder = tmp_path_factory.mktemp("places")
    os.mkfifo(folder / "lib.so")
    held = (folder / "held").open("w")
    fcntl.lockf(held, fcntl.LOCK_EX)
    started: list[subprocess.Popen[bytes]] = []

    def begin(
        mode: str, *options: str, feature: int = 17, command: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        java = str(shown(java_of(feature)))
        file = str(folder / ("lib.so" if mode == "library" else "held"))
        process = subprocess.Popen(
            [
                *command,
                java,
                *options,
                f"-Djava.io.tmpdir={folder}",
                "-cp",
                str(classes),
                "Places",
                mode,
                file,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()
    held.close()


@pytest.fixture(scope="module")
def standing(start: Start) -> dict[str, subprocess.Popen[bytes]]:
    """One JVM in each place; they come up side by side."""
    return {mode: start(mode) for mode in PLACES}


def told(
    seedstall: Seedstall,
    process: subprocess.Popen[bytes],
    cause: str,
    *,
    enough: Callable[[Any], bool] = lambda _: True,
) -> Any:
    """What is said of it, once it has come to its place and stood there for a while."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        ran = seedstall("diagnose", process.pid, "--format", "json")
        assert process.poll() is None, process.communicate()
        report = json.loads(ran.stdout)
        verdict = report.get("verdict", {})
        if verdict.get("cause") == cause and enough(report):
            return report | {"exit": ran.returncode}
        assert time.monotonic() < deadline, ran.stdout[:3000]
        time.sleep(0.3)


def long_enough(report: Any) -> bool:
    since = report["verdict"]["since_ms"]
    return since is None or since >= 2000


@pytest.mark.parametrize("mode", PLACES)
def test_each_place_is_called_by_its_name(
    seedstall: Seedstall, standing: dict[str, subprocess.Popen[bytes]], mode: str
) -> None:
    cause, code, words = PLACES[mode]
    report = told(seedstall, standing[mode], cause, enough=long_enough)
    verdict = report["verdict"]
    assert verdict["code"] == code
    assert words in verdict["sentence"]
    assert "entropy" not in verdict["sentence"].replace("not entropy: ", "")
    if (
        verdict["since_ms"] is not None and mode != "scan"
    ):  # a scan of half a minute is no note any more
        assert report["exit"] == (0 if mode in NOTES else 10)
    assert report["crashed"] == []


@pytest.mark.matrix
@pytest.mark.parametrize("mode", PLACES)
def test_its_bundle_says_the_same_elsewhere(
    standing: dict[str, subprocess.Popen[bytes]], mode: str, tmp_path: Path
) -> None:
    cause, *_ = PLACES[mode]
    told(in_process, standing[mode], cause)
    report = assert_same(in_process, standing[mode].pid, tmp_path / "bundle.tar.gz")
    assert report["verdict"]["cause"] == cause


@pytest.mark.parametrize("mode", [m for m in PLACES if m not in NOTES and m != "monitor"])
@pytest.mark.parametrize("feature", [11, 21, 25])
@pytest.mark.matrix
def test_on_every_jdk(seedstall: Seedstall, start: Start, mode: str, feature: int) -> None:
    cause, code, words = PLACES[mode]
    process = start(mode, feature=feature)
    report = told(seedstall, process, cause, enough=long_enough)
    assert report["verdict"]["code"] == code
    assert words in report["verdict"]["sentence"]
    process.kill()


@pytest.mark.root
def test_a_name_server_that_does_not_answer(
    seedstall: Seedstall, start: Start, tmp_path: Path
) -> None:
    (tmp_path / "resolv.conf").write_text(f"nameserver {SILENT}\noptions timeout:30 attempts:1\n")
    (tmp_path / "nsswitch.conf").write_text("hosts: files dns\n")
    mounts = " && ".join(
        f"mount --bind {tmp_path}/{name} /etc/{name}" for name in ("resolv.conf", "nsswitch.conf")
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind((SILENT, 53))
        process = start(
            "name", command=("unshare", "-m", "sh", "-c", f'{mounts} && exec "$@"', "-")
        )
        report = told(seedstall, process, "other:dns", enough=long_enough)
    assert report["verdict"]["code"] == "SS521"
    assert "waits for an answer of the name service" in report["verdict"]["sentence"]


def test_a_jvm_that_waits_for_its_debugger(
    seedstall: Seedstall, full_jdk: Path, classes: Path
) -> None:
    option = "-agentlib:jdwp=transport=dt_socket,server=y,address=127.0.0.1:0"
    process = subprocess.Popen(
        [full_jdk / "java", option, "-cp", classes, "Places", "sleep"],
        stdout=subprocess.PIPE,
        process_group=0,
    )
    try:
        report = told(seedstall, process, "other:jdwp-suspend")
        assert (report["verdict"]["code"], report["exit"]) == ("SS532", 10)
    finally:
        process.kill()
        process.communicate()


def test_one_that_its_debugger_lets_run_is_none(
    seedstall: Seedstall, full_jdk: Path, classes: Path
) -> None:
    option = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
    process = subprocess.Popen(
        [full_jdk / "java", option, "-cp", classes, "Places", "sleep"],
        stdout=subprocess.PIPE,
        process_group=0,
    )
    try:
        report = told(seedstall, process, "none", enough=lambda r: "Places.main" in str(r))
        assert "SS532" not in {f["code"] for f in report["findings"]}
    finally:
        process.kill()
        process.communicate()


def test_an_agent_that_waits(
    seedstall: Seedstall, start: Start, classes: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "MANIFEST.MF"
    manifest.write_text("Manifest-Version: 1.0\nPremain-Class: SlowAgent\n")
    import zipfile

    with zipfile.ZipFile(tmp_path / "agent.jar", "w") as jar:
        jar.write(manifest, "META-INF/MANIFEST.MF")
        jar.write(classes / "SlowAgent.class", "SlowAgent.class")
    report = told(
        seedstall,
        start("sleep", f"-javaagent:{tmp_path}/agent.jar"),
        "other:agent",
        enough=long_enough,
    )
    assert report["verdict"]["code"] == "SS528"


@pytest.mark.parametrize("mode", ["idle", "serves"])
def test_a_server_that_is_up_stands_nowhere(seedstall: Seedstall, start: Start, mode: str) -> None:
    process = start(mode)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    ran = seedstall("diagnose", process.pid, "--format", "json")
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["verdict"]["status"] == "clear"


@pytest.mark.matrix
@pytest.mark.parametrize("mode", ["spin", "heap"])
def test_work_without_a_pause(seedstall: Seedstall, start: Start, mode: str) -> None:
    options = ("-Xmx24m", "-XX:+UseParallelGC", "-XX:-UseGCOverheadLimit") if mode == "heap" else ()
    cause = "other:gc" if mode == "heap" else "other:cpu-spin"
    process = start(mode, *options)
    report = told(seedstall, process, cause)
    process.kill()
    assert report["exit"] == 10
