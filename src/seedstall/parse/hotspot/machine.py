"""One HotSpot JVM in memory, opened: its tables are read, its layout is known, its threads can be asked for."""

from __future__ import annotations

from seedstall.parse.hotspot.codecache import CodeCache
from seedstall.parse.hotspot.frames import Frames, Walk
from seedstall.parse.hotspot.heap import Heap
from seedstall.parse.hotspot.klasses import Klasses
from seedstall.parse.hotspot.memory import Pages
from seedstall.parse.hotspot.methods import Methods
from seedstall.parse.hotspot.monitors import Monitors
from seedstall.parse.hotspot.openfiles import OpenFiles
from seedstall.parse.hotspot.release import release
from seedstall.parse.hotspot.stacks import RUNS_JAVA, Registers, Stacks
from seedstall.parse.hotspot.symbols import Exported
from seedstall.parse.hotspot.threads import Threads
from seedstall.parse.vmstructs import tables

_TRIES = 3


class Machine:
    """A JVM whose libjvm.so is loaded at *base*."""

    def __init__(self, pages: Pages, base: int) -> None:
        """Open it.

        Raises:
            NoLibraryError: no library lies there, or one for another machine.
            NoTablesError: it is no HotSpot, or has been started this very moment.
            UnknownReleaseError: its layout was never checked.
            LackingError: its tables lack what is needed.
            BadAddressError: its data lead nowhere.
        """
        self.pages = pages
        told = tables(pages, Exported(pages, base))
        self.release = release(pages, told)
        self.klasses = Klasses(pages, told)
        self.heap = Heap(pages, told, self.klasses, self.release)
        self.methods = Methods(pages, told, self.klasses, self.release)
        self._code = CodeCache(pages, told, self.methods, self.release)
        self.threads = Threads(pages, told, self.heap)
        frames = Frames(pages, told, self.methods, self._code, self.release)
        self._stacks = Stacks(pages, told, self.threads, frames)
        self.files = OpenFiles(pages, self.heap, self.methods, self.release.feature)
        self.monitors = Monitors(pages, told, self.heap, self.threads, self.release)

    def forget(self) -> None:
        """Drop everything that may have changed since it was read: code, classes and methods come and go."""
        self.pages.forget()
        self.klasses.forget()
        self.methods.forget()
        self._code.forget()
        self.monitors.forget()

    def stack(self, thread: int, registers: Registers | None = None) -> Walk:
        """The Java frames of a JavaThread. A problem is first met with fresh memory: most are stale pages.

        Raises:
            BadAddressError: the thread is gone.
            SpentError: the budget is spent.
        """
        walk = self._stacks.of(thread, registers)
        for _ in range(_TRIES - 1):
            if not walk.problem or walk.problem == RUNS_JAVA or registers is not None:
                break
            self.forget()
            walk = self._stacks.of(thread, registers)
        return walk
