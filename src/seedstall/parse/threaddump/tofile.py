"""What ``jcmd PID Thread.dump_to_file`` writes, as text or JSON (JDK 21+): virtual threads too, no kernel ids.

The process id, which JDK 21 to 25 write as a string, is the JVM's in its own pid namespace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, cast

from seedstall.model.jdk import JdkVersion
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump
from seedstall.parse.jdkversion import jdk_version
from seedstall.parse.text import Lines, Text, shown
from seedstall.parse.threaddump.frame import is_bottom, line
from seedstall.parse.threaddump.section import (
    Piece,
    Section,
    apart,
    dump_of,
    end_of_stack,
    is_doubtful,
    is_over,
    stack_of,
)

_HEADER = re.compile(
    rb'^#(\d{1,18}) "([^\n]{0,10000}(?:\n[^\n#]{1,1000}){0,2}?)"( virtual)?(?: ([A-Z_]{3,13}))?'
    rb"(?: (\d{4}-\d\d-\d\dT[^\s]{8,40}))?[ \t]*$",
    re.MULTILINE,
)
_WITHOUT_AT = re.compile(rb"^ {4,8}(?=[\w$])(?!at )", re.MULTILINE)
"""Frames as JDK 21 writes them; later ones have an ``at``."""
_HEAD = re.compile(rb"(?<![^\n])(\d{1,10})\n(\d{4}-\d\d-\d\dT\S{8,40})\n(\S{1,60})\n")
_LONGEST_HEAD: Final = 200
_FAR_THREAD: Final = 400
_SIGN: Final = b'"threadDump"'
_MOST: Final = 1000
"""JSON documents looked for in one text."""
_MOST_BROKEN: Final = 3
"""Threads of a cut document that cannot be read before it is given up."""
_TID = re.compile(r'\{\s{0,80}"tid"\s{0,9}:')


def sections(text: Text, origin: str) -> Iterator[Section]:
    """Each dump of *text* in this form."""
    if _SIGN in text.data:
        yield from _documents(text, origin)
    yield from _texts(text, origin)


def stated(data: bytes) -> str:
    """The JDK's version that such a text has in its third line; ``""`` where *data* does not begin so."""
    match = _HEAD.match(data[:_LONGEST_HEAD].lstrip())
    return shown(match[3]) if match and b"\n#" in data[:_FAR_THREAD] else ""


def _texts(text: Text, origin: str) -> Iterator[Section]:
    """The dumps written as text: threads one after the other, below three lines that say of what."""
    lines = Lines(text)
    for dump in apart(_pieces(text.data, lines)):
        start, end = dump[0].start, dump[-1].end
        above = list(_HEAD.finditer(text.data, max(0, start - _LONGEST_HEAD), start))
        head = above[-1] if above else None
        start = head.start() if head else start
        # Each thread has a blank line below it, the last one too; what was pasted may have lost that.
        frames = dump[-1].thread.frames
        ended = is_over(text.data, end, (b"#",)) or (
            frames and is_bottom(frames[-1]) and _ends_in_lines(text.data, end)
        )
        version = shown(head[3]) if head else ""
        if head is None and not any(piece.thread.frames for piece in dump):
            continue  # "#12 "title"": somebody's list
        made = dump_of(
            origin,
            dump,
            lines.at(start),
            whole=head is not None and bool(ended),
            taken_at=shown(head[2]) if head else "",
            vm=version,
            jdk=_version(version),
            process=int(head[1]) if head else None,
            form="Thread.dump_to_file",
        )
        yield Section(start, end, made)


def _ends_in_lines(data: bytes, end: int) -> bool:
    """Whether nothing but line feeds stands below *end*, not the indentation of one frame more."""
    return not data[end:].strip() and data[-80:].rstrip() == data[-80:].rstrip(b"\n")


def _pieces(data: bytes, lines: Lines) -> Iterator[Piece]:
    headers = list(_HEADER.finditer(data))
    for index, match in enumerate(headers):
        limit = headers[index + 1].start() if index + 1 < len(headers) else len(data)
        end = end_of_stack(data, match.end(), limit)
        number = lines.at(match.start())
        stack = _WITHOUT_AT.sub(b"at ", data[match.end() + 1 : end])
        read, frames = stack_of(stack, lines, match.end() + 1)
        thread = JavaThread(
            shown(match[2]),
            frames,
            read.locks,
            state=shown(match[4]) if match[4] else "",
            line=number,
            cut=read.cut,
            java_id=int(match[1]),
        )
        # Lines that no frame came out of: an unmounted or native thread has none at all.
        yield Piece(match.start(), end, thread, is_doubtful(read) and not read.cut)


def _documents(text: Text, origin: str) -> Iterator[Section]:
    """The dumps written as JSON."""
    data = text.data.decode("utf-8", "replace")
    same = len(data) == len(text.data)
    decoder = json.JSONDecoder()
    sign = _SIGN.decode()
    at = data.find(sign)
    for _ in range(_MOST):
        if at < 0:
            return
        start = data.rfind("{", max(0, at - 200), at)
        start = start if start >= 0 else at
        following = data.find(sign, at + len(sign))
        limit = following if following >= 0 else len(data)
        end, dump = _document(decoder, data, start, limit, text, origin)
        if dump is not None:
            span = (start, end) if same else (len(data[:start].encode()), len(data[:end].encode()))
            yield Section(*span, dump)
        at = data.find(sign, max(end, at + len(sign)))


def _document(
    decoder: json.JSONDecoder, data: str, start: int, limit: int, text: Text, origin: str
) -> tuple[int, ThreadDump | None]:
    try:
        whole, end = decoder.raw_decode(data, start)
        found = _member(whole, "threadDump")
        pieces = _of_document(data[start:end], found, start)
        cut = False
        if not pieces:  # a key was damaged
            cut = True
            pieces, _ = _one_by_one(decoder, data, start, end)
    except (ValueError, RecursionError):
        # Cut off or damaged: each thread by itself, as far as they are whole.
        cut, found = True, _head(data[start:limit])
        pieces, end = _one_by_one(decoder, data, start, limit)
    if not pieces:
        return max(end, start + 1), None
    numbers = _numbers(data, [piece.start for piece in pieces], text)
    placed = [
        piece._replace(thread=replace(piece.thread, line=number))
        for piece, number in zip(pieces, numbers, strict=True)
    ]
    lacking = cut or any(_is_lacking(one) for one in _list(found, "threadContainers"))
    version = _text(found, "runtimeVersion")
    process = str(found.get("processId", ""))
    dump = dump_of(
        origin,
        placed,
        _numbers(data, [start], text)[0],
        whole=not lacking,
        taken_at=_text(found, "time"),
        vm=version,
        jdk=_version(version),
        process=int(process[:18]) if process.isascii() and process.isdigit() else None,
        form="Thread.dump_to_file",
    )
    return end, dump


def _of_document(data: str, found: dict[str, object], start: int) -> list[Piece]:
    """The threads of a whole document; their names stand in it in the same order, once each."""
    entries = [one for held in _list(found, "threadContainers") for one in _list(held, "threads")]
    places = [match.start() for match in re.finditer('"name":', data)]
    if len(places) != len(entries):
        places = [0] * len(entries)
    return [
        Piece(start + place, start + place, _json_thread(entry), _is_unread(entry))
        for place, entry in zip(places, entries, strict=True)
    ]


def _one_by_one(
    decoder: json.JSONDecoder, data: str, start: int, limit: int
) -> tuple[list[Piece], int]:
    pieces: list[Piece] = []
    end, broken = start, 0
    while broken < _MOST_BROKEN and (match := _TID.search(data, end, limit)):
        try:
            entry, stop = decoder.raw_decode(data, match.start())
        except (ValueError, RecursionError):
            broken, end = broken + 1, match.end()
            continue
        thread = _json_thread(cast("dict[str, object]", entry))
        name = data.find('"name"', match.start(), stop)
        pieces.append(Piece(max(name, match.start()), stop, thread, _is_unread(entry)))
        end = stop
    return pieces, limit if broken else end


def _head(data: str) -> dict[str, object]:
    """The document's own members, read one by one."""
    found: dict[str, object] = {}
    for key in ("processId", "time", "runtimeVersion"):
        match = re.search(rf'"{key}"\s{{0,9}}:\s{{0,9}}"?([^"\n,]{{1,80}})', data[:2000])
        if match:
            found[key] = match[1]
    return found


def _numbers(data: str, places: list[int], text: Text) -> list[int]:
    """The line of each place, in the text as it was given."""
    numbers: list[int] = []
    index = done = 0
    for place in places:
        if place < done:
            index = done = 0
        index += data.count("\n", done, place)
        done = place
        given = text.numbers
        numbers.append(index + 1 if not given else given[min(index, len(given) - 1)])
    return numbers


def _json_thread(thread: dict[str, object]) -> JavaThread:
    number = str(thread.get("tid", ""))
    return JavaThread(
        _text(thread, "name"),
        tuple(_frames(thread)),
        tuple(_locks(thread)),
        state=_text(thread, "state"),
        java_id=int(number[:18]) if number.isascii() and number.isdigit() else None,
    )


def _is_unread(thread: dict[str, object]) -> bool:
    """Whether there are entries in its stack that are no frames."""
    stack = thread.get("stack")
    entries = len(cast("list[object]", stack)) if isinstance(stack, list) else 0
    return sum(1 for _ in _frames(thread)) < entries


def _is_lacking(container: dict[str, object]) -> bool:
    """Whether fewer threads are there than ``threadCount`` says."""
    said = str(container.get("threadCount", ""))
    return said.isascii() and said.isdigit() and int(said[:9]) > len(_list(container, "threads"))


def _frames(thread: dict[str, object]) -> Iterator[Frame]:
    stack = thread.get("stack")
    for entry in cast("list[object]", stack) if isinstance(stack, list) else []:
        read = line(b"at " + str(entry).encode("utf-8", "replace"))
        if isinstance(read, Frame):
            yield read


def _locks(thread: dict[str, object]) -> Iterator[LockLine]:
    """JDK 25 names what a thread waits for and owns: ``java.lang.Object@3fbcd7d7``."""
    acts = {
        "waitingOn": LockAct.WAITING_ON,
        "blockedOn": LockAct.WAITING_TO_LOCK,
        "parkBlocker": LockAct.PARKING,
    }
    for key, act in acts.items():
        found = thread.get(key)
        named = (
            _text(cast("dict[str, object]", found), "object") if isinstance(found, dict) else found
        )
        if isinstance(named, str) and named:
            class_name, _, address = named.partition("@")
            yield LockLine(act, class_name, address or None)
    for owned in _list(thread, "monitorsOwned"):
        depth = owned.get("depth")
        locks = owned.get("locks")
        for lock in cast("list[object]", locks) if isinstance(locks, list) else []:
            class_name, _, address = str(lock).partition("@")
            at = depth if isinstance(depth, int) else 0
            yield LockLine(LockAct.LOCKED, class_name, address or None, at)


def _version(text: str) -> JdkVersion | None:
    try:
        return jdk_version(text)
    except ValueError:
        return None


def _member(value: object, key: str) -> dict[str, object]:
    found = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _list(value: dict[str, object], key: str) -> list[dict[str, object]]:
    found = value.get(key)
    items = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]


def _text(value: dict[str, object], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""
