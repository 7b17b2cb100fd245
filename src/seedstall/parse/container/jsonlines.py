"""JSON with messages in it, an object a line or in a list: of Docker, the journal, log encoders and log stores.

Besides: texts that are strings in JSON.

Of an object the message is kept. Where a logger wrote it (it names itself), the time, level and thread stand before it
as a text log has them; a collector's own time does not, since what it carries is a line of another program.
"""

from __future__ import annotations

import json
import re
from array import array
from typing import Any, Final, NamedTuple, cast

from seedstall.parse.container import records
from seedstall.parse.text import Text

_TRIED: Final = 50
_BYTES: Final = 256
_FEWEST: Final = 2
_MESSAGES: Final = ("log", "MESSAGE", "message", "msg", "textPayload", "line")
_TIMES: Final = ("@timestamp", "timestamp", "time", "ts", "date")
_LOGGERS: Final = ("logger_name", "logger", "loggerName", "log.logger")
_THREADS: Final = ("thread_name", "thread", "process.thread.name")
_LEVELS: Final = ("level", "log.level", "severity")
_TRACES: Final = ("stack_trace", "error.stack_trace", "exception")
_KEYS: Final = tuple(f'"{name}"'.encode() for name in _MESSAGES)
_HEAD: Final = 16 << 10
_LONGEST: Final = 32 << 20
"""Bytes of a document that is read as a whole: an export of more is cut by the store itself."""
_WORD = re.compile(rb"[\w.:/-]{6,40}")
_CUT = re.compile(rb'"(?:log|MESSAGE|message|msg)"\s*+:\s*+"((?:[^"\\]++|\\.)*+)')
_CRI = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.,]{8,24}(?:Z|[+-]\d\d:?\d\d) std(?:out|err) ([FP]) ")
_STRING = re.compile(rb'[ \t]*+"((?:[^"\\]++|\\.)*+)",?[ \t]*+')
_DEEPEST: Final = 1 << 20
"""A longer line is not read as JSON: a number of a million digits or brackets takes its time."""


def is_jsonlines(head: bytes) -> bool:
    """Whether most lines of *head* are objects with a message in them."""
    lines = [line for line in head.split(b"\n") if line.strip()][:_TRIED]
    found = sum(_message(line) is not None for line in lines)
    return found >= _FEWEST and found * 2 > len(lines)


def stands_newest_first(head: bytes) -> bool:
    """Whether the objects of *head*, one a line, stand in the order of a search's answer."""
    told = (_message(line) for line in head.split(b"\n")[:-1])
    return records.newest_first([message.time for message in told if message is not None])


def is_strings(head: bytes) -> bool:
    """Whether most lines of *head* are a string each: a text as a list of its lines."""
    lines = [line for line in head.split(b"\n")[:_TRIED] if line.strip()]
    strings = [line for line in lines if _STRING.fullmatch(line)]
    listed = sum(line.rstrip().endswith(b",") for line in strings)
    return len(strings) > _FEWEST and len(strings) * 2 > len(lines) and listed + 1 >= len(strings)


def messages(text: Text) -> Text:
    """The messages, the oldest first; a line that is no such object stays as it is, below the one it stood below."""
    found: list[_Message] = []
    begun: list[bytes] = []
    after = True
    for index, line in enumerate(text.data.split(b"\n")):
        number = index + 1 if text.numbers is None else text.numbers[index]
        message = _message(line) or _of_runtime(line)
        if after and message is None and not line.strip():
            continue  # between objects, it is no message
        after = message is not None
        if begun and message is not None:
            # Docker parts a line at 16 KiB: the piece has no line feed at its end.
            begun.append(message.data)
            if not message.partial:
                found[-1] = found[-1]._replace(data=b"".join(begun))
                begun = []
            continue
        if begun:
            found[-1] = found[-1]._replace(data=b"".join(begun))
        found.append((message or _Message(line))._replace(number=number))
        begun = [message.data] if message is not None and message.partial else []
    if begun:
        found[-1] = found[-1]._replace(data=b"".join(begun))
    return _joined(found)


def is_document(data: bytes) -> bool:
    """Whether *data* is one list or answer of records."""
    return len(data) <= _LONGEST and is_listing(data)


def is_listing(data: bytes) -> bool:
    """Whether *data* begins as such a list does."""
    head = data[:_HEAD]
    if head.lstrip()[:1] not in (b"[", b"{"):
        return False
    return any(key in head for key in _KEYS) or b'"values"' in head


def document(text: Text) -> Text:
    """The messages of one list or answer of records, the oldest first; *text* itself where there are none."""
    try:
        told = json.loads(text.data)
    except (ValueError, RecursionError):
        return text
    found: list[_Message] = []
    at, number = 0, 1
    for item in records.listed(told):
        message = _of_record(item)
        if message is None:
            continue
        # Its line is where its first word stands next in the text as it was handed over.
        word = _WORD.search(message.data)
        place = text.data.find(word[0], at) if word else -1
        if place >= 0:
            number += text.data.count(b"\n", at, place)
            at = place
        known = number if text.numbers is None else text.numbers[number - 1]
        found.append(message._replace(number=known))
    return _joined(found) if found else text


class _Message(NamedTuple):
    """A message, whether it goes on in the next one, when it was written, and in which line it stands."""

    data: bytes
    partial: bool = False
    time: float | None = None
    number: int = 0


def _joined(found: list[_Message]) -> Text:
    if records.newest_first([message.time for message in found]):
        found.reverse()
    lines: list[bytes] = []
    numbers = array("L")
    for message in found:
        pieces = message.data.split(b"\n")
        lines.extend(pieces)
        numbers.extend([message.number] * len(pieces))
    return Text(b"\n".join(lines), numbers)


def strings(text: Text) -> Text:
    """The strings of a list, a line each."""
    lines: list[bytes] = []
    numbers = array("L")
    for index, line in enumerate(text.data.split(b"\n")):
        match = _STRING.fullmatch(line)
        pieces = (_unescaped(match[1]) if match else line).split(b"\n")
        lines.extend(pieces)
        numbers.extend([index + 1 if text.numbers is None else text.numbers[index]] * len(pieces))
    return Text(b"\n".join(lines), numbers)


def _of_runtime(line: bytes) -> _Message | None:
    """What another container runtime wrote (CRI) into the same file; ``None`` for any other line."""
    written = _CRI.match(line)
    return _Message(line[written.end() :], written[1] == b"P") if written else None


def _message(line: bytes) -> _Message | None:
    """The message of an object; ``None`` where the line is none."""
    line = line.strip()
    if not line.startswith(b"{") or len(line) > _DEEPEST:
        return None
    try:
        told: Any = json.loads(line)
    except (ValueError, RecursionError):
        cut = _CUT.search(line)  # the last line of a text that was cut
        ends = cut is None or line.endswith(b"}")
        return None if ends else _Message(_unescaped(cut[1]).rstrip(b"\n"))  # type: ignore[index]
    found = records.record(told)
    return _of_record(found) if found is not None else None


def _of_record(found: records.Record) -> _Message | None:
    told = found.fields
    for key in _MESSAGES:
        value = _text(told.get(key))
        if value is not None:
            break
    else:
        return None
    partial = key == "log" and "stream" in told and not value.endswith("\n")
    value = value.removesuffix("\n")
    trace = next((t for name in _TRACES if (t := _text(told.get(name)))), "")
    whole = _before(told) + value + ("\n" + trace if trace else "")
    return _Message(whole.encode("utf-8", "surrogatepass"), partial, found.time)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        numbers = cast("list[object]", value)
        if all(map(_is_byte, numbers)):
            # The journal's way with what is no UTF-8.
            return bytes(cast("list[int]", numbers)).decode("utf-8", "replace")
    return None


def _is_byte(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _BYTES


def _before(told: dict[str, Any]) -> str:
    """What a text log has before a message; ``""`` for an object that no logger wrote."""
    logger = _first(told, _LOGGERS)
    if not logger:
        return ""
    thread = _first(told, _THREADS)
    words = (
        _first(told, _TIMES),
        _first(told, _LEVELS),
        f"[{thread}]" if thread else "",
        logger,
        "-",
    )
    return " ".join(word for word in words if word) + " "


def _first(told: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((v for name in names if isinstance(v := told.get(name), str) and v), "")


def _unescaped(inside: bytes) -> bytes:
    try:
        value = json.loads(b'"' + inside + b'"', strict=False)
    except ValueError:
        return inside
    return str(value).encode("utf-8", "surrogatepass")
