"""Threads as text, in the form of jstack, so that every reader of thread dumps reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seedstall.model.redact import redact, visible
from seedstall.model.tasks import KernelTask
from seedstall.model.threads import JavaThread, LockAct, LockLine, ThreadDump

FIRST_WITH_DECIMAL_IDS = 21
"""From that release on ``nid`` is printed in decimal (JDK-8304919)."""
_BRACKETS = "=" * 29


def dump_text(dump: ThreadDump, others: Iterable[KernelTask] = (), *, redacted: bool = True) -> str:
    """A dump that was read from memory, and the *others* of the kernel's threads.

    A stack that is not known, or not to its end, has a line ``at ... (unknown: why)``, which no reader takes for a
    frame; so has what a thread reads, ``at ... (reads: FILE)``. `parse.remembered` reads it all back.
    """
    lines = [*_head(dump)]
    for thread in dump.threads:
        lines += ["", *_thread(dump, thread)]
    lines += ["", "JNI global refs: not counted (read from memory)"]
    for cycle in dump.deadlocks:
        lines += ["", *_deadlock(dump, cycle)]
    lines += _others(others)
    shown = ("\t".join(visible(part) for part in line.split("\t")) for line in lines)
    return "".join(f"{redact(line) if redacted else line}\n" for line in shown)


def kernel_text(tasks: Iterable[KernelTask], why: str) -> str:
    """The kernel's threads alone, and why there are no Java stacks."""
    lines = [f"no Java stacks: {why}", *_others(tasks)]
    return "".join(f"{redact(visible(line))}\n" for line in lines)


def _head(dump: ThreadDump) -> Iterator[str]:
    yield f"Full thread dump {dump.vm}:"
    yield ""
    yield "Read from memory: each stack stood so at one moment, but not all at the same."
    if dump.unread:
        yield f"Stacks not known, or not to their end: {dump.unread}."


def _thread(dump: ThreadDump, thread: JavaThread) -> Iterator[str]:
    number = f" #{thread.java_id}" if thread.java_id is not None else ""
    daemon = " daemon" if thread.daemon else ""
    virtual = " virtual" if thread.virtual else ""
    yield (
        f'"{thread.name}"{number}{daemon}{virtual} tid={thread.address:#018x}'
        f" nid={_nid(dump, thread)} {thread.activity or 'runnable'}"
    )
    if thread.state:
        detail = f" ({thread.detail})" if thread.detail else ""
        yield f"   java.lang.Thread.State: {thread.state}{detail}"
    for index, frame in enumerate(thread.frames):
        yield f"\tat {frame.name}({frame.location})"
        yield from (
            _lock(lock) for lock in thread.locks if lock.depth == index and _in_frames(lock)
        )
    if thread.note:
        yield f"\tat ... (unknown: {thread.note})"
    if thread.reads:
        yield f"\tat ... (reads: {thread.reads})"
    owned = [lock for lock in thread.locks if not _in_frames(lock)]
    if owned:
        yield ""
        yield "   Locked ownable synchronizers:"
        yield from (f"\t- <{lock.address}> (a {lock.class_name})" for lock in owned)


def _in_frames(lock: LockLine) -> bool:
    return lock.act is not LockAct.OWNED


def _nid(dump: ThreadDump, thread: JavaThread) -> str:
    if thread.nid is None:
        return "0x0"
    decimal = dump.jdk is not None and dump.jdk.feature >= FIRST_WITH_DECIMAL_IDS
    return str(thread.nid) if decimal else f"{thread.nid:#x}"


def _lock(lock: LockLine) -> str:
    if lock.act is LockAct.CLASS_INIT:
        return f"\t- waiting on the Class initialization monitor for {lock.class_name}"
    return f"\t- {lock.act} <{lock.address}> (a {lock.class_name})"


def _deadlock(dump: ThreadDump, cycle: tuple[str, ...]) -> Iterator[str]:
    """As HotSpot prints it (``DeadlockCycle::print_on_with``)."""
    by_name = {thread.name: thread for thread in dump.threads}
    yield "Found one Java-level deadlock:"
    yield _BRACKETS
    for name, holder in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        lock = next(iter(by_name[name].locks), None) if name in by_name else None
        what = f"<{lock.address}> (a {lock.class_name})" if lock is not None else "a lock"
        yield f'"{name}":'
        yield f"  waiting to lock {what},"
        yield f'  which is held by "{holder}"'


def _others(tasks: Iterable[KernelTask]) -> list[str]:
    held = list(tasks)
    if not held:
        return []
    return ["", "Threads of the kernel's without a Java stack:", *map(_task, held)]


def _task(task: KernelTask) -> str:
    call = task.syscall
    where = (
        call.name or f"system call {call.number}"
        if call is not None
        else "running"
        if task.running
        else ""
    )
    file = f" of {task.file.path}" if task.file is not None else ""
    return f"  {task.inner_tid:>8} {task.state} {task.comm:<16} {where}{file}".rstrip()
