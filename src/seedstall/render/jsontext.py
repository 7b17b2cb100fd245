"""The report for programs: JSON, UTF-8, one object."""

from __future__ import annotations

import json
from collections.abc import Sequence

from seedstall.model.redact import redact
from seedstall.model.report import Failure, Report
from seedstall.render.document import SCHEMA, document


def render(told: Sequence[Report | Failure], *, many: bool = False, redacted: bool = True) -> str:
    """One report as the contract's object; several (or *many*) under ``cases``."""
    documents = [_one(r, redacted=redacted) for r in told]
    whole = {"schema": SCHEMA, "cases": documents} if many or len(told) != 1 else documents[0]
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


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
