"""Words of a value, each character with its place: as the JVM, Docker and systemd split them, and lists in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from seedstall.model.settings import UNKNOWN, Placed

BLANKS = " \t\n\r\f\v"
_REFERENCE = re.compile(
    r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)[^}\n]{0,200}\}|\(([A-Za-z_][A-Za-z0-9_]*)\)"
    r"|([A-Za-z_][A-Za-z0-9_]*))"
)
_PLACEHOLDER = re.compile(r"\$[{(A-Za-z_]|\{\{|%[A-Za-z_]{1,60}%|@[A-Za-z_.]{1,60}@")
_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Growing:
    """Decoded text as it grows, with the place of each character."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.text: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, character: str, start: int, end: int) -> None:
        """One character, written at *start*:*end*."""
        self.text.append(character)
        self.starts.append(start)
        self.ends.append(end)

    def take(self, whole: Placed, index: int, count: int = 1, character: str = "") -> None:
        """Character *index* of *whole*, or what *count* of its characters stand for."""
        start, end = whole.starts[index], whole.ends[index + count - 1]
        self.add(character or whole.text[index], start, end)

    def placed(self, outer: tuple[int, int]) -> Placed:
        """What has grown."""
        return Placed("".join(self.text), self.starts, self.ends, outer)


def references(text: str) -> tuple[str, ...]:
    """The variables that a text names: ``$NAME``, ``${NAME...}``, ``$(NAME)``."""
    found = (match[1] or match[2] or match[3] for match in _REFERENCE.finditer(text))
    return tuple(dict.fromkeys(found))


def only_reference(text: str) -> bool:
    """Whether a word is nothing but one reference to a variable."""
    return _REFERENCE.fullmatch(text) is not None


def unknown(text: str) -> bool:
    """Whether a part of a text is filled in by somebody else: a variable, a placeholder of a build tool or a chart."""
    return UNKNOWN in text or _PLACEHOLDER.search(text) is not None


def split(
    whole: Placed, *, escape: str = "", expand: bool = False, blanks: str = BLANKS
) -> list[Placed]:
    """The words of *whole*: *blanks* separate, quotes keep blanks and go away.

    *escape* is the character that takes the next one's meaning (none for the JVM's variables; a backslash for
    Docker and systemd). With *expand*, ``$NAME`` outside single quotes becomes one unknown character.
    """
    words: list[Placed] = []
    at, text = 0, whole.text
    last = _last_quotes(text)
    while at < len(text):
        if text[at] in blanks:
            at += 1
            continue
        word, at = _word(whole, at, escape, last, expand=expand, ends=blanks)
        words.append(word)
    return words


def unquoted(whole: Placed, *, escape: str = "", expand: bool = False) -> Placed:
    """*whole* as one word, whatever blanks it holds."""
    last = _last_quotes(whole.text)
    return _word(whole, 0, escape, last, expand=expand, ends="")[0]


def _last_quotes(text: str) -> dict[str, int]:
    return {quote: text.rfind(quote) for quote in "'\""}


def _word(
    whole: Placed, at: int, escape: str, last: dict[str, int], *, expand: bool, ends: str
) -> tuple[Placed, int]:
    text, first, grown, quote = whole.text, at, Growing(), ""
    while at < len(text) and (quote or text[at] not in ends):
        character = text[at]
        if character == quote:
            quote, at = "", at + 1
        elif not quote and character in "'\"" and at < last[character]:
            # One that nothing closes is a character like any other.
            quote, at = character, at + 1
        elif escape and character == escape and quote != "'" and at + 1 < len(text):
            grown.take(whole, at, 2, text[at + 1])
            at += 2
        elif expand and character == "$" and quote != "'":
            at = _expanded(whole, at, grown)
        else:
            grown.take(whole, at)
            at += 1
    return grown.placed(whole.place(first, at)), at


def _expanded(whole: Placed, at: int, grown: Growing) -> int:
    match = _REFERENCE.match(whole.text, at)
    length = len(match[0]) if match else 1
    grown.take(whole, at, length, UNKNOWN if match else "$")
    return at + length


def replaced(whole: Placed, written: str, meant: str) -> Placed:
    """*whole* with each *written* (a two-character escape) as the one character that it stands for."""
    if written not in whole.text:
        return whole
    grown = Growing()
    at = 0
    while at < len(whole.text):
        if whole.text.startswith(written, at):
            grown.take(whole, at, len(written), meant)
            at += len(written)
        else:
            grown.take(whole, at)
            at += 1
    return grown.placed(whole.outer)


def joined(parts: Sequence[Placed], glue: str = " ") -> Placed:
    """Several stretches as one text, *glue* between them."""
    grown = Growing()
    for index, part in enumerate(parts):
        if index and glue:
            at = parts[index - 1].outer[1]
            grown.add(glue, at, at)
        for text, start, end in zip(part.text, part.starts, part.ends, strict=True):
            grown.add(text, start, end)
    outer = (parts[0].outer[0], parts[-1].outer[1]) if parts else (0, 0)
    return grown.placed(outer)


def lines(whole: Placed) -> Iterable[Placed]:
    """Its lines, without their ends: a line feed, with a carriage return before it or not."""
    at, text = 0, whole.text
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        stop = end - 1 if end > at and text[end - 1] == "\r" else end
        yield whole.part(at, stop)
        at = end + 1


def stripped(whole: Placed, characters: str = BLANKS) -> Placed:
    """*whole* without *characters* at both ends."""
    start = len(whole.text) - len(whole.text.lstrip(characters))
    return whole.part(start, max(start, len(whole.text.rstrip(characters))))


def json_strings(whole: Placed) -> tuple[Placed, ...] | None:
    """The elements of a JSON array of strings; ``None`` where the text is no such array."""
    reader = _Json(whole)
    found = reader.array()
    return tuple(found) if found is not None and reader.at_end() else None


class _Json:
    """A reader of one array of strings."""

    def __init__(self, whole: Placed) -> None:
        self.whole = whole
        self.at = 0

    def skip(self) -> str:
        """The next character that is no blank, ``""`` at the end."""
        text = self.whole.text
        while self.at < len(text) and text[self.at] in " \t\r\n":
            self.at += 1
        return text[self.at : self.at + 1]

    def at_end(self) -> bool:
        return not self.skip()

    def array(self) -> list[Placed] | None:
        if self.skip() != "[":
            return None
        self.at += 1
        found: list[Placed] = []
        if self.skip() == "]":
            self.at += 1
            return found
        while self.skip() == '"':
            element = self.string()
            if element is None:
                return None
            found.append(element)
            after = self.skip()
            self.at += 1
            if after == "]":
                return found
            if after != ",":
                return None
        return None

    def string(self) -> Placed | None:
        text, first, grown = self.whole.text, self.at, Growing()
        self.at += 1
        while self.at < len(text) and text[self.at] != '"':
            if text[self.at] != "\\":
                grown.take(self.whole, self.at)
                self.at += 1
            elif not self.escape(grown):
                return None
        if self.at >= len(text):
            return None
        self.at += 1
        return grown.placed(self.whole.place(first, self.at))

    def escape(self, grown: Growing) -> bool:
        following = self.whole.text[self.at + 1 : self.at + 2]
        if following == "u":
            digits = self.whole.text[self.at + 2 : self.at + 6]
            if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
                return False
            grown.take(self.whole, self.at, 6, chr(int(digits, 16)))
            self.at += 6
            return True
        if following not in _ESCAPES or not following:
            return False
        grown.take(self.whole, self.at, 2, _ESCAPES[following])
        self.at += 2
        return True
