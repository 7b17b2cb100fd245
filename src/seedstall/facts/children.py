"""What a program started, and what that waits for: the gpg of a JVM, the curl of a script before any JVM is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.facts.process import Look, age_ms, parsed
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.model.standing import Standings
from seedstall.model.tasks import (
    Descendant,
    FileKind,
    KernelTask,
    OpenFile,
    ScriptWait,
    StartedPrograms,
    Syscall,
    WaitingChildren,
)
from seedstall.model.verdict import Cause
from seedstall.parse import javahome, procfs
from seedstall.parse.wrappers import SHELLS
from seedstall.source.base import Source

MAX_CHILDREN = 200
MAX_THREADS = 64
"""Threads looked at of each child."""
MAX_TASKS = 20_000
MAX_PROCESSES = 100_000
DEPTH = 8
_ENDED = "ZXx"
_WAITS = frozenset(("wait4", "waitid", "waitpid", "rt_sigsuspend", "pause"))
"""Calls in which a process waits for its children: zsh sleeps in rt_sigsuspend until SIGCHLD."""
_SELECTS = frozenset(("select", "pselect6", "_newselect"))
_TASK_LIST = Ref(Space.PROCESS, "task", Ask.LIST)


class Family:
    """Who started whom, as the kernel tells it: by its lists of children, else by the parent each process names.

    The lists need CONFIG_PROC_CHILDREN (4.2; CONFIG_CHECKPOINT_RESTORE since 3.5), which old kernels lack.
    """

    def __init__(self, source: Source) -> None:
        """Read from *source*."""
        self._source = source
        self._by_parent: dict[int, list[int]] | None = None

    def of_target(self) -> list[int]:
        """The target's children, whichever of its threads started them.

        Raises:
            Unavailable: they cannot be listed.
        """
        listed = self._source.read(_TASK_LIST)
        if isinstance(listed, Missing):
            raise Unavailable(listed)
        tids = procfs.names(listed.value)[:MAX_TASKS]
        lists = [self._source.read(Ref(Space.PROCESS, f"task/{t}/children")) for t in tids]
        if any(isinstance(reading, Got) for reading in lists):
            return [pid for reading in lists for pid in _pids(reading)]
        first = next((r for r in lists if isinstance(r, Missing)), None)
        if first is None or first.why is not Why.ABSENT:
            raise Unavailable(first or Missing(Why.ABSENT, (_TASK_LIST,)))
        stat = parsed(procfs.stat, self._source.read(Ref(Space.PROCESS, "stat")))
        return self._of_parent(stat.pid) if stat is not None else []

    def of(self, pid: int, tids: tuple[str, ...]) -> list[int]:
        """The children of a descendant that has these threads."""
        if self._by_parent is not None:
            return self._of_parent(pid)
        paths = (f"proc/{pid}/task/{tid}/children" for tid in tids or (str(pid),))
        return [p for path in paths for p in _pids(self._source.read(Ref(Space.KERNEL, path)))]

    def _of_parent(self, pid: int) -> list[int]:
        if self._by_parent is None:
            self._by_parent = self._parents()
        return self._by_parent.get(pid, [])

    def _parents(self) -> dict[int, list[int]]:
        listed = self._source.read(Ref(Space.KERNEL, "proc", Ask.LIST))
        if isinstance(listed, Missing):
            raise Unavailable(listed)
        found: dict[int, list[int]] = {}
        for name in procfs.names(listed.value)[:MAX_PROCESSES]:
            if name.isascii() and name.isdigit():
                stat = parsed(
                    procfs.stat, self._source.read(Ref(Space.KERNEL, f"proc/{name}/stat"))
                )
                if stat is not None:
                    found.setdefault(stat.ppid, []).append(stat.pid)
        return found


def _pids(reading: Reading[bytes]) -> list[int]:
    words = (
        reading.value.split(None, MAX_CHILDREN)[:MAX_CHILDREN] if isinstance(reading, Got) else []
    )
    return [int(word) for word in words if word.isdigit() and len(word) < 11]  # noqa: PLR2004 - longer than any pid


# --- those that wait for random bytes --------------------------------------------------------------------------------


def waiting_children(source: Source) -> WaitingChildren:
    """The descendants that wait for random bytes: a gpg, openssl or ssh-keygen that everything else waits for.

    Of a target that is no JVM, the JVMs below it and what they started are left out: they are looked at themselves.

    Raises:
        Unavailable: the children cannot be listed.
    """
    family = Family(source)
    pids = family.of_target()
    if not pids:
        return WaitingChildren(())
    maps = source.read(Ref(Space.PROCESS, "maps"))
    script = isinstance(maps, Got) and javahome.running_library(maps.value) is None
    waiting: list[KernelTask] = []
    jvms: list[int] = []
    for pid in _below(source, family, pids, past_jvms=not script):
        look = Look(source, f"proc/{pid}/", inner=False)
        found = list(_waiting(look, pid, _threads(look)))
        waiting += found
        jvms += [pid] if found and not script and _is_jvm(source, pid) else []
    argv = _argv(source.read(Ref(Space.PROCESS, "cmdline")), "it") if script else ()
    return WaitingChildren(tuple(waiting), tuple(jvms), argv)


def _below(
    source: Source, family: Family, pids: list[int], *, past_jvms: bool = True
) -> Iterator[int]:
    """Every descendant once, the near ones first. Without *past_jvms* no JVM and nothing below one."""
    seen: set[int] = set()
    for _ in range(DEPTH):
        below: list[int] = []
        for pid in pids:
            if pid in seen or len(seen) >= MAX_CHILDREN:
                continue
            seen.add(pid)
            if not past_jvms and _is_jvm(source, pid):
                continue
            yield pid
            below += family.of(pid, _threads(Look(source, f"proc/{pid}/", inner=False)))
        pids = below


def _threads(look: Look) -> tuple[str, ...]:
    listed = look.read("task", Ask.LIST)
    return procfs.names(listed.value)[:MAX_THREADS] if isinstance(listed, Got) else ()


def _waiting(look: Look, pid: int, tids: tuple[str, ...]) -> Iterator[KernelTask]:
    """Its thread that waits for random bytes, as a rule its only one; of several the first."""
    main = str(pid)
    for tid in (main, *(t for t in tids if t != main and t.isdigit())):
        folder = "" if tid == main else f"task/{tid}/"
        task = look.task(folder, int(tid))
        if task is not None:
            task = _selected(look, task)
            if _waits_for_random(task):
                yield replace(task, pid=pid)
                return


def _selected(look: Look, task: KernelTask) -> KernelTask:
    """A select on the device alone: libgcrypt (gpg) waits in it before each read (rndlinux.c).

    Its first argument is the highest descriptor looked at, and one more.
    """
    call = task.syscall
    if call is None or call.name not in _SELECTS or not 1 <= call.args[0] <= 1 << 20:
        return task
    file = look.file(call.args[0] - 1)
    return replace(task, file=file) if file is not None and _is_device(file) else task


def _waits_for_random(task: KernelTask) -> bool:
    if task.syscall is not None and task.syscall.name == "getrandom":
        return True
    return task.file is not None and _is_device(task.file)


def _is_device(file: OpenFile) -> bool:
    return file.is_random_path or file.is_urandom_path


def _is_jvm(source: Source, pid: int) -> bool:
    maps = source.read(Ref(Space.KERNEL, f"proc/{pid}/maps"))
    return isinstance(maps, Got) and javahome.running_library(maps.value) is not None


# --- what runs below it ----------------------------------------------------------------------------------------------


def started_programs(source: Source, standings: Standings) -> StartedPrograms:
    """The target's own children, where a thread of its start waits for one of them.

    Raises:
        Unavailable: none does, or they cannot be listed.
    """
    if all(standing.root.cause is not Cause.CHILD for standing in standings.standings):
        raise Unavailable(Missing(Why.ABSENT, (), "no thread of the start waits for a process"))
    pids = Family(source).of_target()[:MAX_CHILDREN]
    found = [one for pid in pids if (one := _descendant(source, pid)) is not None]
    return StartedPrograms(tuple(sorted(found, key=lambda d: (-d.start_ticks, -d.pid))))


# --- what a script waits for -----------------------------------------------------------------------------------------


def script_wait(source: Source, process: JvmProcess) -> ScriptWait:
    """What a script, or any program that only waits for what it started, waits for.

    Raises:
        Unavailable: it is a JVM itself or leads to one, it started nothing that is still there, or it does not wait
            for it.
    """
    own = Look(source, "", inner=False).task(f"task/{process.pid}/", process.pid)
    if own is None or not _may_wait(
        own
    ):  # as a JVM's main thread, which waits for the one that runs main
        raise Unavailable(_IDLE)
    maps = source.read(Ref(Space.PROCESS, "maps"))
    if isinstance(maps, Missing):
        raise Unavailable(maps)
    if javahome.running_library(maps.value) is not None:
        raise Unavailable(Missing(Why.ABSENT, maps.origins, "it is a JVM itself"))
    argv = _argv(source.read(Ref(Space.PROCESS, "cmdline")), process.comm)
    family = Family(source)
    pids = family.of_target()
    below = list(_below(source, family, pids))
    if any(_is_jvm(source, pid) for pid in below):
        raise Unavailable(Missing(Why.ABSENT, (_TASK_LIST,), "a JVM is below it"))
    if not _waits_for_child(source, own, argv, below):
        raise Unavailable(_IDLE)
    chain, others = _chain(source, family, pids)
    if not chain:
        raise Unavailable(Missing(Why.ABSENT, (_TASK_LIST,), "it started nothing that lives"))
    return ScriptWait(argv=argv, task=own, chain=tuple(chain), others=others)


def _argv(reading: Reading[bytes], comm: str) -> tuple[str, ...]:
    argv = procfs.cmdline(reading.value) if isinstance(reading, Got) else ()
    return argv or (comm,)


_IDLE = Missing(
    Why.ABSENT, (Ref(Space.PROCESS, "syscall"),), "it does not wait for what it started"
)


def _may_wait(task: KernelTask) -> bool:
    """Whether it may wait for a child, by its call alone."""
    call = task.syscall
    piped = task.file is not None and task.file.kind is FileKind.FIFO
    return call is not None and (call.name in _WAITS or not call.name or piped)


def _waits_for_child(
    source: Source, task: KernelTask, argv: tuple[str, ...], below: list[int]
) -> bool:
    """Whether its main thread waits for a child: in a wait, or in the pipe of a shell's ``$(command)``."""
    if task.syscall is None:
        return False
    if task.syscall.name in _WAITS:
        return True
    if argv[0].rpartition("/")[2].lstrip("-") not in SHELLS:
        return False
    if not task.syscall.name:
        return bool(below)
    pipe = task.file if task.file is not None and task.file.kind is FileKind.FIFO else None
    return pipe is not None and any(_writes_to(source, pid, pipe.path) for pid in below)


def _writes_to(source: Source, pid: int, pipe: str) -> bool:
    """Whether its standard output is that pipe: else a shell reads what others give it."""
    link = source.read(Ref(Space.KERNEL, f"proc/{pid}/fd/1", Ask.LINK))
    return isinstance(link, Got) and link.value == pipe.encode("utf-8", "surrogateescape")


def _chain(source: Source, family: Family, pids: list[int]) -> tuple[list[Descendant], int]:
    """From the child that is waited for down to the one that waits for none of its own, and how many are beside it."""
    chain: list[Descendant] = []
    others = 0
    while pids and len(chain) < DEPTH:
        found = [d for pid in pids[:MAX_CHILDREN] if (d := _descendant(source, pid)) is not None]
        if not found:
            break
        # The one that reads the random device, else the last one started: a script waits where it has come to.
        chosen = max(found, key=lambda d: (_waits_for_random(d.task), d.start_ticks, d.pid))
        chain.append(chosen)
        others = len(found) - 1
        pids = family.of(chosen.pid, _threads(Look(source, f"proc/{chosen.pid}/", inner=False)))
        if not _waits_for_child(source, chosen.task, chosen.argv, pids):
            break
    return chain, others


def _descendant(source: Source, pid: int) -> Descendant | None:
    look = Look(source, f"proc/{pid}/", inner=False)
    stat = parsed(procfs.stat, look.read("stat"))
    task = next(_waiting(look, pid, _threads(look)), None) or look.task("", pid)
    if stat is None or task is None or stat.state in _ENDED:
        return None
    argv = _argv(look.read("cmdline"), stat.comm)
    task = replace(task, pid=pid, file=task.file or _first_file(look, task.syscall))
    return Descendant(pid, argv, task, stat.start_ticks, age_ms(source, stat.start_ticks))


_ON_DESCRIPTOR = frozenset(
    ("connect", "recvfrom", "recvmsg", "sendto", "write", "flock", "accept", "accept4", "fcntl")
)


def _first_file(look: Look, call: Syscall | None) -> OpenFile | None:
    """What the call's first argument is open on, where that is a descriptor."""
    if call is None or call.name not in _ON_DESCRIPTOR or not call.args:
        return None
    return look.file(call.args[0] & 0xFFFFFFFF)


PROVIDERS = (waiting_children, started_programs, script_wait)
