"""SS102: the JDK fell back to its threaded seeder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from seedstall.knowledge.seeding import right_egd
from seedstall.model.core import CoreDump
from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import JvmProcess, Product
from seedstall.model.log import Observation
from seedstall.model.rule import rule
from seedstall.model.samples import StartSamples
from seedstall.model.security import SeedFile
from seedstall.model.seeding import SeedRole, SeedSource, SeedStack
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedStacks, SeedWait
from seedstall.rules import now_remedies as now
from seedstall.rules import seed_account as account
from seedstall.rules import seed_log, seed_samples
from seedstall.rules import seed_remedies as remedies
from seedstall.rules import start_account as start
from seedstall.rules.seed_account import Surroundings

HARMLESS_MS = 1000
DEVICES = ("/dev/random", "/dev/urandom")


@rule("SS102", "threaded-seed")
def threaded_seed(
    stacks: SeedStacks,
    source: SeedSource | None,
    jdk: JdkVersion | None,
    product: Product | None,
    process: JvmProcess | None,
    core: CoreDump | None = None,
    file: SeedFile | None = None,
) -> Iterator[Finding]:
    """The JDK fell back to its threaded seeder, which needs no device and about 250 ms a byte.

    ## What it detects
    A thread that waits in ``SeedGenerator$ThreadedSeedGenerator.getSeedByte``, or a slow seeding line of a JVM
    whose seed URL cannot be opened: no ``file:`` before the path, a file that is not there, a missing device
    node, a missing ``conf/security/java.security``.

    ## Why it matters
    It costs 5.0-5.8 s (SHA1PRNG) or 8.0-8.7 s (DRBG) at every start on every kernel, and no entropy daemon
    helps: there is no entropy in it.

    ## Fix
    Correct the URL (``file:/dev/urandom``), or give the program its device node. Do not add entropy.
    """
    seeds = stacks.seeds
    threaded = [w for w in seeds.waits if w.role is SeedRole.THREADED]
    pid = process.pid if process is not None else None
    inside = process is not None and process.in_container
    around = Surroundings(None, source, jdk, product, pid, core=core, in_container=inside)
    cures = partial(_cures, file=file)
    told = seed_log.threaded_seeder_told(seeds)
    if threaded:
        yield _seen(threaded, len(seeds.queued), around, cures)
    elif seeds.samples is not None and (over := _over(seeds)) is not None:
        yield _went_on(over, around, seeds.samples, cures)
    elif told is not None or (source is not None and ":" not in source.value):
        yield from _by_log(seeds, told, around, cures)


_Cures: TypeAlias = Callable[[SeedStack | None, Surroundings], tuple[Fix, ...]]


def _cures(
    stack: SeedStack | None, around: Surroundings, *, file: SeedFile | None
) -> tuple[Fix, ...]:
    """The device node, where that is what is missing; else a URL that the JDK can open."""
    egd = remedies.egd_fixes(stack, around.jdk, around.product)
    source = around.source
    device = file is not None and file.path in DEVICES and file.readable is False
    if file is None or source is None or not device:
        return egd
    node = remedies.device_node(file.path, container=around.in_container)
    # Where the URL is what it should be, no other one is better: the device is what is missing.
    right = source.value == right_egd(around.jdk).value
    return (node,) if right else (node, *egd)


def _why(source: SeedSource | None) -> str:
    if source is None or source.assumed:
        return "its seed URL could not be opened (which one it is does not stand in the evidence: --egd VALUE)"
    if source.value == "":
        return f"no seed source is set ({source.place})"
    if ":" not in source.value:
        return f"the seed source {source.value!r} ({source.place}) has no file: before the path"
    return f"the seed source {source.value!r} ({source.place}) could not be opened"


def _seen(waits: list[SeedWait], queued: int, around: Surroundings, cures: _Cures) -> Finding:
    wait, source = waits[0], around.source
    evidence = [e for w in waits[:3] for e in account.evidence_of(w, around.pid, around.core)]
    if source is not None and not source.assumed:
        evidence.extend(account.source_evidence(around))
    queue = f"; {queued} more queue behind it" if queued else ""
    return Finding(
        message=f"{account.name_of(wait)} waiting for the JDK's threaded seeder",
        sentence=(
            f"{account.name_of(wait)} waits for the JDK's threaded seeder (5-9 s, no entropy involved)"
            f"{account.purpose(wait.stack)}; {_why(source)}{queue}"
        ),
        cause=Cause.THREADED_SEED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED,
        evidence=tuple(evidence),
        fixes=(
            now.wait_for_it("it goes on by itself", "5 to 9 s after it began, at every start"),
            *cures(wait.stack, around),
        ),
        notes=(
            "adding entropy does not help: this seeder reads no device",
            right_egd(around.jdk).why,
        ),
        explains=(
            Cause.THREADED_SEED,
            Cause.PRNG_CONTENTION,
            Cause.INEFFECTIVE_FIX,
            Cause.HARMFUL_FIX,
        ),
        since_ms=wait.since_ms,
    )


def _over(seeds: SeedEvidence) -> SeedWait | None:
    """A wait for it that a dump shows, and that a watched start has behind it."""
    return next((w for w in seeds.over if w.role is SeedRole.THREADED), None)


def _went_on(wait: SeedWait, around: Surroundings, samples: StartSamples, cures: _Cures) -> Finding:
    seen = _seen([wait], 0, around, cures)
    cost = samples.threaded_ms if samples.from_start else None
    share = f"; {start.of_whole(samples, cost)} {start.span(samples)} went to it" if cost else ""
    return replace(
        seen,
        message=f"{account.name_of(wait)} that waited for the JDK's threaded seeder",
        sentence=seen.sentence.replace(" waits for ", " waited for ", 1) + "; it went on" + share,
        status=Status.SLOW,
        severity=Severity.WARNING,
        fixes=seen.fixes[1:],
        explains=(*seen.explains, Cause.WAITING, Cause.APPLICATION),
        since_ms=None,
        cost_ms=cost,
        startup_ms=seed_samples.startup_ms(samples),
    )


def _by_log(
    seeds: SeedEvidence, told: Observation | None, around: Surroundings, cures: _Cures
) -> Iterator[Finding]:
    """A slow seeding line of a JVM of which the text or the setting says that its seeder is the threaded one."""
    lines = [s for s in seeds.log.seeding if s.took_ms > HARMLESS_MS] if seeds.log else []
    line = max(lines, key=lambda entry: entry.took_ms, default=None)
    if line is None and told is None:
        return
    took = f"seeding took {duration(line.took_ms)} by" if line else "seeding is done by"
    evidence = [
        Evidence(origin=f"{e.origin}:{e.line}", excerpt=e.excerpt) for e in (line, told) if e
    ]
    if around.source is not None and not around.source.assumed:
        evidence.extend(account.source_evidence(around))
    yield Finding(
        message="a slow seeding with a seed URL that cannot be opened",
        sentence=f"{took} the JDK's threaded seeder (no entropy involved): {_why(around.source)}",
        cause=Cause.THREADED_SEED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.CONFIRMED if line and told else Confidence.LIKELY,
        evidence=tuple(evidence),
        fixes=cures(
            None, replace(around, product=around.product or remedies.product_of(seeds.log))
        ),
        notes=("adding entropy does not help: this seeder reads no device",),
        explains=(Cause.THREADED_SEED, Cause.HARMFUL_FIX, Cause.INEFFECTIVE_FIX),
        cost_ms=line.took_ms if line else None,
        startup_ms=seeds.log.starts[-1].took_ms if seeds.log and seeds.log.starts else None,
    )
