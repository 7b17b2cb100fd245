"""A dump that was made of a JVM's memory, read back from the text that `render.threads.dump_text` makes of it.

The readers of thread dumps read it as any other. Here it becomes what it was: read from memory, so that its lines are
no places, with why a stack is not known and which file a thread reads.
"""

from __future__ import annotations

import re
from dataclasses import replace

from seedstall.model.threads import JavaThread, ThreadDump
from seedstall.parse.text import plain
from seedstall.parse.threaddump import thread_dumps

ORIGIN = "memory"
_NOT_KNOWN = re.compile(rb"^Stacks not known, or not to their end: (\d{1,9})\.$", re.MULTILINE)
_SAID = re.compile(rb"^\tat \.\.\. \((unknown|reads): (.{1,4096})\)$")


def remembered(data: bytes) -> ThreadDump:
    """The dump.

    Raises:
        ValueError: it holds none, or several.
    """
    dumps = thread_dumps(plain(data), ORIGIN)
    if len(dumps) != 1:
        raise ValueError(f"not a dump of a JVM's memory: {len(dumps)} thread dumps in it")
    dump = dumps[0]
    said = _said(data)
    threads = tuple(_as_it_was(thread, said.get(thread.line, {})) for thread in dump.threads)
    found = _NOT_KNOWN.search(data[:4096])
    unread = int(found[1]) if found is not None else 0
    jdk = replace(dump.jdk, told_by=ORIGIN) if dump.jdk is not None else None
    lost = unread - sum(thread.cut for thread in threads)
    complete = lost <= 0 and bool(threads)
    return replace(dump, threads=threads, line=1, jdk=jdk, complete=complete, unread=unread)


def _said(data: bytes) -> dict[int, dict[bytes, str]]:
    """By the line of a thread's header: why its stack is not known, and what it reads."""
    said: dict[int, dict[bytes, str]] = {}
    header = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.startswith(b'"'):
            header = number
        elif (found := _SAID.match(line)) is not None:
            told = said.setdefault(header, {})
            told[found[1]] = found[2].decode("utf-8", "surrogateescape")
    return said


def _as_it_was(thread: JavaThread, said: dict[bytes, str]) -> JavaThread:
    note = said.get(b"unknown", "")
    return replace(
        thread,
        frames=tuple(replace(frame, line=0) for frame in thread.frames),
        line=0,
        cut=bool(note),
        note=note,
        reads=said.get(b"reads", ""),
    )
