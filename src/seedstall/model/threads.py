"""Threads as a JVM shows them: dumps, threads, frames, locks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from seedstall.model.jdk import JdkVersion


@dataclass(frozen=True, slots=True)
class Frame:
    """One Java frame.

    ``class_name`` is dotted, lambda spellings as printed; ``location`` is what
    stood in the brackets without module (``Native Method``, ``Seed.java:12``), for people only.
    """

    class_name: str
    method: str
    location: str = ""
    line: int = 0
    """The line of the input it stands in, counted from 1; 0 where it has none."""

    @property
    def name(self) -> str:
        """``class.method``: what classifiers match on, never the line number."""
        return f"{self.class_name}.{self.method}"


class LockAct(StrEnum):
    """What a lock line says."""

    LOCKED = "locked"
    WAITING_TO_LOCK = "waiting to lock"
    WAITING_ON = "waiting on"
    PARKING = "parking to wait for"
    CLASS_INIT = "waiting on class initialization"
    """``waiting on the Class initialization monitor for C`` (17+); `class_name` is C."""
    ELIMINATED = "eliminated"
    OWNED = "owned synchronizer"
    """Listed under "Locked ownable synchronizers" (``jstack -l``): held, by no frame in particular."""


@dataclass(frozen=True, slots=True)
class LockLine:
    """A lock line below a frame: ``depth`` is that frame's index in the thread's frames."""

    act: LockAct
    class_name: str
    address: str | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class JavaThread:
    """One thread of a dump.

    ``nid`` is the kernel's thread id in the JVM's own pid namespace (hex in 6-20's text, decimal from 21 on,
    always an int here), ``None`` where the dump has none. ``state`` is the ``Thread.State`` name or ``""``;
    ``activity`` the header's words (``runnable``, ``in Object.wait()``, ``waiting for monitor entry``).
    ``cpu_ms`` and ``elapsed_ms`` are the header's (11+). Frames are innermost first. ``cut`` is true where the
    text ended inside this thread, or all that is left of its stack is the innermost end of one. ``java_id`` is
    ``Thread.threadId()``, the same in every form that prints it. ``busy_ms`` is how long the thread has been at one
    task by the account of whoever watched it (a server's stuck-thread report), not how long it has stood here.

    ``note`` says why its stack is not, or not wholly, known (`cut`). ``detail`` is what the text has in brackets behind
    the state (``sleeping``, ``parking``). ``address`` is the JVM's own structure (``tid`` in the text), 0 where not
    kept. ``virtual`` marks a virtual thread; `nid` is then that of the thread that carries it.
    """

    name: str
    frames: tuple[Frame, ...] = ()
    locks: tuple[LockLine, ...] = ()
    nid: int | None = None
    state: str = ""
    activity: str = ""
    daemon: bool = False
    cpu_ms: float | None = None
    elapsed_ms: float | None = None
    line: int = 0
    cut: bool = False
    java_id: int | None = None
    busy_ms: int | None = None
    note: str = ""
    detail: str = ""
    address: int = 0
    virtual: bool = False
    reads: str = ""
    """The file that its innermost frames read, by the Java object they read it through, where memory was read."""


@dataclass(frozen=True, slots=True)
class ThreadDump:
    """One dump, in input order. ``origin`` is the input's name or ``attach``/``memory``.

    ``taken_at`` is the time line above the banner as printed (JVM local time), ``""`` if none. ``vm`` is the
    banner's text; ``jdk`` what it says of the version. ``deadlocks`` are the JVM's own findings, as thread names
    per cycle.

    ``complete`` is true only where the dump is known to be there from its first line to its end, with as many Java
    threads as it says it has, each of them read: only then does a thread not seen mean that there is none.
    ``unread`` counts the threads whose stacks are not known in full: cut, lost, or in lines that could not be read.

    ``form`` names what wrote it, ``""`` for HotSpot's own text. ``process`` is the JVM's process id in its own pid
    namespace, where the form prints it. ``lists_all`` is false for a report on single threads (a server's watch in its
    log): of the threads it does not name it says nothing.
    """

    origin: str
    threads: tuple[JavaThread, ...]
    line: int = 1
    taken_at: str = ""
    vm: str = ""
    jdk: JdkVersion | None = None
    deadlocks: tuple[tuple[str, ...], ...] = ()
    complete: bool = True
    unread: int = 0
    """Threads that have lines below their header of which no frame could be read, or a stack cut off."""
    omitted: int = 0
    """Threads of it that were counted and are not in `threads`. Only of dumps in the midst of a long series, which keep
    the threads that are in a generator and those that tell JVMs apart: the last dumps always have all of theirs."""
    form: str = ""
    process: int | None = None
    lists_all: bool = True

    @property
    def total(self) -> int:
        """How many threads the dump has."""
        return len(self.threads) + self.omitted


@dataclass(frozen=True, slots=True)
class ThreadDumps:
    """All dumps of a case, oldest first as far as their order tells."""

    dumps: tuple[ThreadDump, ...]
