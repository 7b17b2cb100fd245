"""Words to commands: lists, pipelines, blocks, functions."""

from __future__ import annotations

from seedstall.parse.shell.scanner import ENDS_WORD, Scanner, line_of
from seedstall.parse.shell.script import (
    DECLARING,
    NAME,
    Assignment,
    Block,
    BlockKind,
    Function,
    Node,
    Simple,
    Word,
)

MAX_TEXT = 128 * 1024
"""Characters read: settings files have a few thousand; the parser keeps an object for each character of a word."""
_OPENERS = frozenset(("if", "while", "until", "for", "select", "case", "{"))
_RESERVED = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}", "in"))


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


class _Parser(Scanner):
    """Recursive descent over the text."""

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
        if self.peek() in "{}" and (
            self.at + 1 >= len(self.text) or self.text[self.at + 1] in ENDS_WORD
        ):
            return self.peek()
        end = self.at
        while end < len(self.text) and end - self.at < 10 and self.text[end] in NAME:  # noqa: PLR2004 - "function" is 8
            end += 1
        whole = end >= len(self.text) or self.text[end] in ENDS_WORD
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
        while self.reserved() == "time" or (
            self.peek() == "!" and self.text[self.at + 1 : self.at + 2] in " \t"
        ):
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

    def command(self) -> Node:  # noqa: PLR0911 - one return for each kind of command
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
        if self.peek(2) == "[[" and self.text[self.at + 2 : self.at + 3] in ENDS_WORD:
            return self.redirected(self.test(start))
        if self.is_function():
            return self.function(start, keyword=False)
        return self.simple(start)

    def close(self, closing: str, what: str, start: int) -> None:
        """Pass the reserved word or bracket that must stand here."""
        self.skip_blank(newlines=True)
        found = self.reserved() if closing[0] in NAME or closing == "}" else self.peek(len(closing))
        if found != closing:
            if self.at >= len(self.text):
                raise self.unfinished(what.strip(), start)
            raise self.error(
                f"{closing!r} expected for the {what.strip()} of line {line_of(self.text, start)}"
            )
        self.at += len(closing)

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

    def loop(
        self, start: int, condition: tuple[Node, ...], variable: str, words: tuple[Word, ...]
    ) -> Block:
        self.skip_blank(newlines=True)
        if self.reserved() == "{":  # bash and zsh take braces for do ... done
            self.at += 1
            body = self.commands(frozenset("}"))
            self.close("}", "loop", start)
        else:
            self.close("do", "loop", start)
            body = self.commands(frozenset(("done",)))
            self.close("done", "loop", start)
        return Block(
            BlockKind.LOOP, start, self.at, (condition, body), variable=variable, words=words
        )

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
                return Block(
                    BlockKind.CASE, start, self.at, tuple(arms), total=total, words=(subject,)
                )
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
            if self.peek(2) == "]]" and self.text[self.at + 2 : self.at + 3] in {"", *ENDS_WORD}:
                self.at += 2
                return Block(BlockKind.GROUP, start, self.at, ())
            if self.peek() in ";&|<>()":
                self.at += 1
            else:
                self.word(pattern=True)

    def is_function(self) -> bool:
        """Whether ``name ()`` stands here."""
        end = self.at
        while end < len(self.text) and (self.text[end] in NAME or self.text[end] in "-.:"):
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
        while self.at < len(self.text) and self.text[self.at] not in ENDS_WORD:
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
