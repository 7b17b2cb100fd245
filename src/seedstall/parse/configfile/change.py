"""Changes to the text of a settings file: stretches by their places, and what takes their room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from seedstall.model.settings import ConfigFile, Placed, SeedOption

Splice: TypeAlias = tuple[int, int, str]
"""Characters ``start:end`` give way to a text."""


def rewritten(text: str, start: int, end: int, edits: Sequence[Splice]) -> str | None:
    """The stretch from *start* to *end* with *edits* made in it; ``None`` where one lies outside, or two overlap."""
    parts: list[str] = []
    at = start
    for first, last, new in edits:
        if first < at or last > end:
            return None
        parts += [text[at:first], new]
        at = last
    return "".join((*parts, text[at:end]))


def swap(written: Placed, new: str) -> list[Splice]:
    """Make *written* read *new*, touching only the stretch that differs; nothing where quotes stand inside it.

    What stands around it (quotes, escapes, a carriage return at the line's end) stays as it is.
    """
    old = written.text.rstrip("\r")
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < most - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end = len(old) - tail
    # At least one character is taken anew, so that what is inserted stands inside the quotes that it stood in.
    if start == end and start > 0:
        start -= 1
    if any(written.ends[i] != written.starts[i + 1] for i in range(start, end - 1)):
        return []
    return [(*written.place(start, end), new[start : len(new) - tail])]


def option_edits(file: ConfigFile, option: SeedOption, new: str) -> list[Splice]:
    """Put the right option *new* in the place of the old one with all that belongs to it."""
    if option.apart and option.value is not None:
        name, _, value = new.removeprefix("-J").removeprefix("-D").partition("=")
        return [*swap(option.name, name), *swap(option.value, value)]
    if not option.tail:
        return swap(option.word, new)
    start, end = option.word.place()[0], option.tail[-1].place()[1]
    inside = file.text[start:end]
    return [] if '"' in inside or "'" in inside or "\n" in inside else [(start, end, new)]
