"""Where a JVM's java.home is, from the paths of its library or program."""

from __future__ import annotations

OPENJ9 = (b"/libj9vm29.so", b"/libj9vm28.so")
LIBRARIES = (*OPENJ9, b"/libjvm.so")
"""OpenJ9's own first: beside it a small libjvm.so is mapped that only leads there."""
DELETED = " (deleted)"


def mapped_library(maps: bytes) -> tuple[str, bool] | None:
    """The virtual machine's library in ``/proc/PID/maps``, and whether it was deleted or replaced since.

    Only the line that names it is taken apart: the maps of a JVM run to megabytes.
    """
    for name in LIBRARIES:
        at = maps.find(name)
        while at >= 0:
            start = maps.rfind(b"\n", 0, at) + 1
            end = maps.find(b"\n", at)
            end = len(maps) if end < 0 else end
            line = maps[start:end]
            fields = line.split(None, 5)
            if len(fields) == 6:  # noqa: PLR2004 - range, mode, offset, device, inode, path
                path = fields[5].replace(b"\\012", b"\n").decode("utf-8", "surrogateescape")
                told = path.removesuffix(DELETED)
                if told.endswith(name.decode()):
                    return told, path != told
            at = maps.find(name, end)
    return None


def home_of_library(path: str) -> str | None:
    """The java.home that a library belongs to: ``X/lib/server/libjvm.so`` (9+), ``X/lib/amd64/server/libjvm.so`` (8).

    ``None`` where the path is laid out otherwise.
    """
    home, lib, rest = path.rpartition("/lib/")
    return home if lib and home and rest.count("/") in (1, 2) else None


def is_openj9(library: str) -> bool:
    """Whether a mapped library is OpenJ9's."""
    return library.encode("utf-8", "surrogateescape").endswith(OPENJ9)


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
