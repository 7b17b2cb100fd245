"""Where the threads stand on which a start depends, when it is not a matter of random bytes."""

from __future__ import annotations

from seedstall.model.record import dataclass
from seedstall.model.tasks import KernelTask
from seedstall.model.threads import JavaThread, ThreadDump
from seedstall.model.verdict import Cause

UNNAMED = frozenset((Cause.WAITING, Cause.APPLICATION))
"""Places that are clear but have no name: nothing says that they are wrong."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a stack stands in. ``words`` complete '"main" ...'.

    ``frame`` is the ``class.method`` it was told by, at ``depth`` from the top; ``caller`` the first frame outside
    the JDK from there on, ``""`` if none. ``what`` names the lock's or the class's own class where the dump says
    it.
    """

    cause: Cause
    words: str
    frame: str
    caller: str = ""
    depth: int = 0
    what: str = ""
    connecting: bool = False
    """Whether a connection is still being made: the far end has not answered at all."""
    working: bool = False
    """Whether it is at work there, as far as the stack tells, and does not wait."""
    momentary: bool = False
    """Whether a thread that gets on is met there as well: a read of a file is a wait where two looks meet it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One thread and its place.

    ``task`` is its kernel thread where the target is live. ``dumps_seen`` counts the dumps that show it in this
    place; ``since_ms`` is how long it has stood there at the least, ``None`` where nothing says it, ``since_from``
    what does. ``owner`` is the thread that holds the lock it waits for, where the dump shows it; ``circle`` names
    the threads that wait for each other, where the chain of owners comes back. ``on`` is the far end of its
    connection (``10.0.0.7:5432``), told by the JVM's own sockets, or the file of its read or write.
    """

    thread: JavaThread
    place: Place
    dump: ThreadDump | None = None
    task: KernelTask | None = None
    dumps_seen: int = 1
    since_ms: int | None = None
    since_from: str = ""
    owner: JavaThread | None = None
    owner_place: Place | None = None
    """Where that one stands: the root of the wait."""
    on: str = ""
    busy_ms: int | None = None
    """Its CPU time since it began, and ``alive_ms`` how long that is ago; by the dump (11+) or the kernel."""
    alive_ms: int | None = None
    queued_ms: int = 0
    """How long it was ready to run and got no CPU (``schedstat``)."""
    circle: tuple[str, ...] = ()
    likely: bool = False
    """Whether `owner` is no lock's, but the one thread whose work it most likely waits for."""
    of_input: bool = False
    """Whether it reads what it is given on its standard input: a worker waits there for orders."""

    @property
    def root(self) -> Place:
        """The place that everything comes down to: the lock's owner's, where that has a name of its own."""
        owner = self.owner_place
        return self.place if owner is None or owner.cause in UNNAMED else owner


@dataclass(frozen=True, slots=True)
class Standings:
    """The threads that a start waits for, the one it depends on first.

    ``started`` says why the start seems to be over (its main thread idles, or has ended), ``""`` where it is not.
    ``age_ms`` is the process's age where it is live.
    """

    standings: tuple[Standing, ...] = ()
    started: str = ""
    age_ms: int | None = None
    pid: int = 0
    """The process's id, 0 where it is not known."""


@dataclass(frozen=True, slots=True)
class WorkShares:
    """CPU time of the process in milliseconds: of the collector's threads, and of all; ``origin`` tells it."""

    collector_ms: int
    total_ms: int
    origin: str

    @property
    def collector_share(self) -> float:
        """The collector's part, 0 to 1."""
        return self.collector_ms / self.total_ms if self.total_ms else 0.0


@dataclass(frozen=True, slots=True)
class Debugged:
    """Whether the JVM's options load the debugger's agent to wait for a debugger (``suspend=y``, its default).

    ``suspended`` is whether nothing of the program has run yet, as far as it can be seen; ``listening`` the id of
    the agent's thread that waits for the debugger to connect, 0 where none is seen.
    """

    option: str = ""
    place: str = ""
    suspended: bool = False
    listening: int = 0
    pid: int = 0
