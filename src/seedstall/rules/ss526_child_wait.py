"""SS526: the start waits for another program."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding, Fix
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.tasks import StartedPrograms
from seedstall.model.verdict import Cause
from seedstall.rules import now_remedies as now
from seedstall.rules import place_account
from seedstall.rules import program_account as account


@rule("SS526", "child-wait")
def child_wait(standings: Standings, started: StartedPrograms | None = None) -> Iterator[Finding]:
    """A thread of the start waits for a process that it started.

    ## What it detects
    A thread of the start inside ``Process.waitFor``, or starting a process.

    ## Why it matters
    The program it started is what hangs; what that one waits for is to be found there, not in the JVM.

    ## Fix
    What that program waits for; of a live JVM it is named, else ``ps --ppid PID`` does.
    """
    yield from place_account.findings(
        standings, (Cause.CHILD,), *_programs(started), fixes=_end(standings.pid)
    )


def _end(pid: int) -> tuple[Fix, ...]:
    if not pid:
        return ()
    return (
        now.once(
            "end-holder",
            "answer or end the program that it started: this shows what that one waits in",
            f"ps --ppid {pid} -o pid,stat,etime,wchan:24,args",
            takes="at once after that",
            review=True,
        ),
    )


def _programs(started: StartedPrograms | None) -> Iterator[str]:
    if started is None or not started.programs:
        yield "ps --ppid PID names the program: what that one waits for is the question"
    yield from account.started_programs(started)
