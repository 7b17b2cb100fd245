"""HotSpot's compressed numbers (UNSIGNED5), of which debug information, line tables and (21+) fields are made."""

from __future__ import annotations

_LOW = 192
"""A byte from here on says that another follows."""
_LONGEST = 5


def unsigned5(data: bytes, at: int, excluded: int) -> tuple[int, int]:
    """The number at *at* and where the next one stands.

    *excluded* is 1 where the encoding leaves out the byte 0 (JDK 20 and later, JDK-8292758), else 0.

    Raises:
        ValueError: the data end before the number does.
    """
    try:
        value = data[at] - excluded
        if value < _LOW - excluded:
            return max(value, 0), at + 1
        for place in range(1, _LONGEST):
            byte = data[at + place]
            value += (byte - excluded) << (6 * place)
            if byte < _LOW:
                return value & 0xFFFFFFFF, at + place + 1
    except IndexError:
        raise ValueError("a compressed number runs past its data") from None
    return value & 0xFFFFFFFF, at + _LONGEST


def signed5(data: bytes, at: int, excluded: int) -> tuple[int, int]:
    """The same for a signed number: the lowest bit is the sign.

    Raises:
        ValueError: the data end before the number does.
    """
    value, after = unsigned5(data, at, excluded)
    return (value >> 1) ^ -(value & 1), after
