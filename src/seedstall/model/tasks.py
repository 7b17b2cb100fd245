"""Threads as the kernel shows them: what each waits in, on which descriptor."""

from __future__ import annotations

from enum import StrEnum

from seedstall.model.record import dataclass


class FileKind(StrEnum):
    """What a descriptor is open on."""

    RANDOM = "random"
    """The kernel's device 1:8."""
    URANDOM = "urandom"
    """The kernel's device 1:9."""
    CHAR = "character device"
    FIFO = "fifo"
    REGULAR = "file"
    SOCKET = "socket"
    OTHER = "other"
    UNKNOWN = "unknown"
    """Its type could not be had (a captured tree holds only the link)."""


UNOPENED = -1
"""`OpenFile.fd` of a file that is still being opened."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One descriptor: the link text of ``/proc/PID/fd/N`` and, where it could be had, its type.

    ``seeds`` is true where it is the file that the JVM's own seed source names, whatever that is called.
    """

    fd: int
    path: str
    kind: FileKind = FileKind.UNKNOWN
    rdev: tuple[int, int] | None = None
    seeds: bool = False

    @property
    def gives_randomness(self) -> bool:
        """Whether who waits on it waits for random bytes: a random device, or the seed source."""
        return self.seeds or self.is_device

    @property
    def is_device(self) -> bool:
        """Whether it is one of the two random devices, or what stands in the place of one."""
        return self.is_random_path or self.is_urandom_path

    @property
    def is_random_path(self) -> bool:
        """Whether it is ``/dev/random``: by device number where known, else by path.

        A FIFO or file mounted over ``/dev/random`` counts: programs reach it by that name.
        """
        return self.kind is FileKind.RANDOM or self.path.endswith("/dev/random")

    @property
    def is_urandom_path(self) -> bool:
        """Whether it is ``/dev/urandom``, likewise."""
        return self.kind is FileKind.URANDOM or self.path.endswith("/dev/urandom")


@dataclass(frozen=True, slots=True)
class Syscall:
    """A system call a thread is blocked in. ``name`` is ``""`` where the architecture's table lacks the number."""

    number: int
    name: str
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KernelTask:
    """One thread of the process.

    ``tid`` is the id on this host, ``inner_tid`` the one in the JVM's own pid namespace (``NSpid``'s last; what
    ``nid`` in a dump means). ``wchan`` is ``None`` where it could not be had or reads ``0`` (running, or not
    permitted). ``file`` is the descriptor a read-like call waits on. ``running`` is true where the
    syscall file says so. ``cpu_ms`` is user plus system time. ``denied`` names what could not be read. ``asleep`` is
    true where its registers show that the call was broken off in its sleep (a core's): it waited, and did not just pass
    by. ``fifo`` is a random device or seed source that is a FIFO here, where the thread waits in open(2) for the other
    end of one: which it opens, ``/proc`` does not say.
    """

    tid: int
    inner_tid: int
    comm: str
    state: str = "?"
    wchan: str | None = None
    syscall: Syscall | None = None
    file: OpenFile | None = None
    running: bool = False
    cpu_ms: int | None = None
    denied: tuple[str, ...] = ()
    asleep: bool = False
    fifo: str = ""
    pid: int | None = None
    """Of the process it belongs to, where that is not the target but one that the target started."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """All threads of the target, and its open random devices. ``age_ms`` is the process's age where known."""

    tasks: tuple[KernelTask, ...]
    random_files: tuple[OpenFile, ...] = ()
    age_ms: int | None = None
    machine: str = "x86_64"
    denied: tuple[str, ...] = ()
    """What could not be read of its threads and descriptors, each with the permission that would help."""
    of_core: bool = False
    """From a core's notes: a thread whose note is lost or damaged is not among them, and nothing tells."""
    unseen: str = ""
    """How many of its threads nobody looked at, and why: of a capture that was cut short."""


@dataclass(frozen=True, slots=True)
class WaitingChildren:
    """The target's descendants that wait for random bytes (a gpg, openssl, ssh-keygen), each by the thread that waits.

    ``jvms`` are the pids of those that are JVMs themselves. ``script`` is the target's command line, where it is no JVM
    but the script that should start one; then the JVMs below it are left out.
    """

    tasks: tuple[KernelTask, ...]
    jvms: tuple[int, ...] = ()
    script: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Descendant:
    """A process that the target or one of its children started; ``task`` is the thread of it that tells most."""

    pid: int
    argv: tuple[str, ...]
    task: KernelTask
    start_ticks: int = 0
    age_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StartedPrograms:
    """What the target itself started and what still runs of it, the last one first."""

    programs: tuple[Descendant, ...]


@dataclass(frozen=True, slots=True)
class ScriptWait:
    """A script that waits for what it started, where no JVM is: ``chain`` leads from its child to the last one.

    ``others`` counts the processes beside that last one, which its parent may wait for as well.
    """

    argv: tuple[str, ...]
    task: KernelTask
    chain: tuple[Descendant, ...]
    others: int = 0
