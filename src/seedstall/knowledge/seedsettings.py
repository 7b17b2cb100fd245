"""Names that people set in the belief that they choose the seed source, and that the JDK never reads."""

from __future__ import annotations

from typing import NamedTuple

EGD = "java.security.egd"
SOURCE = "securerandom.source"
_SECURITY_PROPERTIES = frozenset((SOURCE, "securerandom.strongalgorithms"))
"""In lower case."""
_NEAR = 2
"""Slips of the pen that still mean the name: two letters swapped, left out, doubled or mistaken."""

CARRIERS = (
    "JAVA_OPTS",
    "CATALINA_OPTS",
    "JAVA_OPTIONS",
    "JAVA_ARGS",
    "JVM_OPTS",
    "JVM_ARGS",
    "JAVA_OPT",
    "JAVA_OPTS_APPEND",
    "JDK_OPTS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "ANT_OPTS",
    "KAFKA_OPTS",
    "ES_JAVA_OPTS",
    "SERVER_JVMFLAGS",
    "JENKINS_JAVA_OPTIONS",
)
"""Variables that start scripts put on java's command line. The JVM reads none of them itself."""


class Slip(NamedTuple):
    """A system property of no effect, and why nothing comes of it, in a clause that its name begins."""

    name: str
    why: str


def slip(name: str) -> Slip | None:
    """What is wrong with the system property *name* if it was meant to choose the seed source; ``None`` if nothing is.

    ``java.security.edg`` is the commonest; ``securerandom.source`` exists, but as a security property.
    """
    if name == EGD:
        return None
    lower = name.lower()
    bare = lower.removeprefix("java.security.").removeprefix("java.")
    if bare in _SECURITY_PROPERTIES:
        what = (
            "a security property"
            if lower == bare
            else f"no name of anything; {bare} is a security property"
        )
        where = "it belongs into java.security or a file that -Djava.security.properties names"
        return Slip(name, f"is {what}: {where}, as a system property nobody reads it")
    if lower == EGD:
        return Slip(name, f"differs from {EGD} in its capitals")
    if abs(len(name) - len(EGD)) <= _NEAR and _distance(lower, EGD) <= _NEAR:
        return Slip(name, f"is a slip of the pen for {EGD}")
    return None


def _distance(one: str, other: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that lead from *one* to *other*."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
