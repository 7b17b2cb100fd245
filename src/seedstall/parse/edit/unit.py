"""systemd units with their drop-ins, as systemd merges them, and a drop-in that sets one variable or command more.

systemd.syntax(7), systemd.unit(5), systemd.exec(5): ``Environment=`` adds variables, a later assignment of the same
variable takes the earlier one's place whole, an empty one takes all back; what EnvironmentFile= reads beats
Environment= whatever the order; a drop-in's ExecStart= needs an empty one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from seedstall.parse.edit.options import Edit, line_finder, option, settings, spliced
from seedstall.parse.setenv import COMMENT, check_value

MAX_LINES = 20_000
_KEY = re.compile(r"[ \t]*([A-Za-z0-9-]+)[ \t]*=[ \t]*")
_SECTION = re.compile(r"[ \t]*\[([^\]\n]*)\]")
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " ",
    "\\": "\\", '"': '"', "'": "'",
}  # fmt: skip
_BLANKS = " \t\n\r"


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line of a unit: ``key=value`` of a section. ``line`` is the first of its natural lines."""

    section: str
    key: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Given:
    """A value with the place that gave it (``/etc/systemd/system/x.service:12``)."""

    value: str
    place: str


@dataclass
class Unit:
    """A service as it comes out of its file and drop-ins.

    Values of ``environment`` are unquoted, with their specifiers (``%h``) as they stand. ``files`` are EnvironmentFile=
    paths without their ``-``; ``starts`` the ExecStart= lines as written.
    """

    environment: dict[str, Given] = field(default_factory=dict[str, Given])
    files: list[Given] = field(default_factory=list[Given])
    starts: list[Given] = field(default_factory=list[Given])
    passed: tuple[str, ...] = ()
    """Variables of the service manager that PassEnvironment= lets through."""

    def take(self, name: str, data: bytes) -> None:
        """Take in a unit's file or a drop-in, in the order in which systemd does."""
        for line in lines(data):
            if line.section != "Service":
                continue
            place = f"{name}:{line.line}"
            match line.key:
                case "Environment":
                    self._variables(line.value, place)
                case "EnvironmentFile":
                    self._add(self.files, line.value.removeprefix("-"), place)
                case "ExecStart":
                    self._add(self.starts, line.value, place)
                case "PassEnvironment":
                    self.passed = (*self.passed, *line.value.split()) if line.value else ()
                case _:
                    pass

    def _variables(self, value: str, place: str) -> None:
        if not value:
            self.environment.clear()
        for word in words(value):
            name, equals, text = word.partition("=")
            if equals and name.isidentifier():
                self.environment[name] = Given(text, place)

    @staticmethod
    def _add(many: list[Given], value: str, place: str) -> None:
        if value:
            many.append(Given(value, place))
        else:
            many.clear()


def lines(data: bytes) -> Iterator[Line]:
    """The logical lines; a backslash at an end joins the next one by a blank, comments between are no part of it."""
    section, waiting, first = "", "", 0
    for number, raw in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
        if number > MAX_LINES:
            return
        text = raw.removesuffix("\r")
        if text.lstrip()[:1] in ("#", ";") or (not text.strip() and not waiting):
            continue
        first = first or number
        if _goes_on(text):
            waiting += text[:-1] + " "
            continue
        whole, waiting, at, first = waiting + text, "", first, 0
        header = _SECTION.match(whole)
        found = _KEY.match(whole)
        if header:
            section = header[1]
        elif found:
            yield Line(section, found[1], whole[found.end() :].strip(), at)


def _goes_on(line: str) -> bool:
    """Whether the next line belongs to it: an even number of backslashes at its end stands for backslashes."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def words(value: str) -> list[str]:
    """The words as systemd splits and unquotes them; a quote counts at a word's beginning and inside it."""
    return [text for text, _, _ in placed_words(value)]


def placed_words(value: str) -> list[tuple[str, int, int]]:
    """The words, each with where it was written."""
    found: list[tuple[str, int, int]] = []
    at = 0
    while at < len(value):
        if value[at] in _BLANKS:
            at += 1
            continue
        start, text, quote = at, "", ""
        while at < len(value) and (quote or value[at] not in _BLANKS):
            character = value[at]
            if character == quote:
                quote = ""
            elif not quote and character in "'\"":
                quote = character
            elif character == "\\" and at + 1 < len(value):
                meant, at = _escape(value, at)
                text += meant
                continue
            else:
                text += character
            at += 1
        found.append((text, start, at))
    return found


def _escape(value: str, at: int) -> tuple[str, int]:
    following = value[at + 1]
    if following == "x" and re.fullmatch("[0-9A-Fa-f]{2}", value[at + 2 : at + 4]):
        return chr(int(value[at + 2 : at + 4], 16)), at + 4
    return _ESCAPES.get(following, "\\" + following), at + 2


def quoted(name: str, value: str) -> str:
    """``"NAME=value"`` for Environment=. Specifiers in *value* stay; what is no specifier has its ``%`` twice already.

    Raises:
        ValueError: the value holds a line feed or another control character.
    """
    if any(ord(c) < 0x20 or c == "\x7f" for c in value):  # noqa: PLR2004 - control characters
        raise ValueError(f"the value of {name} holds control characters")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{name}={escaped}"'


def order_of(names: Iterable[str]) -> list[str]:
    """Drop-ins in the order in which they are applied: by their file names, whatever directory holds them."""
    return sorted(n for n in names if n.endswith(".conf") and not n.startswith("."))


# The edit of a unit's own file

_OPTION = re.compile(r"-D[A-Za-z.]{1,80}=[^\s\"'\\]*")
_HEADER = re.compile(r"(?m)^[ \t]*\[Service\][^\n]*\n?")


def set_egd(data: bytes, value: str, *, variable: str = "JAVA_TOOL_OPTIONS") -> Edit:
    """Set ``java.security.egd`` in a unit's file or drop-in: where a setting stands, else in *variable*.

    Raises:
        ValueError: it has no [Service] section, or cannot be edited safely.
    """
    check_value(value)
    text = data.decode("utf-8", "surrogateescape")
    wanted = option(value).replace("%", "%%")
    found = list(_settings(text))
    if found:
        line_of = line_finder(text)
        new = spliced(text, ((m.start(), m.end(), wanted) for m in found))
        if new == text:
            return Edit(data, line_of(found[-1].start()))
        replaced = tuple((line_of(m.start()), m[0]) for m in found if m[0] != wanted)
        return Edit(new.encode("utf-8", "surrogateescape"), replaced=replaced)
    new = _with_variable(data, text, variable, wanted)
    return Edit(new.encode("utf-8", "surrogateescape"))


def is_unit(data: bytes) -> bool:
    """Whether it has the section that a service's settings stand in."""
    return _HEADER.search(data.decode("utf-8", "surrogateescape")) is not None


def _settings(text: str) -> Iterator[re.Match[str]]:
    """The options in Environment= and ExecStart= that set the property or were meant to, comments left out."""
    for start, end in _meant(text):
        for match in _OPTION.finditer(text, start, end):
            if settings(match[0]):
                yield match


def _meant(text: str) -> Iterator[tuple[int, int]]:
    """The natural lines of Environment= and ExecStart= values in [Service]."""
    section, key, continued, at = "", "", False, 0
    for raw in text.splitlines(keepends=True):
        line, start = raw.rstrip("\r\n"), at
        at += len(raw)
        if line.lstrip()[:1] in ("#", ";"):
            continue
        if not continued:
            header, found = _SECTION.match(line), _KEY.match(line)
            section = header[1] if header else section
            key = found[1] if found and not header else ""
        continued = _goes_on(line)
        if section == "Service" and key in ("Environment", "ExecStart"):
            yield start, start + len(line)


def _with_variable(data: bytes, text: str, variable: str, wanted: str) -> str:
    """A line after the section's last Environment=, else after its header, with what the variable holds already."""
    unit = Unit()
    unit.take("", data)
    kept = unit.environment.get(variable)
    line = f"Environment={quoted(variable, f'{kept.value} {wanted}'.lstrip() if kept else wanted)}"
    header = _HEADER.search(text)
    if header is None:
        raise ValueError("it has no [Service] section")
    ends = [e for s, e in _meant(text) if text[s:e].lstrip().startswith("Environment")]
    after = _continued_end(text, ends[-1]) if ends else header.end()
    end = "\r\n" if "\r\n" in text else "\n"
    before = text[:after]
    joint = "" if not before or before.endswith("\n") else end
    if _goes_on(before.rstrip("\r\n").rpartition("\n")[2]):
        joint += end  # a line that goes on would take ours in
    return f"{before}{joint}{COMMENT}{end}{line}{end}{text[after:]}"


def _continued_end(text: str, at: int) -> int:
    """Behind the logical line whose first natural line ends at *at*."""
    while _goes_on(text[text.rfind("\n", 0, at) + 1 : at].removesuffix("\r")):
        following = text.find("\n", at)
        if following < 0:
            return len(text)
        following = text.find("\n", following + 1)
        at = len(text) if following < 0 else following
    line_end = text.find("\n", at)
    return len(text) if line_end < 0 else line_end + 1
