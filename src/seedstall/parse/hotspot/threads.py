"""The JVM's list of threads, and what each JavaThread says of itself: kernel id, state, name, monitors."""

from __future__ import annotations

import struct
from typing import NamedTuple

from seedstall.parse.hotspot.heap import Heap
from seedstall.parse.hotspot.memory import WORD, BadAddressError, Pages, SpentError
from seedstall.parse.vmstructs import Tables

MAX_THREADS = 50_000
"""Threads looked at. The kernel's own limit is 4 million; no JVM was seen with more than some 30,000."""
_TRIES = 8
_THREAD = "java.lang.Thread"
_HOLDER = "java.lang.Thread$FieldHolder"
IN_JAVA = (8, 9)
"""JavaThreadState: _thread_in_Java, _thread_in_Java_trans (globalDefinitions.hpp, the same from 8 to 25)."""


class ThreadState(NamedTuple):
    """A `java.lang.Thread.State` as a dump prints it."""

    name: str
    detail: str = ""
    activity: str = "runnable"


# threadStatus holds JVMTI's bits (javaThreadStatus.hpp). The same from 8 to 25.
STATES = {
    0: ThreadState("NEW", activity="runnable"),
    2: ThreadState("TERMINATED", activity="runnable"),
    5: ThreadState("RUNNABLE"),
    0xE1: ThreadState("TIMED_WAITING", "sleeping", "waiting on condition"),
    0x191: ThreadState("WAITING", "on object monitor", "in Object.wait()"),
    0x1A1: ThreadState("TIMED_WAITING", "on object monitor", "in Object.wait()"),
    0x1B1: ThreadState("TIMED_WAITING", "on object monitor", "in Object.wait()"),
    0x291: ThreadState("WAITING", "parking", "waiting on condition"),
    0x2A1: ThreadState("TIMED_WAITING", "parking", "waiting on condition"),
    0x401: ThreadState("BLOCKED", "on object monitor", "waiting for monitor entry"),
}


class ThreadObject(NamedTuple):
    """What a ``java.lang.Thread`` says. ``name`` is ``""`` where it could not be had."""

    name: str = ""
    state: ThreadState | None = None
    daemon: bool = False
    number: int = 0
    """``tid``, the number behind ``#`` in a dump (8 and later print it)."""


class Threads:
    """Reads the threads."""

    def __init__(self, pages: Pages, tables: Tables, heap: Heap) -> None:
        """Resolve the layout.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self._heap = heap
        self._first = tables.statics.get("Threads._thread_list")
        if self._first is not None:
            self._next = tables.offset("JavaThread._next")
        else:
            self._list = tables.static("ThreadsSMRSupport._java_thread_list")
            self._length = tables.offset("ThreadsList._length")
            self._threads = tables.offset("ThreadsList._threads")
        self._os_thread = tables.offset("Thread._osthread", "JavaThread._osthread")
        self._id = tables.offset("OSThread._thread_id")
        self._state = tables.offset("JavaThread._thread_state")
        self._object = tables.offset("JavaThread._threadObj")
        self._object_by_handle = tables.kinds.get("JavaThread._threadObj") == "OopHandle"
        self._virtual = tables.fields.get("JavaThread._vthread")
        self._base = tables.offset("JavaThread._stack_base", "Thread._stack_base")
        self._size = tables.offset("JavaThread._stack_size", "Thread._stack_size")

    # --- the list ----------------------------------------------------------------------------------------------------

    def all(self) -> tuple[int, ...]:
        """The addresses of all JavaThreads, the oldest first.

        Raises:
            BadAddressError: the list kept changing while we read it.
        """
        return self._chained() if self._first is not None else self._listed()

    def _chained(self) -> tuple[int, ...]:
        """8 to 11: each leads to the one started before it. A thread that ends meanwhile may cut the chain short."""
        for _ in range(_TRIES):
            found = self._chain()
            if found == self._chain():
                return found[::-1]
        raise BadAddressError("the list of threads kept changing")

    def _chain(self) -> tuple[int, ...]:
        found: list[int] = []
        seen: set[int] = set()
        thread = self._fresh(self._first or 0)
        while thread and thread not in seen and len(found) < MAX_THREADS:
            self._pages.tick()
            found.append(thread)
            seen.add(thread)
            thread = self._fresh(thread + self._next)
        return tuple(found)

    def _listed(self) -> tuple[int, ...]:
        """12 and later (JDK-8167108): an array that is replaced whole at every change."""
        for _ in range(_TRIES):
            held = self._fresh(self._list)
            if not held:
                return ()
            try:
                count = self._fresh(held + self._length) & 0xFFFFFFFF
                array = self._fresh(held + self._threads)
                if count > MAX_THREADS:
                    continue
                data = self._pages.fresh(array, WORD * count) if count else b""
            except BadAddressError:
                continue
            if self._fresh(self._list) == held:
                return tuple(dict.fromkeys(word for (word,) in struct.iter_unpack("<Q", data)))
        raise BadAddressError("the list of threads kept changing")

    def _fresh(self, address: int) -> int:
        return int.from_bytes(self._pages.fresh(address, WORD), "little")

    # --- one thread --------------------------------------------------------------------------------------------------

    def kernel_id(self, thread: int) -> int:
        """The kernel's id of a thread, in the JVM's own pid namespace; 0 where it has none (yet, or any more)."""
        pointer = self._pages.u64(thread + self._os_thread)
        return self._pages.i32(pointer + self._id) if pointer else 0

    def state_now(self, thread: int) -> int:
        """Its JavaThreadState as it is now."""
        return int.from_bytes(self._pages.fresh(thread + self._state, 4), "little", signed=True)

    def stack_bounds(self, thread: int) -> tuple[int, int]:
        """The lowest and highest address of its stack."""
        base, size = self._pages.u64(thread + self._base), self._pages.u64(thread + self._size)
        if not 0 < size <= base:
            raise BadAddressError(f"a stack of {size} bytes below {base:#x}")
        return base - size, base

    def object_of(self, thread: int) -> int:
        """Its ``java.lang.Thread``; 0 while it has none (``main`` in a JVM's first milliseconds)."""
        at = thread + self._object
        return self._heap.handle(at) if self._object_by_handle else self._heap.root(at)

    def mounted_on(self, thread: int) -> int:
        """The virtual thread that it carries; 0 for none (21+)."""
        if self._virtual is None:
            return 0
        held = self._heap.handle(thread + self._virtual)
        return held if held and held != self.object_of(thread) else 0

    def described(self, obj: int) -> ThreadObject:
        """What a ``java.lang.Thread`` says; as much as can be read of it while a collector may be moving it."""
        if not obj:
            return ThreadObject()
        name, state, daemon, number = "", None, False, 0
        try:
            text = self._heap.follow(obj, _THREAD, "name")
            name = self._heap.text(text) if text else ""
            if (
                not name
            ):  # every thread has one: it was moved away, and what lies there now is something else
                return ThreadObject()
            state = STATES.get(self._field(obj, "threadStatus", 4))
            daemon = bool(self._field(obj, "daemon", 1))
            number = self._field(obj, "tid", 8)
        except SpentError:
            raise
        except ValueError:
            pass
        return ThreadObject(name, state, daemon, number)

    def _field(self, obj: int, field: str, size: int) -> int:
        """A number of the thread's own; from 19 on (JEP 425) some have moved to its FieldHolder."""
        at = self._heap.place(obj, _THREAD, field)
        if at is None:
            holder = self._heap.follow(obj, _THREAD, "holder")
            at = self._heap.place(holder, _HOLDER, field) if holder else None
        return int.from_bytes(self._pages.read(at, size), "little") if at is not None else 0
