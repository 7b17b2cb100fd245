from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from tests import facts_by_hand as by_hand

from seedstall.engine.case import Case
from seedstall.engine.kernel import KernelCase, kernel_case
from seedstall.facts import kernel as kernel_facts
from seedstall.knowledge.refill import Refill
from seedstall.model.evidence import Ask, Missing, Ref, Space, Unavailable, Why
from seedstall.model.finding import Confidence, Fired, Inconclusive
from seedstall.model.jvm import JvmProcess
from seedstall.model.report import Report
from seedstall.model.tasks import Syscall, Tasks
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.source import probe
from seedstall.source.base import Held, Source

DIRECTORY = "proc/sys/kernel/random"
A7 = "boot_id entropy_avail poolsize read_wakeup_threshold urandom_min_reseed_secs uuid write_wakeup_threshold"
B6 = "boot_id entropy_avail poolsize urandom_min_reseed_secs uuid write_wakeup_threshold"


def at(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


def host(release: str, files: str, **values: int) -> dict[Ref, bytes | Why]:
    """A whole host: its kernel's files, its devices, its processes, nothing installed."""
    held: dict[Ref, bytes | Why] = {
        at("proc/sys/kernel/osrelease"): f"{release}\n".encode(),
        at("proc/sys/crypto/fips_enabled"): b"0\n",
        at("proc/lrng_type"): Why.ABSENT,
        at(DIRECTORY, Ask.LIST): b"".join(n.encode() + b"\0" for n in files.split()),
        at("proc", Ask.LIST): b"1\0002\0",
        at("proc/1/comm"): b"systemd\n",
        at("proc/2/comm"): b"kthreadd\n",
        at("usr/lib/systemd/system", Ask.LIST): b"sshd.service\0",
        at("dev/random", Ask.STAT): b"20666 1 8 5 0 0 0",
        at("dev/urandom", Ask.STAT): b"20666 1 9 5 0 0 0",
        at("etc/os-release"): b'ID="centos"\nVERSION_ID="7"\nPRETTY_NAME="CentOS Linux 7 (Core)"\n',
        probe.NONBLOCK: b"0",
    }
    for name, value in values.items():
        held[at(f"{DIRECTORY}/{name}")] = f"{value}\n".encode()
    return held


POOL = host(
    "3.10.0-1160.el7.x86_64",
    A7,
    entropy_avail=31,
    poolsize=4096,
    read_wakeup_threshold=64,
    write_wakeup_threshold=896,
)
FULL = {**POOL, at(f"{DIRECTORY}/entropy_avail"): b"3100\n"}
NO_POOL = host("6.8.0-31-generic", B6, entropy_avail=256, poolsize=256, write_wakeup_threshold=256)


def told(held: dict[Ref, bytes | Why], refill: Refill | None = None) -> Report:
    return kernel_case(Held(held), "this host").report(refill)


def facts(report: Report) -> dict[str, object]:
    return cast("dict[str, object]", report.facts["kernel"])


def given(release: str) -> Report:
    return told({at("proc/sys/kernel/osrelease"): release.encode()})


def test_a_dry_pool_is_the_answer() -> None:
    report = told(POOL)

    assert report.verdict.status is Status.AT_RISK
    assert report.verdict.code == "SS301"
    assert "31 bits" in report.verdict.sentence
    assert facts(report)["model"] == "blocking-pool"


def test_a_full_pool_is_clear_and_says_what_may_come() -> None:
    report = told(FULL)

    assert report.verdict.status is Status.CLEAR
    assert "blocks when its entropy pool runs dry" in report.verdict.sentence
    assert "3100 bits" in report.verdict.sentence


def test_a_kernel_without_the_pool_is_clear() -> None:
    report = told(NO_POOL)

    assert (report.verdict.status, report.verdict.cause) == (Status.CLEAR, Cause.NONE)
    assert report.verdict.confidence is Confidence.CONFIRMED
    assert not any(isinstance(o, (Fired, Inconclusive)) for o in report.outcomes)
    assert cast("dict[str, object]", facts(report)["advice"])["useless"]


@pytest.mark.parametrize(
    ("release", "status", "confidence"),
    [
        ("3.10.0-957.el7", Status.AT_RISK, Confidence.LIKELY),
        ("6.8.0-31-generic", Status.CLEAR, Confidence.LIKELY),
        ("4.14.285-215.501.amzn2.x86_64", Status.CLEAR, Confidence.LIKELY),
        ("4.19.0-gvisor", Status.CLEAR, Confidence.LIKELY),
        ("4.4.0-19041-Microsoft", Status.CLEAR, Confidence.POSSIBLE),
        ("4.15.0-1139-aws", Status.UNKNOWN, None),
        ("5.3.18-150300.59.90-default", Status.UNKNOWN, None),
    ],
)
def test_a_release_alone(release: str, status: Status, confidence: Confidence | None) -> None:
    report = given(release)

    assert (report.verdict.status, report.verdict.confidence) == (status, confidence)
    assert release in report.verdict.sentence


def test_nothing_is_unknown() -> None:
    report = told({})

    assert report.verdict.status is Status.UNKNOWN
    assert "missing" in facts(report)


def test_a_replaced_device_is_told_on_any_kernel() -> None:
    report = told({**NO_POOL, at("dev/random", Ask.STAT): b"10644 0 0 5 0 0 0"})

    assert report.verdict.code == "SS303"
    assert report.verdict.status is Status.AT_RISK


def test_a_generator_not_seeded_is_a_risk_for_a_moment() -> None:
    held = {**NO_POOL, probe.NONBLOCK: b"EAGAIN", probe.POLL: b"4", at("proc/uptime"): b"1.5 0.1\n"}
    report = told(held)

    assert (report.verdict.status, report.verdict.code) == (Status.AT_RISK, "SS103")


def test_a_low_pool_is_a_risk_without_alarm() -> None:
    report = told({**POOL, at(f"{DIRECTORY}/entropy_avail"): b"150\n"})

    assert report.verdict.status is Status.AT_RISK
    assert report.verdict.finding is not None


def test_a_dead_daemon_is_named() -> None:
    held = {**POOL, at("usr/lib/systemd/system", Ask.LIST): b"rngd.service\0"}
    report = told(held)

    assert Cause.FEEDER_DOWN in {
        f.cause for o in report.outcomes if isinstance(o, Fired) for f in o.findings
    }
    daemons = cast("dict[str, object]", facts(report)["daemons"])
    assert daemons["installed"] == [
        {"name": "rngd", "file": "/usr/lib/systemd/system/rngd.service"}
    ]


def refill_of(report: Report) -> dict[str, object]:
    return cast("dict[str, object]", facts(report)["refill"])


def test_without_a_measurement_it_gives_the_booted_kernels_rate() -> None:
    told_refill = refill_of(told(POOL))

    assert told_refill["measured_s"] is None
    assert told_refill["bits_short"] == 225
    assert told_refill["seed_ms_with_40_interrupts_per_s"] == 375_000
    assert told_refill["seed_ms"] is None


def test_with_a_measurement_it_gives_that() -> None:
    told_refill = refill_of(told(POOL, Refill(gained=6, seconds=10.0, first=31, last=37)))

    assert told_refill["bits_per_s"] == 0.6
    assert told_refill["bits_short"] == 219
    assert told_refill["seed_ms"] == 365_000


def test_where_nothing_came_in_it_gives_a_lower_bound() -> None:
    told_refill = refill_of(told(POOL, Refill(gained=0, seconds=10.0, first=31, last=31)))

    assert told_refill["seed_ms"] is None
    assert told_refill["seed_at_least_ms"] == 2_250_000


def test_on_5_4_the_generator_takes_its_share_first() -> None:
    held = {
        **host(
            "5.4.0-125-generic",
            A7,
            entropy_avail=44,
            poolsize=4096,
            read_wakeup_threshold=64,
            write_wakeup_threshold=896,
        ),
        probe.NONBLOCK: b"EAGAIN",
    }

    assert refill_of(told(held))["bits_short"] == (128 - 44) + 256
    assert refill_of(told({**held, probe.NONBLOCK: b"0"}))["bits_short"] == 256 - 44


def test_threads_that_wait_in_the_pool_are_told_with_what_they_lack() -> None:
    """The waiting read of 4.15 shrinks 20, 14, 8, 2: what it still asks for tells how far it is."""
    task = replace(
        by_hand.task(wchan="_random_read.part.37"), syscall=Syscall(0, "read", (22, 0x7F00, 14))
    )
    elsewhere = replace(by_hand.task(wchan="futex_wait_queue_me"), tid=34, file=None, syscall=None)
    waits = (SeedWait(task=task), SeedWait(task=elsewhere))

    def find_seeds(source: Source) -> SeedEvidence:
        return SeedEvidence(waits=waits, tasks=2)

    def find_tasks(source: Source) -> Tasks:
        return Tasks((task, elsewhere))

    def find_process(source: Source) -> JvmProcess:
        raise Unavailable(Missing(Why.NOT_COLLECTED))

    source = Held(POOL)
    case = Case(source, (*kernel_facts.PROVIDERS, find_seeds, find_tasks, find_process))
    report = KernelCase(source, case, "152").report(
        Refill(gained=6, seconds=10.0, first=25, last=31)
    )
    (wait,) = cast("list[dict[str, object]]", facts(report)["waiting"])

    assert (wait["tid"], wait["bytes_left"]) == (33, 14)
    assert wait["bits_short"] == 161
    assert wait["ms_left"] == 268_333


def test_what_is_worth_watching() -> None:
    def worth(held: dict[Ref, bytes | Why]) -> bool:
        return kernel_case(Held(held), "x").worth_watching

    assert worth(POOL)
    assert not worth(FULL)
    assert not worth(NO_POOL)
    assert not worth({})
    assert isinstance(kernel_case(Held({}), "x"), KernelCase)
