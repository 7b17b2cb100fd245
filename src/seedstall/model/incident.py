"""What logs and tools say that happened to a process: it was killed, ran out of something, or waits for somebody."""

from __future__ import annotations

from enum import StrEnum

from seedstall.model.record import dataclass


class IncidentKind(StrEnum):
    """What happened. Each is one rule's."""

    PROBE = "a probe failed"
    """Kubernetes' liveness or startup probe failed: once is no kill (``failureThreshold`` is 3 by default)."""
    PROBE_KILL = "killed by a probe"
    """The kubelet says that it restarts the container for it."""
    RESTARTS = "restarted again and again"
    """``CrashLoopBackOff``, a restart count above 0, systemd's restart counter; `value` is the count."""
    START_TIMEOUT = "killed by a start time-out"
    """systemd's ``TimeoutStartSec`` ran out."""
    SIGNAL = "killed by SIGKILL"
    """Exit code 137, ``status=9/KILL``: by whom is not said."""
    TERMINATED = "ended by SIGTERM"
    """Exit code 143, ``status=15/TERM``: a stop that was asked for looks so as well."""
    OUT_OF_MEMORY_KILL = "killed by the OOM killer"
    """`who` is the program that the kernel names."""
    HEAP = "out of Java memory"
    """``java.lang.OutOfMemoryError``, or the JVM could not start for lack of memory."""
    PORT = "port in use"
    DISK = "disk full"
    FILES = "too many open files"
    SCHEMA_LOCK = "schema lock"
    """Liquibase says that it waits for the change log's lock; `who` holds it, where it says so."""
    DEBUGGER = "waits for a debugger"
    """The last line is jdwp's ``Listening for transport``."""
    SAFEPOINT = "safepoint not reached"
    """`who` is the thread that HotSpot names."""
    NO_STRONG = "no strong generator"
    """``No strong SecureRandom impls available``: what `securerandom.strongAlgorithms` names cannot be had."""
    COLLECTIONS = "collecting all the time"
    """Full collections one after another, or the collector's own overhead limit."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One line that says so. ``value`` is a figure in it (an exit code, a count), ``None`` where there is none.

    ``who`` is whom the line names (a unit, a container, a program, a host), ``""`` if nobody. ``last`` is the line in
    which the case says it for the last time, 0 where that is the only one. ``over`` is true where the log goes on
    with a later start, or with the end of this one: it did not keep the process from starting.
    """

    kind: IncidentKind
    origin: str
    line: int
    excerpt: str
    value: int | None = None
    count: int = 1
    """How often the case says it."""
    who: str = ""
    last: int = 0
    over: bool = False


@dataclass(frozen=True, slots=True)
class Incidents:
    """All of a case: one of each kind, in the order of the inputs."""

    items: tuple[Incident, ...]

    def of(self, *kinds: IncidentKind) -> Incident | None:
        """The first of these kinds; one that is over where there is no other."""
        return self.now(*kinds) or next((item for item in self.items if item.kind in kinds), None)

    def now(self, *kinds: IncidentKind) -> Incident | None:
        """The first of these kinds that is not over."""
        return next((item for item in self.items if item.kind in kinds and not item.over), None)
