"""Compiled code: which piece of it an address lies in, how large its frames are, which methods are inlined there."""

from __future__ import annotations

import struct
from typing import NamedTuple

from seedstall.parse.hotspot.memory import BadAddressError, Pages
from seedstall.parse.hotspot.methods import Methods
from seedstall.parse.hotspot.release import Release
from seedstall.parse.hotspot.varint import unsigned5
from seedstall.parse.vmstructs import LackingError, Tables

MAX_HEAPS = 8
MAX_INLINED = 200
"""HotSpot inlines 9 to 15 levels of ordinary code, but any depth of method handles and ``@ForceInline``."""
MAX_DEBUG = 8 << 20
_FREE = 0xFF
"""In a segment map: no block here. Else how many segments back to the block's start, in steps."""
_PC_DESC = 16
_MAX_STEPS = 512
"""Of up to 254 segments each: 16 MB of code in one piece."""
_NMETHODS = ("nmethod", "native nmethod")


class CodeHeap(NamedTuple):
    """One part of the code cache."""

    low: int
    high: int
    segments: int
    shift: int


class Blob(NamedTuple):
    """A piece of code. ``size`` is its frames' in words; 0 or below where they have none of a fixed size."""

    start: int
    name: str
    code: int
    size: int

    @property
    def compiled(self) -> bool:
        """Whether it is a Java method's."""
        return self.name in _NMETHODS


class CodeCache:
    """Reads the code cache. New code comes while the target runs: `forget` drops what is kept."""

    def __init__(self, pages: Pages, tables: Tables, methods: Methods, release: Release) -> None:
        """Resolve the layout and find the heaps.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self._tables = tables
        self._methods = methods
        self._feature = release.feature
        self._block = tables.size("HeapBlock")
        offset = tables.offset
        self._name = offset("CodeBlob._name")
        self._frame_size = offset("CodeBlob._frame_size")
        self._code_begin = tables.fields.get("CodeBlob._code_begin")
        self._code_offset = offset("CodeBlob._code_offset") if self._code_begin is None else 0
        self._complete = offset("CodeBlob._frame_complete_offset")
        self._complete_size = (
            2 if tables.kinds.get("CodeBlob._frame_complete_offset") == "int16_t" else 4
        )
        self._method = offset("nmethod._method", "CompiledMethod._method")
        self._orig_pc = offset("nmethod._orig_pc_offset")
        self._heaps = self._find_heaps()
        self._blobs: dict[int, Blob] = {}
        self._inlined: dict[int, list[tuple[int, int]]] = {}

    def forget(self) -> None:
        """Drop what is kept."""
        self._blobs.clear()
        self._inlined.clear()
        self._heaps = self._find_heaps()

    def _find_heaps(self) -> tuple[CodeHeap, ...]:
        """One in 8, three or fewer since (SegmentedCodeCache)."""
        pages, tables = self._pages, self._tables
        if "CodeCache._heap" in tables.statics:
            pointers = [pages.u64(tables.static("CodeCache._heap"))]
        else:
            array = pages.u64(tables.static("CodeCache._heaps"))
            length = tables.offset("GrowableArrayBase._len", "GenericGrowableArray._len")
            count = min(pages.u32(array + length), MAX_HEAPS) if array else 0
            data = pages.u64(array + tables.offset("GrowableArray<int>._data")) if array else 0
            pointers = [pages.u64(data + 8 * i) for i in range(count)]
        return tuple(self._heap(pointer) for pointer in pointers if pointer)

    def _heap(self, address: int) -> CodeHeap:
        pages, offset = self._pages, self._tables.offset
        memory, segments = (
            address + offset("CodeHeap._memory"),
            address + offset("CodeHeap._segmap"),
        )
        low, high = offset("VirtualSpace._low"), offset("VirtualSpace._high")
        shift = pages.i32(address + offset("CodeHeap._log2_segment_size"))
        if not 3 <= shift <= 20:  # noqa: PLR2004 - 6 or 7: segments of 64 or 128 bytes
            raise LackingError(f"a code heap with segments of 2^{shift} bytes")
        return CodeHeap(
            pages.u64(memory + low), pages.u64(memory + high), pages.u64(segments + low), shift
        )

    def blob(self, pc: int) -> Blob | None:
        """The piece of code that *pc* lies in; ``None`` for none."""
        for low, high, segments, shift in self._heaps:
            if low <= pc < high:
                start = self._block_start(pc - low >> shift, segments)
                return None if start is None else self._at(low + (start << shift) + self._block)
        return None

    def _block_start(self, segment: int, segments: int) -> int | None:
        for _ in range(_MAX_STEPS):
            step = self._pages.u8(segments + segment)
            if step == _FREE:
                return None
            if not step:
                return segment
            segment -= step
            if segment < 0:
                return None
        return None

    def _at(self, start: int) -> Blob:
        found = self._blobs.get(start)
        if found is None:
            pages = self._pages
            name = pages.u64(start + self._name)
            found = self._blobs[start] = Blob(
                start,
                pages.text(name) if name else "",
                pages.u64(start + self._code_begin)
                if self._code_begin is not None
                else start + pages.i32(start + self._code_offset),
                pages.i32(start + self._frame_size),
            )
        return found

    def frame_complete(self, blob: Blob) -> int:
        """From which offset in the code on its frame is set up."""
        data = self._pages.read(blob.start + self._complete, self._complete_size)
        return int.from_bytes(data, "little", signed=True)

    def original_pc_slot(self, blob: Blob, pc: int) -> int | None:
        """Where in a frame, from its stack pointer, the true return address lies; ``None`` where *pc* is that.

        Deoptimisation puts the address of a handler over the return address and keeps the true one in the frame.
        """
        if blob.name != "nmethod" or pc not in self._deopt_handlers(blob):
            return None
        return self._pages.i32(blob.start + self._orig_pc)

    def _deopt_handlers(self, blob: Blob) -> tuple[int, ...]:
        """8: offsets; 9 to 22: addresses, in a class of their own; 23 and later: offsets again."""
        pages, fields = self._pages, self._tables.fields
        names: tuple[str, ...]
        if "CompiledMethod._deopt_handler_begin" in fields:
            names = (
                "CompiledMethod._deopt_handler_begin",
                "CompiledMethod._deopt_mh_handler_begin",
            )
            return tuple(pages.u64(blob.start + fields[n]) for n in names if n in fields)
        names = (
            "nmethod._deopt_handler_offset",
            "nmethod._deopt_mh_handler_offset",
            "nmethod._deoptimize_offset",
            "nmethod._deoptimize_mh_offset",
        )
        return tuple(blob.start + pages.i32(blob.start + fields[n]) for n in names if n in fields)

    def methods_at(self, blob: Blob, pc: int, *, exact: bool = True) -> list[tuple[int, int]]:
        """The methods that run at *pc* of a compiled method, innermost first, each with its bytecode's index.

        Without *exact* the next place that has debug information is taken, and where there is none the outermost
        method alone, with index -1: that is a guess.

        Raises:
            BadAddressError: there is none for *pc*. Where a thread can stop there always is some (vframeStreamCommon,
                "should not happen"): the code was being written when we first saw that page.
        """
        if not exact:
            return self._scopes(blob, pc, exact=False)
        found = self._inlined.get(pc)
        if found is None:
            found = self._inlined[pc] = self._scopes(blob, pc, exact=True)
        return found

    def _scopes(self, blob: Blob, pc: int, *, exact: bool) -> list[tuple[int, int]]:
        pages = self._pages
        outer = pages.u64(blob.start + self._method)
        if self._methods.method(outer).native:
            return [(outer, -1)]
        places, scopes, metadata = self._debug(blob)
        decode = _decode_offset(places, pc - blob.code, exact=exact)
        if decode is None:
            if exact:
                raise BadAddressError(f"no debug information for {pc:#x}")
            return [(outer, -1)]
        found: list[tuple[int, int]] = []
        excluded = self._methods.excluded
        for _ in range(MAX_INLINED):
            data = pages.read(scopes + decode, 15)
            sender, at = unsigned5(data, 0, excluded)
            index, at = unsigned5(data, at, excluded)
            bci, _ = unsigned5(data, at, excluded)
            if not index:
                raise BadAddressError("debug information without a method")
            found.append((pages.u64(metadata + 8 * (index - 1)), bci - 1))
            if not sender:
                return found
            decode = sender
        raise BadAddressError(f"more than {MAX_INLINED} methods inlined")

    def _debug(self, blob: Blob) -> tuple[bytes, int, int]:
        """The table of places (PcDesc), and where scopes and metadata begin."""
        pages, fields, offset = self._pages, self._tables.fields, self._tables.offset
        start = blob.start

        def number(*names: str) -> int:
            return pages.i32(start + offset(*names))

        if "nmethod._immutable_data" in fields:  # 23 and later: outside the code cache
            data = pages.u64(start + fields["nmethod._immutable_data"])
            places = data + number("nmethod._scopes_pcs_offset")
            end = scopes = data + number("nmethod._scopes_data_offset")
        else:
            places = start + number("nmethod._scopes_pcs_offset")
            end = start + number("nmethod._dependencies_offset")
            scopes = (
                pages.u64(start + fields["CompiledMethod._scopes_data_begin"])
                if "CompiledMethod._scopes_data_begin" in fields
                else start + number("nmethod._scopes_data_offset")
            )
        if "CodeBlob._mutable_data" in fields:  # 25
            metadata = pages.u64(start + fields["CodeBlob._mutable_data"]) + number(
                "CodeBlob._relocation_size"
            )
        else:
            metadata = start + number("nmethod._metadata_offset")
        if not 0 <= end - places <= MAX_DEBUG:
            raise BadAddressError("debug information of no sensible size")
        return pages.read(places, end - places) if end > places else b"", scopes, metadata


def _decode_offset(places: bytes, wanted: int, *, exact: bool) -> int | None:
    """Where in the scopes the place *wanted* is described. PcDesc: offset of pc, of scope, of objects, flags."""
    key = struct.pack("<i", wanted) if -(1 << 31) <= wanted < 1 << 31 else b"\0" * 5
    at = places.find(key)
    while at >= 0:
        if at % _PC_DESC == 0 and at + _PC_DESC <= len(places):
            return int.from_bytes(places[at + 4 : at + 8], "little", signed=True)
        at = places.find(key, at + 1)
    if exact:
        return None
    for at in range(0, len(places) - _PC_DESC + 1, _PC_DESC):
        offset, decode = struct.unpack_from("<ii", places, at)
        if offset > wanted:
            return int(decode)
    return None
