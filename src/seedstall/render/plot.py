"""A plot of figures that lie orders of magnitude apart: bars on a logarithmic axis, each with its spread, as SVG.

Pure: the same figures give the same text. No script, no font, no link: it works by itself, in a page, and printed. The
colours are of the page's (``currentColor``), so that it is seen on dark and on light; every bar has its figure in words
and a title, for those who listen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

WIDTH = 900
LEFT = 340
RIGHT = 130
ROW = 22
HEAD = 46
GROUP = 30
FOOT = 34
LEAST, MOST = 1e-9, 1e15
"""No figure outside of these has been measured."""
TICKS = 10
LETTERS = 46
TITLE_LETTERS = 90
"""Of a name, and of the heading, that find room; the rest is in the title."""
_COLOURS = ("#2b6cb0", "#b7791f", "#2f855a", "#9b2c2c", "#6b46c1", "#2c7a7b")
"""Each told apart from black and from white by 3 to 1 at least (WCAG 1.4.11)."""


class Bar(NamedTuple):
    """One figure: ``low`` to ``high`` is its spread; ``words`` stand beside it."""

    name: str
    value: float
    low: float
    high: float
    words: str


class Group(NamedTuple):
    """Bars that belong together, under one heading."""

    name: str
    bars: tuple[Bar, ...]


def plot(title: str, unit: str, groups: Sequence[Group], sentence: str = "") -> str:
    """The picture, one ``svg`` element; *sentence* says what it means, to those who listen.

    Figures that are not positive numbers have no place on the axis and are left out.
    """
    shown = [Group(g.name, tuple(b for b in g.bars if _has_place(b))) for g in groups]
    shown = [group for group in shown if group.bars]
    axis = _Axis([b for group in shown for b in group.bars])
    height = HEAD + sum(GROUP + ROW * len(group.bars) for group in shown) + FOOT
    told = f"{title}. Bars on a logarithmic scale in {unit}; a line across each bar is its spread."
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
            f' height="{height}" role="img" aria-labelledby="plot-title plot-desc"'
            ' font-family="sans-serif" font-size="12" fill="currentColor">'
        ),
        f'<title id="plot-title">{_text(title)}</title>',
        f'<desc id="plot-desc">{_text(" ".join((sentence, told, _spoken(shown))).strip())}</desc>',
        f'<text x="8" y="22" font-size="15" font-weight="bold">{_text(_short(title, TITLE_LETTERS))}</text>',
        *axis.drawn(HEAD - 6, height - FOOT, unit),
        *_bars(shown, axis),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _has_place(bar: Bar) -> bool:
    return all(LEAST <= v <= MOST for v in (bar.value, bar.low, bar.high))


def _text(text: str) -> str:
    """As XML may hold it: a control character may stand in none, escaped or not."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}\N{HORIZONTAL ELLIPSIS}"


def _spoken(groups: Sequence[Group]) -> str:
    return " ".join(
        f"{group.name}: {', '.join(f'{bar.name} {bar.words}' for bar in group.bars)}."
        for group in groups
    )


class _Axis:
    """From the decade below the least to the one above the greatest."""

    def __init__(self, bars: Sequence[Bar]) -> None:
        least = min((min(b.value, b.low) for b in bars), default=1.0)
        most = max((max(b.value, b.high) for b in bars), default=10.0)
        self._from = math.floor(math.log10(least))
        self._to = max(self._from + 1, math.ceil(math.log10(most)))

    def x(self, value: float) -> float:
        """Where *value* lies."""
        part = (math.log10(value) - self._from) / (self._to - self._from)
        return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)

    def drawn(self, top: float, bottom: float, unit: str) -> Iterator[str]:
        """A line and a figure for every decade."""
        step = -(-(self._to - self._from) // TICKS)
        for power in range(self._from, self._to + 1, step):
            x = self.x(10.0**power)
            yield (
                f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="currentColor"'
                ' stroke-opacity="0.2"/>'
            )
            label = f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
            yield f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{label}</text>'
        yield f'<text x="{WIDTH - 8}" y="{bottom + 16}" text-anchor="end">{_text(unit)}</text>'


def _bars(groups: Sequence[Group], axis: _Axis) -> Iterator[str]:
    y = float(HEAD)
    for index, group in enumerate(groups):
        y += GROUP
        yield f'<text x="8" y="{y - 8}" font-weight="bold">{_text(group.name)}</text>'
        colour = _COLOURS[index % len(_COLOURS)]
        for bar in group.bars:
            yield from _bar(bar, y, colour, axis)
            y += ROW


def _bar(bar: Bar, y: float, colour: str, axis: _Axis) -> Iterator[str]:
    middle = y + ROW / 2
    end, low, high = axis.x(bar.value), axis.x(bar.low), axis.x(bar.high)
    name = _short(bar.name, LETTERS)
    yield f"<g aria-label={quoteattr(_text_of(bar))}><title>{_text(_text_of(bar))}</title>"
    yield f'<text x="{LEFT - 8}" y="{middle + 4}" text-anchor="end">{_text(name)}</text>'
    width = max(1.0, round(end - LEFT, 1))
    yield f'<rect x="{LEFT}" y="{y + 3}" width="{width}" height="{ROW - 6}" fill="{colour}"/>'
    whisker = f"M{low} {middle}H{high}M{low} {middle - 5}v10M{high} {middle - 5}v10"
    yield f'<path d="{whisker}" stroke="currentColor" stroke-width="1.5" fill="none"/>'
    yield f'<text x="{max(end, high) + 8}" y="{middle + 4}">{_text(bar.words)}</text></g>'


def _text_of(bar: Bar) -> str:
    return "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in f"{bar.name}: {bar.words}"
    )
