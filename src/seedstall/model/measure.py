"""Figures that were measured more than once: each with its middle and its spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from seedstall.model.record import dataclass

TOGETHER = "readers of /dev/urandom at once, 4 KiB a read"
FOR_TIME = "the same for a second of processor time"
FIRST_USE = "first use"
AFTERWARDS = "each of 10,000 calls afterwards, 16 bytes"
BY_THREADS = "drawn by threads, 16 bytes a call"
QUEUED = "time in which a thread of these slept for a lock"
"""Groups of figures that are compared with each other."""

MUST_AGREE = ("kernel", "processors", "python", "java", "present", "each run", "each figure")
"""Facts of a run by which its figures may be compared with another's."""

EDGE = 0.1
"""From the tenth to the ninetieth hundredth: what one interrupt or one quiet moment did is left out of the spread."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One thing, measured ``len(values)`` times after the warm-up.

    ``key`` is stable from run to run (``read /dev/urandom 16``). ``unit`` is ``ns``, ``ms`` or ``MB/s`` (10^6 bytes);
    ``overhead`` is what of each value is not the thing's own, in the same unit, where it was measured.
    ``failure`` says why there are no values.
    """

    key: str
    group: str
    unit: str
    values: tuple[float, ...] = ()
    overhead: float | None = None
    failure: str = ""

    @property
    def median(self) -> float | None:
        """The middle; ``None`` where nothing was measured."""
        return quantile(self.values, 0.5)

    @property
    def low(self) -> float | None:
        """Below it lies one value in ten."""
        return quantile(self.values, EDGE)

    @property
    def high(self) -> float | None:
        """Above it lies one value in ten."""
        return quantile(self.values, 1 - EDGE)

    @property
    def mean(self) -> float | None:
        """The average."""
        return math.fsum(self.values) / len(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the sample; ``None`` of fewer than two."""
        mean = self.mean
        if mean is None or len(self.values) < 2:  # noqa: PLR2004 - no deviation of one
            return None
        return math.sqrt(math.fsum((v - mean) ** 2 for v in self.values) / (len(self.values) - 1))

    @property
    def net(self) -> float | None:
        """The middle without the overhead, never below zero."""
        median = self.median
        if median is None:
            return None
        return max(0.0, median - (self.overhead or 0.0))


def quantile(values: Sequence[float], part: float) -> float | None:
    """The value below which *part* of *values* lies, between two of them by their distance; ``None`` of none."""
    if not values:
        return None
    ordered = sorted(values)
    at = part * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def alike(one: Measurement, other: Measurement) -> bool | None:
    """Whether the spreads of two overlap: then no difference was shown. ``None`` where one was not measured."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return one.low <= other.high and other.low <= one.high


@dataclass(frozen=True, slots=True)
class Change:
    """A figure now against the one of an earlier run: ``ratio`` of the medians.

    ``clear`` is whether the two spreads lie apart: else the difference may be nothing but noise.
    """

    key: str
    before: float
    now: float
    ratio: float
    clear: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    """One figure of an earlier run, as its JSON has it."""

    unit: str
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Before:
    """An earlier run: of which bench, its figures by key, and what it said of the host and the means."""

    what: str
    figures: Mapping[str, Earlier]
    facts: Mapping[str, str]


def differences(
    before: Mapping[str, str], now: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str, str], ...]:
    """The facts that make two runs no two of one thing: name, then, now. One that was not told is no difference."""
    return tuple(
        (name, before[name], value)
        for name, value in now
        if name in MUST_AGREE and name in before and before[name] != value
    )


def change(now: Measurement, before: Earlier) -> Change | None:
    """How *now* differs from *before*; ``None`` where they cannot be compared."""
    median, low, high = now.median, now.low, now.high
    if median is None or low is None or high is None or now.unit != before.unit:
        return None
    if before.median <= 0:
        return None
    apart = low > before.high or high < before.low
    return Change(now.key, before.median, median, median / before.median, apart)


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of ``bench``. ``facts`` are about the host and the means; ``notes`` whole sentences for people."""

    what: str
    measurements: tuple[Measurement, ...]
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, key: str) -> Measurement | None:
        """The figure of that key."""
        return next((m for m in self.measurements if m.key == key), None)
