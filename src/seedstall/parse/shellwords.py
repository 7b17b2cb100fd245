"""Options out of environment variables and option files, and simple commands out of a shell's ``-c`` text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

C_SPACE = " \t\n\v\f\r"
"""What isspace(3) says yes to in the C locale, which the JVM and its launcher ask."""
OPERATORS = ";&|()<>\n"
NAME_FIRST = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME_REST = NAME_FIRST | frozenset("0123456789")


def option_words(text: str) -> tuple[str, ...]:
    """The words of ``JAVA_TOOL_OPTIONS``, ``_JAVA_OPTIONS``, ``JDK_JAVA_OPTIONS`` or a ``-XX:VMOptionsFile``.

    Blanks separate, single and double quotes keep blanks and are taken away, there is no escape character
    (HotSpot ``Arguments::parse_options_buffer``, libjli ``args.c`` ``expand``: the same rule in both). A JVM with an
    unmatched quote there does not start; here the rest is one word.
    """
    words: list[str] = []
    at, end = 0, len(text)
    while at < end:
        if text[at] in C_SPACE:
            at += 1
            continue
        parts: list[str] = []
        while at < end and text[at] not in C_SPACE:
            if text[at] in "'\"":
                close = text.find(text[at], at + 1)
                close = end if close < 0 else close
                parts.append(text[at + 1 : close])
                at = close + 1
            else:
                start = at
                while at < end and text[at] not in "'\"" and text[at] not in C_SPACE:
                    at += 1
                parts.append(text[start:at])
        words.append("".join(parts))
    return tuple(words)


class ShellCommand(NamedTuple):
    """One simple command: its words, the ``NAME=value`` before them, and the variables whose value is not known."""

    words: tuple[str, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()


def shell_commands(text: str, variables: Mapping[str, str]) -> Iterator[ShellCommand]:
    """The simple commands of a POSIX shell text, in order, as far as a start-up line goes.

    Quotes, backslashes, ``$NAME`` and ``${NAME}`` are handled (unquoted values are split at blanks); operators
    separate; assignments of an earlier command (``export A=b; java $A``) are known to a later one. Substitutions, loops
    and patterns are not run: what they would give is left as it stands or reported as unknown.
    """
    known = dict(variables)
    for words, unknown in _split(text, known):
        assignments: list[tuple[str, str]] = []
        rest = list(words)
        while rest and (pair := assignment(rest[0])) is not None:
            assignments.append(pair)
            del rest[0]
        if rest and rest[0] in ("export", "declare", "readonly", "local"):
            exported = [assignment(word) for word in rest[1:]]
            known.update(dict(pair for pair in exported if pair is not None))
            continue
        if not rest:
            known.update(assignments)
            continue
        yield ShellCommand(tuple(rest), tuple(assignments), tuple(unknown))


def assignment(word: str) -> tuple[str, str] | None:
    """``NAME=value`` taken apart, ``None`` where *word* is none."""
    name, equals, value = word.partition("=")
    if not equals or not name or name[0] not in NAME_FIRST or not NAME_REST.issuperset(name):
        return None
    return name, value


class _Words:
    """The words of one command as they grow."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.unknown: list[str] = []
        self._parts: list[str] = []
        self._open = False

    def add(self, text: str) -> None:
        """Append to the word in progress, which exists from now on even if *text* is empty (quotes)."""
        self._parts.append(text)
        self._open = True

    def close(self) -> None:
        """End the word in progress, if there is one."""
        if self._open:
            self.words.append("".join(self._parts))
        self._parts, self._open = [], False

    def expand(self, value: str) -> None:
        """Add an unquoted variable's value: blanks in it separate words."""
        pieces = value.split()
        if value[:1].isspace():
            self.close()
        for index, piece in enumerate(pieces):
            if index:
                self.close()
            self.add(piece)
        if value[-1:].isspace() and pieces:
            self.close()


def _split(text: str, known: Mapping[str, str]) -> Iterator[tuple[list[str], list[str]]]:
    line = _Words()
    at, end = 0, len(text)
    while at < end:
        character = text[at]
        if character in OPERATORS:
            line.close()
            if line.words:
                yield line.words, line.unknown
            line = _Words()
            at += 1
        elif character in C_SPACE:
            line.close()
            at += 1
        elif character == "#" and (at == 0 or text[at - 1] in C_SPACE or text[at - 1] in OPERATORS):
            stop = text.find("\n", at)
            at = end if stop < 0 else stop
        else:
            at = _piece(text, at, line, known)
    line.close()
    if line.words:
        yield line.words, line.unknown


def _piece(text: str, at: int, line: _Words, known: Mapping[str, str]) -> int:
    """Take one piece of a word beginning at *at*; where the next begins."""
    character = text[at]
    if character == "'":
        close = text.find("'", at + 1)
        close = len(text) if close < 0 else close
        line.add(text[at + 1 : close])
        return close + 1
    if character == '"':
        return _quoted(text, at + 1, line, known)
    if character == "\\":
        if text[at + 1 : at + 2] != "\n":
            line.add(text[at + 1 : at + 2])
        return at + 2
    if character == "$":
        name, after = variable(text, at)
        if name:
            value = known.get(name)
            if value is None:
                line.unknown.append(f"${name}")
            else:
                line.expand(value)
            return after
        line.add("$")
        return at + 1
    start = at
    while (
        at < len(text)
        and text[at] not in "'\"\\$"
        and text[at] not in C_SPACE
        and text[at] not in OPERATORS
    ):
        at += 1
    line.add(text[start:at])
    return at


def _quoted(text: str, at: int, line: _Words, known: Mapping[str, str]) -> int:
    """The inside of double quotes from *at* on: variables count, their values are not split."""
    line.add("")
    while at < len(text):
        character = text[at]
        if character == '"':
            return at + 1
        if character == "\\" and text[at + 1 : at + 2] in ("\\", '"', "$", "`", "\n"):
            line.add(text[at + 1 : at + 2].strip("\n"))
            at += 2
        elif character == "$" and (found := variable(text, at))[0]:
            name, at = found
            if name not in known:
                line.unknown.append(f"${name}")
            line.add(known.get(name, ""))
        else:
            start = at
            at += 1
            while at < len(text) and text[at] not in '"\\$':
                at += 1
            line.add(text[start:at])
    return at


def variable(text: str, at: int) -> tuple[str, int]:
    """The name after the dollar at *at* and where the text goes on; ``""`` where it is no plain variable."""
    after = at + 1
    braced = text[after : after + 1] == "{"
    start = after = after + 1 if braced else after
    while after < len(text) and text[after] in NAME_REST:
        after += 1
    name = text[start:after]
    if not name or name[0] not in NAME_FIRST:
        return "", at
    if not braced:
        return name, after
    close = text.find("}", after)
    return (name, close + 1) if close >= 0 else ("", at)
