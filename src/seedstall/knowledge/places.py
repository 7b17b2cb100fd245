"""Where a thread stands, when it is not in a generator: told by ``class.method``, never by the top frame alone.

A place is found from the top of the stack. First come calls that are one thing wherever they stand (a name look-up, a
connect, a file lock); then what a stack is about (a schema lock, a jar scan, an agent), since the call it waits in may
be any; last the bare ways of waiting. Frames between the top and the call are the JDK's own streams and sockets.

Class and method names are those of the JDK's sources of 8 to 25 and of the products' own; where a name changed, the row
says from which version on. What was seen on a real JVM is in ``tests/live/test_places.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from seedstall.knowledge.callers import is_jdk
from seedstall.model.standing import Place
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine
from seedstall.model.verdict import Cause

_TOP = 16
"""Frames from the top in which a call must stand: a buffered TLS stream over a socket has 14 of them."""
_SUBJECT = 80
"""Frames from the top in which a subject must stand: a JDBC driver below a pool below Liquibase has 60."""
_SHOWN_CALLER = 40
"""Frames looked through for the first one outside the JDK."""


class Row(NamedTuple):
    """Frames that begin so stand in this place. ``words`` complete '"main" ...'."""

    cause: Cause
    words: str
    frames: tuple[str, ...]
    working: bool = False
    """Whether a thread there is at work, as far as its stack tells: it takes as long as there is to do."""


CONNECTING = Row(
    Cause.CONNECT,
    "waits for a connection to be accepted",
    (
        "java.net.PlainSocketImpl.socketConnect",  # 8 to 12; on 13 to 17 with jdk.net.usePlainSocketImpl
        "sun.nio.ch.Net.connect",
        "sun.nio.ch.Net.connect0",
        "sun.nio.ch.Net.pollConnect",
        "sun.nio.ch.NioSocketImpl.timedFinishConnect",  # 13+ (JEP 353)
        "sun.nio.ch.NioSocketImpl.connect",
        "sun.nio.ch.SocketChannelImpl.blockingConnect",
        "sun.nio.ch.SocketChannelImpl.finishTimedConnect",
    ),
)
CALLS = (
    Row(
        Cause.DNS,
        "waits for an answer of the name service",
        (
            # java.net.InetAddress: the resolver's own call (InetAddressImpl of either family; getLocalHost goes there).
            "java.net.Inet4AddressImpl.lookupAllHostAddr",
            "java.net.Inet6AddressImpl.lookupAllHostAddr",
            "java.net.Inet4AddressImpl.getHostByAddr",
            "java.net.Inet6AddressImpl.getHostByAddr",
            "java.net.Inet4AddressImpl.getLocalHostName",
            "java.net.Inet6AddressImpl.getLocalHostName",
            # JNDI's own resolver, over UDP.
            "com.sun.jndi.dns.DnsClient.doUdpQuery",
            "com.sun.jndi.dns.DnsClient.query",
        ),
    ),
    CONNECTING,
    Row(
        Cause.CONNECT,
        "waits for an answer over a connection",
        (
            "java.net.SocketInputStream.socketRead",  # to 12
            "java.net.PlainDatagramSocketImpl.receive0",
            "sun.nio.ch.NioSocketImpl.timedRead",
            "sun.nio.ch.NioSocketImpl.implRead",
            "sun.nio.ch.NioSocketImpl.read",
            "sun.nio.ch.SocketChannelImpl.read",
            "sun.nio.ch.SocketChannelImpl.blockingRead",
            "sun.nio.ch.DatagramChannelImpl.blockingReceive",
            "java.net.Socket$SocketInputStream.read",
            # Clients of the JDK's own whose connection another thread reads.
            "com.sun.jndi.ldap.LdapRequest.getReplyBer",
            "com.sun.jndi.ldap.Connection.readReply",
            "jdk.internal.net.http.HttpClientImpl.send",
        ),
    ),
    Row(
        Cause.FILE_LOCK,
        "waits for a file lock",
        (
            "sun.nio.ch.FileDispatcherImpl.lock0",
            "sun.nio.ch.UnixFileDispatcherImpl.lock0",  # 20+
            "sun.nio.ch.FileChannelImpl.lock",
        ),
    ),
    Row(
        Cause.CHILD,
        "waits for a process that it started",
        (
            "java.lang.UNIXProcess.waitFor",  # 8
            "java.lang.ProcessImpl.waitFor",  # 9+
            "java.lang.ProcessHandleImpl.waitForProcessExit0",
            "java.lang.UNIXProcess.forkAndExec",
            "java.lang.ProcessImpl.forkAndExec",
        ),
    ),
    Row(
        Cause.NATIVE_INIT,
        "waits for a native library to be loaded",
        (
            "java.lang.ClassLoader$NativeLibrary.load",  # to 14
            "jdk.internal.loader.NativeLibraries.load",  # 15+
            "jdk.internal.loader.NativeLibrary.load0",
            "jdk.internal.loader.RawNativeLibraries.load0",
        ),
    ),
    Row(
        Cause.NATIVE_INIT,
        "waits for a PKCS#11 library to start",
        (
            "sun.security.pkcs11.wrapper.PKCS11.C_Initialize",
            "sun.security.pkcs11.wrapper.PKCS11.initialize",
            "sun.security.pkcs11.wrapper.PKCS11.connect",
            "sun.security.pkcs11.wrapper.PKCS11.C_GetSlotList",
            "sun.security.pkcs11.wrapper.PKCS11.C_Login",
            "sun.security.pkcs11.Secmod.nssInitialize",
            "com.ibm.crypto.pkcs11impl.",
        ),
    ),
)
"""Calls that are one thing wherever they stand near the top."""

DATABASE_LOCKS = (
    Row(
        Cause.MIGRATION,
        "waits for the lock of a schema migration",
        (
            # Flyway waits in the database itself, or asks again and again. What encloses the whole migration
            # (Connection.lock, the templates' execute) is no wait.
            "org.flywaydb.core.internal.database.base.Table.lock",
            "org.flywaydb.core.internal.database.postgresql.PostgreSQLAdvisoryLockTemplate.lock",
            "org.flywaydb.core.internal.database.postgresql.PostgreSQLAdvisoryLockTemplate.tryLock",
            "org.flywaydb.database.postgresql.PostgreSQLAdvisoryLockTemplate.lock",  # 10+
            "org.flywaydb.database.postgresql.PostgreSQLAdvisoryLockTemplate.tryLock",
            "org.flywaydb.core.internal.database.mysql.MySQLNamedLockTemplate.lock",
            "org.flywaydb.core.internal.database.mysql.MySQLNamedLockTemplate.tryLock",
            "org.flywaydb.database.mysql.MySQLNamedLockTemplate.lock",
            "org.flywaydb.database.mysql.MySQLNamedLockTemplate.tryLock",
            "org.flywaydb.core.internal.database.sqlserver.SQLServerApplicationLockTemplate.lock",
            "org.flywaydb.database.sqlserver.SQLServerApplicationLockTemplate.lock",
        ),
    ),
)
"""Locks that a database holds: the answer that the thread reads for is the lock."""

SUBJECTS = (
    Row(
        Cause.MIGRATION,
        "waits for the lock of a schema migration",
        ("liquibase.lockservice.StandardLockService.waitForLock", "liquibase.lockservice."),
    ),
    Row(
        Cause.AGENT,
        "is in a Java agent",
        (
            "sun.instrument.InstrumentationImpl.loadClassAndStartAgent",
            "sun.instrument.InstrumentationImpl.loadClassAndCallPremain",
            "sun.instrument.InstrumentationImpl.transform",
            "sun.instrument.TransformerManager.transform",
        ),
    ),
    Row(
        Cause.JAR_SCAN,
        "scans jar files",
        (
            "org.apache.tomcat.util.scan.StandardJarScanner",
            "org.apache.jasper.servlet.TldScanner",
            "org.apache.jasper.compiler.TldLocationsCache",  # Tomcat 6 and 7
            "org.apache.catalina.startup.TldConfig",  # Tomcat 7
            "org.apache.catalina.startup.ContextConfig.processAnnotations",
            "org.apache.catalina.startup.ContextConfig.processServletContainerInitializers",
            "org.apache.catalina.startup.WebappServiceLoader",
            "org.eclipse.jetty.annotations.AnnotationParser",
            "org.eclipse.jetty.ee8.annotations.AnnotationParser",
            "org.eclipse.jetty.ee9.annotations.AnnotationParser",
            "org.eclipse.jetty.ee10.annotations.AnnotationParser",
            "org.eclipse.jetty.webapp.MetaInfConfiguration",
            "org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider",
            "org.springframework.core.io.support.PathMatchingResourcePatternResolver",
            "org.reflections.",
            "io.github.classgraph.",
            "org.jboss.jandex.Indexer",
            "org.jboss.as.server.deployment.annotation.",
            "org.jboss.weld.environment.deployment.discovery.",
        ),
        working=True,
    ),
    Row(
        Cause.MIGRATION,
        "runs a schema migration",
        (
            "org.flywaydb.core.internal.schemahistory.",
            "org.flywaydb.core.internal.command.DbMigrate",
            "liquibase.changelog.",
            "liquibase.executor.",
        ),
        working=True,
    ),
)
"""What a stack is about, whatever call it waits in."""

READS = (
    "java.io.FileInputStream.read",
    "java.io.RandomAccessFile.read",
    "sun.nio.ch.FileDispatcherImpl.read0",
    "sun.nio.ch.FileDispatcherImpl.pread0",
    "sun.nio.ch.UnixFileDispatcherImpl.read0",
    "sun.nio.ch.UnixFileDispatcherImpl.pread0",
    "sun.nio.ch.FileChannelImpl.read",
    "java.util.zip.ZipFile.open",
    "java.util.zip.ZipFile.read",
    "sun.nio.fs.UnixNativeDispatcher.",
    "java.io.UnixFileSystem.",
)
OPENS = (
    "java.io.FileInputStream.open",
    "java.io.FileOutputStream.open",
    "java.io.RandomAccessFile.open",
)
WRITES = (
    "java.io.FileOutputStream.write",
    "java.io.FileDescriptor.sync",
    "sun.nio.ch.FileDispatcherImpl.write0",
    "sun.nio.ch.FileDispatcherImpl.force0",
    "sun.nio.ch.UnixFileDispatcherImpl.write0",
    "sun.nio.ch.UnixFileDispatcherImpl.force0",
)
ASLEEP = "sleeps"
"""By its own will and for a time: it waits for nothing, unless the code around it is known to try again."""
WAITS = {
    "java.lang.Thread.sleep": ASLEEP,
    "java.lang.Thread.sleep0": ASLEEP,  # 20+
    "java.lang.Thread.sleepNanos0": ASLEEP,  # 21+
    "java.lang.Object.wait": "waits to be notified",
    "java.lang.Object.wait0": "waits to be notified",  # 19+
    "sun.misc.Unsafe.park": "is parked",  # 8
    "jdk.internal.misc.Unsafe.park": "is parked",
}
"""Ways of waiting that say nothing of what for."""
_LOCKS = ("java.util.concurrent.locks.", "java.lang.Object", "jdk.internal.")
RETRIES = (
    "org.springframework.retry.backoff.",
    "org.springframework.core.retry.",
    "com.zaxxer.hikari.util.UtilityElf.quietlySleep",
    "dev.failsafe.",
    "net.jodah.failsafe.",
    "io.github.resilience4j.retry.",
    "com.github.rholder.retry.",
    "org.apache.curator.retry.",
    "org.apache.hadoop.io.retry.",
)
"""Sleeps between two tries of something: what is tried stands further out."""
APPENDERS = (
    "ch.qos.logback.core.AsyncAppenderBase.",
    "ch.qos.logback.core.OutputStreamAppender.",
    "org.apache.log4j.AsyncAppender.",
    "org.apache.logging.log4j.core.appender.",
    "org.apache.logging.log4j.core.async.",
    "com.lmax.disruptor.",
    "org.jboss.logmanager.handlers.",
)
"""A thread that waits in these waits for its log to be written."""
HANDED_OVER = (
    "java.util.concurrent.FutureTask.",
    "java.util.concurrent.CompletableFuture.",
    "java.util.concurrent.ForkJoinTask.",
    "java.util.concurrent.AbstractExecutorService.",
    "java.util.concurrent.ThreadPoolExecutor.awaitTermination",
    "java.util.concurrent.CountDownLatch.",
    "java.util.concurrent.CyclicBarrier.",
    "java.util.concurrent.Phaser.",
    "java.util.concurrent.Semaphore.",
    "java.lang.Thread.join",
)
"""Waits for what other threads do."""
_LOADING = (
    "java.lang.ClassLoader.loadClass",
    "java.net.URLClassLoader.findClass",
    "jdk.internal.loader.BuiltinClassLoader.loadClass",  # 9+
)
ACCEPTS = (
    "java.net.ServerSocket.accept",
    "java.net.PlainSocketImpl.socketAccept",
    "sun.nio.ch.ServerSocketChannelImpl.accept",
    "sun.nio.ch.NioSocketImpl.accept",
    "sun.nio.ch.Net.accept",
)
"""Waits for somebody to connect."""
POLLS = ("sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollArrayWrapper.epollWait", "sun.nio.ch.Net.accept")

IDLE = (
    "org.apache.catalina.core.StandardServer.await",
    "org.apache.catalina.startup.Catalina.await",
    "org.springframework.boot.web.embedded.tomcat.TomcatWebServer$",
    "org.springframework.boot.tomcat.TomcatWebServer$",
    "org.eclipse.jetty.util.thread.QueuedThreadPool.join",
    "org.eclipse.jetty.server.Server.join",
    "org.jboss.modules.Main.main",
    "org.apache.zookeeper.server.ZooKeeperServerMain.runFromConfig",
    "org.apache.zookeeper.server.quorum.QuorumPeer.join",
    "kafka.server.KafkaRaftServer.awaitShutdown",
    "kafka.server.KafkaServer.awaitShutdown",
    "org.elasticsearch.bootstrap.Elasticsearch.main",
    "org.opensearch.bootstrap.OpenSearch.main",
    "org.apache.activemq.console.command.StartCommand",
    "weblogic.t3.srvr.T3Srvr.waitForDeath",
    "winstone.Launcher.main",
    "hudson.remoting.Channel.join",
    "sun.rmi.registry.RegistryImpl.main",
    "org.gradle.launcher.daemon.server.DaemonStateCoordinator.",
    "io.quarkus.runtime.ApplicationLifecycleManager.",
    "io.micronaut.runtime.Micronaut.",
    "io.grpc.internal.ServerImpl.awaitTermination",
    "org.apache.karaf.main.Main.awaitShutdown",
    "org.apache.felix.framework.util.ThreadGate.await",
    "org.apache.hadoop.ipc.Server.join",
    *ACCEPTS,
)
"""Where the main thread of a server rests that is up. Most of these enclose the whole start as well: it counts only
where it waits there itself, without a frame of anybody else's above."""


def place_of(thread: JavaThread) -> Place | None:
    """Where *thread* stands; ``None`` where its stack is empty, or it idles as a server that is up does."""
    frames = thread.frames
    if not frames or is_idle(frames):
        return None
    return (
        _class_initialisation(thread)
        or _locked(thread)
        or _about(frames, DATABASE_LOCKS)
        or _called(frames)
        or _about(frames, SUBJECTS)
        or _reading(frames)
        or _bare(thread)
    )


def is_idle(frames: Sequence[Frame]) -> bool:
    """Whether this is a main thread that has done its work and waits for the end, or for connections."""
    for index, frame in enumerate(frames[:_TOP]):
        if frame.name.startswith(IDLE):
            rests = any(
                f.name in WAITS or f.name.startswith((*POLLS, *ACCEPTS)) for f in frames[:4]
            )
            return rests and _called(frames[:index]) is None
        if not is_jdk(frame.class_name):
            return False
    return False


def awaits_others(thread: JavaThread) -> bool:
    """Whether the thread waits for what others do (a future, a latch, the end of a thread)."""
    for frame in thread.frames[:_TOP]:
        if frame.name.startswith(HANDED_OVER):
            return True
        if not is_jdk(frame.class_name):
            return False
    return False


def accepts(thread: JavaThread) -> bool:
    """Whether the thread waits for connections of a server's; a JVM's own management port is none."""
    names = [frame.name for frame in thread.frames[:_TOP]]
    return any(name.startswith(ACCEPTS) for name in names) and not any(
        name.startswith(("sun.rmi.transport.tcp.", "sun.management.")) for name in names
    )


def caller(frames: Sequence[Frame], start: int = 0) -> str:
    """The first frame outside the JDK from *start* on: whose code it is. ``""`` where there is none."""
    for frame in frames[start : start + _SHOWN_CALLER]:
        if not is_jdk(frame.class_name):
            return frame.name
    return ""


def _place(frames: Sequence[Frame], row: Row, index: int) -> Place:
    place = Place(row.cause, row.words, frames[index].name, caller(frames, index), index)
    return replace(place, connecting=row is CONNECTING, working=row.working)


def _called(frames: Sequence[Frame]) -> Place | None:
    for index, frame in enumerate(frames[:_TOP]):
        if not is_jdk(frame.class_name):
            return None  # a call that the program's own code made meanwhile is not what it waits in
        for row in CALLS:
            if frame.name.startswith(row.frames):
                return _place(frames, row, index)
    return None


def _about(frames: Sequence[Frame], rows: Sequence[Row]) -> Place | None:
    for row in rows:
        for index, frame in enumerate(frames[:_SUBJECT]):
            if frame.name.startswith(row.frames):
                return _place(frames, row, index)
    return None


def _class_initialisation(thread: JavaThread) -> Place | None:
    """A wait for a class that another thread initialises.

    17 and later print the monitor. Before, the header says ``in Object.wait()`` over a thread that is RUNNABLE and
    whose top frame waits for nothing: HotSpot waits in C++ (InstanceKlass::initialize_impl), below no Java frame.
    """
    lock = next((line for line in thread.locks if line.act is LockAct.CLASS_INIT), None)
    top = thread.frames[0]
    hidden = (
        thread.activity.startswith("in Object.wait()")
        and thread.state
        == "RUNNABLE"  # without a state, the frame of a plain wait may be lost as well
        and not top.name.startswith(tuple(WAITS))
    )
    if lock is None and not hidden:
        return None
    what = lock.class_name if lock is not None else ""
    words = (
        f"waits for class {what} to be initialised"
        if what
        else "waits for a class to be initialised"
    )
    return Place(Cause.CLASS_INIT, words, top.name, caller(thread.frames), 0, what)


def _locked(thread: JavaThread) -> Place | None:
    lock = waited_lock(thread)
    if thread.state != "BLOCKED" and lock is None:
        return None
    held = f" of a {lock.class_name}" if lock is not None and lock.class_name else ""
    frames = thread.frames
    words = f"waits for the lock{held} that another thread holds"
    return Place(
        Cause.CONTENTION, words, frames[0].name, caller(frames), 0, held.removeprefix(" of a ")
    )


def waited_lock(thread: JavaThread) -> LockLine | None:
    """The monitor that the thread waits to enter."""
    return next((line for line in thread.locks if line.act is LockAct.WAITING_TO_LOCK), None)


def _reading(frames: Sequence[Frame]) -> Place | None:
    for index, frame in enumerate(frames[:_TOP]):
        if frame.name.startswith(READS):
            words = "loads a class" if _loads(frames, index) else "reads a file"
            return replace(_place(frames, Row(Cause.IO, words, ()), index), momentary=True)
        if frame.name.startswith(OPENS):
            return _place(frames, Row(Cause.IO, "waits for a file to be opened", ()), index)
        if frame.name.startswith(WRITES):
            return _place(frames, Row(Cause.IO, "writes", ()), index)
        if not is_jdk(frame.class_name):
            return None
    return None


def _loads(frames: Sequence[Frame], index: int) -> bool:
    """Whether the read is the JVM's own, for a class that the program needs."""
    for frame in frames[index : index + _SHOWN_CALLER]:
        if not is_jdk(frame.class_name):
            return False
        if frame.name.startswith(_LOADING):
            return True
    return False


def _bare(thread: JavaThread) -> Place:
    frames = thread.frames
    for index, name in _waits(frames):
        whose = caller(frames, index)
        if whose.startswith(APPENDERS):
            return Place(Cause.IO, "waits for its log to be written", whose, whose, index)
        words = _waiting(frames, index, WAITS.get(name) or "waits for events")
        return Place(Cause.WAITING, words, frames[index].name, caller(frames, index), index)
    running = (thread.state or thread.activity or "RUNNABLE").upper().startswith("RUNNABLE")
    words = "runs" if running else f"is {thread.state or thread.activity}"
    cause = Cause.APPLICATION if running else Cause.WAITING
    return Place(cause, words, frames[0].name, caller(frames), 0, working=running)


def _waiting(frames: Sequence[Frame], index: int, words: str) -> str:
    """What kind of waiting: the JDK's own class above the lock says it (CountDownLatch.await, Thread.join)."""
    for frame in frames[index + 1 : index + _TOP]:
        if frame.name.startswith(RETRIES):
            return "sleeps between two tries"
        if not is_jdk(frame.class_name):
            break
        if not frame.class_name.startswith(_LOCKS) and frame.name not in WAITS:
            if frame.name.startswith("java.lang.Thread.sleep"):
                continue
            short = frame.name.rpartition(".")[0].rpartition(".")[2]
            return f"waits in {short}.{frame.method}"
    return words


def _waits(frames: Sequence[Frame]) -> Iterator[tuple[int, str]]:
    for index, frame in enumerate(frames[:4]):
        if frame.name in WAITS or frame.name.startswith(POLLS):
            yield index, frame.name
