"""A sosreport (sos 3 and 4): what ps(1), sysctl(8) and uname(1) printed, presented as the files of ``/proc`` they tell.

sos copies ``status``, ``limits``, ``cpuset`` and ``stack`` of a process and nothing else of it (plugin ``process``), no
thread dump, and excludes ``/etc/java*/security`` (plugin ``java``). So nothing is ever said to be absent here because
it is not in the report; the one directory that is known whole is ``/proc/sys/kernel/random``, which ``sysctl -a``
lists.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cached_property

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import pstable
from seedstall.source.store import LARGEST, Store

LEFT_OUT = "a sosreport does not hold it"
RANDOM = "proc/sys/kernel/random"
_COMMANDS = "sos_commands"
_KERNEL_LOGS = (
    f"{_COMMANDS}/kernel/dmesg",
    f"{_COMMANDS}/general/dmesg",
    "var/log/dmesg",
)
_UNAMES = (f"{_COMMANDS}/kernel/uname_-a", "uname")
_SYSCTL = f"{_COMMANDS}/kernel/sysctl_-a"
_PS = f"{_COMMANDS}/process"
_LOG = re.compile(
    r"(?:var/log|opt|var/lib|usr/share|srv|home)/(?:[^/]+/){0,6}"
    r"(?:catalina[^/]*(?:out|log)|localhost[^/]*log|server\.log|console\.log|standalone\.log|jetty[^/]*log)"
    r"|var/log/messages|var/log/syslog"
)
_WANTED = re.compile(
    rf"(?:{_COMMANDS}/(?:process|kernel|java|jvm|general|tomcat|jboss|systemd|crypto)/.*"
    r"|proc/.*|sys/(?:class|devices/virtual)/misc/.*|sys/hypervisor/.*|sys/class/dmi/.*|etc/(?:os-release|.*-release)"
    r"|etc/(?:tomcat|java|jvm|sysconfig|default|systemd|init\.d|crypto-policies)[^/]*(?:/.*)?|uname|ps|date|hostname"
    r"|uptime|version\.txt|(?:usr/)?lib/systemd/.*|usr/lib/jvm/.*"
    rf"|{_LOG.pattern})"
)
_JAVA = re.compile(r"(?:[^ ]*/)?(?:java|jsvc)(?:\.orig)?(?= |$)")
# ps -l cuts the name of the kernel's function at six letters; no other function of 2.6 to 6.x that a thread
# sleeps in begins so.
_WHOLE_NAMES = {"_rando": "_random_read", "random": "random_read"}


def wanted(path: str) -> int:
    """How many bytes of a member of the report, by its path in it, are evidence."""
    return LARGEST if _WANTED.fullmatch(path) is not None else 0


class SosReport:
    """The tables of one report, read once for all of its JVMs."""

    def __init__(self, store: Store, top: str = "") -> None:
        """It lies below *top* in *store*."""
        self.store = store
        self.top = f"{top}/" if top else ""

    def content(self, path: str) -> bytes | None:
        """The content of a file of the report."""
        try:
            return self.store.ask(self.top + path, Ask.CONTENT, LARGEST)
        except OSError:
            return None

    def names(self, folder: str) -> tuple[str, ...]:
        """The names in a directory of the report."""
        try:
            listed = self.store.ask(self.top + folder, Ask.LIST)
        except OSError:
            return ()
        return tuple(os.fsdecode(name) for name in listed.split(b"\0")[:-1])

    @cached_property
    def rows(self) -> tuple[pstable.Row, ...]:
        """What ps printed: the table with threads first, then those with whole commands."""
        return tuple(row for data in self.tables() if data for row in pstable.rows(data))

    def tables(self) -> tuple[bytes | None, ...]:
        """The tables of ps."""
        names = [name for name in self.names(_PS) if name.startswith("ps_")]
        order = sorted(names, key=lambda name: (name != "ps_-elfL", name))
        return tuple(self.content(f"{_PS}/{name}") for name in order) or (self.content("ps"),)

    def sysctl(self) -> bytes:
        """What ``sysctl -a`` printed."""
        return self.content(_SYSCTL) or b""

    def unames(self) -> tuple[bytes | None, ...]:
        """What ``uname -a`` printed."""
        return tuple(map(self.content, _UNAMES))

    def host_file(self, path: str) -> bytes | None:
        """A file of the host, of which the report has a copy; ``dmesg`` is what that printed."""
        if path == "dmesg":
            return next(filter(None, map(self.content, _KERNEL_LOGS)), None)
        return self.content(path)

    @cached_property
    def commands(self) -> dict[int, str]:
        """The longest command that any table has of a process: some cut it at the terminal's width."""
        found: dict[int, str] = {}
        for row in self.rows:
            if len(row.command) > len(found.get(row.pid, "")) and row.command != "-":
                found[row.pid] = row.command
        return found

    @property
    def jvms(self) -> tuple[int, ...]:
        """The processes whose program is called java."""
        return tuple(sorted(pid for pid, line in self.commands.items() if _JAVA.match(line)))

    def threads(self, pid: int) -> dict[int, pstable.Row]:
        """The threads of a process by their ids; empty where no table has them."""
        found = {row.tid: row for row in reversed(self.rows) if row.pid == pid}
        return found if len(found) > 1 else {}  # one alone is the process, not its threads

    @cached_property
    def settings(self) -> dict[str, str]:
        """``kernel.random.*`` of ``sysctl -a``, by the name in that directory."""
        found: dict[str, str] = {}
        for line in self.sysctl().split(b"\n", 100_000):
            name, equals, value = line.partition(b"=")
            if equals and name.strip().startswith(b"kernel.random."):
                key = os.fsdecode(name.strip().removeprefix(b"kernel.random."))
                found[key] = os.fsdecode(value.strip())
        return found

    @cached_property
    def release(self) -> str:
        """The kernel's release: the third word of ``uname -a``, all of ``uname -r``."""
        for data in self.unames():
            words = (data or b"")[:1000].split()
            if len(words) > 2 and words[0] == b"Linux":  # noqa: PLR2004
                return os.fsdecode(words[2])
            if len(words) == 1 and words[0][:1].isdigit():
                return os.fsdecode(words[0])
        return ""

    def logs(self) -> tuple[str, ...]:
        """The texts of it that are logs of a server, or of the host."""
        found = [path for path in _below(self, "var/log", 3) if _LOG.fullmatch(path)]
        return tuple(sorted(found))


def _below(report: SosReport, folder: str, depth: int) -> Iterable[str]:
    for name in report.names(folder):
        path = f"{folder}/{name}"
        if depth and report.store.is_folder(report.top + path):
            yield from _below(report, path, depth - 1)
        else:
            yield path


class SosSource:
    """One JVM of a sosreport, or its host alone."""

    lacking = LEFT_OUT

    def __init__(self, report: SosReport, pid: int | None) -> None:
        """Present the process *pid*."""
        self._report = report
        self.pid = pid

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not: never that it is absent."""
        match ref.space:
            case Space.KERNEL:
                found = self._of_kernel(ref)
            case Space.PROCESS:
                found = self._of_process(ref)
            case Space.ROOT:
                found = self._file(ref.path) if ref.ask is Ask.CONTENT else None
            case Space.INPUT:
                return self._text(ref)
            case _:
                found = None
        if found is None:
            return Missing(self._why(ref), (ref,), self.lacking)
        return Got(found, (ref,))

    def _why(self, ref: Ref) -> Why:
        """Only where ``sysctl -a`` named all settings is one that it lacks absent."""
        folder, _, _ = ref.path.rpartition("/")
        known = ref.space is Space.KERNEL and folder == RANDOM and self._report.settings
        return Why.ABSENT if known and ref.ask is Ask.CONTENT else Why.NOT_COLLECTED

    def _file(self, path: str) -> bytes | None:
        """A file that the report has a copy of; of ``/proc`` an empty one is none."""
        data = self._report.host_file(path.lstrip("/"))
        return None if not data and path.startswith("proc/") else data

    def _of_kernel(self, ref: Ref) -> bytes | None:
        report = self._report
        folder, _, name = ref.path.rpartition("/")
        if ref.path == RANDOM and ref.ask is Ask.LIST and report.settings:
            return b"".join(os.fsencode(key) + b"\0" for key in sorted(report.settings))
        if ref.ask is not Ask.CONTENT:
            return None
        if folder == RANDOM and name in report.settings:
            return os.fsencode(report.settings[name]) + b"\n"
        data = self._file(ref.path)
        if data is None and ref.path == "proc/sys/kernel/osrelease" and report.release:
            return os.fsencode(report.release) + b"\n"
        return data

    def _of_process(self, ref: Ref) -> bytes | None:
        if ref == Ref(Space.PROCESS, "task", Ask.LIST):
            names = sorted(os.fsencode(str(tid)) for tid in self._threads)
            return b"".join(name + b"\0" for name in names) or None
        if self.pid is None or ref.ask is not Ask.CONTENT:
            return None
        if ref.path == "cmdline":
            # ps prints one blank between arguments, as there may be within them.
            words = self._report.commands.get(self.pid, "").split()
            return b"".join(os.fsencode(word) + b"\0" for word in words) or None
        parts = ref.path.split("/") if ref.path != "stat" else ["task", str(self.pid), "stat"]
        if parts[0] == "task" and len(parts) == 3 and parts[1].isdigit():  # noqa: PLR2004 - task/TID/FILE
            return self._of_task(int(parts[1][:10]), parts[2])
        return self._file(f"proc/{self.pid}/{ref.path}")

    @cached_property
    def _threads(self) -> dict[int, pstable.Row]:
        return self._report.threads(self.pid) if self.pid is not None else {}

    def _of_task(self, tid: int, name: str) -> bytes | None:
        row = self._threads.get(tid)
        if row is None:
            return None
        if name == "stat":
            return _stat(row, len(self._threads))
        if name == "comm":
            return None  # ps -f prints the process's command for all of its threads
        if name == "wchan" and row.wchan:
            return os.fsencode(_WHOLE_NAMES.get(row.wchan, row.wchan))
        return None

    def _text(self, ref: Ref) -> Reading[bytes]:
        names = self._report.logs()
        if ref.ask is Ask.LIST and not ref.path and names:
            return Got(b"".join(os.fsencode(name) + b"\0" for name in names), (ref,))
        if ref.ask is Ask.CONTENT and ref.path in names:
            return self._at(ref)
        return Missing(Why.NOT_COLLECTED, (ref,))

    def _at(self, ref: Ref) -> Reading[bytes]:
        """The text of that name."""
        data = self._report.content(ref.path)
        return Got(data, (ref,)) if data is not None else Missing(Why.NOT_COLLECTED, (ref,))


def _stat(row: pstable.Row, threads: int) -> bytes:
    """A line of ``stat`` with what ps told; its start is not told, and 0 is taken for nothing without an uptime."""
    name = row.command.partition(" ")[0].rpartition("/")[2][:15]
    ticks = row.cpu_s * 100
    numbers = [row.ppid, *[0] * 9, ticks, *[0] * 5, threads, 0, 0, *[0] * 30]
    words = " ".join(map(str, numbers))
    return os.fsencode(f"{row.tid} ({name}) {row.state} {words}\n")
