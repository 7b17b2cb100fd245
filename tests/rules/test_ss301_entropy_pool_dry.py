from __future__ import annotations

from dataclasses import replace

import pytest

from seedstall.engine.case import Case
from seedstall.engine.run import run
from seedstall.facts.kernel import pool_level
from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.finding import (
    Clear,
    Confidence,
    Disposition,
    Finding,
    Fired,
    Inconclusive,
    Outcome,
    Severity,
    When,
)
from seedstall.model.kernel import Distribution, KernelRandom, PoolState
from seedstall.model.verdict import Cause, Status
from seedstall.rules.ss301_entropy_pool_dry import entropy_pool_dry
from seedstall.source.base import Held, Source

A7 = frozenset(
    [
        "boot_id",
        "entropy_avail",
        "poolsize",
        "read_wakeup_threshold",
        "urandom_min_reseed_secs",
        "uuid",
        "write_wakeup_threshold",
    ]
)
CENTOS7 = Distribution("centos", "7", ("rhel", "fedora"), "CentOS Linux 7")


def kernel_of(bits: int | None, release: str = "3.10.0-957.el7.x86_64") -> KernelRandom:
    return decide(KernelEvidence(release=release, files=A7, entropy_avail=bits, read_wakeup=64))


def check(kernel: KernelRandom, distribution: Distribution | None = CENTOS7) -> list[Finding]:
    return list(entropy_pool_dry(pool_level(Held({}), kernel), kernel, distribution))


def outcome(kernel: KernelRandom | None) -> Outcome:
    def find_kernel(source: Source) -> KernelRandom:
        if kernel is None:
            raise Unavailable(Missing(Why.NOT_COLLECTED))
        return kernel

    def find_distribution(source: Source) -> Distribution:
        return CENTOS7

    case = Case(Held({}), (find_kernel, pool_level, find_distribution))
    (only,) = run((entropy_pool_dry,), case)
    return only


def test_a_dry_pool_is_a_risk() -> None:
    (finding,) = check(kernel_of(31))

    assert (finding.status, finding.cause) == (Status.AT_RISK, Cause.BLOCKING_SEED)
    assert finding.severity is Severity.WARNING
    assert finding.confidence is Confidence.LIKELY
    assert "31 bits" in finding.sentence
    assert finding.evidence[0].origin == "/proc/sys/kernel/random/entropy_avail"


def test_it_says_how_long_a_seed_would_take() -> None:
    (finding,) = check(kernel_of(57, "4.15.0-193-generic"))

    assert "199 more bits" in finding.notes[0]
    assert "5 min 31 s" in finding.notes[0]


def test_the_fix_is_the_daemon_of_the_hosts_distribution() -> None:
    (finding,) = check(kernel_of(31))
    (fix,) = finding.fixes

    assert (fix.surface, fix.needs_root, fix.when) == ("rngd", True, When.NOW)
    assert fix.disposition is Disposition.REVIEW
    assert fix.where == "host"
    assert fix.params["commands"].splitlines()[-1] == "systemctl enable --now rngd"
    assert any("CentOS 7 ended" in note for note in finding.notes)


def test_without_a_distribution_no_commands_are_made_up() -> None:
    (finding,) = check(kernel_of(31, "5.4.195"), None)

    assert "commands" not in finding.fixes[0].params


def test_on_5_4_the_border_is_128() -> None:
    (finding,) = check(kernel_of(100, "5.4.0-125-generic"))

    assert finding.severity is Severity.WARNING
    assert "below 128" in finding.sentence


def test_a_low_pool_is_a_note() -> None:
    (finding,) = check(kernel_of(150))

    assert finding.severity is Severity.NOTE
    assert finding.confidence is Confidence.POSSIBLE


def test_a_generator_that_the_kernel_draws_on_lowers_the_confidence() -> None:
    (finding,) = check(replace(kernel_of(10), feeders=("virtio_rng.0 (fed by the kernel)",)))

    assert finding.confidence is Confidence.POSSIBLE


def test_a_full_pool_is_clear() -> None:
    assert isinstance(outcome(kernel_of(3000)), Clear)


@pytest.mark.parametrize(
    "seen",
    [
        KernelEvidence(
            release="5.15.0-25-generic",
            files=A7 - {"read_wakeup_threshold"},
            poolsize=4096,
            entropy_avail=2,
        ),
        KernelEvidence(release="4.19.0-gvisor"),
        KernelEvidence(release="6.8.0-31-generic"),
    ],
)
def test_a_kernel_without_the_pool_is_clear_whatever_its_count(seen: KernelEvidence) -> None:
    assert isinstance(outcome(decide(seen)), Clear)


def test_a_dry_pool_fires_through_the_engine() -> None:
    assert isinstance(outcome(kernel_of(3)), Fired)


@pytest.mark.parametrize(
    "kernel",
    [None, decide(KernelEvidence(release="4.15.0-1139-aws")), kernel_of(None)],
    ids=["no kernel", "model not known", "count not had"],
)
def test_what_could_not_be_looked_at_is_inconclusive(kernel: KernelRandom | None) -> None:
    told = outcome(kernel)

    assert isinstance(told, Inconclusive)
    assert kernel is None or kernel.state is PoolState.UNKNOWN
