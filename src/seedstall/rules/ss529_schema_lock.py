"""SS529: the start waits for a schema migration."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import place_account


@rule("SS529", "schema-lock")
def schema_lock(standings: Standings) -> Iterator[Finding]:
    """The start waits for the lock of a database schema migration.

    ## What it detects
    A thread of the start inside Liquibase's lock service or Flyway's migration.

    ## Why it matters
    A start that was killed during a migration leaves Liquibase's lock behind: every later start waits for it.
    Flyway waits for a lock of the database that another session holds.

    ## Fix
    Liquibase: see who holds ``DATABASECHANGELOGLOCK``, and let ``liquibase releaseLocks`` free it if that one
    is gone. Flyway: end the database session that holds the lock.
    """
    yield from place_account.findings(
        standings,
        (Cause.MIGRATION,),
        "Liquibase: SELECT * FROM DATABASECHANGELOGLOCK names the holder; liquibase releaseLocks frees it",
    )
