"""The seventeen inputs on which other tools were measured: of nine none reads all. Each is made of real dumps."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from functools import cache
from itertools import chain

import pytest
from tests.texts import live

from seedstall.model.threads import ThreadDump
from seedstall.parse.packed import unpacked
from seedstall.parse.threaddump import thread_dumps

LOG = "30-Nov-2026 14:23:31.123 INFO [main] org.apache.catalina.core.StandardEngine.startInternal Starting\n"


def plain17() -> str:
    return live("jdk17-316-threads.txt").decode()


def jstack25() -> str:
    return live("jdk25-315-threads.txt").decode()


def with_prefixes(prefix: Callable[[int], str]) -> str:
    return "".join(f"{prefix(n)}{line}\n" for n, line in enumerate(plain17().split("\n")))


def docker_json() -> str:
    lines = (
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": f"2026-11-30T14:23:31.{n:09}Z"})
        for n, line in enumerate(plain17().split("\n"))
    )
    return "\n".join(lines)


def interleaved() -> str:
    lines = plain17().split("\n")
    parts = ("\n".join(lines[n : n + 40]) + "\n" + LOG for n in range(0, len(lines), 40))
    return "".join(parts)


def visualvm() -> str:
    """The Java threads, as VisualVM writes them: no kernel ids, and short names of locks."""
    body = plain17()[: plain17().index("JNI global ref")]
    kept = [
        re.sub(r'^"(.*)" #(\d+) .*', r'"\1" - Thread t@\2', block, count=1, flags=re.MULTILINE)
        for block in re.split(r'\n(?=")', body)
        if not block.startswith('"') or re.match(r'".*" #\d', block)
    ]
    return re.sub(r"<0x0*([0-9a-f]+)>", r"<\1>", "\n".join(kept))


INPUTS: dict[str, tuple[Callable[[], bytes | str], int, int]] = {
    "plain17.txt": (plain17, 316, 1),
    "jstack25.txt": (jstack25, 315, 1),
    "kill3-jdk25.log": (lambda: LOG * 3 + jstack25() + LOG * 2, 315, 1),
    "dump_to_file25.json": (lambda: live("jdk25-dump-to-file.json"), 303, 1),
    "dump_to_file25.plain": (lambda: live("jdk25-dump-to-file.txt"), 303, 1),
    "catalina-around.txt": (
        lambda: LOG * 20 + plain17() + LOG * 20 + plain17() + LOG * 20,
        632,
        2,
    ),
    "interleaved.txt": (interleaved, 316, 1),
    "cri-prefix.txt": (
        lambda: with_prefixes(lambda n: f"2026-11-30T14:23:31.{n:09}Z stdout F "),
        316,
        1,
    ),
    "journald.txt": (
        lambda: with_prefixes(lambda n: f"Nov 30 14:23:{n % 60:02} app1 tomcat10[{4242}]: "),
        316,
        1,
    ),
    "compose-prefix.txt": (lambda: with_prefixes(lambda _: "web-1  | "), 316, 1),
    "docker-json.txt": (docker_json, 316, 1),
    "crlf.txt": (lambda: plain17().replace("\n", "\r\n"), 316, 1),
    "utf16.txt": (lambda: plain17().encode("utf-16"), 316, 1),
    "gz.txt.gz": (lambda: gzip.compress(plain17().encode(), 1), 316, 1),
    "no-banner.txt": (lambda: plain17()[plain17().index('\n"') + 1 :], 316, 1),
    "visualvm.txt": (visualvm, 308, 1),
    "nulls-in-name.txt": (
        lambda: re.sub(r'^"(\w)', '"\\1\0', plain17(), flags=re.MULTILINE),
        316,
        1,
    ),
}


@cache
def read(name: str) -> tuple[ThreadDump, ...]:
    given = INPUTS[name][0]()
    return thread_dumps(unpacked(given) if isinstance(given, bytes) else given, name)


@pytest.mark.parametrize("name", INPUTS)
def test_each_gives_its_threads_and_dumps(name: str) -> None:
    _, threads, dumps = INPUTS[name]
    found = read(name)

    assert (sum(len(dump.threads) for dump in found), len(found)) == (threads, dumps)


@pytest.mark.parametrize("name", INPUTS)
def test_names_in_the_deadlock_report_are_no_threads(name: str) -> None:
    found = read(name)
    told = set(chain.from_iterable(chain.from_iterable(dump.deadlocks) for dump in found))

    if not name.startswith(("dump_to_file", "visualvm")):  # which have no such report
        assert len(told) == 2
    for dump in found:
        names = [thread.name for thread in dump.threads]
        assert all(names.count(one) == 1 for one in told)
