"""A text report on a terminal: folded to its width, its answer and heads marked.

Only what a person looks at comes here. What is piped or written to a file stays as it was rendered.
"""

from __future__ import annotations

import re
import textwrap

NARROWEST = 20
"""Below that nothing is folded: some serial consoles say 0 or 1."""
TWO_COLUMNS = 60
"""Below that a place and what was seen there do not fit beside each other."""
HEADS = frozenset(
    ("evidence", "what to do", "also found", "not looked at", "binaries", "where the time went")
)
_PROSE = frozenset(("evidence", "also found", "not looked at"))
_PAIR = re.compile(r"^( *)(\S.*?) {2,}(\S.*)$")
_FRAME = re.compile(r"^ {4,}at \S")
_STATUS = re.compile(
    r"^((?!note: )[^\n]{0,500}?: )?((stalled|slow|at-risk|ended|clear|unknown)(?: \([^()\n]{0,200}\))?): "
)
_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_COLOURS = {
    "stalled": "\x1b[1;31m",
    "slow": "\x1b[1;33m",
    "at-risk": "\x1b[1;33m",
    "ended": "\x1b[1;31m",
    "clear": "\x1b[1;32m",
    "unknown": _BOLD,
}
"""The word itself says the same: nothing is told by colour alone."""


def fold(text: str, width: int) -> str:
    """*text* in lines of at most *width* columns, as far as words allow. What is to be typed is never folded."""
    if width < NARROWEST:
        return text
    out: list[str] = []
    section = ""
    for line in text.splitlines():
        if line in HEADS:
            section = line
        elif line and not line.startswith(" "):
            section = ""
        if len(line) <= width or _is_one(line, section):
            out.append(line)
        else:
            out += _folded(line, width)
    return "".join(f"{line}\n" for line in out)


def _is_one(line: str, section: str) -> bool:
    """A frame, a command, a line of a file: cut in two it could not be looked for, typed or copied."""
    if _FRAME.match(line):
        return True
    return section not in _PROSE and line.startswith(("    ", "  or  seedstall "))


def _folded(line: str, width: int) -> list[str]:
    pair = _PAIR.match(line)
    if pair is not None:
        return _pair(pair, width)
    indent = len(line) - len(line.lstrip(" "))
    return _wrapped(line.strip(), width, " " * indent, " " * (indent + 2 * bool(indent)))


def _pair(pair: re.Match[str], width: int) -> list[str]:
    """A place and what was seen there: beside each other, or below."""
    start, indent = pair.start(3), pair[1]
    if start <= width // 2 and (width >= TWO_COLUMNS or start <= width // 4):
        return _wrapped(pair[3], width, pair.string[:start], " " * start)
    below = indent + "  "
    return [*_wrapped(pair[2], width, indent, below), *_wrapped(pair[3], width, below, below)]


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    # A path or a frame is one word: cut in two it could not be copied.
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [first.rstrip()]


def coloured(text: str) -> str:
    """*text* with the status of each answer in its colour and the heads bold. It must hold no control character."""
    return "".join(f"{_marked(line)}\n" for line in text.splitlines())


def _marked(line: str) -> str:
    if line in HEADS:
        return f"{_BOLD}{line}{_RESET}"
    found = _STATUS.match(line)
    if found is None:
        return line
    named, said = found[1] or "", found[2]
    return f"{named}{_COLOURS[found[3]]}{said}{_RESET}{line[found.end(2) :]}"
