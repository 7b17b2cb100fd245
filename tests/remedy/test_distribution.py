"""Tomcat as distributions package it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.held import HeldFacts
from tests.facts_by_hand import DEFAULT_SOURCE, JDK17, POOL, stack, task
from tests.remedy.patching import applied

from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Reading, Ref, Space, Why
from seedstall.model.jvm import Product, TomcatHome
from seedstall.model.surface import SetenvScript
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.remedy.choice import of_case
from seedstall.remedy.registry import answer, place
from seedstall.remedy.request import Answer, GivenFile, Request
from seedstall.source.base import Held

RIGHT = "-Djava.security.egd=file:/dev/urandom"
HUNG = (JDK17, POOL, SeedEvidence(waits=(SeedWait(stack=stack(), task=task()),)), DEFAULT_SOURCE)
PRODUCT = Product("tomcat", "Apache Tomcat", ("tomcat-setenv",))
DEBIAN = TomcatHome("/var/lib/tomcat10", "/usr/share/tomcat10")
RED_HAT = TomcatHome("/usr/share/tomcat", "/usr/share/tomcat")
SHIPPED = Path(__file__).parents[2].joinpath("fixtures/remedy/default-tomcat10")
MAIN = """\
# This variable is used to figure out if config is loaded or not.
TOMCAT_CFG_LOADED="1"
JAVA_HOME="/usr/lib/jvm/jre"
CATALINA_HOME="/usr/share/tomcat"
#JAVA_OPTS="-Xminf0.1 -Xmaxf0.3"
SECURITY_MANAGER="false"
"""


def request(files: dict[str, str], *facts: object, home: TomcatHome | None = DEBIAN) -> Request:
    """*files* by their paths in the target's root; a path that ends in a slash is a directory."""
    held: dict[Ref, bytes | Why] = {}
    for path, text in files.items():
        name = path.strip("/")
        for space in (Space.ROOT, Space.KERNEL):
            held[Ref(space, name, Ask.STAT)] = b"100644 0 0 1 0 0 9"
        if path.endswith("/"):
            held[Ref(Space.ROOT, name, Ask.LIST)] = text.encode()
        else:
            held[Ref(Space.ROOT, name)] = text.encode()
    source = Everything(held)
    known = (*HUNG, PRODUCT, *([home] if home else []), *facts)
    return Request(HeldFacts(*known), source, "4711", 4711)


class Everything(Held):
    """A whole root: what is not held is not there."""

    def read(self, ref: Ref) -> Reading[bytes]:
        found = super().read(ref)
        if ref.space is Space.ROOT and getattr(found, "why", None) is Why.NOT_COLLECTED:
            return Held({ref: Why.ABSENT}).read(ref)
        return found


def written(found: Answer) -> tuple[str, str]:
    assert found.write is not None
    return found.write.path, found.write.content.decode()


# Debian


def test_debians_own_file(tmp_path: Path) -> None:
    shipped = SHIPPED.read_text("utf-8")
    found = answer("debian-tomcat", request({"/etc/default/tomcat10": shipped}))
    path, content = written(found)
    assert path == "/etc/default/tomcat10"
    assert content.startswith(shipped)
    assert content.endswith(f'\nJAVA_OPTS="$JAVA_OPTS {RIGHT}"\n')
    assert found.output.startswith(b"# patch -p1 -d / < tomcat.patch\n")
    applied(found.output, "etc/default/tomcat10", shipped.encode(), tmp_path, content.encode())
    again = answer("debian-tomcat", request({"/etc/default/tomcat10": content}))
    assert (again.output, again.write) == (b"", None)
    assert "sets file:/dev/urandom already (line " in again.reason


def test_debians_start_script_hands_it_to_java(tmp_path: Path) -> None:
    """What `tomcat-start.sh` does: set -e, source, export JAVA_OPTS; CATALINA_OPTS is not exported."""
    for text in (
        SHIPPED.read_text("utf-8"),
        'JAVA_OPTS="-Djava.security.egd=file:/dev/random -Xmx1g"\n',
        f'CATALINA_OPTS="{RIGHT}"\n',
        "",
    ):
        _, content = written(answer("debian-tomcat", request({"/etc/default/tomcat10": text})))
        file = tmp_path / "tomcat10"
        file.write_text(content, "utf-8")
        script = (
            f"set -e\n. {file}\nexport JAVA_OPTS\nexec sh -c 'echo \"$JAVA_OPTS $CATALINA_OPTS\"'"
        )
        shown = subprocess.run(
            ["sh", "-c", script],
            env={"PATH": "/bin:/usr/bin"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert [w for w in shown if "egd" in w] == [RIGHT]
        assert subprocess.run(["bash", "-n", file], check=False).returncode == 0


def test_a_package_whose_unit_reads_it_gets_no_variable() -> None:
    unit = "[Service]\nEnvironmentFile=-/etc/default/tomcat9\n"
    home = TomcatHome("/var/lib/tomcat9/", "/usr/share/tomcat9")
    files = {
        "/etc/default/tomcat9": 'JAVA_OPTS="-Xmx1g"\n',
        "/lib/systemd/system/tomcat9.service": unit,
    }
    assert (
        written(answer("debian-tomcat", request(files, home=home)))[1]
        == f'JAVA_OPTS="-Xmx1g {RIGHT}"\n'
    )


def test_setenv_has_the_last_word() -> None:
    script = SetenvScript(
        "/var/lib/tomcat10", b'CATALINA_OPTS="-Djava.security.egd=file:/dev/random"\n'
    )
    found = answer("debian-tomcat", request({"/etc/default/tomcat10": ""}, script))
    assert any("/var/lib/tomcat10/bin/setenv.sh sets" in note for note in found.notes)


def test_other_tomcats_are_sent_elsewhere() -> None:
    with pytest.raises(UsageError, match=r"this instance \(/opt/x\) is none of Debian's"):
        answer("debian-tomcat", request({}, home=TomcatHome("/opt/x", "/opt/x")))
    with pytest.raises(UsageError, match="no Tomcat"):
        answer("debian-tomcat", request({}, home=None))
    with pytest.raises(UsageError, match="there is no /etc/default/tomcat10"):
        answer("debian-tomcat", request({}))


def test_a_file_that_was_named(tmp_path: Path) -> None:
    given = GivenFile("/etc/default/tomcat10", b'JAVA_OPTS="-Xmx1g"', "tomcat10")
    bare = Request(HeldFacts(JDK17), Held({}), "what was said", None, given=given)
    found = answer("debian-tomcat", bare)
    assert found.output.startswith(b"# patch -p1 -d . < tomcat.patch\n")
    path, content = written(found)
    assert found.write is not None
    assert (path, found.write.host) == ("/etc/default/tomcat10", True)
    applied(found.output, "tomcat10", given.content, tmp_path, content.encode())


def test_what_cannot_be_followed_is_left_alone() -> None:
    with pytest.raises(SeedstallError, match="cannot be edited safely") as error:
        answer("debian-tomcat", request({"/etc/default/tomcat10": 'JAVA_OPTS="\n'}))
    assert error.value.hint == f'by hand: JAVA_OPTS="$JAVA_OPTS {RIGHT}"'


def test_without_a_file_it_is_told_what_to_write() -> None:
    for surface, name in (("debian-tomcat", b"JAVA_OPTS"), ("rhel-tomcat", b"CATALINA_OPTS")):
        found = answer(surface, Request(HeldFacts(*HUNG), Held({}), "dump.txt", None))
        assert name + b'="$' in found.output
        assert found.write is None
        assert any("name a PID, or the file" in note for note in found.notes)


# Red Hat


def red_hat(files: dict[str, str], home: TomcatHome = RED_HAT) -> Answer:
    return answer("rhel-tomcat", request(files, home=home))


def test_a_file_of_conf_d_where_there_is_one(tmp_path: Path) -> None:
    files = {
        "/etc/tomcat/tomcat.conf": MAIN,
        "/etc/sysconfig/tomcat": "",
        "/etc/tomcat/conf.d/": "",
    }
    found = red_hat(files)
    path, content = written(found)
    assert path == "/etc/tomcat/conf.d/seedstall.conf"
    applied(found.output, path[1:], None, tmp_path, content.encode())
    assert found.write is not None
    assert found.write.then == ("it takes effect with: systemctl restart tomcat",)
    again = red_hat({**files, path: content, "/etc/tomcat/conf.d/": "seedstall.conf\0"})
    assert "already" in again.reason


def test_reds_hats_start_script_hands_it_to_java(tmp_path: Path) -> None:
    """What the unit and `/usr/libexec/tomcat/server` do: environment files, conf.d sourced, FLAGS put together."""
    for files in (
        {"/etc/tomcat/tomcat.conf": MAIN, "/etc/tomcat/conf.d/": ""},
        {"/etc/tomcat/tomcat.conf": MAIN},
        {"/etc/tomcat/tomcat.conf": MAIN + 'JAVA_OPTS="-Djava.security.egd=file:/dev/random"\n'},
        {"/etc/tomcat/tomcat.conf": MAIN, "/etc/sysconfig/tomcat": 'CATALINA_OPTS="-Xmx1g"\n'},
        {
            "/etc/tomcat/tomcat.conf": MAIN,
            "/etc/tomcat/conf.d/": "a.conf\0",
            "/etc/tomcat/conf.d/a.conf": 'JAVA_OPTS="$JAVA_OPTS -Djava.security.egd=file:/dev/random"\n',
        },
    ):
        path, content = written(red_hat(files))
        shown = started(tmp_path, {**files, path: content})
        assert [w for w in shown if "egd" in w] == [RIGHT], (path, shown)


def started(folder: Path, files: dict[str, str]) -> list[str]:
    from seedstall.parse.edit.environment import variables

    environ = {"PATH": "/bin:/usr/bin"}
    for name in ("/etc/tomcat/tomcat.conf", "/etc/sysconfig/tomcat"):
        environ |= {v.name: v.value for v in variables(files.get(name, ""))}
    sourced = ""
    for number, name in enumerate(
        sorted(n for n in files if "/conf.d/" in n and n.endswith(".conf"))
    ):
        (folder / f"{number}.conf").write_text(files[name], "utf-8")
        sourced += f". {folder}/{number}.conf\n"
    script = (
        f'{sourced}FLAGS="$JAVA_OPTS"\nFLAGS="${{FLAGS}} $CATALINA_OPTS"\nprintf "%s\\n" $FLAGS'
    )
    done = subprocess.run(
        ["bash", "-c", script], env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_named_instance_has_its_own_file() -> None:
    home = TomcatHome("/var/lib/tomcats/one", "/usr/share/tomcat")
    files = {
        "/etc/tomcat/tomcat.conf": MAIN,
        "/etc/sysconfig/tomcat@one": 'CATALINA_OPTS="-Xmx1g"\n',
    }
    found = red_hat(files, home)
    assert written(found) == ("/etc/sysconfig/tomcat@one", f'CATALINA_OPTS="-Xmx1g {RIGHT}"\n')
    assert place("rhel-tomcat", request(files, home=home)).path == "/etc/sysconfig/tomcat@one"


def test_no_tomcat_of_red_hats() -> None:
    with pytest.raises(UsageError, match="no Tomcat of Red Hat's"):
        red_hat({})
    with pytest.raises(UsageError, match="no Tomcat"):
        answer("rhel-tomcat", request({}, home=None))


def test_a_setting_that_does_not_expand_is_told() -> None:
    given = GivenFile("/etc/tomcat/tomcat.conf", b'JAVA_OPTS="$JAVA_OPTS -Xmx1g"\n', "tomcat.conf")
    found = answer("rhel-tomcat", Request(HeldFacts(JDK17), Held({}), "x", None, given=given))
    assert written(found)[1] == f'JAVA_OPTS="$JAVA_OPTS -Xmx1g {RIGHT}"\n'
    assert any("systemd expands no variable" in note for note in found.notes)


def test_it_is_chosen_where_no_script_would_source_setenv() -> None:
    script = SetenvScript("/usr/share/tomcat", None, launcher=False)
    asked = request({"/etc/tomcat/tomcat.conf": MAIN}, script, home=RED_HAT)
    assert of_case(asked) == "rhel-tomcat"
    assert of_case(request({}, replace(script, launcher=True), home=RED_HAT)) == "tomcat-setenv"
