"""SS521: the start waits for a name service."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import now_remedies as now
from seedstall.rules import place_account


@rule("SS521", "name-lookup")
def name_lookup(standings: Standings) -> Iterator[Finding]:
    """A thread of the start waits for an answer of the name service (DNS, hosts, NSS).

    ## What it detects
    A thread of the start inside ``InetAddress``'s look-up (``lookupAllHostAddr``, ``getLocalHostName``) or
    JNDI's DNS client, or waiting for a lock that such a thread holds.

    ## Why it matters
    A resolver that drops packets costs 5 s a try and server, by default twice (resolv.conf(5): ``timeout``,
    ``attempts``). ``InetAddress.getLocalHost`` looks the host's own name up, so a host that is not in its own
    hosts file waits at every start. It looks like entropy, since SecureRandom's old seeders and many servers'
    start call it; no seed source cures it.

    ## Fix
    Put the host's own name into ``/etc/hosts``, and mend or take out the name server that does not answer.
    ``getent hosts NAME`` shows the same wait without Java.
    """
    yield from place_account.findings(
        standings,
        (Cause.DNS,),
        "getent hosts $(hostname) waits as long, if it is the host's own name: /etc/hosts mends that",
        "/etc/resolv.conf names the servers: one that drops packets costs 5 s a try",
        fixes=(
            now.wait_for_it(
                "it goes on by itself when the resolver gives up, and waits again at the next name",
                "5 s for each try and each name server, two tries by default",
            ),
        ),
    )
