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
    if not many and len(told) == 1:
        return _written(_one(told[0], redacted=redacted)) + "\n"
    # Each case by itself: a thousand of them as objects, and their text, would take three times the room.
    cases = ",".join(f"\n    {_written(_one(case, redacted=redacted), 4)}" for case in told)
    listed = f"[{cases}\n  ]" if cases else "[]"
    summed = _written(summary.document(told, max(planned, len(told)), redacted=redacted), 2)
    return f'{{\n  "schema": {SCHEMA},\n  "cases": {listed},\n  "summary": {summed}\n}}\n'


def _written(value: object, indent: int = 0) -> str:
    """*value* as JSON; inside of another object, its lines are indented by so much."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.replace("\n", "\n" + " " * indent) if indent else text


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
