"""What the texts of a case say: thread dumps, server logs, measurements. Each input is decoded once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeVar

from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.log import Observations, ServerLog
from seedstall.model.record import dataclass
from seedstall.model.threads import ThreadDump, ThreadDumps
from seedstall.parse.text import Text, plain
from seedstall.source.base import Source

T = TypeVar("T")
DUMP = Ref(Space.ATTACH, "threaddump")
NAMES = Ref(Space.INPUT, "", Ask.LIST)


@dataclass(frozen=True, slots=True)
class InputTexts:
    """The inputs that could be read, by name, in their given order; and why others could not."""

    texts: tuple[tuple[str, Text], ...]
    unread: tuple[Missing, ...] = ()


def input_texts(source: Source) -> InputTexts:
    """Every input of the case, unpacked and in one encoding.

    Raises:
        Unavailable: no input was handed over.
    """
    listed = source.read(NAMES)
    if isinstance(listed, Missing):
        raise Unavailable(listed)
    from seedstall.parse.packed import unpacked  # noqa: PLC0415 - imported when there is an input

    texts: list[tuple[str, Text]] = []
    unread: list[Missing] = []
    for name in listed.value.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        ref = Ref(Space.INPUT, name)
        reading = source.read(ref)
        if isinstance(reading, Missing):
            unread.append(reading)
            continue
        try:
            texts.append((name, plain(unpacked(reading.value))))
        except ValueError as error:
            unread.append(Missing(Why.MALFORMED, (ref,), f"{name}: {error}"))
    return InputTexts(tuple(texts), tuple(unread))


def thread_dumps_of_case(source: Source, inputs: InputTexts | Missing) -> ThreadDumps:
    """The dumps of every input, each in its order, then the one that the JVM itself gave: the newest.

    Raises:
        Unavailable: none holds a dump. What kept us from asking the JVM is the reason, if something did; else the input
            that could not be read; else it is that no input holds one.
    """
    attached = source.read(DUMP)
    from seedstall.parse.threaddump import thread_dumps  # noqa: PLC0415 - costs milliseconds

    dumps: list[ThreadDump] = []
    if isinstance(inputs, InputTexts):
        dumps.extend(chain.from_iterable(thread_dumps(text, name) for name, text in inputs.texts))
    if isinstance(attached, Got):
        dumps.extend(thread_dumps(attached.value, "attach"))
    if dumps:
        return ThreadDumps(tuple(dumps))
    if isinstance(attached, Got):
        start = attached.value[:200].decode("utf-8", "replace").strip()
        raise Unavailable(Missing(Why.MALFORMED, (DUMP,), f"the answer holds no thread: {start!r}"))
    if attached.why is not Why.NOT_COLLECTED or isinstance(inputs, Missing):
        raise Unavailable(attached)
    raise Unavailable(_none(inputs, "no thread dump"))


def server_log_of_case(_source: Source, inputs: InputTexts) -> ServerLog:
    """What all inputs say as logs, one after the other.

    Raises:
        Unavailable: none of them is a log.
    """
    from seedstall.parse.serverlog import server_log  # noqa: PLC0415 - costs milliseconds

    logs = [server_log(text, name) for name, text in inputs.texts]
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
    )


def observations_of_case(_source: Source, inputs: InputTexts) -> Observations:
    """What all inputs say that was measured.

    Raises:
        Unavailable: nothing of the kind stands in them.
    """
    from seedstall.parse.observation import observations  # noqa: PLC0415 - costs milliseconds

    found = tuple(
        chain.from_iterable(observations(text, name).items for name, text in inputs.texts)
    )
    if not found:
        raise Unavailable(_none(inputs, "no measurement"))
    return Observations(found)


def _joined(logs: list[ServerLog], part: Callable[[ServerLog], tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(part(log) for log in logs))


def _first(told: Iterator[str]) -> str:
    return next(filter(None, told), "")


def _none(inputs: InputTexts, what: str) -> Missing:
    """Why there is none: an input that could not be read might hold one."""
    if inputs.unread:
        return inputs.unread[0]
    refs = tuple(Ref(Space.INPUT, name) for name, _ in inputs.texts)
    return Missing(Why.NOT_COLLECTED, refs, f"{what} in what was handed over")


PROVIDERS = (input_texts, thread_dumps_of_case, server_log_of_case, observations_of_case)
