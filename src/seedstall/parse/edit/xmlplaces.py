"""Elements of an XML text with their places, by expat; and the text that puts a new one among them.

expat gives byte offsets. Nothing that is asked for here depends on what is not ASCII: it is masked, so that offsets
count characters. A document type with declarations of its own is refused: entities are never expanded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from seedstall.parse.configfile.change import Splice
from seedstall.parse.edit.change import NoPlaceError

MAX_ELEMENTS = 100_000
MAX_DEPTH = 200


@dataclass(slots=True)
class Element:
    """An element: its tag is at ``start:inside``, its content ends at ``close``, all of it at ``end``."""

    name: str
    start: int
    inside: int
    parent: Element | None
    attributes: dict[str, str]
    close: int = -1
    end: int = -1
    children: list[Element] = field(default_factory=list["Element"])
    text: str = ""

    @property
    def empty(self) -> bool:
        """Whether it is written ``<name/>``."""
        return self.close == self.inside == self.end

    def child(self, name: str) -> Element | None:
        """The first child of that name."""
        return next((c for c in self.children if c.name == name), None)

    def content(self, name: str) -> str:
        """The text of the child of that name, without blanks around it."""
        found = self.child(name)
        return found.text.strip() if found is not None else ""

    def walk(self) -> Iterator[Element]:
        """Itself and all below, in order."""
        waiting: list[Element] = [self]
        while waiting:
            found = waiting.pop()
            yield found
            waiting += reversed(found.children)

    def above(self) -> Iterator[Element]:
        """What it stands in, the nearest first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


def root(text: str) -> Element:
    """The document's root element.

    Raises:
        NoPlaceError: it is no well-formed XML, declares a document type of its own, or is larger than any build file.
    """
    masked = "".join(c if c.isascii() else "_" for c in text) if not text.isascii() else text
    return _Builder(masked).build()


class _Builder:
    """Elements as expat meets them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.opened
        self.parser.EndElementHandler = self.closed
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.document_type
        self.stack: list[Element] = []
        self.found: Element | None = None
        self.count = 0

    def build(self) -> Element:
        try:
            self.parser.Parse(self.text.encode("ascii", "replace"), True)  # noqa: FBT003 - its signature
        except expat.ExpatError as error:
            raise NoPlaceError(f"no XML at line {error.lineno}: {error}") from error
        if self.found is None:
            raise NoPlaceError("no XML")
        return self.found

    def document_type(
        self, name: str, system: str | None, public: str | None, internal: int
    ) -> None:
        if internal:
            raise NoPlaceError(
                f"a document type with declarations of its own ({name} {system} {public})"
            )

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS or len(self.stack) >= MAX_DEPTH:
            raise NoPlaceError("more elements than any build file has")
        start = self.parser.CurrentByteIndex
        parent = self.stack[-1] if self.stack else None
        made = Element(
            name.rpartition(":")[2], start, _behind_tag(self.text, start), parent, attributes
        )
        if parent is None:
            self.found = made
        else:
            parent.children.append(made)
        self.stack.append(made)

    def closed(self, _: str) -> None:
        made = self.stack.pop()
        if self.text[made.inside - 2 : made.inside] == "/>":
            made.close = made.end = made.inside
            return
        made.close = self.parser.CurrentByteIndex
        made.end = _behind_tag(self.text, made.close)

    def characters(self, data: str) -> None:
        if self.stack and len(self.stack[-1].text) < 4000:  # noqa: PLR2004 - no name or argument is that long
            self.stack[-1].text += data


def _behind_tag(text: str, start: int) -> int:
    at, quote = start, ""
    while at < len(text):
        character = text[at]
        if character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        elif not quote and character == ">":
            return at + 1
        at += 1
    return at


# Text that is put in


def attribute(text: str) -> str:
    """A text as the value of an attribute, or between tags."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


def indent(text: str, element: Element) -> str:
    """The blanks before an element that begins its line, ``""`` for one that does not."""
    row = text[text.rfind("\n", 0, element.start) + 1 : element.start]
    return row if not row.strip() else ""


def step(text: str, element: Element) -> str:
    """By how much children are indented more, as the file has it; two blanks where nothing shows it."""
    for found in (*element.children, element):
        own, above = indent(text, found), indent(text, found.parent) if found.parent else ""
        if own.startswith(above) and len(own) > len(above):
            return own[len(above) :]
    return "  "


def nested(names: Sequence[str], inner: str, indentation: str, unit: str) -> list[str]:
    """*inner* inside elements of those names, line by line."""
    if not names:
        return [indentation + inner]
    first, *rest = names
    return [
        f"{indentation}<{first}>",
        *nested(rest, inner, indentation + unit, unit),
        f"{indentation}</{first}>",
    ]


def new_child(text: str, parent: Element, names: Sequence[str], inner: str, newline: str) -> Splice:
    """*inner*, inside elements of those names where there are any, as the last child of *parent*."""
    unit = step(text, parent)
    own = indent(text, parent)
    below = indent(text, parent.children[-1]) if parent.children else own + unit
    rows = newline.join(nested(names, inner, below or own + unit, unit))
    if parent.children:
        at = parent.children[-1].end
        return at, at, newline + rows
    if parent.empty:
        at = parent.inside
        tag = text[parent.start + 1 : at].split(None, 1)[0].rstrip("/>")
        slash = text.rfind("/", parent.start, at)
        while text[slash - 1] in " \t\r\n":
            slash -= 1
        return slash, at, f">{newline}{rows}{newline}{own}</{tag}>"
    at = parent.close
    if text[parent.inside : at].strip():
        raise NoPlaceError(f"<{parent.name}> holds text")
    return parent.inside, at, f"{newline}{rows}{newline}{own}"


def set_attribute(text: str, element: Element, name: str, value: str) -> Splice | None:
    """The attribute with that value; ``None`` where it has it."""
    if element.attributes.get(name) == value:
        return None
    tag = text[element.start : element.inside]
    if name not in element.attributes:
        at = element.start + len(tag) - (2 if tag.endswith("/>") else 1)
        while text[at - 1] in " \t\r\n":
            at -= 1
        return at, at, f' {name}="{attribute(value)}"'
    place = _attribute_value(tag, name)
    if place is None:
        raise NoPlaceError(f"the attribute {name} was not found where it should be")
    return element.start + place[0], element.start + place[1], attribute(value)


def _attribute_value(tag: str, name: str) -> tuple[int, int] | None:
    """Where in a tag an attribute's value stands, without its quotes."""
    at = 1
    while at < len(tag):
        if tag[at] in "'\"":
            close = tag.find(tag[at], at + 1)
            if close < 0:
                return None
            before = tag[:at].rstrip(" \t\r\n")
            if before.endswith("=") and before[:-1].rstrip(" \t\r\n").endswith(name):
                head = before[:-1].rstrip(" \t\r\n")[: -len(name)]
                if head[-1:] in " \t\r\n":
                    return at + 1, close
            at = close
        at += 1
    return None
