"""What `seedstall bench` shows: the sentence, one table a group with middle and spread, what the figures mean."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from seedstall import __version__
from seedstall.model.measure import Before, Bench, Change, Earlier, Measurement
from seedstall.model.redact import redact, visible
from seedstall.render.document import SCHEMA
from seedstall.render.plot import Bar, Group, plot

_ROW = 13
NOISE = 0.1
"""Part of a figure below which what is left of it after the overhead is none."""
FINITE = 1e300
"""Above it are no figures, but what a file may hold in their place (JSON has no infinity; Python reads one)."""
SHOWN = 200
"""Letters of what a file says."""
NS_A_MB = 1000.0
"""Bytes by nanoseconds, times this: megabytes a second."""


def render(
    bench: Bench,
    sentence: str,
    changes: Sequence[Change] = (),
    *,
    compared: bool = False,
    other: Sequence[tuple[str, str, str]] = (),
    quiet: bool = False,
) -> str:
    """As text. *compared* is whether an earlier run was handed over, *other* in what else the two differ."""
    lines = [sentence]
    if not quiet:
        lines += ["", *(f"{name:<{_ROW}}{value}" for name, value in bench.facts)]
        for group, found in itertools.groupby(bench.measurements, key=lambda m: m.group):
            lines += ["", *_table(group, list(found))]
        notes = [*_dashes(bench.measurements), *bench.notes]
        lines += ["", *(f"note: {note}" for note in notes)] if notes else []
        lines += ["", *_compared(changes, other)] if compared else []
    return redact("".join(f"{visible(line)}\n" for line in lines))


def _table(group: str, found: Sequence[Measurement]) -> Iterator[str]:
    unit = found[0].unit
    net = any(m.overhead for m in found)
    head = [group, f"median {unit}", "p10 to p90", "mean", "deviation", "runs"]
    head[2:2] = ["net"] if net else []
    rows = [head, *(_row(m, net=net) for m in found)]
    widths = [max(len(row[i]) for row in rows if len(row) > i) for i in range(len(head))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=False)]
        yield "  ".join(cells if len(row) == len(head) else [cells[0], row[1]]).rstrip()


def _row(found: Measurement, *, net: bool) -> list[str]:
    if not found.values:
        return [found.key, found.failure or "not measured"]
    spread = f"{figure(found.low)} to {figure(found.high)}"
    middle = [figure(found.median), *([_net(found)] if net else [])]
    rest = [spread, figure(found.mean), figure(found.deviation), str(len(found.values))]
    return [found.key, *middle, *rest]


def _net(found: Measurement) -> str:
    """Empty where no overhead was measured; of what is nearly all overhead a difference says nothing."""
    if not found.overhead or found.median is None or found.net is None:
        return ""
    return "-" if found.net < NOISE * found.median else figure(found.net)


def _dashes(found: Sequence[Measurement]) -> Iterator[str]:
    """What a dash means, where there is one: it is no failure."""
    if any(_net(m) == "-" for m in found):
        yield "net -: nearly all of that figure is Python's own calls, so what is left of it without them says nothing"


def figure(value: float | None) -> str:
    """With as many digits as mean something."""
    if value is None:
        return ""
    if value >= 100:  # noqa: PLR2004 - three digits are enough
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"  # noqa: PLR2004 - the same


def _compared(changes: Sequence[Change], other: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Against the earlier run: whether it was of the same thing, and what is clearly other first."""
    if other:
        yield "the baseline is not of the same thing, so what differs may come of that:"
        yield from (f"  {name}: {before[:SHOWN]} then, {now} now" for name, before, now in other)
    if not changes:
        yield "against the baseline: it holds none of these figures"
        return
    clear = [c for c in changes if c.clear]
    yield (
        f"against the baseline: {len(clear)} of {len(changes)} figures are clearly other"
        " (the spreads, p10 to p90, lie apart)"
    )
    for found in sorted(changes, key=lambda c: not c.clear):
        mark = "" if found.clear else "  (may be noise)"
        yield (
            f"  {found.key}: {figure(found.before)} -> {figure(found.now)}, {found.ratio:.2f} times{mark}"
        )


def as_json(
    bench: Bench,
    sentence: str,
    changes: Sequence[Change] = (),
    other: Sequence[tuple[str, str, str]] = (),
) -> str:
    """As one JSON object, which ``--baseline`` reads."""
    document: dict[str, object] = {
        "schema": SCHEMA,
        "tool": {"name": "seedstall", "version": __version__},
        "bench": bench.what,
        "sentence": redact(sentence),
        "facts": {name: redact(value) for name, value in bench.facts},
        "measurements": [_measured(m) for m in bench.measurements],
        "notes": [redact(note) for note in bench.notes],
        "changes": [
            {"key": c.key, "before": c.before, "now": c.now, "ratio": c.ratio, "clear": c.clear}
            for c in changes
        ],
        "baseline_differs": [
            {"fact": name, "before": redact(before[:SHOWN]), "now": redact(now)}
            for name, before, now in other
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _measured(found: Measurement) -> dict[str, object]:
    return {
        "key": found.key,
        "group": found.group,
        "unit": found.unit,
        "median": found.median,
        "p10": found.low,
        "p90": found.high,
        "mean": found.mean,
        "deviation": found.deviation,
        "overhead": found.overhead,
        "runs": len(found.values),
        "values": list(found.values),
        "failure": redact(found.failure),
    }


def earlier(text: str) -> Before:
    """An earlier run, of its JSON.

    Raises:
        ValueError: it is none.
    """
    try:
        document = _object(json.loads(text))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    listed = document.get("measurements")
    if not isinstance(listed, list):
        raise ValueError("no measurements in it")  # noqa: TRY004 - of a file, not of an argument
    found: dict[str, Earlier] = {}
    for item in map(_object, cast("list[object]", listed)):
        key = item.get("key")
        if not isinstance(key, str):
            raise ValueError("a measurement without a key")  # noqa: TRY004 - see above
        figures = [item.get(name) for name in ("median", "p10", "p90")]
        numbers = [float(f) for f in figures if isinstance(f, int | float) and abs(f) < FINITE]
        if len(numbers) == len(figures):
            found[key] = Earlier(str(item.get("unit")), *numbers)
    facts = {
        name: value
        for name, value in _object(document.get("facts")).items()
        if isinstance(value, str)
    }
    return Before(str(document.get("bench")), found, facts)


def _object(found: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def drawing(bench: Bench, sentence: str) -> str:
    """As a picture: speeds in MB/s, and of times the small reads as the speed they come to."""
    groups: list[Group] = []
    for name, found in itertools.groupby(bench.measurements, key=lambda m: m.group):
        bars = tuple(bar for m in found if (bar := _bar(m)) is not None)
        if bars:
            groups.append(Group(name, bars))
    about = dict(bench.facts).get("java" if bench.what == "jvm" else "kernel", "")
    title = f"seedstall bench {bench.what}: {about}"
    return plot(redact(title), "MB/s", groups, redact(sentence))


def _bar(found: Measurement) -> Bar | None:
    median, low, high = found.median, found.low, found.high
    if median is None or low is None or high is None:
        return None
    if found.unit == "MB/s":
        return Bar(found.key, median, low, high, f"{figure(median)} MB/s")
    size = found.key.rpartition(" ")[2]
    if found.group != "small reads" or not size.isdigit() or min(median, low, high) <= 0:
        return None
    speed, slow, fast = (int(size) / ns * NS_A_MB for ns in (median, high, low))
    return Bar(f"{found.key} bytes", speed, slow, fast, f"{figure(speed)} MB/s")
