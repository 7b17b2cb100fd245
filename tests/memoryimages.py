"""Memory of real JVMs, as far as a walk over their fifty threads (tests/live/patient/Mix.java) reads it.

``fixtures/memory/jdkN.tar.xz`` holds ``memory`` (an address and 4096 bytes a page), ``zeros`` (spans that read as zeros
where no page is held), ``maps`` (the lines of libjvm.so) and ``threads.txt``, the JVM's own dump taken right after.
"""

from __future__ import annotations

import lzma
import struct
import tarfile
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path

from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Why
from seedstall.parse.hotspot.memory import PAGE, BadAddressError, span

FIXTURES = Path(__file__).parent.parent / "fixtures/memory"
RELEASES = (8, 11, 17, 21, 25)


@dataclass
class Image:
    """A process's memory and maps: a source, and a memory for the parsers."""

    pages: dict[int, bytes]
    zeros: tuple[tuple[int, int], ...]
    maps: bytes
    threads: bytes = b""
    """The JVM's own dump."""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    reads: int = 0

    def read_span(self, address: int, length: int) -> bytes:
        self.reads += 1
        first = address & -PAGE
        found = b"".join(self._page(at) for at in range(first, address + length, PAGE))
        return found[address - first : address - first + length]

    def _page(self, at: int) -> bytes:
        page = self.pages.get(at)
        if page is not None:
            return page
        if any(start <= at < start + size for start, size in self.zeros):
            return bytes(PAGE)
        raise BadAddressError(f"{at:#x} is not in the image")

    def read(self, ref: Ref) -> Reading[bytes]:
        """As a source."""
        if ref.space is Space.MEMORY:
            try:
                return Got(self.read_span(*span(ref.path)), (ref,))
            except BadAddressError as error:
                return Missing(Why.ABSENT, (ref,), str(error))
        if ref == Ref(Space.PROCESS, "maps"):
            return Got(self.maps, (ref,))
        if ref.space is Space.PROCESS and ref.path in self.files:
            return Got(self.files[ref.path], (ref,))
        return Missing(Why.NOT_COLLECTED, (ref,))

    def memory(self) -> SpanReader:
        return SpanReader(self)


@dataclass
class SpanReader:
    """The image as `parse.hotspot.memory.Memory`."""

    image: Image

    def read(self, address: int, length: int) -> bytes:
        return self.image.read_span(address, length)


@cache
def _held(feature: int) -> tuple[dict[int, bytes], tuple[tuple[int, int], ...], bytes, bytes]:
    data = lzma.decompress((FIXTURES / f"jdk{feature}.tar.xz").read_bytes())
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        files = {m.name: _content(archive, m) for m in archive.getmembers()}
    raw = files["memory"]
    pages = {
        struct.unpack_from("<Q", raw, at)[0]: raw[at + 8 : at + 8 + PAGE]
        for at in range(0, len(raw), PAGE + 8)
    }
    zeros = tuple(span(line) for line in files["zeros"].decode().split())
    return pages, zeros, files["maps"], files["threads.txt"]


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    held = archive.extractfile(member)
    assert held is not None
    return held.read()


def image(feature: int) -> Image:
    """A fresh copy: tests damage it."""
    pages, zeros, maps, threads = _held(feature)
    return Image(dict(pages), zeros, maps, threads)
