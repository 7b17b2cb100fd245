"""Products whose JVM flags persist in a file or variable of their own: where it is, and what beats it.

The start scripts that these facts are from are named with each; what a script puts on the command line later wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from seedstall.engine.need import Judgement, Need, egd_need, non_blocking_refused
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Got, Ref, Space
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Container, Environment, Launch, Product, TomcatHome
from seedstall.parse import setenv
from seedstall.parse.edit import environment, optionlines, propertyvalue, tomcatcontext
from seedstall.parse.edit.options import Edit, option
from seedstall.parse.setenv import EGD
from seedstall.remedy import edited, place, service, value
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

JDK8 = 8


@dataclass(frozen=True, slots=True)
class Kept:
    """How one product keeps its flags in a file.

    ``find`` gives the paths of the file, the usual first, and the directory that they belong to; none where the process
    does not tell. ``editor`` makes the change; ``by_hand`` says it for people. ``beats`` are variables of the
    environment whose options come later. ``notes`` are the product's own traps.
    """

    key: str
    products: tuple[str, ...]
    find: Callable[[Request], tuple[tuple[str, ...], str]]
    editor: Callable[[bytes, str], Edit]
    by_hand: Callable[[str], str]
    then: str
    beats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    new: bool = False
    """Where there is no such file, a new one does: the product needs none."""

    def answer(self, request: Request) -> Answer:
        """A patch of the file, or what to write where it cannot be looked at."""
        where = self.place(request)
        if where is not None and where.content is None and not self.new:
            raise SeedstallError(
                f"there is no {where.path}", "name the file that this instance uses"
            )
        stronger = _stronger(request, self.beats)
        if where is None:
            return edited.text(
                request, f"fix/{self.key}/text.j2", *_elsewhere(request), *stronger, *self.notes
            )
        return edited.answer(
            request,
            where,
            self.editor,
            patch_file=f"{self.key}.patch",
            by_hand=self.by_hand(request.egd),
            then=self.then,
            notes=(*stronger, *self.notes),
        )

    def place(self, request: Request) -> Place | None:
        """The file that was named, else the product's, found through the process.

        Raises:
            UsageError: the process is another program.
        """
        if request.given is not None:
            return place.given(request)
        product = request.case.value(Product)
        if request.pid is not None and product is not None and product.key not in self.products:
            raise UsageError(
                f"{request.target} is {place.what(request)}", place.fitting(request, self.key)
            )
        paths, base = self.find(request)
        if not paths:
            return None
        return place.seen(request, *paths, base=base or "/", within=(base,) if base else ())


def _elsewhere(request: Request) -> tuple[str, ...]:
    if request.pid is None:
        return ("the file was not seen: name it, or a PID, for a patch",)
    return ("where the file is could not be told from the process: name it for a patch",)


def _stronger(request: Request, names: tuple[str, ...]) -> tuple[str, ...]:
    """The variables of the process that set it too, and come later."""
    held = request.case.value(Environment)
    found = [n for n in names if held is not None and f"-D{EGD}" in held.get(n, "")]
    return tuple(
        f"{n} of the process sets it too and comes later: take it out there" for n in found
    )


def _file(kept: Kept) -> Callable[[Request], Place]:
    def found(request: Request) -> Place:
        where = kept.place(request)
        if where is None:
            raise UsageError("the file was not found by the process", "name it")
        return where

    return found


# What the process tells


def _property(request: Request, *names: str) -> str:
    """The first of these properties that is a path, also where a program takes it among its own arguments."""
    launch = request.case.value(Launch)
    if launch is None:
        return ""
    for name in names:
        marks = (f"-D{name}=", f"{name}=")
        own = [w.partition("=")[2] for w in launch.program if w.startswith(marks)]
        path = _absolute(request, launch.property_value(name) or (own[-1] if own else ""))
        if path:
            return path
    return ""


def _variable(request: Request, *names: str) -> str:
    held = request.case.value(Environment)
    for name in names:
        path = _absolute(request, held.get(name, "") if held is not None else "")
        if path:
            return path
    return ""


def _absolute(request: Request, path: str) -> str:
    """A path as the process means it: below its working directory where it is relative."""
    if not path or path.startswith("/"):
        return path.rstrip("/")
    cwd = _cwd(request)
    joined = f"{cwd}/{path}" if cwd else ""
    return joined.removesuffix("/.").rstrip("/")


def _cwd(request: Request) -> str:
    reading = request.source.read(Ref(Space.PROCESS, "cwd", Ask.LINK))
    found = reading.value.decode("utf-8", "surrogateescape") if isinstance(reading, Got) else ""
    return found.rstrip("/") if found.startswith("/") else ""


def _names(request: Request, folder: str) -> tuple[str, ...]:
    """The names in a directory of the target's root, in order."""
    reading = request.source.read(Ref(Space.ROOT, folder.lstrip("/"), Ask.LIST))
    if not isinstance(reading, Got):
        return ()
    return tuple(n.decode("utf-8", "surrogateescape") for n in reading.value.split(b"\0") if n)


def _sets(request: Request, path: str) -> bool:
    """Whether an options file sets the property, or was meant to."""
    reading = request.source.read(Ref(Space.ROOT, path.lstrip("/")))
    try:
        return isinstance(reading, Got) and bool(optionlines.sets(reading.value))
    except ValueError:
        return False


def _below(base: str, *names: str) -> tuple[tuple[str, ...], str]:
    return (tuple(f"{base}/{name}" for name in names), base) if base else ((), "")


# Editors


def _shell(target: str, *stronger: str, bash: bool | None = None) -> Callable[[bytes, str], Edit]:
    """A file that the product's start script sources, and the variables whose options come after the target's."""
    order = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", target, *stronger, "_JAVA_OPTIONS")

    def edit(data: bytes, egd: str) -> Edit:
        made = setenv.set_egd(data, egd, target=target, order=order, own=True, bash=bash)
        return Edit(made.content, made.line, made.replaced, made.notes)

    return edit


def _assignment(target: str) -> Callable[[str], str]:
    return lambda egd: setenv.assignment(egd, target=target)


def _line(egd: str) -> str:
    return f"a line {option(egd)}"


# WildFly, WebLogic, ZooKeeper, ActiveMQ: shell files


def _wildfly(request: Request) -> tuple[tuple[str, ...], str]:
    launch = request.case.value(Launch)
    named = _variable(request, "RUN_CONF")
    if named:
        return (named,), named.rpartition("/")[0]
    home = _property(request, "jboss.home.dir") or _variable(request, "JBOSS_HOME")
    words = launch.program if launch is not None else ()
    domain = any(
        w in ("org.jboss.as.process-controller", "org.jboss.as.host-controller") for w in words
    )
    return _below(home, "bin/domain.conf" if domain else "bin/standalone.conf")


WILDFLY = Kept(
    "wildfly",
    ("wildfly",),
    _wildfly,
    _shell("JAVA_OPTS"),
    _assignment("JAVA_OPTS"),
    "a restart of the server",
    notes=(
        (
            "JAVA_OPTS in the environment of standalone.sh replaces every default of this file, but not this line below"
            " them (wildfly-core bin/standalone.conf)"
        ),
        "in domain mode this is for the process and host controllers: servers take <jvm> of host.xml or domain.xml",
    ),
    new=True,
)


def _weblogic(request: Request) -> tuple[tuple[str, ...], str]:
    home = _variable(request, "DOMAIN_HOME") or _property(request, "weblogic.RootDirectory")
    if not home and place.is_there(request, f"{_cwd(request)}/config/config.xml"):
        home = _cwd(request)
    return _below(home, "bin/setUserOverrides.sh")


WEBLOGIC = Kept(
    "weblogic",
    ("weblogic",),
    _weblogic,
    # setDomainEnv.sh puts EXTRA_JAVA_PROPERTIES behind what JAVA_OPTIONS holds here.
    _shell("JAVA_OPTIONS", "EXTRA_JAVA_PROPERTIES"),
    _assignment("JAVA_OPTIONS"),
    "a restart of the domain's servers",
    notes=(
        "setDomainEnv.sh sources this file from 12c (12.1.2) on; before that, set JAVA_OPTIONS in setDomainEnv.sh",
        (
            "arguments of a server's own start in the console (Server Start) come later, and Node Manager takes"
            " those where"
            " it does not use the start script"
        ),
        "WLST and the configuration wizard take CONFIG_JVM_ARGS instead",
    ),
    new=True,
)


def _zookeeper(request: Request) -> tuple[tuple[str, ...], str]:
    base = _variable(request, "ZOOCFGDIR")
    launch = request.case.value(Launch)
    words = launch.program if launch is not None else ()
    if not base and words and words[-1].endswith(".cfg"):
        base = _absolute(request, words[-1]).rpartition("/")[0]
    return _below(base, "java.env")


ZOOKEEPER = Kept(
    "zookeeper",
    ("zookeeper",),
    _zookeeper,
    _shell("SERVER_JVMFLAGS", "JVMFLAGS"),
    _assignment("SERVER_JVMFLAGS"),
    "zkServer.sh restart",
    beats=("JVMFLAGS",),
    notes=(
        "zkEnv.sh sources java.env; SERVER_JVMFLAGS is for the server alone, JVMFLAGS for all, and comes later",
        "Debian's package takes JAVA_OPTS from /etc/zookeeper/conf/environment instead",
    ),
    new=True,
)


def _activemq(request: Request) -> tuple[tuple[str, ...], str]:
    # The script sources the first of these that is there (assembly/src/release/bin/activemq).
    first = "/etc/default/activemq"
    if place.is_there(request, first):
        return (first,), "/etc/default"
    base = _property(request, "activemq.base", "activemq.home") or _variable(
        request, "ACTIVEMQ_BASE", "ACTIVEMQ_HOME"
    )
    return _below(base, "bin/env")


ACTIVEMQ = Kept(
    "activemq",
    ("activemq",),
    _activemq,
    _shell("ACTIVEMQ_OPTS"),
    _assignment("ACTIVEMQ_OPTS"),
    "bin/activemq restart",
    notes=(
        "the script sources the first of /etc/default/activemq, ~/.activemqrc and bin/env that is there, and no other",
        "bin/env sets its defaults only while ACTIVEMQ_OPTS is empty: the line belongs below that block",
    ),
)

# Cassandra, Elasticsearch, OpenSearch, Liberty, Nexus: one option a line


def _cassandra(request: Request) -> tuple[tuple[str, ...], str]:
    base = _variable(request, "CASSANDRA_CONF")
    launch = request.case.value(Launch)
    config = launch.property_value("cassandra.config") if launch is not None else None
    if not base and config and config.startswith("file:/"):
        base = "/" + config.removeprefix("file:").lstrip("/").rpartition("/")[0]
    if not base and (data := _property(request, "cassandra.storagedir", "cassandra.logdir")):
        base = f"{data.rpartition('/')[0]}/conf"
    packaged = ("/etc/cassandra", "/etc/cassandra/conf", "/etc/cassandra/default.conf")
    bases = (*filter(None, (base,)), *packaged)
    for one in bases:
        for name in ("jvm-server.options", "jvm.options"):
            if place.is_there(request, f"{one}/{name}"):
                return (f"{one}/{name}",), one
    return (), ""


CASSANDRA = Kept(
    "cassandra",
    ("cassandra",),
    _cassandra,
    optionlines.set_egd,
    _line,
    "a restart of the node",
    beats=("JVM_EXTRA_OPTS",),
    notes=(
        (
            "4.0 and later read jvm-server.options and then jvmNN-server.options of the JDK, 3.x jvm.options;"
            " JVM_OPTS in"
            " cassandra-env.sh comes later than all of them"
        ),
        "only lines that begin with - count (cassandra.in.sh greps for them)",
    ),
)


def _elasticsearch(request: Request) -> tuple[tuple[str, ...], str]:
    base = _property(request, "es.path.conf", "opensearch.path.conf") or _variable(
        request, "ES_PATH_CONF", "OPENSEARCH_PATH_CONF"
    )
    if not base:
        return (), ""
    folder = f"{base}/jvm.options.d"
    files = [n for n in _names(request, folder) if n.endswith(".options")]
    setting = [n for n in files if _sets(request, f"{folder}/{n}")]
    if setting:  # the last one wins
        return (f"{folder}/{setting[-1]}",), base
    if place.is_there(request, folder) is False:  # up to 7.6
        return (f"{base}/jvm.options",), base
    last = max(files, default="")
    name = "seedstall.options" if last <= "seedstall.options" else "zz-seedstall.options"
    return (f"{folder}/{name}",), base


ELASTICSEARCH = Kept(
    "elasticsearch",
    ("elasticsearch", "opensearch"),
    _elasticsearch,
    optionlines.set_egd,
    _line,
    "a restart of the node",
    beats=("ES_JAVA_OPTS", "OPENSEARCH_JAVA_OPTS"),
    notes=(
        (
            "jvm.options itself is the package's: an update overwrites it; files of jvm.options.d (7.7 and later)"
            " are read"
            " after it, in the order of their names, and must end in .options"
        ),
        "JAVA_TOOL_OPTIONS is ignored there: bin/elasticsearch-env unsets it",
    ),
    new=True,
)


def _liberty(request: Request) -> tuple[tuple[str, ...], str]:
    launch = request.case.value(Launch)
    if launch is None:
        return (), ""
    install = _property(request, "wlp.install.dir")
    if not install and "/bin/tools/" in launch.jar:
        install = _absolute(request, launch.jar.rpartition("/bin/tools/")[0])
    user = _property(request, "wlp.user.dir") or _variable(request, "WLP_USER_DIR")
    user = user or (f"{install}/usr" if install else "")
    name = next((w for w in launch.program if not w.startswith("-")), "defaultServer")
    if not user or "/" in name:
        return (), ""
    server = f"{user}/servers/{name}"
    overriding = f"{server}/configDropins/overrides/jvm.options"
    if _sets(request, overriding):
        return (overriding,), server
    own = [
        overriding,
        f"{server}/jvm.options",
        f"{server}/configDropins/defaults/jvm.options",
        f"{user}/shared/jvm.options",
    ]
    common = f"{install}/etc/jvm.options"
    if (
        install
        and place.is_there(request, common)
        and not any(place.is_there(request, p) for p in own)
    ):
        return (common,), f"{install}/etc"  # a first file of the server's own would take its place
    return _below(server, "jvm.options")


LIBERTY = Kept(
    "liberty",
    ("liberty",),
    _liberty,
    optionlines.set_egd,
    _line,
    "server stop and server start",
    beats=("JVM_ARGS",),
    notes=(
        (
            "read in this order, the later one wins: usr/shared/jvm.options, configDropins/defaults, the server's own,"
            " configDropins/overrides; etc/jvm.options of the installation only where none of them is there"
        ),
    ),
    new=True,
)


def _nexus(request: Request) -> tuple[tuple[str, ...], str]:
    module = _property(request, "exe4j.moduleName")
    base = module.rpartition("/bin/")[0] if module else ""
    base = base or _property(request, "karaf.home") or _variable(request, "NEXUS_HOME")
    return _below(base, "bin/nexus.vmoptions")


NEXUS = Kept(
    "nexus",
    ("nexus",),
    _nexus,
    optionlines.set_egd,
    _line,
    "bin/nexus restart",
    beats=("INSTALL4J_ADD_VM_PARAMS",),
    notes=(
        (
            "in Sonatype's image the file is part of the image and INSTALL4J_ADD_VM_PARAMS is the place: it holds the"
            " memory options, which a new value must repeat"
        ),
        "an update of Nexus brings a nexus.vmoptions of its own: carry the line over",
    ),
)

# Jetty


def _jetty(request: Request) -> tuple[tuple[str, ...], str]:
    base = _property(request, "jetty.base") or _variable(request, "JETTY_BASE")
    base = base or _property(request, "jetty.home") or _variable(request, "JETTY_HOME")
    base = base or _cwd(request)
    if not base:
        return (), ""
    setting = _ini_files(request, base)
    if setting:
        return (setting[-1],), base
    return _below(base, "start.d/seedstall.ini")


def _ini_files(request: Request, base: str) -> list[str]:
    """The files of a JETTY_BASE that set the property."""
    names = [n for n in _names(request, f"{base}/start.d") if n.endswith(".ini")]
    files = [f"{base}/start.ini", *(f"{base}/start.d/{n}" for n in names)]
    return [f for f in files if _sets(request, f)]


JETTY = Kept(
    "jetty",
    ("jetty",),
    _jetty,
    optionlines.set_egd,
    _line,
    "a restart of Jetty",
    notes=(
        (
            "start.jar sets the property in its own JVM before Jetty begins, and warns that --exec would start"
            " another JVM"
            " (seen on 9.4 with JDK 17); what is no -D needs --exec in an .ini file"
        ),
        (
            "where something draws a random number before start.jar reads its files (an agent), the flag belongs on the"
            " java command, in JAVA_OPTIONS of jetty.sh or behind --exec"
        ),
        "an .ini file's setting takes the place of one on the java command (seen on 9.4)",
    ),
    new=True,
)


def _debian_jetty(request: Request) -> tuple[tuple[str, ...], str]:
    for name in ("jetty9", "jetty12", "jetty"):
        if place.is_there(request, f"/etc/default/{name}"):
            return (f"/etc/default/{name}",), "/etc/default"
    return ("/etc/default/jetty9",), "/etc/default"


def _environment_file(target: str) -> Callable[[bytes, str], Edit]:
    def edit(data: bytes, egd: str) -> Edit:
        return environment.set_egd(data, egd, target=target, order=(target,))

    return edit


def debian_jetty(request: Request) -> Answer:
    """A patch of /etc/default/jetty9; not where an .ini file has the last word."""
    found = DEBIAN_JETTY.answer(request)
    base = _property(request, "jetty.base", "jetty.home")
    setting = _ini_files(request, base) if base and request.given is None else []
    if not found.output or not setting:
        return found
    note = f"{setting[-1]} sets it too, and start.jar lets that win: see --surface jetty"
    return replace(found, notes=(note, *found.notes))


DEBIAN_JETTY = Kept(
    "debian-jetty",
    ("jetty",),
    _debian_jetty,
    _environment_file("JAVA_OPTIONS"),
    lambda egd: f'JAVA_OPTIONS="... {option(egd)}", without $JAVA_OPTIONS in it',
    "systemctl restart jetty9",
    notes=(
        (
            "systemd reads the file (EnvironmentFile=) and jetty.sh sources it again: a $JAVA_OPTIONS in the value"
            " would"
            " reach java as a word, which it takes for the main class"
        ),
    ),
)

# SonarQube

SONAR = (
    "sonar.web.javaAdditionalOpts",
    "sonar.ce.javaAdditionalOpts",
    "sonar.search.javaAdditionalOpts",
)


def _sonar_edit(data: bytes, egd: str) -> Edit:
    done = Edit(data)
    for number, name in enumerate(SONAR):
        comment = setenv.COMMENT if number == 0 else ""
        one = propertyvalue.set_egd(done.content, egd, name, comment=comment)
        done = Edit(
            one.content,
            done.line or one.line,
            (*done.replaced, *one.replaced),
            (*done.notes, *one.notes),
        )
    return done


def _sonarqube(request: Request) -> tuple[tuple[str, ...], str]:
    launch = request.case.value(Launch)
    home = _variable(request, "SONARQUBE_HOME", "SONAR_HOME")
    if not home and launch is not None and "lib/sonar-application" in launch.jar:
        jar = _absolute(request, launch.jar)
        home = jar.rpartition("/lib/sonar-application")[0]
    if not home and place.is_there(request, f"{_cwd(request)}/conf/sonar.properties"):
        home = _cwd(request)
    return _below(home, "conf/sonar.properties")


SONARQUBE = Kept(
    "sonarqube",
    ("sonarqube",),
    _sonarqube,
    _sonar_edit,
    lambda egd: "; ".join(f"{name}=... {option(egd)}" for name in SONAR),
    "a restart of SonarQube",
    beats=(
        "SONAR_WEB_JAVAADDITIONALOPTS",
        "SONAR_CE_JAVAADDITIONALOPTS",
        "SONAR_SEARCH_JAVAADDITIONALOPTS",
    ),
    notes=(
        (
            "web server, compute engine and search are JVMs of their own, each with its own property; the one that"
            " starts"
            " them draws nothing"
        ),
        (
            "-Dsonar.web.javaAdditionalOpts=... on SonarQube's command line, and SONAR_WEB_JAVAADDITIONALOPTS in its"
            " environment, take the place of the file's value"
        ),
    ),
)

# Kafka, Keycloak, Jenkins: a variable of the service


@dataclass(frozen=True, slots=True)
class Handed:
    """A product whose start script takes options from the variable ``name`` of its environment."""

    key: str
    products: tuple[str, ...]
    name: str
    notes: tuple[str, ...] = ()

    def answer(self, request: Request) -> Answer:
        """A drop-in of the service, or what to write where none is known."""
        product = request.case.value(Product)
        if request.pid is not None and product is not None and product.key not in self.products:
            raise UsageError(
                f"{request.target} is {place.what(request)}", place.fitting(request, self.key)
            )
        found = service.through(request, self.name)
        if found is not None:
            return replace(found, notes=(*self.notes, *found.notes))
        held = request.case.value(Environment)
        now = held.get(self.name, "") if held is not None else ""
        return edited.text(
            request, f"fix/{self.key}/text.j2", *self.notes, *_contained(request), held=now
        )

    def place(self, request: Request) -> Place:
        """The drop-in."""
        found = service.through_place(request)
        if found is None:
            raise UsageError("no systemd service is known", "name its process")
        return found


def _contained(request: Request) -> tuple[str, ...]:
    outside = request.case.value(Container)
    if outside is None or not outside.inside:
        return ()
    return (
        (
            "it runs in a container: the variable belongs into its environment, in the image, the Compose file or the"
            " manifest (--surface docker, compose, kubernetes)"
        ),
    )


KAFKA = Handed(
    "kafka",
    ("kafka",),
    "KAFKA_OPTS",
    (
        (
            "kafka-run-class.sh puts KAFKA_OPTS last; KAFKA_HEAP_OPTS, KAFKA_JVM_PERFORMANCE_OPTS and KAFKA_JMX_OPTS"
            " have"
            " defaults that a value of one's own replaces"
        ),
    ),
)
KEYCLOAK = Handed(
    "keycloak",
    ("keycloak",),
    "JAVA_OPTS_APPEND",
    (
        (
            "kc.sh sets -Djava.security.egd=file:/dev/urandom itself, but only while JAVA_OPTS is not set: taking a"
            " JAVA_OPTS out of the environment does the same, and brings its other defaults back"
        ),
    ),
)
JENKINS_NAMES = {"default": "JAVA_ARGS", "sysconfig": "JENKINS_JAVA_OPTIONS"}
_JENKINS = Handed(
    "jenkins",
    ("jenkins",),
    "JAVA_OPTS",
    ("it is for the controller; an agent has JVM options of its own (--surface jenkins-agent)",),
)


def jenkins(request: Request) -> Answer:
    """A drop-in for the controller's service; a patch of the file of an older package that was named."""
    where = _jenkins_file(request)
    if where is None:
        return _JENKINS.answer(request)
    folder = where.path.rpartition("/")[0].rpartition("/")[2]
    name = JENKINS_NAMES.get(folder, "JAVA_ARGS")
    edit = _shell(name) if folder != "sysconfig" else _environment_file(name)
    return edited.answer(
        request,
        where,
        edit,
        patch_file="jenkins.patch",
        by_hand=f"{option(request.egd)} in {name}",
        then="a restart of Jenkins",
        notes=(
            "packages since Jenkins 2.335 (2022) no longer read this file: there a drop-in of the unit is the place",
        ),
    )


def _jenkins_file(request: Request) -> Place | None:
    """The file of an older package: named, or there while no service is known."""
    if request.given is not None:
        return place.given(request)
    if service.through_place(request) is not None:
        return None
    there = [
        p for p in ("/etc/default/jenkins", "/etc/sysconfig/jenkins") if place.is_there(request, p)
    ]
    return place.seen(request, there[0]) if there else None


def jenkins_place(request: Request) -> Place:
    """The file of an older package, else the drop-in."""
    return _jenkins_file(request) or _JENKINS.place(request)


def jenkins_agent(request: Request) -> Answer:
    """Where an agent's JVM options are set: in the controller, not on the agent's host."""
    return edited.text(
        request,
        "fix/jenkins-agent/text.j2",
        "an agent that is started by hand or by a service takes the flag on its own java command",
    )


# Tomcat's own alternative


def tomcat_manager(request: Request) -> Answer:
    """A generator that does not block for Tomcat's session ids, in place of another seed source for all."""
    jdk = request.case.value(JdkVersion)
    if jdk is not None and jdk.feature < JDK8:
        return Answer(reason=f"JDK {jdk} has no {tomcatcontext.NON_BLOCKING} (it came with 8)")
    where = _context(request)
    judgement = egd_need(request.case, request.egd)
    if reason := non_blocking_refused(request.case):  # Tomcat would log it and take its default
        judgement = Judgement(Need.USELESS, reason)
    if judgement.need is Need.IN_PLACE:  # of the seed source, which this has no part in
        judgement = Judgement(Need.WANTED)
    notes = (
        (
            "it changes the generator of the session ids from SHA1PRNG, and of nothing else: an application that"
            " asks for"
            " SHA1PRNG itself waits as before"
        ),
        "a <Manager> of an application's own META-INF/context.xml takes the place of this one",
        "a name that the JDK does not have is no error: Tomcat logs it and takes its default",
    )
    why = f"{tomcatcontext.NON_BLOCKING} reads /dev/urandom alone, whatever the seed source is (JDK 8 and later)"
    if where is None:
        nothing = value.refused(request, judgement)
        if nothing is not None:
            return nothing
        text = templates.render("fix/tomcat-manager/text.j2")
        return Answer(text.encode(), notes=(why, *notes, *value.told(judgement)))
    return edited.answer(
        request,
        where,
        lambda data, _: tomcatcontext.set_algorithm(data),
        patch_file="context.patch",
        by_hand=f'<Manager secureRandomAlgorithm="{tomcatcontext.NON_BLOCKING}"/> inside <Context>',
        then="a restart of Tomcat",
        notes=notes,
        sets=f"secureRandomAlgorithm {tomcatcontext.NON_BLOCKING}",
        why=why,
        judgement=judgement,
    )


def _context(request: Request) -> Place | None:
    if request.given is not None:
        return place.given(request)
    home = request.case.value(TomcatHome)
    if home is None:
        if request.pid is not None:
            raise UsageError(
                f"{request.target} is no Tomcat: {place.what(request)}",
                place.fitting(request, "tomcat-manager"),
            )
        return None
    path = f"{home.base.rstrip('/')}/conf/context.xml"
    found = place.seen(request, path, base=home.base, within=(home.base,))
    if found is not None and found.content is None:
        raise SeedstallError(f"{path} is not there", "Tomcat takes it from CATALINA_BASE/conf")
    return found


def _context_place(request: Request) -> Place:
    found = _context(request)
    if found is None:
        raise UsageError("no context.xml is known", "name it, or the process")
    return found


_FILES = (
    WILDFLY,
    WEBLOGIC,
    ZOOKEEPER,
    ACTIVEMQ,
    CASSANDRA,
    ELASTICSEARCH,
    LIBERTY,
    NEXUS,
    JETTY,
    DEBIAN_JETTY,
    SONARQUBE,
)
ANSWERS: dict[str, Callable[[Request], Answer]] = {
    **{kept.key: kept.answer for kept in _FILES},
    "debian-jetty": debian_jetty,
    "kafka": KAFKA.answer,
    "keycloak": KEYCLOAK.answer,
    "jenkins": jenkins,
    "jenkins-agent": jenkins_agent,
    "tomcat-manager": tomcat_manager,
}
PLACES: dict[str, Callable[[Request], Place]] = {
    **{kept.key: _file(kept) for kept in _FILES},
    "kafka": KAFKA.place,
    "keycloak": KEYCLOAK.place,
    "jenkins": jenkins_place,
    "tomcat-manager": _context_place,
}
