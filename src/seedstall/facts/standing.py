"""Where the threads stand that a start waits for: main, those that do its work, and who holds what they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seedstall.facts.dumpseries import series, stay
from seedstall.facts.waits import still_ms
from seedstall.knowledge import places, stacks
from seedstall.knowledge.kernel import waits_for_partner
from seedstall.knowledge.syscalls import OPENS, READS
from seedstall.knowledge.vmthreads import COLLECTORS_IN_DUMPS
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess, Launch
from seedstall.model.seeding import SeedRole
from seedstall.model.standing import UNNAMED, Debugged, Place, Standing, Standings, WorkShares
from seedstall.model.tasks import KernelTask, Tasks
from seedstall.model.threads import JavaThread, LockAct, ThreadDump, ThreadDumps
from seedstall.model.verdict import Cause
from seedstall.model.waits import SeedEvidence
from seedstall.source.base import Source

MOST = 20
"""Threads told of. A dump of a hostile size must not grow the report without limit."""
_CHAIN = 16
"""Locks followed from owner to owner: a longer chain is a circle, or nobody's start."""
_SOCKETS = ("net/tcp", "net/tcp6", "net/udp", "net/udp6")
_SHOWN_PEERS = 3
_WRITES = ("write", "writev", "pwrite64", "fsync", "fdatasync")

_SERVES = "its main thread waits, and others accept connections: a server that is up"
_STARTED = "DestroyJavaVM"
"""What the main thread is called once ``main`` has returned and others go on."""
_STARTERS = (
    "localhost-startStop-",  # Tomcat 7 and 8.0
    "Catalina-startStop-",  # Tomcat 7 and 8
    "Catalina-utility-",  # Tomcat 9+
    "restartedMain",  # Spring Boot's developer tools
    "MSC service thread",  # WildFly
    "ServerService Thread Pool",
    "DeploymentScanner-threads",
    "Start Level: Equinox",
    "FelixStartLevel",
    "WrapperSimpleAppMain",
    "WrapperListener_start_runner",
)
"""Threads that do the work of a start in their products, beside ``main``."""
_UNSURE = frozenset((Cause.WAITING, Cause.APPLICATION, Cause.CONTENTION, Cause.IO))
"""What main may look like while another thread, lost from a damaged dump, is the one that tells."""
_GENERATORS = (stacks.API, "sun.security.provider.", "com.ibm.crypto.provider.")
_NEAR = 24
_MOST_WORKERS = 2_000
_HOLDING = frozenset(
    (Cause.DNS, Cause.FILE_LOCK, Cause.MIGRATION, Cause.NATIVE_INIT, Cause.CLASS_INIT)
)
"""What nobody waits in on purpose."""
_ABOVE_GENERATORS = frozenset((Cause.DNS, Cause.NATIVE_INIT))
_POOL = (
    "java.util.concurrent.ThreadPoolExecutor.getTask",
    "java.util.concurrent.ForkJoinPool.awaitWork",
    "java.util.concurrent.ForkJoinPool.runWorker",
    "org.jboss.threads.EnhancedQueueExecutor",
    "org.apache.tomcat.util.threads.TaskQueue.take",
)
"""A worker that waits for work is nobody's start."""


def standings(
    source: Source,
    dumps: ThreadDumps,
    tasks: Tasks | None,
    seeds: SeedEvidence | None,
    process: JvmProcess | None = None,
) -> Standings:
    """Where the newest dump shows the threads of a start.

    A thread that seeds, or waits for one that does, is left to the rules about seeding. Where any thread waits for
    random bytes, one that waits for something without a name may well wait for that one.

    Raises:
        Unavailable: the dump holds neither a main thread nor another that does a start's work.
    """
    if seeds is not None and seeds.samples is not None and seeds.samples.stale:
        over = "the thread dump shows a moment of the watch that is over"
        raise Unavailable(Missing(Why.NOT_COLLECTED, (), over))
    group = series(dumps.dumps)[-1] if dumps.dumps else ()
    if not group:
        raise Unavailable(Missing(Why.NOT_COLLECTED, (), "no thread dump"))
    newest = group[-1]
    chosen = _starters(newest)
    age = tasks.age_ms if tasks is not None else None
    pid = process.pid if process is not None else 0
    if not chosen:
        return Standings(started=_why_started(newest), age_ms=age, pid=pid)
    by_tid = {task.inner_tid: task for task in tasks.tasks} if tasks is not None else {}
    # Code of the program's own that reads the device: no frame says so, the kernel does.
    reading = {w.task.inner_tid for w in (seeds.waits if seeds else ()) if w.task is not None}
    found = [
        _completed(source, standing, group, by_tid, age)
        for thread in chosen[:MOST]
        if (standing := _standing(thread, newest)) is not None and not reading & _nids(standing)
    ]
    if seeds is not None and (seeds.waits or seeds.queued):
        found = [standing for standing in found if standing.root.cause not in UNNAMED]
    if any(places.accepts(thread) for thread in newest.threads):
        found = [one for one in found if one.root.cause is not Cause.WAITING]
        return Standings(tuple(found), "" if found else _SERVES, age, pid)
    return Standings(tuple(found), "" if found else _why_started(newest), age, pid)


def _starters(dump: ThreadDump) -> list[JavaThread]:
    """``main`` first, then the others that do a start's work; a bare stack alone is what was asked about."""
    main = [t for t in dump.threads if t.name == "main"]
    others = [t for t in dump.threads if t.name.startswith(_STARTERS) and not waits_for_work(t)]
    alone = (
        len(dump.threads) == 1
        and dump.threads[0].name != _STARTED
        and not waits_for_work(dump.threads[0])
    )
    return [*main, *others] or (list(dump.threads) if alone else [])


def waits_for_work(thread: JavaThread) -> bool:
    """Whether it is a pool's worker without an order."""
    return any(frame.name.startswith(_POOL) for frame in thread.frames[:12])


def _why_started(dump: ThreadDump) -> str:
    """Why no thread of a start is seen."""
    names = {thread.name for thread in dump.threads}
    if "main" in names:
        return "its main thread idles, as a server's does that is up"
    if _STARTED in names:
        return "its main thread has ended: the start is over"
    return "" if not dump.complete else "no thread of a start is in the dump"


def _standing(thread: JavaThread, dump: ThreadDump) -> Standing | None:
    """Its place, and who holds what it waits for; ``None`` where it idles, or it is a matter of seeding."""
    place = places.place_of(thread)
    if place is None or _seeds(thread, place) or (place.cause in _UNSURE and not _whole(dump)):
        return None
    if place.cause is Cause.IO and not place.caller and len(dump.threads) == 1:
        return None  # whose read it is stood in the frames that were lost
    chain, comes_back = _chain(thread, dump)
    if comes_back:
        circle = tuple(t.name for t in (thread, *chain))
        return None if dump.deadlocks else Standing(thread, place, dump, circle=circle)
    owner = chain[-1] if chain else None
    if owner is None and place.cause is Cause.WAITING and places.awaits_others(thread):
        return _behind(thread, place, dump)
    if owner is None:
        return Standing(thread, place, dump)
    beyond = places.place_of(owner)
    return (
        None
        if _seeds(owner, beyond)
        else Standing(thread, place, dump, owner=owner, owner_place=beyond)
    )


def _nids(standing: Standing) -> set[int | None]:
    """Of the thread, and of the one that holds what it waits for."""
    return {t.nid for t in (standing.thread, standing.owner) if t is not None}


def _behind(thread: JavaThread, place: Place, dump: ThreadDump) -> Standing | None:
    """Who does what *thread* waits for: no dump says it, but one thread alone in a wait that no other has may be it."""
    at_work = [
        (other, beyond)
        for other in dump.threads[:_MOST_WORKERS]
        if other is not thread
        and not other.daemon
        and (beyond := places.place_of(other)) is not None
        and (beyond.cause in _HOLDING or beyond.connecting)
    ]
    if any(_seeds(other, beyond) for other, beyond in at_work):
        return Standing(thread, place, dump)
    if len(at_work) != 1:
        return Standing(thread, place, dump)
    owner, beyond = at_work[0]
    return Standing(thread, place, dump, owner=owner, owner_place=beyond, likely=True)


def _whole(dump: ThreadDump) -> bool:
    return dump.complete and not dump.unread and not any(thread.cut for thread in dump.threads)


def _seeds(thread: JavaThread, place: Place | None) -> bool:
    """Whether it is in a generator, or may have been: what is left of a damaged stack is not called another cause.

    What stands above a generator and is no part of it is the place: a seeder that asks the name service, a provider
    list that starts a PKCS#11 library.
    """
    stack = stacks.classify(thread)
    if stack is not None and stack.role is not SeedRole.LOOKUP:
        return True
    near = (f.class_name for f in thread.frames[:_NEAR])
    first = next((i for i, name in enumerate(near) if name.startswith(_GENERATORS)), None)
    decided = place is not None and place.cause in _ABOVE_GENERATORS
    return first is not None and not (decided and place is not None and place.depth < first)


def _chain(thread: JavaThread, dump: ThreadDump) -> tuple[list[JavaThread], bool]:
    """The owners of what *thread* waits for, one behind the other; and whether the last waits for the first again."""
    holders = {
        lock.address: other
        for other in dump.threads
        for lock in other.locks
        if lock.act in (LockAct.LOCKED, LockAct.OWNED) and lock.address is not None
    }
    initialising: dict[str, list[JavaThread]] = {}
    chain: list[JavaThread] = []
    while len(chain) < _CHAIN:
        owner = _owner(chain[-1] if chain else thread, holders, dump, initialising)
        if owner is None or owner in chain:
            return chain, False
        if owner is thread:
            return chain, bool(chain)
        chain.append(owner)
    return chain, False


def _owner(
    thread: JavaThread,
    holders: dict[str, JavaThread],
    dump: ThreadDump,
    initialising: dict[str, list[JavaThread]],
) -> JavaThread | None:
    """Who holds the lock, or runs the static initialiser, that *thread* waits for."""
    for lock in thread.locks:
        if lock.act in (LockAct.WAITING_TO_LOCK, LockAct.PARKING) and lock.address is not None:
            return holders.get(lock.address)
    place = places.place_of(thread)
    if place is None or place.cause is not Cause.CLASS_INIT:
        return None
    if not initialising:
        initialising.update(_initialisers(dump))
    running = [t for t in initialising.get(place.what, ()) if t is not thread]
    # Before 17 the class is not told: one other thread in an initialiser can only be the one, several are a guess.
    return running[0] if len(running) == 1 or (running and place.what) else None


def _initialisers(dump: ThreadDump) -> dict[str, list[JavaThread]]:
    """The threads inside a static initialiser, by the class; below ``""`` all of them."""
    found: dict[str, list[JavaThread]] = {"": []}
    for thread in dump.threads:
        classes = {f.class_name for f in thread.frames if f.method == "<clinit>"}
        for name in (*classes, *([""] if classes else [])):
            found.setdefault(name, []).append(thread)
    return found


def _completed(
    source: Source,
    standing: Standing,
    group: Sequence[ThreadDump],
    by_tid: dict[int, KernelTask],
    age: int | None,
) -> Standing:
    """How long it has stood there, and what the kernel shows of it.

    Of a thread that waits for a lock, its owner's time counts: HotSpot's own wait for a monitor wakes every second
    to look again (ObjectMonitor::EnterI).
    """
    thread = standing.owner or standing.thread
    task = by_tid.get(thread.nid) if thread.nid is not None else None
    standing = _worked(source, replace(standing, task=task), thread, age)
    standing = _in_dumps(standing, thread, group[:-1])
    blocked = standing.root.cause is Cause.CONTENTION
    if task is not None and not task.running and not blocked:
        since = still_ms(source, task.tid)
        if since is not None and since > (standing.since_ms or 0):
            standing = replace(standing, since_ms=since, since_from=f"task/{task.tid}/sched")
    match standing.root.cause:
        case Cause.CONNECT:
            return replace(standing, on=_peer(source, task))
        case Cause.IO:
            reads_input = _reads(task) and task is not None and _descriptor(task) == 0
            return replace(standing, on=_file(source, task), of_input=reads_input)
        case _:
            return standing


def _queued_ms(source: Source, tid: int) -> int:
    """The second figure of ``schedstat``, in nanoseconds (CONFIG_SCHED_INFO); 0 where it cannot be had."""
    reading = source.read(Ref(Space.PROCESS, f"task/{tid}/schedstat"))
    words = reading.value.split() if isinstance(reading, Got) else []
    return int(words[1]) // 1_000_000 if len(words) > 1 and words[1].isdigit() else 0


def _worked(source: Source, standing: Standing, thread: JavaThread, age: int | None) -> Standing:
    """Its CPU time and its age. The kernel's figure is the newer one; main is as old as the process, nearly."""
    if standing.task is not None and standing.task.cpu_ms is not None and thread.name == "main":
        queued = _queued_ms(source, standing.task.tid)
        return replace(standing, busy_ms=standing.task.cpu_ms, alive_ms=age, queued_ms=queued)
    if thread.cpu_ms is None or thread.elapsed_ms is None:
        return standing
    return replace(standing, busy_ms=int(thread.cpu_ms), alive_ms=int(thread.elapsed_ms))


def _in_dumps(standing: Standing, thread: JavaThread, earlier: Sequence[ThreadDump]) -> Standing:
    """In how many dumps it stood there, and how far they lie apart."""
    for dump in reversed(earlier):
        before = next(
            (t for t in dump.threads if (t.name, t.nid) == (thread.name, thread.nid)), None
        )
        place = places.place_of(before) if before is not None else None
        if place is None or before is None or place.frame != standing.root.frame:
            break
        standing = replace(standing, dumps_seen=standing.dumps_seen + 1)
        if (span := stay(before, thread)) is not None:
            standing = replace(standing, since_ms=span, since_from="two dumps")
    return standing


def _reads(task: KernelTask | None) -> bool:
    return task is not None and task.syscall is not None and task.syscall.name in READS


def _descriptor(task: KernelTask) -> int | None:
    call = task.syscall
    return call.args[0] & 0xFFFFFFFF if call is not None and call.args else None


def _file(source: Source, task: KernelTask | None) -> str:
    """The file of a read or write: ``/srv/app.jar, descriptor 5``."""
    call = task.syscall if task is not None else None
    if task is not None and call is not None and call.name in OPENS:
        return "a FIFO whose other end nobody opens" if waits_for_partner(task.wchan) else ""
    if call is None or not call.args or call.name not in (*READS, *_WRITES):
        return ""
    fd = call.args[0] & 0xFFFFFFFF
    link = source.read(Ref(Space.PROCESS, f"fd/{fd}", Ask.LINK))
    path = link.value.decode("utf-8", "surrogateescape") if isinstance(link, Got) else "a file"
    kind = path.partition(":")[0] if path.startswith(("pipe:", "socket:")) else path
    words = f"a {kind} whose other end does not" if kind != path else path
    verb = " empty it" if call.name in _WRITES else " fill it"
    return f"{words}{verb if kind != path else ''}, descriptor {fd}"


def _peer(source: Source, task: KernelTask | None) -> str:
    """The far end of the connection, told by the JVM's own sockets; several where the call does not say which.

    From 13 on a socket is waited on in poll(2), whose argument is in the JVM's memory: then all its connections
    are named, those that are still being made (SYN_SENT) first.
    """
    from seedstall.parse.sockets import SYN_SENT, connections  # noqa: PLC0415 - for a connection only

    own = _own_sockets(source, task)
    found = [
        connection
        for table in _SOCKETS
        if isinstance(reading := source.read(Ref(Space.PROCESS, table)), Got)
        for connection in connections(reading.value, table.removeprefix("net/"))
        if connection.inode in own
    ]
    making = [c.peer for c in found if c.state == SYN_SENT]
    peers = list(dict.fromkeys(making or [c.peer for c in found]))
    if len(peers) > _SHOWN_PEERS:
        return f"one of {len(peers)} connections"
    return " or ".join(peers)


def _own_sockets(source: Source, task: KernelTask | None) -> set[str]:
    """The inodes of the socket that the thread waits on, else of all that the JVM has open."""
    if task is not None and task.file is not None and task.file.path.startswith("socket:["):
        return {task.file.path[8:-1]}
    listed = source.read(Ref(Space.PROCESS, "fd", Ask.LIST))
    if isinstance(listed, Missing):
        return set()
    links = (
        source.read(Ref(Space.PROCESS, f"fd/{name.decode('ascii', 'replace')}", Ask.LINK))
        for name in listed.value.split(b"\0")[:2000]
        if name.isdigit()
    )
    return {
        link.value[8:-1].decode("ascii", "replace")
        for link in links
        if isinstance(link, Got) and link.value.startswith(b"socket:[")
    }


def work_shares(
    _source: Source,
    tasks: Tasks | Missing,
    dumps: ThreadDumps | Missing,
    process: JvmProcess | None = None,
) -> WorkShares:
    """How much of the CPU time the collector took: by the kernel's threads, else by the newest dump's ``cpu=`` (11+).

    Raises:
        Unavailable: neither tells the CPU time of a collector's thread.
    """
    if isinstance(tasks, Tasks):
        used = [(t.comm, t.cpu_ms) for t in tasks.tasks if t.cpu_ms is not None]
        origin = f"/proc/{process.pid if process is not None else 'PID'}/task/*/stat"
    elif isinstance(dumps, ThreadDumps) and dumps.dumps:
        used = [(t.name, int(t.cpu_ms)) for t in dumps.dumps[-1].threads if t.cpu_ms is not None]
        origin = dumps.dumps[-1].origin
    else:
        raise Unavailable(tasks)
    collector = [ms for name, ms in used if name.startswith(COLLECTORS_IN_DUMPS)]
    if not collector:
        # JDK 8 gives the kernel no names, and the serial collector has no thread of its own.
        raise Unavailable(Missing(Why.NOT_COLLECTED, (Ref(Space.PROCESS, "task/*/comm"),)))
    return WorkShares(sum(collector), sum(ms for _, ms in used), origin)


def debugged(
    _source: Source,
    launch: Launch,
    dumps: ThreadDumps | Missing,
    tasks: Tasks | Missing,
    process: JvmProcess | None = None,
) -> Debugged:
    """Whether the JVM waits for its debugger.

    Without such an agent among its options, or with one that lets it run on, it does not.
    """
    option = next((o for o in reversed(launch.options) if _waits_for_debugger(o.text)), None)
    if option is None:
        return Debugged()
    listener = (
        next((t.tid for t in tasks.tasks if t.comm.startswith("JDWP Transport") and _accepts(t)), 0)
        if isinstance(tasks, Tasks)
        else 0
    )
    main = (
        next((t for t in dumps.dumps[-1].threads if t.name == "main"), None)
        if isinstance(dumps, ThreadDumps) and dumps.dumps
        else None
    )
    known = isinstance(dumps, ThreadDumps) and bool(dumps.dumps)
    idle = (main is not None and not main.frames) if known else bool(listener)
    pid = process.pid if process is not None else 0
    return Debugged(option.text, option.place or str(option.origin), idle, listener, pid)


def _waits_for_debugger(option: str) -> bool:
    for prefix in ("-agentlib:jdwp=", "-Xrunjdwp:"):
        if option.startswith(prefix):
            parts = option.removeprefix(prefix).split(",")
            told = {name: value for name, _, value in (part.partition("=") for part in parts[:50])}
            late = "onthrow" in told or told.get("onuncaught") == "y"
            return told.get("suspend", "y") == "y" and not late
    return False


def _accepts(task: KernelTask) -> bool:
    return task.syscall is not None and task.syscall.name in ("accept", "accept4", "poll", "ppoll")


PROVIDERS = (standings, work_shares, debugged)
