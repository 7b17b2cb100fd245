from __future__ import annotations

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
from seedstall.model.kernel import Distribution, Feeders, KernelRandom, RunningDaemon
from seedstall.model.verdict import Cause, Status
from seedstall.rules.ss302_feeder_down import feeder_down
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
RNGD = (("rngd", "/usr/lib/systemd/system/rngd.service"),)


def pool(bits: int, write_wakeup: int = 896) -> KernelRandom:
    seen = KernelEvidence(
        release="3.10.0-957.el7.x86_64", files=A7, entropy_avail=bits, write_wakeup=write_wakeup
    )
    return decide(seen)


def check(feeders: Feeders, kernel: KernelRandom) -> list[Finding]:
    return list(feeder_down(feeders, kernel, None))


def test_installed_and_dead_on_a_dry_pool() -> None:
    (finding,) = check(Feeders(installed=RNGD, processes_seen=True), pool(12))

    assert (finding.status, finding.cause) == (Status.AT_RISK, Cause.FEEDER_DOWN)
    assert finding.severity is Severity.WARNING
    assert finding.confidence is Confidence.LIKELY
    assert "rngd is installed and does not run" in finding.sentence
    assert finding.evidence[0].origin == "/usr/lib/systemd/system/rngd.service"
    assert finding.fixes[0].surface == "rngd"
    # It is there: it need not be installed.
    assert finding.fixes[0].params["commands"] == "systemctl enable --now rngd"
    script = (("haveged", "/etc/init.d/haveged"),)
    (other,) = check(Feeders(installed=script, processes_seen=True), pool(12))
    assert (other.fixes[0].surface, other.fixes[0].params["commands"]) == (
        "haveged",
        "service haveged start",
    )


def test_the_threshold_it_left_behind_confirms_it() -> None:
    feeders = Feeders(installed=RNGD, ran="rngd 6", processes_seen=True)
    (finding,) = check(feeders, pool(12, 3072))

    assert finding.confidence is Confidence.CONFIRMED
    assert any("3072" in e.excerpt for e in finding.evidence)


def test_the_threshold_alone_tells() -> None:
    (finding,) = check(Feeders(ran="haveged", processes_seen=True), pool(12, 1024))

    assert "haveged has run since boot and runs no more" in finding.sentence


def test_a_full_pool_makes_it_a_note() -> None:
    (finding,) = check(Feeders(installed=RNGD, processes_seen=True), pool(3000))

    assert finding.severity is Severity.NOTE


def test_it_is_harmless_where_the_kernel_feeds_itself() -> None:
    feeders = Feeders(installed=RNGD, processes_seen=True, hwrng="virtio_rng.0", self_feeding=True)
    (finding,) = check(feeders, pool(3000))

    assert (finding.status, finding.cause) == (Status.CLEAR, Cause.NONE)
    (fix,) = finding.fixes
    assert (fix.surface, fix.params["why"]) == (
        "none",
        "virtio_rng.0 feeds the pool without a daemon",
    )


def test_a_daemon_without_a_source_runs_for_nothing() -> None:
    feeders = Feeders(
        running=(RunningDaemon("rngd", 77, "/sbin/rngd -f"),), installed=RNGD, processes_seen=True
    )
    (finding,) = check(feeders, pool(3))

    assert finding.cause is Cause.FEEDER_DOWN
    assert "pid 77" in finding.sentence
    assert check(feeders, pool(3000)) == []


def test_nothing_is_said_to_be_down_where_the_processes_were_not_seen() -> None:
    assert check(Feeders(installed=RNGD, ran="rngd 6", processes_seen=False), pool(12)) == []


def outcome(kernel: KernelRandom, feeders: Feeders | None) -> Outcome:
    def find_kernel(source: Source) -> KernelRandom:
        return kernel

    def find_feeders(source: Source) -> Feeders:
        if feeders is None:
            raise Unavailable(Missing(Why.DENIED))
        return feeders

    def find_distribution(source: Source) -> Distribution:
        raise Unavailable(Missing(Why.NOT_COLLECTED))

    case = Case(Held({}), (find_kernel, find_feeders, find_distribution))
    (only,) = run((feeder_down,), case)
    return only


def test_nothing_installed_is_clear() -> None:
    assert isinstance(outcome(pool(12), Feeders(processes_seen=True)), Clear)


def test_a_kernel_without_the_pool_needs_no_daemon() -> None:
    kernel = decide(KernelEvidence(release="6.8.0-31-generic"))

    assert isinstance(outcome(kernel, Feeders(installed=RNGD, processes_seen=True)), Clear)
    assert isinstance(outcome(kernel, None), Clear)


def test_processes_that_could_not_be_seen_are_inconclusive() -> None:
    assert isinstance(outcome(pool(12), None), Inconclusive)


def test_it_fires_through_the_engine() -> None:
    assert isinstance(outcome(pool(12), Feeders(installed=RNGD, processes_seen=True)), Fired)
