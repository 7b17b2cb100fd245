"""A target's memory as parsers see it: bytes by address, cached by page, within a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

PAGE = 4096
MAX_READ = 16 << 20
"""Bytes asked for at once, at the most: more than any table or stack that is read whole."""
WORD = 8
TOP = 1 << 64
CACHED_PAGES = 16_384
"""64 MiB: a JVM with a thousand threads takes a twentieth of it."""
MAX_READS = 200_000
MAX_BYTES = 1 << 30
MAX_STRING = 512
MAX_KEPT = 128 << 20
"""Characters of names, and bytes of what is made of them, that are kept: a hostile target can name each of its methods
anew, by 4 KiB that it has once. A JVM with two thousand threads takes a thirtieth of it."""


class BadAddressError(ValueError):
    """Nothing can be read there: not mapped, not held by this core, or no address at all."""


class SpentError(ValueError):
    """The budget of reads or bytes is spent: whatever was being read goes on for too long to be true."""


class Memory(Protocol):
    """The memory of one process, live or in a core."""

    def read(self, address: int, length: int) -> bytes:
        """Exactly *length* bytes from *address* as they are now.

        Raises:
            BadAddressError: not all of them are there.
        """
        ...


def spelled(address: int, length: int) -> str:
    """A span of memory as the path of a reference (`Space.MEMORY`): ``7f03a000+1000``, both in hex."""
    return f"{address:x}+{length:x}"


def span(path: str) -> tuple[int, int]:
    """Address and length of a reference's path.

    Raises:
        BadAddressError: it is not spelled so, or not within 64 bits, or longer than `MAX_READ`.
    """
    first, plus, second = path.partition("+")
    try:
        address, length = int(first, 16), int(second, 16)
    except ValueError:
        plus, address, length = "", 0, 0
    if not plus or not 0 <= address < TOP or not 0 < length <= min(MAX_READ, TOP - address):
        raise BadAddressError(f"no span of memory: {path[:40]!r}")
    return address, length


class Pages:
    """Memory with a cache of pages: most reads of a walk fall into a few hundred of them.

    What is cached grows stale while the target runs: `forget` drops it, `fresh` goes past it. The budget (`reads` and
    `bytes` so far, against *max_reads* and *max_bytes*; and whether *late* says that the time is over) covers
    everything that is ever read through it.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        max_reads: int = MAX_READS,
        max_bytes: int = MAX_BYTES,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        """Read from *memory*."""
        self._memory = memory
        self._pages: dict[int, bytes] = {}
        self._left = (max_reads, max_bytes)
        self._late = late
        self._ticks = 0
        self._kept = 0
        self.reads = 0
        self.bytes = 0

    def tick(self) -> None:
        """To be called in every loop that the target's data could make long.

        Raises:
            SpentError: the time is over.
        """
        self._ticks += 1
        if not self._ticks & 0x3F and self._late():
            raise SpentError("it took too long")

    def keep(self, size: int) -> None:
        """To be called with the size of what is kept beyond the cache; below 0 for what is dropped again.

        Raises:
            SpentError: it is too much.
        """
        self._kept += size
        if self._kept > MAX_KEPT:
            raise SpentError("its names are longer than any program's")

    def forget(self) -> None:
        """Drop what is cached."""
        self._pages.clear()

    def fresh(self, address: int, length: int) -> bytes:
        """Past the cache, in one read: as much of one moment as the kernel makes it.

        Raises:
            BadAddressError: not all of it is there.
            SpentError: the budget is spent.
        """
        if not 0 <= address < TOP or not 0 < length <= min(MAX_READ, TOP - address):
            raise BadAddressError(f"no span of memory: {address:#x}+{length:#x}")
        self.tick()
        self.reads += 1
        self.bytes += length
        if self.reads > self._left[0] or self.bytes > self._left[1]:
            raise SpentError(f"more than {self.reads - 1} reads, {self.bytes - length} bytes")
        data = self._memory.read(address, length)
        if len(data) != length:
            raise BadAddressError(f"{address:#x}: {len(data)} bytes of {length}")
        return data

    def read(self, address: int, length: int) -> bytes:
        """Bytes through the cache.

        Raises:
            BadAddressError: not all of them are there.
            SpentError: the budget is spent.
        """
        start = address & -PAGE
        offset = address - start
        end = offset + length
        if length <= 0:
            raise BadAddressError(f"no span of memory: {address:#x}+{length:#x}")
        if end <= PAGE:
            page = self._pages.get(start)
            if page is None:
                page = self._page(start)
            return page[offset:end]
        return self._joined(start, offset, end)

    def _page(self, start: int) -> bytes:
        if len(self._pages) >= CACHED_PAGES:
            self._pages.clear()
        page = self._pages[start] = self.fresh(start, PAGE)
        return page

    def _joined(self, start: int, offset: int, end: int) -> bytes:
        """A span over several pages: those that are not cached are read in one go."""
        self.tick()
        size = -(-end // PAGE) * PAGE
        if size > MAX_READ:
            raise BadAddressError(f"no span of memory: {start:#x}+{end:#x}")
        if any(start + at not in self._pages for at in range(0, size, PAGE)):
            self._take_in(start, size)
        return b"".join(self._pages[start + at] for at in range(0, size, PAGE))[offset:end]

    def _take_in(self, start: int, size: int) -> None:
        data = self.fresh(start, size)
        if len(self._pages) + size // PAGE > CACHED_PAGES:
            self._pages.clear()
        for at in range(0, size, PAGE):
            self._pages[start + at] = data[at : at + PAGE]

    def u8(self, address: int) -> int:
        """An unsigned byte."""
        return self.read(address, 1)[0]

    def u16(self, address: int) -> int:
        """An unsigned 16-bit number."""
        return int.from_bytes(self.read(address, 2), "little")

    def u32(self, address: int) -> int:
        """An unsigned 32-bit number."""
        return int.from_bytes(self.read(address, 4), "little")

    def i32(self, address: int) -> int:
        """A signed 32-bit number."""
        return int.from_bytes(self.read(address, 4), "little", signed=True)

    def u64(self, address: int) -> int:
        """A pointer or other 64-bit number."""
        return int.from_bytes(self.read(address, WORD), "little")

    def text(self, address: int, limit: int = MAX_STRING) -> str:
        """The C string at *address*, cut at *limit* bytes; what is no UTF-8 is shown as the replacement character.

        Raises:
            BadAddressError: it runs into memory that is not there.
            SpentError: the budget is spent.
        """
        found = b""
        while len(found) < limit:
            piece = self.read(address, min(limit - len(found), PAGE - address % PAGE))
            end = piece.find(0)
            if end >= 0:
                found += piece[:end]
                break
            found += piece
            address += len(piece)
        self.keep(len(found))
        return found.decode("utf-8", "replace")
