"""When things happened in a start, as far as samples, a log, dumps or the process's own clock tell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a bar is coloured by."""

    SEEDING = "seeding"
    """Waiting for random bytes, or for the one that does."""
    WAITING = "waiting"
    """Waiting for something else."""
    WORKING = "working"
    """On a processor, or in work that its server counts (a start, a deployment)."""
    SILENT = "silent"
    """Nothing was logged."""
    OTHER = "other"


class Bar(NamedTuple):
    """A time in one lane, in milliseconds since the time line's zero.

    ``open`` is whether it lasted at the end. ``at_least`` is whether it may have begun before. ``origin`` says where
    it is told.
    """

    lane: int
    since_ms: int
    until_ms: int
    kind: Kind
    words: str
    origin: str = ""
    open: bool = False
    at_least: bool = False


class Event(NamedTuple):
    """A moment."""

    at_ms: int
    words: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """One time line. ``told_by`` is ``samples``, ``process``, ``dumps`` or ``log``; ``zero`` says what its zero is.

    ``lanes`` are the names of what is drawn below each other; ``left_out`` counts lanes, bars and moments beyond
    what is shown.
    """

    told_by: str
    zero: str
    span_ms: int
    lanes: tuple[str, ...]
    bars: tuple[Bar, ...]
    events: tuple[Event, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Timelines:
    """Those of a case: the one that tells most first."""

    lines: tuple[Timeline, ...]
