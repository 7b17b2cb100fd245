"""SS528: the start is inside a Java agent."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import place_account


@rule("SS528", "agent")
def agent_start(standings: Standings) -> Iterator[Finding]:
    """The start is inside a Java agent: its own start, or its look at classes that are loaded.

    ## What it detects
    A thread of the start below ``sun.instrument.InstrumentationImpl`` (``premain``, ``transform``).

    ## Why it matters
    An agent runs before ``main`` and for every class that is loaded: one that calls home and gets no answer, or
    transforms slowly, delays every start.

    ## Fix
    Start once without the ``-javaagent`` option (or the tool options that add it), and compare.
    """
    yield from place_account.findings(
        standings,
        (Cause.AGENT,),
        "a start without the -javaagent option shows what it costs",
    )
