"""What a word on the command line means: a process, a bundle, a captured tree, a directory, a file, standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from seedstall.model.errors import NoSuchTargetError, SeedstallError, UsageError
from seedstall.model.evidence import Got, Missing, Ref, Space, Why
from seedstall.parse import procfs
from seedstall.parse.filetype import filetype
from seedstall.source import host, rooted
from seedstall.source.pipe import Pipe
from seedstall.source.spool import Begun, kept, standard_input
from seedstall.source.tree import TreeSource, is_tree, logs_in

if TYPE_CHECKING:
    from seedstall.source.core import CoreSource

MAX_FILES = 10_000
"""Files taken from a directory handed over."""
_SHOWN = 100
_NAMED = 3


class Kind(StrEnum):
    """What a target is."""

    PID = "pid"
    TREE = "tree"
    BUNDLE = "bundle"
    """What `source.gathered` opens: of our own, a sosreport, a must-gather, a captured tree that is packed."""
    DIRECTORY = "directory"
    CORE = "core"
    FILE = "file"
    STDIN = "stdin"


@dataclass(frozen=True, slots=True)
class Target:
    """One target: ``name`` as it is told to people, ``pid`` of a process, ``path`` of what is on disk.

    ``pipe`` is a pipe's, which is open since it was resolved: opened again, its writer would be gone.
    """

    name: str
    kind: Kind
    pid: int | None = None
    path: str = ""
    pipe: Begun | None = field(default=None, compare=False)
    member: str = ""
    """The one case of an archive that is meant, as it is called in reports: ARCHIVE!CASE."""


def resolve(text: str) -> Target:
    """What a word means. A process need not be a JVM: one may stand below it (`host.jvms_below`).

    A FIFO is waited for here (`pipe.NOBODY_S`).

    Raises:
        UsageError: it is empty, or 0.
        NoSuchTargetError: there is no such thing, it can never be a target, or nobody writes to it.
        SeedstallError: it is there and cannot be read.
    """
    if not text.strip():
        raise UsageError(
            "an empty target", "a variable that is not set? name a PID, a file, a folder or -"
        )
    if text == "-":
        return _streamed(Target("-", Kind.STDIN), standard_input())
    if text.isascii() and text.isdigit():
        return _process(int(text) if len(text) < 11 else 2**31)  # noqa: PLR2004 - longer than any pid
    return _on_disk(text)


def jvms_of(target: Target) -> tuple[int, ...]:
    """The JVM that a process is, or those below it.

    Raises:
        NoSuchTargetError: neither.
    """
    if target.pid is None:
        raise NoSuchTargetError(f"{target.name} is not a process", "name a PID")
    if host.is_jvm(target.pid):
        return (target.pid,)
    below = host.jvms_below(target.pid)
    if not below:
        raise not_a_jvm(target)
    return below


def tree(target: Target) -> TreeSource:
    """The source of a captured tree."""
    return TreeSource(target.path)


def core(target: Target, sysroot: str) -> CoreSource:
    """The source of a core, unpacked first where it is packed.

    Raises:
        SeedstallError: it cannot be read, is of another architecture, or cannot be unpacked here.
        NoSuchTargetError: it is not of a JVM.
    """
    from seedstall.source import packedcore  # noqa: PLC0415 - only for cores
    from seedstall.source.core import CoreSource  # noqa: PLC0415 - see above

    if packedcore.packer(_head(target.path)):
        return CoreSource(target.path, sysroot, opened=packedcore.unpacked(target.path))
    return CoreSource(target.path, sysroot)


def logs_of(target: Target) -> tuple[Target, ...]:
    """The server's logs in a captured tree: inputs of the same case."""
    return tuple(Target(path, Kind.FILE, path=path) for path in logs_in(target.path))


def files_below(target: Target, *, bundles: bool = False) -> tuple[Target, ...]:
    """The regular files below a directory, sorted; links are not followed, hidden ones left out.

    With *bundles* a directory in it that is a bundle or a captured tree is one, and not its files.

    Raises:
        SeedstallError: there are more than `MAX_FILES`.
    """
    found: list[Target] = []
    for folder, folders, names in os.walk(target.path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if bundles:
            below = [_folder_below(str(Path(folder, name))) for name in folders]
            found += [one for one in below if one is not None]
            folders[:] = [n for n, one in zip(folders, below, strict=True) if one is None]
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                found.append(Target(str(path), _kind_below(str(path)), path=str(path)))
        if len(found) > MAX_FILES:
            raise SeedstallError(
                f"{target.name} holds more than {MAX_FILES} files", "name the ones meant"
            )
    return tuple(found)


def _folder_below(path: str) -> Target | None:
    """A directory that is a case itself; ``None`` for one whose files are."""
    if Path(path).is_symlink():
        return None
    kind = _kind_of_folder(path)
    return None if kind is Kind.DIRECTORY else Target(path, kind, path=path)


def _kind_below(path: str) -> Kind:
    """A file in a directory: a core, or one of those that are read as texts or told to be none."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - once for each of ten thousand files
            head = file.read(_HEAD)
        if _is_core(path, head):
            return Kind.CORE
        return Kind.BUNDLE if _is_bundle(path, head) else Kind.FILE
    except OSError:
        return Kind.FILE


def _is_core(path: str, head: bytes) -> bool:
    if head.startswith(b"\x7fELF"):
        return _ET_CORE in (head[16:18], head[17:15:-1])
    if not head.startswith(_PACKED):
        return False
    from seedstall.source import packedcore  # noqa: PLC0415 - only for packed files

    return packedcore.is_packed_core(path, head)


def _process(pid: int) -> Target:
    if pid == 0:
        raise UsageError("0 is no process", "pids start at 1; pgrep -f java lists Java processes")
    if pid >= 2**31:
        raise NoSuchTargetError("a number that long is no pid", "pids end at 4194304")
    with host.HostSource(pid) as source:
        reading = source.read(Ref(Space.PROCESS, "status"))
    if not isinstance(reading, Got):
        if reading.why is Why.DENIED:
            raise NoSuchTargetError(f"process {pid} may not be looked at", reading.detail)
        raise _no_process(pid)
    leader = procfs.status(reading.value).tgid
    if leader != pid:
        raise NoSuchTargetError(f"{pid} is a thread of process {leader}", f"name {leader}")
    return Target(str(pid), Kind.PID, pid)


def _no_process(pid: int) -> NoSuchTargetError:
    if Path(str(pid)).exists():
        return NoSuchTargetError(
            f"there is no process {pid}", f"for the file of that name say ./{pid}"
        )
    return NoSuchTargetError(
        f"there is no process {pid}", "it has ended, or lives in another pid namespace"
    )


def not_a_jvm(target: Target) -> NoSuchTargetError:
    """The error for a process that is no JVM and has none below it: it names what the process is."""
    pid = target.pid if target.pid is not None else 0
    with host.HostSource(pid) as source:
        reading = source.read(Ref(Space.PROCESS, "stat"))
        if not isinstance(reading, Got):
            return _no_process(pid)
        found = procfs.stat(reading.value)
        what = " ".join(" ".join(host.command_line(source)).split())[:_SHOWN]
        maps = source.read(Ref(Space.PROCESS, "maps"))
    if isinstance(maps, Missing) and maps.why is Why.DENIED:
        message = (
            f"it cannot be told whether process {pid} is a JVM, and none is seen below it: {what}"
        )
        return NoSuchTargetError(message, maps.detail)
    if found.state in "ZX":
        return NoSuchTargetError(
            f"process {pid} ({found.comm}) has ended: it is a zombie", f"its parent is {found.ppid}"
        )
    return NoSuchTargetError(
        f"process {pid} is not a JVM, and none is below it: {what}{_started(pid)}",
        "while a JVM is being loaded it is none yet: try again; pgrep -f java lists Java processes",
    )


def _started(pid: int) -> str:
    """What it started, by name: perhaps the program meant, or what keeps it."""
    below = host.descendants(pid)
    if not below:
        return ""
    named = ", ".join(f"{child} ({host.command(child, 60)})" for child in below[:_NAMED])
    more = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
    return f"; it started {named}{more}"


def _on_disk(text: str) -> Target:
    try:
        found = Path(text).stat()
        mode = found.st_mode
    except (FileNotFoundError, NotADirectoryError):
        inside = _inside(text)
        if inside is not None:
            return inside
        raise NoSuchTargetError(
            f"there is no file {text}", "a target is a PID, a file, a folder or -"
        ) from None
    except OSError as error:
        raise NoSuchTargetError(f"{text}: {error.strerror}") from error
    except ValueError as error:
        raise NoSuchTargetError(f"{text!r} is no file name") from error
    if stat.S_ISDIR(mode):
        return Target(text, _kind_of_folder(text), path=text)
    if stat.S_ISFIFO(mode):
        return _streamed(Target(text, Kind.FILE, path=text), _pipe(text).chunks())
    if not stat.S_ISREG(mode):
        raise NoSuchTargetError(
            f"{text} is a device or socket: it is not read", "name a file, or a process"
        )
    made_by = rooted.pseudo_kind(found.st_dev)
    if made_by:
        raise NoSuchTargetError(
            f"{text} is the kernel's ({made_by}), not a file that was written: it is not read",
            "name a process by its PID; for the kernel's log: dmesg > dmesg.txt",
        )
    head = _head(text)
    if _is_core(text, head):
        return Target(text, Kind.CORE, path=text)
    _refuse_unread(text, head)
    return Target(text, Kind.BUNDLE if _is_bundle(text, head) else Kind.FILE, path=text)


def _inside(text: str) -> Target | None:
    """ARCHIVE!CASE, as a report calls one of several cases in an archive; ``None`` where there is no such archive.

    Raises:
        NoSuchTargetError: the archive holds no case of that name.
    """
    path, mark, _ = text.partition("!")
    while mark and not (path and Path(path).exists()):  # a file may have a ! in its own name
        more, mark, _ = text[len(path) + 1 :].partition("!")
        path = f"{path}!{more}"
    there = Path(path)
    if not mark or path.isdigit() or not (there.is_file() or there.is_dir()):
        return None
    if resolve(path).kind is not Kind.BUNDLE:
        return None
    from seedstall.source import gathered  # noqa: PLC0415 - only for archives

    names = [one.name for one in gathered.opened(path)]
    if text not in names:
        several = f": {', '.join(names[:_NAMED])}" if len(names) > 1 else ""
        raise NoSuchTargetError(
            f"{path} holds no {text[len(path) + 1 :]}", f"it holds {len(names)} case(s){several}"
        )
    return Target(text, Kind.BUNDLE, path=path, member=text)


def _kind_of_folder(path: str) -> Kind:
    from seedstall.source import gathered  # noqa: PLC0415 - only for folders

    if gathered.is_bundle(path):
        return Kind.BUNDLE
    return Kind.TREE if is_tree(path) else Kind.DIRECTORY


def _is_bundle(path: str, head: bytes) -> bool:
    """Whether a file is an archive of evidence, and not of texts alone."""
    if not _is_archive(head):
        return False
    from seedstall.source import gathered  # noqa: PLC0415 - only for archives

    return gathered.is_bundle(path)


def _streamed(target: Target, chunks: Iterator[bytes]) -> Target:
    """A stream: a bundle that comes by it is kept, anything else is read as it comes."""
    try:
        head = next(chunks, b"")
    except OSError:
        return target  # who reads it says why not
    begun = Begun(head, chunks)
    if not _is_archive(head):
        return replace(target, pipe=begun)
    try:
        path = kept(begun)
    except OSError as error:
        raise SeedstallError(
            f"{target.name}: {error.strerror}", "write it to a file, and name that"
        ) from error
    if _is_bundle(path, head[:_HEAD]):
        return Target(target.name, Kind.BUNDLE, path=path)
    return replace(target, path=path, pipe=Begun(b"", _again(path)))


def _again(path: str) -> Iterator[bytes]:
    from seedstall.source.archive import pieces_of  # noqa: PLC0415 - only for archives

    yield from pieces_of(path)


def _is_archive(head: bytes) -> bool:
    return head.startswith(_UNPACKED) or head[_USTAR] == b"ustar"


def _pipe(text: str) -> Pipe:
    try:
        return Pipe(text)
    except TimeoutError as error:
        raise NoSuchTargetError(
            f"nobody writes to {text}: {error.strerror}", "start its writer first, or name a file"
        ) from error
    except OSError as error:
        raise NoSuchTargetError(f"{text}: {error.strerror}") from error


_HEAD = 512
_PACKED = (b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
"""`packedcore.SIGNS`, which is imported only where one of them is there."""
_UNPACKED = (b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh")
_USTAR = slice(257, 262)
_ET_CORE = b"\x04\x00"


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise SeedstallError(
            f"{path}: {error.strerror}", "run as a user that may read it"
        ) from error


def _refuse_unread(path: str, head: bytes) -> None:
    """Say of what we recognise and cannot read what it is, rather than find nothing in it."""
    if head.startswith(b"\x7fELF"):
        raise NoSuchTargetError(f"{path} is a program, not evidence", "start it and name its PID")
    found = filetype(head)
    if found is not None:
        raise NoSuchTargetError(f"{path} is {found.what}", found.instead)
