from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedstall.parse.hotspot.memory import BadAddressError, Pages
from seedstall.parse.hotspot.symbols import Exported, NoLibraryError

BASE = 0x7F00_0000_0000
SIZE = 0x3000


class Library:
    """A small ELF image: two symbols, by either hash table, in a dynamic section as glibc or musl leaves it."""

    def __init__(self, *, gnu: bool = True, absolute: bool = True, machine: int = 62) -> None:
        self.data = bytearray(SIZE)
        ident = b"\x7fELF\2\1\1" + bytes(9)
        head = struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
        load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, SIZE, SIZE, 4096)
        dynamic = struct.pack("<IIQQQQQQ", 2, 6, 0x1000, 0x1000, 0, 256, 256, 8)
        self.put(0, ident + head + load + dynamic)
        bias = BASE if absolute else 0
        table = (0x6FFFFEF5 if gnu else 4, 0x1400)
        tags = ((5, 0x1200), (6, 0x1300), table, (0, 0))
        self.put(0x1000, b"".join(struct.pack("<qQ", t, v + bias if t else 0) for t, v in tags))
        self.put(0x1200, b"\0alpha\0beta\0undefined\0")
        symbols = ((0, 0, 0), (1, 7, 0x2000), (7, 7, 0x2010), (12, 0, 0))
        self.put(0x1300, b"".join(struct.pack("<IBBHQQ", n, 0, 0, s, v, 8) for n, s, v in symbols))
        self.put(0x1400, _gnu() if gnu else _sysv())

    def put(self, at: int, data: bytes) -> None:
        self.data[at : at + len(data)] = data

    def read(self, address: int, length: int) -> bytes:
        at = address - BASE
        if at < 0 or at + length > len(self.data):
            raise BadAddressError(hex(address))
        return bytes(self.data[at : at + length])


def _hash(name: bytes) -> int:
    value = 5381
    for byte in name:
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def _gnu() -> bytes:
    """One bucket, one word of Bloom filter (not looked at); symbols from index 1 on."""
    hashes = [_hash(name) & ~1 for name in (b"alpha", b"beta", b"undefined")]
    hashes[-1] |= 1
    return struct.pack("<IIIIQI3I", 1, 1, 1, 0, 0, 1, *hashes)


def _sysv() -> bytes:
    return struct.pack("<II I 4I", 1, 4, 1, 0, 2, 3, 0)


@pytest.mark.parametrize("gnu", [True, False])
@pytest.mark.parametrize("absolute", [True, False])
def test_symbols_are_found_by_either_table(*, gnu: bool, absolute: bool) -> None:
    exported = Exported(Pages(Library(gnu=gnu, absolute=absolute)), BASE)
    assert exported.address("alpha") == BASE + 0x2000
    assert exported.address("beta") == BASE + 0x2010
    assert exported.address("undefined") is None
    assert exported.address("gamma") is None


@pytest.mark.parametrize(
    ("machine", "told"), [(183, "aarch64"), (3, "x86"), (4711, "machine 4711")]
)
def test_another_machines_library_is_refused_by_its_name(machine: int, told: str) -> None:
    with pytest.raises(NoLibraryError, match=told):
        Exported(Pages(Library(machine=machine)), BASE)


def test_what_is_no_library_is_refused() -> None:
    with pytest.raises(NoLibraryError, match="not an ELF image"):
        Exported(Pages(Library()), BASE + 0x1000)


def test_a_chain_without_an_end_is_left() -> None:
    library = Library(gnu=False)
    library.put(0x1400, struct.pack("<II I 4I", 1, 4, 1, 0, 1, 1, 1))
    assert Exported(Pages(library), BASE).address("gamma") is None


@settings(max_examples=300)
@given(st.integers(0, 0x1480), st.binary(min_size=1, max_size=16), st.booleans())
def test_damage_is_met_with_an_error_or_an_answer(at: int, damage: bytes, gnu: bool) -> None:  # noqa: FBT001 - drawn
    library = Library(gnu=gnu)
    library.put(at, damage)
    try:
        found = Exported(Pages(library), BASE).address("beta")
    except ValueError:
        return
    assert found is None or isinstance(found, int)
