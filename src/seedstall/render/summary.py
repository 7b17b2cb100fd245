"""What many cases come to: how many of each verdict, the worst first, and on which kernels, JDKs and products.

Text, Markdown, HTML and JSON show the same rows; what is longer than a page holds is cut, and said to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from seedstall.model.redact import redact, visible
from seedstall.model.report import Failure, Report
from seedstall.model.verdict import Cause, Status

FEWEST = 4
"""Cases that are summed up."""
MOST_GROUPS = 40
"""Rows of the fleet's table that are shown to people."""
UNKNOWN = "?"
"""What the evidence does not tell of a kernel, a JDK or a product."""
_NAMED = 5
_TOLD = 6
"""Verdicts that the first line tells of."""
_ORDER = (Status.STALLED, Status.SLOW, Status.ENDED, Status.AT_RISK)
"""The worst first; then what failed, what is unknown, and what is clear."""
_RANKS = {
    status: rank
    for rank, status in enumerate((*map(str, _ORDER), "error", str(Status.UNKNOWN), str(Status.CLEAR)))
}  # fmt: skip


class Count(NamedTuple):
    """Cases of one verdict, and their names in the order they were told."""

    status: str
    cause: str
    names: tuple[str, ...]


class Group(NamedTuple):
    """Cases of one verdict on one kernel, JDK and product; `UNKNOWN` where the evidence does not say."""

    status: str
    cause: str
    kernel: str
    jdk: str
    product: str
    cases: int


def verdict_of(told: Report | Failure) -> tuple[str, str]:
    """Status and cause; ``error`` for a case that could not be looked at, ``""`` where there is no cause."""
    if isinstance(told, Failure):
        return "error", ""
    cause = told.verdict.cause
    return str(told.verdict.status), "" if cause is Cause.NONE else str(cause)


def counts(told: Sequence[Report | Failure]) -> tuple[Count, ...]:
    """The verdicts of *told*, the worst first, of two as bad the more frequent."""
    names: dict[tuple[str, str], list[str]] = {}
    for case in told:
        names.setdefault(verdict_of(case), []).append(case.target)
    found = [Count(*key, tuple(group)) for key, group in names.items()]
    return tuple(sorted(found, key=lambda c: (_RANKS[c.status], -len(c.names), c.cause)))


def fleet(told: Sequence[Report | Failure]) -> tuple[Group, ...]:
    """The verdicts by kernel, JDK and product, in the same order; none where no case tells any of the three."""
    numbers: dict[tuple[str, str, str, str, str], int] = {}
    for case in told:
        key = (*verdict_of(case), *_host_of(case))
        numbers[key] = numbers.get(key, 0) + 1
    if all(key[2:] == (UNKNOWN, UNKNOWN, UNKNOWN) for key in numbers):
        return ()
    found = [Group(*key, number) for key, number in numbers.items()]
    return tuple(sorted(found, key=lambda g: (_RANKS[g.status], -g.cases, g[1:5])))


def _host_of(told: Report | Failure) -> tuple[str, str, str]:
    if isinstance(told, Failure):
        return UNKNOWN, UNKNOWN, UNKNOWN
    kernel, jvm, logs = (_part(told.facts, name) for name in ("kernel", "jvm", "logs"))
    product = jvm.get("product") or logs.get("product")
    return _text(kernel.get("release")), _text(jvm.get("jdk")), _text(product)


def _part(facts: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = facts.get(name)
    return cast("Mapping[str, object]", part) if isinstance(part, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) and value else UNKNOWN


def folder_of(names: Sequence[str]) -> str:
    """The folder that all of *names* lie in, with its slash; ``""`` where they lie in none, or are one."""
    if len(names) < 2:  # noqa: PLR2004 - one has no common part
        return ""
    low, high = min(names), max(names)
    same = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[: low.rfind("/", 0, same) + 1]


def answer(told: Sequence[Report | Failure], planned: int) -> str:
    """All in a line, the worst first: ``12 of 159 cases stalled (blocking-seed), 3 at-risk, 144 clear``."""
    found = [(len(count.names), _title(count)) for count in counts(told)]
    shown = found if len(found) <= _TOLD else found[: _TOLD - 1]
    rest = sum(number for number, _ in found[len(shown) :])
    parts = [f"{number} {title}" for number, title in shown]
    if parts:
        parts[0] = f"{shown[0][0]} of {planned} cases {shown[0][1]}"
    parts += [f"{rest} otherwise"] if rest else []
    left = planned - len(told)
    if left:
        parts.append(f"{left} not looked at" if parts else f"none of {planned} cases was looked at")
    return ", ".join(parts)


def lines(told: Sequence[Report | Failure], planned: int, *, redacted: bool = True) -> list[str]:
    """The summary as text: counts with the names of those that are not clear, and the fleet's table."""
    left = planned - len(told)
    folder = folder_of([case.target for case in told])
    head = f"summary of {planned} cases"
    if folder:
        head += f" in {_shown(folder, redacted=redacted)}"
    if left:
        head += f": interrupted, {left} of them not looked at"
    found = counts(told)
    width = max((len(_title(count)) for count in found), default=0)
    body: list[str] = []
    for count in found:
        row = f"  {_title(count):<{width}}  {len(count.names):>5}"
        if count.status != Status.CLEAR:
            row += f"  {_some(count.names, folder, redacted=redacted)}"
        body.append(row.rstrip())
    return [head, *body, *_table(fleet(told), redacted=redacted)]


def _table(groups: Sequence[Group], *, redacted: bool) -> list[str]:
    if not groups:
        return []
    rows: list[tuple[str, ...]] = [("cases", "verdict", "kernel", "JDK", "product")]
    rows += [
        (
            str(g.cases),
            f"{g.status} ({g.cause})" if g.cause else g.status,
            *(_shown(value, redacted=redacted) for value in (g.kernel, g.jdk, g.product)),
        )
        for g in groups[:MOST_GROUPS]
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    told = [f"  {row[0]:>{widths[0]}}  {_cells(row[1:], widths[1:])}" for row in rows]
    if len(groups) > MOST_GROUPS:
        told.append(f"  and {len(groups) - MOST_GROUPS} rows more: the JSON report has them")
    return ["", *(row.rstrip() for row in told)]


def _cells(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))


def document(
    told: Sequence[Report | Failure], planned: int, *, redacted: bool = True
) -> dict[str, object]:
    """The same for programs. ``kernel``, ``jdk`` and ``product`` are null where the evidence does not say."""
    hide = redact if redacted else str

    def known(value: str) -> str | None:
        return None if value == UNKNOWN else hide(value).encode("utf-8", "replace").decode()

    return {
        "cases": planned,
        "looked_at": len(told),
        "verdicts": [
            {"status": c.status, "cause": c.cause or None, "count": len(c.names)}
            for c in counts(told)
        ],
        "fleet": [
            {
                "status": g.status,
                "cause": g.cause or None,
                "kernel": known(g.kernel),
                "jdk": known(g.jdk),
                "product": known(g.product),
                "count": g.cases,
            }
            for g in fleet(told)
        ],
    }


def _title(count: Count) -> str:
    return f"{count.status} ({count.cause})" if count.cause else count.status


def _shown(text: str, *, redacted: bool) -> str:
    return visible((redact(text) if redacted else text).replace("\n", " "))


def _some(names: Sequence[str], folder: str, *, redacted: bool) -> str:
    shown = [_shown(name.removeprefix(folder), redacted=redacted) for name in names[:_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
