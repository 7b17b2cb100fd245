"""Dumps in other forms than HotSpot's own: where each lies in a text, and what the forms have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump
from seedstall.parse.text import Lines
from seedstall.parse.threaddump.frame import Body, Doubt, body
from seedstall.parse.threaddump.hotspot import TELLING

LONGEST: Final = 1 << 20
"""Bytes of one thread: HotSpot prints at most 1,024 frames (``MaxJavaStackTraceDepth``)."""
_TIME = re.compile(rb"(\d{4}[-/]\d\d[-/]\d\d)[ T](\d\d:\d\d:\d\d)")
_BANNERS = re.compile(rb"^[ \t>]*+(?:Full thread dump|Attaching to process ID)", re.MULTILINE)
_BLANK: Final = b"\t- None"
"""What may stand in place of a line that says nothing of the stack: HotSpot itself prints it there."""
_OBJECT = (
    rb"^[ \t>]*+-[ ]{1,4}(waiting on|blocked on|waiting to lock|waiting to re-lock|parking to wait for|[Ll]ocked)?"
    rb"[ ]{0,2}([\w.$/\[;-]{1,500})@([0-9a-fA-F]{1,16})[ \t]*+$"
)
_LOCK = re.compile(_OBJECT, re.MULTILINE)
_ACTS: Final = {
    b"blocked on": b"waiting to lock",
    b"Locked": b"locked",
    b"waiting to re-lock": b"waiting to lock",
}
_SYNCHRONIZERS = re.compile(
    rb"^[ \t]*+(?:Number of locked synchronizers = |Locked synchronizers: count = )\d{1,9}[ \t]*+$",
    re.MULTILINE,
)


class Section(NamedTuple):
    """A piece of a text that is a dump: its bytes from ``start`` to ``end``, which are nothing else."""

    start: int
    end: int
    dump: ThreadDump


class Piece(NamedTuple):
    """One thread of a dump, and whether some of its frames could not be read."""

    start: int
    end: int
    thread: JavaThread
    doubtful: bool


def objects_as_hotspot(stack: bytes) -> bytes:
    """Locks as ``ThreadInfo`` writes them (``-  locked a.B@1b2c``) in HotSpot's words; each line stays one line."""
    return _SYNCHRONIZERS.sub(b"   Locked ownable synchronizers:", _LOCK.sub(_as_hotspot, stack))


def _as_hotspot(match: re.Match[bytes]) -> bytes:
    act = match[1] or b""
    words = _ACTS.get(act, act)
    return b"\t- %b<%b> (a %b)" % (words + b" " if words else b"", match[3], match[2])


def without(pattern: re.Pattern[bytes], stack: bytes) -> tuple[bytes, int]:
    """*stack* without the lines that *pattern* matches, and how many they were; the others keep their numbers."""
    return pattern.subn(_BLANK, stack)


def stack_of(stack: bytes, lines: Lines, at: int) -> tuple[Body, tuple[Frame, ...]]:
    """Read a stack, and its frames with their lines: *at* is where its first line stands in the text.

    In a long text only the frames of a generator get them: one for each line of it would be a gigabyte.
    """
    read = body(stack)
    if not read.frames:
        return read, ()
    if lines.is_long and not any(word in stack for word in TELLING):
        return read, read.frames
    lines.at(at)
    frames = tuple(
        Frame(frame.class_name, frame.method, frame.location, lines.below(offset))
        for frame, offset in zip(read.frames, read.offsets, strict=True)
    )
    return read, frames


def is_doubtful(read: Body) -> bool:
    """Whether there are lines where frames should be, and not one of them can be read; or some cannot."""
    return read.doubt is Doubt.FRAMES or (not read.frames and read.doubt is not Doubt.NONE)


def told_acts(
    locks: Sequence[LockLine], frames: Sequence[Frame], state: str
) -> tuple[LockLine, ...]:
    """Lock lines with the act that state and frames tell: these forms say "waiting on" of all three."""
    parks = bool(frames) and frames[0].method == "park"
    waited = {lock.address for lock in locks if lock.act is LockAct.WAITING_ON and lock.depth == 0}
    told: list[LockLine] = []
    for lock in locks:
        if lock.act is LockAct.WAITING_ON and state == "BLOCKED":
            told.append(replace(lock, act=LockAct.WAITING_TO_LOCK))
        elif lock.act is LockAct.WAITING_ON and parks:
            told.append(replace(lock, act=LockAct.PARKING))
        elif not (parks and lock.act is LockAct.LOCKED and lock.address in waited):
            # Dropwizard prints what a parked thread waits for as locked by it, too.
            told.append(lock)
    return tuple(told)


def end_of_stack(data: bytes, eol: int, limit: int) -> int:
    """Where the paragraph that begins below *eol* ends: at a blank line, or at *limit*."""
    limit = min(limit, eol + LONGEST)
    banner = _BANNERS.search(data, min(eol + 1, limit), limit)
    limit = banner.start() if banner else limit
    end = data.find(b"\n\n", eol, limit)
    return end if end >= 0 else limit


def is_over(data: bytes, end: int, starts: tuple[bytes, ...]) -> bool:
    """Whether a dump that ends at *end* has its last blank line, and nothing below it that may be one more header."""
    rest = data[end : end + 200].lstrip()
    cut = any(rest and start.startswith(rest[: len(start)]) for start in starts)
    return data.startswith(b"\n\n", end) and not cut


def taken_at(data: bytes, start: int) -> str:
    """The time that stands in one of the three lines above *start*, ``YYYY-MM-DD HH:MM:SS``; ``""`` if none."""
    above = data[max(0, start - 400) : start].split(b"\n")[-4:]
    for line in reversed(above):
        match = _TIME.search(line)
        if match:
            return f"{match[1].decode().replace('/', '-')} {match[2].decode()}"
    return ""


def dump_of(
    origin: str, pieces: Sequence[Piece], line: int, *, whole: bool, **known: object
) -> ThreadDump:
    """A dump of *pieces*; *whole* says that it is known to run from its first thread to its last."""
    unread = sum(piece.doubtful or piece.thread.cut for piece in pieces)
    return ThreadDump(
        origin,
        tuple(piece.thread for piece in pieces),
        line,
        complete=whole and not unread,
        unread=unread,
        **known,  # type: ignore[arg-type]
    )


def apart(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Threads of one form after the other, as dumps: one begins where a thread comes that the last one has already."""
    dumps: list[list[Piece]] = []
    seen: set[object] = set()
    for piece in pieces:
        thread = piece.thread
        ids = (thread.java_id, thread.nid)
        key = thread.name if ids == (None, None) else ids
        if not dumps or key in seen:
            dumps.append([])
            seen = set()
        seen.add(key)
        dumps[-1].append(piece)
    return dumps
