"""SS530: the start waits for a lock."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import place_account


@rule("SS530", "lock-held")
def lock_held(standings: Standings) -> Iterator[Finding]:
    """A thread of the start waits for a lock that another thread holds.

    ## What it detects
    A thread of the start that is BLOCKED, or waits to enter a monitor, whose owner does not stand in a place
    with a name of its own.

    ## Why it matters
    What the owner does is what the start waits for. The owner is often not shown in what people paste: then
    only the wait is known.

    ## Fix
    Look at the thread that has the lock's address in a ``- locked`` line.
    """
    yield from place_account.findings(
        standings,
        (Cause.CONTENTION,),
        'the thread with the same address in a "- locked" line holds it',
    )
