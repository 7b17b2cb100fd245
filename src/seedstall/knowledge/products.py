"""Programs people run on a JVM: how each is told from its command line, where its JVM flags persist, what it draws.

Names and places are from the products' own start scripts and sources unless a row says otherwise. Rows are tried in
order: the special before the general (Solr runs in Jetty's starter, Keycloak in Quarkus').
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seedstall.knowledge.seeding import jarsigner_nonce_blocks
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, Product
from seedstall.model.seeding import Instance, Operation

PLAIN = ("java-opts",)
SYSTEMD = "systemctl edit UNIT, then Environment="


class Asks(NamedTuple):
    """The generator a program seeds as it starts. ``sure`` is false where it depends on how the program is set up."""

    instance: Instance
    operation: Operation
    why: str
    sure: bool = True


class ProductRow(NamedTuple):
    """One program.

    ``mains`` are main classes (one that ends in a dot stands for a package), ``jars`` file names (``*`` at an end
    stands for anything), ``properties`` names of system properties that only it sets, ``tools`` programs of the JDK.
    ``flags`` says where its JVM flags persist. ``reads_d`` is true where the program itself takes ``-Dname=value``
    among its arguments and sets the property: such a ``-D`` is late, but not lost.
    """

    key: str
    title: str
    mains: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = PLAIN
    flags: str = ""
    asks: Asks | None = None
    reads_d: bool = False


_SESSION_IDS = "Tomcat's session ids (SessionIdGeneratorBase.createSecureRandom)"
_EMBEDDED = "session ids of an embedded Tomcat, where that is its web server"
_TSA = "the nonce of a time-stamp request (sun.security.pkcs.PKCS7.generateTimestampToken)"
_TRILEAD = "SSH build agents (com.trilead.ssh2.RandomFactory, JENKINS-20108)"
_MINA = "its SSH server (org.apache.sshd.common.random.BouncyCastleRandom calls generateSeed)"


def _sha1(why: str, *, sure: bool = True) -> Asks:
    return Asks(Instance.SHA1PRNG, Operation.NEXT_BYTES, why, sure)


PRODUCTS: tuple[ProductRow, ...] = (
    ProductRow(
        "sonarqube",
        "SonarQube",
        mains=(
            "org.sonar.application.App",
            "org.sonar.server.app.WebServer",
            "org.sonar.ce.app.CeServer",
        ),
        jars=("sonar-application-*",),
        surfaces=("sonarqube", "java-opts"),
        flags="conf/sonar.properties: sonar.web.javaAdditionalOpts, sonar.ce.javaAdditionalOpts, sonar.search."
        "javaAdditionalOpts (each child is a JVM of its own)",
        asks=_sha1(_EMBEDDED, sure=False),
    ),
    ProductRow(
        "keycloak",
        "Keycloak",
        properties=("kc.home.dir",),
        surfaces=("keycloak", "java-opts"),
        flags="JAVA_OPTS_APPEND; kc.sh sets -Djava.security.egd=file:/dev/urandom itself, but only where JAVA_OPTS is"
        " not set",
    ),
    ProductRow(
        "quarkus",
        "Quarkus",
        mains=("io.quarkus.bootstrap.runner.QuarkusEntryPoint",),
        jars=("quarkus-run.jar",),
        flags="JAVA_TOOL_OPTIONS, or the java command of the image or unit",
    ),
    ProductRow(
        "solr",
        "Apache Solr",
        properties=("solr.solr.home", "solr.install.dir"),
        flags="solr.in.sh: SOLR_OPTS",
    ),
    ProductRow(
        "nexus",
        "Sonatype Nexus",
        mains=("org.sonatype.nexus.karaf.NexusMain", "org.sonatype.nexus.bootstrap."),
        jars=("sonatype-nexus-repository-*",),
        surfaces=("nexus", "java-opts"),
        flags="bin/nexus.vmoptions; in its image INSTALL4J_ADD_VM_PARAMS",
    ),
    ProductRow(
        "karaf",
        "Apache Karaf",
        mains=("org.apache.karaf.main.Main",),
        flags="bin/setenv: EXTRA_JAVA_OPTS",
    ),
    ProductRow(
        "jenkins",
        "Jenkins",
        mains=("executable.Main",),
        jars=("jenkins.war", "jenkins*.war"),
        surfaces=("jenkins", "java-opts"),
        flags=f"{SYSTEMD}JAVA_OPTS=; /etc/default/jenkins (JAVA_ARGS) or /etc/sysconfig/jenkins (JENKINS_JAVA_OPTIONS)"
        " of older packages",
        asks=_sha1(_TRILEAD, sure=False),
    ),
    ProductRow(
        "jenkins-agent",
        "Jenkins agent",
        mains=("hudson.remoting.",),
        jars=("agent.jar", "remoting.jar", "slave.jar", "swarm-client*.jar"),
        surfaces=("jenkins-agent", "java-opts"),
        flags='the node\'s configuration, "JVM Options"',
    ),
    ProductRow(
        "gerrit",
        "Gerrit",
        jars=("gerrit.war", "gerrit*.war"),
        properties=("gerrit.instanceName",),
        flags="etc/gerrit.config: container.javaOptions",
        asks=Asks(Instance.DEFAULT, Operation.GENERATE_SEED, _MINA),
    ),
    ProductRow(
        "tomcat",
        "Apache Tomcat",
        mains=("org.apache.catalina.startup.Bootstrap",),
        surfaces=("tomcat-setenv", "java-opts"),
        flags="bin/setenv.sh below CATALINA_BASE: CATALINA_OPTS; Debian /etc/default/tomcatN: JAVA_OPTS; Red Hat"
        " /etc/tomcat/tomcat.conf or /etc/sysconfig/tomcat",
        asks=_sha1(_SESSION_IDS),
    ),
    ProductRow(
        "jetty",
        "Eclipse Jetty",
        mains=(
            "org.eclipse.jetty.start.Main",
            "org.eclipse.jetty.xml.XmlConfiguration",
            "org.eclipse.jetty.runner.",
        ),
        jars=("start.jar", "jetty-runner*.jar", "jetty-start*.jar"),
        properties=("jetty.home", "jetty.base"),
        surfaces=("jetty", "java-opts"),
        flags="JAVA_OPTIONS (Debian /etc/default/jetty9), or --exec and -D lines in start.d/*.ini",
        asks=Asks(
            Instance.DEFAULT,
            Operation.NEXT_BYTES,
            "session ids (DefaultSessionIdManager, new SecureRandom())",
        ),
        reads_d=True,
    ),
    ProductRow(
        "wildfly",
        "WildFly or JBoss EAP",
        mains=("org.jboss.as.", "org.jboss.Main"),
        jars=("jboss-modules.jar",),
        properties=("jboss.home.dir", "[Standalone]"),
        surfaces=("wildfly", "java-opts"),
        flags='bin/standalone.conf: JAVA_OPTS="$JAVA_OPTS -D..." below the default block (domain.conf in domain mode)',
        reads_d=True,
    ),
    ProductRow(
        "weblogic",
        "Oracle WebLogic",
        mains=("weblogic.Server", "weblogic.NodeManager", "weblogic.WLST"),
        properties=("weblogic.Name", "weblogic.home"),
        surfaces=("weblogic", "java-opts"),
        flags="$DOMAIN_HOME/bin/setUserOverrides.sh (12c and later) or setDomainEnv.sh: JAVA_OPTIONS; for WLST"
        " CONFIG_JVM_ARGS",
    ),
    ProductRow(
        "liberty",
        "Open Liberty or WebSphere Liberty",
        mains=("com.ibm.ws.kernel.boot.",),
        jars=("ws-server.jar", "ws-launch.jar"),
        properties=("wlp.install.dir",),
        surfaces=("liberty", "java-opts"),
        flags="jvm.options of the server",
    ),
    ProductRow(
        "websphere",
        "IBM WebSphere",
        mains=("com.ibm.ws.", "com.ibm.wsspi."),
        properties=("was.install.root",),
        flags="the server's generic JVM arguments (console, or server.xml genericJvmArguments)",
    ),
    ProductRow(
        "glassfish",
        "GlassFish or Payara",
        mains=("com.sun.enterprise.glassfish.bootstrap.", "fish.payara."),
        jars=("glassfish.jar", "payara-micro*.jar"),
        properties=("com.sun.aas.instanceRoot",),
        flags="asadmin create-jvm-options",
    ),
    ProductRow(
        "kafka",
        "Apache Kafka",
        mains=("kafka.Kafka", "org.apache.kafka.connect.cli."),
        surfaces=("kafka", "java-opts"),
        flags="KAFKA_OPTS (bin/kafka-run-class.sh)",
    ),
    ProductRow(
        "zookeeper",
        "Apache ZooKeeper",
        mains=("org.apache.zookeeper.server.",),
        surfaces=("zookeeper", "java-opts"),
        flags="conf/java.env: SERVER_JVMFLAGS; Debian /etc/zookeeper/conf/environment: JAVA_OPTS",
    ),
    ProductRow(
        "cassandra",
        "Apache Cassandra",
        mains=("org.apache.cassandra.service.CassandraDaemon",),
        surfaces=("cassandra", "java-opts"),
        flags="conf/jvm-server.options (4.x), conf/jvm.options (3.x), or JVM_OPTS in conf/cassandra-env.sh",
    ),
    ProductRow(
        "elasticsearch",
        "Elasticsearch",
        mains=("org.elasticsearch.",),
        surfaces=("elasticsearch", "java-opts"),
        flags="a file in config/jvm.options.d, or ES_JAVA_OPTS",
    ),
    ProductRow(
        "opensearch",
        "OpenSearch",
        mains=("org.opensearch.",),
        surfaces=("elasticsearch", "java-opts"),
        flags="a file in config/jvm.options.d, or OPENSEARCH_JAVA_OPTS",
    ),
    ProductRow(
        "logstash",
        "Logstash",
        mains=("org.logstash.",),
        flags="config/jvm.options, or LS_JAVA_OPTS",
    ),
    ProductRow(
        "artemis",
        "ActiveMQ Artemis",
        mains=("org.apache.activemq.artemis.",),
        flags="etc/artemis.profile: JAVA_ARGS",
    ),
    ProductRow(
        "activemq",
        "Apache ActiveMQ",
        mains=("org.apache.activemq.console.Main",),
        jars=("activemq.jar",),
        surfaces=("activemq", "java-opts"),
        flags="bin/env or /etc/default/activemq: ACTIVEMQ_OPTS",
    ),
    ProductRow(
        "neo4j",
        "Neo4j",
        mains=("org.neo4j.server.", "com.neo4j.server."),
        flags="neo4j.conf: server.jvm.additional (dbms.jvm.additional up to 4.x)",
    ),
    ProductRow(
        "nifi",
        "Apache NiFi",
        mains=("org.apache.nifi.",),
        flags="conf/bootstrap.conf: java.arg.N",
    ),
    ProductRow(
        "hbase",
        "Apache HBase",
        mains=("org.apache.hadoop.hbase.",),
        flags="conf/hbase-env.sh: HBASE_OPTS",
    ),
    ProductRow(
        "hadoop",
        "Apache Hadoop",
        mains=("org.apache.hadoop.",),
        flags="etc/hadoop/hadoop-env.sh: HADOOP_OPTS",
    ),
    ProductRow(
        "spark",
        "Apache Spark",
        mains=("org.apache.spark.",),
        flags="conf/spark-defaults.conf: spark.driver.extraJavaOptions, spark.executor.extraJavaOptions",
    ),
    ProductRow(
        "maven-fork",
        "a test JVM of Maven",
        mains=("org.apache.maven.surefire.booter.",),
        jars=("surefirebooter*",),
        flags="argLine of the surefire or failsafe plugin (MAVEN_OPTS does not reach it)",
    ),
    ProductRow(
        "maven",
        "Apache Maven",
        mains=(
            "org.codehaus.plexus.classworlds.launcher.Launcher",
            "org.codehaus.classworlds.Launcher",
        ),
        properties=("maven.home", "maven.multiModuleProjectDirectory"),
        surfaces=("jvm-config", "java-opts"),
        flags="MAVEN_OPTS or .mvn/jvm.config; a jarsigner it forks takes <arguments> with -J-D...",
        reads_d=True,
    ),
    ProductRow(
        "gradle-worker",
        "a worker JVM of Gradle",
        mains=("worker.org.gradle.",),
        flags="jvmArgs of the task (org.gradle.jvmargs does not reach it)",
    ),
    ProductRow(
        "gradle",
        "Gradle",
        mains=("org.gradle.",),
        jars=("gradle-wrapper.jar",),
        surfaces=("gradle", "java-opts"),
        flags="gradle.properties: org.gradle.jvmargs (the daemon); GRADLE_OPTS (the client)",
        reads_d=True,
    ),
    ProductRow(
        "ant",
        "Apache Ant",
        mains=("org.apache.tools.ant.",),
        flags="ANT_OPTS; <signjar> takes a nested <sysproperty>",
        reads_d=True,
    ),
    ProductRow(
        "sbt",
        "sbt",
        mains=("xsbt.boot.Boot",),
        jars=("sbt-launch*.jar",),
        flags=".jvmopts, or SBT_OPTS",
        reads_d=True,
    ),
    ProductRow(
        "spring-boot",
        "a Spring Boot program",
        mains=("org.springframework.boot.loader.",),
        flags="the java command (ExecStart, ENTRYPOINT), JAVA_TOOL_OPTIONS, or JDK_JAVA_OPTIONS (9 and later); the JVM"
        " does not read JAVA_OPTS",
        asks=_sha1(_EMBEDDED, sure=False),
    ),
    ProductRow(
        "jarsigner",
        "jarsigner",
        mains=("sun.security.tools.jarsigner.", "sun.security.tools.JarSigner"),
        tools=("jarsigner",),
        surfaces=("jarsigner",),
        flags="the command line, with -J before each JVM flag; JAVA_TOOL_OPTIONS reaches it, JDK_JAVA_OPTIONS does not",
        asks=_sha1(_TSA, sure=False),
    ),
    ProductRow(
        "keytool",
        "keytool",
        mains=("sun.security.tools.keytool.", "sun.security.tools.KeyTool"),
        tools=("keytool",),
        surfaces=("jarsigner",),
        flags="the command line, with -J before each JVM flag; JAVA_TOOL_OPTIONS reaches it, JDK_JAVA_OPTIONS does not",
        asks=Asks(
            Instance.DEFAULT, Operation.NEXT_BYTES, "keys (CertAndKeyGen, new SecureRandom())"
        ),
    ),
    ProductRow(
        "jdk-tool",
        "a tool of the JDK",
        tools=("*",),
        surfaces=("jarsigner",),
        flags="the command line, with -J before each JVM flag",
    ),
)
BY_KEY = {row.key: row for row in PRODUCTS}
NEW = Asks(Instance.DEFAULT, Operation.NEXT_BYTES, "new SecureRandom()")
"""What any program does: where even that waits, no program needs to be known."""

_STARTERS = (
    "org.tanukisoftware.wrapper.",
    "org.rzo.yajsw.",
    "com.sun.akuma.",
    "org.jboss.modules.Main",
    "org.codehaus.classworlds.uberjar.",
)
"""Classes that start another one, which the arguments name."""
_STARTER_JARS = ("jboss-modules.jar", "wrapper.jar", "wrapperApp.jar")


def asked(product: Product | None, launch: Launch | None, jdk: JdkVersion) -> Iterator[Asks]:
    """What this program is known to draw as it starts, and what any program may."""
    row = BY_KEY.get(product.key) if product is not None else None
    if row is not None and row.asks is not None and _does_ask(row.key, launch, jdk):
        yield row.asks
    yield NEW


def _does_ask(key: str, launch: Launch | None, jdk: JdkVersion) -> bool:
    """Whether it does this time: jarsigner draws a nonce only for a time stamp.

    Since JDK-8293858 it takes that from the default generator.
    """
    if key != "jarsigner":
        return True
    stamped = launch is None or any(word in ("-tsa", "-tsacert") for word in launch.program)
    return stamped and jarsigner_nonce_blocks(jdk) is not False


def recognise(launch: Launch) -> Product:
    """Which program this is; ``java`` with its main class or jar as title where no row fits."""
    for row in PRODUCTS:
        told_by = _told_by(row, launch)
        if told_by:
            title = launch.tool if row.key == "jdk-tool" else row.title
            return Product(
                key=row.key,
                title=title,
                surfaces=_surfaces(row, launch),
                told_by=told_by,
                asks_for=str(row.asks.instance) if row.asks is not None else "",
                flags=row.flags,
            )
    name = launch.jar.rpartition("/")[2] or launch.main_class or launch.module or launch.java
    return Product(
        key="java",
        title=name,
        told_by="no known program",
        flags="the java command that starts it, or JAVA_TOOL_OPTIONS in its environment",
    )


def _surfaces(row: ProductRow, launch: Launch) -> tuple[str, ...]:
    """Debian's own instance, whose base is its home, has a file for the flags; an .ini file may still be the place."""
    home = launch.property_value("jetty.base") or launch.property_value("jetty.home") or launch.jar
    if row.key == "jetty" and home.startswith("/usr/share/jetty"):
        return ("debian-jetty", *row.surfaces)
    return row.surfaces


def _told_by(row: ProductRow, launch: Launch) -> str:
    """What on the command line is that row's, for people; ``""`` if nothing is."""
    if launch.tool:
        return f"program {launch.tool}" if launch.tool in row.tools or "*" in row.tools else ""
    for name in _mains(launch):
        if any(
            name == main or (main.endswith(".") and name.startswith(main)) for main in row.mains
        ):
            return f"main class {name}"
    jar = launch.jar.rpartition("/")[2]
    if jar and any(_fits(jar, pattern) for pattern in row.jars):
        return f"jar {jar}"
    for name in row.properties:
        if launch.last_property(name) is not None:
            return f"property -D{name}"
    return ""


def _mains(launch: Launch) -> Iterator[str]:
    """The main class, and the one that a starter is told to run."""
    main = launch.main_class or launch.module.rpartition("/")[2]
    if main:
        yield main
    jar = launch.jar.rpartition("/")[2]
    if main.startswith(_STARTERS) or jar in _STARTER_JARS:
        yield from (
            word for word in launch.program[:16] if "." in word and not word.startswith("-")
        )


def _fits(name: str, pattern: str) -> bool:
    before, star, after = pattern.partition("*")
    if not star:
        return name == pattern
    return (
        len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)
    )
