"""What a shell script consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME = NAME_START | frozenset("0123456789")
DECLARING = frozenset(("export", "readonly", "declare", "typeset", "local"))
"""Commands whose words may be assignments."""


class UnfinishedError(ValueError):
    """The text ends inside a quote, a here-document or a block: nothing can be added behind it safely."""


class Kind(StrEnum):
    """What one piece of a word is."""

    CHAR = "character"
    PARAM = "parameter"
    """``$NAME`` or ``${NAME...}``."""
    OPAQUE = "substitution"
    """A command, process or arithmetic substitution: its text is not known."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One character or expansion of a word, and its place ``start:end`` in the text.

    ``text`` is the character after quoting, the parameter's name, or the substitution as written. ``run`` numbers the
    stretch of quoting it stands in (0 outside quotes). ``operator`` and ``word`` are of ``${NAME:-word}``.
    """

    kind: Kind
    text: str
    start: int
    end: int
    run: int = 0
    operator: str = ""
    word: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command."""

    start: int
    end: int
    pieces: tuple[Piece, ...]

    @property
    def literal(self) -> str | None:
        """Its text, where no expansion and no quote changes it; else ``None``."""
        if any(p.kind is not Kind.CHAR for p in self.pieces):
            return None
        text = "".join(p.text for p in self.pieces)
        return text if self.end - self.start == len(text) else None

    @property
    def plain(self) -> str | None:
        """Its text after quoting, where no expansion stands in it; else ``None``."""
        if any(p.kind is not Kind.CHAR for p in self.pieces):
            return None
        return "".join(p.text for p in self.pieces)

    def assignment(self) -> Assignment | None:
        """The word as ``NAME=value`` or ``NAME+=value``; ``None`` where it is no assignment."""
        name = ""
        for index, piece in enumerate(self.pieces):
            if piece.kind is not Kind.CHAR or piece.run or piece.end - piece.start != 1:
                return None
            if piece.text == "=" and name:
                append = name.endswith("+")
                name = name.removesuffix("+").partition("[")[0]
                return Assignment(name, append, self.start, self.end, self.pieces[index + 1 :])
            if not _name_grows(name, piece.text):
                return None
            name += piece.text
        return None


def _name_grows(name: str, character: str) -> bool:
    if "[" in name:
        return not name.endswith("+") and character != "\n"
    if name.endswith("+"):
        return False
    if not name:
        return character in NAME_START
    return character in NAME or character in "+["


@dataclass(frozen=True, slots=True)
class Assignment:
    """``NAME=value`` (``append``: ``NAME+=value``). An array's elements are one value, joined by blanks."""

    name: str
    append: bool
    start: int
    end: int
    value: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command: assignments before it, its words."""

    start: int
    end: int
    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]


class BlockKind(StrEnum):
    """How a block's parts are run."""

    GROUP = "{}"
    SUBSHELL = "()"
    """In a process of its own: also pipelines of more than one command, and background commands."""
    IF = "if"
    """Parts are condition, body, condition, body ..., and an ``else`` body where ``total``."""
    LOOP = "loop"
    """Parts are condition and body; ``variable`` and ``words`` of ``for``."""
    CASE = "case"
    """Parts are the arms; ``total`` where a ``*)`` arm exists."""
    CHAIN = "&& ||"
    """Parts after the first are run or not."""


@dataclass(frozen=True, slots=True)
class Block:
    """A compound command, or an and-or list."""

    kind: BlockKind
    start: int
    end: int
    parts: tuple[tuple[Node, ...], ...]
    total: bool = False
    variable: str = ""
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A function's definition."""

    name: str
    start: int
    end: int
    body: tuple[Node, ...]


Node: TypeAlias = Simple | Block | Function
