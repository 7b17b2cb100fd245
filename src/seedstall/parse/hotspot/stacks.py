"""The stack of one thread of a JVM that goes on running: read so that what is shown stood there at one moment."""

from __future__ import annotations

import struct

from seedstall.parse.hotspot.frames import Frames, Position, StackCopy, Walk
from seedstall.parse.hotspot.memory import MAX_READ, WORD, BadAddressError, Pages, SpentError
from seedstall.parse.hotspot.threads import IN_JAVA, Threads
from seedstall.parse.vmstructs import Tables

MAX_STACK = 8 << 20
"""Bytes copied of a stack, from its innermost end: the default is 1 MB (-Xss)."""
_TRIES = 8
_TIMES_EMPTY = 3
_RED_ZONE = 128
RUNS_JAVA = "it runs Java code: no registers, no stack (nothing was stopped to read them)"
RUNNING = "it kept running while its stack was read"
assert MAX_STACK <= MAX_READ  # noqa: S101 - a relation of two constants


class Registers:
    """Where a thread stands, for one that is stopped: stack pointer, program counter, frame pointer (0: not known)."""

    def __init__(self, sp: int, pc: int, fp: int = 0) -> None:
        """Hold them."""
        self.position = Position(sp, fp, pc, exact=False)


class Stacks:
    """Reads stacks.

    A thread that is blocked or in native code has an anchor: where its innermost Java frame is. The whole stack is
    copied twice, and the anchor looked at before, between and after: only where all agree does the copy count. A
    thread may leave Java and come back at the same depth meanwhile, so the anchor alone is not enough.
    """

    def __init__(self, pages: Pages, tables: Tables, threads: Threads, frames: Frames) -> None:
        """Resolve the layout.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self._threads = threads
        self._frames = frames
        self._anchor = tables.offset("JavaThread._anchor")
        self._size = max(frames.anchor) + WORD

    def of(self, thread: int, registers: Registers | None = None) -> Walk:
        """The Java frames of a JavaThread, with the reason where they are not all known.

        Raises:
            BadAddressError: the thread is gone.
            SpentError: the budget is spent.
        """
        empty = 0
        low, base = self._threads.stack_bounds(thread)
        for _ in range(_TRIES):
            before = self._pages.fresh(thread + self._anchor, self._size)
            state = self._threads.state_now(thread)
            start = self._anchored(before)
            if start is None:
                if state in IN_JAVA:
                    if registers is None:
                        return Walk((), RUNS_JAVA)
                    start = registers.position
                else:
                    empty += self._pages.fresh(thread + self._anchor, self._size) == before
                    if empty == _TIMES_EMPTY:  # seen once, it may be on its way in or out
                        return Walk(())
                    continue
            if not low <= start.sp < base:
                if start.exact:
                    continue
                return Walk((), "its stack pointer is outside of its stack")
            copy = self._copied(thread, before, start.sp, base)
            if copy is not None:
                return self._walked(copy, start)
        return Walk((), RUNNING)

    def _anchored(self, anchor: bytes) -> Position | None:
        sp, fp, pc = (
            int(struct.unpack_from("<Q", anchor, offset)[0]) for offset in self._frames.anchor
        )
        return Position(sp, fp, pc) if sp else None

    def _copied(self, thread: int, anchor: bytes, sp: int, base: int) -> StackCopy | None:
        """The stack, where it did not change while it was copied twice."""
        at = thread + self._anchor
        low = (sp - _RED_ZONE) & -WORD
        size = min(base - low, MAX_STACK)
        first = self._pages.fresh(low, size)
        if self._pages.fresh(at, self._size) != anchor:
            return None
        second = self._pages.fresh(low, size)
        if first != second or self._pages.fresh(at, self._size) != anchor:
            return None
        return StackCopy(low, first)

    def _walked(self, copy: StackCopy, start: Position) -> Walk:
        if not start.exact:
            return self._frames.walk_from_registers(copy, start)
        if start.pc:
            return self._frames.walk(copy, start)
        try:  # the return address lies where the call put it (x86)
            return self._frames.walk(copy, start._replace(pc=copy.word(start.sp - WORD)))
        except SpentError:
            raise
        except ValueError:
            return Walk((), "no return address above its innermost frame")


__all__ = ["BadAddressError", "Registers", "Stacks"]
