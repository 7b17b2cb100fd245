"""What server logs say of a start: seeding lines, start lines."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    seeding: tuple[SeedingLine, ...] = ()
    starts: tuple[StartLine, ...] = ()
    product: str = ""
    lines: int = 0
    last_line: tuple[str, int, str] | None = None
    picked_up: tuple[tuple[str, str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """Something measured that stands in a text: a ``dd`` of the device, an entropy count, an strace line.

    ``kind`` is ``dd-random``, ``entropy-avail``, ``strace-random-read``, ``kernel-release`` or ``poolsize``.
    ``value`` is bytes for ``dd-random``, bits for counts; ``ms`` the time it took.
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
