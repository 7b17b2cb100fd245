"""The whole report of one case, before it is rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from seedstall.model.finding import Confidence, Finding, Outcome
from seedstall.model.record import dataclass
from seedstall.model.verdict import Cause, Progress, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that was done to the target (or, with ``--dry-run``, would be). ``pause_ms`` where measured."""

    what: str
    pid: int
    pause_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer of the contract. ``code`` is the winning finding's rule; ``also`` are other causes that hold."""

    status: Status
    cause: Cause
    confidence: Confidence | None
    sentence: str
    code: str | None = None
    cost_ms: int | None = None
    startup_ms: int | None = None
    share: float | None = None
    progress: Progress | None = None
    since_ms: int | None = None
    also: tuple[Cause, ...] = ()
    finding: Finding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One case: its verdict, every rule's outcome, what was done to the target, and the facts found.

    ``explained`` maps a finding that another one explains to that one's code. ``facts`` is JSON-ready.
    """

    target: str
    verdict: Verdict
    words: str = ""
    """The targets and what was said of them (``--kernel ...``) as words for a shell: `target` where empty."""
    outcomes: tuple[Outcome, ...]
    actions: tuple[Action, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    explained: Mapping[int, str] = field(default_factory=dict[int, str])
    """``id(finding)`` to the code of the finding that explains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A case of several that could not be looked at: it stands in the report in the place of a verdict."""

    target: str
    error: str
    hint: str = ""
