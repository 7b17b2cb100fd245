"""Thread dumps out of any text: told by content, never by name; several in one text, in order."""

from __future__ import annotations

from typing import Final

from seedstall.model.threads import ThreadDump
from seedstall.parse.text import Input, plain
from seedstall.parse.threaddump.hotspot import hotspot_dumps
from seedstall.parse.threaddump.mended import mended
from seedstall.parse.threaddump.prefix import unprefixed

_HEAD: Final = 4096
_TO_FILE: Final = tuple(bytes([byte]) for byte in b"{#0123456789")


def thread_dumps(data: Input, origin: str) -> tuple[ThreadDump, ...]:
    """Find every thread dump in *data*, in its order; ``()`` where there is none.

    Reads what ``jstack``, ``jcmd Thread.print`` and ``kill -3`` print on HotSpot 6 to 25, alone or among log lines,
    whole or damaged by the way it was pasted, and what ``jcmd Thread.dump_to_file`` writes. Line numbers are those of
    *data* as it was given. Never raises for any input.
    """
    text = plain(data)
    head = text.data[:_HEAD].lstrip()
    # Each form that is not the usual one is loaded only for a text that begins like it.
    if head[:1] in _TO_FILE:
        from seedstall.parse.threaddump.tofile import (  # noqa: PLC0415 - see above
            is_to_file,
            to_file_dumps,
        )

        if is_to_file(head):
            return to_file_dumps(text, origin)
    return hotspot_dumps(mended(unprefixed(text)), origin)
