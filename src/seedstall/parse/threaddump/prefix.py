"""What log collectors put before each line: a time, a pod, ``stdout F``, a gutter, ``> ``. Learned, not listed.

The lines of a dump are told by their form wherever in the line they begin; what stands before most of them alike, but
for its digits, is the prefix. Docker's JSON log, CRI, journald, syslog, docker-compose, CI time stamps, quoting and
gutters come out of the same rule, and so does the next collector's.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Final

from seedstall.parse.text import Text, resplit
from seedstall.parse.words import find

_SAMPLE: Final = 256 << 10
_HARD_BLANK: Final = "\N{NO-BREAK SPACE}".encode()
_LONGEST: Final = 300
_FORMS: Final = 6
"""Prefixes told apart in one text (several pods, both streams)."""


def unprefixed(text: Text) -> Text:
    """Take prefixes off the lines of *text*, where its dumps' lines have one; and part lines that ran together."""
    sample = _sample(text.data)
    if not sample:
        return text
    if _HARD_BLANK in sample:
        text = Text(text.data.replace(_HARD_BLANK, b" "), text.numbers)
        sample = _sample(text.data)
    if _is_clean(sample):
        return text
    if _run_together().search(sample):
        text = resplit(_stripped(text, sample, _opening()), _parted)
        sample = _sample(text.data)
    return _stripped(text, sample, _piece())


def _stripped(text: Text, sample: bytes, piece: re.Pattern[bytes]) -> Text:
    """Without the prefixes that stand before most of what *piece* finds."""
    forms = _learned(sample, piece)
    if not forms:
        return text
    pattern = re.compile(rb"^(?:%b)" % b"|".join(forms), re.MULTILINE)
    data = pattern.sub(b"", text.data)
    return Text(re.sub(rb"^[ \t]+$", b"", data, flags=re.MULTILINE), text.numbers)


def _is_clean(sample: bytes) -> bool:
    """Whether the dump's first line that can be told has nothing before it: by far the most."""
    at = sample.find(b" tid=0x")
    if at >= 0:
        start = sample.rfind(b"\n", 0, at) + 1
        return sample[start : start + 1] == b'"' and not _run_together().search(sample)
    return False


def _sample(data: bytes) -> bytes:
    at = find(data, b" tid=0x")
    if at < 0:
        # Begun with its letters, it is searched for at three times the speed.
        match = re.search(rb"at (?<!\wat )[\w.$/]+\([^()\n]{1,100}\)\s*\n", data)
        if match is None and _HARD_BLANK not in data:
            return b""
        at = match.start() if match else 0
    start = max(0, data.rfind(b"\n", max(0, at - 1000), at))
    return data[start : start + _SAMPLE]


@cache
def _run_together() -> re.Pattern[bytes]:
    return re.compile(rb"\)[ \t]++at [\w.$/<>]++\([^()\n]{1,100}\)[ \t]++at ")


def _parted(line: bytes) -> list[bytes]:
    return _parts().split(line)


@cache
def _parts() -> re.Pattern[bytes]:
    # Possessive, and never from within a run of blanks: each blank is looked at once.
    return re.compile(
        rb"(?<![ \t])[ \t]++(?=at [\w.$/@<>\\-]{3,400}\(|- (?:locked|waiting|parking|eliminated|<0x)"
        rb'|java\.lang\.Thread\.State:|"[^"\n]{0,200}" (?:\\?#\d|prio=|daemon|os_prio=))'
    )


_NAME: Final = (
    rb"(?:\"[^\"\n]{0,200}\"|'[^\"\n]{0,200}?'|\xc2\xab[^\"\n]{0,200}?\xc2\xbb"
    rb"|\xe2\x80[\x98-\x9f\xb9][^\"\n]{0,200}?\xe2\x80[\x98-\x9f\xba])"
)
"""A thread's name, in whatever quotes."""


@cache
def _opening() -> re.Pattern[bytes]:
    return re.compile(
        rb"^([^\n]{0,%d}?)%b (?:\\?#\d|daemon|prio|os_prio)[^\n]{0,200}? tid=0x"
        % (_LONGEST, _NAME),
        re.MULTILINE,
    )


@cache
def _piece() -> re.Pattern[bytes]:
    return re.compile(
        rb"^([^\n]{0,%d}?)(?:%b (?:\\?#\d|daemon|prio|os_prio)[^\n]{0,200}? tid=0x"
        rb"|(?:at\s){1,3}[\w.$/@<>+-]{3,400} ?\([^()\n]{1,200}\)\s*$"
        rb"|java\.lang\.Thread\.State: [A-Z]|- (?:locked|waiting on|waiting to lock|parking to) )"
        % (_LONGEST, _NAME),
        re.MULTILINE,
    )


def _learned(sample: bytes, piece: re.Pattern[bytes]) -> list[bytes]:
    """Patterns of the prefixes that most lines of the dump in *sample* have; none where they have none."""
    forms = Counter(_form(match[1]) for match in piece.finditer(sample))
    bare = forms.pop(b"", 0)
    known = sum(forms.values())
    if known <= 2 * bare:
        return []
    return [form for form, count in forms.most_common(_FORMS) if count * 10 >= known]


def _form(before: bytes) -> bytes:
    """The pattern of a prefix: its digits may differ, its blanks in number; the end without the dump's own indent."""
    prefix = before.rstrip()
    if not prefix:
        return b""
    parts = re.split(rb"(\d+|[ \t]+)", prefix)
    first = (
        rb"[ \t]*+" if prefix[:1] in (b" ", b"\t") else b""
    )  # a gutter is as wide as its numbers
    parts = parts[2:] if first else parts
    pattern = first + b"".join(
        rb"\d++"
        if part[:1].isdigit()
        else rb"[ \t]++"
        if part[:1] in (b" ", b"\t")
        else re.escape(part)
        for part in parts
        if part
    )
    # Only a mark (|, :, >) may touch what follows: digits and letters might go on.
    return pattern + (rb"(?:[ \t]|$)" if prefix[-1:].isalnum() else rb"(?:[ \t]|$)?")
