"""What every edit must keep: all that is not the option, byte for byte; and itself, when it is done again."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from seedstall.parse.edit.options import Edit

VALUE = "file:/dev/urandom"
RIGHT = f"-Djava.security.egd={VALUE}"
Editor = Callable[[bytes], Edit]


def edited(editor: Editor, data: bytes | str) -> Edit:
    """The edit, done twice: the second time it changes nothing, and says the same line."""
    raw = data.encode() if isinstance(data, str) else data
    done = editor(raw)
    again = editor(done.content)
    assert again.content == done.content, "not idempotent"
    assert (again.replaced, again.line) == ((), done.line)
    return done


def changed(editor: Editor, text: str) -> list[str]:
    """The lines that went and came: ``-old`` and ``+new``."""
    new = edited(editor, text).content.decode()
    rows = difflib.unified_diff(text.split("\n"), new.split("\n"), n=0, lineterm="")
    return [row for row in rows if not row.startswith(("---", "+++", "@@"))]
