"""Methods: class, name, source file, and the line of a bytecode."""

from __future__ import annotations

from typing import NamedTuple

from seedstall.parse.hotspot.klasses import Klasses
from seedstall.parse.hotspot.memory import PAGE, BadAddressError, Pages
from seedstall.parse.hotspot.release import Release
from seedstall.parse.hotspot.varint import signed5
from seedstall.parse.vmstructs import Tables

_NATIVE = 0x100
_HAS_LINES = 1
"""ConstMethod::_has_linenumber_table: the lowest bit of its flags in 8 to 25."""
MAX_LINE_TABLE = 1 << 18
MAX_LINES = 1 << 16
"""Entries: a method has 65,535 bytes of code at the most, and one entry a statement."""
_ESCAPE = 0xFF


class Method(NamedTuple):
    """One method. ``code`` is the address of its bytecodes, ``size`` how many bytes they have."""

    class_name: str
    name: str
    file: str
    native: bool
    code: int
    size: int
    has_lines: bool
    holder: int
    """Its class."""

    @property
    def qualified(self) -> str:
        """``class.name``."""
        return f"{self.class_name}.{self.name}"


class Methods:
    """Reads methods. What was read once is kept until `forget`."""

    def __init__(self, pages: Pages, tables: Tables, klasses: Klasses, release: Release) -> None:
        """Resolve the layout.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self._klasses = klasses
        self.excluded = 1 if release.feature >= 20 else 0  # noqa: PLR2004 - see varint
        offset = tables.offset
        self._const_method = offset("Method._constMethod")
        self._access = offset("Method._access_flags")
        self._constants = offset("ConstMethod._constants")
        self._flags = offset("ConstMethod._flags", "ConstMethod._flags._flags")
        self._code_size = offset("ConstMethod._code_size")
        self._name = offset("ConstMethod._name_index")
        self._size = tables.size("ConstMethod")
        self._holder = offset("ConstantPool._pool_holder")
        self._pool_file = tables.fields.get("ConstantPool._source_file_name_index")
        self._klass_file = (
            offset("InstanceKlass._source_file_name_index") if self._pool_file is None else 0
        )
        self._known: dict[int, Method] = {}
        self._lines: dict[int, list[tuple[int, int]]] = {}

    def forget(self) -> None:
        """Drop what is kept."""
        self._known.clear()
        self._lines.clear()

    def method(self, address: int) -> Method:
        """The Method at *address*.

        Raises:
            BadAddressError: there is none.
        """
        found = self._known.get(address)
        if found is None:
            found = self._known[address] = self._read(address)
        return found

    def _read(self, address: int) -> Method:
        pages, klasses = self._pages, self._klasses
        const = pages.u64(address + self._const_method)
        pool = pages.u64(const + self._constants)
        holder = pages.u64(pool + self._holder)
        name = klasses.pool_symbol(pool, pages.u16(const + self._name))
        class_name = klasses.name(holder)
        if not name or not class_name:
            raise BadAddressError(f"{address:#x} is no method")
        file = (
            pages.u16(pool + self._pool_file)
            if self._pool_file is not None
            else pages.u16(holder + self._klass_file)
        )
        return Method(
            class_name,
            name,
            klasses.pool_symbol(pool, file) if file else "",
            bool(pages.u32(address + self._access) & _NATIVE),
            const + self._size,
            pages.u16(const + self._code_size),
            bool(pages.u16(const + self._flags) & _HAS_LINES),
            holder,
        )

    def location(self, method: Method, bci: int) -> str:
        """What a dump prints in brackets: ``Native Method``, ``Seed.java:12``, ``Seed.java``, ``Unknown Source``."""
        if method.native:
            return "Native Method"
        line = self.line(method, bci) if method.has_lines and bci >= 0 else 0
        if method.file and line > 0:
            return f"{method.file}:{line}"
        return method.file or "Unknown Source"

    def line(self, method: Method, bci: int) -> int:
        """The source line of bytecode *bci*: of the nearest entry at or before it; 0 where there is none."""
        entries = self._lines.get(method.code)
        if entries is None:
            entries = self._lines[method.code] = self._line_table(method)
        best_bci, best = -1, 0
        for at, line in entries:
            if at == bci:
                return line
            if best_bci <= at < bci:
                best_bci, best = at, line
        return best

    def _line_table(self, method: Method) -> list[tuple[int, int]]:
        """The table behind the bytecodes: a byte holds 5 bits of bci and 3 of line, or 255 and two numbers follow."""
        data = self._behind(method.code + method.size, PAGE)
        found: list[tuple[int, int]] = []
        at = bci = line = 0
        while len(found) < MAX_LINES:
            if at + 12 > len(data) and len(data) < MAX_LINE_TABLE:
                data = self._behind(method.code + method.size, 4 * len(data)) or data
            byte = data[at] if at < len(data) else 0
            if not byte:
                break
            if byte == _ESCAPE:
                step, at = signed5(data, at + 1, self.excluded)
                lines, at = signed5(data, at, self.excluded)
            else:
                step, lines, at = byte >> 3, byte & 7, at + 1
            bci, line = bci + step, line + lines
            found.append((bci, line))
        return found

    def _behind(self, address: int, length: int) -> bytes:
        """Up to *length* bytes; fewer where what is mapped ends before."""
        try:
            return self._pages.read(address, length)
        except BadAddressError:
            return self._pages.read(address, PAGE - address % PAGE)
