"""What is said where the kernel does not let us look, and that the rest is told all the same: on real JVMs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests import machine
from tests.live import patients
from tests.live.patients import STRANGER, Patient, unharmed
from tests.machine import CHECKOUT, java_of

pytestmark = [pytest.mark.jvm, pytest.mark.root]

Start = Callable[..., Patient]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def python() -> Iterator[str]:
    """This interpreter, where every user may run it: the one of a virtual environment may lie in root's home."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if runs(f"{sys.base_prefix}/bin/{version}"):
        yield f"{sys.base_prefix}/bin/{version}"
        return
    shown = Path(tempfile.mkdtemp(prefix="seedstall-python-", dir="/var/tmp"))
    shown.chmod(0o755)
    # In the mount namespace of this test run (tests/conftest.py): nobody else sees it.
    subprocess.run(["mount", "--bind", sys.base_prefix, shown], check=True)
    try:
        yield str(shown / "bin" / version)
    finally:
        subprocess.run(["umount", "--lazy", shown], check=True)
        shown.rmdir()


def runs(program: str) -> bool:
    try:
        done = subprocess.run(
            [program, "-c", ""], user=STRANGER, group=STRANGER, extra_groups=[], check=False
        )
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture
def as_stranger(python: str) -> Run:
    """Run seedstall as a user without rights, in a mount namespace with another /proc if *proc* says how."""
    packages = Path(typer.__file__).parent.parent
    path = f"{machine.shown(CHECKOUT / 'src')}:{machine.shown(packages)}"

    def run(*arguments: object, proc: str = "") -> subprocess.CompletedProcess[str]:
        command = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
        command += [python, "-m", "seedstall", *map(str, arguments)]
        if proc:
            setup = f'mount -t proc -o {proc} proc /proc && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", setup, "sh", *command]
        env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            command, capture_output=True, text=True, env=env, cwd="/", check=False
        )

    return run


def report(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_another_users_jvm(start: Start, as_stranger: Run) -> None:
    """Its threads may not be seen: that is no sign of health, and what everybody may see is told."""
    patient = start(17)
    told = report(as_stranger("diagnose", patient.pid, "--format", "json"))
    assert told["verdict"]["status"] == "unknown"
    assert (
        "the process belongs to uid 0: run as that user or as root" in told["verdict"]["sentence"]
    )
    assert told["facts"]["jvm"]["pid"] == patient.pid
    assert told["facts"]["kernel"]["release"] == os.uname().release
    assert told["actions"] == []
    dumped = as_stranger("dump", patient.pid)
    assert dumped.returncode == 1
    assert f"hint: sudo seedstall dump {patient.pid}" in dumped.stderr
    unharmed(patient)


def test_ones_own_jvm(start: Start, as_stranger: Run) -> None:
    patient = start(17, ids=(STRANGER, STRANGER))
    told = as_stranger("diagnose", patient.pid, "--attach")
    assert told.returncode == 0, told.stderr
    assert "sigquit+attach threaddump" in told.stdout
    assert '"main"' in as_stranger("dump", patient.pid).stdout
    unharmed(patient)


@pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) < (5, 8),
    reason="needs Linux 5.8: before, hidepid changes every /proc of the pid namespace",
)
def test_behind_hidepid_and_subset(start: Start, as_stranger: Run) -> None:
    patient = start(17)
    for proc in ("hidepid=1", "hidepid=2"):
        done = as_stranger("diagnose", patient.pid, proc=proc)
        assert done.returncode == 3, done.stdout
        assert "may not be looked at" in done.stderr
        assert "hidepid): run as its user or as root" in done.stderr
    own = start(17, ids=(STRANGER, STRANGER))
    done = as_stranger("dump", own.pid, proc="subset=pid")
    assert done.returncode == 1
    assert "this /proc shows processes alone (mounted with subset=pid)" in done.stderr
    unharmed(own)


FORBID = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
ops = [(0x20, 0, 0, 0)]  # load the call's number
for number in (424, 437):  # pidfd_send_signal, openat2: the same on every architecture
    ops += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050001)]  # EPERM, as container runtimes have it
ops.append((0x06, 0, 0, 0x7fff0000))
code = b"".join(struct.pack("HBBI", *op) for op in ops)
buffer = ctypes.create_string_buffer(code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(ops), ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
ASK = """
import errno, os, signal, sys
from seedstall.effect.attach import Attacher
from seedstall.source import rooted
rooted.WALKS_BEFORE_CTYPES = 0  # openat2 from the first path on
try:
    signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 0)
except PermissionError:
    print("forbidden")
print(type(Attacher(int(sys.argv[1]), timeout_s=20).ask("threaddump")).__name__, rooted._kernel_can)
"""


def test_under_a_seccomp_filter_it_goes_another_way(start: Start) -> None:
    """A container's: pidfd_send_signal and openat2 answer EPERM."""
    patient = start(17)
    done = subprocess.run(
        [sys.executable, "-c", FORBID, "-c", ASK, str(patient.pid)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
    )
    assert done.stdout.split() == ["forbidden", "Got", "False"], done.stderr
    unharmed(patient)


UNDUMPABLE = f"""
import os
os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER})  # and no exec: not dumpable from now on
"""


def test_a_process_that_is_not_dumpable(folder: Path, as_stranger: Run) -> None:
    """It is closed to its own user too."""
    from tests.live.test_attach_guards import EMBED

    code = EMBED.replace("\nlibrary =", UNDUMPABLE + "\nlibrary =", 1)
    home = machine.shown(java_of(17).parent.parent)
    patient = patients.start([sys.executable, "-c", code, str(home)], folder)
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        told = as_stranger("diagnose", patient.pid)
        assert told.returncode == 3
        assert f"cannot be told whether process {patient.pid} is a JVM" in told.stderr, (
            "not: is none"
        )
        assert "needs CAP_SYS_PTRACE: the process is not dumpable" in told.stderr
        assert patient.process.poll() is None
    finally:
        patient.end()
