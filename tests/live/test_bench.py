"""`seedstall bench` on this host and on real JVMs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.live.rig import JDK8, JDKS_SINCE_9, Jdk
from tests.machine import CHECKOUT, Seedstall

from seedstall.effect.bench import Meter

POOL = Path("/proc/sys/kernel/random/read_wakeup_threshold")


def medians(told: Any, unit: str) -> dict[str, float]:
    return {m["key"]: m["median"] for m in told["measurements"] if m["unit"] == unit and m["runs"]}


def test_the_kernel_is_measured_and_drawn(seedstall: Seedstall, tmp_path: Path) -> None:
    picture = tmp_path / "kernel.svg"
    words = ("--seconds", "0.02", "--readers", 1, "--readers", 2, "--plot", picture)
    done = seedstall("bench", "kernel", *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    times = medians(told, "ns")
    assert {"getrandom 16", "read /dev/urandom 16", "libc rand() 4096", "call nothing"} < set(times)
    assert all(value > 0 for value in times.values())
    assert times["getrandom 4096"] > times["getrandom 16"]
    speeds = medians(told, "MB/s")
    assert {"bulk /dev/urandom", "1 reader", "2 readers"} < set(speeds)
    assert ("bulk /dev/random" in speeds) is not POOL.exists(), "a pool is left alone"
    assert " MB/s for one reader" in told["sentence"]
    assert "asking the clock takes" in told["facts"]["timer"]
    drawn = ET.fromstring(picture.read_text())  # noqa: S314 - our own text
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}g"))) >= len(speeds)


def test_a_device_that_gives_nothing_is_given_up(tmp_path: Path) -> None:
    """A dry pool, and a generator that is not seeded: both read for ever."""
    dry = tmp_path / "random"
    os.mkfifo(dry)
    writer = os.open(dry, os.O_RDWR)
    meter = Meter(0.01, patience=0.3)
    assert meter.first(str(dry), 0.3) == {"error": "no answer within 0.3 s: it waits"}
    assert meter.bulk(str(dry)) == ((), "no answer within 0.33 s: it waits")
    assert meter.call("read", 16, str(dry))[0] == ()
    assert meter.shared(str(dry), 2) == (0.0, 0.0, "a reader did not come up")
    assert meter.first(str(tmp_path / "none"), 9) == {"error": "No such file or directory"}
    os.close(writer)


@pytest.mark.jvm
def test_a_generator_of_a_jvm_is_measured(java: Path, seedstall: Seedstall, tmp_path: Path) -> None:
    words = ("--generator", "SHA1PRNG", "--starts", 1, "--runs", 2, "--readers", 2)
    done = seedstall(
        *("bench", "jvm", "--java", java, *words, "--format", "json"),
        env={"TMPDIR": str(tmp_path), "JAVA_TOOL_OPTIONS": "-Xlog:gc"},
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    egds = ("as it is", "file:/dev/urandom", "file:/dev/./urandom")
    first = [f"SHA1PRNG, {egd}" for egd in egds]
    if POOL.exists():
        assert "left out: it takes 20 bytes or more" in done.stdout
        first.remove("SHA1PRNG, as it is")
    assert list(medians(told, "ms")) == first
    assert list(medians(told, "ns")) == [f"{key}, afterwards" for key in first]
    assert min(medians(told, "ms").values()) * 1e6 > max(medians(told, "ns").values())
    ways = [f"SHA1PRNG, {way}" for way in WAYS]
    assert list(medians(told, "MB/s")) == ways
    assert list(medians(told, "%")) == [f"{key}: queued" for key in ways]
    assert list(tmp_path.iterdir()) == []


WAYS = ("2 threads, own instances", "2 threads, one shared")


def test_a_java_that_is_none_is_said_to_be(seedstall: Seedstall, tmp_path: Path) -> None:
    fake = tmp_path / "java"
    fake.write_text("#!/bin/sh\nsetsid sleep 98764 &\necho no; exit 3\n")
    fake.chmod(0o755)
    done = seedstall("bench", "jvm", "--java", fake, "--generator", "DRBG", "--starts", 1)
    assert done.returncode == 1
    assert "nothing could be measured: exit code 3: no" in done.stderr
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            assert "98764" not in (folder / "cmdline").read_text(errors="replace")
        except OSError:
            continue


def test_interrupted_it_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "seedstall", "bench", "kernel", "--seconds", "20"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src"), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("measuring ")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text().split()):
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}/exe").exists() for pid in found):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.matrix
@pytest.mark.parametrize("jdk", [JDK8, *JDKS_SINCE_9], indirect=True)
def test_every_generator_of_every_jdk_is_measured(jdk: Jdk) -> None:
    root = ("--sysroot", jdk.root) if jdk.root else ()
    words = ("--starts", 1, "--runs", 2, "--readers", 4, "--readers", 1, "--format", "json")
    command = ["bench", "jvm", "--java", jdk.java, *root, *words]
    done = subprocess.run(
        [sys.executable, "-m", "seedstall", *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    missing = {m["key"].partition(",")[0] for m in told["measurements"] if not m["runs"]}
    assert {key.partition("/")[0] for key in missing} == ({"DRBG"} if jdk.feature == 8 else set())
