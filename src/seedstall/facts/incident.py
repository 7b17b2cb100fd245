"""What the texts of a case say that happened to the process."""

from __future__ import annotations

from dataclasses import replace

from seedstall.facts.inputs import InputTexts
from seedstall.model.incident import Incident, IncidentKind, Incidents
from seedstall.model.log import Run, ServerLog
from seedstall.source.base import Source

_KILLS = frozenset(
    (
        IncidentKind.PROBE,
        IncidentKind.PROBE_KILL,
        IncidentKind.RESTARTS,
        IncidentKind.START_TIMEOUT,
        IncidentKind.SIGNAL,
        IncidentKind.TERMINATED,
        IncidentKind.OUT_OF_MEMORY_KILL,
    )
)
"""What ends one start and begins the next: a start that is not complete after it is the one that is asked about."""


def incidents_of_case(_source: Source, inputs: InputTexts, log: ServerLog | None) -> Incidents:
    """What all inputs say.

    Texts in which nothing of the kind stands give none: they were looked through.
    """
    from seedstall.parse.incident import incidents, merged  # noqa: PLC0415 - when there is an input

    runs = {run.origin: run for run in log.last_runs()} if log is not None else {}
    found: list[Incident] = []
    for name, text in inputs.texts:
        before = inputs.long[name].incidents if name in inputs.long else ()
        for item in merged(before, incidents(text, name)):
            over = name in runs and _is_over(item, runs[name])
            found.append(replace(item, over=over))
    return Incidents(tuple(_one_of_each(found)))


def _is_over(item: Incident, run: Run) -> bool:
    """Whether the log goes on with a start that is complete, or with a later one."""
    last = item.last or item.line
    if run.start is not None and item.kind is not IncidentKind.SCHEMA_LOCK:
        return last < run.start.line
    begin = run.begin.line if run.begin is not None else 0
    return last < begin and item.kind not in _KILLS


def _one_of_each(items: list[Incident]) -> list[Incident]:
    """The first of each kind, and the first that is not over where that is another."""
    chosen: dict[tuple[IncidentKind, bool], Incident] = {}
    for item in items:
        chosen.setdefault((item.kind, item.over), item)
    return [i for i in items if i is chosen[i.kind, i.over]]


PROVIDERS = (incidents_of_case,)
