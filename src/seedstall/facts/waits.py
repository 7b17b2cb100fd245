"""Who waits for random bytes: Java threads and kernel threads joined into one picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

from seedstall.knowledge import stacks
from seedstall.knowledge.kernel import waits_for_random
from seedstall.model.evidence import Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.log import Observations, ServerLog
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import KernelTask, Tasks
from seedstall.model.threads import JavaThread, ThreadDump, ThreadDumps
from seedstall.model.waits import SeedEvidence, SeedWait, read_length
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
        Unavailable: none of them could be had.
    """
    if isinstance(dumps, Missing) and isinstance(tasks, Missing) and not (log or observations):
        raise Unavailable(tasks if tasks.why is not Why.NOT_COLLECTED else dumps)
    seen = _from_dumps(dumps) if isinstance(dumps, ThreadDumps) else []
    if isinstance(tasks, Tasks):
        seen = [_dated(source, wait) for wait in _joined(seen, tasks)]
    waits = [w for w in seen if w.role in (SeedRole.READING, SeedRole.THREADED)]
    newest = dumps.dumps[-1] if isinstance(dumps, ThreadDumps) and dumps.dumps else None
    return SeedEvidence(
        waits=tuple(waits[:MAX_WAITS]),
        queued=tuple(w for w in seen if w.role is SeedRole.QUEUED)[:MAX_WAITS],
        working=tuple(w for w in seen if w.role is SeedRole.WORKING)[:MAX_WAITS],
        lookups=tuple(w for w in seen if w.role is SeedRole.LOOKUP)[:MAX_WAITS],
        threads=len(newest.threads) if newest else 0,
        tasks=len(tasks.tasks) if isinstance(tasks, Tasks) else 0,
        dumps=len(dumps.dumps) if isinstance(dumps, ThreadDumps) else 0,
        log=log,
        observations=observations,
        main=next((t for t in newest.threads if t.name == "main"), None) if newest else None,
        syscalls_seen=isinstance(tasks, Tasks) and any(t.syscall or t.running for t in tasks.tasks),
        blind=tuple(str(m) for m in (dumps, tasks) if isinstance(m, Missing)),
    )


@dataclass(slots=True)
class _Sight:
    """The same thread over several dumps."""

    thread: JavaThread
    dump: ThreadDump
    wait: SeedWait
    first: ThreadDump


def _from_dumps(dumps: ThreadDumps) -> list[SeedWait]:
    """The waits that the newest dump of each input shows, with in how many dumps each stood in place.

    An earlier dump's wait that a later one of the same input no longer shows is over: it counts only where no later
    dump of that JVM exists.
    """
    by_origin: dict[str, dict[str, _Sight]] = {}
    for dump in dumps.dumps:
        before = by_origin.get(dump.origin, {})
        by_origin[dump.origin] = _sights(dump, before)
    return [sight.wait for sights in by_origin.values() for sight in sights.values()]


def _sights(dump: ThreadDump, before: dict[str, _Sight]) -> dict[str, _Sight]:
    sights: dict[str, _Sight] = {}
    for thread in dump.threads:
        stack = stacks.classify(thread)
        if stack is None:
            continue
        key = (
            f"{thread.name}/{thread.nid}"
            if thread.nid is not None
            else f"{thread.name}/{thread.line}"
        )
        same = before.get(key)
        stayed = same is not None and same.wait.stack == stack
        wait = SeedWait(
            java=thread,
            stack=stack,
            dump=dump,
            dumps_seen=same.wait.dumps_seen + 1 if same and stayed else 1,
        )
        first = same.first if same and stayed else dump
        sights[key] = _Sight(thread, dump, _spanned(wait, first, dump), first)
    return sights


def _spanned(wait: SeedWait, first: ThreadDump, last: ThreadDump) -> SeedWait:
    """How long it stood in place between the first and the last dump that show it there.

    A thread that ran in between may have left and come back: only where its CPU time (11+) hardly moved
    do two dumps say that it stayed.
    """
    if first is last or wait.java is None:
        return wait
    early = next((t for t in first.threads if t.nid == wait.java.nid), None)
    if early is None or early.elapsed_ms is None or wait.java.elapsed_ms is None:
        return wait
    moved = (wait.java.cpu_ms or 0) - (early.cpu_ms or 0)
    span = wait.java.elapsed_ms - early.elapsed_ms
    if span <= 0 or moved > max(5.0, span / 100):
        return wait
    return replace(wait, since_ms=int(span), since_from="two dumps")


def _joined(seen: list[SeedWait], tasks: Tasks) -> list[SeedWait]:
    """Add to each Java thread its kernel thread (nid = inner TID), and the readers no dump shows."""
    by_tid = {task.inner_tid: task for task in tasks.tasks}
    joined = [
        replace(w, task=by_tid.get(w.java.nid))
        if w.java is not None and w.java.nid is not None
        else w
        for w in seen
    ]
    taken = {w.task.tid for w in joined if w.task is not None}
    joined += [
        SeedWait(task=task)
        for task in tasks.tasks
        if task.tid not in taken and waits_in_random_device(task)
    ]
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


PROVIDERS = (seed_evidence,)
