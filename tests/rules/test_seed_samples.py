"""What SS101 and SS510 say of a watched start."""

from __future__ import annotations

import dataclasses

import pytest
from tests.facts_by_hand import DEFAULT_SOURCE, JDK17, NO_POOL, POOL, dumped
from tests.samples_by_hand import MAIN, samples, wait

from seedstall.engine.conclude import conclude
from seedstall.model.finding import Clear, Finding, Fired, Outcome, Severity
from seedstall.model.samples import Doing, Ending, Share, StartSamples
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import FileKind, OpenFile
from seedstall.model.threads import Frame, JavaThread
from seedstall.model.verdict import Cause, Progress, Status
from seedstall.model.waits import SeedEvidence, SeedStacks
from seedstall.rules import seed_samples, start_account
from seedstall.rules.seed_account import Surroundings
from seedstall.rules.ss101_blocking_seed import blocking_seed
from seedstall.rules.ss102_threaded_seed import threaded_seed
from seedstall.rules.ss510_time_spent_elsewhere import time_spent_elsewhere


def seeding(told: StartSamples, **more: object) -> list[Finding]:
    seeds = SeedEvidence(samples=told, **more)  # type: ignore[arg-type]
    return list(blocking_seed(seeds, POOL, DEFAULT_SOURCE, JDK17, None, None, None, None, None))


def test_a_start_that_lost_most_of_its_time_says_so_in_the_issues_words() -> None:
    told = samples((Doing.RANDOM, 13_200), (Doing.CPU, 1_400), waits=[wait(13_200)])
    (one,) = seeding(told)
    assert "13.2 s of 14.6 s (90 %) from launch to its end waiting for random bytes" in one.sentence
    assert '"main" in read of /dev/random (fd 4)' in one.sentence
    assert (one.status, one.cause, one.severity) == (
        Status.SLOW,
        Cause.BLOCKING_SEED,
        Severity.WARNING,
    )
    assert (one.cost_ms, one.startup_ms) == (13_200, 14_600)
    assert one.share == pytest.approx(0.904, abs=0.001)
    assert one.fixes


def test_the_stack_of_the_stall_stands_in_the_evidence_though_it_is_over() -> None:
    seen = dumped()
    assert seen.java is not None
    over = dataclasses.replace(seen, java=dataclasses.replace(seen.java, nid=MAIN))
    told = samples((Doing.RANDOM, 3_000), waits=[wait(3_000)], dumped=True)
    (one,) = seeding(told, over=(over,))
    assert "Tomcat session ids" in one.sentence
    assert any("FileInputStream" in piece.excerpt for piece in one.evidence)


def test_up_to_a_second_is_harmless() -> None:
    (one,) = seeding(samples((Doing.RANDOM, 900), (Doing.CPU, 100), waits=[wait(900)]))
    assert (one.status, one.severity, one.cause) == (Status.CLEAR, Severity.NOTE, Cause.NONE)
    assert "harmless" in one.sentence


def test_a_program_killed_in_its_wait_has_ended_of_it() -> None:
    last = wait(500, over=False, ended=True)
    told = samples((Doing.RANDOM, 500), waits=[last], ending=Ending.KILLED)
    (one,) = seeding(told)
    assert (one.status, one.severity) == (Status.ENDED, Severity.ERROR)
    assert "was ended while it waited" in one.sentence


def test_a_program_that_its_wrapper_ended_in_its_wait_did_not_go_on() -> None:
    """``timeout 3 java ...`` exits with 124 by itself: no signal is seen."""
    last = wait(2_000, over=False, ended=True)
    told = samples((Doing.RANDOM, 2_000), waits=[last], exit_code=124)
    (one,) = seeding(told)
    assert (one.status, one.severity) == (Status.ENDED, Severity.ERROR)
    assert "from launch to its end (exit code 124)" in one.sentence
    assert "was last seen waiting when it ended" in one.sentence


def test_code_of_the_programs_own_that_read_the_device_is_not_sent_to_egd() -> None:
    """Whether or not it has ended: no frame of its stack is a generator's, the samples say what it read."""
    caught = Share(
        doing=Doing.RANDOM, ms=3_000, tid=MAIN, thread="main", frame="java.io.FileInputStream.read0"
    )
    told = samples((Doing.RANDOM, 3_000), waits=[wait(3_000)], dumped=True, table=(caught,))
    main = JavaThread("main", (Frame("com.foo.Own", "read"),), nid=MAIN)
    (one,) = seeding(told, main=main)
    assert "com.foo.Own.read, which reads the device itself" in one.sentence
    assert {fix.surface for fix in one.fixes} <= {"rngd", "application-call"}
    assert any("no setting of the JDK's generators" in note for note in one.notes)


@pytest.mark.parametrize(
    ("target", "ending", "code", "words"),
    [
        ("'up'", Ending.EXIT, 0, "from launch to its end ('up' was not printed)"),
        ("'up'", Ending.EXIT, 1, "from launch to its end (exit code 1; 'up' was not printed)"),
        ("port 80", Ending.KILLED, 137, "until a signal ended it (port 80 did not listen)"),
        ("port 80", Ending.TIME, None, "from launch on (port 80 did not listen)"),
        ("'up'", Ending.UNTIL, None, "from launch to 'up'"),
        ("", Ending.EXIT, 3, "from launch to its end (exit code 3)"),
        ("", Ending.EXIT, None, "from launch to its end"),
    ],
)
def test_the_end_that_did_not_come_is_told(
    target: str, ending: Ending, code: int | None, words: str
) -> None:
    """A mistyped --until would else read as a start that was quick."""
    told = samples((Doing.CPU, 500), target=target, ending=ending, exit_code=code)
    assert start_account.span(told).endswith(words)


def test_a_wait_that_lasts_is_stalled_though_no_thread_can_be_seen_now() -> None:
    told = samples((Doing.RANDOM, 2_000), waits=[wait(2_000, over=False)], ending=Ending.TIME)
    (one,) = seeding(told)
    assert (one.status, one.progress) == (Status.STALLED, Progress.STUCK)


def test_a_wait_beside_the_start_costs_it_nothing() -> None:
    (one,) = seeding(samples((Doing.CPU, 5_000), waits=[wait(3_000)]))
    assert one.severity is Severity.NOTE
    assert "beside a start that went on" in one.sentence
    assert one.cost_ms == 0


def test_another_program_than_the_jvm_is_told_as_such_and_what_the_device_is() -> None:
    other = dataclasses.replace(
        wait(5_000, jvm=False), name="openssl", file=OpenFile(3, "/dev/random", FileKind.FIFO)
    )
    (one,) = seeding(samples((Doing.RANDOM, 5_000), waits=[other]))
    assert '"openssl" (not the JVM)' in one.sentence
    assert "is a fifo" in one.sentence
    assert [fix.surface for fix in one.fixes] == [], "egd is no matter of openssl's"
    assert any("no setting of this JVM reaches that program" in note for note in one.notes)
    (pool,) = seeding(samples((Doing.RANDOM, 5_000), waits=[wait(5_000, jvm=False)]))
    assert {fix.surface for fix in pool.fixes} == {"rngd"}
    assert any(piece.origin == f"/proc/{MAIN}/syscall" for piece in pool.evidence)


def test_no_wait_no_finding() -> None:
    assert seeding(samples((Doing.CPU, 5_000))) == []
    assert list(seed_samples.from_samples(SeedEvidence(), Surroundings())) == []


def test_what_was_not_a_start_has_no_cost_and_no_share() -> None:
    told = samples((Doing.RANDOM, 5_000), waits=[wait(5_000)], from_start=False)
    (one,) = seeding(told)
    assert (one.cost_ms, one.startup_ms) == (None, None)


# --- elsewhere -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("doing", "cause"),
    [
        (Doing.CONNECT, Cause.CONNECT),
        (Doing.DNS, Cause.DNS),
        (Doing.THROTTLED, Cause.CPU_THROTTLED),
        (Doing.DISK, Cause.IO),
        (Doing.GC, Cause.GC),
        (Doing.SLEEPING, Cause.WAITING),
        (Doing.WAITING, Cause.WAITING),
        (Doing.NETWORK, Cause.WAITING),
        (Doing.CHILD, Cause.CHILD),
        (Doing.LAUNCH, Cause.CHILD),
        (Doing.STOPPED, Cause.STOPPED),
    ],
)
def test_a_start_that_went_elsewhere_is_said_not_to_be_entropy(doing: Doing, cause: Cause) -> None:
    (one,) = time_spent_elsewhere(samples((doing, 9_000), (Doing.CPU, 1_000)))
    assert one.sentence.startswith("not entropy: 9.0 s of 10.0 s (90 %) from launch to its end")
    assert str(doing) in one.sentence
    assert (one.cause, one.status, one.severity) == (cause, Status.SLOW, Severity.WARNING)
    assert one.cost_ms == 9_000


@pytest.mark.parametrize(
    "doing", [Doing.CPU, Doing.QUEUED, Doing.ACCEPT, Doing.OTHER, Doing.UNSEEN]
)
def test_work_and_idling_are_no_findings(doing: Doing) -> None:
    assert list(time_spent_elsewhere(samples((doing, 9_000), (Doing.CPU, 1_000)))) == []


def test_seeding_comes_first() -> None:
    told = samples((Doing.RANDOM, 9_000), (Doing.THROTTLED, 4_000), waits=[wait(9_000)])
    assert list(time_spent_elsewhere(told)) == []


def test_below_a_second_or_half_of_it_nothing_is_said() -> None:
    assert list(time_spent_elsewhere(samples((Doing.SLEEPING, 900)))) == []
    assert list(time_spent_elsewhere(samples((Doing.SLEEPING, 4_000), (Doing.CPU, 6_000)))) == []
    (one,) = time_spent_elsewhere(samples((Doing.THROTTLED, 3_000), (Doing.CPU, 7_000)))
    assert one.cause is Cause.CPU_THROTTLED


@pytest.mark.parametrize("ending", [Ending.TIME, Ending.KILLED])
def test_a_server_that_waits_all_day_is_not_slow(ending: Ending) -> None:
    """Stopped by Ctrl-C, or watched for a while: nobody said that this was its start."""
    told = samples((Doing.WAITING, 60_000), ending=ending)
    assert list(time_spent_elsewhere(told)) == []


def test_a_connection_that_is_not_answered_now_is_a_stall() -> None:
    told = samples((Doing.CONNECT, 9_000), ending=Ending.TIME, from_start=False, last=Doing.CONNECT)
    (one,) = time_spent_elsewhere(told)
    assert (one.status, one.severity, one.cost_ms) == (Status.STALLED, Severity.ERROR, None)
    assert "it still is" in one.sentence


def test_where_no_jvm_came_up_there_is_no_start() -> None:
    assert list(time_spent_elsewhere(samples((Doing.LAUNCH, 9_000), jvm=False))) == []


# --- the verdict -----------------------------------------------------------------------------------------------------


def verdict_of(told: StartSamples) -> tuple[Status, str]:
    seeds = SeedEvidence(samples=told)
    outcomes: list[Outcome] = []
    for code, found in (("SS101", seeding(told)), ("SS510", list(time_spent_elsewhere(told)))):
        outcomes.append(Fired(code, code, tuple(found), ()) if found else Clear(code))
    verdict = conclude(outcomes, seeds)
    return verdict.status, verdict.sentence


def test_a_healthy_start_is_clear_and_told_in_shares() -> None:
    status, sentence = verdict_of(samples((Doing.CPU, 1_200), (Doing.QUEUED, 300)))
    assert status is Status.CLEAR
    assert sentence == (
        "not entropy: 1.5 s from launch to its end: 1.2 s on CPU (80 %), 300 ms queueing for a CPU (20 %);"
        " no thread waited for random bytes"
    )


def test_a_thread_that_works_is_said_to_work() -> None:
    told = samples((Doing.CPU, 9_000), from_start=False, ending=Ending.TIME, last=Doing.CPU)
    assert '"main" is working' in verdict_of(told)[1]


def test_calls_that_may_not_be_seen_are_not_clear() -> None:
    status, sentence = verdict_of(samples((Doing.UNSEEN, 5_000), visible=False))
    assert status is Status.UNKNOWN
    assert "run as root or as its user" in sentence


def test_no_jvm_is_unknown_and_says_where_it_stood() -> None:
    curl = Share(doing=Doing.LAUNCH, ms=5_000, where="curl")
    told = dataclasses.replace(samples((Doing.LAUNCH, 5_000), jvm=False), table=(curl,))
    status, sentence = verdict_of(told)
    assert status is Status.UNKNOWN
    assert sentence == (
        "no JVM came up in 5.0 s; the time went to curl;"
        " --for TIME follows one that it left in the background"
    )
    told = dataclasses.replace(told, ending=Ending.TIME)
    assert verdict_of(told)[1] == "no JVM came up in 5.0 s; the time went to curl"


def test_a_kernel_that_never_blocks_does_not_undo_what_was_seen() -> None:
    seeds = SeedEvidence(samples=samples((Doing.RANDOM, 5_000), waits=[wait(5_000)]))
    (one,) = blocking_seed(seeds, NO_POOL, DEFAULT_SOURCE, JDK17, None, None, None, None, None)
    assert one.cause is Cause.BLOCKING_SEED


def test_a_threaded_seeding_that_is_over_is_told_with_its_share() -> None:
    """Only its thread's life is known: the thread that waits for it wakes at each byte."""
    waited = dumped(role=SeedRole.THREADED)
    told = samples((Doing.WAITING, 5_300), (Doing.CPU, 700), threaded_ms=5_200, dumped=True)
    seeds = SeedEvidence(samples=told, over=(waited,))
    (one,) = threaded_seed(SeedStacks(seeds), DEFAULT_SOURCE, JDK17, None, None)
    assert (one.status, one.cause) == (Status.SLOW, Cause.THREADED_SEED)
    assert "waited for the JDK's threaded seeder" in one.sentence
    assert "5.2 s of 6.0 s (87 %) from launch to its end went to it" in one.sentence
    assert one.cost_ms == 5_200
    assert Cause.WAITING in one.explains, "SS510 sees the same wait"
