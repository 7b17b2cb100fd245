"""SS539: the start was ended from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
    Lines of ``kubectl describe`` and events (a failed liveness or startup probe, a restart for it,
    ``CrashLoopBackOff``), of systemd (``start operation timed out``, ``Result: timeout``, its restart counter),
    and exit codes 137 and 143. A probe that failed once, or a SIGTERM alone, is no more than a hint: a stop that was
    asked for looks the same.

    ## Why it matters
    A start that takes longer than its probe or time-out allows is killed and begins anew, for ever. It looks like
    a hang or a crash loop, and no JVM flag ends it.

    ## Fix
    A startupProbe, or ``TimeoutStartSec``, that allows for the slowest start seen.
    """
    killed = incidents.of(IncidentKind.PROBE_KILL)
    probe = incidents.of(IncidentKind.PROBE)
    late = incidents.of(IncidentKind.START_TIMEOUT)
    signal = incidents.of(IncidentKind.SIGNAL, IncidentKind.TERMINATED)
    again = incidents.of(IncidentKind.RESTARTS)
    memory = incidents.of(IncidentKind.OUT_OF_MEMORY_KILL)
    told = [i for i in (killed, probe, late, signal, again) if i is not None]
    if not told or (memory is not None and not (killed or probe or late)):
        return  # the OOM killer's is SS538's
    if killed or (probe and (signal or again)):
        finding = _by_probe(killed, signal, sure=killed is not None)
    elif late is not None:
        finding = _by_systemd(late, signal)
    elif probe is not None:
        finding = _by_nobody()
    else:
        finding = _by_somebody(signal, again)
    shown = tuple(incident_account.evidence(incident) for incident in told)
    yield incident_account.weighed(replace(finding, evidence=shown), told)


def _finding(
    sentence: str, notes: tuple[str, ...], severity: Severity, confidence: Confidence
) -> Finding:
    return Finding(
        message="a start that was killed",
        sentence=f"not entropy by itself: {sentence}",
        cause=Cause.KILLED,
        status=Status.ENDED,
        severity=severity,
        confidence=confidence,
        notes=notes,
    )


def _by_nobody() -> Finding:
    return _finding(
        "a probe failed while the container was up; that it was killed for it is not said",
        _PROBE_NOTES,
        Severity.WARNING,
        Confidence.POSSIBLE,
    )


def _code(signal: Incident | None) -> str:
    return f", exit code {signal.value}" if signal is not None and signal.value else ""


def _by_probe(killed: Incident | None, signal: Incident | None, *, sure: bool) -> Finding:
    name = incident_account.name(killed) if killed is not None else ""
    container = f"container {name}" if name else "the container"
    return _finding(
        f"{container} was killed because its probe failed while it started{_code(signal)}",
        _PROBE_NOTES,
        Severity.ERROR,
        Confidence.CONFIRMED if sure else Confidence.LIKELY,
    )


def _by_systemd(late: Incident, signal: Incident | None) -> Finding:
    unit = f" of {incident_account.name(late)}" if late.who else ""
    return _finding(
        f"systemd ended the start{unit}: it took longer than TimeoutStartSec allows{_code(signal)}",
        _TIMEOUT_NOTES,
        Severity.ERROR,
        Confidence.CONFIRMED if late.who else Confidence.LIKELY,
    )


def _by_somebody(signal: Incident | None, again: Incident | None) -> Finding:
    """A signal or restarts alone: who did it, and whether it was a stop that was asked for, is not said."""
    times = f" ({again.value} times)" if again is not None and again.value else ""
    if signal is None:
        words = f"it ends and is started again{times}; why is not said"
    else:
        words = f"the process was ended by a signal{_code(signal)}"
        words += f", and started again{times}" if again is not None else ""
    stopped = again is None and signal is not None and signal.kind is IncidentKind.TERMINATED
    return _finding(
        words,
        _SIGNAL_NOTES,
        Severity.NOTE if stopped else Severity.WARNING,
        Confidence.POSSIBLE,
    )
