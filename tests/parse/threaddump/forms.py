"""One stall of each JDK in every form that JVM and tools write, and the forms that this machine cannot make.

Those are made of the real threads of a ``jstack`` text, as documents describe them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.texts import archive

from seedstall.model.seeding import SeedRole
from seedstall.model.threads import JavaThread, LockAct, ThreadDump
from seedstall.parse.threaddump import thread_dumps

STALLS = ("jdk8", "jdk11", "jdk17", "jdk21", "jdk25", "jdk17-deadlock", "jdk25-deadlock")


def files(stall: str) -> dict[str, bytes]:
    """The files of one stall, by name."""
    return {
        name.partition("/")[2]: text
        for name, text in archive("live/forms").items()
        if name.startswith(f"{stall}/")
    }


def jstack(stall: str) -> ThreadDump:
    """What HotSpot itself prints of it."""
    held = files(stall)
    (dump,) = thread_dumps(held.get("thread-print.txt") or held["jstack.txt"], stall)
    return dump


def seeding(dump: ThreadDump) -> list[tuple[str, SeedRole, str, str]]:
    """Name, role, algorithm and caller of each thread in a generator, as the diagnosis sees them."""
    from seedstall.facts.dumpseries import waits

    now, _ = waits((dump,))
    told = (
        (w.java.name, w.role, str(w.stack.algorithm), w.stack.caller_frame)
        for w in now
        if w.java is not None and w.stack is not None
    )
    return sorted(told)


def java_threads(dump: ThreadDump) -> list[JavaThread]:
    """Those that a Java program can see: not the compiler's, not the collector's."""
    return [thread for thread in dump.threads if thread.java_id is not None]


def agent8(stall: str) -> str:
    """``jstack -F`` of JDK 8: kernel ids, the VM's own states, no names."""
    lines = [
        "Attaching to process ID 4242, please wait...",
        "Debugger attached successfully.",
        "Server compiler detected.",
        "JVM version is 25.504-b01",
        "Deadlock Detection:",
        "",
        "No deadlocks found.",
        "",
    ]
    for thread in java_threads(jstack(stall)):
        native = thread.frames and thread.frames[0].location == "Native Method"
        inside = native and thread.activity == "runnable"
        lines.append(f"Thread {thread.nid}: (state = {'IN_NATIVE' if inside else 'BLOCKED'})")
        lines.extend(
            f" - {frame.name}(byte[], int) @bci=4{_line(frame.location)} (Compiled frame; information may be imprecise)"
            for frame in thread.frames
        )
        lines.extend(("", ""))
    return "\n".join(lines) + "\n"


def _line(location: str) -> str:
    number = location.rpartition(":")[2]
    return f", line={number}" if number.isdigit() else ""


_J9_STATES = {
    "RUNNABLE": "R",
    "BLOCKED": "B",
    "WAITING": "CW",
    "TIMED_WAITING": "CW",
    "": "R",
}
_ACTS = {
    LockAct.WAITING_TO_LOCK: "Blocked on",
    LockAct.WAITING_ON: "Waiting on",
    LockAct.PARKING: "Parked on",
}


def javacore(stall: str, *, old: bool = False) -> str:
    """An OpenJ9 javacore (or one of IBM 5 and 6, which has fewer tags) of the same threads."""
    dump = jstack(stall)
    lines = [
        "0SECTION       TITLE subcomponent dump routine",
        "NULL           ===============================",
        '1TISIGINFO     Dump Event "user" (00004000) received',
        "1TIDATETIME    Date: 2026/11/30 at 20:05:30:417",
        "NULL           ------------------------------------------------------------------------",
        "0SECTION       GPINFO subcomponent dump routine",
        "0SECTION       ENVINFO subcomponent dump routine",
        f"1CIJAVAVERSION JRE {dump.jdk.feature if dump.jdk else 8} Linux amd64-64 (build {_build(dump)})",
        "1CIPROCESSID   Process ID: 16868 (0x41E4)",
        *(_cycles(dump)),
        "0SECTION       THREADS subcomponent dump routine",
        "NULL           =================================",
    ]
    threads = java_threads(dump)
    if not old:
        lines.append(f"2XMPOOLLIVE        Current total number of live threads: {len(threads)}")
        lines.append("1XMCURTHDINFO  Current thread")
        lines.extend(_j9(threads[0], old=old))
    lines.append(
        "1XMTHDINFO     Thread Details" if not old else "1XMTHDINFO     All Thread Details"
    )
    for thread in threads:
        lines.extend(("NULL", *_j9(thread, old=old)))
    lines.extend(
        (
            "3XMTHREADINFO      Anonymous native thread",
            "3XMTHREADINFO1            (native thread ID:0x1234, native priority:0x0)",
            "NULL",
            "0SECTION       CLASSES subcomponent dump routine",
            "",
        )
    )
    return "\n".join(lines)


def _build(dump: ThreadDump) -> str:
    return {8: "8.0.5.41", 17: "17.0.9+9"}.get(dump.jdk.feature if dump.jdk else 0, "25.0.2+10")


def _cycles(dump: ThreadDump) -> Iterator[str]:
    yield "0SECTION       LOCKS subcomponent dump routine"
    for cycle in dump.deadlocks:
        yield "1LKDEADLOCK    Deadlock detected !!!"
        for name in (*cycle, cycle[0]):
            yield f'2LKDEADLOCKTHR  Thread "{name}" (0x00007F5E8435BD00)'
            yield "3LKDEADLOCKWTR    is waiting for:"
            yield "4LKDEADLOCKOBJ      java/lang/Object@0x00007F5E5E18E3D8"


def _j9(thread: JavaThread, *, old: bool) -> Iterator[str]:
    address = f"0x{0x1000 + (thread.java_id or 0):016X}"
    init = any(lock.act is LockAct.CLASS_INIT for lock in thread.locks) or (
        "Object.wait" in thread.activity and thread.state == "RUNNABLE"
    )
    state = "CW" if init else "P" if "parking" in thread.detail else _J9_STATES[thread.state]
    if old:
        yield (
            f'3XMTHREADINFO      "{thread.name}" TID:{address}, j9thread_t:0x0000000000550000, state:{state}, prio=5'
        )
    else:
        yield (
            f'3XMTHREADINFO      "{thread.name}" J9VMThread:{address}, omrthread_t:0x00007F3F8C0D02C8, '
            f"java/lang/Thread:0x00000000FFF42120, state:{state}, prio=5"
        )
        daemon = str(thread.daemon).lower()
        yield f"3XMJAVALTHREAD            (java/lang/Thread getId:{thread.java_id:#X}, isDaemon:{daemon})"
    yield (
        f"3XMTHREADINFO1            (native thread ID:0x{thread.nid:X}, native priority:0x5, native policy:UNKNOWN)"
    )
    if not old:
        yield '3XMCPUTIME               CPU usage total: 0.034000000 secs, current category="Application"'
        held = next((lock for lock in thread.locks if lock.act in _ACTS), None)
        if init:
            yield (
                "3XMTHREADBLOCK     Waiting on: java/lang/J9VMInternals$ClassInitializationLock@0x00000000FFF61C90 "
                'Owned by: <unowned> Initializing thread: "seeder"'
            )
        elif held is not None:
            yield (
                f"3XMTHREADBLOCK     {_ACTS[held.act]}: {_slashed(held.class_name)}@0x00000000FFF00001 "
                "Owned by: <unowned>"
            )
    if not thread.frames:
        yield "3XMTHREADINFO3           No Java callstack associated with this thread"
        return
    yield "3XMTHREADINFO3           Java callstack:"
    for depth, frame in enumerate(thread.frames):
        place = frame.location if "Native" in frame.location else f"{frame.location}(Compiled Code)"
        yield f"4XESTACKTRACE                at {_slashed(frame.class_name)}.{frame.method}({place})"
        if any(lock.act is LockAct.LOCKED and lock.depth == depth for lock in thread.locks):
            yield "5XESTACKTRACE                   (entered lock: java/lang/Object@0x00000000FFF00001, entry count: 1)"


def _slashed(name: str) -> str:
    return re.sub(r"\.", "/", name)


def jconsole(stall: str) -> str:
    """The seeding threads, one after the other copied from JConsole's window."""
    text = []
    for thread in java_threads(jstack(stall)):
        lines = [
            f"Name: {thread.name}",
            f"State: {thread.state}",
            "Total blocked: 1  Total waited: 0",
        ]
        lines += ["", "Stack trace: "]
        lines += [f"{frame.name}({frame.location})" for frame in thread.frames]
        text.append("\n".join(lines) + "\n")
    return "\n".join(text)
