"""The verdict: which finding wins, what it explains, and one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seedstall.knowledge.places import caller
from seedstall.model.duration import duration
from seedstall.model.evidence import Missing, Space, Why
from seedstall.model.finding import (
    Clear,
    Confidence,
    Crashed,
    Finding,
    Fired,
    Inconclusive,
    Outcome,
    Severity,
)
from seedstall.model.redact import visible
from seedstall.model.report import Verdict
from seedstall.model.samples import Doing, Ending, StartSamples
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence
from seedstall.rules import start_account

_SEEDING = frozenset(("SS101", "SS102", "SS103"))
_PLACES = frozenset(f"SS{number}" for number in range(521, 535))
"""The rules that say where a start stands."""
_SEEN = frozenset((Status.STALLED, Status.SLOW, Status.ENDED))


def fired(outcomes: Iterable[Outcome]) -> list[tuple[str, Finding]]:
    """Every finding with its code, in rule order."""
    return [(o.code, finding) for o in outcomes if isinstance(o, Fired) for finding in o.findings]


def rank(finding: Finding) -> tuple[int, int, int, int, int]:
    """What wins: severity, then what was seen to happen over what may, seeding over the rest, confidence, cost.

    Seeding is what is asked about: a deadlock beside it stands below it, and is named.
    """
    seen = 1 if finding.status in _SEEN else 0
    seeding = 0 if finding.cause.startswith("other:") else 1
    if finding.cause is Cause.STOPPED:
        seeding = 2  # whatever else holds it, first of all nothing runs
    cost = finding.cost_ms or finding.since_ms or 0
    return (finding.severity, seen, seeding, finding.confidence, cost)


def conclude(outcomes: Sequence[Outcome], evidence: SeedEvidence | None) -> Verdict:
    """The answer to all that the rules said.

    A finding of severity NOTE or INFO does not make a verdict of its own cause unless nothing worse is there: a
    harmless Tomcat line is ``clear`` with a note, its cost kept.
    """
    found = sorted(fired(outcomes), key=lambda item: rank(item[1]), reverse=True)
    if found and found[0][1].severity >= Severity.WARNING:
        return _of_winner(found)
    # A stack that is clear is never "unknown": where the start stands is the answer, named or not.
    standing = [item for item in found if item[0] in _PLACES and item[1].status in _SEEN]
    if standing:
        return _of_winner(standing)
    if evidence is not None and evidence.shows_a_start and _looked(outcomes):
        return _clear(found, evidence)
    told = [item for item in found if item[1].status is Status.UNKNOWN]
    return _of_winner(told) if told else _unknown(found, outcomes, evidence)


def explained(outcomes: Sequence[Outcome]) -> dict[int, str]:
    """Which findings another one explains: ``id(finding)`` to that one's code.

    A symptom is explained only by a finding that is at least as severe and as sure.
    """
    found = fired(outcomes)
    by: dict[int, str] = {}
    for code, finding in found:
        for other_code, other in found:
            if other is not finding and finding.cause in other.explains and other_code != code:
                by[id(finding)] = other_code
    return by


def _of_winner(found: list[tuple[str, Finding]]) -> Verdict:
    code, winner = found[0]
    sure = (Severity.ERROR, Confidence.CONFIRMED)
    beside = next(
        (f for _, f in found[1:] if (f.severity, f.confidence) == sure and f.cause != winner.cause),
        None,
    )
    also = dict.fromkeys(
        f.cause
        for _, f in found[1:]
        if f.cause not in (winner.cause, Cause.NONE) and f.severity >= Severity.NOTE
    )
    return Verdict(
        status=winner.status,
        cause=winner.cause,
        confidence=winner.confidence,
        sentence=winner.sentence
        + (f"; beside it {beside.sentence}" if beside is not None else _next(found)),
        code=code,
        cost_ms=winner.cost_ms,
        startup_ms=winner.startup_ms,
        share=winner.share,
        progress=winner.progress,
        since_ms=winner.since_ms,
        also=tuple(also),
        finding=winner,
    )


def _next(found: list[tuple[str, Finding]]) -> str:
    """What else holds the start up, dearest first: the winner is to be mended before it."""
    winner = found[0][1]
    others = dict.fromkeys(
        f"{finding.cause} ({code})"
        for code, finding in found[1:]
        if finding.severity >= Severity.WARNING
        and finding.status in _SEEN
        and finding.cause != winner.cause
        and finding.cause not in winner.explains
    )
    return f"; mend that first, then {' and '.join(others)}" if others else ""


def _looked(outcomes: Sequence[Outcome]) -> bool:
    """Whether every rule that would see a stall had its evidence: else "clear" would be a lie."""
    wanted = [o for o in outcomes if o.code == "SS101"]
    return bool(wanted) and all(isinstance(o, (Fired, Clear)) for o in wanted)


def _clear(found: list[tuple[str, Finding]], evidence: SeedEvidence) -> Verdict:
    # Only the log's harmless seeding line is an answer to "why is it slow"; other notes stand below it.
    note = next((f for code, f in found if code == "SS101" and f.status is Status.CLEAR), None)
    return Verdict(
        status=Status.CLEAR,
        cause=Cause.NONE,
        confidence=None,
        sentence=_clear_sentence(note, evidence),
        cost_ms=note.cost_ms if note is not None else None,
        startup_ms=note.startup_ms if note is not None else None,
        share=note.share if note is not None else None,
        also=_causes(found),
        finding=note,
    )


def _causes(found: list[tuple[str, Finding]]) -> tuple[Cause, ...]:
    return tuple(dict.fromkeys(f.cause for _, f in found if f.cause is not Cause.NONE))


def _unknown(
    found: list[tuple[str, Finding]], outcomes: Sequence[Outcome], evidence: SeedEvidence | None
) -> Verdict:
    return Verdict(
        status=Status.UNKNOWN,
        cause=Cause.NONE,
        confidence=None,
        sentence=_unknown_sentence(outcomes, evidence),
        also=_causes(found),
    )


def _unknown_sentence(outcomes: Sequence[Outcome], evidence: SeedEvidence | None) -> str:
    blind = next((o for o in outcomes if o.code == "SS101" and isinstance(o, Inconclusive)), None)
    if any(o.code in _SEEDING and isinstance(o, Crashed) for o in outcomes):
        return "a rule about seeding failed, so nothing can be said (see below)"
    if blind is not None and _tells(blind.missing[0]):
        return blind.missing[0].detail or str(blind.missing[0])
    told = _what_was_not_seen(evidence) if evidence is not None else ""
    if told:
        return told
    if evidence is None or not evidence.shows_a_start:
        return "nothing here shows a start: no thread, no thread dump and no server log was read"
    return "what could be read does not say whether a thread waits for random bytes"


def _what_was_not_seen(evidence: SeedEvidence) -> str:
    """Which part of the evidence keeps it from being clear; ``""`` where none does."""
    if evidence.partial and not evidence.dumps:
        return f"no wait is seen, but {evidence.partial}"
    if evidence.partial:
        return f"no wait is seen, but the dump shows less than all its threads: {evidence.partial}"
    if evidence.samples is not None and not evidence.samples.jvm:
        return _no_jvm(evidence.samples)
    if evidence.unread:
        return f"no wait is seen, but not all could be read: {visible(evidence.unread[0])}"
    if evidence.samples is not None and not evidence.samples.visible:
        return "what its threads wait in could not be seen: run as root or as its user"
    return ""


def _tells(missing: Missing) -> bool:
    """Whether it says more than that nothing was handed over: of threads that were seen, what was not."""
    of_threads = bool(missing.origins) and missing.origins[0].space is Space.PROCESS
    return missing.why is not Why.NOT_COLLECTED or (of_threads and bool(missing.detail))


def _clear_sentence(note: Finding | None, evidence: SeedEvidence) -> str:
    if note is not None and note.status is Status.CLEAR:
        return note.sentence
    if evidence.samples is not None and evidence.samples.visible:
        return _watched(evidence.samples)
    if evidence.tasks:
        what = f"none of its {_counted(evidence.tasks)} waits for random bytes"
    elif evidence.threads:
        what = f"none of the {_counted(evidence.threads)} in the dump waits for random bytes"
    elif evidence.log is not None and evidence.log.starts:
        return "not entropy: the log shows a complete start, and no slow seeding in it"
    else:
        return "nothing here shows a wait for random bytes"
    return f"not entropy: {what}{_where_main_is(evidence)}"


def _where_main_is(evidence: SeedEvidence) -> str:
    frames = evidence.main.frames if evidence.main is not None else ()
    if not frames:
        return ""
    by = caller(frames)
    called = f", called by {visible(by)[:120]}" if by and by != frames[0].name else ""
    return f'; "main" is in {visible(frames[0].name)[:120]}{called}'


def _no_jvm(samples: StartSamples) -> str:
    whole = duration(samples.watched_ms)
    told = next((s.where for s in samples.table if s.doing is Doing.LAUNCH and s.where), "")
    went = f"; the time went to {visible(told)[:60]}" if told else ""
    left = samples.from_start and samples.ending is Ending.EXIT and not samples.target
    # Where no end was asked for, the command's is the watch's.
    behind = "; --for TIME follows one that it left in the background" if left else ""
    return f"no JVM came up in {whole}{went}{behind}"


def _watched(samples: StartSamples) -> str:
    whole = duration(samples.watched_ms)
    went = f"not entropy: {whole} {start_account.span(samples)}: {start_account.summary(samples)}"
    main = samples.table[0] if samples.table else None
    if main is not None and main.doing is samples.last is Doing.CPU:
        went += f'; "{visible(main.thread)[:60]}" is working'
    return f"{went}; no thread waited for random bytes" if not samples.waits else went


def _counted(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"
