"""Threads that wait for random bytes: the Java thread and the kernel's thread joined."""

from __future__ import annotations

from seedstall.model.log import Observations, ServerLog
from seedstall.model.record import dataclass
from seedstall.model.samples import StartSamples
from seedstall.model.seeding import SeedRole, SeedStack
from seedstall.model.tasks import KernelTask, Syscall
from seedstall.model.threads import JavaThread, ThreadDump
from seedstall.model.verdict import Progress


@dataclass(frozen=True, slots=True)
class SeedWait:
    """One thread with seed frames, or inside a read of a random device, or both.

    ``java`` and ``stack`` come from the newest dump that shows it, ``task`` from the kernel; they are joined where the
    dump's ``nid`` is the task's inner thread id. ``dumps_seen`` counts the dumps in which the same thread stood in
    the same seed frame, of ``dumps`` of its JVM; ``over_ms`` is the time between the first of them and the last,
    ``cpu_between_ms`` the CPU it used between, ``None`` where they do not say. ``since_ms`` is how long it has waited
    at the least, ``since_from`` what says so.
    """

    java: JavaThread | None = None
    stack: SeedStack | None = None
    task: KernelTask | None = None
    dump: ThreadDump | None = None
    dumps_seen: int = 0
    since_ms: int | None = None
    since_from: str = ""
    lengths: tuple[int, ...] = ()
    """Bytes still asked for, sample by sample (a waiting read on 4.4 and 4.15 shrinks 20, 14, 8, 2)."""
    progress: Progress | None = None
    """By samples of this very thread; ``None`` without."""
    dumps: int = 0
    over_ms: int | None = None
    cpu_between_ms: float | None = None

    @property
    def role(self) -> SeedRole:
        """What it is doing; a task inside a read of a random device reads, whatever the stack says."""
        if self.in_random_read:
            return SeedRole.READING
        return self.stack.role if self.stack is not None else SeedRole.READING

    @property
    def in_random_read(self) -> bool:
        """Whether the kernel shows it waiting for random bytes now."""
        task = self.task
        if task is None:
            return False
        if task.syscall is not None and task.syscall.name == "getrandom":
            return True
        return task.file is not None and task.file.gives_randomness

    @property
    def name(self) -> str:
        """The thread's name for people."""
        if self.java is not None and self.java.name:
            return f'"{self.java.name}"'
        return f"thread {self.task.tid}" if self.task is not None else "a thread"


@dataclass(frozen=True, slots=True)
class SeedEvidence:
    """Everything that can show a seeding wait, as far as it was had.

    ``threads`` counts the Java threads of the newest dump, ``tasks`` the kernel threads; 0 where not had.
    ``blind`` says for people what could not be looked at (attach refused, syscall denied).
    """

    waits: tuple[SeedWait, ...] = ()
    queued: tuple[SeedWait, ...] = ()
    working: tuple[SeedWait, ...] = ()
    lookups: tuple[SeedWait, ...] = ()
    over: tuple[SeedWait, ...] = ()
    """Waits of earlier dumps that a later dump of the same JVM no longer shows."""
    threads: int = 0
    tasks: int = 0
    dumps: int = 0
    log: ServerLog | None = None
    observations: Observations | None = None
    main: JavaThread | None = None
    samples: StartSamples | None = None
    syscalls_seen: bool = False
    """Whether the kernel let us see what its threads wait in."""
    partial: str = ""
    """Why the dump shows less than all threads (cut, unreadable frames), where the kernel's view does not make up."""
    blind: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Inputs that could not be read, or not to their end, with the reason."""

    @property
    def shows_a_start(self) -> bool:
        """Whether a wait would show in it: threads, a start in a log, or a read of the device itself.

        A benchmark or a mail in prose shows none, and what it does not show is not fine; nor is what a cut dump or
        threads without system calls do not show.
        """
        log, measured = self.log, self.observations
        if self.partial:
            return False
        if (self.samples is not None and self.samples.visible and self.samples.jvm) or (
            self.tasks and self.syscalls_seen
        ):
            return True
        if self.unread:
            return False  # what shows a wait may be in what could not be read
        return bool(
            self.threads
            or (log is not None and log.shows_a_start)
            or (measured is not None and any(o.kind == "dd-random" for o in measured.items))
        )


@dataclass(frozen=True, slots=True)
class SeedStacks:
    """`SeedEvidence` that holds Java stacks or texts: what the kernel's view alone cannot show needs it."""

    seeds: SeedEvidence


def read_length(call: Syscall | None) -> int | None:
    """Bytes asked for by a read-like call: its third argument (getrandom: its second)."""
    if call is None or len(call.args) < 3:  # noqa: PLR2004 - read(fd, buffer, length)
        return None
    return call.args[1] if call.name == "getrandom" else call.args[2]
