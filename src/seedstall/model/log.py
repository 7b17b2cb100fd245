"""What server logs say of a start: seeding lines, start lines."""

from __future__ import annotations

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
class StartLine:
    """The line ``Server startup in N ms`` in any language; ``took_ms`` of the whole start."""

    origin: str
    line: int
    took_ms: int
    excerpt: str = ""
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class ServerLog:
    """What one or more logs of a case say, in order. ``product`` as far as the lines tell ("Tomcat").

    ``last_line`` is the last log line (origin, number, text), where the log goes no further;
    ``picked_up`` holds "Picked up JAVA_TOOL_OPTIONS" style lines as (variable, value, origin, line).
    ``deployments`` are "Deployment of web application ... has finished in [N] ms" lines. What Tomcat's
    `VersionLoggerListener` tells of the JVM is kept too: ``arguments`` as (argument, origin, line), ``jvm_version``
    (``17.0.15+6``), ``os_release`` (the kernel's, on Linux), ``product_version`` (``10.1.60``); ``""`` where not told.
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


@dataclass(frozen=True, slots=True)
class Observation:
    """Something measured that stands in a text: a ``dd`` of the device, an entropy count, an strace line.

    ``kind`` is one of:

    - ``dd-random``, ``dd-urandom``: a timed read of the device; ``value`` bytes (``None`` where a text gives only time
      and rate), ``ms``, ``text`` the rate as printed;
    - ``entropy-avail``, ``poolsize``: ``value`` as printed, in bits;
    - ``strace-random-read``: a read of ``/dev/random``; ``value`` bytes and ``ms`` where strace says them, ``None``
      where the call had not returned; ``text`` is ``unfinished`` then;
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


@dataclass(frozen=True, slots=True)
class Observations:
    """All such pieces of a case, in order."""

    items: tuple[Observation, ...]
