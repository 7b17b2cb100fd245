"""The JVM's threads and their Java stacks, read out of its memory: no signal, no pause, no attach, no JDK.

It works where attach does not: attach disabled, ``-Xrs``, stopped, still starting, at its thread limit, of another
user, or dead and a core. What it gives is no snapshot: each stack stood so at one moment, but not all at the same.
"""

from __future__ import annotations

import _thread  # what threading is made of, and already there: importing that costs a millisecond
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump
from seedstall.parse import javahome, procfs
from seedstall.parse.hotspot.frames import REST, Walk
from seedstall.parse.hotspot.machine import Machine
from seedstall.parse.hotspot.memory import BadAddressError, Pages, SpentError, spelled
from seedstall.parse.hotspot.monitors import INIT_LOCK, Held
from seedstall.parse.hotspot.stacks import Registers
from seedstall.parse.hotspot.symbols import NoLibraryError
from seedstall.parse.hotspot.threads import ThreadObject, ThreadState
from seedstall.source.base import MEMORY, Source

ORIGIN = "memory"
TIME_S = 20.0
"""For everything. A thousand threads take one second."""
GRACE_S = 5.0
"""For the one read that was under way when the time was over."""
MAX_TASKS = 50_000
MAX_SHOWN = 128 << 20
"""Characters of all stacks, written out. Two thousand threads of a hundred frames each take a tenth of it."""
_FRAME = 256
"""Bytes of a frame and its place in a table."""
_ENTER_SPECIAL = "jdk.internal.vm.Continuation.enterSpecial"
"""Below it stand the frames of a virtual thread, above it those of the thread that carries it."""
_STOPPED = "Tt"
_READS = (0, 17, 19)
"""read, pread64, readv on x86_64: the only machine whose memory is read."""
_NO_STATE = ThreadState("")
UNNAMED = "?"
_DEADLOCK_TRIES = 8
"""One of the waiters for a monitor wakes up now and then (``_Responsible``, up to 23): after 1 ms, 8, 64, ..."""


class SourceMemory:
    """The memory of a source's process."""

    def __init__(self, source: Source) -> None:
        """Read from *source*."""
        self._source = source

    def read(self, address: int, length: int) -> bytes:
        """As `parse.hotspot.memory.Memory` has it.

        Raises:
            BadAddressError: not all of it is there.
            Unavailable: the process is gone, or its memory is not to be read at all.
        """
        reading = self._source.read(Ref(Space.MEMORY, spelled(address, length)))
        if isinstance(reading, Got):
            return reading.value
        if reading.why in (Why.ABSENT, Why.TRUNCATED, Why.MALFORMED):
            raise BadAddressError(f"{address:#x}: {reading.detail or reading.why}")
        raise Unavailable(Missing(reading.why, (MEMORY,), reading.detail))


def memory_dump(source: Source, *, time_s: float = TIME_S) -> ThreadDump:
    """Every Java thread with its stack, as the memory holds it.

    A thread whose stack is not known, or only in part, has `JavaThread.cut` set and says why in its `note`; the dump
    counts it as unread.

    It is read in a thread of its own, which is left behind where a read does not return: a page of the target's may
    lie on a server that is gone, or be paged in by the target itself (userfaultfd), and no signal ends such a wait.

    Raises:
        Unavailable: the memory may not be read, there is no HotSpot in it, or one that we do not know.
    """
    outcome: list[ThreadDump | BaseException] = []
    done = _thread.allocate_lock()
    done.acquire()

    def read() -> None:
        # What ends us goes to the main thread, which may have a file of ours to take away first (effect.caller).
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            outcome.append(_read(source, time_s))
        except BaseException as error:  # noqa: BLE001 - raised below, where it is waited for
            outcome.append(error)
        finally:
            done.release()

    _thread.start_new_thread(read, ())
    if not done.acquire(timeout=time_s + GRACE_S):
        detail = "a page of its memory did not come: it waits for a disk, a server, or for who pages it in"
        raise Unavailable(Missing(Why.TIMED_OUT, (MEMORY,), detail))
    (found,) = outcome
    if isinstance(found, BaseException):
        raise found
    return found


def _read(source: Source, time_s: float) -> ThreadDump:
    started = time.monotonic()
    pages = Pages(SourceMemory(source), late=lambda: time.monotonic() - started > time_s)
    try:
        machine = Machine(pages, library_base(source))
        return _Dumping(source, machine).dump()
    except BadAddressError as error:
        raise Unavailable(
            Missing(Why.ABSENT, (MEMORY,), f"the JVM is being loaded, or is damaged: {error}")
        ) from error
    except (NoLibraryError, SpentError, ValueError) as error:
        raise Unavailable(Missing(_why(error), (MEMORY,), str(error))) from error


def _why(error: ValueError) -> Why:
    return Why.TIMED_OUT if isinstance(error, SpentError) else Why.NOT_COLLECTED


def library_base(source: Source) -> int:
    """Where libjvm.so is loaded.

    Raises:
        Unavailable: no HotSpot is mapped.
    """
    ref = Ref(Space.PROCESS, "maps")
    reading = source.read(ref)
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    base = procfs.loaded_at(reading.value, b"/libjvm.so")
    found = javahome.mapped_library(reading.value)
    if found is not None and javahome.is_openj9(found[0]):
        raise Unavailable(
            Missing(
                Why.NOT_COLLECTED,
                (ref,),
                "this is OpenJ9: Java stacks are read from HotSpot's memory only",
            )
        )
    if base is None:
        detail = "no libjvm.so is mapped: no HotSpot JVM (yet), or a native image, which holds no such tables"
        raise Unavailable(Missing(Why.ABSENT, (ref,), detail))
    return base


class _Seen(NamedTuple):
    """One JavaThread, and whom it waits for."""

    address: int
    thread: JavaThread
    wanted: Held | None = None
    act: LockAct = LockAct.PARKING
    carried: JavaThread | None = None


class _Dumping:
    """One pass over one JVM's threads."""

    def __init__(self, source: Source, machine: Machine) -> None:
        self._source = source
        self._machine = machine
        self._tids = _host_tids(source)
        self._stopped = _is_stopped(source)
        self._lines: dict[tuple[int, int], Frame] = {}
        self._shown = 0
        self._initialisers: dict[int, int] = {}
        """Classes whose initialiser runs, and the thread that runs it."""

    def dump(self) -> ThreadDump:
        machine = self._machine
        addresses = machine.threads.all()
        machine.monitors.among(addresses)
        seen: list[_Seen] = []
        gone: list[int] = []
        lost = 0
        try:
            for address in addresses:
                found = self._seen(address)
                if found is not None:
                    seen.append(found)
                else:
                    gone.append(address)
            lost = self._again(gone, seen)
        except SpentError:
            if not seen:
                raise
            lost = len(addresses) - len(seen)
        seen = [self._initialising(one) for one in seen]
        deadlocks = tuple(self._deadlocks(seen))
        threads = tuple(self._with_owners(seen))
        unread = lost + sum(thread.cut for thread in threads)
        banner = machine.release.banner.partition(" for ")[0]
        return ThreadDump(
            ORIGIN,
            threads,
            vm=banner,
            jdk=replace(machine.release.jdk, told_by=ORIGIN),
            deadlocks=deadlocks,
            complete=not lost and bool(threads),
            unread=unread,
        )

    def _again(self, gone: list[int], seen: list[_Seen]) -> int:
        """Look once more at those that could not be read: one that had just begun lies in pages we had from before.

        They are added to *seen*; how many of the others are there still.
        """
        listed = set(self._machine.threads.all()) if gone else set[int]()
        again = [address for address in gone if address in listed]
        if not again:
            return 0
        self._machine.forget()
        found = {address: self._seen(address) for address in again}
        seen += [one for one in found.values() if one is not None]
        lost = {address for address, one in found.items() if one is None}
        return len(lost & set(self._machine.threads.all())) if lost else 0

    # --- one thread --------------------------------------------------------------------------------------------------

    def _seen(self, address: int) -> _Seen | None:
        """One thread; ``None`` where it is gone, or cannot be read at all."""
        threads = self._machine.threads
        try:
            nid = threads.kernel_id(address)
            if not nid:  # not started yet, or on its way out
                return None
            walk = self._machine.stack(address, self._registers(nid))
            obj = threads.object_of(address)
            told = threads.described(obj)
        except SpentError:
            raise
        except ValueError:
            return None
        self._note_initialisers(address, walk)
        frames, carried = self._split(address, self._frames(walk), walk)
        wanted, act = self._wanted(address, obj, told, frames)
        state = told.state or _NO_STATE
        lines = _lines(wanted, act)
        if carried is not None:  # what it waits for, its virtual thread waits for
            carried = replace(carried, nid=nid, locks=lines)
            lines = ()
        return _Seen(
            address,
            JavaThread(
                told.name or self._comm(nid) or UNNAMED,
                frames,
                lines,
                nid,
                state.name,
                state.activity,
                told.daemon,
                cut=bool(walk.problem) and carried is None,
                java_id=told.number or None,
                note=walk.problem if carried is None else "",
                address=address,
                detail=state.detail,
                reads=self._file_read(nid, walk),
            ),
            wanted,
            act,
            carried,
        )

    def _frames(self, walk: Walk) -> tuple[Frame, ...]:
        found = tuple(
            self._frame(frame.method, frame.bci) for frame in walk.frames if frame.method != REST
        )
        self._shown += sum(len(frame.class_name) + len(frame.location) for frame in found)
        if self._shown > MAX_SHOWN:
            raise SpentError("its stacks are longer than any program's")
        self._machine.pages.keep(8 * len(found))
        return found

    def _frame(self, address: int, bci: int) -> Frame:
        found = self._lines.get((address, bci))
        if found is None:
            methods = self._machine.methods
            method = methods.method(address)
            try:
                location = methods.location(method, bci)
            except SpentError:
                raise
            except ValueError:
                location = method.file or "Unknown Source"
            self._machine.pages.keep(_FRAME + len(location))
            found = self._lines[address, bci] = Frame(method.class_name, method.name, location)
        return found

    def _split(
        self, address: int, frames: tuple[Frame, ...], walk: Walk
    ) -> tuple[tuple[Frame, ...], JavaThread | None]:
        """The frames of the thread itself, and the virtual thread that it carries (21+)."""
        at = next((i for i, frame in enumerate(frames) if frame.name == _ENTER_SPECIAL), None)
        rest = any(frame.method == REST for frame in walk.frames)
        if at is None and not rest:
            return frames, None
        cut = at + 1 if at is not None else _before_run(frames)
        obj = 0
        try:
            obj = self._machine.threads.mounted_on(address)
            told = self._machine.threads.described(obj)
        except SpentError:
            raise
        except ValueError:
            told = ThreadObject()
        state = told.state or _NO_STATE
        problem = walk.problem or (REST_IN_HEAP if rest else "")
        virtual = JavaThread(
            told.name or "virtual thread", frames[:cut], activity=state.activity, java_id=told.number or None,
            cut=bool(problem), note=problem, virtual=True, address=obj,
        )  # fmt: skip
        return frames[cut:], virtual

    def _wanted(
        self, address: int, obj: int, told: ThreadObject, frames: tuple[Frame, ...]
    ) -> tuple[Held | None, LockAct]:
        """What a thread waits for: a monitor to enter, one to be notified on, what it is parked for."""
        monitors = self._machine.monitors
        parked = told.state is not None and told.state.detail == "parking"
        try:
            if (held := monitors.wanted_by(address)) is not None:
                return held, LockAct.WAITING_TO_LOCK
            if (held := monitors.waited_on_by(address)) is not None:
                return held, LockAct.WAITING_ON
            if parked and frames:
                return monitors.parked_for(obj), LockAct.PARKING
        except SpentError:
            raise
        except ValueError:  # the collector moved it, or it is over
            pass
        return None, LockAct.PARKING

    def _note_initialisers(self, address: int, walk: Walk) -> None:
        for frame in walk.frames:
            if frame.method != REST:
                method = self._machine.methods.method(frame.method)
                if method.name == "<clinit>":
                    self._initialisers[method.holder] = address

    def _initialising(self, one: _Seen) -> _Seen:
        """A thread that waits for another to initialise a class says so; the JVM itself prints that from 17 on."""
        wanted = one.wanted
        if wanted is None or wanted.class_name != INIT_LOCK or one.act is LockAct.PARKING:
            return one
        klass = next((k for k in self._initialisers if self._guards(wanted, k)), 0)
        if not klass:
            return one._replace(thread=replace(one.thread, locks=()), wanted=None)
        line = LockLine(LockAct.CLASS_INIT, self._machine.klasses.name(klass))
        return one._replace(
            thread=replace(one.thread, locks=(line,)),
            wanted=wanted._replace(owner=self._initialisers[klass]),
            act=LockAct.CLASS_INIT,
        )

    def _guards(self, wanted: Held, klass: int) -> bool:
        try:
            return self._machine.monitors.guards(wanted.obj, klass)
        except SpentError:
            raise
        except ValueError:
            return False

    # --- from the kernel ---------------------------------------------------------------------------------------------

    def _task(self, nid: int, name: str) -> Reading[bytes]:
        return self._source.read(Ref(Space.PROCESS, f"task/{self._tids.get(nid, nid)}/{name}"))

    def _comm(self, nid: int) -> str:
        """The kernel's name of a thread (15 bytes, from 9 on the Java name's): where its own could not be had."""
        reading = self._task(nid, "comm")
        return (
            reading.value.decode("utf-8", "replace").rstrip("\n")
            if isinstance(reading, Got)
            else ""
        )

    def _file_read(self, nid: int, walk: Walk) -> str:
        """Which file it reads, where its frames are in a read and the kernel's table of descriptors is not had."""
        if not walk.frames or not self._is_read(walk.frames[0].method):
            return ""
        reading = self._task(nid, "syscall")
        call = procfs.syscall(reading.value) if isinstance(reading, Got) else None
        if call is None or call.number not in _READS or not call.args:
            return ""
        descriptor = call.args[0] & 0xFFFFFFFF
        link = self._source.read(Ref(Space.PROCESS, f"fd/{descriptor}", Ask.LINK))
        return "" if isinstance(link, Got) else self._machine.files.path(walk.frames, descriptor)

    def _is_read(self, method: int) -> bool:
        if not method:
            return False
        found = self._machine.methods.method(method)
        return found.native and found.name.startswith(("read", "pread"))

    def _registers(self, nid: int) -> Registers | None:
        """Where the thread stands, of a core or of a process that is stopped: nobody else's registers hold still."""
        if not self._stopped:
            return None
        reading = self._task(nid, "registers")
        if isinstance(reading, Got):
            from seedstall.parse import elfcore  # noqa: PLC0415 - only a core has them

            told = elfcore.registers(reading.value)
            return Registers(told.get("rsp", 0), told.get("rip", 0), told.get("rbp", 0))
        reading = self._task(nid, "syscall")
        if isinstance(reading, Missing):
            return None
        call = procfs.syscall(reading.value)
        return Registers(call.stack_pointer, call.program_counter) if call.stack_pointer else None

    # --- who holds what ----------------------------------------------------------------------------------------------

    def _with_owners(self, seen: list[_Seen]) -> Iterator[JavaThread]:
        """The threads, each with the locks that it was found to hold while others wait for them."""
        held: dict[int, list[LockLine]] = {}
        depths = {one.address: len(one.thread.frames) for one in seen}
        for one in seen:
            wanted = one.wanted
            if wanted is None or not wanted.owner or wanted.owner == one.address:
                continue
            if one.act is LockAct.CLASS_INIT:
                continue
            act = LockAct.OWNED if one.act is LockAct.PARKING else LockAct.LOCKED
            # Which of the owner's frames locked it is not known: its outermost stands for all.
            depth = max(0, depths.get(wanted.owner, 0) - 1)
            line = LockLine(act, wanted.class_name, _shown(wanted.obj), depth)
            lines = held.setdefault(wanted.owner, [])
            if line not in lines:
                lines.append(line)
        for one in seen:
            lines = held.get(one.address, [])
            yield replace(one.thread, locks=(*one.thread.locks, *lines)) if lines else one.thread
            if one.carried is not None:
                yield one.carried

    def _deadlocks(self, seen: list[_Seen]) -> Iterator[tuple[str, ...]]:
        """Circles of threads that wait for each other.

        The threads were not read at one time: two that take turns at two locks, and never hold both, would make a
        circle of links of which no two stood together. So all links of a circle are read again, in a while in which
        none of its threads ran: who does not run neither takes a lock nor gives one up.
        """
        waits = {
            one.address: one.wanted.owner
            for one in seen
            if one.wanted is not None
            and one.wanted.owner not in (0, one.address)
            and one.act is not LockAct.WAITING_ON
        }
        by_address = {one.address: one for one in seen}
        for circle in _circles(waits):
            members = [by_address[address] for address in circle]
            if self._holds(members):
                yield tuple(one.thread.name for one in members)

    def _holds(self, circle: list[_Seen]) -> bool:
        for _ in range(_DEADLOCK_TRIES):
            before = [self._rest(one) for one in circle]
            self._machine.forget()
            if not all(self._still(one) for one in circle):
                return False
            if self._stopped or (None not in before and before == [self._rest(o) for o in circle]):
                return True
        return False

    def _rest(self, one: _Seen) -> tuple[int, int] | None:
        """How often a thread that sleeps has been switched; ``None`` for one that runs, or of which nobody tells."""
        reading = self._task(one.thread.nid or 0, "status")
        return procfs.switches(reading.value) if isinstance(reading, Got) else None

    def _still(self, one: _Seen) -> bool:
        threads = self._machine.threads
        try:
            obj = threads.object_of(one.address)
            frames = one.thread.frames
            wanted, act = self._wanted(one.address, obj, threads.described(obj), frames)
        except ValueError:
            return False
        owner = one.wanted.owner if one.wanted is not None else 0
        if wanted is None:
            return False
        if one.act is LockAct.CLASS_INIT:
            klasses = (klass for klass, thread in self._initialisers.items() if thread == owner)
            return any(self._guards(wanted, klass) for klass in klasses)
        return act is one.act and wanted.owner == owner


REST_IN_HEAP = "the rest of this virtual thread's frames lies in the heap, where no walk goes"


def _before_run(frames: tuple[Frame, ...]) -> int:
    """Where the carrier's frames begin in a stack whose virtual thread's bottom is in the heap."""
    run = "jdk.internal.vm.Continuation.run"
    return next((i for i, frame in enumerate(frames) if frame.name == run), len(frames))


def _lines(wanted: Held | None, act: LockAct) -> tuple[LockLine, ...]:
    if wanted is None:
        return ()
    return (LockLine(act, wanted.class_name, _shown(wanted.obj)),)


def _shown(address: int) -> str:
    """An object's address as dumps print it."""
    return f"{address:#018x}"


def _circles(waits: dict[int, int]) -> Iterator[tuple[int, ...]]:
    """Each circle of *waits* (who waits for whom) once."""
    done: set[int] = set()
    for start in waits:
        path: dict[int, None] = {}
        here = start
        while here in waits and here not in done:
            done.add(here)
            path[here] = None
            here = waits[here]
        if here in path:
            members = list(path)
            yield tuple(members[members.index(here) :])


def _is_stopped(source: Source) -> bool:
    """Whether no thread of it runs: stopped by a signal or a debugger, or a core."""
    reading = source.read(Ref(Space.PROCESS, "stat"))
    try:
        stat = procfs.stat(reading.value) if isinstance(reading, Got) else None
    except ValueError:
        return False
    if stat is None:
        return False
    return stat.state in _STOPPED or isinstance(
        source.read(Ref(Space.PROCESS, f"task/{stat.pid}/registers")), Got
    )


def _host_tids(source: Source) -> dict[int, int]:
    """Thread ids as the JVM knows them to those of our ``/proc``, where the two differ (a pid namespace)."""
    status = source.read(Ref(Space.PROCESS, "status"))
    try:
        apart = isinstance(status, Got) and len(procfs.status(status.value).ns_pids) > 1
    except ValueError:
        apart = False
    listed = source.read(Ref(Space.PROCESS, "task", Ask.LIST)) if apart else None
    found: dict[int, int] = {}
    for name in procfs.names(listed.value)[:MAX_TASKS] if isinstance(listed, Got) else ():
        reading = source.read(Ref(Space.PROCESS, f"task/{name}/status"))
        try:
            told = procfs.status(reading.value) if isinstance(reading, Got) else None
        except ValueError:
            continue
        if told is not None and told.ns_pids:
            found[told.ns_pids[-1]] = told.pid
    return found
