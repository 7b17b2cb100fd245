"""SS531: the start waits for a file."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.tasks import StartedPrograms
from seedstall.model.verdict import Cause
from seedstall.rules import place_account
from seedstall.rules import program_account as account


@rule("SS531", "file-access")
def file_access(standings: Standings, started: StartedPrograms | None = None) -> Iterator[Finding]:
    """A thread of the start reads or writes a file, a pipe or a console.

    ## What it detects
    A thread of the start inside a read or write of a file that is no random device, or inside the opening of one: of
    a FIFO whose other end nobody opens, it lasts for ever.

    ## Why it matters
    A file on a network file system that does not answer, a full disk, or a console whose reader has stopped
    reading: a write to a pipe that nobody empties waits for ever.

    ## Fix
    The descriptor in the evidence names the file; ``cat /proc/PID/task/TID/wchan`` shows the wait.
    """
    yield from place_account.findings(
        standings,
        (Cause.IO,),
        f"ls -l /proc/{standings.pid or 'PID'}/fd names what its descriptors are open on",
        *account.started_programs(started),  # a pipe may be one's output
    )
