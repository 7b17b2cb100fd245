"""How long a whole `seedstall dump PID --memory` takes, against `jstack PID` and `jhsdb jstack --pid PID`.

    python benchmarks/memory_against_jstack.py [RUNS]

Each run is the first look at a JVM of its own, as a hung one gets it: 50 threads that wait in many ways below frames of
many kinds (tests/live/patient/Mix.java). The tools take turns, so that all meet the same machine, each as a process of
its own. The measure is the ratio of the medians. Aim: not longer than jstack, and a tenth of jhsdb at the most. A
second look by jstack is quicker: the JVM's listener is there by then.

Needs jstack and jhsdb (a whole JDK) on the PATH, or in JSTACK and JHSDB; the JVM is that JDK's own, or JAVA.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

CLASSES = Path(__file__).parent.parent / "tests/live/patient"


def program(variable: str, *candidates: str) -> str:
    """The program that the variable names, else the first candidate that is there."""
    for found in (os.environ.get(variable), *candidates):
        if found and shutil.which(found):
            return found
    sys.exit(f"error: {variable.lower()} was not found\nhint: set {variable}=/path/to/it")


def measured(command: list[str], java: str) -> float:
    """Milliseconds that *command* with the PID of a fresh JVM takes; it must succeed and show the threads."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start_jvm = [java, "-cp", str(CLASSES), "Mix"]
    with subprocess.Popen(start_jvm, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
        try:
            if target.stdout is None or not target.stdout.readline():
                sys.exit("error: the JVM did not start")
            time.sleep(1)  # let its compiler threads come to rest
            start = time.perf_counter()
            done = subprocess.run(
                [*command, str(target.pid)], capture_output=True, check=False, env=env
            )
            taken = (time.perf_counter() - start) * 1000
        finally:
            target.kill()
    if done.returncode or b"Mix.recurse" not in done.stdout:
        sys.exit(f"error: {command[0]} exited with {done.returncode}: {done.stderr.decode()}")
    return taken


def main() -> None:
    """Measure, and print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    tools = {
        "seedstall dump --memory": [
            str(Path(sys.executable).with_name("seedstall")),
            "dump",
            "--memory",
        ],
        "jstack": [program("JSTACK", "jstack")],
        "jhsdb jstack": [program("JHSDB", "jhsdb"), "jstack", "--pid"],
    }
    java = program("JAVA", "java")
    times: dict[str, list[float]] = {name: [] for name in tools}
    for command in tools.values():
        measured(command, java)  # not counted: fills the caches of all
    for turn in range(runs):
        print(f"turn {turn + 1} of {runs}", file=sys.stderr)
        for name, command in tools.items():
            times[name].append(measured(command, java))
    print(f"{'ms, first look':<26}{'median':>9}{'min':>9}{'max':>9}")
    for name, taken in times.items():
        print(f"{name:<26}{statistics.median(taken):>9.1f}{min(taken):>9.1f}{max(taken):>9.1f}")
    ours, *others = (statistics.median(taken) for taken in times.values())
    for name, theirs in zip(list(tools)[1:], others, strict=True):
        print(f"{'ratio to ' + name:<26}{ours / theirs:>9.2f}")


if __name__ == "__main__":
    main()
