"""Programs under test, on a dry random device, and what seedstall says of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.machine import Seedstall

from seedstall.effect.starvation import DryDevice, Starved

JDK8 = pytest.param(8, id="jdk8", marks=(pytest.mark.jdk8, pytest.mark.root))
JDKS_SINCE_9 = tuple(pytest.param(n, id=f"jdk{n}") for n in (11, 17, 21, 25))

LIMIT_S = 60.0
"""Longer than a program needs to come to its first random byte on a busy machine."""


@dataclass(frozen=True)
class Jdk:
    """One JDK of the machine. ``root`` is the directory to chroot into, for the one with its own C library."""

    feature: int
    java: Path
    root: Path | None = None

    def __str__(self) -> str:
        return f"jdk{self.feature}"


@dataclass(frozen=True)
class Rig:
    """Starts probes of one JDK on one dry device."""

    jdk: Jdk
    device: DryDevice
    folder: Path
    """Where SeedProbe.class lies; tests may add files."""

    def within(self, name: str = "") -> str:
        """The path of a file of the folder, as the JVM sees it."""
        root = self.jdk.root or Path("/")
        return str(Path("/") / self.folder.relative_to(root) / name)

    def start(self, *arguments: str, options: Sequence[str] = ()) -> Starved:
        """Start ``SeedProbe ARGUMENTS``."""
        command = [str(self.jdk.java), *options, "-cp", self.within(), "SeedProbe", *arguments]
        return self.device.start(command, root=self.jdk.root)

    def hung(self, *arguments: str, options: Sequence[str] = ()) -> Starved:
        """Start it and wait until it waits in the device."""
        process = self.start(*arguments, options=options)
        until(lambda: process.waiting_thread() is not None, process)
        return process


def until(condition: Callable[[], bool], process: Starved) -> None:
    """Wait for *condition*; a program that ends meanwhile, or takes too long, is a failure."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert process.poll() is None, f"ended with {process.poll()}"
        assert time.monotonic() < deadline, "took too long"
        time.sleep(0.05)


def threads(pid: int) -> dict[int, str]:
    """The kernel's threads of a process: id to name."""
    return {
        int(task.name): (task / "comm").read_text().strip()
        for task in Path(f"/proc/{pid}/task").iterdir()
    }


def report_of(seedstall: Seedstall, *arguments: object, code: int = 10) -> Any:
    """What ``diagnose`` says, as JSON."""
    done = seedstall("diagnose", *arguments, "--format", "json")
    assert done.returncode == code, f"exit {done.returncode}: {done.stdout[-2000:]} {done.stderr}"
    return json.loads(done.stdout)


def wait_of(report: Any) -> Any:
    """The one thread that waits for a seed."""
    (wait,) = report["facts"]["threads"]["waiting_for_seed"]
    return wait


def surfaces(report: Any) -> list[str]:
    """Where the verdict's finding puts the setting that the next start needs."""
    (finding,) = [f for f in report["findings"] if f["code"] == report["verdict"]["code"]]
    later = [fix["surface"] for fix in finding["fixes"] if fix["when"] == "next-start"]
    return [surface for surface in later if surface not in ("device-node", "application-call")]
