"""What a process told while it lived, for when it has ended."""

from __future__ import annotations

from seedstall.model.evidence import Got, Reading, Ref, Space, Why
from seedstall.source.base import Source


class Kept:
    """A source whose answers about a process outlive it.

    What was read once is the answer again when the process has vanished: its command line, its libraries. Its threads
    are not kept: those of the past say nothing of now.
    """

    def __init__(self, live: Source) -> None:
        """Read from *live* as long as it answers."""
        self._live = live
        self._kept: dict[Ref, Got[bytes]] = {}

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read it, or remember it."""
        answer = self._live.read(ref)
        if ref.space not in (Space.PROCESS, Space.ROOT) or ref.path.startswith("task"):
            return answer
        if isinstance(answer, Got):
            self._kept[ref] = answer
            return answer
        return self._kept.get(ref, answer) if answer.why is Why.VANISHED else answer

    def keep(self, *refs: Ref) -> None:
        """Read these now."""
        for ref in refs:
            self.read(ref)
