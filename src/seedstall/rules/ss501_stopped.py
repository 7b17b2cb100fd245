"""SS501: the JVM is stopped by a signal, or frozen."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.jvm import JvmProcess
from seedstall.model.limits import Freezer
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status


@rule("SS501", "stopped")
def stopped(process: JvmProcess, freezer: Freezer | None = None) -> Iterator[Finding]:
    """The JVM is stopped by a signal, or its control group is frozen: none of its threads runs.

    ## What it detects
    State ``T`` (SIGSTOP, SIGTSTP, a shell's Ctrl-Z) or ``t`` (held by a debugger) in ``/proc/PID/stat``; a frozen
    control group (``docker pause``, a suspended job).

    ## Why it matters
    A stopped JVM hangs whole, and looks from outside like any other hang. It answers no attach either: whoever
    asks for a thread dump waits.

    ## Fix
    ``kill -CONT PID``, or let the debugger go.
    """
    if freezer is not None and freezer.path:
        yield _frozen(process, freezer)
        return
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


def _frozen(process: JvmProcess, freezer: Freezer) -> Finding:
    path = visible(freezer.path)[:160]
    return Finding(
        message="the JVM frozen",
        sentence="the JVM's control group is frozen: nothing in it runs until it is thawed",
        cause=Cause.STOPPED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED,
        evidence=(
            Evidence(origin=f"/{path}", excerpt=f"frozen, with process {process.pid} in it"),
        ),
        notes=(
            f"docker unpause, or: echo 0 > /{path}/cgroup.freeze (version 1: echo THAWED > freezer.state)",
        ),
    )
