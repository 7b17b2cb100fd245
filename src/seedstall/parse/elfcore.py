"""ELF core files of Linux (core(5)): program headers, notes, and what the initial stack holds.

Layouts: ``struct elf_prstatus`` and ``elf_prpsinfo`` (include/linux/elfcore.h), ``fill_files_note`` for NT_FILE and
``create_elf_tables`` for the stack (fs/binfmt_elf.c). gdb's ``gcore`` writes the same ones. A core is hostile input:
every count in it is bounded, and every failure is a ValueError.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from struct import Struct, unpack_from
from typing import NamedTuple

MAX_SEGMENTS = 200_000
"""A process has at most vm.max_map_count mappings: 65530, of which big heaps ask for more."""
MAX_NOTES = 200_000
"""Six to eight for each thread."""
MAX_NOTE_SEGMENTS = 16
"""A core has one."""
MAX_THREADS = 20_000
MAX_FILES = 200_000
MAX_STRINGS = 200_000
"""Arguments, or variables of the environment."""
MAX_DESCRIPTION = 16 << 20
"""Bytes of one note looked at: the kernel's own limit of NT_FILE is 4 MB (``core_file_note_size_max``: 16)."""
MAX_SMALL = 4_096
"""Of all notes but NT_FILE: the largest, the auxiliary vector, has some 400."""
MAX_LISTS = 4
"""Lists of files looked at until one can be read: a core has one."""
MAX_ARGUMENTS = 79
"""Bytes of the arguments in NT_PRPSINFO (ELF_PRARGSZ, and a zero)."""
HEADER = 64
X86_64 = 62

_LITTLE, _BITS_64 = 1, 2
_CORE = 4
_LOAD, _NOTE = 1, 4
_XNUM = 0xFFFF
_PROGRAM_HEADER = Struct("<IIQQQQQQ")
_SECTION_HEADER = Struct("<IIQQQQIIQQ")

Read = Callable[[int, int], bytes]
"""Bytes of the file by offset and length; fewer where it ends before."""


class Head(NamedTuple):
    """The first 64 bytes of an ELF file. ``kind`` is ``e_type``, ``machine`` ``e_machine``."""

    bits: int
    little: bool
    kind: int
    machine: int
    headers_at: int = 0
    headers: int = 0
    sections_at: int = 0

    @property
    def is_core(self) -> bool:
        """Whether it is a core file."""
        return self.kind == _CORE


class Segment(NamedTuple):
    """A range of memory: ``[start, end)``, of which the first ``held`` bytes stand at ``offset`` of the core."""

    start: int
    end: int
    offset: int
    held: int
    flags: int


class MappedFile(NamedTuple):
    """A row of NT_FILE: ``[start, end)`` shows ``path`` from ``offset`` on."""

    start: int
    end: int
    offset: int
    path: bytes


class Registers(NamedTuple):
    """Of one thread. ``number`` is ``orig_rax``: -1 outside a system call; ``result`` is ``rax``."""

    number: int
    result: int
    args: tuple[int, ...]
    sp: int
    pc: int
    fp: int
    thread_pointer: int


class CoreThread(NamedTuple):
    """An NT_PRSTATUS. ``cpu_ms`` is user and system time; gdb leaves it 0."""

    tid: int
    signal: int
    cpu_ms: int
    registers: Registers

    @property
    def waits(self) -> bool:
        """Whether it was inside a system call that had not come to an end."""
        return self.registers.number >= 0 and self.registers.result in _INTERRUPTED


class Program(NamedTuple):
    """NT_PRPSINFO. ``arguments`` are the first 79 bytes, joined by blanks."""

    pid: int
    ppid: int
    uid: int
    gid: int
    name: bytes
    arguments: bytes


class Notes(NamedTuple):
    """What the notes say. ``by_kernel`` is false for gdb's; ``cut`` where they go on after what was read of them."""

    threads: tuple[CoreThread, ...]
    program: Program | None
    files: tuple[MappedFile, ...]
    auxv: bytes
    signal: int | None
    by_kernel: bool
    cut: bool


class Arguments(NamedTuple):
    """Where argv's and the environment's strings lie, as ``/proc/PID/cmdline`` and ``environ`` show them."""

    argv: tuple[int, int]
    environment: tuple[int, int]


# EINTR, ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK (include/linux/errno.h): what a call that
# a core dump or a debugger broke off has in rax. Once restarted by 219 it is called restart_syscall.
_INTERRUPTED = frozenset((-4, -512, -513, -514, -516))


def head(data: bytes) -> Head:
    """Take the header apart.

    Raises:
        ValueError: it is no ELF file, or shorter than a header.
    """
    if data[:4] != b"\x7fELF" or len(data) < 20:  # noqa: PLR2004 - up to e_machine
        raise ValueError("not an ELF file")
    little = data[5] == _LITTLE
    kind, machine = unpack_from("<HH" if little else ">HH", data, 16)
    bits = 64 if data[4] == _BITS_64 else 32
    if bits != 64 or not little or len(data) < HEADER:  # noqa: PLR2004 - what follows is laid out for 64 bits
        return Head(bits, little, kind, machine)
    headers_at, sections_at, count = *unpack_from("<QQ", data, 32), unpack_from("<H", data, 56)[0]
    return Head(bits, little, kind, machine, headers_at, count, sections_at)


def program_headers(read: Read, top: Head) -> Iterator[tuple[int, Segment]]:
    """Every program header as its type and place; those that the file no longer holds are left out.

    Above 65534 their number stands in ``sh_info`` of section header 0 (PN_XNUM, Linux 2.6.34).

    Raises:
        ValueError: there are more than `MAX_SEGMENTS`.
    """
    count = top.headers
    if count == _XNUM:
        section = read(top.sections_at, _SECTION_HEADER.size)
        if len(section) < _SECTION_HEADER.size:
            raise ValueError("the number of its program headers is not held (PN_XNUM)")
        count = _SECTION_HEADER.unpack(section)[7]
    if count > MAX_SEGMENTS:
        raise ValueError(f"{count} program headers: more than a process has")
    size = _PROGRAM_HEADER.size
    for first in range(0, count, 1024):
        data = read(top.headers_at + first * size, min(1024, count - first) * size)
        whole = len(data) // size * size
        for fields in _PROGRAM_HEADER.iter_unpack(data[:whole]):
            kind, flags, offset, address, _, held, length, _ = fields
            if kind == _NOTE:
                yield kind, Segment(address, address, offset, held, flags)
            elif kind == _LOAD and 0 < length <= (1 << 64) - address:
                yield kind, Segment(address, address + length, offset, min(held, length), flags)
        if whole < len(data) or not data:
            return


def is_note(kind: int) -> bool:
    """Whether a program header of that type leads to notes."""
    return kind == _NOTE


class _Note(NamedTuple):
    owner: bytes
    kind: int
    at: int
    size: int


def _walk(read: Read, at: int, size: int) -> Iterator[_Note]:
    """The notes of one segment; padding is to four bytes in cores of either word size."""
    end = at + size
    window, window_at = b"", at
    for _ in range(MAX_NOTES):
        if at + 12 > end:
            return
        if not window_at <= at or at + 64 > window_at + len(window):
            window, window_at = read(at, 4096), at
        here = at - window_at
        if here + 12 > len(window):
            return
        name_size, length, kind = unpack_from("<III", window, here)
        name_space, space = -(-name_size // 4) * 4, -(-length // 4) * 4
        yield _Note(
            window[here + 12 : here + 12 + min(name_size, 16)].rstrip(b"\0"),
            kind,
            at + 12 + name_space,
            length,
        )
        at += 12 + name_space + space


class Kind(IntEnum):
    """Types of the notes that are read (include/uapi/linux/elf.h)."""

    PRSTATUS = 1
    PRPSINFO = 3
    AUXV = 6
    FILE = 0x46494C45
    SIGINFO = 0x53494749


def notes(read: Read, places: list[tuple[int, int]]) -> Notes:
    """What the note segments at *places* (offset and size) say. What is damaged is passed over, and empty."""
    found = _Found()
    for place in places[:MAX_NOTE_SEGMENTS]:
        for note in _walk(read, *place):
            if note.owner == b"CORE" and note.kind in _WANTED:
                found.take(note, read)
    # gdb writes NT_PRPSINFO first (linux_make_corefile_notes), the kernel the thread that dumps.
    by_kernel = found.first != Kind.PRPSINFO
    threads = tuple(found.threads.values())
    return Notes(
        threads, found.program, found.files, found.auxv, found.signal, by_kernel, found.cut
    )


class _Found:
    """What was found in notes so far: of each kind the first that can be read."""

    def __init__(self) -> None:
        self.threads: dict[int, CoreThread] = {}
        self.program: Program | None = None
        self.files: tuple[MappedFile, ...] = ()
        self.auxv = b""
        self.signal: int | None = None
        self.first = 0
        self.cut = False
        self._lists = 0

    def take(self, note: _Note, read: Read) -> None:
        """Take in one note's content: of the list of files all of it, of the others what they can have."""
        self.first = self.first or note.kind
        size = min(note.size, MAX_DESCRIPTION if note.kind == Kind.FILE else MAX_SMALL)
        if note.kind == Kind.FILE:
            self._lists += 1
            if self.files or self._lists > MAX_LISTS:
                return
        data = read(note.at, size)
        self.cut |= len(data) < size
        match note.kind:
            case Kind.PRSTATUS:
                thread = _thread(data) if len(self.threads) < MAX_THREADS else None
                if thread is not None:
                    self.threads.setdefault(thread.tid, thread)
            case Kind.PRPSINFO:
                self.program = self.program or _program(data)
            case Kind.AUXV:
                self.auxv = self.auxv or data[:4096]
            case Kind.FILE:
                self.files = self.files or _files(data)
            case _:
                if self.signal is None and len(data) >= 4:  # noqa: PLR2004 - si_signo
                    self.signal = int.from_bytes(data[:4], "little", signed=True)


_WANTED = frozenset(Kind)
_STATUS = Struct("<12xh18xi12xqqqq32x27Q")
"""Of x86_64: signal, pid, user and system time as seconds and microseconds, ``struct user_regs_struct``."""


def _thread(data: bytes) -> CoreThread | None:
    if len(data) < _STATUS.size:
        return None
    signal, tid, user, user_us, system, system_us, *regs = _STATUS.unpack_from(data)
    spent = (user + system) * 1000 + (user_us + system_us) // 1000
    if tid <= 0:
        return None
    registers = Registers(
        number=_signed(regs[15]),
        result=_signed(regs[10]),
        args=(regs[14], regs[13], regs[12], regs[7], regs[9], regs[8]),
        sp=regs[19],
        pc=regs[16],
        fp=regs[4],
        thread_pointer=regs[21],
    )
    return CoreThread(tid, signal, spent if 0 <= spent < 1 << 50 else 0, registers)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


_PSINFO = Struct("<16xIIii8x16s80s")


def _program(data: bytes) -> Program | None:
    if len(data) < _PSINFO.size:
        return None
    uid, gid, pid, ppid, name, arguments = _PSINFO.unpack_from(data)
    return Program(
        pid, ppid, uid, gid, name.partition(b"\0")[0], arguments.partition(b"\0")[0].rstrip(b" ")
    )


def _files(data: bytes) -> tuple[MappedFile, ...]:
    """``fill_files_note``: count, page size, rows of start, end and offset in pages, then the names."""
    if len(data) < 16:  # noqa: PLR2004 - the two numbers
        return ()
    count, page = unpack_from("<QQ", data)
    rows = min(count, MAX_FILES)
    if 16 + 24 * rows > len(data):
        return ()
    names = data[16 + 24 * rows :].split(b"\0", rows)[:rows]
    places = Struct("<QQQ").iter_unpack(data[16 : 16 + 24 * rows])
    return tuple(
        MappedFile(start, end, offset * page, name[:4096])
        for (start, end, offset), name in zip(places, names, strict=False)
        if start < end and offset * page < 1 << 63
    )


def spelled(registers: Registers) -> bytes:
    """Registers as lines of name and value, as `Space.PROCESS` shows them: ``task/TID/registers``."""
    rows = (
        ("rsp", registers.sp), ("rip", registers.pc), ("rbp", registers.fp),
        ("rax", registers.result), ("orig_rax", registers.number), ("fs_base", registers.thread_pointer),
    )  # fmt: skip
    return "".join(f"{name} {value:#x}\n" for name, value in rows).encode()


def registers(data: bytes) -> dict[str, int]:
    """What `spelled` wrote: ``rsp``, ``rip``, ``rbp``; ``rax`` and ``orig_rax`` are signed.

    Raises:
        ValueError: it is not that.
    """
    words = data.split(None, 24)[:24]
    return {
        name.decode("ascii"): int(value, 16)
        for name, value in zip(words[::2], words[1::2], strict=True)
    }


def was_asleep(data: bytes) -> bool:
    """Whether a thread of these registers slept in a system call: it was broken off, and had not ended."""
    found = registers(data)
    return found.get("orig_rax", -1) >= 0 and found.get("rax", 0) in _INTERRUPTED


# --- memory and files -------------------------------------------------------------------------------------------------


def mappings(
    segments: Sequence[Segment], files: Sequence[MappedFile]
) -> list[tuple[int, int, int, MappedFile | None]]:
    """All mappings by address: start, end, flags as in PT_LOAD (4 read, 2 write, 1 run), the file.

    A file that no segment covers (gcore leaves out what it need not save) is shown as one that is mapped to run: its
    flags are nowhere.
    """
    rows = sorted(files)
    starts = [row.start for row in rows]
    covered: set[int] = set()
    found: list[tuple[int, int, int, MappedFile | None]] = []
    for segment in sorted(segments):
        at = segment.start
        index = max(0, bisect_right(starts, at) - 1)
        while at < segment.end:
            while index < len(rows) and rows[index].end <= at:
                index += 1
            row = rows[index] if index < len(rows) and rows[index].start < segment.end else None
            if row is not None and row.start > at:
                end, row = row.start, None
            else:
                end = segment.end if row is None else min(segment.end, row.end)
            if row is not None:
                covered.add(index)
            found.append((at, end, segment.flags, row))
            at = end
    rest = (row for index, row in enumerate(rows) if index not in covered)
    found += [(row.start, row.end, 5, row) for row in rest]
    return sorted(found, key=lambda row: row[:3])


_GNU_BUILD_ID = 3


def build_id(read: Read) -> bytes | None:
    """The build id of an ELF file, or of its image in memory; empty where it has none, ``None`` where it is no ELF.

    The note lies in the first pages of a library, at the same offset in both.
    """
    try:
        for kind, data in owned_notes(read, b"GNU"):
            if kind == _GNU_BUILD_ID:
                return data
    except ValueError:
        return None
    return b""


def owned_notes(read: Read, owner: bytes) -> Iterator[tuple[int, bytes]]:
    """The small notes of that owner in an ELF file or its image: type and content.

    Raises:
        ValueError: it is no ELF file.
    """
    top = head(read(0, HEADER))
    headers = list(program_headers(read, top)) if top.headers <= MAX_HEADERS else []
    for kind, segment in headers:
        if kind == _NOTE and segment.held <= MAX_NOTE_SEGMENT:
            for note in _walk(read, segment.offset, segment.held):
                if note.owner == owner and note.size <= MAX_NOTE:
                    yield note.kind, read(note.at, note.size)


MAX_HEADERS = 64
"""Program headers of a library: a dozen."""
MAX_NOTE_SEGMENT = 1 << 16
MAX_NOTE = 256
"""Bytes of a note looked at: a build id has 20."""


def without_sections(image: bytes) -> bytes:
    """A file's image as it is in memory, its header saying that there are no sections: they were not loaded."""
    return image[:40] + bytes(8) + image[48:58] + bytes(6) + image[64:]


# --- the auxiliary vector and the initial stack -----------------------------------------------------------------------

AT_PHDR, AT_BASE, AT_ENTRY = 3, 7, 9
AT_RANDOM, AT_EXECFN, AT_SYSINFO_EHDR = 25, 31, 33
_AT_NULL = 0


def auxiliary(data: bytes) -> dict[int, int]:
    """The auxiliary vector: type to value, up to its end."""
    found: dict[int, int] = {}
    for kind, value in Struct("<QQ").iter_unpack(data[: len(data) // 16 * 16]):
        if kind == _AT_NULL:
            break
        found.setdefault(kind, value)
    return found


def arguments_on_stack(stack: bytes, start: int, auxv: bytes, exec_name: int) -> Arguments:
    """Find argv and environment on the initial stack: the vector lies there just as NT_AUXV has it.

    *stack* are the bytes from *start* up to the stack's end; *exec_name* is AT_EXECFN, whose string follows the
    environment's. The program may have changed the pointers, hardly the vector.

    Raises:
        ValueError: the vector is not there, or what lies below it are no pointers into the stack.
    """
    at = stack.rfind(auxv[:32]) if len(auxv) >= 32 else -1  # noqa: PLR2004 - two pairs
    top = start + len(stack)
    if at < 16 or at % 8 or any(stack[at - 8 : at]) or not start <= exec_name < top:  # noqa: PLR2004 - zero words
        raise ValueError("the initial stack is not held")
    environment, at = _pointers_below(stack, at - 8)
    argv, at = _pointers_below(stack, at)
    if at < 0 or not argv:
        raise ValueError("no argument vector below the auxiliary vector")
    first = argv[0]
    middle = environment[0] if environment else exec_name
    if not start <= first <= middle <= exec_name:
        raise ValueError("arguments and environment do not follow one another")
    return Arguments((first, middle), (middle, exec_name))


def _pointers_below(stack: bytes, end: int) -> tuple[list[int], int]:
    """The pointers that end with the zero word at *end*, first to last, and where the word before them stands.

    That word is the zero that ends the vector before, or argc: a number that is no address.
    """
    found: list[int] = []
    at = end - 8
    while at >= 0 and len(found) < MAX_STRINGS:
        (value,) = unpack_from("<Q", stack, at)
        if value < 1 << 31:
            return found[::-1], at
        found.append(value)
        at -= 8
    return found[::-1], -1
