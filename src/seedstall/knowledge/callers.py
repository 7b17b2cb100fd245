"""Who asked for random bytes: programs and JDK functions, told by the frames outside the generator.

A program's frame tells more than a function's (Log4j's UUIDs more than ``UUID.randomUUID``), so programs go first.
They are looked for near the generator only: what stands far out, a container's request thread for instance, did not
ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from seedstall.model.seeding import Instance

_FRAMES = 48
"""Frames looked at outside the generator: reflection and provider code put up to 20 between (TLS on 11)."""
_OUTSIDE_JDK = 8
"""Frames of other code looked at: deeper ones called a library that called a library."""

_JDK_PACKAGES = (
    "java.",
    "javax.crypto.",
    "javax.net.",
    "javax.security.",
    "javax.management.",
    "javax.naming.",
    "javax.xml.",
    "jdk.",
    "sun.",
    "com.sun.",
    "com.ibm.crypto.",
    "com.ibm.jsse2.",
    "com.ibm.security.",
)
_RELOCATED = ("io.netty.", "org.bouncycastle.", "org.apache.", "com.trilead.")
"""Libraries that others carry along below packages of their own."""


class Caller(NamedTuple):
    """A row: ``frame`` is the beginning of ``package.Class.method``.

    ``words`` complete "random bytes for ...". ``product`` is the product's key where the program is one, ``asks_for``
    how it gets its generator where its code fixes that.
    """

    frame: str
    words: str
    product: str = ""
    asks_for: Instance | None = None


PROGRAMS = (
    # Tomcat: java/org/apache/catalina/util/SessionIdGeneratorBase.java (7.0.58+, before: SessionIdGenerator), explicit
    # SHA1PRNG in all versions; 6 and early 7 had it in ManagerBase.
    Caller(
        "org.apache.catalina.util.SessionIdGenerator",
        "Tomcat session ids",
        "tomcat",
        Instance.SHA1PRNG,
    ),
    Caller("org.apache.catalina.util.StandardSessionIdGenerator", "Tomcat session ids", "tomcat"),
    Caller("org.apache.catalina.session.ManagerBase.getRandom", "Tomcat session ids", "tomcat"),
    Caller(
        "org.apache.catalina.session.ManagerBase.createSecureRandom", "Tomcat session ids", "tomcat"
    ),
    Caller(
        "org.apache.catalina.session.ManagerBase.generateSessionId", "Tomcat session ids", "tomcat"
    ),
    # initSeedGenerator="true" only (false by default, 8.5 to main): SecureRandom.getSeed.
    Caller(
        "org.apache.catalina.core.JreMemoryLeakPreventionListener.",
        "Tomcat's JreMemoryLeakPreventionListener (initSeedGenerator)",
        "tomcat",
    ),
    Caller("org.apache.catalina.tribes.util.UUIDGenerator.", "Tomcat cluster ids", "tomcat"),
    # java/org/apache/tomcat/websocket/Util.java, 9.0.x: SHA1PRNG by name.
    Caller(
        "org.apache.tomcat.websocket.Util.",
        "Tomcat WebSocket masks",
        "tomcat",
        Instance.SHA1PRNG,
    ),
    Caller("org.apache.tomcat.websocket.WsWebSocketContainer.", "a Tomcat WebSocket key", "tomcat"),
    # jarsigner -tsa: PKCS7.generateTimestampToken, SHA1PRNG by name before JDK-8293858 (8u504 seen). 6: other package.
    Caller(
        "sun.security.tools.jarsigner.TimestampedSigner.",
        "jarsigner's time-stamp nonce",
        "jarsigner",
        Instance.SHA1PRNG,
    ),
    Caller(
        "sun.security.tools.TimestampedSigner.",
        "jarsigner's time-stamp nonce",
        "jarsigner",
        Instance.SHA1PRNG,
    ),
    Caller("sun.security.tools.jarsigner.", "jarsigner", "jarsigner"),
    Caller("sun.security.tools.JarSigner.", "jarsigner", "jarsigner"),
    Caller("jdk.security.jarsigner.", "jarsigner", "jarsigner"),
    Caller("sun.security.tools.keytool.", "keytool", "keytool"),
    Caller("sun.security.tools.KeyTool.", "keytool", "keytool"),
    # SSH. MINA SSHD's BouncyCastleRandom calls generateSeed(8) (a Jenkins dump in jenkinsci/sshd-plugin#24), and so
    # does sshj's copy; Trilead takes SHA1PRNG on purpose (JENKINS-20108).
    Caller("org.apache.sshd.", "Apache MINA SSHD"),
    Caller("net.schmizz.sshj.", "the sshj SSH client"),
    Caller("com.trilead.ssh2.", "the Trilead SSH client", asks_for=Instance.SHA1PRNG),
    Caller("com.jcraft.jsch.", "the JSch SSH client"),
    # Databases. Oracle: the log-in of 11g and later drivers. EclipseLink: eclipse-ee4j/eclipselink#2075.
    # H2: generateSeed(20) in a thread of its own (h2database/h2database#12).
    Caller("oracle.jdbc.", "the Oracle JDBC log-in"),
    Caller("oracle.net.", "the Oracle JDBC log-in"),
    Caller("oracle.security.o5logon.", "the Oracle JDBC log-in"),
    Caller(
        "org.eclipse.persistence.internal.security.JCEEncryptor.",
        "EclipseLink's password encryption",
        asks_for=Instance.STRONG,
    ),
    Caller("org.h2.util.MathUtils.", "the H2 database"),
    Caller("org.h2.util.RandomUtils.", "the H2 database"),
    Caller("org.bson.types.ObjectId.", "MongoDB object ids"),
    # Netty: generateSeed(8) in thread initialSeedUniquifierGenerator; later only with java.util.secureRandomSeed.
    Caller("io.netty.util.internal.ThreadLocalRandom", "Netty's ThreadLocalRandom"),
    Caller("io.vertx.ext.auth.", "Vert.x authentication"),
    Caller("io.undertow.server.session.", "Undertow session ids"),
    Caller("org.eclipse.jetty.server.session.", "Jetty session ids", "jetty"),
    Caller("org.apache.logging.log4j.core.util.UuidUtil.", "Log4j's UUIDs"),
    Caller("org.elasticsearch.common.settings.KeyStoreWrapper.", "the Elasticsearch key store"),
    Caller("org.elasticsearch.common.Random", "Elasticsearch ids"),
    Caller("org.jgroups.util.UUID.", "JGroups addresses"),
    Caller("org.springframework.security.crypto.", "Spring Security"),
    Caller("org.springframework.util.AlternativeJdkIdGenerator.", "Spring's ids"),
    Caller("org.opensaml.", "OpenSAML ids"),
    Caller("hudson.util.Secret.", "Jenkins secrets", "jenkins"),
    Caller("jenkins.security.", "Jenkins secrets", "jenkins"),
    Caller("weblogic.security.", "WebLogic security", "weblogic"),
    Caller("org.apache.commons.lang3.Random", "Commons Lang's random values"),
    # Bouncy Castle seeds its own DRBG from the JDK's generators (bcgit/bc-java#1104, #1800).
    Caller("org.bouncycastle.", "Bouncy Castle"),
)

FUNCTIONS = (
    # ThreadLocalRandom and SplittableRandom only with -Djava.util.secureRandomSeed=true (8+).
    Caller(
        "java.util.concurrent.ThreadLocalRandom.", "ThreadLocalRandom (java.util.secureRandomSeed)"
    ),
    Caller("java.util.SplittableRandom.", "SplittableRandom (java.util.secureRandomSeed)"),
    Caller("java.util.UUID.", "UUID.randomUUID"),
    Caller("java.io.File$TempDirectory.", "File.createTempFile"),
    Caller("java.io.File.generateFile", "File.createTempFile"),
    Caller("java.io.File.createTempFile", "File.createTempFile"),
    Caller("java.nio.file.TempFileHelper.", "Files.createTempFile"),
    Caller("java.nio.file.Files.createTemp", "Files.createTempFile"),
    Caller("sun.security.pkcs.PKCS7.generateTimestampToken", "a time-stamp nonce"),
    # SSLContextImpl.engineInit seeds on purpose; JDK 6 of Sun and Oracle has the other package.
    Caller("sun.security.ssl.", "TLS"),
    Caller("com.sun.net.ssl.internal.ssl.", "TLS"),
    Caller("com.ibm.jsse2.", "TLS"),
    Caller("javax.net.ssl.", "TLS"),
    Caller("sun.security.krb5.", "Kerberos"),
    Caller("java.security.KeyPairGenerator", "key generation"),
    Caller("sun.security.rsa.RSAKeyPairGenerator.", "key generation"),
    Caller("sun.security.ec.ECKeyPairGenerator.", "key generation"),
    Caller("javax.crypto.KeyGenerator.", "key generation"),
    Caller("sun.security.pkcs12.", "a key store"),
    Caller("java.security.KeyStore.", "a key store"),
    Caller("java.security.Signature", "a signature"),
    Caller("javax.crypto.", "a cipher"),
    Caller("java.math.BigInteger.", "a random number"),
)


class Found(NamedTuple):
    """A caller in words, ``""`` where the table has none, and the frame to show: its own or the first outside."""

    words: str = ""
    frame: str = ""
    product: str = ""
    asks_for: Instance | None = None


def caller_of(outer: Iterable[str]) -> Found:
    """Who asked, from the ``class.method`` names outside the generator, innermost first."""
    names = _near(outer)
    first = next((name for name in names if not is_jdk(name)), "")
    for name in names:
        row = _program(name)
        if row is not None:
            return Found(row.words, name, row.product, row.asks_for)
    rows = [
        (FUNCTIONS.index(row), name, row) for name in _inside_jdk(names) if (row := _function(name))
    ]
    if not rows:
        return Found(frame=first)
    _, name, row = min(rows, key=lambda found: found[0])
    return Found(row.words, first or name, row.product, row.asks_for)


def is_jdk(name: str) -> bool:
    """Whether this class or method is the JDK's own."""
    return name.startswith(_JDK_PACKAGES)


def _near(outer: Iterable[str]) -> Sequence[str]:
    names: list[str] = []
    others = 0
    for name in outer:
        others += not is_jdk(name)
        if others > _OUTSIDE_JDK or len(names) >= _FRAMES:
            break
        names.append(name)
    return names


def _inside_jdk(names: Sequence[str]) -> Sequence[str]:
    """The frames up to the first that is not the JDK's: only those are between the program and the generator."""
    end = next((i for i, name in enumerate(names) if not is_jdk(name)), len(names))
    return names[:end]


@lru_cache(maxsize=4096)
def _program(name: str) -> Caller | None:
    """Kept: the same frames stand in every dump of a series."""
    return _row(PROGRAMS, name)


@lru_cache(maxsize=4096)
def _function(name: str) -> Caller | None:
    return _row(FUNCTIONS, name)


def _row(table: tuple[Caller, ...], name: str) -> Caller | None:
    return next((row for row in table if _matches(row.frame, name)), None)


def _matches(frame: str, name: str) -> bool:
    moved = frame.startswith(_RELOCATED) and f".{frame}" in name
    return moved or name.startswith(frame)
