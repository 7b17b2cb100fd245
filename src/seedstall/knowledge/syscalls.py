"""System call numbers by architecture: what a blocked thread waits in.

``/proc/PID/task/TID/syscall`` holds a number and does not say of which ABI: the ELF machine and class of
``/proc/PID/exe`` decide (on x86_64, 3 is ``close`` for a 64-bit process and ``read`` for a 32-bit one). Numbers from
Linux 6.12, ``arch/*/syscalls/*.tbl`` and ``scripts/syscall.tbl``; they never change once given out.
"""

from __future__ import annotations

READS = frozenset(("read", "pread64", "readv", "preadv", "preadv2"))
"""Calls that read from the descriptor in their first argument."""
OPENS = frozenset(("open", "openat"))
"""Calls that open a file by name: the name stands in the caller's memory, and ``/proc`` does not tell it."""

X32_BIT = 1 << 30
"""Set in the number of a call of the x32 ABI (``__X32_SYSCALL_BIT``)."""

_X86_64 = {
    0: "read", 1: "write", 2: "open", 7: "poll", 16: "ioctl", 17: "pread64", 19: "readv", 23: "select", 34: "pause",
    35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 47: "recvmsg", 61: "wait4",
    72: "fcntl", 73: "flock", 74: "fsync", 75: "fdatasync", 128: "rt_sigtimedwait", 130: "rt_sigsuspend", 202: "futex",
    219: "restart_syscall", 230: "clock_nanosleep", 232: "epoll_wait", 247: "waitid", 257: "openat", 270: "pselect6",
    271: "ppoll", 281: "epoll_pwait", 288: "accept4", 295: "preadv", 318: "getrandom", 327: "preadv2",
    441: "epoll_pwait2",
}  # fmt: skip
_X32 = _X86_64 | {515: "readv", 517: "recvfrom", 519: "recvmsg", 534: "preadv", 546: "preadv2"}
_I386 = {
    0: "restart_syscall", 3: "read", 4: "write", 5: "open", 7: "waitpid", 102: "socketcall", 114: "wait4",
    118: "fsync", 179: "rt_sigsuspend", 142: "select", 143: "flock", 145: "readv", 162: "nanosleep", 168: "poll",
    180: "pread64",
    221: "fcntl64", 240: "futex", 256: "epoll_wait", 267: "clock_nanosleep", 284: "waitid", 295: "openat",
    308: "pselect6", 309: "ppoll", 319: "epoll_pwait", 333: "preadv", 355: "getrandom", 362: "connect",
    364: "accept4", 371: "recvfrom", 372: "recvmsg", 378: "preadv2", 407: "clock_nanosleep", 422: "futex",
}  # fmt: skip
_GENERIC = {
    22: "epoll_pwait", 25: "fcntl", 32: "flock", 56: "openat", 63: "read", 64: "write", 65: "readv", 67: "pread64",
    69: "preadv", 72: "pselect6", 73: "ppoll", 82: "fsync", 83: "fdatasync", 95: "waitid", 98: "futex",
    101: "nanosleep", 115: "clock_nanosleep", 128: "restart_syscall", 133: "rt_sigsuspend", 137: "rt_sigtimedwait",
    202: "accept",
    203: "connect", 206: "sendto", 207: "recvfrom", 212: "recvmsg", 242: "accept4", 260: "wait4", 278: "getrandom",
    286: "preadv2",
}  # fmt: skip
_ARM = {
    3: "read", 180: "pread64", 145: "readv", 361: "preadv", 392: "preadv2", 384: "getrandom", 240: "futex",
    422: "futex",
}  # fmt: skip
_PPC64 = {
    3: "read", 179: "pread64", 145: "readv", 320: "preadv", 380: "preadv2", 359: "getrandom", 221: "futex",
}  # fmt: skip
_S390X = {
    3: "read", 180: "pread64", 145: "readv", 328: "preadv", 376: "preadv2", 349: "getrandom", 238: "futex",
}  # fmt: skip
_MIPS64 = {
    5000: "read", 5016: "pread64", 5018: "readv", 5289: "preadv", 5321: "preadv2", 5313: "getrandom", 5194: "futex",
}  # fmt: skip

TABLES = {
    "x86_64": _X86_64,
    "x32": _X32,
    "i386": _I386,
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
    "loongarch64": _GENERIC,
    "arm": _ARM,
    "ppc64": _PPC64,
    "s390x": _S390X,
    "mips64": _MIPS64,
}

# ELF e_machine and word size (elf.h); a 32-bit file for x86_64 is the x32 ABI.
_MACHINES = {
    (62, 64): "x86_64",
    (62, 32): "x32",
    (3, 32): "i386",
    (183, 64): "aarch64",
    (243, 64): "riscv64",
    (258, 64): "loongarch64",
    (40, 32): "arm",
    (21, 64): "ppc64",
    (22, 64): "s390x",
    (8, 64): "mips64",
}


def machine_of(number: int, bits: int) -> str:
    """Our name for an ELF machine number and word size; ``""`` for one we have no table for."""
    return _MACHINES.get((number, bits), "")


def wait_of(machine: str, number: int) -> str:
    """The name of system call *number* on *machine*; ``""`` where the table lacks it.

    Tables hold the calls a thread can wait in. With the x32 bit set the number is looked up as x32 on any x86_64.
    """
    if machine in ("x86_64", "x32") and number & X32_BIT:
        return _X32.get(number & ~X32_BIT, "")
    return TABLES.get(machine, {}).get(number, "")
