"""``ThreadInfo`` as JSON: Spring Boot's ``/actuator/threaddump`` and 1.x's ``/dump``, Jolokia's ``dumpAllThreads``.

All write the bean's properties (``threadName``, ``stackTrace``, ``lockInfo``, ``lockedMonitors``), in any order. Each
thread is read by itself, so that a text cut off, or with something before and behind the JSON, gives all that is whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple, TypeGuard, cast

from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine
from seedstall.parse.text import Text
from seedstall.parse.threaddump import section
from seedstall.parse.threaddump.section import Piece, Section

SIGN: Final = b'"threadName"'
_OBJECT = re.compile(r"[\[,]\s{0,80}(?=\{)")
_BETWEEN = re.compile(r"\s*,\s*")
_CLOSED = re.compile(r"\s*\]")
_MOST_TRIES: Final = 64
"""Objects that cannot be read, or hold others that have threads, before the text is given up."""
_NATIVE_LINE: Final = -2


class _Entry(NamedTuple):
    """A thread's object: where it stands, and whether the array goes on, ends or breaks off behind it."""

    start: int
    end: int
    value: dict[str, object]
    closes: bool


def sections(text: Text, origin: str) -> Iterator[Section]:
    """Each array of threads in *text*."""
    data = text.data.decode("utf-8", "replace")
    same = len(data) == len(text.data)  # ASCII: offsets are those of the bytes
    for entries in _arrays(data):
        numbers = _lines(data, entries, text)
        pieces = [
            Piece(entry.start, entry.end, _thread(entry.value, line), _is_lacking(entry.value))
            for entry, line in zip(entries, numbers, strict=True)
        ]
        start, end = _object_start(data, entries[0].start), entries[-1].end
        offsets = (start, end) if same else (len(data[:start].encode()), len(data[:end].encode()))
        whole = entries[-1].closes and all(
            _BETWEEN.fullmatch(data, one.end, other.start) for one, other in pairwise(entries)
        )
        dump = section.dump_of(origin, pieces, numbers[0], whole=whole, form="threaddump JSON")
        yield Section(*offsets, dump)


def _arrays(data: str) -> Iterator[list[_Entry]]:
    """The threads of each array; those that can be read, where others of it cannot."""
    entries: list[_Entry] = []
    for entry in _entries(data):
        if entries and entries[-1].closes:
            yield entries
            entries = []
        entries.append(entry)
    if entries:
        yield entries


def _entries(data: str) -> Iterator[_Entry]:
    decoder = json.JSONDecoder()
    sign = SIGN.decode()
    at = tries = 0
    while tries < _MOST_TRIES:
        match = _OBJECT.search(data, at)
        if match is None:
            return
        start = at = match.end()
        try:
            value, end = decoder.raw_decode(data, start)
        except (ValueError, RecursionError):
            tries += 1
            continue
        if not _is_thread(value):
            # A frame or a lock; or what has threads within it.
            within = data.find(sign, start, end) >= 0
            tries += within
            at = start + 1 if within else end
            continue
        closed = _CLOSED.match(data, end)
        yield _Entry(start, closed.end() if closed else end, value, closed is not None)
        at = end


def _is_thread(value: object) -> TypeGuard[dict[str, object]]:
    if not isinstance(value, dict):
        return False
    value = cast("dict[str, object]", value)
    return isinstance(value.get("threadName"), str) and "stackTrace" in value


def _object_start(data: str, at: int) -> int:
    """Where the object begins that has the array for a member, if it does on the same line."""
    above = data[max(0, at - 200) : at]
    match = re.search(r"\{[^{}\[\]]*\Z", above)
    return at - len(above) + match.start() if match else at


def _lines(data: str, entries: list[_Entry], text: Text) -> list[int]:
    """The line of each thread's beginning, in the text as it was given."""
    numbers: list[int] = []
    index = done = 0
    for entry in entries:
        index += data.count("\n", done, entry.start)
        done = entry.start
        given = text.numbers
        numbers.append(index + 1 if not given else given[min(index, len(given) - 1)])
    return numbers


def _thread(entry: dict[str, object], line: int) -> JavaThread:
    state = _text(entry, "threadState")
    frames = tuple(
        frame for raw in _list(entry, "stackTrace") if (frame := _frame(raw)) is not None
    )
    locks = section.told_acts(tuple(_locks(entry)), frames, state)
    return JavaThread(
        _text(entry, "threadName"),
        frames,
        locks,
        state=state,
        activity="in native" if entry.get("inNative") is True else "",
        daemon=entry.get("daemon") is True,
        line=line,
        java_id=_number(entry.get("threadId")),
    )


def _is_lacking(entry: dict[str, object]) -> bool:
    """Whether some of its stack is there that is no frame."""
    stack = entry.get("stackTrace")
    entries = len(cast("list[object]", stack)) if isinstance(stack, list) else 0
    frames = sum(_frame(raw) is not None for raw in _list(entry, "stackTrace"))
    return not isinstance(stack, list) or frames < entries


def _frame(raw: dict[str, object]) -> Frame | None:
    class_name, method = _text(raw, "className"), _text(raw, "methodName")
    if not class_name or not method:
        return None
    number, file = _number(raw.get("lineNumber")), _text(raw, "fileName")
    native = raw.get("nativeMethod") is True or raw.get("lineNumber") == _NATIVE_LINE
    place = file if number is None or number <= 0 else f"{file}:{number}"
    return Frame(class_name, method, "Native Method" if native else place or "Unknown Source")


def _locks(entry: dict[str, object]) -> Iterator[LockLine]:
    waited = _object(entry, "lockInfo")
    named = _text(entry, "lockName").partition("@")
    if waited is not None:
        yield LockLine(LockAct.WAITING_ON, *waited)
    elif named[0]:
        yield LockLine(LockAct.WAITING_ON, named[0], named[2] or None)
    for held in _list(entry, "lockedMonitors"):
        depth = _number(held.get("lockedStackDepth"))
        yield LockLine(LockAct.LOCKED, *_identity(held), depth if depth and depth > 0 else 0)
    for held in _list(entry, "lockedSynchronizers"):
        yield LockLine(LockAct.OWNED, *_identity(held))


def _object(entry: dict[str, object], key: str) -> tuple[str, str | None] | None:
    found = entry.get(key)
    if not isinstance(found, dict):
        return None
    class_name, address = _identity(cast("dict[str, object]", found))
    return (class_name, address) if class_name else None


def _identity(lock: dict[str, object]) -> tuple[str, str | None]:
    number = lock.get("identityHashCode")
    known = isinstance(number, int) and not isinstance(number, bool)
    return _text(lock, "className"), f"{number & 0xFFFFFFFF:x}" if known else None  # type: ignore[operator]


def _list(value: dict[str, object], key: str) -> list[dict[str, object]]:
    found = value.get(key)
    items = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]


def _text(value: dict[str, object], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
