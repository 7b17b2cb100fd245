"""The one seam between this program and the world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why, in_order


class Source(Protocol):
    """Anything that can be read: a live host, a captured tree, files handed over."""

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not. Never raises for a thing that cannot be read."""
        ...


@runtime_checkable
class Pieces(Protocol):
    """A source that can give what is too long to be held: an input, in pieces."""

    def pieces(self, ref: Ref) -> Reading[Iterator[bytes]]:
        """The content in its order, to be taken once; taking the next raises `OSError` where it cannot be read."""
        ...


def pieces(source: Source, ref: Ref) -> Reading[Iterator[bytes]]:
    """The content of *ref* in pieces: in one, where the source knows nothing of pieces."""
    if isinstance(source, Pieces):
        return source.pieces(ref)
    reading = source.read(ref)
    return reading if isinstance(reading, Missing) else Got(iter((reading.value,)), reading.origins)


INPUTS = Ref(Space.INPUT, "", Ask.LIST)
"""The names of what was handed over."""
MEMORY = Ref(Space.MEMORY, "")
"""The target's memory as a whole, as an origin."""


class Recorder:
    """A source that remembers every reading taken through it: each thing is read once.

    Gives facts their origins, and later bundles their contents. Memory alone passes through: it is read for what has
    changed as well, it is full of secrets, and a walk reads thousands of spans. That it was read is remembered.
    """

    def __init__(self, inner: Source) -> None:
        """Record what *inner* answers."""
        self._inner = inner
        self.readings: dict[Ref, Reading[bytes]] = {}
        self._memory = False

    def read(self, ref: Ref) -> Reading[bytes]:
        """Answer from the record, or read and record."""
        if ref.space is Space.MEMORY:
            reading = self._inner.read(ref)
            self._memory |= isinstance(reading, Got)
            return reading
        if ref not in self.readings:
            self.readings[ref] = self._inner.read(ref)
        return self.readings[ref]

    def pieces(self, ref: Ref) -> Reading[Iterator[bytes]]:
        """Pass on: what comes in pieces is not kept. The reading that said that it is too long is its origin."""
        return pieces(self._inner, ref)

    @property
    def origins(self) -> tuple[Ref, ...]:
        """Everything asked for so far, in order of its name."""
        memory = (MEMORY,) if self._memory else ()
        return (*in_order(self.readings), *memory)


class Combined:
    """Several sources as one case: the first that knows anything of a thing answers.

    ``NOT_COLLECTED`` is the only answer that lets the next one speak: a source that looked and found nothing
    has answered. Where nobody knows anything, the first who says why not is heard.
    """

    def __init__(self, *sources: Source) -> None:
        """Ask *sources* in this order."""
        self._sources = sources

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read from the first source that holds *ref*. The inputs are those of all: a bundle's, and those beside it."""
        if ref == INPUTS:
            return self._inputs()
        nothing = Missing(Why.NOT_COLLECTED, (ref,))
        for source in self._sources:
            answer = source.read(ref)
            if isinstance(answer, Got) or answer.why is not Why.NOT_COLLECTED:
                return answer
            nothing = nothing if nothing.detail else answer
        return nothing

    def _inputs(self) -> Reading[bytes]:
        told = [source.read(INPUTS) for source in self._sources]
        names = [found.value for found in told if isinstance(found, Got)]
        return Got(b"".join(names), (INPUTS,)) if names else Missing(Why.NOT_COLLECTED, (INPUTS,))

    def pieces(self, ref: Ref) -> Reading[Iterator[bytes]]:
        """Take them from the first source that holds *ref*."""
        answer: Reading[Iterator[bytes]] = Missing(Why.NOT_COLLECTED, (ref,))
        for source in self._sources:
            answer = pieces(source, ref)
            if isinstance(answer, Got) or answer.why is not Why.NOT_COLLECTED:
                return answer
        return answer


class Held:
    """A source held in a mapping: for tests, for replay, and for what the user says on the command line."""

    def __init__(self, contents: dict[Ref, bytes | Why]) -> None:
        """Hold *contents*; a `Why` stands for a thing that could not be read."""
        self._contents = contents

    def read(self, ref: Ref) -> Reading[bytes]:
        """Answer from the mapping."""
        match self._contents.get(ref, Why.NOT_COLLECTED):
            case bytes() as data:
                return Got(data, (ref,))
            case why:
                return Missing(why, (ref,))
