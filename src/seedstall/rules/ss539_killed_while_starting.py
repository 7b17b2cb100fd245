"""SS539: the start was ended from outside."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.incident import Incident, IncidentKind, Incidents
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account

_SLOW = "no JVM flag helps: why the start is slow is a question of its own (diagnose its log, or a dump of it)"
_PROBE_NOTES = (
    "give the start its own time: a startupProbe with the liveness probe's handler; that one begins after it",
    "startupProbe: failureThreshold: 30 and periodSeconds: 10 allow 5 minutes",
    _SLOW,
)
_TIMEOUT_NOTES = (
    "TimeoutStartSec=10min in a drop-in allows for it: systemctl edit UNIT, section [Service]",
    _SLOW,
)
_SIGNAL_NOTES = (
    "137 is SIGKILL (the OOM killer, a kubelet, docker stop after its grace), 143 SIGTERM (a stop that was asked for)",
    "who sent it stands elsewhere: kubectl describe pod, journalctl -u UNIT, dmesg",
)


@rule("SS539", "killed-while-starting")
def killed_while_starting(incidents: Incidents) -> Iterator[Finding]:
    """Something outside ended the start: a probe, a time-out, a signal.

    ## What it detects
    Lines of ``kubectl describe`` and events (a failed liveness or startup probe), of systemd (``start operation
    timed out``, ``Result: timeout``), and exit codes 137 and 143.

    ## Why it matters
    A start that takes longer than its probe or time-out allows is killed and begins anew, for ever. It looks like
    a hang or a crash loop, and no JVM flag ends it.

    ## Fix
    A startupProbe, or ``TimeoutStartSec``, that allows for the slowest start seen.
    """
    probe = incidents.of(IncidentKind.PROBE)
    late = incidents.of(IncidentKind.START_TIMEOUT)
    signal = incidents.of(IncidentKind.SIGNAL)
    killed = incidents.of(IncidentKind.OUT_OF_MEMORY_KILL)
    first = probe or late
    if first is None and (signal is None or killed is not None):
        return
    yield _finding(first, signal)


def _finding(first: Incident | None, signal: Incident | None) -> Finding:
    told = [incident for incident in (first, signal) if incident is not None]
    sentence, notes = _words(first, signal)
    return Finding(
        message="a start that was killed",
        sentence=f"not entropy by itself: {sentence}",
        cause=Cause.KILLED,
        status=Status.ENDED,
        severity=Severity.ERROR if first is not None else Severity.WARNING,
        confidence=Confidence.CONFIRMED if first is not None and signal else Confidence.LIKELY,
        evidence=tuple(incident_account.evidence(incident) for incident in told),
        notes=notes,
    )


def _words(first: Incident | None, signal: Incident | None) -> tuple[str, tuple[str, ...]]:
    code = f", exit code {signal.value}" if signal is not None and signal.value else ""
    if first is None:
        return f"the process was ended by a signal{code}", _SIGNAL_NOTES
    if first.kind is IncidentKind.PROBE:
        return (
            f"the container was killed because its probe failed while it started{code}",
            _PROBE_NOTES,
        )
    return (
        f"systemd ended the start: it took longer than TimeoutStartSec allows{code}",
        _TIMEOUT_NOTES,
    )
