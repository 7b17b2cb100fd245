"""The launcher's argument files (``java @file``, JDK 9 and later: JEP 293), as ``libjli/args.c`` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

BLANK = " \t\n\r\f"
"""Not the vertical tab, which isspace(3) has and this reader has not."""
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
_NOT_BLANK = re.compile(r"[^ \t\n\r\f]")
_LINE_END = re.compile(r"[\n\r]")
_MARK = re.compile(r"""[ \t\f\n\r#\\'"]""")


class _State(Enum):
    """Where the reader stands; the names are the launcher's."""

    FIND_NEXT = auto()
    IN_COMMENT = auto()
    IN_QUOTE = auto()
    IN_ESCAPE = auto()
    SKIP_LEAD_WS = auto()
    IN_TOKEN = auto()


class FileArgument(NamedTuple):
    """One argument of an argument file and the line on which it ends, counted from 1."""

    text: str
    line: int


def file_arguments(text: str) -> Iterator[FileArgument]:
    """The arguments of an argument file, in order.

    Blanks separate. Quotes keep blanks; inside them a backslash escapes, and at the end of a line it joins the next
    line without its leading blanks. An open quote ends with its line. Outside quotes a backslash is itself.

    A ``#`` outside quotes begins a comment **even inside a word, and the word's part before it is lost**: of
    ``-Dx=a#b`` nothing remains; a part that a quote or an escape had set aside is glued to the next word instead (seen
    on 11, 17, 21 and 25).
    """
    reader = _Reader(text)
    line, counted = 1, 0
    while (token := reader.next_token()) is not None:
        end = reader.at - 1
        line += _newlines(text, counted, end)
        counted = end
        yield FileArgument(token, line)


def _newlines(text: str, start: int, end: int) -> int:
    """Line ends between two places; a carriage return and line feed are one."""
    return (
        text.count("\n", start, end)
        + text.count("\r", start, end)
        - text.count("\r\n", start, end + 1)
    )


class _Reader:
    """The launcher's state machine. Runs of plain characters are skipped at once, so it is linear."""

    def __init__(self, text: str) -> None:
        self.at = 0
        self._text = text
        self._anchor = 0
        self._parts: list[str] = []
        self._quote = ""
        self._state = _State.FIND_NEXT
        self._ended = False

    def next_token(self) -> str | None:
        """The next argument, ``None`` at the end."""
        text, end = self._text, len(self._text)
        while self.at < end:
            if not self._prepare():
                continue
            character = text[self.at]
            quoted = self._state is _State.IN_QUOTE
            if character in "\n\r" or (character in " \t\f" and not quoted):
                token = self._take(self.at)
                self.at += 1
                self._state = _State.FIND_NEXT
                return token
            if character in "'\"":
                self._toggle(character)
            elif character == "\\" and quoted:
                self._set_aside(_State.IN_ESCAPE)
            elif character == "#" and not quoted:
                self._state = _State.IN_COMMENT
            else:
                mark = _MARK.search(text, self.at + 1)
                self.at = mark.start() if mark else end
                continue
            self.at += 1
        return self._last()

    def _prepare(self) -> bool:
        """Deal with blanks, comments and escapes; whether a character of a word is next."""
        text = self._text
        match self._state:
            case _State.FIND_NEXT | _State.SKIP_LEAD_WS:
                found = _NOT_BLANK.search(text, self.at)
                self.at = self._anchor = found.start() if found else len(text)
                if found:
                    skipped = self._state is _State.SKIP_LEAD_WS
                    self._state = _State.IN_QUOTE if skipped else _State.IN_TOKEN
                return found is not None
            case _State.IN_COMMENT:
                found = _LINE_END.search(text, self.at)
                self.at = found.end() if found else len(text)
                if found:
                    self._state = _State.FIND_NEXT
                return False
            case _State.IN_ESCAPE:
                character = text[self.at]
                if character in "\n\r":
                    self._state = _State.SKIP_LEAD_WS
                else:
                    self._parts.append(ESCAPES.get(character, character))
                    self._state = _State.IN_QUOTE
                self.at += 1
                self._anchor = self.at
                return False
            case _:
                return True

    def _toggle(self, quote: str) -> None:
        if self._state is _State.IN_QUOTE:
            if quote == self._quote:
                self._set_aside(_State.IN_TOKEN)
        else:
            self._quote = quote
            self._set_aside(_State.IN_QUOTE)

    def _set_aside(self, state: _State) -> None:
        self._parts.append(self._text[self._anchor : self.at])
        self._anchor = self.at + 1
        self._state = state

    def _take(self, end: int) -> str:
        token = "".join((*self._parts, self._text[self._anchor : end]))
        self._parts = []
        return token

    def _last(self) -> str | None:
        """What an unfinished word at the end of the file gives: nothing inside a comment or an escape, or if empty."""
        if self._ended or self._state not in (_State.IN_TOKEN, _State.IN_QUOTE):
            return None
        self._ended = True
        self.at = len(self._text) + 1
        return self._take(len(self._text)) or None
