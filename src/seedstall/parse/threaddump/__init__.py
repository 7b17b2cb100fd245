"""Thread dumps out of any text: told by content, never by name; several in one text, in order."""

from __future__ import annotations

from seedstall.model.threads import ThreadDump
from seedstall.parse.text import Input, plain
from seedstall.parse.threaddump.hotspot import hotspot_dumps
from seedstall.parse.threaddump.prefix import unprefixed
from seedstall.parse.threaddump.tofile import is_to_file, to_file_dumps


def thread_dumps(data: Input, origin: str) -> tuple[ThreadDump, ...]:
    """Find every thread dump in *data*, in its order; ``()`` where there is none.

    Reads what ``jstack``, ``jcmd Thread.print`` and ``kill -3`` print on HotSpot 6 to 25, alone or among log lines,
    whole or damaged by the way it was pasted, and what ``jcmd Thread.dump_to_file`` writes. Line numbers are those of
    *data* as it was given. Never raises for any input.
    """
    text = plain(data)
    if is_to_file(text.data):
        return to_file_dumps(text, origin)
    return hotspot_dumps(unprefixed(text), origin)
