from __future__ import annotations

from dataclasses import replace

import pytest
from tests import facts_by_hand as by_hand

from seedstall.model.core import CoreDump
from seedstall.model.finding import Confidence, Finding, Severity, When
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.kernel import KernelRandom
from seedstall.model.log import Observation, Observations
from seedstall.model.seeding import Algorithm, Operation, SeedSetting, SeedSource
from seedstall.model.tasks import UNOPENED, FileKind, OpenFile, WaitingChildren
from seedstall.model.threads import Frame
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules.ss101_blocking_seed import blocking_seed


def check(
    seeds: SeedEvidence,
    kernel: KernelRandom | None = None,
    source: SeedSource | None = None,
    jdk: JdkVersion | None = None,
    product: Product | None = None,
) -> list[Finding]:
    return list(blocking_seed(seeds, kernel, source, jdk, product, None, None, None))


def test_a_stack_alone_is_likely_and_asks_for_the_kernel() -> None:
    (finding,) = check(by_hand.seeds(by_hand.dumped()))

    assert finding.status is Status.STALLED
    assert finding.confidence is Confidence.LIKELY
    assert "--kernel" in finding.sentence


def test_a_stack_on_a_pool_kernel_is_confirmed_and_says_why_it_blocks() -> None:
    (finding,) = check(by_hand.seeds(by_hand.dumped()), by_hand.POOL)

    assert finding.confidence is Confidence.CONFIRMED
    assert "blocking pool, 12 bits" in finding.sentence
    assert finding.fixes[0].when is When.NOW


def test_a_stack_on_a_kernel_that_does_not_block_is_only_possible() -> None:
    (finding,) = check(by_hand.seeds(by_hand.dumped()), by_hand.NO_POOL)

    assert finding.confidence is Confidence.POSSIBLE
    assert "1:8" in finding.sentence


def test_a_release_that_the_log_contradicts_is_no_witness() -> None:
    kernel = replace(by_hand.POOL, conflict="the log says OS Version 6.18")

    (finding,) = check(by_hand.seeds(log=by_hand.log(386_690, 410_675)), kernel)
    assert finding.confidence is Confidence.LIKELY
    assert "the log says OS Version 6.18" in finding.notes
    (finding,) = check(by_hand.seeds(by_hand.dumped()), kernel)
    assert finding.confidence is Confidence.LIKELY
    assert "the log says OS Version 6.18" in finding.notes


def test_two_dumps_confirm() -> None:
    wait = replace(by_hand.dumped(), dumps_seen=2)

    (finding,) = check(by_hand.seeds(wait))

    assert finding.confidence is Confidence.CONFIRMED


def test_a_task_in_the_read_of_a_replaced_device_is_confirmed_on_any_kernel() -> None:
    wait = replace(by_hand.dumped(), task=by_hand.task(FileKind.FIFO))

    (finding,) = check(by_hand.seeds(wait), by_hand.NO_POOL, jdk=by_hand.JDK17)

    assert finding.confidence is Confidence.CONFIRMED
    assert "fifo" in finding.sentence
    assert [f.surface for f in finding.fixes] == ["tomcat-setenv", "java-opts", "device-node"]


@pytest.mark.parametrize(
    "kind", [FileKind.FIFO, FileKind.SOCKET, FileKind.REGULAR, FileKind.UNKNOWN]
)
@pytest.mark.parametrize("fd", [22, UNOPENED])
def test_a_seed_source_with_a_name_of_its_own_is_as_good_as_a_device(
    kind: FileKind, fd: int
) -> None:
    file = OpenFile(fd, "/srv/seed", kind, seeds=True)
    wait = replace(by_hand.dumped(), task=replace(by_hand.task(), file=file))

    (finding,) = check(by_hand.seeds(wait), by_hand.NO_POOL, jdk=by_hand.JDK17)

    assert finding.confidence is Confidence.CONFIRMED
    assert "/srv/seed" in finding.sentence
    # Another seed source is to be set; no device is lost that could be put back, and the call is right.
    assert [f.surface for f in finding.fixes] == ["tomcat-setenv", "java-opts"]
    assert any("the seed source that was set is /srv/seed" in note for note in finding.notes)


@pytest.mark.parametrize(
    "seen", [{"file": None}, {"file": None, "syscall": None}, {"file": None, "wchan": "pipe_read"}]
)
def test_where_the_kernels_view_leaves_open_what_is_read_the_stack_speaks(
    seen: dict[str, object],
) -> None:
    """A bundle without descriptors: never clearer than the dump alone."""
    task = replace(by_hand.task(), **seen)  # type: ignore[arg-type]

    (finding,) = check(by_hand.seeds(replace(by_hand.dumped(), task=task)), by_hand.NO_POOL)

    assert finding.confidence is Confidence.POSSIBLE
    assert (
        check(
            by_hand.seeds(replace(by_hand.dumped(), task=replace(task, running=True))),
            by_hand.NO_POOL,
        )
        == []
    )


def test_a_read_of_the_real_device_on_a_kernel_that_does_not_block_is_on_its_way() -> None:
    wait = replace(by_hand.dumped(), task=by_hand.task())

    assert check(by_hand.seeds(wait), by_hand.NO_POOL) == []


def test_the_pool_wait_channel_decides_whatever_the_release_says() -> None:
    wait = replace(by_hand.dumped(), task=by_hand.task(wchan="_random_read.part.35"))

    (finding,) = check(by_hand.seeds(wait), by_hand.NO_POOL)

    assert finding.confidence is Confidence.CONFIRMED


def test_strong_instances_get_another_fix_than_egd() -> None:
    wait = by_hand.dumped(algorithm=Algorithm.NATIVE_PRNG_BLOCKING)

    (finding,) = check(by_hand.seeds(wait), by_hand.POOL, jdk=by_hand.JDK8)

    assert [f.surface for f in finding.fixes] == [
        "rngd",
        "stir-pool",
        "strong-algorithms",
        "application-call",
    ]
    assert any("no value of java.security.egd" in n for n in finding.notes)


@pytest.mark.parametrize(
    ("jdk", "egd"),
    [
        (by_hand.JDK7, "file:/dev/./urandom"),
        (by_hand.JDK8, "file:/dev/urandom"),
        (by_hand.JDK17, "file:/dev/urandom"),
        (None, "file:/dev/./urandom"),
    ],
)
def test_the_value_is_right_for_the_jdk(jdk: JdkVersion | None, egd: str) -> None:
    (finding,) = check(by_hand.seeds(by_hand.dumped()), jdk=jdk)

    assert {f.params["egd"] for f in finding.fixes} == {egd}


def test_an_explicit_native_prng_on_7_cannot_be_cured_by_a_property_and_is_told_so() -> None:
    wait = by_hand.dumped(algorithm=Algorithm.NATIVE_PRNG, operation=Operation.GENERATE_SEED)

    (finding,) = check(by_hand.seeds(wait), jdk=by_hand.JDK7)

    assert any("whatever the property says" in note for note in finding.notes)


@pytest.mark.parametrize("took_ms", [101, 988, 1000])
def test_a_tomcat_line_up_to_a_second_is_a_note(took_ms: int) -> None:
    (finding,) = check(SeedEvidence(log=by_hand.log(took_ms, 9000)))

    assert (finding.status, finding.cause) == (Status.CLEAR, Cause.NONE)
    assert finding.severity is Severity.NOTE
    assert finding.cost_ms == took_ms


def test_a_slow_line_has_its_cost_and_share() -> None:
    (finding,) = check(SeedEvidence(log=by_hand.log(386_690, 410_675)))

    assert finding.status is Status.SLOW
    assert (finding.cost_ms, finding.startup_ms) == (386_690, 410_675)
    assert finding.share == pytest.approx(0.94, abs=0.005)
    assert "94%" in finding.sentence


@pytest.mark.parametrize("took_ms", [5_030, 5_650, 8_300])
def test_the_threaded_seeders_times_are_possible_and_name_both(took_ms: int) -> None:
    (finding,) = check(SeedEvidence(log=by_hand.log(took_ms)))

    assert finding.confidence is Confidence.POSSIBLE
    assert "threaded seeder" in finding.sentence
    assert "/dev/random" in finding.sentence


def test_a_measured_dry_device_is_slow() -> None:
    dd = Observation("dd-random", "post.txt", 26, "6 bytes copied, 115.772 s", 6, 115_772)

    (finding,) = check(SeedEvidence(observations=Observations((dd,))))

    assert (finding.status, finding.confidence) == (Status.SLOW, Confidence.LIKELY)
    assert "1 min 55 s" in finding.sentence


def test_a_child_that_waits_is_named_and_no_flag_of_the_jvm_is_offered() -> None:
    gpg = replace(by_hand.task(), tid=77, comm="gpg")
    children = WaitingChildren((gpg,))
    nothing = SeedEvidence(threads=12, tasks=14)

    (finding,) = blocking_seed(nothing, by_hand.POOL, None, None, None, None, None, children)

    assert "gpg (pid 77), which this JVM started" in finding.sentence
    assert [f.surface for f in finding.fixes] == ["rngd", "stir-pool"]


def test_a_child_of_a_script_is_the_scripts() -> None:
    gpg = replace(by_hand.task(), tid=78, comm="gpg", pid=77)
    children = WaitingChildren((gpg,), script=("/bin/sh", "/opt/tomcat/bin/catalina.sh", "run"))
    nothing = SeedEvidence(threads=0, tasks=1)

    (finding,) = blocking_seed(nothing, by_hand.POOL, None, None, None, None, None, children)

    assert "gpg (pid 77), which catalina.sh started" in finding.sentence
    assert finding.evidence[0].origin == "/proc/77/task/78/syscall"


def test_a_child_that_is_a_jvm_has_a_cure_of_its_own() -> None:
    forked = replace(by_hand.task(), tid=78, comm="java", pid=77)
    children = WaitingChildren((forked,), jvms=(77,))
    nothing = SeedEvidence(threads=12, tasks=14)

    (finding,) = blocking_seed(nothing, by_hand.POOL, None, None, None, None, None, children)

    assert any("seedstall diagnose 77" in note for note in finding.notes)


def test_no_wait_is_clear() -> None:
    assert check(SeedEvidence(threads=12, dumps=1), by_hand.POOL) == []


def test_a_seed_url_over_the_network_is_no_matter_of_the_kernels_device() -> None:
    wait = by_hand.dumped()
    assert wait.stack is not None
    wait = replace(wait, stack=replace(wait.stack, network=True))

    (finding,) = check(by_hand.seeds(wait), by_hand.POOL, jdk=by_hand.JDK17)

    assert finding.cause is Cause.CONNECT
    assert "/dev/random" not in finding.sentence
    assert "rngd" not in {f.surface for f in finding.fixes}


def test_the_programs_own_read_gets_its_name_and_no_flag() -> None:
    main = by_hand.thread()
    own = replace(main, frames=(*main.frames[:2], Frame("com.acme.Token", "read")))
    wait = SeedWait(java=own, task=by_hand.task(FileKind.FIFO))

    (finding,) = check(by_hand.seeds(wait), by_hand.NO_POOL, jdk=by_hand.JDK17)

    assert "com.acme.Token.read, which reads the device itself" in finding.sentence
    assert [f.surface for f in finding.fixes] == ["application-call", "device-node"]
    assert "com.acme.Token.read" in finding.fixes[0].title
    assert any("no setting" in note for note in finding.notes)


def test_a_value_in_force_is_not_recommended_again() -> None:
    source = SeedSource("file:/dev/urandom", SeedSetting.GIVEN, "--egd")

    (finding,) = check(by_hand.seeds(by_hand.dumped()), source=source, jdk=by_hand.JDK17)

    assert finding.fixes == ()
    assert any("already" in note for note in finding.notes)


def test_a_wait_that_a_later_dump_no_longer_shows_was_slow() -> None:
    (finding,) = check(SeedEvidence(over=(by_hand.dumped(),), threads=12, dumps=2))

    assert finding.status is Status.SLOW
    assert "a later dump no longer shows it" in finding.sentence
    assert all(f.when is When.NEXT_START for f in finding.fixes)


def test_a_buffer_refill_of_native_prng_in_one_dump_is_on_its_way() -> None:
    wait = by_hand.dumped(algorithm=Algorithm.NATIVE_PRNG)

    assert check(by_hand.seeds(wait), by_hand.POOL, jdk=by_hand.JDK17) == []


# --- cores ------------------------------------------------------------------------------------------------------------


def asleep(path: str = "") -> SeedWait:
    """A thread of a core: inside a read that was broken off in its sleep; of *path*, by its Java object."""
    task = by_hand.task()
    file = OpenFile(4, path) if path else None
    return replace(by_hand.dumped(), task=replace(task, file=file, wchan=None, asleep=True))


@pytest.mark.parametrize("path", ["/dev/random", ""])
def test_a_read_that_was_broken_off_in_its_sleep_did_wait_on_any_kernel(path: str) -> None:
    for kernel in (by_hand.NO_POOL, by_hand.POOL, None):
        (finding,) = check(by_hand.seeds(asleep(path)), kernel)
        assert finding.confidence is Confidence.CONFIRMED
        assert ("1:8" in finding.sentence) == (kernel is by_hand.NO_POOL)


def test_a_read_on_its_way_is_no_wait_where_the_device_never_blocks() -> None:
    passing = replace(asleep("/dev/random"), java=None, stack=None, dump=None)
    assert passing.task is not None
    awake = replace(passing, task=replace(passing.task, asleep=False))
    assert check(by_hand.seeds(awake), by_hand.NO_POOL) == []
    assert len(check(by_hand.seeds(passing), by_hand.NO_POOL)) == 1


def test_the_evidence_of_a_core_names_the_core_and_no_file_of_proc() -> None:
    core = CoreDump("core.77", by_kernel=True, signal=6, size=1, expected=1, threads=1)
    found = blocking_seed(
        by_hand.seeds(asleep("/dev/random")), None, None, None, None, None, None, None, core
    )
    (finding,) = found
    told = [(piece.origin, piece.excerpt) for piece in finding.evidence]
    assert ("core.77: thread 33", "fd 4 is /dev/random, by the Java object it reads") in told
    assert not any(origin.startswith("/proc") for origin, _ in told)
    assert any("broken off in its sleep" in excerpt for _, excerpt in told)
