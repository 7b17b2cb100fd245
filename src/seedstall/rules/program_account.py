"""What the rules say of a program that a JVM or its script started: its command, its age, what it is in."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.redact import redact_argv, visible
from seedstall.model.tasks import Descendant, FileKind, KernelTask, OpenFile, StartedPrograms

SHOWN = 100
"""Letters of a command line."""
SHOWN_PROGRAMS = 3


def command(one: Descendant) -> str:
    """Its command line, secrets masked, cut."""
    text = visible(" ".join(redact_argv(one.argv)))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def age(one: Descendant) -> str:
    """``, for 45.0 s``; ``""`` where it is not known."""
    return f", for {duration(one.age_ms)}" if one.age_ms is not None else ""


def doing(task: KernelTask) -> str:
    """What a process is in, for people: ``sleeps``, ``waits in read of pipe:[17]``, ``is working``."""
    if task.state in ("T", "t"):
        return "is stopped (kill -CONT lets it go on)"
    if task.running or task.state == "R":
        return "is working: it uses the CPU"
    if task.denied:
        return "may not be looked into (run as root)"
    if task.syscall is None or not task.syscall.name:
        return f"waits in the kernel's {visible(task.wchan)}" if task.wchan else "waits"
    return _in_call(task.syscall.name, task.file)


def _in_call(name: str, file: OpenFile | None) -> str:
    if file is None:
        return _WORDS.get(name, f"waits in {name}")
    path = visible(file.path)[:80]
    if file.kind is FileKind.CHAR and name == "read":
        return f"waits for input from {path}"
    return f"waits in {name} of {path}"


_WORDS = {
    "nanosleep": "sleeps",
    "clock_nanosleep": "sleeps",
    "wait4": "waits for a child of its own",
    "waitid": "waits for a child of its own",
    "poll": "waits in poll: for its peer, as a rule",
    "ppoll": "waits in poll: for its peer, as a rule",
    "select": "waits in select: for its peer, as a rule",
    "pselect6": "waits in select: for its peer, as a rule",
    "epoll_wait": "waits for its peer (epoll)",
    "epoll_pwait": "waits for its peer (epoll)",
    "futex": "waits for another thread of its own",
    "getrandom": "waits in getrandom: the kernel's generator is not seeded yet",
    "connect": "waits for a connection",
}


def started_programs(started: StartedPrograms | None) -> Iterator[str]:
    """The programs that a JVM started and waits for, and what each does."""
    for one in started.programs[:SHOWN_PROGRAMS] if started is not None else ():
        yield f"it started {command(one)} (pid {one.pid}{age(one)}), which {doing(one.task)}"
