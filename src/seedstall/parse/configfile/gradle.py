"""Gradle build scripts in Groovy and Kotlin, as far as their string literals tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from seedstall.model.settings import UNKNOWN, Placed, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.properties import define
from seedstall.parse.configfile.words import Growing

_SYSTEM_PROPERTY = re.compile(r"(?:systemProperty|setSystemProperty|System\.setProperty)[ \t(]*$")
_SYSTEM_TABLE = re.compile(r"(?:systemProperties|systemProp)[^\n]{0,80}$")
_BETWEEN = re.compile(r"[ \t\r\n]*(?:,|:|to\b|=|\][ \t]*=)[ \t\r\n]*$")
_ARGUMENTS = re.compile(r"(?:(?:^|[\s.])args[ \t(=+]|setArgs)[^\n]{0,200}$")


@dataclass(frozen=True, slots=True)
class _Literal:
    """A string literal: its text, and where it begins and ends with its quotes."""

    text: Placed
    start: int
    end: int


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in string literals: JVM options, and names of system properties with the value behind them."""
    before: _Literal | None = None
    for literal in _literals(whole):
        between = whole.text[before.end : literal.start] if before is not None else ""
        if before is not None and len(between) < 200 and _BETWEEN.fullmatch(between):  # noqa: PLR2004
            head = whole.text[max(0, before.start - 120) : before.start]
            if _SYSTEM_PROPERTY.search(head) or _SYSTEM_TABLE.search(head):
                define(gathering, before.text, literal.text, scope, "systemProperty")
        if "-" in literal.text.text:
            gathering.variable("jvmArgs", literal.text, scope, Setting.BUILD)
        before = literal


def _literals(whole: Placed) -> Iterator[_Literal]:
    text, at = whole.text, 0
    while at < len(text):
        if text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 2
        elif text[at] in "'\"":
            literal = _literal(whole, at)
            yield literal
            at = literal.end
        else:
            at += 1


def _literal(whole: Placed, at: int) -> _Literal:
    text, start = whole.text, at
    quote = text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
    at += len(quote)
    grown = Growing()
    while at < len(text) and not text.startswith(quote, at):
        if text[at] == "\\" and at + 1 < len(text):
            grown.take(whole, at, 2, text[at + 1])
            at += 2
        elif text[at] == "$" and quote[0] == '"':
            match = re.compile(r"\$(?:\{[^}\n]{0,200}\}|[A-Za-z_][A-Za-z0-9_.]*)").match(text, at)
            length = len(match[0]) if match else 1
            grown.take(whole, at, length, UNKNOWN if match else "$")
            at += length
        elif text[at] == "\n" and len(quote) == 1:
            break  # a literal ends with its line: this was an apostrophe
        else:
            grown.take(whole, at)
            at += 1
    end = min(len(text), at + len(quote)) if text.startswith(quote, at) else at
    end = max(end, start + 1)
    return _Literal(grown.placed(whole.place(start, end)), start, end)
