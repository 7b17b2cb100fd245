"""Characters to words: quotes, expansions, here-documents, redirections."""

from __future__ import annotations

from seedstall.parse.shell.script import (
    NAME,
    NAME_START,
    Kind,
    Node,
    Piece,
    UnfinishedError,
    Word,
)

MAX_DEPTH = 40
"""Nesting read: of quotes, substitutions and blocks together."""
ENDS_WORD = frozenset(" \t\n;&|<>()")
_SPECIAL = frozenset("@*#?$!-0123456789")
_DQ_ESCAPES = frozenset('$`"\\')
_ANSI_C = {"n": "\n", "t": "\t", "r": "\r"}


def line_of(text: str, offset: int) -> int:
    """The line, counted from 1, in which *offset* lies."""
    return text.count("\n", 0, offset) + 1


class Scanner:
    """Reads words. ``at`` is the place read next; here-documents wait in ``pending`` for the end of their line.

    Its methods raise ValueError with the line, `UnfinishedError` where the text ends too early.
    """

    def __init__(self, text: str) -> None:
        """Begin at the start of *text*."""
        self.text = text
        self.at: int = 0
        self.depth = 0
        self.runs = 0
        self.pending: list[tuple[str, bool]] = []

    # Errors and small steps

    def error(self, what: str) -> ValueError:
        """An error at the place read next; at the text's end, that it ends too early."""
        kind = UnfinishedError if self.at >= len(self.text) else ValueError
        return kind(f"line {line_of(self.text, self.at)}: {what}")

    def unfinished(self, what: str, start: int) -> UnfinishedError:
        """The error of something opened at *start* that the text never closes."""
        return UnfinishedError(f"line {line_of(self.text, start)}: {what} is never closed")

    def deeper(self) -> None:
        """One level of nesting more. Whoever calls it takes the level away again."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deeply")

    def peek(self, length: int = 1) -> str:
        """The next characters, fewer at the end."""
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
        """Pass a here-document body up to its delimiter."""
        start = self.at
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            line = self.text[self.at : len(self.text) if end < 0 else end]
            self.at = len(self.text) if end < 0 else end + 1
            if (line.lstrip("\t") if tabs else line) == delimiter:
                return
        raise self.unfinished(f"the here-document {delimiter!r}", start)

    # Words

    def commands(self, stop: frozenset[str]) -> tuple[Node, ...]:
        """The commands inside ``$( )``: the grammar's business."""
        raise NotImplementedError

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
            if (
                pattern
                and character == "("
                and self.at > start
                and self.text[self.at - 1] in "?*+@!"
            ):
                end = self.balanced(self.at)
                if not end:
                    raise self.unfinished("a pattern", self.at)
                pieces.append(Piece(Kind.OPAQUE, self.text[self.at : end], self.at, end))
                self.at = end
                continue
            if character in ENDS_WORD and not (
                character in "<>" and self.text[self.at + 1 : self.at + 2] == "("
            ):
                break
            self.element(pieces)
        if self.at == start:
            raise self.error(
                f"a word expected, not {self.peek()!r}" if self.peek() else "a word expected"
            )
        return Word(start, self.at, tuple(pieces))

    def array_begins(self, start: int, pieces: list[Piece]) -> bool:
        """Whether ``(`` stands right behind ``NAME=``."""
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
        """A backslash outside quotes."""
        following = self.text[self.at + 1 : self.at + 2]
        if following and following != "\n":
            pieces.append(Piece(Kind.CHAR, following, self.at, self.at + 2))
        elif not following:  # a last backslash stands for itself
            pieces.append(Piece(Kind.CHAR, "\\", self.at, self.at + 1))
        self.at += 1 + len(following)

    def new_run(self) -> int:
        """The number of a new stretch of quoting."""
        self.runs += 1
        return self.runs

    def single(self, pieces: list[Piece]) -> None:
        """``'...'``."""
        run = self.new_run()
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.unfinished("a single quote", self.at)
        pieces.extend(
            Piece(Kind.CHAR, self.text[i], i, i + 1, run) for i in range(self.at + 1, end)
        )
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
        """``"..."``."""
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
        """A substitution in backquotes."""
        start = self.at
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 2 if character == "\\" else 1
            if character == "`":
                return Piece(Kind.OPAQUE, self.text[start : self.at], start, self.at, run)
        raise self.unfinished("a backquote", start)

    def dollar(self, pieces: list[Piece], run: int, *, quoted: bool) -> None:
        """``$`` and what belongs to it."""
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
        elif following in NAME_START and following:
            self.at += 2
            while self.at < len(self.text) and self.text[self.at] in NAME:
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
        waiting, self.pending = (
            self.pending,
            [],
        )  # its own here-documents begin behind its own line ends
        self.commands(frozenset())
        if self.peek() != ")":
            if self.at >= len(self.text):
                raise self.unfinished("$(", start)
            raise self.error("`)` expected")
        self.at += 1
        self.pending = [*waiting, *self.pending]

    def balanced(self, start: int) -> int:
        """The place behind the bracket that closes the one at *start*; 0 where there is none. Quotes are passed."""
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
        prefix = (
            self.peek()
            if self.peek() in ("#", "!") and self.peek(2)[1:] in NAME | {"@", "*"}
            else ""
        )
        self.at += len(prefix)
        begin = self.at
        if self.peek() in _SPECIAL and self.peek():
            self.at += 1
        while self.at < len(self.text) and self.text[self.at] in NAME:
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
            self.within_brace(
                word, run, quoted=quoted, pattern=operator[:1] in ("#", "%", "/", "^", ",")
            )
        self.at += 1
        self.depth -= 1
        return Piece(Kind.PARAM, name, start, self.at, run, operator, tuple(word))

    def operator(self) -> str:
        """The operator behind the name in ``${NAME:-word}``; ``""`` where there is none."""
        for operator in (
            ":-",
            ":=",
            ":+",
            ":?",
            "-",
            "=",
            "+",
            "?",
            "##",
            "#",
            "%%",
            "%",
            "//",
            "/",
            "^",
            ",",
            ":",
        ):
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
        elif character in ENDS_WORD:
            word.append(Piece(Kind.CHAR, character, self.at, self.at + 1, run))
            self.at += 1
        else:
            self.element(word)

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
        operator = next(
            o
            for o in ("<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">")
            if self.peek(len(o)) == o
        )
        self.at += len(operator)
        self.skip_blank()
        if self.at >= len(self.text) or self.peek() == "\n":
            raise self.error("a redirection without a name")
        word = self.word()
        if operator in ("<<", "<<-"):
            raw = self.text[word.start : word.end]
            self.pending.append((word.plain if word.plain is not None else raw, operator == "<<-"))
        return True
