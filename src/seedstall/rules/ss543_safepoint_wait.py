"""SS543: the JVM waits for a thread that does not reach its safepoint."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.incident import IncidentKind, Incidents
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account


@rule("SS543", "safepoint-wait")
def safepoint_wait(incidents: Incidents) -> Iterator[Finding]:
    """All threads wait because one does not come to its safepoint.

    ## What it detects
    HotSpot's own report, ``SafepointSynchronize::begin: Timeout detected`` (with ``-XX:+SafepointTimeout``).

    ## Why it matters
    A collection, a thread dump or a deoptimisation stops all threads first. One in a long loop without a safepoint
    poll, in a page fault of a memory-mapped file or without a CPU holds them all, and no thread dump can be had
    meanwhile.

    ## Fix
    The thread that the report names; ``-XX:+UseCountedLoopSafepoints`` for a counted loop (default from 10 on with
    G1).
    """
    incident = incidents.of(IncidentKind.SAFEPOINT)
    if incident is None:
        return
    name = incident_account.name(incident)
    finding = Finding(
        message="a JVM that waits for a safepoint",
        sentence=(
            f'not entropy: all threads of the JVM wait for "{name}", which does not reach its safepoint'
            if name
            else "not entropy: the JVM waits for a thread that does not reach its safepoint"
        ),
        cause=Cause.SAFEPOINT,
        status=Status.STALLED,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=(incident_account.evidence(incident),),
        notes=("the lines after it name the thread and what it runs: that is the question",),
    )
    yield incident_account.weighed(finding, [incident])
