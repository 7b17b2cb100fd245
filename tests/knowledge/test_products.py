"""Each program by a command line of its own."""

from __future__ import annotations

import pytest

from seedstall.knowledge.products import BY_KEY, PRODUCTS, recognise
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.seeding import Instance, Operation
from seedstall.parse.launcher import launch

JDK17 = JdkVersion(17)
ES_MODULE = "org.elasticsearch.server/org.elasticsearch.bootstrap.Elasticsearch"

COMMANDS = [
    (
        "tomcat",
        "java -Dcatalina.base=/srv/t -classpath bootstrap.jar org.apache.catalina.startup.Bootstrap start",
    ),
    (
        "tomcat",
        "jsvc.exec -java-home /opt/jdk -cp bootstrap.jar org.apache.catalina.startup.Bootstrap",
    ),
    ("jetty", "java -jar /usr/share/jetty9/start.jar jetty.state=/var/lib/jetty9/jetty.state"),
    ("jetty", "java -Djetty.base=/srv/j -cp x org.eclipse.jetty.xml.XmlConfiguration"),
    ("solr", "java -Dsolr.solr.home=/var/solr/data -jar start.jar --module=http"),
    ("jenkins", "java -Djava.awt.headless=true -jar /usr/share/java/jenkins.war --httpPort=8080"),
    ("jenkins", "java -jar jenkins-2.440.war"),
    ("jenkins-agent", "java -jar agent.jar -url http://j/ -secret s"),
    ("jenkins-agent", "java -cp remoting.jar hudson.remoting.jnlp.Main -headless"),
    ("gerrit", "java -jar /srv/gerrit/bin/gerrit.war daemon -d /srv/gerrit"),
    (
        "wildfly",
        "java -D[Standalone] -jar /opt/wildfly/jboss-modules.jar -mp modules org.jboss.as.standalone",
    ),
    ("wildfly", "java -cp jboss-modules.jar org.jboss.modules.Main -mp m org.jboss.as.standalone"),
    ("weblogic", "java -Dweblogic.Name=AdminServer weblogic.Server"),
    ("weblogic", "java weblogic.NodeManager -v"),
    ("liberty", "java -jar /opt/ol/wlp/bin/tools/ws-server.jar defaultServer"),
    ("websphere", "java -cp x com.ibm.wsspi.bootstrap.WSPreLauncher -nosplash"),
    ("glassfish", "java -cp glassfish.jar com.sun.enterprise.glassfish.bootstrap.ASMain -type DAS"),
    ("kafka", "java -Xmx1G -cp libs/* kafka.Kafka config/server.properties"),
    ("zookeeper", "java -cp lib/* org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg"),
    ("cassandra", "java -ea -cp conf org.apache.cassandra.service.CassandraDaemon"),
    ("elasticsearch", f"java -Des.distribution.type=deb -p lib -m {ES_MODULE}"),
    ("elasticsearch", "java -cp lib/* org.elasticsearch.bootstrap.Elasticsearch -p es.pid"),
    ("opensearch", "java -cp lib/* org.opensearch.bootstrap.OpenSearch"),
    ("logstash", "java -cp logstash-core/lib/jars/* org.logstash.Logstash"),
    ("activemq", "java -Dactivemq.home=/opt/a -jar /opt/a/bin/activemq.jar start"),
    ("artemis", "java -cp boot.jar org.apache.activemq.artemis.boot.Artemis run"),
    (
        "keycloak",
        "java -Dkc.home.dir=/opt/keycloak -cp lib/quarkus-run.jar io.quarkus.bootstrap.runner.QuarkusEntryPoint",
    ),
    ("quarkus", "java -jar /deployments/quarkus-run.jar"),
    ("nexus", "java -cp lib/boot/* org.sonatype.nexus.karaf.NexusMain"),
    ("nexus", "java -jar bin/sonatype-nexus-repository-3.78.0-14.jar"),
    ("karaf", "java -cp lib/boot/* org.apache.karaf.main.Main"),
    ("sonarqube", "java -jar lib/sonar-application-9.9.0.jar"),
    ("sonarqube", "java -cp lib/* org.sonar.server.app.WebServer sq-process.properties"),
    ("neo4j", "java -cp lib/* org.neo4j.server.CommunityEntryPoint"),
    ("nifi", "java -cp lib/* org.apache.nifi.NiFi"),
    ("hbase", "java -cp x org.apache.hadoop.hbase.master.HMaster start"),
    ("hadoop", "java -cp x org.apache.hadoop.hdfs.server.namenode.NameNode"),
    ("spark", "java -cp x org.apache.spark.deploy.worker.Worker spark://m:7077"),
    (
        "maven",
        "java -classpath plexus-classworlds.jar org.codehaus.plexus.classworlds.launcher.Launcher verify",
    ),
    ("maven-fork", "java -jar target/surefire/surefirebooter123.jar target/surefire x"),
    (
        "gradle",
        "java -cp gradle-launcher.jar org.gradle.launcher.daemon.bootstrap.GradleDaemon 8.5",
    ),
    (
        "gradle",
        "java -cp gradle/wrapper/gradle-wrapper.jar org.gradle.wrapper.GradleWrapperMain build",
    ),
    (
        "gradle-worker",
        "java -cp x worker.org.gradle.process.internal.worker.GradleWorkerMain 'Gradle Test Executor 1'",
    ),
    ("ant", "java -cp ant-launcher.jar org.apache.tools.ant.launch.Launcher -f build.xml"),
    ("sbt", "java -jar sbt-launch.jar compile"),
    ("spring-boot", "java -cp . org.springframework.boot.loader.JarLauncher"),
    ("spring-boot", "java -cp . org.springframework.boot.loader.launch.JarLauncher"),
    ("jarsigner", "/opt/jdk/bin/jarsigner -tsa http://tsa a.jar k"),
    ("jarsigner", "java -cp tools.jar sun.security.tools.jarsigner.Main a.jar k"),
    ("keytool", "keytool -genkeypair -alias k"),
    ("jdk-tool", "javac -J-Xmx1g A.java"),
    ("java", "java -jar app.jar"),
    ("java", "java -cp . org.example.Main"),
]


def told(command: str) -> Product:
    return recognise(launch(command.split(), {}, jdk=JDK17))


@pytest.mark.parametrize(("key", "command"), COMMANDS)
def test_it_is_recognised(key: str, command: str) -> None:
    product = told(command)
    assert product.key == key
    assert product.told_by
    assert product.flags


@pytest.mark.parametrize("row", PRODUCTS, ids=lambda row: row.key)
def test_each_row_has_a_command(row: object) -> None:
    assert row in [BY_KEY[key] for key, _ in COMMANDS if key in BY_KEY]


def test_keys_are_unique() -> None:
    assert len(BY_KEY) == len(PRODUCTS)


def test_the_starter_is_not_the_program() -> None:
    product = told("java -jar wrapper.jar -x org.apache.catalina.startup.Bootstrap start")
    assert product.key == "tomcat"
    tanuki = told(
        "java -cp x org.tanukisoftware.wrapper.WrapperSimpleApp org.sonatype.nexus.karaf.NexusMain"
    )
    assert tanuki.key == "nexus"


@pytest.mark.parametrize(
    "command",
    [
        "java -cp /opt/tomcat/lib/x.jar org.example.Main org.apache.catalina.startup.Bootstrap",
        "java -jar mystart.jar",
        "java -cp kafka.jar kafka.KafkaTool",
        "java -cp x org.gradlex.Main",
        "java -cp x com.example.weblogic.Server",
    ],
)
def test_what_only_looks_alike_is_none(command: str) -> None:
    assert told(command).key == "java"


def test_the_unknown_is_named_by_what_it_runs() -> None:
    assert told("java -jar /srv/app-1.0.jar").title == "app-1.0.jar"
    assert told("java org.example.Main").title == "org.example.Main"
    assert told("javac A.java").title == "javac"


def test_tomcat_asks_for_sha1prng_wherever_the_default_leads() -> None:
    asks = BY_KEY["tomcat"].asks
    assert asks is not None
    assert (asks.instance, asks.operation) == (Instance.SHA1PRNG, Operation.NEXT_BYTES)
    assert told(COMMANDS[0][1]).asks_for == "SHA1PRNG"
    assert told(COMMANDS[0][1]).surfaces[0] == "tomcat-setenv"
