"""Where the time of a watched start went, as a table for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

LEAST = 0.005
"""Shares below half a hundredth are left out: the JSON has them."""


def table(start: object) -> Iterator[str]:
    """The lines of the table, from the report's own facts (``facts.start``)."""
    if not isinstance(start, dict):
        return
    told: dict[str, Any] = start  # pyright: ignore[reportUnknownVariableType] - as engine.diagnosis makes it
    watched = told["watched_ms"] or 1
    cost = f"{told['cost_of_a_core']:.1%}".replace("%", " %")
    many = told["samples"] != 1
    looks = f"{told['samples']} looks, one in {told['interval_ms']} ms" if many else "1 look"
    yield (
        f"where the time went: {watched / 1000:.1f} s {told['span']} ({looks}, {cost} of a core)"
    )
    for share in told["went_to"]:
        part = share["ms"] / watched
        if part >= LEAST:
            row = f"  {share['ms'] / 1000:8.2f} s {part:5.0%}  {share['words']:<27}  {share['who']}"
            yield row.rstrip()
    if told.get("major_faults") or told.get("read_kib"):
        read = f", {told['read_kib'] / 1024:.0f} MiB read from disks" if told["read_kib"] else ""
        yield f"  {told['major_faults']} page faults that had to read{read}"
