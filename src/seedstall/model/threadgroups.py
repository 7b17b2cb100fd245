"""All threads of a case, put together by what they wait for: the picture of a report, not its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Mark(StrEnum):
    """What a frame is to the reader of a stack."""

    READ = "read"
    """Above a generator: the read or open of its seed."""
    SEED = "seed"
    """The generator's own, up to ``SecureRandom``'s methods."""
    CALLER = "caller"
    """The one that asked for the random bytes, or whose wait it is."""
    OWN = "own"
    """Outside the JDK."""
    JDK = "jdk"


class ShownFrame(NamedTuple):
    """One frame as it is shown. ``locks`` are its lock lines as a dump words them."""

    mark: Mark
    name: str
    location: str = ""
    locks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownStack:
    """One stack of a group, and how many threads stand so. ``more`` counts its frames that are left out."""

    thread: str
    origin: str
    threads: int
    frames: tuple[ShownFrame, ...]
    more: int = 0
    note: str = ""
    """Why it is not, or not wholly, known."""


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """Threads that do the same. ``words`` complete "a thread that ..."; ``cause`` is ``""`` where it is none.

    ``seeding`` is whether it is a matter of a random generator. ``names`` and ``stacks`` are the first of each:
    ``count`` and ``stacks_in_all`` say how many there are.
    """

    words: str
    count: int
    names: tuple[str, ...]
    seeding: bool = False
    cause: str = ""
    stacks: tuple[ShownStack, ...] = ()
    stacks_in_all: int = 0


@dataclass(frozen=True, slots=True)
class ThreadGroups:
    """The groups, those that matter first; ``told_by`` is ``dump`` or ``kernel``.

    ``left_out`` counts the threads of the groups that are not among them.
    """

    groups: tuple[ThreadGroup, ...]
    threads: int
    told_by: str
    left_out: int = 0
