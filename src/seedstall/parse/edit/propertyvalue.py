"""Options in a value of a properties file: Gradle's ``org.gradle.jvmargs``, SonarQube's ``javaAdditionalOpts``."""

from __future__ import annotations

from seedstall.model.settings import ConfigFile, Format, SeedOption, placed
from seedstall.parse.configfile.change import Splice
from seedstall.parse.configfile.properties import Property, properties
from seedstall.parse.edit.change import (
    Original,
    appended,
    checked,
    is_right,
    original,
    sealed,
    seed_options,
    stretch,
)
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.options import option as option_text
from seedstall.parse.setenv import COMMENT

NAME = "a.properties"


def value_of(data: bytes, name: str) -> str | None:
    """The value that the property has, ``None`` where it is not set: of several settings the last one."""
    found = _last(original(NAME, data, Format.PROPERTIES), name)
    return None if found is None else found.value.text


def set_egd(
    data: bytes, value: str, name: str, *, default: str = "", comment: str = COMMENT
) -> Edit:
    """Set the seed source in the options that property *name* holds.

    *default* is what the program takes where the property is not set, and loses once it is: it is written down too.

    Raises:
        ValueError: the file cannot be edited safely.
    """
    checked(value)
    before = original(NAME, data, Format.PROPERTIES)
    entry = _last(before, name)

    def mine(_: ConfigFile, option: SeedOption) -> bool:
        return option.carrier == name

    found = [o for o in seed_options(before.file, mine) if entry is not None and _inside(o, entry)]
    wrong = [o for o in found if not is_right(o, value)]
    if found and not wrong:
        return Edit(data, before.line(found[0].word.place()[0]))
    edits: list[Splice] = [(*stretch(before.text, o), option_text(value)) for o in wrong]
    if entry is None:
        setting = " ".join(filter(None, (f"{name}={default}", option_text(value))))
        setting = setting.replace("= ", "=")
        rows = [*([comment] if comment else ()), setting]
        edits.append(appended(before.text, rows, before.newline))
    elif not found:
        edits.append(_grown(before.text, entry, option_text(value)))
    return sealed(before, edits, value, replaced=wrong, mine=mine, moved=frozenset((name,)))


def _last(before: Original, name: str) -> Property | None:
    """The entry that counts."""
    whole = placed(before.text, 0, len(before.text))
    found = None
    for entry in properties(whole):
        if entry.name.text == name:
            found = entry
    return found


def _inside(option: SeedOption, entry: Property) -> bool:
    start, end = entry.line
    return start <= option.word.place()[0] < end


def _grown(text: str, entry: Property, option: str) -> Splice:
    """The option at the end of the value; a name that stands alone has an empty one."""
    at = entry.value.place()[1]
    if entry.value.text:
        return at, at, option if entry.value.text[-1].isspace() else f" {option}"
    named = text[entry.name.place()[1] : at]
    return at, at, option if set(named) & set("=: \t\f") else f"={option}"
