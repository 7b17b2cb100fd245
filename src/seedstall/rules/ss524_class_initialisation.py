"""SS524: a class waits for its initialiser."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.jvm import LiveProcess
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import now_remedies as now
from seedstall.rules import place_account

AGAIN = "the initialiser waits for ever or for what its thread waits for, and may do so again"


@rule("SS524", "class-initialisation-wait")
def class_initialisation(
    standings: Standings, live: LiveProcess | None = None
) -> Iterator[Finding]:
    """A thread of the start waits for a class that another thread initialises.

    ## What it detects
    The line ``waiting on the Class initialization monitor`` (17+); before, a thread that is ``in
    Object.wait()`` by its header and RUNNABLE by its state, with no wait in its top frame.

    ## Why it matters
    Two threads whose static initialisers need each other's class wait for ever, and the JVM's own deadlock
    finder does not see it. An initialiser that waits for anything else holds every thread that needs the class.

    ## Fix
    Find the thread that is inside that class's ``<clinit>`` and see what it waits for; take the work out of
    static initialisers.
    """
    yield from place_account.findings(
        standings,
        (Cause.CLASS_INIT,),
        "the thread inside that class's <clinit> holds it: look for <clinit> in the dump",
        fixes=() if live is None else (now.restart(live.pid, AGAIN, alone=True),),
    )
