"""SS538: the process ran out of memory."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.incident import Incident, IncidentKind, Incidents
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account

_NOTE = "see whether it is this JVM that the line names, and its limit against -Xmx and what lies outside the heap"
_OTHERS = frozenset(
    (
        *(
            "mysqld",
            "mariadbd",
            "postgres",
            "mongod",
            "redis-server",
            "memcached",
            "node",
            "python",
        ),
        *(
            "python3",
            "ruby",
            "php",
            "php-fpm",
            "httpd",
            "apache2",
            "nginx",
            "dockerd",
            "containerd",
        ),
        *(
            "kubelet",
            "chrome",
            "firefox",
            "gnome-shell",
            "stress",
            "stress-ng",
            "bash",
            "sh",
            "perl",
        ),
    )
)
"""Programs that are seen in such lines and are no JVM: one of another name may be a launcher of its own."""


@rule("SS538", "out-of-memory")
def out_of_memory(incidents: Incidents) -> Iterator[Finding]:
    """The kernel's OOM killer ended the process, or Java ran out of memory.

    ## What it detects
    The OOM killer's line of dmesg or the journal, ``OOMKilled`` of Kubernetes or Docker,
    ``java.lang.OutOfMemoryError``, a JVM that could not start for lack of memory.

    ## Why it matters
    A process that is killed while it starts begins anew and looks hung; a heap that is too small makes every step
    crawl before the error comes. Netty's warning about too little entropy may be no more than a full heap.

    ## Fix
    A larger limit for the container, or a smaller heap (``-XX:MaxRAMPercentage``) in it; a larger heap where
    Java's own error says so.
    """
    heap = incidents.of(IncidentKind.HEAP)
    killed = incidents.of(IncidentKind.OUT_OF_MEMORY_KILL)
    told = [incident for incident in (killed, heap) if incident is not None]
    if killed is not None and _is_another(killed):
        yield incident_account.weighed(_of_another(killed), [killed])
        told = [heap] if heap is not None else []
    if not told:
        return
    ended = told[0] is killed
    yield incident_account.weighed(
        Finding(
            message="a process that ran out of memory",
            sentence="not entropy: the kernel's OOM killer ended the process"
            if ended
            else "not entropy: Java ran out of memory",
            cause=Cause.MEMORY,
            status=Status.ENDED if ended else Status.SLOW,
            severity=Severity.ERROR if ended else Severity.WARNING,
            confidence=Confidence.LIKELY,
            evidence=tuple(incident_account.evidence(incident) for incident in told),
            notes=(_NOTE,),
        ),
        told,
    )


def _is_another(killed: Incident) -> bool:
    """Whether the kernel names a program that can be no JVM: ``java``, ``jsvc``, a unit, a launcher's own name."""
    return killed.who.casefold() in _OTHERS


def _of_another(killed: Incident) -> Finding:
    return Finding(
        message="a process that ran out of memory",
        sentence=f"the kernel's OOM killer ended {incident_account.name(killed)}, which is no JVM",
        cause=Cause.MEMORY,
        status=Status.UNKNOWN,
        severity=Severity.NOTE,
        confidence=Confidence.POSSIBLE,
        evidence=(incident_account.evidence(killed),),
        notes=(
            "the host, or the group they share, is short of memory: its neighbours feel it as well",
        ),
    )
