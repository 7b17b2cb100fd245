"""Files of JVM options: ``jvm.options`` (Elasticsearch, Cassandra, Liberty), ``*.vmoptions``, ``.mvn/jvm.config``."""

from __future__ import annotations

import re

from seedstall.model.settings import JdkSpan, Placed, Scope
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.seedword import seed_words
from seedstall.parse.configfile.words import lines, split, stripped

_PREFIX = re.compile(r"([0-9]{1,3})(-)?([0-9]{1,3})?:(?=-)")


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in the options, one a line; ``9-:-Dx=y`` is for some releases alone (Elasticsearch)."""
    for line in lines(whole):
        body = stripped(line, " \t")
        if not body.text or body.text.startswith("#"):
            continue
        match = _PREFIX.match(body.text)
        own = scope
        if match is not None:
            own = gathering.scope(Scope(name=match[0], jdk=_span(match)))
            body = body.part(match.end(), len(body.text))
        # Blanks at the end of the line are part of the option.
        tail = Placed(*_extended(line, body), (body.outer[0], line.outer[1]))
        words = split(body) if _several(body.text) else [tail]
        for word in seed_words(words):
            gathering.option(word, own, "JVM options")


def _extended(line: Placed, body: Placed) -> tuple[str, list[int], list[int]]:
    start = len(line.text) - len(line.text.lstrip(" \t"))
    start += len(line.text.strip(" \t")) - len(body.text)
    whole = line.part(start, len(line.text))
    return whole.text, list(whole.starts), list(whole.ends)


def _span(match: re.Match[str]) -> JdkSpan:
    oldest = int(match[1])
    if not match[2]:
        newest: int | None = oldest
    else:
        newest = int(match[3]) if match[3] else None
    return JdkSpan(oldest, newest, f"the line's prefix {match[0]}")


def _several(text: str) -> bool:
    """Whether a line holds several options (``.mvn/jvm.config``), and not one with a blank in it."""
    return re.search(r"[ \t]-[A-Za-z-]", text) is not None
