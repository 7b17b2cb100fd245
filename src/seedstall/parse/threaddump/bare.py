"""Stacks without a proper header: pasted by themselves, trimmed by hand, or with the start of the text cut off.

A stack below an exception is none: it says where something failed, not where a thread is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from seedstall.model.threads import Frame
from seedstall.parse.text import shown
from seedstall.parse.threaddump.frame import CutFrame, Lock, Mark, State, line
from seedstall.parse.threaddump.header import LONGEST, Header, header

_LONGEST: Final = 1 << 20
_FEWEST: Final = 2
"""Frames without a header or state that make a stack: one may be a place named in prose."""
_LOOK_ABOVE: Final = 5
"""Lines above a stack that may still be an exception's message."""

_FRAME = re.compile(rb"\n[ \t>|*]*+(?:\d{1,7}[:.)]?[ \t|]++)?at[ \t]++[^\s(]++ ?\(")
_CLEAN = re.compile(
    rb"(?:[ \t]{1,16}+at [\w$]++(?:[./][\w$]++)++(?:\.<(?:cl)?init>)?+\([\w$.:+ \-]{1,100}+\)\n)++"
)
"""Frames as they are printed, one below the other: no need to read them one by one to know where they end."""
_EXCEPTION = re.compile(
    rb"(?:Exception|Error|Throwable|Failure|Fault|ThreadDeath)\b|\bCaused by:|\bSuppressed:"
    rb"|\.\.\. \d+ (?:more|common frames)"
)
_THROWN = re.compile(rb"[\s>|*]*+(?:[a-z_]\w*+\.){1,20}+[A-Z][\w$]*+(?::[ \t]|:?\s*$)")
"""``Throwable.toString()``: a class at the line's start, its message after a colon. Not every one ends in Exception."""
_NAMED_THROWN = re.compile(
    rb"(?:^|[\s>|*])(?:[a-z_]\w{0,60}\.){1,20}[A-Z][\w$]{0,100}(?:Exception|Error|Throwable|Failure|Fault)(?::|\s*$)"
)
_FOLLOWS = re.compile(
    rb"[\s>|*]*+(?:Caused by: |Suppressed: |\.\.\. \d{1,5} (?:more|common frames))"
)
_FAILED = re.compile(rb"\d\d:\d\d[^\n]{0,200}?\b(?:ERROR|SEVERE|FATAL)\b")
_WATCHED = re.compile(rb"(?i)stuck|block|hung|hang|wait|lock|slow|stall|thread dump")
_LOGGED = re.compile(rb"\d\d:\d\d:\d\d")
_LONG_MESSAGE: Final = 60
"""Lines of one exception's message: a statement of SQL, the answer of a server."""
_QUOTED = re.compile(
    rb'[\s>|*]*(?:Thread )?(?:"|\xe2\x80[\x9c-\x9f])([^\n]*?)(?:(?:"|\xe2\x80[\x9c-\x9f])[^\n]*)?'
)


class Bare(NamedTuple):
    """A stack: from ``start`` (its header or first line) to ``end``; its body from ``body``."""

    start: int
    body: int
    end: int
    header: Header


def stacks(data: bytes, start: int, end: int) -> Iterator[Bare]:
    """The stacks between *start* and *end* that no exception stands above."""
    at = start if _FRAME.match(b"\n" + data[start : start + 400]) else None
    while True:
        if at is None:
            match = _FRAME.search(data, start, end)
            if match is None:
                return
            at = match.start() + 1
        stop = end_of_stack(data, at, end)
        found = _stack(data, start, at, stop)
        if found is not None:
            yield found
        start, at = max(stop, at + 1), None


def is_only_stacks(piece: bytes) -> bool:
    """Whether *piece* of a dump holds stacks and nothing else: some of a thread, no log, no exception."""
    frames = 0
    for number, raw in enumerate(piece.split(b"\n")):
        read = line(raw)
        if isinstance(read, Frame | CutFrame):
            frames += 1
        elif read is Mark.FOREIGN and number and not _QUOTED.fullmatch(raw):
            return False
    return frames > 1


def cut_header(data: bytes, start: int) -> tuple[int, Header] | None:
    """The header that the text ends in, where it begins after *start* and breaks off before its ids."""
    tail = data[max(start, len(data) - LONGEST) :]
    above, newline, last = tail.rstrip(b"\n").rpartition(b"\n")
    if not newline or above.rpartition(b"\n")[2].strip() or not last.startswith(b'"'):
        return None
    if tail.endswith(b"\n"):
        return None
    at = len(data) - len(last)
    return at, header(last) or Header(shown(last[1:].partition(b'"')[0]))


def end_of_stack(data: bytes, at: int, limit: int) -> int:
    """The stack ends at a blank line, or where two lines in a row are none of its own."""
    limit = min(limit, at + _LONGEST)
    foreign = 0
    end = at
    clean = _CLEAN.match(data, at, limit)
    if clean is not None:
        at = clean.end()
        end = at - 1
    while at < limit:
        eol = data.find(b"\n", at, limit)
        eol = limit if eol < 0 else eol
        read = line(data[at:eol])
        if read is Mark.BLANK:
            break
        if read is Mark.FOREIGN:
            foreign += 1
            if foreign > 1 or _EXCEPTION.search(data, at, min(eol, at + 400)):
                break
        else:
            foreign = 0
            end = eol
        at = eol + 1
    return end


def _stack(data: bytes, start: int, at: int, end: int) -> Bare | None:
    above: list[tuple[int, bytes]] = []
    for offset, text in _above(data, start, at):
        if _EXCEPTION.search(text[:1000]):
            return None
        above.append((offset, text))
    if _FOLLOWS.match(data, end, end + LONGEST):
        return None
    if _is_thrown(data, start, at):
        return None
    begin, head = at, Header("")
    for offset, text in above[:2]:
        read = line(text)
        if isinstance(read, State | Lock):
            begin = offset
            continue
        named = header(text) or _quoted(text)
        if named is not None:
            return Bare(offset, min(offset + len(text) + 1, end), end, named)
        break
    frames = sum(isinstance(line(raw), Frame) for raw in data[at:end].split(b"\n"))
    if frames < _FEWEST and begin == at:
        return None
    return Bare(begin, begin, end, head)


def _is_thrown(data: bytes, start: int, at: int) -> bool:
    """Whether something was thrown there that does not call itself an exception, or has a message of many lines.

    A message may have blank lines in it; but a mail that names an exception and shows a stack further down has, too:
    so they are passed in a log only.
    """
    blank = False
    found = -1
    for number in range(_LONG_MESSAGE):
        before = max(data.rfind(b"\n", max(start, at - LONGEST), max(at - 1, 0)) + 1, start)
        text = data[before : max(at - 1, before)]
        if found >= 0:
            return bool(_LOGGED.search(text[:200]))
        if number == 0 and (
            _THROWN.match(text) or (_FAILED.search(text[:400]) and not _WATCHED.search(text))
        ):
            return True
        if isinstance(line(text), Frame):
            return False
        if _NAMED_THROWN.search(text[:400]):
            if not blank or _LOGGED.search(text[:200]):
                return True
            found = before
        blank = blank or not text.strip()
        if before <= start:
            return False
        at = before
    return False


def _above(data: bytes, start: int, at: int) -> Iterator[tuple[int, bytes]]:
    """The lines right above *at*, nearest first, up to a blank one."""
    for _ in range(_LOOK_ABOVE):
        before = max(data.rfind(b"\n", max(start, at - LONGEST), max(at - 1, 0)) + 1, start)
        text = data[before : max(at - 1, before)]
        if not text.strip():
            return
        yield before, text
        at = before


def _quoted(text: bytes) -> Header | None:
    match = _QUOTED.fullmatch(text)
    return Header(shown(match[1])) if match else None
