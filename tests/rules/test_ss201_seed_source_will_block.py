"""SS201 fires where program, source and kernel agree, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.facts.jvms_by_hand import running
from tests.facts_by_hand import DEFAULT_SOURCE, JDK7, JDK8, JDK17, NO_POOL, POOL, dumped, seeds
from tests.rules.kernels_by_hand import no_seeds, with_nothing_else

from seedstall.engine.case import Case
from seedstall.engine.run import run
from seedstall.facts import jvm, process
from seedstall.knowledge.products import BY_KEY
from seedstall.model.finding import Clear, Confidence, Finding, Inconclusive, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, Product
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom, PoolState
from seedstall.model.seeding import SeedRole, SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence
from seedstall.rules.ss201_seed_source_will_block import may_block, seed_source_will_block
from seedstall.source.base import Held, Source

TOMCAT = Product("tomcat", "Apache Tomcat", ("tomcat-setenv", "java-opts"), "main class Bootstrap")
JARSIGNER = Product("jarsigner", "jarsigner", ("jarsigner",), "program jarsigner")
OTHER = Product("java", "app.jar")
STAMP = Launch("jarsigner", tool="jarsigner", program=("-tsa", "http://tsa", "a.jar", "k"))
UNKNOWN = KernelRandom(BlockingModel.UNKNOWN, Certainty.LOW, "nothing is known")


def source(value: str, setting: SeedSetting = SeedSetting.EGD) -> SeedSource:
    return SeedSource(value, setting, "cmdline[1]", "NativePRNGBlocking:SUN,DRBG:SUN")


def findings(
    seed: SeedSource = DEFAULT_SOURCE,
    jdk: JdkVersion = JDK17,
    kernel: KernelRandom = POOL,
    product: Product | None = TOMCAT,
    launch: Launch | None = None,
    evidence: SeedEvidence | None = None,
) -> list[Finding]:
    return list(seed_source_will_block(seed, jdk, kernel, product, launch, None, evidence))


@pytest.mark.parametrize("jdk", [JDK7, JDK8, JDK17])
def test_a_tomcat_on_a_dry_pool(jdk: JdkVersion) -> None:
    seed = source("file:/dev/urandom") if jdk is JDK7 else DEFAULT_SOURCE
    (found,) = findings(seed, jdk)
    assert (found.cause, found.status) == (Cause.BLOCKING_SEED, Status.AT_RISK)
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.LIKELY)
    assert "Apache Tomcat seeds SHA1PRNG from /dev/random" in found.sentence
    assert found.fixes[0].surface == "tomcat-setenv"
    assert {e.origin for e in found.evidence} >= {seed.place, "kernel"}


def test_the_right_value_cures_it() -> None:
    assert findings(source("file:/dev/urandom")) == []
    assert findings(source("file:/dev/./urandom"), JDK7) == []


def test_a_program_that_is_not_known_to_ask_is_left_alone() -> None:
    assert findings(product=OTHER) == []
    assert findings(product=None) == []


@pytest.mark.parametrize(
    ("jdk", "value"),
    [(JDK17, "file:/dev/./random"), (JDK8, "file:///dev/random"), (JDK7, "file:/dev/random")],
)
def test_a_spelling_that_makes_the_default_block_is_everybodys(jdk: JdkVersion, value: str) -> None:
    (found,) = findings(source(value), jdk, product=OTHER)
    assert found.cause is Cause.HARMFUL_FIX
    assert "new SecureRandom()" in found.sentence


def test_jarsigner_asks_for_a_time_stamp_only_and_up_to_8() -> None:
    (found,) = findings(jdk=JDK8, product=JARSIGNER, launch=STAMP)
    assert found.confidence is Confidence.POSSIBLE
    assert found.fixes[0].surface == "jarsigner"
    plain = Launch("jarsigner", tool="jarsigner", program=("a.jar", "k"))
    assert findings(jdk=JDK8, product=JARSIGNER, launch=plain) == []
    assert findings(jdk=JDK17, product=JARSIGNER, launch=STAMP) == []


def test_generate_seed_of_the_default_is_asked_for_by_gerrit() -> None:
    assert BY_KEY["gerrit"].asks is not None
    (found,) = findings(product=Product("gerrit", "Gerrit"))
    assert "takes NativePRNG.generateSeed from /dev/random" in found.sentence


def test_while_a_thread_waits_it_is_silent() -> None:
    assert findings(evidence=seeds(dumped())) == []
    assert findings(evidence=seeds(dumped(role=SeedRole.QUEUED))) != []


@pytest.mark.parametrize(
    ("kernel", "severity", "confidence"),
    [
        (POOL, Severity.WARNING, Confidence.LIKELY),
        (replace(POOL, state=PoolState.LOW), Severity.WARNING, Confidence.POSSIBLE),
        (replace(POOL, state=PoolState.UNKNOWN), Severity.WARNING, Confidence.POSSIBLE),
        (replace(POOL, state=PoolState.OK, entropy_avail=3000), Severity.NOTE, Confidence.POSSIBLE),
        (
            replace(POOL, feeders=("virtio_rng.0 (fed by the kernel)",)),
            Severity.NOTE,
            Confidence.POSSIBLE,
        ),
        (UNKNOWN, Severity.NOTE, Confidence.POSSIBLE),
    ],
)
def test_how_bad_it_is_follows_the_pool(
    kernel: KernelRandom, severity: Severity, confidence: Confidence
) -> None:
    (found,) = findings(kernel=kernel)
    assert (found.severity, found.confidence) == (severity, confidence)


def test_an_assumed_source_is_only_possible() -> None:
    (found,) = findings(replace(DEFAULT_SOURCE, assumed=True))
    assert found.confidence is Confidence.POSSIBLE
    assert any("assumed" in e.excerpt for e in found.evidence)


def test_a_kernel_that_does_not_block_makes_it_clear_whatever_is_missing() -> None:
    assert not may_block(NO_POOL)
    assert may_block(POOL)
    assert may_block(UNKNOWN)


def test_in_a_case_without_kernel_it_could_not_look() -> None:
    (outcome,) = run((seed_source_will_block,), with_nothing_else(running()))
    assert isinstance(outcome, Inconclusive)


def test_on_a_kernel_that_does_not_block_it_is_clear_even_then() -> None:
    def no_pool(_source: Source) -> KernelRandom:
        return NO_POOL

    case = Case(Held({}), (*jvm.PROVIDERS, *process.PROVIDERS, no_pool, no_seeds))
    (outcome,) = run((seed_source_will_block,), case)
    assert isinstance(outcome, Clear)
