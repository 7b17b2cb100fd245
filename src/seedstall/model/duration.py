"""Lengths of time for people: one wording and one rounding, in a sentence, a table and a drawing."""

from __future__ import annotations

_SECOND_MS = 1000
_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000
_MOST_S = 59.9
"""What is below a minute is never called 60 seconds."""


def duration(ms: float) -> str:
    """``412 ms``, ``8.6 s``, ``6 min 27 s``, ``2 h 5 min``. From a minute on it is cut: "at least" stays true."""
    if ms < _SECOND_MS:
        return f"{int(ms)} ms"
    if ms < _MINUTE_MS:
        return f"{min(ms / 1000, _MOST_S):.1f} s"
    if ms < _HOUR_MS:
        return f"{int(ms // _MINUTE_MS)} min {int(ms % _MINUTE_MS // 1000)} s"
    return f"{int(ms // _HOUR_MS)} h {int(ms % _HOUR_MS // _MINUTE_MS)} min"
