"""A real program of another ABI on this kernel: the number of its call means what its own table says."""

from __future__ import annotations

import platform
import struct
import subprocess
import time
from pathlib import Path

import pytest

from seedstall.facts.process import jvm_process, tasks
from seedstall.model.evidence import Got, Ref, Space
from seedstall.parse import procfs
from seedstall.source.host import HostSource

BASE = 0x08048000
CODE = (
    b"\xb8\x03\x00\x00\x00"  # mov eax, 3: read, which is close for a 64-bit program
    b"\x31\xdb"  # xor ebx, ebx: from standard input
    b"\xb9" + struct.pack("<I", BASE) + b"\xba\x14\x00\x00\x00"  # into itself, 20 bytes
    b"\xcd\x80"  # int 0x80
    b"\xb8\x01\x00\x00\x00\xcd\x80"  # exit
)
HEAD, ENTRY = 52, 32
SIZE = HEAD + ENTRY + len(CODE)
I386 = (
    b"\x7fELF\x01\x01\x01"
    + bytes(9)
    + struct.pack(
        "<HHIIIIIHHHHHH", 2, 3, 1, BASE + HEAD + ENTRY, HEAD, 0, 0, HEAD, ENTRY, 1, 0, 0, 0
    )
    + struct.pack("<8I", 1, 0, BASE, BASE, SIZE, SIZE, 7, 0x1000)
    + CODE
)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A 32-bit program that reads 20 bytes."""
    made = tmp_path / "reader"
    made.write_bytes(I386)
    made.chmod(0o755)
    return made


def test_a_32_bit_program_waits_in_read(program: Path) -> None:
    assert procfs.elf_machine(program.read_bytes()[:20]) == (3, 32)
    if platform.machine() != "x86_64":
        return
    try:
        process = subprocess.Popen([program], stdin=subprocess.PIPE)
    except OSError:  # a kernel without CONFIG_IA32_EMULATION runs no 32-bit JVM either
        return
    try:
        with HostSource(process.pid) as source:
            end = time.monotonic() + 10
            while True:
                seen = tasks(source, jvm_process(source))
                call = seen.tasks[0].syscall
                if call is not None or time.monotonic() > end:
                    break
            assert seen.machine == "i386"
            assert call is not None
            assert (call.number, call.name, call.args[2]) == (3, "read", 20)
            assert seen.tasks[0].file is not None
            assert seen.tasks[0].file.path.startswith("pipe:")
            header = source.read(Ref(Space.PROCESS, "exe-header"))
            assert isinstance(header, Got)
    finally:
        process.kill()
        process.communicate()
