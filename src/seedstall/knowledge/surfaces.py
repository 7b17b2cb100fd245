"""The places where a remedy is written down: what ``seedstall fix --surface`` takes, one row each.

What a surface gives for a target stands in `seedstall.remedy`; here is what rules, texts and ``--list`` know of it.
"""

from __future__ import annotations

from enum import StrEnum

from seedstall.model.fileformat import Format
from seedstall.model.record import dataclass


class Group(StrEnum):
    """What a surface belongs to, as ``--list`` heads it."""

    COMMAND = "a command line"
    TOMCAT = "Apache Tomcat"
    SERVICE = "services"
    JDK = "the JDK's security properties"
    CONTAINER = "containers"
    BUILD = "builds"
    PRODUCT = "other products"
    HOST = "the host"
    ONCE = "done once, to what hangs now"
    ADVICE = "no place at all"


@dataclass(frozen=True, slots=True)
class Surface:
    """A place where a remedy is written down.

    ``params`` are what its template needs of a fix, ``perhaps`` what it uses where it is there. ``writes`` is whether
    ``--apply`` can write it. ``names`` are patterns (as in a shell, against the whole path) of the files that it edits,
    ``formats`` what such a file is where its name does not say it: a target that is one is edited, and no evidence.
    """

    name: str
    title: str
    group: Group
    params: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    writes: bool = False
    names: tuple[str, ...] = ()
    formats: tuple[Format, ...] = ()


EGD = ("egd",)
SURFACES: tuple[Surface, ...] = (
    Surface("java-opts", "the plain flag for a java command line", Group.COMMAND, EGD),
    Surface(
        "jarsigner",
        "the command line of jarsigner or another JDK tool, with -J-D...",
        Group.COMMAND,
        EGD,
        ("command",),
    ),
    Surface(
        "tomcat-setenv",
        "patch of the instance's own bin/setenv.sh (CATALINA_OPTS)",
        Group.TOMCAT,
        EGD,
        writes=True,
        names=("*/setenv.sh",),
    ),
    Surface(
        "debian-tomcat",
        "patch of /etc/default/tomcatN of Debian's and Ubuntu's package (JAVA_OPTS)",
        Group.TOMCAT,
        EGD,
        writes=True,
        names=("*/default/tomcat*",),
    ),
    Surface(
        "rhel-tomcat",
        "patch of Red Hat's, Fedora's and SUSE's conf.d, tomcat.conf or sysconfig (CATALINA_OPTS)",
        Group.TOMCAT,
        EGD,
        writes=True,
        names=("*/tomcat*.conf", "*/sysconfig/tomcat*", "*/tomcat/conf.d/*.conf"),
    ),
    Surface(
        "tomcat-manager",
        "patch of conf/context.xml: another generator for the session ids alone",
        Group.TOMCAT,
        writes=True,
        names=("*/context.xml",),
        formats=(Format.XML,),
    ),
    Surface(
        "systemd",
        "a drop-in for the unit of the process, or a patch of a unit or its EnvironmentFile",
        Group.SERVICE,
        EGD,
        writes=True,
        names=("*.service", "*.service.d/*.conf"),
        formats=(Format.UNIT, Format.ENVIRONMENT_FILE),
    ),
    Surface(
        "java-security",
        "patch of the java.security that this JVM reads (securerandom.source, strongAlgorithms)",
        Group.JDK,
        EGD,
        writes=True,
        names=("*/java.security",),
        formats=(Format.SECURITY,),
    ),
    Surface(
        "security-properties",
        "patch of the file of -Djava.security.properties, or one to name there",
        Group.JDK,
        EGD,
        writes=True,
        names=("*security.properties",),
        formats=(Format.SECURITY,),
    ),
    Surface(
        "strong-algorithms",
        "a security properties file, for getInstanceStrong (JDK 8 and later)",
        Group.JDK,
        ("value",),
    ),
    Surface(
        "docker",
        "patch of a Dockerfile: its exec-form command, else ENV JAVA_TOOL_OPTIONS",
        Group.CONTAINER,
        EGD,
        ("options", "variable"),
        writes=True,
        names=("*/Dockerfile*", "*/Containerfile*", "*.dockerfile", "*.containerfile"),
        formats=(Format.DOCKERFILE,),
    ),
    Surface(
        "compose",
        "patch of a Compose file (environment: JAVA_TOOL_OPTIONS)",
        Group.CONTAINER,
        EGD,
        ("options", "variable"),
        writes=True,
        names=("*/compose*.y*ml", "*/docker-compose*.y*ml"),
        formats=(Format.MANIFEST,),
    ),
    Surface(
        "kubernetes",
        "patch of a Kubernetes manifest (env: JAVA_TOOL_OPTIONS)",
        Group.CONTAINER,
        EGD,
        ("options", "variable"),
        writes=True,
        names=(
            *(
                f"*/{kind}*.y*ml"
                for kind in ("deployment", "statefulset", "daemonset", "cronjob", "pod")
            ),
            *(f"*/{folder}/*.y*ml" for folder in ("k8s", "kubernetes", "manifests")),
        ),
        formats=(Format.MANIFEST,),
    ),
    Surface(
        "kubernetes-patch",
        "a strategic-merge patch for kubectl patch, made from a manifest",
        Group.CONTAINER,
        EGD,
        ("options", "variable"),
        formats=(Format.MANIFEST,),
    ),
    Surface(
        "helm",
        "patch of a chart's values, where they show where options or variables go",
        Group.CONTAINER,
        EGD,
        ("options", "variable"),
        writes=True,
        names=("*/values*.y*ml",),
        formats=(Format.MANIFEST,),
    ),
    Surface(
        "maven",
        "patch of a pom.xml: <arguments> of maven-jarsigner-plugin",
        Group.BUILD,
        EGD,
        writes=True,
        names=("*/pom.xml", "*.pom"),
        formats=(Format.XML,),
    ),
    Surface(
        "jvm-config",
        "patch of .mvn/jvm.config: Maven's own JVM",
        Group.BUILD,
        EGD,
        writes=True,
        names=("*/jvm.config",),
        formats=(Format.JVM_OPTIONS,),
    ),
    Surface(
        "gradle",
        "patch of gradle.properties (org.gradle.jvmargs): Gradle's daemon",
        Group.BUILD,
        EGD,
        writes=True,
        names=("*/gradle.properties",),
    ),
    Surface(
        "ant",
        "patch of an Ant file: <sysproperty> of each <signjar>",
        Group.BUILD,
        EGD,
        writes=True,
        names=("*/build.xml", "*/build-*.xml"),
        formats=(Format.XML,),
    ),
    Surface(
        "wildfly",
        "patch of bin/standalone.conf or domain.conf (JAVA_OPTS)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/standalone.conf", "*/domain.conf"),
    ),
    Surface(
        "weblogic",
        "patch of the domain's bin/setUserOverrides.sh (JAVA_OPTIONS)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/setUserOverrides.sh",),
    ),
    Surface(
        "liberty",
        "patch of the server's jvm.options (Open Liberty, WebSphere Liberty)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/servers/*/jvm.options", "*/configDropins/*/jvm.options"),
        formats=(Format.JVM_OPTIONS,),
    ),
    Surface(
        "jetty",
        "patch of an .ini file of JETTY_BASE (start.d)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/start.ini", "*/start.d/*.ini"),
        formats=(Format.JVM_OPTIONS,),
    ),
    Surface(
        "debian-jetty",
        "patch of /etc/default/jetty9 of Debian's and Ubuntu's package (JAVA_OPTIONS)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/default/jetty*",),
    ),
    Surface(
        "kafka",
        "a drop-in for the unit that starts it (KAFKA_OPTS)",
        Group.PRODUCT,
        EGD,
        ("held",),
        writes=True,
    ),
    Surface(
        "zookeeper",
        "patch of conf/java.env (SERVER_JVMFLAGS)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/java.env",),
    ),
    Surface(
        "cassandra",
        "patch of jvm-server.options (4.0 and later) or jvm.options",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/jvm-server.options", "*/jvm*-server.options", "*/cassandra*/*/jvm.options"),
        formats=(Format.JVM_OPTIONS,),
    ),
    Surface(
        "elasticsearch",
        "patch of a file in jvm.options.d (Elasticsearch, OpenSearch)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/jvm.options.d/*.options",),
        formats=(Format.JVM_OPTIONS,),
    ),
    Surface(
        "activemq",
        "patch of bin/env or /etc/default/activemq (ACTIVEMQ_OPTS)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*activemq*/bin/env", "*/default/activemq", "*/.activemqrc"),
    ),
    Surface(
        "jenkins",
        "a drop-in for the controller's unit (JAVA_OPTS), or the file of an older package",
        Group.PRODUCT,
        EGD,
        ("held",),
        writes=True,
        names=("*/default/jenkins", "*/sysconfig/jenkins"),
    ),
    Surface(
        "jenkins-agent",
        "where the controller keeps an agent's JVM options",
        Group.PRODUCT,
        EGD,
    ),
    Surface(
        "keycloak",
        "a drop-in for the unit that starts it (JAVA_OPTS_APPEND)",
        Group.PRODUCT,
        EGD,
        ("held",),
        writes=True,
    ),
    Surface(
        "nexus",
        "patch of bin/nexus.vmoptions",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/nexus.vmoptions",),
        formats=(Format.JVM_OPTIONS,),
    ),
    Surface(
        "sonarqube",
        "patch of conf/sonar.properties (javaAdditionalOpts of web, ce and search)",
        Group.PRODUCT,
        EGD,
        writes=True,
        names=("*/sonar.properties",),
    ),
    *(
        Surface(name, f"commands that start {title} on the host", Group.HOST, perhaps=("commands",))
        for name, title in (
            ("rngd", "rngd (rng-tools)"),
            ("haveged", "haveged"),
            ("jitterentropy", "jitterentropy-rngd"),
        )
    ),
    *(
        Surface(
            f"virtio-{name}", f"a virtio-rng device for the virtual machine: {title}", Group.HOST
        )
        for name, title in (
            ("libvirt", "libvirt's XML, and the command that attaches it"),
            ("qemu", "QEMU's command line and its monitor"),
            ("proxmox", "qm set of Proxmox VE"),
            ("firecracker", "the request of Firecracker's API"),
        )
    ),
    Surface(
        "kernel-update",
        "the kernel within the host's release that has no blocking pool",
        Group.HOST,
        perhaps=("commands", "note"),
    ),
    Surface(
        "bcfips-hybrid",
        "the line of java.security that lets BCFIPS reseed in the background",
        Group.JDK,
    ),
    *(
        Surface(name, title, Group.ONCE, ("command",))
        for name, title in (
            ("feed-device", "bytes into the FIFO that stands for the device"),
            ("stir-pool", "keys and a busy disk, which fill the pool without any daemon"),
            ("continue", "SIGCONT for a process that is stopped"),
            ("thaw", "a frozen control group let go"),
            ("debugger", "a debugger that connects and goes"),
            ("end-holder", "the process that holds what is waited for"),
            ("cpu-quota", "a larger CPU quota, set on what runs"),
            ("wait", "nothing: it goes on by itself"),
            ("capture", "what a restart destroys, saved before it"),
            ("restart", "the end of the process, and what that costs"),
        )
    ),
    Surface(
        "remove-flag", "a setting that is to be taken out", Group.ADVICE, ("option", "place", "why")
    ),
    Surface(
        "device-node",
        "the kernel's own device put back in its place",
        Group.ADVICE,
        ("path", "minor"),
    ),
    Surface(
        "application-call", "the call in the program's own code", Group.ADVICE, ("call", "frame")
    ),
    Surface("none", "why nothing is to be done", Group.ADVICE, ("why",)),
)
BY_NAME = {surface.name: surface for surface in SURFACES}
EGD_SURFACES = frozenset(s.name for s in SURFACES if s.params == EGD)
"""Those that set ``java.security.egd``."""
ADVICE = (
    *(s.name for s in SURFACES if s.group in (Group.ONCE, Group.ADVICE)),
    "bcfips-hybrid",
)
"""Those that only a diagnosis can ask for: what is printed is the fix of that name in its findings."""
