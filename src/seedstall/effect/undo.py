"""Take back what `seedstall.effect.apply` wrote last."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seedstall.effect.apply import RECORD, digest, told
from seedstall.effect.folder import Folder, Snapshot, open_folder
from seedstall.model.errors import SeedstallError

_NUMBERED = re.compile(r"\d{8}T\d{6}Z(?:\.(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back: ``restored`` from the copy of that name, or ``""`` where our new file was removed."""

    name: str
    restored: str
    notes: tuple[str, ...] = ()
    path: str = ""
    """The file itself below the root, all links resolved."""


def undo(
    root: int,
    path: str,
    *,
    dry_run: bool = False,
    within: tuple[str, ...] = (),
    owners: tuple[range, ...] = (),
) -> Undone:
    """Put the file *path* below *root* back as it was before the last `apply`; with *dry_run* only say so.

    As with `apply`, no link leads out of the directories *within*, and *owners* are those of the file.
    An `apply` that was killed before it wrote is passed over, and what it left is cleared away.

    Raises:
        SeedstallError: nothing was applied, or the file or its copy changed since.
    """
    with told(path), open_folder(root, path, within=within) as folder:
        current = folder.read(folder.name)
        folder.check_owner(current, owners)
        if not dry_run:
            folder.clear()
        copy, before, written, unwritten = _standing(folder, current)
        if current is None or digest(current.data) != written:
            message = f"{path} changed since it was written: nothing was taken back"
            raise SeedstallError(
                message, f"compare it with {copy}" if before else "edit it by hand"
            )
        saved = _saved(folder, copy, before) if before else None
        notes: list[str] = []
        if not dry_run:
            if saved is None:
                folder.remove(folder.name)
            else:
                _restored(folder, current, copy, saved, notes)
            for name in (copy + RECORD, *unwritten):
                folder.remove(name)
            folder.sync()
        restored = copy if saved is not None else ""
        return Undone(folder.name, restored, tuple(notes), folder.path)


def is_applied(root: int, path: str, *, within: tuple[str, ...] = ()) -> bool:
    """Whether there is something of `apply`'s to be taken back for the file *path* below *root*."""
    try:
        with open_folder(root, path, within=within) as folder:
            _standing(folder, folder.read(folder.name))
    except (OSError, SeedstallError):
        return False
    return True


def _standing(folder: Folder, current: Snapshot | None) -> tuple[str, str, str, tuple[str, ...]]:
    """The last copy whose change was made, the digests of its record, and what later, killed runs left."""
    unwritten: list[str] = []
    now = digest(current.data) if current is not None else ""
    names = folder.names()
    for copy in _copies(folder):
        try:
            before, written = _read_record(folder, copy)
        except SeedstallError:
            if copy in names:
                raise
            unwritten.append(
                copy + RECORD
            )  # it was killed while it wrote the record: the copy comes after
            continue
        if before != now or before == written:
            return copy, before, written, tuple(unwritten)
        unwritten += (copy + RECORD, copy)
    message = f"nothing of seedstall's stands beside {folder.path}"
    raise SeedstallError(message, "only what --apply wrote can be taken back")


def _copies(folder: Folder) -> list[str]:
    """The copies that have a record, the newest first."""
    prefix = f"{folder.name}.seedstall-"
    found: list[tuple[str, int, str]] = []
    for name in folder.names():
        if not name.startswith(prefix) or not name.endswith(RECORD):
            continue
        match = _NUMBERED.fullmatch(name[len(prefix) : -len(RECORD)])
        if match:
            found.append((match[0][:16], int(match[1] or 1), name.removesuffix(RECORD)))
    return [name for _, _, name in sorted(found, reverse=True)]


def _read_record(folder: Folder, copy: str) -> tuple[str, str]:
    """Digests before (``""``: there was no file) and of what was written."""
    held = folder.read(copy + RECORD, limit=4096)
    match = re.fullmatch(
        rb"before ([0-9a-f]{64}|none)\nwritten ([0-9a-f]{64})\n", held.data if held else b""
    )
    if match is None:
        message = f"{_beside(folder, copy)}{RECORD} is damaged"
        raise SeedstallError(message, f"restore {_beside(folder, copy)} by hand")
    before = match[1].decode()
    return "" if before == "none" else before, match[2].decode()


def _beside(folder: Folder, name: str) -> str:
    """The path of what stands beside the file."""
    return folder.path.rpartition("/")[0] + "/" + name


def _saved(folder: Folder, copy: str, before: str) -> Snapshot:
    saved = folder.read(copy)
    if saved is None or digest(saved.data) != before:
        message = f"the copy {_beside(folder, copy)} is gone or changed: nothing was taken back"
        raise SeedstallError(message, "edit the file by hand")
    return saved


def _restored(
    folder: Folder, current: Snapshot, copy: str, saved: Snapshot, notes: list[str]
) -> None:
    kept = (saved.found.st_uid, saved.found.st_gid) == (current.found.st_uid, current.found.st_gid)
    if kept and folder.put(copy, folder.name):
        return
    folder.overwrite(folder.name, saved.data, current)
    folder.remove(copy)
    notes.append("written in place, not at one stroke")
