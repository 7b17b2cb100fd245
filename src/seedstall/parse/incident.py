"""Lines that say what happened to a process: of Kubernetes, Docker, systemd, the kernel, the JVM and its libraries.

A line is found by a literal, and counts only in the shape in which its program prints it: a mail, a manual or a flag
that speaks of ``OOMKilled`` tells of nothing that happened. Sources of the wordings: kubelet (pkg/kubelet/prober,
kuberuntime), ``kubectl describe`` and ``get pods``, systemd's service.c and unit.c, mm/oom_kill.c (``Kill process`` to
4.x, ``Killed process`` from 5.0 on), HotSpot's OutOfMemoryError texts and safepoint.cpp, JDK's ``BindException`` and
``SecureRandom``, Liquibase's StandardLockService.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from seedstall.model.incident import Incident, IncidentKind
from seedstall.parse.text import Input, Lines, Text, excerpt, line_around, plain, shown
from seedstall.parse.words import find, holds

MOST_LINES = 2_000
"""Lines of one kind looked at: a log may repeat itself for ever."""
_WINDOW = 400
"""Bytes of a line looked at before and behind the literal."""


class _Mark(NamedTuple):
    """``literal`` finds the line, ``shape`` must match in it: its groups ``value`` and ``who`` are kept."""

    kind: IncidentKind
    literal: bytes
    shape: bytes


@cache
def _compiled(shape: bytes) -> re.Pattern[bytes]:
    """Compiled where its line stands in a text: hardly one of them does."""
    return re.compile(shape, re.MULTILINE)


_FAILED = rb"(?:Exception|rror|annot|ailed|SEVERE|FATAL|ENOSPC)[^\n]{0,200}?"
"""What stands before the words of errno(3) where a program reports them, and not where a manual quotes them."""
_UNQUOTED = rb"(?![\"'`\xe2])"
_THROWN = (
    rb"(?:^|^\S{0,40}[ \t]{0,8}|Exception in thread \"[^\n\"]{0,100}\" |Caused by: |Terminating due to "
    rb"|nested exception is |\b(?:ERROR|SEVERE|FATAL|WARN|WARNING)\b[^\n]{0,200}?)"
)
"""What stands before the name of an exception that was thrown."""

_MARKS = (
    _Mark(
        IncidentKind.PROBE,
        b" probe failed: ",
        rb"(?:Liveness|Startup) probe failed: (?:HTTP|Get|dial|command|OCI|rpc|timeout|status|service|error|$|\S+:)",
    ),
    _Mark(IncidentKind.PROBE, b"Probe failed", rb"Probe failed\" probeType=\"(?:Liveness|Startup)"),
    _Mark(
        IncidentKind.PROBE_KILL,
        b" probe, will be ",
        rb"Container (?P<who>\S{1,80}) failed (?:liveness|startup) probe, will be (?:restarted|killed)",
    ),
    _Mark(
        IncidentKind.RESTARTS,
        b"CrashLoopBackOff",
        rb"(?:Reason:\s{1,40}|\"reason\":\s?\"|\d+/\d+\s{1,20})CrashLoopBackOff(?:\s{1,20}(?P<value>\d{1,6})\b)?",
    ),
    _Mark(
        IncidentKind.RESTARTS,
        b"ack-off restarting failed",
        rb"BackOff\b[^\n]{0,200}Back-off restarting failed container",
    ),
    _Mark(
        IncidentKind.RESTARTS,
        b"Restart Count:",
        rb"^\s{0,40}Restart Count:\s{1,40}(?P<value>[1-9]\d{0,5})\s*$",
    ),
    _Mark(
        IncidentKind.RESTARTS,
        b"restart counter is at ",
        rb"(?<![\w@.\\:-])(?P<who>[\w@.\\:-]{1,100}\.service): [^\n]{0,80}restart counter is at (?P<value>\d{1,6})\b",
    ),
    _Mark(
        IncidentKind.START_TIMEOUT,
        b"tart operation timed out",
        rb"(?<![\w@.\\-])(?P<who>[\w@.\\-]{1,100}\.service):? [sS]tart operation timed out",
    ),
    _Mark(
        IncidentKind.START_TIMEOUT,
        b"ailed with result 'timeout'",
        rb"(?<![\w@.\\-])(?P<who>[\w@.\\-]{1,100}\.service): Failed with result 'timeout'",
    ),
    _Mark(IncidentKind.START_TIMEOUT, b"(Result: timeout)", rb"Active: failed \(Result: timeout\)"),
    _Mark(
        IncidentKind.OUT_OF_MEMORY_KILL,
        b"OOMKilled",
        rb"(?:^\s{0,40}Reason:\s{1,40}|\"reason\":\s?\"|\breason: |\d+/\d+\s{1,20})OOMKilled"
        rb"|\bOOMKilled\"?\s?[:=]\s?\"?true",
    ),
    _Mark(
        IncidentKind.OUT_OF_MEMORY_KILL,
        b"ut of memory: Kill",
        rb"ut of memory: Kill(?:ed)? process \d{1,9},? \((?P<who>[^)\n]{1,20})",
    ),
    _Mark(
        IncidentKind.OUT_OF_MEMORY_KILL,
        b"oom-kill:",
        rb"oom-kill:constraint=[^\n]{1,300},task=(?P<who>[^,\n]{1,20})",
    ),
    _Mark(
        IncidentKind.OUT_OF_MEMORY_KILL,
        b"oom-kill'",
        rb"(?<![\w@.\\-])(?P<who>[\w@.\\-]{1,100}\.service): Failed with result 'oom-kill'",
    ),
    _Mark(
        IncidentKind.OUT_OF_MEMORY_KILL,
        b"killed by the OOM killer",
        rb"(?<![\w@.\\-])(?P<who>[\w@.\\-]{1,100}\.service): A process of this unit has been killed by the OOM killer",
    ),
    _Mark(IncidentKind.SIGNAL, b"Exit Code:", rb"^\s{0,40}Exit Code:\s{1,40}(?P<value>137)\s*$"),
    _Mark(IncidentKind.TERMINATED, b"Exit Code:", rb"^\s{0,40}Exit Code:\s{1,40}(?P<value>143)\s*$"),
    _Mark(IncidentKind.SIGNAL, b'xitCode":', rb"\"[eE]xitCode\":\s{0,20}(?P<value>137)\b"),
    _Mark(IncidentKind.TERMINATED, b'xitCode":', rb"\"[eE]xitCode\":\s{0,20}(?P<value>143)\b"),
    _Mark(IncidentKind.SIGNAL, b"Exited (1", rb"Exited \((?P<value>137)\) (?:\d|About|Less)"),
    _Mark(IncidentKind.TERMINATED, b"Exited (1", rb"Exited \((?P<value>143)\) (?:\d|About|Less)"),
    _Mark(IncidentKind.SIGNAL, b"code=killed", rb"\bcode=killed, (?:status|signal)=(?:9/)?KILL"),
    _Mark(IncidentKind.TERMINATED, b"code=killed", rb"\bcode=killed, (?:status|signal)=(?:15/)?TERM"),
    _Mark(IncidentKind.SIGNAL, b"code=exited", rb"\bcode=exited, status=(?P<value>137)\b"),
    _Mark(IncidentKind.TERMINATED, b"code=exited", rb"\bcode=exited, status=(?P<value>143)\b"),
    _Mark(
        IncidentKind.HEAP,
        b"java.lang.OutOfMemoryError",
        _THROWN + rb"java\.lang\.OutOfMemoryError(?::|$)"
        rb"|java\.lang\.OutOfMemoryError[^\n]{0,200}\n\s{1,8}at ",
    ),
    _Mark(
        IncidentKind.HEAP,
        b"insufficient memory for the Java Runtime Environment",
        rb"# There is insufficient memory for the Java Runtime Environment to continue",
    ),
    _Mark(
        IncidentKind.COLLECTIONS,
        b"GC overhead limit exceeded",
        _THROWN + rb"java\.lang\.OutOfMemoryError: GC overhead limit exceeded",
    ),
    _Mark(
        IncidentKind.PORT,
        b"Address already in use",
        rb"(?:Exception|rror|SEVERE|FATAL|\bbind|Bind|ailed)[^\n]{0,200}?Address already in use" + _UNQUOTED,
    ),
    _Mark(
        IncidentKind.PORT,
        b"was already in use",
        rb"(?:^|failed to start\. |^[^\n]{0,200}\bERROR\b[^\n]{0,200}?)Port (?P<value>\d{1,5}) was already in use",
    ),
    _Mark(IncidentKind.DISK, b"No space left on device", _FAILED + rb"No space left on device" + _UNQUOTED),
    _Mark(IncidentKind.FILES, b"Too many open files", _FAILED + rb"Too many open files" + _UNQUOTED),
    _Mark(IncidentKind.SCHEMA_LOCK, b"Waiting for changelog lock", rb"Waiting for changelog lock\.{2,}"),
    _Mark(
        IncidentKind.SCHEMA_LOCK,
        b"Could not acquire change log lock",
        rb"Could not acquire change log lock\.\s{1,4}Currently locked by (?P<who>[^\n]{1,100}?)(?: since|$)",
    ),
    _Mark(
        IncidentKind.NO_STRONG,
        b"No strong SecureRandom impls available",
        rb"Exception: No strong SecureRandom impls available(?::|\s*$)",
    ),
    _Mark(
        IncidentKind.SAFEPOINT,
        b"SafepointSynchronize::begin: Timeout detected",
        rb"# SafepointSynchronize::begin: Timeout detected:$",
    ),
)  # fmt: skip
_STOPS = (b"'stop-sigterm' timed out", b"Stopping timed out", b"stop-sigterm timed out")
_LISTENING = b"Listening for transport "
_SLOW_THREAD = re.compile(rb"did not reach the safepoint:[^\n]*\n[^\n\"]{0,200}\"([^\n\"]{1,80})\"")
_FULL = re.compile(
    rb"Pause Full \((?!System\.gc)[^\n]{0,200}?\d[.,]\d{1,4}ms"
    rb"|\[Full GC \((?!System\.gc)[^\n]{0,300}?\d[.,]\d{1,7} secs\]"
)
_YOUNG = (b"Pause Young", b"[GC (")
FULL_MANY = 10
"""Full collections in a row of a log that make a thrash: a start has one or two (metaspace) by itself."""


class _Found(NamedTuple):
    offset: int
    value: int | None
    who: str
    times: int
    last: int


def incidents(given: Input, origin: str) -> tuple[Incident, ...]:
    """What *given* says that happened, the first line of each kind with the number of its like; never raises."""
    text = plain(given)
    found: dict[IncidentKind, _Found] = {}
    for mark in _MARKS:
        for offset, match in _places(text.data, mark):
            _note(found, mark.kind, offset, match)
    if IncidentKind.START_TIMEOUT in found and _is_a_stop(text.data):
        del found[IncidentKind.START_TIMEOUT]
    if IncidentKind.SAFEPOINT in found:
        _slow_thread(text.data, found)
    _collections(text.data, found)
    _debugger(text.data, found)
    return tuple(_told(text, origin, found))


def merged(items: tuple[Incident, ...], more: tuple[Incident, ...]) -> tuple[Incident, ...]:
    """What two parts of one text say, *more* the later."""
    by_kind = {item.kind: item for item in items}
    for item in more:
        known = by_kind.get(item.kind)
        by_kind[item.kind] = (
            item
            if known is None
            else Incident(
                known.kind,
                known.origin,
                known.line,
                known.excerpt,
                known.value,
                known.count + item.count,
                known.who or item.who,
                item.last or item.line,
            )
        )
    return tuple(by_kind.values())


def _note(
    found: dict[IncidentKind, _Found], kind: IncidentKind, offset: int, match: re.Match[bytes]
) -> None:
    groups = match.groupdict()
    value = int(groups["value"]) if groups.get("value") else None
    who = shown(groups["who"]).strip() if groups.get("who") else ""
    known = found.get(kind)
    if known is None:
        found[kind] = _Found(offset, value, who, 1, offset)
        return
    found[kind] = _Found(
        min(offset, known.offset),
        known.value if known.value is not None else value,
        known.who or who,
        known.times + 1,
        max(offset, known.last),
    )


def _places(data: bytes, mark: _Mark) -> Iterator[tuple[int, re.Match[bytes]]]:
    at = find(data, mark.literal)
    for _ in range(MOST_LINES):
        if at < 0:
            return
        start, end = line_around(data, at, _WINDOW)
        match = _compiled(mark.shape).search(data, start, min(end + 40, len(data)))
        if match is not None and match.start() <= at + len(mark.literal):
            yield start, match
        at = data.find(mark.literal, max(end, at + 1))


def _is_a_stop(data: bytes) -> bool:
    """Whether the time-out is that of a stop: systemd's result is ``timeout`` for both."""
    return b"tart operation timed out" not in data and any(holds(data, stop) for stop in _STOPS)


def _slow_thread(data: bytes, found: dict[IncidentKind, _Found]) -> None:
    """HotSpot names the thread a few lines below."""
    place = found[IncidentKind.SAFEPOINT]
    match = _SLOW_THREAD.search(data, place.offset, place.offset + 2000)
    if match is not None:
        found[IncidentKind.SAFEPOINT] = place._replace(who=shown(match[1]))


def _collections(data: bytes, found: dict[IncidentKind, _Found]) -> None:
    """Full collections, one after another: with as many young ones between them and more, it is a log of months."""
    if not (holds(data, b"Pause Full") or holds(data, b"[Full GC")):
        return
    places = [match.start() for match in islice(_FULL.finditer(data), MOST_LINES)]
    for first, last in zip(places, places[FULL_MANY - 1 :], strict=False):
        if sum(data.count(young, first, last) for young in _YOUNG) <= FULL_MANY:
            found.setdefault(
                IncidentKind.COLLECTIONS, _Found(first, None, "", len(places), places[-1])
            )
            return


def _debugger(data: bytes, found: dict[IncidentKind, _Found]) -> None:
    """The last thing a JVM prints that waits for its debugger: nothing but blank lines may follow."""
    at = data.rfind(_LISTENING) if holds(data, _LISTENING) else -1
    if at >= 0:
        start, end = line_around(data, at)
        if not data[end : end + 2000].strip():
            found[IncidentKind.DEBUGGER] = _Found(start, None, "", 1, start)


def _told(text: Text, origin: str, found: dict[IncidentKind, _Found]) -> Iterator[Incident]:
    lines = Lines(text)
    lasts = Lines(text)
    ends = {
        kind: lasts.at(place.last)
        for kind, place in sorted(found.items(), key=lambda item: item[1].last)
    }
    for kind, place in sorted(found.items(), key=lambda item: item[1].offset):
        line = lines.at(place.offset)
        shown_line = excerpt(text.data, place.offset)[:400]
        last = ends[kind] if ends[kind] != line else 0
        yield Incident(kind, origin, line, shown_line, place.value, place.times, place.who, last)
