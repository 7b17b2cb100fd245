"""Helm values: the option in the variables or options that the chart takes, as far as the file itself shows them.

A chart's keys are its own affair: ``extraEnvVars`` (Bitnami), ``extraEnv``, ``env``, ``javaOpts``. What the file does
not show is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from seedstall.model.settings import Format, SeedOption, placed
from seedstall.parse.configfile.change import Splice
from seedstall.parse.configfile.manifest import CHART_LISTS
from seedstall.parse.configfile.yamltree import Listing, Node, Scalar, Table, documents
from seedstall.parse.edit import yamltext
from seedstall.parse.edit.change import (
    TOOL_OPTIONS,
    NoPlaceError,
    Original,
    checked,
    is_right,
    mended,
    original,
    sealed,
    seed_options,
)
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.options import option as option_text

NAME = "values.yaml"
LISTS = (*CHART_LISTS, "env", "environment")
_OPTIONS = re.compile(
    r"(?:java|jvm|catalina)[a-z_]{0,20}(?:opts?|options|args|flags)$|^JAVA_OPTS$", re.IGNORECASE
)
MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of the tree with what it holds."""

    path: tuple[str, ...]
    node: Node

    def __str__(self) -> str:
        return ".".join(self.path)


def set_egd(data: bytes, value: str) -> Edit:
    """Set the seed source in a chart's values: in the options or the variables that stand in the file.

    Raises:
        ValueError: the file cannot be edited safely, or shows no key for it, or several.
    """
    checked(value)
    before = original(NAME, data, Format.MANIFEST)
    held = seed_options(before.file)
    wrong = [o for o in held if not is_right(o, value)]
    if held and not wrong:
        return Edit(data, before.line(held[-1].word.place()[0]))
    if wrong:
        edits = [edit for option in wrong for edit in mended(before, option, value)]
        return sealed(before, edits, value, replaced=wrong, moved=_names(before, wrong))
    edit, where = _added(before, value)
    note = f"the option stands in {where}: whether the chart hands that to the container, helm template shows"
    return sealed(
        before,
        [edit],
        value,
        notes=(note,),
        moved=frozenset((TOOL_OPTIONS, where.rpartition(".")[2])),
    )


def _names(before: Original, options: list[SeedOption]) -> frozenset[str]:
    variables = before.file.variables
    return frozenset(variables[o.variable].name for o in options if o.variable is not None)


def _added(before: Original, value: str) -> tuple[Splice, str]:
    keys = [
        k for root in documents(placed(before.text, 0, len(before.text))) for k in _walk(root, ())
    ]
    option = option_text(value)
    for key in keys:
        found = _named(key.node, TOOL_OPTIONS)
        if found is not None:
            return yamltext.grown(before.text, found, option), f"{key}.{TOOL_OPTIONS}"
    options = [k for k in keys if isinstance(k.node, Scalar) and _OPTIONS.search(k.path[-1])]
    if options:
        key = _only(options)
        if isinstance(key.node, Scalar):
            return yamltext.grown(before.text, key.node, option), str(key)
    lists = [k for name in LISTS for k in keys if k.path[-1] == name]
    if not lists:
        raise NoPlaceError(
            "it shows no key for environment variables or JVM options: see helm show values CHART for the one that"
            " this chart has"
        )
    return _entry(before, _only([k for k in lists if k.path[-1] == lists[0].path[-1]]), option)


def _only(keys: list[_Key]) -> _Key:
    if len(keys) > 1:
        raise NoPlaceError(f"several keys may be meant: {', '.join(map(str, keys))}")
    return keys[0]


def _entry(before: Original, key: _Key, option: str) -> tuple[Splice, str]:
    editor = yamltext.Editor(before.text, before.newline)
    node = key.node
    if isinstance(node, Table):
        return editor.new_pair(node, TOOL_OPTIONS, option), str(key)
    if isinstance(node, Listing):
        if node.items and not isinstance(node.items[-1], Table):
            raise NoPlaceError(f"{key} is a list of another kind")
        return editor.new_entry(node, TOOL_OPTIONS, option), str(key)
    if node.value.text not in ("", "null", "~"):
        raise NoPlaceError(f"{key} is no list")
    return editor.instead_of_nothing(node, TOOL_OPTIONS, option, listed=True), str(key)


def _walk(node: Node, path: tuple[str, ...]) -> Iterator[_Key]:
    if len(path) >= MAX_DEPTH or not isinstance(node, Table):
        return
    for key, value in node.items():
        yield _Key((*path, key), value)
        yield from _walk(value, (*path, key))


def _named(node: Node, name: str) -> Scalar | None:
    """The value of a variable in a list or mapping of variables."""
    if isinstance(node, Table):
        found = node.get(name)
        return found if isinstance(found, Scalar) else None
    for item in node.items if isinstance(node, Listing) else ():
        named = item.scalar("name") if isinstance(item, Table) else None
        if isinstance(item, Table) and named is not None and named.text == name:
            value = item.get("value")
            return value if isinstance(value, Scalar) else None
    return None
