"""What stands before a java, seen through."""

from __future__ import annotations

import pytest

from seedstall.model.jdk import JdkVersion
from seedstall.parse.launcher import launch

EGD = "-Djava.security.egd=file:/dev/urandom"
JDK17 = JdkVersion(17)

SEEN_THROUGH = [
    (["sudo", "-u", "java", "-E", "--", "java"], ("sudo",)),
    (["/usr/bin/sudo", "-nu", "tomcat", "java"], ("sudo",)),
    (["env", "-u", "JAVA_OPTS", "A=b", "java"], ("env",)),
    (["nice", "-n", "5", "java"], ("nice",)),
    (["nice", "-10", "/opt/jdk/bin/java"], ("nice",)),
    (["ionice", "-c2", "-n", "7", "nice", "java"], ("ionice", "nice")),
    (["timeout", "-k", "5s", "--signal=INT", "60", "java"], ("timeout",)),
    (["strace", "-f", "-e", "trace=openat,read", "-o", "java", "java"], ("strace",)),
    (["taskset", "-c", "0,1", "java"], ("taskset",)),
    (["chrt", "-f", "10", "java"], ("chrt",)),
    (["numactl", "--interleave=all", "java"], ("numactl",)),
    (["nohup", "setsid", "java"], ("nohup", "setsid")),
    (["screen", "-dmS", "java", "java"], ("screen",)),
    (["screen", "-d", "-m", "-S", "name", "java"], ("screen",)),
    (["exec", "-a", "java", "java"], ("exec",)),
    (["gosu", "java", "java"], ("gosu",)),
    (["su-exec", "1000:1000", "java"], ("su-exec",)),
    (["tini", "--", "java"], ("tini",)),
    (["dumb-init", "java"], ("dumb-init",)),
    (["chroot", "/srv/java", "java"], ("chroot",)),
    (["flock", "-n", "/run/java", "java"], ("flock",)),
    (["runuser", "-u", "java", "--", "java"], ("runuser",)),
    (["systemd-run", "-p", "MemoryMax=1G", "--unit", "java", "java"], ("systemd-run",)),
    (["start-stop-daemon", "--start", "--exec", "/opt/jdk/bin/java", "--"], ("start-stop-daemon",)),
    (["docker", "run", "--rm", "image", "java"], ("docker",)),
]


@pytest.mark.parametrize(("before", "wrapper"), SEEN_THROUGH)
def test_wrappers_are_seen_through(before: list[str], wrapper: tuple[str, ...]) -> None:
    found = launch([*before, EGD, "-jar", "app.jar", "-Dlate=1"], {}, jdk=JDK17)
    assert found.wrapper == wrapper
    assert found.property_value("java.security.egd") == "file:/dev/urandom"
    assert found.jar == "app.jar"
    assert found.misplaced == ("-Dlate=1",)


@pytest.mark.parametrize(
    "text",
    [
        f"exec java {EGD} -jar app.jar",
        f"cd /app && exec java {EGD} -jar app.jar",
        f"export O='{EGD}'; java $O -jar app.jar",
        f"O={EGD} ; exec sudo -u app java $O -jar app.jar",
        f"sleep 1 | true; java {EGD} -jar app.jar 2>&1",
        f'java "{EGD}" -jar "app.jar"',
        f"JAVA_TOOL_OPTIONS={EGD} java -jar app.jar",
    ],
)
@pytest.mark.parametrize("shell", [["sh", "-c"], ["/bin/bash", "-lc"], ["dash", "-e", "-c"]])
def test_a_shells_text_is_read(shell: list[str], text: str) -> None:
    found = launch([*shell, text], {}, jdk=JDK17)
    assert found.property_value("java.security.egd") == "file:/dev/urandom"
    assert found.jar == "app.jar"
    assert found.wrapper[0].startswith(shell[0].rpartition("/")[2])


def test_a_variable_nobody_knows_is_named() -> None:
    found = launch(["sh", "-c", "java $JAVA_OPTS -jar app.jar"], {}, jdk=JDK17)
    assert found.unread_files == ("$JAVA_OPTS",)
    assert found.jar == "app.jar"
    known = launch(["sh", "-c", "java $JAVA_OPTS -jar app.jar"], {"JAVA_OPTS": EGD}, jdk=JDK17)
    assert known.unread_files == ()
    assert known.property_value("java.security.egd")


def test_env_changes_what_the_jvm_gets() -> None:
    environ = {"JAVA_TOOL_OPTIONS": EGD}
    assert launch(["env", "-i", "java", "M"], environ, jdk=JDK17).options == ()
    assert launch(["env", "-u", "JAVA_TOOL_OPTIONS", "java", "M"], environ, jdk=JDK17).options == ()
    set_ = launch(["env", f"_JAVA_OPTIONS={EGD}", "java", "M"], {}, jdk=JDK17)
    assert set_.property_value("java.security.egd")
    split = launch(["env", "-S", f"A=b java {EGD} M"], {}, jdk=JDK17)
    assert split.property_value("java.security.egd")
    plain = launch([f"_JAVA_OPTIONS={EGD}", "java", "M"], {}, jdk=JDK17)
    assert plain.property_value("java.security.egd")


@pytest.mark.parametrize(
    ("argv", "variable", "runs"),
    [
        (
            ["/opt/tomcat/bin/catalina.sh", "run"],
            "CATALINA_OPTS",
            "org.apache.catalina.startup.Bootstrap",
        ),
        (["sh", "bin/catalina.sh", "run"], "JAVA_OPTS", "org.apache.catalina.startup.Bootstrap"),
        (
            ["bash", "-c", "exec ./bin/startup.sh"],
            "CATALINA_OPTS",
            "org.apache.catalina.startup.Bootstrap",
        ),
        (["sudo", "-E", "bin/standalone.sh"], "JAVA_OPTS", "jboss-modules.jar"),
        (
            ["mvn", "-q", "verify"],
            "MAVEN_OPTS",
            "org.codehaus.plexus.classworlds.launcher.Launcher",
        ),
    ],
)
def test_a_servers_script_hands_its_variables_over(
    argv: list[str], variable: str, runs: str
) -> None:
    found = launch(argv, {variable: f"-Xmx1g {EGD}"}, jdk=JDK17)
    assert found.property_value("java.security.egd") == "file:/dev/urandom"
    assert runs in (found.main_class, found.jar)


def test_catalina_opts_beats_java_opts() -> None:
    environ = {"JAVA_OPTS": "-Da=java", "CATALINA_OPTS": "-Da=catalina"}
    assert launch(["catalina.sh", "run"], environ, jdk=JDK17).property_value("a") == "catalina"


def test_wrappers_without_end_are_given_up() -> None:
    with pytest.raises(ValueError, match="no java"):
        launch(["env"] * 50, {}, jdk=JDK17)
    assert launch([*["env"] * 5, "java", "M"], {}, jdk=JDK17).wrapper == ("env",) * 5
