"""What many cases come to: how many of each verdict, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from seedstall.model.redact import visible
from seedstall.model.report import Failure, Report
from seedstall.model.verdict import Cause, Status

FEWEST = 4
"""Cases that are summed up."""
_NAMED = 5
_ORDER = (Status.STALLED, Status.SLOW, Status.ENDED, Status.AT_RISK)
"""The worst first; then what failed, what is unknown, and what is clear."""


class Count(NamedTuple):
    """Cases of one verdict, and their names in the order they were told."""

    status: str
    cause: str
    names: tuple[str, ...]


def counts(told: Sequence[Report | Failure]) -> tuple[Count, ...]:
    """The verdicts of *told*, the worst first, of two as bad the more frequent."""
    names: dict[tuple[str, str], list[str]] = {}
    for case in told:
        key = ("error", "")
        if isinstance(case, Report):
            cause = "" if case.verdict.cause is Cause.NONE else str(case.verdict.cause)
            key = (str(case.verdict.status), cause)
        names.setdefault(key, []).append(case.target)
    order = [*map(str, _ORDER), "error", str(Status.UNKNOWN), str(Status.CLEAR)]
    found = [Count(*key, tuple(group)) for key, group in names.items()]
    return tuple(sorted(found, key=lambda c: (order.index(c.status), -len(c.names), c.cause)))


def lines(told: Sequence[Report | Failure], planned: int) -> list[str]:
    """The summary as text: counts, and the names of those that are not clear."""
    left = planned - len(told)
    head = f"summary of {planned} cases"
    if left:
        head += f": interrupted, {left} of them not looked at"
    found = counts(told)
    width = max((len(_title(count)) for count in found), default=0)
    body: list[str] = []
    for count in found:
        row = f"  {_title(count):<{width}}  {len(count.names):>5}"
        if count.status != Status.CLEAR:
            row += f"  {_some(count.names)}"
        body.append(row.rstrip())
    return [head, *body]


def document(told: Sequence[Report | Failure], planned: int) -> dict[str, object]:
    """The same for programs."""
    return {
        "cases": planned,
        "looked_at": len(told),
        "verdicts": [
            {"status": c.status, "cause": c.cause or None, "count": len(c.names)}
            for c in counts(told)
        ],
    }


def _title(count: Count) -> str:
    return f"{count.status} ({count.cause})" if count.cause else count.status


def _some(names: Sequence[str]) -> str:
    shown = [visible(name.replace("\n", " ")) for name in names[:_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
