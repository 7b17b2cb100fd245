"""What a server's log says of its start: Tomcat's seeding line, its start line, deployments, options picked up.

The sentences are translated and their numbers grouped by the locale; class and method never are. So lines are found by
these and the numbers by their form: digits, grouped by whatever a locale (or a wrong code page) put between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from seedstall.model.log import SeedingLine, ServerLog, StartLine
from seedstall.parse.text import Input, Lines, Text, line_around, plain, shown

_LONGEST: Final = 4000
_MOST: Final = 10_000
"""Lines of one kind kept: a log of years tells of more starts than a report needs."""
_MOST_TOLD: Final = 1000
_MOST_DIGITS: Final = 15
_HEAD: Final = 1 << 20

# "SessionIdGenerator" (7.0.8 to 7.0.57) or "SessionIdGeneratorBase": Spring Boot and logback shorten what is before.
_SEEDER: Final = b"SessionIdGenerator"
_ENGLISH: Final = b"Creation of SecureRandom instance"
_METHOD = re.compile(
    rb"SessionIdGenerator(?:Base)?(?:[. ]createSecureRandom\b(?!\()|[\]\s]*+[:\-\]|]|[ \t]+(?=Creation))"
)
_BRACKETED = re.compile(rb"\[([^\[\]\n]{0,64})\]")
_GROUPED = re.compile(rb"\d{1,15}(?:[^\d\[\]]{1,8}\d{3})*+")
"""``386,690``, ``4.197``, ``3\u202f701``, ``1,693,533``, ``3?701``: one to eight bytes between the groups, since a
separator may be UTF-8, or UTF-8 taken for something else once more."""

_STARTED = re.compile(rb"Catalina[. ]start\b(?!\()|Server [sS]tartup in\b")
"""By class and method; or by the English sentence, where a log has neither."""
_PLAIN_COUNT = re.compile(rb"\bin (\d[\d.,]{0,15}) ?ms\b")
_DEPLOYED = re.compile(rb"HostConfig[. ]deploy(?:Directory|WAR|Descriptor)\b(?!\()")
_PICKED_UP = re.compile(rb"Picked up ([A-Z_0-9]{3,40}): ?([^\n]{0,4000})")
_TOLD = re.compile(rb"VersionLoggerListener[. ]log\b(?!\()\s*")
_LABEL = re.compile(r"\s*[:\uff1a]\s+")
_STAMP = re.compile(
    rb"[^\n]{0,60}?\d{1,2}[:.]\d\d[:.]\d\d(?:[.,]\d{1,9})?(?:\s?[AaPp]\.?[Mm]\.?\b|Z|[+-]\d\d:?\d\d)?"
)
_THREAD = re.compile(rb"\[\s*([^\[\]\n]{1,200}?)\s*\](?=[^\[\]]*+\Z)")
_LOG_LINE = re.compile(
    rb"^[^\n]{0,40}?\b\d{1,2}:\d\d:\d\d\b(?=[^\n]{0,300}?(?:"
    rb"\b(?:TRACE|FINE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|FATAL)\b|\b[a-z]\w{0,60}\.[\w.]{1,200}\.[A-Z]))[^\n]*$",
    re.MULTILINE,
)
"""A time, and a level or a Java class: what a logger writes, and no mail, trace or uptime."""
_VERSION = re.compile(rb"Apache Tomcat(?:/| Version )(\d+\.[\w.\-]{1,20})")


def server_log(data: Input, origin: str) -> ServerLog:
    """Read what *data* has of log lines; an empty `ServerLog` (no lines) where it has none. Never raises."""
    text = plain(data)
    lines = Lines(text)
    seeding = tuple(_seeding(text.data, lines, origin))
    starts = tuple(_timed(text.data, lines, origin, _STARTED, b"Catalina", b"tartup in "))
    deployments = tuple(_timed(text.data, lines, origin, _DEPLOYED, b"HostConfig"))
    picked_up = tuple(_picked_up(text.data, lines, origin))
    told = _told(text.data, lines)
    last = _last_line(text, origin)
    product, version = _product(text.data)
    product = product or ("Tomcat" if seeding or starts or deployments else "")
    held = bool(seeding or starts or deployments or picked_up or told or last)
    return ServerLog(
        seeding,
        starts,
        product if held else "",
        text.data.count(b"\n") + 1 if held else 0,
        last,
        picked_up,
        deployments,
        tuple((value, origin, line) for _, value, line in told if value.startswith("-")),
        _jvm_version(told),
        _os_release(told),
        version,
    )


def milliseconds(figure: bytes) -> int | None:
    """The number in *figure*, whatever groups its digits; ``None`` where it is none."""
    if _GROUPED.fullmatch(figure.strip()) is None:
        return None
    digits = re.sub(rb"\D", b"", figure)
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def _seeding(data: bytes, lines: Lines, origin: str) -> Iterator[SeedingLine]:
    done = -1
    count = 0
    for at in _places(data, (_SEEDER, _ENGLISH)):
        if at < done or count >= _MOST:
            continue
        start, end = line_around(data, at, _LONGEST)
        found = _METHOD.search(data, start, end)
        message = found.end() if found else data.find(_ENGLISH, start, end)
        done = end
        if message < 0:
            continue
        stop = _message_end(data, message, end)
        took, algorithm = _figures(data[message:stop])
        if took is None:
            continue
        count += 1
        done = stop
        before = data[start : found.start() if found else message]
        yield SeedingLine(
            origin,
            lines.at(start),
            took,
            algorithm,
            _thread(before),
            _stamp(before),
            _flat(data[start:stop]),
        )


def _places(data: bytes, words: tuple[bytes, ...]) -> Iterator[int]:
    """Where any of *words* stands, in order."""
    following = {word: data.find(word) for word in words}
    while True:
        ahead = [(at, word) for word, at in following.items() if at >= 0]
        if not ahead:
            return
        at, word = min(ahead)
        yield at
        following[word] = data.find(word, at + len(word))


def _message_end(data: bytes, message: int, end: int) -> int:
    """The end of the sentence: of the next line, where this one ends with the method (two-line format) or in a [."""
    rest = data[message:end]
    open_bracket = rest.rfind(b"[") > rest.rfind(b"]")
    if rest.strip() and not open_bracket:
        return end
    below = data.find(b"\n", end + 1, end + 1 + _LONGEST)
    return min(len(data), end + _LONGEST) if below < 0 else below


def _figures(message: bytes) -> tuple[int | None, str]:
    """Milliseconds and algorithm, told apart by form.

    Japanese has them the other way round, and for a while (9.0.15 to 9.0.34) the milliseconds twice.
    """
    took: int | None = None
    algorithm = ""
    if b"andom" not in message:
        return None, ""  # every translation keeps the class's name
    for bracketed in _BRACKETED.findall(message.replace(b"\n", b"")):
        number = milliseconds(bracketed)
        if number is None:
            algorithm = algorithm or shown(bracketed).strip()
        elif took is None:
            took = number
    if took is None and b"random number generator" in message:
        # 7.0.5 to 7.0.11, at debug level: "Created random number generator for session ID generation in 5,176ms."
        old = re.search(rb"generation in (\d[\d.,]{0,15})ms", message)
        took = milliseconds(old[1]) if old else None
    return took, algorithm


def _timed(
    data: bytes, lines: Lines, origin: str, pattern: re.Pattern[bytes], *words: bytes
) -> Iterator[StartLine]:
    """Lines that *pattern* finds around *words*, with the last number in them as milliseconds."""
    done = -1
    count = 0
    for at in _places(data, words):
        if at < done or count >= _MOST:
            continue
        start, end = line_around(data, at, _LONGEST)
        done = end
        found = pattern.search(data, start, end)
        if found is None:
            continue
        stop = _message_end(data, found.end(), end)
        # From the sentence's own "in" on: "Server startup in 410675 ms".
        took = _last_count(b"in" + data[found.end() : stop])
        if took is None:
            continue
        done = stop
        count += 1
        stamp = _stamp(data[start : found.start()])
        yield StartLine(origin, lines.at(start), took, _flat(data[start:stop]), stamp)


def _last_count(message: bytes) -> int | None:
    bracketed = [milliseconds(figure) for figure in _BRACKETED.findall(message)]
    counts = [number for number in bracketed if number is not None]
    if not counts:
        found = _PLAIN_COUNT.search(message)
        return milliseconds(found[1]) if found else None
    return counts[-1]


def _picked_up(data: bytes, lines: Lines, origin: str) -> Iterator[tuple[str, str, str, int]]:
    for count, match in enumerate(_PICKED_UP.finditer(data)):
        if count >= _MOST:
            return
        yield shown(match[1]), shown(match[2]).strip(), origin, lines.at(match.start())


def _told(data: bytes, lines: Lines) -> list[tuple[str, str, int]]:
    """Label, value and line of what Tomcat's `VersionLoggerListener` tells, of the last start in the log."""
    told: list[tuple[str, str, int]] = []
    for at in _places(data, (b"VersionLoggerListener",)):
        start, end = line_around(data, at, _LONGEST)
        match = _TOLD.match(data, at, end)
        if match is None:
            continue
        label, *value = _LABEL.split(shown(data[match.end() : end]), maxsplit=1)
        if value and value[0].startswith("Apache Tomcat/"):
            told.clear()
        if value and len(told) < _MOST_TOLD:
            told.append((label.strip(), value[0].strip(), lines.at(start)))
    return told


def _jvm_version(told: list[tuple[str, str, int]]) -> str:
    """The value below ``Java Home``, a label that no language translates: ``17.0.15+6-Debian-1deb12u1``."""
    for (label, _, _), (_, value, _) in pairwise(told):
        if label.lower().startswith("java home"):
            return value
    return ""


def _os_release(told: list[tuple[str, str, int]]) -> str:
    """The value below the operating system's name where that is Linux: its kernel's release."""
    for (_, name, _), (_, value, _) in pairwise(told):
        if name == "Linux":
            return value
    return ""


def _product(data: bytes) -> tuple[str, str]:
    """The product and its version, from the start of the log."""
    head = data[:_HEAD]
    version = _VERSION.search(head)
    boot = b":: Spring Boot ::" in head
    if version or boot:
        return ("Spring Boot" if boot else "Tomcat"), shown(
            version[1]
        ) if version and not boot else ""
    return ("Tomcat" if b" org.apache.catalina." in head else ""), ""


def _last_line(text: Text, origin: str) -> tuple[str, int, str] | None:
    """The last line that a logger wrote: with a time and something after it. A dump's own time line is none."""
    data = text.data
    end = len(data)
    while end > 0:
        start = max(0, end - (64 << 10))
        start = data.rfind(b"\n", max(0, start - _LONGEST), start) + 1 if start else 0
        matches = list(_LOG_LINE.finditer(data, start, end))
        if matches:
            last = matches[-1]
            return origin, Lines(text).at(last.start()), _flat(last[0])
        end = start
    return None


def _thread(before: bytes) -> str:
    """The thread's name: what stands in brackets last before the class."""
    match = _THREAD.search(before[-400:])
    name = shown(match[1]) if match else ""
    return "" if name.startswith("org.apache.") else name


def _stamp(before: bytes) -> str:
    match = _STAMP.match(before[:120])
    # What stands before it in brackets or quotes is JSON, or a bracket of its own.
    return re.split(r"[\[{\"]", shown(match[0]))[-1].strip() if match else ""


def _flat(data: bytes) -> str:
    return shown(data[:_LONGEST]).strip().replace("\n", " ")
