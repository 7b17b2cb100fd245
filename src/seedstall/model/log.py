"""What server logs say of a start: seeding lines, start lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from seedstall.model.record import dataclass


@dataclass(frozen=True, slots=True)
class SeedingLine:
    """Tomcat's "Creation of SecureRandom instance ... took [N] milliseconds", in any language.

    ``algorithm`` is ``""`` where the message lacks it (ja, 9.0.15-9.0.34). ``excerpt`` is the line as found.
    """

    origin: str
    line: int
    took_ms: int
    algorithm: str = ""
    thread: str = ""
    stamp: str = ""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class BeginLine:
    """A line that a server prints once at the beginning of each start.

    ``kind`` tells such lines of one product apart: two of a kind are two starts.
    """

    origin: str
    line: int
    product: str
    kind: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class StartLine:
    """The line ``Server startup in N ms`` in any language, or another server's; ``took_ms`` of the whole start.

    ``took_ms`` is 0 where neither the line nor the times of the lines tell it. ``product`` is ``""`` for Tomcat.
    """

    origin: str
    line: int
    took_ms: int
    excerpt: str = ""
    stamp: str = ""
    product: str = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """The longest time in one start in which nothing was logged, and the lines before (``line``) and after it."""

    origin: str
    line: int
    until_line: int
    ms: int
    before: str
    after: str


class Run(NamedTuple):
    """One start in a log: its seeding lines, and the line that completes it (``None`` where it goes no further)."""

    seeding: tuple[SeedingLine, ...]
    start: StartLine | None
    begin: BeginLine | None = None

    @property
    def origin(self) -> str:
        """The input it stands in."""
        told = (self.start, self.begin, *self.seeding)
        return next(line.origin for line in told if line is not None)

    @property
    def worst(self) -> SeedingLine | None:
        """The longest seeding: concurrent ones overlap, so the maximum counts and not the sum."""
        return max(self.seeding, key=lambda line: line.took_ms, default=None)


@dataclass(frozen=True, slots=True)
class ServerLog:
    """What one or more logs of a case say, in order. ``product`` as far as the lines tell ("Tomcat").

    ``last_line`` is the last log line (origin, number, text), where the log goes no further;
    ``picked_up`` holds "Picked up JAVA_TOOL_OPTIONS" style lines as (variable, value, origin, line).
    ``deployments`` are "Deployment of web application ... has finished in [N] ms" lines. What Tomcat's
    `VersionLoggerListener` tells of the JVM is kept too: ``arguments`` as (argument, origin, line), ``jvm_version``
    (``17.0.15+6``), ``os_release`` (the kernel's, on Linux), ``product_version`` (``10.1.60``); ``""`` where not told.
    ``begins`` are the lines that begin a start; ``silences`` holds the longest one of the last start of each input.
    """

    seeding: tuple[SeedingLine, ...] = ()
    starts: tuple[StartLine, ...] = ()
    product: str = ""
    lines: int = 0
    last_line: tuple[str, int, str] | None = None
    picked_up: tuple[tuple[str, str, str, int], ...] = ()
    deployments: tuple[StartLine, ...] = ()
    arguments: tuple[tuple[str, str, int], ...] = ()
    jvm_version: str = ""
    os_release: str = ""
    product_version: str = ""
    begins: tuple[BeginLine, ...] = ()
    silences: tuple[Silence, ...] = ()

    def runs(self) -> tuple[Run, ...]:
        """The starts of the log, in order; a log of several inputs keeps each input's starts together."""
        return tuple(chain.from_iterable(self._by_input()))

    def _by_input(self) -> Iterator[Iterator[Run]]:
        told: dict[str, list[BeginLine | SeedingLine | StartLine]] = {}
        lines: Iterator[BeginLine | SeedingLine | StartLine]
        lines = chain(self.begins, self.seeding, self.starts)
        for line in lines:
            told.setdefault(line.origin, []).append(line)
        for found in told.values():
            yield _runs(sorted(found, key=lambda entry: entry.line))

    def last_runs(self) -> tuple[Run, ...]:
        """The last start of each input."""
        last = (deque(runs, maxlen=1) for runs in self._by_input())
        return tuple(runs[0] for runs in last if runs)

    @property
    def shows_a_start(self) -> bool:
        """Whether a slow seeding of the last start would show: that start is complete, or has its seeding line."""
        return any(run.start is not None or run.seeding for run in self.last_runs())

    @property
    def unfinished(self) -> BeginLine | None:
        """The beginning of a last start that the log does not see to its end."""
        return next((r.begin for r in self.last_runs() if r.start is None and r.begin), None)


def _runs(lines: list[BeginLine | SeedingLine | StartLine]) -> Iterator[Run]:
    """The starts that the lines of one input tell of."""
    begin: BeginLine | None = None
    kinds: set[str] = set()
    seeding: list[SeedingLine] = []
    for line in lines:
        if isinstance(line, SeedingLine):
            seeding.append(line)
        elif isinstance(line, StartLine):
            yield Run(tuple(seeding), line, begin)
            begin, kinds, seeding = None, set(), []
        elif line.kind in kinds:
            yield Run(tuple(seeding), None, begin)
            begin, kinds, seeding = line, {line.kind}, []
        else:
            begin = begin or line
            kinds.add(line.kind)
    if seeding or begin is not None:
        yield Run(tuple(seeding), None, begin)


@dataclass(frozen=True, slots=True)
class Observation:
    """Something measured that stands in a text: a ``dd`` of the device, an entropy count, an strace line.

    ``kind`` is one of:

    - ``dd-random``, ``dd-urandom``: a timed read of the device; ``value`` bytes (``None`` where a text gives only time
      and rate), ``ms``, ``text`` the rate as printed;
    - ``entropy-avail``, ``poolsize``: ``value`` as printed, in bits;
    - ``strace-random-read``: a call that waits for ``/dev/random`` (a read, a poll); ``value`` bytes and ``ms`` where
      strace says them, ``None`` where the call had not returned; ``text`` is ``unfinished`` then, and ``ms`` how long
      it had not come back at the least; ``strace-getrandom``: the same of getrandom without GRND_RANDOM;
    - ``strace-read``: such a read of a descriptor (``value``) whose file the trace does not show, above a second;
    - ``strace-one-thread``: a trace that shows one thread only; ``value`` the calls looked at;
    - ``open-descriptor``: ``value`` the number, ``text`` the device's path, by lsof or ``ls -l /proc/PID/fd``;
    - ``kernel-wait``: a thread in the kernel function ``text``; ``value`` 1 where that waits for the pool, 0 for the
      CRNG's first seeding; ``proc-read``: one inside a read of descriptor ``value`` (``/proc/PID/task/TID/syscall``);
    - ``kernel-wait-over``: the same in a table of samples whose last row shows no such wait any more;
    - ``read-wakeup``: ``read_wakeup_threshold``, which a kernel has exactly when it has a blocking pool;
    - ``crng-ready``: when the kernel's generator was seeded, ``ms`` after boot; ``urandom-early``: who read before it;
    - ``feeder-state``: an entropy daemon's state in ``text``, ``value`` 1 where it runs;
    - ``wall-cpu``: a timed run of the command ``text``: ``ms`` wall-clock time, ``value`` CPU time in ms;
    - ``cpu-throttled``: ``cpu.stat``: ``value`` per cent of the periods, ``ms`` in all;
    - ``netty-seed-late``: Netty's warning, ``value`` its limit in seconds;
    - ``threaded-seeder``: a log says that this JVM seeded by scheduler noise (a bad seed URL, a missing device);
    - ``kernel-release``: ``text`` is the release of a machine the text speaks of as its own;
    - ``program-ms``: a time that a Java program printed after its command line; ``ms``, ``text`` the command;
    - ``prng-benchmark``: one algorithm with so many threads; ``text`` the algorithm, ``value`` the threads, ``ms`` the
      slowest average.
    """

    kind: str
    origin: str
    line: int
    excerpt: str
    value: int | None = None
    ms: int | None = None
    text: str = ""
    thread: str = ""
    """Of a trace: the thread, where its lines say it."""


@dataclass(frozen=True, slots=True)
class Observations:
    """All such pieces of a case, in order."""

    items: tuple[Observation, ...]
