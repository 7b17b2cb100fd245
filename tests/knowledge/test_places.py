from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.places import CALLS, DATABASE_LOCKS, IDLE, SUBJECTS, is_idle, place_of
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine
from seedstall.model.verdict import Cause

MAIN = "com.example.Main.main"


def thread(*names: str, state: str = "RUNNABLE", activity: str = "", **rest: object) -> JavaThread:
    frames = tuple(Frame(n.rpartition(".")[0], n.rpartition(".")[2]) for n in names)
    return JavaThread("main", frames, state=state, activity=activity, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("frames", "cause", "words"),
    [
        (
            ["java.net.Inet6AddressImpl.lookupAllHostAddr", "java.net.InetAddress.getByName", MAIN],
            Cause.DNS,
            "name service",
        ),
        (
            ["java.net.PlainSocketImpl.socketConnect", "java.net.Socket.connect", MAIN],
            Cause.CONNECT,
            "to be accepted",
        ),
        (
            [
                "sun.nio.ch.Net.poll",
                "sun.nio.ch.NioSocketImpl.park",
                "sun.nio.ch.NioSocketImpl.timedFinishConnect",
                "java.net.Socket.connect",
                MAIN,
            ],
            Cause.CONNECT,
            "to be accepted",
        ),
        (
            [
                "sun.nio.ch.Net.poll",
                "sun.nio.ch.NioSocketImpl.park",
                "sun.nio.ch.NioSocketImpl.implRead",
                MAIN,
            ],
            Cause.CONNECT,
            "an answer",
        ),
        (
            [
                "java.net.SocketInputStream.socketRead0",
                "java.net.SocketInputStream.read",
                "com.mysql.jdbc.Io.read",
                MAIN,
            ],
            Cause.CONNECT,
            "an answer",
        ),
        (
            ["sun.nio.ch.UnixFileDispatcherImpl.lock0", "sun.nio.ch.FileChannelImpl.lock", MAIN],
            Cause.FILE_LOCK,
            "file lock",
        ),
        (["java.lang.Object.wait", "java.lang.ProcessImpl.waitFor", MAIN], Cause.CHILD, "process"),
        (
            ["jdk.internal.loader.NativeLibraries.load", "java.lang.System.loadLibrary", MAIN],
            Cause.NATIVE_INIT,
            "native library",
        ),
        (
            [
                "sun.security.pkcs11.wrapper.PKCS11.C_Initialize",
                "sun.security.pkcs11.SunPKCS11.<init>",
                MAIN,
            ],
            Cause.NATIVE_INIT,
            "PKCS#11",
        ),
        (
            [
                "java.lang.Thread.sleep",
                "liquibase.lockservice.StandardLockService.waitForLock",
                MAIN,
            ],
            Cause.MIGRATION,
            "schema migration",
        ),
        (
            [
                "java.net.SocketInputStream.socketRead0",
                "org.postgresql.core.Io.read",
                "org.flywaydb.core.internal.command.DbMigrate.migrate",
                MAIN,
            ],
            Cause.CONNECT,
            "an answer",
        ),
        (
            [
                "java.lang.Thread.sleep",
                "a.Agent.premain",
                "sun.instrument.InstrumentationImpl.loadClassAndStartAgent",
            ],
            Cause.AGENT,
            "agent",
        ),
        (
            [
                "java.util.zip.ZipFile.open",
                "java.util.jar.JarFile.<init>",
                "org.apache.tomcat.util.scan.StandardJarScanner.scan",
                MAIN,
            ],
            Cause.JAR_SCAN,
            "jar files",
        ),
        (
            ["java.io.FileInputStream.readBytes", "java.io.FileInputStream.read", MAIN],
            Cause.IO,
            "reads",
        ),
        (
            ["java.io.FileOutputStream.writeBytes", "java.io.PrintStream.println", MAIN],
            Cause.IO,
            "writes",
        ),
        (["java.lang.Thread.sleep", MAIN], Cause.WAITING, "sleeps"),
        (
            [
                "java.lang.Thread.sleepNanos0",
                "java.lang.Thread.sleepNanos",
                "java.lang.Thread.sleep",
                MAIN,
            ],
            Cause.WAITING,
            "sleeps",
        ),
        (
            [
                "jdk.internal.misc.Unsafe.park",
                "java.util.concurrent.locks.LockSupport.park",
                "java.util.concurrent.CountDownLatch.await",
                MAIN,
            ],
            Cause.WAITING,
            "CountDownLatch.await",
        ),
        (["java.lang.Object.wait", "java.lang.Thread.join", MAIN], Cause.WAITING, "Thread.join"),
        (
            ["java.io.FileInputStream.open0", "java.io.FileInputStream.<init>", MAIN],
            Cause.IO,
            "waits for a file to be opened",
        ),
        (["java.io.RandomAccessFile.open0", MAIN], Cause.IO, "opened"),
        (["com.example.Loop.spin", MAIN], Cause.APPLICATION, "runs"),
    ],
)
def test_a_stack_stands_in_its_place(frames: list[str], cause: Cause, words: str) -> None:
    place = place_of(thread(*frames))
    assert place is not None
    assert place.cause is cause
    assert words in place.words


@pytest.mark.parametrize("frame", IDLE)
def test_a_server_that_is_up_stands_nowhere(frame: str) -> None:
    idle = thread("java.lang.Object.wait", frame if "." in frame else f"{frame}.x", MAIN)
    assert is_idle(idle.frames)
    assert place_of(idle) is None


def test_an_empty_stack_stands_nowhere() -> None:
    assert place_of(thread()) is None


def test_what_the_programs_own_code_does_is_not_what_a_call_below_it_waits_in() -> None:
    place = place_of(
        thread("com.example.Handler.run", "java.net.SocketInputStream.socketRead0", MAIN)
    )
    assert place is not None
    assert place.cause is Cause.APPLICATION


def test_a_connection_that_is_not_made_is_told_from_one_that_is() -> None:
    making = place_of(thread("sun.nio.ch.Net.connect0", "java.net.Socket.connect", MAIN))
    made = place_of(thread("sun.nio.ch.NioSocketImpl.implRead", MAIN))
    assert making is not None
    assert made is not None
    assert (making.connecting, made.connecting) == (True, False)


@pytest.mark.parametrize("activity", ["in Object.wait()", "in Object.wait() [0x00007f07cc1fc000]"])
def test_before_17_a_class_initialisation_is_told_by_the_header(activity: str) -> None:
    place = place_of(thread("com.example.Uses.it", MAIN, activity=activity))
    assert place is not None
    assert place.cause is Cause.CLASS_INIT
    waiting = place_of(thread("java.lang.Object.wait", MAIN, state="WAITING", activity=activity))
    assert waiting is not None
    assert waiting.cause is Cause.WAITING


def test_the_class_is_named_where_the_dump_names_it() -> None:
    lock = LockLine(LockAct.CLASS_INIT, "com.example.Slow")
    place = place_of(thread("com.example.Uses.it", MAIN, locks=(lock,)))
    assert place is not None
    assert place.what == "com.example.Slow"
    assert "com.example.Slow" in place.words


def test_a_lock_is_named() -> None:
    lock = LockLine(LockAct.WAITING_TO_LOCK, "com.example.Registry", "0x1")
    place = place_of(thread("com.example.Registry.get", MAIN, state="BLOCKED", locks=(lock,)))
    assert place is not None
    assert place.cause is Cause.CONTENTION
    assert "com.example.Registry" in place.words


def test_every_row_can_be_reached() -> None:
    for row in (*CALLS, *DATABASE_LOCKS, *SUBJECTS):
        for frame in row.frames:
            name = frame + ("x" if frame.endswith(".") else "")
            place = place_of(thread(name, MAIN))
            assert place is not None
            assert place.cause is row.cause, name


names = st.sampled_from(
    [f for row in (*CALLS, *SUBJECTS) for f in row.frames] + ["java.lang.Thread.sleep", MAIN, "a.b"]
)


@given(st.lists(names, max_size=200), st.text(max_size=20), st.text(max_size=20))
def test_any_stack_has_an_answer(frames: list[str], state: str, activity: str) -> None:
    place = place_of(thread(*[f + "x" for f in frames], state=state, activity=activity))
    assert place is None or place.words


PARK = "jdk.internal.misc.Unsafe.park"


@pytest.mark.parametrize(
    "frames",
    [
        ["java.net.PlainSocketImpl.socketConnect", "winstone.Launcher.main"],
        ["java.net.Inet4AddressImpl.lookupAllHostAddr", "org.jboss.modules.Main.main"],
        ["java.util.zip.ZipFile.open", "org.elasticsearch.bootstrap.Elasticsearch.main"],
        [PARK, "com.example.Plugin.wait", "org.apache.activemq.console.command.StartCommand.run"],
    ],
)
def test_a_start_below_a_servers_main_is_no_server_that_is_up(frames: list[str]) -> None:
    assert not is_idle(thread(*frames).frames)
    assert place_of(thread(*frames)) is not None


@pytest.mark.parametrize(
    ("frames", "cause", "words"),
    [
        (
            [
                "java.net.SocketInputStream.socketRead0",
                "org.postgresql.core.Io.read",
                "org.flywaydb.core.internal.database.base.Table.lock",
                MAIN,
            ],
            Cause.MIGRATION,
            "waits for the lock",
        ),
        (
            ["java.util.HashMap.get", "liquibase.changelog.ChangeLogParser.parse", MAIN],
            Cause.MIGRATION,
            "runs a schema migration",
        ),
        (
            ["java.lang.Thread.sleep", "org.springframework.retry.backoff.X.sleep", MAIN],
            Cause.WAITING,
            "between two tries",
        ),
        (
            [
                PARK,
                "java.util.concurrent.ArrayBlockingQueue.put",
                "ch.qos.logback.core.AsyncAppenderBase.put",
                MAIN,
            ],
            Cause.IO,
            "its log to be written",
        ),
        (
            ["java.lang.Object.wait", "com.sun.jndi.ldap.Connection.readReply", MAIN],
            Cause.CONNECT,
            "an answer",
        ),
        (
            ["java.io.RandomAccessFile.readBytes", "java.lang.ClassLoader.loadClass", MAIN],
            Cause.IO,
            "loads a class",
        ),
    ],
)
def test_more_places(frames: list[str], cause: Cause, words: str) -> None:
    place = place_of(thread(*frames))
    assert place is not None
    assert place.cause is cause
    assert words in place.words


def test_a_call_that_waits_for_a_lock_waits_for_the_lock() -> None:
    lock = LockLine(LockAct.WAITING_TO_LOCK, "java.lang.Object", "0x1")
    frames = ["jdk.internal.loader.NativeLibraries.loadLibrary", MAIN]
    place = place_of(thread(*frames, state="BLOCKED", locks=(lock,)))
    assert place is not None
    assert place.cause is Cause.CONTENTION


def test_a_header_without_a_state_does_not_make_an_initialiser() -> None:
    place = place_of(thread("com.example.Uses.it", MAIN, state="", activity="in Object.wait()"))
    assert place is not None
    assert (place.cause, place.words) == (Cause.WAITING, "is in Object.wait()")
