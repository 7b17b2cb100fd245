"""The JVMs of a host in one table: what of each can be told from ``/proc`` alone."""

from __future__ import annotations

from seedstall.model.jdk import VmFamily
from seedstall.model.record import dataclass
from seedstall.model.seeding import Risk
from seedstall.model.verdict import Cause, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Something of a process that could not be read, and why: ``denied: the process belongs to uid 0 ...``."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJvm:
    """One JVM. Texts are as they were read: whoever prints them redacts them.

    ``told_by`` is ``maps``, or ``name`` where what it maps may not be read and it is only called java. ``user`` is the
    host's name of ``uid``, else its number. ``jdk`` and ``program`` are ``""`` where not known. ``status`` is
    `Status.UNKNOWN` where its threads could not be looked at.
    """

    pid: int
    vm: VmFamily
    told_by: str
    status: Status
    cause: Cause
    sentence: str
    risk: Risk
    risk_why: str
    uid: int | None = None
    user: str = ""
    age_ms: int | None = None
    jdk: str = ""
    vendor: str = ""
    program: str = ""
    product: str = ""
    """Key of the product, where it is a known one."""
    in_container: bool | None = None
    container: str = ""
    """Id of the container, where a control group names it."""
    runtime: str = ""
    seed_source: str | None = None
    """The effective string; ``""`` where no source is set."""
    seed_place: str = ""
    seed_assumed: bool = False
    since_ms: int | None = None
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All that were found, by pid.

    ``unseen`` counts the processes of which it could not be told whether they are JVMs, by the reason; ``hidden`` is
    true where ``/proc`` does not show the processes of others at all; ``ended`` counts the JVMs that ended while they
    were looked at.
    """

    jvms: tuple[ListedJvm, ...]
    processes: int
    unseen: tuple[tuple[str, int], ...] = ()
    hidden: bool = False
    ended: int = 0
