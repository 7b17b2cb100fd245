"""SS529: the start waits for a schema migration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.model.evidence import Missing, Unavailable
from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.incident import Incident, IncidentKind, Incidents
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account, place_account
from seedstall.rules import now_remedies as now

_NOTE = "Liquibase: SELECT * FROM DATABASECHANGELOGLOCK names the holder; liquibase releaseLocks frees it"


@rule("SS529", "schema-lock")
def schema_lock(
    standings: Standings | Missing, incidents: Incidents | Missing
) -> Iterator[Finding]:
    """The start waits for the lock of a database schema migration.

    ## What it detects
    A thread of the start inside Liquibase's lock service, Flyway's lock or a migration at work; in a log, Liquibase's
    ``Waiting for changelog lock`` and ``Could not acquire change log lock``.

    ## Why it matters
    A start that was killed during a migration leaves Liquibase's lock behind: every later start waits for it.
    Flyway waits for a lock of the database that another session holds.

    ## Fix
    Liquibase: see who holds ``DATABASECHANGELOGLOCK``, and let ``liquibase releaseLocks`` free it if that one
    is gone. Flyway: end the database session that holds the lock.
    """
    line = incidents.of(IncidentKind.SCHEMA_LOCK) if isinstance(incidents, Incidents) else None
    if isinstance(standings, Missing) and line is None:
        raise Unavailable(standings)
    seen = (
        list(place_account.findings(standings, (Cause.MIGRATION,), _NOTE))
        if isinstance(standings, Standings)
        else []
    )
    if line is None:
        yield from seen
    elif seen:
        shown = incident_account.evidence(line)
        yield from (replace(one, evidence=(*one.evidence, shown)) for one in seen)
    else:
        yield incident_account.weighed(_told(line), [line])


def _told(line: Incident) -> Finding:
    holder = f", held by {incident_account.name(line)}" if line.who else ""
    return Finding(
        message="a start that waits for a schema lock",
        sentence=f"not entropy: Liquibase waits for its change log's lock{holder}",
        cause=Cause.MIGRATION,
        status=Status.STALLED,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=(incident_account.evidence(line),),
        fixes=(
            now.once(
                "end-holder",
                "once no instance of the program is at its migration any more, free the lock that one left behind",
                "liquibase releaseLocks",
                takes="at its next try, 10 s apart",
                review=True,
            ),
        ),
        notes=(_NOTE,),
    )
