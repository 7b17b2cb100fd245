"""YAML (and JSON) as a tree of nodes with places. The only module that knows PyYAML.

PyYAML's events are taken, never its constructor: nothing is built from tags, an alias is the very node it names, and
depth and number of nodes are bounded. Of the libraries with positions it is the one that gives the character index of
both ends of a scalar, has a C parser (1 MB in 0.14 s, against 3 s in Python) and typed stubs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from seedstall.model.settings import Placed
from seedstall.parse.configfile.words import Growing

MAX_TEXT = 2 << 20
MAX_DEPTH = 60
MAX_EVENTS = 200_000
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029", "\t": "\t",
}  # fmt: skip
_HEX = {"x": 2, "u": 4, "U": 8}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar's text. ``flow`` is whether it stands in ``[...]`` or ``{...}``."""

    value: Placed
    style: str
    exact: bool
    """Each character's place is known; else all of them point at the whole."""


@dataclass(slots=True)
class Listing:
    """A sequence. ``span`` is its place in the text, -1 where it was not read from one; ``flow``: in brackets."""

    items: list[Node] = field(default_factory=list["Node"])
    span: tuple[int, int] = (-1, -1)
    flow: bool = False


@dataclass(slots=True)
class Table:
    """A mapping; keys that are no scalars are left out. ``span`` and ``flow`` are as of a sequence."""

    pairs: list[tuple[Scalar, Node]] = field(default_factory=list[tuple[Scalar, "Node"]])
    span: tuple[int, int] = (-1, -1)
    flow: bool = False

    def get(self, *names: str) -> Node | None:
        """The value of the first of *names* that is there."""
        for key, value in self.pairs:
            if key.value.text in names:
                return value
        return None

    def scalar(self, *names: str) -> Placed | None:
        """The same where it is a scalar."""
        found = self.get(*names)
        return found.value if isinstance(found, Scalar) else None

    def items(self) -> Iterator[tuple[str, Node]]:
        """Keys as text."""
        return ((key.value.text, value) for key, value in self.pairs)


Node: TypeAlias = Scalar | Listing | Table


def documents(whole: Placed) -> list[Node]:
    """The documents of a YAML text.

    Raises:
        ValueError: it is no YAML, too long, too deep or too much.
    """
    text = whole.text
    if len(text) > MAX_TEXT:
        raise ValueError(f"longer than {MAX_TEXT} characters")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(whole)
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader)):
            if count > MAX_EVENTS:
                raise ValueError("more nodes than any manifest has")
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        raise ValueError(f"no YAML at line {line}: {error.problem}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"no YAML: {str(error)[:120]}") from error
    return builder.roots


class _Builder:
    """Nodes out of events."""

    def __init__(self, whole: Placed) -> None:
        self.whole = whole
        self.roots: list[Node] = []
        self.stack: list[tuple[Listing | Table, str | None]] = []
        self.keys: list[Scalar | None] = []
        self.anchors: dict[str, Node] = {}
        # A key that is no scalar: what follows is its value.
        self.odd: list[bool] = []

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            node = _scalar(self.whole, event)
            self.anchored(event.anchor, node)
            self.place(node)
        elif isinstance(event, yaml.AliasEvent):
            known = self.anchors.get(event.anchor or "")
            self.place(known if known is not None else Listing())
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(self.stack) >= MAX_DEPTH:
                raise ValueError("nested deeper than any manifest")
            flow = bool(event.flow_style)
            opened: Listing | Table = (
                Listing(flow=flow)
                if isinstance(event, yaml.SequenceStartEvent)
                else Table(flow=flow)
            )
            opened.span = (self.at(event), -1)
            self.stack.append((opened, event.anchor))
            self.keys.append(None)
            self.odd.append(False)
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            closed, anchor = self.stack.pop()
            closed.span = (closed.span[0], self.at(event, end=True))
            self.keys.pop()
            self.odd.pop()
            self.anchored(anchor, closed)
            self.place(closed)

    def at(self, event: yaml.Event, *, end: bool = False) -> int:
        """Where in the file's text an event is."""
        mark = event.end_mark if end else event.start_mark
        return -1 if mark is None else self.whole.place(mark.index, mark.index)[0]

    def anchored(self, anchor: str | None, node: Node) -> None:
        """Known from its end on: an alias inside itself finds nothing, so that no node holds itself."""
        if anchor:
            self.anchors[anchor] = node

    def place(self, node: Node) -> None:
        if not self.stack:
            self.roots.append(node)
            return
        parent = self.stack[-1][0]
        if isinstance(parent, Listing):
            parent.items.append(node)
            return
        key = self.keys[-1]
        if key is not None:
            parent.pairs.append((key, node))
            self.keys[-1] = None
        elif self.odd[-1]:
            self.odd[-1] = False
        elif isinstance(node, Scalar):
            self.keys[-1] = node
        else:
            self.odd[-1] = True


def _scalar(whole: Placed, event: yaml.ScalarEvent) -> Scalar:
    if event.start_mark is None or event.end_mark is None:
        raise ValueError("a scalar without a place")
    start, end = event.start_mark.index, min(event.end_mark.index, len(whole.text))
    style = event.style or ""
    value = str(event.value)
    if style in ("|", ">"):
        end = len(whole.text[:end].rstrip()) if end > start else end
    outer = whole.place(start, end)
    decoded = _decoded(whole, start, end, style, value)
    if decoded is not None and decoded.text == value:
        return Scalar(Placed(decoded.text, decoded.starts, decoded.ends, outer), style, exact=True)
    grown = Growing()
    for character in value:
        grown.add(character, outer[0], outer[1])
    return Scalar(grown.placed(outer), style, exact=False)


def _decoded(whole: Placed, start: int, end: int, style: str, value: str) -> Placed | None:
    if style == '"':
        return _double(whole, start + 1, end - 1)
    if style == "'":
        return _single(whole, start + 1, end - 1)
    if style == "|":
        return _block(whole, start, end, value)
    if style == ">":
        return _folded_block(whole, start, end)
    return _folded(whole.part(start, end), value)


def _double(whole: Placed, start: int, end: int) -> Placed | None:
    grown, at, text = Growing(), start, whole.text
    while at < end:
        character = text[at]
        if character == "\\" and text[at + 1 : at + 2] in _HEX:
            length = _HEX[text[at + 1]]
            try:
                meant = chr(int(text[at + 2 : at + 2 + length], 16))
            except (ValueError, OverflowError):
                return None
            grown.take(whole, at, 2 + length, meant)
            at += 2 + length
        elif character == "\\" and text[at + 1 : at + 2] in _ESCAPES:
            grown.take(whole, at, 2, _ESCAPES[text[at + 1]])
            at += 2
        elif character == "\\" and text[at + 1 : at + 2] in ("\n", "\r"):
            at = _next_line(text, at + 1, end)
        elif character in "\r\n":
            at = _fold(whole, at, end, grown)
        else:
            grown.take(whole, at)
            at += 1
    return grown.placed(whole.place(start, end))


def _single(whole: Placed, start: int, end: int) -> Placed:
    grown, at, text = Growing(), start, whole.text
    while at < end:
        if text[at] == "'" and text[at + 1 : at + 2] == "'":
            grown.take(whole, at, 2, "'")
            at += 2
        elif text[at] in "\r\n":
            at = _fold(whole, at, end, grown)
        else:
            grown.take(whole, at)
            at += 1
    return grown.placed(whole.place(start, end))


def _folded(written: Placed, value: str) -> Placed:
    """A plain scalar: itself, or several lines folded into one."""
    if written.text == value:
        return written
    grown, at = Growing(), 0
    text = written.text.rstrip()
    while at < len(text):
        if text[at] in "\r\n":
            at = _fold(written, at, len(text), grown)
        else:
            grown.take(written, at)
            at += 1
    return grown.placed(written.outer)


def _next_line(text: str, at: int, end: int) -> int:
    """Behind a line end and the blanks that begin the next line."""
    if text[at : at + 2] == "\r\n":
        at += 1
    at += 1
    while at < end and text[at] in " \t":
        at += 1
    return at


def _fold(whole: Placed, at: int, end: int, grown: Growing) -> int:
    """Line ends inside a flow scalar: one becomes a blank, more become one less; blanks around them go."""
    text = whole.text
    while grown.text and grown.text[-1] in " \t":
        grown.text.pop()
        grown.starts.pop()
        grown.ends.pop()
    first, count = at, 0
    while at < end and text[at] in "\r\n":
        at = _next_line(text, at, end)
        count += 1
    for _ in range(max(1, count - 1)):
        grown.take(whole, first, 1, " " if count == 1 else "\n")
    return at


def _block(whole: Placed, start: int, end: int, value: str) -> Placed | None:
    """A block scalar: its lines without their indentation, found one after the other in what was written."""
    head = whole.text.find("\n", start, end)
    if head < 0:
        return None
    grown, at = Growing(), head + 1
    rows = value.split("\n")
    for number, row in enumerate(rows):
        found = whole.text.find(row, at, end) if row.strip() else at
        if found < 0:
            return None
        last = number == len(rows) - 1
        for index in range(found, found + len(row) if row.strip() else found):
            grown.take(whole, index)
        stop = whole.text.find("\n", found + (len(row) if row.strip() else 0), end)
        if not last:
            place = stop if stop >= 0 else min(end, len(whole.text)) - 1
            grown.take(whole, place, 1, "\n")
        at = stop + 1 if stop >= 0 else end
    return grown.placed(whole.place(start, end))


def _folded_block(whole: Placed, start: int, end: int) -> Placed | None:
    """A folded block of plain lines: each line end is a blank, the last one itself (unless ``>-``)."""
    head = whole.text.find("\n", start, end)
    if head < 0:
        return None
    grown, at = Growing(), head + 1
    while at < end:
        stop = whole.text.find("\n", at, end)
        stop = end if stop < 0 else stop
        row = whole.text[at:stop]
        first = at + len(row) - len(row.lstrip(" "))
        if grown.text:
            grown.take(whole, at - 1, 1, " ")
        for index in range(first, at + len(row.rstrip("\r"))):
            grown.take(whole, index)
        at = stop + 1
    if "-" not in whole.text[start:head] and grown.text:
        grown.add("\n", end, end)
    return grown.placed(whole.place(start, end))
