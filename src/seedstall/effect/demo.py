"""The stall, reproduced: a small Java program on a dry random device, before and after the fix."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seedstall.effect.starvation import JAVA_OPTION_VARIABLES, DryDevice, Starved
from seedstall.model.errors import NoSuchTargetError
from seedstall.model.finding import Fix

PROBE = Path(__file__).parent / "probe"
"""The class path of SeedProbe; its source lies beside the class."""

HANG_S = 3.0
"""How long the program is left hanging before it is ended: a healthy one needs a tenth of that."""

LIMIT_S = 20.0
"""Longer than any JVM needs to come to its first random byte, on a busy machine too."""

_LINE = re.compile(r"^(\w+) (\d{1,9})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Trial:
    """How one start went. ``seconds`` from exec to exit, or to when it was ended (``hung``).

    ``algorithm`` and ``seeding_ms`` are what the program printed, ``""`` and ``None`` where it did not come to it;
    ``output`` is all of it, the end where it is long.
    """

    hung: bool
    seconds: float
    algorithm: str = ""
    seeding_ms: int | None = None
    output: str = ""


def find_java(given: Path | None) -> Path:
    """The ``java`` to use: *given* (the program, or a Java home), else JAVA_HOME's, else the PATH's.

    Raises:
        NoSuchTargetError: there is none.
    """
    if given is not None:
        java = given / "bin/java" if given.is_dir() else given
        if not os.access(java, os.X_OK) or java.is_dir():
            raise NoSuchTargetError(
                f"{given}: no java program", "give the path of java, or of a Java home"
            )
        return java.absolute()
    home = os.environ.get("JAVA_HOME")
    if home and os.access(Path(home, "bin/java"), os.X_OK):
        return Path(home, "bin/java").absolute()
    found = shutil.which("java")
    if found is None:
        hint = (
            "install one, set JAVA_HOME, or say --java PATH; in a checkout `make demo` brings one"
        )
        raise NoSuchTargetError("no java is on the PATH", hint)
    return Path(found).absolute()


def start_probe(device: DryDevice, java: Path, options: Sequence[str] = ()) -> Starved:
    """Start the program: the first use of a SHA1PRNG, as Tomcat does it for its session ids."""
    # What the caller's environment says of seed sources would spoil the demonstration.
    env = {k: v for k, v in os.environ.items() if k not in JAVA_OPTION_VARIABLES}
    command = [str(java), *options, "-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes"]
    return device.start(command, env=env, output=subprocess.PIPE)


def await_stall(process: Starved, limit_s: float = LIMIT_S) -> bool:
    """Wait until a thread of *process* waits on the device; ``False`` where the program ended instead.

    Where ``/proc/PID/task/*/syscall`` may not be read, a program that runs as long as *limit_s* counts as stalled.
    """
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if process.waiting_thread() is not None:
            return True
        time.sleep(0.02)
    return True


def end_hung(process: Starved, after_s: float = HANG_S) -> Trial:
    """Give a stalled program until *after_s* since its start, then end it."""
    process.wait(max(0.0, process.started_at + after_s - time.monotonic()))
    return _end(process)


def run_probe(device: DryDevice, java: Path, options: Sequence[str]) -> Trial:
    """Run the program to its end on *device*; one that hangs is ended as the first one was."""
    with start_probe(device, java, options) as process:
        process.wait(HANG_S)
        return _end(process)


def _end(process: Starved) -> Trial:
    seconds = time.monotonic() - process.started_at
    hung = process.poll() is None
    if hung:
        process.end()
        return Trial(hung=True, seconds=seconds)
    output = (
        process.output.read(4096).decode(errors="replace") if process.output is not None else ""
    )
    match = _LINE.search(output)
    if match is None:
        return Trial(hung=False, seconds=seconds, output=output.strip())
    return Trial(
        hung=False,
        seconds=seconds,
        algorithm=match[1],
        seeding_ms=int(match[2]),
        output=output.strip(),
    )


def flag_of(fixes: Sequence[Fix]) -> str:
    """The plain flag among the fixes of a verdict; ``""`` where none of them is one."""
    for fix in fixes:
        if fix.surface == "java-opts" and "egd" in fix.params:
            return f"-Djava.security.egd={fix.params['egd']}"
    return ""
