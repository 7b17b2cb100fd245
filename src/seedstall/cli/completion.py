"""What a shell asks for on Tab. The scripts and the protocol are the command-line library's; the names are ours."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum

VARIABLE = "_SEEDSTALL_COMPLETE"
"""Set by the scripts: the program then answers what may stand at the cursor, and does nothing else."""


class Shell(StrEnum):
    """Those with a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def script(shell: Shell) -> str:
    """What that shell evaluates at its start."""
    from typer._completion_shared import get_completion_script  # noqa: PLC0415 - no public way

    made = get_completion_script(prog_name="seedstall", complete_var=VARIABLE, shell=shell)
    return made.strip() + "\n"


def prepare() -> None:
    """Make the shells known, which the library does for its own options alone (one of them writes to ~/.bashrc)."""
    from typer._completion_classes import completion_init  # noqa: PLC0415 - no public way

    completion_init()
    _rejoin()


def _rejoin() -> None:
    """Bash makes three words of ``--format=json`` (COMP_WORDBREAKS); the library knows ``--format json`` alone."""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    place = os.environ.get("COMP_CWORD", "")
    if "=" not in words or not (place.isascii() and place.isdecimal()):
        return
    cursor = int(place)
    if words[cursor : cursor + 1] == ["="]:
        words[cursor] = ""
    os.environ["COMP_CWORD"] = str(cursor - words[:cursor].count("="))
    os.environ["COMP_WORDS"] = "\n".join(word for word in words if word != "=")


def command_meant(commands: Sequence[str]) -> tuple[str, ...]:
    """The one command that the line to complete has whole already; else all."""
    words = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    named = words.split()[1:3]
    return (named[0],) if len(named) > 1 and named[0] in commands else tuple(commands)


def surfaces(incomplete: str) -> list[tuple[str, str]]:
    """The places that ``fix --surface`` takes."""
    from seedstall.knowledge.surfaces import SURFACES  # noqa: PLC0415

    return [(s.name, s.title) for s in SURFACES if s.name.startswith(incomplete)]


def rules(incomplete: str) -> list[tuple[str, str]]:
    """The codes that ``explain`` takes, and the names where one is begun."""
    from seedstall.rules import ALL, lint  # noqa: PLC0415

    every = sorted({r.code: r for r in (*lint.ALL, *ALL)}.values(), key=lambda r: r.code)
    codes = [(r.code, r.name) for r in every if r.code.startswith(incomplete)]
    return codes or [(r.name, r.code) for r in every if r.name.startswith(incomplete)]
