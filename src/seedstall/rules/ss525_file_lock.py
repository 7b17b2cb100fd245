"""SS525: the start waits for a file lock."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import now_remedies as now
from seedstall.rules import place_account


@rule("SS525", "file-lock")
def file_lock(standings: Standings) -> Iterator[Finding]:
    """A thread of the start waits for a lock on a file.

    ## What it detects
    A thread of the start inside ``FileChannel.lock``.

    ## Why it matters
    Another process holds the lock: an earlier instance that still runs, or on NFS a server whose lock daemon
    does not answer (then nothing but the server helps).

    ## Fix
    ``lslocks`` names the holder on this host; on NFS see that lockd answers (``rpcinfo -p SERVER``).
    """
    yield from place_account.findings(
        standings,
        (Cause.FILE_LOCK,),
        "lslocks names the process that holds it; on NFS: rpcinfo -p SERVER shows whether lockd answers",
        fixes=(
            now.once(
                "end-holder",
                "let the process that holds the lock end, or let go: this names it",
                "lslocks -o COMMAND,PID,TYPE,SIZE,MODE,PATH",
                takes="at once after that",
                review=True,
            ),
        ),
    )
