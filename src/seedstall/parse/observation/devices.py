"""Timed reads of the devices themselves: ``dd``, tables of a benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from seedstall.parse.observation.seen import LONGEST, Seen, finds, milliseconds
from seedstall.parse.text import line_around, shown

_ABOVE: Final = 300
_BELOW: Final = 1500
"""How far from the command of a `dd` its figures may stand, in bytes: below it, or right above (zsh's ``time``)."""

_DD = re.compile(
    rb"(?<![\w.,])(\d{1,18}+)\s?[^\s\d(]{1,20}+(?: ?\([^()\n]{1,40}\)){0,2}+"
    rb"(?: [^\s\d,]{1,30}, | transferred in |[^\s\d,]{1,30}?\xef\xbc\x8c ?)"
    rb"([\d.,]{1,20}(?:e[+-]?\d{1,3})?) ?(?:s[a-z]{0,7}|\xe7\xa7\x92)(?:[,.]|\xef\xbc\x8c)?"
    rb"(?: ?\(?([\d.,]{1,15} ?[kKMGT]?i?[Bb](?:ytes)?/s(?:ec)?))?"
)
"""GNU, BusyBox and BSD; the words between the figures are translated, in Chinese with commas of its own."""
_DD_DEVICE = re.compile(rb"\bif=/dev/(u?random)\b")
_TABLE = re.compile(
    rb"/dev/(u?random)[ \t|:`]++(\d{1,9})(?:\.\d+)? ms[ \t|,:]++([\d.,]{1,15} ?[kKMG]i?B/s)"
)

_BEFORE_ROW = re.compile(rb"(?:^|[|*`>:)\]}#+\-]|[ \t]F|(?<![^\s])\S{0,40}\d\S{0,10})[ \t|*`-]*$")
"""Nothing, or what a collector puts there (it ends in a mark, or has digits in its last word), but no sentence."""


def dd(data: bytes) -> Iterator[Seen]:
    """``6 bytes (6 B) copied, 115.772 s, 0.0 kB/s``, with the device that its command names nearby."""
    done = 0
    for command in finds(data, b"if=/dev/"):
        for figure in _DD.finditer(data, max(done, command - _ABOVE), command + _BELOW):
            done = figure.end()
            device = _device(data, figure)
            ms = milliseconds(figure[2])
            if device and ms is not None:
                rate = shown(figure[3]) if figure[3] else ""
                yield Seen(figure.start(), f"dd-{device}", int(figure[1]), ms, rate)


def _device(data: bytes, figure: re.Match[bytes]) -> str:
    """Which device these figures are of: the one whose command stands in the next line (zsh), or last above."""
    eol = data.find(b"\n", figure.end(), figure.end() + LONGEST)
    below = data[eol + 1 : eol + 1 + _ABOVE].partition(b"\n")[0] if eol >= 0 else b""
    named = _DD_DEVICE.search(below) if b" system" in below or b" cpu" in below else None
    if named is None:
        above = data[max(0, figure.start() - _BELOW) : figure.start()]
        # Any device's command, so that figures of another one are not taken for these.
        last = above.rfind(b"if=")
        named = _DD_DEVICE.search(above, max(last - 1, 0)) if last >= 0 else None
    return shown(named[1]) if named else ""


def tables(data: bytes) -> Iterator[Seen]:
    """``/dev/random 138 ms 782 MB/s``: a row that gives time and rate."""
    for word in (b"/dev/random", b"/dev/urandom"):
        for at in finds(data, word):
            row = _TABLE.match(data, at)
            if row and _BEFORE_ROW.search(data[line_around(data, at)[0] : at]):
                yield Seen(at, f"dd-{shown(row[1])}", None, int(row[2]), shown(row[3]))
