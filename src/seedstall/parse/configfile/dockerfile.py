"""Dockerfiles: stages, ENV, and what is run (Dockerfile reference 1.x; BuildKit's own parser decides on doubts)."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from seedstall.knowledge.images import jdk_of_image, product_of_image
from seedstall.model.settings import Command, Placed, Scope, Setting
from seedstall.parse.configfile import embedded, shellfile
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.words import (
    Growing,
    json_strings,
    lines,
    references,
    split,
    stripped,
    unquoted,
)

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)(?=[ \t]|$)")
_DIRECTIVE = re.compile(r"#[ \t]*([a-zA-Z]+)[ \t]*=[ \t]*(\S+)[ \t]*$")
_HEREDOC = re.compile(r"<<-?[ \t]*([\"']?)([A-Za-z_][A-Za-z0-9_]*)\1")
_TARGET = re.compile(r">>?[ \t]*[\"']?([^\s\"';|&<>]{1,400})")
_WINDOWS = re.compile(r"windowsservercore|nanoserver|(?:^|/)windows(?:/|$)")
_FLAG = re.compile(r"[ \t]*--[a-z]+(?:=\S*)?(?=[ \t]|$)")
_LISTED = re.compile(
    r"\[[ \t]*[\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb`].*[\"'\u2018\u2019\u201c\u201d\u201a\u00bb`,][ \t]*\]$",
    re.DOTALL,
)
_TEST = re.compile(r"\[[ \t]*\S+[ \t]+(?:=|==|!=|-[a-z]{2}|=~)[ \t]")
"""``[ "$A" = "b" ]``: the shell's test, and no list."""


@dataclass(slots=True)
class _Stage:
    """One build stage as it is read; its last ENTRYPOINT and CMD count."""

    scope: int
    entrypoint: _Form | None = None
    command: _Form | None = None


@dataclass(frozen=True, slots=True)
class _Form:
    """What an ENTRYPOINT or CMD says: a list, or text for a shell."""

    words: tuple[Placed, ...] | None
    text: Placed
    broken: bool = False


@dataclass(slots=True)
class _Build:
    """The whole file as it is read."""

    gathering: Gathering
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, int] = field(default_factory=dict[str, int])
    stage: _Stage | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its keyword, its arguments on one line, the here-documents behind it."""

    keyword: str
    rest: Placed
    bodies: tuple[Placed, ...] = ()


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in a Dockerfile."""
    build = _Build(gathering)
    gathering.learn(scope, container=True)
    for instruction in instructions(whole):
        _take(build, instruction)
    _close(build)


def instructions(whole: Placed) -> Iterator[Instruction]:
    """Instructions with continued lines joined; comments and empty lines between them are no part of it."""
    escape = "\\"
    head = True
    rows = list(lines(whole))
    ends = _Ends(rows)
    at = 0
    while at < len(rows):
        text = rows[at].text.strip()
        directive = _DIRECTIVE.match(text) if head else None
        if directive and directive[1].lower() == "escape" and directive[2] in ("`", "\\"):
            escape = directive[2]
        head = head and bool(directive)
        if not text or text.startswith("#"):
            at += 1
            continue
        logical, at = _logical(rows, at, escape)
        match = _INSTRUCTION.match(logical.text)
        if match is None:
            continue
        rest = stripped(logical.part(match.end(), len(logical.text)))
        bodies, at = _bodies(whole, ends, at, match[1].upper(), rest)
        yield Instruction(match[1].upper(), rest, bodies)


def _logical(rows: Sequence[Placed], at: int, escape: str) -> tuple[Placed, int]:
    first = rows[at]
    grown = Growing()
    last = first
    while at < len(rows):
        row = rows[at]
        at += 1
        text = row.text.rstrip(" \t")
        inside = row is not first
        if inside and (not text.strip() or text.lstrip().startswith("#")):
            continue
        last = row
        end = len(text) - 1 if text.endswith(escape) else len(row.text)
        for index in range(end):
            grown.take(row, index)
        if not text.endswith(escape):
            break
    return grown.placed((first.outer[0], last.outer[1])), at


def _bodies(
    whole: Placed, ends: _Ends, at: int, keyword: str, rest: Placed
) -> tuple[tuple[Placed, ...], int]:
    """The here-documents of RUN, COPY and ADD."""
    if keyword not in ("RUN", "COPY", "ADD"):
        return (), at
    bodies: list[Placed] = []
    for match in list(_HEREDOC.finditer(rest.text))[:8]:
        end = ends.behind(match[2], at)
        if end is None:
            return tuple(bodies), at
        if end > at:
            rows = ends.rows
            bodies.append(_between(whole, rows[at].outer[0], rows[end - 1].outer[1]))
        at = end + 1
    return tuple(bodies), at


class _Ends:
    """Where lines stand that hold one word alone: the end of a here-document is found without a search."""

    def __init__(self, rows: Sequence[Placed]) -> None:
        self.rows = rows
        self._lines: dict[str, list[int]] | None = None

    def behind(self, word: str, at: int) -> int | None:
        """The first line from *at* on that holds *word*."""
        if self._lines is None:
            self._lines = {}
            for index, row in enumerate(self.rows):
                self._lines.setdefault(row.text.strip(), []).append(index)
        found = self._lines.get(word, [])
        first = bisect.bisect_left(found, at)
        return found[first] if first < len(found) else None


def _between(whole: Placed, start: int, end: int) -> Placed:
    """The stretch of *whole* written from *start* to *end*."""
    first = bisect.bisect_left(whole.starts, start)
    last = bisect.bisect_left(whole.starts, end)
    return whole.part(first, last)


def _take(build: _Build, instruction: Instruction) -> None:
    keyword, rest = instruction.keyword, instruction.rest
    if keyword == "ONBUILD":
        match = _INSTRUCTION.match(rest.text)
        if match is not None and match[1].upper() not in ("ONBUILD", "FROM"):
            inner = stripped(rest.part(match.end(), len(rest.text)))
            _take(build, Instruction(match[1].upper(), inner))
        return
    if keyword == "FROM":
        _close(build)
        _from(build, rest)
    elif keyword == "ARG":
        _argument(build, rest)
    elif keyword == "ENV":
        _env(build, rest)
    elif keyword in ("RUN", "HEALTHCHECK", "CMD", "ENTRYPOINT", "SHELL"):
        _runs(build, instruction)
    elif keyword in ("COPY", "ADD") and instruction.bodies:
        target = rest.text.split()[-1] if rest.text.split() else ""
        for body in instruction.bodies:
            embedded.read(build.gathering, target, body, _scope(build))


def _scope(build: _Build) -> int:
    return build.stage.scope if build.stage is not None else 0


def _from(build: _Build, rest: Placed) -> None:
    words = [w for w in rest.text.split() if not w.startswith("--")]
    image = _substituted(words[0], build.arguments) if words else ""
    parent = build.names.get(image.lower())
    if parent is not None:
        old = build.gathering.scopes[parent]
        made = replace(old, parent=parent)
    else:
        made = Scope(
            image,
            image,
            product_of_image(image),
            jdk_of_image(image),
            container=True,
            windows=_WINDOWS.search(image.lower()) is not None,
        )
    scope = build.gathering.scope(made)
    build.stage = _Stage(scope)
    if len(words) > 2 and words[1].lower() == "as":  # noqa: PLR2004 - FROM image AS name
        build.names[words[2].lower()] = scope


def _substituted(text: str, known: dict[str, str]) -> str:
    """``${NAME}``, ``${NAME:-word}`` and ``$NAME`` by the defaults of ARG."""

    def value(match: re.Match[str]) -> str:
        name, default = match[1] or match[3], match[2] or ""
        return known.get(name) or default

    return re.sub(
        r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::[-+]([^}]{0,200}))?\}|\$([A-Za-z_][A-Za-z0-9_]*)",
        value,
        text[:1000],
    )


def _argument(build: _Build, rest: Placed) -> None:
    for word in split(rest, escape="\\"):
        name, equals, value = word.text.partition("=")
        if equals and len(value) < 1000:  # noqa: PLR2004 - a tag or a name
            build.arguments[name] = value
            placed_value = word.part(len(name) + 1, len(word.text))
            build.gathering.variable(name, placed_value, _scope(build), Setting.DOCKER)


def _env(build: _Build, rest: Placed) -> None:
    """``ENV NAME=value ...``, or the old ``ENV NAME value`` which takes the whole rest."""
    gathering, scope = build.gathering, _scope(build)
    head = re.match(r"[^\s=]+", rest.text)
    if head is None:
        return
    if rest.text[head.end() : head.end() + 1] != "=":
        value = stripped(rest.part(head.end(), len(rest.text)))
        word = unquoted(value, escape="\\", expand=True)
        gathering.variable(
            head[0],
            word,
            scope,
            Setting.DOCKER,
            refs=references(value.text),
            exported=True,
            label=rest.place(head.start(), head.end()),
        )
        return
    owner: int | None = None
    stray: list[Placed] = []
    for word in split(rest, escape="\\", expand=True):
        name, equals, _ = word.text.partition("=")
        if equals and name.replace(".", "_").replace("-", "_").isidentifier() and name[0] != "-":
            raw = gathering.text[word.outer[0] : word.outer[1]]
            value = word.part(len(name) + 1, len(word.text))
            value = Placed(value.text, value.starts, value.ends, (value.outer[0], word.outer[1]))
            gathering.variable(
                name,
                value,
                scope,
                Setting.DOCKER,
                refs=references(raw),
                exported=True,
                label=word.place(0, len(name)),
            )
            owner = len(gathering.variables) - 1
        else:
            stray.append(word)
    gathering.stray(stray, scope, owner)


def _runs(build: _Build, instruction: Instruction) -> None:
    keyword, rest = instruction.keyword, instruction.rest
    gathering, scope = build.gathering, _scope(build)
    while (flag := _FLAG.match(rest.text)) is not None:
        rest = stripped(rest.part(flag.end(), len(rest.text)))
    if keyword == "HEALTHCHECK":
        match = re.match(r"CMD[ \t]+", rest.text, re.IGNORECASE)
        if match is None:
            return
        rest = rest.part(match.end(), len(rest.text))
    if keyword == "RUN" and instruction.bodies:
        target = _TARGET.search(rest.text)
        for body in instruction.bodies:
            if target is not None:
                embedded.read(gathering, target[1], body, scope)
            else:
                shellfile.read(gathering, body, scope, start=False)
        return
    form = _form(rest)
    if keyword == "SHELL":
        return
    if keyword in ("CMD", "ENTRYPOINT") and build.stage is not None:
        if keyword == "CMD":
            build.stage.command = form
        else:
            build.stage.entrypoint = form
        return
    _emit(gathering, form, scope, start=keyword in ("CMD", "ENTRYPOINT"))


def _form(rest: Placed) -> _Form:
    """A list, text for a shell, or what was meant as a list and is none."""
    if not rest.text.startswith("["):
        return _Form(None, rest)
    found = json_strings(rest)
    if found is not None:
        return _Form(found, rest)
    meant = _LISTED.match(rest.text[:4000]) and not _TEST.match(rest.text)
    return _Form(None, rest, broken=bool(meant))


def _emit(gathering: Gathering, form: _Form, scope: int, *, start: bool) -> None:
    if form.broken:
        gathering.commands.append(
            Command(words=(form.text,), scope=scope, by_shell=True, start=start, broken_list=True)
        )
    elif form.words is None:
        shellfile.read(gathering, form.text, scope, start=start)
    else:
        gathering.command(form.words, scope, by_shell=False, start=start)


def _close(build: _Build) -> None:
    """The end of a stage: what its last ENTRYPOINT and CMD come to."""
    stage = build.stage
    if stage is None:
        return
    entrypoint, command = stage.entrypoint, stage.command
    build.stage = None
    if entrypoint is None or entrypoint.words is None or command is None or command.words is None:
        form = entrypoint or command
        if form is not None:
            _emit(build.gathering, form, stage.scope, start=True)
        return
    words = (*entrypoint.words, *command.words)
    build.gathering.command(
        words, stage.scope, by_shell=False, start=True, lists=(len(entrypoint.words),)
    )
