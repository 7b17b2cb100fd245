"""No input, however made, takes a parser more than linear time: each is timed at one size and at twice that."""

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from tests.parsers import in_pieces, parsers, whole

from seedstall.parse.observation import observations
from seedstall.parse.serverlog import server_log
from seedstall.parse.text import plain
from seedstall.parse.threaddump import thread_dumps
from seedstall.parse.tomcatstart import last_start

HEADER = b'"x" #1 prio=5 tid=0x1 nid=0x2 runnable \n'
FRAME = b"\tat a.b(C.java:1)\n"
SEEDER = b"x.SessionIdGeneratorBase.createSecureRandom "
HOSTILE: dict[str, bytes] = {
    "one line": b"a",
    "quotes": b'"',
    "quotes on lines": b'"\n',
    "blanks": b" ",
    "tabs": b"\t",
    "line feeds": b"\n",
    "carriage returns": b"\r",
    "digits": b"1",
    "zero bytes": b"\0",
    "at": b"at ",
    "at on lines": b"\tat \n",
    "open brackets": b"[",
    "open frames": b"at a.b(",
    "anchors": b" tid=0x1",
    "headers on one line": b'" tid=0x1 nid=0x1 ',
    "headers": HEADER,
    "headers without a quote": HEADER[1:],
    "headers apart": HEADER + b"\n",
    "threads": HEADER + FRAME + b"\n",
    "frames": FRAME,
    "frames apart": FRAME + b"\n",
    "exceptions": b"Exception\n" + FRAME * 2,
    "banners": b"Full thread dump VM (\n",
    "ends": b"JNI global refs\n",
    "deadlocks": b"Full thread dump VM (\nFound one Java-level deadlock:\n",
    "deadlock names": b'"a":\n',
    "tags": b"<a ",
    "line ends": b"<br>",
    "entities": b"&lt;",
    "escaped entities": b"&amp;",
    "escapes": b"\\n\\tat ",
    "run together": b") at a.b(c) at ",
    "prefixes": b"p1 | " + FRAME,
    "long prefixes": b"x " * 140 + FRAME,
    "states": b"java.lang.Thread.State: ",
    "seeders": SEEDER,
    "seeders on lines": SEEDER + b"\n",
    "seeders in brackets": SEEDER + b"[1,",
    "starts": b"Catalina.start Server startup in ",
    "listeners": b"VersionLoggerListener.log : ",
    "times": b"12:34:56 ",
    "copies": b"1 bytes copied, ",
    "dd": b"dd if=/dev/random\n6 bytes (6 B) copied, 1 s, 1 kB/s\n",
    "counts": b"entropy_avail ",
    "counts on lines": b"entropy_avail\n1\n",
    "devices": b"/dev/random ",
    "strace": b'open("/dev/random") = 4\nread(4, <unfinished\n',
    "releases": b"Linux version kernel uname -r\n",
    "programs": b"$ java x\n1 ms\n",
    "benchmarks": b"NativePRNG 2 threads average=1 ns ",
}
OF_ONE: dict[str, dict[str, bytes]] = {
    "text": {
        "docker's JSON": b'{"log":"\\tat a.b(C.java:1)\\n","stream":"stdout"}\n',
        "docker's pieces": b'{"log":"a","stream":"stdout"}\n',
        "JSON cut": b'{"log":"a\n',
        "JSON in one line": b'{"log":',
        "strings in JSON": b'"a b",\n',
        "keys": b'"a": "b\\n',
        "pieces of CRI": b"2026-11-30T14:21:00.1Z stdout P a\n",
        "quoted-printable": b"=3D tid=3D0x=\n",
        "soft breaks": b"=\n",
        "export": b"__REALTIME_TIMESTAMP=1\nMESSAGE=a\n\n",
        "export by length": b"__REALTIME_TIMESTAMP=1\nMESSAGE\n\x01\0\0\0\0\0\0\0a\n",
        "mails": b"From a\nTo: a\nMIME-Version: 1.0\nContent-Type: text/plain\n\na\n\n",
        "boundaries": b"To: a\nMIME-Version: 1\nContent-Type: multipart/mixed; boundary=b\n\n--b\n",
        "base64": b"QUFB" * 15 + b"\n",
        "cells": b'"""a""","b"\n',
        "cells on one line": b'"""a"",',
        "zero width": b"\xe2\x80\x8b",
        "soft hyphens": b"\xc2\xad",
    },
    "threads": {
        "messages of many lines": b"12:00:00 a.b.CException: x\n\n" + FRAME * 2 + b"\n",
        "qualified names": b"a.b.c.D",
        "other quotes": b"'a' #1 prio=5 ",
        "doubled quotes": b'""a"" #1 ',
        "run together with prefixes": b'+"x" #1 tid=0x1 at a.b(c) at a.b(c) at ',
        "infos": b'"x" Id=1 RUNNABLE\n' + FRAME + b"...\n\n",
        "infos on one line": b'" Id=1 RUNNABLE ',
        "locks of infos": b'"x" Id=1 RUNNABLE\n-  locked a.B@1\n',
        "threads as JSON": b'[{"threadName":"a","stackTrace":[]},',
        "objects around": b'{"threadName":[{',
        "arrays": b'"threadName"[{},',
        "documents": b'{"threadDump":{',
        "documents cut": b'{"threadDump": {"tid":',
        "threads to file": b'#1 "a"\n    at a.b(c)\n\n',
        "heads of files": b'1\n2026-01-01T00:00:00Z\n21\n\n#1 "a"\n',
        "agents": b"Thread 1: (state = BLOCKED)\n - a.b(int) @bci=1\n\n",
        "agents' threads": HEADER + b"JavaThread state: _thread_blocked\n",
        "dashes": b"----------------- 1 -----------------\n 0x1 * a.b() bci:1\n",
        "agents' frames": b" - a.b(int) @bci=1 ",
        "javacores": b'3XMTHREADINFO "a" J9VMThread:0x1\n4XESTACKTRACE at a/b.c(d)\n',
        "tags of javacores": b'3XMTHREADINFO "',
        "cores": b"0SECTION TITLE\n1TIDATETIME\n3XMTHREADINFO\n",
        "jconsole": b"Name: a\nState: RUNNABLE\nTotal blocked: 1\n",
        "visualvm": b'"a" - Thread t@1\n' + FRAME + b"\n",
        "visualvm among others": b'"a" - Thread t@1\n' + HEADER,
        "watches": b"Thread Thread[a has been blocked for 1 ms ",
        "watches with stacks": b"Thread Thread[a] has been blocked for 1 ms\n" + FRAME * 2,
        "valves": b"StuckThreadDetectionValve.notifyStuckThreadDetected [a",
        "servers' codes": b'WSVR0605W: "a TRAS0112W: thread BEA-000337> [STUCK] ',
    },
    "observations": {
        "straces": b"12 14:00:00.000001 read(4, <unfinished ...>\n12 14:00:00.1 <... read resumed>) = 1\n",
        "straces of many threads": b"[pid 1] getrandom(x, 16, 0 <unfinished ...>\n",
        "descriptors": b"java 1 root 4r CHR 1,8 0t0 6 /dev/random\n",
        "links": b"4 -> /dev/random\n",
        "kernel stacks": b"[<0>] _random_read.part.0+0x9b/0x240\n",
        "kernel words": b"random_read ",
        "kernel calls": b"0 0x4 0x7 0x2 0x0 0x0 0x5 0x7 0x4\n",
        "times of runs": b"real 0m1.0s\nuser 0m1.0s\nsys 0m1.0s\n",
        "times of zsh": b"1.0s user 1.0s system 1% cpu 1.0 total ",
        "reals": b"real ",
        "users": b"user ",
        "limits": b"nr_periods 1\nnr_throttled 1\nthrottled_usec 1\n",
        "kernel log": b"[ 1.000000] random: crng init done\n",
        "units": b"rngd.service - x\nActive: active\n",
        "UUIDs": b"0d1a3f5e-1111-2222-3333-444455556666\n1\n2\n3\n",
        "watches": b"Every 2.0s: cat entropy_avail\n1\n",
        "netty": b"Failed to generate a seed from SecureRandom within 3 seconds. Not enough entropy?\n",
    },
    "log": {
        "begun and started": b"Catalina.load [1] 12:00:00\nCatalina.start [1] 12:00:01\n",
        "servers": b"Started @1ms WFLYSRV0025: a started in 1ms\n",
        "started on one line": b"Started a in ",
    },
}
"""What only one parser has a reader for."""
PARSERS: dict[str, Callable[[bytes], object]] = {
    "threads": lambda data: thread_dumps(data, "x"),
    "log": lambda data: server_log(data, "x"),
    "observations": lambda data: observations(data, "x"),
    "text": plain,
    "starts": last_start,
}
SIZE = 100_000
FLOOR_S = 0.15
TRIES = 3
"""A busy machine disturbs a measurement; growth is there each time."""
"""Below this, time is noise."""


def took(parse: Callable[[bytes], object], data: bytes) -> float:
    start = time.process_time()
    parse(data)
    return time.process_time() - start


@pytest.mark.parametrize(
    ("parser", "kind"),
    [
        *((parser, kind) for parser in ("threads", "log", "observations") for kind in HOSTILE),
        *((parser, kind) for parser, kinds in OF_ONE.items() for kind in kinds),
        *(("starts", kind) for kind in ("listeners", "one line", "line feeds")),
    ],
)
def test_twice_the_input_takes_about_twice_the_time(parser: str, kind: str) -> None:
    parse, unit = PARSERS[parser], HOSTILE.get(kind) or OF_ONE[parser][kind]
    head = HEADER if kind in ("frames", "frames apart", "log lines") else b""

    def measured() -> tuple[float, float]:
        once = took(parse, head + unit * (SIZE // len(unit)))
        if once * 8 < FLOOR_S:
            return once, 0.0  # even cubic growth would stay below the floor
        return once, took(parse, head + unit * (2 * SIZE // len(unit)))

    tries = [measured()]
    while tries[-1][1] >= max(3.5 * tries[-1][0], FLOOR_S) + FLOOR_S and len(tries) < TRIES:
        tries.append(measured())
    once, twice = tries[-1]
    assert twice < max(3.5 * once, FLOOR_S) + FLOOR_S, tries


@pytest.mark.parametrize("parser", PARSERS)
def test_five_megabytes_in_one_line(parser: str) -> None:
    parse = PARSERS[parser]

    for unit in (b'"', b"[", b"a ", b'at a.b("'):
        assert took(parse, unit * (5_000_000 // len(unit))) < 5


EVERY = {**parsers(), "in pieces": in_pieces, "the whole of diagnose": whole}
SMALL = 4_000
SUSPECT_S = 0.03
"""What a linear parser is far below with so few bytes: only above it is the growth measured."""


@pytest.mark.parametrize("name", EVERY)
def test_no_parser_takes_more_than_linear_time(name: str) -> None:
    """Of any function that takes a text, found by what it takes: all kinds at once, the suspects at three times."""

    def parse(data: bytes) -> None:
        with suppress(ValueError):
            EVERY[name](data)

    for kind, unit in HOSTILE.items():
        for attempt in range(TRIES):
            once = took(parse, unit * (SMALL // len(unit)))
            thrice = took(parse, unit * (3 * SMALL // len(unit))) if once > SUSPECT_S else 0.0
            if thrice < 5 * once + FLOOR_S:
                break
            assert attempt < TRIES - 1, (
                f"{kind}: {once:.3f} s, {thrice:.3f} s for three times as much"
            )
