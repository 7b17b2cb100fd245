"""Real cores: written by the kernel where it writes them to files, else by gdb's gcore."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATTERN = Path("/proc/sys/kernel/core_pattern")


def kernel_writes() -> bool:
    """Whether the kernel writes cores into the working directory, and we may raise the limit."""
    pattern = PATTERN.read_text().strip()
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    return pattern[:1] not in ("|", "/", "@", "") and "/" not in pattern and hard != 0


@contextmanager
def allowed() -> Iterator[None]:
    """Programs started in here may leave a core."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def taken(pid: int, folder: Path) -> Path:
    """A core of that process in *folder*: the kernel's, which ends it, if that is its working directory.

    A process that ignores SIGABRT, or a machine whose kernel pipes cores away, gets gcore's.
    """
    if kernel_writes() and Path(f"/proc/{pid}/cwd").resolve() == folder.resolve():
        return _by_kernel(pid, folder)
    if shutil.which("gcore") is None:
        pytest.skip("needs a kernel that writes cores to files, or gdb")
    subprocess.run(
        ["gcore", "-o", str(folder / "core"), str(pid)],
        capture_output=True,
        check=True,
        timeout=120,
    )
    return folder / f"core.{pid}"


def _by_kernel(pid: int, folder: Path) -> Path:
    os.kill(pid, signal.SIGABRT)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
        except OSError:
            break
        if state in "ZX":
            break
        time.sleep(0.02)
    (core,) = folder.glob("core*")
    return core
