"""Which forms other than HotSpot's own stand in a text, and where: told by what each of them cannot do without.

One search for each sign, at the speed of memory; in a long text only outside of HotSpot's dumps. A form's module is
loaded where its sign was found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from importlib import import_module
from typing import Final, NamedTuple, Protocol, cast

from seedstall.model.threads import ThreadDump
from seedstall.parse.text import Text
from seedstall.parse.threaddump.section import Section
from seedstall.parse.words import holds

_SHORT: Final = 4 << 20
_BANNER: Final = b"Full thread dump"
_END: Final = b"JNI global ref"
_HOTSPOT: Final = (b" tid=0x", b'" - Thread t@', _BANNER, b"Java-level deadlock")


class Form(NamedTuple):
    """A form: its module in this package, and strings of which one stands in any dump of it."""

    module: str
    signs: tuple[bytes, ...]


class _Module(Protocol):
    """A form's module."""

    def sections(self, text: Text, origin: str) -> Iterator[Section]:
        """Each dump of *text* in this form."""
        ...


_TO_FILE: Final = Form("tofile", (b'"threadDump"', b"\n#"))
VISUALVM: Final = Form("visualvm", (b'" - Thread t@',))
AS_GIVEN: Final = (
    Form("management", (b'"threadName"',)),
    _TO_FILE,
    Form("javacore", (b"3XMTHREADINFO",)),
)
"""Forms that have marks of their own at the start of each line, or none: nothing may be taken off them."""
LINE_BY_LINE: Final = (
    Form("agent", (b"bci", b": (state = ")),
    Form("threadinfo", (b" Id=", b" id=")),
    VISUALVM,
    Form("jconsole", (b"Total blocked: ",)),
    Form("watch", (b"has been blocked for ", b"StuckThread", b"WSVR060", b"BEA-00033", b"TRAS011")),
)


def signs(data: bytes) -> frozenset[Form]:
    """The forms whose signs stand in *data*."""
    places = [(0, len(data))] if len(data) <= _SHORT else list(_outside(data))
    found = frozenset(
        form
        for form in (*AS_GIVEN, *LINE_BY_LINE)
        if any(
            data.find(sign, start, end) >= 0
            for sign in form.signs
            if holds(data, sign)
            for start, end in places
        )
    )
    return found | {_TO_FILE} if data[:1] == b"#" else found


def taken(text: Text, forms: tuple[Form, ...], origin: str) -> tuple[Text, list[ThreadDump]]:
    """The dumps of *forms* in *text*, and the text with blank lines in their place."""
    found: list[Section] = []
    starts: list[int] = []
    for form in forms:
        module = cast("_Module", import_module(f"{__package__}.{form.module}"))
        for section in module.sections(text, origin):
            at = bisect_right(starts, section.start)
            if at and found[at - 1].end > section.start:
                continue
            if at < len(found) and found[at].start < section.end:
                continue
            found.insert(at, section)
            starts.insert(at, section.start)
    if not found:
        return text, []
    return Text(_blanked(text.data, found), text.numbers), [section.dump for section in found]


def has_hotspots(data: bytes) -> bool:
    """Whether a dump in HotSpot's form may stand in *data*, too."""
    return any(holds(data, sign) for sign in _HOTSPOT)


def _blanked(data: bytes, found: list[Section]) -> bytes:
    parts: list[bytes] = []
    done = 0
    for section in found:
        parts.append(data[done : section.start])
        parts.append(b"\n" * data.count(b"\n", section.start, section.end))
        done = section.end
    parts.append(data[done:])
    return b"".join(parts)


def _outside(data: bytes) -> Iterator[tuple[int, int]]:
    """What of *data* is in none of HotSpot's dumps, as far as their first and last lines tell."""
    done = 0
    banner = data.find(_BANNER)
    while banner >= 0:
        yield done, banner
        following = data.find(_BANNER, banner + 1)
        end = data.find(_END, banner, following if following >= 0 else len(data))
        done = end if end >= 0 else banner
        banner = following
    yield done, len(data)
