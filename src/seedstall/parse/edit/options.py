"""The seed source among JVM options: the words of an options string that set it, and the least change that sets it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from seedstall.parse.setenv import EGD, near_miss

BLANKS = " \t\r\n\f\v"
_WORD = re.compile(r"[^ \t\r\n\f\v]+")


@dataclass(frozen=True, slots=True)
class Edit:
    """What became of a file. ``content`` equals what was read where it was right already.

    ``line`` is where the option stands in the new one. ``replaced`` names the settings that went, as ``(line, option)``
    of the old file. ``notes`` are whole clauses for people.
    """

    content: bytes
    line: int = 0
    replaced: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """Characters ``start:end`` give way to ``new``; ``old`` is the option that goes, ``""`` where one is added."""

    start: int
    end: int
    new: str
    old: str = ""


def option(value: str) -> str:
    """``-Djava.security.egd=VALUE``."""
    return f"-D{EGD}={value}"


def settings(text: str) -> list[re.Match[str]]:
    """The words of *text* that set the property or were meant to. Words are split at blanks, quotes are none."""
    return [m for m in _WORD.finditer(text) if _sets(m[0])]


def _sets(word: str) -> bool:
    if not word.startswith("-D"):
        return False
    name, _, value = word[2:].partition("=")
    return name == EGD or near_miss(name, value)


def last_value(text: str) -> str | None:
    """The value that a JVM takes from *text*, ``None`` where it sets none."""
    prefix = f"-D{EGD}"
    words = [m[0] for m in settings(text) if m[0] == prefix or m[0].startswith(prefix + "=")]
    return words[-1].partition("=")[2] if words else None


def without(text: str) -> list[Change]:
    """The changes that take every setting out of *text*, each with the blanks before it."""
    return [_removed(text, match) for match in settings(text)]


def _removed(text: str, match: re.Match[str]) -> Change:
    start, end = match.span()
    while start > 0 and text[start - 1] in BLANKS:
        start -= 1
    while start == 0 and end < len(text) and text[end] in BLANKS:
        end += 1
    return Change(start, end, "", match[0])


def changes(text: str, value: str) -> list[Change]:
    """What makes *text* set the property to *value* once: in the place of the last setting, else at the end."""
    found = settings(text)
    wanted = option(value)
    if not found:
        blank = " " if text and text[-1] not in BLANKS else ""
        return [Change(len(text), len(text), blank + wanted)]
    *others, last = found
    made = [_removed(text, match) for match in others]
    if last[0] != wanted:
        made.append(Change(*last.span(), wanted, last[0]))
    return made


def changed(text: str, made: Iterable[Change]) -> str:
    """*text* with the changes in it."""
    return spliced(text, ((c.start, c.end, c.new) for c in made))


def spliced(text: str, made: Iterable[tuple[int, int, str]]) -> str:
    """*text* with each stretch ``start:end`` replaced; they do not overlap."""
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(made):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


def line_finder(text: str) -> Callable[[int], int]:
    """What gives the line of an offset, counted from 1."""
    feeds = [m.start() for m in re.finditer("\n", text)]
    return lambda offset: bisect_left(feeds, offset) + 1
