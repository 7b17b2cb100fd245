"""Who waits for which object, and who holds it."""

from __future__ import annotations

from typing import NamedTuple

from seedstall.parse.hotspot.heap import Heap
from seedstall.parse.hotspot.memory import WORD, Pages, SpentError
from seedstall.parse.hotspot.release import Release
from seedstall.parse.hotspot.threads import Threads
from seedstall.parse.vmstructs import Tables

_SYNCHRONIZER = "java.util.concurrent.locks.AbstractOwnableSynchronizer"
_THREAD = "java.lang.Thread"
INIT_LOCK = "[I"
"""Class of the object that guards a class's initialisation (JDK-8003419, 8)."""
_MIRROR_SEARCHED = 160
"""Bytes of a mirror: java.lang.Class has 80 to 120 with the fields that the JVM adds."""
_MAX_LOCK_STACK = 16
"""LockStack::CAPACITY is 8."""


class Held(NamedTuple):
    """An object, its class as a dump prints it, and the JavaThread that holds it; 0 where none was found."""

    obj: int
    class_name: str
    owner: int = 0


class Monitors:
    """Reads monitors."""

    def __init__(
        self, pages: Pages, tables: Tables, heap: Heap, threads: Threads, release: Release
    ) -> None:
        """Resolve the layout.

        Raises:
            LackingError: this JVM exports too little.
        """
        self._pages = pages
        self._heap = heap
        self._threads = threads
        self._pending = tables.offset(
            "JavaThread._current_pending_monitor", "Thread._current_pending_monitor"
        )
        self._waiting = tables.offset(
            "JavaThread._current_waiting_monitor", "Thread._current_waiting_monitor"
        )
        self._object = tables.offset("ObjectMonitor._object")
        # A WeakHandle since 16 (JDK-8247281).
        self._by_handle = release.feature >= 16  # noqa: PLR2004
        self._owner = tables.offset("ObjectMonitor._owner")
        self._owner_is_number = tables.kinds.get("ObjectMonitor._owner") == "int64_t"
        self._owner_number = tables.fields.get("JavaThread._monitor_owner_id")
        self._anonymous = tables.constants.get("ObjectMonitor::ANONYMOUS_OWNER", -1)
        self._lock_stack = tables.fields.get("JavaThread._lock_stack")
        self._lock_top = tables.fields.get("LockStack._top", 0)
        self._lock_base = tables.fields.get("LockStack._base[0]", 0)
        self._mirror = tables.offset("Klass._java_mirror")
        self._mirror_by_handle = tables.kinds.get("Klass._java_mirror") == "OopHandle"
        self._everybody: tuple[int, ...] = ()
        self._owners: dict[tuple[int, int], int] = {}
        """A thousand threads may wait for one lock, and each looks among thousands for its owner."""

    def among(self, threads: tuple[int, ...]) -> None:
        """Look for owners among these JavaThreads."""
        self._everybody = threads
        self.forget()

    def forget(self) -> None:
        """Drop what is kept."""
        self._owners.clear()

    def wanted_by(self, thread: int) -> Held | None:
        """The object whose monitor a thread waits to enter."""
        monitor = self._pages.u64(thread + self._pending)
        return self._held(monitor) if monitor else None

    def waited_on_by(self, thread: int) -> Held | None:
        """The object on which a thread is in ``Object.wait()``."""
        monitor = self._pages.u64(thread + self._waiting)
        return self._held(monitor) if monitor else None

    def guards(self, obj: int, klass: int) -> bool:
        """Whether threads that wait on *obj* wait for the initialisation of class *klass*.

        The JVM keeps an ``int[0]`` for that in a field of the class's mirror, whose place is not exported.
        """
        at = klass + self._mirror
        mirror = self._heap.handle(at) if self._mirror_by_handle else self._heap.root(at)
        step = self._heap.reference_size
        return bool(mirror) and any(
            self._heap.reference(mirror + place) == obj
            for place in range(8, _MIRROR_SEARCHED, step)
        )

    def parked_for(self, obj: int) -> Held | None:
        """What a ``java.lang.Thread`` is parked for (``LockSupport.park(blocker)``), and its exclusive owner."""
        blocker = self._heap.follow(obj, _THREAD, "parkBlocker") if obj else 0
        if not blocker:
            return None
        name = self._heap.class_name(blocker)
        owner = self._heap.follow(blocker, _SYNCHRONIZER, "exclusiveOwnerThread")
        return Held(blocker, name, self._carrier(owner) if owner else 0)

    def _carrier(self, obj: int) -> int:
        """The JavaThread of a ``java.lang.Thread``: ``eetop`` holds its address."""
        at = self._heap.place(obj, _THREAD, "eetop")
        found = self._pages.u64(at) if at is not None else 0
        return found if found in self._everybody else 0

    def _held(self, monitor: int) -> Held | None:
        at = monitor + self._object
        obj = self._heap.handle(at) if self._by_handle else self._heap.root(at)
        if not obj:
            return None
        owner = self._pages.u64(monitor + self._owner)
        return Held(obj, self._heap.class_name(obj), self._owned_by(owner, obj) if owner else 0)

    def _owned_by(self, owner: int, obj: int) -> int:
        found = self._owners.get((owner, obj))
        if found is None:
            found = self._owners[owner, obj] = self._search(owner, obj)
        return found

    def _search(self, owner: int, obj: int) -> int:
        if owner in self._everybody:
            return owner
        for thread in self._everybody:
            self._pages.tick()
            try:
                if self._owns(thread, owner, obj):
                    return thread
            except SpentError:
                raise
            except ValueError:  # it has ended meanwhile
                continue
        return 0

    def _owns(self, thread: int, owner: int, obj: int) -> bool:
        """Whether *owner*, as a monitor of *obj* has it, is that thread.

        It is a JavaThread, a place in the stack of one (8 to 20), its number (24+), or anonymous: then it is the thread
        that has the object in its lock stack (LM_LIGHTWEIGHT, 21+).
        """
        if owner == self._anonymous and self._lock_stack is not None:
            return obj in self._lock_stack_of(thread + self._lock_stack)
        if self._owner_is_number and self._owner_number is not None:
            return self._pages.u64(thread + self._owner_number) == owner
        if owner == thread:
            return True
        low, high = self._threads.stack_bounds(thread)
        return low <= owner < high

    def _lock_stack_of(self, address: int) -> list[int]:
        """``_top`` counts bytes from the start of the JavaThread (lockStack.hpp)."""
        assert self._lock_stack is not None  # noqa: S101 - the caller has looked
        used = self._pages.u32(address + self._lock_top) - self._lock_stack - self._lock_base
        count = max(0, min(used // WORD, _MAX_LOCK_STACK))
        return [self._heap.root(address + self._lock_base + WORD * i) for i in range(count)]
