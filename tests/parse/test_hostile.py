"""No input, however made, takes a parser more than linear time: each is timed at one size and at twice that."""

import time
from collections.abc import Callable

import pytest

from seedstall.parse.observation import observations
from seedstall.parse.serverlog import server_log
from seedstall.parse.threaddump import thread_dumps

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
PARSERS: dict[str, Callable[[bytes], object]] = {
    "threads": lambda data: thread_dumps(data, "x"),
    "log": lambda data: server_log(data, "x"),
    "observations": lambda data: observations(data, "x"),
}
SIZE = 200_000
FLOOR_S = 0.15
"""Below this, time is noise."""


def took(parse: Callable[[bytes], object], data: bytes) -> float:
    start = time.process_time()
    parse(data)
    return time.process_time() - start


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_twice_the_input_takes_about_twice_the_time(kind: str, parser: str) -> None:
    parse, unit = PARSERS[parser], HOSTILE[kind]
    head = HEADER if kind in ("frames", "frames apart", "log lines") else b""

    once = took(parse, head + unit * (SIZE // len(unit)))
    twice = took(parse, head + unit * (2 * SIZE // len(unit)))

    assert twice < max(3.5 * once, FLOOR_S) + FLOOR_S


@pytest.mark.parametrize("parser", PARSERS)
def test_five_megabytes_in_one_line(parser: str) -> None:
    parse = PARSERS[parser]

    for unit in (b'"', b"[", b"a ", b'at a.b("'):
        assert took(parse, unit * (5_000_000 // len(unit))) < 5
