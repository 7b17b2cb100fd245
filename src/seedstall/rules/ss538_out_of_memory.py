"""SS538: the process ran out of memory."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.incident import IncidentKind, Incidents
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account


@rule("SS538", "out-of-memory")
def out_of_memory(incidents: Incidents) -> Iterator[Finding]:
    """The kernel's OOM killer ended the process, or Java ran out of memory.

    ## What it detects
    The OOM killer's line of dmesg or the journal, ``OOMKilled`` of Kubernetes or Docker,
    ``java.lang.OutOfMemoryError``, a JVM that could not start for lack of memory.

    ## Why it matters
    A process that is killed while it starts begins anew and looks hung; a heap that is too small makes every step
    crawl before the error comes. Netty's warning about too little entropy may be no more than a full heap.

    ## Fix
    A larger limit for the container, or a smaller heap (``-XX:MaxRAMPercentage``) in it; a larger heap where
    Java's own error says so.
    """
    killed = incidents.of(IncidentKind.OUT_OF_MEMORY_KILL)
    heap = incidents.of(IncidentKind.HEAP)
    first = killed or heap
    if first is None:
        return
    told = [incident for incident in (killed, heap) if incident is not None]
    sentence = (
        "the kernel's OOM killer ended the process"
        if killed is not None
        else "Java ran out of memory"
    )
    yield Finding(
        message="a process that ran out of memory",
        sentence=f"not entropy: {sentence}",
        cause=Cause.MEMORY,
        status=Status.ENDED if killed is not None else Status.SLOW,
        severity=Severity.ERROR if killed is not None else Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=tuple(incident_account.evidence(incident) for incident in told),
        notes=(
            "see whether it is this JVM that the line names, and its limit against -Xmx and what lies outside the heap",
        ),
    )
