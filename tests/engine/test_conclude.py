from __future__ import annotations

from tests import facts_by_hand as by_hand

from seedstall.engine.conclude import conclude, explained
from seedstall.model.evidence import Missing, Why
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
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence

SEEN = SeedEvidence(threads=12, tasks=14, dumps=1, main=by_hand.thread())


def finding(**changes: object) -> Finding:
    values: dict[str, object] = {
        "message": "m",
        "sentence": "s",
        "cause": Cause.BLOCKING_SEED,
        "status": Status.STALLED,
        "severity": Severity.ERROR,
        "confidence": Confidence.CONFIRMED,
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def fired(code: str, *findings: Finding) -> Fired:
    return Fired(code, "name", findings, ())


CLEAR_101 = Clear("SS101", "blocking-seed")


def test_the_most_severe_and_most_confident_wins_and_names_the_others() -> None:
    stall = finding()
    queue = finding(cause=Cause.PRNG_CONTENTION, severity=Severity.WARNING, status=Status.SLOW)
    outcomes: tuple[Outcome, ...] = (fired("SS401", queue), fired("SS101", stall))

    verdict = conclude(outcomes, SEEN)

    assert (verdict.code, verdict.cause) == ("SS101", Cause.BLOCKING_SEED)
    assert verdict.also == (Cause.PRNG_CONTENTION,)


def test_what_was_seen_wins_over_what_may_come() -> None:
    risk = finding(status=Status.AT_RISK, severity=Severity.WARNING)
    seen = finding(
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        cause=Cause.THREADED_SEED,
    )

    verdict = conclude((fired("SS201", risk), fired("SS102", seen)), SEEN)

    assert verdict.code == "SS102"


def test_a_symptom_is_explained_by_its_cause() -> None:
    stall = finding(explains=(Cause.PRNG_CONTENTION,))
    queue = finding(cause=Cause.PRNG_CONTENTION, severity=Severity.NOTE)

    assert explained((fired("SS101", stall), fired("SS401", queue))) == {id(queue): "SS101"}


def test_nothing_found_with_evidence_is_clear_and_says_where_main_is() -> None:
    verdict = conclude((CLEAR_101,), SEEN)

    assert verdict.status is Status.CLEAR
    assert "none of its 14 threads" in verdict.sentence
    assert "java.io.FileInputStream.readBytes" in verdict.sentence


def test_nothing_found_because_nothing_was_seen_is_unknown() -> None:
    blind = Inconclusive("SS101", "blocking-seed", (Missing(Why.DENIED),))

    assert conclude((blind,), None).status is Status.UNKNOWN


def test_a_seeding_rule_that_failed_is_not_clear() -> None:
    failed = Crashed("SS101", "blocking-seed", "ValueError: x")

    assert conclude((failed,), SEEN).status is Status.UNKNOWN


def test_a_harmless_line_is_clear_with_its_cost() -> None:
    note = finding(
        status=Status.CLEAR,
        cause=Cause.NONE,
        severity=Severity.NOTE,
        cost_ms=412,
        startup_ms=9000,
        sentence="seeding took 412 ms: harmless",
    )

    verdict = conclude((fired("SS101", note),), SeedEvidence(log=by_hand.log(412, 9000)))

    assert (verdict.status, verdict.cause, verdict.cost_ms) == (Status.CLEAR, Cause.NONE, 412)
    assert verdict.sentence.endswith("harmless")


def test_what_holds_it_up_besides_is_to_be_mended_next() -> None:
    dear = finding(cause=Cause.DNS, confidence=Confidence.LIKELY, since_ms=60_000, sentence="d")
    cheap = finding(cause=Cause.CHILD, confidence=Confidence.LIKELY, since_ms=5_000, sentence="c")
    risk = finding(cause=Cause.MEMORY, status=Status.AT_RISK, severity=Severity.WARNING)
    verdict = conclude((fired("SS526", cheap), fired("SS521", dear), fired("SS538", risk)), SEEN)
    assert verdict.sentence == "d; mend that first, then other:child (SS526)"
