"""What ``jcmd PID Thread.dump_to_file`` writes, as text or JSON (JDK 21+): virtual threads too, no kernel ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, cast

from seedstall.model.jdk import JdkVersion
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump
from seedstall.parse.jdkversion import jdk_version
from seedstall.parse.text import Lines, Text, shown
from seedstall.parse.threaddump.frame import Doubt, body, is_bottom, line

_HEADER = re.compile(
    rb'^#(\d{1,19}) "([^\n]{0,10000}(?:\n[^\n#]{1,1000}){0,2}?)"( virtual)?(?: ([A-Z_]{3,13}))?'
    rb"(?: (\d{4}-\d\d-\d\dT[^\s]{8,40}))?[ \t]*$",
    re.MULTILINE,
)
_WITHOUT_AT = re.compile(rb"^ {4,8}(?=[\w$])(?!at )", re.MULTILINE)
"""Frames as JDK 21 writes them; later ones have an ``at``."""
_HEAD = re.compile(rb"\A\s*(\d{1,10})\n(\d{4}-\d\d-\d\dT\S{8,40})\n(\S{1,60})\n")
_SIGN: Final = b'"threadDump"'


def is_to_file(data: bytes) -> bool:
    """Whether *data*, the start of a text, is that of such a file."""
    if data[:1] == b"{":
        return _SIGN in data
    return (_HEAD if data[:1] != b"#" else _HEADER).match(data) is not None


def to_file_dumps(text: Text, origin: str) -> tuple[ThreadDump, ...]:
    """The dump of such a file; ``()`` where it holds no threads or its JSON is broken."""
    if text.data.lstrip()[:1] == b"{":
        return _of_json(text.data, origin)
    head = _HEAD.match(text.data)
    read = list(_threads(text))
    threads = tuple(thread for thread, _ in read)
    if not threads:
        return ()
    unread = sum(thread.cut or doubtful for thread, doubtful in read)
    # Each thread has a blank line below it, the last one too; what was pasted may have lost that.
    last = threads[-1].frames
    ended = text.data.endswith(b"\n\n") or (last and is_bottom(last[-1]))
    version = shown(head[3]) if head else ""
    dump = ThreadDump(
        origin,
        threads,
        1,
        shown(head[2]) if head else "",
        version,
        _version(version),
        complete=head is not None and bool(ended) and not unread,
        unread=unread,
    )
    return (dump,)


def _threads(text: Text) -> Iterator[tuple[JavaThread, bool]]:
    """Each thread, and whether some of its frames could not be read."""
    lines = Lines(text)
    headers = list(_HEADER.finditer(text.data))
    for index, match in enumerate(headers):
        end = headers[index + 1].start() if index + 1 < len(headers) else len(text.data)
        stack = text.data[match.end() + 1 : end]
        read = body(_WITHOUT_AT.sub(b"at ", stack.partition(b"\n\n")[0]))
        number = lines.at(match.start())
        frames = tuple(
            Frame(frame.class_name, frame.method, frame.location, lines.below(offset + 1))
            for frame, offset in zip(read.frames, read.offsets, strict=True)
        )
        state = shown(match[4]) if match[4] else ""
        thread = JavaThread(
            shown(match[2]), frames, read.locks, state=state, line=number, cut=read.cut
        )
        # Lines that no frame came out of: an unmounted or native thread has none at all.
        lost = read.doubt is Doubt.FRAMES or (not frames and read.doubt is not Doubt.NONE)
        yield thread, lost and not read.cut


def _of_json(data: bytes, origin: str) -> tuple[ThreadDump, ...]:
    import json  # noqa: PLC0415 - only for such a file

    try:
        found = _member(json.loads(data), "threadDump")
    except (ValueError, RecursionError):
        return ()
    threads = tuple(_numbered(data, list(_json_threads(found))))
    if not threads:
        return ()
    unread = _json_unread(found)
    lacking = any(_is_lacking(container) for container in _list(found, "threadContainers"))
    version = _text(found, "runtimeVersion")
    return (
        ThreadDump(
            origin,
            threads,
            1,
            _text(found, "time"),
            version,
            _version(version),
            complete=not unread and not lacking,
            unread=unread,
        ),
    )


def _json_threads(dump: dict[str, object]) -> Iterator[JavaThread]:
    for container in _list(dump, "threadContainers"):
        for thread in _list(container, "threads"):
            frames = tuple(_frames(thread))
            yield JavaThread(
                _text(thread, "name"), frames, tuple(_locks(thread)), state=_text(thread, "state")
            )


def _json_unread(dump: dict[str, object]) -> int:
    """Threads with entries in their stacks that are no frames."""
    unread = 0
    for container in _list(dump, "threadContainers"):
        for thread in _list(container, "threads"):
            stack = thread.get("stack")
            entries = len(cast("list[object]", stack)) if isinstance(stack, list) else 0
            unread += sum(1 for _ in _frames(thread)) < entries
    return unread


def _is_lacking(container: dict[str, object]) -> bool:
    """Whether fewer threads are there than ``threadCount`` says."""
    said = str(container.get("threadCount", ""))
    return said.isascii() and said.isdigit() and int(said[:9]) > len(_list(container, "threads"))


def _numbered(data: bytes, threads: list[JavaThread]) -> Iterator[JavaThread]:
    """Give each thread the line of its name: JSON has them in order, one ``"name"`` each."""
    places = [match.start() for match in re.finditer(rb'"name":', data)]
    lines = Lines(Text(data))
    if len(places) != len(threads):
        yield from threads
        return
    for place, thread in zip(places, threads, strict=True):
        yield replace(thread, line=lines.at(place))


def _frames(thread: dict[str, object]) -> Iterator[Frame]:
    stack = thread.get("stack")
    for entry in cast("list[object]", stack) if isinstance(stack, list) else []:
        read = line(b"at " + str(entry).encode("utf-8", "replace"))
        if isinstance(read, Frame):
            yield read


def _locks(thread: dict[str, object]) -> Iterator[LockLine]:
    """JDK 25 names what a thread waits for and owns: ``java.lang.Object@3fbcd7d7``."""
    acts = {
        "waitingOn": LockAct.WAITING_ON,
        "blockedOn": LockAct.WAITING_TO_LOCK,
        "parkBlocker": LockAct.PARKING,
    }
    for key, act in acts.items():
        found = thread.get(key)
        named = (
            _text(cast("dict[str, object]", found), "object") if isinstance(found, dict) else found
        )
        if isinstance(named, str) and named:
            class_name, _, address = named.partition("@")
            yield LockLine(act, class_name, address or None)
    for owned in _list(thread, "monitorsOwned"):
        depth = owned.get("depth")
        locks = owned.get("locks")
        for lock in cast("list[object]", locks) if isinstance(locks, list) else []:
            class_name, _, address = str(lock).partition("@")
            at = depth if isinstance(depth, int) else 0
            yield LockLine(LockAct.LOCKED, class_name, address or None, at)


def _version(text: str) -> JdkVersion | None:
    try:
        return jdk_version(text)
    except ValueError:
        return None


def _member(value: object, key: str) -> dict[str, object]:
    found = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _list(value: dict[str, object], key: str) -> list[dict[str, object]]:
    found = value.get(key)
    items = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]


def _text(value: dict[str, object], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""
