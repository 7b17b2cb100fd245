"""Which file a thread reads, by the Java object that it reads through.

A core has no table of descriptors. ``FileInputStream`` keeps its path for error messages (since 8), and its number in
its ``FileDescriptor``: where that is the number in the system call, the path is what the thread waits for. The object
is local variable 0 (``this``) of an interpreted frame; compiled code keeps it where only the compiler knows.
"""

from __future__ import annotations

from itertools import islice

from seedstall.parse.hotspot.frames import JavaFrame
from seedstall.parse.hotspot.heap import Heap
from seedstall.parse.hotspot.memory import WORD, Pages, SpentError
from seedstall.parse.hotspot.methods import Methods

OWNERS = ("java.io.FileInputStream", "java.io.RandomAccessFile", "sun.nio.ch.FileChannelImpl")
"""Classes with fields ``fd`` and ``path``."""
MAX_FRAMES = 6
_LOCALS = -7
_LOCALS_IN_8 = -6
"""``interpreter_frame_locals_offset`` (frame_x86.hpp), in words from the frame pointer."""
_FILE_DESCRIPTOR = "java.io.FileDescriptor"


class OpenFiles:
    """Reads paths."""

    def __init__(self, pages: Pages, heap: Heap, methods: Methods, feature: int) -> None:
        """Of a JVM of that feature release."""
        self._pages = pages
        self._heap = heap
        self._methods = methods
        self._locals = WORD * (_LOCALS_IN_8 if feature == 8 else _LOCALS)  # noqa: PLR2004 - 8 has no mirror slot

    def path(self, frames: tuple[JavaFrame, ...], descriptor: int) -> str:
        """The file that the innermost frames read as that *descriptor*; ``""`` where they do not tell.

        Raises:
            SpentError: the budget is spent.
        """
        interpreted = (frame for frame in frames if frame.fp)
        for frame in islice(interpreted, MAX_FRAMES):
            try:
                if self._methods.method(frame.method).class_name in OWNERS:
                    found = self._path_of_this(frame.fp, descriptor)
                    if found:
                        return found
            except SpentError:
                raise
            except ValueError:
                continue
        return ""

    def _path_of_this(self, fp: int, descriptor: int) -> str:
        slot = self._pages.u64(fp + self._locals)
        # An address up to 20, since JDK-8299795 (21) an offset from the frame pointer in words.
        place = slot if slot > 1 << 16 else fp + WORD * slot
        pointer = self._pages.u64(place)
        # Generational ZGC colours what lies in the heap, and not, as a rule, what lies on a stack.
        for this in dict.fromkeys((pointer, self._heap.uncoloured(pointer))):
            for owner in OWNERS:
                try:
                    path = self._path(this, owner, descriptor)
                except SpentError:
                    raise
                except ValueError:
                    continue
                if path:
                    return path
        return ""

    def _path(self, this: int, owner: str, descriptor: int) -> str:
        heap = self._heap
        held = heap.follow(this, owner, "fd")
        at = heap.place(held, _FILE_DESCRIPTOR, "fd") if held else None
        if at is None or self._pages.i32(at) != descriptor:
            return ""
        text = heap.follow(this, owner, "path")
        return heap.text(text) if text else ""
