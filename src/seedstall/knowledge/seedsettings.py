"""Names that people set in the belief that they choose the seed source, and that the JDK never reads."""

from __future__ import annotations

from typing import NamedTuple

from seedstall.knowledge.spelling import close

EGD = "java.security.egd"
SOURCE = "securerandom.source"
_SECURITY_PROPERTIES = frozenset((SOURCE, "securerandom.strongalgorithms"))
"""In lower case."""

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
    if close(lower, EGD):
        return Slip(name, f"is a slip of the pen for {EGD}")
    return None
