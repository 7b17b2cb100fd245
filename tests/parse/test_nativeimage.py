"""GraalVM native images, told by one section's name."""

from __future__ import annotations

import contextlib
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.nativeimage import is_native_image, section_names

NATIVE = b"\0.text\0.svm_heap\0.shstrtab\0"
OTHER = b"\0.text\0.svm_heaps\0.shstrtab\0"


def elf(names: bytes, *, bits: int = 64, order: str = "<") -> bytes:
    """An ELF file of two sections, the second of which holds *names*."""
    wide = bits == 64
    head = 64 if wide else 52
    size = 64 if wide else 40
    table = head + len(names)
    ident = b"\x7fELF" + bytes((2 if wide else 1, 1 if order == "<" else 2, 1)) + b"\0" * 9
    form = f"{order}HHIQQQIHHHHHH" if wide else f"{order}HHIIIIIHHHHHH"
    header = ident + struct.pack(form, 2, 62, 1, 0, 0, table, 0, head, 0, 0, size, 2, 1)
    section = (
        struct.pack(f"{order}IIQQQQ", 0, 3, 0, 0, head, len(names))
        if wide
        else (struct.pack(f"{order}IIIIII", 0, 3, 0, 0, head, len(names)))
    )
    return header + names + b"\0" * size + section.ljust(size, b"\0")


def names_of(data: bytes) -> bytes:
    return section_names(lambda at, size: data[at : at + size])


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_names_of_either_class_and_byte_order(bits: int, order: str) -> None:
    assert names_of(elf(NATIVE, bits=bits, order=order)) == NATIVE


def test_a_native_image_and_another_program() -> None:
    assert is_native_image(NATIVE)
    assert not is_native_image(OTHER)
    assert not is_native_image(b"")


def test_a_real_program_has_its_sections() -> None:
    names = names_of(Path(sys.executable).resolve().read_bytes())
    assert b"\0.text\0" in names
    assert not is_native_image(names)


@pytest.mark.parametrize(
    "data", [b"", b"#!/bin/sh", elf(NATIVE)[:60], elf(NATIVE)[:40] + b"\0" * 24]
)
def test_what_is_no_program_or_has_no_sections(data: bytes) -> None:
    with pytest.raises(ValueError, match="ELF"):
        names_of(data)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_a_damaged_file_raises_only_value_error_and_reads_little(noise: bytes, at: int) -> None:
    data = bytearray(elf(NATIVE))
    data[at : at + len(noise)] = noise
    asked: list[int] = []

    def read(offset: int, size: int) -> bytes:
        asked.append(size)
        return bytes(data[offset : offset + size])

    with contextlib.suppress(ValueError):
        section_names(read)
    assert len(asked) <= 3
    assert max(asked) <= 1 << 20
