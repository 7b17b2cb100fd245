"""SS204: spellings that change the default generator, and those that do not."""

from __future__ import annotations

import pytest
from tests.facts.jvms_by_hand import Machine, running
from tests.facts_by_hand import JDK7, JDK8, JDK17, NO_POOL

from seedstall.engine.run import run
from seedstall.model.finding import Clear, Confidence, Disposition, Finding, Inconclusive, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.security import KnownSource, SeedFile
from seedstall.model.seeding import SeedSetting, SeedSource
from seedstall.model.verdict import Status
from seedstall.rules.ss204_default_algorithm_changed import default_algorithm_changed

SPELLINGS = (
    "file:/dev/./urandom",
    "file:///dev/urandom",
    "FILE:/dev/urandom",
    "file:/dev/urandom ",
)


def findings(value: str, jdk: JdkVersion = JDK17, file: SeedFile | None = None) -> list[Finding]:
    known = KnownSource(SeedSource(value, SeedSetting.EGD, "cmdline[1]"))
    return list(default_algorithm_changed(known, jdk, file, None))


@pytest.mark.parametrize("value", SPELLINGS)
@pytest.mark.parametrize(("jdk", "algorithm"), [(JDK8, "SHA1PRNG"), (JDK17, "DRBG")])
def test_the_famous_spellings(value: str, jdk: JdkVersion, algorithm: str) -> None:
    (found,) = findings(value, jdk)
    assert (found.severity, found.status) == (Severity.NOTE, Status.CLEAR)
    assert f"makes {algorithm} the default generator" in found.sentence
    assert "does not block" in found.sentence
    assert found.fixes[0].params["egd"] == "file:/dev/urandom"


@pytest.mark.parametrize("value", ["file:/dev/urandom", "file:/dev/random"])
def test_the_special_strings_keep_it(value: str) -> None:
    assert findings(value) == findings(value, JDK8) == []


@pytest.mark.parametrize("value", SPELLINGS)
def test_on_6_and_7_the_change_is_the_cure(value: str) -> None:
    assert findings(value, JDK7) == []


@pytest.mark.parametrize(
    "value", ["/dev/urandom", "file:/dev/./random", "file:/gone", "", "file://dev/urandom"]
)
def test_broken_and_blocking_ones_are_other_rules(value: str) -> None:
    assert findings(value) == []


def test_another_device_that_is_there() -> None:
    there = SeedFile("/dev/hwrng", there=True, readable=True, kind="a character device")
    assert len(findings("file:/dev/hwrng", file=there)) == 1
    fifo = SeedFile("/srv/x", there=True, readable=True, kind="a FIFO")
    assert findings("file:/srv/x", file=fifo) == []
    fixed = SeedFile("/srv/x", there=True, readable=True, kind="a file")
    assert findings("file:/srv/x", file=fixed) == []


def test_where_the_file_was_not_looked_at_it_is_less_sure() -> None:
    (found,) = findings("file:/dev/hwrng")
    assert found.confidence is Confidence.POSSIBLE


def test_where_the_source_was_only_assumed_it_could_not_look() -> None:
    (outcome,) = run((default_algorithm_changed,), Machine().input("given/jdk", b"17").case)
    assert isinstance(outcome, Inconclusive)
    (seen,) = run((default_algorithm_changed,), running().case)
    assert isinstance(seen, Clear)


@pytest.mark.parametrize("value", SPELLINGS)
def test_where_the_device_does_not_block_the_flag_goes(value: str) -> None:
    known = KnownSource(SeedSource(value, SeedSetting.EGD, "cmdline[1]"))
    (found,) = default_algorithm_changed(known, JDK17, None, None, NO_POOL)
    (fix,) = found.fixes
    assert (fix.surface, fix.disposition) == ("remove-flag", Disposition.REVIEW)
    assert fix.params["place"] == "cmdline[1]"
    # A line of java.security cannot go: without any source the JDK takes its threaded seeder.
    line = KnownSource(SeedSource(value, SeedSetting.SECURITY_PROPERTY, "java.security:117"))
    (found,) = default_algorithm_changed(line, JDK17, None, None, NO_POOL)
    assert {fix.params.get("egd") for fix in found.fixes} == {"file:/dev/urandom"}


def test_the_default_generator_that_comes_back_is_a_persons_decision() -> None:
    (found,) = findings("file:/dev/./urandom")
    assert {fix.disposition for fix in found.fixes} == {Disposition.REVIEW}
