"""What a reading is: a value with its origins, or the reason there is none."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from operator import attrgetter
from typing import Generic, TypeAlias, TypeVar

from seedstall.model.record import dataclass

T_co = TypeVar("T_co", covariant=True)


class Space(StrEnum):
    """The address spaces a source can be read in."""

    KERNEL = "kernel"
    """The host's own files, by path below its root: ``proc/sys/...``, ``sys/...``, ``etc/...``."""
    PROCESS = "process"
    """Files below ``/proc/PID``: ``cmdline``, ``task/126/syscall``."""
    ROOT = "root"
    """The file system as the process sees it (``/proc/PID/root``), by path below that root."""
    ATTACH = "attach"
    """Replies of a running JVM to attach commands: ``threaddump``, ``properties`` (active)."""
    MEMORY = "memory"
    """The target's memory, by ``ADDRESS+LENGTH`` in hex (`parse.hotspot.memory.spelled`): exactly so many bytes, or
    ABSENT. Other than files it is read anew each time, and never recorded: it is full of secrets, and what it says is
    in the dump made of it."""
    INPUT = "input"
    """What the user handed over: files by the name they were given, ``given/jdk`` and the like."""


class Ask(StrEnum):
    """What is asked of the thing a `Ref` names. All answers are bytes, so all can be recorded."""

    CONTENT = "content"
    LINK = "link"
    """The target text of a symbolic link, not followed (``/proc/PID/fd/4``)."""
    LIST = "list"
    """The names in a directory, sorted, each ended by a NUL byte."""
    STAT = "stat"
    """``MODE RDEV_MAJOR RDEV_MINOR INODE UID GID SIZE``: mode in octal, the rest decimal; links followed."""


class Why(StrEnum):
    """Why a reading has no value."""

    ABSENT = "absent"
    """We looked, and it is not there."""
    DENIED = "denied"
    """It may be there; we may not look."""
    NOT_COLLECTED = "not collected"
    """This source never held it: nothing is known."""
    MALFORMED = "malformed"
    REFUSED = "refused"
    """By our own policy or a guard: active probes are off, the target would be harmed."""
    VANISHED = "vanished"
    """The process or thread ended while we looked."""
    TRUNCATED = "truncated"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """One readable thing: a space, a path (or command) in it, and what is asked of it."""

    space: Space
    path: str
    ask: Ask = Ask.CONTENT

    def __str__(self) -> str:
        """``space:path``, with the question where it is not for the content."""
        suffix = "" if self.ask is Ask.CONTENT else f" ({self.ask})"
        return f"{self.space}:{self.path}{suffix}"


def in_order(refs: Iterable[Ref]) -> tuple[Ref, ...]:
    """Sorted as their own order has it, each once. The key is compared ten times as fast as they are."""
    return tuple(sorted(set(refs), key=_KEY))


_KEY = attrgetter("space", "path", "ask")


@dataclass(frozen=True, slots=True)
class Got(Generic[T_co]):
    """A value, and everything that was read to have it."""

    value: T_co
    origins: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """No value, and why. ``detail`` is for people: the capability that would help, the guard that refused."""

    why: Why
    origins: tuple[Ref, ...] = ()
    detail: str = ""

    def __str__(self) -> str:
        """``kernel:proc/version denied: needs root``."""
        where = ", ".join(map(str, self.origins))
        return f"{where} {self.why}".strip() + (f": {self.detail}" if self.detail else "")


Reading: TypeAlias = Got[T_co] | Missing


class Unavailable(Exception):  # noqa: N818 - it is control flow inside the engine, not an error
    """Raised by a fact's provider to say why the fact cannot be had."""

    def __init__(self, missing: Missing) -> None:
        """Carry the reason."""
        super().__init__(str(missing))
        self.missing = missing
