"""How far two names are apart: a slip of the pen, or another name."""

from __future__ import annotations

SLIPS = 2
"""Letters added, lost, changed or swapped that still make a name the one that was meant."""


def close(name: str, right: str) -> bool:
    """Whether *name* is *right* but for a slip or two."""
    return abs(len(name) - len(right)) <= SLIPS and distance(name, right) <= SLIPS


def distance(one: str, other: str) -> int:
    """Optimal string alignment: insertions, deletions, changes and swapped neighbours between the two."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        current = [i]
        for j, b in enumerate(other, 1):
            cost = min(row[j] + 1, current[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, row = row, current
    return row[-1]
