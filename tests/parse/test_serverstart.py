"""Where other servers' starts begin and end, and what a start's silences are."""

# ruff: noqa: E501 - lines of logs and traces stand as they are printed

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.texts import tomcat_logs

from seedstall.model.log import ServerLog
from seedstall.parse.serverlog import server_log

BANNER = "  :: Spring Boot ::                (v2.7.5)\n"


def starts(text: str) -> list[tuple[str, int, int]]:
    return [(s.product, s.line, s.took_ms) for s in server_log(text, "x").starts]


@pytest.mark.parametrize(
    ("text", "product", "took"),
    [
        (
            "2022-11-01 10:00:31.323  INFO 1 --- [  main] com.example.App : Started App in 12.3 seconds (JVM running for 13.1)",
            "Spring Boot",
            13_100,
        ),
        (
            "2024-11-01T10:00:31.323Z  INFO 1 --- [app] [main] com.example.App : Started App in 12.345 seconds (process running for 13.012)",
            "Spring Boot",
            13_012,
        ),
        ("2014-08-01 10:00:00.123:INFO:oejs.Server:main: Started @12345ms", "Jetty", 12_345),
        (
            "[main] INFO org.eclipse.jetty.server.Server - Started Server@1b2c3d{STARTING}[11.0.15,sto=0] @2345ms",
            "Jetty",
            2345,
        ),
        (
            "10:00:31,323 INFO  [org.jboss.as] (Controller Boot Thread) WFLYSRV0025: WildFly Full 26.1.0.Final (WildFly Core 18.1.0.Final) started in 12345ms - Started 298 of 538 services",
            "WildFly",
            12_345,
        ),
        (
            "10:00:31,323 ERROR [org.jboss.as] (Controller Boot Thread) WFLYSRV0026: WildFly 26 started (with errors) in 12345ms - Started 1 of 5",
            "WildFly",
            12_345,
        ),
        (
            "10:00:31,323 INFO  [org.jboss.as] (Controller Boot Thread) JBAS015874: JBoss AS 7.1.1.Final started in 4411ms - Started 133",
            "JBoss",
            4411,
        ),
        (
            "2023-01-01 10:00:00,123 INFO  [io.quarkus] (main) app 1.0 on JVM (powered by Quarkus 2.16.0.Final) started in 1.234s. Listening on: http://0.0.0.0:8080",
            "Quarkus",
            1234,
        ),
        (
            "[AUDIT   ] CWWKF0011I: The defaultServer server is ready to run a smarter planet. The defaultServer server started in 5.123 seconds.",
            "Liberty",
            5123,
        ),
        (
            "[INFO] Payara Server 5.2022.1 #badassfish (8) startup time : Felix (2,345 ms), startup services(3,456 ms), total(5,801 ms)]]",
            "Payara",
            5801,
        ),
        (
            "10:00:00.1 INFO  i.micronaut.runtime.Micronaut - Startup completed in 1234ms. Server Running: http://x",
            "Micronaut",
            1234,
        ),
    ],
)
def test_lines_that_end_a_start_with_a_figure(text: str, product: str, took: int) -> None:
    assert starts(f"first\n{text}\nlast\n") == [(product, 2, took)]


@pytest.mark.parametrize(
    ("begin", "end", "product"),
    [
        (
            "<Nov 30, 2026 2:21:01 PM CET> <Notice> <WebLogicServer> <BEA-000365> <Server state changed to STARTING>",
            "<Nov 30, 2026 2:23:04 PM CET> <Notice> <WebLogicServer> <BEA-000365> <Server state changed to RUNNING>",
            "WebLogic",
        ),
        (
            "Running from: /usr/share/jenkins/jenkins.war\n2026-11-30 14:21:01.000+0000 [id=1] INFO winstone.Logger#logInternal: Beginning",
            "2026-11-30 14:23:04.000+0000 [id=24] INFO hudson.lifecycle.Lifecycle#onReady: Jenkins is fully up and running",
            "Jenkins",
        ),
        (
            "[2026-11-30 14:21:01,000] INFO starting (kafka.server.KafkaServer)",
            "[2026-11-30 14:23:04,000] INFO [KafkaServer id=0] started (kafka.server.KafkaServer)",
            "Kafka",
        ),
        (
            "2026-11-30 14:21:01,000 [myid:] - INFO  [main:QuorumPeerConfig@174] - Reading configuration from: /etc/zoo.cfg",
            "2026-11-30 14:23:04,000 [myid:] - INFO  [main:NIOServerCnxnFactory@660] - binding to port 0.0.0.0/0.0.0.0:2181",
            "ZooKeeper",
        ),
        (
            "[2026-11-30T14:21:01,000][INFO ][o.e.n.Node               ] [node-1] initializing ...",
            "[2026-11-30T14:23:04,000][INFO ][o.e.n.Node               ] [node-1] started",
            "Elasticsearch",
        ),
    ],
)
def test_lines_without_a_figure_have_the_lines_own_times(
    begin: str, end: str, product: str
) -> None:
    found = server_log(f"{begin}\nother\n{end}\n", "x")

    assert [(b.product, b.line) for b in found.begins] == [(product, 1)]
    (start,) = found.starts
    assert start.product == product
    assert start.took_ms == (123_000 if product != "Jenkins" else 0)
    assert server_log(f"{end}\n", "x").starts[0].took_ms == 0


def test_tomcat_begins_once_a_start() -> None:
    for name, text in tomcat_logs().items():
        log = server_log(text + text, name)
        assert [(r.begin is not None, r.start is not None) for r in log.runs()] == [
            (True, True)
        ] * 2, name


@pytest.mark.parametrize("kept", [7, 20, 37])
def test_the_last_start_hangs(kept: int) -> None:
    """It is judged by the last start: an earlier complete one says nothing of it."""
    text = tomcat_logs()["tomcat10-en.log"]
    log = server_log(text + b"".join(text.splitlines(keepends=True)[:kept]), "x")

    assert len(log.starts) == 1
    assert not log.shows_a_start
    assert log.unfinished is not None
    assert log.unfinished.line == 46


def test_a_start_that_was_killed_and_repeated() -> None:
    text = tomcat_logs()["tomcat10-en.log"]
    log = server_log(b"".join(text.splitlines(keepends=True)[:37]) + text, "x")

    assert [run.start is not None for run in log.runs()] == [False, True]
    assert log.shows_a_start
    assert log.unfinished is None


# ---------------------------------------------------------------- silences


def silences(log: ServerLog) -> list[tuple[int, int, int]]:
    return [(s.line, s.until_line, s.ms) for s in log.silences]


@pytest.mark.parametrize(
    ("times", "ms"),
    [
        (("14:00:00.000", "14:00:01.500", "14:00:31.500"), 30_000),
        (("14:00:00,000", "14:00:01,500", "14:00:31,500"), 30_000),
        (("23:59:50", "23:59:51", "00:00:21"), 30_000),
        (("11:59:50 AM", "11:59:51 AM", "12:00:21 PM"), 30_000),
        (("2:59:50 PM", "2:59:51 PM", "3:00:21 PM"), 30_000),
        (("12:59:50", "12:59:51", "1:00:21"), 30_000),
        (("14:00:00.500", "14:00:00.400", "14:00:30.400"), 29_900),
    ],
)
def test_the_longest_silence(times: tuple[str, ...], ms: int) -> None:
    first, second, third = (f"30-Nov-2026 {time} INFO [main]" for time in times)
    text = f"{BANNER}{first} a.B one\n{second} a.B two\n{third} a.B Started App in 31 seconds (JVM running for 32.0)\n"

    log = server_log(text, "x")

    assert silences(log) == [(3, 4, ms)]
    assert "two" in log.silences[0].before


@pytest.mark.parametrize(
    ("times", "ms"),
    [
        # written late: no half a day
        (("10:00:00.000", "10:00:05.000", "10:00:02.500", "10:00:07.000"), 5000),
        # two zones: the way back and the way there
        (("10:00:00", "10:00:03", "08:00:04", "10:00:05", "10:00:06"), 3000),
        (("10:00:00", "11:30:03", "10:00:04", "10:00:06"), 2000),
        (("9:00:00 PM", "9:00:03 PM", "3:00:04 PM", "3:00:05 PM"), 3000),
    ],
)
def test_lines_of_two_clocks_and_lines_out_of_order_are_no_silence(
    times: tuple[str, ...], ms: int
) -> None:
    lines = "".join(f"30-Nov-2026 {time} INFO [main] a.B line\n" for time in times)
    log = server_log(BANNER + lines + "Started App in 31 seconds (JVM running for 32.0)\n", "x")

    assert [silence.ms for silence in log.silences] == [ms]


def test_a_silence_of_an_earlier_start_is_not_this_ones() -> None:
    slow = "14:00:00 INFO a.B one\n14:10:00 INFO a.B Started App in 600 seconds (JVM running for 601.0)\n"
    quick = (
        "15:00:00 INFO a.B one\n15:00:02 INFO a.B Started App in 2 seconds (JVM running for 2.5)\n"
    )

    assert silences(server_log(BANNER + slow + BANNER + quick, "x")) == [(5, 6, 2000)]


def test_the_seeding_is_the_silence_in_a_real_log() -> None:
    for name in ("tomcat10-en.log", "tomcat10-pt.log", "tomcat10-cs.log"):
        log = server_log(tomcat_logs()[name], name)
        (seeding,) = log.seeding
        (silence,) = log.silences
        assert silence.until_line == seeding.line
        assert abs(silence.ms - seeding.took_ms) < 100


WORDS = [
    *(
        "Catalina.load [1]\n",
        "Catalina.start [1,234]\n",
        BANNER,
        "Started @1ms\n",
        "12:00:00 ",
        "11:59:59 PM ",
    ),
    *(
        "WFLYSRV0049\n",
        "WFLYSRV0025: a started in 5ms\n",
        "Server state changed to RUNNING",
        "\n",
        "jetty-9.4.1; built",
    ),
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=40).map("".join))
def test_any_text(text: str) -> None:
    log = server_log(text, "x")

    for run in log.runs():
        assert run.origin == "x"
    assert all(s.ms > 0 for s in log.silences)


def test_a_long_log_is_read_quickly() -> None:
    begun = time.process_time()
    server_log((BANNER + "12:00:00 INFO a.B x\n" * 500) * 200, "x")

    assert time.process_time() - begun < 3
