"""Java stacks out of the memory of real JVMs, against what the JVM itself says: thread by thread, frame by frame.

Here a few; ``make matrix`` has all JDKs with all collectors, compilers and header forms.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.live import patients
from tests.live.owndump import compare, compared, from_memory, own
from tests.live.patients import Patient
from tests.live.rig import until
from tests.machine import JDK8_ROOT, Seedstall, java_of, shown

from seedstall.effect.starvation import DryDevice
from seedstall.parse.threaddump import thread_dumps

JDK8 = pytest.param(8, id="jdk8", marks=(pytest.mark.jdk8, pytest.mark.root))
JDKS = (JDK8, *(pytest.param(n, id=f"jdk{n}") for n in (11, 17, 21, 25)))
SYSTEM = "system"
"""Debian's own 17, with a CDS archive and line numbers of the JDK's own classes."""
pytestmark = pytest.mark.jvm

COMPILERS = {
    "default": (),
    "interpreter": ("-Xint",),
    "all-compiled": ("-Xcomp",),
    "c1": ("-XX:TieredStopAtLevel=1",),
    "c2": ("-XX:-TieredCompilation",),
    "one-code-heap": ("-XX:-SegmentedCodeCache",),
}
COLLECTORS = {
    "serial": ("-XX:+UseSerialGC",),
    "parallel": ("-XX:+UseParallelGC",),
    "epsilon": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"),
    "z": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"),
    "z-generational": ("-XX:+UseZGC", "-XX:+ZGenerational"),
    "shenandoah": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC"),
    "wide-references": ("-XX:-UseCompressedOops",),
    "wide-classes": ("-XX:-UseCompressedClassPointers",),
    "compact-headers": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"),
    "lightweight-locks": ("-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=2"),
}
CANNOT = {
    "epsilon": (8,),
    "z": (8,),
    "z-generational": (8, 11, 17, 25),
    "shenandoah": (8, 11, 21),
    "compact-headers": (8, 11, 17, 21),
    "lightweight-locks": (8, 11, 17, 25),
    "one-code-heap": (8,),
}
"""Options that a JDK (or this build of it) does not know."""


def command(
    feature: int | str, program: Sequence[str], options: Sequence[str], classes: Path
) -> list[str]:
    java = "java" if feature == SYSTEM else patients.command(int(feature))[0]
    return [java, *options, "-cp", str(classes), *program]


@contextmanager
def classes_for(feature: int | str) -> Iterator[Path]:
    """The programs as that JDK sees them: the one of the chroot gets a copy."""
    if feature != 8:
        yield shown(patients.CLASSES)
        return
    with TemporaryDirectory(dir=JDK8_ROOT / "tmp") as folder:
        for name in patients.CLASSES.glob("*.class"):
            shutil.copy(name, folder)
        yield Path("/tmp") / Path(folder).name


@contextmanager
def started(
    feature: int | str, program: Sequence[str] = ("Mix",), options: Sequence[str] = ()
) -> Iterator[Patient]:
    root = patients.jdk_root(feature) if isinstance(feature, int) else None
    with classes_for(feature) as classes:
        patient = patients.start(command(feature, program, options, classes), "/", root=root)
        try:
            yield patient
        finally:
            patient.end()


@contextmanager
def running(
    feature: int | str, program: Sequence[str] = ("Mix",), options: Sequence[str] = ()
) -> Iterator[Patient]:
    with started(feature, program, options) as patient:
        patient.wait_until(lambda: b"\nup\n" in b"\n" + patient.said)
        settle(patient.pid)
        yield patient


def settle(pid: int) -> None:
    """Wait until no thread of it moves any more: its CPU time stands still, for as long as it takes to be sure."""
    before = still = -1
    for _ in range(100):
        time.sleep(0.15)
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used = int(fields[11]) + int(fields[12])
        still = still + 1 if used == before else 0
        if still == 3:
            return
        before = used


def agrees(pid: int, *, threads: int = 50, frames: int = 1600) -> None:
    """Every thread that did not run between the two looks is alike.

    One that wakes up at times may run just then, and is met at rest the next time: a PipedInputStream looks every
    second whether its writer lives.
    """
    found = compare(pid)
    for _ in range(2):
        if found.differences or (found.threads >= threads and found.frames >= frames):
            break
        time.sleep(0.4)
        found = compare(pid)
    assert found.differences == []
    assert found.threads >= threads
    assert found.frames >= frames


def test_fifty_threads_are_as_the_jvm_says() -> None:
    """The other releases stand in tests/facts/test_memory.py, recorded, and in the matrix."""
    with running(21) as patient:
        agrees(patient.pid)


def test_where_attach_cannot_be_used_its_memory_shows_all(seedstall: Seedstall) -> None:
    """With these options a SIGQUIT would end it, and it has no attach listener; and then it is stopped as well."""
    options = ("-Xrs", "-XX:+DisableAttachMechanism")
    with running(25, ("Patient", "5"), options) as patient:
        done = seedstall("diagnose", patient.pid, "--no-attach")
        assert "read memory of" in done.stdout
        assert "threaddump" not in done.stdout, "nothing is missing for want of a dump"
        refused = seedstall("dump", patient.pid)
        assert refused.returncode == 1
        os.kill(patient.pid, signal.SIGSTOP)
        done = seedstall("dump", patient.pid, "--memory")
        os.kill(patient.pid, signal.SIGCONT)
        assert done.returncode == 0
        assert done.stdout.count("at java.lang.Thread.sleep(") == 5
        (dump,) = thread_dumps(done.stdout.encode(), "x")
        assert dump.complete
        assert patient.is_well()


def test_dump_prints_what_every_reader_of_dumps_reads(seedstall: Seedstall) -> None:
    with running(17) as patient:
        passive = seedstall("diagnose", "--passive", patient.pid, "--format", "json")
        text = seedstall("dump", patient.pid, "--memory")
        (read,) = thread_dumps(text.stdout.encode(), "x")
        theirs = own(patient.pid)
        ours = from_memory(patient.pid)
    assert '"actions": []' in passive.stdout, "nothing is read with --passive"
    assert read.complete
    assert compared(read, theirs).differences == []
    assert read.deadlocks == ours.deadlocks == ()
    assert "GC Thread#0" in text.stdout, "threads of the kernel's without a Java stack"


# --- the matrix ------------------------------------------------------------------------------------------------------


def _variants() -> Iterator[object]:
    for feature in (8, 11, 17, 21, 25, SYSTEM):
        for name, options in {**COMPILERS, **COLLECTORS}.items():
            if (17 if feature == SYSTEM else feature) in CANNOT.get(name, ()):
                continue
            marks = (pytest.mark.jdk8, pytest.mark.root) if feature == 8 else ()
            yield pytest.param(feature, options, id=f"{feature}-{name}", marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("feature", "options"), list(_variants()))
def test_every_compiler_and_collector(feature: int | str, options: tuple[str, ...]) -> None:
    with running(feature, options=options) as patient:
        agrees(patient.pid)


@pytest.mark.matrix
@pytest.mark.parametrize("feature", [11, 17, 21, 25, SYSTEM])
def test_a_hung_seeding(feature: int | str) -> None:
    """8, which has a device of its own in its chroot, is in tests/live/test_hung_jvm.py."""
    from seedstall.effect.demo import PROBE

    java = "java" if feature == SYSTEM else str(java_of(int(feature)))
    with DryDevice() as device:
        arguments = ["-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes", "20"]
        process = device.start([java, *arguments])
        until(lambda: process.waiting_thread() is not None, process)
        settle(process.pid)
        agrees(process.pid, threads=25, frames=80)


@pytest.mark.matrix
@pytest.mark.tomcat
@pytest.mark.parametrize("feature", [11, 17, 21, 25, SYSTEM])
def test_a_tomcat_hung_at_its_seeding(feature: int | str, tmp_path: Path) -> None:
    from tests.live.tomcats import instance

    java = Path(shutil.which("java") or "") if feature == SYSTEM else java_of(int(feature))
    tomcat = instance(tmp_path / "instance", java.resolve().parent.parent)
    with DryDevice() as device:
        process = tomcat.start(device)
        until(lambda: process.waiting_thread() is not None, process)
        settle(process.pid)
        agrees(process.pid, threads=9, frames=70)


@pytest.mark.matrix
@pytest.mark.parametrize("feature", JDKS)
def test_a_stopped_jvm_and_a_starting_one(feature: int) -> None:
    """Stopped: the same frames as before. Starting: read over and over, it never fails otherwise than with a reason."""
    from seedstall.model.evidence import Unavailable

    with running(feature) as patient:
        before = {t.name: [f.name for f in t.frames] for t in from_memory(patient.pid).threads}
        os.kill(patient.pid, signal.SIGSTOP)
        stopped = {t.name: [f.name for f in t.frames] for t in from_memory(patient.pid).threads}
        os.kill(patient.pid, signal.SIGCONT)
        assert stopped == before
    with started(feature, ("Patient", "3")) as starting:
        looks = seen = 0
        end = time.monotonic() + 3
        while time.monotonic() < end and seen < 5:
            looks += 1
            try:
                seen += any(
                    t.name == "main" and t.frames for t in from_memory(starting.pid).threads
                )
            except Unavailable:
                continue
        assert seen
        assert looks > seen


@pytest.mark.matrix
@pytest.mark.parametrize("feature", JDKS)
def test_stacks_of_threads_that_keep_moving_are_never_torn(feature: int) -> None:
    """Each stack that is shown whole must follow the call graph of the program (Churn.java)."""
    with running(feature, ("Churn", "8")) as patient:
        stacks = whole = 0
        end = time.monotonic() + 10
        while time.monotonic() < end:
            for thread in from_memory(patient.pid).threads:
                if not thread.name.startswith("churn-"):
                    continue
                stacks += 1
                if thread.cut or not thread.frames:
                    continue
                whole += 1
                names = [f.method for f in thread.frames if f.class_name == "Churn"]
                assert names[-1:] in (["run"], ["lambda$main$0"]), names
                depth = [n for n in names if n in ("even", "odd")]
                assert all(a != b for a, b in pairwise(depth)), names
        assert stacks > 100
        assert whole > stacks // 4
