"""Where a server's start begins and ends in its log, product by product, and the longest silence in it.

Tomcat's own end line is translated and read in `serverlog`. What others print is English in every locale; a line is
told by its message id, or by the words around the figure. Where a server prints no figure (WebLogic, Jenkins, Kafka,
ZooKeeper, Elasticsearch) the two lines' own times give it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from seedstall.model.log import BeginLine, Silence, StartLine
from seedstall.parse.text import Lines, Text, line_around, shown
from seedstall.parse.text import ends as text_ends
from seedstall.parse.words import find

_LONGEST: Final = 4000
_MOST: Final = 10_000
REGION: Final = 32 << 20
"""Bytes of one start in which silences are looked for."""
_SHORT: Final = 4 << 20
_NEAR_EDGE: Final = 64 << 10
_HALF_DAY: Final = 12 * 3600 * 1000
_SHOWN: Final = 300
_CLOCK_MS: Final = 60_000
"""Lines may be this much out of order; clocks of two zones are further apart."""


class Told(NamedTuple):
    """A line of a start: ``ms`` where it ends one and says how long it took, ``kind`` where it begins one."""

    offset: int
    product: str
    kind: str
    ends: bool
    ms: int | None = None


class _Sign(NamedTuple):
    """What to look for: a word that is quick to find, the pattern around it, and the group that holds the time."""

    product: str
    word: bytes
    pattern: re.Pattern[bytes]
    unit_ms: int = 0
    """Milliseconds in one of the figure's unit; 0 where the line has no figure."""


@cache
def _ready() -> tuple[_Sign, ...]:
    return (
        _Sign(
            "Spring Boot",
            b" running for ",
            re.compile(
                rb"Started [\w$.\-]{1,200} in [\d.,]{1,15} seconds \((?:JVM|process) running for ([\d.,]{1,15})\)"
            ),
            1000,
        ),
        _Sign(
            "Jetty",
            b"Started ",
            re.compile(
                rb"Started (?:[\w.]{0,60}Server@\w{1,16}\{[^{}\n]{0,60}\}\[[^\[\]\n]{0,100}\] )?@(\d{1,12})ms"
            ),
            1,
        ),
        _Sign(
            "WildFly",
            b"WFLYSRV002",
            re.compile(
                rb"WFLYSRV002[56]:? [^\n]{1,200}? started (?:\([^()\n]{1,40}\) )?in (\d{1,12})ms"
            ),
            1,
        ),
        _Sign(
            "JBoss",
            b"JBAS01587",
            re.compile(
                rb"JBAS01587[45]:? [^\n]{1,200}? started (?:\([^()\n]{1,40}\) )?in (\d{1,12})ms"
            ),
            1,
        ),
        _Sign(
            "WebLogic", b"state changed to RUNNING", re.compile(rb"Server state changed to RUNNING")
        ),
        _Sign("Jenkins", b"Jenkins is fully up", re.compile(rb"Jenkins is fully up and running")),
        _Sign(
            "Kafka",
            b"started (kafka.server.",
            re.compile(
                rb"(?:\[Kafka\w{0,10}Server (?:id|nodeId)=\d{1,10}\]|Kafka Server) started \(kafka"
            ),
        ),
        _Sign(
            "ZooKeeper",
            b"binding to port",
            re.compile(rb"(?:NIO|Netty)ServerCnxnFactory[^\n]{0,80} - binding to port"),
        ),
        _Sign(
            "Elasticsearch",
            b"started",
            re.compile(rb"\[o\.[eo]\.n\.Node *\] \[[^\[\]\n]{1,100}\] started\b"),
        ),
        _Sign(
            "Quarkus",
            b"(powered by Quarkus ",
            re.compile(rb"\(powered by Quarkus [^()\n]{1,60}\) started in ([\d.,]{1,15})s\b"),
            1000,
        ),
        _Sign(
            "Liberty",
            b"CWWKF0011I",
            re.compile(rb"CWWKF0011I: [^\n]{1,300}? started in ([\d.,]{1,15}) seconds"),
            1000,
        ),
        _Sign(
            "Payara",
            b"startup time : ",
            re.compile(rb"startup time : [^\n]{0,200}?total ?\(([\d.,]{1,15}) ?ms\)"),
            1,
        ),
        _Sign(
            "Micronaut",
            b"Startup completed in ",
            re.compile(rb"Startup completed in (\d{1,12})ms\b"),
            1,
        ),
    )


@cache
def _begun() -> tuple[_Sign, ...]:
    return (
        _Sign(
            "Tomcat",
            b"Apache Tomcat/",
            re.compile(rb"VersionLoggerListener[. ]log\b[^\n]{0,60}\n?[^\n]{0,60}Apache Tomcat/"),
        ),
        _Sign(
            "Tomcat",
            b"Catalina",
            re.compile(
                rb"Catalina[. ]load\b[ \t]*+\n?[^\n]{0,200}?[\[ ]\d[\d.,\xa0\xc2\xe2\x80\xaf ]{0,15}(?:\]| ?ms)"
            ),
        ),
        _Sign("Spring Boot", b":: Spring Boot ::", re.compile(rb":: Spring Boot ::")),
        _Sign(
            "Jetty",
            b"jetty-",
            re.compile(rb"\bjetty-\d{1,3}\.\d{1,3}\.[\w.\-]{1,40}(?:; built|$)", re.MULTILINE),
        ),
        _Sign("WildFly", b"WFLYSRV0049", re.compile(rb"WFLYSRV0049")),
        _Sign("JBoss", b"JBAS015899", re.compile(rb"JBAS015899")),
        _Sign(
            "WebLogic",
            b"state changed to STARTING",
            re.compile(rb"Server state changed to STARTING"),
        ),
        _Sign(
            "Jenkins",
            b"Running from: ",
            re.compile(rb"Running from: [^\n]{0,300}jenkins[^\n]{0,40}\.war"),
        ),
        _Sign("Kafka", b"starting (kafka.server.", re.compile(rb"starting \(kafka\.server\.")),
        _Sign(
            "ZooKeeper",
            b"Reading configuration from",
            re.compile(rb"QuorumPeerConfig[^\n]{0,80}Reading configuration"),
        ),
        _Sign(
            "Elasticsearch",
            b"initializing ...",
            re.compile(rb"\[o\.[eo]\.n\.Node *\] \[[^\[\]\n]{1,100}\] initializing"),
        ),
    )


def begun(data: bytes) -> list[Told]:
    """The lines that begin a start, in order."""
    return sorted(_signs(data, _begun(), ends=False))


def begins(data: bytes, lines: Lines, origin: str, found: Sequence[Told]) -> Iterator[BeginLine]:
    """The same with their places in the input."""
    for told in found:
        start, end = line_around(data, told.offset, _LONGEST)
        text = shown(data[start:end])[:_SHOWN].strip()
        yield BeginLine(origin, lines.at(told.offset), told.product, told.kind, text)


def ends(data: bytes, lines: Lines, origin: str, found: Sequence[Told]) -> Iterator[StartLine]:
    """The lines that end the start of a server other than Tomcat, in order; ``took_ms`` 0 where none is told."""
    for told in sorted(_signs(data, _ready(), ends=True)):
        start, end = line_around(data, told.offset, _LONGEST)
        took = told.ms if told.ms is not None else _between(data, found, told)
        text = shown(data[start:end])[:_LONGEST].strip()
        yield StartLine(origin, lines.at(told.offset), took, text, product=told.product)


_MARKS: Final = {
    "Tomcat": (b"catalina",),
    "Spring Boot": (b"pring",),
    "Jetty": (b"jetty", b"Jetty"),
    "WildFly": (b"WFLY", b"wildfly"),
    "JBoss": (b"JBAS", b"jboss"),
    "WebLogic": (b"<BEA-", b"weblogic", b"WebLogic"),
    "Jenkins": (b"enkins", b"hudson"),
    "Kafka": (b"kafka",),
    "ZooKeeper": (b"ookeeper",),
    "Elasticsearch": (b"[o.e.", b"[o.o.", b"lasticsearch"),
    "Quarkus": (b"uarkus",),
    "Liberty": (b"CWWK",),
    "Payara": (b"ayara", b"lassfish", b"lassFish"),
    "Micronaut": (b"icronaut",),
}
"""What a log of each product has in nearly every part of it, as the names of its loggers."""


def _signs(data: bytes, signs: Sequence[_Sign], *, ends: bool) -> Iterator[Told]:
    """The lines of *signs*. A long text is searched only for products whose marks stand near one of its ends."""
    sample = text_ends(data)
    for sign in signs:
        if len(data) > _SHORT and not any(mark in sample for mark in _MARKS[sign.product]):
            continue
        at = find(data, sign.word)
        for _ in range(_MOST):
            if at < 0:
                break
            start, end = line_around(data, at, _LONGEST)
            match = sign.pattern.search(data, start, min(len(data), end + _SHOWN))
            if match and match.start() <= end:
                ms = _figure(match[1], sign.unit_ms) if sign.unit_ms else None
                yield Told(match.start(), sign.product, sign.word.decode(), ends, ms)
            at = data.find(sign.word, max(at + 1, end))


def _figure(text: bytes, unit_ms: int) -> int | None:
    """``12.345`` or, as some locales have it, ``12,345`` seconds; ``5,801`` milliseconds."""
    if unit_ms == 1:
        digits = re.sub(rb"\D", b"", text)
        return int(digits) if digits else None
    try:
        return round(float(text.replace(b",", b".")) * unit_ms)
    except ValueError:
        return None


def _between(data: bytes, begun: Sequence[Told], end: Told) -> int:
    """Milliseconds from the last beginning of the same product to *end*, by the lines' own times; 0 where not told."""
    before = [told for told in begun if told.offset < end.offset and told.product == end.product]
    if not before:
        return 0
    first, last = _clock(data, before[-1].offset), _clock(data, end.offset)
    return passed_ms(first, last) if first is not None and last is not None else 0


# --- silences


@cache
def _stamped() -> re.Pattern[bytes]:
    """A log line's time of day, near its start."""
    return re.compile(
        rb"^[^\n]{0,60}?(?<![\d:.])(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?![\d:])(?:[ \xa0]?([AaPp])\.?[Mm]\b)?",
        re.MULTILINE,
    )


def _clock(data: bytes, offset: int) -> int | None:
    start, end = line_around(data, offset, _LONGEST)
    match = _stamped().match(data, start, end)
    if match is None and start:
        above, eol = line_around(data, start - 1, _LONGEST)  # the two-line format
        match = _stamped().match(data, above, eol)
    return _milliseconds(match) if match else None


def time_of_day(line: str) -> int | None:
    """The time that a log line tells near its start, in milliseconds since midnight; ``None`` where it tells none."""
    match = _stamped().match(line[:200].encode("utf-8", "replace"))
    return _milliseconds(match) if match else None


def _milliseconds(match: re.Match[bytes]) -> int:
    hours, minutes, seconds, fraction, half = match.groups()
    hour = int(hours)
    if half is not None:
        hour = hour % 12 + (12 if half in b"pP" else 0)
    ms = int((fraction or b"0")[:3].ljust(3, b"0"))
    return (hour * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + ms


def passed_ms(first: int, last: int) -> int:
    """From one time of day to a later one: past midnight, or past noon where no half of the day is told.

    0 where the later line has the earlier time otherwise: lines out of order, or of two clocks.
    """
    passed = last - first
    if passed < -_HALF_DAY:
        return passed + 2 * _HALF_DAY
    if passed < -_HALF_DAY // 2 and max(first, last) < _HALF_DAY + 3_600_000:
        return passed + _HALF_DAY
    return max(passed, 0)


def silence(data: bytes, lines: Lines, origin: str, start: int, end: int) -> Silence | None:
    """The longest time between two log lines in a row from offset *start* to *end*; ``None`` where none has a time."""
    jumps = list(_jumps(data, start, min(end, start + REGION)))
    # Where lines of two clocks stand among each other (a container's UTC, its host's zone), the way there is as long
    # as the way back, and neither is a silence.
    back = sorted({-jump.passed for jump in jumps if jump.passed < -_CLOCK_MS})
    longest = max(
        (jump for jump in jumps if jump.passed > 0 and not _is_near(jump.passed, back)),
        key=lambda jump: jump.passed,
        default=None,
    )
    if longest is None:
        return None
    return Silence(
        origin,
        lines.at(longest.before),
        lines.at(longest.after),
        longest.passed,
        _line(data, longest.before),
        _line(data, longest.after),
    )


class Edge(NamedTuple):
    """The first or the last line with a time in a part of a log: time of day, number, text."""

    ms: int
    line: int
    text: str


def edges(text: Text) -> tuple[Edge | None, Edge | None]:
    """The first and the last line of a part that have a time, as far as they stand near its ends."""
    data, lines = text.data, Lines(text)
    first = _stamped().search(data, 0, _NEAR_EDGE)
    below = data.rfind(b"\n", 0, max(0, len(data) - _NEAR_EDGE)) + 1
    (last,) = deque(_stamped().finditer(data, below), maxlen=1) or (None,)
    return _edge(first, lines), _edge(last, lines)


def _edge(match: re.Match[bytes] | None, lines: Lines) -> Edge | None:
    if match is None:
        return None
    at = match.start()
    return Edge(_milliseconds(match), lines.at(at), _line(match.string, at))


def between(origin: str, before: Edge | None, after: Edge | None) -> Silence | None:
    """The silence from the end of one part of a log to the start of the next; ``None`` where there is none."""
    passed = passed_ms(before.ms, after.ms) if before is not None and after is not None else 0
    if before is None or after is None or not passed:
        return None
    return Silence(origin, before.line, after.line, passed, before.text, after.text)


class _Jump(NamedTuple):
    """From the line at ``before`` to the next one with a time: ``passed`` is below 0 where that is earlier."""

    passed: int
    before: int
    after: int


def _jumps(data: bytes, start: int, end: int) -> Iterator[_Jump]:
    """The steps that are longer than those before them, every long one, and every one from one clock to another."""
    before: tuple[int, int] | None = None
    longest = 0
    for match in _stamped().finditer(data, start, end):
        now = _milliseconds(match)
        if before is not None:
            at, offset = before
            passed = passed_ms(at, now) if now < at else now - at
            if now < at and not passed:
                if at - now <= _CLOCK_MS:
                    before = at, match.start()  # written late, by a thread that was kept waiting
                    continue
                yield _Jump(now - at, offset, match.start())
            elif passed > longest:
                longest = passed if passed <= _CLOCK_MS else longest
                yield _Jump(passed, offset, match.start())
        before = now, match.start()


def _is_near(passed: int, back: Sequence[int]) -> bool:
    at = bisect_left(back, passed - _CLOCK_MS)
    return at < len(back) and back[at] <= passed + _CLOCK_MS


def _line(data: bytes, offset: int) -> str:
    start, end = line_around(data, offset, _LONGEST)
    text = shown(data[start:end]).strip()
    if len(text) < 80:  # noqa: PLR2004 - the two-line format has its message below the class
        below = data[end + 1 : end + 1 + _SHOWN].partition(b"\n")[0]
        text = f"{text} {shown(below).strip()}" if text and not _stamped().match(below) else text
    return text[:_SHOWN]
