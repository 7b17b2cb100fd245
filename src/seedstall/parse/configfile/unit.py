"""systemd units and drop-ins (systemd.exec(5), systemd.service(5), systemd.syntax(7); tried with systemd 252)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.model.settings import Placed, Scope, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.words import Growing, lines, split, stripped

_KEY = re.compile(r"[ \t]*([A-Za-z]+)[ \t]*=[ \t]*")
_RUNS = re.compile(r"Exec(?:Start|StartPre|StartPost|Condition|Reload|Stop|StopPost)$")
_PREFIXES = "-@:+!|"


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in a unit: its Environment= and what it starts."""
    gathering.learn(scope, name=gathering.name.rpartition("/")[2])
    files: list[str] = []
    for line in _logical_lines(whole):
        match = _KEY.match(line.text)
        if match is None:
            continue
        value = line.part(match.end(), len(line.text))
        if match[1] == "Environment":
            environment(gathering, value, scope)
        elif match[1] == "EnvironmentFile":
            files.append(value.text.strip().lstrip("-"))
        elif match[1] == "ExecStart" and not value.text.strip():
            # An empty ExecStart= takes the earlier ones back.
            gathering.commands[:] = [c for c in gathering.commands if c.scope != scope]
            gathering.options[:] = [o for o in gathering.options if o.command is None]
        elif _RUNS.fullmatch(match[1]):
            _command(gathering, value, scope, start=match[1] == "ExecStart")
    old = gathering.scopes[scope]
    gathering.scopes[scope] = Scope(old.name, old.image, old.product, old.jdk, sources=tuple(files))


def _logical_lines(whole: Placed) -> Iterator[Placed]:
    """Lines, continued ones joined by a blank; comments between them are no part of it."""
    waiting: Growing | None = None
    first = 0
    for line in lines(whole):
        bare = line.text.lstrip(" \t")
        if bare[:1] in ("#", ";") or (not bare.strip() and waiting is None):
            continue
        if waiting is None:
            waiting, first = Growing(), line.outer[0]
        continued = line.text.endswith("\\")
        for index in range(len(line.text) - continued):
            waiting.take(line, index)
        if continued:
            waiting.take(line, len(line.text) - 1, 1, " ")
            continue
        yield waiting.placed((first, line.outer[1]))
        waiting = None
    if waiting is not None:
        yield waiting.placed((first, whole.outer[1]))


def environment(gathering: Gathering, value: Placed, scope: int) -> None:
    """``Environment=A=b "C=d e"``: a word that is no assignment is dropped (a warning in the journal)."""
    owner: int | None = None
    stray: list[Placed] = []
    for word in split(value, escape="\\"):
        name, equals, _ = word.text.partition("=")
        if equals and name.isidentifier():
            inner = word.part(len(name) + 1, len(word.text))
            inner = Placed(inner.text, inner.starts, inner.ends, (inner.outer[0], word.outer[1]))
            gathering.variable(
                name, inner, scope, Setting.UNIT, exported=True, label=word.place(0, len(name))
            )
            owner = len(gathering.variables) - 1
        else:
            stray.append(word)
    gathering.stray(stray, scope, owner)


def _command(gathering: Gathering, value: Placed, scope: int, *, start: bool) -> None:
    prefix = len(value.text) - len(value.text.lstrip(_PREFIXES))
    words = split(stripped(value.part(prefix, len(value.text))), escape="\\")
    if "@" in value.text[:prefix] and len(words) > 1:
        del words[1]
    chunk: list[Placed] = []
    for word in words:
        if word.text == ";":
            gathering.command(chunk, scope, by_shell=False, start=start)
            chunk = []
        else:
            chunk.append(word)
    gathering.command(chunk, scope, by_shell=False, start=start)
