"""Unified diffs that both ``patch -p1`` and ``git apply`` take, made from bytes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence

from seedstall.model.record import dataclass

CONTEXT = 3
NEW_MODE = 0o644
"""``catalina.sh`` tests setenv.sh for ``-r`` and sources it: Tomcat's user must read it, nobody runs it."""
_NO_END = b"\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Patch:
    """A diff. ``secrets`` counts the lines of the old file in it that hold what looks like a secret."""

    data: bytes
    secrets: int = 0


def unified(
    old: bytes | None,
    new: bytes,
    name: str,
    *,
    preamble: Sequence[str] = (),
    secret: Callable[[bytes], bool] = lambda _: False,
    mode: int = NEW_MODE,
) -> Patch:
    """The diff from *old* (``None``: there is no such file) to *new*, of the file *name* below the directory patched.

    Lines end at LF alone, so that CRs are kept. Lines for which *secret* says yes are left out of the context where a
    diff that both programs take can do without them. Each line of *preamble* becomes a comment before the diff.
    """
    head = [b"# %s\n" % line.encode("utf-8", "backslashreplace") for line in preamble]
    label = name.encode()
    if old is None:
        head.append(b"diff --git a/%s b/%s\nnew file mode 100%o\n" % (label, label, mode))
        head.append(b"--- /dev/null\n+++ b/%s\n" % label)
    else:
        head.append(b"--- a/%s\n+++ b/%s\n" % (label, label))
    before, after = _lines(old or b""), _lines(new)
    hunks = _merged(_hunks(before, after, secret))
    shown = [line for h in hunks for line in before[h.start : h.end]]
    return Patch(b"".join((*head, *(_text(h, before) for h in hunks))), sum(map(secret, shown)))


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


@dataclass(frozen=True, slots=True)
class _Change:
    """Old lines ``start:end`` give way to ``new``."""

    start: int
    end: int
    new: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Old lines ``start:end``, context and all. ``shift`` is by how much earlier hunks moved the new ones."""

    start: int
    end: int
    changes: tuple[_Change, ...]
    shift: int


def _hunks(
    before: list[bytes], after: list[bytes], secret: Callable[[bytes], bool]
) -> Iterable[_Hunk]:
    changes = [
        _Change(i1, i2, tuple(after[j1:j2]))
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after).get_opcodes()
        if tag != "equal"
    ]
    shift = 0
    for number, change in enumerate(changes):
        floor = changes[number - 1].end if number else 0
        ceiling = changes[number + 1].start if number + 1 < len(changes) else len(before)
        trail = _clean(before[change.end : min(change.end + CONTEXT, ceiling)], secret)
        # Without a line behind it `git apply` takes a hunk for the file's end (apply.c, match_end).
        if not trail and change.end < ceiling:
            trail = 1
        lead = _clean(before[max(floor, change.start - CONTEXT) : change.start][::-1], secret)
        # With more lines before than behind `patch` looks for it at the file's end (patch.c, locate_hunk).
        if change.end + trail < len(before):
            lead = min(lead, trail)
        elif change.start == change.end == 1:
            lead = 1  # "@@ -1,0" means the file's start to `git apply` (match_beginning)
        yield _Hunk(change.start - lead, change.end + trail, (change,), shift)
        shift += len(change.new) - (change.end - change.start)


def _clean(lines: Sequence[bytes], secret: Callable[[bytes], bool]) -> int:
    for number, line in enumerate(lines):
        if secret(line):
            return number
    return len(lines)


def _merged(hunks: Iterable[_Hunk]) -> list[_Hunk]:
    """Hunks that touch as one: neither program takes two that overlap."""
    merged: list[_Hunk] = []
    for hunk in hunks:
        if merged and hunk.start <= merged[-1].end:
            first = merged.pop()
            hunk = _Hunk(first.start, hunk.end, (*first.changes, *hunk.changes), first.shift)  # noqa: PLW2901 - grown
        merged.append(hunk)
    return merged


def _text(hunk: _Hunk, before: list[bytes]) -> bytes:
    rows: list[bytes] = []
    at = hunk.start
    for change in hunk.changes:
        rows += [_row(b" ", line) for line in before[at : change.start]]
        rows += [_row(b"-", line) for line in before[change.start : change.end]]
        rows += [_row(b"+", line) for line in change.new]
        at = change.end
    rows += [_row(b" ", line) for line in before[at : hunk.end]]
    old = hunk.end - hunk.start
    new = old + sum(len(c.new) - (c.end - c.start) for c in hunk.changes)
    places = (_place(hunk.start, old), _place(hunk.start + hunk.shift, new))
    return b"@@ -%s +%s @@\n" % places + b"".join(rows)


def _place(start: int, count: int) -> bytes:
    """``5,3``; an empty range names the line before it."""
    return b"%d,%d" % (start + 1 if count else start, count)


def _row(mark: bytes, line: bytes) -> bytes:
    return mark + (line if line.endswith(b"\n") else line + _NO_END)
