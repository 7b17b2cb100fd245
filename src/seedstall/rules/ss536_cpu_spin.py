"""SS536: a thread of the start computes without a pause."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.standing import Standing, Standings
from seedstall.model.verdict import Cause, Status
from seedstall.rules import place_account

MOST = 0.8
"""CPU time against time: a thread that waits for anything stays far below."""
LEAST_MS = 10_000


@rule("SS536", "cpu-spin")
def cpu_spin(standings: Standings) -> Iterator[Finding]:
    """A thread of the start has computed nearly all the time since it began.

    ## What it detects
    CPU time near the thread's age, by the thread dump's ``cpu=`` and ``elapsed=`` (11+) or by the kernel, in a
    thread of the start that runs code of the program's own.

    ## Why it matters
    Waiting takes no CPU time. A thread that uses a whole core waits for nothing, and least of all for entropy: it
    loops, or it has much to do.

    ## Fix
    The frame is where it works. A second dump tells whether it gets on.
    """
    spinning = next((s for s in standings.standings if _spins(s)), None)
    if spinning is None or spinning.busy_ms is None or spinning.alive_ms is None:
        return
    used = f"{duration(spinning.busy_ms)} of CPU in {duration(spinning.alive_ms)}"
    if spinning.queued_ms >= spinning.busy_ms / 10:
        used += f", and {duration(spinning.queued_ms)} in the queue for a CPU"
    yield Finding(
        message="a thread that computes without a pause",
        sentence=f"not entropy: {place_account.account(spinning)}, without a pause: {used}",
        cause=Cause.CPU_SPIN,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=tuple(place_account.evidence(spinning, standings.pid)),
        explains=(Cause.APPLICATION,),
        notes=(f"{place_account.second_look(standings)} tells whether it gets on",),
    )


def _spins(standing: Standing) -> bool:
    busy, alive = standing.busy_ms, standing.alive_ms
    if busy is None or alive is None or standing.root.cause is not Cause.APPLICATION:
        return False
    return alive >= LEAST_MS and busy + standing.queued_ms >= MOST * alive and busy >= alive / 10
