"""The process and its threads as the kernel shows them, without touching either."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from seedstall.knowledge import syscalls
from seedstall.knowledge.kernel import waits_for_partner
from seedstall.knowledge.seedsource import destination
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.model.seeding import SeedSource
from seedstall.model.tasks import FileKind, KernelTask, OpenFile, Syscall, Tasks
from seedstall.parse import procfs
from seedstall.source.base import Source

T = TypeVar("T")

MAX_TASKS = 20_000
MAX_FILES = 20_000

_ENDED = "ZXx"
"""Zombie, dead."""
_RANDOM = (1, 8)
_URANDOM = (1, 9)
_DEFAULT_MACHINE = "x86_64"


def jvm_process(source: Source) -> JvmProcess:
    """The process: ids, state, age.

    Raises:
        Unavailable: its ``stat`` or ``status`` cannot be had, or it has ended.
        ValueError: one of them is malformed.
    """
    stat = procfs.stat(_required(source, "stat"))
    if stat.state in _ENDED and stat.threads <= 1:  # a leader may end before its threads do
        raise Unavailable(
            Missing(
                Why.VANISHED, (Ref(Space.PROCESS, "stat"),), "the process ended while we looked"
            )
        )
    status = procfs.status(_required(source, "status"))
    inner = status.ns_pids[-1] if status.ns_pids else _inner_pid_before_4_1(source, stat.pid)
    return JvmProcess(
        pid=stat.pid,
        inner_pid=inner,
        uid=status.uids[1],
        gid=status.gids[1],
        state=stat.state,
        start_ticks=stat.start_ticks,
        threads=status.threads,
        age_ms=age_ms(source, stat.start_ticks),
        in_container=len(status.ns_pids) > 1 or inner != stat.pid,
        comm=stat.comm,
    )


def _required(source: Source, path: str) -> bytes:
    reading = source.read(Ref(Space.PROCESS, path))
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    return reading.value


def _inner_pid_before_4_1(source: Source, pid: int) -> int:
    """``status`` has no NSpid before Linux 4.1; there the first line of ``sched`` tells the innermost pid."""
    reading = source.read(Ref(Space.PROCESS, "sched"))
    return (procfs.sched_pid(reading.value) if isinstance(reading, Got) else None) or pid


def age_ms(source: Source, start_ticks: int) -> int | None:
    """The age of a process that was started then; ``None`` where the uptime is not known or another kernel's."""
    uptime = parsed(procfs.uptime_ms, source.read(Ref(Space.KERNEL, "proc/uptime")))
    if uptime is None:
        return None
    age = uptime - start_ticks * (1000 // procfs.TICKS_PER_SECOND)
    return (
        age if age >= 0 else None
    )  # lxcfs and time namespaces show another uptime than the kernel's


def parsed(parser: Callable[[bytes], T], reading: Reading[bytes]) -> T | None:
    """What a reading says; ``None`` where it is missing or malformed. Threads come and go while we look."""
    if isinstance(reading, Missing):
        return None
    try:
        return parser(reading.value)
    except ValueError:
        return None


# --- threads ---------------------------------------------------------------------------------------------------------


def tasks(source: Source, process: JvmProcess | None, seed: SeedSource | None = None) -> Tasks:
    """Every thread: what it waits in, on which descriptor; and the open random devices.

    Raises:
        Unavailable: the list of threads cannot be had.
    """
    listed = source.read(Ref(Space.PROCESS, "task", Ask.LIST))
    if isinstance(listed, Missing):
        raise Unavailable(listed)
    tids = sorted(
        int(name) for name in procfs.names(listed.value) if name.isascii() and name.isdigit()
    )
    if tids:
        _require_alive(source, tids)
    look = Look(source, "", inner=process is not None and process.in_container, seed=seed)
    found = [
        task for tid in tids[:MAX_TASKS] if (task := look.task(f"task/{tid}/", tid)) is not None
    ]
    files = look.random_files()
    return Tasks(
        tasks=tuple(found),
        random_files=files,
        age_ms=process.age_ms if process is not None else None,
        machine=look.machine or _DEFAULT_MACHINE,
        denied=look.told,
        of_core=isinstance(source.read(Ref(Space.PROCESS, "core")), Got),
        unseen=_unseen(source, tids[:MAX_TASKS]) if len(found) < len(tids[:MAX_TASKS]) else "",
    )


def _unseen(source: Source, tids: list[int]) -> str:
    """Of listed threads that nobody looked at (a capture whose time was over): how many, and why; ``""`` for none.

    Those that ended meanwhile are none.
    """
    readings = (source.read(Ref(Space.PROCESS, f"task/{tid}/stat")) for tid in tids)
    lost = [
        reading
        for reading in readings
        if isinstance(reading, Missing) and reading.why not in (Why.VANISHED, Why.ABSENT)
    ]
    if not lost:
        return ""
    return f"{len(lost)} of its {len(tids)} threads were not looked at: {lost[0].detail or lost[0].why}"


def tasks_besides(
    source: Source, process: JvmProcess, known: frozenset[int]
) -> tuple[KernelTask, ...]:
    """The threads that are none of *known*, by their ids in the process's own namespace."""
    listed = source.read(Ref(Space.PROCESS, "task", Ask.LIST))
    names = procfs.names(listed.value) if isinstance(listed, Got) else ()
    tids = [int(name) for name in names if name.isascii() and name.isdigit()]
    if not process.in_container:
        tids = [tid for tid in tids if tid not in known]
    look = Look(source, "", inner=process.in_container)
    found = (look.task(f"task/{tid}/", tid) for tid in sorted(tids)[:MAX_TASKS])
    return tuple(task for task in found if task is not None and task.inner_tid not in known)


def _require_alive(source: Source, tids: list[int]) -> None:
    """A process without a single thread alive has ended: what it waited in is not known.

    Raises:
        Unavailable: that.
    """
    for tid in tids[:MAX_TASKS]:
        ref = Ref(Space.PROCESS, f"task/{tid}/stat")
        reading = source.read(ref)
        if isinstance(reading, Missing) and reading.why is not Why.VANISHED:
            return
        stat = parsed(procfs.stat, reading)
        if isinstance(reading, Got) and (stat is None or stat.state not in _ENDED):
            return
    raise Unavailable(
        Missing(
            Why.VANISHED,
            (Ref(Space.PROCESS, "task", Ask.LIST),),
            "the process ended while we looked",
        )
    )


class Look:
    """One pass over a process's threads: what holds for all of them is found out once.

    ``prefix`` stands before every path: empty for the target itself, else the path of a child's ``/proc`` in the kernel
    space.
    """

    def __init__(
        self, source: Source, prefix: str, *, inner: bool, seed: SeedSource | None = None
    ) -> None:
        """Look at nothing yet. *inner* is whether its thread ids differ from ours, *seed* what its generators read."""
        self._seed = destination(seed.value).path if seed is not None else ""
        self._source = source
        self._prefix = prefix
        self._space = Space.KERNEL if prefix else Space.PROCESS
        self._inner = inner
        self._files: dict[int, OpenFile | None] = {}
        self._remote: frozenset[int] | None = None
        self._stack_pointer = 0
        self._machine: str | None = None
        self.denied: dict[str, str] = {}

    @property
    def told(self) -> tuple[str, ...]:
        """What was denied, each reason once: ``syscall, fd: the process belongs to uid 0: ...``."""
        reasons = dict.fromkeys(self.denied.values())
        return tuple(
            f"{', '.join(what for what, why in self.denied.items() if why == reason)}: {reason}"
            for reason in reasons
        )

    def read(self, path: str, ask: Ask = Ask.CONTENT) -> Reading[bytes]:
        """Read one of its files, or say why not."""
        return self._source.read(Ref(self._space, self._prefix + path, ask))

    def task(self, folder: str, tid: int) -> KernelTask | None:
        """The thread whose files stand in *folder*; ``None`` where it ended meanwhile."""
        stat = parsed(procfs.stat, self.read(folder + "stat"))
        if stat is None or stat.state in _ENDED:
            return None
        reading = self.read(folder + "syscall")
        call = parsed(procfs.syscall, reading)
        denied = self._note("syscall", reading)
        if call is not None and call.number is not None:
            self._stack_pointer = self._stack_pointer or call.stack_pointer
            if not self.machine:  # a number of an architecture without a table says nothing
                call, denied = None, ("syscall",)
        blocked = self._call(call) if call is not None and call.number is not None else None
        wchan = self._wchan(folder, stat.state) if call is None or _may_be_random(blocked) else None
        return KernelTask(
            tid=tid,
            inner_tid=self._inner_tid(folder, tid),
            comm=stat.comm,
            state=stat.state,
            wchan=wchan,
            syscall=blocked,
            file=self._waited_on(blocked),
            running=call is not None and call.running,
            cpu_ms=stat.cpu_ms,
            denied=denied,
            asleep=blocked is not None and self._slept(folder, blocked),
            fifo=self._fifo
            if blocked is not None and blocked.name in syscalls.OPENS and waits_for_partner(wchan)
            else "",
        )

    @cached_property
    def _fifo(self) -> str:
        """The target's random device or seed source that is a FIFO, or may be one. A child's are not looked at."""
        if self._prefix:
            return ""
        for path in ("/dev/random", "/dev/urandom", *filter(None, (self._seed,))):
            reading = self._source.read(Ref(Space.ROOT, path.lstrip("/"), Ask.STAT))
            told = parsed(procfs.file_stat, reading)
            hidden = isinstance(reading, Missing) and reading.why is Why.DENIED
            if hidden or (told is not None and _format(told.mode) == _FIFO):
                return path
        return ""

    def _slept(self, folder: str, call: Syscall) -> bool:
        """Whether a core's registers show a read that was broken off; asked where no descriptor tells more."""
        if call.name not in syscalls.READS or self._waited_on(call) is not None:
            return False
        reading = self.read(folder + "registers")
        if not isinstance(reading, Got):
            return False
        from seedstall.parse.elfcore import was_asleep  # noqa: PLC0415 - only for cores

        return bool(parsed(was_asleep, reading))

    def _note(self, what: str, reading: Reading[bytes]) -> tuple[str, ...]:
        """Remember why *what* may not be read; the names of what one thread lacks."""
        if isinstance(reading, Got) or reading.why is not Why.DENIED:
            return ()
        self.denied.setdefault(what, reading.detail or str(reading.why))
        return (what,)

    def _inner_tid(self, folder: str, tid: int) -> int:
        if not self._inner:
            return tid
        status = parsed(procfs.status, self.read(folder + "status"))
        return status.ns_pids[-1] if status is not None and status.ns_pids else tid

    def _wchan(self, folder: str, state: str) -> str | None:
        return None if state == "R" else parsed(procfs.wchan, self.read(folder + "wchan"))

    def _call(self, call: procfs.Call) -> Syscall:
        number = call.number or 0
        return Syscall(number, syscalls.wait_of(self.machine, number), call.args)

    @property
    def machine(self) -> str:
        """Its architecture, as the tables of system calls are called; ``""`` for one without a table."""
        if self._machine is None:
            self._machine = self._find_machine()
        return self._machine

    def _find_machine(self) -> str:
        """By the executable; in a captured tree, which does not hold it, by the host's processor and the stack."""
        told = parsed(procfs.elf_machine, self.read("exe-header"))
        if told is not None:
            machine = syscalls.machine_of(*told)
            if not machine:
                number, bits = told
                self.denied["syscall"] = (
                    f"no table of system calls for ELF machine {number}, {bits}-bit"
                )
            return machine
        cpu = self._source.read(Ref(Space.KERNEL, "proc/cpuinfo"))
        machine = parsed(procfs.cpu_machine, cpu) or _DEFAULT_MACHINE
        narrow = 0 < self._stack_pointer < 1 << 32
        return "i386" if machine == "x86_64" and narrow else machine

    def _waited_on(self, call: Syscall | None) -> OpenFile | None:
        if call is None or call.name not in syscalls.READS or not call.args:
            return None
        return self.file(call.args[0] & 0xFFFFFFFF)

    def file(self, fd: int) -> OpenFile | None:
        """What a descriptor is open on; ``None`` where its link cannot be had."""
        if fd not in self._files:
            self._files[fd] = self._find_file(fd)
        return self._files[fd]

    def _find_file(self, fd: int) -> OpenFile | None:
        link = self.read(f"fd/{fd}", Ask.LINK)
        if isinstance(link, Missing):
            self._note("fd", link)
            return None
        path = link.value.decode("utf-8", "surrogateescape").removesuffix(" (deleted)")
        kind = _KIND_BY_LINK.get(path.partition(":")[0])
        if kind is not None:
            return OpenFile(fd, path, kind)
        seeds = path == self._seed
        if not path.startswith("/dev/") and self._may_hang(fd):
            return OpenFile(fd, path, seeds=seeds)
        found = parsed(procfs.file_stat, self.read(f"fd/{fd}", Ask.STAT))
        if found is None:
            return OpenFile(fd, path, seeds=seeds)
        device = found.rdev if _format(found.mode) in (_CHAR, _BLOCK) else None
        return OpenFile(fd, path, _kind(found), device, seeds)

    def _may_hang(self, fd: int) -> bool:
        """Whether the descriptor is on a network or user-space file system: even its type could make us wait."""
        mount = parsed(procfs.mount_id, self.read(f"fdinfo/{fd}"))
        if self._remote is None:
            mounts = parsed(
                lambda data: procfs.mounts(data, *procfs.REMOTE), self.read("mountinfo")
            )
            self._remote = frozenset(m.id for m in mounts or ())
        return mount is not None and mount in self._remote

    def random_files(self) -> tuple[OpenFile, ...]:
        """The descriptors on random devices, or on what stands in their place."""
        listed = self.read("fd", Ask.LIST)
        if isinstance(listed, Missing):
            self._note("fd", listed)
            return ()
        numbers = sorted(int(n) for n in procfs.names(listed.value) if n.isascii() and n.isdigit())
        found: list[OpenFile] = []
        for fd in numbers[:MAX_FILES]:
            link = self.read(f"fd/{fd}", Ask.LINK)
            if isinstance(link, Got) and b"random" in link.value:
                file = self.file(fd)
                if file is not None and (file.is_random_path or file.is_urandom_path):
                    found.append(file)
        return tuple(found)


def _may_be_random(call: Syscall | None) -> bool:
    """Whether the wait channel could tell something of the random device: only then is it worth a read."""
    return call is not None and (
        call.name in syscalls.READS or call.name in syscalls.OPENS or call.name in ("getrandom", "")
    )


_KIND_BY_LINK = {"pipe": FileKind.FIFO, "socket": FileKind.SOCKET, "anon_inode": FileKind.OTHER}
_CHAR = 0o020000
_BLOCK = 0o060000
_FIFO = 0o010000
_KIND_BY_FORMAT = {
    _CHAR: FileKind.CHAR,
    _FIFO: FileKind.FIFO,
    0o100000: FileKind.REGULAR,
    0o140000: FileKind.SOCKET,
}


def _format(mode: int) -> int:
    return mode & 0o170000


def _kind(found: procfs.FileStat) -> FileKind:
    if _format(found.mode) == _CHAR and found.rdev in (_RANDOM, _URANDOM):
        return FileKind.RANDOM if found.rdev == _RANDOM else FileKind.URANDOM
    return _KIND_BY_FORMAT.get(_format(found.mode), FileKind.OTHER)


PROVIDERS = (jvm_process, tasks)
