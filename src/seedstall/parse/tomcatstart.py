"""What Tomcat says of itself at each start (``VersionLoggerListener``, 7.0.54 and later): JDK, host, JVM options.

The labels are translated (fr, ja, ...), the order never: server (3 lines), OS name, OS version, architecture,
java.home, JVM version, JVM vendor, base, home, then one line for each JVM option (``RuntimeMXBean.getInputArguments``,
which holds those of ``JAVA_TOOL_OPTIONS`` and argument files too).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seedstall.parse.words import holds

MARK = b"VersionLoggerListener"
MAX_LINES = 4_000
"""Lines looked at, from the end of the log: a start has 30 to 100."""
LINE_LENGTH = 8_192
_AFTER_OS_VERSION = 2
"""``java.home`` stands two lines below the OS version."""


class ServerStart(NamedTuple):
    """One start: ``options`` with the line of each; ``""`` where a line is not there."""

    jvm_version: str = ""
    jvm_line: int = 0
    java_home: str = ""
    os_release: str = ""
    os_name: str = ""
    options: tuple[tuple[str, int], ...] = ()

    @property
    def on_linux(self) -> bool:
        """Whether ``os_release`` is a Linux kernel's."""
        return self.os_name == "Linux"


def last_start(data: bytes) -> ServerStart | None:
    """The last start that a log tells of; ``None`` where it tells of none."""
    values: list[tuple[str, int]] = []
    options: list[tuple[str, int]] = []
    start: ServerStart | None = None
    for value, line in _values(data):
        if value.startswith("-"):
            options.append((value, line))
            continue
        if options:
            start, values, options = _made(values, options), [], []
        values.append((value, line))
    return _made(values, options) or start


def _made(values: list[tuple[str, int]], options: list[tuple[str, int]]) -> ServerStart | None:
    """The first value that is a path is java.home; its neighbours follow from the order."""
    home = next((i for i, (value, _) in enumerate(values) if value.startswith("/")), None)
    if home is None:
        return ServerStart(options=tuple(options)) if options else None
    version = values[home + 1] if home + 1 < len(values) else ("", 0)
    above = home - _AFTER_OS_VERSION
    os_release = values[above][0] if above >= 0 else ""
    os_name = values[above - 1][0] if above > 0 else ""
    return ServerStart(version[0], version[1], values[home][0], os_release, os_name, tuple(options))


def _values(data: bytes) -> Iterator[tuple[str, int]]:
    """The value of each line of the listener, the last `MAX_LINES` of them, with its number."""
    places: list[int] = []
    at = data.rfind(MARK) if holds(data, MARK) else -1
    while at >= 0 and len(places) < MAX_LINES:
        places.append(at)
        at = data.rfind(MARK, 0, at)
    number, counted = 1, 0
    for at in reversed(places):
        number += data.count(b"\n", counted, at)
        counted = at
        text, below = _message(data, at + len(MARK))
        value = text.partition(":")[2].strip()
        if value:
            yield value, number + below


def _message(data: bytes, at: int) -> tuple[str, int]:
    """The text behind the class's name, or the next line without its level (7.0's two-line format); lines below."""
    line, end = _line(data, at)
    method, _, text = line.lstrip(". ").partition(" ")
    if text or method not in ("log", ""):
        return text, 0
    following, _ = _line(data, end + 1)
    return following.partition(":")[2].strip(), 1


def _line(data: bytes, at: int) -> tuple[str, int]:
    end = data.find(b"\n", at, at + LINE_LENGTH)
    end = min(len(data), at + LINE_LENGTH) if end < 0 else end
    return data[at:end].decode("utf-8", "replace").rstrip("\r"), end
