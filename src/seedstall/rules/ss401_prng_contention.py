"""SS401: threads queue for one generator's lock."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.seeding import SeedRole
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedStacks, SeedWait
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies

QUEUE_THAT_COUNTS = 3
"""Fewer waiting threads in one dump are an ordinary moment of a busy program: a note."""


@rule("SS401", "prng-contention")
def prng_contention(stacks: SeedStacks) -> Iterator[Finding]:
    """Threads queue for the lock of one random generator.

    ## What it detects
    Threads ``BLOCKED`` (or waiting for class initialisation) in ``NativePRNG$RandomIO``, ``AbstractDrbg`` or
    ``SecureRandom.nextBytes`` while the lock's owner runs, or while the owner is not shown. A thread inside the
    seed read with a queue behind it is SS101's, which explains the queue. A text that measures NativePRNG with several
    threads is a hint of the same, without proof.

    ## Why it matters
    NativePRNG has one lock for the whole JVM: with many threads drawing random bytes it bounds the throughput, on
    any kernel and with any seed source.

    ## Fix
    In the code: one generator for each thread, SHA1PRNG or DRBG instances instead of NativePRNG. No seed
    source and no entropy daemon helps.
    """
    seeds = stacks.seeds
    if seeds.queued:
        yield _queue(seeds)
        return
    items = seeds.observations.items if seeds.observations is not None else ()
    told = next((o for o in items if o.kind == "prng-benchmark"), None)
    if told is not None:
        yield Finding(
            message="a text that measures contention on a generator's lock",
            sentence=(
                "the text measures threads that share NativePRNG's one lock; no thread dump shows it happening"
            ),
            cause=Cause.PRNG_CONTENTION,
            status=Status.UNKNOWN,
            severity=Severity.NOTE,
            confidence=Confidence.POSSIBLE,
            evidence=(Evidence(origin=f"{told.origin}:{told.line}", excerpt=told.excerpt),),
            notes=(
                "a thread dump taken while it is slow would show the queue and the lock's owner",
            ),
        )


def _queue(seeds: SeedEvidence) -> Finding:
    engine = account.engine(stack) if (stack := seeds.queued[0].stack) else "a generator"
    owners = [w for w in (*seeds.waits, *seeds.working) if w.role is not SeedRole.QUEUED]
    owner = (
        f"; {account.name_of(owners[0])} is at work in it" if owners else "; its owner is not shown"
    )
    many = len(seeds.queued) >= QUEUE_THAT_COUNTS
    return Finding(
        message=f"{len(seeds.queued)} threads queueing for {engine}",
        sentence=f"{_count(seeds)} for the lock of {engine}{owner}",
        cause=Cause.PRNG_CONTENTION,
        status=Status.SLOW,
        severity=Severity.WARNING if many else Severity.NOTE,
        confidence=_confidence(seeds, told=bool(owners or many)),
        evidence=tuple(
            Evidence(
                origin=_place(w),
                excerpt=f"{account.name_of(w)} at {w.stack.seed_frame if w.stack else '?'}",
            )
            for w in seeds.queued[:8]
        ),
        fixes=tuple(remedies.application_call("contention", None)),
        notes=tuple(_notes(seeds)),
    )


def _place(wait: SeedWait) -> str:
    """Where it stands. What was read from memory stands in no line."""
    if wait.dump is None or wait.java is None:
        return "thread dump"
    return f"{wait.dump.origin}:{wait.java.line}" if wait.java.line else wait.dump.origin


def _confidence(seeds: SeedEvidence, *, told: bool) -> Confidence:
    # In a dump that is not whole the thread they wait for may be one that seeds, in the part that was lost.
    return Confidence.LIKELY if told and not seeds.partial else Confidence.POSSIBLE


def _notes(seeds: SeedEvidence) -> Iterator[str]:
    if seeds.partial:
        yield (
            f"the dump is not whole ({seeds.partial}): the thread they queue behind may be one that waits for its seed"
        )
    yield "one generator for each thread ends the queue; neither egd nor entropy does"


def _count(seeds: SeedEvidence) -> str:
    return f"{len(seeds.queued)} threads queue" if len(seeds.queued) > 1 else "one thread queues"
