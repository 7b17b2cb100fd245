"""What the serviceability agent prints: ``jstack -F`` and ``-m`` (6 to 8), ``jhsdb jstack`` and ``--mixed`` (9+).

It reads the memory of a stopped process or a core. Up to 8 a thread is its kernel id and the VM's own state of it
(``BLOCKED`` there means any wait, not that for a monitor); from 9 on it has HotSpot's header. Its frames are
`` - a.B.c(int) @bci=4, line=12 (Interpreted frame)``, mixed ones ``0x... * a.B.c(int) bci:4 line:12 (...)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from seedstall.knowledge.stacks import BLOCKED_IN_VM
from seedstall.model.jdk import JdkVersion
from seedstall.model.threads import JavaThread
from seedstall.parse.jdkversion import vm_banner
from seedstall.parse.text import Lines, Text, shown
from seedstall.parse.threaddump import deadlock, section
from seedstall.parse.threaddump.frame import is_bottom
from seedstall.parse.threaddump.header import Header, header
from seedstall.parse.threaddump.section import Piece, Section

_FAR: Final = 1 << 16
"""Bytes above the first thread that the agent's own words and its deadlock report may take."""

_HEAD = re.compile(
    rb"^[ \t>]{0,20}(?:Thread (\d{1,10}): \(state = ([A-Z_]{2,20})\)|-{5,40} (\d{1,10}) -{5,40}"
    rb'|("[^\n]{1,4000} tid=0x[0-9a-f]{1,16} nid=[^\n]{1,200}))[ \t]*$',
    re.MULTILINE,
)
_OURS = re.compile(rb"[@ ]bci[=:]|JavaThread state: _thread_")
_PROLOGUE = re.compile(
    rb"^[ \t>]{0,20}(?:Attaching to (?:process ID|core)|Debugger attached|(?:Server|Client|Minimal|Core) compiler"
    rb"|JVM version is|Deadlock Detection:)",
    re.MULTILINE,
)
_VERSION = re.compile(rb"JVM version is (\S{1,100})")
_PROCESS = re.compile(rb"Attaching to process ID (\d{1,9})")
_FRAME = re.compile(
    rb"^[ \t>]*+(?:- |0x[0-9a-f]{1,16}[ \t]++\* ?)([^\s()]{1,1000})\([^()\n]{0,4000}\)[ \t]*+"
    rb"(?:@bci=|bci:)(-?\d{1,9})(?:,? ?line[=:](\d{1,9}))?[^\n]*+$",
    re.MULTILINE,
)
_LOCK_CLASS = re.compile(rb">,? \(a ([\w/$.\[;]{1,500})\)")
_VM_STATE = re.compile(rb"JavaThread state: _thread_(\w{1,30})")
_FAILED = re.compile(rb"^Error occurred during stack walking", re.MULTILINE)


class _Head(NamedTuple):
    """Where a thread's header stands, what it says, and the VM's state of it."""

    start: int
    eol: int
    header: Header
    vm_state: str
    limit: int
    """Where the next one stands."""


def sections(text: Text, origin: str) -> Iterator[Section]:
    """Each dump of *text* in this form."""
    data = text.data
    lines = Lines(text)
    done = 0
    for heads in _dumps(data):
        start = _start(data, max(done, heads[0].start - _FAR), heads[0].start)
        lines.at(start)
        line = lines.at(start)
        above = data[start : heads[0].start]
        found = above.find(deadlock.START)
        cycles = tuple(_cycles(data, start + found, heads[0].start)) if found >= 0 else ()
        pieces = [_piece(data, lines, head) for head in heads]
        done = pieces[-1].end
        # Where native frames are shown, those of a Java thread may hide its Java ones.
        mixed = data.startswith(b"-----", heads[0].start)
        process = _PROCESS.search(above)
        version = _VERSION.search(above)
        vm = shown(version[1]) if version else ""
        dump = section.dump_of(
            origin,
            pieces,
            line,
            whole=bool(above.strip()) and not mixed and _has_ended(data, pieces),
            taken_at=section.taken_at(data, start),
            vm=vm,
            jdk=_jdk(vm),
            deadlocks=cycles,
            process=int(process[1]) if process else None,
            form="jhsdb jstack",
        )
        yield Section(start, done, dump)


def _heads(data: bytes) -> Iterator[_Head]:
    matches = list(_HEAD.finditer(data))
    for index, match in enumerate(matches):
        number, state, dashed, line = match.groups()
        limit = matches[index + 1].start() if index + 1 < len(matches) else len(data)
        if line is None:
            nid = int(number or dashed)
            head = Header(f"Thread {nid}", nid)
            yield _Head(match.start(), match.end(), head, shown(state) if state else "", limit)
            continue
        # HotSpot's own text has the same header: what stands below it tells.
        read = header(line)
        above = matches[index - 1] if index else None
        ours = above is not None and above[3] and not data[above.end() : match.start()].strip()
        if not ours:
            ours = _OURS.search(data, match.end(), min(limit, match.end() + _FAR)) is not None
        if read is not None and ours:
            yield _Head(match.start(), match.end(), read, "", limit)


def _dumps(data: bytes) -> Iterator[list[_Head]]:
    """The headers of each dump; in mixed ones a line of dashes and HotSpot's header are one thread."""
    dump: list[_Head] = []
    seen: set[int | None] = set()
    for head in _heads(data):
        if (
            dump
            and dump[-1].header.tid == b""
            and head.header.tid
            and _adjoins(data, dump[-1], head)
        ):
            dump[-1] = head._replace(start=dump[-1].start)
            continue
        if dump and (head.header.nid in seen or _PROLOGUE.search(data, dump[-1].eol, head.start)):
            yield dump
            dump, seen = [], set()
        seen.add(head.header.nid)
        dump.append(head)
    if dump:
        yield dump


def _adjoins(data: bytes, above: _Head, below: _Head) -> bool:
    return above.header.nid == below.header.nid or not data[above.eol : below.start].strip()


def _start(data: bytes, least: int, first: int) -> int:
    match = _PROLOGUE.search(data, least, first)
    return match.start() if match else first


def _cycles(data: bytes, at: int, limit: int) -> Iterator[tuple[str, ...]]:
    while at >= 0:
        stop, names = deadlock.section(data, at, limit)
        if names:
            yield names
        at = data.find(deadlock.START, stop, limit)


def _piece(data: bytes, lines: Lines, head: _Head) -> Piece:
    line = lines.at(head.start)
    end = section.end_of_stack(data, head.eol, head.limit)
    if data.startswith(b"\n\nLocked ownable synchronizers", end):
        end = section.end_of_stack(data, end + 2, head.limit)
    raw = data[head.eol + 1 : end]
    failed = _FAILED.search(raw)
    stack = raw[: failed.start()] if failed else raw
    stack = _LOCK_CLASS.sub(_dotted, _FRAME.sub(_as_hotspot, stack))
    read, frames = section.stack_of(stack, lines, head.eol + 1)
    vm_state = _VM_STATE.search(stack)
    state, activity = _state(head, read.state, shown(vm_state[1]) if vm_state else "")
    given = head.header
    thread = JavaThread(
        given.name,
        frames,
        read.locks,
        given.nid,
        state,
        activity,
        given.daemon,
        line=line,
        cut=read.cut or failed is not None,
        java_id=given.java_id,
    )
    doubtful = section.is_doubtful(read) and not thread.cut
    if doubtful and not frames and not given.tid:
        doubtful = False  # a native thread in a mixed dump: it has no Java frames
    return Piece(head.start, end, thread, doubtful)


def _state(head: _Head, state: str, vm_state: str) -> tuple[str, str]:
    """The thread's state and what it does. The VM's BLOCKED is any wait: only the frames tell which."""
    if head.vm_state:
        blocked = head.vm_state == "BLOCKED"
        return ("", BLOCKED_IN_VM) if blocked else ("RUNNABLE", head.vm_state)
    if state == "RUNNABLE" and vm_state == "blocked" and not head.header.activity:
        return state, BLOCKED_IN_VM
    return state, head.header.activity


def _as_hotspot(match: re.Match[bytes]) -> bytes:
    place = b"line " + match[3] if match[3] else b"bci " + match[2]
    return b"\tat %b(%b)" % (match[1], place)


def _dotted(match: re.Match[bytes]) -> bytes:
    return b"> (a " + match[1].replace(b"/", b".") + b")"


def _has_ended(data: bytes, pieces: list[Piece]) -> bool:
    """Whether the last thread is there to its end: a blank line below it, and its stack down to where one begins."""
    last = pieces[-1]
    frames = last.thread.frames
    over = section.is_over(data, last.end, (b"Thread ", b"-----", b'"'))
    return over and (not frames or is_bottom(frames[-1]))


def _jdk(version: str) -> JdkVersion | None:
    try:
        return vm_banner(f"OpenJDK VM ({version} mixed mode)") if version else None
    except ValueError:
        return None
