"""The real texts of ``fixtures``, unpacked for a test: probes, logs, live cases, posts."""

from __future__ import annotations

import lzma
import tarfile
from functools import cache

from tests.machine import CHECKOUT

FIXTURES = CHECKOUT / "fixtures"


@cache
def archive(name: str) -> dict[str, bytes]:
    """The files of a packed folder, by their path below it."""
    found: dict[str, bytes] = {}
    with tarfile.open(FIXTURES / f"{name}.tar.xz") as packed:
        for member in packed:
            file = packed.extractfile(member)
            if file is not None:
                found[member.name.partition("/")[2]] = file.read()
    return found


def probes() -> dict[str, bytes]:
    """The 159 probes, by name: 111 end in BLOCKED and hold a dump, 48 in FINISHED and hold none."""
    return archive("jdk-dumps")


def tomcat_logs() -> dict[str, bytes]:
    """Real Tomcat 10.1 logs in ten languages."""
    return archive("tomcat-logs")


@cache
def live(name: str) -> bytes:
    """A real case by its file's name: ``tomcat10-jdk17-hang.txt``."""
    return lzma.decompress((FIXTURES / "live" / f"{name}.xz").read_bytes())


@cache
def post(number: str) -> bytes:
    """A public post by its number: ``000``."""
    (path,) = (FIXTURES / "posts").glob(f"{number}_*.txt.xz")
    return lzma.decompress(path.read_bytes())
