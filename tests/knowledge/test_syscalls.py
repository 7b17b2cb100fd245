"""System call numbers: what was measured, and the kernel's own headers where they are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seedstall.knowledge import syscalls

READ_LIKE = ("read", "pread64", "readv", "preadv", "preadv2", "getrandom", "futex")
# arch/*/syscalls/*.tbl and scripts/syscall.tbl of Linux 6.12.
NUMBERS = {
    "x86_64": (0, 17, 19, 295, 327, 318, 202),
    "i386": (3, 180, 145, 333, 378, 355, 240),
    "aarch64": (63, 67, 65, 69, 286, 278, 98),
    "riscv64": (63, 67, 65, 69, 286, 278, 98),
    "loongarch64": (63, 67, 65, 69, 286, 278, 98),
    "arm": (3, 180, 145, 361, 392, 384, 240),
    "ppc64": (3, 179, 145, 320, 380, 359, 221),
    "s390x": (3, 180, 145, 328, 376, 349, 238),
    "mips64": (5000, 5016, 5018, 5289, 5321, 5313, 5194),
}
INCLUDE = Path("/usr/include")
HEADERS = {
    "x86_64": "x86_64-linux-gnu/asm/unistd_64.h",
    "i386": "x86_64-linux-gnu/asm/unistd_32.h",
    "x32": "x86_64-linux-gnu/asm/unistd_x32.h",
    "aarch64": "asm-generic/unistd.h",
}
ALIASES = {
    "_newselect": "select",
    "futex_time64": "futex",
    "clock_nanosleep_time64": "clock_nanosleep",
}


@pytest.mark.parametrize("machine", NUMBERS)
def test_the_calls_that_read_by_machine(machine: str) -> None:
    assert tuple(syscalls.wait_of(machine, n) for n in NUMBERS[machine]) == READ_LIKE


@pytest.mark.parametrize("machine", HEADERS)
def test_every_number_is_that_of_the_kernels_headers(machine: str) -> None:
    header = INCLUDE / HEADERS[machine]
    if not header.exists():
        pytest.skip(f"needs {header}: apt-get install linux-libc-dev")
    defined = re.findall(
        r"^#define __NR(?:3264)?_(\w+)\s+\(?(?:__X32_SYSCALL_BIT \+ )?(\d+)\)?",
        header.read_text(),
        re.MULTILINE,
    )
    theirs: dict[int, set[str]] = {}
    for name, number in defined:
        theirs.setdefault(int(number), set()).add(ALIASES.get(name, name))
    for number, name in syscalls.TABLES[machine].items():
        if machine == "x32" and number not in theirs:
            continue  # x86_64's number of a call that x32 has elsewhere
        assert name in theirs[number], f"{machine} {number}"


def test_the_same_number_means_another_call_elsewhere() -> None:
    assert syscalls.wait_of("i386", 3) == "read"
    assert syscalls.wait_of("x86_64", 3) == "", "close never waits"
    assert syscalls.wait_of("x86_64", 63) == ""


def test_the_x32_bit() -> None:
    assert syscalls.wait_of("x86_64", syscalls.X32_BIT | 0) == "read"
    assert syscalls.wait_of("x86_64", syscalls.X32_BIT | 515) == "readv"
    assert syscalls.wait_of("x32", syscalls.X32_BIT | 534) == "preadv"
    assert syscalls.wait_of("x86_64", syscalls.X32_BIT | 318) == "getrandom"
    assert syscalls.wait_of("aarch64", syscalls.X32_BIT | 63) == ""


def test_what_we_do_not_know_has_no_name() -> None:
    assert syscalls.wait_of("sparc64", 3) == ""
    assert syscalls.wait_of("", 0) == ""
    assert syscalls.wait_of("x86_64", 10**6) == ""


@pytest.mark.parametrize(
    ("number", "bits", "machine"),
    [
        (62, 64, "x86_64"),
        (62, 32, "x32"),
        (3, 32, "i386"),
        (183, 64, "aarch64"),
        (40, 32, "arm"),
        (22, 64, "s390x"),
        (2, 32, ""),
    ],
)
def test_machines_by_elf_number_and_class(number: int, bits: int, machine: str) -> None:
    assert syscalls.machine_of(number, bits) == machine


def test_every_machine_has_a_table() -> None:
    machines = {syscalls.machine_of(n, b) for n in range(400) for b in (32, 64)} - {""}
    assert machines == set(syscalls.TABLES)
    assert all(set(table.values()) >= syscalls.READS for table in syscalls.TABLES.values())
