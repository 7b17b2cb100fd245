"""A bare command line, as it is copied from a shell, a ticket or ``ps``."""

from __future__ import annotations

import re

from seedstall.model.settings import Placed
from seedstall.parse.configfile import batch, shellfile
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.words import split, stripped

_WINDOWS = re.compile(r"\b[A-Za-z]:\\|\.exe\b|%[A-Za-z_]+%", re.IGNORECASE)
_PROMPT = re.compile(r"[ \t]*(?:[\w.@~:/\[\]-]{0,80}[$#>][ \t]+)(?=\S)")


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in command lines; a prompt before them is passed over."""
    if _WINDOWS.search(whole.text[:20_000]):
        batch.read(gathering, whole, scope)
        return
    prompt = _PROMPT.match(whole.text[:400])
    body = whole.part(prompt.end() if prompt else 0, len(whole.text))
    if "\n" not in body.text.strip():
        known = len(gathering.problems)
        shellfile.read(gathering, stripped(body), scope, start=True)
        if len(gathering.problems) > known:
            # As ps shows it: quotes are gone, and what a shell would trip over is plain text.
            del gathering.problems[known:]
            gathering.command(split(body), scope, by_shell=False, start=True)
        return
    shellfile.read(gathering, body, scope, start=True)
