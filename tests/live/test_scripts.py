"""A PID that is no JVM: what started one leads to it, and what holds it up is named, on real programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.machine import Seedstall, java_of

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice, How, Starved
from seedstall.source import detect, host


@pytest.fixture(scope="module")
def device() -> Iterator[DryDevice]:
    with DryDevice() as dry:
        with dry.start(["true"]) as process:
            if process.how is How.EGD:
                pytest.skip("needs mount namespaces: run the tests as root")
        yield dry


def until(condition: Callable[[], object], process: Starved) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, "it ended"
        assert time.monotonic() < end, "took too long"
        time.sleep(0.02)


def commands_below(pid: int) -> list[str]:
    return [host.command(child) for child in host.descendants(pid)]


def told(seedstall: Seedstall, pid: int, code: int = 10) -> Any:
    done = seedstall("diagnose", pid, "--passive", "--format", "json")
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


# --- before there is a JVM -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setenv", "child"),
    [
        ("dd if=/dev/random of=key bs=1 count=16", "dd"),
        ("KEY=$(head -c 16 /dev/random | od -An)", "head"),
    ],
)
def test_a_program_that_reads_the_random_device_is_the_cause(
    device: DryDevice, tmp_path: Path, seedstall: Seedstall, setenv: str, child: str
) -> None:
    (tmp_path / "setenv.sh").write_text(f"cd {tmp_path}\n{setenv}\ntrue\n")
    (tmp_path / "catalina.sh").write_text('. "${0%/*}/setenv.sh"\nexec java Bootstrap\n')
    with device.start(["sh", str(tmp_path / "catalina.sh")]) as script:
        until(lambda: any("random" in c for c in commands_below(script.pid)), script)
        until(lambda: _reads(script.pid, device), script)
        report = told(seedstall, script.pid)
    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["confidence"], verdict["code"]) == (
        "stalled",
        "blocking-seed",
        "confirmed",
        "SS101",
    )
    assert verdict["sentence"].startswith(child)
    assert "which catalina.sh started" in verdict["sentence"]
    assert "/dev/random" in verdict["sentence"]
    assert report["actions"] == []


def _reads(pid: int, device: DryDevice) -> bool:
    from seedstall.effect.starvation import waiting_thread

    return any(waiting_thread(child, device.path) is not None for child in host.descendants(pid))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sleep 61; exec java Bootstrap", "sleep 61"),
        ("X=$(timeout --foreground 60 sh -c 'sleep 61; true'); exec java Bootstrap", "sleep 61"),
    ],
)
def test_a_program_that_waits_for_anything_else_is_named_and_not_called_entropy(
    seedstall: Seedstall, text: str, named: str
) -> None:
    with subprocess.Popen(["sh", "-c", text], process_group=0, stdout=subprocess.DEVNULL) as script:
        try:
            end = time.monotonic() + 20
            while not any(named in c for c in commands_below(script.pid)):
                assert time.monotonic() < end
                time.sleep(0.02)
            time.sleep(0.2)
            verdict = told(seedstall, script.pid)["verdict"]
        finally:
            os.killpg(script.pid, 9)
    assert (verdict["status"], verdict["cause"], verdict["code"]) == (
        "stalled",
        "other:child",
        "SS503",
    )
    assert verdict["sentence"].startswith("no JVM is there yet: sh -c waits for")
    assert named in verdict["sentence"]


def test_a_program_that_does_not_wait_for_what_it_started_is_refused_with_their_names(
    seedstall: Seedstall,
) -> None:
    with subprocess.Popen(
        ["sh", "-c", "sleep 61 & read x"], process_group=0, stdin=subprocess.PIPE
    ) as script:
        try:
            end = time.monotonic() + 20
            while not commands_below(script.pid):
                assert time.monotonic() < end
                time.sleep(0.02)
            done = seedstall("diagnose", script.pid)
        finally:
            os.killpg(script.pid, 9)
    assert done.returncode == 3
    assert "is not a JVM, and none is below it: sh -c sleep 61 & read x" in done.stderr
    assert "it started" in done.stderr
    assert "(sleep 61)" in done.stderr


# --- what leads to a JVM ---------------------------------------------------------------------------------------------

EMBEDDED = """
import ctypes, os, sys
if os.fork():
    os.wait()
    sys.exit()
jvm = ctypes.CDLL(sys.argv[1])
class Arguments(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("count", ctypes.c_int),
                ("options", ctypes.c_void_p), ("ignore", ctypes.c_ubyte)]
class Option(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("extra", ctypes.c_void_p)]
options = (Option * 1)(Option(b"-Xmx16m", None))
arguments = Arguments(0x00010008, 1, ctypes.cast(options, ctypes.c_void_p), 0)
held = ctypes.c_void_p(), ctypes.c_void_p()
jvm.JNI_CreateJavaVM(*map(ctypes.byref, held), ctypes.byref(arguments))
sys.stdin.read()
"""
"""As jsvc does it: a parent that only waits, and a child that loads libjvm.so and is no "java" at all."""


@pytest.mark.jvm
def test_a_native_program_that_loads_a_jvm_is_one_and_its_parent_leads_to_it(
    seedstall: Seedstall,
) -> None:
    if not java_of(17).exists():
        pytest.skip("needs JDK 17: make jvms")
    library = java_of(17).parent.parent / "lib/server/libjvm.so"
    with subprocess.Popen(
        [sys.executable, "-c", EMBEDDED, str(library)], process_group=0, stdin=subprocess.PIPE
    ) as parent:
        try:
            end = time.monotonic() + 60
            while not host.jvms_below(parent.pid):
                assert time.monotonic() < end
                time.sleep(0.02)
            (jvm,) = host.jvms_below(parent.pid)
            assert not host.is_jvm(parent.pid)
            assert detect.jvms_of(detect.resolve(str(parent.pid))) == (jvm,)
            listed = json.loads(seedstall("list", "--format", "json").stdout)["jvms"]
            (row,) = [row for row in listed if row["pid"] == jvm]
            assert row["jdk"].startswith("17")
            assert row["vm"] == "hotspot"
            assert row["program"].startswith("python")
            assert parent.pid not in [r["pid"] for r in listed]
        finally:
            os.killpg(parent.pid, 9)


@pytest.mark.jvm
def test_a_program_beside_the_jvm_is_a_case_of_its_own(
    device: DryDevice, seedstall: Seedstall
) -> None:
    """Every form at once: a script, a wrapper, a shell in a shell; and a child in the background that waits too."""
    if not java_of(17).exists():
        pytest.skip("needs JDK 17: make jvms")
    java = f"{java_of(17)} -cp {PROBE} SeedProbe SHA1PRNG nextBytes"
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(
            f"head -c 16 /dev/random >/dev/null &\nenv A=b timeout --foreground 100 sh -c '{java}; true'\ntrue\n"
        )
        file.flush()
        with device.start(["bash", file.name]) as script:
            until(lambda: host.jvms_below(script.pid), script)
            (jvm,) = host.jvms_below(script.pid)
            until(lambda: _waits(jvm, device), script)
            cases = told(seedstall, script.pid)["cases"]
    assert [case["target"] for case in cases] == [str(jvm), str(script.pid)]
    assert {case["verdict"]["cause"] for case in cases} == {"blocking-seed"}
    assert "head" in cases[1]["verdict"]["sentence"]
    assert "java" not in cases[1]["verdict"]["sentence"]


def _waits(pid: int, device: DryDevice) -> bool:
    from seedstall.effect.starvation import waiting_thread

    return waiting_thread(pid, device.path) is not None
