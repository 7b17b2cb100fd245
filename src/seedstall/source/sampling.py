"""Processes looked at again and again, for less than a hundredth of a core. Passive: reads of ``/proc`` alone.

What makes it cheap: a thread whose scheduler count (``schedstat``) has not changed has not run, so it is where it was.
One such read of 3 us a thread is all that an idle thread costs; its system call, state and descriptor are read
when it has run. Where the kernel keeps no count (CONFIG_SCHED_INFO is off) its CPU time takes the count's place.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, field

from seedstall.knowledge import syscalls
from seedstall.knowledge.kernel import waits_for_random
from seedstall.knowledge.vmthreads import OF_MACHINE, SEEDER
from seedstall.model.evidence import Ask, Got, Ref, Space
from seedstall.model.recording import (
    OUTSIDE,
    RUNNING,
    UNSEEN,
    WCHAN,
    Counters,
    Place,
    Recording,
    SampledProcess,
    SampledThread,
    Span,
    is_random,
)
from seedstall.model.samples import Ending
from seedstall.model.tasks import FileKind
from seedstall.parse import procfs, sockets
from seedstall.source import host

MAX_THREADS = 4096
"""Threads of a process that are looked at."""
MAX_SPANS = 20_000
"""Spans kept before the looks are made half as often; and so on."""
MAX_PLACES = 5_000
MAX_KEPT = 100_000
"""Threads remembered, those that have ended too."""
SHORTEST_MS = 20
LONGEST_MS = 1000
SHARE = 0.006
"""The part of a core that looking may take, in the long run."""
CREDIT_S = 0.004
"""CPU time that looking may take besides: with it the whole stays below a hundredth of a core from one second on."""
MACHINES_TURN = 8
MANY = 256
"""Idle threads that each look sees: of 2,000 in a pool it would cost 17 ms to see them all, which is no percent."""
SETTLED_MS = 300
"""A wait on a socket that has lasted so long is worth a look at what is at its other end."""
SAME_SEED_MS = 300
"""Two reads of one seed lie no further apart, as far as looks can tell."""
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024
HARDLY_US = 100_000
"""CPU time in which little is done: a thread that has run for less than that was waiting."""
NET_LIMIT = 4 << 20
"""Bytes of ``/proc/PID/net/tcp`` looked at: 27,000 connections."""

_ON_SOCKETS = frozenset(("connect", "recvfrom", "recvmsg", "read", "readv", "accept", "accept4"))
_ON_MANY = frozenset(("poll", "ppoll", "select", "pselect6"))
_OF_DESCRIPTOR = syscalls.READS | _ON_SOCKETS | frozenset(("write", "fsync", "fdatasync", "flock"))
_DEVICES = {(1, 8): FileKind.RANDOM, (1, 9): FileKind.URANDOM}


@dataclass(slots=True)
class _Thread:
    """One thread, and the span it is in."""

    tid: int
    inner_tid: int
    comm: str
    started: int
    count: bytes
    cpu_us: int
    queued_us: int
    state: str = "?"
    call: int = UNSEEN
    args: tuple[int, ...] = ()
    place: int = -1
    since_ms: int = 0
    span_cpu: int = 0
    span_queued: int = 0
    renamed: int = 0
    socket_seen: bool = False
    machines_own: bool = False
    idle: bool = False
    """Whether it had not run when it was last looked at."""
    born_ms: int = 0
    seeding_ms: int = 0
    """When its present wait for random bytes began: a read that got some of its bytes and goes on is the same one."""
    seeded_ms: int = -SAME_SEED_MS


@dataclass(slots=True)
class Journal:
    """What several processes' samplers write together."""

    spans: list[Span] = field(default_factory=list[Span])
    places: list[Place] = field(default_factory=list[Place])
    threads: dict[int, SampledThread] = field(default_factory=dict[int, SampledThread])
    processes: list[SampledProcess] = field(default_factory=list[SampledProcess])
    counters: list[Counters] = field(default_factory=list[Counters])
    throttled: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def place(self, place: Place) -> int:
        """Its index; -1 where there are too many."""
        if place in self.places[-50:]:
            return len(self.places) - 1 - self.places[::-1].index(place)
        if len(self.places) >= MAX_PLACES:
            return -1
        self.places.append(place)
        return len(self.places) - 1


class ProcessSampler:
    """One process, looked at whenever `look` is called. Close it at the end."""

    def __init__(self, pid: int, journal: Journal, now_ms: int, *, jvm: bool) -> None:
        """Open its ``/proc`` folder.

        Raises:
            OSError: it is not there.
        """
        self.pid = pid
        self.jvm = jvm
        self.since_ms = now_ms
        self._fd = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._journal = journal
        self._threads: dict[int, _Thread] = {}
        self._last_ms = now_ms
        self._looks = 0
        self._state = "?"
        self._machine = ""
        self.name = ""
        self._inner = self._in_namespace()
        self._cpu_stat = _cpu_stat(pid) if jvm else ""
        self._worked = (-1, now_ms, 0)
        """The main thread, when it had last done some work, and what it had run by then."""

    def become_jvm(self) -> None:
        """It has loaded a JVM: java itself, or a script that gave way to it."""
        self.jvm = True
        self._machine = ""
        self._cpu_stat = _cpu_stat(self.pid)
        for thread in self._threads.values():
            thread.renamed = 0  # its name was the script's

    # --- looking -----------------------------------------------------------------------------------------------------

    def look(self, now_ms: int) -> bool:
        """Take one sample; ``False`` where the process has ended."""
        try:
            line = self._read("stat")
            leader = procfs.stat(line)
            tids = os.listdir(self._task_folder())  # noqa: PTH208 - of a descriptor's folder, often
        except (OSError, ValueError):
            return False
        if leader.state in "ZXx" and leader.threads <= 1:
            return False
        self._state = leader.state
        self.name = leader.comm
        seen = set(tids[:MAX_THREADS])
        self._looks += 1
        turns = 1 + len(seen) // MANY
        for name in seen:
            known = self._threads.get(int(name))
            if known is None or self._has_its_turn(known, turns):
                self._thread(int(name), now_ms)
        for tid in [tid for tid in self._threads if str(tid) not in seen]:
            self._finish(self._threads.pop(tid), now_ms)
        if self._cpu_stat:
            self._note_throttling(now_ms)
        if self.jvm and self._looks % MACHINES_TURN == 1:
            self._count_up(line, now_ms)
        self._last_ms = now_ms
        return True

    def _has_its_turn(self, known: _Thread, turns: int) -> bool:
        """Whether this look sees it.

        The JVM's own threads are two thirds of all in a start, and tell little: now and then is enough. Of very many
        idle ones each has its turn; the first thread and main have every one.
        """
        if known.machines_own:
            return not self._looks % MACHINES_TURN
        if turns == 1 or not known.idle or known.tid in (self.pid, self._worked[0]):
            return True
        return (known.tid + self._looks) % turns == 0

    def _thread(self, tid: int, now_ms: int) -> None:
        known = self._threads.get(tid)
        stopped = self._state in "Tt"
        try:
            count = self._count(tid)
            if known is None:
                self._threads[tid] = self._new(tid, count, now_ms)
                return
            known.idle = count == known.count
            if known.idle and stopped == (known.state in "Tt"):
                self._settled(known, now_ms)
                return
            self._moved(known, count)
        except (OSError, ValueError):
            if known is not None:  # it ended just now
                self._finish(self._threads.pop(tid), now_ms)

    def _count(self, tid: int) -> bytes:
        try:
            return self._read(f"task/{tid}/schedstat")
        except FileNotFoundError:
            return b"%d 0 0" % (procfs.stat(self._read(f"task/{tid}/stat")).cpu_ms * 1_000_000)

    def _new(self, tid: int, count: bytes, now_ms: int) -> _Thread:
        told = procfs.stat(self._read(f"task/{tid}/stat"))
        cpu, queued = _times(count)
        # Its counts are all of its life: what of it lies before we looked is not ours to tell.
        since = self._last_ms
        late = self._looks == 1 and since < now_ms
        thread = _Thread(tid, self._inner_tid(tid), told.comm, told.start_ticks, count, cpu, queued)
        thread.since_ms = thread.born_ms = thread.seeding_ms = since
        if since < now_ms:
            thread.span_cpu = min(cpu, (now_ms - since) * 1000)
            thread.span_queued = min(queued, (now_ms - since) * 1000)
        if late:  # of a JVM that ran before we came only the counts are known
            self._close_span(thread, now_ms)
            thread.since_ms, thread.span_cpu, thread.span_queued = now_ms, 0, 0
        thread.state = told.state
        thread.call, thread.args = self._call(tid, told.state)
        thread.place = self._place_of(thread)
        return thread

    def _moved(self, known: _Thread, count: bytes) -> None:
        """It ran since the last look: what it used, and where it is now."""
        cpu, queued = _times(count)
        used, waited = max(0, cpu - known.cpu_us), max(0, queued - known.queued_us)
        known.count, known.cpu_us, known.queued_us = count, cpu, queued
        told = procfs.stat(self._read(f"task/{known.tid}/stat"))
        call, args = self._call(known.tid, told.state)
        if known.renamed < 3:  # noqa: PLR2004 - a thread gets its name soon after it was started
            known.renamed += 1
            known.comm = told.comm
            known.machines_own = told.comm.startswith(OF_MACHINE)
        if (call, _key(args, call), told.state in "DTt") != (
            known.call,
            _key(known.args, known.call),
            known.state in "DTt",
        ):
            self._close_span(known, self._last_ms)
            if self._in_random(known):
                known.seeded_ms = self._last_ms
            known.since_ms = self._last_ms
            known.span_cpu = known.span_queued = 0
            known.call, known.args, known.state = call, args, told.state
            known.socket_seen = False
            known.place = self._place_of(known)
            if self._last_ms - known.seeded_ms > SAME_SEED_MS:
                known.seeding_ms = self._last_ms
        known.span_cpu += used
        known.span_queued += waited

    def _settled(self, known: _Thread, now_ms: int) -> None:
        """It has not run: after a while a wait on a socket is worth a look at its other end, once."""
        if known.socket_seen or now_ms - known.since_ms < SETTLED_MS:
            return
        known.socket_seen = True
        name = self._name_of(known.call)
        place = self._journal.places[known.place] if known.place >= 0 else None
        if name in _ON_MANY:
            known.place = self._peer_of_many()
        elif place is not None and place.kind == FileKind.SOCKET and name in _ON_SOCKETS:
            known.place = self._peer_of(place)

    def _call(self, tid: int, state: str) -> tuple[int, tuple[int, ...]]:
        try:
            call = procfs.syscall(self._read(f"task/{tid}/syscall"))
        except (OSError, ValueError):
            return (RUNNING if state == "R" else UNSEEN), ()
        if call.running:
            return RUNNING, ()
        if call.number is None:
            return OUTSIDE, ()
        return call.number, call.args[:4]

    # --- descriptors -------------------------------------------------------------------------------------------------

    @property
    def machine(self) -> str:
        """Its architecture, by its executable."""
        if not self._machine:
            with host.HostSource(self.pid) as source:
                header = source.read(Ref(Space.PROCESS, host.EXE_HEADER))
            try:
                told = procfs.elf_machine(header.value) if isinstance(header, Got) else (62, 64)
            except ValueError:
                told = (62, 64)
            self._machine = syscalls.machine_of(*told) or "x86_64"
        return self._machine

    def _name_of(self, call: int) -> str:
        return syscalls.wait_of(self.machine, call) if call >= 0 else ""

    def _place_of(self, thread: _Thread) -> int:
        if thread.call == UNSEEN:
            return self._wchan(thread.tid)
        if thread.call < 0 or not thread.args or self._name_of(thread.call) not in _OF_DESCRIPTOR:
            return -1
        fd = thread.args[0] & 0xFFFFFFFF
        try:
            path = os.readlink(f"fd/{fd}", dir_fd=self._fd)
        except OSError:
            return -1
        kind = FileKind.UNKNOWN
        if path.startswith("socket:"):
            kind = FileKind.SOCKET
        elif path.startswith("pipe:"):
            kind = FileKind.FIFO
        elif "/dev/" in path:  # as seen from outside its root, or inside it
            kind = self._device(fd)
        elif path.startswith("/"):
            kind = FileKind.REGULAR
        return self._journal.place(Place(fd, path, str(kind)))

    def _wchan(self, tid: int) -> int:
        """Where the system call may not be read the wait channel may (Yama 1, same user; kernel facts, section 5)."""
        try:
            name = procfs.wchan(self._read(f"task/{tid}/wchan"))
        except OSError:
            return -1
        return -1 if name is None else self._journal.place(Place(-1, name, WCHAN))

    def _device(self, fd: int) -> FileKind:
        try:
            found = os.stat(f"fd/{fd}", dir_fd=self._fd)
        except OSError:
            return FileKind.UNKNOWN
        if stat.S_ISFIFO(found.st_mode):
            return FileKind.FIFO
        if not stat.S_ISCHR(found.st_mode):
            return FileKind.REGULAR if stat.S_ISREG(found.st_mode) else FileKind.OTHER
        return _DEVICES.get((os.major(found.st_rdev), os.minor(found.st_rdev)), FileKind.CHAR)

    def _peer_of(self, place: Place) -> int:
        inode = place.path.removeprefix("socket:[").removesuffix("]")
        for found in self._connections({inode}):
            return self._journal.place(
                place._replace(peer=found.peer, peer_state=found.state, protocol=found.protocol)
            )
        return self._journal.place(place)

    def _peer_of_many(self) -> int:
        """Of a poll, whose descriptors stand in memory: a connection being made, or a question to a name server."""
        found = [
            c
            for c in self._connections(self._sockets())
            if (c.protocol, c.state) == ("tcp", sockets.SYN_SENT) or c.peer.endswith(":53")
        ]
        for c in found[:1]:
            return self._journal.place(Place(-1, "", FileKind.SOCKET, c.peer, c.state, c.protocol))
        return -1

    def _sockets(self) -> set[str]:
        inodes: set[str] = set()
        for name in os.listdir(f"/proc/self/fd/{self._fd}/fd")[:20_000]:  # noqa: PTH208
            try:
                link = os.readlink(f"fd/{name}", dir_fd=self._fd)
            except OSError:
                continue
            if link.startswith("socket:["):
                inodes.add(link[8:-1])
        return inodes

    def _connections(self, inodes: set[str]) -> list[sockets.Connection]:
        found: list[sockets.Connection] = []
        for table in ("tcp", "tcp6", "udp", "udp6"):
            try:
                data = self._read(f"net/{table}", NET_LIMIT)
            except OSError:
                continue
            found += [c for c in sockets.connections(data, table) if c.inode in inodes]
        return found

    def listens(self, port: int) -> bool:
        """Whether one of its own sockets listens at that TCP port."""
        for table in ("tcp", "tcp6"):
            try:
                listening = sockets.listening(self._read(f"net/{table}", NET_LIMIT), port)
                if listening and listening & self._sockets():
                    return True
            except OSError:
                continue
        return False

    # --- what stands still -------------------------------------------------------------------------------------------

    def seeding_ms(self, now_ms: int) -> int:
        """How long the longest of its current waits for random bytes has lasted; 0 for none.

        The JDK's threaded seeder counts from its thread's start (it bears its name in the kernel from 9 on).
        """
        waits = [now_ms - t.seeding_ms for t in self._threads.values() if self._in_random(t)]
        waits += [now_ms - t.born_ms for t in self._threads.values() if t.comm.startswith(SEEDER)]
        return max(waits, default=0)

    def _in_random(self, thread: _Thread) -> bool:
        if self._name_of(thread.call) == "getrandom":
            return True
        if thread.place >= 0 and self._journal.places[thread.place].kind == WCHAN:
            return waits_for_random(self._journal.places[thread.place].path) is not None
        if thread.place < 0 or self._name_of(thread.call) not in syscalls.READS:
            return False
        return is_random(self._journal.places[thread.place])

    def still_ms(self, now_ms: int) -> int:
        """How long its main thread has hardly run, in waits that are none for clients; 0 where it works.

        It may have woken meanwhile: one that waits for a byte at a time does.
        """
        main = main_thread(list(self._threads.values()), self.pid)
        if main is None:
            return 0
        tid, _, cpu_us = self._worked
        if tid != main.tid or main.cpu_us - cpu_us > HARDLY_US:
            self._worked = (main.tid, now_ms, main.cpu_us)
        if main.call < 0 or self._name_of(main.call).startswith(("accept", "epoll")):
            return 0
        return now_ms - self._worked[1]

    # --- the end -----------------------------------------------------------------------------------------------------

    def close(self, now_ms: int) -> None:
        """Write down what it was in, and give the descriptor back."""
        if self._fd < 0:
            return
        for thread in self._threads.values():
            self._finish(thread, now_ms)
        self._threads.clear()
        self._journal.processes.append(
            SampledProcess(
                self.pid, self.name, self.jvm, self._machine or "x86_64", self.since_ms, now_ms
            )
        )
        os.close(self._fd)
        self._fd = -1

    def _finish(self, thread: _Thread, now_ms: int) -> None:
        self._close_span(thread, now_ms)
        if len(self._journal.threads) >= MAX_KEPT and thread.tid not in self._journal.threads:
            return
        self._journal.threads[thread.tid] = SampledThread(
            self.pid, thread.tid, thread.inner_tid, thread.comm, thread.started
        )

    def _close_span(self, thread: _Thread, until_ms: int) -> None:
        if until_ms > thread.since_ms:
            self._journal.spans.append(
                Span(
                    thread.tid,
                    thread.since_ms,
                    until_ms,
                    thread.state,
                    thread.call,
                    thread.args,
                    thread.span_cpu,
                    thread.span_queued,
                    thread.place,
                )
            )

    # --- reading -----------------------------------------------------------------------------------------------------

    def _task_folder(self) -> str:
        return f"/proc/self/fd/{self._fd}/task"

    def _read(self, path: str, limit: int = 8192) -> bytes:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._fd)
        try:
            data = os.read(fd, limit)
            if limit <= 8192 or not data:  # noqa: PLR2004 - the kernel gives these in one piece
                return data
            parts, size = [data], len(data)
            while size < limit and (data := os.read(fd, limit - size)):
                parts.append(data)
                size += len(data)
            return b"".join(parts)
        finally:
            os.close(fd)

    def _in_namespace(self) -> bool:
        try:
            return len(procfs.status(self._read("status")).ns_pids) > 1
        except (OSError, ValueError):
            return False

    def _inner_tid(self, tid: int) -> int:
        if not self._inner:
            return tid
        pids = procfs.status(self._read(f"task/{tid}/status")).ns_pids
        return pids[-1] if pids else tid

    def _count_up(self, stat_line: bytes, now_ms: int) -> None:
        """Faults and memory from the line that was read anyway (fields 12 and 24, proc(5)), and ``io``."""
        fields = stat_line.rpartition(b") ")[2].split()
        try:
            told = procfs.io_read_bytes(self._read("io"))
        except OSError:
            told = None
        try:
            now = Counters(
                now_ms, int(fields[9]), int(fields[21]) * PAGE_KIB, -1 if told is None else told
            )
        except (ValueError, IndexError):
            return
        # The first and the latest: what lies between is their difference.
        self._journal.counters[1:] = [now]

    def _note_throttling(self, now_ms: int) -> None:
        try:
            with open(self._cpu_stat, "rb") as file:  # noqa: PTH123 - read at each look
                value = procfs.throttled_us(file.read(4096))
        except OSError:
            return
        known = self._journal.throttled
        if value is not None and (not known or known[-1][1] != value):
            known.append((now_ms, value))


def _times(count: bytes) -> tuple[int, int]:
    """``schedstat``: what it ran and what it queued, in microseconds.

    Raises:
        ValueError: it is not that.
    """
    cpu, queued = count.split(None, 2)[:2]
    return int(cpu) // 1000, int(queued) // 1000


def _key(args: tuple[int, ...], call: int) -> tuple[int, ...]:
    """What makes two calls the same place: for reads the descriptor and the length; a futex's address changes."""
    return (args[0], args[2]) if call >= 0 and len(args) > 2 else ()  # noqa: PLR2004


def main_thread(threads: list[_Thread], pid: int) -> _Thread | None:
    """The thread that runs the program's main method: the first that java's launcher starts, before the JVM is there.

    The process's own first thread waits for it (``ContinueInNewThread``, java_md.c, since JDK 6). Where a
    program embeds the JVM (jsvc), the first thread is the one: then the second is the JVM's own, by its name, or on 8,
    which names none, by the little that it has run.
    """
    second = min(
        (t for t in threads if t.tid != pid), key=lambda t: (t.started, t.tid), default=None
    )
    first = next((t for t in threads if t.tid == pid), None)
    if second is None or second.comm.startswith(OF_MACHINE):
        return first
    return second if first is None or second.cpu_us >= first.cpu_us else first


def _cpu_stat(pid: int) -> str:
    """The path of ``cpu.stat`` of the nearest control group that limits its CPU; ``""`` for none."""
    with host.HostSource(pid) as source:
        groups = source.read(Ref(Space.PROCESS, "cgroup"))
        mounts = source.read(Ref(Space.KERNEL, "proc/self/mountinfo"))
        if not isinstance(groups, Got) or not isinstance(mounts, Got):
            return ""
        try:
            folders = procfs.cgroup_folders(
                procfs.cgroups(groups.value), procfs.mounts(mounts.value, "cgroup"), "cpu"
            )
        except ValueError:
            return ""
        for folder in folders or ():
            path = f"{folder.strip('/')}/cpu.stat"
            stat = source.read(Ref(Space.KERNEL, path, Ask.CONTENT))
            if isinstance(stat, Got) and procfs.throttled_us(stat.value) is not None:
                return f"/{path}"
    return ""


class Pace:
    """How long to wait between looks, so that they cost no more than `SHARE` of a core and `CREDIT_S` once.

    The first looks find everything new and cost several times what the later ones do: the credit is for them, so that a
    start is seen closely from its beginning.
    """

    def __init__(self) -> None:
        """From now on, by this thread's own CPU clock."""
        self._began = time.monotonic()
        self._before = time.thread_time()
        self._spent_s = 0.0
        self.shortest_ms = SHORTEST_MS
        self._limit = MAX_SPANS

    def after_look(self) -> float:
        """Seconds to wait now."""
        self.count()
        # When all that was spent so far is paid for.
        due = self._began + (self._spent_s - CREDIT_S) / SHARE
        return max(self.shortest_ms / 1000, min(LONGEST_MS / 1000, due - time.monotonic()))

    def thin_out(self, spans: int) -> None:
        """Look half as often each time that `MAX_SPANS` more were written down: a long watch takes bounded memory."""
        while spans > self._limit:
            self._limit += MAX_SPANS
            self.shortest_ms *= 2

    def count(self) -> None:
        """Count what was spent since the last time."""
        now = time.thread_time()
        self._spent_s += now - self._before
        self._before = now

    def skip(self) -> None:
        """What was spent since the last time was no look (a thread dump was asked for): it is not counted."""
        self._before = time.thread_time()

    @property
    def own_cpu_us(self) -> int:
        """What all looks cost so far, in microseconds."""
        return int(self._spent_s * 1e6)


def recording_of(
    journal: Journal,
    *,
    watched_ms: int,
    ending: Ending,
    samples: int,
    own_cpu_us: int,
    from_start: bool,
    exit_code: int | None = None,
    target: str = "",
    dumped_ms: int | None = None,
) -> Recording:
    """What was written down, as one value."""
    return Recording(
        watched_ms=watched_ms,
        from_start=from_start,
        ending=ending,
        samples=samples,
        own_cpu_us=own_cpu_us,
        exit_code=exit_code,
        target=target,
        dumped_ms=dumped_ms,
        processes=tuple(journal.processes),
        threads=tuple(journal.threads.values()),
        spans=tuple(sorted(journal.spans, key=lambda span: (span.tid, span.since_ms))),
        places=tuple(journal.places),
        throttled=tuple(journal.throttled),
        counters=tuple(journal.counters),
    )
