"""Write an edited file: at one stroke, with a dated copy of the old one beside it, and nothing else changed."""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from seedstall.effect.folder import Folder, NotOursError, Snapshot, open_folder
from seedstall.model.errors import SeedstallError

RECORD = ".undo"
"""Ending of the record beside the copy: what was written, so that `undo` can tell whether it still stands."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What was written. ``backup`` is ``""`` for a new file; ``notes`` are whole clauses for people."""

    name: str
    backup: str
    notes: tuple[str, ...] = ()
    path: str = ""
    """The file itself below the root, all links resolved."""


def stamp(now: datetime | None = None) -> str:
    """``20261130T163000Z``."""
    return (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def apply(
    root: int,
    path: str,
    content: bytes,
    *,
    read: bytes | None,
    within: tuple[str, ...] = (),
    now: datetime | None = None,
    owners: tuple[range, ...] = (),
) -> Applied:
    """Make *content* the file *path* below the directory descriptor *root*.

    *read* is what the edit was made from (``None``: no such file): anything else there now is not overwritten.
    Mode, owner, ACL and other attributes are kept. A new file is 0644, since ``catalina.sh`` only reads it, and belongs
    to the directory's owner; the directory ``bin`` is made where it is missing. With *within* no link leads out of
    those directories, nor to a file of another user's than the link. Of *owners*, where there are any, the file is
    one's (see `Folder.check_owner`).

    Raises:
        SeedstallError: the file changed, is no regular file, or cannot be written as described.
    """
    with told(path), open_folder(root, path, make=read is None, within=within) as folder:
        held = folder.read(folder.name)
        folder.check_owner(held, owners)
        if (held.data if held is not None else None) != read:
            message = f"{path} changed since it was read: nothing was written"
            raise SeedstallError(message, "run it again")
        folder.clear()
        return _written(folder, held, content, _free(folder, stamp(now)))


def destination(
    root: int, path: str, *, within: tuple[str, ...] = (), owners: tuple[range, ...] = ()
) -> str:
    """The file that `apply` would write for *path*, all links resolved; nothing is written.

    Raises:
        SeedstallError: it would refuse to.
    """
    try:
        with told(path), open_folder(root, path, within=within) as folder:
            folder.check_owner(folder.read(folder.name), owners)
            return folder.path
    except SeedstallError as error:
        if isinstance(error.__cause__, FileNotFoundError):  # the directory is still to be made
            return path
        raise


@contextmanager
def told(path: str) -> Generator[None]:
    """Errors of the system as ours."""
    try:
        yield
    except PermissionError as error:
        message = f"{path}: {error.strerror}: nothing was written"
        raise SeedstallError(message, _permission(path, error)) from error
    except OSError as error:
        message = f"{path}: {error.strerror or error}: nothing was written"
        raise SeedstallError(message, "apply the printed patch by hand") from error


def _permission(path: str, error: PermissionError) -> str:
    """Root is refused by chattr(1)'s flags, by a security module and by servers of network file systems."""
    if os.geteuid() != 0:
        return "run as root or as the file's owner, or apply the printed patch"
    if error.errno == errno.EPERM:
        folder, name = shlex.quote(path.rpartition("/")[0] or "/"), shlex.quote(path)
        return f"lsattr -d {folder} {name} shows whether one is immutable (i) or append-only (a)"
    return "a security module or the file system's server refuses it: apply the printed patch there"


def _free(folder: Folder, when: str) -> str:
    """A name for the copy that is not taken: a second one within a second gets a number."""
    taken = set(folder.names())
    base = f"{folder.name}.seedstall-{when}"
    names = (base, *(f"{base}.{number}" for number in range(2, 100)))
    for name in names:
        if name not in taken and name + RECORD not in taken:
            return name
    message = f"{base}: too many copies of this second"
    raise SeedstallError(message, "run it again")


def _written(folder: Folder, held: Snapshot | None, content: bytes, copy: str) -> Applied:
    notes: list[str] = []
    made = [copy + RECORD]
    in_place = False
    try:
        # The record first: whatever a killed run leaves is known by it.
        folder.create(copy + RECORD, record(held, content), None, [])
        if held is not None:
            made.append(copy)
            _copied(folder, held, copy, notes)
        if held is None:
            _new(folder, content, notes)
        else:
            in_place = not _replaced(folder, held, content, notes)
    except BaseException:
        for name in made:
            folder.remove(name)
        raise
    if in_place and held is not None:
        _overwritten(folder, held, content, copy)
    folder.sync()
    backup = copy if held is not None else ""
    return Applied(folder.name, backup, tuple(dict.fromkeys(notes)), folder.path)


def record(held: Snapshot | None, content: bytes) -> bytes:
    """Digests of what was there and of what was written."""
    before = digest(held.data) if held is not None else "none"
    return f"before {before}\nwritten {digest(content)}\n".encode()


def digest(data: bytes) -> str:
    """Of a file's content."""
    return hashlib.sha256(data).hexdigest()


def _copied(folder: Folder, held: Snapshot, copy: str, notes: list[str]) -> None:
    """The old file beside the new one. If its owner cannot be kept, it is readable by us alone."""
    try:
        folder.create(copy, held.data, held, notes)
    except NotOursError:
        folder.create(copy, held.data, None, notes, mode=0o600)
        notes.append("the copy belongs to you: the old owner could not be given to it")


def _new(folder: Folder, content: bytes, notes: list[str]) -> None:
    temporary = folder.fresh_name(folder.name)
    folder.create(temporary, content, None, notes)
    try:
        if folder.put_new(temporary, folder.name):
            return
        # No hard links here (vfat, some network file systems): creating it is exclusive, filling it is not atomic.
        folder.create(folder.name, content, None, notes)
    except FileExistsError as error:
        message = f"{folder.name} is there by now: nothing was written"
        raise SeedstallError(message, "run it again") from error
    finally:
        folder.remove(temporary)


def _replaced(folder: Folder, held: Snapshot, content: bytes, notes: list[str]) -> bool:
    """Put a new file in the old one's place; false where only writing into the old one will do."""
    temporary = folder.fresh_name(folder.name)
    try:
        folder.create(temporary, content, held, notes)
        if not held.same_as(folder.read(folder.name)):
            message = f"{folder.name} changed since it was read: nothing was written"
            raise SeedstallError(message, "run it again")
        if folder.put(temporary, folder.name):
            return True
        notes.append("it is a mount of its own (bind mount): written in place, not at one stroke")
    except NotOursError:
        notes.append("its owner can only be kept by writing in place, not at one stroke")
    finally:
        folder.remove(temporary)
    return False


def _overwritten(folder: Folder, held: Snapshot, content: bytes, copy: str) -> None:
    """Write into the old file. The copy stays, whatever happens."""
    try:
        folder.overwrite(folder.name, content, held)
    except SeedstallError:  # it was not written to
        folder.remove(copy)
        folder.remove(copy + RECORD)
        raise
    except PermissionError as error:
        folder.remove(copy)
        folder.remove(copy + RECORD)
        message = f"{folder.name} may not be written: {error.strerror}"
        raise SeedstallError(message, "run as root or as the file's owner") from error
    except OSError as error:
        message = f"{folder.name} may be damaged: {error.strerror}"
        raise SeedstallError(message, f"its old content is in {copy} beside it") from error
