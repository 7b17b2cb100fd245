from __future__ import annotations

from dataclasses import replace

import pytest
from tests import facts_by_hand as by_hand

from seedstall.model.finding import Confidence, Finding, Severity, When
from seedstall.model.log import SeedingLine, ServerLog, StartLine
from seedstall.model.seeding import SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence
from seedstall.rules import seed_log
from seedstall.rules.seed_account import Surroundings


def seeding(line: int, took_ms: int, origin: str = "catalina.out") -> SeedingLine:
    return SeedingLine(origin, line, took_ms, "SHA1PRNG", excerpt=f"took [{took_ms}]")


def start(line: int, took_ms: int, origin: str = "catalina.out") -> StartLine:
    return StartLine(origin, line, took_ms, f"startup in {took_ms} ms")


def found(log: ServerLog, around: Surroundings | None = None) -> list[Finding]:
    return list(seed_log.from_log(SeedEvidence(log=log), around or Surroundings(), []))


def test_the_last_start_decides_and_an_earlier_bad_one_is_a_note() -> None:
    log = ServerLog((seeding(5, 386_690),), (start(6, 410_675), start(40, 2_700)))

    (finding,) = found(log)

    assert (finding.status, finding.cause, finding.severity) == (
        Status.CLEAR,
        Cause.NONE,
        Severity.NOTE,
    )
    assert "2.7 s" in finding.sentence
    assert "6 min 26 s" in finding.sentence


def test_a_bad_last_start_is_slow_whatever_was_before() -> None:
    log = ServerLog((seeding(5, 120), seeding(30, 90_000)), (start(6, 2_000), start(31, 95_000)))

    (finding,) = found(log)

    assert (finding.status, finding.cost_ms, finding.startup_ms) == (Status.SLOW, 90_000, 95_000)


def test_parallel_seedings_of_one_start_count_once() -> None:
    log = ServerLog((seeding(5, 60_000), seeding(6, 61_000)), (start(7, 70_000),))

    (finding,) = found(log)

    assert finding.cost_ms == 61_000


def test_a_start_shorter_than_its_seeding_is_not_its_start() -> None:
    (finding,) = found(ServerLog((seeding(5, 386_690),), (start(6, 2_675),)))

    assert finding.startup_ms is None
    assert finding.share is None


def test_two_logs_are_two_series() -> None:
    log = ServerLog(
        (seeding(5, 60_000, "a.out"),), (start(6, 70_000, "a.out"), start(6, 2_000, "b.out"))
    )

    (finding,) = found(log)

    assert finding.status is Status.SLOW


def test_nothing_waits_any_more_so_nothing_is_freed_now() -> None:
    log = ServerLog((seeding(5, 60_000),), (start(6, 70_000),))

    (finding,) = found(log, Surroundings(kernel=by_hand.POOL))

    assert {fix.when for fix in finding.fixes} == {When.NEXT_START}


@pytest.mark.parametrize(
    ("value", "both"), [("file:/dev/random", False), (None, True)], ids=["egd known", "unknown"]
)
def test_a_known_seed_source_decides_between_device_and_threaded_seeder(
    value: str | None, *, both: bool
) -> None:
    source = SeedSource(value, SeedSetting.GIVEN, "--egd") if value else None
    log = ServerLog((seeding(5, 5_300),), (start(6, 9_000),))

    (finding,) = found(log, Surroundings(kernel=by_hand.POOL, source=source))

    assert ("threaded seeder" in finding.sentence) is both
    assert finding.confidence is (Confidence.POSSIBLE if both else Confidence.CONFIRMED)


def test_a_value_in_force_is_not_recommended_again() -> None:
    source = SeedSource("file:/dev/urandom", SeedSetting.EGD, "cmdline")
    around = Surroundings(jdk=by_hand.JDK17, source=source)

    (finding,) = found(ServerLog((seeding(5, 60_000),)), around)

    assert finding.fixes == ()
    assert finding.confidence is Confidence.POSSIBLE
    assert any("already" in note for note in finding.notes)


def test_a_stack_in_the_same_text_confirms_what_the_line_says() -> None:
    wait = replace(by_hand.dumped(), dump=None)
    log = ServerLog((seeding(5, 60_000),))

    (finding,) = seed_log.from_log(SeedEvidence(log=log), Surroundings(), [wait])

    assert finding.confidence is Confidence.CONFIRMED
