"""HotSpot's own description of itself: the tables that libjvm.so exports for debuggers (``vmStructs.hpp``).

They name types, fields with their offsets, statics with their addresses, and constants. The layout of the tables is
exported too, so nothing of it is assumed. What a JVM does not export is not in them: callers ask by several names, the
newest first, and know what a name's absence means.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from seedstall.parse.hotspot.memory import BadAddressError, Pages
from seedstall.parse.hotspot.symbols import Exported

MAX_ROWS = 20_000
"""JDK 17 has 670 fields, 700 types and 3,700 constants."""
MAX_STRIDE = 256
_MAX_NAME = 200
_MAX_PLACES = 1_000
_STRING_SPAN = 4 << 20
"""The names lie together in the library's constants: they are read in one go where they do."""


class NoTablesError(ValueError):
    """The tables are not there, or not filled in yet (a JVM in its first milliseconds)."""


class LackingError(ValueError):
    """This JVM does not export a name that is needed: a release whose layout we do not know."""


class Names(Mapping[str, int]):
    """Values by name, where the names are C strings in memory: looked for when one is asked for.

    A JVM has some 3,000 names of types, constants and flags, of which twenty are asked for: so the names wanted are
    looked for among the strings, and not the strings read.
    """

    def __init__(self, strings: Strings, rows: Iterable[tuple[int, int]]) -> None:
        """*rows* are pointers to names, each with its value; the first of a name counts."""
        self._strings = strings
        self._rows = dict(reversed(list(rows)))
        self._known: dict[str, int | None] = {}

    def __getitem__(self, name: str) -> int:
        """The value of *name*."""
        if name not in self._known:
            places = self._strings.places(name) if self._strings.together else self._spelled(name)
            at = next((p for p in places if p in self._rows), None)
            self._known[name] = self._rows[at] if at is not None else None
        found = self._known[name]
        if found is None:
            raise KeyError(name)
        return found

    def _spelled(self, name: str) -> Iterator[int]:
        return (pointer for pointer in self._rows if self._strings.text(pointer) == name)

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return (self._strings.text(pointer) for pointer in self._rows)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._rows)


class Tables:
    """What the tables say, by ``Type.field``, ``Type`` and ``NAME``."""

    def __init__(
        self,
        fields: Mapping[str, int],
        statics: Mapping[str, int],
        kinds: Mapping[str, str],
        sizes: Mapping[str, int],
        constants: Mapping[str, int],
    ) -> None:
        """Hold offsets of *fields*, addresses of *statics*, the declared types of both, *sizes* and *constants*."""
        self.fields = fields
        self.statics = statics
        self.kinds = kinds
        self.sizes = sizes
        self.constants = constants

    def offset(self, *names: str) -> int:
        """The offset of the first of these fields that is exported.

        Raises:
            LackingError: none is.
        """
        return _first(self.fields, names)

    def static(self, *names: str) -> int:
        """The address of the first of these static fields that is exported.

        Raises:
            LackingError: none is.
        """
        return _first(self.statics, names)

    def size(self, *names: str) -> int:
        """The size of the first of these types that is exported.

        Raises:
            LackingError: none is.
        """
        return _first(self.sizes, names)

    def constant(self, *names: str) -> int:
        """The value of the first of these constants that is exported.

        Raises:
            LackingError: none is.
        """
        return _first(self.constants, names)


def _first(known: Mapping[str, int], names: Iterable[str]) -> int:
    for name in names:
        if (found := known.get(name)) is not None:
            return found
    raise LackingError(f"this JVM does not export {' or '.join(names)}")


class _Kinds(Mapping[str, str]):
    """The declared types of fields: of the few that are asked for."""

    def __init__(self, strings: Strings, pointers: dict[str, int]) -> None:
        self._strings = strings
        self._pointers = pointers

    def __getitem__(self, name: str) -> str:
        return self._strings.text(self._pointers[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._pointers)

    def __len__(self) -> int:
        return len(self._pointers)


def tables(pages: Pages, exported: Exported) -> Tables:
    """Read all tables.

    Raises:
        NoTablesError: they are not exported, or empty.
        BadAddressError: a pointer in them leads nowhere.
    """
    structs = _rows(pages, exported, "Struct", "Structs", _STRUCT)
    types = _rows(pages, exported, "Type", "Types", _TYPE)
    numbers = _rows(pages, exported, "IntConstant", "IntConstants", _INT_CONSTANT)
    longs = _rows(pages, exported, "LongConstant", "LongConstants", _LONG_CONSTANT)
    if not (structs and types):
        raise NoTablesError("the JVM's tables are empty")
    strings = Strings(pages)
    strings.take_in(
        chain(
            (p for row in structs for p in row[:2]),
            (row[0] for row in chain(types, numbers, longs)),
        )
    )
    text = strings.text
    fields: dict[str, int] = {}
    statics: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for owner, name, kind, is_static, offset, address in structs:
        key = f"{text(owner)}.{text(name)}"
        kinds[key] = kind
        if is_static:
            statics[key] = address
        else:
            fields[key] = offset
    return Tables(
        fields,
        statics,
        _Kinds(strings, kinds),
        Names(strings, _pairs(types)),
        Names(strings, (*_pairs(numbers), *_pairs(longs))),
    )


def _pairs(rows: list[tuple[int, ...]]) -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in rows]


_STRUCT = (
    ("TypeName", "Q"),
    ("FieldName", "Q"),
    ("TypeString", "Q"),
    ("IsStatic", "i"),
    ("Offset", "Q"),
    ("Address", "Q"),
)
_TYPE = (("TypeName", "Q"), ("Size", "Q"))
_INT_CONSTANT = (("Name", "Q"), ("Value", "i"))
_LONG_CONSTANT = (("Name", "Q"), ("Value", "Q"))


def _rows(
    pages: Pages, exported: Exported, kind: str, table: str, wanted: tuple[tuple[str, str], ...]
) -> list[tuple[int, ...]]:
    """The columns *wanted* of a table, each with its format, up to the row without a name."""
    start = _value(pages, exported, f"gHotSpotVM{table}")
    stride = _value(pages, exported, f"gHotSpotVM{kind}EntryArrayStride")
    columns = [
        (_value(pages, exported, f"gHotSpotVM{kind}Entry{name}Offset"), form)
        for name, form in wanted
    ]
    _row_format(columns, stride)
    if not start:
        raise NoTablesError("the JVM's tables are not filled in")
    found: list[tuple[int, ...]] = []
    for chunk in _chunks(pages, start, stride):
        rows = unpacked_rows(chunk, columns, stride)
        end = next((index for index, row in enumerate(rows) if not row[0]), None)
        found += rows[:end]
        if end is not None:
            return found
    raise NoTablesError(f"more than {MAX_ROWS} rows in a table of the JVM's")


def unpacked_rows(
    data: bytes, columns: list[tuple[int, str]], stride: int
) -> list[tuple[int, ...]]:
    """The columns (offset and format) of rows of *stride* bytes.

    Raises:
        NoTablesError: columns lie outside of a row, or over each other.
    """
    row, order = _row_format(columns, stride)
    if order == sorted(order):
        return list(row.iter_unpack(data))
    return [tuple(held[i] for i in order) for held in row.iter_unpack(data)]


def _row_format(columns: list[tuple[int, str]], stride: int) -> tuple[struct.Struct, list[int]]:
    """How to unpack a whole row at once, and where each of *columns* then stands in it."""
    text, at = "<", 0
    by_place = sorted(range(len(columns)), key=lambda i: columns[i][0])
    for index in by_place:
        offset, form = columns[index]
        if not at <= offset < MAX_STRIDE:
            raise NoTablesError("the JVM's tables are not filled in, or damaged")
        text += f"{offset - at}x{form}"
        at = offset + struct.calcsize(f"<{form}")
    if not at <= stride <= MAX_STRIDE:
        raise NoTablesError("the JVM's tables are not filled in, or damaged")
    order = [by_place.index(index) for index in range(len(columns))]
    return struct.Struct(f"{text}{stride - at}x"), order


def _chunks(pages: Pages, start: int, stride: int) -> Iterator[bytes]:
    """Many rows at a time; near the end of what is mapped, one at a time."""
    many = 256
    for index in range(0, MAX_ROWS, many):
        address = start + index * stride
        try:
            yield pages.read(address, many * stride)
        except BadAddressError:
            for one in range(many):
                yield pages.read(address + one * stride, stride)


def _value(pages: Pages, exported: Exported, name: str) -> int:
    address = exported.address(name)
    if address is None:
        raise NoTablesError(f"{name} is not exported: not HotSpot, or built without its tables")
    return pages.u64(address)


class Strings:
    """C strings by pointer: those that lie together are read together."""

    def __init__(self, pages: Pages) -> None:
        """Read from *pages*."""
        self._pages = pages
        self._low = 0
        self._block = b""
        self._known: dict[int, str] = {0: ""}

    def take_in(self, pointers: Iterable[int]) -> None:
        """Read the memory around all these strings at once, where they lie together."""
        held = [pointer for pointer in pointers if pointer]
        if not held:
            return
        low, high = min(held), max(held) + _MAX_NAME
        if high - low > _STRING_SPAN:
            return
        for end in (
            high,
            (high + 4095) & -4096,
            max(held) + 1,
        ):  # the last may stand at the end of what is mapped
            try:
                self._low, self._block = low, self._pages.read(low, end - low)
            except BadAddressError:
                continue
            return

    @property
    def together(self) -> bool:
        """Whether the strings were taken in."""
        return bool(self._block)

    def text(self, pointer: int) -> str:
        """The string at *pointer*; ``""`` for null."""
        found = self._known.get(pointer)
        if found is None:
            at = pointer - self._low
            end = self._block.find(0, at, at + _MAX_NAME) if 0 <= at < len(self._block) else -1
            found = (
                self._block[at:end].decode("utf-8", "replace")
                if end >= 0
                else self._pages.text(pointer, _MAX_NAME)
            )
            self._known[pointer] = found
        return found

    def places(self, name: str) -> Iterator[int]:
        """Where that string stands in what was taken in. Linkers let one string be the tail of another."""
        wanted = name.encode() + b"\0"
        at = self._block.find(wanted)
        for _ in range(_MAX_PLACES):
            if at < 0:
                return
            yield self._low + at
            at = self._block.find(wanted, at + 1)
