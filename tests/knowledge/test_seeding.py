import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge import seeding
from seedstall.knowledge.seeding import (
    behaviour,
    bytes_wanted,
    default_algorithm,
    effective_source,
    first_reads,
    jarsigner_nonce_blocks,
    next_bytes_synchronized,
    seeding_looks_up_host,
    shipped_source,
    shipped_strong,
    strong_algorithm,
    threaded_delay_ms,
)
from seedstall.model.jdk import JdkVersion, VmFamily
from seedstall.model.seeding import Algorithm, Behaviour, Device, Instance, Operation

HERE = Path(__file__).parent
JDKS = {
    "7u-src-on-8u504": JdkVersion(7),
    "8u504": JdkVersion(8, 504),
    "11.0.13": JdkVersion(11, 0, "11.0.13"),
    "17.0.15": JdkVersion(17, 15),
    "21.0.8": JdkVersion(21, 8),
    "25.0.2": JdkVersion(25, 2),
    "25.0.3": JdkVersion(25, 3),
}
DEVICES = {"none": Device.NONE, "none (threaded seeder)": Device.THREADED}
SPECIAL = ("file:/dev/random", "file:/dev/urandom")


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def asked(row: dict[str, str]) -> Behaviour:
    jdk = JDKS[row["jdk"]]
    egd = {"unset": None, "empty": ""}.get(row["egd"], row["egd"])
    return behaviour(
        jdk,
        effective_source(egd, shipped_source(jdk)),
        Instance(row["instance"].removeprefix("alg:")),
        Operation(row["operation"]),
        readable={"yes": True, "no": False}.get(row.get("readable", "")),
    )


def name_of(row: dict[str, str]) -> str:
    return " ".join((row["jdk"], repr(row["egd"]), row["instance"], row["operation"]))


MATRIX = rows("jdk-seeding-matrix.csv")


def test_the_matrix_is_whole() -> None:
    assert len(MATRIX) == 443
    assert {row["jdk"] for row in MATRIX} == set(JDKS) - {"25.0.2"}


@pytest.mark.parametrize("row", MATRIX, ids=map(name_of, MATRIX))
def test_measured_row(row: dict[str, str]) -> None:
    found = asked(row)
    device = DEVICES.get(row["device_read"]) or Device(row["device_read"])
    assert (found.algorithm, found.device) == (Algorithm(row["algorithm"]), device)
    assert found.can_block is (device is Device.RANDOM)
    assert (found.fixed_delay_ms is not None) is (device is Device.THREADED)
    assert found.source


ODD = rows("jdk-odd-sources.csv")


@pytest.mark.parametrize("row", ODD, ids=map(name_of, ODD))
def test_measured_odd_source(row: dict[str, str]) -> None:
    found = asked(row)
    algorithm = None if row["algorithm"] == "none" else Algorithm(row["algorithm"])
    read = row["device_read"]
    other = Device.OTHER if read.startswith("/") else Device.NONE
    device = DEVICES.get(read) or (Device(read) if read in set(Device) else other)
    # A path relative to the working directory ends wherever that is.
    relative = row["egd"].startswith("file:") and not row["egd"].startswith("file:/")
    if relative and row["readable"] == "yes":
        device = Device.OTHER
    assert (found.algorithm, found.device) == (algorithm, device)


def test_a_delay_is_that_of_the_bytes_wanted() -> None:
    first = behaviour(JdkVersion(8, 504), "/dev/urandom", Instance.SHA1PRNG, Operation.NEXT_BYTES)
    assert first.fixed_delay_ms == 5_000
    first = behaviour(JdkVersion(17, 1), "/dev/urandom", Instance.DRBG, Operation.NEXT_BYTES)
    assert first.fixed_delay_ms == 8_000
    assert threaded_delay_ms(8) == 2_000
    for algorithm, (low, high) in seeding.THREADED_MS.items():
        wanted = bytes_wanted(algorithm, Operation.NEXT_BYTES, JdkVersion(17))
        assert wanted is not None
        assert low == threaded_delay_ms(wanted) < high


@pytest.mark.parametrize(
    ("feature", "source", "strong"),
    [
        (6, "file:/dev/urandom", None),
        (7, "file:/dev/urandom", None),
        (8, "file:/dev/random", "NativePRNGBlocking:SUN"),
        (9, "file:/dev/random", "NativePRNGBlocking:SUN,DRBG:SUN"),
        (26, "file:/dev/random", "NativePRNGBlocking:SUN,DRBG:SUN"),
    ],
)
def test_what_ships(feature: int, source: str, strong: str | None) -> None:
    assert shipped_source(JdkVersion(feature)) == source
    assert shipped_strong(JdkVersion(feature)) == strong


@pytest.mark.parametrize("feature", [6, 7])
def test_6_and_7_read_dev_random_whatever_the_special_string(feature: int) -> None:
    for source in SPECIAL:
        found = behaviour(JdkVersion(feature), source, Instance.SHA1PRNG, Operation.NEXT_BYTES)
        assert found.device is Device.RANDOM
    explicit = behaviour(
        JdkVersion(feature), "file:/dev/./urandom", Instance.NATIVE_PRNG, Operation.GENERATE_SEED
    )
    assert (explicit.device, explicit.egd_helps) == (Device.RANDOM, False)
    assert default_algorithm(JdkVersion(feature), "file:/dev/random") is Algorithm.SHA1PRNG


@pytest.mark.parametrize(
    ("feature", "instance"),
    [
        (7, Instance.STRONG),
        (7, Instance.DRBG),
        (7, Instance.NATIVE_PRNG_BLOCKING),
        (7, Instance.NATIVE_PRNG_NONBLOCKING),
        (8, Instance.DRBG),
    ],
)
def test_generators_that_do_not_exist_yet(feature: int, instance: Instance) -> None:
    found = behaviour(JdkVersion(feature), "file:/dev/random", instance, Operation.NEXT_BYTES)
    assert (found.algorithm, found.device, found.can_block) == (None, Device.NONE, False)


@pytest.mark.parametrize(
    ("strong", "feature", "algorithm"),
    [
        ("NativePRNGNonBlocking:SUN", 8, Algorithm.NATIVE_PRNG_NONBLOCKING),
        ("nativeprngnonblocking", 17, Algorithm.NATIVE_PRNG_NONBLOCKING),
        ("DRBG:SUN,SHA1PRNG:SUN", 8, Algorithm.SHA1PRNG),
        ("DRBG:SUN,SHA1PRNG:SUN", 11, Algorithm.DRBG),
        ("Foo:SUN, NativePRNGNonBlocking:SUN", 11, Algorithm.NATIVE_PRNG_NONBLOCKING),
        ("DEFAULT:BCFIPS", 17, Algorithm.OTHER),
        ("", 17, None),
        ("Foo", 17, None),
    ],
)
def test_strong_list_gives_its_first_generator(
    strong: str, feature: int, algorithm: Algorithm | None
) -> None:
    assert strong_algorithm(JdkVersion(feature), strong) is algorithm
    found = behaviour(
        JdkVersion(feature),
        "file:/dev/random",
        Instance.STRONG,
        Operation.NEXT_BYTES,
        strong=strong,
    )
    assert found.algorithm is algorithm
    if algorithm is Algorithm.OTHER:
        assert (found.device, found.can_block) == (Device.UNKNOWN, None)


def test_egd_reaches_a_strong_instance_only_where_it_is_a_software_generator() -> None:
    jdk = JdkVersion(17, 15)
    for strong, helps in ((None, False), ("DRBG:SUN", True), ("NativePRNGNonBlocking", False)):
        found = behaviour(
            jdk, "file:/dev/random", Instance.STRONG, Operation.NEXT_BYTES, strong=strong
        )
        assert found.egd_helps is helps


PROBES = (*SPECIAL, "file:/dev/./random", "file:/dev/./urandom", "/dev/urandom")


@pytest.mark.parametrize("jdk", JDKS.values(), ids=JDKS)
@pytest.mark.parametrize("instance", Instance)
@pytest.mark.parametrize("operation", Operation)
def test_egd_helps_says_whether_any_value_changes_the_device(
    jdk: JdkVersion, instance: Instance, operation: Operation
) -> None:
    found = [behaviour(jdk, source, instance, operation) for source in PROBES]
    changes = len({b.device for b in found}) > 1
    assert all(b.egd_helps is changes for b in found)


def test_a_missing_device_takes_native_prng_away() -> None:
    for jdk, software in ((JdkVersion(8), Algorithm.SHA1PRNG), (JdkVersion(17), Algorithm.DRBG)):
        found = behaviour(
            jdk, "file:/dev/random", Instance.DEFAULT, Operation.NEXT_BYTES, readable=False
        )
        assert (found.algorithm, found.device) == (software, Device.THREADED)
    strong = behaviour(
        JdkVersion(17), "file:/dev/random", Instance.STRONG, Operation.NEXT_BYTES, readable=False
    )
    assert (strong.algorithm, strong.device) == (Algorithm.DRBG, Device.THREADED)
    strong = behaviour(
        JdkVersion(8), "file:/dev/random", Instance.STRONG, Operation.NEXT_BYTES, readable=False
    )
    assert strong.algorithm is None


def test_what_nobody_looked_at_is_doubted() -> None:
    jdk = JdkVersion(17, 15)
    unseen = behaviour(jdk, "file:/opt/seed", Instance.DRBG, Operation.NEXT_BYTES)
    assert unseen.device is Device.THREADED
    assert "/opt/seed" in unseen.doubt
    seen = behaviour(jdk, "file:/opt/seed", Instance.DRBG, Operation.NEXT_BYTES, readable=True)
    assert (seen.device, seen.can_block, seen.doubt) == (Device.OTHER, None, "")
    hardware = behaviour(jdk, "file:/dev/hwrng", Instance.DRBG, Operation.NEXT_BYTES)
    assert (hardware.device, hardware.can_block) == (Device.OTHER, None)
    assert hardware.doubt
    assert not behaviour(jdk, "file:/dev/random", Instance.DRBG, Operation.NEXT_BYTES).doubt


@pytest.mark.parametrize(
    ("jdk", "word"),
    [
        (JdkVersion(5), "not looked at"),
        (JdkVersion(27), "not looked at"),
        (JdkVersion(12), "JDK-8228613"),
        (JdkVersion(17, family=VmFamily.GRAAL_NATIVE), "native image"),
        (JdkVersion(8, vendor="IBM Corporation", family=VmFamily.OPENJ9), "IBMJCE"),
    ],
)
def test_versions_the_tables_were_not_made_for_are_doubted(jdk: JdkVersion, word: str) -> None:
    found = behaviour(jdk, "file:/dev/./urandom", Instance.DEFAULT, Operation.NEXT_BYTES)
    assert word in found.doubt


@pytest.mark.parametrize(
    ("jdk", "reads"),
    [
        (JdkVersion(6, 45), (20, 32)),
        (JdkVersion(7, 80), (20, 32)),
        (JdkVersion(8, 111), (20, 32)),
        (JdkVersion(8, 112), (20, 256)),
        (JdkVersion(8), None),
        (JdkVersion(9, 0), (20, 256)),
        (JdkVersion(25), (20, 256)),
        (None, None),
    ],
)
def test_reads_of_native_prng_changed_in_8u112(
    jdk: JdkVersion | None, reads: tuple[int, ...] | None
) -> None:
    for algorithm in (Algorithm.NATIVE_PRNG, Algorithm.NATIVE_PRNG_BLOCKING):
        assert first_reads(algorithm, Operation.NEXT_BYTES, jdk) == reads
        assert bytes_wanted(algorithm, Operation.NEXT_BYTES, jdk) == (sum(reads) if reads else None)


def test_reads_of_the_software_generators() -> None:
    jdk = JdkVersion(17)
    assert bytes_wanted(Algorithm.SHA1PRNG, Operation.NEXT_BYTES, jdk) == 20
    assert bytes_wanted(Algorithm.SHA1PRNG, Operation.NEXT_BYTES, None) == 20
    assert bytes_wanted(Algorithm.DRBG, Operation.NEXT_BYTES, jdk) == 32
    assert bytes_wanted(Algorithm.SHA1PRNG, Operation.SET_SEED, jdk) == 0
    # 20 or 8192 before JDK-6998583, and which update of 6 took it is not known.
    assert bytes_wanted(Algorithm.SHA1PRNG, Operation.NEXT_BYTES, JdkVersion(6, 20)) is None
    assert bytes_wanted(Algorithm.DRBG, Operation.GENERATE_SEED, jdk) is None
    assert bytes_wanted(Algorithm.NATIVE_PRNG_BLOCKING, Operation.SET_SEED, jdk) == 20
    assert bytes_wanted(Algorithm.OTHER, Operation.NEXT_BYTES, jdk) is None


@pytest.mark.parametrize(
    ("jdk", "blocks"),
    [
        (JdkVersion(6, 45), True),
        (JdkVersion(8, 504), True),
        (JdkVersion(8), True),
        (JdkVersion(10, 2), True),
        (JdkVersion(11, 20), True),
        (JdkVersion(11, 20, vendor="Oracle Corporation"), False),
        (JdkVersion(11, 21), False),
        (JdkVersion(11), None),
        (JdkVersion(16), True),
        (JdkVersion(17, 7), True),
        (JdkVersion(17, 8), False),
        (JdkVersion(17, 15), False),
        (JdkVersion(17), None),
        (JdkVersion(20), False),
        (JdkVersion(25, 3), False),
    ],
)
def test_jarsigner_nonce(jdk: JdkVersion, blocks: bool | None) -> None:  # noqa: FBT001 - a row
    assert jarsigner_nonce_blocks(jdk) is blocks


def test_locks_and_look_ups_by_update() -> None:
    assert next_bytes_synchronized(JdkVersion(8, 111)) is True
    assert next_bytes_synchronized(JdkVersion(8, 112)) is False
    assert next_bytes_synchronized(JdkVersion(8)) is None
    assert next_bytes_synchronized(JdkVersion(7, 80)) is True
    assert next_bytes_synchronized(JdkVersion(17)) is False
    assert seeding_looks_up_host(JdkVersion(7, 60)) is True
    assert seeding_looks_up_host(JdkVersion(7, 65)) is False
    assert seeding_looks_up_host(JdkVersion(7)) is None
    assert seeding_looks_up_host(JdkVersion(6, 45)) is None
    assert seeding_looks_up_host(JdkVersion(8)) is False


SOURCES = st.one_of(
    st.sampled_from([row["egd"] for row in MATRIX]),
    st.text(max_size=40),
    st.text(alphabet="file:/dv.urano#?% ", max_size=30),
)


@given(
    st.integers(1, 60),
    st.none() | st.integers(0, 600),
    SOURCES,
    st.sampled_from(Instance),
    st.sampled_from(Operation),
    st.none() | st.text(max_size=40),
    st.none() | st.booleans(),
)
def test_every_question_has_an_answer(
    feature: int,
    update: int | None,
    source: str,
    instance: Instance,
    operation: Operation,
    strong: str | None,
    readable: bool | None,  # noqa: FBT001 - drawn
) -> None:
    jdk = JdkVersion(feature, update)
    found = behaviour(jdk, source, instance, operation, strong=strong, readable=readable)
    assert found.source
    assert (found.fixed_delay_ms is not None) is (found.device is Device.THREADED)
    if found.device is Device.RANDOM:
        assert found.can_block
