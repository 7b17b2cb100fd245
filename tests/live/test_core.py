"""Cores of real JVMs against what the JVM itself said just before."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.live import coredumps, owndump, patients
from tests.live.rig import until
from tests.live.tomcats import Tomcat, instance
from tests.machine import CHECKOUT, JDK8_ROOT, Seedstall, java_of, jdk8_bin, shown

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice
from seedstall.engine.diagnosis import diagnose_case
from seedstall.facts.memory import memory_dump
from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Got, Ref, Space
from seedstall.model.finding import Crashed
from seedstall.model.threads import ThreadDump
from seedstall.model.verdict import Status
from seedstall.parse import procfs
from seedstall.parse.threaddump import thread_dumps
from seedstall.source.base import Recorder
from seedstall.source.core import CoreSource
from seedstall.source.coreimage import File

pytestmark = [pytest.mark.jvm]
FEATURES = (11, 17, 21, 25)
MEMORY_LIMIT = 100 << 20


class Taken(NamedTuple):
    """A core, and what was seen of the process before."""

    path: Path
    own: ThreadDump
    cmdline: bytes
    environ: bytes
    syscalls: dict[int, bytes]


def seen(pid: int, folder: Path) -> Taken:
    """Look at a process, then take its core."""
    own = owndump.own(pid)
    proc = Path(f"/proc/{pid}")
    calls = {int(t.name): (t / "syscall").read_bytes() for t in (proc / "task").iterdir()}
    cmdline, environ = (proc / "cmdline").read_bytes(), (proc / "environ").read_bytes()
    return Taken(coredumps.taken(pid, folder), own, cmdline, environ, calls)


@pytest.fixture(autouse=True)
def _room(tmp_path: Path) -> Iterator[None]:
    """Cores take gigabytes: none is kept."""
    yield
    for core in tmp_path.rglob("core*"):
        if core.is_file():
            core.unlink()


def hung_in_seeding(device: DryDevice, feature: int, folder: Path) -> Taken:
    java = java_of(feature)
    if not java.exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    command = [
        str(java),
        "-Dpassword=s3cret",
        "-Xmx256m",
        "-cp",
        str(shown(PROBE)),
        "SeedProbe",
        "SHA1PRNG",
        "nextBytes",
    ]
    with coredumps.allowed():
        process = device.start(command, cwd=folder)
    until(lambda: process.waiting_thread() is not None, process)
    return seen(process.pid, folder)


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taken]:
    """A JVM that hung in seeding, and is no more."""
    with DryDevice() as device:
        taken = hung_in_seeding(device, 17, tmp_path_factory.mktemp("core"))
        yield taken
        taken.path.unlink()


def differences(taken: Taken) -> owndump.Compared:
    with CoreSource(str(taken.path)) as source:
        return owndump.compared(memory_dump(Recorder(source)), taken.own)


def test_the_stacks_are_the_jvms_own(hung: Taken) -> None:
    found = differences(hung)
    assert not found.differences
    assert found.threads >= 8
    assert found.frames >= 20


def test_the_process_is_what_proc_showed(hung: Taken) -> None:
    with CoreSource(str(hung.path)) as source:
        for name, wanted in (("cmdline", hung.cmdline), ("environ", hung.environ)):
            reading = source.read(Ref(Space.PROCESS, name))
            assert isinstance(reading, Got)
            assert reading.value == wanted
        waiting = {
            tid: call
            for tid, call in hung.syscalls.items()
            if procfs.syscall(call).number in (0, 202)
        }
        for tid, call in waiting.items():
            reading = source.read(Ref(Space.PROCESS, f"task/{tid}/syscall"))
            assert isinstance(reading, Got)
            if tid in source.process.threads and source.process.threads[tid].waits:
                assert reading.value.split()[:2] == call.split()[:2]


WATCHED = """
import atexit, sys
from pathlib import Path
from seedstall.cli.app import main
def told():
    lines = Path("/proc/self/status").read_text().splitlines()
    print(next(line for line in lines if line.startswith("VmHWM")), file=sys.stderr)
atexit.register(told)
sys.exit(main())
"""


def diagnosed(*arguments: object) -> tuple[Any, int, int]:
    """The report, the exit code and the largest memory of a fresh process, in bytes.

    Its own VmHWM: ru_maxrss has that of whoever forked it too.
    """
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "diagnose", *map(str, arguments), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
    )
    *_, most = done.stderr.splitlines()
    return json.loads(done.stdout), done.returncode, int(most.split()[1]) * 1024


def test_diagnose_finds_the_wait_in_little_memory(hung: Taken) -> None:
    assert hung.path.stat().st_size > 200 << 20
    report, code, memory = diagnosed(hung.path)
    assert code == 10
    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["code"]) == (
        "stalled",
        "blocking-seed",
        "SS101",
    )
    assert verdict["confidence"] == "confirmed"
    (wait,) = report["facts"]["threads"]["waiting_for_seed"]
    assert (wait["name"], wait["device"], wait["algorithm"]) == ("main", "/dev/random", "SHA1PRNG")
    assert report["facts"]["jvm"]["jdk"].startswith("17")
    assert "s3cret" not in json.dumps(report)
    assert not report["crashed"]
    assert memory < MEMORY_LIMIT


def test_dump_prints_its_stacks(hung: Taken, seedstall: Seedstall) -> None:
    done = seedstall("dump", hung.path)
    assert done.returncode == 0, done.stderr
    (printed,) = thread_dumps(done.stdout.encode(), "core")
    (main,) = (thread for thread in printed.threads if thread.name == "main")
    assert main.frames[0].name == "java.io.FileInputStream.readBytes"


def test_a_packed_and_a_cut_core(hung: Taken, tmp_path: Path) -> None:
    """The cut one has its notes and most of its heap: what it lacks is told, and nothing is called clear."""
    packed = tmp_path / "core.gz"
    with hung.path.open("rb") as core, gzip.open(packed, "wb", compresslevel=1) as file:
        file.write(core.read(64 << 20))
    report, code, memory = diagnosed(packed)
    assert code == 4
    assert report["verdict"]["status"] == "unknown"
    assert report["facts"]["core"]["cut"]
    assert memory < MEMORY_LIMIT


# --- every JDK -------------------------------------------------------------------------------------------------------


@pytest.mark.matrix
@pytest.mark.parametrize("feature", FEATURES)
def test_cores_of_seeding(feature: int, tmp_path: Path) -> None:
    with DryDevice() as device:
        taken = hung_in_seeding(device, feature, tmp_path)
    found = differences(taken)
    assert not found.differences
    report, code, memory = diagnosed(taken.path)
    assert (code, report["verdict"]["code"], report["verdict"]["confidence"]) == (
        10,
        "SS101",
        "confirmed",
    )
    assert memory < MEMORY_LIMIT


@pytest.mark.matrix
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("keep", ["kernel", "gcore", "0x33", "0x13"])
def test_cores_of_fifty_mixed_threads(feature: int, keep: str, tmp_path: Path) -> None:
    """By the kernel, whole and with the file-backed pages left out (what its default, and a common one, leave out)."""
    java = shown(java_of(feature))
    with coredumps.allowed():
        mix = patients.start(
            [str(java), "-Xmx256m", "-cp", str(shown(patients.CLASSES)), "Mix"], tmp_path
        )
    try:
        mix.wait_until(lambda: b"up" in mix.said)
        time.sleep(2)  # until its threads stand where they are going to
        if keep.startswith("0x"):
            Path(f"/proc/{mix.pid}/coredump_filter").write_text(keep)
        folder = tmp_path if keep != "gcore" else Path(tmp_path / "elsewhere")
        folder.mkdir(exist_ok=True)
        taken = seen(mix.pid, folder)
    finally:
        mix.end()
    found = differences(taken)
    assert not found.differences
    assert found.threads >= 40
    report, _, memory = diagnosed(taken.path)
    assert not report["crashed"]
    assert memory < MEMORY_LIMIT


@pytest.fixture
def java(request: pytest.FixtureRequest) -> Path:
    """The JDK of the Tomcat below."""
    return java_of(request.param)


@pytest.fixture
def tomcat(tmp_path: Path, java: Path, namespaces: None) -> Tomcat:
    return instance(tmp_path / "instance", java.parent.parent)


@pytest.mark.matrix
@pytest.mark.tomcat
@pytest.mark.root
@pytest.mark.parametrize("java", FEATURES, indirect=True)
def test_cores_of_a_hung_tomcat(
    tomcat: Tomcat, device: DryDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with coredumps.allowed():
        process = tomcat.start(device)
    until(lambda: process.waiting_thread() is not None, process)
    taken = seen(process.pid, folder)
    found = differences(taken)
    assert not found.differences
    assert found.frames >= 80
    report, code, memory = diagnosed(taken.path, tomcat.log)
    assert (code, report["verdict"]["code"]) == (10, "SS101")
    assert "Tomcat" in report["verdict"]["sentence"]
    assert memory < MEMORY_LIMIT


@pytest.mark.matrix
@pytest.mark.jdk8
@pytest.mark.root
def test_a_core_of_8_needs_its_sysroot(device: DryDevice) -> None:
    """8 does not have its own library dumped: it is read below the root that it ran in."""
    programs = jdk8_bin()
    assert programs is not None  # else the test was skipped by its marker
    with tempfile.TemporaryDirectory(dir=JDK8_ROOT / "tmp") as name:
        folder = Path(name)
        shutil.copy(PROBE / "SeedProbe.class", folder)
        command = [str(programs / "java"), "-cp", f"/tmp/{folder.name}", "SeedProbe", "SHA1PRNG"]
        with coredumps.allowed():
            process = device.start([*command, "nextBytes"], root=JDK8_ROOT)
        until(lambda: process.waiting_thread() is not None, process)
        core = seen(process.pid, JDK8_ROOT)
        try:
            lacking, code, _ = diagnosed(core.path)
            report, _, memory = diagnosed(core.path, "--sysroot", JDK8_ROOT)
            with CoreSource(str(core.path), str(JDK8_ROOT)) as source:
                found = owndump.compared(memory_dump(Recorder(source)), core.own)
        finally:
            core.path.unlink()
    assert (code, lacking["verdict"]["status"]) == (4, "unknown")
    assert "--sysroot DIR" in json.dumps(lacking["inconclusive"])
    assert not found.differences
    assert report["verdict"]["code"] == "SS101"
    assert report["facts"]["threads"]["waiting_for_seed"][0]["device"] == "/dev/random"
    assert memory < MEMORY_LIMIT


class Damaged(File):
    """A core some of whose pages hold wrong bytes, the same ones whenever they are read."""

    def __init__(self, path: Path, seed: int, part: float) -> None:
        super().__init__(os.open(path, os.O_RDONLY))
        self._seed = seed
        self._part = part

    def read(self, offset: int, length: int) -> bytes:
        data = bytearray(super().read(offset, length))
        for page in range(offset >> 12, (offset + len(data) + 4095) >> 12):
            chance = random.Random(self._seed << 40 ^ page)  # noqa: S311 - damage to be had again
            if chance.random() >= self._part:
                continue
            for _ in range(chance.choice((1, 4, 64))):
                at = (page << 12) + chance.randrange(4096) - offset
                if 0 <= at < len(data):
                    data[at] = chance.choice((0, 255, chance.randrange(256)))
        return bytes(data)


@pytest.mark.matrix
@pytest.mark.parametrize("part", [0.001, 0.01, 0.1, 0.5, 1.0])
def test_damage_anywhere_neither_hangs_nor_crashes_nor_makes_it_clear(
    hung: Taken, part: float
) -> None:
    for seed in range(25):
        start = time.monotonic()
        try:
            with CoreSource(str(hung.path), opened=Damaged(hung.path, seed, part)) as source:
                report = diagnose_case(source, "core")
        except SeedstallError:
            continue
        assert not [o for o in report.outcomes if isinstance(o, Crashed)], seed
        assert report.verdict.status is not Status.CLEAR, seed
        assert time.monotonic() - start < 60
