"""An archive in memory: nothing of it is ever written to a disk, and what it holds is bounded while it is unpacked.

Its links are resolved inside it, as those of a directory are (`source.rooted`).
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from seedstall.model.evidence import Ask
from seedstall.parse import packed, tar
from seedstall.source import rooted

MOST_MEMBERS = 200_000
"""A bundle of a JVM with 10,000 threads has half as many."""
MOST_HELD = 256 << 20
"""Bytes of all members that are kept."""
MOST_UNPACKED = 8 << 30
"""Bytes that an archive may unpack to, most of which nobody keeps (a sosreport's logs)."""
RATIO = 400
"""Times its own size that an archive may unpack to, from `FROM` bytes on: text packed by xz comes to 30, zeros to
7000."""
FROM = 128 << 20
PIECE = 1 << 20


@dataclass(slots=True)
class PackedStore:
    """The members of an archive that were kept, by their paths: contents, and the texts of links."""

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    links: dict[str, str] = field(default_factory=dict[str, str])
    cut: frozenset[str] = frozenset()
    """Those of which only the beginning is there."""
    lacks: tuple[str, ...] = ()
    """Why it is not all there, for people."""
    _folders: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def __post_init__(self) -> None:
        """Find its directories: an archive need not name them."""
        for path in (*self.files, *self.links):
            self._note(path)

    def _note(self, path: str) -> None:
        while path:
            folder, _, name = path.rpartition("/")
            known = self._folders.setdefault(folder, set())
            if name in known:
                return
            known.add(name)
            path = folder

    def close(self) -> None:
        """Nothing is held open."""

    def is_folder(self, path: str) -> bool:
        """Whether a directory lies there, not by a link."""
        return path.strip("/") in self._folders

    def ask(self, path: str, question: Ask, limit: int = rooted.LIMIT) -> bytes:
        """Answer about *path*: of a member that is there."""
        del limit  # what is too large was not kept
        found = self._resolved(path, follow=question is not Ask.LINK)
        match question:
            case Ask.CONTENT if found in self.files:
                return self.files[found]
            case Ask.CONTENT if found in self._folders:
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            case Ask.LINK if found in self.links:
                return os.fsencode(self.links[found])
            case Ask.LIST if found in self._folders:
                names = sorted(os.fsencode(name) for name in self._folders[found])
                return b"".join(name + b"\0" for name in names)
            case Ask.STAT if found in self.files:
                return b"100644 0 0 -1 -1 -1 %d" % len(self.files[found])
            case Ask.STAT if found in self._folders:
                return b"40755 0 0 -1 -1 -1 -1"
            case _:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def _resolved(self, path: str, *, follow: bool) -> str:
        """The path with every link in it resolved; ``..`` stops at the top."""
        todo = deque(part for part in path.split("/") if part)
        done: list[str] = []
        links = 0
        while todo:
            part = todo.popleft()
            if part in (".", ".."):
                del done[-1 if part == ".." else len(done) :]
                continue
            done.append(part)
            here = "/".join(done)
            text = self.links.get(here) if todo or follow else None
            if text is None:
                continue
            links += 1
            if links > rooted.MAX_LINKS or len(todo) > 2 * rooted.MAX_DEPTH:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            done = [] if text.startswith("/") else done[:-1]
            todo.extendleft(reversed([p for p in text.split("/") if p]))
        return "/".join(done)


class RefusedError(ValueError):
    """An archive that is not read, with the reason and the limit."""


Wanted = Callable[[str], int]
"""How many bytes of a member of that path are to be kept; 0 for none."""


def unpacked(pieces: Iterator[bytes], wanted: Wanted, *, strict: bool = False) -> PackedStore:
    """The members of an archive that are *wanted*. With *strict* it may hold nothing but files and directories.

    Raises:
        RefusedError: it is none, or holds what nobody writes by accident, or more than the limits.
        OSError: it cannot be read.
    """
    taking = _Taking(tar.Tar(_Counted(pieces).unpacked()), wanted, strict=strict)
    try:
        taking.all()
    except tar.CutError as error:
        taking.lacks.append(f"the archive is cut: {error.args[0]}")
    except RefusedError:
        raise
    except tar.UnsafeError as error:
        raise RefusedError(f"{error}: nobody writes that by accident") from error
    except ValueError as error:
        if not taking.files:
            raise RefusedError(str(error)) from error
        taking.lacks.append(f"the archive is damaged: {error}")
    return taking.store()


class _Taking:
    """The members of one archive, as they come by."""

    def __init__(self, archive: tar.Tar, wanted: Wanted, *, strict: bool) -> None:
        self._archive = archive
        self._wanted = wanted
        self._strict = strict
        self._links: dict[str, str] = {}
        self._cut: set[str] = set()
        self._held = 0
        self._others = 0
        self.files: dict[str, bytes] = {}
        self.lacks: list[str] = []

    def all(self) -> None:
        """Take them up to the end, or to where it cannot be read further."""
        for count, header in enumerate(self._archive):
            if count >= MOST_MEMBERS:
                raise RefusedError(f"it holds more than {MOST_MEMBERS} members, the limit")
            path = os.fsdecode(header.name)
            if header.kind == tar.DIRECTORY or not path:
                continue
            if path in self.files or path in self._links:
                raise RefusedError(f"it holds {_shown(path)} twice: one of them is no evidence")
            if self._strict and header.kind != tar.FILE:
                what = f"{_shown(path)} in it is {header.words}"
                raise RefusedError(f"{what}: a bundle has files only")
            self._take(path, header)

    def _take(self, path: str, header: tar.Header) -> None:
        if header.kind == tar.LINK:
            self._links[path] = os.fsdecode(header.target)
        elif header.kind == tar.HARD_LINK:
            same = os.fsdecode(tar.clean(header.target))
            if same in self.files:
                self.files[path] = self.files[same]
        elif header.kind != tar.FILE:
            self._others += 1
        elif most := self._wanted(path):
            self._keep(path, header.size, most)

    def _keep(self, path: str, size: int, most: int) -> None:
        if size > most:
            self._cut.add(path)
        self._held += min(size, most)
        if self._held > MOST_HELD:
            raise RefusedError(f"it holds more than {MOST_HELD >> 20} MiB of evidence, the limit")
        try:
            self.files[path] = self._archive.data(most)
        except tar.CutError as error:
            self.files[path] = error.args[1]
            self._cut.add(path)
            raise

    def store(self) -> PackedStore:
        """What was taken.

        Raises:
            RefusedError: something lies below what is no directory: unpacked, it would be written elsewhere.
        """
        if self._others:
            self.lacks.append(
                f"{self._others} devices or other special files in it were passed over"
            )
        folders = {path.rpartition("/")[0] for path in (*self.files, *self._links)}
        for folder in folders:
            above = folder
            while above:
                if above in self.files or above in self._links:
                    what = f"it holds a file below {_shown(above)}, which is no directory"
                    raise RefusedError(what)
                above = above.rpartition("/")[0]
        return PackedStore(self.files, self._links, frozenset(self._cut), tuple(self.lacks))


class _Counted:
    """The pieces of a packed file, and how much they unpack to."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.packed = 0

    def unpacked(self) -> Iterator[bytes]:
        size = 0
        for piece in packed.unpacking(self._noted()):
            size += len(piece)
            if size > MOST_UNPACKED:
                raise RefusedError(f"it unpacks to more than {MOST_UNPACKED >> 30} GiB, the limit")
            if size > FROM and size > RATIO * self.packed:
                raise RefusedError(f"it unpacks to more than {RATIO} times its size, the limit")
            yield piece

    def _noted(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.packed += len(piece)
            yield piece


def pieces_of(path: str) -> Iterator[bytes]:
    """A file's bytes as they lie on disk.

    Raises:
        OSError: it cannot be read.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        yield from rooted.chunks(fd, PIECE)
    finally:
        os.close(fd)


def _shown(path: str) -> str:
    return path[:120].encode("utf-8", "backslashreplace").decode()
