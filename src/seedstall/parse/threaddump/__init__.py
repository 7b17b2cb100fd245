"""Thread dumps out of any text: told by content, never by name; several in one text, in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from seedstall.model.threads import ThreadDump
from seedstall.parse.text import Input, Text, plain
from seedstall.parse.threaddump.hotspot import hotspot_dumps
from seedstall.parse.threaddump.mended import mended
from seedstall.parse.threaddump.prefix import unprefixed

if TYPE_CHECKING:
    from seedstall.parse.threaddump.forms import Form


def thread_dumps(data: Input, origin: str) -> tuple[ThreadDump, ...]:
    """Find every thread dump in *data*, in its order; ``()`` where there is none.

    Reads what ``jstack``, ``jcmd Thread.print`` and ``kill -3`` print on HotSpot 6 to 25, alone or among log lines,
    whole or damaged by the way it was pasted, and every form that `forms` lists: of ``jcmd Thread.dump_to_file``, the
    serviceability agent, management beans, javacores, servers' own watches. Line numbers are those of *data* as it was
    given. Never raises for any input.
    """
    text = plain(data)
    from seedstall.parse.threaddump import forms  # noqa: PLC0415 - its own imports only where a sign is found

    present = forms.signs(text.data)
    if not present:
        return hotspot_dumps(mended(unprefixed(text)), origin)
    return _of_all(text, present, origin)


def _of_all(text: Text, present: frozenset[Form], origin: str) -> tuple[ThreadDump, ...]:
    """The dumps of a text in which other forms than HotSpot's may stand."""
    from seedstall.parse.threaddump import forms  # noqa: PLC0415 - see above

    text, found = forms.taken(text, tuple(f for f in forms.AS_GIVEN if f in present), origin)
    text = unprefixed(text)
    text, more = forms.taken(text, tuple(f for f in forms.LINE_BY_LINE if f in present), origin)
    found += more
    if found and not forms.has_hotspots(text.data):
        return tuple(sorted(found, key=_line))
    own = hotspot_dumps(mended(text), origin)
    if forms.VISUALVM in present and b" tid=0x" not in text.data:
        own = tuple(replace(dump, form="VisualVM") for dump in own)
    return tuple(sorted((*found, *own), key=_line))


def _line(dump: ThreadDump) -> int:
    return dump.line
