r"""Files of ``NAME=value`` lines that systemd reads (EnvironmentFile=): no shell, so ``$JAVA_OPTS`` stands for itself.

The grammar is systemd's (src/basic/env-file.c, 252): a name ends at ``=``; quotes may follow each other; a backslash
takes the next character outside quotes, and within double quotes one of ``"\`$``; a line feed within quotes belongs to
the value; ``#`` and ``;`` begin a comment only where a name would begin. Of a name that is set twice the last counts.
What is written here means the same to a shell, since older packages source the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seedstall.parse.edit.options import (
    Change,
    Edit,
    changes,
    last_value,
    line_finder,
    settings,
    spliced,
    without,
)
from seedstall.parse.setenv import COMMENT, check_value

_ESCAPED_IN_DOUBLE = '"\\`$'
_BLANKS = " \t\n\r"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._~%+=,@-")


@dataclass(frozen=True, slots=True)
class Variable:
    """One assignment: its value, where each character of it was written, and where the value as a whole was.

    ``quote`` is the kind of quote that its last character stands in, ``""`` if none.
    """

    name: str
    value: str
    spans: tuple[tuple[int, int], ...]
    start: int
    end: int
    quote: str = ""
    inner: int = 0
    """Where something added at its end is written."""


def variables(text: str) -> list[Variable]:
    """The assignments of the file, in order.

    Raises:
        ValueError: a quote is not closed.
    """
    return list(_Scanner(text).variables())


class _Scanner:
    """Walks the text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def variables(self) -> Iterator[Variable]:
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if character in _BLANKS:
                self.at += 1
            elif character in "#;":
                self._comment()
            else:
                found = self._assignment()
                if found is not None:
                    yield found

    def _comment(self) -> None:
        """To its line's end. Before systemd 254 a backslash at its end carried it on: the safe reading for an edit."""
        end = self.text.find("\n", self.at)
        while end > 0 and self.text[end - 1] == "\\":
            end = self.text.find("\n", end + 1)
        self.at = len(self.text) if end < 0 else end + 1

    def _assignment(self) -> Variable | None:
        line = self.text.find("\n", self.at)
        line = len(self.text) if line < 0 else line
        equals = self.text.find("=", self.at, line)
        if equals < 0:
            self.at = line + 1
            return None
        name = self.text[self.at : equals].strip(" \t")
        self.at = equals + 1
        return self._value(name)

    def _value(self, name: str) -> Variable:
        text = self.text
        while self.at < len(text) and text[self.at] in " \t\r":
            self.at += 1
        start = self.at
        characters: list[str] = []
        spans: list[tuple[int, int]] = []
        quote, end, inner = "", start, start
        while self.at < len(text) and text[self.at] != "\n":
            character = text[self.at]
            if character in "'\"":
                quote = character
                self._quoted(character, characters, spans)
                end, inner = self.at, self.at - 1
                while self.at < len(text) and text[self.at] in " \t\r":
                    self.at += 1
            else:
                bare = self._bare(characters, spans)
                if bare >= 0:
                    quote, end, inner = "", bare, bare
        self.at += 1
        return Variable(name, "".join(characters), tuple(spans), start, end, quote, inner)

    def _bare(self, characters: list[str], spans: list[tuple[int, int]]) -> int:
        """A stretch outside quotes, up to the line's end; where it ends without its last blanks, -1: only blanks.

        Once a value has begun outside quotes, quotes in it are characters like others.
        """
        text, end, kept = self.text, -1, len(characters)
        while self.at < len(text) and text[self.at] != "\n":
            start = self.at
            character = text[start]
            self.at += 1
            if character == "\\":
                following = text[self.at : self.at + 1]
                self.at += 1
                if following in ("\n", ""):
                    # What goes on keeps the blanks before it.
                    end, kept = (self.at if following else start), len(characters)
                    continue
                character = following
                end, kept = self.at, len(characters) + 1
            elif character not in _BLANKS:
                end, kept = self.at, len(characters) + 1
            characters.append(character)
            spans.append((start, self.at))
        del characters[kept:], spans[kept:]
        return end

    def _quoted(self, quote: str, characters: list[str], spans: list[tuple[int, int]]) -> None:
        text, first = self.text, self.at
        self.at += 1
        while self.at < len(text) and text[self.at] != quote:
            start = self.at
            self.at += 1
            if quote == '"' and text[start] == "\\":
                following = text[self.at : self.at + 1]
                if following == "\n":
                    self.at += 1
                    continue
                if following and following in _ESCAPED_IN_DOUBLE:
                    self.at += 1
                    characters.append(following)
                    spans.append((start, self.at))
                    continue
            characters.append(text[start])
            spans.append((start, self.at))
        if self.at >= len(text):
            line = text.count("\n", 0, first) + 1
            raise ValueError(f"line {line}: a quote that nothing closes")
        self.at += 1


def set_egd(data: bytes, value: str, *, target: str, order: Sequence[str]) -> Edit:
    """Set ``java.security.egd`` to *value* once, in *target*.

    *order* names the variables whose options reach the JVM, weakest first. A setting that stands in another one of
    them goes. Bytes that are no UTF-8, comments, line ends and a missing last line end are kept.

    Raises:
        ValueError: the file cannot be edited safely.
    """
    check_value(value)
    if not set(value) <= _PLAIN:
        message = f"{value!r} holds characters that need quotes of their own there"
        raise ValueError(message)
    if b"\0" in data:
        raise ValueError("it holds NUL bytes")
    text = data.decode("utf-8", "surrogateescape")
    found = variables(text)
    last = {v.name: v for v in found}
    if _is_set(last, value, order):
        return Edit(data, _line(text, last, value, order))
    new, replaced = _edited(text, last, value, target, order)
    again = {v.name: v for v in variables(new)}
    if not _is_set(again, value, order):
        raise ValueError(f"no place was found in it where {target} keeps the option")
    content = new.encode("utf-8", "surrogateescape")
    return Edit(
        content, _line(new, again, value, order), replaced, tuple(_notes(text, found, order))
    )


def _is_set(last: dict[str, Variable], value: str, order: Sequence[str]) -> bool:
    values = [last_value(last[name].value) for name in order if name in last]
    told = [v for v in values if v is not None]
    return bool(told) and told[-1] == value


def _line(text: str, last: dict[str, Variable], value: str, order: Sequence[str]) -> int:
    for name in reversed(order):
        found = last.get(name)
        if found is not None and last_value(found.value) == value:
            match = settings(found.value)[-1]
            return text.count("\n", 0, found.spans[match.start()][0]) + 1
    return 0


def _edited(
    text: str, last: dict[str, Variable], value: str, target: str, order: Sequence[str]
) -> tuple[str, tuple[tuple[int, str], ...]]:
    splices: list[tuple[int, int, str]] = []
    line_of = line_finder(text)
    replaced: list[tuple[int, str]] = []
    for name in order:
        variable = last.get(name)
        if variable is None:
            continue
        made = changes(variable.value, value) if name == target else without(variable.value)
        for change in made:
            if change.old:
                at = variable.spans[change.end - 1][0]
                replaced.append((line_of(at), change.old))
            splices += _splices(variable, change)
    text = spliced(text, splices)
    if target not in last:
        text = _appended(text, f'{target}="-Djava.security.egd={value}"')
    return text, tuple(sorted(replaced))


def _splices(variable: Variable, change: Change) -> Iterator[tuple[int, int, str]]:
    """The change of the value as changes of the file."""
    if change.start < change.end:
        new = change.new
        for start, end in _runs(variable.spans[change.start : change.end]):
            yield start, end, new
            new = ""
    elif variable.quote:
        yield variable.inner, variable.inner, change.new
    elif set(variable.value) <= _PLAIN | {" "}:
        # Bare words are the whole value to systemd, and a command to a shell: with quotes they are one value to both.
        yield variable.start, variable.end, f'"{variable.value}{change.new}"'
    else:
        yield variable.end, variable.end, change.new


def _runs(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Neighbouring places as one; quotes between them stay."""
    begin, end = spans[0]
    for start, stop in spans[1:]:
        if start != end:
            yield begin, end
            begin = start
        end = stop
    yield begin, end


def _appended(text: str, line: str) -> str:
    end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    joint = "" if not text or text.endswith("\n") else end
    last = text.rstrip("\n").rpartition("\n")[2]
    if last.endswith("\\"):
        joint += end  # a comment or a value that goes on would swallow ours
    return f"{text}{joint}{COMMENT}{end}{line}{end}"


def _notes(text: str, found: list[Variable], order: Sequence[str]) -> Iterator[str]:
    line_of = line_finder(text)
    for variable in found:
        if variable.name in order and "$" in variable.value:
            line = line_of(variable.start)
            name = variable.value[variable.value.index("$") :].split()[0]
            yield (
                f"line {line}: systemd expands no variable in this file: {name} in {variable.name} stands for itself"
            )
