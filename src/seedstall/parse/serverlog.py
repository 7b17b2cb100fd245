"""What a server's log says of its start: Tomcat's seeding line, its start line, deployments, options picked up.

The sentences are translated and their numbers grouped by the locale; class and method never are. So lines are found by
these and the numbers by their form: digits, grouped by whatever a locale (or a wrong code page) put between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from seedstall.model.log import BeginLine, SeedingLine, ServerLog, Silence, StartLine
from seedstall.parse import serverstart, tomcatstart
from seedstall.parse.text import Input, Lines, Text, ends, line_around, plain, shown
from seedstall.parse.words import find, holds

_LONGEST: Final = 4000
_MOST: Final = 10_000
"""Lines of one kind kept: a log of years tells of more starts than a report needs."""
_MOST_DIGITS: Final = 15
_HEAD: Final = 1 << 20

# "SessionIdGenerator" (7.0.8 to 7.0.57) or "SessionIdGeneratorBase": Spring Boot and logback shorten what is before.
_SEEDER: Final = b"SessionIdGenerator"
_ENGLISH: Final = b"Creation of SecureRandom instance"
_OLDEST: Final = b"andom number generator"
"""Tomcat 6 to 7.0.11, at debug level, in a manager's own log line."""
_METHOD = re.compile(
    rb"SessionIdGenerator(?:Base)?(?:[. ]createSecureRandom\b(?!\()|[\]\s]*+[:\-\]|]|[ \t]+(?=Creation))"
)
_OLD = re.compile(
    rb"[Ss]eeding random number generator class ([\w.$]{1,100}) (\d[\d.,]{0,15})\s*$"
    rb"|random number generator for (?:session ID )?generation in (\d[\d.,]{0,15}) ?ms"
)
"""Tomcat 6 and 7.0.0 to 7.0.4; 7.0.5 to 7.0.11."""
_BRACKETED = re.compile(rb"\[([^\[\]\n]{0,64})\]")
_ESCAPED = re.compile(rb"\\u[0-9a-fA-F]{4}|&#?\w{1,8};")
"""A separator as JSON or HTML writes it: its digits are none of the number's."""
_GROUPED = re.compile(rb"\d{1,15}(?:[^\d\[\]]{1,8}\d{3})*+")
"""``386,690``, ``4.197``, ``3\u202f701``, ``1,693,533``, ``3?701``: one to eight bytes between the groups, since a
separator may be UTF-8, or UTF-8 taken for something else once more."""

_STARTED = re.compile(rb"Catalina[. ]start\b(?!\()|Server [sS]tartup in\b")
"""By class and method; or by the English sentence, where a log has neither."""
_PLAIN_COUNT = re.compile(rb"\bin (\d[\d.,]{0,15}) ?ms\b")
_DEPLOYED = re.compile(rb"HostConfig[. ]deploy(?:Directory|WAR|Descriptor)\b(?!\()")
_PICKED_UP = re.compile(rb"Picked up ([A-Z_0-9]{3,40}): ?([^\n]{0,4000})")
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
_TIME = re.compile(rb"\b\d\d:\d\d:\d\d\b")
_MOST_OTHERS: Final = 2_000
"""Times of day looked at of which none is in a logger's line: of another program's log, an access log."""
_VERSION = re.compile(rb"Apache Tomcat(?:/| Version )(\d+\.[\w.\-]{1,20})")


def server_log(data: Input, origin: str) -> ServerLog:
    """Read what *data* has of log lines; an empty `ServerLog` (no lines) where it has none. Never raises."""
    text = plain(data)
    lines = Lines(text)
    seeding = tuple(_seeding(text.data, lines, origin))
    begun = serverstart.begun(text.data)
    starts = _starts(text.data, lines, origin, begun)
    begins = tuple(serverstart.begins(text.data, lines, origin, begun))
    deployments = tuple(_timed(text.data, lines, origin, _DEPLOYED, b"HostConfig"))
    picked_up = tuple(_picked_up(text.data, lines, origin))
    told = tomcatstart.last_start(text.data)
    last = _last_line(text, origin)
    product, version = _product(text.data)
    product = product or next((start.product for start in starts if start.product), "")
    product = product or ("Tomcat" if seeding or starts or deployments else "")
    held = bool(seeding or starts or deployments or picked_up or told or last or begins)
    return ServerLog(
        seeding,
        starts,
        product if held else "",
        text.data.count(b"\n") + 1 if held else 0,
        last,
        picked_up,
        deployments,
        tuple((value, origin, lines.number(line - 1)) for value, line in told.options)
        if told
        else (),
        told.jvm_version if told else "",
        told.os_release if told and told.on_linux else "",
        version,
        begins,
        tuple(_silences(text.data, lines, origin, begins, starts)),
    )


class Silences:
    """The silences of a start that goes through several parts of a long log, which no part has by itself."""

    def __init__(self, origin: str) -> None:
        """Begin before the first part."""
        self._origin = origin
        self._last: serverstart.Edge | None = None
        self._looked = -1
        """Bytes looked at of a start that goes on; -1 while none does."""
        self.found: list[Silence] = []

    def part(self, text: Text, log: ServerLog) -> None:
        """Take in the next part, and what it says as a log by itself."""
        first, last = serverstart.edges(text)
        told = [serverstart.between(self._origin, self._last, first)]
        runs = log.last_runs()
        if runs:
            self._looked = 0 if runs[-1].start is None else -1
        elif 0 <= self._looked < serverstart.REGION:
            data = text.data
            told.append(serverstart.silence(data, Lines(text), self._origin, 0, len(data)))
            self._looked += len(data)
        self.found += filter(None, told)
        self._last = last or self._last


def _starts(
    data: bytes, lines: Lines, origin: str, begun: list[serverstart.Told]
) -> tuple[StartLine, ...]:
    """The lines that end a start: Tomcat's, in any language, and other servers'.

    A Spring Boot or Jetty inside which a Tomcat or another server starts has one start, which its own line ends.
    """
    tomcat = _timed(data, lines, origin, _STARTED, b"Catalina", b"tartup in ")
    both = (*tomcat, *serverstart.ends(data, lines, origin, begun))
    return tuple(sorted(both, key=lambda start: start.line))


def _silences(
    data: bytes,
    lines: Lines,
    origin: str,
    begins: tuple[BeginLine, ...],
    starts: tuple[StartLine, ...],
) -> Iterator[Silence]:
    """The longest silence of the last start."""
    log = ServerLog(starts=starts, begins=begins)
    for run in log.last_runs():
        done = [start.line for start in starts if start is not run.start]
        first = run.begin.line if run.begin is not None else max(done, default=0) + 1
        last = run.start.line if run.start is not None else None
        start, end = _offsets(data, lines, first, last)
        found = serverstart.silence(data, lines, origin, start, end)
        if found is not None:
            yield found


def _offsets(data: bytes, lines: Lines, first: int, last: int | None) -> tuple[int, int]:
    """Where line *first* begins and line *last* ends (the text, where it is not given)."""
    start = lines.offset(first)
    if last is None:
        return start, len(data)
    end = data.find(b"\n", lines.offset(last))
    return start, len(data) if end < 0 else end


def milliseconds(figure: bytes) -> int | None:
    """The number in *figure*, whatever groups its digits; ``None`` where it is none."""
    figure = _ESCAPED.sub(b" ", figure)
    if _GROUPED.fullmatch(figure.strip()) is None:
        return None
    digits = re.sub(rb"\D", b"", figure)
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def _seeding(data: bytes, lines: Lines, origin: str) -> Iterator[SeedingLine]:
    done = -1
    count = 0
    oldest = (_OLDEST,) if b"org.apache.catalina" in ends(data) else ()
    for at in _places(data, (_SEEDER, _ENGLISH, *oldest)):
        if at < done or count >= _MOST:
            continue
        start, end = line_around(data, at, _LONGEST)
        found = _METHOD.search(data, start, end)
        message = found.end() if found else data.find(_ENGLISH, start, end)
        message = message if found or message >= 0 else at
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
    following = {word: find(data, word) for word in words}
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
    old = _OLD.search(message)
    if old:
        return milliseconds(old[2] or old[3]), shown(old[1] or b"").rpartition(".")[2]
    for bracketed in _BRACKETED.findall(message.replace(b"\n", b"")):
        number = milliseconds(bracketed)
        if number is None:
            algorithm = algorithm or shown(bracketed).strip()
        elif took is None:
            took = number
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
    if not holds(data, b"Picked up "):
        return
    for count, match in enumerate(_PICKED_UP.finditer(data)):
        if count >= _MOST:
            return
        yield shown(match[1]), shown(match[2]).strip(), origin, lines.at(match.start())


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
    others = 0
    while end > 0 and others < _MOST_OTHERS:
        start = max(0, end - (64 << 10))
        start = data.rfind(b"\n", max(0, start - _LONGEST), start) + 1 if start else 0
        matches = list(_LOG_LINE.finditer(data, start, end))
        if matches:
            last = matches[-1]
            return origin, Lines(text).at(last.start()), _flat(last[0])
        others += sum(1 for _ in _TIME.finditer(data, start, end))
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
