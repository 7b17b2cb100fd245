"""What evidence gathered by others looks like: by the paths in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

MOST_LOOKED_AT = 20_000
"""Members looked at before an archive is taken for a bag of texts: sos writes its commands after ``etc``."""

MOST_TREES = 1000


class Form(StrEnum):
    """Who made it."""

    OURS = "bundle"
    SOS = "sosreport"
    GATHER = "must-gather"
    TREE = "captured tree"
    LOOSE = "folder of files"


_TOP = r"((?:[^/]+/){0,4}?)"
_MARKS = (
    (re.compile(r"((?:[^/]+/){0,2}?)seedstall-bundle"), Form.OURS),
    # sos 3 and 4: sos_commands, sos_logs, sos_reports, sos_strings; version.txt names the program.
    (re.compile(r"((?:[^/]+/){0,2}?)sos_(?:commands|logs|reports|strings)(?:/.*)?"), Form.SOS),
    # oc adm must-gather: IMAGE-DIGEST/{namespaces,cluster-scoped-resources,...}
    (re.compile(r"((?:[^/]+/){0,3}?)namespaces/[^/]+/pods(?:/.*)?"), Form.GATHER),
    (re.compile(_TOP + r"proc/(?:[0-9]{1,9}/.+|sys/kernel/random(?:/.*)?)"), Form.TREE),
)
_SOS_TOP = re.compile(r"((?:[^/]+/)?sosreport-[^/]+/).+")


def form_of(paths: Iterable[str]) -> tuple[Form, str] | None:
    """The form that the first telling path has, and the directory that is its top, without a closing slash.

    A sosreport holds ``/proc`` too: it is told by the name of its directory, or by what else it holds.
    """
    tree: tuple[Form, str] | None = None
    for count, path in enumerate(paths):
        if count >= MOST_LOOKED_AT:
            break
        if len(path) > 1024:  # noqa: PLR2004 - no mark is that long
            continue
        sos = _SOS_TOP.fullmatch(path)
        if sos is not None:
            return Form.SOS, sos[1].rstrip("/")
        for mark, form in _MARKS:
            found = mark.fullmatch(path)
            if found is None:
                continue
            told = form, found[1].rstrip("/")
            if form is not Form.TREE:
                return told
            tree = tree or told
            break
    return tree


def tops_of_trees(paths: Iterable[str]) -> tuple[str, ...]:
    """The directories that each hold a captured tree, in their order; one inside another belongs to it."""
    mark = _MARKS[-1][0]
    found: dict[str, None] = {}
    for path in paths:
        match = mark.fullmatch(path) if len(path) <= 1024 else None  # noqa: PLR2004 - as above
        if match is not None and len(found) < MOST_TREES:
            found[match[1].rstrip("/")] = None
    return tuple(top for top in found if not _above(top) & found.keys())


def _above(top: str) -> set[str]:
    """The directories that *top* lies in."""
    parts = top.split("/") if top else []
    return {"/".join(parts[:n]) for n in range(len(parts))}
