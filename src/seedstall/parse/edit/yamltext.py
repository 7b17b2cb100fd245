"""Where a new entry goes in the text of a YAML or JSON tree, and how it is written: in block style or in brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seedstall.parse.configfile.change import Splice
from seedstall.parse.configfile.yamltree import Listing, Node, Scalar, Table
from seedstall.parse.edit.change import NoPlaceError

_BEFORE_ITEM = re.compile(r"[ \t]*(?:-[ \t]+)*(?:[&!][^ \t\n]*[ \t]+)*")
_DASH = re.compile(r"([ \t]*)-([ \t]+)")


def quoted(text: str) -> str:
    """A text of an option as a double-quoted scalar of YAML and JSON."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def grown(text: str, scalar: Scalar, option: str) -> Splice:
    """*option* at the end of a scalar, inside its quotes."""
    start, end = scalar.value.outer
    quote = text[start : start + 1]
    if scalar.style in ("'", '"') and quote in ("'", '"'):
        blank = " " if scalar.value.text and not scalar.value.text[-1].isspace() else ""
        return end - 1, end - 1, blank + option
    if not scalar.style and not scalar.value.text:
        return start, start, f" {quoted(option)}"
    return end, end, f" {option}"


def instead(scalar: Scalar, new: str) -> Splice:
    """Another text in the place of a scalar, in quotes."""
    start, end = scalar.value.outer
    return start, end, quoted(new) if end > start else f" {quoted(new)}"


def last_character(node: Node) -> int:
    """Where what is written of *node* ends: before comments and blank lines behind it."""
    if isinstance(node, Scalar):
        return node.value.outer[1]
    if node.flow:
        return node.span[1]
    if isinstance(node, Listing):
        return max((last_character(n) for n in node.items), default=node.span[1])
    ends = [max(last_character(k), last_character(v)) for k, v in node.pairs]
    return max(ends, default=node.span[1])


def _begin(node: Node) -> int:
    return node.value.outer[0] if isinstance(node, Scalar) else node.span[0]


@dataclass(frozen=True, slots=True)
class Editor:
    """Changes of one text. Each is refused with a `NoPlaceError` where the text is written in no usual way."""

    text: str
    newline: str = "\n"

    def new_pair(self, table: Table, key: str, value: str) -> Splice:
        """``key: "value"`` at the end of a mapping."""
        if table.flow:
            return self._in_flow(table, f"{quoted(key)}: {quoted(value)}")
        if not table.pairs:
            raise NoPlaceError("an empty mapping without brackets")
        first = table.pairs[0][0].value.outer[0]
        return self._line(last_character(table), f"{self._column(first)}{key}: {quoted(value)}")

    def new_item(self, listing: Listing, text: str) -> Splice:
        """``- "text"`` at the end of a sequence."""
        if listing.flow:
            return self._in_flow(listing, quoted(text))
        indent, blank = self._dash(listing)
        return self._line(last_character(listing), f"{indent}-{blank}{quoted(text)}")

    def new_entry(self, listing: Listing, name: str, value: str) -> Splice:
        """``- name: ...`` with its ``value:`` at the end of a sequence."""
        if listing.flow:
            return self._in_flow(listing, entry(name, value))
        indent, blank = self._dash(listing)
        rows = (f"{indent}-{blank}name: {name}", f"{indent} {blank}value: {quoted(value)}")
        return self._line(last_character(listing), *rows)

    def new_environment(self, table: Table, name: str, value: str, *, listed: bool) -> Splice:
        """A whole ``env:`` (*listed*) or ``environment:`` in a container that has none."""
        key = "env" if listed else "environment"
        if table.flow:
            inner = f"[{entry(name, value)}]" if listed else f"{{{quoted(name)}: {quoted(value)}}}"
            return self._in_flow(table, f"{quoted(key)}: {inner}")
        after = next(
            (p for p in table.pairs if p[0].value.text in ("image", "build", "name")), None
        )
        after = after or next(iter(table.pairs), None)
        if after is None:
            raise NoPlaceError("an empty container")
        indent = self._column(after[0].value.outer[0])
        rows = [f"{indent}{key}:"]
        if listed:
            rows += [f"{indent}  - name: {name}", f"{indent}    value: {quoted(value)}"]
        else:
            rows.append(f"{indent}  {name}: {quoted(value)}")
        return self._line(last_character(after[1]), *rows)

    def instead_of_nothing(self, scalar: Scalar, name: str, value: str, *, listed: bool) -> Splice:
        """An environment in the place of the null that its key has."""
        start, end = scalar.value.outer
        inner = f"[{entry(name, value)}]" if listed else f"{{{quoted(name)}: {quoted(value)}}}"
        return start, end, inner if end > start else f" {inner}"

    def _in_flow(self, node: Listing | Table, new: str) -> Splice:
        """Before the closing bracket; on a line of its own where the members have theirs."""
        close = node.span[1] - 1
        members = node.items if isinstance(node, Listing) else [v for _, v in node.pairs]
        if not members:
            return close, close, new
        at = last_character(members[-1])
        begin = _begin(members[-1] if isinstance(node, Listing) else node.pairs[-1][0])
        row = self.text[self.text.rfind("\n", 0, begin) + 1 : begin]
        blank = f"{self.newline}{row}" if not row.strip() and row else " "
        between = self.text[at:close]
        comma = between.find(",")
        if comma >= 0:
            return at + comma + 1, at + comma + 1, blank + new
        return at, at, f",{blank}{new}"

    def _line(self, at: int, *rows: str) -> Splice:
        """Lines behind the one in which *at* lies."""
        end = self.text.find("\n", at)
        if end < 0:
            joined = "".join(self.newline + row for row in rows)
            return len(self.text), len(self.text), joined
        return end + 1, end + 1, "".join(row + self.newline for row in rows)

    def _column(self, at: int) -> str:
        """The blanks before a key: dashes of a sequence on the same line count as blanks."""
        row = self.text[self.text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
        if not _BEFORE_ITEM.fullmatch(row) or "\t" in row:
            raise NoPlaceError("a mapping that begins in the midst of a line")
        return " " * len(row)

    def _dash(self, listing: Listing) -> tuple[str, str]:
        """The blanks before and behind the dash of a sequence's items."""
        if not listing.items:
            raise NoPlaceError("an empty sequence without brackets")
        at = _begin(listing.items[-1])
        row = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        match = _DASH.match(row)
        if match is None or not _BEFORE_ITEM.fullmatch(row) or row.count("-") != 1:
            raise NoPlaceError("a sequence whose items do not begin on lines of their own")
        return match[1], match[2]


def entry(name: str, value: str) -> str:
    """``{"name": ..., "value": ...}``."""
    return f'{{"name": {quoted(name)}, "value": {quoted(value)}}}'
