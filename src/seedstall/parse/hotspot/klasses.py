"""Classes as HotSpot holds them: symbols, names, superclasses, and the fields each declares."""

from __future__ import annotations

import struct

from seedstall.parse.hotspot.memory import BadAddressError, Pages
from seedstall.parse.hotspot.varint import unsigned5
from seedstall.parse.vmstructs import Tables

MAX_FIELDS = 4_096
MAX_FIELD_STREAM = 1 << 17
MAX_SUPERS = 64
_MAX_KLASS_NAME = 4_096
_OBJECT = 128
"""Bytes of a string without its characters, and of its place in a table."""
_INTERNAL_FIELD = 0x400
"""JVM_ACC_FIELD_INTERNAL (8 to 20): the JVM's own field, whose name index is of another table."""
_WITH_ITEM = (0, 2, 4)
"""FieldInfo::FieldFlags (21+): initialized, generic and contended fields carry one more number each."""


class Klasses:
    """Reads classes; what was read once is kept, since a class neither moves nor changes while it is in use."""

    def __init__(self, pages: Pages, tables: Tables) -> None:
        """Resolve the layout.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self._symbol_length = tables.offset("Symbol._length")
        self._symbol_body = tables.offset("Symbol._body", "Symbol._body[0]")
        self._pool_base = tables.size("ConstantPool")
        self._name = tables.offset("Klass._name")
        self._super = tables.offset("Klass._super")
        self._constants = tables.offset("InstanceKlass._constants")
        self._records = tables.fields.get("InstanceKlass._fields")
        if self._records is not None:
            self._records_data = tables.offset("Array<u2>._data")
            self._records_count = tables.offset("InstanceKlass._java_fields_count")
            self._record_tag = tables.constant("FIELDINFO_TAG_SIZE")
        else:
            self._stream = tables.offset("InstanceKlass._fieldinfo_stream")
            self._stream_data = tables.offset("Array<u1>._data")
        self._anonymous = tables.constants.get(
            "InstanceKlass::_misc_is_anonymous",
            tables.constants.get("InstanceKlass::_misc_is_unsafe_anonymous", 0),
        )
        self._misc_flags = tables.fields.get("InstanceKlass._misc_flags")
        self._symbols: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._fields: dict[int, dict[str, int]] = {}
        self._kept = 0

    def forget(self) -> None:
        """Drop what is kept."""
        self._symbols.clear()
        self._names.clear()
        self._fields.clear()
        self._pages.keep(-self._kept)
        self._kept = 0

    def _keep(self, text: str) -> str:
        self._pages.keep(len(text) + _OBJECT)
        self._kept += len(text) + _OBJECT
        return text

    def symbol(self, address: int) -> str:
        """The text of a Symbol; what is no UTF-8 is shown as the replacement character."""
        found = self._symbols.get(address)
        if found is None:
            length = self._pages.u16(address + self._symbol_length)
            data = (
                self._pages.read(address + self._symbol_body, min(length, _MAX_KLASS_NAME))
                if length
                else b""
            )
            found = self._symbols[address] = self._keep(data.decode("utf-8", "replace"))
        return found

    def pool_symbol(self, pool: int, index: int) -> str:
        """The symbol at *index* of a constant pool. The lowest bit of an entry is a tag (8: of a resolved string)."""
        return self.symbol(self._pages.u64(pool + self._pool_base + 8 * index) & ~1)

    def name(self, klass: int) -> str:
        """Its external name, as a thread dump prints it.

        From 15 on a hidden class has a ``+`` in its name, shown as ``/``. The anonymous classes of 9 to 14 get their
        address behind it; those of 8 would get the identity hash of their mirror, which is left out.
        """
        found = self._names.get(klass)
        if found is None:
            found = self._names[klass] = self._keep(self._external_name(klass))
        return found

    def _external_name(self, klass: int) -> str:
        name = self.symbol(self._pages.u64(klass + self._name)).replace("/", ".")
        head, plus, tail = name.rpartition("+")
        if plus and head:
            return f"{head}/{tail}"
        if not self._anonymous or self._misc_flags is None or name.startswith("["):
            return name
        anonymous = self._pages.u16(klass + self._misc_flags) & self._anonymous
        return f"{name}/{klass:#018x}" if anonymous else name

    def super_of(self, klass: int) -> int:
        """Its superclass; 0 for none."""
        return self._pages.u64(klass + self._super)

    def offset(self, klass: int, owner: str, field: str) -> int | None:
        """Where *field*, declared by class *owner*, lies in an instance of *klass*; ``None`` where there is none."""
        for _ in range(MAX_SUPERS):
            if not klass:
                break
            if self.name(klass) == owner:
                return self.fields(klass).get(field)
            klass = self.super_of(klass)
        return None

    def is_a(self, klass: int, owner: str) -> bool:
        """Whether *klass* is class *owner* or extends it."""
        for _ in range(MAX_SUPERS):
            if not klass:
                break
            if self.name(klass) == owner:
                return True
            klass = self.super_of(klass)
        return False

    def fields(self, klass: int) -> dict[str, int]:
        """Offsets of the fields that an InstanceKlass itself declares, static ones too (those lie in its mirror)."""
        found = self._fields.get(klass)
        if found is None:
            pool = self._pages.u64(klass + self._constants)
            found = (
                self._from_records(klass, pool)
                if self._records is not None
                else self._from_stream(klass, pool)
            )
            self._fields[klass] = found
        return found

    def _from_records(self, klass: int, pool: int) -> dict[str, int]:
        """8 to 20: six 16-bit numbers a field; the offset stands in the last two, above a tag."""
        records = self._pages.u64(klass + (self._records or 0)) + self._records_data
        count = min(self._pages.u16(klass + self._records_count), MAX_FIELDS)
        found: dict[str, int] = {}
        data = self._pages.read(records, 12 * count) if count else b""
        for access, name, _, _, low, high in struct.iter_unpack("<6H", data):
            if not access & _INTERNAL_FIELD:
                found[self.pool_symbol(pool, name)] = (low | high << 16) >> self._record_tag
        return found

    def _from_stream(self, klass: int, pool: int) -> dict[str, int]:
        """21 and later: compressed numbers. Counts first; then name, signature, offset, access and flags of each."""
        array = self._pages.u64(klass + self._stream)
        length = self._pages.i32(array)
        if not 0 < length <= MAX_FIELD_STREAM:
            raise BadAddressError(f"a field stream of {length} bytes")
        data = self._pages.read(array + self._stream_data, length)
        count, at = unsigned5(data, 0, 1)
        _, at = unsigned5(data, at, 1)
        found: dict[str, int] = {}
        for _ in range(min(count, MAX_FIELDS)):
            name, at = unsigned5(data, at, 1)
            _, at = unsigned5(data, at, 1)
            offset, at = unsigned5(data, at, 1)
            _, at = unsigned5(data, at, 1)
            flags, at = unsigned5(data, at, 1)
            for bit in _WITH_ITEM:
                if flags >> bit & 1:
                    _, at = unsigned5(data, at, 1)
            found[self.pool_symbol(pool, name)] = offset
        return found
