import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.jdk import JdkVersion, VmFamily
from seedstall.parse.jdkversion import jdk_version, vm_banner

SPELLINGS = [
    ("1.8.0_151", 8, 151),
    ("8u151", 8, 151),
    ("8", 8, None),
    ("8u", 8, None),
    ("1.8", 8, None),
    ("1.8.0", 8, None),
    ("1.6.0_45", 6, 45),
    ("1.4.2_19", 4, 19),
    ("1.7.0_80-b15", 7, 80),
    ("1.8.0_181-b13", 8, 181),
    ("1.8.0-b132", 8, 0),
    ("1.8.0-internal", 8, None),
    ("1.8.0_25.b17", 8, 25),
    ("1.8.0_292-8u292-b10-0ubuntu1~18.04-b10", 8, 292),
    ("8u151-b12-1~deb9u1", 8, 151),
    ("7u181-2.6.14-1~deb8u1", 7, 181),
    ("6b38-1.13.10-1", 6, None),
    ("8.0.302-tem", 8, 302),
    ("8.372.07.1", 8, 372),
    ("8.72.0.17", 8, None),
    ("8.0.6.7", 8, None),
    ("1.9.0-ea-b100", 9, None),
    ("9.0.4", 9, 4),
    ("11.0.7+10", 11, 7),
    ("11.0.20.1", 11, 20),
    ("11.0.20-internal", 11, 20),
    ("17", 17, None),
    ("17.0", 17, None),
    ("17.0.0", 17, 0),
    ("17-ea", 17, None),
    ("17u15", 17, 15),
    ("17.0.15+6-Debian-1deb12u1", 17, 15),
    ("17.0.16.8.1", 17, 16),
    ("21-ea+35", 21, 0),
    ("21.0.8.fx-zulu", 21, 8),
    ("25", 25, None),
    ("25.0.3+9-LTS", 25, 3),
    ("jdk-17.0.2", 17, 2),
    ("jdk1.8.0_151", 8, 151),
    ("jdk8u292-b10", 8, 292),
    ("Java 8 update 151", 8, 151),
    ("Java SE 8u151", 8, 151),
    ("OpenJDK 11", 11, None),
    ('"17.0.2"', 17, 2),
    ("1.8.0_151 (Oracle)", 8, 151),
    ("java-1.8.0-openjdk-1.8.0.151-1.b12.el7_4.x86_64", 8, 151),
    # HotSpot's own versions: the banner's number is not the JDK's.
    ("25.504-b01", 8, 504),
    ("25.504", 8, 504),
    ("25.0-b70", 8, 0),
    ("25.71-b00", 8, None),
    ("24.79-b02", 7, None),
    ("20.45-b01", 6, None),
]


@pytest.mark.parametrize(("text", "feature", "update"), SPELLINGS)
def test_spelling(text: str, feature: int, update: int | None) -> None:
    found = jdk_version(text)
    assert (found.feature, found.update) == (feature, update)


JAVA_VERSION_OUTPUT = """\
openjdk version "1.8.0_504"
OpenJDK Runtime Environment (build 1.8.0_504-b01)
OpenJDK 64-Bit Server VM (build 25.504-b01, mixed mode)
"""

SENTENCES = [
    ('openjdk version "17.0.15" 2025-04-15', 17, 15),
    ('openjdk version "17" 2021-09-14', 17, 0),
    ('java version "1.8.0"', 8, 0),
    ('JAVA_VERSION="1.8.0_504"', 8, 504),
    ('JAVA_VERSION="17"', 17, 0),
    ("java.version=11.0.13", 11, 13),
    ("java.runtime.version = 1.8.0_504-8u504-ga-1-b01", 8, 504),
    (JAVA_VERSION_OUTPUT, 8, 504),
    (
        "# JRE version: OpenJDK Runtime Environment (17.0.15+6) (build 17.0.15+6-Debian-1deb12u1)",
        17,
        15,
    ),
    ("OpenJDK 64-Bit Server VM (build 25.504-b01, mixed mode)", 8, 504),
    (
        "OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE (1.8.0_504-8u504-ga-1-b01), built on Jul 1",
        8,
        504,
    ),
]


@pytest.mark.parametrize(("text", "feature", "update"), SENTENCES)
def test_sentence_of_a_program(text: str, feature: int, update: int | None) -> None:
    found = jdk_version(text)
    assert (found.feature, found.update) == (feature, update)


def test_release_file_names_the_vendor_and_the_machine() -> None:
    text = 'IMPLEMENTOR="Eclipse Adoptium"\nJAVA_VERSION="21.0.8"\nJVM_VARIANT="Openj9"\n'
    assert jdk_version(text) == JdkVersion(
        21, 8, text="21.0.8", vendor="Eclipse Adoptium", family=VmFamily.OPENJ9
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1.1",
        "100",
        "2025",
        "-1",
        "8u151x",
        "hello 8",
        "17;rm",
        "٣",
        "8\n9",
        "v",
        "1.",
        "22.3.1",
    ],
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a JDK version"):
        jdk_version(text)


BANNERS = [
    ("OpenJDK 64-Bit Server VM (25.504-b01 mixed mode):", 8, 504, VmFamily.HOTSPOT),
    ("Java HotSpot(TM) 64-Bit Server VM (20.45-b01 mixed mode):", 6, None, VmFamily.HOTSPOT),
    ("Java HotSpot(TM) 64-Bit Server VM (24.51-b03 mixed mode):", 7, None, VmFamily.HOTSPOT),
    ("Java HotSpot(TM) Client VM (23.7-b01 mixed mode, sharing):", 7, None, VmFamily.HOTSPOT),
    (
        "OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing):",
        17,
        15,
        VmFamily.HOTSPOT,
    ),
    ("OpenJDK 64-Bit Server VM (21+35-2513 mixed mode):", 21, 0, VmFamily.HOTSPOT),
    ("OpenJDK 64-Bit Server VM (11.0.13+8 mixed mo", 11, 13, VmFamily.HOTSPOT),
    ("Zing 64-Bit Tiered VM (1.8.0-zing_16.07.0.0-b4):", 8, None, VmFamily.HOTSPOT),
]


@pytest.mark.parametrize(("text", "feature", "update", "family"), BANNERS)
def test_banner_of_a_dump(text: str, feature: int, update: int | None, family: VmFamily) -> None:
    found = vm_banner("Full thread dump " + text)
    assert found is not None
    assert (found.feature, found.update, found.family) == (feature, update, family)


def test_the_text_kept_is_the_version_alone() -> None:
    assert str(jdk_version("openjdk 17.0.15 2025-04-15")) == "17.0.15"
    assert str(jdk_version("1.8.0_151 (Oracle)")) == "1.8.0_151"


def test_a_hotspot_version_is_not_shown_as_if_it_were_the_jdk() -> None:
    assert str(vm_banner("OpenJDK 64-Bit Server VM (25.504-b01 mixed mode):")) == "8u504"
    assert str(vm_banner("OpenJDK 64-Bit Server VM (24.79-b02 mixed mode):")) == "7"


def test_javacore_and_jrockit() -> None:
    javacore = vm_banner(
        "1CIJAVAVERSION JRE 1.8.0 Linux amd64-64 (build 8.0.6.7 - pxa6480sr6fp7-20200312_01)"
    )
    assert javacore is not None
    assert (javacore.feature, javacore.update, javacore.family) == (8, None, VmFamily.OPENJ9)
    jrockit = vm_banner("Oracle JRockit(R) R28.2.7-7-155314-1.6.0_45-20130329-0641-linux-x86_64")
    assert jrockit is not None
    assert (jrockit.feature, jrockit.update, jrockit.family) == (6, 45, VmFamily.UNKNOWN)


@pytest.mark.parametrize(
    "text", ["", "Full thread dump", "Server VM ([email protected] mixed mode):", "17"]
)
def test_no_banner(text: str) -> None:
    assert vm_banner(text) is None


ALPHABET = st.text(alphabet='0123456789.u_+-b "()=JREVMjdk\n', max_size=60)


@given(st.one_of(st.text(max_size=80), ALPHABET))
def test_any_text_gives_a_version_or_a_value_error(text: str) -> None:
    try:
        found = jdk_version(text)
    except ValueError:
        return
    assert 2 <= found.feature <= 99
    assert found.update is None or 0 <= found.update < 100_000


@given(st.one_of(st.text(max_size=80), ALPHABET))
def test_any_banner_is_read_without_an_error(text: str) -> None:
    vm_banner(text)


@given(st.integers(9, 60), st.integers(0, 400))
def test_a_modern_version_survives_its_spelling(feature: int, update: int) -> None:
    assert jdk_version(f"{feature}.0.{update}+7") == JdkVersion(
        feature, update, text=f"{feature}.0.{update}+7"
    )
    assert jdk_version(str(JdkVersion(feature, update))).update == update


@given(st.integers(5, 8), st.integers(0, 999))
def test_an_old_version_survives_its_spelling(feature: int, update: int) -> None:
    assert jdk_version(f"1.{feature}.0_{update:02}").update == update
    assert jdk_version(str(JdkVersion(feature, update))) == JdkVersion(
        feature, update, text=f"{feature}u{update}"
    )


HOSTILE = [
    "JRE " * 200_000,
    "1.8.0_" + "1" * 1_000_000,
    "17" + ".0" * 500_000,
    "(build " * 200_000,
    "JRockit-" * 200_000,
    "java " * 200_000,
    'JAVA_VERSION="' * 100_000,
    "8u" + "-" * 1_000_000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_done_with_at_once(text: str) -> None:
    start = time.perf_counter()
    with contextlib.suppress(ValueError):
        jdk_version(text)
    vm_banner(text)
    assert time.perf_counter() - start < 0.5
