"""SS541: wall-clock time against CPU time, as a text gives them: waiting or working."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.log import Observation, Observations
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status

LONG_MS = 5_000
WAITED = 0.2
WORKED = 0.8
"""Shares of CPU in wall-clock time below and above which a run waited or worked; between them it did both."""
THROTTLED_PERCENT = 20
THROTTLED_MS = 1_000


@rule("SS541", "measured-run")
def measured_run(observations: Observations) -> Iterator[Finding]:
    """A text gives a run's time and its CPU time, or how long a CPU limit stopped it.

    ## What it detects
    The output of ``time`` (``real 2m3s``, ``user 0m1s``) of a run above 5 s, and a cgroup's ``cpu.stat`` with
    ``nr_throttled`` in a fifth of its periods and more.

    ## Why it matters
    A run that took two minutes and used a second of CPU waited: for a device, a name server, a lock. One that used as
    much CPU as it took worked, and is no matter of entropy. A start below a small CPU limit looks like either.

    ## Fix
    Of a run that waited: a thread dump in the middle of it (``seedstall run -- COMMAND``) says for what. Of a limit:
    raise it for the start (``resources.limits.cpu``, ``CPUQuota=``).
    """
    for seen in observations.items:
        if seen.kind == "cpu-throttled" and _is_throttled(seen):
            yield _throttled(seen)
    runs = [o for o in observations.items if o.kind == "wall-cpu" and (o.ms or 0) > LONG_MS]
    if runs:
        finding = _run(max(runs, key=lambda o: o.ms or 0))
        if finding is not None:
            yield finding


def _is_throttled(seen: Observation) -> bool:
    return (seen.value or 0) >= THROTTLED_PERCENT and (seen.ms or 0) >= THROTTLED_MS


def _throttled(seen: Observation) -> Finding:
    return Finding(
        message=f"a CPU limit that stopped the group in {seen.value}% of its periods",
        sentence=(
            f"a CPU limit stopped the group in {seen.value}% of its periods, {duration(seen.ms or 0)} in all"
            f" ({seen.origin}:{seen.line})"
        ),
        cause=Cause.CPU_THROTTLED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=(_place(seen),),
        notes=("the time is counted since the group began, and for all its threads",),
        cost_ms=None,
    )


def _run(seen: Observation) -> Finding | None:
    """What the two times say of one run; ``None`` where it both waited and worked."""
    wall, cpu = seen.ms or 0, seen.value or 0
    command = f"{visible(seen.text)[:80]} " if seen.text else "the run "
    took = f"{command}took {duration(wall)} and used {duration(cpu)} of CPU"
    if cpu <= WAITED * wall:
        return _undecided(
            seen,
            "a run that waited",
            f"{took}: it waited; for what, the two times do not say",
            "a thread dump in the middle of such a run says for what: seedstall run -- COMMAND takes one",
        )
    if cpu >= WORKED * wall:
        return _undecided(
            seen,
            "a run that worked",
            f"{took}: it worked and did not wait, so a device that blocks is not its cause",
            "the threaded seeder (after a bad seed URL) uses CPU as well, for 5 to 9 s",
        )
    return None


def _undecided(seen: Observation, message: str, sentence: str, note: str) -> Finding:
    return Finding(
        message=message,
        sentence=sentence,
        cause=Cause.NONE,
        status=Status.UNKNOWN,
        severity=Severity.NOTE,
        confidence=Confidence.POSSIBLE,
        evidence=(_place(seen),),
        notes=(note,),
    )


def _place(seen: Observation) -> Evidence:
    return Evidence(origin=f"{seen.origin}:{seen.line}", excerpt=seen.excerpt)
