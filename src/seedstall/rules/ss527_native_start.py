"""SS527: the start waits in native code."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import place_account


@rule("SS527", "native-initialisation")
def native_start(standings: Standings) -> Iterator[Finding]:
    """A thread of the start is inside the start of a native library.

    ## What it detects
    A thread of the start inside ``System.loadLibrary``'s native part, or PKCS#11's ``C_Initialize``,
    ``C_Login`` and the like.

    ## Why it matters
    What a native library does at its start is its own affair: a hardware module over the network, a card
    reader's daemon, random numbers of its own. Java's seed settings do not reach it.

    ## Fix
    The thread's kernel stack and system call show what it waits for; mend it in the library's own settings, or
    take the provider out of ``java.security``.
    """
    yield from place_account.findings(
        standings,
        (Cause.NATIVE_INIT,),
        "the library's own settings decide what it waits for: java.security.egd does not reach it",
    )
