"""What ``fix`` writes and takes back: in the root of the very process, or on this host."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from seedstall.cli.console import say
from seedstall.model.errors import SeedstallError, UsageError

if TYPE_CHECKING:
    from seedstall.effect.undo import Undone
    from seedstall.remedy.request import Request, Write
    from seedstall.source.host import HostSource


class Teller:
    """What people are told, on stderr: nothing of it is a secret or moves a terminal's cursor."""

    def __init__(self, *, quiet: bool) -> None:
        """With *quiet* no notes."""
        self.quiet = quiet

    def notes(self, lines: Iterable[str]) -> None:
        """Each as a note."""
        for line in lines:
            if not self.quiet:
                self.say(f"note: {line}")

    def say(self, line: str) -> None:
        """One line."""
        from seedstall.model.redact import redact, visible  # noqa: PLC0415

        say(redact(visible(line)))


def written(request: Request, surface: str, write: Write, tell: Teller, *, dry_run: bool) -> None:
    """Write the file, and say which, what is kept of the old one, and how to take it back.

    Raises:
        SeedstallError: it was refused.
    """
    from seedstall.effect.apply import apply, destination, stamp  # noqa: PLC0415

    with _Root(request, write.path, host=write.host) as root:
        _check_way(request, root.fd, write.path)
        if dry_run:
            path = destination(root.fd, write.path, within=write.within, owners=root.owners)
            copy = (
                f", the old one to be kept as {path}.seedstall-{stamp()}"
                if write.read is not None
                else ""
            )
            tell.say(f"would write {_real(write.path, path)} ({len(write.content)} bytes){copy}")
            return
        done = apply(
            root.fd,
            write.path,
            write.content,
            read=write.read,
            within=write.within,
            owners=root.owners,
        )
        path = done.path if root.is_hosts else ""
    kept = f"; the old one is {done.backup} beside it" if done.backup else ""
    tell.say(f"wrote {_real(write.path, done.path)}{kept}")
    tell.notes((*done.notes, *write.then, *_way_back(request, surface, path)))


def _check_way(request: Request, root: int, path: str) -> None:
    """Refuse a file whose name, as the user gave it, leads through another user's link, or elsewhere by now.

    Raises:
        SeedstallError: it does.
    """
    from seedstall.effect.apply import told  # noqa: PLC0415
    from seedstall.effect.folder import open_folder  # noqa: PLC0415

    if request.given is None or not request.given.asked:
        return
    with told(request.given.asked), open_folder(root, request.given.asked) as folder:
        if folder.path != path:
            message = f"{request.given.asked} leads to {folder.path} by now: nothing was written"
            raise SeedstallError(message, "run it again")


def _way_back(request: Request, surface: str, path: str) -> tuple[str, ...]:
    """*path* is the file on this host, ``""`` where only the process sees it."""
    by_file = f"seedstall fix {shlex.quote(path)} --undo"
    if request.pid is None:
        return (f"{by_file} takes it back",)
    by_process = f"seedstall fix {request.pid} --surface {surface} --undo takes it back"
    return (by_process, f"once that process has ended, {by_file} does") if path else (by_process,)


def taken_back(request: Request, surface: str, tell: Teller, *, dry_run: bool) -> None:
    """Take back what was written for a process; without *surface* the one that was.

    Raises:
        SeedstallError: nothing was written, or the file changed since.
    """
    from seedstall.effect.undo import undo  # noqa: PLC0415
    from seedstall.remedy import registry  # noqa: PLC0415

    if request.pid is None:
        message = "--undo needs the process whose file is meant, or that file"
        raise UsageError(message, "name its PID, the file, or a Tomcat's CATALINA_BASE")
    place = registry.place(surface or _written(request), request)
    with _Root(request, place.path, host=place.host) as root:
        _check_way(request, root.fd, place.path)
        done = undo(root.fd, place.path, dry_run=dry_run, within=place.within, owners=root.owners)
    _tell_undone(done, place.path, tell, dry_run=dry_run)


def _written(request: Request) -> str:
    """The surface whose file --apply wrote, where none was said; the target's own first one where none was."""
    from seedstall.effect.undo import is_applied  # noqa: PLC0415
    from seedstall.knowledge.surfaces import SURFACES  # noqa: PLC0415
    from seedstall.remedy import registry  # noqa: PLC0415

    writing = [s.name for s in SURFACES if s.writes]
    found: dict[str, str] = {}
    for surface in writing:
        try:
            place = registry.place(surface, request)
            with _Root(request, place.path, host=place.host) as root:
                if is_applied(root.fd, place.path, within=place.within):
                    found.setdefault(place.path, surface)
        except SeedstallError:
            continue
    if len(found) > 1:
        files = ", ".join(f"{path} (--surface {name})" for path, name in found.items())
        raise UsageError(f"several files were written: {files}", "say which --surface")
    return next(iter(found.values()), "") or _first_writing(request, writing)


def _first_writing(request: Request, writing: list[str]) -> str:
    """For the message that nothing is there to be taken back: the file where it would be."""
    from seedstall.remedy import choice  # noqa: PLC0415

    first = choice.of_case(request)
    if first not in writing:
        raise SeedstallError(
            f"nothing of seedstall's stands in the files of process {request.pid}",
            "only what --apply wrote can be taken back",
        )
    return first


def file_named(targets: list[str]) -> Path | None:
    """The file that is named itself or by its CATALINA_BASE: the process it was written for may have ended."""
    if len(targets) != 1 or targets[0].isdecimal() or targets[0] == "-":
        return None
    named = Path(targets[0]).absolute()
    if named.is_dir():
        return named / ("setenv.sh" if named.name == "bin" else "bin/setenv.sh")
    return named


def file_taken_back(file: Path, tell: Teller, *, dry_run: bool) -> None:
    """The same for a file of this host.

    Raises:
        SeedstallError: nothing was written, or the file changed since.
    """
    from seedstall.effect.undo import undo  # noqa: PLC0415

    within = (str(file.parent.parent),) if file.name == "setenv.sh" else ()
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        done = undo(root, str(file), dry_run=dry_run, within=within)
    finally:
        os.close(root)
    _tell_undone(done, str(file), tell, dry_run=dry_run)


def _tell_undone(done: Undone, path: str, tell: Teller, *, dry_run: bool) -> None:
    path = _real(path, done.path)
    would = "would have " if dry_run else ""
    if done.restored:
        tell.say(f"{would}put {path} back from {done.restored}")
    else:
        tell.say(f"{would}removed {path}, which --apply had made")
    tell.notes(done.notes)


def _real(path: str, real: str) -> str:
    """The file that is written, and the name it was reached by where a link led there."""
    return path if path == real else f"{real} (where {path} leads)"


class _Root:
    """The root directory below which *path* is written: the very process's that was looked at, or this host's.

    A service's own mounts may be read-only (ProtectSystem=strict of Debian's tomcat10), where the host's are not: a
    directory that is the same one on this host is written through the host's root.
    """

    def __init__(self, request: Request, path: str, *, host: bool = False) -> None:
        self._source = _watched(request) if request.pid is not None else None
        self._here: int | None = None
        if host or self._source is None or _same_here(self.fd, path):
            self._here = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._here is not None:
            os.close(self._here)
        if self._source is not None:
            self._source.close()

    @property
    def is_hosts(self) -> bool:
        return self._here is not None

    @property
    def owners(self) -> tuple[range, ...]:
        """The users that the process's user namespace knows; none where it is ours, or the path is this host's."""
        if self.is_hosts or self._source is None:
            return ()
        return mapped(self._source.pid or 0)

    @property
    def fd(self) -> int:
        if self._here is not None or self._source is None:
            return self._here if self._here is not None else -1
        try:
            return self._source.root_fd
        except OSError as error:
            message = f"the root of process {self._source.pid} cannot be entered: {error.strerror}"
            raise SeedstallError(message, "run as root or as its user") from error


def mapped(pid: int) -> tuple[range, ...]:
    """The users of this host that the user namespace of *pid* knows, none where that is our own (user_namespaces(7)).

    Raises:
        SeedstallError: it could not be looked at.
    """
    folder = Path(f"/proc/{pid}")
    try:
        if (folder / "ns/user").samefile("/proc/self/ns/user"):
            return ()
        rows = [line.split() for line in (folder / "uid_map").read_text("ascii").splitlines()]
        found = tuple(range(int(at), int(at) + int(count)) for _, at, count in rows)
    except (OSError, ValueError) as error:
        message = f"the user namespace of process {pid} could not be looked at: {error}"
        raise SeedstallError(message, "run as root or as its user") from error
    return found or (range(0),)


def _watched(request: Request) -> HostSource:
    """The process that was looked at, if it is the same one still."""
    from seedstall.model.evidence import Got, Ref, Space  # noqa: PLC0415
    from seedstall.source.host import HostSource  # noqa: PLC0415

    source = HostSource(request.pid)
    stat = Ref(Space.PROCESS, "stat")
    now, then = source.read(stat), request.source.read(stat)
    if not (
        isinstance(now, Got) and isinstance(then, Got) and _start(now.value) == _start(then.value)
    ):
        source.close()
        raise SeedstallError(f"process {request.pid} has ended: nothing was written")
    return source


def _same_here(root: int, path: str) -> bool:
    """Whether *path* and its directory (the nearest one above it that is there) are the same ones on this host.

    A file may be mounted over another one in a directory that is the host's own.
    """
    from seedstall.source import rooted  # noqa: PLC0415

    name, found = path, False
    while name:
        try:
            located = rooted.locate(root, name)
        except OSError:
            if Path(name).exists():
                return False
            name = name.rpartition("/")[0]
            continue
        try:
            if not Path(f"/proc/self/fd/{located}").samefile(name):
                return False
        except OSError:
            return False
        finally:
            os.close(located)
        if found or name != path:
            return True
        found, name = True, name.rpartition("/")[0]
    return found


def _start(stat: bytes) -> int:
    from seedstall.parse import procfs  # noqa: PLC0415

    return procfs.stat(stat).start_ticks
