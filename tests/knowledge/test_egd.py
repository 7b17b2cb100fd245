import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.egd import EgdFault, egd_problem, right_egd, strong_advice
from seedstall.knowledge.seeding import behaviour
from seedstall.model.jdk import JdkVersion
from seedstall.model.seeding import Algorithm, Device, Instance, Operation

JDK7, JDK8, JDK17 = JdkVersion(7, 80), JdkVersion(8, 151), JdkVersion(17, 15)
ALL = [JdkVersion(feature) for feature in range(6, 27)]


@pytest.mark.parametrize("jdk", ALL, ids=str)
def test_the_right_value_cures_what_egd_can_cure(jdk: JdkVersion) -> None:
    value = right_egd(jdk).value
    for instance in (Instance.DEFAULT, Instance.SHA1PRNG):
        for operation in Operation:
            assert behaviour(jdk, value, instance, operation).device in (
                Device.URANDOM,
                Device.NONE,
            )
    assert egd_problem(value, jdk) is None


@pytest.mark.parametrize("jdk", [jdk for jdk in ALL if jdk.feature >= 8], ids=str)
def test_from_8_on_it_keeps_the_default_generator(jdk: JdkVersion) -> None:
    found = behaviour(jdk, right_egd(jdk).value, Instance.DEFAULT, Operation.NEXT_BYTES)
    assert found.algorithm is Algorithm.NATIVE_PRNG


@pytest.mark.parametrize("jdk", ALL, ids=str)
def test_with_the_jdk_unknown_the_value_cures_every_one(jdk: JdkVersion) -> None:
    value = right_egd(None).value
    assert egd_problem(value, None) is None
    for instance in (Instance.DEFAULT, Instance.SHA1PRNG):
        found = behaviour(jdk, value, instance, Operation.GENERATE_SEED)
        assert found.device is Device.URANDOM


def test_the_reason_is_one_line_for_who_expects_the_other_spelling() -> None:
    assert right_egd(JDK7).value == "file:/dev/./urandom"
    assert "not file:/dev/urandom" in right_egd(JDK7).why
    assert right_egd(JDK8).value == "file:/dev/urandom"
    assert "not the famous file:/dev/./urandom" in right_egd(JDK8).why
    assert "SHA1PRNG" in right_egd(JDK8).why
    assert "DRBG" in right_egd(JDK17).why
    for jdk in (JDK7, JDK8, JDK17, None):
        assert "\n" not in right_egd(jdk).why


def test_strong_instances_need_another_property() -> None:
    advice = strong_advice()
    assert advice.value == "NativePRNGNonBlocking:SUN"
    found = behaviour(
        JDK17, "file:/dev/random", Instance.STRONG, Operation.NEXT_BYTES, strong=advice.value
    )
    assert found.device is Device.URANDOM


CASES = [
    # value, JDK, fault, starts quick all the same
    ("/dev/urandom", JDK8, EgdFault.NO_SCHEME, False),
    ("/dev/urandom", None, EgdFault.NO_SCHEME, False),
    ("/dev/./urandom", JDK17, EgdFault.NO_SCHEME, False),
    ("urandom", JDK17, EgdFault.NO_SCHEME, False),
    ("fiel:/dev/urandom", JDK17, EgdFault.NO_HANDLER, False),
    ("file:/dev/.urandom", None, EgdFault.NO_SUCH_FILE, False),
    ("file:/dev/uramdom", JDK8, EgdFault.NO_SUCH_FILE, False),
    ("file:/DEV/URANDOM", JDK8, EgdFault.OTHER_DEVICE, None),
    ("file:/opt/seed", JDK8, EgdFault.OTHER_DEVICE, None),
    ("file:/dev/hwrng", JDK8, EgdFault.OTHER_DEVICE, None),
    ("file:/dev/zero", JDK8, EgdFault.NO_RANDOMNESS, False),
    ("file://dev/urandom", JDK17, EgdFault.REFUSED, False),
    ("file://dev/urandom", None, EgdFault.REFUSED, False),
    ("file:dev/urandom", JDK17, EgdFault.RELATIVE, None),
    ("http://10.0.0.1/seed", JDK17, EgdFault.REMOTE, None),
    ("", JDK17, EgdFault.EMPTY, None),
    ('"file:/dev/urandom"', JDK17, EgdFault.QUOTED, False),
    ("\u201cfile:/dev/urandom\u201d", None, EgdFault.QUOTED, False),
    ("file:/dev/urandom", JDK7, EgdFault.NO_EFFECT, False),
    ("file:/dev/random", JDK8, EgdFault.NO_EFFECT, False),
    ("file:/dev/random", None, EgdFault.NO_EFFECT, False),
    ("file:/dev/random", JDK7, EgdFault.DEFAULT_BLOCKS, False),
    ("file:/dev/./random", JDK8, EgdFault.DEFAULT_BLOCKS, False),
    ("file:///dev/random", JDK17, EgdFault.DEFAULT_BLOCKS, False),
    ("file:///dev/random", None, EgdFault.DEFAULT_BLOCKS, False),
    ("file:/dev/random ", JDK17, EgdFault.DEFAULT_BLOCKS, False),
    ("file:/dev/urandom ", JDK8, EgdFault.BLANK, True),
    ("FILE:/dev/urandom", JDK8, EgdFault.CASE, True),
    ("file:/dev/./urandom", JDK8, EgdFault.CHANGES_DEFAULT, True),
    ("file:///dev/urandom", JDK17, EgdFault.CHANGES_DEFAULT, True),
    # Right where they stand, or not known to be wrong.
    ("file:/dev/urandom", JDK8, None, None),
    ("file:/dev/urandom", JDK17, None, None),
    ("file:/dev/urandom", None, None, None),
    ("file:/dev/./urandom", JDK7, None, None),
    ("file:///dev/urandom", JDK7, None, None),
    ("file:/dev/urandom ", JDK7, None, None),
    ("file:/dev/./urandom", None, None, None),
]


@pytest.mark.parametrize(("value", "jdk", "fault", "cures"), CASES)
def test_problem(
    value: str,
    jdk: JdkVersion | None,
    fault: EgdFault | None,
    cures: bool | None,  # noqa: FBT001 - a row
) -> None:
    found = egd_problem(value, jdk)
    assert (found.fault if found else None) is fault
    if found is not None:
        assert found.cures is cures
        assert found.better == right_egd(jdk).value
        assert "\n" not in found.message


def test_every_fault_has_a_case() -> None:
    assert {fault for _, _, fault, _ in CASES if fault} == set(EgdFault)


def test_a_file_that_was_looked_at() -> None:
    assert egd_problem("file:/opt/seed", JDK7, readable=True) is None
    changed = egd_problem("file:/opt/seed", JDK17, readable=True)
    assert changed is not None
    assert changed.fault is EgdFault.CHANGES_DEFAULT
    missing = egd_problem("file:/dev/urandom", JDK17, readable=False)
    assert missing is not None
    assert missing.fault is EgdFault.NO_SUCH_FILE


MATRIX = Path(__file__).with_name("jdk-seeding-matrix.csv")


def test_problems_agree_with_what_was_measured() -> None:
    """A value is called a cure exactly where SHA1PRNG's first bytes came from /dev/urandom."""
    jdks = {"7u-src-on-8u504": JDK7, "8u504": JDK8, "17.0.15": JDK17}
    seen = 0
    with MATRIX.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            jdk = jdks.get(row["jdk"])
            if jdk is None or row["egd"] in ("unset", "empty") or row["instance"] != "alg:SHA1PRNG":
                continue
            found = egd_problem(row["egd"], jdk)
            cures = found is None or found.cures is True
            assert cures is (row["device_read"] == "/dev/urandom"), row
            seen += 1
    assert seen > 30


@given(st.text(max_size=50), st.none() | st.integers(5, 30), st.none() | st.booleans())
def test_any_value_is_judged(
    value: str,
    feature: int | None,
    readable: bool | None,  # noqa: FBT001 - drawn
) -> None:
    jdk = JdkVersion(feature) if feature is not None else None
    found = egd_problem(value, jdk, readable=readable)
    assert found is None or found.message
