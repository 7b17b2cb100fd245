from __future__ import annotations

import subprocess
from pathlib import Path

import javaproperties
import pytest
from tests.engine.held import HeldFacts
from tests.facts_by_hand import JDK7, JDK17
from tests.lint_by_hand import lint_text
from tests.remedy.patching import applied

from seedstall.facts.service import Service
from seedstall.knowledge.products import BY_KEY, recognise
from seedstall.knowledge.services import UnitName
from seedstall.knowledge.surfaces import BY_NAME
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Missing, Reading, Ref, Space, Why
from seedstall.model.jvm import (
    Container,
    Environment,
    JvmOption,
    Launch,
    OptionOrigin,
    Product,
    TomcatHome,
)
from seedstall.model.security import FipsProvider, FipsSetup
from seedstall.parse.edit.unit import Unit
from seedstall.remedy.registry import answer, place
from seedstall.remedy.request import GivenFile, Request
from seedstall.source.base import Held

RIGHT = "-Djava.security.egd=file:/dev/urandom"
WRONG = "-Djava.security.egd=file:/dev/random"


def jvm(*properties: str, program: tuple[str, ...] = (), jar: str = "") -> Launch:
    options = tuple(JvmOption(f"-D{p}", OptionOrigin.COMMAND_LINE) for p in properties)
    return Launch("java", options, program=program, jar=jar)


def request(
    *facts: object,
    files: dict[str, bytes] | None = None,
    folders: dict[str, tuple[str, ...]] | None = None,
    cwd: str = "",
    given: GivenFile | None = None,
    pid: int | None = 4711,
) -> Request:
    held: dict[Ref, bytes | Why] = {}
    for path, content in (files or {}).items():
        held[Ref(Space.ROOT, path.lstrip("/"))] = content
        held[Ref(Space.ROOT, path.lstrip("/"), Ask.STAT)] = b"100644 0 0 7 0 0 1"
    for path, names in (folders or {}).items():
        held[Ref(Space.ROOT, path.lstrip("/"), Ask.LIST)] = b"".join(
            n.encode() + b"\0" for n in names
        )
        held[Ref(Space.ROOT, path.lstrip("/"), Ask.STAT)] = b"40755 0 0 8 0 0 1"
    if cwd:
        held[Ref(Space.PROCESS, "cwd", Ask.LINK)] = cwd.encode()
    source = Whole(held)
    return Request(HeldFacts(JDK17, *facts), source, "4711", pid, force=True, given=given)


class Whole(Held):
    """A file system of which all is known: what it does not hold is not there."""

    def read(self, ref: Ref) -> Reading[bytes]:
        """As of a real one."""
        found = super().read(ref)
        if ref.space is Space.ROOT and isinstance(found, Missing):
            return Missing(Why.ABSENT, (ref,))
        return found


FOUND = [
    (
        "wildfly",
        jvm(program=("-mp", "modules", "org.jboss.as.standalone", "-Djboss.home.dir=/opt/wf")),
        "/opt/wf/bin/standalone.conf",
        b'if [ "x$JAVA_OPTS" = "x" ]; then\n   JAVA_OPTS="-Xmx512m"\nfi\n',
    ),
    (
        "wildfly",
        jvm(program=("org.jboss.as.process-controller", "-Djboss.home.dir=/opt/wf")),
        "/opt/wf/bin/domain.conf",
        b'JAVA_OPTS="$JAVA_OPTS -Xmx1g"\n',
    ),
    ("weblogic", Environment({"DOMAIN_HOME": "/u01/d"}), "/u01/d/bin/setUserOverrides.sh", None),
    ("zookeeper", jvm(program=("/etc/zk/zoo.cfg",)), "/etc/zk/java.env", None),
    ("activemq", jvm("activemq.base=/opt/mq"), "/opt/mq/bin/env", b'ACTIVEMQ_OPTS_MEMORY="-Xmx1G"\n'),
    ("cassandra", Environment({"CASSANDRA_CONF": "/etc/c"}), "/etc/c/jvm-server.options", b"-ea\n"),
    ("cassandra", jvm("cassandra.storagedir=/opt/c/data"), "/opt/c/conf/jvm.options", b"-ea\n"),
    ("liberty", jvm(jar="/w/bin/tools/ws-server.jar", program=("web",)), "/w/usr/servers/web/jvm.options", None),
    ("nexus", jvm("exe4j.moduleName=/opt/nx/bin/nexus"), "/opt/nx/bin/nexus.vmoptions", b"-Xms1g\n-Dkaraf.home=.\n"),
    ("jetty", jvm("jetty.base=/srv/j"), "/srv/j/start.d/seedstall.ini", None),
    ("jetty", jvm(program=("jetty.base=/srv/j",)), "/srv/j/start.ini", f"--module=http\n{WRONG}\n".encode()),
    ("debian-jetty", jvm("jetty.home=/usr/share/jetty9"), "/etc/default/jetty9", b'#JAVA_OPTIONS=""\n'),
    ("sonarqube", jvm(jar="lib/sonar-application-9.9.jar"), "/srv/conf/sonar.properties", b"sonar.web.port=9000\n"),
]  # fmt: skip


@pytest.mark.parametrize(("surface", "fact", "path", "content"), FOUND)
def test_the_file_is_found_by_the_process(
    surface: str, fact: object, path: str, content: bytes | None, tmp_path: Path
) -> None:
    files = {path: content} if content is not None else {}
    asked = request(fact, files=files, cwd="/srv")
    found = answer(surface, asked)
    assert found.write is not None
    assert (found.write.path, found.write.read) == (path, content)
    assert place(surface, asked).path == path
    new = found.write.content
    row = next(r for r in found.output.decode().splitlines() if r.startswith("+++ b/"))
    applied(found.output, row.removeprefix("+++ b/"), content, tmp_path, new)
    again = answer(surface, request(fact, files={path: new}, cwd="/srv"))
    assert again.output == b""
    assert "already" in again.reason
    assert lint_text(path, new, jdk="17") == []


def made(surface: str, file: tuple[str, bytes], *facts: object) -> bytes:
    given = GivenFile(file[0], file[1], file[0])
    found = answer(surface, request(*facts, given=given, pid=None))
    assert found.write is not None
    return found.write.content


SHELL = [
    ("wildfly", "/x/standalone.conf", "JAVA_OPTS", b'if [ "x$JAVA_OPTS" = "x" ]; then JAVA_OPTS="-Xa"; fi\n'),
    ("weblogic", "/x/setUserOverrides.sh", "JAVA_OPTIONS", b'EXTRA_JAVA_PROPERTIES="-Da=b"\n'),
    ("zookeeper", "/x/java.env", "SERVER_JVMFLAGS", b'export JVMFLAGS="-Xmx1g"\n'),
    ("activemq", "/x/activemq/bin/env", "ACTIVEMQ_OPTS", b'if [ -z "$ACTIVEMQ_OPTS" ]; then ACTIVEMQ_OPTS="-Xa"; fi\n'),
    ("jenkins", "/etc/default/jenkins", "JAVA_ARGS", b'JAVA_ARGS="-Djava.awt.headless=true"\n'),
]  # fmt: skip


@pytest.mark.parametrize(("surface", "path", "variable", "old"), SHELL)
def test_a_shell_that_sources_it_has_the_option(
    surface: str, path: str, variable: str, old: bytes, tmp_path: Path
) -> None:
    new = made(surface, (path, old))
    file = tmp_path / "conf"
    file.write_bytes(new)
    subprocess.run(["bash", "-n", file], check=True)
    for shell in ("bash", "dash"):
        command = [shell, "-c", f'. {file}; printf %s "${variable}"']
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={})
        assert done.stdout.split()[-1] == RIGHT
        before = subprocess.run(
            [shell, "-c", f'{old.decode()}printf %s "${variable}"'],
            capture_output=True, text=True, check=True, env={},
        )  # fmt: skip
        assert done.stdout.split()[:-1] == before.stdout.split()


def test_a_stronger_variable_of_the_same_file_is_put_right() -> None:
    new = made("zookeeper", ("/x/java.env", f'JVMFLAGS="{WRONG} -Xmx1g"\n'.encode())).decode()
    assert WRONG not in new
    assert "-Xmx1g" in new


def test_debians_jetty_has_no_reference_to_itself() -> None:
    """systemd reads the file and jetty.sh sources it again: `$JAVA_OPTIONS` would be the main class."""
    for old in (b"VERBOSE=yes\n", b'JAVA_OPTIONS="-Xmx1g"\n', f'JAVA_OPTIONS="{WRONG}"\n'.encode()):
        new = made("debian-jetty", ("/etc/default/jetty9", old)).decode()
        assert "$JAVA_OPTIONS" not in new
        assert new.count(RIGHT) == 1
    ini = request(
        jvm("jetty.home=/usr/share/jetty9"),
        files={"/etc/default/jetty9": b"", "/usr/share/jetty9/start.ini": f"{WRONG}\n".encode()},
    )
    assert "see --surface jetty" in " ".join(answer("debian-jetty", ini).notes)


def test_sonarqube_is_three_jvms() -> None:
    old = f"# own\nsonar.ce.javaAdditionalOpts=-Xa {WRONG}\n".encode()
    read = javaproperties.loads(made("sonarqube", ("/x/sonar.properties", old)).decode())
    assert read == {
        "sonar.web.javaAdditionalOpts": RIGHT,
        "sonar.ce.javaAdditionalOpts": f"-Xa {RIGHT}",
        "sonar.search.javaAdditionalOpts": RIGHT,
    }


ELASTIC = Environment({"ES_PATH_CONF": "/etc/es"})


@pytest.mark.parametrize(
    ("names", "content", "path"),
    [
        ((), b"", "/etc/es/jvm.options.d/seedstall.options"),
        (("heap.options", "x.txt"), b"-Xmx1g\n", "/etc/es/jvm.options.d/seedstall.options"),
        # Read in the order of their names: the last one wins.
        (("tuned.options",), b"-Xmx1g\n", "/etc/es/jvm.options.d/zz-seedstall.options"),
        (("a.options", "z.options"), f"{WRONG}\n".encode(), "/etc/es/jvm.options.d/z.options"),
    ],
)
def test_elasticsearchs_own_file_is_left_alone(
    names: tuple[str, ...], content: bytes, path: str
) -> None:
    folder = "/etc/es/jvm.options.d"
    files = {f"{folder}/{n}": content for n in names} | {"/etc/es/jvm.options": b"-Xms1g\n"}
    found = answer("elasticsearch", request(ELASTIC, files=files, folders={folder: names}))
    assert found.write is not None
    assert found.write.path == path
    old = request(ELASTIC, files={"/etc/es/jvm.options": b"-Xms1g\n"})
    before_77 = answer("elasticsearch", old)
    assert before_77.write is not None
    assert before_77.write.path == "/etc/es/jvm.options"


def test_what_comes_later_is_said() -> None:
    held = Environment({"ES_PATH_CONF": "/etc/es", "ES_JAVA_OPTS": WRONG})
    found = answer("elasticsearch", request(held, folders={"/etc/es/jvm.options.d": ()}))
    assert any("ES_JAVA_OPTS of the process sets it too and comes later" in n for n in found.notes)


def test_liberty_has_five_places() -> None:
    server = "/opt/wlp/usr/servers/defaultServer"
    fact = jvm(jar="/opt/wlp/bin/tools/ws-server.jar")
    over = f"{server}/configDropins/overrides/jvm.options"
    found = answer("liberty", request(fact, files={over: f"{WRONG}\n".encode()}))
    assert found.write is not None
    assert found.write.path == over
    common = answer("liberty", request(fact, files={"/opt/wlp/etc/jvm.options": b"-Xmx1g\n"}))
    assert common.write is not None
    assert common.write.path == "/opt/wlp/etc/jvm.options", (
        "a file of the server's would take its place"
    )


def test_activemq_sources_one_file_alone() -> None:
    files = {"/etc/default/activemq": b"A=b\n", "/opt/mq/bin/env": b"B=c\n"}
    found = answer("activemq", request(jvm("activemq.home=/opt/mq"), files=files))
    assert found.write is not None
    assert found.write.path == "/etc/default/activemq"


# A variable of the service


def unit(*lines: str) -> Service:
    made_unit = Unit()
    made_unit.take("/lib/systemd/system/x.service", "\n".join(("[Service]", *lines, "")).encode())
    return Service(UnitName("x.service"), made_unit, "/lib/systemd/system/x.service")


@pytest.mark.parametrize(
    ("surface", "variable"),
    [("kafka", "KAFKA_OPTS"), ("keycloak", "JAVA_OPTS_APPEND"), ("jenkins", "JAVA_OPTS")],
)
def test_a_drop_in_keeps_what_the_unit_sets(surface: str, variable: str) -> None:
    service = unit(f'Environment="{variable}=-Da=b -Dc=d" "OTHER=x"')
    asked = request(service)
    found = answer(surface, asked)
    assert found.write is not None
    assert found.write.path == "/etc/systemd/system/x.service.d/seedstall.conf"
    assert found.write.host
    assert place(surface, asked).path == found.write.path
    text = found.write.content.decode()
    assert f'Environment="{variable}=-Da=b -Dc=d {RIGHT}"' in text
    assert "OTHER" not in text
    assert lint_text("x.service.d/seedstall.conf", text, jdk="17") == []


@pytest.mark.parametrize("surface", ["kafka", "keycloak", "jenkins"])
def test_without_a_service_what_to_write(surface: str) -> None:
    names = {"kafka": "KAFKA_OPTS", "keycloak": "JAVA_OPTS_APPEND", "jenkins": "JAVA_OPTS"}
    found = answer(surface, request(Environment({names[surface]: "-Da=b"})))
    assert found.write is None
    assert f"{names[surface]}=-Da=b {RIGHT}" in found.output.decode()
    inside = answer(surface, request(Container(inside=True)))
    assert any("it runs in a container" in note for note in inside.notes)
    with pytest.raises(UsageError):
        place(surface, request())


def test_an_older_jenkins_package() -> None:
    sysconfig = made("jenkins", ("/etc/sysconfig/jenkins", b'JENKINS_JAVA_OPTIONS="-Da=b"\n'))
    assert sysconfig == f'JENKINS_JAVA_OPTIONS="-Da=b {RIGHT}"\n'.encode()
    found = answer("jenkins", request(files={"/etc/default/jenkins": b'JAVA_ARGS="-Da=b"\n'}))
    assert found.write is not None
    assert found.write.path == "/etc/default/jenkins"
    assert answer("jenkins-agent", request()).output.decode().endswith(f"{RIGHT}\n")


# Tomcat's own alternative


def test_tomcats_manager() -> None:
    home = TomcatHome("/srv/one", "/opt/tomcat")
    files = {"/srv/one/conf/context.xml": b"<Context>\n  <X/>\n</Context>\n"}
    found = answer("tomcat-manager", request(home, files=files))
    assert found.write is not None
    assert b'<Manager secureRandomAlgorithm="NativePRNGNonBlocking"/>' in found.write.content
    assert found.write.within == ("/srv/one",)
    assert any("nothing else" in note for note in found.notes)
    old = Request(HeldFacts(JDK7, home), Held({}), "x", 4711)
    assert "has no NativePRNGNonBlocking (it came with 8)" in answer("tomcat-manager", old).reason
    with pytest.raises(UsageError, match="is no Tomcat"):
        answer("tomcat-manager", request(jvm()))
    with pytest.raises(SeedstallError, match="is not there"):
        answer("tomcat-manager", request(home))
    assert answer("tomcat-manager", request(pid=None)).write is None


# All of them


def test_another_program_is_refused() -> None:
    with pytest.raises(UsageError, match="4711 is Apache Kafka") as caught:
        answer("jetty", request(Product("kafka", "Apache Kafka", ("kafka", "java-opts"))))
    assert caught.value.hint == "--surface kafka or java-opts fits"


@pytest.mark.parametrize("key", ["nexus", "cassandra", "sonarqube", "debian-jetty"])
def test_a_file_that_must_be_there_is_not_made(key: str) -> None:
    facts = {
        "nexus": jvm("exe4j.moduleName=/opt/nx/bin/nexus"),
        "sonarqube": Environment({"SONARQUBE_HOME": "/opt/s"}),
        "debian-jetty": jvm(),
    }
    if key == "cassandra":
        assert answer(key, request()).write is None
        return
    with pytest.raises(SeedstallError, match="there is no "):
        answer(key, request(facts[key]))


@pytest.mark.parametrize("row", BY_KEY.values(), ids=lambda row: row.key)
def test_every_product_names_surfaces_that_there_are(row: object) -> None:
    assert set(row.surfaces) <= set(BY_NAME)  # type: ignore[attr-defined]


def test_debians_jetty_is_told_by_its_home() -> None:
    debian = recognise(jvm(jar="/usr/share/jetty9/start.jar"))
    assert debian.surfaces == ("debian-jetty", "jetty", "java-opts")
    assert recognise(jvm(jar="/opt/jetty/start.jar")).surfaces == ("jetty", "java-opts")
    other = jvm("jetty.home=/usr/share/jetty9", "jetty.base=/srv/j")
    assert recognise(other).surfaces == ("jetty", "java-opts")


@pytest.mark.parametrize("provider", [p for p in FipsProvider if p is not FipsProvider.NONE])
@pytest.mark.parametrize("surface", ["tomcat-manager", "strong-algorithms"])
def test_a_generator_that_the_fips_set_up_refuses_is_not_offered(
    surface: str, provider: FipsProvider
) -> None:
    fips = FipsSetup(provider, "/etc/java.security:3", sun=False, kernel=True)
    found = answer(surface, Request(HeldFacts(JDK17, fips), Held({}), "x", None))
    assert (found.output, found.write) == (b"", None)
    assert "is not offered" in found.reason
