"""What the rules on incidents say of a line: its place and text as evidence, and what is left of one that is over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.incident import Incident
from seedstall.model.redact import redact, visible
from seedstall.model.verdict import Status


def evidence(incident: Incident) -> Evidence:
    """The line, and how often its like stands in the case."""
    more = f" ({incident.count} times)" if incident.count > 1 else ""
    return Evidence(
        origin=f"{incident.origin}:{incident.line}",
        excerpt=f"{visible(redact(incident.excerpt))[:300]}{more}",
    )


def name(incident: Incident) -> str:
    """Whom the line names, for people."""
    return visible(redact(incident.who))[:80]


def weighed(finding: Finding, incidents: Iterable[Incident]) -> Finding:
    """*finding*, which these lines say; a note where the log goes on with a start that came up."""
    if not all(incident.over for incident in incidents):
        return finding
    return replace(
        finding,
        sentence=f"{finding.sentence}; but the log goes on with a later start, or with the end of this one",
        status=Status.CLEAR,
        severity=Severity.NOTE,
        confidence=Confidence.POSSIBLE,
    )
