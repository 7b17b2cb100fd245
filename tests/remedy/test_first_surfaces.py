from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from tests.engine.held import HeldFacts
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
from tests.parse.shell.shells import SHELLS, program

from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Missing, Ref, Space, Why
from seedstall.model.jvm import JvmOption, Launch, OptionOrigin, Product, TomcatHome
from seedstall.model.kernel import (
    DeviceNode,
    Distribution,
    Feeders,
    RandomDevices,
    RunningDaemon,
)
from seedstall.model.seeding import Algorithm, SeedSetting, SeedSource
from seedstall.model.surface import SetenvScript
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.remedy.registry import answer, place
from seedstall.remedy.request import Answer, Request
from seedstall.remedy.value import check_value
from seedstall.source.base import Held

RIGHT = "-Djava.security.egd=file:/dev/urandom"
WAITS = SeedEvidence(waits=(SeedWait(stack=stack(), task=task()),))
STRONG = SeedEvidence(waits=(SeedWait(stack=stack(algorithm=Algorithm.NATIVE_PRNG_BLOCKING)),))
HUNG = (JDK17, POOL, WAITS, DEFAULT_SOURCE)
TOMCAT = (
    TomcatHome("/srv/one", "/opt/tomcat"),
    Product("tomcat", "Apache Tomcat", ("tomcat-setenv",)),
)
FIFO = RandomDevices(DeviceNode("/dev/random", "a FIFO"), place="as the JVM sees it")
SECRET = b'CATALINA_OPTS="-Djavax.net.ssl.keyStorePassword=hunter2"\n'


def asked(
    surface: str,
    *facts: object,
    value: str = "",
    force: bool = False,
    argv: tuple[str, ...] = (),
    pid: int | None = 4711,
    missing: dict[type[object], Missing] | None = None,
) -> Answer:
    cmdline = "".join(f"{a}\0" for a in argv).encode("utf-8", "surrogateescape")
    source = Held({Ref(Space.PROCESS, "cmdline"): cmdline} if argv else {})
    case = HeldFacts(*facts, missing=missing)
    return answer(surface, Request(case, source, "4711", pid, value, force=force))


def setenv(content: bytes | None, *facts: object, value: str = "", **script: object) -> Answer:
    found = SetenvScript("/srv/one", content, **script)  # type: ignore[arg-type]
    return asked("tomcat-setenv", *HUNG, *TOMCAT, found, *facts, value=value)


def lines(found: Answer) -> list[str]:
    return found.output.decode().splitlines()


# tomcat-setenv


def test_a_patch_of_the_instances_own_file() -> None:
    found = setenv(b"# mine\n")
    assert lines(found)[0] == "# patch -p1 -d /srv/one < setenv.patch"
    assert "famous" in lines(found)[1]
    assert lines(found)[2:5] == ["--- a/bin/setenv.sh", "+++ b/bin/setenv.sh", "@@ -1,1 +1,3 @@"]
    assert found.write is not None
    assert (found.write.path, found.write.read) == ("/srv/one/bin/setenv.sh", b"# mine\n")
    assert found.write.within == ("/srv/one", "/opt/tomcat")
    assert found.write.content.startswith(b"# mine\n")
    assert any("famous" in note for note in found.notes)


def test_a_patch_that_makes_the_file() -> None:
    found = setenv(None)
    assert "--- /dev/null" in lines(found)
    assert found.write is not None
    assert found.write.read is None


@pytest.mark.parametrize(
    ("jdk", "value"),
    [
        (JDK7, "file:/dev/./urandom"),
        (JDK8, "file:/dev/urandom"),
        (JDK17, "file:/dev/urandom"),
        (None, "file:/dev/./urandom"),
    ],
)
def test_the_value_fits_the_jdk(jdk: object, value: str) -> None:
    facts = [POOL, WAITS, *TOMCAT, SetenvScript("/srv/one", b""), *([jdk] if jdk else [])]
    found = asked("tomcat-setenv", *facts)
    assert lines(found)[-1] == f'+CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd={value}"'
    assert any("--jdk" in note for note in found.notes) == (jdk is None)


def test_the_users_value_goes_before_ours() -> None:
    found = setenv(b"", value="file:/opt/seed;1")
    assert (
        lines(found)[-1]
        == """+CATALINA_OPTS="$CATALINA_OPTS '-Djava.security.egd=file:/opt/seed;1'\""""
    )
    assert any("usual value" in note for note in found.notes)


@pytest.mark.parametrize("content", [b"", None, b"# mine\n"])
def test_the_comment_is_true_for_the_value(content: bytes | None) -> None:
    usual = setenv(content)
    assert usual.write is not None
    assert usual.write.content.count(b"does not block") == 1
    blocking = setenv(content, value="file:/dev/random")
    assert blocking.write is not None
    assert b"does not block" not in blocking.write.content
    assert (
        b"\n# SecureRandom seed source (written by seedstall)\n" in b"\n" + blocking.write.content
    )
    # Over what an earlier --apply wrote.
    again = setenv(usual.write.content, value="file:/dev/random")
    assert again.write is not None
    assert b"does not block" not in again.write.content
    assert b"urandom" not in again.write.content


def test_what_is_in_place_prints_nothing() -> None:
    right = f'CATALINA_OPTS="{RIGHT}"\n'.encode()
    found = setenv(right)
    assert found.output == b""
    assert "already (line 1)" in found.reason
    started_before = Launch("java", (JvmOption("-Da=b", OptionOrigin.COMMAND_LINE),))
    assert "started again" in setenv(right, started_before).reason
    home = setenv(None, inherited=right, inherited_from="/opt/tomcat/bin/setenv.sh")
    assert home.output == b""
    assert "/opt/tomcat/bin/setenv.sh" in home.reason


def test_what_is_in_place_elsewhere_prints_nothing() -> None:
    source = SeedSource("file:/dev/urandom", SeedSetting.EGD, "cmdline[5]")
    assert setenv(b"# mine\n", source).output == b""
    assert setenv(None, source).output == b""
    assert "cmdline[5]" in setenv(None, source).reason
    # A wrong setting in the file itself decides at the next start.
    assert setenv(b'CATALINA_OPTS="-Djava.security.egd=file:/dev/random"\n', source).output


def test_a_file_that_a_new_one_would_hide_is_sourced(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin/setenv.sh").write_text(
        'CATALINA_OPTS="-Dhome=1 -Djava.security.egd=file:/dev/random"\n', "utf-8"
    )
    found = setenv(
        None,
        inherited=(home / "bin/setenv.sh").read_bytes(),
        inherited_from="/opt/tomcat/bin/setenv.sh",
    )
    assert any("take its place" in note for note in found.notes)
    assert any("stays, the new setting comes later" in note for note in found.notes)
    assert found.write is not None
    new = tmp_path / "setenv.sh"
    new.write_bytes(found.write.content)
    for shell in SHELLS:
        done = subprocess.run(
            [*program(shell), "-c", '. "$0"; printf %s "$CATALINA_OPTS"', new],
            env={"CATALINA_HOME": str(home)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"-Dhome=1 -Djava.security.egd=file:/dev/random {RIGHT}"


def test_options_of_the_environment_beat_the_file() -> None:
    launch = Launch("java", (JvmOption("-Djava.security.egd=x", OptionOrigin.JAVA_OPTIONS),))
    assert setenv(b"", launch).output == b""
    assert "_JAVA_OPTIONS" in setenv(b"", launch).reason
    inside = b'export _JAVA_OPTIONS="-Djava.security.egd=x"\n'
    assert setenv(inside, launch).output


def test_strong_instances_are_sent_elsewhere_even_by_a_wrong_setting() -> None:
    content = b'CATALINA_OPTS="-Djava.security.egd=file:/dev/random"\n'
    found = asked("tomcat-setenv", JDK17, POOL, STRONG, *TOMCAT, SetenvScript("/srv/one", content))
    assert found.output == b""
    assert "strongAlgorithms" in found.reason


def test_a_container_is_told_apart() -> None:
    found = setenv(b"", on_host=False)
    assert lines(found)[0] == "# patch -p1 -d /proc/4711/root/srv/one < setenv.patch"
    assert any("inside a container" in note for note in found.notes)


def test_a_tomcat_without_its_scripts_is_told() -> None:
    assert any("tomcat.conf" in note for note in setenv(b"", launcher=False).notes)


def test_secrets_of_the_file_are_told() -> None:
    assert any("may hold a password" in note for note in setenv(SECRET).notes)
    assert b"hunter2" not in setenv(SECRET + b"A=b\n").output


def test_a_hostile_path_stays_on_its_line() -> None:
    script = SetenvScript("/srv/x\n--- a/etc/passwd\x1b[2J", b"")
    found = asked("tomcat-setenv", *HUNG, *TOMCAT, script)
    assert lines(found)[0].startswith("# patch -p1 -d '/srv/x\\x0a--- a/etc/passwd\\x1b[2J'")
    assert "--- a/etc/passwd" not in lines(found)


def test_a_file_that_cannot_be_edited_safely_is_not() -> None:
    with pytest.raises(SeedstallError, match="cannot be edited safely: line 1") as error:
        setenv(b'CATALINA_OPTS="-Da\n')
    assert RIGHT in error.value.hint


def test_without_a_process_the_file_is_a_new_one() -> None:
    found = asked("tomcat-setenv", *HUNG, pid=None)
    assert lines(found)[0] == "# patch -p1 -d CATALINA_BASE < setenv.patch"
    assert "was not seen" in found.notes[0]
    assert found.write is None


def test_a_captured_tree_is_patched_by_its_own_paths() -> None:
    script = SetenvScript("/srv/one", b"", on_host=False)
    found = asked("tomcat-setenv", *HUNG, *TOMCAT, script, pid=None)
    assert lines(found)[0] == "# patch -p1 -d /srv/one < setenv.patch"
    assert not any("container" in note for note in found.notes)


def test_without_a_process_what_is_useless_prints_nothing() -> None:
    assert asked("tomcat-setenv", JDK17, NO_POOL, pid=None).output == b""


def test_a_program_that_is_no_tomcat() -> None:
    kafka = Product("kafka", "Apache Kafka", ("java-opts",))
    with pytest.raises(UsageError, match="is no Tomcat: Apache Kafka") as error:
        asked("tomcat-setenv", *HUNG, kafka)
    assert error.value.hint == "--surface java-opts fits"


@pytest.mark.parametrize(
    ("why", "text"), [(Why.DENIED, "could not be read"), (Why.TRUNCATED, "could not be looked at")]
)
def test_a_file_that_may_not_be_read_is_a_failure_and_not_none(why: Why, text: str) -> None:
    missing: dict[type[object], Missing] = {SetenvScript: Missing(why, (Ref(Space.ROOT, "x"),))}
    with pytest.raises(SeedstallError, match=text) as error:
        asked("tomcat-setenv", *HUNG, *TOMCAT, missing=missing)
    assert error.value.code == 1
    with pytest.raises(SeedstallError, match=text):
        place("tomcat-setenv", Request(HeldFacts(*TOMCAT, missing=missing), Held({}), "4711", 4711))


# Flags


def test_the_plain_flag() -> None:
    assert asked("java-opts", *HUNG).output.decode() == RIGHT + "\n"
    blocks = JvmOption("-Djava.security.egd=file:/dev/random", OptionOrigin.COMMAND_LINE)
    notes = asked("java-opts", *HUNG, Launch("java", (blocks,))).notes
    assert f"it takes the place of {blocks.text}: of two the last one counts" in notes
    assert (
        asked("java-opts", JDK7, POOL, WAITS).output == b"-Djava.security.egd=file:/dev/./urandom\n"
    )
    assert asked("java-opts", JDK17, POOL, STRONG).output == b""


def test_where_nothing_waits_it_takes_force_or_a_value() -> None:
    quiet = (JDK17, NO_POOL, DEFAULT_SOURCE)
    found = asked("java-opts", *quiet)
    assert found.output == b""
    assert found.notes == ("--force prints it all the same",)
    for insisted in (
        asked("java-opts", *quiet, force=True),
        asked("java-opts", *quiet, value="file:/dev/urandom"),
    ):
        assert insisted.output
        assert found.reason in insisted.notes


def test_the_tools_command_line() -> None:
    argv = (
        "/opt/jdk/bin/jarsigner",
        "-J-Xmx1g",
        "-J-Djava.security.egd=file:/dev/random",
        "-J-Djava.security.edg=file:/dev/random",
        "-tsa",
        "http://tsa.example/?a=b&c",
        "-storepass",
        "hunter2",
        "my app.jar",
        "alias",
    )
    found = asked("jarsigner", *HUNG, Launch(argv[0], tool="jarsigner"), argv=argv)
    words = shlex.split(found.output.decode())
    assert words == [
        argv[0],
        f"-J{RIGHT}",
        "-J-Xmx1g",
        "-tsa",
        "http://tsa.example/?a=b&c",
        "-storepass",
        "*****",
        "my app.jar",
        "alias",
    ]
    assert "*****" in found.notes[0]


def test_a_hostile_command_line_stays_on_its_line() -> None:
    argv = ("jarsigner", "a\nrm -rf $HOME\x1b[2J", "\udcff")
    found = asked("jarsigner", *HUNG, Launch("jarsigner", tool="jarsigner"), argv=argv)
    assert found.output.count(b"\n") == 1
    assert b"\x1b" not in found.output


def test_a_tool_without_its_command_line() -> None:
    assert asked("jarsigner", *HUNG).output.decode() == f"jarsigner -J{RIGHT}\n"
    assert asked("jarsigner", JDK17, POOL, STRONG).output == b""


def test_what_is_no_tool() -> None:
    with pytest.raises(UsageError, match=r"no JDK tool: org\.example\.Main"):
        asked("jarsigner", *HUNG, Launch("java", main_class="org.example.Main"))


def test_strong_algorithms() -> None:
    found = asked("strong-algorithms", JDK17, POOL, STRONG)
    assert found.output.endswith(b"securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN\n")
    assert asked("strong-algorithms", JDK7, POOL, STRONG).output == b""


def test_strong_algorithms_where_they_are_useless() -> None:
    for jdk in (JDK8, JDK17):
        found = asked("strong-algorithms", jdk, POOL, WAITS)
        assert found.output == b""
        assert "not in getInstanceStrong()" in found.reason
        assert asked("strong-algorithms", jdk, POOL, WAITS, value="file:/x").output == b""
        insisted = asked("strong-algorithms", jdk, POOL, WAITS, force=True)
        assert insisted.output
        assert found.reason in insisted.notes


@pytest.mark.parametrize("surface", ["java-opts", "jarsigner", "strong-algorithms"])
def test_a_read_of_the_programs_own_prints_nothing(surface: str) -> None:
    own = SeedEvidence(waits=(SeedWait(java=thread(), task=task()),))
    found = asked(surface, JDK17, POOL, own)
    assert found.output == b""
    assert "the program itself reads the device" in found.reason
    tomcat = asked("tomcat-setenv", JDK17, POOL, own, *TOMCAT, SetenvScript("/srv/one", b""))
    assert tomcat.output == b""


def test_a_text_without_a_wait_is_told() -> None:
    note = "nothing in 4711 shows a wait for random bytes"
    for surface in ("java-opts", "jarsigner", "strong-algorithms", "tomcat-setenv"):
        found = asked(surface, pid=None)
        assert found.output
        assert found.notes[0] == note
        assert note not in asked(surface, *HUNG, pid=None).notes


# The host

CENTOS7 = Distribution("centos", "7", pretty="CentOS Linux 7")


def test_commands_for_the_host() -> None:
    found = asked("rngd", *HUNG, CENTOS7)
    assert b"rngd" in found.output
    assert found.notes[0] == "as root, on the host"


def test_where_a_daemon_is_useless() -> None:
    for facts in ((NO_POOL, CENTOS7), (POOL, CENTOS7, FIFO)):
        found = asked("rngd", *facts, force=True)
        assert found.output == b""
        assert found.reason


def test_where_a_daemon_runs() -> None:
    for feeders in (
        Feeders(running=(RunningDaemon("haveged", 77),)),
        Feeders(hwrng="virtio_rng.0", self_feeding=True),
    ):
        found = asked("rngd", *HUNG, CENTOS7, feeders)
        assert found.output == b""
        assert "77" in found.reason or "virtio_rng.0" in found.reason
        assert asked("rngd", *HUNG, CENTOS7, feeders, force=True).output
    assert asked("rngd", *HUNG, CENTOS7, Feeders()).output


def test_a_kernel_that_is_not_known_is_asked_for() -> None:
    found = asked("rngd", JDK17, WAITS, CENTOS7)
    assert found.output == b""
    assert "--kernel" in found.reason


def test_a_host_whose_commands_are_not_known() -> None:
    found = asked("rngd", POOL, Distribution("plan9", "4"))
    assert found.output == b""
    assert found.reason


# Values


@pytest.mark.parametrize("value", ["", "a b", "x'", "file:/dev/zero", "file://dev/urandom"])
def test_values_that_are_refused(value: str) -> None:
    with pytest.raises(UsageError, match="--set-egd"):
        check_value(value, JDK17)


def test_values_that_are_warned_of() -> None:
    assert check_value("file:/dev/urandom", JDK17) == ()
    for value in ("/dev/urandom", "file:/dev/random", "file:/dev/./urandom"):
        (warning,) = check_value(value, JDK17)
        assert "file:/dev/urandom is the usual value" in warning
