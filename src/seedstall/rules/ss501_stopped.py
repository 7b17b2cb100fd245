"""SS501: the JVM is stopped by a signal."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.jvm import JvmProcess
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status


@rule("SS501", "stopped")
def stopped(process: JvmProcess) -> Iterator[Finding]:
    """The JVM is stopped by a signal: none of its threads runs.

    ## What it detects
    State ``T`` (SIGSTOP, SIGTSTP, a shell's Ctrl-Z) or ``t`` (held by a debugger) in ``/proc/PID/stat``.

    ## Why it matters
    A stopped JVM hangs whole, and looks from outside like any other hang. It answers no attach either: whoever asks
    for a thread dump waits.

    ## Fix
    ``kill -CONT PID``, or let the debugger go.
    """
    if process.state not in ("T", "t"):
        return
    who = (
        "a debugger holds it" if process.state == "t" else "by a signal (SIGSTOP, SIGTSTP, Ctrl-Z)"
    )
    yield Finding(
        message="the JVM stopped",
        sentence=f"the JVM is stopped, {who}: nothing in it runs until it is continued",
        cause=Cause.STOPPED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED,
        evidence=(Evidence(origin=f"/proc/{process.pid}/stat", excerpt=f"state {process.state}"),),
        notes=(f"to let it go on: kill -CONT {process.pid}",) if process.state == "T" else (),
    )
