"""What logs and tools say that happened to a process: it was killed, ran out of something, or waits for somebody."""

from __future__ import annotations

from enum import StrEnum

from seedstall.model.record import dataclass


class IncidentKind(StrEnum):
    """What happened. Each is one rule's."""

    PROBE = "killed by a probe"
    """Kubernetes' liveness or startup probe failed, and the kubelet killed the container."""
    START_TIMEOUT = "killed by a start time-out"
    """systemd's ``TimeoutStartSec`` ran out."""
    SIGNAL = "killed by a signal"
    """Exit code 137 or 143, ``code=killed``: by whom is not said."""
    OUT_OF_MEMORY_KILL = "killed by the OOM killer"
    HEAP = "out of Java memory"
    """``java.lang.OutOfMemoryError``, or the JVM could not start for lack of memory."""
    PORT = "port in use"
    DISK = "disk full"
    FILES = "too many open files"
    SCHEMA_LOCK = "schema lock"
    """Liquibase says that it waits for the change log's lock."""
    DEBUGGER = "waits for a debugger"
    """The last line is jdwp's ``Listening for transport``."""
    SAFEPOINT = "safepoint not reached"
    NO_STRONG = "no strong generator"
    """``No strong SecureRandom impls available``: what `securerandom.strongAlgorithms` names cannot be had."""
    COLLECTIONS = "collecting all the time"
    """Full collections one after another, or the collector's own overhead limit."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One line that says so. ``value`` is a figure in it (an exit code, a count), ``None`` where there is none."""

    kind: IncidentKind
    origin: str
    line: int
    excerpt: str
    value: int | None = None
    count: int = 1
    """How often the case says it."""


@dataclass(frozen=True, slots=True)
class Incidents:
    """All of a case: the first of each kind, in the order of the inputs."""

    items: tuple[Incident, ...]

    def of(self, *kinds: IncidentKind) -> Incident | None:
        """The first of these kinds."""
        return next((item for item in self.items if item.kind in kinds), None)
