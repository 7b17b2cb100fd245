"""SS501: the JVM is stopped by a signal, or frozen."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.jvm import JvmProcess
from seedstall.model.limits import Freezer
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import now_remedies as now


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
        fixes=(_go_on(process),),
    )


def _go_on(process: JvmProcess) -> Fix:
    if process.state == "t":
        return now.once(
            "debugger",
            "let the debugger go that holds it (detach it, or end it); this names it",
            f"grep TracerPid /proc/{process.pid}/status",
            takes="at once",
            review=True,
        )
    return now.once(
        "continue",
        "let it go on, unless somebody stopped it on purpose",
        f"kill -CONT {process.pid}",
        takes="at once",
        review=True,
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
        fixes=(
            now.once(
                "thaw",
                "let the control group go on, unless it was frozen on purpose (docker unpause NAME, where Docker did)",
                f"echo 0 > {now.word(f'/{path}/cgroup.freeze')}"
                f"  # version 1: echo THAWED > {now.word(f'/{path}/freezer.state')}",
                takes="at once",
                root=True,
                review=True,
            ),
        ),
    )
