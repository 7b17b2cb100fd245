from __future__ import annotations

from tests import facts_by_hand as by_hand

from seedstall.model.finding import Confidence, Severity
from seedstall.model.log import Observation, Observations
from seedstall.model.seeding import Algorithm, SeedRole
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedStacks
from seedstall.rules.ss401_prng_contention import prng_contention


def queued(count: int) -> SeedEvidence:
    waits = tuple(
        by_hand.dumped(f"pool-{n}", role=SeedRole.QUEUED, algorithm=Algorithm.NATIVE_PRNG)
        for n in range(count)
    )
    return SeedEvidence(queued=waits, threads=20, dumps=1)


def test_a_short_queue_is_a_note_that_says_the_owner_is_not_shown() -> None:
    (finding,) = prng_contention(SeedStacks(queued(2)))

    assert finding.severity is Severity.NOTE
    assert "owner is not shown" in finding.sentence


def test_a_long_queue_is_slow() -> None:
    (finding,) = prng_contention(SeedStacks(queued(9)))

    assert (finding.status, finding.cause) == (Status.SLOW, Cause.PRNG_CONTENTION)
    assert finding.severity is Severity.WARNING


def test_a_benchmark_without_a_stack_is_only_possible() -> None:
    told = Observation("prng-benchmark", "mail.txt", 12, "NativePRNG, 4 threads")

    (finding,) = prng_contention(SeedStacks(SeedEvidence(observations=Observations((told,)))))

    assert finding.confidence is Confidence.POSSIBLE
    assert finding.status is Status.UNKNOWN


def test_no_queue_is_clear() -> None:
    assert list(prng_contention(SeedStacks(SeedEvidence(threads=20, dumps=1)))) == []
