"""SS537: the collector takes the time."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.evidence import Missing, Unavailable
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.incident import IncidentKind, Incidents
from seedstall.model.rule import rule
from seedstall.model.standing import WorkShares
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account

MOST = 0.5
LEAST_MS = 5_000


@rule("SS537", "collecting")
def collecting(work: WorkShares | Missing, incidents: Incidents | Missing) -> Iterator[Finding]:
    """Most of the CPU time goes to garbage collection.

    ## What it detects
    The CPU time of the collector's threads against the rest of the process's, by the kernel or by the thread
    dump's ``cpu=`` (11+); full collections one after another in a collector's log; the error ``GC overhead limit
    exceeded``.

    ## Why it matters
    With a heap that is nearly full every allocation waits for a collection: the start crawls, and time-outs of
    libraries (Netty's seed warning among them) run out for no reason of their own.

    ## Fix
    A larger heap (``-Xmx``, ``-XX:MaxRAMPercentage``), or what fills it mended.
    """
    if isinstance(work, Missing) and isinstance(incidents, Missing):
        raise Unavailable(work)
    told = incidents.of(IncidentKind.COLLECTIONS) if isinstance(incidents, Incidents) else None
    measured = (
        isinstance(work, WorkShares)
        and work.collector_ms >= LEAST_MS
        and work.collector_share >= MOST
    )
    if told is None and not measured:
        return
    evidence: list[Evidence] = []
    if told is not None:
        evidence.append(incident_account.evidence(told))
    share = ""
    if measured and isinstance(work, WorkShares):
        share = f": {duration(work.collector_ms)} of {duration(work.total_ms)} of its CPU time"
        evidence.append(
            Evidence(origin=work.origin, excerpt=f"collector's threads{share.replace(':', '', 1)}")
        )
    finding = Finding(
        message="a JVM that collects garbage most of the time",
        sentence=f"not entropy: garbage collection takes the time{share}",
        cause=Cause.GC,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.CONFIRMED if measured else Confidence.LIKELY,
        evidence=tuple(evidence),
        explains=(Cause.APPLICATION,),
        notes=("a heap that is too small does this: -Xmx, or MaxRAMPercentage in a container",),
    )
    if told is None or measured:
        yield finding
    else:
        yield incident_account.weighed(finding, [told])
