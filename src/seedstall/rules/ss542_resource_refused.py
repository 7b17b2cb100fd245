"""SS542: something that the start needs was refused: a port, a disk's space, a descriptor."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.incident import Incident, IncidentKind, Incidents
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account

_WORDS = {
    IncidentKind.PORT: (
        Cause.APPLICATION,
        "its port is taken: another process listens there already",
        "ss -ltnp names the process that listens there: an earlier instance, often",
    ),
    IncidentKind.DISK: (
        Cause.IO,
        "a disk is full",
        "df -h and df -i show which file system; the log itself may have filled it",
    ),
    IncidentKind.FILES: (
        Cause.IO,
        "it ran out of file descriptors",
        "ulimit -n, LimitNOFILE= or the container's limit; ls /proc/PID/fd shows what is open",
    ),
}


@rule("SS542", "resource-refused")
def resource_refused(incidents: Incidents) -> Iterator[Finding]:
    """A log says that a port, a disk or the file descriptors were refused.

    ## What it detects
    ``Address already in use``, ``No space left on device``, ``Too many open files`` in what was handed over.

    ## Why it matters
    Such a start fails, or tries again and again, which looks like a hang.

    ## Fix
    End the process that has the port; free the disk; raise the limit.
    """
    for kind, (cause, words, note) in _WORDS.items():
        incident = incidents.of(kind)
        if incident is not None:
            finding = Finding(
                message="a start that was refused something",
                sentence=f"not entropy: {words}{_port(incident)}",
                cause=cause,
                status=Status.ENDED if kind is IncidentKind.PORT else Status.SLOW,
                severity=Severity.WARNING,
                confidence=Confidence.LIKELY,
                evidence=(incident_account.evidence(incident),),
                notes=(note,),
            )
            yield incident_account.weighed(finding, [incident])


def _port(incident: Incident) -> str:
    return f" (port {incident.value})" if incident.value is not None else ""
