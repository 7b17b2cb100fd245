"""SS522: the start waits for another host."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import place_account


@rule("SS522", "connection-wait")
def connection_wait(standings: Standings) -> Iterator[Finding]:
    """A thread of the start waits for a connection, or for an answer over one.

    ## What it detects
    A thread of the start inside connect or a read of a socket, with the far end as the JVM's own sockets tell
    it.

    ## Why it matters
    A database, directory, configuration server or web service that does not answer holds the whole start; many
    clients have no time-out of their own, and connect(2) gives up after about two minutes. No seed source cures
    it.

    ## Fix
    See whether the far end answers (``ss -tnp``, ``nc -vz HOST PORT``), and give the client a time-out.
    """
    yield from place_account.findings(
        standings,
        (Cause.CONNECT,),
        f"see whether the far end answers: ss -tnp shows the connection, {_try(standings)} tries it",
    )


def _try(standings: Standings) -> str:
    """The command that tries the connection, with its far end where that is known."""
    ends = (s.on for s in standings.standings if s.root.cause is Cause.CONNECT)
    host, _, port = next(ends, "").rpartition(":")
    known = host and port.isdigit() and " " not in host
    return f"nc -vz {host.strip('[]')} {port}" if known else "nc -vz HOST PORT"
