"""Bundles of real JVMs: they say elsewhere what the host says, and hold no secret."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.live.patients import CLASSES, Patient
from tests.live.replay import assert_same, captured, in_process, report, settled
from tests.live.rig import JDK8, Rig
from tests.machine import Seedstall, java_of

pytestmark = pytest.mark.jvm
IDLE = ("none", "other:io")
"""A patient waits for its standard input: after 2 s that is told."""
CONCLUSIONS = ("status", "cause", "confidence", "code")
SECRETS = ("geheim-1", "geheim-2", "geheim-3", "geheim-4")
EVERY_JDK = [
    pytest.param(8, id="jdk8", marks=(*JDK8.marks, pytest.mark.matrix)),
    *(pytest.param(n, id=f"jdk{n}", marks=pytest.mark.matrix) for n in (11, 21, 25)),
    pytest.param(17, id="jdk17"),
]


@pytest.fixture
def jdk17() -> Path:
    java = java_of(17)
    if not java.exists():
        pytest.skip("needs JDK 17: make jvms")
    return java


def unpacked(file: Path) -> dict[str, bytes]:
    """The members of a bundle, without the directory around them."""
    with tarfile.open(file) as archive:
        members = [member for member in archive if member.isfile()]
        read = {m.name.partition("/")[2]: archive.extractfile(m) for m in members}
        return {name: data.read() for name, data in read.items() if data is not None}


@pytest.mark.parametrize("jdk", EVERY_JDK, indirect=True)
def test_a_hung_jvm_is_the_same_elsewhere_and_its_secrets_stay(
    rig: Rig, seedstall: Seedstall, tmp_path: Path
) -> None:
    options = ("-Ddb.password=geheim-1 und mehr", "-Durl=jdbc:x://me:geheim-2@db/x")
    process = rig.hung("SHA1PRNG", "nextBytes", options=options)
    file = tmp_path / "hung.tar.gz"
    told = assert_same(in_process, process.pid, file)
    verdict = told["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["confidence"]) == (
        "stalled",
        "blocking-seed",
        "confirmed",
    )
    assert verdict["sentence"].startswith('"main" '), "the stack, from its memory"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    data = gzip.decompress(file.read_bytes())
    assert not [secret for secret in SECRETS if secret.encode() in data]
    assert b"und mehr" not in data
    files = unpacked(file)
    assert files["seedstall-bundle"].startswith(b"seedstall-bundle\t1\n")
    assert b"Read from memory" in files["jvm/threaddump-memory.txt"]
    assert process.poll() is None

    anonymous = tmp_path / "anonymous.tar.gz"
    captured(in_process, process.pid, anonymous, "--anonymise")
    report_of_it = report(in_process, anonymous)
    assert {k: report_of_it["verdict"][k] for k in CONCLUSIONS} == {
        k: verdict[k] for k in CONCLUSIONS
    }
    names = unpacked(anonymous)
    folder = rig.within().strip("/").partition("/")[2]
    assert folder.encode() not in b"".join((*names.values(), *map(str.encode, names)))

    again = seedstall("capture", process.pid, "-o", file)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert file.read_bytes(), "it is what it was"


def test_a_healthy_one_by_memory_in_several_takes_by_attach_and_passively(
    start: Callable[..., Patient], tmp_path: Path
) -> None:
    patient = start(25)
    file = tmp_path / "well.tar.gz"
    told = assert_same(in_process, patient.pid, file)
    assert told["verdict"]["cause"] in IDLE
    several = tmp_path / "several.tar.gz"
    said = captured(in_process, patient.pid, several, "--takes", "3", "--every", "100ms")
    assert "3 takes" in said
    files = unpacked(several)
    assert {"takes/2/jvm/threaddump-memory.txt", "takes/3/proc/uptime"} <= files.keys()
    told = report(in_process, several)
    assert told["verdict"]["cause"] in IDLE
    assert told["facts"]["threads"]["dumps_read"] == 3

    passive = tmp_path / "passive.tar.gz"
    said = captured(in_process, patient.pid, passive, "--passive")
    assert "done to" not in said
    files = unpacked(passive)
    assert not any(name.startswith("jvm/") for name in files)
    assert b"jvm/threaddump.txt\trefused\t" in files["manifest.tsv"]
    told = report(in_process, passive)
    assert settled(told["verdict"]) == settled(
        report(in_process, patient.pid, "--passive")["verdict"]
    )
    assert patient.is_well()


def test_it_is_bounded_in_time_where_a_read_never_ends(
    start: Callable[..., Patient], tmp_path: Path
) -> None:
    """A read that does not come to an end: what was read by then is written, and the command ends."""
    patient = start(17)
    file = tmp_path / "cut.tar.gz"
    program = (
        "import sys, time\n"
        "from seedstall.source import host\n"
        "real = host.HostSource.read\n"
        "def read(self, ref):\n"
        "    if ref.path == 'maps': time.sleep(3600)\n"
        "    return real(self, ref)\n"
        "host.virtual_machine = lambda source: host.Got(host.VmFamily.HOTSPOT, ())\n"
        "host.HostSource.read = read\n"
        "from seedstall.cli.app import main\n"
        "main()\n"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program, "capture", str(patient.pid), "-o", file, "--timeout", "2"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": "src"},
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 50
    assert "maps, timed out: reading it did not come to an end" in done.stderr
    files = unpacked(file)
    assert f"proc/{patient.pid}/maps\ttimed-out\t".encode() in files["manifest.tsv"]
    assert b"cut-short\t" in files["seedstall-bundle"]
    assert patient.is_well()


def test_a_watched_start_is_kept_too(jdk17: Path, tmp_path: Path, seedstall: Seedstall) -> None:
    file = tmp_path / "start.tar.gz"
    command = (jdk17, "-cp", str(CLASSES), "Patient", "1")
    done = seedstall("run", "--capture", file, "--", *command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("up")
    told = seedstall("diagnose", file, "--exit-zero")
    first = done.stderr.splitlines()[0]
    assert told.stdout.splitlines()[0] == first, "the same first line"
    assert "a bundle of 2" in told.stdout
    again = seedstall("run", "--capture", file, "--", *command)
    assert (again.returncode, again.stdout) == (2, ""), "it was not launched"
