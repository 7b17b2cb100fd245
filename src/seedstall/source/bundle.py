"""A bundle of our own (docs/bundles.md): what was read on the host, read again.

What it does not hold was not collected.
"""

from __future__ import annotations

import os
import re
from functools import cached_property

from seedstall.model.bundle import (
    BUNDLE,
    HEAD,
    JVM_DUMP,
    LOGS,
    MANIFEST,
    MEMORY_DUMP,
    TAKES,
    Head,
    Manifest,
    place,
)
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import bundle as parse
from seedstall.source.archive import PackedStore
from seedstall.source.closing import Closing
from seedstall.source.store import LARGEST, Store

MOST_TAKES = 1000
_DUMP = re.compile(r"threaddump(?:-([0-9]{1,6}))?\.txt")
_NOT_MADE = "a captured host cannot be probed"


class BundleSource(Closing):
    """One bundle. Close it, or use it in a ``with``.

    Of several takes the last that knows a thing answers; the dumps of all but the last are texts of the case.
    """

    def __init__(self, store: Store, top: str = "") -> None:
        """Read the head and the manifests of the bundle that lies below *top* in *store*.

        Raises:
            ValueError: it is none, or of a version that is not read, or its manifest is beyond the limits.
            OSError: its head cannot be read.
        """
        self._store = store
        self._top = f"{top}/" if top else ""
        self.head: Head = parse.head(store.ask(self._top + HEAD, Ask.CONTENT))
        self.pid = self.head.pid
        self._takes = [(prefix, self._manifest(prefix)) for prefix in self._prefixes()]

    def close(self) -> None:
        """Give back what the store holds."""
        store = getattr(self, "_store", None)
        if store is not None:
            store.close()

    def _prefixes(self) -> list[str]:
        """The takes, the last first; the first lies at the top."""
        names = self._names(TAKES.rstrip("/"))
        numbers = sorted({int(n) for n in names if n.isascii() and n.isdigit() and len(n) < 7})  # noqa: PLR2004
        return [f"{TAKES}{n}/" for n in reversed(numbers[:MOST_TAKES])] + [""]

    def _names(self, folder: str) -> list[str]:
        try:
            listed = self._store.ask(self._top + folder, Ask.LIST)
        except OSError:
            return []
        return [os.fsdecode(name) for name in listed.split(b"\0")[:-1]]

    def _manifest(self, prefix: str) -> Manifest:
        data = self._content(prefix + MANIFEST)
        return parse.manifest(data) if data is not None else Manifest()

    def _content(self, path: str) -> bytes | None:
        try:
            return self._store.ask(self._top + path, Ask.CONTENT, LARGEST)
        except OSError:
            return None

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not."""
        if ref.space is Space.INPUT:
            found = self._input(ref)
        elif ref == Ref(Space.ATTACH, "threaddump"):
            found = self._at(ref, self._jvm_dumps[-1]) if self._jvm_dumps else self._answer(ref)
        else:
            found = self._answer(ref)
        return found

    def _answer(self, ref: Ref) -> Reading[bytes]:
        path = place(ref, self.pid)
        if path is None or (ref.space is Space.PROCESS and self.pid is None):
            return Missing(Why.NOT_COLLECTED, (ref,))
        for prefix, manifest in self._takes:
            found = self._in_take(ref, path, prefix, manifest)
            if found is not None:
                return found
        detail = _NOT_MADE if path.startswith("probe/") else ""
        return Missing(Why.NOT_COLLECTED, (ref,), detail)

    def _in_take(
        self, ref: Ref, path: str, prefix: str, manifest: Manifest
    ) -> Reading[bytes] | None:
        """The answer of one take; ``None`` where it knows nothing of it."""
        if ref.ask is Ask.CONTENT:
            data = self._content(prefix + path)
            if data is not None:
                return self._whole(ref, prefix + path, data, manifest)
        else:
            answer = manifest.answers.get((path, ref.ask))
            if answer is not None:
                return Got(answer, (ref,))
        why = parse.reason(manifest, path, ref.ask)
        return None if why is None else Missing(why[0], (ref,), why[1])

    def _whole(self, ref: Ref, path: str, data: bytes, manifest: Manifest) -> Reading[bytes]:
        """A member's content, unless all that is there is its beginning: that would read as an end."""
        told = parse.reason(manifest, path, Ask.CONTENT)
        is_cut = isinstance(self._store, PackedStore) and self._top + path in self._store.cut
        if is_cut and ref.space not in (Space.INPUT, Space.ATTACH):
            return Missing(Why.TRUNCATED, (ref,), "the bundle was cut in it")
        if (
            told is not None
            and told[0] is Why.TRUNCATED
            and ref.space not in (Space.INPUT, Space.ATTACH)
        ):
            return Missing(Why.TRUNCATED, (ref,), told[1])
        return Got(data, (ref,))

    def _at(self, ref: Ref, path: str) -> Reading[bytes]:
        data = self._content(path)
        return Got(data, (ref,)) if data is not None else Missing(Why.NOT_COLLECTED, (ref,))

    # --- texts -------------------------------------------------------------------------------------------------------

    def _input(self, ref: Ref) -> Reading[bytes]:
        if ref == BUNDLE:
            return self._at(ref, HEAD)
        if ref == MEMORY_DUMP:
            dumps = self._memory_dumps
            return self._at(ref, dumps[-1]) if dumps else self._answer(ref)
        if ref.path.startswith("given/"):
            return self._answer(ref)
        if ref.ask is Ask.LIST and not ref.path and self._texts:
            return Got(b"".join(os.fsencode(name) + b"\0" for name in self._texts), (ref,))
        if ref.ask is Ask.CONTENT and ref.path in self._texts:
            return self._at(ref, self._texts[ref.path])
        return Missing(Why.NOT_COLLECTED, (ref,))

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Logs by the name they were handed over with, and the dumps before the last, in the order of time."""
        logs = sorted(path for path in self._below(LOGS.rstrip("/")) if self._is_file(path))
        named = {path.removeprefix(LOGS): path for path in logs}
        return {
            **named,
            **{path: path for path in (*self._jvm_dumps[:-1], *self._memory_dumps[:-1])},
        }

    def _below(self, folder: str, depth: int = 4) -> list[str]:
        found: list[str] = []
        for name in self._names(folder):
            path = f"{folder}/{name}"
            found += self._below(path, depth - 1) if depth and self._names(path) else [path]
        return found

    def _is_file(self, path: str) -> bool:
        try:
            return self._store.ask(self._top + path, Ask.STAT).startswith(b"100")
        except OSError:
            return False

    @cached_property
    def _jvm_dumps(self) -> tuple[str, ...]:
        """The JVM's own dumps, the oldest first: of each take those with a number, then the one without."""
        return tuple(
            f"{prefix}jvm/{name}"
            for prefix, _ in reversed(self._takes)
            for name in sorted(filter(_DUMP.fullmatch, self._names(f"{prefix}jvm")), key=_turn)
        )

    @cached_property
    def _memory_dumps(self) -> tuple[str, ...]:
        path = f"{JVM_DUMP}-memory.txt"
        every = (prefix + path for prefix, _ in reversed(self._takes))
        return tuple(path for path in every if self._is_file(path))


def _turn(name: str) -> tuple[int, int]:
    number = name.removeprefix("threaddump").removesuffix(".txt").removeprefix("-")
    return (0, int(number)) if number else (1, 0)
