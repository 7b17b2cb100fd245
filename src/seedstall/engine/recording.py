"""Everything that the rules can ask for, asked for once, through a recorder: what a bundle is made of."""

from __future__ import annotations

from collections.abc import Iterable

from seedstall import facts, rules
from seedstall.engine.case import Case
from seedstall.engine.run import run
from seedstall.facts.inputs import from_memory
from seedstall.knowledge import collection
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space
from seedstall.model.rule import kinds_of
from seedstall.model.threads import ThreadDump, ThreadDumps
from seedstall.parse import procfs
from seedstall.source.base import Source

_TASKS = Ref(Space.PROCESS, "task", Ask.LIST)
_DESCRIPTORS = Ref(Space.PROCESS, "fd", Ask.LIST)


def ask_everything(recorder: Source) -> ThreadDump | Missing | None:
    """Run every rule, find every fact, and read the rest of the list.

    The dump that was read from memory, or why none was; ``None`` where nobody asked for one.

    *recorder* keeps what is read. First what the rules want, in the order in which a diagnosis reads it; so a bundle
    that was cut short by a time limit holds what a verdict needs.
    """
    _one_after_the_other(recorder)
    case = Case(recorder, facts.providers())
    for _ in run(rules.ALL, case):
        pass
    for provider in facts.providers():
        for kind in kinds_of(provider, "return"):
            if isinstance(kind, type):
                case.get(kind)
    _the_rest(recorder)
    return memory_dump_of(case) or why_not(recorder)


def memory_dump_of(case: Case) -> ThreadDump | None:
    """The last dump of a case that was read from memory."""
    read = case.value(ThreadDumps)
    found = [dump for dump in (read.dumps if read is not None else ()) if dump.origin == "memory"]
    return found[-1] if found else None


def why_not(recorder: Source) -> Missing | None:
    """Why the JVM's memory shows no dump: memory itself is not kept, and a replay is to know it all the same."""
    found = from_memory(recorder)
    return found if isinstance(found, Missing) else None


def ask_again(recorder: Source) -> ThreadDump | Missing | None:
    """A further take: the threads, their stacks, and what of the host changes."""
    _read(recorder, Space.KERNEL, collection.CHANGES_OF_HOST)
    _one_after_the_other(recorder)
    case = Case(recorder, facts.providers())
    dump = memory_dump_of(case)
    _read(recorder, Space.PROCESS, collection.CHANGES_OF_PROCESS)
    return dump


def _one_after_the_other(recorder: Source) -> None:
    """Each thread's files at one moment: a rule that wants one of them reads the others as they were then."""
    for tid in _names(recorder, _TASKS)[: collection.MOST_TASKS]:
        _read(recorder, Space.PROCESS, (f"task/{tid}/{name}" for name in collection.OF_TASK))


def _the_rest(recorder: Source) -> None:
    _read(recorder, Space.PROCESS, collection.OF_PROCESS)
    _read(recorder, Space.PROCESS, collection.LINKS_OF_PROCESS, Ask.LINK)
    for number in _names(recorder, _DESCRIPTORS)[: collection.MOST_DESCRIPTORS]:
        _read(recorder, Space.PROCESS, (f"fd/{number}",), Ask.LINK)
        _read(recorder, Space.PROCESS, (f"fd/{number}",), Ask.STAT)
    _read(recorder, Space.ROOT, collection.DEVICES, Ask.STAT)
    _read(recorder, Space.KERNEL, collection.DEVICES, Ask.STAT)
    _read(recorder, Space.KERNEL, collection.OF_HOST)
    for folder in collection.FOLDERS_OF_HOST:
        names = _names(recorder, Ref(Space.KERNEL, folder, Ask.LIST))
        files = (name for name in names if name not in collection.NOT_FILES)
        wanted = (f"{folder}/{name}" for name in files)
        _read(recorder, Space.KERNEL, wanted)


def _read(source: Source, space: Space, paths: Iterable[str], ask: Ask = Ask.CONTENT) -> None:
    for path in paths:
        source.read(Ref(space, path, ask))


def _names(source: Source, folder: Ref) -> tuple[str, ...]:
    found = source.read(folder)
    return procfs.names(found.value) if isinstance(found, Got) else ()
