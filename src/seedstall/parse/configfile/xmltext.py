"""XML build files (Maven's ``pom.xml`` and ``settings.xml``, Ant's ``build.xml``), tags and texts with their places.

A scanner of our own: no entity is expanded but XML's five, no DTD is read, and time is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from seedstall.model.settings import Placed, Reach, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.properties import define
from seedstall.parse.configfile.seedword import EGD, meant, seed_words
from seedstall.parse.configfile.words import Growing, split, stripped

_NAME = re.compile(r"/?([A-Za-z_][A-Za-z0-9_.:-]{0,200})")
_ATTRIBUTE = re.compile(
    r"([A-Za-z_][A-Za-z0-9_.:-]{0,100})[ \t\r\n]*=[ \t\r\n]*(\"[^\"<]*\"|'[^'<]*')"
)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'"}
_TOOLS = re.compile(r"jarsigner|keytool", re.IGNORECASE)
MAX_DEPTH = 500


@dataclass(slots=True)
class _Reader:
    """Open elements, and the plugin that the text belongs to."""

    gathering: Gathering
    scope: int
    stack: list[str] = field(default_factory=list[str])
    plugin: str = ""

    @property
    def element(self) -> str:
        return self.stack[-1] if self.stack else ""

    @property
    def parent(self) -> str:
        return self.stack[-2] if len(self.stack) > 1 else ""


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in the options in texts and attributes."""
    reader = _Reader(gathering, scope)
    text, at = whole.text, 0
    while at < len(text):
        opened = text.find("<", at)
        opened = len(text) if opened < 0 else opened
        if opened > at:
            _text(reader, whole, at, opened)
        at = _markup(reader, whole, opened)
    if reader.stack:
        gathering.problem(f"no whole XML: <{reader.element}> is never closed")


def _markup(reader: _Reader, whole: Placed, at: int) -> int:
    """One tag, comment, or other piece of markup at *at*; where the text goes on."""
    text = whole.text
    for opening, closing in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")):
        if text.startswith(opening, at):
            end = text.find(closing, at + len(opening))
            if end < 0:
                return len(text)
            if opening == "<![CDATA[":
                _text(reader, whole, at + len(opening), end)
            return end + len(closing)
    end = text.find(">", at)
    if end < 0:
        return len(text)
    match = _NAME.match(text, at + 1)
    if match is not None:
        _tag(reader, whole, at, end, match)
    return end + 1


def _tag(reader: _Reader, whole: Placed, at: int, end: int, match: re.Match[str]) -> None:
    name = match[1]
    if whole.text[at + 1] == "/":
        if name in reader.stack[-20:]:
            while reader.stack and reader.stack.pop() != name:
                pass
        if name == "plugin":
            reader.plugin = ""
        return
    _attributes(reader, whole, match.end(), end, name)
    if whole.text[end - 1] != "/":
        if len(reader.stack) >= MAX_DEPTH:
            reader.gathering.problem("elements nested deeper than any build file has")
            return
        reader.stack.append(name)


def _attributes(reader: _Reader, whole: Placed, at: int, end: int, name: str) -> None:
    if end - at > 20_000:  # noqa: PLR2004 - no tag is that long
        return
    found = {
        m[1]: _decoded(whole.part(m.start(2) + 1, m.end(2) - 1))
        for m in _ATTRIBUTE.finditer(whole.text, at, end)
    }
    key, value = found.get("key") or found.get("name"), found.get("value")
    if name in ("sysproperty", "systemProperty") and key is not None and value is not None:
        define(reader.gathering, key, value, reader.scope, name)
        return
    for attribute, held in found.items():
        if name == "arg" and reader.element == "java":
            for word in seed_words(split(held)):
                reader.gathering.option(word, reader.scope, "<arg>", reach=Reach.PROGRAM)
        elif attribute in ("value", "line", "jvmargs", "vmargs"):
            reader.gathering.variable(name, held, reader.scope, Setting.BUILD)


def _text(reader: _Reader, whole: Placed, start: int, end: int) -> None:
    body = stripped(_decoded(whole.part(start, end)))
    if not body.text:
        return
    element = reader.element
    if element == "artifactId" and reader.parent in ("plugin", "pluginManagement"):
        reader.plugin = body.text[:200]
    elif element in ("description", ""):
        return
    elif meant(element) == EGD and reader.parent != "properties":
        _named_element(reader, whole, start, body)
    elif _TOOLS.search(reader.plugin) and element in ("argument", "arguments"):
        for word in seed_words(split(body)):
            tool = Reach.JVM if word.prefix.startswith("-J") else Reach.TOOL
            reader.gathering.option(word, reader.scope, reader.plugin, reach=tool)
    elif "-" in body.text:
        reader.gathering.variable(element, body, reader.scope, Setting.BUILD)


def _named_element(reader: _Reader, whole: Placed, start: int, body: Placed) -> None:
    """``<java.security.egd>VALUE</java.security.egd>`` below systemPropertyVariables."""
    opened = whole.text.rfind("<", 0, start)
    name = whole.part(opened + 1, opened + 1 + len(reader.element))
    if name.text == reader.element:
        define(reader.gathering, name, body, reader.scope, reader.parent)


def _decoded(written: Placed) -> Placed:
    if "&" not in written.text:
        return written
    text, grown, at = written.text, Growing(), 0
    while at < len(text):
        found = (
            next((e for e in _ENTITIES if text.startswith(e, at)), "") if text[at] == "&" else ""
        )
        grown.take(written, at, len(found) or 1, _ENTITIES.get(found, ""))
        at += len(found) or 1
    return grown.placed(written.outer)
