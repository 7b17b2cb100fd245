"""What ``ThreadInfo.toString()`` prints (``"main" Id=1 RUNNABLE``), and the libraries that write much the same.

Java gives eight frames and then ``...`` (``ThreadInfo.MAX_FRAMES``): who asked for the bytes is below them as a rule.
9 and later print ``daemon prio=5`` before the id. Dropwizard's metrics write ``id=1 state=RUNNABLE`` and locks as
HotSpot does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.model.threads import JavaThread, LockAct, LockLine
from seedstall.parse.text import Lines, Text, shown
from seedstall.parse.threaddump import section
from seedstall.parse.threaddump.header import LONGEST
from seedstall.parse.threaddump.section import Piece, Section

_HEADER = re.compile(
    rb'"( daemon)?(?: prio=\d{1,3})? [Ii]d=(\d{1,18})(?: state=| )'
    rb"(NEW|RUNNABLE|BLOCKED|WAITING|TIMED_WAITING|TERMINATED)\b([^\n]*)"
)
_ON = re.compile(rb" on ([^\s@]{1,500})@([0-9a-fA-F]{1,16})")
_ELLIPSIS = re.compile(rb"^[ \t>]*+\.\.\.[ \t]*+$", re.MULTILINE)
_OWNER = re.compile(rb"^[ \t]+owned by [^\n]* [iI]d=\d{1,18}[ \t]*$", re.MULTILINE)
_GOES_ON = re.compile(rb"\n\n[ \t]+(?:Number of l|L)ocked synchronizers")


def sections(text: Text, origin: str) -> Iterator[Section]:
    """Each dump of *text* in this form."""
    lines = Lines(text)
    for pieces in section.apart(_pieces(text.data, lines)):
        first = pieces[0].start
        yield Section(
            first,
            pieces[-1].end,
            section.dump_of(
                origin,
                pieces,
                pieces[0].thread.line,
                whole=False,  # no line ends it, and none says how many threads there are
                taken_at=section.taken_at(text.data, first),
                form="ThreadInfo",
            ),
        )


def _pieces(data: bytes, lines: Lines) -> Iterator[Piece]:
    headers = list(_headers(data))
    for index, (start, eol, match) in enumerate(headers):
        limit = headers[index + 1][0] if index + 1 < len(headers) else len(data)
        end = section.end_of_stack(data, eol, limit)
        more = _GOES_ON.match(data, end, limit)
        if more:
            end = section.end_of_stack(data, more.end(), limit)
        line = lines.at(start)
        yield _piece(data, lines, (start, eol, end), match, line)


def _headers(data: bytes) -> Iterator[tuple[int, int, re.Match[bytes]]]:
    """The lines that are headers: where they begin and end, and what they say."""
    done = 0
    for match in _HEADER.finditer(data):
        start = max(data.rfind(b"\n", done, match.start()) + 1, done)
        eol = match.end()
        quote = data.find(b'"', start, match.start())
        if quote >= 0 and eol - start <= LONGEST:
            yield start, eol, match
        done = eol


def _piece(
    data: bytes, lines: Lines, place: tuple[int, int, int], match: re.Match[bytes], line: int
) -> Piece:
    start, eol, end = place
    daemon, number, state_name, rest = match.groups()
    name = data[data.find(b'"', start) + 1 : match.start()]
    state = state_name.decode()
    stack = section.objects_as_hotspot(data[eol + 1 : end])
    stack, cuts = section.without(_ELLIPSIS, stack)
    stack, _ = section.without(_OWNER, stack)
    read, frames = section.stack_of(stack, lines, eol + 1)
    locks = section.told_acts(read.locks or _said_above(rest), frames, state)
    native = b"in native" in rest
    thread = JavaThread(
        shown(name),
        frames,
        locks,
        state=state,
        activity="in native" if native else "",
        daemon=daemon is not None,
        line=line,
        cut=read.cut or cuts > 0,
        java_id=int(number),
    )
    return Piece(start, end, thread, section.is_doubtful(read) and not thread.cut)


def _said_above(rest: bytes) -> tuple[LockLine, ...]:
    """The lock that the header names, where no line below does."""
    match = _ON.match(rest)
    if match is None:
        return ()
    return (LockLine(LockAct.WAITING_ON, shown(match[1]), shown(match[2])),)
