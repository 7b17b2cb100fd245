"""SS201: the settings and the kernel say that the next seed waits."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.egd import strong_advice
from seedstall.knowledge.products import NEW, Asks, asked
from seedstall.knowledge.seeding import behaviour, right_egd
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, Product
from seedstall.model.kernel import BlockingModel, KernelRandom, PoolState
from seedstall.model.redact import redact, visible
from seedstall.model.rule import rule
from seedstall.model.security import FipsProvider, FipsSetup, SeedFile
from seedstall.model.seeding import (
    Algorithm,
    Behaviour,
    Device,
    SeedRole,
    SeedSetting,
    SeedSource,
)
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies


def may_block(kernel: KernelRandom) -> bool:
    """On a kernel whose device does not block after boot no setting makes a start wait."""
    return kernel.can_block is not False


@rule("SS201", "seed-source-will-block", when=may_block)
def seed_source_will_block(
    source: SeedSource,
    jdk: JdkVersion,
    kernel: KernelRandom,
    product: Product | None,
    launch: Launch | None,
    file: SeedFile | None,
    seeds: SeedEvidence | None,
    fips: FipsSetup | None = None,
) -> Iterator[Finding]:
    """The JVM's seed source is a device that blocks on this kernel, and this program draws from it.

    ## What it detects
    A kernel with a blocking pool, an effective seed source (``java.security.egd``, else ``securerandom.source``) that
    ends at ``/dev/random``, and a generator that seeds from it: the one that the program is known to take (Tomcat's
    session ids take SHA1PRNG on every JDK, ``jarsigner -tsa`` up to 8), or ``new SecureRandom()`` itself where the
    source is spelled so that it blocks (``file:/dev/./random``; ``file:/dev/random`` on 6 and 7). It is silent while a
    thread waits already: SS101 tells that.

    ## Why it matters
    It has not waited yet, or its wait is over. The next start draws the seed again, and finds the pool as it is then.

    ## Fix
    The seed source that is right for the JDK: ``file:/dev/urandom`` from 8 on, ``file:/dev/./urandom`` on 6 and 7. An
    entropy daemon or a newer kernel helps every program of the host.
    """
    if seeds is not None and any(wait.role is SeedRole.READING for wait in seeds.waits):
        return
    if fips is not None and fips.active and fips.provider is not FipsProvider.BOUNCY_CASTLE:
        return  # that module makes the bytes: no generator of SUN is there to wait
    readable = file.readable if file is not None else None
    for asks in asked(product, launch, jdk):
        told = behaviour(
            jdk,
            source.value,
            asks.instance,
            asks.operation,
            strong=source.strong_algorithms,
            readable=readable,
        )
        if told.can_block and told.device is Device.RANDOM:
            around = account.Surroundings(kernel, source, jdk, product, fips=fips)
            yield _finding(asks, told, around, source, jdk, kernel)
            return


def _finding(
    asks: Asks,
    told: Behaviour,
    around: account.Surroundings,
    source: SeedSource,
    jdk: JdkVersion,
    kernel: KernelRandom,
) -> Finding:
    product = around.product
    set_here = asks is NEW and source.setting in (SeedSetting.EGD, SeedSetting.GIVEN)
    severity, confidence = _weight(asks, source, kernel)
    refused = "" if told.egd_helps else remedies.strong_refused(None, around)
    return Finding(
        message="a seed source that blocks on this kernel",
        sentence=_sentence(asks, told, around),
        cause=Cause.HARMFUL_FIX if set_here else Cause.BLOCKING_SEED,
        status=Status.AT_RISK,
        severity=severity,
        confidence=confidence,
        evidence=(
            *account.source_evidence(around),
            *account.kernel_evidence(around),
            *_program(product, asks),
        ),
        fixes=remedies.egd_fixes(None, jdk, product)
        if told.egd_helps
        else (() if refused else (remedies.strong(),)),
        notes=(
            right_egd(jdk).why if told.egd_helps else refused or strong_advice().why,
            *_feeders(kernel),
            *filter(None, (told.doubt,)),
        ),
    )


def _sentence(asks: Asks, told: Behaviour, around: account.Surroundings) -> str:
    name = around.product.title if around.product is not None and asks is not NEW else "this JVM"
    seeds = told.algorithm in (Algorithm.SHA1PRNG, Algorithm.DRBG)
    draws = f"seeds {told.algorithm}" if seeds else f"takes {told.algorithm}.{asks.operation}"
    source = around.source
    where = (
        f" (seed source {visible(redact(source.value))!r}, {visible(source.place)})"
        if source
        else ""
    )
    if asks is NEW:
        what = f"{name}'s new SecureRandom() reads /dev/random{where}"
    else:
        what = f"{visible(name)[:80]} {draws} from /dev/random{where}"
    return f"{what}; {account.kernel_clause(around.kernel)}, so the next start may wait"


def _weight(asks: Asks, source: SeedSource, kernel: KernelRandom) -> tuple[Severity, Confidence]:
    """A full or fed pool makes it a note; a dry one, with settings that were read, makes it likely."""
    if kernel.model is not BlockingModel.BLOCKING_POOL:
        return Severity.NOTE, Confidence.POSSIBLE
    fed = any("fed by the kernel" in feeder for feeder in kernel.feeders)
    if fed or kernel.state is PoolState.OK:
        return Severity.NOTE, Confidence.POSSIBLE
    sure = asks.sure and not source.assumed and kernel.state is PoolState.AT_RISK
    return Severity.WARNING, Confidence.LIKELY if sure else Confidence.POSSIBLE


def _program(product: Product | None, asks: Asks) -> Iterator[Evidence]:
    if product is not None and asks is not NEW:
        yield Evidence(origin=f"program ({visible(product.told_by)[:120]})", excerpt=asks.why)


def _feeders(kernel: KernelRandom) -> Iterator[str]:
    if kernel.feeders:
        yield f"the pool is fed: {', '.join(map(visible, kernel.feeders))}"
