"""The lines below a header: frames, locks, the state.

A line is read once however often it stands in a file: dumps of one JVM repeat their lines, and a series of dumps its
whole stacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, TypeAlias, cast

from seedstall.model.threads import Frame, LockAct, LockLine
from seedstall.parse.text import shown

LONGEST: Final = 1 << 13
"""A longer line is neither frame nor lock: class names are at most 65,535 bytes, but real ones stay far below this."""
_MOST_LINES: Final = 50_000
_LONGEST_KEPT: Final = 400
_FEW: Final = 32
"""Lines kept in memory, and how long each may be, so that a log between the frames does not fill it."""


class Mark(Enum):
    """Lines that matter without having a value."""

    BLANK = "blank"
    OWNED = "Locked ownable synchronizers:"
    CUT = "cut"
    """A frame or lock that ends before it says what it is about."""
    FOREIGN = "foreign"


class Lock(NamedTuple):
    """A lock line by itself: its depth is known only with the frames above it."""

    act: LockAct
    class_name: str
    address: str | None


class CutFrame(NamedTuple):
    """A frame whose line ends before its closing bracket; class and method are whole."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class State:
    """A ``java.lang.Thread.State:`` line: the enum constant's name."""

    name: str


Line: TypeAlias = Frame | CutFrame | Lock | State | Mark


class Doubt(Enum):
    """What lines that are none of a dump's say of the stack they stand in."""

    NONE = "none"
    LINES = "lines"
    """Something stands where frames may be: a log's line, or frames damaged beyond recognition."""
    FRAMES = "frames"
    """Some of the lines are frames or locks that cannot be read."""


class Body(NamedTuple):
    """What stands below a header. ``offsets`` are the frames' line distances from the body's first line."""

    frames: tuple[Frame, ...]
    offsets: list[int]
    locks: tuple[LockLine, ...]
    state: str
    cut: bool
    doubt: Doubt


# Indentation, quoting, gutters and doubled words may stand before any of them; a bracket of the frame may be lost.
_LINE = re.compile(
    rb"[\s>|*]*+(?:\d{1,7}[:.)]?[\s|]++)?"
    rb"(?:(?:at\s++){1,3}+([^\s(]++) ?(?:\(([^()\n]*+)(\)?))?"
    rb"|-\s?([Ll]ocked|waiting to lock|waiting to re-lock in wait\(\)|waiting on|parking to wait for|eliminated)?"
    rb"(?![a-z])(.*)"
    rb"|(?:java\.lang\.)?Thread\.State:\s*+([A-Z_]++)"
    rb"|(Locked ownable synchronizers))",
    re.DOTALL,
)
_KNOWN_WORDS = re.compile(
    rb"[ \t>|*]*+(?:- None\b|No compile task|Compiling:|Carrying virtual thread|Mounted virtual thread"
    rb"|JavaThread state:|Thread: 0x|\s*$)"
)
"""What HotSpot itself prints among or instead of frames."""
_LIKE_FRAME = re.compile(
    rb"^[ \t>|*]*+(?:at\s|-\s(?:locked|waiting|parking)\b)"
    rb"|\((?:[^()\s]{0,200}/)?(?:Native[ \t]*Method|Unknown[ \t]*Source|[\w$]{1,200}\.java(?::\d{1,7})?)\)\s*$"
)
_LONGEST_LIKE: Final = 1000
_CALLED: Final = frozenset(
    (
        *("java.io.FileInputStream", "java.io.FilterInputStream", "java.io.BufferedInputStream"),
        *("java.lang.Object", "java.util.concurrent.locks.LockSupport"),
        *("sun.misc.Unsafe", "jdk.internal.misc.Unsafe"),
    )
)
"""Classes that no thread begins in: reading, waiting, parking."""
_BOTTOMS: Final = (
    "java.lang.Thread.run",
    "java.lang.VirtualThread.run",
    "jdk.internal.misc.InnocuousThread.run",
    "$ReferenceHandler.run",
    "$FinalizerThread.run",
    "jdk.internal.vm.Continuation.enter",
)
_WITHOUT_AT = re.compile(
    rb"[\s>|*]*+(?:\d{1,7}[:.)]?[\s|]++)?([^\s(:\"\[]++)\("
    rb"((?:[^()\s]{0,200}/)?(?:Native Method|Unknown Source|<generated>|[\w$-]{1,200}\.\w{1,12}(?::\d{1,7})?))\)\s*"
)
"""A frame that lost its ``at``: only what stands in the brackets tells it from prose."""
_AT = re.compile(rb"(?<!\S)(?:at\s++){1,3}")
_SPACED = re.compile(rb"(?<=[$./])[ \t]++|(?<![ \t])[ \t]++(?=[$./])")
_SPACED_SIGNS: Final = (b" $", b"$ ", b" .", b". ", b" /", b"/ ")
_CLASS_INIT = re.compile(rb"\s*the Class initialization monitor for ([^\s()]+)")
_OPERAND = re.compile(rb"\s*+(?:<([^<>]*)(>?))?\s*+(?:\(an? ([^()]*)(\)?))?")
_ADDRESS = re.compile(rb"[^\s<>]{2,40}")
_ACTS: Final = {
    b"locked": LockAct.LOCKED,
    b"Locked": LockAct.LOCKED,  # Spring Boot's plain text
    b"waiting to lock": LockAct.WAITING_TO_LOCK,
    b"waiting to re-lock in wait()": LockAct.WAITING_TO_LOCK,
    b"waiting on": LockAct.WAITING_ON,
    b"parking to wait for": LockAct.PARKING,
    b"eliminated": LockAct.ELIMINATED,
}
_STATES: Final = frozenset(
    (b"NEW", b"RUNNABLE", b"BLOCKED", b"WAITING", b"TIMED_WAITING", b"TERMINATED")
)


_STARTS: Final = (b"java.lang.Thread.State: ", b"at ", *(b"- " + act for act in _ACTS))
"""What is left of a line where a text was cut: "java.lang.Thr", "at", "- wai"."""
_LONGEST_START: Final = max(map(len, _STARTS))


class _Lines(dict[bytes, Line]):
    """Lines by their text, read where they are not known."""

    def __missing__(self, text: bytes) -> Line:
        read = _read(text)
        if len(text) < _LONGEST_KEPT:
            if len(self) >= _MOST_LINES:
                self.clear()
            self[text] = read
        return read


_lines = _Lines()


def line(text: bytes) -> Line:
    """Say what a line below a header is. Frames come without their place in the input."""
    return _lines[text]


def body(text: bytes) -> Body:
    """Read the lines below a header."""
    raws = text.split(b"\n")
    reads = [_lines[raw] for raw in raws]
    others = [index for index, read in enumerate(reads) if read.__class__ is not Frame]
    cut = False
    if any(reads[index] is Mark.CUT or reads[index].__class__ is CutFrame for index in others):
        reads, cut = _mended(raws, reads)
        others = [index for index, read in enumerate(reads) if read.__class__ is not Frame]
    locks: list[LockLine] = []
    state = ""
    owned = False
    for before, index in enumerate(others):
        read = reads[index]
        if isinstance(read, Lock):
            act = LockAct.OWNED if owned else read.act
            locks.append(LockLine(act, read.class_name, read.address, max(0, index - before - 1)))
        elif isinstance(read, State):
            state = state or read.name
        elif read is Mark.OWNED:
            owned = True
    doubt = _doubt(raws, reads, others)
    offsets, frames = _without(others, reads)
    cut = cut or _is_innermost_only(frames)
    return Body(tuple(frames), offsets, tuple(locks), state, cut, doubt)


def _doubt(raws: list[bytes], reads: list[Line], others: list[int]) -> Doubt:
    doubt = Doubt.NONE
    for index in others:
        if reads[index] is Mark.CUT:
            return Doubt.FRAMES
        if reads[index] is Mark.FOREIGN and not _KNOWN_WORDS.match(raws[index]):
            if _LIKE_FRAME.search(raws[index][:_LONGEST_LIKE]):
                return Doubt.FRAMES
            doubt = Doubt.LINES
    return doubt


def _is_innermost_only(frames: list[Frame]) -> bool:
    """Whether nothing is left of a stack but a read or a wait: somebody must have called that."""
    return (
        bool(frames)
        and frames[-1].class_name in _CALLED
        and all(frame.class_name in _CALLED for frame in frames)
    )


def is_bottom(frame: Frame) -> bool:
    """Whether *frame* is one that a thread begins with, as far as its name tells."""
    return frame.method == "main" or frame.name.endswith(_BOTTOMS)


def _without(others: list[int], reads: list[Line]) -> tuple[list[int], list[Frame]]:
    """The frames and where they stand. Taking out a few is quicker than choosing the many; many are not."""
    if len(others) > _FEW:
        places = [index for index, read in enumerate(reads) if read.__class__ is Frame]
        return places, cast("list[Frame]", [reads[index] for index in places])
    offsets = list(range(len(reads)))
    for index in reversed(others):
        del reads[index], offsets[index]
    return offsets, cast("list[Frame]", reads)


def _mended(raws: list[bytes], reads: list[Line]) -> tuple[list[Line], bool]:
    """Join what a mail program folded: a cut line with the one below it. Whether the last frame stays cut.

    A frame that lacks only its bracket is whole enough to be one.
    """
    mended: list[Line] = []
    cut = -1
    for index, (raw, read) in enumerate(zip(raws, reads, strict=True)):
        whole = read
        if read is Mark.FOREIGN and cut == index - 1 and cut >= 0:
            joined = line(raws[cut].rstrip() + raw.strip())
            if isinstance(joined, Frame | Lock):
                mended[cut] = joined
                cut = -1
        elif isinstance(read, CutFrame):
            whole, cut = read.frame, index
        elif read is Mark.CUT:
            cut = index
        elif isinstance(read, Frame):
            cut = -1
        mended.append(whole)
    return mended, cut >= 0


def _read(text: bytes) -> Line:
    if len(text) > LONGEST:
        return Mark.FOREIGN
    read = _as_it_is(text)
    if read is Mark.FOREIGN:
        return _healed(text)
    if isinstance(read, Lock) and "$" in read.class_name and " " in read.class_name:
        healed = _as_it_is(_SPACED.sub(b"", text))
        return healed if isinstance(healed, Lock) else read
    return read


def _healed(text: bytes) -> Line:
    """A frame without ``at``, or with blanks in its name as word processors and OCR put them there."""
    if b"(" not in text or not text.rstrip().endswith(b")"):
        return Mark.FOREIGN  # a log's line, mostly
    for whole in (
        text,
        _SPACED.sub(b"", text) if any(s in text for s in _SPACED_SIGNS) else b"",
    ):
        match = _WITHOUT_AT.fullmatch(_AT.sub(b"", whole, count=1))
        read = _frame(match[1], match[2], b")", b"") if match else None
        if isinstance(read, Frame):
            return read
    return Mark.FOREIGN


def _as_it_is(text: bytes) -> Line:
    match = _LINE.match(text)
    if match is None:
        return _odd(text)
    name, location, closed, act, operand, state, owned = match.groups()
    if name is not None:
        return _frame(name, location, closed, text[match.end() :])
    if state is not None:
        return State(shown(state)) if state in _STATES else Mark.CUT
    if owned is not None:
        return Mark.OWNED
    read = _lock(act, operand)
    return _odd(text) if read is Mark.FOREIGN else read


def _odd(text: bytes) -> Line:
    stripped = text.strip()
    if not stripped:
        return Mark.BLANK
    if len(stripped) > _LONGEST_START:
        return Mark.FOREIGN
    return Mark.CUT if any(start.startswith(stripped) for start in _STARTS) else Mark.FOREIGN


def _frame(name: bytes, location: bytes | None, closed: bytes | None, after: bytes) -> Line:
    class_name, dot, method = _without_module(name).rpartition(b".")
    if not dot or not class_name:
        return Mark.FOREIGN
    if location is None:
        # "at java.io.FileInputSt": where the name ends is not known, so it is none.
        return Mark.FOREIGN if after.strip() else Mark.CUT
    if not method:
        return Mark.FOREIGN
    place = shown(location.rpartition(b"/")[2].strip())
    frame = Frame(shown(class_name), shown(method), place)
    return frame if closed else CutFrame(frame)


_MODULE = re.compile(rb"(?:[\w.@+\-]*/){1,2}(?=[^\W\d])")
"""``java.base/``, ``java.base@17.0.15/``, ``app//``: but not ``Foo$$Lambda$2/0x00007f...``, a hidden class."""


def _without_module(name: bytes) -> bytes:
    match = _MODULE.match(name)
    return name[match.end() :] if match else name


def _lock(act: bytes | None, operand: bytes) -> Line:
    init = _CLASS_INIT.match(operand) if act == b"waiting on" else None
    if init:
        return Lock(LockAct.CLASS_INIT, shown(init[1]), None)
    match = _OPERAND.match(operand)
    inside, ended, class_name, closed = match.groups() if match else (None, None, None, None)
    if class_name is not None and closed:
        # "- <0x...> (a X)" stands below "Locked ownable synchronizers".
        return Lock(_ACTS[act] if act else LockAct.OWNED, shown(class_name), _address(inside))
    if act is None:
        return Mark.FOREIGN
    if class_name is None and inside is not None and ended:
        return _without_class(_ACTS[act], inside)
    prose = class_name is None and inside is None and operand.strip(b" (")
    return Mark.FOREIGN if prose else Mark.CUT


def _without_class(act: LockAct, inside: bytes) -> Line:
    """``<no object reference available>``, or ``<java.lang.Object@3fbcd7d7>`` as `Thread.dump_to_file` prints it."""
    class_name, at_sign, address = inside.partition(b"@")
    if at_sign:
        return Lock(act, shown(class_name), shown(address) or None)
    return Lock(act, "", _address(inside))


def _address(inside: bytes | None) -> str | None:
    """The lock's id where one is left: pages that take it for a tag leave ``<>`` or nothing."""
    return shown(inside) if inside is not None and _ADDRESS.fullmatch(inside) else None
