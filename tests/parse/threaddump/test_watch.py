"""Servers' own watches in their logs: each report is a look at one thread, and no exception."""

from __future__ import annotations

import pytest

from seedstall.facts import dumpseries
from seedstall.model.threads import ThreadDump
from seedstall.parse.threaddump import thread_dumps

FRAMES = """\
\tat java.base/java.io.FileInputStream.readBytes(Native Method)
\tat java.base/java.io.FileInputStream.read(FileInputStream.java:276)
\tat java.base/java.io.FilterInputStream.read(FilterInputStream.java:132)
\tat java.base/sun.security.provider.NativePRNG$RandomIO.readFully(NativePRNG.java:431)
\tat java.base/sun.security.provider.NativePRNG$RandomIO.implGenerateSeed(NativePRNG.java:448)
\tat java.base/sun.security.provider.NativePRNG.engineGenerateSeed(NativePRNG.java:239)
\tat java.base/java.security.SecureRandom.generateSeed(SecureRandom.java:857)
\tat app//com.example.Keys.make(Keys.java:31)
"""
WITHOUT_AT = FRAMES.replace("at java.base/", "").replace("at app//", "")
LEVEL = "2026-11-30 14:23:31,123 "

VERTX = (
    LEVEL
    + "WARN  [io.ver.cor.imp.BlockedThreadChecker] (vertx-blocked-thread-checker) Thread "
    + "Thread[vert.x-eventloop-thread-0,5,main] has been blocked for {ms} ms, time limit is 2000 ms: "
    + "io.vertx.core.VertxException: Thread blocked\n"
)
VERTX_21 = (
    LEVEL
    + "WARN  [io.ver.cor.imp.BlockedThreadChecker] (checker) Thread "
    + "Thread[#21,vert.x-eventloop-thread-0,5,main]=Thread[#21,vert.x-eventloop-thread-0,5,main] "
    + "has been blocked for {ms} ms, time limit is 2000 ms\nio.vertx.core.VertxException: Thread blocked\n"
)
TOMCAT = (
    "15-Sep-2023 20:09:00.153 WARNING [Catalina-utility-1] "
    "org.apache.catalina.valves.StuckThreadDetectionValve.notifyStuckThreadDetected Thread "
    "[vert.x-eventloop-thread-0] (id=[22]) has been active for [{grouped}] milliseconds (since [9/15/23 8:06 PM]) to "
    "serve the same request for [http://192.0.2.1:8080/x.jspa] and may be stuck (configured threshold for this "
    "StuckThreadDetectionValve is [120] seconds). There is/are [1] thread(s) in total.\n\tjava.lang.Throwable\n"
)
TOMCAT_IN_GERMAN = (
    "15-Sep-2023 20:09:00.153 WARNUNG [Catalina-utility-1] "
    "org.apache.catalina.valves.StuckThreadDetectionValve.notifyStuckThreadDetected Thread "
    "[vert.x-eventloop-thread-0] (id=[22]) ist seit [{german}] Millisekunden aktiv\n\tjava.lang.Throwable\n"
)
WEBSPHERE = (
    "[12/6/12 19:02:03:514 PST] 0000001f ThreadMonitor W   WSVR0605W: Thread "
    '"vert.x-eventloop-thread-0" (00000014) has been active for {ms} milliseconds and may be hung.  '
    "There is/are 1 thread(s) in total in the server that may be hung.\n"
)
WEBLOGIC = (
    "####<Dec 7, 2016 3:12:21 PM GMT> <Error> <WebLogicServer> <h> <s> <[ACTIVE] ExecuteThread: '22' for queue: "
    "'weblogic.kernel.Default (self-tuning)'> <<WLS Kernel>> <> <> <1481123541709> <BEA-000337> "
    "<[STUCK] ExecuteThread: '12' for queue: 'weblogic.kernel.Default (self-tuning)' has been busy for "
    '"{s}" seconds working on the request "Http Request Information: weblogic.servlet.internal.X@76[POST /a]\n'
    'host: example\n", which is more than the configured time (StuckThreadMaxTime) of "600" seconds. Stack trace:\n'
)
JROCKIT = WEBLOGIC + (
    "Thread-766 \"[STUCK] ExecuteThread: '12' for queue: 'weblogic.kernel.Default (self-tuning)'\" "
    "<alive, in native, suspended, priority=1, DAEMON> {{\n"
)
LIBERTY = (
    "[11/30/26 14:23:31:123 UTC] 00000036 com.ibm.ws.request.timing.manager.SlowRequestManager W TRAS0112W: "
    "Request AAAA on thread 0000003c has been running for at least {ms}.717ms. The following stack trace shows what "
    "this thread is currently running.\n\n"
)
NAME = "vert.x-eventloop-thread-0"
STUCK = "[STUCK] ExecuteThread: '12' for queue: 'weblogic.kernel.Default (self-tuning)'"
REPORTS = {
    "vert.x": (VERTX, FRAMES, NAME),
    "vert.x on 21": (VERTX_21, FRAMES, NAME),
    "tomcat": (TOMCAT, FRAMES.replace("\tat", "\t\tat"), NAME),
    "tomcat in german": (TOMCAT_IN_GERMAN, FRAMES, NAME),
    "websphere": (WEBSPHERE, FRAMES.replace("\tat", "    at"), NAME),
    "weblogic": (WEBLOGIC, WITHOUT_AT, STUCK),
    "weblogic on jrockit": (JROCKIT, WITHOUT_AT + "}\n", STUCK),
    "liberty": (LIBERTY, FRAMES, "0000003c"),
}


def report(name: str, ms: int) -> str:
    head, frames, _ = REPORTS[name]
    figures = {
        "ms": ms,
        "s": ms // 1000,
        "grouped": f"{ms:,}",
        "german": f"{ms:,}".replace(",", "."),
    }
    return head.format(**figures) + frames


def log(*parts: str) -> str:
    line = "2026-11-30 14:23:30,001 INFO  [com.example.App] (main) started\n"
    error = (
        "2026-11-30 14:23:30,002 ERROR [com.example.App] (main) failed\njava.lang.IllegalStateException: x\n"
        + FRAMES
    )
    return line + error + line.join(parts) + line + error


def read(text: str) -> tuple[ThreadDump, ...]:
    return thread_dumps(text, "server.log")


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_one_thread_with_its_stack(name: str) -> None:
    text = log(report(name, 125_000))

    (dump,) = read(text)

    (thread,) = dump.threads
    assert (thread.name, len(thread.frames), thread.busy_ms) == (REPORTS[name][2], 8, 125_000)
    assert not dump.lists_all
    assert not dump.complete
    (wait,), _ = dumpseries.waits((dump,))
    assert wait.stack is not None
    assert (wait.role, wait.stack.caller_frame) == ("reading", "com.example.Keys.make")
    lines = text.split("\n")
    for frame in thread.frames:
        assert frame.method in lines[frame.line - 1]


@pytest.mark.parametrize("name", REPORTS)
def test_later_reports_say_how_long(name: str) -> None:
    text = log(report(name, 125_000), report(name, 135_000), report(name, 145_000))

    (group,) = dumpseries.series(read(text))
    (wait,), over = dumpseries.waits(group)

    assert (wait.dumps_seen, wait.dumps, wait.since_ms) == (3, 3, 20_000)
    assert over == []


def test_a_report_on_one_thread_ends_no_other_threads_wait() -> None:
    other = report("vert.x", 9000).replace("thread-0", "thread-7")
    text = log(report("vert.x", 3000), other)

    (group,) = dumpseries.series(read(text))
    waits, over = dumpseries.waits(group)

    assert sorted(w.java.name for w in waits if w.java) == [
        "vert.x-eventloop-thread-0",
        "vert.x-eventloop-thread-7",
    ]
    assert over == []


@pytest.mark.parametrize(
    ("name", "end"),
    [
        (
            "tomcat",
            (
                "15-Sep-2023 20:11:00.153 WARNING [u] "
                "org.apache.catalina.valves.StuckThreadDetectionValve.notifyStuckThreadCompleted Thread "
                "[vert.x-eventloop-thread-0] (id=[22]) was previously reported to be stuck but has completed. "
                "It was active for approximately [200,000] milliseconds.\n"
            ),
        ),
        (
            "websphere",
            (
                '[12/6/12 19:09:03:514 PST] 0000001f ThreadMonitor W   WSVR0606W: Thread "vert.x-eventloop-thread-0" '
                "(00000014) was previously reported to be hung but has completed.\n"
            ),
        ),
        (
            "weblogic",
            (
                "####<Dec 7, 2016 3:22:21 PM GMT> <Info> <WebLogicServer> <h> <s> <x> <> <> <1> <BEA-000339> "
                f'<{STUCK} has become "unstuck".>\n'
            ),
        ),
    ],
)
def test_a_thread_that_came_back_waits_no_more(name: str, end: str) -> None:
    (group,) = dumpseries.series(read(log(report(name, 125_000), end)))
    waits, over = dumpseries.waits(group)

    assert waits == []
    assert len(over) == 1


def test_a_warning_without_a_stack_is_no_thread() -> None:
    text = log(VERTX.format(ms=2500).replace(": io.vertx.core.VertxException: Thread blocked", ""))
    assert read(text) == ()
    assert (
        read("the queue has been blocked for 2 iterations. WSVR0605W? BEA-000337> TRAS0112W:\n")
        == ()
    )


def test_an_exception_below_a_warning_is_not_its_stack() -> None:
    text = VERTX.format(ms=2500).replace(": io.vertx.core.VertxException: Thread blocked", "")
    assert read(text + "java.lang.IllegalStateException: no\n" + FRAMES) == ()


def test_a_dump_in_the_same_log_is_the_same_jvm() -> None:
    dump = (
        "2026-11-30 14:23:40\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):\n\n"
        '"vert.x-eventloop-thread-0" #21 prio=5 os_prio=0 cpu=1.00ms elapsed=9.00s tid=0x1 nid=0x2 runnable  [0x3]\n'
        "   java.lang.Thread.State: RUNNABLE\n" + FRAMES + "\nJNI global refs: 1\n\n"
    )
    dumps = read(report("vert.x on 21", 5000) + dump + report("vert.x on 21", 9000))

    assert [d.form for d in dumps] == ["log", "", "log"]
    assert len(dumpseries.series(dumps)) == 1
