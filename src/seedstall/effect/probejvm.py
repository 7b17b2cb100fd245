"""One JVM that runs our probe, from its launch to its end, and the FIFOs that stand for its random devices."""

from __future__ import annotations

import array
import fcntl
import os
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote_plus

from seedstall.effect.launch import adopt_orphans
from seedstall.model.redact import visible
from seedstall.source.family import children_of

START_LIMIT_S = 20.0
"""Longer than making a namespace takes on a busy machine."""
STORED = 4096
"""Bytes in a filled FIFO: no first use reads as many, and every pipe may hold a page (pipe(7))."""
MAX_OUTPUT = 1 << 16
SHOWN = 300
MAX_GENERATIONS = 100
_JAVA_LONG = 19
"""Digits of the largest."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a JVM is started: ``words`` for chamber.py, then the ``command``, in which ``token`` marks our probe's lines.

    ``fifos`` are those to be watched where chamber.py makes none.
    """

    words: list[str]
    command: list[str]
    env: dict[str, str]
    process_fd: int
    token: str
    fifos: tuple[Path, Path] | None = None
    files: Mapping[str, bytes] | None = None
    """Small files that chamber.py lays beside the probe, by name: handed over in memory, so that none is left."""


class Fifo:
    """Our end of a FIFO that stands for a device."""

    def __init__(self, end: int) -> None:
        """Take over *end*, a descriptor open for both, non-blocking."""
        self._end = end
        self.stat = os.fstat(end)
        self._written = b""
        self._before = 0

    def fill(self) -> None:
        """Keep bytes in it: random ones, since a provider may test them."""
        if self._lying() < STORED // 2:
            data = os.urandom(STORED // 2)
            with suppress(BlockingIOError):
                self._written += data[: os.write(self._end, data)]

    def _lying(self) -> int:
        count = array.array("i", [0])
        fcntl.ioctl(self._end, termios.FIONREAD, count)
        return count[0]

    def mark(self) -> None:
        """What was taken by now is not the probe's."""
        self._before = max(0, len(self._written) - self._lying())

    def taken(self) -> int:
        """The bytes taken since the mark. What the JVM wrote to the device (``setSeed``) lies behind ours."""
        try:
            left = os.read(self._end, 1 << 20)
        except BlockingIOError:
            left = b""
        at = self._written.find(left[:16]) if left else -1
        return max(0, (at if at >= 0 else len(self._written)) - self._before)

    def close(self) -> None:
        """Give it back."""
        os.close(self._end)


class ProbeJvm:
    """One JVM, started. Its process group is its own, and is all that is ended here. A context manager."""

    def __init__(self, launch: Launch) -> None:
        """Start it. ``answer`` is how the device was made dry, or what failed; it is not raised."""
        self._launch = launch
        self.began = time.monotonic()
        self.fifos: tuple[Fifo, Fifo] | None = None
        self.text = b""
        self.flooded = False
        stdin, self._input = os.pipe2(os.O_CLOEXEC)
        self.output, stdout = os.pipe2(os.O_CLOEXEC)
        ours, theirs = socket.socketpair()
        # In UTF-8 whatever the JVM's locale says: the words are paths.
        python = [sys.executable, "-I", "-S", "-X", "utf8"]
        program = [*python, str(Path(__file__).with_name("chamber.py"))]
        held = {name: _in_memory(data) for name, data in (launch.files or {}).items()}
        words = [*launch.words, *(f"file={name}:{fd}" for name, fd in held.items())]
        words.append(f"parent={os.getpid()}")
        arguments = [str(theirs.fileno()), *words, "--", *launch.command]
        passed = [theirs.fileno(), *held.values()]
        passed += [launch.process_fd] if launch.process_fd >= 0 else []
        with ours:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - a list, no shell
                    program + arguments,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=subprocess.STDOUT,
                    env=launch.env,
                    pass_fds=passed,
                    process_group=0,
                )
            finally:
                theirs.close()
                for fd in (stdin, stdout, *held.values()):
                    os.close(fd)
            self._closed = False
            os.set_blocking(self.output, False)
            try:
                self.answer = self._answer(ours)
            except BaseException:
                self.close()
                raise

    @property
    def pid(self) -> int:
        """The process that was started, which is the JVM unless ``java`` is a script."""
        return self._process.pid

    def _answer(self, ours: socket.socket) -> str:
        """Ends when the command has taken over: the helper's end closes itself then."""
        ours.settimeout(START_LIMIT_S)
        text, ends = b"", list[int]()
        try:
            while True:
                data, fds, _, _ = socket.recv_fds(ours, 4096, 4)
                ends += fds
                if not data:
                    break
                text += data
        except TimeoutError:
            text = b"failed it: no sign of life"
        if not ends and self._launch.fifos is not None:
            flags = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
            ends = [os.open(path, flags) for path in self._launch.fifos]
        if ends:
            self.fifos = (Fifo(ends[0]), Fifo(ends[1]))
        lines = text.decode(errors="replace").splitlines() or ["failed it: ended at once"]
        return visible(lines[-1].partition(" ")[2])

    def go(self) -> None:
        """Let the probe begin."""
        with suppress(OSError):
            os.write(self._input, b"\n")

    def read(self) -> bool:
        """Take what was printed; ``False`` once nothing more can come."""
        try:
            data = os.read(self.output, MAX_OUTPUT)
        except BlockingIOError:
            return self.code() is None
        self.text += data
        if len(self.text) > MAX_OUTPUT:
            self.flooded = True
            self.text = self.text[:MAX_OUTPUT]
        return bool(data)

    def said(self, what: str) -> dict[str, str] | None:
        """The fields of the probe's first line *what*; ``None`` while it has not come."""
        return next(self.all_said(what), None)

    def all_said(self, what: str) -> Iterator[dict[str, str]]:
        """The fields of each such line."""
        head = f"seedmeter {self._launch.token} {what}".encode()
        for line in self.text.split(b"\n")[:-1]:
            # A JVM's note may stand before it, unended.
            at = line.find(head)
            if at >= 0 and line[at + len(head) : at + len(head) + 1] in (b" ", b""):
                yield fields(line[at + len(head) :])

    def tail(self) -> str:
        """The last line that was printed and is not the probe's, nor a stack's, for people."""
        lines = [
            line.decode(errors="replace").strip()
            for line in self.text.split(b"\n")
            if not line.startswith((b"seedmeter ", b"Picked up "))
        ]
        # Of a stack trace the error itself.
        last = next((line for line in reversed(lines) if line and not line.startswith("at ")), "")
        return visible(last)[:SHOWN]

    def code(self) -> int | None:
        """The exit code, ``None`` while it runs. It is not reaped: nobody else can have its group's number."""
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def close(self) -> None:
        """End it, and whatever is in its group. Nothing in it is worth a gentler end. Again is harmless."""
        if self._closed:
            return
        self._closed = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        for fifo in self.fifos or ():
            fifo.close()
        os.close(self._input)
        os.close(self.output)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


def _in_memory(data: bytes) -> int:
    """A descriptor of an unnamed file that holds *data*."""
    fd = os.memfd_create("seedstall")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    return fd


class Orphans:
    """What our JVMs leave behind: a script that makes a daemon leaves its process group, and comes to us as a child."""

    def __init__(self) -> None:
        """From now on they come to us (PR_SET_CHILD_SUBREAPER); the children that are there are not of them."""
        self._known = frozenset(children_of("self"))
        adopt_orphans()

    def end(self) -> None:
        """End them, and those that come to us by that."""
        for _ in range(MAX_GENERATIONS):
            left = [pid for pid in children_of("self") if pid not in self._known]
            if not left:
                return
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(OSError):
                    os.waitpid(pid, 0)


def fields(line: bytes) -> dict[str, str]:
    """The ``name=value`` words of one of the probe's lines, each decoded, control characters shown."""
    words = line[: MAX_OUTPUT // 4].decode("ascii", "replace").split()
    pairs = (word.partition("=")[::2] for word in words)
    return {name: visible(unquote_plus(value)) for name, value in pairs}


def number(text: str) -> int | None:
    """A count that the probe gave; ``None`` for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _JAVA_LONG else None
