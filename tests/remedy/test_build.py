from __future__ import annotations

import subprocess
from pathlib import Path

import javaproperties
import pytest
from tests.engine.held import HeldFacts
from tests.facts_by_hand import JDK17
from tests.lint_by_hand import lint_text
from tests.remedy.patching import applied

from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Ask, Ref, Space, Why
from seedstall.model.jvm import Environment, JvmOption, Launch, OptionOrigin
from seedstall.remedy.registry import answer, place
from seedstall.remedy.request import Answer, GivenFile, Request
from seedstall.source.base import Held

RIGHT = "-Djava.security.egd=file:/dev/urandom"
POM = b"""<project>
  <build><plugins><plugin>
    <artifactId>maven-jarsigner-plugin</artifactId>
  </plugin></plugins></build>
</project>
"""
ANT = b'<project>\n  <signjar jar="a.jar" alias="x"/>\n</project>\n'
FILES = {
    "maven": ("pom.xml", POM),
    "jvm-config": (".mvn/jvm.config", b"-Xmx1g\n"),
    "gradle": ("gradle.properties", b"org.gradle.daemon=true\n"),
    "ant": ("build.xml", ANT),
}
MAVEN = Launch(
    "java",
    (JvmOption("-Dmaven.multiModuleProjectDirectory=/srv/app", OptionOrigin.COMMAND_LINE),),
)
PROCESSES = {
    "maven": ("/srv/app/pom.xml", MAVEN),
    "jvm-config": ("/srv/app/.mvn/jvm.config", MAVEN),
    "gradle": ("/home/x/.gradle/gradle.properties", Environment({"HOME": "/home/x"})),
    "ant": ("/srv/app/sub/own.xml", Launch("java", program=("-buildfile", "sub/own.xml"))),
}


def named(surface: str, file: tuple[str, bytes], *facts: object) -> Answer:
    given = GivenFile(f"/srv/{file[0]}", file[1], file[0])
    return answer(surface, Request(HeldFacts(*facts), Held({}), "x", None, force=True, given=given))


@pytest.mark.parametrize("surface", FILES)
def test_a_patch_of_the_file_that_was_named(surface: str, tmp_path: Path) -> None:
    name, old = FILES[surface]
    found = named(surface, (name, old), JDK17)
    assert found.write is not None
    new = found.write.content
    applied(found.output, name.rpartition("/")[2], old, tmp_path, new)
    assert lint_text(name, new, jdk="17") == []
    assert "already" in named(surface, (name, new), JDK17).reason


@pytest.mark.parametrize("surface", PROCESSES)
def test_the_file_is_found_by_the_process(surface: str) -> None:
    path, fact = PROCESSES[surface]
    files: dict[Ref, bytes | Why] = {
        Ref(Space.ROOT, path.lstrip("/")): FILES[surface][1],
        Ref(Space.PROCESS, "cwd", Ask.LINK): b"/srv/app",
    }
    request = Request(HeldFacts(JDK17, fact), Held(files), "4711", 4711, force=True)
    found = answer(surface, request)
    assert found.write is not None
    assert found.write.path == path
    assert place(surface, request).path == path
    nothing = Request(HeldFacts(JDK17), Held({}), "x", None, force=True)
    text = answer(surface, nothing)
    assert text.write is None
    assert RIGHT.removeprefix("-D").partition("=")[2].encode() in text.output


def test_gradle_loses_no_default() -> None:
    new = named("gradle", FILES["gradle"], JDK17)
    assert new.write is not None
    read = javaproperties.loads(new.write.content.decode())
    assert read["org.gradle.jvmargs"] == f"-Xmx512m -XX:MaxMetaspaceSize=384m {RIGHT}"
    assert any("gradle/gradle#19750" in note for note in new.notes)
    own = named("gradle", ("gradle.properties", b"org.gradle.jvmargs=-Xmx2g\n"), JDK17)
    assert own.write is not None
    assert own.write.content == f"org.gradle.jvmargs=-Xmx2g {RIGHT}\n".encode()
    assert not any("19750" in note for note in own.notes)


def test_maven_before_39_takes_a_comment_for_an_option() -> None:
    found = named("jvm-config", FILES["jvm-config"], JDK17)
    assert found.write is not None
    assert found.write.content == f"-Xmx1g\n{RIGHT}\n".encode()


def test_a_pom_that_does_not_sign() -> None:
    with pytest.raises(SeedstallError, match="does not configure maven-jarsigner-plugin") as caught:
        named("maven", ("pom.xml", b"<project/>"))
    assert "-Djarsigner.arguments=-J-Djava.security.egd=" in (caught.value.hint or "")


# Real programs, with a stand-in for what they start: what reaches it is what is claimed.


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A JAVA_HOME whose java writes down its arguments."""
    java = tmp_path / "home/bin/java"
    java.parent.mkdir(parents=True)
    java.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/seen\n')
    java.chmod(0o755)
    return tmp_path


def test_a_real_maven_hands_it_to_its_jvm(stand_in: Path) -> None:
    if not Path("/usr/bin/mvn").exists():
        pytest.skip("needs Maven: apt-get install maven")
    found = named("jvm-config", (".mvn/jvm.config", b"-Xmx64m"), JDK17)
    assert found.write is not None
    (stand_in / ".mvn").mkdir()
    (stand_in / ".mvn/jvm.config").write_bytes(found.write.content)
    env = {"JAVA_HOME": str(stand_in / "home"), "PATH": "/usr/bin:/bin", "HOME": str(stand_in)}
    subprocess.run(["/usr/bin/mvn", "-v"], cwd=stand_in, env=env, check=True, capture_output=True)
    seen = (stand_in / "seen").read_text().splitlines()
    assert seen.index("-Xmx64m") < seen.index(RIGHT) < seen.index("-classpath")


def test_a_real_ant_hands_it_to_jarsigner(stand_in: Path, java: Path) -> None:
    if not Path("/usr/bin/ant").exists():
        pytest.skip("needs Ant: apt-get install ant")
    signer = stand_in / "home/bin/java"
    (stand_in / "a.jar").write_bytes(b"PK")
    text = '<project default="s"><target name="s">\n<signjar jar="a.jar" alias="x" storepass="p"'
    text += f' executable="{signer}"/>\n<exec executable="jarsigner"/></target></project>'
    found = named("ant", ("build.xml", text.encode()), JDK17)
    assert found.write is not None
    (stand_in / "build.xml").write_bytes(found.write.content)
    (stand_in / "jarsigner").symlink_to(signer)
    env = {
        "PATH": f"{stand_in}:/usr/bin:/bin",
        "JAVA_HOME": str(java.parent.parent),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["/usr/bin/ant"], cwd=stand_in, env=env, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (stand_in / "seen").read_text().splitlines().count(f"-J{RIGHT}") == 2
