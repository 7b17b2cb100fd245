"""A directory to write in, reached without following a link that another user could have planted.

Everything in it is named relative to its descriptor, so that a directory swapped meanwhile leads nowhere else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from seedstall.model.errors import SeedstallError
from seedstall.source import rooted

LIMIT = 1 << 20
"""Bytes of a file that is edited."""
_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Where the name is a mount point of its own (a file bind-mounted into a container), rename(2) says EBUSY or EXDEV.
NOT_RENAMED = (errno.EBUSY, errno.EXDEV)
_WAITS = 20
"""Times 5 ms that another run may take to clear away what a killed one left."""
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A regular file as it was read: its bytes, and what tells whether it is still the same."""

    data: bytes
    found: os.stat_result
    attributes: tuple[tuple[str, bytes], ...]
    """Extended ones: ACLs, the SELinux label."""

    def same_as(self, other: Snapshot | None) -> bool:
        """Whether *other* is this very file, unchanged."""
        if other is None or self.data != other.data:
            return False
        mine, theirs = self.found, other.found
        return (mine.st_dev, mine.st_ino, mine.st_mode, mine.st_uid, mine.st_gid) == (
            theirs.st_dev,
            theirs.st_ino,
            theirs.st_mode,
            theirs.st_uid,
            theirs.st_gid,
        )


class NotOursError(SeedstallError):
    """The file's owner could not be kept by a new file: only writing into the old one keeps it."""


class Folder:
    """An open directory. Close it, or use it in a ``with``."""

    def __init__(self, fd: int, name: str, path: str = "", makers: tuple[int, ...] = ()) -> None:
        """Own the O_PATH descriptor *fd*; *name* is the file meant in it, after all links.

        *path* is that file below the root; *makers* own the links that stood in the file's own place.
        """
        self.fd = fd
        self.name = name
        self.path = path
        self._makers = makers
        self._lock = -1

    def __enter__(self) -> Self:
        """Use it in a ``with``."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        if self._lock >= 0:
            os.close(self._lock)
        os.close(self.fd)

    def check_owner(self, held: Snapshot | None, owners: tuple[range, ...] = ()) -> None:
        """Refuse what a link or a mount of one user makes of another user's file; *held* is it, ``None``: a new one.

        *owners* are the users that the process's user namespace knows, where it has one of its own: there anybody may
        mount any directory over any other.

        Raises:
            SeedstallError: the link and the file (or the directory it would be made in) have different owners, or the
                owner is none of *owners*.
        """
        folder = os.fstat(self.fd).st_uid
        owner = held.found.st_uid if held is not None else folder
        if owners and not all(any(user in known for known in owners) for user in (owner, folder)):
            message = (
                f"{self.path} is user {owner}'s in a directory of user {folder}'s, and the process's own user namespace"
                " does not know both: what is mounted there may be any file of this host: nothing was written"
            )
            raise SeedstallError(message, "name the file itself, as this host has it")
        for maker in self._makers:
            if maker != owner:
                message = (
                    f"a link of user {maker} leads to {self.path}, which is user {owner}'s:"
                    " nothing was written"
                )
                raise SeedstallError(message, _by_hand(self.path))

    def read(self, name: str, limit: int = LIMIT) -> Snapshot | None:
        """The file *name*, ``None`` where there is none.

        Raises:
            SeedstallError: it is no regular file, or larger than *limit*.
            OSError: it cannot be read.
        """
        try:
            located = os.open(name, _PATH, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        try:
            mode = os.fstat(located).st_mode
            if not stat.S_ISREG(mode):
                message = f"{name} is {rooted.kind_of(mode)}"
                raise SeedstallError(message, "only a regular file is edited")
            fd = os.open(f"/proc/self/fd/{located}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(located)
        try:
            data = rooted.read_all(fd, limit)
            return Snapshot(data, os.fstat(fd), tuple(_attributes(fd)))
        finally:
            os.close(fd)

    def create(
        self, name: str, data: bytes, like: Snapshot | None, notes: list[str], *, mode: int = 0o644
    ) -> None:
        """A new file with that content, on disk when this returns; *like* gives mode, owner and attributes.

        Without *like* it gets *mode* and belongs to the directory's owner. What could not be kept is added to *notes*.

        Raises:
            NotOursError: the owner cannot be kept.
            OSError: it is there already, or cannot be written.
        """
        fd = os.open(name, _CREATE, 0o600, dir_fd=self.fd)
        try:
            with contextlib.closing(_Descriptor(fd)):
                _write(fd, data)
                self._dress(fd, like, notes, mode)
                os.fsync(fd)
        except BaseException:
            self.remove(name)
            raise

    def _dress(self, fd: int, like: Snapshot | None, notes: list[str], mode: int) -> None:
        pattern = like.found if like is not None else os.fstat(self.fd)
        mine = os.fstat(fd)
        if (mine.st_uid, mine.st_gid) != (pattern.st_uid, pattern.st_gid):
            self._chown(fd, pattern, must=like is not None)
        os.fchmod(fd, mode if like is None else stat.S_IMODE(pattern.st_mode) & 0o1777)
        for name, value in like.attributes if like is not None else ():
            try:
                os.setxattr(fd, name, value)
            except OSError as error:
                notes.append(f"the attribute {name} could not be kept: {error.strerror}")
        if like is not None and stat.S_IMODE(like.found.st_mode) & 0o6000:
            notes.append("set-user-id and set-group-id bits were not kept")

    def _chown(self, fd: int, pattern: os.stat_result, *, must: bool) -> None:
        try:
            os.fchown(fd, pattern.st_uid, pattern.st_gid)
        except OSError as error:
            if must:
                message = f"its owner {pattern.st_uid}:{pattern.st_gid} could not be kept: {error.strerror}"
                raise NotOursError(message, "run as root") from error

    def clear(self) -> None:
        """Take away the temporary files that killed runs left, where no other run is at work here.

        The lock is held until the folder is closed. Whoever may read the directory can hold it against us: then
        nothing is cleared, and it does no other harm.
        """
        import fcntl  # noqa: PLC0415
        import time  # noqa: PLC0415

        try:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            self._lock = os.open(".", flags, dir_fd=self.fd)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._swept()
            for _ in range(_WAITS):
                try:
                    fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(0.005)
                else:
                    return
        except OSError:  # it may not be read, or its file system has no locks
            return

    def _swept(self) -> None:
        ours = re.compile(rf"\.{re.escape(self.name)}\.seedstall-[0-9a-f]{{16}}")
        for name in self.names():
            if ours.fullmatch(name) and stat.S_ISREG(
                os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_mode
            ):
                self.remove(name)

    def fresh_name(self, name: str) -> str:
        """A name that nobody can foresee, for a temporary file."""
        return f".{name}.seedstall-{secrets.token_hex(8)}"

    def put(self, temporary: str, name: str) -> bool:
        """Give *temporary* the name *name* at one stroke; false where *name* is a mount point of its own."""
        try:
            os.rename(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        except OSError as error:
            if error.errno in NOT_RENAMED:
                return False
            raise
        return True

    def put_new(self, temporary: str, name: str) -> bool:
        """The same where *name* must not be there; false where the file system has no hard links.

        Raises:
            FileExistsError: it is there by now.
        """
        try:
            os.link(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)
        except OSError as error:
            if error.errno in _NO_LINKS:
                return False
            raise
        self.remove(temporary)
        return True

    def overwrite(self, name: str, data: bytes, held: Snapshot) -> None:
        """Write into the file itself.

        Raises:
            SeedstallError: it is not the file that was read, or has other names.
            OSError: it cannot be written.
        """
        fd = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
        try:
            found = os.fstat(fd)
            if (found.st_dev, found.st_ino) != (held.found.st_dev, held.found.st_ino):
                message = f"{name} was replaced meanwhile"
                raise SeedstallError(message, "run it again")
            if found.st_nlink > 1:
                message = f"{name} has {found.st_nlink} names (hard links): writing into it would change them all"
                raise SeedstallError(message, "apply the printed patch by hand")
            if rooted.read_all(fd, LIMIT) != held.data:
                message = f"{name} changed since it was read: nothing was written"
                raise SeedstallError(message, "run it again")
            _write(fd, data)
            os.ftruncate(fd, len(data))
            os.fsync(fd)
        finally:
            os.close(fd)

    def remove(self, name: str) -> None:
        """Take *name* away, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)

    def names(self) -> list[str]:
        """Everything in it, sorted.

        Raises:
            OSError: it cannot be listed.
        """
        return [os.fsdecode(name) for name in rooted.listing(self.fd).split(b"\0") if name]

    def sync(self) -> None:
        """Have the directory itself on disk, where it may be opened for that."""
        with contextlib.suppress(OSError):
            fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.fd)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


class _Descriptor:
    """A descriptor for ``contextlib.closing``."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def close(self) -> None:
        os.close(self._fd)


def _attributes(fd: int) -> list[tuple[str, bytes]]:
    try:
        return [(name, os.getxattr(fd, name)) for name in os.listxattr(fd)]
    except OSError:  # no file system for it
        return []


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    at = 0
    while at < len(view):
        at += os.pwrite(fd, view[at:], at)


def open_folder(
    root: int, path: str, *, make: bool = False, within: tuple[str, ...] = ()
) -> Folder:
    """The directory of *path* below the directory descriptor *root*, links resolved inside it.

    A link is followed only if root or the user we run as made it: another user could point it anywhere before we
    write. With *make* the last directory is made where it is missing, with the owner of the one above. With *within*
    the file lies below one of these directories, after all links: these may be links themselves.

    Raises:
        SeedstallError: a link on the way belongs to somebody else, or leads out of *within*.
        OSError: a directory is missing or may not be entered.
    """
    makers: list[int] = []
    homes = tuple(home for home in (_real_directory(root, d) for d in within) if home is not None)
    walk = _Walk(root, path, homes if within else None)
    try:
        while (part := walk.next_part()) is not None:
            last = not walk.todo
            fd = walk.open(part, make=make and len(walk.todo) == 1)
            if fd is not None and stat.S_ISLNK(os.fstat(fd).st_mode):
                if last:
                    makers.append(os.fstat(fd).st_uid)
                walk.follow(fd, part)
            elif last:
                walk.close(fd)
                real = walk.inside(part)
                return Folder(walk.trail.pop(), part, real, tuple(makers))
            elif fd is not None:
                walk.enter(fd, part)
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    finally:
        walk.end()


def _real_directory(root: int, path: str) -> tuple[str, ...] | None:
    """The names that lead to a directory below *root*, all links resolved; ``None`` where that cannot be told."""
    if not path.startswith("/"):
        return None
    walk = _Walk(root, path)
    try:
        while (part := walk.next_part()) is not None:
            fd = os.open(part, _PATH, dir_fd=walk.trail[-1])
            if stat.S_ISLNK(os.fstat(fd).st_mode):
                walk.follow(fd, part)
            else:
                walk.enter(fd, part)
        return tuple(walk.names)
    except (OSError, SeedstallError):
        return None
    finally:
        walk.end()


def _by_hand(path: str) -> str:
    import shlex  # noqa: PLC0415

    return f"apply the printed patch to the file itself: patch {shlex.quote(path)} setenv.patch"


class _Walk:
    """A walk by directory descriptors: ``trail`` leads from the root to where it is, ``todo`` names what follows.

    ``names`` are those of the trail below the root. *homes* are the directories it must end in, ``None``: anywhere.
    """

    def __init__(
        self, root: int, path: str, homes: tuple[tuple[str, ...], ...] | None = None
    ) -> None:
        self.path = path
        self.homes = homes
        self.names: list[str] = []
        self.todo = deque(part for part in path.split("/") if part)
        self.trail = [os.dup(root)]
        self.links = 0

    def next_part(self) -> str | None:
        while self.todo:
            part = self.todo.popleft()
            if part == ".." and len(self.trail) > 1:
                os.close(self.trail.pop())
                self.names.pop()
            if part not in (".", ".."):
                return part
        return None

    def open(self, part: str, *, make: bool) -> int | None:
        """What *part* is; ``None`` for the last one where it is not there."""
        try:
            return os.open(part, _PATH, dir_fd=self.trail[-1])
        except FileNotFoundError:
            if not self.todo:
                return None
            if not make:
                raise
        self.inside(part)
        return _made(self.trail[-1], part)

    def inside(self, part: str) -> str:
        """The real path of *part* and what follows, which must lie in one of the homes."""
        real = "/" + "/".join((*self.names, part, *self.todo))
        here = tuple(self.names)
        if self.homes is not None and not any(here[: len(home)] == home for home in self.homes):
            message = (
                f"{self.path} leads to {real}, outside CATALINA_BASE and CATALINA_HOME:"
                " nothing was written"
            )
            raise SeedstallError(message, _by_hand(real))
        return real

    def enter(self, fd: int, part: str) -> None:
        self.trail.append(fd)
        self.names.append(part)
        if not stat.S_ISDIR(os.fstat(fd).st_mode) or len(self.trail) > rooted.MAX_DEPTH:
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), self.path)

    def follow(self, fd: int, part: str) -> None:
        try:
            self.links += 1
            target = _link(fd, part, self.links)
        finally:
            os.close(fd)
        if target.startswith("/"):
            while len(self.trail) > 1:
                os.close(self.trail.pop())
            self.names.clear()
        self.todo.extendleft(reversed([p for p in target.split("/") if p]))

    def close(self, fd: int | None) -> None:
        if fd is not None:
            os.close(fd)

    def end(self) -> None:
        for fd in self.trail:
            os.close(fd)


def _made(parent: int, name: str) -> int:
    os.mkdir(name, 0o755, dir_fd=parent)
    fd = os.open(name, _PATH | os.O_DIRECTORY, dir_fd=parent)
    owner = os.fstat(parent)
    with contextlib.suppress(OSError):
        os.chown(f"/proc/self/fd/{fd}", owner.st_uid, owner.st_gid)
    return fd


def _link(fd: int, name: str, links: int) -> str:
    if links > rooted.MAX_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    maker = os.fstat(fd).st_uid
    if maker not in (0, os.geteuid()):
        message = f"{name} is a link that user {maker} made and can point anywhere"
        raise SeedstallError(
            message, "it is not followed for writing: apply the printed patch to the file it means"
        )
    return os.readlink("", dir_fd=fd)
