"""The line above a thread's stack: name, ids, what the thread is doing.

Every JDK adds a key (``os_prio`` 8, ``cpu`` and ``elapsed`` 11, ``[tid]`` 21) or changes one (``nid`` is hexadecimal
up to 20, decimal after), so all are read as ``key=value``; the order is used only to be quick.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from seedstall.parse.text import shown

LONGEST = 1 << 16
"""A longer line is no header: Java's thread names are not bounded, but nobody's are that long."""

_MOST_NAMES: Final = 20_000
_LONGEST_NAME: Final = 200
_NO_STACK: Final = b"0x."
_STACK = re.compile(rb"\[(0x[0-9a-fx.]{1,40})\]\s*$")
_USUAL = re.compile(
    rb'"([^"]*+)" (?:#(\d{1,18}+) )?(?:\[(\d++)\] )?(daemon )?(?:prio=\d++ )?(?:os_prio=-?\d++ )?'
    rb"(?:cpu=(\d{1,15}\.\d++)ms elapsed=(\d{1,15}\.\d++)s )?(?:allocated=\S++ defined_classes=\d++ )?"
    rb"tid=(0x[0-9a-f]++) nid=(0x[0-9a-f]++|\d++) ([^\[]*+)(?:\[([^\]]*+)\][ \t]*+)?"
)


class Header(NamedTuple):
    """What a header says. ``tid`` is the address of the JVM's thread structure: unlike names it is unique."""

    name: str
    nid: int | None = None
    activity: str = ""
    daemon: bool = False
    cpu_ms: float | None = None
    elapsed_ms: float | None = None
    tid: bytes = b""
    whole: bool = True
    """Whether the line goes on to its end: it was not cut."""
    stack: bool | None = None
    """Whether the thread has Java frames: its stack's address, which is last, is 0 in one that has none (6 to 25)."""
    java_id: int | None = None


def header(line: bytes) -> Header | None:
    """Read a header; ``None`` where the line is none. Prefixes and a lost opening quote are put up with."""
    match = _USUAL.fullmatch(line)
    if match is None:
        return _unusual(line)
    name, java_id, bracket, daemon, cpu, elapsed, tid, nid, activity, stack = match.groups()
    return Header(
        _known(name),
        number(nid) if nid else number(bracket),
        _known(activity.strip()),
        daemon is not None,
        float(cpu) if cpu else None,
        round(float(elapsed) * 1000, 3) if elapsed else None,
        tid,
        stack=None if stack is None else bool(stack.strip(_NO_STACK)),
        java_id=int(java_id) if java_id else None,
    )


def number(text: bytes) -> int | None:
    """An id as printed: hexadecimal where it says ``0x``, decimal from JDK 21 on; ``None`` for ``NA`` and the like."""
    try:
        value = int(text, 16 if text[:2].lower() == b"0x" else 10)
    except ValueError:
        return None
    return value if 0 <= value < 1 << 32 else None


_names: dict[bytes, str] = {}


def _known(text: bytes) -> str:
    """Decode *text*, keeping one string for the names that every dump of a series repeats."""
    name = _names.get(text)
    if name is None:
        if len(text) > _LONGEST_NAME:
            return shown(text)
        if len(_names) > _MOST_NAMES:
            _names.clear()
        name = _names[text] = shown(text)
    return name


@cache
def _patterns() -> tuple[re.Pattern[bytes], re.Pattern[bytes], re.Pattern[bytes]]:
    return (
        # The name ends at the last quote (straight or curled) that a key follows: names may hold quotes.
        re.compile(
            rb'(.*)(?:"|\'\'|\xe2\x80[\x9c-\x9f])[ \t]*'
            rb"(?=#\d|\[\d|daemon\b|virtual\b|prio=|os_prio=|cpu=|tid=|nid=|- Thread t@)(.*)",
            re.DOTALL,
        ),
        re.compile(rb"\b([a-z_]+)=([^\s\[]*)"),
        # Before the opening quote: nothing, or a prefix that ends in a blank or a mark.
        re.compile(rb'(?:^|.*?[\s|>:\]}])(?:"|\'\'|\xe2\x80[\x9c-\x9f])(.*)', re.DOTALL),
    )


def _unusual(line: bytes) -> Header | None:
    quoted, keys, opening = _patterns()
    match = quoted.fullmatch(line)
    if match is None:
        return None
    before, rest = match.groups()
    opened = opening.fullmatch(before)
    name = opened[1] if opened else before.lstrip(b" \t>|*")
    values = dict(keys.findall(rest))
    bracket = re.match(rb"(?:#\d+ +)?\[(\d+)\]", rest)
    java_id = re.match(rb"(?:#|- Thread t@)(\d{1,18})", rest)
    native = values.get(b"nid", b"")
    stack = _STACK.search(rest[-200:])
    nid = number(native) if native else number(bracket[1]) if bracket else None
    return Header(
        _known(name),
        nid,
        _activity(rest),
        re.search(rb"\bdaemon\b", rest[:64]) is not None,
        _decimal(values.get(b"cpu", b""), b"ms"),
        _seconds(values.get(b"elapsed", b"")),
        values.get(b"tid") or rest.partition(b"t@")[2][:20],
        whole=re.search(rb"(?:nid|tid)=\S+ *[\w\[]|t@\d+", rest) is not None
        and rest.count(b"[") == rest.count(b"]"),
        stack=None if stack is None else bool(stack[1].strip(_NO_STACK)),
        java_id=int(java_id[1]) if java_id else None,
    )


def _activity(rest: bytes) -> str:
    last = rest.rfind(b"=")
    words = rest[last + 1 :].split(None, 1)
    return shown(words[1].partition(b"[")[0].strip()) if last >= 0 and len(words) > 1 else ""


def _decimal(text: bytes, unit: bytes) -> float | None:
    figure = text.removesuffix(unit)
    return float(figure) if re.fullmatch(rb"\d{1,15}(?:\.\d{1,15})?", figure) else None


def _seconds(text: bytes) -> float | None:
    seconds = _decimal(text, b"s")
    return None if seconds is None else round(seconds * 1000, 3)
