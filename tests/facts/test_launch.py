"""How a process was launched, from what /proc holds of it."""

from __future__ import annotations

import lzma
from pathlib import Path

from tests.facts.jvms_by_hand import Machine, running

from seedstall.model.evidence import Ask, Got, Missing, Why
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Environment, Launch, OptionOrigin, Product, TomcatHome
from seedstall.model.seeding import SeedSource

EGD = "-Djava.security.egd=file:/dev/urandom"
PERF_17 = lzma.decompress(
    (Path(__file__).parent.parent / "parse/hsperfdata-17.0.15.xz").read_bytes()
)
OWN = b"100600 0 0 9 1000 1000 32768"


def launch(machine: Machine) -> Launch:
    reading = machine.case.get(Launch)
    assert isinstance(reading, Got), reading
    return reading.value


def test_command_line_and_environment_together() -> None:
    found = launch(running("java", "-Da=1", "Main", environ={"JAVA_TOOL_OPTIONS": EGD}))
    assert found.property_value("java.security.egd") == "file:/dev/urandom"
    assert found.environ_read


def test_an_environment_that_may_not_be_read_is_said() -> None:
    found = launch(running("java", "Main").process("environ", Why.DENIED))
    assert not found.environ_read


def test_of_a_name_set_twice_the_first_counts() -> None:
    machine = running("java", "Main").process("environ", b"A=1\0A=2\0noequals\0B=\0")
    reading = machine.case.get(Environment)
    assert isinstance(reading, Got)
    assert dict(reading.value) == {"A": "1", "B": ""}
    assert "A" not in repr(reading.value), "it holds secrets"


def test_argument_files_are_read_in_its_root_from_its_directory() -> None:
    machine = running("java", "@conf/args", "@/etc/args", "Main")
    machine.process("root", b"/srv/jail", Ask.LINK).process("cwd", b"/srv/jail/app", Ask.LINK)
    machine.root("/app/conf/args", b"-Da=1\n").root("/etc/args", f"{EGD}\n".encode())
    found = launch(machine)
    assert [o.text for o in found.options] == ["-Da=1", EGD]
    assert found.options[1].place == "@/etc/args:1"


def test_the_root_of_a_chroot_as_working_directory() -> None:
    machine = running("java", "@args", "Main")
    machine.process("root", b"/srv/jail", Ask.LINK).process("cwd", b"/srv/jail", Ask.LINK)
    assert launch(machine.root("/args", b"-Da=1\n")).unread_files == ()


def with_perf(machine: Machine) -> Machine:
    machine.root("/tmp", b"hsperfdata_app\0", Ask.LIST)
    return machine.root("/tmp/hsperfdata_app/17", PERF_17).root(
        "/tmp/hsperfdata_app/17", OWN, Ask.STAT
    )


def test_a_lost_argument_file_is_made_up_for_by_the_jvms_own_list() -> None:
    lost = running("java", "@gone", "-cp", "x", "Main")
    assert launch(lost).unread_files == ("gone",)
    found = launch(with_perf(lost))
    assert found.unread_files == ()
    assert found.property_value("java.security.egd") == "file:/dev/./urandom"
    assert found.property_value("java.class.path") == "x"
    assert found.options[-1].origin is OptionOrigin.VM_ARGUMENTS


def test_a_cut_command_line_too() -> None:
    cut = running("java").process("cmdline", (b"java\0" + b"-Dx=" + b"y" * 5000)[:4096])
    assert launch(cut).truncated
    assert launch(with_perf(cut)).property_value("java.security.egd") == "file:/dev/./urandom"
    whole = running("java", "-Dx=" + "y" * 5000, "Main")
    assert not launch(whole).truncated


def test_an_embedded_jvm_is_not_read_as_java() -> None:
    machine = running("/opt/ide/ide", EGD, exe="/opt/ide/ide", environ={"_JAVA_OPTIONS": "-Da=1"})
    found = launch(machine)
    assert [o.text for o in found.options] == ["-Da=1"]
    assert launch(with_perf(machine)).property_value("java.security.egd") == "file:/dev/./urandom"


def test_undecodable_bytes_are_kept() -> None:
    machine = running().process("cmdline", b"java\0-Da=\xff\xfe\0Main\0")
    assert launch(machine).property_value("a") == "\udcff\udcfe"


def test_without_a_command_line_there_is_no_launch() -> None:
    for machine in (
        Machine(),
        running().process("cmdline", b""),
        running().process("cmdline", Why.DENIED),
    ):
        assert isinstance(machine.case.get(Launch), Missing)
    reading = Machine().case.get(Launch)
    assert isinstance(reading, Missing)
    assert reading.why is Why.NOT_COLLECTED


def test_without_exe_a_command_without_java_is_malformed() -> None:
    machine = running("python3", "x.py").process("exe", Why.DENIED, Ask.LINK)
    reading = machine.case.get(Launch)
    assert isinstance(reading, Missing)
    assert reading.why is Why.MALFORMED


BOOTSTRAP = "org.apache.catalina.startup.Bootstrap"


def test_a_tomcat_and_its_directories() -> None:
    machine = running("java", "-Dcatalina.base=/srv/t/", "-Dcatalina.home=/usr/share/t", BOOTSTRAP)
    product, home = machine.case.get(Product), machine.case.get(TomcatHome)
    assert isinstance(product, Got)
    assert product.value.key == "tomcat"
    assert home == Got(TomcatHome("/srv/t", "/usr/share/t"), home.origins)


def test_one_directory_stands_for_both_and_may_be_relative() -> None:
    home = running("java", "-Dcatalina.home=tomcat", BOOTSTRAP).case.get(TomcatHome)
    assert isinstance(home, Got)
    assert home.value == TomcatHome("/app/tomcat", "/app/tomcat")
    assert isinstance(running("java", "Main").case.get(TomcatHome), Missing)
    assert isinstance(Machine().case.get(Product), Missing)


STAMP = (
    "30-Nov-2026 14:28:39.551 INFOS [main] org.apache.catalina.startup.VersionLoggerListener.log"
)
LINES = (
    "Version OS :  3.10.0-957.el7",
    "Architecture :  amd64",
    "Java Home :  /opt/jdk8/jre",
    "Version JVM :  1.8.0_151-b12",
    "Argument :  -Dcatalina.base=/srv/t",
    "Argument :  -Djava.security.egd=/dev/urandom",
)
LOG = "".join(f"{STAMP} {line}\n" for line in LINES)


def test_of_a_tomcats_log_alone_its_options_are_known() -> None:
    case = Machine().input("catalina.out", LOG.encode()).case
    started, jdk = case.get(Launch), case.get(JdkVersion)
    seed, product, home = case.get(SeedSource), case.get(Product), case.get(TomcatHome)
    assert isinstance(started, Got)
    assert started.value.property_value("java.security.egd") == "/dev/urandom"
    assert isinstance(jdk, Got)
    assert (jdk.value.feature, jdk.value.update, jdk.value.told_by) == (8, 151, "catalina.out:4")
    assert isinstance(seed, Got)
    assert (seed.value.value, seed.value.place) == ("/dev/urandom", "catalina.out:6")
    assert isinstance(product, Got)
    assert product.value.key == "tomcat"
    assert isinstance(home, Got)
    assert home.value.base == "/srv/t"


def test_a_live_process_is_believed_before_a_log() -> None:
    machine = running("java", "-Da=live", "Main").input("catalina.out", LOG.encode())
    assert launch(machine).main_class == "Main"
    ended = running().process("cmdline", Why.VANISHED).input("catalina.out", LOG.encode())
    assert isinstance(ended.case.get(Launch), Missing)
