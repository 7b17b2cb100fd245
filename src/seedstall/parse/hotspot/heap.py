"""Objects of the Java heap: references, classes of objects, fields, strings."""

from __future__ import annotations

from seedstall.parse.hotspot.klasses import Klasses
from seedstall.parse.hotspot.memory import BadAddressError, Pages
from seedstall.parse.hotspot.release import Release
from seedstall.parse.vmstructs import LackingError, Tables

MAX_CHARS = 1 << 16
_STRING = "java.lang.String"
_SHIFTS = {1: 13, 2: 14, 4: 15, 8: 16}
"""Generational ZGC: the one of bits 12 to 15 that is set says by how much the address is shifted (zAddress.hpp)."""


class Heap:
    """Reads objects.

    A moving collector may have moved one away under our hands: then a read fails or names no class, and the caller does
    without.
    """

    def __init__(self, pages: Pages, tables: Tables, klasses: Klasses, release: Release) -> None:
        """Resolve the layout.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self.klasses = klasses
        self._narrow = release.flag("UseCompressedOops")
        self._compact = release.flag("UseCompactObjectHeaders")
        self._narrow_klass = self._compact or release.flag("UseCompressedClassPointers")
        self._relocates = release.flag("UseZGC")
        self._colours = self._relocates and (
            release.feature >= 24 or release.flag("ZGenerational")  # noqa: PLR2004 - JEP 490 took the other mode away
        )
        self._base, self._shift = _encoding(pages, tables, _OOPS) if self._narrow else (0, 0)
        # Not set up where it is not used (25: the shift is -1).
        self._klass_base, self._klass_shift = (
            _encoding(pages, tables, _KLASSES) if self._narrow_klass else (0, 0)
        )
        self._header_shift = tables.constant("markWord::klass_shift") if self._compact else 0
        self._length = 8 if self._compact else 12 if self._narrow_klass else 16
        # From 23 on an array's data may begin right behind its length (JDK-8139457).
        packed = self._narrow_klass or release.feature >= 23  # noqa: PLR2004
        self._data = self._length + 4 if packed else 24

    def reference(self, address: int) -> int:
        """The object that a field at *address* refers to; 0 for null."""
        if self._narrow:
            found = self._pages.u32(address)
            return self._base + (found << self._shift) if found else 0
        return self.uncoloured(self._pages.u64(address))

    @property
    def reference_size(self) -> int:
        """Bytes of a reference in a field."""
        return 4 if self._narrow else 8

    def root(self, address: int) -> int:
        """The object that a reference of the JVM's own at *address* leads to: these are never compressed."""
        return self.uncoloured(self._pages.u64(address))

    def handle(self, address: int) -> int:
        """The object of an OopHandle or WeakHandle at *address*; 0 for none."""
        pointer = self._pages.u64(address)
        return self.root(pointer) if pointer else 0

    def uncoloured(self, pointer: int) -> int:
        """The address in a pointer of generational ZGC. All other collectors' pointers are addresses."""
        if not self._colours or not pointer:
            return pointer
        colour = pointer >> 12 & 0xF
        return pointer >> _SHIFTS.get(colour, 16) if colour else pointer

    def klass_of(self, obj: int) -> int:
        """The class of an object."""
        if self._compact:
            return self._klass_base + (
                self._pages.u64(obj) >> self._header_shift << self._klass_shift
            )
        if self._narrow_klass:
            return self._klass_base + (self._pages.u32(obj + 8) << self._klass_shift)
        return self._pages.u64(obj + 8)

    def class_name(self, obj: int) -> str:
        """The name of an object's class, as a dump prints it: ``java.lang.Object``, ``[B``."""
        return self.klasses.name(self.klass_of(obj))

    def place(self, obj: int, owner: str, field: str) -> int | None:
        """Where *field*, declared by class *owner*, of that object lies; ``None`` where its class has none."""
        offset = self.klasses.offset(self.klass_of(obj), owner, field)
        return None if offset is None else obj + offset

    def follow(self, obj: int, owner: str, field: str) -> int:
        """The object that a field refers to; 0 for null or where its class has no such field."""
        at = self.place(obj, owner, field)
        return self.reference(at) if at is not None else 0

    def text(self, obj: int) -> str:
        """A ``java.lang.String``, or the ``char[]`` that 8 and before keep a thread's name in.

        Raises:
            BadAddressError: it is neither, or is longer than any name.
        """
        name = self.class_name(obj)
        if name == "[C":
            return self._chars(obj, wide=True)
        value = self.follow(obj, _STRING, "value")
        if not value:
            raise BadAddressError(f"no string: {name[:80]!r}")
        # ZGC moves objects while the program runs: what the pointer leads to may be something else by now.
        if self._relocates and (other := self.class_name(value)) not in ("[B", "[C"):
            raise BadAddressError(f"no characters: {other[:80]!r}")
        coder = self.place(obj, _STRING, "coder")
        return self._chars(
            value, wide=coder is None or self._pages.u8(coder) != 0, packed=coder is not None
        )

    def _chars(self, array: int, *, wide: bool, packed: bool = False) -> str:
        """*packed*: the array is of bytes, two a character where it is *wide* (9+)."""
        count = self._pages.i32(array + self._length)
        size = count * 2 if wide and not packed else count
        if not 0 <= size <= MAX_CHARS:
            raise BadAddressError(f"a string of {count} characters")
        self._pages.keep(size)
        data = self._pages.read(array + self._data, size) if size else b""
        return data.decode("utf-16-le" if wide else "latin-1", "replace")


_OOPS = ("CompressedOops.", "CompressedOops._narrow_oop.", "Universe._narrow_oop.")
_KLASSES = (
    "CompressedKlassPointers.",
    "CompressedKlassPointers._narrow_klass.",
    "Universe._narrow_klass.",
)


def _encoding(pages: Pages, tables: Tables, owners: tuple[str, ...]) -> tuple[int, int]:
    """Base and shift of compressed pointers."""
    base = pages.u64(tables.static(*(f"{owner}_base" for owner in owners)))
    shift = pages.i32(tables.static(*(f"{owner}_shift" for owner in owners)))
    if not 0 <= shift <= 16:  # noqa: PLR2004 - 3 as a rule, 10 with compact headers
        raise LackingError(
            f"the JVM is starting: its compressed pointers are not set up (shift {shift})"
        )
    return base, shift
