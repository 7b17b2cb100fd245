"""Lines that say what happened to a process: of Kubernetes, Docker, systemd, the kernel, the JVM and its libraries.

A line is found by a literal that stands in no other kind of line, then read. Sources of the wordings: kubelet
(pkg/kubelet/prober, kuberuntime), ``kubectl describe``, systemd's service.c, mm/oom_kill.c (``Kill process`` to 4.x,
``Killed process`` from 5.0 on), HotSpot's OutOfMemoryError texts, JDK's ``BindException``, Liquibase's
StandardLockService.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from seedstall.model.incident import Incident, IncidentKind
from seedstall.parse.text import Input, Lines, Text, excerpt, line_around, plain

MOST_LINES = 10_000
"""Lines of one kind looked at: a log may repeat itself for ever."""


class _Mark(NamedTuple):
    """``literal`` finds the line, ``pattern`` must match in it; its first group, if any, is the figure."""

    kind: IncidentKind
    literal: bytes
    pattern: re.Pattern[bytes] | None = None


def _mark(kind: IncidentKind, literal: bytes, pattern: bytes = b"") -> _Mark:
    return _Mark(kind, literal, re.compile(pattern) if pattern else None)


_MARKS = (
    _mark(IncidentKind.PROBE, b"Liveness probe failed"),
    _mark(IncidentKind.PROBE, b"Startup probe failed"),
    _mark(IncidentKind.PROBE, b"failed liveness probe"),
    _mark(IncidentKind.PROBE, b"failed startup probe"),
    _mark(IncidentKind.START_TIMEOUT, b"tart operation timed out"),
    _mark(IncidentKind.START_TIMEOUT, b"Failed with result 'timeout'"),
    _mark(IncidentKind.START_TIMEOUT, b"(Result: timeout)"),
    _mark(IncidentKind.OUT_OF_MEMORY_KILL, b"OOMKilled", rb"OOMKilled(?!\"?\s*[:=]\s*false)"),
    _mark(
        IncidentKind.OUT_OF_MEMORY_KILL,
        b"ut of memory: Kill",
        rb"ut of memory: Kill(?:ed)? process \d+,? \(?[^)\n]{0,20}",
    ),
    _mark(IncidentKind.OUT_OF_MEMORY_KILL, b"oom-kill:"),
    _mark(IncidentKind.OUT_OF_MEMORY_KILL, b"killed by the OOM killer"),
    _mark(IncidentKind.OUT_OF_MEMORY_KILL, b"result 'oom-kill'"),
    _mark(IncidentKind.SIGNAL, b"Exit Code:", rb"Exit Code:\s{1,20}(137|143)\b"),
    _mark(IncidentKind.SIGNAL, b'"ExitCode":', rb"\"ExitCode\":\s{0,20}(137|143)\b"),
    _mark(IncidentKind.SIGNAL, b"Exited (", rb"Exited \((137|143)\)"),
    _mark(
        IncidentKind.SIGNAL,
        b"code=killed",
        rb"code=killed, (?:status|signal)=(?:9/KILL|15/TERM|KILL|TERM)",
    ),
    _mark(IncidentKind.SIGNAL, b"code=exited", rb"code=exited, status=(137|143)\b"),
    _mark(IncidentKind.HEAP, b"java.lang.OutOfMemoryError"),
    _mark(IncidentKind.HEAP, b"insufficient memory for the Java Runtime Environment"),
    _mark(IncidentKind.COLLECTIONS, b"GC overhead limit exceeded"),
    _mark(IncidentKind.PORT, b"Address already in use"),
    _mark(IncidentKind.PORT, b"was already in use", rb"Port (\d{1,5}) was already in use"),
    _mark(IncidentKind.DISK, b"No space left on device"),
    _mark(IncidentKind.FILES, b"Too many open files"),
    _mark(IncidentKind.SCHEMA_LOCK, b"Waiting for changelog lock"),
    _mark(IncidentKind.SCHEMA_LOCK, b"Could not acquire change log lock"),
    _mark(IncidentKind.NO_STRONG, b"No strong SecureRandom impls available"),
    _mark(IncidentKind.SAFEPOINT, b"SafepointSynchronize::begin: Timeout detected"),
    _mark(IncidentKind.SAFEPOINT, b"Timed out while spinning to reach a safepoint"),
)
_LISTENING = b"Listening for transport "
_FULL = re.compile(
    rb"Pause Full[^\n]{0,200}?\d{1,9}[.,]\d{1,4}ms|\[Full GC[^\n]{0,300}?, \d{1,6}[.,]\d{1,7} secs\]"
)
FULL_MANY = 10
"""Full collections in a row of a log that make a thrash: a start has one or two (metaspace) by itself."""


class _Found(NamedTuple):
    offset: int
    value: int | None
    times: int


def incidents(given: Input, origin: str) -> tuple[Incident, ...]:
    """What *given* says that happened, the first line of each kind with the number of its like; never raises."""
    text = plain(given)
    found: dict[IncidentKind, _Found] = {}
    for mark in _MARKS:
        for offset, value in _places(text.data, mark):
            _note(found, mark.kind, offset, value)
    _collections(text.data, found)
    _debugger(text.data, found)
    return tuple(_told(text, origin, found))


def _note(
    found: dict[IncidentKind, _Found], kind: IncidentKind, offset: int, value: int | None
) -> None:
    known = found.get(kind)
    if known is None:
        found[kind] = _Found(offset, value, 1)
    elif offset < known.offset:
        found[kind] = _Found(offset, value, known.times + 1)
    else:
        found[kind] = known._replace(times=known.times + 1)


def _places(data: bytes, mark: _Mark) -> Iterator[tuple[int, int | None]]:
    at = data.find(mark.literal)
    for _ in range(MOST_LINES):
        if at < 0:
            return
        start, end = line_around(data, at)
        match = mark.pattern.search(data, start, end) if mark.pattern is not None else None
        if mark.pattern is None or match is not None:
            figure = match[1] if match is not None and match.re.groups else None
            yield start, int(figure) if figure else None
        at = data.find(mark.literal, max(end, at + 1))


def _collections(data: bytes, found: dict[IncidentKind, _Found]) -> None:
    """Full collections, one after another."""
    if data.find(b"Pause Full") < 0 and data.find(b"[Full GC") < 0:
        return
    places = [
        match.start() for match, _ in zip(_FULL.finditer(data), range(MOST_LINES), strict=False)
    ]
    if len(places) >= FULL_MANY:
        found.setdefault(IncidentKind.COLLECTIONS, _Found(places[0], None, len(places)))


def _debugger(data: bytes, found: dict[IncidentKind, _Found]) -> None:
    """The last thing a JVM prints that waits for its debugger: nothing but blank lines may follow."""
    at = data.rfind(_LISTENING)
    if at >= 0:
        _, end = line_around(data, at)
        if not data[end:].strip():
            _note(found, IncidentKind.DEBUGGER, at, None)


def _told(text: Text, origin: str, found: dict[IncidentKind, _Found]) -> Iterator[Incident]:
    lines = Lines(text)
    for kind, place in sorted(found.items(), key=lambda item: item[1].offset):
        shown = excerpt(text.data, place.offset)[:400]
        yield Incident(kind, origin, lines.at(place.offset), shown, place.value, place.times)
