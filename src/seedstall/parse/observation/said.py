"""What a text says of the machine and the program: releases, times that a program prints, seeders, benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from seedstall.parse.observation.seen import LONGEST, MOST, Seen, finds
from seedstall.parse.text import line_around, shown

_RAN_LINES: Final = 6

_RELEASE: Final = rb"(\d{1,2}\.\d{1,3}\.\d{1,3}[\w.+~\-]{0,60})"
_SYSTEM = re.compile(rb"Linux (?:version |[\w.\-]{1,64} )?" + _RELEASE + rb" (?=#\d|\()")
"""``uname -a``, ``/proc/version``, the first line of dmesg: each goes on with the build."""
_UNAME = re.compile(
    rb"uname -[a-z]{0,5}r[`'\")]{0,2}[ \t]*\n[ \t]*" + _RELEASE + rb"[ \t]*(?=\n|\Z)"
)
_SAID = re.compile(
    rb"ernel(?: release| version)?(?: is|:| =)? ?(?:Linux )?(\d{1,2}\.\d{1,3}\.\d{1,3}-[\w.+~\-]{1,60})"
)
_BOUNDARY = re.compile(
    rb"(?i)(?:before|until|since|from|after|fixed|than|newer|older|least|minimum|[<>]=?|\bto|\bin) ?(?:the |linux )*$"
)

_RAN = re.compile(rb"(?:[^\n$#%>]{0,60}[$#%>] ?|[ \t]*)(java(?: [^\n]{1,200})?)")
_TOOK = re.compile(rb"[ \t]*(\d{1,12}) ?ms[ \t]*")

_BENCH = re.compile(
    rb"average ?[=:] ?(?P<average>\d[\d.,]{0,20})|SPI=[\w.$]{1,100}?\.(?P<spi>\w{1,60})@"
    rb"|(?i:\b(?P<threads>single|\d{1,4})[ -]threads?\b)|\b(?P<name>NativePRNG|SHA1PRNG|AESCount\w{2,3}RNG|DRBG)\b"
)
_NANOSECONDS = re.compile(rb"\bns\b|nanosecond")


def threaded(data: bytes) -> Iterator[Seen]:
    """That this JVM had the threaded seeder: no stack is needed where its log says so.

    Tomcat names the thread that a stopped application leaves behind; ``-Djava.security.debug=provider`` the seeder.
    """
    for word in (b"[SeedGenerator Thread]", b"Using default threaded seed generator"):
        for at in finds(data, word):
            yield Seen(at, "threaded-seeder", text=shown(word).strip("[]"))


_NETTY = re.compile(
    rb"Failed to generate a seed from SecureRandom within (\d{1,4}) seconds?\. Not enough entr\w{2,6}y\?"
)


def netty(data: bytes) -> Iterator[Seen]:
    """Netty's warning, ``value`` its limit in seconds; before 4.0.36 the last word is misspelt ("entrophy")."""
    for at in finds(data, b"Failed to generate a seed from SecureRandom"):
        match = _NETTY.match(data, at)
        if match:
            yield Seen(at, "netty-seed-late", int(match[1]))


def releases(data: bytes) -> Iterator[Seen]:
    """The kernel that a text says its machine has."""
    for word, pattern in ((b"Linux ", _SYSTEM), (b"uname -", _UNAME), (b"ernel", _SAID)):
        for at in finds(data, word):
            match = pattern.match(data, at)
            before = data[max(0, at - 30) : at - 1]
            if match and not (pattern is _SAID and _BOUNDARY.search(before)):
                release = shown(match[1]).rstrip(".")
                yield Seen(match.start(1), "kernel-release", text=release)


def programs(data: bytes) -> Iterator[Seen]:
    """``210635 ms``, a line by itself within a few lines of a ``java`` command."""
    for at in finds(data, b" ms\n"):
        start, end = line_around(data, at, LONGEST)
        took = _TOOK.fullmatch(data, start, end)
        command = _command_above(data, start) if took else ""
        if took and command:
            yield Seen(start, "program-ms", ms=int(took[1]), text=command)


def _command_above(data: bytes, start: int) -> str:
    for _ in range(_RAN_LINES):
        if start <= 0:
            return ""
        above, end = line_around(data, start - 1, LONGEST)
        ran = _RAN.fullmatch(data, above, end)
        if ran:
            return shown(ran[1])
        start = above
    return ""


def benchmark(data: bytes) -> Iterator[Seen]:
    """Averages of generators by threads, in a text that measures NativePRNG (JENKINS-20108 is one)."""
    if b"NativePRNG" not in data or b"average" not in data or not _NANOSECONDS.search(data):
        return
    groups: dict[tuple[str, int], Seen] = {}
    name, threads = "", 0
    for event in _BENCH.finditer(data):
        if event["name"]:
            name = shown(event["name"])
        elif event["spi"]:
            name = "SHA1PRNG" if event["spi"] == b"SecureRandom" else shown(event["spi"])
        elif event["threads"]:
            threads = 1 if event["threads"].lower() == b"single" else int(event["threads"])
        elif name and threads and len(groups) < MOST:
            ms = round(int(re.sub(rb"\D", b"", event["average"])) / 1e6)
            group = groups.setdefault(
                (name, threads), Seen(event.start(), "prng-benchmark", threads, 0, name)
            )
            group.ms = max(group.ms or 0, ms)
    yield from groups.values()
