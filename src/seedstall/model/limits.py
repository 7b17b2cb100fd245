"""Limits that a control group puts on a process, and how often it ran into them."""

from __future__ import annotations

from seedstall.model.record import dataclass


@dataclass(frozen=True, slots=True)
class CpuThrottling:
    """How often a control group's CPU quota stopped its processes, since the group began.

    ``periods`` are the quota's periods in which they wanted to run, ``throttled`` those of them in which they were
    stopped, ``stopped_ms`` the time that makes, over all CPUs. ``age_ms`` is the process's age where known.
    ``path`` is the file.
    """

    periods: int
    throttled: int
    stopped_ms: int
    path: str
    age_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Freezer:
    """Whether its control group, or one above, is frozen: ``path`` is that group's, ``""`` where none is."""

    path: str = ""


@dataclass(frozen=True, slots=True)
class Paging:
    """How far the process has been put out of memory, and what it waited for to get it back.

    ``resident_kib`` and ``swapped_kib`` are its own; ``major_faults`` those that had to wait for a disk since it
    began; ``pressure`` the host's share of time in which something waited for memory, in per cent over 10 s (PSI),
    ``None`` where the kernel does not tell.
    """

    resident_kib: int
    swapped_kib: int
    major_faults: int
    pressure: float | None = None
    pid: int = 0
