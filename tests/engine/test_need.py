from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.held import HeldFacts as Facts
from tests.facts_by_hand import (
    DEFAULT_SOURCE,
    JDK7,
    JDK8,
    JDK17,
    NO_POOL,
    POOL,
    stack,
    task,
    thread,
)

from seedstall.engine.need import Judgement, Need, egd_need, feeder_need, strong_need, unseen
from seedstall.model.jvm import JvmOption, Launch, OptionOrigin
from seedstall.model.kernel import DeviceNode, RandomDevices
from seedstall.model.log import Observation, Observations, SeedingLine, ServerLog
from seedstall.model.security import FipsProvider, FipsSetup
from seedstall.model.seeding import (
    Algorithm,
    Instance,
    Operation,
    SeedRole,
    SeedSetting,
    SeedSource,
)
from seedstall.model.waits import SeedEvidence, SeedWait

RIGHT = "file:/dev/urandom"
STRONG = "NativePRNGNonBlocking:SUN"
REAL = RandomDevices(
    DeviceNode("/dev/random", "the character device 1:8", (1, 8)), place="on this host"
)
FIFO = RandomDevices(DeviceNode("/dev/random", "a FIFO"), place="as the JVM sees it")


def waiting(*waits: SeedWait, log: ServerLog | None = None) -> SeedEvidence:
    return SeedEvidence(waits=waits, log=log)


def egd(value: str, origin: OptionOrigin = OptionOrigin.COMMAND_LINE) -> Launch:
    return Launch("java", (JvmOption(f"-Djava.security.egd={value}", origin),))


SHA1 = SeedWait(stack=stack(), task=task())
BLOCKING = SeedWait(stack=stack(algorithm=Algorithm.NATIVE_PRNG_BLOCKING))
NATIVE = SeedWait(stack=stack(algorithm=Algorithm.NATIVE_PRNG, operation=Operation.GENERATE_SEED))
UNSEEN = SeedWait(task=task())
OWN = SeedWait(java=thread(), task=task())


def test_a_thread_that_waits_wants_it() -> None:
    found = egd_need(Facts(JDK17, waiting(SHA1), POOL, REAL, DEFAULT_SOURCE), RIGHT)
    assert found == Judgement(Need.WANTED)


def test_with_nothing_known_it_is_wanted() -> None:
    assert egd_need(Facts(), RIGHT) == Judgement(Need.WANTED)


def test_it_is_there_already() -> None:
    source = SeedSource(RIGHT, SeedSetting.EGD, "cmdline[3]")
    found = egd_need(Facts(JDK17, POOL, source), RIGHT)
    assert found.need is Need.IN_PLACE
    assert "cmdline[3]" in found.reason


def test_the_same_string_on_jdk_7_is_no_cure_and_never_asked_for() -> None:
    source = SeedSource(RIGHT, SeedSetting.SECURITY_PROPERTY, "java.security:1")
    assert egd_need(Facts(JDK7, POOL, source), "file:/dev/./urandom").need is Need.WANTED


def test_where_only_strong_instances_wait_it_is_useless() -> None:
    for wait in (BLOCKING, SeedWait(stack=replace(stack(), instance=Instance.STRONG))):
        found = egd_need(Facts(JDK17, waiting(wait), POOL), RIGHT)
        assert found.need is Need.USELESS
        assert "strongAlgorithms" in found.reason


def test_where_some_strong_instances_wait_it_helps_the_others() -> None:
    found = egd_need(Facts(JDK17, waiting(SHA1, BLOCKING), POOL), RIGHT)
    assert found.need is Need.WANTED
    assert found.notes[0].startswith("it helps some of the waiting threads only")


def test_an_explicit_native_generator_of_jdk_7() -> None:
    wait = SeedWait(stack=stack(algorithm=Algorithm.NATIVE_PRNG, operation=Operation.GENERATE_SEED))
    found = egd_need(Facts(JDK7, waiting(wait), POOL), "file:/dev/./urandom")
    assert found.need is Need.WANTED
    assert "JDK 6 and 7" in found.notes[0]


def test_a_wait_without_a_stack_may_be_beyond_it() -> None:
    (note,) = egd_need(Facts(JDK17, waiting(UNSEEN), POOL, REAL), RIGHT).notes
    assert "getInstanceStrong" in note


def test_java_options_beats_every_file() -> None:
    launch = egd("file:/dev/random", OptionOrigin.JAVA_OPTIONS)
    found = egd_need(Facts(JDK17, launch, waiting(SHA1)), RIGHT)
    assert found.need is Need.USELESS
    assert "_JAVA_OPTIONS" in found.reason
    assert (
        egd_need(Facts(JDK17, launch, waiting(SHA1)), RIGHT, in_environment=False).need
        is Need.WANTED
    )
    same = egd(RIGHT, OptionOrigin.JAVA_OPTIONS)
    source = SeedSource(RIGHT, SeedSetting.EGD, "environ _JAVA_OPTIONS")
    assert egd_need(Facts(JDK17, same, source), RIGHT).need is Need.IN_PLACE


# Where the device does not block


def test_on_a_kernel_without_the_pool_nothing_is_needed() -> None:
    for facts in ((JDK17, NO_POOL, REAL, DEFAULT_SOURCE), (NO_POOL,), (JDK17, NO_POOL, waiting())):
        found = egd_need(Facts(*facts), RIGHT)
        assert found.need is Need.USELESS
        assert "does not block after boot" in found.reason


@pytest.mark.parametrize(
    "facts",
    [
        (POOL, REAL),
        (NO_POOL, FIFO),
        (NO_POOL, REAL, SeedSource("/dev/urandom", SeedSetting.SECURITY_PROPERTY, "x")),
        (NO_POOL, REAL, SeedSource("file:/dev/random", SeedSetting.EGD, "x")),
        (NO_POOL, REAL, waiting(SHA1)),
        (NO_POOL, REAL, waiting(log=ServerLog((SeedingLine("catalina.out", 9, 5176),)))),
    ],
    ids=["pool", "replaced device", "broken url", "wrong setting", "seen waiting", "slow line"],
)
@pytest.mark.parametrize("jdk", [JDK8, None])
def test_unless_something_is_wrong_all_the_same(facts: tuple[object, ...], jdk: object) -> None:
    assert egd_need(Facts(*facts, *([jdk] if jdk else [])), RIGHT).need is Need.WANTED


def test_a_harmless_line_is_no_reason() -> None:
    log = ServerLog((SeedingLine("catalina.out", 9, 480),))
    assert egd_need(Facts(JDK17, NO_POOL, REAL, waiting(log=log)), RIGHT).need is Need.USELESS


def test_a_wait_that_the_kernel_denies_is_told() -> None:
    notes = egd_need(Facts(JDK17, NO_POOL, REAL, waiting(SHA1)), RIGHT).notes
    assert notes[-1].startswith("a thread was seen waiting, and yet")


# strongAlgorithms


def test_strong_instances_want_it() -> None:
    found = strong_need(Facts(JDK17, waiting(BLOCKING), POOL), STRONG)
    assert found.need is Need.WANTED
    assert all("no waiting thread" not in note for note in found.notes)


def test_jdk_7_has_no_strong_instances() -> None:
    found = strong_need(Facts(JDK7, POOL), STRONG)
    assert found.need is Need.USELESS
    assert "1.7.0_80" in found.reason


def test_strong_is_there_already() -> None:
    source = replace(DEFAULT_SOURCE, strong_algorithms=f"{STRONG},DRBG:SUN")
    assert strong_need(Facts(JDK17, source), STRONG).need is Need.IN_PLACE


def test_strong_is_not_needed_without_the_pool() -> None:
    assert strong_need(Facts(JDK17, NO_POOL, REAL), STRONG).need is Need.USELESS
    assert strong_need(Facts(JDK17, NO_POOL, FIFO), STRONG).need is Need.WANTED


@pytest.mark.parametrize(
    ("wait", "what"),
    [
        (SHA1, "waits in SHA1PRNG's seeding and not in getInstanceStrong()"),
        (NATIVE, "waits in NativePRNG's seeding"),
        (SeedWait(stack=stack(SeedRole.THREADED)), "waits in SHA1PRNG's seeding"),
        (SeedWait(stack=stack(algorithm=Algorithm.OTHER)), "waits in the seeding and not"),
        (SeedWait(stack=stack(algorithm=Algorithm.PKCS11)), "a PKCS#11 token makes these bytes"),
        (OWN, "the program itself reads the device"),
    ],
)
@pytest.mark.parametrize("jdk", [JDK8, JDK17, None])
def test_strong_is_not_for_other_generators(wait: SeedWait, what: str, jdk: object) -> None:
    found = strong_need(Facts(waiting(wait), POOL, *([jdk] if jdk else [])), STRONG)
    assert found.need is Need.USELESS
    assert what in found.reason


@pytest.mark.parametrize(
    "waits",
    [
        (SHA1, BLOCKING),
        (SHA1, SeedWait(stack=replace(stack(), instance=Instance.STRONG))),
        (SHA1, UNSEEN),
        (UNSEEN,),
        (OWN, BLOCKING),
        (
            SeedWait(
                stack=replace(
                    stack(algorithm=Algorithm.OTHER),
                    candidates=(Algorithm.NATIVE_PRNG, Algorithm.NATIVE_PRNG_BLOCKING),
                )
            ),
        ),
    ],
    ids=["beside", "known strong", "one unseen", "unseen", "own read beside", "cut stack"],
)
def test_strong_is_for_what_may_be_strong(waits: tuple[SeedWait, ...]) -> None:
    assert strong_need(Facts(JDK17, waiting(*waits), POOL), STRONG).need is Need.WANTED


def test_a_queued_strong_thread_wants_it() -> None:
    queued = SeedWait(stack=stack(SeedRole.QUEUED, Algorithm.NATIVE_PRNG_BLOCKING))
    seeds = SeedEvidence(waits=(SHA1,), queued=(queued,))
    assert strong_need(Facts(JDK17, seeds, POOL), STRONG).need is Need.WANTED


def test_a_wait_that_is_over_tells_as_much() -> None:
    found = strong_need(Facts(JDK17, SeedEvidence(over=(SHA1,), dumps=2), POOL), STRONG)
    assert found.need is Need.USELESS
    assert "waited in SHA1PRNG's seeding" in found.reason
    over = SeedEvidence(over=(BLOCKING,), dumps=2)
    assert strong_need(Facts(JDK17, over, POOL), STRONG).need is Need.WANTED


def test_what_strong_gives_is_a_setting() -> None:
    source = replace(DEFAULT_SOURCE, strong_algorithms="SHA1PRNG:SUN,DRBG:SUN")
    assert strong_need(Facts(JDK17, source, waiting(SHA1), POOL), STRONG).need is Need.WANTED
    assert strong_need(Facts(JDK17, source, waiting(NATIVE), POOL), STRONG).need is Need.USELESS


def test_a_log_names_the_generator_too() -> None:
    def told(algorithm: str, took_ms: int = 5176) -> Judgement:
        log = ServerLog((SeedingLine("catalina.out", 9, took_ms, algorithm),))
        return strong_need(Facts(JDK17, POOL, waiting(log=log)), STRONG)

    assert told("SHA1PRNG").need is Need.USELESS
    assert "SHA1PRNG (catalina.out:9)" in told("SHA1PRNG").reason
    for found in (told(""), told("NativePRNGBlocking"), told("SHA1PRNG", 480)):
        assert found.need is Need.WANTED


def test_what_was_not_looked_at_is_told() -> None:
    for facts in ((), (waiting(),), (waiting(UNSEEN),)):
        assert "was not looked at" in strong_need(Facts(JDK17, POOL, *facts), STRONG).notes[0]
    dumped = SeedEvidence(threads=9, dumps=1)
    assert "no thread that waits" in strong_need(Facts(JDK17, POOL, dumped), STRONG).notes[0]


# Reads of the program's own


def test_no_setting_reaches_a_read_of_the_programs_own() -> None:
    found = egd_need(Facts(JDK17, waiting(OWN), POOL), RIGHT)
    assert found.need is Need.USELESS
    assert found.reason.startswith('"main" waits, but no SecureRandom is in its stack')
    beside = egd_need(Facts(JDK17, waiting(SHA1, OWN), POOL), RIGHT)
    assert beside.need is Need.WANTED
    assert beside.notes[0].startswith("it helps some of the waiting threads only")


def test_a_thread_that_no_dump_shows_may_be_a_librarys() -> None:
    seeds = SeedEvidence(waits=(UNSEEN,), threads=9, dumps=1)
    (note,) = egd_need(Facts(JDK17, seeds, POOL), RIGHT).notes
    assert "native library" in note


# Where nothing shows a wait


def observed(kind: str, ms: int | None = None, value: int | None = None) -> SeedEvidence:
    return SeedEvidence(observations=Observations((Observation(kind, "x", 1, "", value, ms),)))


@pytest.mark.parametrize(
    "facts",
    [
        (),
        (waiting(log=ServerLog((SeedingLine("catalina.out", 9, 480),))),),
        (SeedEvidence(threads=9, dumps=1),),
        (observed("dd-random", ms=3, value=512),),
        (observed("prng-benchmark", ms=9000),),
        (DEFAULT_SOURCE,),
    ],
)
def test_what_shows_no_wait_is_told(facts: tuple[object, ...]) -> None:
    found = unseen(Facts(JDK17, *facts), "a.txt", live=False)
    assert found == "nothing in a.txt shows a wait for random bytes"


@pytest.mark.parametrize(
    "facts",
    [
        (waiting(SHA1),),
        (SeedEvidence(queued=(SHA1,)),),
        (SeedEvidence(over=(SHA1,)),),
        (waiting(log=ServerLog((SeedingLine("catalina.out", 9, 5176),))),),
        (observed("dd-random", ms=90_000, value=512),),
        (observed("strace-random-read"),),
        (observed("threaded-seeder"),),
        (SeedSource("file:/dev/random", SeedSetting.EGD, "cmdline[1]"),),
        (SeedSource("/dev/urandom", SeedSetting.GIVEN, "--egd"),),
    ],
)
def test_a_wait_or_a_setting_is_reason_enough(facts: tuple[object, ...]) -> None:
    assert unseen(Facts(JDK17, *facts), "a.txt", live=False) == ""


def test_a_process_that_was_not_looked_into_is_not_called_quiet() -> None:
    for facts in ((), (SeedEvidence(tasks=9),)):
        assert "could not be seen" in unseen(Facts(*facts), "4711", live=True)
    seen = SeedEvidence(tasks=9, syscalls_seen=True)
    assert unseen(Facts(seen), "4711", live=True).startswith("nothing in 4711")


def test_one_appended_file_hides_another() -> None:
    option = JvmOption("-Djava.security.properties=/etc/mine", OptionOrigin.COMMAND_LINE)
    notes = strong_need(Facts(JDK17, Launch("java", (option,)), POOL), STRONG).notes
    assert any("/etc/mine" in note for note in notes)


# The host


def test_a_daemon_feeds_the_kernels_device_alone() -> None:
    assert feeder_need(Facts(REAL)).need is Need.WANTED
    assert feeder_need(Facts()).need is Need.WANTED
    found = feeder_need(Facts(FIFO))
    assert found.need is Need.USELESS
    assert "a FIFO" in found.reason


FIPS = FipsSetup(FipsProvider.NSS, "java.security:90", sun=True, kernel=True)
BCFIPS = FipsSetup(FipsProvider.BOUNCY_CASTLE, "java.security:60", sun=True)


def test_under_fips_what_the_providers_would_refuse_is_not_wanted() -> None:
    for setup in (FIPS, BCFIPS, FipsSetup(FipsProvider.NONE, sun=False)):
        found = strong_need(Facts(JDK17, waiting(BLOCKING), POOL, setup), STRONG)
        assert found.need is Need.USELESS
        assert "not offered" in found.reason
    assert egd_need(Facts(JDK17, POOL, DEFAULT_SOURCE, FIPS), RIGHT).need is Need.USELESS
    # A generator of SUN that was seen to seed is there, whatever the files say.
    for setup in (FIPS, BCFIPS):
        assert egd_need(Facts(JDK17, waiting(SHA1), POOL, setup), RIGHT).need is Need.WANTED
