"""What rules say, and what becomes of a rule when it is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum, StrEnum
from typing import TypeAlias

from seedstall.model.evidence import Missing, Ref
from seedstall.model.record import dataclass
from seedstall.model.verdict import Cause, Progress, Status


class Severity(IntEnum):
    """How bad it is: ERROR stalled or lost; WARNING slow, at risk, or without effect; NOTE harmless; INFO."""

    INFO = 10
    NOTE = 20
    WARNING = 30
    ERROR = 40


class Confidence(IntEnum):
    """How sure it is."""

    POSSIBLE = 1
    """The settings or the figures allow it."""
    LIKELY = 2
    """Evidence agrees, one link is not seen (the kernel, the device)."""
    CONFIRMED = 3
    """Seen to happen."""


class Disposition(StrEnum):
    """Whether a fix changes only what it mends."""

    SAFE = "safe"
    REVIEW = "review"
    """Behaviour changes beyond the cure (default algorithm, a daemon): a person decides."""


class When(StrEnum):
    """Whom a fix helps: the process that hangs now, or the next start."""

    NOW = "now"
    NEXT_START = "next-start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that was seen, with its place: ``catalina.out:1042``, ``/proc/8712/task/8713/syscall``."""

    origin: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A remedy in one place. ``surface`` names the template and the ``fix --surface``.

    ``params`` are the template's variables; ``command`` among them is what to type as it is, where the remedy is
    something that is done once and no place that is edited. ``where`` is ``host``, ``container``, ``image`` or
    ``build``. ``takes`` says how long it is until it helps, ``""`` where nothing is known of that.
    """

    surface: str
    title: str
    when: When = When.NEXT_START
    where: str = "host"
    restart: bool = True
    needs_root: bool = False
    disposition: Disposition = Disposition.SAFE
    takes: str = ""
    params: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One statement of a rule.

    ``message`` reads after "found"; ``sentence`` is a whole sentence fit to be the verdict's first line. ``cause`` and
    ``status`` are what the verdict becomes if this finding wins. Times are milliseconds.
    """

    message: str
    sentence: str
    cause: Cause
    status: Status
    severity: Severity
    confidence: Confidence
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    notes: tuple[str, ...] = ()
    """Further lines for people: why the famous value is not used, what is asked for."""
    explains: tuple[Cause, ...] = ()
    """Causes that are only symptoms of this one."""
    cost_ms: int | None = None
    startup_ms: int | None = None
    since_ms: int | None = None
    progress: Progress | None = None

    @property
    def share(self) -> float | None:
        """The part of the start it cost, 0 to 1, where both times are known."""
        if self.cost_ms is None or not self.startup_ms:
            return None
        return min(1.0, self.cost_ms / self.startup_ms)


@dataclass(frozen=True, slots=True)
class Fired:
    """The rule found something."""

    code: str
    name: str
    findings: tuple[Finding, ...]
    origins: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Clear:
    """The rule had its evidence and found nothing."""

    code: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """The rule could not look: never to be read as clear."""

    code: str
    name: str
    missing: tuple[Missing, ...]


@dataclass(frozen=True, slots=True)
class Crashed:
    """The rule itself failed; the others ran all the same."""

    code: str
    name: str
    error: str


Outcome: TypeAlias = Fired | Clear | Inconclusive | Crashed
