"""Shell scripts as far as settings need it: words with their quoting, assignments, control flow, places in the text.

Written for files that a shell sources (``setenv.sh``, ``/etc/default/tomcat10``, ``standalone.conf``). It covers the POSIX
grammar and what bash adds in such files (arrays, ``+=``, ``[[ ]]``, ``function``, here-strings). It executes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

MAX_TEXT = 128 * 1024
"""Characters read: settings files have a few thousand; the parser keeps an object for each character of a word."""
MAX_DEPTH = 40
"""Nesting read: of quotes, substitutions and blocks together."""

_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAME = _NAME_START | frozenset("0123456789")
_SPECIAL = frozenset("@*#?$!-0123456789")
_ENDS_WORD = frozenset(" \t\n;&|<>()")
_DQ_ESCAPES = frozenset('$`"\\')
_OPENERS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
_RESERVED = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}", "in"))
_ANSI_C = {"n": "\n", "t": "\t", "r": "\r"}


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
        return character in _NAME_START
    return character in _NAME or character in "+["


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


def parse(text: str) -> tuple[Node, ...]:
    """The commands of a script, in order.

    Raises:
        UnfinishedError: it ends inside a quote, a here-document or a block.
        ValueError: it is too long, nested too deeply, or holds a construct that is not understood.
    """
    if len(text) > MAX_TEXT:
        message = f"longer than {MAX_TEXT} characters"
        raise ValueError(message)
    parser = _Parser(text)
    nodes = parser.commands(frozenset())
    if parser.at < len(text):
        raise parser.error(f"unexpected {text[parser.at]!r}")
    return nodes


def closed(text: str) -> bool:
    """Whether every quote, substitution and here-document of *text* is closed, whatever its grammar."""
    if len(text) > MAX_TEXT:
        return False
    parser = _Parser(text)
    try:
        while parser.at < len(text):
            parser.skip_blank(newlines=True)
            parser.lexeme()
    except ValueError:
        return False
    return not parser.pending


def line_of(text: str, offset: int) -> int:
    """The line, counted from 1, in which *offset* lies."""
    return text.count("\n", 0, offset) + 1


class _Parser:
    """Recursive descent over the text. ``at`` is the place read next; here-documents wait in ``pending``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.runs = 0
        self.pending: list[tuple[str, bool]] = []

    # Errors and small steps

    def error(self, what: str) -> ValueError:
        return ValueError(f"line {line_of(self.text, self.at)}: {what}")

    def unfinished(self, what: str, start: int) -> UnfinishedError:
        return UnfinishedError(f"line {line_of(self.text, start)}: {what} is never closed")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deeply")

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def skip_blank(self, *, newlines: bool = False) -> None:
        """Pass blanks, continued lines and comments; with *newlines* line ends too (and here-documents)."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t":
                self.at += 1
            elif self.peek(2) == "\\\n":
                self.at += 2
            elif character == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif character == "\n" and newlines:
                self.newline()
            else:
                return

    def newline(self) -> None:
        """Pass a line end, and the bodies of the here-documents that begin behind it."""
        self.at += 1
        for delimiter, tabs in self.pending:
            self.heredoc(delimiter, tabs=tabs)
        self.pending.clear()

    def heredoc(self, delimiter: str, *, tabs: bool) -> None:
        start = self.at
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            line = self.text[self.at : len(self.text) if end < 0 else end]
            self.at = len(self.text) if end < 0 else end + 1
            if (line.lstrip("\t") if tabs else line) == delimiter:
                return
        raise self.unfinished(f"the here-document {delimiter!r}", start)

    # Lists of commands

    def commands(self, stop: frozenset[str]) -> tuple[Node, ...]:
        """Commands up to the end, a closing ``)``, ``;;``, or a reserved word of *stop*."""
        self.deeper()
        nodes: list[Node] = []
        while True:
            self.skip_blank(newlines=True)
            if self.at >= len(self.text):
                if self.pending:
                    raise self.unfinished("a here-document", self.at)
                break
            if self.peek() == ")" or self.peek(2) in (";;", ";&") or self.reserved() in stop:
                break
            node = self.chain()
            self.skip_blank()
            if self.peek() == "&" and self.peek(2) != "&&":
                self.at += 1
                node = Block(BlockKind.SUBSHELL, node.start, self.at, ((node,),))
            elif self.peek() == ";" and self.peek(2) not in (";;", ";&"):
                self.at += 1
            elif self.at < len(self.text) and self.peek() not in "\n);":
                raise self.error(f"unexpected {self.peek()!r}")
            nodes.append(node)
        self.depth -= 1
        return tuple(nodes)

    def reserved(self) -> str:
        """The unquoted word that begins here, as far as it can be a reserved one; else ``""``."""
        if self.peek() in "{}" and (self.at + 1 >= len(self.text) or self.text[self.at + 1] in _ENDS_WORD):
            return self.peek()
        end = self.at
        while end < len(self.text) and end - self.at < 10 and self.text[end] in _NAME:  # noqa: PLR2004 - "function" is 8
            end += 1
        whole = end >= len(self.text) or self.text[end] in _ENDS_WORD
        return self.text[self.at : end] if whole else ""

    def chain(self) -> Node:
        """Pipelines joined by ``&&`` and ``||``."""
        first = self.pipeline()
        parts = [first]
        while True:
            self.skip_blank()
            if self.peek(2) not in ("&&", "||"):
                break
            opened = self.at
            self.at += 2
            self.skip_blank(newlines=True)
            if self.at >= len(self.text):
                raise self.unfinished(f"the list at {self.text[opened : opened + 2]}", opened)
            parts.append(self.pipeline())
        if len(parts) == 1:
            return first
        return Block(BlockKind.CHAIN, first.start, self.at, tuple((p,) for p in parts))

    def pipeline(self) -> Node:
        while self.reserved() in ("time",) or (self.peek() == "!" and self.text[self.at + 1 : self.at + 2] in " \t"):
            self.at += len(self.reserved()) or 1
            self.skip_blank()
        first = self.command()
        parts = [first]
        while True:
            self.skip_blank()
            if self.peek() != "|" or self.peek(2) == "||":
                break
            self.at += 2 if self.peek(2) == "|&" else 1
            self.skip_blank(newlines=True)
            parts.append(self.command())
        if len(parts) == 1:
            return first
        return Block(BlockKind.SUBSHELL, first.start, self.at, (tuple(parts),))

    # Commands

    def command(self) -> Node:
        word = self.reserved()
        start = self.at
        if word in _RESERVED:
            raise self.error(f"unexpected {word!r}")
        if self.peek(2) == "((":
            end = self.balanced(start)
            if end and self.text[end - 2 : end] == "))":
                self.at = end
                return self.redirected(Block(BlockKind.GROUP, start, end, ()))
        if self.peek() == "(":
            self.at += 1
            body = self.commands(frozenset())
            self.close(")", "( ", start)
            return self.redirected(Block(BlockKind.SUBSHELL, start, self.at, (body,)))
        if word in _OPENERS:
            return self.redirected(self.compound(word, start))
        if word == "function":
            return self.function(start, keyword=True)
        if self.peek(2) == "[[" and self.text[self.at + 2 : self.at + 3] in _ENDS_WORD:
            return self.redirected(self.test(start))
        if self.is_function():
            return self.function(start, keyword=False)
        return self.simple(start)

    def close(self, token: str, what: str, start: int) -> None:
        """Pass the reserved word or bracket that must stand here."""
        self.skip_blank(newlines=True)
        found = self.reserved() if token[0] in _NAME or token == "}" else self.peek(len(token))
        if found != token:
            if self.at >= len(self.text):
                raise self.unfinished(what.strip(), start)
            raise self.error(f"{token!r} expected for the {what.strip()} of line {line_of(self.text, start)}")
        self.at += len(token)

    def compound(self, word: str, start: int) -> Block:
        self.at += len(word)
        match word:
            case "{":
                body = self.commands(frozenset("}"))
                self.close("}", "{", start)
                return Block(BlockKind.GROUP, start, self.at, (body,))
            case "if":
                return self.conditional(start)
            case "case":
                return self.case(start)
            case "for" | "select":
                return self.for_loop(start)
            case _:
                condition = self.commands(frozenset(("do",)))
                return self.loop(start, condition, "", ())

    def conditional(self, start: int) -> Block:
        parts: list[tuple[Node, ...]] = []
        ends = frozenset(("then", "elif", "else", "fi"))
        total = False
        while True:
            parts.append(self.commands(ends))
            self.close("then", "if", start)
            parts.append(self.commands(ends))
            self.skip_blank(newlines=True)
            word = self.reserved()
            if word == "elif":
                self.at += 4
                continue
            if word == "else":
                self.at += 4
                parts.append(self.commands(ends))
                total = True
            self.close("fi", "if", start)
            return Block(BlockKind.IF, start, self.at, tuple(parts), total=total)

    def loop(self, start: int, condition: tuple[Node, ...], variable: str, words: tuple[Word, ...]) -> Block:
        self.skip_blank(newlines=True)
        if self.reserved() == "{":  # bash and zsh take braces for do ... done
            self.at += 1
            body = self.commands(frozenset("}"))
            self.close("}", "loop", start)
        else:
            self.close("do", "loop", start)
            body = self.commands(frozenset(("done",)))
            self.close("done", "loop", start)
        return Block(BlockKind.LOOP, start, self.at, (condition, body), variable=variable, words=words)

    def for_loop(self, start: int) -> Block:
        self.skip_blank()
        if self.peek(2) == "((":
            end = self.balanced(self.at)
            if not end:
                raise self.unfinished("for ((", start)
            self.at = end
            self.skip_semicolon()
            return self.loop(start, (), "", ())
        variable = self.word().plain or ""
        self.skip_blank(newlines=True)
        words: list[Word] = []
        if self.reserved() == "in":
            self.at += 2
            self.skip_blank()
            while self.at < len(self.text) and self.peek() not in "\n;":
                words.append(self.word())
                self.skip_blank()
        self.skip_semicolon()
        return self.loop(start, (), variable, tuple(words))

    def skip_semicolon(self) -> None:
        self.skip_blank()
        if self.peek() == ";":
            self.at += 1

    def case(self, start: int) -> Block:
        self.skip_blank()
        subject = self.word()
        self.close("in", "case", start)
        arms: list[tuple[Node, ...]] = []
        total = False
        while True:
            self.skip_blank(newlines=True)
            if self.at >= len(self.text):
                raise self.unfinished("case", start)
            if self.reserved() == "esac":
                self.at += 4
                return Block(BlockKind.CASE, start, self.at, tuple(arms), total=total, words=(subject,))
            total = self.patterns() or total
            arms.append(self.commands(frozenset(("esac",))))
            self.skip_blank(newlines=True)
            for end in (";;&", ";;", ";&"):
                if self.peek(len(end)) == end:
                    self.at += len(end)
                    break

    def patterns(self) -> bool:
        """Pass ``a|b)``; true where one of them is ``*``."""
        total = False
        if self.peek() == "(":
            self.at += 1
        while True:
            self.skip_blank()
            if self.peek() in "|)" and self.peek():
                raise self.error("a case pattern expected")
            total = self.word(pattern=True).literal == "*" or total
            self.skip_blank()
            character = self.peek()
            self.at += 1
            if character == ")":
                return total
            if character != "|":
                raise self.error("`)` expected in case")

    def test(self, start: int) -> Block:
        """``[[ ... ]]``: inside it brackets and operators are words."""
        self.at += 2
        while True:
            self.skip_blank(newlines=True)
            if self.at >= len(self.text):
                raise self.unfinished("[[", start)
            if self.peek(2) == "]]" and self.text[self.at + 2 : self.at + 3] in {"", *_ENDS_WORD}:
                self.at += 2
                return Block(BlockKind.GROUP, start, self.at, ())
            if self.peek() in ";&|<>()":
                self.at += 1
            else:
                self.word(pattern=True)

    def is_function(self) -> bool:
        """Whether ``name ()`` stands here."""
        end = self.at
        while end < len(self.text) and (self.text[end] in _NAME or self.text[end] in "-.:"):
            end += 1
        if end == self.at:
            return False
        while end < len(self.text) and self.text[end] in " \t":
            end += 1
        if self.text[end : end + 1] != "(":
            return False
        end += 1
        while end < len(self.text) and self.text[end] in " \t":
            end += 1
        return self.text[end : end + 1] == ")"

    def function(self, start: int, *, keyword: bool) -> Function:
        if keyword:
            self.at += len("function")
            self.skip_blank()
        begin = self.at
        while self.at < len(self.text) and self.text[self.at] not in _ENDS_WORD:
            self.at += 1
        name = self.text[begin : self.at]
        self.skip_blank()
        if self.peek() == "(":
            self.at += 1
            self.skip_blank()
            self.close(")", "function", start)
        self.skip_blank(newlines=True)
        if self.at >= len(self.text):
            raise self.unfinished("function", start)
        self.deeper()
        body = self.command()
        self.depth -= 1
        return Function(name, start, self.at, (body,))

    def simple(self, start: int) -> Simple:
        assignments: list[Assignment] = []
        words: list[Word] = []
        end = start
        while True:
            self.skip_blank()
            if self.at >= len(self.text) or self.peek() in "\n;|)":
                break
            if self.redirect():
                end = self.at
                continue
            if self.peek() in "&(":
                break
            word = self.word()
            end = word.end
            found = word.assignment() if not words or words[0].plain in DECLARING else None
            if found is None or words:
                words.append(word)
            else:
                assignments.append(found)
        if end == start:
            raise self.error(f"a command expected, not {self.peek()!r}")
        return Simple(start, end, tuple(assignments), tuple(words))

    def redirected(self, block: Block) -> Block:
        """Pass the redirections behind a compound command."""
        while True:
            self.skip_blank()
            if not self.redirect():
                return block

    def redirect(self) -> bool:
        """Pass one redirection, if one stands here."""
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
        if self.peek(2) == "&>":
            self.at += 1
        if self.peek() not in {"<", ">"} or (self.peek(2) in ("<(", ">(")):
            self.at = start
            return False
        operator = next(o for o in ("<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">") if self.peek(len(o)) == o)
        self.at += len(operator)
        self.skip_blank()
        if self.at >= len(self.text) or self.peek() == "\n":
            raise self.error("a redirection without a name")
        word = self.word()
        if operator in ("<<", "<<-"):
            raw = self.text[word.start : word.end]
            self.pending.append((word.plain if word.plain is not None else raw, operator == "<<-"))
        return True

    # Words

    def lexeme(self) -> None:
        """Pass one word or operator, for `closed`."""
        if self.at >= len(self.text) or self.redirect():
            return
        if self.peek() in ";&|()":
            self.at += 1
        else:
            self.word()

    def word(self, *, pattern: bool = False) -> Word:
        """One word. With *pattern*, brackets of extended patterns are part of it."""
        start = self.at
        pieces: list[Piece] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "(" and self.array_begins(start, pieces):
                pieces.extend(self.array())
                continue
            if pattern and character == "(" and self.at > start and self.text[self.at - 1] in "?*+@!":
                end = self.balanced(self.at)
                if not end:
                    raise self.unfinished("a pattern", self.at)
                pieces.append(Piece(Kind.OPAQUE, self.text[self.at : end], self.at, end))
                self.at = end
                continue
            if character in _ENDS_WORD and not (character in "<>" and self.text[self.at + 1 : self.at + 2] == "("):
                break
            self.element(pieces)
        if self.at == start:
            raise self.error(f"a word expected, not {self.peek()!r}" if self.peek() else "a word expected")
        return Word(start, self.at, tuple(pieces))

    def array_begins(self, start: int, pieces: list[Piece]) -> bool:
        if not pieces or pieces[-1].text != "=" or pieces[-1].run:
            return False
        found = Word(start, self.at, tuple(pieces)).assignment()
        return found is not None and not found.value

    def array(self) -> list[Piece]:
        """``(a b c)`` of an array: the elements, parted by blanks that stand nowhere in the text."""
        opened = self.at
        self.at += 1
        self.deeper()
        pieces: list[Piece] = []
        while True:
            self.skip_blank(newlines=True)
            if self.at >= len(self.text):
                raise self.unfinished("the array", opened)
            if self.peek() == ")":
                self.at += 1
                self.depth -= 1
                return pieces
            if pieces:
                pieces.append(Piece(Kind.CHAR, " ", self.at, self.at))
            pieces.extend(self.word().pieces)

    def element(self, pieces: list[Piece]) -> None:
        """One unquoted character, quoted stretch or expansion."""
        character = self.text[self.at]
        match character:
            case "\\":
                self.escape(pieces)
            case "'":
                self.single(pieces)
            case '"':
                self.double(pieces)
            case "`":
                pieces.append(self.backquoted(0))
            case "<" | ">":
                start = self.at
                self.at += 1
                self.substitution()
                pieces.append(Piece(Kind.OPAQUE, self.text[start : self.at], start, self.at))
            case "$":
                self.dollar(pieces, 0, quoted=False)
            case _:
                pieces.append(Piece(Kind.CHAR, character, self.at, self.at + 1))
                self.at += 1

    def escape(self, pieces: list[Piece]) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following and following != "\n":
            pieces.append(Piece(Kind.CHAR, following, self.at, self.at + 2))
        elif not following:  # a last backslash stands for itself
            pieces.append(Piece(Kind.CHAR, "\\", self.at, self.at + 1))
        self.at += 1 + len(following)

    def new_run(self) -> int:
        self.runs += 1
        return self.runs

    def single(self, pieces: list[Piece]) -> None:
        run = self.new_run()
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.unfinished("a single quote", self.at)
        pieces.extend(Piece(Kind.CHAR, self.text[i], i, i + 1, run) for i in range(self.at + 1, end))
        self.at = end + 1

    def ansi(self, pieces: list[Piece]) -> None:
        """``$'...'`` of bash: backslashes escape."""
        run, opened = self.new_run(), self.at
        self.at += 2
        while self.peek() != "'":
            if self.at >= len(self.text):
                raise self.unfinished("a single quote", opened)
            length = 2 if self.peek() == "\\" else 1
            character = self.text[self.at + length - 1 : self.at + length]
            if length > 1:
                character = _ANSI_C.get(character, character)
            pieces.append(Piece(Kind.CHAR, character, self.at, self.at + length, run))
            self.at += length
        self.at += 1

    def double(self, pieces: list[Piece]) -> None:
        run, opened = self.new_run(), self.at
        self.deeper()
        self.at += 1
        while self.peek() != '"':
            if self.at >= len(self.text):
                raise self.unfinished("a double quote", opened)
            self.within_double(pieces, run)
        self.at += 1
        self.depth -= 1

    def within_double(self, pieces: list[Piece], run: int) -> None:
        """One character or expansion inside double quotes."""
        character, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
        if character == "\\" and following == "\n":
            self.at += 2
        elif character == "\\" and following in _DQ_ESCAPES and following:
            pieces.append(Piece(Kind.CHAR, following, self.at, self.at + 2, run))
            self.at += 2
        elif character == "$":
            self.dollar(pieces, run, quoted=True)
        elif character == "`":
            pieces.append(self.backquoted(run))
        else:
            pieces.append(Piece(Kind.CHAR, character, self.at, self.at + 1, run))
            self.at += 1

    def backquoted(self, run: int) -> Piece:
        start = self.at
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 2 if character == "\\" else 1
            if character == "`":
                return Piece(Kind.OPAQUE, self.text[start : self.at], start, self.at, run)
        raise self.unfinished("a backquote", start)

    def dollar(self, pieces: list[Piece], run: int, *, quoted: bool) -> None:
        start = self.at
        following = self.text[start + 1 : start + 2]
        if following == "(":
            self.at += 1
            self.substitution()
            pieces.append(Piece(Kind.OPAQUE, self.text[start : self.at], start, self.at, run))
        elif following == "{":
            pieces.append(self.braced(run, quoted=quoted))
        elif following in _SPECIAL and following:
            self.at += 2
            pieces.append(Piece(Kind.PARAM, following, start, self.at, run))
        elif following in _NAME_START and following:
            self.at += 2
            while self.at < len(self.text) and self.text[self.at] in _NAME:
                self.at += 1
            pieces.append(Piece(Kind.PARAM, self.text[start + 1 : self.at], start, self.at, run))
        elif following == "'" and not quoted:
            self.ansi(pieces)
        elif following == '"' and not quoted:
            self.at += 1
        else:
            pieces.append(Piece(Kind.CHAR, "$", start, start + 1, run))
            self.at += 1

    def substitution(self) -> None:
        """Pass ``( ... )`` of a command substitution or ``((...))`` of arithmetic."""
        start = self.at
        if self.peek(2) == "((":
            end = self.balanced(start)
            if end and self.text[end - 2 : end] == "))":
                self.at = end
                return
        self.at += 1
        waiting, self.pending = self.pending, []  # its own here-documents begin behind its own line ends
        self.commands(frozenset())
        if self.peek() != ")":
            if self.at >= len(self.text):
                raise self.unfinished("$(", start)
            raise self.error("`)` expected")
        self.at += 1
        self.pending = [*waiting, *self.pending]

    def balanced(self, start: int) -> int:
        """The place behind the bracket that closes the one at *start*; 0 where there is none. Quotes are passed over."""
        depth, at = 0, start
        while at < len(self.text):
            character = self.text[at]
            if character == "\\":
                at += 1
            elif character in "'\"":
                at = self.text.find(character, at + 1)
                if at < 0:
                    return 0
            elif character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
                if not depth:
                    return at + 1
            at += 1
        return 0

    def braced(self, run: int, *, quoted: bool) -> Piece:
        """``${NAME}`` with all its forms."""
        start = self.at
        self.deeper()
        self.at += 2
        prefix = self.peek() if self.peek() in ("#", "!") and self.peek(2)[1:] in _NAME | {"@", "*"} else ""
        self.at += len(prefix)
        begin = self.at
        if self.peek() in _SPECIAL and self.peek():
            self.at += 1
        while self.at < len(self.text) and self.text[self.at] in _NAME:
            self.at += 1
        name = self.text[begin : self.at]
        if self.peek() == "[":
            end = self.text.find("]", self.at, self.at + 200)
            self.at = end + 1 if end >= 0 else self.at
        operator = prefix + self.operator()
        word: list[Piece] = []
        while self.peek() != "}":
            if self.at >= len(self.text):
                raise self.unfinished("${", start)
            self.within_brace(word, run, quoted=quoted, pattern=operator[:1] in ("#", "%", "/", "^", ","))
        self.at += 1
        self.depth -= 1
        return Piece(Kind.PARAM, name, start, self.at, run, operator, tuple(word))

    def operator(self) -> str:
        for operator in (":-", ":=", ":+", ":?", "-", "=", "+", "?", "##", "#", "%%", "%", "//", "/", "^", ",", ":"):
            if self.peek(len(operator)) == operator:
                self.at += len(operator)
                return operator
        return ""

    def within_brace(self, word: list[Piece], run: int, *, quoted: bool, pattern: bool) -> None:
        """One element of the word in ``${NAME:-word}``; in double quotes a single quote is a character."""
        character = self.peek()
        if character == "'" and (not quoted or pattern):
            self.single(word)
        elif character == '"':
            self.double(word)
        elif quoted:
            self.within_double(word, run)
        elif character in _ENDS_WORD:
            word.append(Piece(Kind.CHAR, character, self.at, self.at + 1, run))
            self.at += 1
        else:
            self.element(word)


DECLARING = frozenset(("export", "readonly", "declare", "typeset", "local"))
"""Commands whose words may be assignments."""
