"""Where a JVM's java.home is, from the paths of its library or program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

OPENJ9 = b"/libj9vm"
"""Followed by two digits: 29 today, 28 to 23 in IBM's 8 to 5."""
MARKS = (OPENJ9, b"/libjvm.so")
"""OpenJ9's own first: beside it a small libjvm.so is mapped that only leads there."""
MAX_PLACES = 1_000
"""Mappings of one library looked at: it has a handful."""
DELETED = " (deleted)"


class Mapped(NamedTuple):
    """A mapping of a virtual machine's library. ``replaced``: the file was deleted or replaced since."""

    path: str
    replaced: bool
    loaded: bool
    """Mapped to run, and not for reading alone as a debugger, a profiler or a backup maps it. Of a JVM under an
    emulator of user programs (qemu-user) no mapping is executable, but its data are writable."""


def mapped_library(maps: bytes) -> tuple[str, bool] | None:
    """The virtual machine's library in ``/proc/PID/maps``, and whether it was deleted or replaced since.

    Only the line that names it is taken apart: the maps of a JVM run to megabytes.
    """
    found = next(_libraries(maps), None)
    return (found.path, found.replaced) if found is not None else None


def running_library(maps: bytes) -> str | None:
    """The path of the virtual machine's library that the process runs, ``None`` where it runs none."""
    return next((found.path for found in _libraries(maps) if found.loaded), None)


def _libraries(maps: bytes) -> Iterator[Mapped]:
    for mark in MARKS:
        at = maps.find(mark)
        for _ in range(MAX_PLACES):
            if at < 0:
                break
            start = maps.rfind(b"\n", 0, at) + 1
            end = maps.find(b"\n", at)
            end = len(maps) if end < 0 else end
            found = _mapping(maps[start:end])
            if found is not None:
                yield found
            at = maps.find(mark, end)


def _mapping(line: bytes) -> Mapped | None:
    fields = line.split(None, 5)
    if len(fields) != 6:  # noqa: PLR2004 - range, mode, offset, device, inode, path
        return None
    path = fields[5].replace(b"\\012", b"\n").decode("utf-8", "surrogateescape")
    told = path.removesuffix(DELETED)
    if not (told.endswith("/libjvm.so") or is_openj9(told)):
        return None
    mode = fields[1]
    return Mapped(told, path != told, loaded=b"x" in mode or mode[1:2] + mode[3:4] == b"wp")


def home_of_library(path: str) -> str | None:
    """The java.home that a library belongs to: ``X/lib/server/libjvm.so`` (9+), ``X/lib/amd64/server/libjvm.so`` (8).

    ``None`` where the path is laid out otherwise.
    """
    home, lib, rest = path.rpartition("/lib/")
    return home if lib and home and rest.count("/") in (1, 2) else None


def is_openj9(library: str) -> bool:
    """Whether a mapped library is OpenJ9's (``libj9vm29.so``)."""
    name = library[library.rfind("/") + 1 :]
    number = name.removeprefix("libj9vm").removesuffix(".so")
    return name == f"libj9vm{number}.so" and len(number) == 2 and number.isdecimal()  # noqa: PLR2004


def home_of_program(path: str) -> str | None:
    """The directory above ``bin``: a java.home, or on 8 and before perhaps the JDK whose ``jre`` is one."""
    folder, _, _ = path.rpartition("/")
    home, _, name = folder.rpartition("/")
    return home if home and name == "bin" else None


def inside(path: str, root: str) -> str:
    """*path*, which a link of ``/proc/PID`` gave, as the process sees it: without the root directory of a chroot.

    In a mount namespace of its own the kernel shows paths below the process's root already, and ``root`` is ``/``.
    """
    if root == "/" or not root:
        return path
    if path == root:
        return "/"
    return path[len(root) :] if path.startswith(f"{root}/") else path
