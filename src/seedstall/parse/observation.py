"""Measurements that stand in mails, tickets and posts: ``dd`` of the device, entropy counts, strace, releases.

Nothing is inferred: each observation is a figure that the text gives for a machine, with its line. Advice ("256 means
a new kernel", "should be above 1000"), commands without their output and releases named as a boundary ("before 5.6.0")
are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Final

from seedstall.model.log import Observation, Observations
from seedstall.parse.text import Input, Lines, line_around, plain, shown

_LONGEST: Final = 2000
_MOST: Final = 1000
"""Observations of one kind kept."""
_ABOVE: Final = 300
_BELOW: Final = 1500
"""How far from the command of a `dd` its figures may stand, in bytes: below it, or right above (zsh's ``time``)."""
_MOST_BITS: Final = 1 << 16
_LISTED: Final = 50
"""Lines of numbers taken below one command (``while true; do cat entropy_avail; sleep 1; done``)."""
_RAN_LINES: Final = 6

_DD = re.compile(
    rb"(?<![\w.,])(\d{1,18}+)\s?[^\s\d(]{1,20}+(?: ?\([^()\n]{1,40}\)){0,2}+"
    rb"(?: [^\s\d,]{1,30}, | transferred in |[^\s\d,]{1,30}?\xef\xbc\x8c ?)"
    rb"([\d.,]{1,20}(?:e[+-]?\d{1,3})?) ?(?:s[a-z]{0,7}|\xe7\xa7\x92)(?:[,.]|\xef\xbc\x8c)?"
    rb"(?: ?\(?([\d.,]{1,15} ?[kKMGT]?i?[Bb](?:ytes)?/s(?:ec)?))?"
)
"""GNU, BusyBox and BSD; the words between the figures are translated, in Chinese with commas of its own."""
_DD_DEVICE = re.compile(rb"\bif=/dev/(u?random)\b")
_TABLE = re.compile(
    rb"/dev/(u?random)[ \t|:`]++(\d{1,9})(?:\.\d+)? ms[ \t|,:]++([\d.,]{1,15} ?[kKMG]i?B/s)"
)

# Words between the name and the figure, but no comparison, comment, command or other figure.
_SAYS = re.compile(
    rb"[`'\"*]?((?:[ \t]|[^\s\d#$()|;&<>%/\[\]{}]){0,60}?)(?<![\w.,\-])(\d{1,6})(?![\w%]|[.,]\d| *=)"
)
_ADVICE = re.compile(
    rb"(?i)\b(?:if|when|whenever|unless|until|should|must|ought|needs?|ensure|make sure|recommend\w*|threshold"
    rb"|always|typically)\b"
)
_NUMBER_LINE = re.compile(rb"[ \t]*(\d{1,6})[ \t]*")

_OPENED = re.compile(
    rb"open(?:at)?\((?:[^,()\n]{1,200}[, ] ?)?\"(/dev/u?random)\"[^\n]{0,100}?\) *= *(\d{1,7})\b"
)
_READ = re.compile(rb"(?<![\w.])read\((\d{1,7})(?:<([^<>\n]{1,200})>)?,")
_CLOSED = re.compile(rb"(?<![\w.])close\((\d{1,7})(?:<[^<>\n]{0,200}>)?\) *= *0\b")
_RESUMED = re.compile(rb"<\.\.\. read resumed>")
_RETURNED = re.compile(rb"\) *= *(-?\d{1,10})\b[^\n<]{0,80}(?:<(\d{1,9}(?:\.\d{1,9})?)>)?\s*$")
_PID = re.compile(rb"\s*(?:\[pid +(\d{1,10})\]|(\d{1,10})\s)")

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


@dataclass(slots=True)
class _Seen:
    """An observation by its offset, before lines are counted."""

    offset: int
    kind: str
    value: int | None = None
    ms: int | None = None
    text: str = ""


def observations(data: Input, origin: str) -> Observations:
    """Find the measurements in *data*, in its order; empty where there are none. Never raises."""
    text = plain(data)
    of_devices = (_dd, _tables, _traced) if b"/dev/" in text.data else ()
    kinds = (*of_devices, _counts, _threaded, _releases, _programs, _benchmark)
    found = sorted((seen for kind in kinds for seen in kind(text.data)), key=lambda s: s.offset)
    lines = Lines(text)
    return Observations(
        tuple(
            Observation(
                seen.kind,
                origin,
                lines.at(seen.offset),
                _excerpt(text.data, seen.offset),
                seen.value,
                seen.ms,
                seen.text,
            )
            for seen in found
        )
    )


def _excerpt(data: bytes, offset: int) -> str:
    start, end = line_around(data, offset, _LONGEST)
    return shown(data[start:end]).strip()


def _finds(data: bytes, word: bytes) -> Iterator[int]:
    at = data.find(word)
    for _ in range(_MOST):
        if at < 0:
            return
        yield at
        at = data.find(word, at + len(word))


def _dd(data: bytes) -> Iterator[_Seen]:
    """``6 bytes (6 B) copied, 115.772 s, 0.0 kB/s``, with the device that its command names nearby."""
    done = 0
    for command in _finds(data, b"if=/dev/"):
        for figure in _DD.finditer(data, max(done, command - _ABOVE), command + _BELOW):
            done = figure.end()
            device = _device(data, figure)
            ms = _milliseconds(figure[2])
            if device and ms is not None:
                rate = shown(figure[3]) if figure[3] else ""
                yield _Seen(figure.start(), f"dd-{device}", int(figure[1]), ms, rate)


def _device(data: bytes, figure: re.Match[bytes]) -> str:
    """Which device these figures are of: the one whose command stands in the next line (zsh), or last above."""
    eol = data.find(b"\n", figure.end(), figure.end() + _LONGEST)
    below = data[eol + 1 : eol + 1 + _ABOVE].partition(b"\n")[0] if eol >= 0 else b""
    named = _DD_DEVICE.search(below) if b" system" in below or b" cpu" in below else None
    if named is None:
        above = data[max(0, figure.start() - _BELOW) : figure.start()]
        # Any device's command, so that figures of another one are not taken for these.
        last = above.rfind(b"if=")
        named = _DD_DEVICE.search(above, max(last - 1, 0)) if last >= 0 else None
    return shown(named[1]) if named else ""


def _milliseconds(figure: bytes) -> int | None:
    """A figure in seconds, with a point or, as some locales print it, a comma."""
    try:
        return round(float(figure.replace(b",", b".")) * 1000)
    except (ValueError, OverflowError):
        return None


def _tables(data: bytes) -> Iterator[_Seen]:
    """``/dev/random 138 ms 782 MB/s``: a row that gives time and rate."""
    for word in (b"/dev/random", b"/dev/urandom"):
        for at in _finds(data, word):
            row = _TABLE.match(data, at)
            if row and not data[line_around(data, at)[0] : at].strip(b" \t|*`-"):
                yield _Seen(at, f"dd-{shown(row[1])}", None, int(row[2]), shown(row[3]))


def _counts(data: bytes) -> Iterator[_Seen]:
    """Entropy counts and pool sizes, as ``cat`` and ``sysctl`` print them or a sentence gives them."""
    for word, kind in (
        (b"entropy_avail", "entropy-avail"),
        (b"poolsize", "poolsize"),
    ):
        for at in _finds(data, word):
            if kind == "poolsize" and data[at - 7 : at] not in (b"random/", b"random."):
                continue  # a thread pool's
            start, end = line_around(data, at, _LONGEST)
            after = at + len(word)
            rest = data[after:end].strip(b" \t`'\")")
            if not rest:
                for offset, value in _numbers_below(data, end):
                    yield _Seen(offset, kind, value)
                continue
            says = _SAYS.match(data, after, end)
            if says and int(says[2]) <= _MOST_BITS and not _is_advice(data, start, at, says):
                yield _Seen(at, kind, int(says[2]))


def _threaded(data: bytes) -> Iterator[_Seen]:
    """That this JVM had the threaded seeder: no stack is needed where its log says so.

    Tomcat names the thread that a stopped application leaves behind; ``-Djava.security.debug=provider`` the seeder.
    """
    for word in (b"[SeedGenerator Thread]", b"Using default threaded seed generator"):
        for at in _finds(data, word):
            yield _Seen(at, "threaded-seeder", text=shown(word).strip("[]"))


def _is_advice(data: bytes, start: int, at: int, says: re.Match[bytes]) -> bool:
    before = data[max(start, at - 80) : at]
    return _ADVICE.search(before) is not None or _ADVICE.search(says[1]) is not None


def _numbers_below(data: bytes, end: int) -> Iterator[tuple[int, int]]:
    """The figures in the lines right below a command, as long as lines hold nothing else; one may be empty before."""
    start = end + 1
    for number in range(_LISTED):
        eol = data.find(b"\n", start, start + 100)
        eol = min(len(data), start + 100) if eol < 0 else eol
        line = data[start:eol]
        figure = _NUMBER_LINE.fullmatch(line)
        if figure is None:
            if number or line.strip():
                return
        elif int(figure[1]) <= _MOST_BITS:
            yield start, int(figure[1])
        start = eol + 1


def _traced(data: bytes) -> Iterator[_Seen]:
    """Reads of ``/dev/random`` in an strace, by descriptor: joined with the ``open`` that made it, or with ``-y``."""
    if b"/dev/random" not in data or b"read(" not in data:
        return
    files: dict[int, bytes] = {}
    waiting: dict[bytes, _Seen] = {}
    count = 0
    patterns = (_OPENED, _CLOSED, _READ, _RESUMED)
    events = merge(*(pattern.finditer(data) for pattern in patterns), key=lambda m: m.start())
    for event in events:
        if event.re is _OPENED:
            files[int(event[2])] = event[1]
        elif event.re is _CLOSED:
            files.pop(int(event[1]), None)
        elif event.re is _RESUMED:
            unfinished = waiting.pop(_pid(data, event.start()), None)
            if unfinished is not None:
                _return(unfinished, data, event.end())
        elif (event[2] or files.get(int(event[1]), b"")).endswith(b"/dev/random"):
            seen = _Seen(event.start(), "strace-random-read", text="unfinished")
            _return(seen, data, event.end())
            waiting[_pid(data, event.start())] = seen
            count += 1
            if count <= _MOST:
                yield seen


def _return(seen: _Seen, data: bytes, at: int) -> None:
    """Note what the call whose line holds *at* returned, where it did."""
    _, end = line_around(data, at, _LONGEST)
    returned = _RETURNED.search(data, at, end)
    if returned:
        seen.value = int(returned[1])
        seen.ms = _milliseconds(returned[2]) if returned[2] else None
        seen.text = ""


def _pid(data: bytes, at: int) -> bytes:
    start, _ = line_around(data, at, _LONGEST)
    match = _PID.match(data, start, at)
    return (match[1] or match[2]) if match else b""


def _releases(data: bytes) -> Iterator[_Seen]:
    """The kernel that a text says its machine has."""
    for word, pattern in ((b"Linux ", _SYSTEM), (b"uname -", _UNAME), (b"ernel", _SAID)):
        for at in _finds(data, word):
            match = pattern.match(data, at)
            before = data[max(0, at - 30) : at - 1]
            if match and not (pattern is _SAID and _BOUNDARY.search(before)):
                release = shown(match[1]).rstrip(".")
                yield _Seen(match.start(1), "kernel-release", text=release)


def _programs(data: bytes) -> Iterator[_Seen]:
    """``210635 ms``, a line by itself within a few lines of a ``java`` command."""
    for at in _finds(data, b" ms\n"):
        start, end = line_around(data, at, _LONGEST)
        took = _TOOK.fullmatch(data, start, end)
        command = _command_above(data, start) if took else ""
        if took and command:
            yield _Seen(start, "program-ms", ms=int(took[1]), text=command)


def _command_above(data: bytes, start: int) -> str:
    for _ in range(_RAN_LINES):
        if start <= 0:
            return ""
        above, end = line_around(data, start - 1, _LONGEST)
        ran = _RAN.fullmatch(data, above, end)
        if ran:
            return shown(ran[1])
        start = above
    return ""


def _benchmark(data: bytes) -> Iterator[_Seen]:
    """Averages of generators by threads, in a text that measures NativePRNG (JENKINS-20108 is one)."""
    if b"NativePRNG" not in data or b"average" not in data or not _NANOSECONDS.search(data):
        return
    groups: dict[tuple[str, int], _Seen] = {}
    name, threads = "", 0
    for event in _BENCH.finditer(data):
        if event["name"]:
            name = shown(event["name"])
        elif event["spi"]:
            name = "SHA1PRNG" if event["spi"] == b"SecureRandom" else shown(event["spi"])
        elif event["threads"]:
            threads = 1 if event["threads"].lower() == b"single" else int(event["threads"])
        elif name and threads and len(groups) < _MOST:
            ms = round(int(re.sub(rb"\D", b"", event["average"])) / 1e6)
            group = groups.setdefault(
                (name, threads), _Seen(event.start(), "prng-benchmark", threads, 0, name)
            )
            group.ms = max(group.ms or 0, ms)
    yield from groups.values()
