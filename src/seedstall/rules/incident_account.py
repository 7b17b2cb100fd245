"""What the rules on incidents say of a line: its place and text as evidence."""

from __future__ import annotations

from seedstall.model.finding import Evidence
from seedstall.model.incident import Incident
from seedstall.model.redact import redact, visible


def evidence(incident: Incident) -> Evidence:
    """The line, and how often its like stands in the case."""
    more = f" ({incident.count} times)" if incident.count > 1 else ""
    return Evidence(
        origin=f"{incident.origin}:{incident.line}",
        excerpt=f"{visible(redact(incident.excerpt))[:300]}{more}",
    )
