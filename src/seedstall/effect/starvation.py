"""A random device that has run dry, and programs started on it: a seeding stall on any kernel.

In a private mount namespace a FIFO lies over ``/dev/random``; a writer holds it open and writes nothing.
``open`` succeeds, ``read`` blocks, and the descriptor still shows as ``/dev/random``, as on a kernel before 5.6
with an empty pool. What differs: wchan says ``pipe_read`` instead of ``random_read``, the device is a FIFO
instead of 1:8, ``/proc/sys/kernel/random`` shows the real kernel, and what is written to the device
(``setSeed``) comes back out of it.

Where no namespace is to be had (a container without CAP_SYS_ADMIN whose seccomp profile forbids user
namespaces), the same FIFO is given to the JVM as ``java.security.egd`` in ``JAVA_TOOL_OPTIONS``. A value on the
command line beats that one, so a fix works there as it does on a real device; `getInstanceStrong` never
reads it, so that one cannot be starved so.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from seedstall.model.errors import SeedstallError

JAVA_OPTION_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""Environment variables that give a JVM options behind the command line's back."""

_POLL_S = 0.02


class How(StrEnum):
    """By what means the device was made dry."""

    MOUNT = "mount"
    """A mount namespace; needs CAP_SYS_ADMIN."""
    USER = "user"
    """A mount namespace inside a user namespace of the same user."""
    EGD = "egd"
    """No namespace: the FIFO is named by ``java.security.egd``."""


HOW_IN_WORDS = {
    How.MOUNT: "a FIFO over /dev/random in a private mount namespace",
    How.USER: "a FIFO over /dev/random in a private user and mount namespace",
    How.EGD: "a FIFO named by java.security.egd (no mount namespace is allowed here)",
}


@dataclass(frozen=True, slots=True)
class Drip:
    """Not quite dry: so many bytes come every so many seconds, unless the last ones still lie there.

    6 bytes at a time is what the public report of a slow ``jarsigner`` measured.
    """

    every_s: float
    amount: int = 6


class DryDevice:
    """A FIFO that takes the place of ``/dev/random`` for the programs started on it. A context manager.

    Leaving it ends those programs and removes the FIFO.
    """

    def __init__(self, drip: Drip | None = None) -> None:
        """Make the FIFO, below the directory for temporary files. Nothing is started yet."""
        self._directory = Path(tempfile.mkdtemp(prefix="seedstall-"))
        (self._directory / "dev").mkdir()
        # Where it is named by egd, its path still ends as the device's does.
        self.path = self._directory / "dev/random"
        os.mkfifo(self.path)
        self.path.chmod(0o666)  # as /dev/random: the target may run as another user
        self._writer = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._started: list[Starved] = []
        self._faucet = _Faucet(self._writer, drip) if drip else None

    def start(
        self,
        command: Sequence[str],
        *,
        root: Path | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        output: IO[bytes] | int | None = None,
        how: How | None = None,
    ) -> Starved:
        """Start *command* with this device as its ``/dev/random``; stdin is empty.

        *root* is a directory to chroot into (needs root); *output* takes stdout and stderr together, a file or
        ``subprocess.PIPE``; by default it goes nowhere. *how* forces the means; else namespaces are
        tried first. SIGQUIT is at its default, so that the JVM can give a thread dump.

        Raises:
            SeedstallError: the command cannot be run, or *root* is given and no namespace is allowed.
        """
        launch = _Launch(list(command), root, dict(os.environ if env is None else env), cwd, output)
        if how is not How.EGD:
            process, answer = launch.run(self.path, "namespace")
            if answer in tuple(How):
                return self._keep(Starved(process, How(answer), self.path))
            if root is not None or how is not None or not self._is_namespaces_fault(answer):
                raise SeedstallError(f"cannot start on a dry random device: {answer}")
        launch.env["JAVA_TOOL_OPTIONS"] = (
            f"{launch.env.get('JAVA_TOOL_OPTIONS', '')} -Djava.security.egd={self.path.as_uri()}"
        ).strip()
        process, answer = launch.run(self.path, How.EGD)
        if answer != How.EGD:
            raise SeedstallError(f"cannot start {command[0]}: {answer}")
        return self._keep(Starved(process, How.EGD, self.path))

    @staticmethod
    def _is_namespaces_fault(answer: str) -> bool:
        """Whether the namespace failed, not the command; the helper names the step."""
        return answer.startswith(("unshare:", "mount ", "/proc/self/"))

    def _keep(self, started: Starved) -> Starved:
        self._started.append(started)
        return started

    def close(self) -> None:
        """End what was started, and take the device away. Again is harmless."""
        for started in self._started:
            started.end()
        if self._faucet is not None:
            self._faucet.close()
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        """The device itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


class Starved:
    """One program on a dry device. Its process group is its own and is all that is ever ended."""

    def __init__(self, process: subprocess.Popen[bytes], how: How, device: Path) -> None:
        """Hold a started process."""
        self._process = process
        self._device = device
        self.how = how
        self.pid = process.pid
        self.started_at = time.monotonic()

    @property
    def output(self) -> IO[bytes] | None:
        """What the program prints, where a pipe was asked for."""
        return self._process.stdout

    def poll(self) -> int | None:
        """The exit code (minus the signal's number), ``None`` while it runs.

        Does not reap it: as long as the leader is not reaped nobody else can have its group's number.
        """
        if self._process.returncode is not None:
            return self._process.returncode
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def wait(self, timeout_s: float) -> int | None:
        """The exit code, or ``None`` if it still runs after *timeout_s*."""
        deadline = time.monotonic() + timeout_s
        while (code := self.poll()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return code

    def waiting_thread(self) -> int | None:
        """The thread inside a system call on the device, ``None`` where none is or none can be seen."""
        return waiting_thread(self.pid, self._device)

    def end(self, grace_s: float = 2.0) -> None:
        """End the process group: SIGTERM, after *grace_s* SIGKILL. Again is harmless."""
        if self._process.returncode is not None:
            return
        if self.poll() is None:
            self._signal_group(signal.SIGTERM)
            self.wait(grace_s)
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            # Only the zombie is left of it, or a set-uid program: neither is ours to end.
            return

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.end()


def waiting_thread(pid: int, device: Path) -> int | None:
    """The first thread of *pid* that is inside a system call on *device*, told by the file's inode.

    A descriptor that is merely open proves nothing. The descriptor is the call's first argument in ``read`` on
    every architecture, so the call's number is not looked at.
    """
    try:
        return thread_inside(pid, device.stat())
    except OSError:
        return None


def thread_inside(pid: int, wanted: os.stat_result) -> int | None:
    """The same for a device that has no path here: one in another mount namespace.

    Raises:
        FileNotFoundError: the process has ended.
    """
    for tid in sorted(int(name) for name in os.listdir(f"/proc/{pid}/task")):  # noqa: PTH208 - often
        try:
            call = Path(f"/proc/{pid}/task/{tid}/syscall").read_text(encoding="ascii").split()
            if len(call) > 1 and int(call[0]) >= 0:
                file = Path(f"/proc/{pid}/fd/{int(call[1], 16)}").stat()
                if (file.st_dev, file.st_ino) == (wanted.st_dev, wanted.st_ino):
                    return tid
        except (OSError, ValueError):
            continue  # gone, running, not permitted, or its first argument is no descriptor
    return None


@dataclass(slots=True)
class _Launch:
    """How a program is to be started, by whichever means."""

    command: list[str]
    root: Path | None
    env: dict[str, str]
    cwd: Path | None
    output: IO[bytes] | int | None

    def run(self, fifo: Path, how: str) -> tuple[subprocess.Popen[bytes], str]:
        """Start it through namespace.py; its answer is a `How`, or what failed (and it is gone)."""
        reader, writer = os.pipe()
        with open(reader, "rb") as status:  # noqa: PTH123 - a descriptor, not a path
            program = [sys.executable, "-I", "-S", str(Path(__file__).with_name("namespace.py"))]
            arguments = [str(writer), how, str(fifo), str(self.root or ""), "--", *self.command]
            output = subprocess.DEVNULL if self.output is None else self.output
            try:
                process = subprocess.Popen(  # noqa: S603 - a list, no shell
                    program + arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=self.env,
                    cwd=self.cwd,
                    pass_fds=[writer],
                    process_group=0,
                )
            finally:
                os.close(writer)
            # Ends when the command has taken over: the descriptor closes itself then.
            answers = status.read().decode(errors="replace").splitlines()
        kind, _, text = (answers[-1] if answers else "failed it ended at once").partition(" ")
        if kind != "how":
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        return process, text


class _Faucet:
    """Lets the device drip, from a thread of its own."""

    def __init__(self, writer: int, drip: Drip) -> None:
        self._writer = writer
        self._drip = drip
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="drip", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(self._drip.every_s):
            # What nobody has taken does not pile up: else a late reader would find all it wants.
            if not self._has_bytes():
                os.write(self._writer, os.urandom(self._drip.amount))

    def _has_bytes(self) -> bool:
        return bool(select.select([self._writer], [], [], 0)[0])

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
