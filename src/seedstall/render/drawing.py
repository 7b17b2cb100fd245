"""Bars and time lines as figures of a picture 1,000 units wide: templates draw them, and foreign text is no part of it.

A bar's text stands beside it in HTML, where it wraps on a narrow screen and is read aloud; the drawing holds numbers
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

WIDTH = 1000
LEAST_WIDTH = 2
"""A bar that is there is seen, however short."""
_TICKS = 6
_STEPS = (1, 2, 5)


class Part(NamedTuple):
    """One part of a bar: ``x`` and ``width`` of 1,000."""

    words: str
    ms: int
    percent: str
    kind: str
    x: int
    width: int
    who: str = ""


class DrawnBar(NamedTuple):
    """One bar of a lane."""

    x: int
    width: int
    kind: str
    words: str
    origin: str
    since_ms: int
    until_ms: int
    open: bool
    at_least: bool


class Tick(NamedTuple):
    """A mark of the axis."""

    x: int
    words: str


class Lane(NamedTuple):
    """One thread, or one subject, and its bars."""

    name: str
    bars: tuple[DrawnBar, ...]


class Picture(NamedTuple):
    """One time line."""

    told_by: str
    zero: str
    span_ms: int
    ticks: tuple[Tick, ...]
    lanes: tuple[Lane, ...]
    events: tuple[tuple[int, int, str, str], ...]
    """Each with its ``x``, its time, words and place."""
    kinds: tuple[str, ...]
    left_out: int

    @property
    def longest_lane(self) -> int:
        """Bars of the fullest lane."""
        return max((len(lane.bars) for lane in self.lanes), default=0)


def parts(rows: Sequence[tuple[Any, ...]], whole: int = 0) -> tuple[Part, ...]:
    """A bar of *rows* (words, milliseconds, kind and perhaps who), of *whole* or of their sum."""
    total = max(whole, sum(row[1] for row in rows), 1)
    found: list[Part] = []
    at = 0.0
    for row in rows:
        words, ms, kind, *who = row
        since, at = at, at + ms
        x = round(since * WIDTH / total)
        width = max(LEAST_WIDTH if ms else 0, round(at * WIDTH / total) - x)
        percent = f"{ms / total:.0%}".replace("%", " %")
        found.append(Part(words, ms, percent, kind, x, width, who[0] if who else ""))
    return tuple(found)


def picture(line: dict[str, Any]) -> Picture:
    """One of ``facts.timelines``."""
    span = max(1, line["span_ms"])
    lanes = tuple(
        Lane(name, tuple(_bar(bar, span) for bar in line["bars"] if bar["lane"] == number))
        for number, name in enumerate(line["lanes"])
    )
    events = tuple(
        (_x(event["at_ms"], span), event["at_ms"], event["words"], event["origin"] or "")
        for event in line["events"]
    )
    return Picture(
        told_by=line["told_by"],
        zero=line["zero"],
        span_ms=line["span_ms"],
        ticks=ticks(span),
        lanes=lanes,
        events=events,
        kinds=tuple(dict.fromkeys(bar["kind"] for bar in line["bars"])),
        left_out=line["left_out"],
    )


def _x(ms: int, span: int) -> int:
    return max(0, min(WIDTH, round(ms * WIDTH / span)))


def _bar(bar: dict[str, Any], span: int) -> DrawnBar:
    x = min(WIDTH - LEAST_WIDTH, _x(bar["since_ms"], span))
    width = max(LEAST_WIDTH, _x(bar["until_ms"], span) - x)
    return DrawnBar(
        x=x,
        width=width,
        kind=bar["kind"],
        words=bar["words"],
        origin=bar["origin"] or "",
        since_ms=bar["since_ms"],
        until_ms=bar["until_ms"],
        open=bar["open"],
        at_least=bar["at_least"],
    )


def ticks(span_ms: int) -> tuple[Tick, ...]:
    """Round figures along the axis: 0, 100, 200 ms; 0, 2, 4 s; 0, 10, 20 min."""
    unit, name = next(
        (unit, name) for unit, name in _UNITS if span_ms / unit >= 1 or unit == _UNITS[-1][0]
    )
    power = 1
    while True:
        for step in _STEPS:
            if span_ms / (step * power * unit) <= _TICKS:
                every = step * power
                count = int(span_ms / (every * unit))
                return tuple(
                    Tick(_x(n * every * unit, span_ms), f"{n * every} {name}" if n else "0")
                    for n in range(count + 1)
                )
        power *= 10


_UNITS = ((3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))
