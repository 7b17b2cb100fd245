"""Windows batch files (``setenv.bat``, ``service.cmd``)."""

from __future__ import annotations

import re

from seedstall.model.settings import UNKNOWN, Placed, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.words import Growing, joined, lines, split, stripped

_SET = re.compile(
    r"(?:^|[ \t(&])set[ \t]+(?:/[a-z][ \t]+)?(\"?)([A-Za-z_][A-Za-z0-9_()]*)=", re.IGNORECASE
)
_SAYS = re.compile(r"echo[ \t.]", re.IGNORECASE)
_REMARK = re.compile(r"(?:rem(?:[ \t]|$)|::)", re.IGNORECASE)
_EXPANSION = re.compile(r"[%!]([A-Za-z_][A-Za-z0-9_]*)(?::[^%!\n]{0,80})?[%!]")
_BEFORE = re.compile(r"(?:call|start(?:[ \t]+(?:/[a-z]+|\"[^\"]*\"))*)[ \t]+(?=\S)", re.IGNORECASE)


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in ``set`` lines and what starts java."""
    gathering.learn(scope, windows=True)
    waiting: list[Placed] = []
    for raw in lines(whole):
        if raw.text.endswith("^"):
            waiting.append(raw.part(0, len(raw.text) - 1))
            continue
        line = stripped(joined([*waiting, raw], "") if waiting else raw, " \t@(")
        waiting = []
        if line.text and not _REMARK.match(line.text):
            _line(gathering, line, scope)


def _line(gathering: Gathering, line: Placed, scope: int) -> None:
    match = None if _SAYS.match(line.text) else _SET.search(line.text)
    if match is not None:
        value = line.part(match.end(), len(line.text))
        if match[1]:
            end = value.text.rfind('"')
            value = value.part(0, end if end >= 0 else len(value.text))
        refs = tuple(m[1] for m in _EXPANSION.finditer(value.text))
        gathering.variable(
            match[2],
            _expanded(value),
            scope,
            Setting.BATCH,
            refs=refs,
            exported=True,
            label=line.place(match.start(2), match.end(2)),
        )
        return
    before = _BEFORE.match(line.text)
    rest = line.part(before.end() if before else 0, len(line.text))
    words = split(_expanded(rest))
    if any("java" in w.text.lower() for w in words[:4]):
        gathering.command(words, scope, by_shell=True, start=True)


def _expanded(value: Placed) -> Placed:
    """``%NAME%`` as one unknown character."""
    grown, at = Growing(), 0
    while at < len(value.text):
        match = _EXPANSION.match(value.text, at) if value.text[at] in "%!" else None
        length = len(match[0]) if match else 1
        grown.take(value, at, length, UNKNOWN if match else "")
        at += length
    return grown.placed(value.outer)
