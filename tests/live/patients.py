"""JVMs to be looked at: started with every signal at its default, ended by their own process group."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.machine import JDK8_ROOT, java_of, jdk8_bin, shown

from seedstall.effect.attach import Attacher
from seedstall.model.evidence import Missing, Reading, Why

CLASSES = Path(__file__).parent / "patient"
LIMIT_S = 60.0
STRANGER = 34567
"""A user who has no other process on this machine."""


@dataclass
class Patient:
    """A program started for a test. ``said`` is what it has printed so far."""

    process: subprocess.Popen[bytes]
    said: bytes = b""

    @property
    def pid(self) -> int:
        return self.process.pid

    def hear(self, timeout_s: float = 0.0) -> bool:
        """Take in what it prints; whether there was anything."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
        data = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
        self.said += data
        if ready and not data:
            message = f"it ended with {self.process.wait()}: {self.said!r}"
            raise AssertionError(message)
        return bool(ready)

    def wait_until(self, condition: Callable[[], bool], timeout_s: float = LIMIT_S) -> None:
        end = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < end, f"took too long: {self.said!r}"
            self.hear(0.02)

    def is_well(self) -> bool:
        """Whether it goes on with its program: it is asked, and answers."""
        assert self.process.stdin is not None
        answers = self.said.count(b"alive")
        self.process.stdin.write(b"?")
        self.process.stdin.flush()
        self.wait_until(lambda: self.said.count(b"alive") > answers)
        return self.process.poll() is None

    @property
    def dumped(self) -> bool:
        """Whether a thread dump stands in its own output."""
        while self.hear(0.05):
            pass
        return b"Full thread dump" in self.said

    def files(self) -> list[str]:
        """The attach files for it in its working directory and its /tmp; those for others are others' business."""
        places = (Path(f"/proc/{self.pid}/cwd"), Path(f"/proc/{self.pid}/root/tmp"))
        return [p.name for place in places for p in place.glob(f".attach_pid{self.pid}")]

    def end(self) -> None:
        """End it at once, which a shutdown is not, and take its socket and performance data away."""
        if self.process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        left = Path("/tmp").glob(f"hsperfdata_*/{self.pid}")
        for file in (Path(f"/tmp/.java_pid{self.pid}"), *left):
            file.unlink(missing_ok=True)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def start(
    command: Sequence[str],
    cwd: Path | str,
    *,
    root: Path | None = None,
    ids: tuple[int, int] | None = None,
    nproc: int | None = None,
    env: Mapping[str, str] | None = None,
) -> Patient:
    """Start *command* in *cwd* (inside *root*), as user and group *ids*, with at most *nproc* threads for that user."""

    def prepare() -> None:
        # Before exec, in the child: a shell's or a test runner's ignored SIGQUIT would hide every death by it.
        for number in (signal.SIGQUIT, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        if root is not None:
            os.chroot(root)
        os.chdir(cwd)
        if nproc is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (nproc, nproc))
        if ids is not None:
            os.setgroups([])
            os.setgid(ids[1])
            os.setuid(ids[0])

    clean = {k: v for k, v in os.environ.items() if "JAVA" not in k}
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=0,
        preexec_fn=prepare,  # noqa: PLW1509 - what it does is safe between fork and exec
        env={**clean, **(env or {})},
    )
    Path(f"/tmp/.java_pid{process.pid}").unlink(missing_ok=True)  # of an earlier JVM with that pid
    return Patient(process)


def command(
    feature: int,
    options: Sequence[str] = (),
    threads: int = 5,
    classes: Path = CLASSES,
    main: str = "Patient",
) -> list[str]:
    """The command line of a patient on that JDK."""
    program = jdk8_bin() if feature == 8 else java_of(feature).parent
    assert program is not None  # else the test was skipped by its marker
    java, path = shown(program / "java"), shown(classes)
    return [str(java), *options, "-cp", str(path), main, str(threads)]


def ask(patient: Patient, timeout_s: float = 20.0, command: str = "threaddump") -> Reading[bytes]:
    """What the attach client gets of it."""
    return Attacher(patient.pid, timeout_s=timeout_s).ask(command)


def refused(reading: Reading[bytes], *words: str) -> None:
    """It was not asked, for that reason."""
    assert isinstance(reading, Missing), "it was asked"
    assert reading.why is Why.REFUSED, reading
    for word in words:
        assert word in reading.detail


def unharmed(patient: Patient) -> None:
    """It lives, nothing was spilled into its output, and nothing of ours is left."""
    assert patient.is_well()
    assert not patient.dumped, "no dump was spilled into its output"
    assert patient.files() == [], "nothing of ours is left"


def jdk_root(feature: int) -> Path | None:
    """The directory to chroot into for that JDK."""
    return JDK8_ROOT if feature == 8 else None
