"""The files of ``/proc/PID`` that a core's notes and memory stand for, so that no parser need know of cores.

What the notes do not say is not made up: no start time (0 in ``stat``; without an uptime no age comes of it), no names
of threads but the first one's, no wait channels.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import NamedTuple

from seedstall.parse import elfcore
from seedstall.source.coreimage import CoreMemory, File, Gap

STACK_LIMIT = 8 << 20
"""Bytes of arguments and environment looked at: at most 6 MB since Linux 4.13 (_STK_LIM / 4 * 3)."""
HEADER = b"\x7fELF\2\1\1" + bytes(9) + b"\3\0\x3e\0"
"""Of the program: 64 bits, x86_64. No other core gets that far."""
_GLIBC = b"/libc.so.6"
_GLIBC_TID = 0x2D0
"""``struct pthread.tid`` behind the thread pointer in glibc for x86_64: 704 bytes of head and two pointers."""
_MAX_TID = 1 << 22
"""PID_MAX_LIMIT."""
_SELF = 16
"""``tcbhead_t.self``: the thread pointer itself."""


class Process(NamedTuple):
    """What a core says of its process."""

    notes: elfcore.Notes
    auxv: dict[int, int]
    segments: list[elfcore.Segment]


class CoreProcess:
    """The process of a core."""

    def __init__(self, found: Process, memory: CoreMemory) -> None:
        """Present *found*; strings come out of *memory*."""
        self.notes = found.notes
        self.auxv = found.auxv
        self._segments = found.segments
        self._memory = memory

    # --- the process -------------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """Its id, as whoever wrote the core saw it."""
        program = self.notes.program
        if program is not None and program.pid > 0:
            return program.pid
        return min(self.threads, default=1)

    @cached_property
    def threads(self) -> dict[int, elfcore.CoreThread]:
        """Its threads by their ids."""
        return {thread.tid: thread for thread in self.notes.threads}

    @property
    def comm(self) -> bytes:
        """Its name."""
        return self.notes.program.name if self.notes.program is not None else b""

    def cmdline(self) -> bytes | Gap:
        """The arguments: the initial stack holds all of them, NT_PRPSINFO the first 79 bytes, joined by blanks."""
        whole = self._span(self._strings.argv) if self._strings is not None else b""
        program = self.notes.program
        if (isinstance(whole, bytes) and whole) or program is None or not program.arguments:
            return whole
        words = program.arguments.replace(b" ", b"\0")
        return words + b"\0" if len(program.arguments) < elfcore.MAX_ARGUMENTS else words

    def environ(self) -> bytes | Gap:
        """The environment as it was at exec."""
        return self._span(self._strings.environment) if self._strings is not None else b""

    def _span(self, place: tuple[int, int]) -> bytes | Gap:
        first, end = place
        return self._memory.read(first, end - first) if first < end else b""

    @cached_property
    def _strings(self) -> elfcore.Arguments | None:
        name = self.auxv.get(elfcore.AT_EXECFN, 0)
        segment = self._memory.segment(name)
        if segment is None:
            return None
        start = max(segment.start, name - STACK_LIMIT)
        stack = self._held(start, segment.start + segment.held - start)
        try:
            return elfcore.arguments_on_stack(stack, start, self.notes.auxv, name)
        except ValueError:
            return None

    def _held(self, address: int, length: int) -> bytes:
        """Memory, or nothing."""
        found = self._memory.read(address, length) if length > 0 else b""
        return found if isinstance(found, bytes) else b""

    @cached_property
    def maps(self) -> bytes:
        """Its mappings: by the segments, and by NT_FILE what they show."""
        lines: list[bytes] = []
        for start, end, flags, file in elfcore.mappings(self._segments, self.notes.files):
            mode = "".join(c if flags & bit else "-" for c, bit in (("r", 4), ("w", 2), ("x", 1)))
            path = self._label(start, end)
            offset = 0
            if file is not None:
                path = file.path.replace(b"\n", b"\\012")
                offset = file.offset + (start - file.start)
            line = b"%08x-%08x %sp %08x 00:00 0 %s" % (start, end, mode.encode(), offset, path)
            lines.append(line.rstrip() + b"\n")
        return b"".join(lines)

    def _label(self, start: int, end: int) -> bytes:
        if start == self.auxv.get(elfcore.AT_SYSINFO_EHDR):
            return b"[vdso]"
        return b"[stack]" if start <= self.auxv.get(elfcore.AT_EXECFN, 0) < end else b""

    @cached_property
    def exe(self) -> bytes:
        """The file that the program headers and the entry point of the auxiliary vector lie in."""
        for kind in (elfcore.AT_PHDR, elfcore.AT_ENTRY):
            file = self._memory.file_at(self.auxv.get(kind, 0))
            if file is not None:
                return file.path
        return b""

    @cached_property
    def exe_sections(self) -> bytes:
        """The section names of the program, whose file is needed: sections are not loaded."""
        from seedstall.parse import nativeimage  # noqa: PLC0415 - hardly ever asked

        file = self._memory.backing(self.exe) if self.exe else None
        if not isinstance(file, File):
            return b""
        try:
            return nativeimage.section_names(file.read)
        except (ValueError, OverflowError):
            return b""

    # --- its threads -------------------------------------------------------------------------------------------------

    def of_thread(self, tid: int, name: str) -> bytes:
        """The file *name* of ``task/TID``; empty where no core holds it."""
        thread = self.threads[tid]
        match name:
            case "stat":
                return self.stat(tid)
            case "status":
                return self.status(tid)
            case "syscall":
                return _syscall(thread)
            case "registers":
                return elfcore.spelled(thread.registers)
            case _:
                return self.comm + b"\n" if name == "comm" and tid == self.pid else b""

    def _state(self, tid: int) -> bytes:
        """``S`` inside a call that was broken off, else ``R``: its state before it was stopped for the dump."""
        thread = self.threads.get(tid)
        return b"S" if thread is not None and thread.waits else b"R"

    def stat(self, tid: int) -> bytes:
        """``stat`` of a thread, or of the process by its first thread's id."""
        program, thread = self.notes.program, self.threads.get(tid)
        if program is None and thread is None:
            return b""
        name = self.comm if tid == self.pid else b""
        ticks = thread.cpu_ms // 10 if thread is not None else 0
        ppid = program.ppid if program is not None else 0
        head = b"%d (%s) %s %d 0 0 0 -1 0 0 0 0 0" % (tid, name, self._state(tid), ppid)
        return b"%s %d 0 0 0 20 0 %d 0 0 0 0 0\n" % (head, ticks, len(self.threads))

    def status(self, tid: int) -> bytes:
        """``status`` likewise."""
        program = self.notes.program
        if program is None:
            return b""
        inner = self._inner(tid)
        lines = (
            b"Name:\t" + (program.name if tid == self.pid else b""),
            b"State:\t" + self._state(tid),
            b"Tgid:\t%d" % self.pid,
            b"Pid:\t%d" % tid,
            b"PPid:\t%d" % program.ppid,
            b"TracerPid:\t0",
            b"Uid:" + b"\t%d" % program.uid * 4,
            b"Gid:" + b"\t%d" % program.gid * 4,
            b"NSpid:\t%d" % tid + (b"\t%d" % inner if inner != tid else b""),
            b"Threads:\t%d" % len(self.threads),
        )
        return b"\n".join(lines) + b"\n"

    def _inner(self, tid: int) -> int:
        """The thread's id in its own pid namespace.

        The kernel writes that one; gcore, run outside, the host's. glibc keeps its own copy in the thread's head.
        """
        thread = self.threads.get(tid)
        if thread is None or not self._is_glibc:
            return tid
        at = thread.registers.thread_pointer
        itself, own = self._held(at + _SELF, 8), self._held(at + _GLIBC_TID, 4)
        if int.from_bytes(itself, "little") != at or not own:
            return tid
        number = int.from_bytes(own, "little", signed=True)
        return number if 0 < number < _MAX_TID else tid

    @cached_property
    def _is_glibc(self) -> bool:
        return any(file.path.endswith(_GLIBC) for file in self.notes.files)

    @property
    def told_name(self) -> str:
        """What it is, for people."""
        program = self.notes.program
        told = program.arguments or program.name if program is not None else self.exe
        return os.fsdecode(told) or "an unnamed program"


def _syscall(thread: elfcore.CoreThread) -> bytes:
    """As ``/proc/PID/task/TID/syscall`` has it: the call that was broken off, else where it stood."""
    regs = thread.registers
    if not thread.waits:
        return b"-1 %#x %#x\n" % (regs.sp, regs.pc)
    args = b" ".join(b"%#x" % arg for arg in regs.args)
    return b"%d %s %#x %#x\n" % (regs.number, args, regs.sp, regs.pc)
