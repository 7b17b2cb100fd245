"""Which JDK a process runs, by the cheapest evidence that says it."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from tests.facts.jvms_by_hand import LINE, Machine, running
from tests.parse.test_elf import BANNER_8, elf_file

from seedstall.model.evidence import Ask, Got, Missing, Space, Why
from seedstall.model.jdk import JdkVersion, VmFamily
from seedstall.model.jvm import JavaHome

PARSE = Path(__file__).parent.parent / "parse"
PERF_17 = lzma.decompress((PARSE / "hsperfdata-17.0.15.xz").read_bytes())
OWN = b"100600 0 0 9 1000 1000 32768"
DUMP = b"2026-11-30 10:00:00\nFull thread dump OpenJDK 64-Bit Server VM (25.151-b12 mixed mode):\n"


def version(machine: Machine) -> JdkVersion:
    reading = machine.case.get(JdkVersion)
    assert isinstance(reading, Got), reading
    return reading.value


def home(machine: Machine) -> JavaHome:
    reading = machine.case.get(JavaHome)
    assert isinstance(reading, Got), reading
    return reading.value


def no_release(machine: Machine) -> Machine:
    return machine.root("/opt/jdk/release", Why.ABSENT)


def test_java_home_is_the_mapped_librarys() -> None:
    assert home(running()) == JavaHome("/opt/jdk", "maps", "/opt/jdk/lib/server/libjvm.so")
    old = home(running(home="/opt/jdk8/jre", version="1.8.0_151"))
    assert old.path == "/opt/jdk8/jre"


def test_openj9_is_told_by_its_library() -> None:
    maps = f"{LINE}/opt/jdk/lib/server/libjvm.so\n{LINE}/opt/jdk/lib/default/libj9vm29.so\n"
    machine = running().process("maps", maps.encode())
    assert home(machine).path == "/opt/jdk"
    assert version(machine).family is VmFamily.OPENJ9


def test_in_a_chroot_it_is_as_the_process_sees_it() -> None:
    machine = running().process("root", b"/srv/jail", Ask.LINK)
    machine.process("maps", f"{LINE}/srv/jail/opt/jdk/lib/server/libjvm.so\n".encode())
    assert home(machine).path == "/opt/jdk"
    assert version(machine).update == 15


def test_without_maps_it_is_the_programs() -> None:
    machine = running().process("maps", Why.DENIED)
    assert home(machine) == JavaHome("/opt/jdk", "exe")
    upgraded = machine.process("exe", b"/opt/jdk/bin/java (deleted)", Ask.LINK)
    assert home(upgraded).replaced


def test_what_may_not_be_read_is_denied_and_not_absent() -> None:
    machine = running().process("maps", Why.DENIED).process("exe", Why.DENIED, Ask.LINK)
    reading = machine.case.get(JavaHome)
    assert isinstance(reading, Missing)
    assert reading.why is Why.DENIED
    assert machine.case.get(JdkVersion) == Missing(Why.DENIED, reading.origins)


def test_a_program_of_its_own_without_a_jvm_is_none() -> None:
    machine = running(exe="/opt/ide/ide").process("maps", f"{LINE}/opt/ide/ide\n".encode())
    reading = machine.case.get(JavaHome)
    assert isinstance(reading, Missing)
    assert reading.why is Why.ABSENT


def test_the_release_file_first() -> None:
    found = version(running())
    assert (found.feature, found.update, found.vendor) == (17, 15, "Debian")
    assert found.told_by == "/opt/jdk/release"
    assert found.family is VmFamily.HOTSPOT


def test_of_a_jre_in_a_jdk_the_release_file_lies_above() -> None:
    machine = running(home="/opt/jdk8/jre", version="1.8.0_151")
    machine.root("/opt/jdk8/jre/release", Why.ABSENT)
    machine.root("/opt/jdk8/release", b'JAVA_VERSION="1.8.0_151"\n')
    assert version(machine).told_by == "/opt/jdk8/release"


def with_perf(machine: Machine, folder: str = "hsperfdata_app", owner: bytes = OWN) -> Machine:
    machine.root("/tmp", folder.encode() + b"\0x\0", Ask.LIST)
    return machine.root(f"/tmp/{folder}/17", PERF_17).root(f"/tmp/{folder}/17", owner, Ask.STAT)


def test_then_hsperfdata_under_the_inner_pid() -> None:
    found = version(with_perf(no_release(running(version="21.0.1"))))
    assert (found.feature, found.update) == (17, 15)
    assert found.told_by == "/tmp/hsperfdata_app/17"


def test_another_users_file_is_not_believed() -> None:
    machine = with_perf(no_release(running()), owner=b"100644 0 0 9 666 666 32768")
    assert isinstance(machine.case.get(JdkVersion), Missing)


def test_a_damaged_perf_file_is_passed_over() -> None:
    machine = with_perf(no_release(running())).root("/tmp/hsperfdata_app/17", b"junk")
    assert isinstance(machine.case.get(JdkVersion), Missing)


def test_where_files_were_replaced_the_jvms_own_word_goes_first() -> None:
    machine = with_perf(running(version="17.0.99"))
    machine.process("maps", f"{LINE}/opt/jdk/lib/server/libjvm.so (deleted)\n".encode())
    assert version(machine).update == 15
    assert version(with_perf(running(version="17.0.99"))).update == 99


def test_then_the_program_itself() -> None:
    machine = no_release(running(exe="/opt/jdk/bin/jarsigner"))
    machine.root("/opt/jdk/bin/jarsigner", b"\x7fELF\0\x001.8.0_151-b12\0java\0")
    found = version(machine)
    assert (found.feature, found.update, found.told_by) == (8, 151, "/opt/jdk/bin/jarsigner")


def test_then_the_library_for_a_program_of_its_own() -> None:
    machine = no_release(running(exe="/usr/bin/jsvc"))
    machine.root("/opt/jdk/lib/server/libjvm.so", elf_file(BANNER_8))
    found = version(machine)
    assert (found.feature, found.update) == (8, 504)


@pytest.mark.parametrize(
    ("text", "feature", "update", "line"),
    [
        (DUMP, 8, 151, 2),
        (
            b"x\nFull thread dump Java HotSpot(TM) 64-Bit Server VM (24.80-b11 mixed mode):\n",
            7,
            None,
            2,
        ),
        (b"12-Mar INFO [main] x JVM Version:          11.0.13+8\n", 11, 13, 1),
        (b'mail\n\njava version "1.7.0_80"\nJava(TM)\n', 7, 80, 3),
        (b'openjdk version "17" 2021-09-14\n', 17, 0, 1),
        (b"Attaching to process ID 1, please wait...\nJVM version is 25.504-b01\n", 8, 504, 2),
        (b"JVM version is 17.0.21.1+2-1-deb12u1-Debian\n", 17, 21, 1),
        (b'{\n "threadDump": {\n "runtimeVersion": "25.0.2+10-LTS",\n', 25, 2, 3),
        (b'4242\n2026-11-30T19:46:49.8Z\n21.0.8+9-LTS\n\n#1 "main"\n', 21, 8, 3),
        (b"x\n\tat java.base@11.0.13/java.lang.Object.wait(Native Method)\n", 11, 13, 2),
        (b'[{"moduleName":"java.base","moduleVersion":"17.0.21.1","x":1}]', 17, 21, 1),
        (b"1CIJAVAVERSION JRE 17 Linux amd64-64 (build 17.0.9+9)\n", 17, None, 1),
    ],
)
def test_texts_handed_over(text: bytes, feature: int, update: int | None, line: int) -> None:
    found = version(Machine().input("dump.txt", text))
    assert (found.feature, found.update) == (feature, update)
    assert found.told_by == f"dump.txt:{line}"


def test_the_last_of_several_counts_and_another_is_told() -> None:
    text = b"JVM Version: 1.8.0_151-b12\n" * 2 + b"JVM Version: 17.0.15+6\n"
    found = version(Machine().input("catalina.out", text))
    assert (found.feature, found.told_by) == (17, "catalina.out:3")
    assert "1.8.0_151" in found.conflict


def test_a_dump_goes_before_other_texts() -> None:
    machine = Machine().input("a.txt", b'java version "11.0.2"\n').input("b.txt", DUMP)
    assert version(machine).told_by == "b.txt:2"


def test_a_captured_jvms_reply_is_read_and_a_live_ones_not_asked_for() -> None:
    captured = running().attach("threaddump", DUMP)
    del captured.held[next(r for r in captured.held if r.path.endswith("release"))]
    assert version(captured).told_by == "threaddump:2"
    live = no_release(running()).attach("threaddump", DUMP)
    live.root("/opt/jdk/bin/java", Why.ABSENT).root("/opt/jdk/lib/server/libjvm.so", Why.TRUNCATED)
    assert isinstance(live.case.get(JdkVersion), Missing)


def test_what_the_user_says_counts_where_nothing_else_does() -> None:
    found = version(Machine().input("given/jdk", b"8u151"))
    assert (found.feature, found.update, found.told_by) == (8, 151, "--jdk")
    wrong = version(running().input("given/jdk", b"8u151"))
    assert wrong.feature == 17
    assert "--jdk says 8u151" in wrong.conflict
    same = version(running().input("given/jdk", b"17"))
    assert same.conflict == ""


def test_a_dump_is_believed_before_the_users_word_and_the_contradiction_told() -> None:
    dump = b"Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing):\n"
    found = version(Machine().input("d", dump).input("given/jdk", b"1.7.0_80"))
    assert found.feature == 17
    assert found.conflict.startswith("--jdk says 1.7.0_80, d:1 says 17.0.15")
    two = b'openjdk version "11.0.2" 2019\nopenjdk version "17.0.1" 2021\n'
    found = version(Machine().input("d", two).input("given/jdk", b"8u151"))
    assert "--jdk says 8u151" in found.conflict
    assert "d:1 says 11.0.2" in found.conflict


def test_it_fills_in_an_update_that_the_evidence_leaves_open() -> None:
    dump = b"Full thread dump Java HotSpot(TM) 64-Bit Server VM (24.80-b11 mixed mode):\n"
    found = version(Machine().input("d", dump).input("given/jdk", b"1.7.0_80"))
    assert (found.feature, found.update, found.conflict) == (7, 80, "")


def test_nonsense_from_the_user_is_malformed() -> None:
    reading = Machine().input("given/jdk", b"sometime").case.get(JdkVersion)
    assert isinstance(reading, Missing)
    assert reading.why is Why.MALFORMED


def test_with_nothing_at_all_it_says_what_would_help() -> None:
    reading = Machine().case.get(JdkVersion)
    assert isinstance(reading, Missing)
    assert reading.why is Why.NOT_COLLECTED
    assert Space.PROCESS in {origin.space for origin in reading.origins}
