"""Files of JVM options, one a line: ``jvm.options``, ``*.vmoptions``, ``.mvn/jvm.config``, Jetty's ``start.d/*.ini``.

install4j wants a line end behind the last line, and Maven before 3.9 takes a ``#`` for an option: the option is
appended with its line end, and without a comment where there may be none.
"""

from __future__ import annotations

from collections.abc import Sequence

from seedstall.model.settings import Format, SeedOption
from seedstall.parse.configfile.change import Splice
from seedstall.parse.edit.change import (
    appended,
    checked,
    is_right,
    original,
    removal,
    sealed,
    seed_options,
    stretch,
    written,
)
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.options import option as option_text
from seedstall.parse.setenv import COMMENT


def set_egd(data: bytes, value: str, *, comment: str = COMMENT, needs: Sequence[str] = ()) -> Edit:
    """Set the seed source in an options file, once for every JDK that reads it.

    A line with a prefix (``8:-D...``, Elasticsearch) is for some JDKs alone: it is put right, and does not count.
    *needs* are lines without which the option is not read (Jetty's ``--exec``): those that are missing are added.

    Raises:
        ValueError: the file cannot be edited safely.
    """
    checked(value)
    before = original("jvm.options", data, Format.JVM_OPTIONS)
    text = before.text
    found = seed_options(before.file)
    plain = [o for o in found if o.scope == 0]
    kept = plain[-1:] + [o for o in found if o.scope != 0]
    # Quotes are characters like others to most that read such a file.
    wrong = [
        o
        for o in found
        if o not in kept or not is_right(o, value) or written(text, o) != option_text(value)
    ]
    missing = [line for line in needs if line not in _lines(text)]
    if plain and not wrong and not missing:
        return Edit(data, before.line(kept[0].word.place()[0]))
    edits: list[Splice] = []
    for option in wrong:
        if option in kept:
            edits.append((*stretch(text, option), option_text(value)))
        else:
            edits.append(removal(text, option))
    added = [*missing, *(() if plain else (option_text(value),))]
    if added:
        edits.append(appended(text, [*([comment] if comment else ()), *added], before.newline))
    return sealed(before, edits, value, replaced=wrong)


def new_file(value: str, *, comment: str = COMMENT, needs: Sequence[str] = ()) -> bytes:
    """Such a file, where there is none."""
    return set_egd(b"", value, comment=comment, needs=needs).content


def sets(data: bytes) -> list[SeedOption]:
    """The seed options of such a file."""
    return seed_options(original("jvm.options", data, Format.JVM_OPTIONS).file)


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines()}
