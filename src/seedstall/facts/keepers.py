"""Who else writes a file: a package, or a program that keeps configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.knowledge.managers import manager_of
from seedstall.model.evidence import Ask, Got, Ref, Space
from seedstall.source.base import Source

DPKG = "var/lib/dpkg/status"
UCF = "var/lib/ucf/hashfile"
RPM = ("usr/lib/sysimage/rpm", "var/lib/rpm")
_OF_PACKAGES = ("/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/opt/")
_OWN = ("/usr/local/",)


def keepers(
    source: Source, path: str, content: bytes | None, *, host: bool = False
) -> Iterator[str]:
    """Whole clauses on who keeps *path*, for the person who is about to change it.

    *path* is in the target's root, with *host* on this host; its links are resolved.
    """
    manager = manager_of(content or b"")
    if manager:
        yield (
            f"{path} says that {manager} keeps it: change it there as well, or the next run takes this back"
        )
    space = Space.KERNEL if host else Space.ROOT
    yield from _packages(source, space, path)


def _packages(source: Source, space: Space, path: str) -> Iterator[str]:
    dpkg = source.read(Ref(space, DPKG))
    if isinstance(dpkg, Got):
        package = conffile_of(dpkg.value, path)
        if package:
            yield f"{path} is a conffile of package {package}: an upgrade asks before it replaces it"
            return
        ucf = source.read(Ref(space, UCF))
        if isinstance(ucf, Got) and _in_hashfile(ucf.value, path):
            yield f"a package keeps {path} by ucf: an upgrade asks before it replaces it"
            return
    elif any(_is_there(source, space, folder) for folder in RPM) and path.startswith("/etc/"):
        yield f"rpm -qf {path} says whether a package owns it: an update may leave its own as {path}.rpmnew"
        return
    if path.startswith(_OF_PACKAGES) and not path.startswith(_OWN):
        yield f"{path} lies where packages keep their files: an update may replace it"


def _is_there(source: Source, space: Space, path: str) -> bool:
    return isinstance(source.read(Ref(space, path, Ask.STAT)), Got)


def conffile_of(status: bytes, path: str) -> str:
    """The package whose conffile *path* is, by dpkg's ``status``; ``""`` if none."""
    at = status.find(b"\n %s " % path.encode("utf-8", "surrogateescape"))
    if at < 0:
        return ""
    start = status.rfind(b"\nPackage: ", 0, at)
    begin = start + 1 if start >= 0 else 0
    match = re.match(rb"Package: ([a-z0-9.+-]{1,100})\n", status[begin : begin + 200])
    return match[1].decode() if match else "unknown"


def _in_hashfile(hashes: bytes, path: str) -> bool:
    wanted = path.encode("utf-8", "surrogateescape")
    return any(line.split(None, 1)[1:] == [wanted] for line in hashes.split(b"\n")[:20_000])
