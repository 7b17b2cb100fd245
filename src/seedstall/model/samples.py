"""Where the time of a watched start (or of a while) of a JVM went."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from seedstall.model.record import dataclass
from seedstall.model.tasks import OpenFile
from seedstall.model.verdict import Progress


class Ending(StrEnum):
    """What ended the watch."""

    UNTIL = "until"
    """The text that was waited for was printed."""
    PORT = "port"
    """The port that was waited for listened."""
    TIME = "time"
    """The time that was given was over."""
    EXIT = "exit"
    """The program ended by itself."""
    KILLED = "killed"
    """A signal ended the program."""


class Doing(StrEnum):
    """What a time went to, in words for people."""

    RANDOM = "waiting for random bytes"
    CPU = "on CPU"
    GC = "in garbage collection"
    THROTTLED = "held back by its CPU limit"
    QUEUED = "queueing for a CPU"
    CONNECT = "in connect"
    DNS = "in a name lookup"
    NETWORK = "waiting for the network"
    ACCEPT = "waiting for clients"
    READ = "in reads"
    DISK = "in disk and page faults"
    CHILD = "waiting for a child process"
    WAITING = "waiting for another thread"
    SLEEPING = "waiting with a time-out"
    STOPPED = "stopped"
    LAUNCH = "before the JVM was there"
    OTHER = "in other system calls"
    UNSEEN = "not seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of the time: what it went to, and the thread and place that had most of it.

    ``where`` is for people: ``read of /dev/random (fd 4)``; ``""`` where there is nothing to say.
    """

    doing: Doing
    ms: int
    thread: str = ""
    tid: int | None = None
    inner_tid: int | None = None
    where: str = ""
    frame: str = ""
    """Its innermost Java frame, where the dump was taken while it did this."""
    caller: str = ""
    """The program's own frame nearest to it, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledWait:
    """One thread's waits for random bytes, all together.

    ``ms`` is the sum, ``last_ms`` how long the last one took or takes. ``over`` is whether it went on by the end of the
    watch. ``lengths`` are the bytes asked for, change by change. ``jvm`` is false where another program waited (a
    script's openssl). ``ended`` is whether the JVM ended in it, as far as looks can tell.
    """

    tid: int
    inner_tid: int
    name: str
    ms: int
    last_ms: int
    over: bool
    call: str
    file: OpenFile | None = None
    lengths: tuple[int, ...] = ()
    count: int = 1
    jvm: bool = True
    ended: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    """When it waited: the first of them, in milliseconds since the watch's zero."""

    @property
    def progress(self) -> Progress | None:
        """`PROGRESSING` if it got some of its bytes, or waited more than once; `STUCK` if nothing moved for 1 s."""
        if len(self.lengths) > 1 or self.count > 1:
            return Progress.PROGRESSING
        return Progress.STUCK if self.last_ms >= 1000 else None  # noqa: PLR2004 - a second


class Stretch(NamedTuple):
    """A while of the thread that counts: what it did most of, in milliseconds since the watch's zero."""

    since_ms: int
    until_ms: int
    doing: Doing


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSamples:
    """Where the time of a watch went.

    ``table`` has the largest share first; its shares add up to ``watched_ms``. ``waits`` are the threads that waited
    for random bytes, longest first. ``visible`` is whether threads' system calls could be seen at all; ``jvm`` whether
    a JVM came up. ``cost`` is the part of one core that looking took.
    """

    watched_ms: int
    from_start: bool
    ending: Ending
    exit_code: int | None = None
    target: str = ""
    samples: int = 0
    cost: float = 0.0
    table: tuple[Share, ...] = ()
    waits: tuple[SampledWait, ...] = ()
    visible: bool = True
    jvm: bool = True
    last: Doing | None = None
    """What the thread that counts did at the watch's end, where the program did not end with it."""
    dumped: bool = False
    """Whether a dump was taken during the watch: it shows a moment of the past."""
    major_faults: int = 0
    """Page faults of the JVM that had to read from a disk (or swap), meanwhile."""
    read_kib: int | None = None
    """What was read from disks for it, meanwhile; ``None`` where that may not be seen."""
    rss_kib: int = 0
    threaded_ms: int | None = None
    """How long the JDK's threaded seeder ran; ``None`` where its thread was not seen."""
    line: tuple[Stretch, ...] = ()
    """What that thread did, in the order of time; nothing finer than a 500th of the whole."""
    stale: bool = False
    """Whether the thread that counts has moved on since that dump."""

    def ms(self, *doings: Doing) -> int:
        """The time that went to these together."""
        return sum(share.ms for share in self.table if share.doing in doings)

    @property
    def interval_ms(self) -> int:
        """How far its looks lay apart, on average."""
        return round(self.watched_ms / self.samples) if self.samples else 0
