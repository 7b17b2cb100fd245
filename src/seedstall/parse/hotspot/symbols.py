"""The symbols that a loaded library exports, from its own dynamic section in memory.

No file is needed: a libjvm.so that a package upgrade has deleted, or that lies in another mount namespace, is read as
well. pyelftools reads files, not loaded images, and importing it takes 36 ms, half of what a whole ``dump --memory``
may take (measured on Python 3.11: 36 ms against 0.4 ms for this module); of ELF only the program headers, four dynamic
tags and one hash table are needed here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from seedstall.parse.hotspot.memory import BadAddressError, Pages

_PHDR = struct.Struct("<IIQQQQQQ")
_DYN = struct.Struct("<qQ")
_SYM = struct.Struct("<IBBHQQ")
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_GNU_HASH = 4, 5, 6, 0x6FFFFEF5
_MAX_HEADERS = 64
_MAX_TAGS = 256
_MAX_CHAIN = 512
"""Symbols in one bucket of a hash table: linkers keep it below ten."""
_EM = {3: "x86", 40: "arm", 62: "x86_64", 183: "aarch64", 22: "s390x", 21: "ppc64", 243: "riscv64"}


class NoLibraryError(ValueError):
    """What lies at that address is no library we can read symbols of."""


class Exported:
    """The exported symbols of the library that is loaded at *base* (its first byte)."""

    def __init__(self, pages: Pages, base: int) -> None:
        """Read its headers.

        Raises:
            NoLibraryError: not a 64-bit little-endian ELF image, or of another machine than x86_64.
            BadAddressError: not all of it is there.
        """
        self._pages = pages
        header = pages.read(base, 64)
        _require_ours(header)
        headers = list(_program_headers(pages, base, header))
        loads = [vaddr for kind, vaddr, _ in headers if kind == _PT_LOAD]
        dynamic = next(((v, size) for kind, v, size in headers if kind == _PT_DYNAMIC), None)
        if not loads or dynamic is None:
            raise NoLibraryError("an ELF image without a dynamic section")
        self.bias = base - (min(loads) & -4096)
        tags = dict(_dynamic_tags(pages, self.bias + dynamic[0], dynamic[1]))
        self._strings = self._place(tags, _DT_STRTAB)
        self._symbols = self._place(tags, _DT_SYMTAB)
        self._gnu = self._place(tags, _DT_GNU_HASH)
        self._sysv = self._place(tags, _DT_HASH)
        if not self._strings or not self._symbols or not (self._gnu or self._sysv):
            raise NoLibraryError("a dynamic section without symbols")

    def _place(self, tags: dict[int, int], tag: int) -> int:
        """Glibc writes addresses over the offsets in the dynamic section as it loads; musl leaves them as they are."""
        value = tags.get(tag, 0)
        return value + self.bias if 0 < value < self.bias else value

    def address(self, name: str) -> int | None:
        """Where *name* lies; ``None`` where the library does not export it.

        Raises:
            BadAddressError: a table runs into memory that is not there.
        """
        wanted = name.encode() + b"\0"
        for index in self._candidates(name.encode()):
            at, _, _, section, value, _ = _SYM.unpack(
                self._pages.read(self._symbols + 24 * index, 24)
            )
            if section and self._pages.read(self._strings + at, len(wanted)) == wanted:
                return self.bias + int(value)
        return None

    def _candidates(self, name: bytes) -> Iterator[int]:
        return self._by_gnu_hash(name) if self._gnu else self._by_sysv_hash(name)

    def _by_gnu_hash(self, name: bytes) -> Iterator[int]:
        """Without the Bloom filter, which only speeds up a miss."""
        read = self._pages.u32
        buckets, first, bloom = (read(self._gnu + 4 * i) for i in range(3))
        if not buckets:
            return
        value = 5381
        for byte in name:
            value = (value * 33 + byte) & 0xFFFFFFFF
        bucket = self._gnu + 16 + 8 * bloom
        index = read(bucket + 4 * (value % buckets))
        if index < first:
            return
        chain = bucket + 4 * buckets - 4 * first
        for at in range(index, index + _MAX_CHAIN):
            found = read(chain + 4 * at)
            if found | 1 == value | 1:
                yield at
            if found & 1:
                return

    def _by_sysv_hash(self, name: bytes) -> Iterator[int]:
        read = self._pages.u32
        buckets, chains = read(self._sysv), read(self._sysv + 4)
        value = 0
        for byte in name:
            value = (value << 4) + byte
            high = value & 0xF0000000
            value = (value ^ high >> 24) & ~high
        index = read(self._sysv + 8 + 4 * (value % buckets)) if buckets else 0
        for _ in range(_MAX_CHAIN):
            if not 0 < index < chains:
                return
            yield index
            index = read(self._sysv + 8 + 4 * (buckets + index))


def _require_ours(header: bytes) -> None:
    if not header.startswith(b"\x7fELF"):
        raise NoLibraryError("not an ELF image")
    machine = int.from_bytes(header[18:20], "little" if header[5] == 1 else "big")
    if header[4:6] != b"\2\1" or machine != 62:  # noqa: PLR2004 - ELFCLASS64, ELFDATA2LSB, EM_X86_64
        bits = {1: "32-bit ", 2: "64-bit "}.get(header[4], "")
        told = _EM.get(machine, f"machine {machine}")
        raise NoLibraryError(
            f"a {bits}JVM for {told}: its memory can be read on x86_64, 64 bits, only"
        )


def _program_headers(pages: Pages, base: int, header: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, address before loading, size in memory."""
    offset, size, count = (
        int.from_bytes(header[a:b], "little") for a, b in ((32, 40), (54, 56), (56, 58))
    )
    if size != _PHDR.size:
        raise NoLibraryError("an ELF image with headers of another size")
    for index in range(min(count, _MAX_HEADERS)):
        found = _PHDR.unpack(pages.read(base + offset + size * index, size))
        yield found[0], found[3], found[6]


def _dynamic_tags(pages: Pages, address: int, size: int) -> Iterator[tuple[int, int]]:
    for index in range(min(size // _DYN.size, _MAX_TAGS)):
        tag, value = _DYN.unpack(pages.read(address + _DYN.size * index, _DYN.size))
        if not tag:
            return
        yield tag, value


__all__ = ["BadAddressError", "Exported", "NoLibraryError"]
