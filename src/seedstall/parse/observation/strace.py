"""strace: reads of ``/dev/random``, getrandom calls, and what they took.

Descriptors are joined with the call that made them, so that the read of a pipe or socket is never taken for a seed's.
What a call took is said by ``-T``, by the times of its two halves (``<unfinished ...>``, ``resumed``), or by the next
line's time. Every option's prefix is understood: none, ``[pid N]`` or ``N`` (``-f``), a time of day (``-t``, ``-tt``),
seconds since 1970 (``-ttt``), seconds since the line before (``-r``); files behind descriptors (``-y``, ``-yy``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from seedstall.parse.observation.seen import LONGEST, MOST, Seen, milliseconds
from seedstall.parse.text import line_around, shown

_LONG_MS: Final = 1000
_NEXT_LINES: Final = 200
"""Lines below a call in which its thread's next one is looked for."""
_DAY: Final = 86_400_000
_FEWEST: Final = 3
_SAMPLE: Final = 64 << 10
_NEAR: Final = 2000

_READS: Final = frozenset((b"read", b"pread64", b"readv", b"preadv", b"preadv2"))
_OPENS: Final = frozenset((b"open", b"openat", b"openat2"))
_DUPS: Final = frozenset((b"dup", b"dup2", b"dup3", b"fcntl"))
_WAITS: Final = frozenset((b"poll", b"ppoll", b"select", b"pselect6"))
_PAIRS: Final = frozenset((b"pipe", b"pipe2", b"socketpair"))

_CALL = re.compile(
    rb"(?<![\w.>$:/])(read|pread64|readv|preadv2?|open|openat2?|close|dup[23]?|fcntl|socket|socketpair|accept4?"
    rb"|pipe2?|eventfd2?|epoll_create1?|memfd_create|inotify_init1?|timerfd_create|signalfd4?|getrandom"
    rb"|p?poll|select|pselect6)\(|<\.\.\. (\w{3,20}) resumed>"
)
_LINE = re.compile(
    rb"^[ \t>|]*+(?:\[pid +\d{1,10}\] +|\d{1,10} +)?(?:[\d:.]{1,20} +)?(?:\([+ \d.]{1,20}\) +)?[a-z_]\w{2,24}"
    rb"\([^\n]{0,1500}\) += +(?:-?\d|0x|\?)|^[^\n]{0,200}(?:<unfinished \.\.\.>|resumed>)",
    re.MULTILINE,
)
_BEFORE = re.compile(
    rb"[ \t>|]*+(?:\[pid +(\d{1,10})\] +|(\d{1,10}) +)?"
    rb"(?:(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{1,6}))? +|(\d{9,11}\.\d{1,6}) +|(\d{1,6}\.\d{6}) +)?"
)
_DESCRIPTOR = re.compile(rb"(\d{1,7})(?:<([^<>\n]{1,400})(?:<[^<>\n]{0,60}>)?>)?")
_PATH = re.compile(rb'"([^"\n]{1,400})"')
_RETURNED = re.compile(rb"\) *= *(?:-?\d|\?|0x)")
_TOOK = re.compile(rb"<(\d{1,9}(?:\.\d{1,9})?)>\s*$")
_BOTH = re.compile(rb"\[(\d{1,7})[^\],\n]{0,200}, ?(\d{1,7})")
_POLLED = re.compile(rb"fd=(\d{1,7})(?:<([^<>\n]{1,400})(?:<[^<>\n]{0,60}>)?>)?")
_SELECTED = re.compile(rb"\[([\d ]{1,200})")
_LENGTH = re.compile(rb", (\d{1,12})(?:, ([A-Z_|0x\d]{1,40}))?(?:\)| *<unf)")


class _Stamp(NamedTuple):
    """When a line's call began: milliseconds, and whether they count from the line before (``-r``)."""

    ms: int
    relative: bool = False


@dataclass(slots=True)
class _Trace:
    """What is known of the traced process while its lines pass."""

    files: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    waiting: dict[bytes, tuple[Seen | None, bytes, bytes, _Stamp | None]] = field(
        default_factory=dict[bytes, "tuple[Seen | None, bytes, bytes, _Stamp | None]"]
    )
    threads: set[bytes] = field(default_factory=set[bytes])
    calls: int = 0


def traced(data: bytes) -> Iterator[Seen]:
    """The calls that wait for random bytes, and those of unknown descriptors that took long or had not come back."""
    if not _is_trace(data):
        return
    trace = _Trace()
    found: list[Seen] = []
    for match in _CALL.finditer(data):
        start, end = line_around(data, match.start(), LONGEST)
        line = data[start:end]
        before = _BEFORE.match(line, 0, match.start() - start)
        thread = (before[1] or before[2] or b"") if before else b""
        trace.threads.add(thread)
        trace.calls += 1
        stamp = _stamp(before)
        if match[2]:
            _resumed(trace, match[2], thread, line, stamp)
            continue
        seen = _begun(trace, match[1], thread, line, match, start)
        if seen is not None and len(found) < MOST:
            seen.thread = shown(thread)
            found.append(seen)
            if seen.text != "unfinished" and seen.ms is None and stamp is not None:
                seen.ms = _until_next(data, end, thread, stamp)
    for seen, _, _, stamp in trace.waiting.values():
        if seen is not None and stamp is not None and not stamp.relative:
            seen.ms = _to_the_end(data, seen.offset, stamp)
    yield from (seen for seen in found if seen.kind != "strace-read" or _is_long(seen))
    if trace.threads == {b""} and trace.calls >= _FEWEST:
        first = _CALL.search(data)
        yield Seen(first.start() if first else 0, "strace-one-thread", trace.calls)


def _is_long(seen: Seen) -> bool:
    return seen.text == "unfinished" or (seen.ms or 0) > _LONG_MS


def _is_trace(data: bytes) -> bool:
    places = [0, *(max(0, data.find(word) - _NEAR) for word in (b"/dev/random", b"getrandom("))]
    return any(_LINE.search(data, at, at + (_SAMPLE if not at else 2 * _NEAR)) for at in places)


def _stamp(before: re.Match[bytes] | None) -> _Stamp | None:
    if before is None:
        return None
    hours, minutes, seconds, fraction, epoch, relative = before.groups()[2:]
    if hours is not None:
        ms = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 1000
        return _Stamp(ms + int((fraction or b"0").ljust(6, b"0")[:3]))
    if epoch is not None:
        return _Stamp(round(float(epoch) * 1000))
    return _Stamp(round(float(relative) * 1000), relative=True) if relative is not None else None


def _begun(
    trace: _Trace, call: bytes, thread: bytes, line: bytes, match: re.Match[bytes], start: int
) -> Seen | None:
    """Note what a call does to the descriptors; an observation where it may wait for random bytes."""
    inside = line[match.end() - start :]
    unfinished = b"<unfinished" in inside
    seen: Seen | None = None
    if call in _READS:
        seen = _read(trace, inside, match.start())
    elif call == b"getrandom":
        seen = _getrandom(inside, match.start())
    elif call in _WAITS:
        seen = _waited(trace, call, inside, match.start())
    if unfinished or (seen is not None and _RETURNED.search(inside) is None):
        if seen is not None:
            seen.text = "unfinished"
        before = _BEFORE.match(line)
        trace.waiting[thread] = (seen, call, inside, _stamp(before))
        return seen
    if seen is not None:
        _return(seen, inside, None)
    else:
        _made(trace, call, inside)
    return seen


def _read(trace: _Trace, inside: bytes, offset: int) -> Seen | None:
    match = _DESCRIPTOR.match(inside)
    if match is None:
        return None
    path = match[2] or trace.files.get(match[1])
    if path is None:
        return Seen(offset, "strace-read", int(match[1]))
    return Seen(offset, "strace-random-read") if _is_random(path) else None


def _is_random(path: bytes) -> bool:
    return path.removesuffix(b" (deleted)").endswith(b"/dev/random")


def _getrandom(inside: bytes, offset: int) -> Seen | None:
    """``GRND_RANDOM`` reads the pool of an old kernel; two flags forbid waiting; else it waits for the CRNG."""
    length = _LENGTH.search(inside)
    flags = (length[2] or b"") if length else b""
    if b"GRND_NONBLOCK" in flags or b"GRND_INSECURE" in flags:
        return None
    return Seen(offset, "strace-random-read" if b"GRND_RANDOM" in flags else "strace-getrandom")


def _waited(trace: _Trace, call: bytes, inside: bytes, offset: int) -> Seen | None:
    if call in (b"poll", b"ppoll"):
        asked = [(m[1], m[2]) for m in _POLLED.finditer(inside)]
    else:
        chosen = _SELECTED.search(inside)
        asked = [(fd, None) for fd in chosen[1].split()] if chosen else []
    if asked and all(_is_random(path or trace.files.get(fd, b"")) for fd, path in asked):
        return Seen(offset, "strace-random-read")
    return None


def _made(trace: _Trace, call: bytes, inside: bytes) -> None:
    """Keep what descriptors stand for."""
    argument = _DESCRIPTOR.match(inside)
    if call == b"close":
        if argument:
            trace.files.pop(argument[1], None)
        return
    if call in _PAIRS:
        both = _BOTH.search(inside)
        if both:
            trace.files[both[1]] = trace.files[both[2]] = b"pipe"
        return
    returned = re.search(rb"\) *= *(\d{1,7})(?:<([^<>\n]{1,400}))?", inside)
    if returned is None or (call == b"fcntl" and b"F_DUPFD" not in inside):
        return
    if call in _OPENS:
        path = _PATH.search(inside)
        made = path[1] if path else b"?"
    elif call in _DUPS:
        made = (argument[2] or trace.files.get(argument[1], b"")) if argument else b""
    else:
        made = call
    if returned[2] or made:
        trace.files[returned[1]] = returned[2] or made
    else:
        trace.files.pop(returned[1], None)


def _resumed(trace: _Trace, call: bytes, thread: bytes, line: bytes, stamp: _Stamp | None) -> None:
    known = trace.waiting.pop(thread, None)
    if known is None or known[1] != call:
        return
    seen, _, inside, begun = known
    rest = line.partition(b"resumed>")[2]
    if seen is None:
        _made(trace, call, inside.partition(b"<unfinished")[0] + rest)
        return
    passed = None
    if stamp is not None and begun is not None and not stamp.relative:
        passed = (stamp.ms - begun.ms) % _DAY if stamp.ms < begun.ms else stamp.ms - begun.ms
    seen.text = ""
    _return(seen, rest, passed)


def _return(seen: Seen, rest: bytes, passed: int | None) -> None:
    """Note what the call returned and took."""
    took = _TOOK.search(rest)
    returned = re.search(rb"\) *= *(-?\d{1,12})\b", rest)
    if seen.kind != "strace-read":
        seen.value = int(returned[1]) if returned else None
    seen.ms = milliseconds(took[1]) if took else passed


def _until_next(data: bytes, end: int, thread: bytes, stamp: _Stamp) -> int | None:
    """Milliseconds to the next call of the same thread: what a call took at the most."""
    at = end + 1
    for _ in range(_NEXT_LINES):
        if at >= len(data):
            return None
        eol = data.find(b"\n", at, at + LONGEST)
        eol = min(len(data), at + LONGEST) if eol < 0 else eol
        before = _BEFORE.match(data, at, eol)
        following = _stamp(before)
        if before is not None and following is not None:
            if stamp.relative:
                return following.ms if not thread and following.relative else None
            if (before[1] or before[2] or b"") == thread:
                return (
                    (following.ms - stamp.ms) % _DAY
                    if following.ms < stamp.ms
                    else following.ms - stamp.ms
                )
        at = eol + 1
    return None


def _to_the_end(data: bytes, offset: int, stamp: _Stamp) -> int | None:
    """How long a call had not come back when the trace ended: to the last line that has a time."""
    at = len(data)
    for _ in range(_NEXT_LINES):
        start = data.rfind(b"\n", max(0, at - LONGEST), max(0, at - 1)) + 1
        if start <= offset or start >= at:
            return None
        last = _stamp(_BEFORE.match(data, start, at))
        if last is not None and not last.relative:
            return (last.ms - stamp.ms) % _DAY if last.ms < stamp.ms else last.ms - stamp.ms
        at = start
    return None
