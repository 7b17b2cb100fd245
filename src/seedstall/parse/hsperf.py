"""HotSpot's performance file ``/tmp/hsperfdata_USER/PID``: what a JVM says of itself, without being asked.

Layout: ``PerfDataPrologue`` and ``PerfDataEntry`` of HotSpot's ``perfMemory.hpp``, version 2.0, the same from 5 to 25.
"""

from __future__ import annotations

from struct import Struct

MAGIC = b"\xca\xfe\xc0\xc0"
LITTLE, BIG = 1, 0
PROLOGUE = 32
MAX_ENTRIES = 4_096
"""A JVM has about 200; a hostile file may claim billions."""
MAX_VALUE = 65_536
"""Bytes of one string looked at: ``java.rt.vmArgs`` is as long as the command line."""
STRING = ord("B")


def hsperf_strings(data: bytes) -> dict[str, str]:
    """The text counters: ``java.property.java.version``, ``java.rt.vmArgs``, ``sun.rt.internalVersion``.

    Raises:
        ValueError: it is no such file, or not one of version 2.
    """
    if len(data) < PROLOGUE or data[:4] != MAGIC:
        raise ValueError("no hsperfdata file")
    if data[4] not in (LITTLE, BIG) or data[5] != 2:  # noqa: PLR2004 - the only version since JDK 5
        raise ValueError(f"hsperfdata of an unknown kind (order {data[4]}, version {data[5]})")
    order = "<" if data[4] == LITTLE else ">"
    offset, count = Struct(f"{order}ii").unpack_from(data, 24)
    entry = Struct(f"{order}iiiBBBBi")
    found: dict[str, str] = {}
    for _ in range(min(count, MAX_ENTRIES)):
        if offset < PROLOGUE or offset + entry.size > len(data):
            break
        length, name_at, items, kind, _, _, _, data_at = entry.unpack_from(data, offset)
        if length < entry.size:
            break
        if kind == STRING and items > 0:
            name = _text(data, offset + name_at, offset + length)
            value = _text(data, offset + data_at, offset + data_at + min(items, MAX_VALUE))
            if name is not None and value is not None:
                found.setdefault(name, value)
        offset += length
    return found


def _text(data: bytes, start: int, end: int) -> str | None:
    """The bytes up to the first NUL; ``None`` where they do not lie in the file."""
    if not PROLOGUE <= start <= end <= len(data):
        return None
    return data[start:end].partition(b"\0")[0].decode("utf-8", "surrogateescape")
