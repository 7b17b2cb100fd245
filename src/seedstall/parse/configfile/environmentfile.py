"""``NAME=value`` lines that no shell reads: systemd's EnvironmentFile, ``docker run --env-file``, ``.env``."""

from __future__ import annotations

import re

from seedstall.model.settings import Placed, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.words import joined, lines, unquoted

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=")


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in the assignments; a backslash at the end of a line continues it."""
    waiting: list[Placed] = []
    for line in lines(whole):
        if not waiting and line.text.lstrip()[:1] in ("#", ";", ""):
            continue
        if line.text.endswith("\\"):
            waiting.append(line.part(0, len(line.text) - 1))
            continue
        whole_line = joined([*waiting, line], "") if waiting else line
        waiting = []
        match = _LINE.match(whole_line.text)
        if match is None:
            continue
        value = whole_line.part(match.end(), len(whole_line.text))
        gathering.variable(
            match[1],
            _value(value),
            scope,
            Setting.ENVIRONMENT_FILE,
            exported=True,
            label=whole_line.place(match.start(1), match.end(1)),
        )


def _value(value: Placed) -> Placed:
    text = value.text.strip()
    return unquoted(value, escape="\\") if text[:1] in ("'", '"') else value
