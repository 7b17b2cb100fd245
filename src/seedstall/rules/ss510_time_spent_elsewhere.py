"""SS510: the time of a watched start went to something that is not entropy."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.samples import Doing, Ending, Share, StartSamples
from seedstall.model.verdict import Cause, Status
from seedstall.rules import start_account as start

LEAST_MS = 1000
MOST = 0.5
"""The part of the watch that makes one thing its cause."""
THROTTLED = 0.25
"""A CPU limit that holds a start back for a quarter of it is its cause: the rest is stretched by it as well."""

_CAUSES = {
    Doing.THROTTLED: Cause.CPU_THROTTLED,
    Doing.CONNECT: Cause.CONNECT,
    Doing.DNS: Cause.DNS,
    Doing.NETWORK: Cause.WAITING,
    Doing.READ: Cause.WAITING,
    Doing.DISK: Cause.IO,
    Doing.CHILD: Cause.CHILD,
    Doing.LAUNCH: Cause.CHILD,
    Doing.WAITING: Cause.WAITING,
    Doing.SLEEPING: Cause.WAITING,
    Doing.GC: Cause.GC,
    Doing.STOPPED: Cause.STOPPED,
}
_OF_A_START = frozenset(
    (Doing.NETWORK, Doing.READ, Doing.CHILD, Doing.LAUNCH, Doing.WAITING, Doing.SLEEPING)
)
"""What a server does all day, and what is a loss only in a start."""
_FRAMES = {
    "java.lang.ProcessImpl.waitFor": Cause.CHILD,
    "java.lang.UNIXProcess.waitFor": Cause.CHILD,
}


@rule("SS510", "time-spent-elsewhere")
def time_spent_elsewhere(samples: StartSamples) -> Iterator[Finding]:
    """Most of a watched start went to one thing, and that is not waiting for random bytes.

    ## What it detects
    Samples of the threads' system calls, states and CPU time (``seedstall run``, ``diagnose --for``): more than half
    of the time, and more than a second, in a connection that is not answered, a name lookup, a disk, another process,
    the collector, or in waiting; or a quarter of it held back by a CPU limit. CPU time of its own is told and is no
    finding: a start has to do its work.

    ## Why it matters
    A start that is slow for another reason looks the same from outside, and no seed source cures it.

    ## Fix
    Look at the thread and the place named: the address that does not answer, the limit (``cpu.max``), the frame that
    called.
    """
    share = next((s for s in samples.table if _tells(samples, s)), None)
    if share is None or not samples.jvm or samples.ms(Doing.RANDOM) > share.ms:
        return
    lasts = samples.last is share.doing and samples.ending in (Ending.TIME, Ending.KILLED)
    stalled = lasts and share.doing not in _OF_A_START and samples.ending is Ending.TIME
    yield Finding(
        message=f"a start that was {share.doing}",
        sentence=_sentence(samples, share, lasts=lasts),
        cause=_FRAMES.get(share.frame, _CAUSES[share.doing]),
        status=Status.STALLED if stalled else Status.SLOW,
        severity=Severity.ERROR if stalled else Severity.WARNING,
        confidence=Confidence.CONFIRMED,
        evidence=tuple(start.evidence(samples, share.doing)),
        notes=tuple(_notes(share)),
        cost_ms=share.ms if samples.from_start else None,
        startup_ms=samples.watched_ms if samples.from_start else None,
    )


def _tells(samples: StartSamples, share: Share) -> bool:
    if share.doing not in _CAUSES or share.ms < LEAST_MS:
        return False
    if share.doing in _OF_A_START and not _is_a_start(samples):
        return False
    least = THROTTLED if share.doing is Doing.THROTTLED else MOST
    return start.share_of(samples, share.ms) >= least


def _is_a_start(samples: StartSamples) -> bool:
    """Whether what was watched is known to be a start, or a program's whole run: else waiting is what servers do."""
    return samples.from_start and samples.ending in (Ending.UNTIL, Ending.PORT, Ending.EXIT)


def _sentence(samples: StartSamples, share: Share, *, lasts: bool) -> str:
    who = start.who(share)
    still = ", and it still is" if lasts else ""
    return (
        f"not entropy: {start.of_whole(samples, share.ms)} {start.span(samples)} {share.doing}{still}"
        + (f": {who}" if who else "")
    )


def _notes(share: Share) -> Iterator[str]:
    if share.doing is Doing.CONNECT:
        yield "the other side does not answer: see whether it is up, and whether a firewall drops the packets"
    if share.doing is Doing.THROTTLED:
        yield "raise the CPU limit of its control group (cpu.max, the container's limits.cpu) for the start"
    if share.doing is Doing.LAUNCH:
        yield "that was before the JVM: in its script, or in a program that the script waits for"
