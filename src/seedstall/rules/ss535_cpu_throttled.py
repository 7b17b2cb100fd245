"""SS535: a CPU quota stops the process."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.limits import CpuThrottling
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import now_remedies as now

OFTEN = 0.25
LEAST_MS = 1_000
LEAST_PERIODS = 10
LOST = 0.5


@rule("SS535", "cpu-throttled")
def cpu_throttled(limit: CpuThrottling) -> Iterator[Finding]:
    """The control group's CPU quota stops the process often.

    ## What it detects
    ``nr_throttled`` against ``nr_periods`` in ``cpu.stat`` of its control group (versions 1 and 2): a quarter of
    the periods or more, and a second in all.

    ## Why it matters
    A JVM compiles and collects with many threads while it starts. With a quota of a core or less they use up each
    period's share in its first milliseconds, and everything stands still for the rest of it: a start of seconds
    takes minutes. Titles of such reports speak of entropy often.

    ## Fix
    A larger limit (``limits.cpu``, ``--cpus``, ``CPUQuota=``), at least for the start; or fewer threads
    (``-XX:ActiveProcessorCount=1``, ``-XX:TieredStopAtLevel=1``).
    """
    share = limit.throttled / limit.periods if limit.periods else 0.0
    if limit.periods < LEAST_PERIODS or share < OFTEN or limit.stopped_ms < LEAST_MS:
        return
    percent = f"{share:.0%}".replace("%", " %")
    yield Finding(
        message="a process that its CPU quota stops",
        sentence=(
            f"not entropy: its CPU quota stopped it in {percent} of the periods,"
            f" for {duration(limit.stopped_ms)} in all"
        ),
        cause=Cause.CPU_THROTTLED,
        status=Status.SLOW,
        severity=Severity.ERROR if share >= LOST and _in_its_life(limit) else Severity.WARNING,
        confidence=Confidence.CONFIRMED if _in_its_life(limit) else Confidence.LIKELY,
        evidence=(
            Evidence(
                origin=f"/{limit.path}",
                excerpt=(
                    f"nr_periods {limit.periods}, nr_throttled {limit.throttled},"
                    f" {duration(limit.stopped_ms)} throttled"
                ),
            ),
        ),
        fixes=(_more(limit.path),),
        notes=("raise limits.cpu, --cpus or CPUQuota=, at least for the start",),
        explains=(Cause.APPLICATION, Cause.JAR_SCAN, Cause.CPU_SPIN),
    )


def _more(path: str) -> Fix:
    """Version 2 has ``cpu.max`` beside ``cpu.stat``, version 1 ``cpu.cfs_quota_us`` (-1: none)."""
    folder = f"/{visible(path).rpartition('/')[0]}"
    first = "/cpu,cpuacct/" in folder or "/cpu/" in folder or "/cpuacct/" in folder
    value, file = ("-1", "cpu.cfs_quota_us") if first else ("max", "cpu.max")
    return now.once(
        "cpu-quota",
        "take its quota off until it is up (docker update --cpus N NAME, where Docker set it)",
        f"echo {value} > {now.word(f'{folder}/{file}')}",
        takes="at once",
        root=True,
        review=True,
    )


def _in_its_life(limit: CpuThrottling) -> bool:
    """Whether the figures can be this process's own: a group may be older than what runs in it (a period is 100 ms)."""
    return limit.age_ms is not None and limit.periods * 100 <= limit.age_ms * 1.2
