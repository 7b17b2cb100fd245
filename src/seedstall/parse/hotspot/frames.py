"""From a stack pointer to Java frames: the walk over one thread's stack.

The layout of frames is in no table; it was compared with the JVM's own dumps on 8, 11, 17, 21 and 25 for x86_64
(``frame_x86.hpp``): an interpreted frame has its caller's frame pointer at fp and its return address behind it, its
Method at fp-3 words, its bytecode pointer at fp-8 (8: fp-7); a compiled one its return address at the end of its fixed
size, the saved frame pointer before it; an entry frame (the JVM calling Java) a JavaCallWrapper with the anchor of the
Java frames above.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from seedstall.parse.hotspot.codecache import Blob, CodeCache
from seedstall.parse.hotspot.memory import WORD, BadAddressError, Pages, SpentError
from seedstall.parse.hotspot.methods import Methods
from seedstall.parse.hotspot.release import Release
from seedstall.parse.vmstructs import Tables

MAX_FRAMES = 4_096
"""Java frames of one thread: four times as many as the JVM itself prints (MaxJavaStackTraceDepth)."""
MAX_STEPS = 3 * MAX_FRAMES
MAX_GUESSES = 64
"""Places from which a walk is tried for a thread that was caught inside Java code."""
_METHOD = -3
_BCP = -8
_BCP_IN_8 = -7
_LOWEST = -8
"""The lowest word of an interpreted frame that is looked at, from its frame pointer; the highest is 1."""
_WRAPPER = "frame::entry_frame_call_wrapper_offset"
_BELOW_SP = 128
"""Bytes read below the stack pointer: an interpreted callee's frame may have overlapped it."""
_SLACK = 1024
_CONTINUATION = "jdk.internal.vm.Continuation.run"
_SEARCHED_FOR_CONTINUATION = 512
_SEARCHED_FOR_FRAME = 4096
_SEARCHED_FOR_RETURN = 1 << 16


class JavaFrame(NamedTuple):
    """One Java frame. ``method`` is its Method's address, or `REST`; ``fp`` its frame pointer where interpreted."""

    method: int
    bci: int
    fp: int = 0


REST = 0
"""In place of a method: further frames of a virtual thread lie in the heap, where it was moved when it last waited."""


class Position(NamedTuple):
    """Where a walk stands: stack pointer, frame pointer (0 where not known), program counter.

    ``exact`` is false where the thread was caught at an arbitrary instruction.
    """

    sp: int
    fp: int
    pc: int
    exact: bool = True


class Walk(NamedTuple):
    """What a walk found. ``problem`` is ``""`` where it ended at the thread's first Java frame."""

    frames: tuple[JavaFrame, ...]
    problem: str = ""


class StackCopy:
    """A copy of part of a thread's stack."""

    def __init__(self, low: int, data: bytes) -> None:
        """Hold *data*, which lay at *low*."""
        self.low = low
        self.high = low + len(data)
        self._words = struct.unpack(f"<{len(data) // WORD}Q", data[: len(data) & -WORD])

    def word(self, address: int) -> int:
        """The word at *address*.

        Raises:
            BadAddressError: it is not in the copy.
        """
        return self.words(address, 1)[0]

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """So many words from *address* on.

        Raises:
            BadAddressError: not all of them are in the copy.
        """
        at = address - self.low
        found = self._words[at >> 3 : (at >> 3) + count] if at >= 0 and not at & 7 else ()
        if len(found) != count:
            raise BadAddressError(f"{address:#x} is not in this stack")
        return found


class Frames:
    """Walks stacks."""

    def __init__(
        self, pages: Pages, tables: Tables, methods: Methods, code: CodeCache, release: Release
    ) -> None:
        """Resolve the layout.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self._methods = methods
        self._code = code
        self._bcp = _BCP_IN_8 if release.feature == 8 else _BCP  # noqa: PLR2004 - 8 has no mirror slot
        self._wrapper = WORD * tables.constant(_WRAPPER)
        self._wrapper_anchor = tables.offset("JavaCallWrapper._anchor")
        self.anchor = tuple(
            tables.offset(f"JavaFrameAnchor._last_Java_{name}") for name in ("sp", "fp", "pc")
        )
        self._upcall = tables.fields.get("UpcallStub._frame_data_offset")
        self._upcall_anchor = tables.fields.get("UpcallStub::FrameData.jfa", 0)
        self._interpreter = _interpreter(pages, tables)
        self._call_stub = pages.u64(tables.static("StubRoutines._call_stub_return_address"))

    # --- the walk ----------------------------------------------------------------------------------------------------

    def walk(self, stack: StackCopy, start: Position) -> Walk:
        """All Java frames from *start* on, innermost first. What goes wrong is the walk's problem.

        Raises:
            SpentError: the budget is spent.
        """
        found: list[JavaFrame] = []
        here = start
        try:
            for _ in range(MAX_STEPS):
                self._pages.tick()
                after = self._step(stack, here, found)
                if not after.sp:
                    return Walk(tuple(found))
                if after.sp <= here.sp - _SLACK:
                    return Walk(tuple(found), "the stack leads back to where it was")
                if len(found) >= MAX_FRAMES:
                    return Walk(tuple(found[:MAX_FRAMES]), f"more than {MAX_FRAMES} frames")
                here = after if after.pc else after._replace(pc=stack.word(after.sp - WORD))
        except SpentError:
            raise
        except BadAddressError as error:
            return Walk(tuple(found), f"it leads nowhere: {error}")
        except ValueError as error:
            return Walk(tuple(found), str(error))
        return Walk(tuple(found), f"more than {MAX_STEPS} steps")

    def _step(self, stack: StackCopy, here: Position, found: list[JavaFrame]) -> Position:
        """Add the frames of one physical frame to *found*; the position of its caller, sp 0 at the thread's first."""
        if self._interpreter[0] <= here.pc < self._interpreter[1]:
            words = stack.words(here.fp + _LOWEST * WORD, 2 - _LOWEST)
            found.append(
                self._interpreted(here.fp, words[_METHOD - _LOWEST], words[self._bcp - _LOWEST])
            )
            return Position(words[-3], words[-2], words[-1])
        if here.pc == self._call_stub:
            wrapper = stack.word(here.fp + self._wrapper)
            return self._anchored(stack, wrapper + self._wrapper_anchor)
        blob = self._code.blob(here.pc)
        if blob is None:
            raise ValueError(f"a return address outside of all code: {here.pc:#x}")
        if self._upcall is not None and blob.name.startswith("upcall_stub"):
            frame_data = here.sp + self._pages.i32(blob.start + self._upcall)
            return self._anchored(stack, frame_data + self._upcall_anchor)
        if blob.size <= 0 or blob.name.startswith("StubRoutines"):
            return self._past_barrier(stack, here, blob, found)
        if blob.compiled:
            found.extend(self._compiled(stack, here, blob))
        sp = here.sp + WORD * blob.size
        fp, pc = stack.words(sp - 2 * WORD, 2)
        return Position(sp, fp, pc)

    def _anchored(self, stack: StackCopy, address: int) -> Position:
        """The position that a JavaFrameAnchor in the stack holds."""
        sp, fp, pc = (stack.word(address + offset) for offset in self.anchor)
        return Position(sp, fp, pc)

    def _in_interpreter(self, pc: int) -> bool:
        return self._interpreter[0] <= pc < self._interpreter[1]

    def _interpreted(self, fp: int, address: int, bcp: int) -> JavaFrame:
        method = self._methods.method(address)
        bci = -1 if method.native else bcp - method.code
        if not -1 <= bci < max(method.size, 1):
            raise ValueError("an interpreted frame outside of its method")
        return JavaFrame(address, bci, fp)

    def _compiled(self, stack: StackCopy, here: Position, blob: Blob) -> Iterator[JavaFrame]:
        pc = here.pc
        slot = self._code.original_pc_slot(blob, pc)
        if slot is not None:
            pc = stack.word(here.sp + slot)
        for method, bci in self._code.methods_at(blob, pc, exact=here.exact):
            self._methods.method(
                method
            )  # a stale address is told from a method here, while there is time to retry
            yield JavaFrame(method, bci)

    def _past_barrier(
        self, stack: StackCopy, here: Position, blob: Blob, found: list[JavaFrame]
    ) -> Position:
        """The bottom frame of a virtual thread that was moved to the heap returns into a stub (21+).

        The stub is in no table; the frame of Continuation.run lies just above it.
        """
        for at in range(here.sp, min(here.sp + _SEARCHED_FOR_CONTINUATION, stack.high - 7), WORD):
            pc, fp = stack.word(at), stack.word(at - WORD)
            if self._runs_continuation(stack, pc, fp):
                found.append(JavaFrame(REST, -1))
                return Position(at + WORD, fp, pc)
        raise ValueError(f"the frame of {blob.name[:60] or 'a stub'} has no fixed size")

    def _runs_continuation(self, stack: StackCopy, pc: int, fp: int) -> bool:
        try:
            if self._in_interpreter(pc):
                methods = [stack.word(fp + _METHOD * WORD)]
            else:
                blob = self._code.blob(pc)
                compiled = blob is not None and blob.name == "nmethod"
                methods = (
                    [m for m, _ in self._code.methods_at(blob, pc)] if blob and compiled else []
                )
            return any(self._methods.method(m).qualified == _CONTINUATION for m in methods)
        except SpentError:
            raise
        except ValueError:
            return False

    # --- a thread that was caught at an arbitrary instruction ---------------------------------------------------------

    def walk_from_registers(self, stack: StackCopy, start: Position) -> Walk:
        """The frames of a thread that was inside Java code, from its registers.

        At an arbitrary instruction the frame may be half built, and debug information stands only for the places where
        the JVM can stop: the innermost frames are a guess, and are said to be so.
        """
        best = Walk((), "it was outside of all Java code")
        for position in islice(self._plausible(stack, start), MAX_GUESSES):
            walk = self.walk(stack, position)
            if not walk.problem:
                return Walk(walk.frames, GUESSED)
            if len(walk.frames) > len(best.frames):
                best = walk
        return Walk(best.frames, f"{best.problem}; {GUESSED}")

    def _plausible(self, stack: StackCopy, start: Position) -> Iterator[Position]:
        sp, fp, pc, _ = start
        blob = None if self._in_interpreter(pc) else self._code.blob(pc)
        if self._in_interpreter(pc):
            # /proc/PID/task/TID/syscall has no frame pointer: look for what looks like an interpreted frame.
            for at in (fp,) if fp else range(sp & -WORD, sp + _SEARCHED_FOR_FRAME, WORD):
                if self._looks_interpreted(stack, at):
                    yield Position(sp, at, pc, exact=False)
        elif blob is not None and blob.size > 0:
            if pc - blob.code >= self._code.frame_complete(blob):
                yield Position(sp, fp, pc, exact=False)
            for step in (
                0,
                WORD,
                -WORD,
                -2 * WORD,
            ):  # prologue or epilogue: the return address is near
                if self._leads_to_java(stack, sp + step):
                    yield Position(sp + step + WORD - WORD * blob.size, fp, pc, exact=False)
            yield Position(sp, fp, pc, exact=False)
        # In a stub or a native leaf: the first return address that leads to the stack's base.
        for at in range(
            (sp - WORD) & -WORD, min(sp + _SEARCHED_FOR_RETURN, stack.high - WORD), WORD
        ):
            if self._leads_to_java(stack, at) and stack.word(at) != self._call_stub:
                yield Position(at + WORD, stack.word(at - WORD), stack.word(at))

    def _looks_interpreted(self, stack: StackCopy, fp: int) -> bool:
        try:
            leads = stack.word(fp - WORD) > fp and self._leads_to_java(stack, fp + WORD)
            return leads and bool(self._methods.method(stack.word(fp + _METHOD * WORD)))
        except SpentError:
            raise
        except ValueError:
            return False

    def _leads_to_java(self, stack: StackCopy, address: int) -> bool:
        """Whether the word at *address* is a return address into Java code."""
        try:
            pc = stack.word(address)
            if self._in_interpreter(pc) or pc == self._call_stub:
                return True
            blob = self._code.blob(pc)
        except SpentError:
            raise
        except ValueError:
            return False
        return blob is not None and blob.size > 0


GUESSED = "caught while it ran Java code: its innermost frames are a guess"


def _interpreter(pages: Pages, tables: Tables) -> tuple[int, int]:
    """Where the interpreter's code lies; nowhere while the JVM boots."""
    queue = pages.u64(tables.static("AbstractInterpreter._code"))
    low = pages.u64(queue + tables.offset("StubQueue._stub_buffer")) if queue else 0
    if not low:
        return 0, 0
    return low, low + pages.i32(queue + tables.offset("StubQueue._buffer_limit"))


__all__ = ["GUESSED", "REST", "Frames", "JavaFrame", "Position", "StackCopy", "Walk"]
