"""SS540: a server's log is silent for long during its start."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.log import Run, ServerLog, Silence
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status

LONG_MS = 5_000
TOO_LONG_MS = 10_000
"""A start is slow to people from about here; below it is told as a note."""
SHARE = 0.3
_SHOWN = 160


@rule("SS540", "silent-start")
def silent_start(log: ServerLog) -> Iterator[Finding]:
    """The log of a start has one long silence in it, which no seeding line explains.

    ## What it detects
    The longest time between two lines of the last start in a server's log, where it is above 5 s and a good part of
    the start, and no line of Tomcat's says that seeding took that time.

    ## Why it matters
    What stands before and after the silence tells where the time went, even where nothing names the cause. It may be
    waiting (a database, a name server, random bytes in an application of one's own) or work: a log cannot tell.

    ## Fix
    Take a thread dump in that moment of the next start (``seedstall dump PID``, or ``seedstall run -- COMMAND``,
    which takes them by itself).
    """
    for run in log.last_runs():
        silence = next(
            (s for s in log.silences if s.origin == run.origin and _within(s, run, log)), None
        )
        if silence is None or not _is_long(silence, run) or _is_explained(silence, run):
            continue
        of = f" of a start of {duration(run.start.took_ms)}" if _took(run) and run.start else ""
        yield Finding(
            message=f"{duration(silence.ms)} without a line in the log of a start",
            sentence=(
                f"the log is silent for {duration(silence.ms)}{of}, after"
                f' "{_shown(silence.before)}" ({silence.origin}:{silence.line}): what it did there it does not say'
            ),
            cause=Cause.WAITING,
            status=Status.SLOW,
            severity=Severity.WARNING if silence.ms >= TOO_LONG_MS else Severity.NOTE,
            confidence=Confidence.POSSIBLE,
            evidence=(
                Evidence(origin=f"{silence.origin}:{silence.line}", excerpt=_shown(silence.before)),
                Evidence(
                    origin=f"{silence.origin}:{silence.until_line}", excerpt=_shown(silence.after)
                ),
            ),
            notes=(
                "a log does not tell waiting from work: a thread dump in that moment of the next start does",
            ),
            startup_ms=(run.start.took_ms or None) if run.start is not None else None,
        )


def _within(silence: Silence, run: Run, log: ServerLog) -> bool:
    ended = [s.line for s in log.starts if s.origin == run.origin and s is not run.start]
    first = run.begin.line if run.begin is not None else max(ended, default=0)
    return first <= silence.line and (run.start is None or silence.until_line <= run.start.line)


def _took(run: Run) -> int:
    return run.start.took_ms if run.start is not None else 0


def _is_long(silence: Silence, run: Run) -> bool:
    """Long by itself and as a part of the start; a start that took less than it is none that it belongs to."""
    took = _took(run)
    if run.start is None or silence.ms < LONG_MS:
        return False  # a log that breaks off: what followed may be anything, and a server that runs may be silent
    return silence.ms >= SHARE * took if took >= silence.ms else not took


def _is_explained(silence: Silence, run: Run) -> bool:
    """Whether a seeding that the log tells of fills most of it."""
    return run.worst is not None and run.worst.took_ms * 2 > silence.ms


def _shown(text: str) -> str:
    return visible(text)[:_SHOWN]
