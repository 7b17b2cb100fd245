"""The report for programs: JSON, UTF-8, one object."""

from __future__ import annotations

import json
from collections.abc import Sequence

from seedstall.model.redact import redact
from seedstall.model.report import Failure, Report
from seedstall.render import summary
from seedstall.render.document import SCHEMA, document


def render(
    told: Sequence[Report | Failure], *, many: bool = False, redacted: bool = True, planned: int = 0
) -> str:
    """One report as the contract's object; several (or *many*) under ``cases``, with what they come to.

    *planned* is how many cases there are, where some were not looked at.
    """
    documents = [_one(r, redacted=redacted) for r in told]
    whole = documents[0] if not many and len(told) == 1 else _several(told, documents, planned)
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def _several(
    told: Sequence[Report | Failure], documents: list[object], planned: int
) -> dict[str, object]:
    summed = summary.document(told, max(planned, len(told)))
    return {"schema": SCHEMA, "cases": documents, "summary": summed}


def _one(told: Report | Failure, *, redacted: bool) -> object:
    if isinstance(told, Report):
        return document(told, redacted=redacted)
    hide = redact if redacted else str
    return {
        "schema": SCHEMA,
        "target": hide(told.target),
        "error": hide(told.error),
        "hint": told.hint,
    }
