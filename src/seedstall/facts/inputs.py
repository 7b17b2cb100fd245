"""What the texts of a case say: thread dumps, server logs, measurements. Each input is decoded once for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from itertools import chain
from typing import TypeAlias, TypeVar

from seedstall.model.bundle import MEMORY_DUMP
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.incident import Incident, IncidentKind
from seedstall.model.log import Observation, Observations, ServerLog, Silence
from seedstall.model.record import dataclass
from seedstall.model.redact import visible
from seedstall.model.threads import JavaThread, ThreadDump, ThreadDumps
from seedstall.parse.filetype import HEAD, filetype
from seedstall.parse.text import Text, plain
from seedstall.source.base import MEMORY, Source, pieces

T = TypeVar("T")
DUMP = Ref(Space.ATTACH, "threaddump")
HELD = 8 << 20
"""Bytes of a text that is read as a whole; a longer one is read in pieces."""
MOST_MEASURED = 10_000
NAMES = Ref(Space.INPUT, "", Ask.LIST)
CORE = Ref(Space.PROCESS, "core")
FIRST = Ref(Space.INPUT, "given/first")
"""Which way to a dump the user wants taken first: ``attach``."""


@dataclass(frozen=True, slots=True)
class InputTexts:
    """The inputs that could be read, by name, in their given order; and why others could not, or not to their end.

    Of one that is too long to be held, ``long`` has what was read as it came by, and its text here is what stands
    between its dumps (the last part of it, where that is too long as well).
    """

    texts: tuple[tuple[str, Text], ...]
    unread: tuple[Missing, ...] = ()
    long: Mapping[str, LongInput] = field(default_factory=dict[str, "LongInput"])
    empty: str = ""
    """The clause that there is nothing in any of them; ``""`` where there is something in one."""


@dataclass(frozen=True, slots=True)
class LongInput:
    """What an input says that was read in pieces: its dumps, and what the parts that were let go say as logs."""

    dumps: tuple[ThreadDump, ...]
    logs: tuple[ServerLog, ...] = ()
    observations: tuple[Observation, ...] = ()
    lines: int = 0
    incidents: tuple[Incident, ...] = ()
    silences: tuple[Silence, ...] = ()
    """What the parts do not have of a start that goes through several."""


def input_texts(source: Source) -> InputTexts:
    """Every input of the case, unpacked and in one encoding.

    Raises:
        Unavailable: no input was handed over.
    """
    listed = source.read(NAMES)
    if isinstance(listed, Missing):
        raise Unavailable(listed)
    texts: list[tuple[str, Text]] = []
    unread: list[Missing] = []
    long: dict[str, LongInput] = {}
    for name in listed.value.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        ref = Ref(Space.INPUT, name)
        try:
            for inner, content, lack in _contents(source, ref):
                head, data = _begun(content)
                other = filetype(head)
                if other is not None:
                    told = f"{inner} is {other.what}: {other.instead}"
                    unread.append(Missing(Why.MALFORMED, (Ref(Space.INPUT, inner),), told))
                elif isinstance(data, bytes):
                    texts.append((inner, plain(data)))
                else:
                    lacks = [lack + _READ_SO_FAR] if lack else []
                    rest, long[inner] = _read_long(inner, _up_to_damage(data, lacks), lacks)
                    texts.append((inner, rest))
                    lack = "; ".join(lacks)  # noqa: PLW2901 - what it is from here on
                if lack:
                    so_far = _READ_SO_FAR if data and isinstance(data, bytes) else ""
                    told = f"{inner}: {lack}{so_far}"
                    unread.append(Missing(Why.TRUNCATED, (Ref(Space.INPUT, inner),), told))
        except Unavailable as error:
            unread.append(error.missing)
        except OSError as error:
            unread.append(Missing(Why.MALFORMED, (ref,), f"{name}: {error.strerror or error}"))
        except ValueError as error:
            unread.append(Missing(Why.MALFORMED, (ref,), f"{name}: {error}"))
    read = [(name, text.data) for name, text in texts if name not in long]
    blank = not (unread or long) and not any(data.strip(_BLANKS) for _, data in read)
    names = [name for name in listed.value.decode("utf-8", "surrogateescape").split("\0") if name]
    empty = _nothing_in(names[0], dict(read), len(names)) if blank and names else ""
    return InputTexts(tuple(texts), tuple(unread), long, empty)


_BLANKS = b" \t\r\n\f\v\0"
"""NUL as well: two blocks of them are a tar of no members, and what a file system leaves of a log after a crash."""
_COLLECTED = re.compile(r"\.(?:tar|tgz|txz|tbz2?|tar\.\w{1,4}|zip)$|bundle|capture", re.IGNORECASE)
"""Names of what a collector writes, and not a program."""


def _nothing_in(name: str, read: Mapping[str, bytes], count: int) -> str:
    """That there is nothing to look at, and where to look for the reason."""
    shown = "standard input" if name == "-" else visible(name.rpartition("/")[2])
    size = sum(map(len, read.values()))
    if count > 1:
        return f"all {count} files are empty: {shown} is the first of them"
    if not _COLLECTED.search(name):
        return f"{shown} {'holds nothing but blanks' if size else 'is empty: 0 bytes were read'}"
    what = "holds no file" if size or not read else "is empty: 0 bytes were read"
    return f"{shown} {what}: what was to write it wrote nothing; its standard error says why"


def _begun(content: bytes | Iterator[bytes]) -> tuple[bytes, bytes | Iterator[bytes]]:
    """How *content* begins, and all of it."""
    if isinstance(content, bytes):
        return content[:HEAD], content
    head = next(content, b"")
    return head[:HEAD], chain((head,), content)


_READ_SO_FAR = ", read up to there"
_Content: TypeAlias = tuple[str, "bytes | Iterator[bytes]", str]


def _up_to_damage(data: Iterator[bytes], lacks: list[str]) -> Iterator[bytes]:
    """The pieces of a text up to where it cannot be read further; *lacks* gets the reason."""
    from seedstall.parse.packed import TooLargeError  # noqa: PLC0415 - only for a long text

    begun = False
    try:
        for piece in data:
            yield piece
            begun = True
    except TooLargeError:
        raise
    except (ValueError, OSError) as error:
        if not begun:
            raise
        lacks.append(f"{error}{_READ_SO_FAR}")


def _contents(source: Source, ref: Ref) -> Iterator[_Content]:
    """The texts of one input, unpacked, each with its name: as a whole, or in pieces where it is long.

    With each the reason why it is not all there; ``""`` where it is.
    """
    from seedstall.parse import packed  # noqa: PLC0415 - imported when there is an input

    reading = source.read(ref)
    if isinstance(reading, Got):
        try:
            yield from _members(ref.path, reading.value, HELD)
        except packed.TooLargeError:
            packed_pieces = iter((reading.value,))
        else:
            return
    else:
        streamed = pieces(source, ref) if reading.why is Why.TRUNCATED else reading
        if isinstance(streamed, Missing):
            raise Unavailable(reading)
        packed_pieces = streamed.value
    try:
        yield ref.path, packed.streamed(packed_pieces), ""
    except packed.NotStreamedError as error:
        yield from _members(ref.path, packed.gathered(error.taken, packed_pieces), packed.LIMIT)


def _members(name: str, data: bytes, limit: int) -> Iterator[_Content]:
    from seedstall.parse.packed import members  # noqa: PLC0415 - see above

    for inner, content, lack in members(data, max(limit, len(data))):
        whole = f"{name}!{inner}" if inner else name
        if len(content) <= HELD:
            yield whole, content, lack
        else:
            yield whole, (content[at : at + HELD] for at in range(0, len(content), HELD)), lack


def _read_long(name: str, data: Iterator[bytes], lacks: list[str]) -> tuple[Text, LongInput]:
    """What is left of a long text to be parsed, and what was parsed on the way; *lacks* gets what is not sure of it."""
    from seedstall.parse.container.exported import oldest_first  # noqa: PLC0415 - the same
    from seedstall.parse.incident import incidents, merged  # noqa: PLC0415 - the same
    from seedstall.parse.longtext import LongText  # noqa: PLC0415 - only for such an input
    from seedstall.parse.observation import observations  # noqa: PLC0415 - see above
    from seedstall.parse.serverlog import Silences, server_log  # noqa: PLC0415 - see above

    export = oldest_first(data)
    if export.lack:
        lacks.append(export.lack)
    long = LongText(name, export.total)
    logs: list[ServerLog] = []
    seen: dict[tuple[str, int], Observation] = {}
    told: tuple[Incident, ...] = ()
    rest: Text | None = None
    silences = Silences(name)
    for part in long.parts(export.pieces):
        if rest is not None:
            logs.append(server_log(rest, name))
            silences.part(rest, logs[-1])
            # A debugger is waited for in the last line of all.
            more = (i for i in incidents(rest, name) if i.kind is not IncidentKind.DEBUGGER)
            told = merged(told, tuple(more))
            if len(seen) < MOST_MEASURED:
                seen |= {(o.kind, o.line): o for o in observations(rest, name).items}
        rest = part
    observed = tuple(seen.values())
    rest = rest or Text(b"")
    if logs:
        silences.part(rest, server_log(rest, name))
    return rest, LongInput(
        long.dumps, tuple(logs), observed, long.lines, told, tuple(silences.found)
    )


def thread_dumps_of_case(source: Source, inputs: InputTexts | Missing) -> ThreadDumps:
    """The dumps of every input, each in its order, then the one that the JVM itself gave: the newest.

    Raises:
        Unavailable: none holds a dump. What kept us from asking the JVM is the reason, if something did; else the input
            that could not be read; else it is that no input holds one.
    """
    remembered = _of_core(source)
    live = _of_jvm(source) if remembered is None else None
    dumps: list[ThreadDump] = []
    if isinstance(inputs, InputTexts) and inputs.texts:
        from seedstall.parse.threaddump import thread_dumps  # noqa: PLC0415 - costs milliseconds

        for name, text in inputs.texts:
            long = inputs.long.get(name)
            dumps.extend(thread_dumps(text, name) if long is None else long.dumps)
    if isinstance(live, tuple):
        dumps.extend(live)
    if isinstance(remembered, ThreadDump):
        dumps.append(remembered)
    if dumps:
        return ThreadDumps(tuple(dumps))
    if isinstance(remembered, Missing):
        raise Unavailable(remembered)
    if isinstance(inputs, Missing):
        raise Unavailable(live if isinstance(live, Missing) else inputs)
    if isinstance(live, Missing) and live.why is not Why.NOT_COLLECTED:
        raise Unavailable(live)
    raise Unavailable(_none(inputs, "no thread dump"))


def _of_jvm(source: Source) -> tuple[ThreadDump, ...] | Missing:
    """What the running JVM shows: its memory first, which costs it nothing; its own dump where that is not all.

    The other way round where the user says so (``--attach``).
    """
    said = source.read(FIRST)
    attach_first = isinstance(said, Got) and said.value == b"attach"
    read = None if attach_first else from_memory(source)
    if isinstance(read, ThreadDump) and read.complete and not any(map(_own_shows, read.threads)):
        return (read,)
    attached = _attached(source)
    if isinstance(attached, Missing) and read is None:
        read = from_memory(source)
    if isinstance(attached, Missing) and isinstance(read, ThreadDump):
        return (read,)
    if isinstance(attached, Missing) and isinstance(read, Missing):
        return _neither(attached, read)
    return attached


MOST_SHOWN = 1_024
"""Frames of one thread in the JVM's own dump (MaxJavaStackTraceDepth)."""


def _own_shows(thread: JavaThread) -> bool:
    """Whether the JVM's own dump has more of a thread: it leaves out virtual ones (21+), and ends all deep stacks."""
    return thread.cut and not thread.virtual and len(thread.frames) < MOST_SHOWN


def _attached(source: Source) -> tuple[ThreadDump, ...] | Missing:
    """The JVM's own dump, by attach."""
    reading = source.read(DUMP)
    if isinstance(reading, Missing):
        return reading
    from seedstall.parse.threaddump import thread_dumps  # noqa: PLC0415 - costs milliseconds

    dumps = thread_dumps(reading.value, "attach")
    if dumps:
        return tuple(dumps)
    start = reading.value[:200].decode("utf-8", "replace").strip()
    return Missing(Why.MALFORMED, (DUMP,), f"the answer holds no thread: {start!r}")


def from_memory(source: Source) -> ThreadDump | Missing:
    """The threads as its memory holds them. Evidence that holds no memory costs nothing here."""
    told = source.read(MEMORY_DUMP)
    if isinstance(told, Got):
        return _once_read(told.value)
    if told.why is not Why.NOT_COLLECTED:  # of a bundle, whose maker could not read it
        return told
    held = source.read(MEMORY)
    if isinstance(held, Missing) and held.why in (Why.NOT_COLLECTED, Why.REFUSED):
        return held
    from seedstall.facts.memory import memory_dump  # noqa: PLC0415 - costs milliseconds

    try:
        return memory_dump(source)
    except Unavailable as error:
        return error.missing


def _once_read(text: bytes) -> ThreadDump | Missing:
    """What its memory held when a bundle was made of it."""
    from seedstall.parse.remembered import remembered  # noqa: PLC0415 - only for bundles

    try:
        return remembered(text)
    except ValueError as error:
        return Missing(Why.MALFORMED, (MEMORY_DUMP,), str(error))


def _neither(attached: Missing, read: Missing) -> Missing:
    """Why neither way led to a dump. That our own policy kept us from its memory adds nothing."""
    if read.why in (Why.NOT_COLLECTED, Why.REFUSED) and not read.detail:
        return attached
    if attached.why is Why.NOT_COLLECTED or read.why is Why.REFUSED:
        return attached
    detail = f"{attached.detail or attached.why}; its memory: {read.detail or read.why}"
    return Missing(attached.why, (*attached.origins, *read.origins), detail)


def _of_core(source: Source) -> ThreadDump | Missing | None:
    """The stacks that a core's memory holds, or why they cannot be had; ``None`` where the evidence is no core."""
    if isinstance(source.read(CORE), Missing):
        return None
    from seedstall.facts.core import core_dump  # noqa: PLC0415 - only for cores
    from seedstall.facts.memory import memory_dump  # noqa: PLC0415 - only for cores

    try:
        return memory_dump(source)
    except Unavailable as error:
        core = core_dump(source)
        if not core.is_cut:
            return error.missing
        told = f"the core is cut, {core.held}: {error.missing.detail}"
        return Missing(Why.TRUNCATED, error.missing.origins, told)


def server_log_of_case(_source: Source, inputs: InputTexts) -> ServerLog:
    """What all inputs say as logs, one after the other.

    Raises:
        Unavailable: none of them is a log.
    """
    from seedstall.parse.serverlog import server_log  # noqa: PLC0415 - costs milliseconds

    logs: list[ServerLog] = []
    for name, text in inputs.texts:
        log = server_log(text, name)
        if name in inputs.long:
            before = inputs.long[name].logs
            logs += before
            lines = inputs.long[name].lines - sum(part.lines for part in before)
            log = replace(
                log,
                lines=lines if log.lines else 0,
                silences=(*log.silences, *inputs.long[name].silences),
            )
        logs.append(log)
    logs = [log for log in logs if log.lines]
    if not logs:
        raise Unavailable(_none(inputs, "no line of a server log"))
    return ServerLog(
        seeding=_joined(logs, lambda log: log.seeding),
        starts=_joined(logs, lambda log: log.starts),
        product=_first(log.product for log in logs),
        lines=sum(log.lines for log in logs),
        last_line=logs[-1].last_line,
        picked_up=_joined(logs, lambda log: log.picked_up),
        deployments=_joined(logs, lambda log: log.deployments),
        arguments=_joined(logs, lambda log: log.arguments),
        jvm_version=_first(log.jvm_version for log in logs),
        os_release=_first(log.os_release for log in logs),
        product_version=_first(log.product_version for log in logs),
        begins=_joined(logs, lambda log: log.begins),
        # A start may go through several parts of a long log: its longest silence is the first of its own.
        silences=tuple(sorted(_joined(logs, lambda log: log.silences), key=lambda s: -s.ms)),
    )


def observations_of_case(_source: Source, inputs: InputTexts) -> Observations:
    """What all inputs say that was measured.

    Raises:
        Unavailable: nothing of the kind stands in them.
    """
    from seedstall.parse.observation import observations  # noqa: PLC0415 - costs milliseconds

    found: dict[tuple[str, str, int, str], Observation] = {}
    for name, text in inputs.texts:
        before = inputs.long[name].observations if name in inputs.long else ()
        for seen in chain(before, observations(text, name).items):
            found[seen.kind, name, seen.line, seen.text] = seen
    if not found:
        raise Unavailable(_none(inputs, "no measurement"))
    return Observations(tuple(found.values()))


def _joined(logs: list[ServerLog], part: Callable[[ServerLog], tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(part(log) for log in logs))


def _first(told: Iterator[str]) -> str:
    return next(filter(None, told), "")


def _none(inputs: InputTexts, what: str) -> Missing:
    """Why there is none: an input that could not be read might hold one."""
    if inputs.unread:
        return inputs.unread[0]
    refs = tuple(Ref(Space.INPUT, name) for name, _ in inputs.texts)
    if inputs.empty:
        return Missing(Why.ABSENT, refs, inputs.empty)
    return Missing(Why.NOT_COLLECTED, refs, f"{what} in what was handed over")


PROVIDERS = (input_texts, thread_dumps_of_case, server_log_of_case, observations_of_case)
