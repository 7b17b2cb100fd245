"""IBM's and OpenJ9's javacores: lines that begin with a tag, of which threads, locks and the title are read.

Tags are those of the OpenJ9 documentation (*Java dump*); IBM 1.4 to 6 print fewer of them, and the native id in the
thread's first line. ``4XESTACKTRACE`` has slashes for dots. States are R, CW, B, P, S, Z.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from seedstall.model.jdk import JdkVersion
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump
from seedstall.parse.jdkversion import vm_banner
from seedstall.parse.text import Text, shown
from seedstall.parse.threaddump.section import Section

SIGN: Final = b"3XMTHREADINFO"
_LONGEST: Final = 1 << 13
_MOST_FRAMES: Final = 10_000
_STATES: Final = {
    "R": "RUNNABLE",
    "CW": "WAITING",
    "B": "BLOCKED",
    "P": "WAITING",
    "Z": "TERMINATED",
    "S": "",
}
_TAGGED: Final = (
    rb"\b(0SECTION|NULL|[1-5](?:TI|CI|XM|XE|LK|ST|CL|SC)[A-Z0-9]{2,20})\b[ \t]*([^\n]*)"
)
_TAG = re.compile(_TAGGED)
_PREFIXED_TAG = re.compile(rb"[^\n]{0,200}?" + _TAGGED)
_HEADER = re.compile(rb'"(.*)"[ ,(]{0,4}(?:J9VMThread|TID): ?(0x[0-9A-Fa-f]{1,16})(.*)', re.DOTALL)
_STATE = re.compile(rb"\bstate: ?([A-Z]{1,2})\b")
_NATIVE = re.compile(rb"native (?:thread )?ID: ?(0x[0-9A-Fa-f]{1,16}|\d{1,18})", re.IGNORECASE)
_JAVA_ID = re.compile(rb"getId: ?(0x[0-9A-Fa-f]{1,16}|\d{1,18})")
_CPU = re.compile(rb"CPU usage total: (\d{1,12}(?:\.\d{1,9})?) secs")
_BLOCK = re.compile(
    rb"(Blocked|Waiting|Parked) on: ?([^\s@]{1,500})@(0x[0-9A-Fa-f]{1,16})(.*)", re.IGNORECASE
)
_FRAME = re.compile(rb"at ([^\s()]{1,1000})\.([^\s().]{1,500})\((.*)\)")
_ENTERED = re.compile(rb"entered lock: ?([^\s@]{1,500})@(0x[0-9A-Fa-f]{1,16})")
_DATE = re.compile(rb"(\d{4})/(\d\d)/(\d\d) at (\d\d:\d\d:\d\d)(?::(\d{1,3}))?")
_NUMBER = re.compile(rb"(\d{1,9})")
_QUOTED = re.compile(rb'"(.*)"', re.DOTALL)
_ACTS: Final = {
    b"blocked": LockAct.WAITING_TO_LOCK,
    b"waiting": LockAct.WAITING_ON,
    b"parked": LockAct.PARKING,
}
_SLASH = re.compile(rb"/(?!0x)")


@dataclass(slots=True)
class _Thread:
    """A thread while it is read."""

    name: str
    address: bytes
    line: int
    state: str
    nid: int | None
    java_id: int | None = None
    daemon: bool = False
    cpu_ms: float | None = None
    frames: list[Frame] = field(default_factory=list[Frame])
    locks: list[LockLine] = field(default_factory=list[LockLine])
    cut: bool = False
    told: bool = False
    """Whether the line stands that says what stack there is."""

    def closed(self) -> JavaThread:
        """The thread as far as it was read."""
        return JavaThread(
            self.name,
            tuple(self.frames),
            tuple(self.locks),
            self.nid,
            self.state,
            daemon=self.daemon,
            cpu_ms=self.cpu_ms,
            line=self.line,
            cut=self.cut,
            java_id=self.java_id,
        )


@dataclass(slots=True)
class _Open:
    """A javacore while it is read."""

    start: int
    line: int
    end: int = 0
    taken_at: str = ""
    vm: str = ""
    process: int | None = None
    live: int = 0
    """Live threads that it says the JVM has."""
    ended: bool = False
    threads: dict[bytes, _Thread] = field(default_factory=dict[bytes, _Thread])
    now: _Thread | None = None
    cycles: list[list[str]] = field(default_factory=list[list[str]])

    def closed(self, origin: str) -> ThreadDump:
        """The dump as far as it was read."""
        threads = tuple(thread.closed() for thread in self.threads.values())
        unread = sum(thread.cut for thread in threads)
        return ThreadDump(
            origin,
            threads,
            self.line,
            self.taken_at,
            self.vm,
            _version(self.vm),
            tuple(tuple(dict.fromkeys(cycle)) for cycle in self.cycles),
            complete=self.ended and not unread and len(threads) >= max(1, self.live),
            unread=unread,
            form="javacore",
            process=self.process,
        )


def sections(text: Text, origin: str) -> Iterator[Section]:
    """Each javacore of *text*."""
    for core in _cores(text):
        if core.threads:
            yield Section(core.start, core.end, core.closed(origin))


def _cores(text: Text) -> Iterator[_Open]:
    core: _Open | None = None
    offset = 0
    first = text.data.find(SIGN)
    begins_line = first == 0 or text.data[first - 1 : first] == b"\n"
    tag_of = _TAG if begins_line else _PREFIXED_TAG  # a log collector's prefix may stand before
    for index, raw in enumerate(text.data.split(b"\n")):
        start, offset = offset, offset + len(raw) + 1
        match = tag_of.match(raw[:_LONGEST])
        if match is None:
            continue
        tag, rest = match.groups()
        number = index + 1 if not text.numbers else text.numbers[min(index, len(text.numbers) - 1)]
        begins = (tag == b"0SECTION" and rest.startswith(b"TITLE")) or (
            tag == b"1TIDATETIME" and core is not None and core.taken_at != ""
        )
        if core is None or begins:
            if core is not None:
                yield core
            core = _Open(start, number)
        core.end = start + len(raw)
        _take(core, tag, rest, number)
    if core is not None:
        if core.now is not None and not core.ended:
            core.now.cut = core.now.cut or not text.data.endswith(b"\n")
        yield core


def _take(core: _Open, tag: bytes, rest: bytes, line: int) -> None:
    """Take in one line."""
    if tag == b"3XMTHREADINFO":
        _begin(core, rest, line)
    elif tag[:3] in (b"3XM", b"4XE", b"5XE"):
        if core.now is not None:
            _of_thread(core.now, tag, rest, line)
    elif tag == b"0SECTION":
        core.ended = core.ended or bool(core.threads)
        core.now = None
    elif tag == b"1XMTHDSUMMARY":
        core.now, core.ended = None, True
    else:
        _of_core(core, tag, rest)


def _of_core(core: _Open, tag: bytes, rest: bytes) -> None:
    if tag == b"1TIDATETIME":
        match = _DATE.search(rest)
        if match and not core.taken_at:
            day = b"-".join(match.group(1, 2, 3))
            core.taken_at = shown(day + b" " + match[4] + (b"." + match[5] if match[5] else b""))
    elif tag == b"1CIJAVAVERSION":
        core.vm = core.vm or shown(tag + b" " + rest)
    elif tag == b"1CIPROCESSID":
        match = _NUMBER.search(rest)
        core.process = int(match[1]) if match else None
    elif tag == b"2XMPOOLLIVE":
        match = _NUMBER.search(rest)
        core.live = int(match[1]) if match else 0
    elif tag == b"1LKDEADLOCK":
        core.cycles.append([])
    elif tag == b"2LKDEADLOCKTHR" and core.cycles:
        match = _QUOTED.search(rest)
        if match and len(core.cycles[-1]) < _MOST_FRAMES:
            core.cycles[-1].append(shown(match[1]))


def _begin(core: _Open, rest: bytes, line: int) -> None:
    match = _HEADER.search(rest)
    if match is None:
        core.now = None  # "Anonymous native thread": not the JVM's
        return
    name, address, more = match.groups()
    state = _STATE.search(more)
    native = _NATIVE.search(more)
    # The thread that asked for the dump is printed twice: as the current one, and in its place.
    core.now = core.threads[address] = _Thread(
        shown(name),
        address,
        line,
        _STATES.get(shown(state[1]), "") if state else "",
        _number(native[1]) if native else None,
    )


def _number(told: bytes) -> int:
    """A number in decimal or with 0x; a damaged one may begin with a zero, which Python's own base 0 refuses."""
    return int(told, 16 if told[:2].lower() == b"0x" else 10)


def _of_thread(now: _Thread, tag: bytes, rest: bytes, line: int) -> None:
    if tag == b"4XESTACKTRACE":
        _frame(now, rest, line)
    elif tag == b"5XESTACKTRACE":
        match = _ENTERED.search(rest)
        if match:
            depth = max(0, len(now.frames) - 1)
            now.locks.append(LockLine(LockAct.LOCKED, _dotted(match[1]), shown(match[2]), depth))
    elif tag == b"3XMTHREADINFO1":
        match = _NATIVE.search(rest)
        now.nid = _number(match[1]) if match else now.nid
    elif tag == b"3XMJAVALTHREAD":
        match = _JAVA_ID.search(rest)
        now.java_id = _number(match[1]) if match else None
        now.daemon = b"isDaemon:true" in rest
    elif tag == b"3XMCPUTIME":
        match = _CPU.search(rest)
        now.cpu_ms = round(float(match[1]) * 1000, 3) if match else None
    elif tag == b"3XMTHREADBLOCK":
        _blocked(now, rest)


def _frame(now: _Thread, rest: bytes, line: int) -> None:
    match = _FRAME.search(rest)
    if match is None:
        now.cut = now.cut or rest.startswith(b"at")
        return
    if len(now.frames) < _MOST_FRAMES:
        place = shown(match[3].replace(b"(Compiled Code)", b"").strip())
        now.frames.append(Frame(_dotted(match[1]), shown(match[2]), place, line))


def _blocked(now: _Thread, rest: bytes) -> None:
    match = _BLOCK.search(rest)
    if match is None:
        return
    act, class_name, address, more = match.groups()
    if b"Initializing thread:" in more:
        now.locks.insert(0, LockLine(LockAct.CLASS_INIT, "", shown(address)))
        return
    now.locks.insert(0, LockLine(_ACTS[act.lower()], _dotted(class_name), shown(address)))


def _dotted(name: bytes) -> str:
    """``java/lang/Object`` as Java writes it; a hidden class keeps its address (``X$$Lambda$72/0x...``)."""
    return shown(_SLASH.sub(b".", name))


def _version(vm: str) -> JdkVersion | None:
    try:
        return vm_banner(vm) if vm else None
    except ValueError:
        return None
