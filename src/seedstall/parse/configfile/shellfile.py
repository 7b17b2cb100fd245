"""Shell text: a script, the command of a Dockerfile's RUN, the text behind ``sh -c``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from seedstall.model.settings import UNKNOWN, Placed, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.words import Growing, joined, lines, replaced
from seedstall.parse.shell.grammar import parse
from seedstall.parse.shell.script import (
    DECLARING,
    Assignment,
    Block,
    BlockKind,
    Function,
    Kind,
    Node,
    Piece,
    Simple,
    Word,
)

_TARGET = re.compile(r">>?[ \t]*([\"']?)([^\s\"';|&<>]{1,400})\1")
_HEREDOC = re.compile(r"<<-?[ \t]*[\"']?([A-Za-z_][A-Za-z0-9_]{0,80})")
_CONDITIONAL = frozenset((BlockKind.IF, BlockKind.CASE, BlockKind.LOOP, BlockKind.CHAIN))
MAX_NESTED = 6
"""Texts inside texts: ``sh -c "su -c '...'"``."""


def read(gathering: Gathering, whole: Placed, scope: int, *, start: bool) -> None:
    """Take in the commands of *whole*. What cannot be parsed as one text is parsed line by line, and said to be."""
    if gathering.depth >= MAX_NESTED:
        gathering.problem("shell texts nested too deeply")
        return
    gathering.depth += 1
    try:
        _read(gathering, whole, scope, start=start)
    finally:
        gathering.depth -= 1


def _read(gathering: Gathering, whole: Placed, scope: int, *, start: bool) -> None:
    reader = _Reader(gathering, whole, scope, start=start)
    try:
        nodes = parse(whole.text)
    except ValueError as error:
        gathering.problem(f"not wholly understood as a shell script ({error})")
        for line in _logical_lines(whole):
            reader.line(line)
        return
    reader.nodes(nodes, guarded=False)


def _logical_lines(whole: Placed) -> Iterator[Placed]:
    """Lines, continued ones as one."""
    waiting: list[Placed] = []
    for line in lines(whole):
        if line.text.endswith("\\"):
            waiting.append(line.part(0, len(line.text) - 1))
            continue
        yield joined([*waiting, line], "") if waiting else line
        waiting = []
    if waiting:
        yield joined(waiting, "")


class _Reader:
    """Walks the commands of one text."""

    def __init__(self, gathering: Gathering, whole: Placed, scope: int, *, start: bool) -> None:
        self.gathering = gathering
        self.whole = whole
        self.scope = scope
        self.start = start

    def line(self, line: Placed) -> None:
        """One line of a text that could not be parsed as a whole."""
        try:
            nodes = parse(line.text)
        except ValueError:
            return
        _Reader(self.gathering, line, self.scope, start=self.start).nodes(nodes, guarded=True)

    def nodes(self, nodes: Iterable[Node], *, guarded: bool) -> None:
        """Commands in order. The parser bounds how deep they nest."""
        for node in nodes:
            match node:
                case Simple():
                    self.simple(node, guarded=guarded)
                case Block():
                    inside = guarded or node.kind in _CONDITIONAL
                    for part in node.parts:
                        self.nodes(part, guarded=inside)
                case Function():
                    self.nodes(node.body, guarded=guarded)

    def simple(self, node: Simple, *, guarded: bool) -> None:
        """One simple command."""
        for found in node.assignments:
            self.assign(found, exported=bool(node.words), guarded=guarded)
        if not node.words:
            return
        first = node.words[0].plain or ""
        words = [self.word(w) for w in node.words]
        if first in DECLARING:
            self.declare(node.words[1:], words[1:], exported=first == "export", guarded=guarded)
        elif words[0].text.startswith("-") or words[0].text[:1] in "\u2013\u2014":
            self.gathering.stray(words, self.scope, self.last(node.assignments))
        elif first in ("echo", "printf", "cat", "tee"):
            self.content(node, words[1:])
        elif first == "set" and words[1:2] and words[1].text == "--":
            self.gathering.command(words[2:], self.scope, by_shell=True, start=False)
        else:
            self.gathering.command(words, self.scope, by_shell=True, start=self.start)

    def last(self, assignments: tuple[Assignment, ...]) -> int | None:
        return len(self.gathering.variables) - 1 if assignments else None

    def declare(
        self, written: tuple[Word, ...], words: list[Placed], *, exported: bool, guarded: bool
    ) -> None:
        """``export NAME=value NAME``: an option among them is an option of nobody."""
        owner: int | None = None
        stray: list[Placed] = []
        for word, shown in zip(written, words, strict=True):
            found = word.assignment()
            if found is not None:
                self.assign(found, exported=exported, guarded=guarded)
                owner = len(self.gathering.variables) - 1
            else:
                stray.append(shown)
        self.gathering.stray(stray, self.scope, owner)

    def assign(self, found: Assignment, *, exported: bool, guarded: bool) -> None:
        """A variable, and the same variable for each ``${NAME:-default}`` in its value."""
        outer = self.outer(found.start, found.end)
        for pieces in (found.value, *_defaults(found.value)):
            own = (found.name,) if found.append else ()
            self.gathering.variable(
                found.name,
                self.pieces(pieces, outer),
                self.scope,
                Setting.SHELL,
                refs=(*own, *dict.fromkeys(_names(pieces))),
                exported=exported,
                guarded=guarded,
                label=self.outer(found.start, found.start + len(found.name)),
            )

    def content(self, node: Simple, words: list[Placed]) -> None:
        """``echo 'TEXT' >> setenv.sh``: what is written into a file is read as that file would be."""
        tail = self.whole.text[node.words[-1].end : node.end]
        target = _TARGET.search(tail)
        words = [w for w in words if w.text not in ("-e", "-n", "-E", "-ne", "-en")]
        if target is None or target[2].startswith("/dev/"):
            return
        from seedstall.parse.configfile import embedded  # noqa: PLC0415 - the two call each other

        body = replaced(joined(words), "\\n", "\n") if words else self.here_document(node, tail)
        if body is not None:
            embedded.read(self.gathering, target[2], body, self.scope)

    def here_document(self, node: Simple, tail: str) -> Placed | None:
        """The text behind ``cat > FILE <<EOF``."""
        match = _HEREDOC.search(tail)
        begin = self.whole.text.find("\n", node.end) + 1
        if match is None or not begin:
            return None
        end = self.whole.text.find(f"\n{match[1]}\n", begin - 1)
        end = len(self.whole.text) - len(match[1]) if end < 0 else end + 1
        return self.whole.part(begin, end) if end > begin else None

    # Places

    def outer(self, start: int, end: int) -> tuple[int, int]:
        return self.whole.place(start, end)

    def word(self, word: Word) -> Placed:
        return self.pieces(word.pieces, self.outer(word.start, word.end))

    def pieces(self, pieces: Iterable[Piece], outer: tuple[int, int]) -> Placed:
        grown = Growing()
        for piece in pieces:
            text = piece.text if piece.kind is Kind.CHAR else UNKNOWN
            start, end = self.whole.place(piece.start, piece.end)
            grown.add(text, start, end)
        return grown.placed(outer)


def _defaults(pieces: Iterable[Piece]) -> Iterator[tuple[Piece, ...]]:
    for piece in pieces:
        if piece.word:
            yield piece.word
            yield from _defaults(piece.word)


def _names(pieces: Iterable[Piece]) -> Iterator[str]:
    for piece in pieces:
        if piece.kind is Kind.PARAM:
            yield piece.text
            yield from _names(piece.word)
