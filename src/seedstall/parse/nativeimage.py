"""Programs that hold a JVM of their own making: GraalVM native images, told by the section that holds their heap.

Only the section names are read (three small pieces of the file), since every large program of a host may be asked.
The section is ``.svm_heap`` (substratevm, com.oracle.objectfile.SectionName); it stays in a stripped program.
"""

from __future__ import annotations

from collections.abc import Callable

LIMIT = 1 << 20
"""Bytes of section names: a program with one section for each function has the most."""
LEAST_SIZE = 2 << 20
"""Bytes that a native image maps of itself at the least: a "hello world" has 6 MB and more."""
HEADER = 64
_SECTION = b".svm_heap\0"


def section_names(read: Callable[[int, int], bytes]) -> bytes:
    """The names of an ELF file's sections, each ended by a NUL byte. *read* gives so many bytes from an offset.

    Raises:
        ValueError: it is no ELF file, or a damaged one, or its section headers were cut off.
    """
    head = read(0, HEADER)
    if head[:4] != b"\x7fELF" or len(head) < HEADER:
        raise ValueError("not an ELF file")
    wide = head[4] == 2  # noqa: PLR2004 - ELFCLASS64
    order = "big" if head[5] == 2 else "little"  # noqa: PLR2004 - ELFDATA2MSB

    def number(data: bytes, at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], order)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    # elf(5): e_shoff, e_shentsize, e_shnum, e_shstrndx; sh_offset and sh_size.
    table = number(head, 40, 8) if wide else number(head, 32, 4)
    fields = 58 if wide else 46
    size, count, index = (number(head, fields + 2 * n, 2) for n in range(3))
    if not table or size < (64 if wide else 40) or index >= count:
        raise ValueError("an ELF file without section headers")
    section = read(table + index * size, size)
    place = (number(section, 24, 8), number(section, 32, 8)) if wide else ()
    offset, length = place or (number(section, 16, 4), number(section, 20, 4))
    return read(offset, min(length, LIMIT))


def is_native_image(names: bytes) -> bool:
    """Whether sections of these names are a native image's."""
    return _SECTION in names
