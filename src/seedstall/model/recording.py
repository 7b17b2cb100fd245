"""A start (or a while) of a JVM, watched from outside: what was sampled, as it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from seedstall.model.samples import Ending

RUNNING = -1
"""`Span.call` of a thread that ran, or waited for a CPU, when it was looked at."""
OUTSIDE = -2
"""`Span.call` of a thread blocked outside a system call: in a page fault."""
UNSEEN = -3
"""`Span.call` where the thread's system call may not be read."""


class Span(NamedTuple):
    """A time that one thread spent in one place. Times are milliseconds since the watch's zero.

    ``call`` is the system call's number, or `RUNNING`, `OUTSIDE`, `UNSEEN`; ``args`` its first four arguments.
    ``cpu_us`` is what it ran meanwhile, ``queued_us`` what it waited for a CPU while it could have run, both by the
    scheduler's count, in microseconds. ``place`` is an index into `Recording.places`, -1 for none.
    """

    tid: int
    since_ms: int
    until_ms: int
    state: str
    call: int
    args: tuple[int, ...]
    cpu_us: int
    queued_us: int
    place: int = -1


WCHAN = "wchan"


class Place(NamedTuple):
    """What a descriptor was open on: the text of its link, its type, and the other end of a socket.

    ``kind`` is a `FileKind`'s value, or `WCHAN` where the system call may not be read and ``path`` is the kernel's
    function that the thread sleeps in. ``peer`` is ``10.0.0.7:5432``, ``""`` for none; ``peer_state`` the connection's
    state in the kernel's own number (2 is SYN_SENT), 0 where not known; ``protocol`` is ``tcp`` or ``udp``.
    """

    fd: int
    path: str
    kind: str
    peer: str = ""
    peer_state: int = 0
    protocol: str = ""


def is_random(place: Place) -> bool:
    """Whether it is a random device, or what stands in its place."""
    path = place.path.removesuffix(" (deleted)")
    return place.kind in ("random", "urandom") or path.endswith(("/dev/random", "/dev/urandom"))


class Counters(NamedTuple):
    """The JVM's own counts at a time: page faults that had to read, memory in use, bytes read from a device.

    ``read_bytes`` is -1 where ``io`` may not be read.
    """

    at_ms: int
    major_faults: int
    rss_kib: int
    read_bytes: int


class SampledThread(NamedTuple):
    """One thread. ``inner_tid`` is its id in its own pid namespace; ``started`` counts clock ticks since boot."""

    pid: int
    tid: int
    inner_tid: int
    comm: str
    started: int


class SampledProcess(NamedTuple):
    """One process of those watched: the JVM, or what was started on the way to it."""

    pid: int
    name: str
    jvm: bool
    machine: str
    since_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Everything that was sampled, as it was read: it can be kept, and replayed.

    ``from_start`` is whether the watch began with the launch of the program (its zero). ``samples`` is how often was
    looked, ``own_cpu_us`` what that cost us. ``throttled`` holds (time, microseconds throttled so far) of the JVM's
    control group, ``counters`` its first and last counts. ``dumped_ms`` is when a thread dump was taken meanwhile;
    ``target`` what ended the watch, in words (``'Server startup in'``, ``port 8080``).
    """

    watched_ms: int
    from_start: bool
    ending: Ending
    samples: int
    own_cpu_us: int
    exit_code: int | None = None
    target: str = ""
    dumped_ms: int | None = None
    processes: tuple[SampledProcess, ...] = ()
    threads: tuple[SampledThread, ...] = ()
    spans: tuple[Span, ...] = ()
    places: tuple[Place, ...] = ()
    throttled: tuple[tuple[int, int], ...] = ()
    counters: tuple[Counters, ...] = ()
