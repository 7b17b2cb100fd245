"""What happened to a process, over all texts of a case: what a later start got over, and what long texts say."""

from __future__ import annotations

import pytest

from seedstall.engine.case import Case
from seedstall.facts import inputs as facts_of_inputs
from seedstall.facts import providers
from seedstall.model.evidence import Ask, Got, Ref, Space, Why
from seedstall.model.incident import IncidentKind, Incidents
from seedstall.source.base import Held

INFO = ".000 INFO [main] org.apache.catalina.startup."
BEGIN = f"30-Nov-2026 10:0{{}}:00{INFO}VersionLoggerListener.log Server version name: Apache Tomcat/9.0.65\n"
UP = f"30-Nov-2026 10:0{{}}:09{INFO}Catalina.start Server startup in [9000] milliseconds\n"
BOUND = "java.net.BindException: Address already in use\n"
LATE = "tomcat.service: start operation timed out. Terminating.\n"
LOCK = "Waiting for changelog lock....\n"


def told(text: str) -> Incidents:
    held: dict[Ref, bytes | Why] = {
        Ref(Space.INPUT, "", Ask.LIST): b"a.log\0",
        Ref(Space.INPUT, "a.log"): text.encode(),
    }
    found = Case(Held(held), providers()).get(Incidents)
    assert isinstance(found, Got), found
    return found.value


@pytest.mark.parametrize(
    ("text", "kind", "over"),
    [
        (BEGIN.format(1) + BOUND, IncidentKind.PORT, False),
        (BEGIN.format(1) + BOUND + UP.format(1), IncidentKind.PORT, True),
        (BEGIN.format(1) + UP.format(1) + BOUND, IncidentKind.PORT, False),
        (BEGIN.format(1) + BOUND + BEGIN.format(2), IncidentKind.PORT, True),
        (BEGIN.format(1) + BOUND + BEGIN.format(2) + BOUND, IncidentKind.PORT, False),
        (BEGIN.format(1) + LATE + BEGIN.format(2), IncidentKind.START_TIMEOUT, False),
        (BEGIN.format(1) + LATE + BEGIN.format(2) + UP.format(2), IncidentKind.START_TIMEOUT, True),
        (BEGIN.format(1) + LOCK + UP.format(1), IncidentKind.SCHEMA_LOCK, False),
    ],
)
def test_what_a_later_start_got_over(text: str, kind: IncidentKind, over: bool) -> None:  # noqa: FBT001
    incident = told(text).of(kind)
    assert incident is not None
    assert incident.over == over


def test_a_long_text_is_looked_through_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    from seedstall.parse import longtext

    monkeypatch.setattr(facts_of_inputs, "HELD", 100_000)
    monkeypatch.setattr(longtext, "PIECE", 50_000)
    monkeypatch.setattr(longtext, "PART", 100_000)
    filler = "a line of a log that says nothing at all\n" * 10_000
    found = told(
        f"x\nListening for transport dt_socket at address: 5005\n{BOUND}{filler}{BOUND}{filler}"
    )
    incident = found.of(IncidentKind.PORT)
    assert incident is not None
    assert (incident.line, incident.count, incident.last) == (3, 2, 10_004)
    assert found.of(IncidentKind.DEBUGGER) is None, "the text goes on"
