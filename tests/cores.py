"""Cores made by hand: as small as the kernel's are large, with the same headers, notes and stack."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAGE = 4096
STACK = 0x7FFD_0000_0000
LIBJVM = 0x7F00_0000_0000
EXE = 0x5500_0000_0000
VDSO = 0x7FFE_0000_0000
HEAP = 0x7F10_0000_0000
JDK = b"/opt/jdk"
LIBRARY = JDK + b"/lib/server/libjvm.so"
PROGRAM = JDK + b"/bin/java"
ARGV = (PROGRAM, b"-Dkey=v", b"-cp", b"/app with a blank", b"Main")
ENVIRONMENT = (b"HOME=/root", b"TOKEN=s3cret")
ERESTARTSYS = -512


def note(owner: bytes, kind: int, data: bytes) -> bytes:
    """One note, padded to four bytes."""
    name = owner + b"\0"
    head = struct.pack("<III", len(name), len(data), kind)
    return (
        head + name.ljust(-(-len(name) // 4) * 4, b"\0") + data.ljust(-(-len(data) // 4) * 4, b"\0")
    )


def prstatus(
    tid: int, number: int = 202, result: int = ERESTARTSYS, args: Sequence[int] = (), **at: int
) -> bytes:
    """NT_PRSTATUS of a thread inside that system call."""
    regs = [0] * 27
    regs[10], regs[15] = result & (2**64 - 1), number & (2**64 - 1)
    for index, value in zip((14, 13, 12, 7, 9, 8), args, strict=False):
        regs[index] = value
    regs[19], regs[16], regs[4] = at.get("sp", 0x1000), at.get("pc", 0x2000), at.get("fp", 0x3000)
    regs[21] = at.get("thread_pointer", 0)
    head = struct.pack("<iiihxxQQiiii", 0, 0, 0, 0, 0, 0, tid, 1, tid, tid)
    times = struct.pack("<8q", 1, 500_000, 0, 250_000, 0, 0, 0, 0)
    return note(b"CORE", 1, head + times + struct.pack("<27Q", *regs) + bytes(8))


def prpsinfo(pid: int, arguments: bytes, name: bytes = b"java") -> bytes:
    """NT_PRPSINFO."""
    ids = struct.pack("<IIiiii", 1000, 1001, pid, 1, pid, pid)
    return note(
        b"CORE",
        3,
        b"\0R\0\0"
        + bytes(4)
        + bytes(8)
        + ids
        + name[:15].ljust(16, b"\0")
        + arguments[:79].ljust(80, b"\0"),
    )


def nt_file(rows: Sequence[tuple[int, int, int, bytes]]) -> bytes:
    """NT_FILE: start, end, offset, path."""
    head = struct.pack("<QQ", len(rows), PAGE)
    places = b"".join(struct.pack("<QQQ", a, b, offset // PAGE) for a, b, offset, _ in rows)
    return note(b"CORE", 0x46494C45, head + places + b"".join(path + b"\0" for *_, path in rows))


def auxv(exec_name: int) -> bytes:
    """The auxiliary vector."""
    pairs = ((33, VDSO), (3, EXE + 64), (9, EXE + 0x100), (25, STACK), (31, exec_name), (0, 0))
    return b"".join(struct.pack("<QQ", *pair) for pair in pairs)


def initial_stack(
    argv: Sequence[bytes] = ARGV, env: Sequence[bytes] = ENVIRONMENT, top: int = STACK + 2 * PAGE
) -> tuple[bytes, bytes, int]:
    """The page(s) below *top* as the kernel lays them out, NT_AUXV, and AT_EXECFN."""
    strings = b"".join(s + b"\0" for s in (*argv, *env, argv[0]))
    first = top - 8 - len(strings)
    places, at = [], first
    for text in (*argv, *env, argv[0]):
        places.append(at)
        at += len(text) + 1
    name = places[-1]
    vector = auxv(name)
    words = [len(argv), *places[: len(argv)], 0, *places[len(argv) : -1], 0]
    low = struct.pack(f"<{len(words)}Q", *words) + vector
    start = (first - len(low) - 256) & -16
    body = bytes(64) + low
    stack = body.ljust(first - (start - 64), b"\0") + strings + bytes(8)
    return stack, vector, name


def library(build: bytes = b"", kind: int = 3, size: int = 2 * PAGE) -> bytes:
    """A library of two pages, with a build id where one is given."""
    notes = note(b"GNU", 3, build) if build else b""
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, PAGE)
    noted = struct.pack("<IIQQQQQQ", 4, 4, 256, 256, 256, len(notes), len(notes), 4)
    return ((head + load + noted).ljust(256, b"\0") + notes).ljust(size, b"\1")


def vdso(version: int = 0x03_0A_00, salt: bytes = b"") -> bytes:
    """A vDSO that says no more than the version of its kernel."""
    notes = note(b"Linux", 0, struct.pack("<I", version)) + (
        note(b"Linux", 0x100, salt) if salt else b""
    )
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    noted = struct.pack("<IIQQQQQQ", 4, 4, 256, 256, 256, len(notes), len(notes), 4)
    return ((head + noted).ljust(256, b"\0") + notes).ljust(PAGE, b"\0")


@dataclass
class Core:
    """What goes into a core. ``memory`` holds start, content, whole size in memory and flags of each segment."""

    notes: list[bytes] = field(default_factory=list)
    memory: list[tuple[int, bytes, int, int]] = field(default_factory=list)
    machine: int = 62
    kind: int = 4
    xnum: bool = False

    def bytes(self) -> bytes:
        """The file."""
        noted = b"".join(self.notes)
        count = len(self.memory) + 1
        table = 64 + 56 * count
        sections = table if self.xnum else 0
        at = -(-(table + 64 * self.xnum + len(noted)) // PAGE) * PAGE
        headers = [struct.pack("<IIQQQQQQ", 4, 0, table + 64 * self.xnum, 0, 0, len(noted), 0, 4)]
        body = b""
        for start, data, size, flags in self.memory:
            headers.append(
                struct.pack("<IIQQQQQQ", 1, flags, at + len(body), start, 0, len(data), size, PAGE)
            )
            body += data.ljust(-(-len(data) // PAGE) * PAGE, b"\0")
        head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", self.kind, self.machine, 1, 0, 64, sections, 0, 64, 56,
            0xFFFF if self.xnum else count, 64, int(self.xnum), 0,
        )  # fmt: skip
        section = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, count, 0, 0) if self.xnum else b""
        return (head + b"".join(headers) + section + noted).ljust(at, b"\0") + body

    def write(self, path: Path) -> str:
        """Write it; its path."""
        path.write_bytes(self.bytes())
        return str(path)


def of_jvm(
    *, threads: Sequence[bytes] = (), build: bytes = b"\xab" * 20, held_library: int = PAGE
) -> Core:
    """A core of a JVM with three threads (two if given others): one reads descriptor 4, one sleeps, one runs.

    Of its libjvm.so the core holds the first *held_library* bytes.
    """
    stack, vector, _ = initial_stack()
    shown = library(build)
    files = [
        (EXE, EXE + PAGE, 0, PROGRAM),
        (LIBJVM, LIBJVM + 2 * PAGE, 0, LIBRARY),
        (HEAP + PAGE, HEAP + 2 * PAGE, 0, b"/tmp/hsperfdata_app/77"),
    ]
    base = STACK + 2 * PAGE - len(stack)
    return Core(
        notes=[
            *(threads or (
                prstatus(77, 0, args=(4, 0x7000, 20)),
                prstatus(78, 230),
                prstatus(79, -1, 5),
            )),
            prpsinfo(77, b" ".join(ARGV)),
            note(b"CORE", 0x53494749, struct.pack("<iii", 6, 0, 0) + bytes(116)),
            note(b"CORE", 6, vector),
            nt_file(files),
        ],
        memory=[
            (EXE, library(b"\x01" * 20)[:PAGE], PAGE, 5),
            (LIBJVM, shown[:held_library], 2 * PAGE, 5),
            (HEAP, b"heap".ljust(PAGE, b"h"), PAGE, 6),
            (HEAP + PAGE, (b"\xca\xfe\xc0\xc0\x01\x02" + bytes(26)).ljust(PAGE, b"\0"), PAGE, 6),
            (base, stack, len(stack), 6),
            (VDSO, vdso(), PAGE, 5),
        ],
    )  # fmt: skip
