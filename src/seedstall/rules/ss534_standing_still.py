"""SS534: the start stands in one place."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import place_account


@rule("SS534", "standing")
def standing_still(standings: Standings) -> Iterator[Finding]:
    """Where the start stands, where that has no name of its own.

    ## What it detects
    The thread of the start and its frame, where it is none of the known waits: it sleeps, waits for another
    thread, or runs code of its own.

    ## Why it matters
    It is not entropy, and no seed setting changes it. Whether it is wrong only the program's own people can
    say: the frame is where to look.

    ## Fix
    A second dump some seconds later (or ``diagnose PID --for 10s``) tells whether it stays there.
    """
    yield from place_account.findings(
        standings,
        (Cause.WAITING, Cause.APPLICATION),
        f"{place_account.second_look(standings)} tells whether it stays there",
    )
