"""SS502: threads wait for each other in a circle."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.jvm import LiveProcess
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.samples import Ending, StartSamples
from seedstall.model.threads import ThreadDump, ThreadDumps
from seedstall.model.verdict import Cause, Status
from seedstall.rules import now_remedies as now

SHOWN_NAMES = 6


@rule("SS502", "deadlock")
def deadlock(
    dumps: ThreadDumps,
    samples: StartSamples | None = None,
    live: LiveProcess | None = None,
) -> Iterator[Finding]:
    """Threads wait for each other's locks in a circle.

    ## What it detects
    The section ``Found one Java-level deadlock`` at the end of a thread dump, or the same circle in the JVM's memory.

    ## Why it matters
    These threads wait for ever, and so does everything that needs them: a start that hangs so is no matter of
    entropy, and no flag cures it.

    ## Fix
    Take the locks in the same order everywhere: a change of the code. A restart frees the process until it happens
    again.
    """
    last = dumps.dumps[-1] if dumps.dumps else None
    if last is None or not last.deadlocks:
        return
    names = ", ".join(f'"{visible(name)[:60]}"' for name in last.deadlocks[0][:SHOWN_NAMES])
    # Monitors are never given up: it lasts until the process ends.
    over = samples is not None and samples.ending in (Ending.EXIT, Ending.KILLED)
    waits = (
        "waited for each other's locks until the process ended"
        if over
        else "wait for each other's locks"
    )
    yield Finding(
        message="threads that wait for each other",
        sentence=f"a deadlock: {names} {waits}",
        cause=Cause.DEADLOCK,
        status=Status.ENDED if over else Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED,
        evidence=tuple(_evidence(last)),
        fixes=(
            ()
            if live is None or over
            else (
                now.restart(
                    live.pid, "until it happens again, for the code is at fault", alone=True
                ),
            )
        ),
        notes=(_found_by(last), "only a change of the code ends it"),
    )


def _found_by(dump: ThreadDump) -> str:
    if dump.origin == "memory":
        return "found in the JVM's memory: the owners of its locks and initialisers lead back to where they begin"
    return "the JVM itself found it"


def _evidence(dump: ThreadDump) -> Iterator[Evidence]:
    by_name = {thread.name: thread for thread in dump.threads}
    for name in dump.deadlocks[0][:SHOWN_NAMES]:
        thread = by_name.get(name)
        if thread is not None:
            frame = thread.frames[0].name if thread.frames else "no frame"
            yield Evidence(
                origin=f"{dump.origin}:{thread.line}" if thread.line else dump.origin,
                excerpt=f'"{visible(name)[:80]}" at {visible(frame)[:160]}',
            )
