"""One JSON object a line, as Docker, the journal and log encoders write them; and texts that are strings in JSON.

Of an object the message is kept. Where a logger wrote it (it names itself), the time, level and thread stand before it
as a text log has them; a collector's own time does not, since what it carries is a line of another program.
"""

from __future__ import annotations

import json
import re
from array import array
from typing import Any, Final, cast

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
_CUT = re.compile(rb'"(?:log|MESSAGE|message|msg)"\s*+:\s*+"((?:[^"\\]++|\\.)*+)')
_STRING = re.compile(rb'[ \t]*+"((?:[^"\\]++|\\.)*+)",?[ \t]*+')
_DEEPEST: Final = 1 << 20
"""A longer line is not read as JSON: a number of a million digits or brackets takes its time."""


def is_jsonlines(head: bytes) -> bool:
    """Whether most lines of *head* are objects with a message in them."""
    lines = [line for line in head.split(b"\n")[:_TRIED] if line.strip()]
    found = sum(_message(line) is not None for line in lines)
    return found >= _FEWEST and found * 2 > len(lines)


def is_strings(head: bytes) -> bool:
    """Whether most lines of *head* are a string each: a text as a list of its lines."""
    lines = [line for line in head.split(b"\n")[:_TRIED] if line.strip()]
    strings = [line for line in lines if _STRING.fullmatch(line)]
    listed = sum(line.rstrip().endswith(b",") for line in strings)
    return len(strings) > _FEWEST and len(strings) * 2 > len(lines) and listed + 1 >= len(strings)


def messages(text: Text) -> Text:
    """The messages; a line that is no such object stays as it is."""
    lines: list[bytes] = []
    numbers = array("L")
    goes_on = False
    for index, line in enumerate(text.data.split(b"\n")):
        found = _message(line)
        number = index + 1 if text.numbers is None else text.numbers[index]
        message, partial = (line, False) if found is None else found
        pieces = message.split(b"\n")
        if goes_on and lines and found is not None:
            lines[-1] += pieces.pop(
                0
            )  # Docker parts a line at 16 KiB: the piece has no line feed at its end
        lines.extend(pieces)
        numbers.extend([number] * len(pieces))
        goes_on = partial
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


def _message(line: bytes) -> tuple[bytes, bool] | None:
    """The message of an object, and whether it goes on in the next one; ``None`` where the line is none."""
    line = line.strip()
    if not line.startswith(b"{") or len(line) > _DEEPEST:
        return None
    try:
        told: Any = json.loads(line)
    except (ValueError, RecursionError):
        cut = _CUT.search(line)  # the last line of a text that was cut
        return (
            (_unescaped(cut[1]).rstrip(b"\n"), False) if cut and not line.endswith(b"}") else None
        )
    if not isinstance(told, dict):
        return None
    told = cast("dict[str, Any]", told)
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
    return whole.encode("utf-8", "surrogatepass"), partial


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
