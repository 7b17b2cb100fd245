"""Lines of the kernel's log on random numbers, and what became of the entropy daemons.

The messages by kernel version stand in `parse.kernelfiles`; here they are found in any text, with or without the
prefix that ``dmesg -T``, the journal or syslog puts before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from seedstall.parse.observation.seen import LONGEST, Seen, finds
from seedstall.parse.text import line_around, shown

_READY = re.compile(rb"random: (crng init done|crng done|nonblocking pool is initialized)")
_EARLY = re.compile(rb"random: ([\w./:\-]{1,40}): uninitialized urandom read \((\d{1,9}) bytes")
_UPTIME = re.compile(rb"\[ *(\d{1,9})\.(\d{3})\d{0,3}\] *$")
_UNIT = re.compile(rb"(rngd|rng-tools\w{0,8}|haveged|jitterentropy[\w-]{0,6})\.service\b")
_ACTIVE = re.compile(rb"Active: (\w{1,20})(?: \(([\w-]{1,40})\))?")
_FAR: Final = 1200
_FAILURES: Final = (
    b"can't open any entropy source",
    b"Maybe RNG device modules are not loaded",
    b"No entropy sources working, exiting rngd",
    b"maybe running in a container",
)


def messages(data: bytes) -> Iterator[Seen]:
    """When the kernel's generator was seeded (``ms`` after boot, where told), and who read it before."""
    for at in finds(data, b"random: "):
        start, end = line_around(data, at, LONGEST)
        ready = _READY.match(data, at, end)
        early = _EARLY.match(data, at, end)
        if ready:
            uptime = _UPTIME.search(data[start:at].rstrip())
            ms = int(uptime[1]) * 1000 + int(uptime[2]) if uptime else None
            yield Seen(at, "crng-ready", ms=ms, text=shown(ready[1]))
        elif early:
            yield Seen(at, "urandom-early", int(early[2]), text=shown(early[1]))


def feeders(data: bytes) -> Iterator[Seen]:
    """``systemctl status`` of an entropy daemon: ``value`` 1 where it runs; and the daemons' own last words."""
    for at in finds(data, b".service"):
        start, end = line_around(data, at, LONGEST)
        unit = _UNIT.search(data, start, end)
        active = _ACTIVE.search(data, end, end + _FAR) if unit else None
        other = data.find(b".service - ", end, active.start()) if active else -1
        if unit and active and other < 0 and b" - " in data[at:end]:
            state = shown(active[1]) + (f" ({shown(active[2])})" if active[2] else "")
            yield Seen(
                at, "feeder-state", int(active[1] == b"active"), text=f"{shown(unit[1])}: {state}"
            )
    for words in _FAILURES:
        for at in finds(data, words):
            yield Seen(at, "feeder-state", 0, text=f"an entropy daemon: {shown(words)}")
