"""What the rules on other causes say of a thread and its place: how bad it is, how sure, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.places import ASLEEP
from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.redact import redact, visible
from seedstall.model.standing import UNNAMED, Place, Standing, Standings
from seedstall.model.verdict import Cause, Progress, Status

NOTED_MS = 2_000
"""A healthy start stands this long in one place, and nobody need care."""
LOST_MS = 10_000
"""From here on a start is lost to it."""
SCANNED_MS = 30_000
"""A process of this age that still scans its jars is slow by it."""
SHOWN_FRAMES = 10

_TRIED_ANEW = 0.2
"""CPU time against time of a thread that sleeps, tries and sleeps: below it, it waits."""

_NEVER_LONG = frozenset(
    (Cause.DNS, Cause.FILE_LOCK, Cause.CLASS_INIT, Cause.MIGRATION, Cause.NATIVE_INIT, Cause.AGENT)
)
"""Nobody's main thread stands there for long on purpose. In others it may: a worker's reads its controller's orders."""


def findings(
    standings: Standings, causes: tuple[Cause, ...], *notes: str, fixes: tuple[Fix, ...] = ()
) -> Iterator[Finding]:
    """One finding for the first thread of a start that stands in such a place; *fixes* free one that stands still."""
    chosen = next((s for s in standings.standings if s.root.cause in causes), None)
    if chosen is not None and _status(chosen, _still_ms(chosen, standings)) is Status.CLEAR:
        return  # a healthy start stands somewhere at any moment
    if chosen is not None and (
        not _named_before(standings, chosen) or chosen.root.cause not in UNNAMED
    ):
        yield finding(chosen, standings, notes, fixes)


def _named_before(standings: Standings, chosen: Standing) -> bool:
    """Whether another thread of the start stands in a place with a name: it tells more than where main waits for it."""
    return any(s.root.cause not in UNNAMED for s in standings.standings if s is not chosen)


def finding(
    standing: Standing,
    standings: Standings,
    notes: tuple[str, ...],
    fixes: tuple[Fix, ...] = (),
) -> Finding:
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
        evidence=tuple(evidence(standing, standings.pid)),
        fixes=fixes if _status(standing, still) is Status.STALLED else (),
        notes=(*notes, *_meant(standing)),
        since_ms=standing.since_ms,
        progress=Progress.STUCK
        if still is not None and still >= NOTED_MS and not _runs(standing)
        else None,
    )


def second_look(standings: Standings) -> str:
    """What to type for a second look, or what to take where the process is not here."""
    if standings.pid:
        return f"a second look (seedstall diagnose {standings.pid} --for 10s)"
    return "a second dump, some seconds later,"


def _may_be_meant(standing: Standing) -> bool:
    """Whether the main thread of a program that is well may stand there for hours: a batch job, a worker."""
    root = standing.root
    waits = root.cause is Cause.CONNECT and not root.connecting
    return waits or root.cause in (Cause.CHILD, Cause.IO)


def _meant(standing: Standing) -> Iterator[str]:
    if _may_be_meant(standing) and not standing.circle:
        yield "a program whose work it is to wait there (a batch job, a worker that gets orders) is well"


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
        how = f", most likely for {owner}, which" if standing.likely else f": {owner} has it, and"
        text = f"{name} {standing.place.words}{how} {beyond}"
    on = f" ({visible(standing.on)[:160]})" if standing.on else ""
    disk = ", in state D (a disk, or a network file system)" if _in_disk(standing) else ""
    return redact(f"{text}{on}{disk}{_for(standing.owner_place or standing.place)}")


def _in_disk(standing: Standing) -> bool:
    return standing.task is not None and standing.task.state == "D"


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
    return standing.root.working


def _still_ms(standing: Standing, standings: Standings) -> int | None:
    """How long the start has stood there, as far as it is known: of one that runs, the process's age.

    The scheduler forgets when a sleeping thread ran last where it moves it to another CPU (6.12 on, with its delayed
    dequeue): of a process that is no longer young it is then as little known as of a text.
    """
    live = standing.task is not None
    if live and (_runs(standing) or _tries_anew(standing)):
        return standings.age_ms or 0
    if standing.since_ms is not None or not live:
        return standing.since_ms
    return None if (standings.age_ms or 0) >= LOST_MS else 0


def _tries_anew(standing: Standing) -> bool:
    """Whether it sleeps, and has done so nearly all its life: a loop that tries again and again wakes in between."""
    busy, alive = standing.busy_ms, standing.alive_ms
    if "sleep" not in standing.root.words and standing.root.cause is not Cause.MIGRATION:
        return False
    return (
        busy is not None and alive is not None and alive >= LOST_MS and busy < _TRIED_ANEW * alive
    )


def _status(standing: Standing, still: int | None) -> Status:
    if standing.root.words == ASLEEP or (still is not None and still < NOTED_MS):
        return Status.CLEAR
    return Status.SLOW if _runs(standing) else Status.STALLED


def _severity(standing: Standing, still: int | None) -> Severity:
    if standing.circle:
        return Severity.ERROR
    unnamed = standing.root.cause in UNNAMED
    if still is None:  # a text: somebody thought it worth a dump
        quiet = unnamed or _runs(standing) or (standing.root.momentary and standing.dumps_seen == 1)
        return Severity.NOTE if quiet else Severity.WARNING
    if still < NOTED_MS:
        return Severity.INFO
    if unnamed or standing.of_input:
        return Severity.NOTE
    if _runs(standing):
        return Severity.WARNING if still >= SCANNED_MS else Severity.NOTE
    never = standing.root.cause in _NEVER_LONG or standing.root.connecting
    sure = never and not standing.likely
    return Severity.ERROR if still >= LOST_MS and sure else Severity.WARNING


def _confidence(standing: Standing, still: int | None) -> Confidence:
    if standing.circle:
        return Confidence.CONFIRMED
    if standing.root.cause in UNNAMED or standing.of_input:
        return Confidence.POSSIBLE
    if _may_be_meant(standing) or standing.likely:
        return Confidence.LIKELY
    if still is not None and still >= NOTED_MS and not _runs(standing):
        return Confidence.CONFIRMED
    return Confidence.LIKELY


def evidence(standing: Standing, pid: int = 0) -> Iterator[Evidence]:
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
            origin=f"/proc/{pid or 'PID'}/task/{task.tid}/syscall",
            excerpt=f"{task.syscall.name or task.syscall.number}{on}",
        )
    if standing.since_from and standing.since_ms is not None:
        live = standing.since_from.startswith("task/")
        where = f"/proc/{pid or 'PID'}/{standing.since_from}" if live else standing.since_from
        yield Evidence(origin=where, excerpt=f"has not run for {duration(standing.since_ms)}")
