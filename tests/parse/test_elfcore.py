"""Headers, notes and the initial stack of core files."""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import cores

from seedstall.parse import elfcore

TOP = cores.STACK + 2 * cores.PAGE


def reader(data: bytes) -> Callable[[int, int], bytes]:
    return lambda offset, length: data[offset : offset + length] if offset >= 0 else b""


def opened(data: bytes) -> tuple[list[elfcore.Segment], elfcore.Notes]:
    read = reader(data)
    headers = list(elfcore.program_headers(read, elfcore.head(read(0, elfcore.HEADER))))
    places = [(s.offset, s.held) for kind, s in headers if elfcore.is_note(kind)]
    segments = [s for kind, s in headers if not elfcore.is_note(kind)]
    return segments, elfcore.notes(read, places)


def test_threads_with_their_registers() -> None:
    _, notes = opened(cores.of_jvm().bytes())
    first, second, third = notes.threads
    assert (first.tid, first.cpu_ms, first.waits) == (77, 1750, True)
    assert (first.registers.number, first.registers.args[:3]) == (0, (4, 0x7000, 20))
    assert second.registers.number == 230
    assert third.registers.number == -1
    assert not third.waits


@pytest.mark.parametrize("result", [-4, -512, -513, -514, -516])
def test_a_call_that_was_broken_off_waited(result: int) -> None:
    _, notes = opened(cores.of_jvm(threads=(cores.prstatus(7, 0, result),)).bytes())
    assert notes.threads[0].waits
    assert elfcore.was_asleep(elfcore.spelled(notes.threads[0].registers))


@pytest.mark.parametrize(("number", "result"), [(0, 20), (0, 0), (0, -11), (-1, -512)])
def test_a_call_that_had_ended_did_not(number: int, result: int) -> None:
    _, notes = opened(cores.of_jvm(threads=(cores.prstatus(7, number, result),)).bytes())
    assert not notes.threads[0].waits
    assert not elfcore.was_asleep(elfcore.spelled(notes.threads[0].registers))


def test_the_program_and_what_ended_it() -> None:
    _, notes = opened(cores.of_jvm().bytes())
    assert notes.program is not None
    assert (notes.program.pid, notes.program.uid, notes.program.gid) == (77, 1000, 1001)
    assert notes.program.name == b"java"
    assert notes.program.arguments == b"/opt/jdk/bin/java -Dkey=v -cp /app with a blank Main"
    assert notes.signal == 6
    assert notes.by_kernel
    assert not notes.cut


def test_gdb_writes_the_program_first() -> None:
    core = cores.of_jvm()
    core.notes.insert(0, core.notes.pop(3))
    assert not opened(core.bytes())[1].by_kernel


def test_notes_of_others_are_passed_over() -> None:
    core = cores.of_jvm()
    core.notes[0:0] = [cores.note(b"LINUX", 0x202, bytes(2696)), cores.note(b"GDB", 1, bytes(336))]
    assert len(opened(core.bytes())[1].threads) == 3


def test_more_headers_than_sixteen_bits_count() -> None:
    core = cores.of_jvm()
    plain = opened(core.bytes())
    core.xnum = True
    assert [s[:2] for s in opened(core.bytes())[0]] == [s[:2] for s in plain[0]]
    core.memory += [(0x10_0000 + i * 4096, b"", 4096, 4) for i in range(70_000)]
    assert len(opened(core.bytes())[0]) == 70_000 + len(plain[0])


def test_too_many_headers_are_refused() -> None:
    core = cores.of_jvm()
    core.xnum = True
    data = bytearray(core.bytes())
    at = struct.unpack_from("<Q", data, 40)[0] + 44
    data[at : at + 4] = struct.pack("<I", 2**32 - 1)
    with pytest.raises(ValueError, match="program headers"):
        opened(bytes(data))


@pytest.mark.parametrize("size", [64, 120, 400, 900])
def test_a_file_that_ends_early_says_what_it_can(size: int) -> None:
    segments, _ = opened(cores.of_jvm().bytes()[:size])
    assert len(segments) == min(6, max(0, (size - 64) // 56 - 1))


def test_nt_file_that_is_cut_says_nothing() -> None:
    core = cores.of_jvm()
    core.notes[-1] = cores.note(b"CORE", 0x46494C45, struct.pack("<QQ", 1000, 4096) + bytes(100))
    assert opened(core.bytes())[1].files == ()


# --- the initial stack -----------------------------------------------------------------------------------------------


def test_arguments_and_environment_lie_as_the_kernel_put_them() -> None:
    stack, vector, name = cores.initial_stack()
    start = TOP - len(stack)
    found = elfcore.arguments_on_stack(stack, start, vector, name)
    argv = stack[found.argv[0] - start : found.argv[1] - start]
    env = stack[found.environment[0] - start : found.environment[1] - start]
    assert argv == b"".join(word + b"\0" for word in cores.ARGV)
    assert env == b"".join(word + b"\0" for word in cores.ENVIRONMENT)


def test_an_empty_environment() -> None:
    stack, vector, name = cores.initial_stack((b"java", b"Main"), ())
    found = elfcore.arguments_on_stack(stack, TOP - len(stack), vector, name)
    assert found.environment == (name, name)
    assert found.argv[1] == name


@pytest.mark.parametrize("change", [b"", b"\1" * 64])
def test_a_stack_without_its_vector_is_refused(change: bytes) -> None:
    stack, vector, name = cores.initial_stack()
    with pytest.raises(ValueError, match="stack"):
        elfcore.arguments_on_stack(stack, TOP - len(stack), change, name)
    with pytest.raises(ValueError, match="stack"):
        elfcore.arguments_on_stack(stack, TOP - len(stack), vector, 0)


# --- mappings --------------------------------------------------------------------------------------------------------


def test_mappings_are_split_where_files_begin_and_end() -> None:
    segments = [elfcore.Segment(0x1000, 0x5000, 0, 0, 6), elfcore.Segment(0x8000, 0x9000, 0, 0, 5)]
    one = elfcore.MappedFile(0x2000, 0x3000, 0, b"/one")
    other = elfcore.MappedFile(0x4000, 0x6000, 0, b"/other")
    lonely = elfcore.MappedFile(0xA000, 0xB000, 0, b"/lonely")
    assert elfcore.mappings(segments, [lonely, other, one]) == [
        (0x1000, 0x2000, 6, None),
        (0x2000, 0x3000, 6, one),
        (0x3000, 0x4000, 6, None),
        (0x4000, 0x5000, 6, other),
        (0x8000, 0x9000, 5, None),
        (0xA000, 0xB000, 5, lonely),
    ]


def test_a_build_id() -> None:
    assert elfcore.build_id(reader(cores.library(b"\x12" * 20))) == b"\x12" * 20
    assert elfcore.build_id(reader(cores.library())) == b""
    assert elfcore.build_id(reader(b"\xf0\x0b\xaa\xf0")) is None
    bare = elfcore.without_sections(cores.library(b"\x12" * 20))
    assert elfcore.build_id(reader(bare)) == b"\x12" * 20
    assert elfcore.head(bare).sections_at == 0


# --- hostile input ---------------------------------------------------------------------------------------------------


@given(st.binary(max_size=600))
def test_any_bytes_raise_only_value_errors(data: bytes) -> None:
    for text in (data, b"\x7fELF\2\1\1" + data):
        with contextlib.suppress(ValueError):
            opened(text)
        elfcore.build_id(reader(text))
        elfcore.auxiliary(data)
        with contextlib.suppress(ValueError):
            elfcore.registers(data)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_flipped_bytes_neither_hang_nor_crash(data: st.DataObject) -> None:
    whole = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, NOTES_END))] = data.draw(st.integers(0, 255))
    start = time.process_time()
    try:
        segments, notes = opened(bytes(whole))
    except ValueError:
        return
    elfcore.mappings(segments, notes.files)
    assert time.process_time() - start < 2


WHOLE = cores.of_jvm().bytes()
NOTES_END = 64 + 56 * 7 + sum(map(len, cores.of_jvm().notes))


def test_a_segment_of_empty_notes_is_walked_in_bounded_time() -> None:
    core = cores.of_jvm()
    core.notes = [bytes(12) * 250_000]
    start = time.process_time()
    assert opened(core.bytes())[1].threads == ()
    assert time.process_time() - start < 5


@pytest.mark.parametrize("kind", [elfcore.Kind.PRSTATUS, elfcore.Kind.FILE, elfcore.Kind.AUXV])
def test_huge_notes_in_a_file_of_holes_are_read_in_part(kind: int) -> None:
    """Two thousand of 16 MB each take nothing on the disk: to read all of them would take minutes."""
    size, read = elfcore.MAX_DESCRIPTION, 0
    note = struct.pack("<III", 5, size, kind) + b"CORE\0\0\0\0"

    def hole(offset: int, length: int) -> bytes:
        nonlocal read
        read += length
        return note[offset % (len(note) + size) :].ljust(length, b"\0")[:length]

    found = elfcore.notes(hole, [(0, 2_000 * (len(note) + size))])
    assert found.threads == ()
    assert read < 100 << 20
