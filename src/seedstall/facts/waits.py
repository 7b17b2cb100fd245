"""Who waits for random bytes: Java threads and kernel threads joined into one picture."""

from __future__ import annotations

from dataclasses import replace

from seedstall.facts.dumpseries import series, waits
from seedstall.knowledge.kernel import waits_for_random
from seedstall.model.evidence import Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.log import Observations, ServerLog
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import KernelTask, Tasks
from seedstall.model.threads import ThreadDump, ThreadDumps
from seedstall.model.waits import SeedEvidence, SeedStacks, SeedWait, read_length
from seedstall.parse import procfs
from seedstall.source.base import Source

MAX_WAITS = 1000
"""Waiting threads kept: a dump of a hostile size must not grow the report without limit."""


def seed_evidence(
    source: Source,
    dumps: ThreadDumps | Missing,
    tasks: Tasks | Missing,
    log: ServerLog | None,
    observations: Observations | None,
) -> SeedEvidence:
    """Join what dumps, the kernel and logs show of seeding.

    Raises:
        Unavailable: none of them could be had, or what was had can show no wait: threads whose system calls may not
            be seen, of a JVM that gave no dump.
    """
    shown = isinstance(tasks, Tasks) and _visible(tasks)
    if isinstance(dumps, Missing) and not shown and not (log or observations):
        raise Unavailable(_blind(dumps, tasks))
    groups = series(dumps.dumps) if isinstance(dumps, ThreadDumps) else ()
    pairs = [waits(group) for group in groups]
    seen = [wait for last, _ in pairs for wait in last]
    newest = dumps.dumps[-1] if isinstance(dumps, ThreadDumps) else None
    if isinstance(tasks, Tasks):
        seen = [_dated(source, wait) for wait in _joined(seen, tasks, newest)]
    last_dumps = [group[-1] for group in groups]
    damage = [why for dump in last_dumps if (why := _partial(dump))]
    return SeedEvidence(
        waits=_of(seen, SeedRole.READING, SeedRole.THREADED),
        queued=_of(seen, SeedRole.QUEUED),
        working=_of(seen, SeedRole.WORKING),
        lookups=_of(seen, SeedRole.LOOKUP),
        over=tuple(wait for _, past in pairs for wait in past)[:MAX_WAITS],
        threads=sum(len(dump.threads) for dump in last_dumps),
        tasks=len(tasks.tasks) if isinstance(tasks, Tasks) else 0,
        dumps=sum(map(len, groups)),
        log=log,
        observations=observations,
        main=next((t for t in newest.threads if t.name == "main"), None) if newest else None,
        syscalls_seen=shown,
        partial=damage[0] if damage and not shown else "",
        blind=tuple(str(m) for m in (dumps, tasks) if isinstance(m, Missing)),
    )


def _of(seen: list[SeedWait], *roles: SeedRole) -> tuple[SeedWait, ...]:
    return tuple(wait for wait in seen if wait.role in roles)[:MAX_WAITS]


def _visible(tasks: Tasks) -> bool:
    """Whether the kernel let us see what its threads wait in: a call, a running thread, a wait channel."""
    return any(t.syscall or t.running or t.wchan for t in tasks.tasks)


def _blind(dumps: ThreadDumps | Missing, tasks: Tasks | Missing) -> Missing:
    """Why no wait could be seen: the threads' system calls were denied, or nothing was handed over."""
    if isinstance(tasks, Tasks):
        denied = (
            "; ".join(tasks.denied)
            or "their system calls may not be read: run as root or as its user"
        )
        refs = (Ref(Space.PROCESS, "task/*/syscall"),)
        why = (
            f" (no dump either: {dumps.detail or dumps.why})" if isinstance(dumps, Missing) else ""
        )
        return Missing(
            Why.DENIED, refs, f"what its threads wait in could not be seen: {denied}{why}"
        )
    return tasks if tasks.why is not Why.NOT_COLLECTED or not isinstance(dumps, Missing) else dumps


def _partial(dump: ThreadDump) -> str:
    """Why this dump shows less than the JVM's threads; ``""`` where it is whole."""
    if dump.unread:
        return f"{dump.unread} of its threads have lines that are no readable frames"
    cut = next((t for t in dump.threads if t.cut), None)
    if cut is not None:
        return f"the stack of {cut.name!r} is cut"
    return "" if dump.complete else "the dump does not run to its end"


def seed_stacks(_source: Source, seeds: SeedEvidence, dumps: ThreadDumps | Missing) -> SeedStacks:
    """The same evidence, for rules that need Java stacks or texts and cannot do with the kernel's view.

    Raises:
        Unavailable: there is neither dump nor text: attach was refused, timed out, or not made.
    """
    if isinstance(dumps, Missing) and not (seeds.log or seeds.observations):
        raise Unavailable(dumps)
    return SeedStacks(seeds)


def _joined(seen: list[SeedWait], tasks: Tasks, newest: ThreadDump | None) -> list[SeedWait]:
    """Add to each Java thread its kernel thread (nid = inner TID), and the readers no stack explains.

    Such a reader with a Java thread is code of the program's own that reads the device.
    """
    by_tid = {task.inner_tid: task for task in tasks.tasks}
    joined = [
        replace(w, task=by_tid.get(w.java.nid))
        if w.java is not None and w.java.nid is not None
        else w
        for w in seen
    ]
    taken = {w.task.tid for w in joined if w.task is not None}
    threads = {t.nid: t for t in newest.threads if t.nid is not None} if newest is not None else {}
    for task in tasks.tasks:
        if task.tid not in taken and waits_in_random_device(task):
            java = threads.get(task.inner_tid)
            joined.append(SeedWait(task=task, java=java, dump=newest if java is not None else None))
    return joined


def waits_in_random_device(task: KernelTask) -> bool:
    """Whether the kernel shows this thread waiting for random bytes: by descriptor, call or wait channel."""
    if task.wchan is not None and waits_for_random(task.wchan) is not None:
        return True
    if task.syscall is None:
        return False
    if task.syscall.name == "getrandom":
        return True
    return task.file is not None and (task.file.is_random_path or task.file.is_urandom_path)


def _dated(source: Source, wait: SeedWait) -> SeedWait:
    """Since when at least, from the scheduler's stamp of the thread's last run."""
    task = wait.task
    if task is None or wait.role is SeedRole.WORKING:
        return wait
    length = read_length(task.syscall)
    wait = replace(wait, lengths=(length,) if length is not None else ())
    since = _still_ms(source, task.tid)
    if since is None or since < (wait.since_ms or 0):
        return wait
    return replace(wait, since_ms=since, since_from=f"task/{task.tid}/sched")


def _still_ms(source: Source, tid: int) -> int | None:
    """How long the thread has not run, at the least; ``None`` where nothing says it.

    ``se.exec_start`` of ``/proc/PID/task/TID/sched`` (CONFIG_SCHED_DEBUG) is when the thread was last accounted as
    running, in the clock of the CPU it ran on, which is not the uptime (it stands still while a virtual machine is
    suspended, and leaves out what interrupts and the hypervisor took). So "now" is a stamp of the same CPU's.
    """
    stat = source.read(Ref(Space.PROCESS, f"task/{tid}/stat"))
    theirs = source.read(Ref(Space.PROCESS, f"task/{tid}/sched"))
    if not isinstance(stat, Got) or not isinstance(theirs, Got):
        return None
    cpu = procfs.stat(stat.value).processor
    ours = source.read(Ref(Space.KERNEL, f"probe/schedclock/{cpu}"))
    last_ran = procfs.last_ran_ms(theirs.value)
    now = procfs.last_ran_ms(ours.value) if isinstance(ours, Got) else None
    if last_ran is None or now is None or now <= last_ran:
        return None
    return now - last_ran


PROVIDERS = (seed_evidence, seed_stacks)
