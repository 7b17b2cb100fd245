"""Records of log stores, as people export them: Loki, Elasticsearch, OpenSearch, CloudWatch, Google Cloud, Grafana.

A record is an object with a message and a time. They come an object a line (``logcli -o jsonl``), as a list (``gcloud
logging read --format=json``, Grafana's download) or inside of an answer (``aws logs filter-log-events``, the ``hits``
of Elasticsearch, Loki's ``result``). Most of them come newest first, where a log has its oldest line at the top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

LISTS: Final = ("events", "hits", "entries", "records", "results", "logs", "value", "data")
"""Names under which an answer has its records."""
TIMES: Final = (
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "date",
    "TimeGenerated",
    "receiveTimestamp",
    "_time",
)
_DEPTH: Final = 3
_DIGITS: Final = 24
_MOSTLY: Final = 10
"""So many times as many steps back in time as forth make an order of newest first."""


class Record(NamedTuple):
    """An object that holds a message, and when it was written (seconds of some clock); ``None`` where not told."""

    fields: dict[str, Any]
    time: float | None


def record(told: Any) -> Record | None:
    """*told* as one record, taken out of what a store wraps it in; ``None`` where it is no object."""
    if not isinstance(told, dict):
        return None
    fields = cast("dict[str, Any]", told)
    time = time_of(fields)
    for name in ("_source", "jsonPayload"):
        inner = fields.get(name)
        if isinstance(inner, dict):
            fields = cast("dict[str, Any]", inner)
            time = time if time is not None else time_of(fields)
            break
    return Record(fields, time)


def listed(told: Any, depth: int = _DEPTH) -> Iterator[Record]:
    """The records of a document, in its order: those of a Loki stream after those of the one before."""
    if isinstance(told, list):
        items: list[Any] = told  # pyright: ignore[reportUnknownVariableType]
        for item in items:
            values = cast("dict[str, Any]", item).get("values") if isinstance(item, dict) else None
            if isinstance(values, list):
                yield from _values(values)  # pyright: ignore[reportUnknownArgumentType]
            elif (found := record(item)) is not None:
                yield found
    elif isinstance(told, dict) and depth:
        fields = cast("dict[str, Any]", told)
        for name in (*LISTS, "result"):
            if isinstance(fields.get(name), list | dict):
                yield from listed(fields[name], depth - 1)
                return


def _values(values: list[Any]) -> Iterator[Record]:
    """What Loki has of a stream: pairs of nanoseconds and a line."""
    for pair in values:
        found: list[Any] = pair if isinstance(pair, list) else []  # pyright: ignore[reportUnknownVariableType]
        if len(found) > 1:
            at, line = found[:2]
            if isinstance(line, str):
                yield Record({"line": line}, _seconds(at))


def time_of(fields: dict[str, Any]) -> float | None:
    """When a record was written."""
    return next((t for name in TIMES if (t := _seconds(fields.get(name))) is not None), None)


def _seconds(value: Any) -> float | None:
    """A time as stores give it: seconds, milli- or nanoseconds since 1970, or ISO 8601. Only their order matters."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < 10**_DIGITS else None
    if not isinstance(value, str):
        return None
    if value.isascii() and value.isdigit():
        return float(value) if len(value) < _DIGITS else None
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError):
        return None


def newest_first(times: Sequence[float | None]) -> bool:
    """Whether records with these *times* stand in the order of a search's answer, and not of a log."""
    known = [time for time in times if time is not None]
    back = sum(later < before for before, later in pairwise(known))
    forth = sum(later > before for before, later in pairwise(known))
    return back > forth * _MOSTLY
