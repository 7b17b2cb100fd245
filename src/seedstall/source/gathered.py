"""Evidence that somebody gathered, in an archive or a directory: a bundle of ours, a captured tree, a sosreport.

What it is is told by the paths in it (`knowledge.bundles`). An archive is unpacked in memory, and only what is evidence
is kept of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from seedstall.knowledge.bundles import MOST_LOOKED_AT, Form, form_of, tops_of_trees
from seedstall.model.bundle import HEAD, LACKS
from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Got, Missing, Reading, Ref, Why
from seedstall.parse import packed, tar
from seedstall.parse.bundle import NoBundleError
from seedstall.source import archive, store
from seedstall.source.base import Source
from seedstall.source.bundle import BundleSource
from seedstall.source.tree import TreeSource

if TYPE_CHECKING:
    from seedstall.source.mustgather import MustGather
    from seedstall.source.sos import SosReport

T = TypeVar("T")
_DEEP_ENOUGH = 3
"""Directories below a folder in which its marks are looked for."""
_MOST_NAMES = 20_000
_LOOKED_AT = 256 << 20
"""Bytes that an archive is unpacked for to find out what it is."""


class Gathered:
    """One case of it, as a source. What was read of it is let go by `close`: a folder may hold a thousand."""

    def __init__(self, name: str, read: Callable[[], tuple[Source, tuple[str, ...]]]) -> None:
        """Name the case, and know how to open it. It is opened when it is first read."""
        self.name = name
        self._open = read
        self._source: Source | None = None
        self._lacks = ""

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not.

        Raises:
            SeedstallError: it is damaged, or refused; with the reason, and the limit.
        """
        source = self._opened()
        if ref == LACKS:
            return (
                Got(os.fsencode(self._lacks), (ref,))
                if self._lacks
                else Missing(Why.ABSENT, (ref,))
            )
        return source.read(ref)

    def _opened(self) -> Source:
        if self._source is None:
            self._source, lacks = self._open()
            self._lacks = "\n".join(lacks)
        return self._source

    @property
    def pid(self) -> int | None:
        """The process that it is about, where it says so."""
        pid = getattr(self._opened(), "pid", None)
        return pid if isinstance(pid, int) else None

    def close(self) -> None:
        """Let go of what was read."""
        source, self._source = self._source, None
        close = getattr(source, "close", None)
        if close is not None:
            close()


def is_bundle(path: str) -> bool:
    """Whether it is evidence that somebody gathered. A directory that is a captured tree is none here."""
    found = form_at(path)
    if found is None:
        return False
    return found[0] is not Form.TREE or not Path(path).is_dir()


def form_at(path: str) -> tuple[Form, str] | None:
    """What lies there, and the directory in it that is its top. Never raises: what cannot be read is none."""
    try:
        if Path(path).is_dir():
            found = form_of(_paths_below(path))
            if found is not None and not _is_alone(path, *found):
                return None  # a folder of bundles is none itself
            return found or _loosely(path)
        return form_of(_names_in(path))
    except (OSError, ValueError):
        return None


def _is_alone(path: str, form: Form, top: str) -> bool:
    """Whether the directory *top* is the only one in each that it lies in. A must-gather has several images."""
    folder = Path(path)
    for part in top.split("/") if top and form is not Form.GATHER else ():
        with os.scandir(folder) as entries:
            others = (e for e in entries if e.name != part and not e.name.startswith("."))
            if any(entry.is_dir(follow_symlinks=False) for entry in others):
                return False
        folder /= part
    return True


def _loosely(path: str) -> tuple[Form, str] | None:
    """A folder of files that are named as people name them."""
    from seedstall.source.loose import is_loose  # noqa: PLC0415 - only for folders

    return (Form.LOOSE, "") if is_loose(_paths_below(path)) else None


def _names_in(path: str) -> Iterator[str]:
    """The paths of an archive's members, as far as they can be read."""
    members = tar.Tar(packed.unpacking(archive.pieces_of(path)))
    with contextlib.suppress(
        ValueError
    ):  # cut, damaged, or no archive: what was found before tells
        for count, header in enumerate(members):
            if count >= MOST_LOOKED_AT or members.taken > _LOOKED_AT:
                return
            yield os.fsdecode(header.name)


def _paths_below(path: str) -> Iterator[str]:
    """The paths below a directory, the upper ones first: their marks stand near its top."""
    level = [""]
    seen = 0
    for _ in range(_DEEP_ENOUGH + 1):
        below: list[str] = []
        for folder in level:
            with os.scandir(Path(path, folder)) as entries:
                for entry in sorted(entries, key=lambda e: (e.name != HEAD, e.name)):
                    seen += 1
                    if seen > _MOST_NAMES:
                        return
                    yield folder + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        below.append(f"{folder}{entry.name}/")
        level = below


def opened(path: str, member: str = "") -> tuple[Gathered, ...]:
    """The cases of it, or the one that is called *member*. Of an archive with several captured trees each is one.

    Raises:
        SeedstallError: it is damaged, or refused; with the reason, and the limit.
    """
    return tuple(one for one in _cases(path) if member in ("", one.name))


def _cases(path: str) -> tuple[Gathered, ...]:
    found = form_at(path)
    if found is None:
        raise SeedstallError(f"{path} is no bundle", "name the archive or directory itself")
    form, top = found
    if form is Form.SOS:
        return _sos(path, top)
    if form is Form.GATHER:
        return _must_gather(path, top)
    if form is Form.LOOSE:
        return _loose(path)
    if form is not Form.TREE or Path(path).is_dir():
        return (Gathered(path, lambda: _told(path, lambda: _read(path, form, top))),)
    tops = _told(path, lambda: tops_of_trees(_names_in(path)))
    if len(tops) == 1:
        return (Gathered(path, lambda: _told(path, lambda: _read(path, form, top))),)
    return tuple(_one_tree(path, name) for name in tops)


class _Latest(Generic[T]):
    """What was opened last. Several cases are made of one report, and a folder may hold hundreds of them."""

    def __init__(self, read: Callable[[str, str], T]) -> None:
        self._read = read
        self._key: tuple[str, str] | None = None
        self._value: T | None = None

    def get(self, path: str, top: str) -> T:
        """The report at *path*."""
        if self._value is None or self._key != (path, top):
            self._value = None
            self._value, self._key = _told(path, lambda: self._read(path, top)), (path, top)
        return self._value


def _sos_report(path: str, top: str) -> SosReport:
    from seedstall.source import sos  # noqa: PLC0415 - only for sosreports

    return sos.SosReport(_store(path, top, sos.wanted), top)


def _gather(path: str, top: str) -> MustGather:
    from seedstall.source import mustgather  # noqa: PLC0415 - only for must-gathers

    return mustgather.MustGather(_store(path, top, mustgather.wanted), top)


_sos_reports = _Latest(_sos_report)
_gathers = _Latest(_gather)


def _lacks(held: store.Store) -> tuple[str, ...]:
    return held.lacks if isinstance(held, archive.PackedStore) else ()


def _sos(path: str, top: str) -> tuple[Gathered, ...]:
    """A case for each JVM that ps saw; the host alone where it saw none."""
    from seedstall.source.sos import SosSource  # noqa: PLC0415 - only for sosreports

    pids = _sos_reports.get(path, top).jvms

    def one(pid: int | None) -> Gathered:
        def read() -> tuple[Source, tuple[str, ...]]:
            report = _sos_reports.get(path, top)
            return SosSource(report, pid), _lacks(report.store)

        return Gathered(f"{path}!{pid}" if len(pids) > 1 else path, read)

    return tuple(map(one, pids or (None,)))


def _must_gather(path: str, top: str) -> tuple[Gathered, ...]:
    """A case for each container that logs as a Java program does."""
    from seedstall.source.mustgather import ContainerSource  # noqa: PLC0415 - only for must-gathers

    def one(key: tuple[str, str, str], logs: tuple[str, ...]) -> Gathered:
        def read() -> tuple[Source, tuple[str, ...]]:
            gather = _gathers.get(path, top)
            return ContainerSource(gather, key, logs), _lacks(gather.store)

        return Gathered(f"{path}!{'/'.join(key)}", read)

    found = tuple(one(key, logs) for key, logs in _gathers.get(path, top).containers.items())
    if not found:
        what = f"{path}: none of its containers logs as a Java program does"
        raise SeedstallError(what, "name the log that is meant")
    return found


def _loose(path: str) -> tuple[Gathered, ...]:
    """A case for each process that the files' names name; one where they name none."""
    from seedstall.source import loose  # noqa: PLC0415 - only for such folders

    paths = [name for name in _paths_below(path) if Path(path, name).is_file()]
    report = loose.LooseReport(_told(path, lambda: store.FolderStore(path)), "", paths)
    pids = report.pids

    def one(pid: int | None) -> Gathered:
        name = f"{path}!{pid}" if len(pids) > 1 else path
        return Gathered(name, lambda: (loose.LooseSource(report, pid), ()))

    return tuple(map(one, pids or (None,)))


def _store(path: str, top: str, wanted: archive.Wanted, *, strict: bool = False) -> store.Store:
    """The files below *top*, those of an archive that are *wanted* by their path below it."""
    if Path(path).is_dir():
        return store.FolderStore(path)
    below = f"{top}/" if top else ""

    def within(name: str) -> int:
        return wanted(name.removeprefix(below)) if name.startswith(below) else 0

    return archive.unpacked(archive.pieces_of(path), within, strict=strict)


def _one_tree(path: str, top: str) -> Gathered:
    return Gathered(f"{path}!{top}", lambda: _told(path, lambda: _read(path, Form.TREE, top)))


def _told(path: str, read: Callable[[], T]) -> T:
    """What *read* gives, its errors for people."""
    try:
        return read()
    except NoBundleError as error:
        raise SeedstallError(f"{path}: {error}", "a newer seedstall may read it") from error
    except ValueError as error:  # of the store, too: it is refused, with the limit
        raise SeedstallError(f"{path}: not read: {error}", _HINT) from error
    except OSError as error:
        raise SeedstallError(f"{path}: {error.strerror or error}") from error


_HINT = "have it captured once more, or name single files of it"


def _read(path: str, form: Form, top: str) -> tuple[Source, tuple[str, ...]]:
    held = _store(path, top, lambda _: store.LARGEST, strict=form is Form.OURS)
    if form is Form.OURS:
        return BundleSource(held, top), _lacks(held)
    return TreeSource(path, store=held, top=top), _lacks(held)
