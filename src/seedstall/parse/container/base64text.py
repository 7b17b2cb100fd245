"""Base64 by itself: what ``base64 dump.txt.gz`` printed in a pod without any other way out."""

from __future__ import annotations

import re
from array import array
from binascii import Error, a2b_base64

from seedstall.parse.text import Text

_ONLY = re.compile(rb"[A-Za-z0-9+/=\s]++")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\x1b\0"))
"""What stands in no text; zero bytes do in UTF-16."""


def decoded(text: Text) -> Text:
    """The text that it is the encoding of (packed, perhaps); *text* itself where none comes out."""
    if _ONLY.fullmatch(text.data) is None:
        return text
    width = text.data.find(b"\n") + 1 or len(text.data) + 1
    found = content(text.data)
    if found is None:
        return text
    inner, sent = found
    numbers = numbers_of(inner, sent, width, 1)
    if text.numbers is not None:
        known = text.numbers
        numbers = array("L", (known[min(n, len(known)) - 1] for n in numbers))
    return Text(inner, numbers)


def content(encoded: bytes) -> tuple[bytes, bytes] | None:
    """The text that *encoded* holds, in one form and as it was; unpacked if packed; ``None`` where it is none."""
    from seedstall.parse.packed import members  # noqa: PLC0415 - only for such a text
    from seedstall.parse.text import normal  # noqa: PLC0415 - only for such a text

    try:
        found = members(a2b_base64(encoded))
    except (ValueError, Error):
        return None
    texts = [member.data for member in found if member.data and _is_text(member.data[:4096])]
    if not texts:
        return None
    # Of an archive all texts, one below the other.
    data = texts[0] if len(texts) == 1 else b"\n".join(map(normal, texts))
    return normal(data), data


def _is_text(sample: bytes) -> bool:
    return len(sample) - len(sample.translate(None, _CONTROL)) <= len(sample) // 50


def numbers_of(inner: bytes, sent: bytes, width: int, first: int) -> array[int]:
    """For each line of *inner* the line of the encoded text that it begins in, *width* bytes a line (its end too).

    *sent* is *inner* before its line ends were brought into one form: it has the lengths that were encoded.
    """
    numbers = array("L")
    offset = 0
    for line in (sent if sent.count(b"\n") == inner.count(b"\n") else inner).split(b"\n"):
        numbers.append(first + (offset * 4 // 3) // max(1, width - 1))
        offset += len(line) + 1
    return numbers
