"""A folder of files named as people name them: ``jstack_8712.txt``, ``threads_2.txt``, ``catalina.out``, ``uname.txt``.

What a file is is told by its name here, where its content would not tell it apart from a text (``uname.txt``), and by
its content as always where it does. It becomes a case for each JVM whose pid stands in the names, with what is said of
their host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.source.sos import SosReport, SosSource
from seedstall.source.store import Store

_MOST = 2_000
_PS = re.compile(r"(?i)ps(?:[-_.][\w.-]*)?(?:\.(?:txt|out|log))?")
_UNAME = re.compile(r"(?i)uname[\w.-]*|kernel(?:[-_]version)?\.txt")
_SYSCTL = re.compile(r"(?i)sysctl[\w.-]*")
_DMESG = re.compile(r"(?i)dmesg[\w.-]*")
_RELEASE = re.compile(r"(?i)(?:etc[-_])?os-release(?:\.txt)?")
_OF_HOST = (_PS, _UNAME, _SYSCTL, _DMESG, _RELEASE)
_OF_JVM = re.compile(
    r"(?i)(?:.*/)?(?:[\w.-]*(?:jstack|thread|dump|javacore|jcmd)[\w.-]*|[\w.-]*catalina[\w.-]*|[\w.-]*(?:server|console"
    r"|stdout|application|app)[\w-]*\.(?:log|out))(?:\.txt)?(?:\.gz)?"
)
_PID = re.compile(r"(?:^|[/_.-])(?:pid[-_.]?)?([1-9][0-9]{1,6})(?=[/_.-]|$)", re.IGNORECASE)
_NUMBERED = 100
"""A smaller number counts dumps, and is no pid."""


def is_loose(paths: Iterable[str]) -> bool:
    """Whether a folder with these files holds what is said of a host besides what is said of a JVM.

    One in which a folder has files of a host too is a folder of hosts: what the one says is not true of another.
    """
    host = jvm = False
    for path in paths:
        if path.count("/") > 1:
            continue
        folder, _, name = path.rpartition("/")
        if folder and path_of_host(name):
            return False
        host = host or path_of_host(path)
        jvm = jvm or (_OF_JVM.fullmatch(path) is not None)
    return host and jvm


def path_of_host(path: str) -> bool:
    """Whether a file at the top is named as one of the host is: in a folder of folders each has its own."""
    return "/" not in path and any(mark.fullmatch(path) for mark in _OF_HOST)


class LooseReport(SosReport):
    """Such a folder, as a report."""

    def __init__(self, store: Store, top: str, paths: Iterable[str]) -> None:
        """These files lie below *top* in *store*."""
        super().__init__(store, top)
        self._paths = tuple(sorted(paths))[:_MOST]

    def _named(self, mark: re.Pattern[str]) -> tuple[str, ...]:
        return tuple(p for p in self._paths if "/" not in p and mark.fullmatch(p))

    def _first(self, mark: re.Pattern[str]) -> bytes | None:
        return next((data for path in self._named(mark) if (data := self.content(path))), None)

    def tables(self) -> tuple[bytes | None, ...]:
        """What ps printed."""
        return tuple(self.content(path) for path in self._named(_PS))

    def sysctl(self) -> bytes:
        """What ``sysctl -a`` printed."""
        return self._first(_SYSCTL) or b""

    def unames(self) -> tuple[bytes | None, ...]:
        """What ``uname -a`` or ``uname -r`` printed."""
        return tuple(self.content(path) for path in self._named(_UNAME))

    def host_file(self, path: str) -> bytes | None:
        """A file of the host."""
        if path == "dmesg":
            return self._first(_DMESG)
        return self._first(_RELEASE) if path == "etc/os-release" else None

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What is none of the host's."""
        return tuple(path for path in self._paths if not path_of_host(path))

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that the names name."""
        return tuple(sorted({pid for path in self.texts for pid in (_pid(path),) if pid}))

    def texts_of(self, pid: int | None) -> tuple[str, ...]:
        """The texts of a process, and those of none."""
        return tuple(path for path in self.texts if pid is None or _pid(path) in (pid, None))


def _pid(path: str) -> int | None:
    """The pid that stands in a file's name, or in that of its folder. A date or a small number is none."""
    if _OF_JVM.fullmatch(path) is None:
        return None
    found = [int(number) for number in _PID.findall(path)]
    found = [number for number in found if number >= _NUMBERED and not 1990 <= number <= 2099]  # noqa: PLR2004 - years
    return found[0] if len(found) == 1 else None


class LooseSource(SosSource):
    """One JVM of such a folder."""

    def __init__(self, report: LooseReport, pid: int | None) -> None:
        """Present the process *pid*."""
        super().__init__(report, pid)
        self._texts = report.texts_of(pid)

    lacking = "it is not among the files of the folder"

    def _text(self, ref: Ref) -> Reading[bytes]:
        if ref.ask is Ask.LIST and not ref.path and self._texts:
            listed = b"".join(p.encode("utf-8", "surrogateescape") + b"\0" for p in self._texts)
            return Got(listed, (ref,))
        if ref.space is Space.INPUT and ref.ask is Ask.CONTENT and ref.path in self._texts:
            return self._at(ref)
        return Missing(Why.NOT_COLLECTED, (ref,))
