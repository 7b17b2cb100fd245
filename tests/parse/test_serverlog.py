import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.texts import archive, live, post, probes, tomcat_logs

from seedstall.parse.serverlog import milliseconds, server_log

SEEDED = {
    "out.de.txt": (193, 4197, 5304, 5256),
    "out.en.txt": (193, 3980, 5239, 5176),
    "out.fr.txt": (193, 3845, 5217, 5127),
    "out.ja.txt": (193, 2661, 4601, 4531),
    "out.ko.txt": (193, 3801, 5163, 5112),
    "out.zh.txt": (193, 4109, 5451, 5372),
    "out.noscheme.txt": (7, 6022, 8556, 8420),
    "tomcat10-cs.log": (38, 4350, 5712, 5642),
    "tomcat10-de.log": (38, 1838, 4971, 4809),
    "tomcat10-en.log": (38, 4242, 5687, 5552),
    "tomcat10-es.log": (39, 4264, 5665, 5561),
    "tomcat10-fr.log": (38, 3701, 5430, 5364),
    "tomcat10-ja.log": (38, 3293, 5094, 4939),
    "tomcat10-ko.log": (38, 4354, 5641, 5544),
    "tomcat10-pt.log": (38, 4507, 5691, 5577),
    "tomcat10-ru.log": (38, 3758, 5598, 5493),
    "tomcat10-zh.log": (38, 3270, 5213, 5069),
}


def test_every_log_is_tried() -> None:
    assert set(tomcat_logs()) == {*SEEDED, "out.good.txt"}


@pytest.mark.parametrize("name", SEEDED)
def test_seeding_start_and_deployment_in_each_language(name: str) -> None:
    line, seeding, startup, deployment = SEEDED[name]
    text = tomcat_logs()[name]

    log = server_log(text, name)

    (seeded,) = log.seeding
    assert (seeded.line, seeded.took_ms, seeded.algorithm) == (line, seeding, "SHA1PRNG")
    assert (seeded.thread, seeded.origin) == ("main", name)
    assert seeded.stamp.startswith("30-Nov-2026 14:")
    assert seeded.excerpt == text.decode().split("\n")[line - 1].strip()
    assert [s.took_ms for s in log.starts] == [startup]
    assert [s.took_ms for s in log.deployments] == [deployment]
    assert (log.product, log.product_version) == ("Tomcat", "10.1.60")


def test_a_healthy_start_has_no_seeding_line() -> None:
    log = server_log(tomcat_logs()["out.good.txt"], "x")

    assert log.seeding == ()
    assert [(s.line, s.took_ms) for s in log.starts] == [(9, 1553)]
    assert log.lines


def test_what_the_version_listener_tells_in_each_language() -> None:
    for name, text in tomcat_logs().items():
        if not name.startswith("tomcat10"):
            continue
        log = server_log(text, name)
        arguments = [argument for argument, _, _ in log.arguments]
        assert log.jvm_version == "17.0.15+6-Debian-1deb12u1", name
        assert log.os_release.startswith("6.18."), name
        assert "-Dcatalina.base=/srv/tomcat" in arguments
        for argument, _, line in log.arguments:
            assert argument in text.decode().split("\n")[line - 1]


def test_a_post_with_log_lines() -> None:
    log = server_log(post("000"), "x")

    (seeded,) = log.seeding
    assert (seeded.took_ms, seeded.thread, seeded.line) == (386_690, "localhost-startStop-1", 5)
    assert [(s.took_ms, s.line) for s in log.starts] == [(410_675, 7)]


def test_texts_that_are_no_logs() -> None:
    others = [post(n) for n in ("001", "002", "004")]
    others += [live("tomcat10-jdk17-hang.txt"), live("jdk17-316-threads.txt")]
    others += [archive("live/local17-25")["L-jdk17-sha1/strace.txt"], b"", b"12:00:00 up 33 min"]
    others += list(probes().values())
    for text in others:
        log = server_log(text, "x")
        assert (log.lines, log.last_line, log.product) == (0, None, "")


def test_the_last_line_of_a_log_that_hangs() -> None:
    text = tomcat_logs()["tomcat10-en.log"]
    hung = b"".join(text.splitlines(keepends=True)[:37]) + live("tomcat10-jdk17-hang.txt")

    log = server_log(hung, "catalina.out")

    assert log.last_line is not None
    assert log.last_line[:2] == ("catalina.out", 37)
    assert "TldScanner.scanJars At least one JAR" in log.last_line[2]
    assert log.seeding == ()


TOOK = "Creation of SecureRandom instance for session ID generation using [SHA1PRNG] took [5,176] milliseconds."


@pytest.mark.parametrize(
    ("text", "took", "algorithm", "thread", "stamp"),
    [
        (
            f"Nov 30, 2012 2:21:01 PM org.apache.catalina.util.SessionIdGenerator createSecureRandom\nINFO: {TOOK}",
            5176,
            "SHA1PRNG",
            "",
            "Nov 30, 2012 2:21:01 PM",
        ),
        (
            f"2019-10-16 14:23:31.999  WARN 1 --- [ost-startStop-1] o.a.c.util.SessionIdGeneratorBase        : {TOOK}",
            5176,
            "SHA1PRNG",
            "ost-startStop-1",
            "2019-10-16 14:23:31.999",
        ),
        (
            f"2024-10-16T14:23:31.999+02:00  WARN 1 --- [shop] [    main] o.a.c.util.SessionIdGeneratorBase   : {TOOK}",
            5176,
            "SHA1PRNG",
            "main",
            "2024-10-16T14:23:31.999+02:00",
        ),
        (
            f"14:23:31.999 [localhost-startStop-1] WARN  o.a.c.util.SessionIdGeneratorBase - {TOOK}",
            5176,
            "SHA1PRNG",
            "localhost-startStop-1",
            "14:23:31.999",
        ),
        (
            f'{{"@timestamp":"2024-10-16T14:23:31.999Z","message":"{TOOK}","logger_name":"o.a.x"}}',
            5176,
            "SHA1PRNG",
            "",
            "2024-10-16T14:23:31.999Z",
        ),
        (TOOK, 5176, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "1,693,533"), 1_693_533, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "386,\n690"), 386_690, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "5 176"), 5176, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "5\u00a0176"), 5176, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "5\u202f176"), 5176, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "5\u202f176".encode().decode("latin-1")), 5176, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "5'176"), 5176, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "5?176"), 5176, "SHA1PRNG", "", ""),
        (TOOK.replace("5,176", "176"), 176, "SHA1PRNG", "", ""),
        (TOOK.replace("SHA1PRNG", ""), 5176, "", "", ""),
        (
            "16-Oct-2019 14:23:31.999 W [main] SessionIdGeneratorBase.createSecureRandom SecureRandom [3,293] [3,293]",
            3293,
            "",
            "main",
            "16-Oct-2019 14:23:31.999",
        ),
        (
            "12:00:01 FINE SessionIdGenerator createSecureRandom\nrandom number generator for generation in 5,176ms.",
            5176,
            "",
            "",
            "12:00:01",
        ),
    ],
)
def test_forms_of_the_seeding_line(
    text: str, took: int, algorithm: str, thread: str, stamp: str
) -> None:
    (seeded,) = server_log(f"first line\n{text}\n", "x").seeding

    assert (seeded.took_ms, seeded.algorithm, seeded.thread) == (took, algorithm, thread)
    assert (seeded.stamp, seeded.line) == (stamp, 2)


@pytest.mark.parametrize("codec", ["gbk", "shift-jis", "latin-1", "utf-16"])
def test_code_pages(codec: str) -> None:
    for name in ("out.zh.txt", "out.ja.txt", "out.fr.txt"):
        text = tomcat_logs()[name].decode().encode(codec, "replace")
        log = server_log(text, name)
        assert [s.took_ms for s in log.seeding] == [SEEDED[name][1]]
        assert [s.took_ms for s in log.starts] == [SEEDED[name][2]]


def test_two_threads_give_two_lines() -> None:
    line = f"16-Oct-2019 14:23:31.999 WARNING [a-1] x.SessionIdGeneratorBase.createSecureRandom {TOOK}\n"
    log = server_log(line + line.replace("a-1", "a-2").replace("5,176", "5,200"), "x")

    assert [(s.thread, s.took_ms) for s in log.seeding] == [("a-1", 5176), ("a-2", 5200)]


@pytest.mark.parametrize(
    "text",
    [
        "\tat org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom(SessionIdGeneratorBase.java:290)",
        "x.SessionIdGeneratorBase.createSecureRandom Exception initializing random number generator of class [a.B]",
        "x.SessionIdGeneratorBase.createSecureRandom",
        "The SessionIdGenerator [12] is configured",
    ],
)
def test_other_lines_of_that_class(text: str) -> None:
    assert server_log(text + "\nport [8,080]\n", "x").seeding == ()


@pytest.mark.parametrize(
    ("text", "took"),
    [
        (
            "16-Oct-2019 14:23:33.111 INFO [main] a.b.Catalina.start Server startup in 410675 ms",
            410_675,
        ),
        (
            "16-Oct-2019 14:23:33.111 INFO [main] a.b.Catalina.start Server startup in [410,675] milliseconds",
            410_675,
        ),
        (
            "Nov 30, 2012 2:21:01 PM org.apache.catalina.startup.Catalina start\nINFO: Server startup in 8123 ms",
            8123,
        ),
        ("a.b.Catalina.start Le d\u00e9marrage du serveur a pris [410675] millisecondes", 410_675),
        (
            "a.b.Catalina.start \u30b5\u30fc\u30d0\u30fc\u306e\u8d77\u52d5 [410,675] \u30df\u30ea\u79d2",
            410_675,
        ),
        ("a.b.Catalina.start \uc11c\ubc84\uac00 [5163] \ubc00\ub9ac\ucd08 \ub0b4\uc5d0", 5163),
        ("a.b.Catalina.start [410675]\u6beb\u79d2\u540e\u670d\u52a1\u5668\u542f\u52a8", 410_675),
        ("a.b.Catalina.start Server-Start in [4.971] Millisekunden", 4971),
        ("Server startup in 410675 ms", 410_675),
    ],
)
def test_forms_of_the_start_line(text: str, took: int) -> None:
    (start,) = server_log(f"\n{text}\n", "x").starts

    assert (start.took_ms, start.line) == (took, 2)


@pytest.mark.parametrize(
    "text",
    [
        "\tat org.apache.catalina.startup.Catalina.start(Catalina.java:796)",
        "org.apache.catalina.startup.Catalina.load Server initialization in [545] milliseconds",
        "org.apache.catalina.startup.Catalina.start The required Server component failed to start",
        "org.apache.catalina.startup.Catalina.stopServer Could not contact [localhost:8005]",
    ],
)
def test_no_start_lines(text: str) -> None:
    assert server_log(text, "x").starts == ()


def test_options_picked_up() -> None:
    log = server_log(
        "NOTE: Picked up JDK_JAVA_OPTIONS: -Dx=y\nPicked up JAVA_TOOL_OPTIONS: -Djava.security.egd=file:/dev/urandom\n"
        "Picked up _JAVA_OPTIONS: -Xmx1g",
        "x",
    )

    assert log.picked_up == (
        ("JDK_JAVA_OPTIONS", "-Dx=y", "x", 1),
        ("JAVA_TOOL_OPTIONS", "-Djava.security.egd=file:/dev/urandom", "x", 2),
        ("_JAVA_OPTIONS", "-Xmx1g", "x", 3),
    )


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        (b"0", 0),
        (b"12", 12),
        (b"1,234", 1234),
        (b"", None),
        (b"SHA1PRNG", None),
        (b"1,2", None),
        (b"1" * 16, None),
    ],
)
def test_figures(figure: bytes, value: int | None) -> None:
    assert milliseconds(figure) == value


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "SessionIdGeneratorBase",
                ".createSecureRandom ",
                "[",
                "]",
                "1,234",
                "\n",
                "Catalina.start ",
                "took",
                " in ",
                " ms",
                "12:00:00 INFO ",
                "Picked up A_B: ",
                "VersionLoggerListener.log x: ",
            ]
        )
        | st.text(max_size=5),
        max_size=40,
    ).map("".join)
)
def test_any_text(text: str) -> None:
    log = server_log(text, "x")

    count = len(text.replace("\r\n", "\n").split("\n"))
    assert all(1 <= s.line <= max(count, text.count("\r") + 1) for s in log.seeding + log.starts)


def test_a_long_log_is_read_quickly() -> None:
    text = tomcat_logs()["tomcat10-en.log"] * 1500

    start = time.process_time()
    log = server_log(text, "x")

    assert len(log.seeding) == len(log.starts) == 1500
    assert time.process_time() - start < 3
