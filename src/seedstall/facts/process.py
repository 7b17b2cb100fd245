"""The process and its threads as the kernel shows them, without touching either."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from seedstall.knowledge import syscalls
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.model.tasks import FileKind, KernelTask, OpenFile, Syscall, Tasks, WaitingChildren
from seedstall.parse import procfs
from seedstall.source.base import Source

T = TypeVar("T")

MAX_TASKS = 20_000
MAX_FILES = 20_000
MAX_CHILDREN = 200
_CHILD_DEPTH = 4

_ENDED = "ZXx"
"""Zombie, dead."""
_RANDOM = (1, 8)
_URANDOM = (1, 9)
_DEFAULT_MACHINE = "x86_64"

# A stat of these can hang for ever where their server is gone, just as the JVM may hang in it.
_REMOTE = ("nfs", "cifs", "smb3", "ceph", "9p", "afs", "lustre", "gpfs", "ocfs2", "gfs2", "fuse")


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
        age_ms=_age_ms(source, stat.start_ticks),
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


def _age_ms(source: Source, start_ticks: int) -> int | None:
    uptime = _parsed(procfs.uptime_ms, source.read(Ref(Space.KERNEL, "proc/uptime")))
    if uptime is None:
        return None
    age = uptime - start_ticks * (1000 // procfs.TICKS_PER_SECOND)
    return (
        age if age >= 0 else None
    )  # lxcfs and time namespaces show another uptime than the kernel's


def _parsed(parser: Callable[[bytes], T], reading: Reading[bytes]) -> T | None:
    """What a reading says; ``None`` where it is missing or malformed. Threads come and go while we look."""
    if isinstance(reading, Missing):
        return None
    try:
        return parser(reading.value)
    except ValueError:
        return None


# --- threads ---------------------------------------------------------------------------------------------------------


def tasks(source: Source, process: JvmProcess | None) -> Tasks:
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
    look = _Look(source, "", inner=process is not None and process.in_container)
    found = [
        task for tid in tids[:MAX_TASKS] if (task := look.task(f"task/{tid}/", tid)) is not None
    ]
    files = look.random_files()
    return Tasks(
        tasks=tuple(found),
        random_files=files,
        age_ms=process.age_ms if process is not None else None,
        machine=look.machine or _DEFAULT_MACHINE,
        denied=tuple(look.denied.values()),
    )


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
        stat = _parsed(procfs.stat, reading)
        if isinstance(reading, Got) and (stat is None or stat.state not in _ENDED):
            return
    raise Unavailable(
        Missing(
            Why.VANISHED,
            (Ref(Space.PROCESS, "task", Ask.LIST),),
            "the process ended while we looked",
        )
    )


class _Look:
    """One pass over a process's threads: what holds for all of them is found out once.

    ``prefix`` stands before every path: empty for the target itself, else the path of a child's ``/proc`` in the kernel
    space.
    """

    def __init__(self, source: Source, prefix: str, *, inner: bool) -> None:
        self._source = source
        self._prefix = prefix
        self._space = Space.KERNEL if prefix else Space.PROCESS
        self._inner = inner
        self._files: dict[int, OpenFile | None] = {}
        self._remote: frozenset[int] | None = None
        self._stack_pointer = 0
        self._machine: str | None = None
        self.denied: dict[str, str] = {}

    def read(self, path: str, ask: Ask = Ask.CONTENT) -> Reading[bytes]:
        return self._source.read(Ref(self._space, self._prefix + path, ask))

    def task(self, folder: str, tid: int) -> KernelTask | None:
        """The thread whose files stand in *folder*; ``None`` where it ended meanwhile."""
        stat = _parsed(procfs.stat, self.read(folder + "stat"))
        if stat is None or stat.state in _ENDED:
            return None
        reading = self.read(folder + "syscall")
        call = _parsed(procfs.syscall, reading)
        blocked = self._call(call) if call is not None and call.number is not None else None
        return KernelTask(
            tid=tid,
            inner_tid=self._inner_tid(folder, tid),
            comm=stat.comm,
            state=stat.state,
            wchan=self._wchan(folder, stat.state)
            if call is None or _may_be_random(blocked)
            else None,
            syscall=blocked,
            file=self._waited_on(blocked),
            running=call is not None and call.running,
            cpu_ms=stat.cpu_ms,
            denied=self._note("syscall", reading),
        )

    def _note(self, what: str, reading: Reading[bytes]) -> tuple[str, ...]:
        """Remember why *what* may not be read; the names of what one thread lacks."""
        if isinstance(reading, Got) or reading.why is not Why.DENIED:
            return ()
        self.denied.setdefault(what, f"{what}: {reading.detail or reading.why}")
        return (what,)

    def _inner_tid(self, folder: str, tid: int) -> int:
        if not self._inner:
            return tid
        status = _parsed(procfs.status, self.read(folder + "status"))
        return status.ns_pids[-1] if status is not None and status.ns_pids else tid

    def _wchan(self, folder: str, state: str) -> str | None:
        return None if state == "R" else _parsed(procfs.wchan, self.read(folder + "wchan"))

    def _call(self, call: procfs.Call) -> Syscall:
        self._stack_pointer = self._stack_pointer or call.stack_pointer
        number = call.number or 0
        return Syscall(number, syscalls.wait_of(self.machine, number), call.args)

    @property
    def machine(self) -> str:
        if self._machine is None:
            self._machine = self._find_machine()
        return self._machine

    def _find_machine(self) -> str:
        """By the executable; in a captured tree, which does not hold it, by the host's processor and the stack."""
        told = _parsed(procfs.elf_machine, self.read("exe-header"))
        if told is not None:
            return syscalls.machine_of(*told)
        cpu = self._source.read(Ref(Space.KERNEL, "proc/cpuinfo"))
        machine = _parsed(procfs.cpu_machine, cpu) or _DEFAULT_MACHINE
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
        if not path.startswith("/dev/") and self._may_hang(fd):
            return OpenFile(fd, path)
        found = _parsed(procfs.file_stat, self.read(f"fd/{fd}", Ask.STAT))
        if found is None:
            return OpenFile(fd, path)
        device = found.rdev if _format(found.mode) in (_CHAR, _BLOCK) else None
        return OpenFile(fd, path, _kind(found), device)

    def _may_hang(self, fd: int) -> bool:
        """Whether the descriptor is on a network or user-space file system: even its type could make us wait."""
        mount = _parsed(procfs.mount_id, self.read(f"fdinfo/{fd}"))
        if self._remote is None:
            mounts = _parsed(lambda data: procfs.mounts(data, *_REMOTE), self.read("mountinfo"))
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
    return call is not None and (call.name in syscalls.READS or call.name in ("getrandom", ""))


_KIND_BY_LINK = {"pipe": FileKind.FIFO, "socket": FileKind.SOCKET, "anon_inode": FileKind.OTHER}
_CHAR = 0o020000
_BLOCK = 0o060000
_KIND_BY_FORMAT = {
    _CHAR: FileKind.CHAR,
    0o010000: FileKind.FIFO,
    0o100000: FileKind.REGULAR,
    0o140000: FileKind.SOCKET,
}


def _format(mode: int) -> int:
    return mode & 0o170000


def _kind(found: procfs.FileStat) -> FileKind:
    if _format(found.mode) == _CHAR and found.rdev in (_RANDOM, _URANDOM):
        return FileKind.RANDOM if found.rdev == _RANDOM else FileKind.URANDOM
    return _KIND_BY_FORMAT.get(_format(found.mode), FileKind.OTHER)


# --- children --------------------------------------------------------------------------------------------------------


def waiting_children(source: Source) -> WaitingChildren:
    """The descendants that wait for random bytes: a gpg, openssl or ssh-keygen that everything else waits for.

    Raises:
        Unavailable: the children cannot be listed (CONFIG_PROC_CHILDREN, Linux 3.5).
    """
    listed = source.read(Ref(Space.PROCESS, "task", Ask.LIST))
    if isinstance(listed, Missing):
        raise Unavailable(listed)
    readings = [
        source.read(Ref(Space.PROCESS, f"task/{tid}/children"))
        for tid in procfs.names(listed.value)[:MAX_TASKS]
    ]
    if not any(isinstance(reading, Got) for reading in readings):
        raise Unavailable(
            readings[0] if readings and isinstance(readings[0], Missing) else Missing(Why.ABSENT)
        )
    waiting: list[KernelTask] = []
    pids = [pid for reading in readings for pid in _children(reading)]
    seen: set[int] = set()
    for _ in range(_CHILD_DEPTH):
        below: list[int] = []
        for pid in pids:
            if pid in seen or len(seen) >= MAX_CHILDREN:
                continue
            seen.add(pid)
            look = _Look(source, f"proc/{pid}/", inner=False)
            task = look.task("", pid)
            if task is not None and _waits_for_random(task):
                waiting.append(task)
            below += _children(look.read(f"task/{pid}/children"))
        pids = below
    return WaitingChildren(tuple(waiting))


def _children(reading: Reading[bytes]) -> list[int]:
    words = (
        reading.value.split(None, MAX_CHILDREN)[:MAX_CHILDREN] if isinstance(reading, Got) else []
    )
    return [int(word) for word in words if word.isdigit() and len(word) < 11]  # noqa: PLR2004 - longer than any pid


def _waits_for_random(task: KernelTask) -> bool:
    if task.syscall is not None and task.syscall.name == "getrandom":
        return True
    return task.file is not None and (task.file.is_random_path or task.file.is_urandom_path)


PROVIDERS = (jvm_process, tasks, waiting_children)
