"""SS202: seed sources that the JDK cannot use, and those it can."""

from __future__ import annotations

import pytest
from tests.facts.jvms_by_hand import Machine, running
from tests.facts_by_hand import JDK7, JDK8, JDK17, NO_POOL, POOL

from seedstall.engine.run import run
from seedstall.model.finding import Clear, Confidence, Finding, Inconclusive, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.security import KnownSource, SeedFile
from seedstall.model.seeding import SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.rules.ss202_seed_url_broken import seed_url_broken

TOMCAT = Product("tomcat", "Apache Tomcat", ("tomcat-setenv", "java-opts"))
URANDOM = SeedFile("/dev/urandom", there=True, readable=True, kind="a character device")


def findings(
    value: str, file: SeedFile | None = None, jdk: JdkVersion | None = JDK17
) -> list[Finding]:
    known = KnownSource(SeedSource(value, SeedSetting.EGD, "cmdline[1]"))
    return list(seed_url_broken(known, file, jdk, TOMCAT))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("/dev/urandom", "no file: before the path"),
        ('"file:/dev/urandom"', "quotation marks"),
        ("\u201cfile:/dev/urandom\u201d", "quotation marks"),
        ("fiel:/dev/urandom", "cannot open"),
        ("file:/dev/.urandom", "no Linux has"),
    ],
)
@pytest.mark.parametrize("jdk", [JDK7, JDK8, JDK17, None])
def test_broken_whatever_the_machine(value: str, says: str, jdk: JdkVersion | None) -> None:
    (found,) = findings(value, jdk=jdk)
    assert (found.cause, found.status) == (Cause.THREADED_SEED, Status.AT_RISK)
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.LIKELY)
    assert says in found.sentence
    assert found.fixes[0].surface == "tomcat-setenv"
    assert found.evidence[0].origin == "cmdline[1]"


def test_a_file_that_is_not_there_in_the_jvms_root() -> None:
    (found,) = findings("file:/srv/x", SeedFile("/srv/x", there=False, readable=False))
    assert found.cause is Cause.THREADED_SEED
    assert "not there" in found.evidence[1].excerpt
    (unreadable,) = findings(
        "file:/srv/x", SeedFile("/srv/x", there=True, readable=False, kind="a character device")
    )
    assert "not readable" in unreadable.evidence[1].excerpt


def test_no_source_at_all() -> None:
    (found,) = findings("")
    assert "no seed source" in found.sentence
    assert found.cause is Cause.THREADED_SEED


def test_two_slashes_leave_no_generator() -> None:
    (found,) = findings("file://dev/urandom")
    assert found.cause is Cause.HARMFUL_FIX


def test_the_same_bytes_every_time() -> None:
    plain = SeedFile("/srv/x", there=True, readable=True, kind="a file")
    (found,) = findings("file:/srv/x", plain)
    assert found.cause is Cause.HARMFUL_FIX
    assert "guessed" in found.sentence
    (empty,) = findings(
        "file:/srv/x", SeedFile("/srv/x", there=True, readable=True, kind="a file", empty=True)
    )
    assert "InternalError" in empty.sentence
    (zero,) = findings(
        "file:/dev/zero",
        SeedFile("/dev/zero", there=True, readable=True, kind="a character device"),
    )
    assert zero.cause is Cause.HARMFUL_FIX


@pytest.mark.parametrize("value", ["file:dev/urandom", "http://host/seed", "file:/srv/x"])
def test_what_depends_on_the_other_end_is_a_note_while_nobody_looked(value: str) -> None:
    (found,) = findings(value)
    assert (found.severity, found.confidence) == (Severity.NOTE, Confidence.POSSIBLE)


def test_a_relative_path_that_is_there_is_fine() -> None:
    there = SeedFile("/app/dev/urandom", there=True, readable=True, kind="a character device")
    assert findings("file:dev/urandom", there) == []
    (gone,) = findings(
        "file:dev/urandom", SeedFile("/app/dev/urandom", there=False, readable=False)
    )
    assert gone.severity is Severity.WARNING


@pytest.mark.parametrize(
    "value",
    [
        "file:/dev/urandom",
        "file:/dev/./urandom",
        "file:///dev/urandom",
        "FILE:/dev/urandom",
        "file:/dev/urandom ",
    ],
)
@pytest.mark.parametrize("file", [URANDOM, None])
def test_usable_ones_are_clear(value: str, file: SeedFile | None) -> None:
    assert findings(value, file) == []


def test_blocking_ones_are_not_broken() -> None:
    assert findings("file:/dev/random") == []
    assert findings("file:/dev/./random") == []


def test_a_missing_device_is_another_rules() -> None:
    assert (
        findings("file:/dev/urandom", SeedFile("/dev/urandom", there=False, readable=False)) == []
    )


def test_a_fifo_or_another_device_is_usable() -> None:
    for kind in ("a FIFO", "a character device"):
        assert (
            findings("file:/srv/x", SeedFile("/srv/x", there=True, readable=True, kind=kind)) == []
        )


def test_where_the_source_was_only_assumed_it_could_not_look() -> None:
    (outcome,) = run((seed_url_broken,), Machine().input("given/jdk", b"17").case)
    assert isinstance(outcome, Inconclusive)
    (seen,) = run((seed_url_broken,), running().case)
    assert isinstance(seen, Clear)


def test_a_bad_flag_that_no_start_needs_goes_and_a_line_of_a_file_is_put_right() -> None:
    flag = KnownSource(SeedSource("/dev/urandom", SeedSetting.EGD, "cmdline[1]"))
    (found,) = seed_url_broken(flag, None, JDK17, TOMCAT, NO_POOL)
    assert [fix.surface for fix in found.fixes] == ["remove-flag"]
    line = KnownSource(SeedSource("/dev/urandom", SeedSetting.SECURITY_PROPERTY, "java.security:9"))
    (found,) = seed_url_broken(line, None, JDK17, TOMCAT, NO_POOL)
    assert found.fixes[0].params["egd"] == "file:/dev/urandom"
    (found,) = seed_url_broken(flag, None, JDK17, TOMCAT, POOL)
    assert found.fixes[0].params["egd"] == "file:/dev/urandom"
