"""The one seam between this program and the world."""

from __future__ import annotations

from typing import Protocol

from seedstall.model.evidence import Got, Missing, Reading, Ref, Why


class Source(Protocol):
    """Anything that can be read: a live host, a captured tree, files handed over."""

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not. Never raises for a thing that cannot be read."""
        ...


class Recorder:
    """A source that remembers every reading taken through it: each thing is read once.

    Gives facts their origins, and later bundles their contents.
    """

    def __init__(self, inner: Source) -> None:
        """Record what *inner* answers."""
        self._inner = inner
        self.readings: dict[Ref, Reading[bytes]] = {}

    def read(self, ref: Ref) -> Reading[bytes]:
        """Answer from the record, or read and record."""
        if ref not in self.readings:
            self.readings[ref] = self._inner.read(ref)
        return self.readings[ref]

    @property
    def origins(self) -> tuple[Ref, ...]:
        """Everything asked for so far, in order of its name."""
        return tuple(sorted(self.readings))


class Combined:
    """Several sources as one case: the first that knows anything of a thing answers.

    ``NOT_COLLECTED`` is the only answer that lets the next one speak: a source that looked and found nothing
    has answered.
    """

    def __init__(self, *sources: Source) -> None:
        """Ask *sources* in this order."""
        self._sources = sources

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read from the first source that holds *ref*."""
        answer: Reading[bytes] = Missing(Why.NOT_COLLECTED, (ref,))
        for source in self._sources:
            answer = source.read(ref)
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
