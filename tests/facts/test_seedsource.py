"""The effective seed source, by the strongest of its settings."""

from __future__ import annotations

import pytest
from tests.facts.jvms_by_hand import SECURITY, Machine, running

from seedstall.model.evidence import Ask, Got, Missing, Space, Why
from seedstall.model.security import KnownSource, SecurityProperties, SeedFile, SeedSettings
from seedstall.model.seeding import SeedSetting, SeedSource

MASTER = "/opt/jdk/conf/security/java.security"
EGD = "-Djava.security.egd=file:/dev/urandom"


def source(machine: Machine) -> SeedSource:
    reading = machine.case.get(SeedSource)
    assert isinstance(reading, Got), reading
    return reading.value


def test_the_security_property_where_nothing_else_is_set() -> None:
    assert source(running()) == SeedSource(
        "file:/dev/random",
        SeedSetting.SECURITY_PROPERTY,
        f"{MASTER}:2",
        strong_algorithms="NativePRNGBlocking:SUN,DRBG:SUN",
    )


def test_8_keeps_it_elsewhere() -> None:
    found = source(running(home="/opt/jdk8/jre", version="1.8.0_151"))
    assert found.place == "/opt/jdk8/jre/lib/security/java.security:2"


def test_by_the_program_alone_the_jre_below_is_found() -> None:
    machine = running(home="/opt/jdk8", version="1.8.0_151", security=None).process(
        "maps", Why.DENIED
    )
    machine.root("/opt/jdk8/lib/security/java.security", Why.ABSENT)
    machine.root("/opt/jdk8/jre/lib/security/java.security", SECURITY)
    assert source(machine).place == "/opt/jdk8/jre/lib/security/java.security:2"


def test_the_system_property_beats_it() -> None:
    found = source(running("java", EGD, "Main"))
    assert (found.value, found.setting, found.place) == (
        "file:/dev/urandom",
        SeedSetting.EGD,
        "cmdline[1]",
    )
    assert found.overridden == ((f"{MASTER}:2", "file:/dev/random"),)


def test_the_last_one_wins_and_the_others_are_told() -> None:
    found = source(
        running(
            "java",
            "-Djava.security.egd=one",
            "-Djava.security.egd=two",
            "Main",
            environ={"JAVA_TOOL_OPTIONS": "-Djava.security.egd=tool", "_JAVA_OPTIONS": EGD},
        )
    )
    assert (found.value, found.place) == ("file:/dev/urandom", "environ _JAVA_OPTIONS")
    assert [value for _, value in found.overridden] == ["two", "one", "tool", "file:/dev/random"]


@pytest.mark.parametrize("empty", ["-Djava.security.egd=", "-Djava.security.egd"])
def test_an_empty_one_falls_through_and_beats_the_others(empty: str) -> None:
    found = source(running("java", EGD, empty, "Main"))
    assert (found.value, found.setting) == ("file:/dev/random", SeedSetting.SECURITY_PROPERTY)
    assert ("cmdline[1]", "file:/dev/urandom") in found.overridden


def test_values_are_kept_to_the_letter() -> None:
    assert source(running("java", "-Djava.security.egd=file:/dev/urandom ", "M")).value.endswith(
        " "
    )


def test_an_appended_file() -> None:
    machine = running("java", "-Djava.security.properties=more", "Main")
    machine.root("/app/more", b"\nsecurerandom.source=file:/dev/./urandom\n")
    found = source(machine)
    assert (found.value, found.place) == ("file:/dev/./urandom", "/app/more:2")
    assert found.overridden == ((f"{MASTER}:2", "file:/dev/random"),)


def test_a_file_that_may_not_be_read_leaves_a_doubt() -> None:
    machine = running("java", "-Djava.security.properties=/etc/secret", "Main")
    machine.root("/etc/secret", Why.DENIED)
    assert source(machine).assumed
    assert isinstance(machine.case.get(KnownSource), Missing)
    said = source(machine.input("given/egd", b"file:/dev/urandom"))
    assert (said.value, said.setting) == ("file:/dev/urandom", SeedSetting.GIVEN)


def test_no_source_in_any_file_is_no_source() -> None:
    found = source(running(security=b"security.provider.1=SUN\n"))
    assert (found.value, found.assumed) == ("", False)
    assert "no securerandom.source" in found.place


@pytest.mark.parametrize(
    ("version", "value"),
    [
        ("1.7.0_80", "file:/dev/urandom"),
        ("1.8.0_151", "file:/dev/random"),
        ("17.0.15", "file:/dev/random"),
    ],
)
def test_the_shipped_default_is_assumed_and_said_to_be(version: str, value: str) -> None:
    machine = running(version=version, security=None)
    for folder in ("conf", "lib", "jre/lib"):
        machine.root(f"/opt/jdk/{folder}/security/java.security", Why.DENIED)
    found = source(machine)
    assert (found.value, found.setting, found.assumed) == (value, SeedSetting.BUILT_IN, True)
    assert isinstance(machine.case.get(KnownSource), Missing)


def test_a_jdk_without_the_file_has_no_source_or_no_generator() -> None:
    old = running(version="11.0.13", security=None).root(MASTER, Why.ABSENT)
    found = source(old)
    assert (found.value, found.setting, found.assumed) == ("", SeedSetting.BUILT_IN, False)
    new = running(version="17.0.15", security=None).root(MASTER, Why.ABSENT).case.get(SeedSource)
    assert isinstance(new, Missing)
    assert "no SecureRandom" in new.detail


def test_what_the_user_says_counts_where_the_evidence_does_not_say() -> None:
    said = Machine().input("given/egd", b"file:/dev/./urandom")
    found = source(said)
    assert (found.value, found.setting, found.place) == (
        "file:/dev/./urandom",
        SeedSetting.GIVEN,
        "--egd",
    )
    assert (
        source(said.input("given/jdk", b"1.8.0_151")).strong_algorithms == "NativePRNGBlocking:SUN"
    )
    live = source(running("java", EGD, "Main").input("given/egd", b"file:/dev/random"))
    assert live.value == "file:/dev/urandom"
    assert ("--egd", "file:/dev/random") in live.overridden
    hidden = running().process("environ", Why.DENIED).input("given/egd", b"file:/dev/./urandom")
    assert source(hidden).setting is SeedSetting.GIVEN


def test_of_a_text_alone_the_jdks_default_is_assumed() -> None:
    text = b"Full thread dump OpenJDK 64-Bit Server VM (25.151-b12 mixed mode):\n"
    found = source(Machine().input("dump.txt", text))
    assert (found.value, found.assumed) == ("file:/dev/random", True)
    assert "JDK 8" in found.place


def test_with_nothing_at_all_it_is_not_collected() -> None:
    for kind in (SeedSource, KnownSource, SeedSettings, SecurityProperties, SeedFile):
        reading = Machine().case.get(kind)
        assert isinstance(reading, Missing), kind
        assert reading.why is Why.NOT_COLLECTED, kind


def test_settings_need_a_command_line_or_the_users_word() -> None:
    assert isinstance(running().case.get(SeedSettings), Got)
    only_jdk = Machine().input("given/jdk", b"17")
    assert isinstance(only_jdk.case.get(SeedSettings), Missing)
    assert isinstance(only_jdk.input("given/egd", b"x").case.get(SeedSettings), Got)


# --- where it leads ---------------------------------------------------------------------------------------------------


def seed_file(value: str, stat: bytes | Why, path: str) -> SeedFile | Missing:
    machine = running("java", f"-Djava.security.egd={value}", "Main").root(path, stat, Ask.STAT)
    reading = machine.case.get(SeedFile)
    return reading.value if isinstance(reading, Got) else reading


@pytest.mark.parametrize(
    ("stat", "readable", "kind"),
    [
        (b"20666 1 9 5 0 0 0", True, "a character device"),
        (b"20660 1 9 5 0 0 0", None, "a character device"),
        (b"20600 1 9 5 0 0 0", False, "a character device"),
        (b"20600 1 9 5 1000 0 0", True, "a character device"),
        (b"20006 1 9 5 1000 0 0", False, "a character device"),
        (b"20640 1 9 5 0 1000 0", True, "a character device"),
        (b"20666 1 9 5 -1 -1 0", True, "a character device"),
        (b"10666 0 0 5 0 0 0", True, "a FIFO"),
        (b"100644 0 0 5 0 0 7", True, "a file"),
        (b"40755 0 0 5 0 0 0", False, "a directory"),
    ],
)
def test_what_the_url_leads_to(stat: bytes, readable: object, kind: str) -> None:
    found = seed_file("file:/x/./y", stat, "/x/y")
    assert isinstance(found, SeedFile)
    assert (found.there, found.readable, found.kind) == (True, readable, kind)


def test_what_is_not_there_and_what_cannot_be_seen() -> None:
    gone = seed_file("file:/x", Why.ABSENT, "/x")
    assert gone == SeedFile("/x", there=False, readable=False)
    assert isinstance(seed_file("file:/x", Why.DENIED, "/x"), Missing)
    assert isinstance(seed_file("/dev/urandom", b"", "/dev/urandom"), Missing)
    relative = seed_file("file:dev/urandom", Why.ABSENT, "/app/dev/urandom")
    assert isinstance(relative, SeedFile)
    assert relative.path == "/app/dev/urandom"
    empty = seed_file("file:/x", b"100644 0 0 5 0 0 0", "/x")
    assert isinstance(empty, SeedFile)
    assert empty.empty


def test_root_reads_everything() -> None:
    machine = running("java", "-Djava.security.egd=file:/x", "Main")
    status = machine.held[next(r for r in machine.held if r.path == "status")]
    assert isinstance(status, bytes)
    machine.process("status", status.replace(b"1000\t1000\t1000\t1000", b"0\t0\t0\t0"))
    reading = machine.root("/x", b"20000 1 9 5 7 7 0", Ask.STAT).case.get(SeedFile)
    assert isinstance(reading, Got)
    assert reading.value.readable


def test_readings_stay_in_their_spaces() -> None:
    reading = running("java", EGD, "Main").case.get(SeedFile)
    assert isinstance(reading, Got)
    assert {o.space for o in reading.origins} <= {
        Space.PROCESS,
        Space.ROOT,
        Space.INPUT,
        Space.KERNEL,
    }
