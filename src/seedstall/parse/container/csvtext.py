"""Rows of a table as log viewers export them: a line of the text in a cell, its quotes doubled (RFC 4180)."""

from __future__ import annotations

import re
from typing import Final

from seedstall.parse.text import Text

_CELL: Final = re.compile(rb'(^|[,;\t])"((?:[^"\n]|"")*+)"(?=[,;\t]|$)', re.MULTILINE)


def cells(text: Text) -> Text:
    """Take the quotes off cells that end in their line; a cell of many lines is left as it is.

    What stands before the text's own cell is then a prefix like any other.
    """
    data = _CELL.sub(lambda cell: cell[1] + cell[2].replace(b'""', b'"'), text.data)
    return Text(data, text.numbers) if data != text.data else text
