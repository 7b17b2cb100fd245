"""What many JVMs of one host share: found once for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from seedstall import facts
from seedstall.engine.case import Case
from seedstall.facts.jdk import PERFORMANCE_DATA, TEMPORARY
from seedstall.model.evidence import Ask, Got, Reading, Ref, Space
from seedstall.model.kernel import Distribution, Feeders, KernelRandom, PoolLevel
from seedstall.source.base import Source

SHARED: tuple[type[Any], ...] = (KernelRandom, PoolLevel, Feeders, Distribution)
"""Facts of the host alone. Finding the feeders reads the name of every process: 100 JVMs would read them 100 times."""
_SAME_ROOT = tuple(Ref(Space.PROCESS, path, Ask.LINK) for path in ("ns/mnt", "root"))


def host_facts(host: Source, kinds: Iterable[type[Any]] = SHARED) -> dict[type[Any], Reading[Any]]:
    """Those facts of this host, now, each with its value or why it could not be had."""
    case = Case(host, facts.providers())
    return {kind: case.get(kind) for kind in kinds}


class Roots:
    """The root directories that JVMs have in common, for one look at all of them.

    Each has the folders of performance data in ``/tmp`` read, which may hold a hundred thousand names.
    """

    def __init__(self) -> None:
        """Know none yet."""
        self._temporary: dict[tuple[bytes, ...], Reading[bytes]] = {}

    def shared(self, source: Source) -> Source:
        """The same source, with what others read of the same root."""
        return _Shared(source, self._temporary)


class _Shared:
    def __init__(self, inner: Source, temporary: dict[tuple[bytes, ...], Reading[bytes]]) -> None:
        self._inner = inner
        self._temporary = temporary

    def read(self, ref: Ref) -> Reading[bytes]:
        if ref != TEMPORARY:
            return self._inner.read(ref)
        links = [self._inner.read(link) for link in _SAME_ROOT]
        same = tuple(link.value for link in links if isinstance(link, Got))
        if len(same) < len(_SAME_ROOT):
            return self._inner.read(ref)
        if same not in self._temporary:
            self._temporary[same] = _performance_data(self._inner.read(ref))
        return self._temporary[same]


def _performance_data(listed: Reading[bytes]) -> Reading[bytes]:
    if not isinstance(listed, Got):
        return listed
    names = [name for name in listed.value.split(b"\0") if name.startswith(PERFORMANCE_DATA)]
    return Got(b"".join(name + b"\0" for name in names), listed.origins)
