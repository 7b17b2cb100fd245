from __future__ import annotations

from dataclasses import replace

import pytest
from tests import facts_by_hand as by_hand

from seedstall.engine.case import Case
from seedstall.engine.run import run
from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.finding import (
    Clear,
    Confidence,
    Finding,
    Fired,
    Inconclusive,
    Outcome,
    Severity,
)
from seedstall.model.jvm import JvmProcess
from seedstall.model.kernel import CrngState, KernelRandom
from seedstall.model.tasks import Syscall
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules.ss103_crng_not_ready import crng_not_ready
from seedstall.source.base import Held, Source

READY = CrngState(ready=True, told_by="dmesg", excerpt="crng init done")
EARLY = CrngState(ready=False, told_by="probe/poll", excerpt="4", uptime_s=2.0)
LATE = CrngState(ready=False, told_by="dmesg", excerpt="no line", uptime_s=754.0)
INIT = decide(KernelEvidence(release="6.8.0-31-generic"))
POOL = decide(KernelEvidence(release="5.3.0-19-generic"))


def check(
    crng: CrngState, kernel: KernelRandom | None = INIT, seeds: SeedEvidence | None = None
) -> list[Finding]:
    return list(crng_not_ready(crng, kernel, seeds, None))


def waiting(wchan: str | None = None, call: Syscall | None = None) -> SeedEvidence:
    task = by_hand.task(wchan=wchan)
    if call is not None:
        task = replace(task, syscall=call, file=None)
    return SeedEvidence(waits=(SeedWait(task=task),), tasks=9)


def test_a_seeded_generator_is_clear_whoever_reads() -> None:
    assert check(READY) == []
    assert check(READY, INIT, waiting("__x64_sys_getrandom")) == []


def test_early_at_boot_it_is_a_note() -> None:
    (finding,) = check(EARLY)

    assert (finding.status, finding.cause) == (Status.AT_RISK, Cause.CRNG_NOT_READY)
    assert finding.severity is Severity.NOTE
    assert "2.0 s after boot" in finding.sentence


def test_long_after_boot_it_is_a_risk() -> None:
    (finding,) = check(LATE)

    assert finding.severity is Severity.WARNING
    assert any("egd does not cure" in note for note in finding.notes)


def test_where_the_pool_serves_the_device_a_jvm_is_not_concerned() -> None:
    (finding,) = check(LATE, POOL)

    assert (finding.status, finding.severity) == (Status.CLEAR, Severity.INFO)
    assert finding.cause is Cause.NONE


@pytest.mark.parametrize(
    "seeds",
    [
        waiting("wait_for_random_bytes.part.0"),
        waiting("__x64_sys_getrandom", Syscall(318, "getrandom", (0x7F, 16, 0))),
        waiting(None, Syscall(318, "getrandom", (0x7F, 16, 0))),
        waiting(None),  # in read(2) of the device, which waits only for the generator here
    ],
)
def test_a_thread_that_waits_for_it_is_stalled(seeds: SeedEvidence) -> None:
    (finding,) = check(EARLY, INIT, seeds)

    assert (finding.status, finding.severity) == (Status.STALLED, Severity.ERROR)
    assert finding.confidence is Confidence.CONFIRMED
    assert Cause.BLOCKING_SEED in finding.explains


def test_a_stack_alone_is_likely() -> None:
    (finding,) = check(EARLY, INIT, by_hand.seeds(by_hand.dumped()))

    assert finding.status is Status.STALLED
    assert finding.confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    "seeds",
    [
        waiting("_random_read.part.41"),
        waiting(None),
        waiting(None, Syscall(318, "getrandom", (0x7F, 16, 2))),  # GRND_RANDOM draws on the pool
        by_hand.seeds(by_hand.dumped()),
    ],
)
def test_a_thread_that_waits_for_the_pool_is_not_its(seeds: SeedEvidence) -> None:
    (finding,) = check(LATE, POOL, seeds)

    assert finding.status is Status.CLEAR


def test_on_a_kernel_with_the_pool_getrandom_waits_for_it() -> None:
    (finding,) = check(LATE, POOL, waiting("__x64_sys_getrandom"))

    assert finding.status is Status.STALLED


def test_several_are_counted() -> None:
    one = waiting("crng_wait_ready").waits[0]
    (finding,) = check(EARLY, INIT, SeedEvidence(waits=(one, one, one), tasks=3))

    assert "2 more likewise" in finding.sentence


def outcome(crng: CrngState | None) -> Outcome:
    def find_crng(source: Source) -> CrngState:
        if crng is None:
            raise Unavailable(Missing(Why.DENIED))
        return crng

    def find_kernel(source: Source) -> KernelRandom:
        return INIT

    def find_seeds(source: Source) -> SeedEvidence:
        raise Unavailable(Missing(Why.NOT_COLLECTED))

    def find_process(source: Source) -> JvmProcess:
        raise Unavailable(Missing(Why.NOT_COLLECTED))

    case = Case(Held({}), (find_crng, find_kernel, find_seeds, find_process))
    (only,) = run((crng_not_ready,), case)
    return only


def test_through_the_engine() -> None:
    assert isinstance(outcome(EARLY), Fired)
    assert isinstance(outcome(READY), Clear)
    assert isinstance(outcome(None), Inconclusive)
