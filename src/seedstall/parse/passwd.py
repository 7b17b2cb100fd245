"""``/etc/passwd``: which user has which id (passwd(5))."""

from __future__ import annotations

MAX_LINES = 100_000
_LONGEST = 64


def user_names(data: bytes) -> dict[int, str]:
    """Names by user id; of two with one id the first, as getpwuid(3) finds it. Malformed lines are passed over."""
    found: dict[int, str] = {}
    for line in data.split(b"\n", MAX_LINES)[:MAX_LINES]:
        fields = line.split(b":", 4)
        if len(fields) > 3 and fields[0] and fields[2].isdigit() and len(fields[2]) < 11:  # noqa: PLR2004 - 32 bits
            name = fields[0][:_LONGEST].decode("utf-8", "replace")
            found.setdefault(int(fields[2]), name)
    return found
