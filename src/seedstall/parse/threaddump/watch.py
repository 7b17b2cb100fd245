"""Servers that watch their own threads and log the stack of one that does not come back.

Vert.x' blocked-thread checker, Tomcat's StuckThreadDetectionValve, WebSphere's WSVR0605W and Liberty's TRAS0112W,
WebLogic's BEA-000337. Some put the stack below a Throwable made for the purpose: nothing failed there, and the thread
is where it says. Each report is a look at one thread at one moment; a later line may say that it came back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from seedstall.model.threads import Frame, JavaThread, ThreadDump
from seedstall.parse.text import Lines, Text, shown
from seedstall.parse.threaddump import bare, section
from seedstall.parse.threaddump.frame import line
from seedstall.parse.threaddump.section import Section

SIGNS: Final = (
    b"has been blocked for ",
    b"StuckThreadDetectionValve",
    b"WSVR060",
    b"BEA-00033",
    b"TRAS011",
)
_LONGEST: Final = 8000
_MOST_TRIES: Final = 8
_FEWEST_BRACKETS: Final = 3
_MOST_BETWEEN: Final = 24
"""Lines between the report and the stack: WebLogic prints the request's, of several lines, with the headers."""
_STARTS: Final = re.compile(
    rb"^(?:[ \t>]{0,40}(?:java\.lang\.Throwable|io\.vertx\.core\.VertxException: Thread blocked)[^\n]{0,200}"
    rb'|Thread-\d{1,9} "[^\n]{0,400}\{|[ \t]*)$'
)


class _Report(NamedTuple):
    """A watch's line: the thread, for how long it has been at its task; or that it came back."""

    name: str
    java_id: int | None
    busy_ms: int | None
    over: bool = False


def sections(text: Text, origin: str) -> Iterator[Section]:
    """Each report of *text*."""
    data = text.data
    lines = Lines(text)
    done = 0
    for start, words, eol in _places(data):
        if words < done:
            continue
        report = _report(data[start:words], data[words:eol])
        if report is None:
            continue
        at, end = (eol, eol) if report.over else _stack(data, eol)
        if at == end and not report.over:
            continue
        number = lines.at(start)
        stack = re.sub(rb"^[ \t]*\}[ \t]*$", b"\t- None", data[at + 1 : end], flags=re.MULTILINE)
        read, frames = section.stack_of(stack, lines, at + 1)
        thread = JavaThread(
            report.name,
            frames,
            read.locks,
            line=number,
            cut=read.cut,
            java_id=report.java_id,
            busy_ms=report.busy_ms,
        )
        dump = ThreadDump(
            origin,
            (thread,),
            number,
            section.taken_at(data, eol),
            complete=False,
            unread=int(read.cut),
            form="log",
            lists_all=False,
        )
        done = end
        yield Section(start, max(end, eol), dump)


def _places(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Where a watch's words stand, with the line around them, in order; a few in one line at the most."""
    offsets: list[int] = []
    for sign in SIGNS:
        at = data.find(sign)
        while at >= 0:
            offsets.append(at)
            at = data.find(sign, at + len(sign))
    eol = tries = 0
    for at in sorted(offsets):
        tries = tries + 1 if at < eol else 0
        if tries > _MOST_TRIES:
            continue
        start = max(data.rfind(b"\n", max(0, at - _LONGEST), at) + 1, at - _LONGEST, 0)
        if at >= eol:
            eol = data.find(b"\n", at, at + _LONGEST)
            eol = eol if eol >= 0 else min(len(data), at + _LONGEST)
        yield start, at, eol


def _report(before: bytes, text: bytes) -> _Report | None:
    """What a line says whose words begin with *text*: each pattern is tried there and nowhere else."""
    return (
        _vertx(before, text)
        or _tomcat(text)
        or _by(_websphere(), text, "WSVR0606W")
        or _by(_liberty(), text, "")
        or _weblogic(text)
    )


def _vertx(before: bytes, text: bytes) -> _Report | None:
    match = re.match(rb"has been blocked for (\d{1,12}) ?ms", text)
    if match is None or not before.endswith(b"] "):
        return None
    # Thread[#21,vert.x-eventloop-thread-0,5,main], perhaps twice with = between
    inside = before[before.rfind(b"Thread[") + 7 : -2]
    number = re.match(rb"#(\d{1,18}),", inside)
    name = inside[number.end() if number else 0 :]
    parts = name.rsplit(b",", 2)
    name = parts[0] if len(parts) > 2 and parts[1].isdigit() else name  # noqa: PLR2004 - name, priority, group
    return _Report(shown(name), int(number[1]) if number else None, int(match[1]))


def _tomcat(text: bytes) -> _Report | None:
    """Method names are never translated, nor are the brackets around the figures."""
    if not text.startswith(b"StuckThreadDetectionValve"):
        return None
    brackets = list(re.finditer(rb"\[([^\[\]\n]{1,400})\]", text[:2000]))
    found = [match[1] for match in brackets]
    if len(found) < _FEWEST_BRACKETS or not text[: brackets[1].start()].endswith(b"(id="):
        return None
    between = text[: brackets[0].start()]
    over = b"notifyStuckThreadCompleted" in between
    if (
        not over
        and b"notifyStuckThreadDetected" not in between
        and b"active for [" not in text[:1000]
    ):
        return None
    return _Report(shown(found[0]), _count(found[1]), None if over else _count(found[2]), over)


def _by(pattern: re.Pattern[bytes], text: bytes, end: str) -> _Report | None:
    match = pattern.match(text)
    if match is None:
        return None
    over = bool(end) and text.startswith(end.encode())
    if not over and not match[2]:
        return None
    return _Report(shown(match[1]), None, None if over else int(match[2]), over)


@cache
def _websphere() -> re.Pattern[bytes]:
    return re.compile(
        rb'WSVR060[56]W:[^"\n]{0,200}"([^"\n]{1,400})" ?\([^)\n]{0,40}\)(?:[^\d\n]{0,200}(\d{1,15}))?'
    )


@cache
def _liberty() -> re.Pattern[bytes]:
    return re.compile(
        rb"TRAS011[24]W:(?:(?!thread )[^\n]){0,400}thread ([0-9a-f]{4,16})[^\d\n]{0,200}(\d{1,12})"
    )


def _weblogic(text: bytes) -> _Report | None:
    match = re.match(rb"BEA-00033([79])>[ \t]{0,20}<?(\[STUCK\] [^\"\n]{1,400})", text)
    if match is None:
        return None
    name, told, _ = match[2].partition(b" has be")
    if not told:
        return None
    if match[1] == b"9":
        return _Report(shown(name), None, None, over=True)
    busy = re.match(
        rb'en busy for "(\d[\d.,]{0,15})" seconds', text[match.start(2) + len(name) + 7 :]
    )
    return _Report(shown(name), None, _count(busy[1]) * 1000) if busy else None


def _count(figure: bytes) -> int:
    """Digits, grouped by whatever the locale puts between them."""
    return int(b"".join(re.findall(rb"\d+", figure))[:15] or b"0")


def _stack(data: bytes, eol: int) -> tuple[int, int]:
    """The stack below the line that ends at *eol*: the end of the line above it, and its own end; equal if none.

    Only what a report itself prints may stand between, never another log line's exception.
    """
    for _ in range(_MOST_BETWEEN):
        start = eol + 1
        if start >= len(data):
            return eol, eol
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        raw = data[start : min(end, start + _LONGEST)]
        if isinstance(line(raw), Frame):
            return eol, bare.end_of_stack(data, start, len(data))
        if not _STARTS.match(raw) and not _is_request(data[max(0, eol - _LONGEST) : eol], raw):
            return eol, eol
        eol = end
    return eol, eol


def _is_request(above: bytes, raw: bytes) -> bool:
    """Whether *raw* is of WebLogic's account of the request, which ends in ``Stack trace:``."""
    told = above.rpartition(b"BEA-000337>")
    return bool(told[1]) and b"Stack trace:" not in told[2] and not raw.startswith(b"####<")
