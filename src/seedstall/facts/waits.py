"""Who waits for random bytes: Java threads and kernel threads joined into one picture."""

from __future__ import annotations

from dataclasses import replace

from seedstall.facts.dumpseries import series, waits
from seedstall.facts.inputs import InputTexts
from seedstall.knowledge.kernel import waits_for_random
from seedstall.knowledge.syscalls import READS
from seedstall.model.evidence import Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.log import Observations, ServerLog
from seedstall.model.redact import visible
from seedstall.model.samples import Doing, SampledWait, StartSamples
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import UNOPENED, FileKind, KernelTask, OpenFile, Tasks
from seedstall.model.threads import Frame, JavaThread, ThreadDump, ThreadDumps
from seedstall.model.waits import SeedEvidence, SeedStacks, SeedWait, read_length
from seedstall.parse import procfs
from seedstall.source.base import Source

_OPEN_FORMS = frozenset(("ThreadInfo", "JConsole", "log"))
"""Forms with no last line and no count of their threads."""
_OPENING = 8
"""Frames from the top in which the generator stands that opens its device."""
MAX_WAITS = 1000
"""Waiting threads kept: a dump of a hostile size must not grow the report without limit."""


def seed_evidence(
    source: Source,
    dumps: ThreadDumps | Missing,
    tasks: Tasks | Missing,
    log: ServerLog | None,
    observations: Observations | None,
    samples: StartSamples | None = None,
    inputs: InputTexts | None = None,
) -> SeedEvidence:
    """Join what dumps, the kernel and logs show of seeding.

    Raises:
        Unavailable: none of them could be had, or what was had can show no wait: threads whose system calls may not
            be seen, of a JVM that gave no dump.
    """
    shown = isinstance(tasks, Tasks) and _visible(tasks)
    if isinstance(tasks, Tasks) and tasks.of_core and isinstance(dumps, Missing):
        shown = False  # a core whose stacks cannot be read may lack threads too
    if isinstance(dumps, Missing) and not shown and not (log or observations or samples):
        raise Unavailable(_blind(dumps, tasks))
    groups = series(dumps.dumps) if isinstance(dumps, ThreadDumps) else ()
    pairs = [waits(group) for group in groups]
    seen = [wait for last, _ in pairs for wait in last]
    newest = dumps.dumps[-1] if isinstance(dumps, ThreadDumps) else None
    if isinstance(tasks, Tasks):
        seen = [_dated(source, wait) for wait in _joined(seen, tasks, newest)]
    seen, went_on = by_samples(seen, samples, tasks)
    # A report on one thread shows no other: it neither makes a look at the JVM nor takes one away.
    whole = ([dump for dump in group if dump.lists_all] for group in groups)
    last_dumps = [looks[-1] for looks in whole if looks]
    damage = [
        why
        for dump in last_dumps
        if (why := _partial(dump)) and not (shown and _calls_suffice(dump))
    ]
    return SeedEvidence(
        waits=_of(seen, SeedRole.READING, SeedRole.THREADED),
        queued=_of(seen, SeedRole.QUEUED),
        working=_of(seen, SeedRole.WORKING),
        lookups=_of(seen, SeedRole.LOOKUP),
        over=(*went_on, *(wait for _, past in pairs for wait in past))[:MAX_WAITS],
        threads=sum(dump.total for dump in last_dumps),
        tasks=len(tasks.tasks) if isinstance(tasks, Tasks) else 0,
        dumps=sum(map(len, groups)),
        log=log,
        observations=observations,
        samples=samples,
        main=next((t for t in newest.threads if t.name == "main"), None) if newest else None,
        syscalls_seen=shown,
        partial=damage[0] if damage else _unseen(tasks, newest),
        blind=tuple(str(m) for m in (dumps, tasks) if isinstance(m, Missing)),
        unread=tuple(m.detail or str(m) for m in inputs.unread) if inputs is not None else (),
    )


def by_samples(
    seen: list[SeedWait], samples: StartSamples | None, tasks: Tasks | Missing
) -> tuple[list[SeedWait], list[SeedWait]]:
    """The waits that last, with what samples tell of them; and those that a dump shows and samples say are over."""
    if samples is None:
        return seen, []
    told = {wait.inner_tid: wait for wait in samples.waits if wait.jvm}
    still: list[SeedWait] = []
    over: list[SeedWait] = []
    for wait in seen:
        known = told.get(wait.task.inner_tid if wait.task is not None else _nid(wait))
        if samples.dumped and not wait.in_random_read and not _lasts(wait, known, samples, tasks):
            over.append(wait)
        elif known is not None and not known.over and not known.ended:
            since = max(known.last_ms, wait.since_ms or 0)
            still.append(
                replace(
                    wait, lengths=known.lengths, progress=known.progress, since_ms=since or None
                )
            )
        else:
            still.append(wait)
    return still, over


def _nid(wait: SeedWait) -> int:
    return wait.java.nid if wait.java is not None and wait.java.nid is not None else -1


def _lasts(
    wait: SeedWait, known: SampledWait | None, samples: StartSamples, tasks: Tasks | Missing
) -> bool:
    """Whether what a dump showed during the watch went on to its end."""
    if wait.role is SeedRole.READING:
        lasts = known is not None and not known.over and not known.ended
        return isinstance(tasks, Missing) and lasts
    return not samples.stale and samples.last in (Doing.WAITING, Doing.SLEEPING, Doing.RANDOM)


def _of(seen: list[SeedWait], *roles: SeedRole) -> tuple[SeedWait, ...]:
    return tuple(wait for wait in seen if wait.role in roles)[:MAX_WAITS]


def _visible(tasks: Tasks) -> bool:
    """Whether the kernel let us see what its threads wait in: a call, a running thread, a wait channel.

    A read of we know not what hides just what is looked for: a core has no descriptors, a capture may lack them.
    """
    if any(_reads_unknown(task) for task in tasks.tasks):
        return False
    return any(t.syscall or t.running or t.wchan for t in tasks.tasks)


def _reads_unknown(task: KernelTask) -> bool:
    call = task.syscall
    if task.fifo and task.file is None:
        return True
    if call is None or call.name not in READS or task.file is not None:
        return False
    # A FIFO in the place of the device waits as any pipe does (pipe_read, anon_pipe_read, pipe_wait).
    return not task.wchan or "pipe" in task.wchan


def _what_unknown(task: KernelTask) -> str:
    """What is not known of such a thread."""
    if task.fifo:
        return (
            f"thread {task.tid} waits in the opening of a FIFO, and {visible(task.fifo)} is one here:"
            " whether it opens that one is not known"
        )
    return f"what thread {task.tid} reads from is not known"


def _unseen(tasks: Tasks | Missing, newest: ThreadDump | None) -> str:
    """A thread that reads we know not what, or was not looked at, and that has no Java stack to say it.

    ``""`` where there is none.
    """
    if newest is None and isinstance(tasks, Tasks) and tasks.unseen:
        return tasks.unseen
    java = {t.nid for t in newest.threads if t.frames} if newest is not None else set[int | None]()
    for task in tasks.tasks if isinstance(tasks, Tasks) else ():
        if _reads_unknown(task) and task.inner_tid not in java:
            return _what_unknown(task)
    return ""


def _blind(dumps: ThreadDumps | Missing, tasks: Tasks | Missing) -> Missing:
    """Why no wait could be seen: the threads' system calls were denied, or nothing was handed over."""
    if isinstance(tasks, Tasks):
        reader = next((task for task in tasks.tasks if _reads_unknown(task)), None)
        if reader is not None and not tasks.denied:
            refs = (Ref(Space.PROCESS, f"fd/{reader.syscall.args[0]}" if reader.syscall else "fd"),)
            because = f"; no Java stack either: {dumps}" if isinstance(dumps, Missing) else ""
            told = f"{_what_unknown(reader)}{because}"
            return Missing(Why.NOT_COLLECTED, refs, told)
        if tasks.of_core and isinstance(dumps, Missing):
            told = f"the core's Java stacks could not be read: {dumps.detail or dumps.why}"
            lost = dumps.why is Why.NOT_COLLECTED
            return Missing(Why.ABSENT if lost else dumps.why, dumps.origins, told)
        denied = (
            "; ".join(tasks.denied)
            or tasks.unseen
            or "their system calls may not be read: run as root or as its user"
        )
        refs = (Ref(Space.PROCESS, "task/*/syscall"),)
        because = (dumps.detail or str(dumps.why)) if isinstance(dumps, Missing) else ""
        # The same permission is lacking for the dump, mostly: told once.
        why = f" (no dump either: {because})" if because and because not in denied else ""
        return Missing(
            Why.DENIED, refs, f"what its threads wait in could not be seen: {denied}{why}"
        )
    return tasks if tasks.why is not Why.NOT_COLLECTED or not isinstance(dumps, Missing) else dumps


def _calls_suffice(dump: ThreadDump) -> bool:
    """Whether the threads' system calls make up for what the dump lacks.

    Not where threads were lost in the JVM's memory: one that is in no call of a read may queue behind a generator's
    lock. Those that ran their Java code while we looked did not wait.
    """
    if dump.origin != "memory":
        return True
    from seedstall.parse.hotspot.frames import GUESSED  # noqa: PLC0415 - it is loaded: it made the dump
    from seedstall.parse.hotspot.stacks import RUNNING, RUNS_JAVA  # noqa: PLC0415 - the same

    ran = (RUNS_JAVA, RUNNING, GUESSED)
    return dump.complete and all(t.frames or t.note.endswith(ran) for t in dump.threads if t.cut)


def _partial(dump: ThreadDump) -> str:
    """Why this dump shows less than the JVM's threads; ``""`` where it is whole."""
    noted = next((t for t in dump.threads if t.note), None)
    if noted is not None:
        return f"the stacks of {dump.unread} of its threads are not known in full ({noted.name!r}: {noted.note})"
    if dump.unread:
        lost = "could not be read in its memory"
        how = lost if dump.origin == "memory" else "have lines that are no readable frames"
        return f"{dump.unread} of its threads {how}"
    cut = next((t for t in dump.threads if t.cut), None)
    if cut is not None:
        return f"the stack of {cut.name!r} is cut"
    if dump.complete:
        return ""
    if dump.form in _OPEN_FORMS:
        return f"a dump in this form ({dump.form}) does not say whether all threads are in it"
    return "the dump does not run to its end"


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
    threads = {t.nid: t for t in newest.threads if t.nid is not None} if newest is not None else {}
    told = [_with_path(task, threads.get(task.inner_tid)) for task in tasks.tasks]
    by_tid = {task.inner_tid: task for task in told}
    joined = [
        replace(w, task=by_tid.get(w.java.nid))
        if w.java is not None and w.java.nid is not None
        else w
        for w in seen
    ]
    taken = {w.task.tid for w in joined if w.task is not None}
    for task in told:
        if task.tid not in taken and waits_in_random_device(task):
            java = threads.get(task.inner_tid)
            joined.append(SeedWait(task=task, java=java, dump=newest if java is not None else None))
    return joined


def _with_path(task: KernelTask, java: JavaThread | None) -> KernelTask:
    """With what the thread reads by its own Java object, where no table of descriptors says it (a core).

    Of one that opens a FIFO its stack says whether it is the generator's: NativePRNG opens ``/dev/random`` and
    ``/dev/urandom`` when the SUN provider is loaded.
    """
    if java is not None and task.fifo and any(map(_of_generator, java.frames[:_OPENING])):
        return replace(task, file=OpenFile(UNOPENED, task.fifo, FileKind.FIFO, seeds=True))
    if java is None or not java.reads or not _reads_unknown(task) or task.syscall is None:
        return task
    return replace(task, file=OpenFile(task.syscall.args[0] & 0xFFFFFFFF, java.reads))


def _of_generator(frame: Frame) -> bool:
    return frame.class_name.startswith("sun.security.provider.")


def waits_in_random_device(task: KernelTask) -> bool:
    """Whether the kernel shows this thread waiting for random bytes: by descriptor, call or wait channel."""
    if task.wchan is not None and waits_for_random(task.wchan) is not None:
        return True
    if task.syscall is None:
        return False
    if task.syscall.name == "getrandom":
        return True
    return task.file is not None and task.file.gives_randomness


def _dated(source: Source, wait: SeedWait) -> SeedWait:
    """Since when at least, from the scheduler's stamp of the thread's last run."""
    task = wait.task
    if task is None or wait.role is SeedRole.WORKING:
        return wait
    length = read_length(task.syscall)
    wait = replace(wait, lengths=(length,) if length is not None else ())
    since = still_ms(source, task.tid)
    if since is None or since < (wait.since_ms or 0):
        return wait
    return replace(wait, since_ms=since, since_from=f"task/{task.tid}/sched")


def still_ms(source: Source, tid: int) -> int | None:
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
