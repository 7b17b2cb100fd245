"""Wall-clock time against CPU time: ``time`` of bash, zsh and GNU, and a cgroup's ``cpu.stat``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from seedstall.parse.observation.seen import LONGEST, Seen, finds
from seedstall.parse.text import line_around, shown

_LINES_ABOVE: Final = 40
"""Lines above the figures in which the command is looked for: what it printed stands between."""
_BASH = re.compile(
    rb"real[ \t]+(?:(\d{1,6})m)?(\d{1,6}(?:[.,]\d{1,6})?)s?[ \t]*\n"
    rb"[ \t>|]*user[ \t]+(?:(\d{1,6})m)?(\d{1,6}(?:[.,]\d{1,6})?)s?[ \t]*\n"
    rb"[ \t>|]*sys[ \t]+(?:(\d{1,6})m)?(\d{1,6}(?:[.,]\d{1,6})?)s?"
)
"""``real 2m3.456s`` (bash), ``real 123.45`` (POSIX, ``time -p``)."""
_SHORT = re.compile(
    rb"(\d{1,6}[.,]\d{1,3})s? ?user (\d{1,6}[.,]\d{1,3})s? ?system (?:\d{1,4}% ?(?:cpu )?)?"
    rb"((?:\d{1,4}:){0,2}\d{1,6}[.,]\d{1,3}) ?(?:total|elapsed)"
)
"""zsh's, and GNU time's short form: ``1.20user 0.10system 2:03.45elapsed 1%CPU``."""
_GNU = re.compile(
    rb"Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): ((?:\d{1,4}:){1,2}\d{1,2}(?:\.\d{1,3})?)"
)
_GNU_USER = re.compile(rb"User time \(seconds\): (\d{1,9}(?:\.\d{1,3})?)")
_GNU_SYSTEM = re.compile(rb"System time \(seconds\): (\d{1,9}(?:\.\d{1,3})?)")
_GNU_COMMAND = re.compile(rb'Command being timed: "([^\n]{1,300})"')
_COMMAND = re.compile(
    rb"(?:[^\n$#%>]{0,80}[$#%>] ?|[ \t]*)(?:\w{1,30}=\S{1,100} )*time (?:-\w{1,3} )?([^\n]{1,300})"
)
_DD = re.compile(rb"(?:^|[\s/])dd ")
_DEVICE = re.compile(rb"/dev/(u?random)\b")
_BYTES = re.compile(rb"(?:-c ?|--bytes[= ]|-N ?|count=)(\d{1,12})\b")
_SIZE = re.compile(rb"\bbs=(\d{1,9})\b")
_NEAR: Final = 1500
_THROTTLED = re.compile(
    rb"nr_periods[ \t]+(\d{1,15})\s+(?:[^\n]{0,80}\n){0,2}?[ \t>|]*nr_throttled[ \t]+(\d{1,15})\s+"
    rb"(?:[^\n]{0,80}\n){0,2}?[ \t>|]*throttled_(usec|time)[ \t]+(\d{1,18})"
)


def timed(data: bytes) -> Iterator[Seen]:
    """Runs that were timed: ``ms`` of wall-clock time, ``value`` of CPU in ms, ``text`` the command where it stands.

    The read of a device by ``head`` or ``od`` that was timed so is such a read (``dd-random``).
    """
    for word, pattern in ((b"real", _BASH), (b"user ", _SHORT)):
        done = 0
        for at in finds(data, word):
            if at < done:
                continue
            start, _ = line_around(data, at, LONGEST)
            found = (
                pattern.match(data, at)
                if pattern is _BASH
                else pattern.search(data, start, at + LONGEST)
            )
            if found is None:
                continue
            done = found.end()
            wall, cpu = _figures(found, bash=pattern is _BASH)
            yield from _run(found.start(), wall, cpu, _command(data, start, found))
    for at in finds(data, b"Elapsed (wall clock)"):
        yield from _gnu(data, at)


def _figures(found: re.Match[bytes], *, bash: bool) -> tuple[int, int]:
    if bash:
        real, user, system = (_minutes(found[i], found[i + 1]) for i in (1, 3, 5))
        return real, user + system
    return _clock(found[3]), _minutes(None, found[1]) + _minutes(None, found[2])


def _minutes(minutes: bytes | None, seconds: bytes) -> int:
    return round((int(minutes or 0) * 60 + float(seconds.replace(b",", b"."))) * 1000)


def _clock(text: bytes) -> int:
    """``1:02:03.4``, ``2:03.45`` or ``3.45``."""
    total = 0.0
    for part in text.replace(b",", b".").split(b":"):
        total = total * 60 + float(part)
    return round(total * 1000)


def _gnu(data: bytes, at: int) -> Iterator[Seen]:
    wall = _GNU.match(data, at)
    user = _GNU_USER.search(data, max(0, at - _NEAR), at)
    system = _GNU_SYSTEM.search(data, max(0, at - _NEAR), at)
    command = _GNU_COMMAND.search(data, max(0, at - _NEAR), at)
    if wall and user and system:
        cpu = _minutes(None, user[1]) + _minutes(None, system[1])
        yield from _run(at, _clock(wall[1]), cpu, command[1] if command else b"")


def _command(data: bytes, start: int, found: re.Match[bytes]) -> bytes:
    """The command that was timed: in front of zsh's figures, else on a line above that says ``time``."""
    before = data[start : found.start()].strip()
    if before and b"real" not in before:
        return before[-300:]
    for _ in range(_LINES_ABOVE):
        if start <= 0:
            return b""
        above, end = line_around(data, start - 1, LONGEST)
        if above >= start:
            return b""
        ran = _COMMAND.fullmatch(data, above, end)
        if ran:
            return ran[1]
        start = above
    return b""


def _run(offset: int, wall: int, cpu: int, command: bytes) -> Iterator[Seen]:
    if _DD.search(command):
        return  # it tells its figures itself
    device = _DEVICE.search(command)
    if device and b"java" not in command:
        size, count = _SIZE.search(command), _BYTES.search(command)
        read = int(count[1]) * (int(size[1]) if size else 1) if count else None
        yield Seen(offset, f"dd-{shown(device[1])}", read, wall)
        return
    yield Seen(offset, "wall-cpu", cpu, wall, shown(command).strip())


def throttled(data: bytes) -> Iterator[Seen]:
    """``cpu.stat``: the share of periods in which the group was stopped by its limit, in per cent, and for how long."""
    for at in finds(data, b"nr_periods"):
        found = _THROTTLED.match(data, at)
        if found and int(found[1]):
            unit = 1000 if found[3] == b"usec" else 1_000_000
            share = min(100, round(100 * int(found[2]) / int(found[1])))
            yield Seen(at, "cpu-throttled", share, int(found[4]) // unit)
