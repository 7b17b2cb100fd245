"""What the rules on other causes say of a thread and its place: how bad it is, how sure, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.redact import redact, visible
from seedstall.model.standing import UNNAMED, Place, Standing, Standings
from seedstall.model.verdict import Cause, Progress, Status
from seedstall.rules.seed_account import duration

NOTED_MS = 2_000
"""A healthy start stands this long in one place, and nobody need care."""
LOST_MS = 10_000
"""From here on a start is lost to it."""
SCANNED_MS = 30_000
"""A process of this age that still scans its jars is slow by it."""
SHOWN_FRAMES = 10

_NEVER_LONG = frozenset(
    (Cause.DNS, Cause.FILE_LOCK, Cause.CLASS_INIT, Cause.MIGRATION, Cause.NATIVE_INIT, Cause.AGENT)
)
"""Nobody's main thread stands there for long on purpose. In others it may: a worker's reads its controller's orders."""


def findings(standings: Standings, causes: tuple[Cause, ...], *notes: str) -> Iterator[Finding]:
    """One finding for the first thread of a start that stands in such a place."""
    chosen = next((s for s in standings.standings if s.root.cause in causes), None)
    if chosen is not None and _status(chosen, _still_ms(chosen, standings)) is Status.CLEAR:
        return  # a healthy start stands somewhere at any moment
    if chosen is not None and (
        not _named_before(standings, chosen) or chosen.root.cause not in UNNAMED
    ):
        yield finding(chosen, standings, notes)


def _named_before(standings: Standings, chosen: Standing) -> bool:
    """Whether another thread of the start stands in a place with a name: it tells more than where main waits for it."""
    return any(s.root.cause not in UNNAMED for s in standings.standings if s is not chosen)


def finding(standing: Standing, standings: Standings, notes: tuple[str, ...]) -> Finding:
    """The finding on one thread in its place."""
    still = _still_ms(standing, standings)
    root = standing.root
    return Finding(
        message=f"a thread of the start that {_words(standing)}",
        sentence=f"not entropy: {account(standing)}{_since(standing)}",
        cause=root.cause,
        status=_status(standing, still),
        severity=_severity(standing, still),
        confidence=_confidence(standing, still),
        evidence=tuple(evidence(standing)),
        notes=notes,
        since_ms=standing.since_ms,
        progress=Progress.STUCK
        if still is not None and still >= NOTED_MS and not _runs(standing)
        else None,
    )


def account(standing: Standing) -> str:
    """``"main" waits for a connection to be accepted (10.0.0.7:5432), for com.example.Pool.open``."""
    name = f'"{visible(standing.thread.name)[:80]}"' if standing.thread.name else "the thread"
    text = f"{name} {_words(standing)}"
    if standing.circle:
        names = " and ".join(f'"{visible(n)[:60]}"' for n in standing.circle[:4])
        return f"a deadlock that the JVM does not report: {names} wait for each other ({standing.place.words})"
    if standing.owner is not None and standing.owner_place is not None:
        owner = f'"{visible(standing.owner.name)[:80]}"'
        beyond = visible(standing.owner_place.words)[:200]
        text = f"{name} {standing.place.words}: {owner} has it, and {beyond}"
    on = f" ({visible(standing.on)[:160]})" if standing.on else ""
    return redact(f"{text}{on}{_for(standing.owner_place or standing.place)}")


def _words(standing: Standing) -> str:
    return visible(standing.root.words)[:200]


def _for(root: Place) -> str:
    if root.caller and root.caller != root.frame:
        return f", called by {visible(root.caller)[:120]}"
    return f" in {visible(root.frame)[:120]}"


def _since(standing: Standing) -> str:
    if standing.since_ms is not None and standing.since_ms >= 1000:  # noqa: PLR2004 - a second
        return f", for at least {duration(standing.since_ms)}"
    if standing.dumps_seen > 1:
        return f", in each of the last {standing.dumps_seen} dumps"
    return ""


def _runs(standing: Standing) -> bool:
    return standing.root.cause in (Cause.APPLICATION, Cause.JAR_SCAN)


def _still_ms(standing: Standing, standings: Standings) -> int | None:
    """How long the start has stood there, as far as it is known: of one that runs, the process's age."""
    live = standing.task is not None
    if live and _runs(standing):
        return standings.age_ms or 0
    return standing.since_ms if standing.since_ms is not None or not live else 0


def _status(standing: Standing, still: int | None) -> Status:
    if still is not None and still < NOTED_MS:
        return Status.CLEAR
    return Status.SLOW if _runs(standing) else Status.STALLED


def _severity(standing: Standing, still: int | None) -> Severity:
    if standing.circle:
        return Severity.ERROR
    unnamed = standing.root.cause in UNNAMED
    if still is None:  # a text: somebody thought it worth a dump
        return Severity.NOTE if unnamed or _runs(standing) else Severity.WARNING
    if still < NOTED_MS:
        return Severity.INFO
    if unnamed:
        return Severity.NOTE
    if _runs(standing):
        return Severity.WARNING if still >= SCANNED_MS else Severity.NOTE
    never = standing.root.cause in _NEVER_LONG or standing.root.connecting
    return Severity.ERROR if still >= LOST_MS and never else Severity.WARNING


def _confidence(standing: Standing, still: int | None) -> Confidence:
    if standing.circle:
        return Confidence.CONFIRMED
    if standing.root.cause in UNNAMED:
        return Confidence.POSSIBLE
    if still is not None and still >= NOTED_MS and not _runs(standing):
        return Confidence.CONFIRMED
    return Confidence.LIKELY


def evidence(standing: Standing) -> Iterator[Evidence]:
    """The thread's stack, its owner's, its system call, and what says since when."""
    for thread in (standing.thread, standing.owner):
        if thread is None or standing.dump is None:
            continue
        where = standing.dump.origin
        line = f":{thread.line}" if thread.line else ""
        frames = "\n".join(f"  at {visible(f.name)[:160]}" for f in thread.frames[:SHOWN_FRAMES])
        more = len(thread.frames) - SHOWN_FRAMES
        rest = f"\n  ... {more} more" if more > 0 else ""
        state = f" {thread.state}" if thread.state else ""
        yield Evidence(
            origin=f"{where}{line}",
            excerpt=f'"{visible(thread.name)[:80]}"{state}\n{frames}{rest}',
        )
    task = standing.task
    if task is not None and task.syscall is not None:
        on = f" of {visible(task.file.path)[:120]}" if task.file is not None else ""
        yield Evidence(
            origin=f"/proc/PID/task/{task.tid}/syscall",
            excerpt=f"{task.syscall.name or task.syscall.number}{on}",
        )
    if standing.since_from and standing.since_ms is not None:
        yield Evidence(
            origin=standing.since_from, excerpt=f"has not run for {duration(standing.since_ms)}"
        )
