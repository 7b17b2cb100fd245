"""A captured tree: a directory that holds ``proc/PID``, ``proc/sys/kernel/random``, perhaps ``jvm/threaddump.txt``.

It answers in the same spaces as a live host. What matters is what it must not say: a file that is not in the tree was
as a rule *not collected*. Only in a directory that is captured whole (`WHOLE`) does absence mean absence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import procfs
from seedstall.source import rooted
from seedstall.source.closing import Closing
from seedstall.source.store import FolderStore, Store

WHOLE = re.compile(r"proc/sys/kernel/random|sys/class/misc/hw_random|proc/[0-9]+/(task|fd|ns)")
"""Directories that a capture takes with all they hold, or not at all."""

_NEVER_EMPTY = re.compile(
    r"proc/(?:version|uptime|cmdline|meminfo|modules|sys/kernel/.+|(?:[0-9]+|self)/(?:task/[0-9]+/)?"
    r"(?:stat|status|maps|comm|cgroup|limits|mountinfo|mounts|sched|schedstat|syscall))"
)

_REPLIES = {
    "threaddump": ("jvm/threaddump.txt", "threaddump.txt", "jvm/jstack.txt", "jstack.txt"),
    "properties": ("jvm/jcmd-VM.system_properties.txt", "jcmd-VM.system_properties.txt"),
}
_KERNEL_LOGS = ("dmesg", "dmesg.txt", "var/log/dmesg")
_LISTINGS = {
    "proc/sys/kernel/random": "ls-proc-sys-kernel-random.txt",
    "sys/class/misc/hw_random": "ls-sys-class-misc-hw_random.txt",
}
_LOGS = ("catalina.out", "catalina*.log", "logs/*")
_DEVICE = re.compile(
    rb"([bc])[rwxsStT-]{9}\S{0,1} +\d+ +\S+ +\S+ +(\d+), *(\d+) .{1,40} /dev/(\S+)$"
)
_TYPES = {
    b"chr": 0o020000,
    b"blk": 0o060000,
    b"reg": 0o100000,
    b"dir": 0o040000,
    b"fifo": 0o010000,
    b"sock": 0o140000,
}
_ERRORS = {
    b"No such file or directory": Why.ABSENT,
    b"Permission denied": Why.DENIED,
    b"Operation not permitted": Why.DENIED,
}


def is_tree(path: str | Path) -> bool:
    """Whether that directory is a captured tree."""
    try:
        root = FolderStore(path)
    except OSError:
        return False
    with root:
        return bool(_processes(root)) or _names(root, "proc/sys/kernel/random") != ()


def _names(root: Store, folder: str) -> tuple[str, ...]:
    try:
        return procfs.names(root.ask(folder, Ask.LIST))
    except OSError:
        return ()


def _processes(root: Store, top: str = "") -> tuple[int, ...]:
    """The pids whose ``/proc`` the tree holds, lowest first."""
    names = (n for n in _names(root, f"{top}proc") if n.isascii() and n.isdigit())
    return tuple(sorted(int(n) for n in names if len(n) < 10))  # noqa: PLR2004 - longer than any pid


def logs_in(path: str | Path) -> tuple[str, ...]:
    """The server's own logs in the tree, to be handed over as inputs of the same case. Links out of it are none."""
    top = Path(path).resolve()
    found = (p for pattern in _LOGS for p in Path(path).glob(pattern))
    return tuple(sorted(str(p) for p in found if p.is_file() and p.resolve().is_relative_to(top)))


class TreeSource(Closing):
    """One process of a captured tree, and its host. Close it, or use it in a ``with``."""

    def __init__(
        self, path: str | Path, pid: int | None = None, *, store: Store | None = None, top: str = ""
    ) -> None:
        """Open the tree. Without *pid* its JVM is found: what maps libjvm, else the only process there is.

        It is the directory *path*, or lies below *top* in *store*.

        Raises:
            OSError: there is no such directory.
        """
        self._store: Store = FolderStore(path) if store is None else store
        self._top = f"{top}/" if top else ""
        self._pids = _processes(self._store, self._top)
        self.pid = pid if pid is not None else self._jvm()

    def close(self) -> None:
        """Give back what the store holds."""
        store = getattr(self, "_store", None)
        if store is not None:
            store.close()

    @property
    def jvms(self) -> tuple[int, ...]:
        """The captured processes that map a JVM."""
        return tuple(pid for pid in self._pids if self._maps_jvm(pid))

    def _maps_jvm(self, pid: int) -> bool:
        data = self._bytes(f"proc/{pid}/maps")
        return data is not None and procfs.maps_any(data, "libjvm.so", "libj9vm29.so")

    def _jvm(self) -> int | None:
        """The process meant: by what is mapped, by the capture's own note, by its name, by its threads."""
        if len(self._pids) == 1:
            return self._pids[0]
        noted = (self._bytes("jvm/pid") or b"").strip()
        marks: tuple[Callable[[int], bool], ...] = (
            self._maps_jvm,
            lambda pid: noted == b"%d" % pid,
            lambda pid: procfs.cmdline(self._bytes(f"proc/{pid}/cmdline") or b"")[:1] == ("java",),
            lambda pid: self._bytes(f"proc/{pid}/task/{pid}/wchan") is not None,
        )
        for mark in marks:
            found = [pid for pid in self._pids if mark(pid)]
            if found:
                return found[0]
        return None

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not."""
        match ref.space:
            case Space.KERNEL:
                return self._of_kernel(ref)
            case Space.PROCESS:
                return self._of_process(ref)
            case Space.ROOT:
                return self._of_root(ref)
            case Space.ATTACH:
                return self._reply(ref)
            case Space.MEMORY | Space.INPUT:
                return Missing(Why.NOT_COLLECTED, (ref,))

    def _bytes(self, path: str) -> bytes | None:
        try:
            return self._ask(path, Ask.CONTENT)
        except OSError:
            return None

    def _ask(self, path: str, question: Ask) -> bytes:
        return self._store.ask(self._top + path, question)

    def _reading(self, ref: Ref, path: str) -> Reading[bytes]:
        try:
            data = self._ask(path, ref.ask)
        except OSError as error:
            return Missing(rooted.why(error), (ref,), error.strerror or "")
        if not data and ref.ask is Ask.CONTENT and _NEVER_EMPTY.fullmatch(path):
            # tar and cp take a file of /proc for as long as its size says: for empty.
            return Missing(Why.NOT_COLLECTED, (ref,), "what was copied of it is empty")
        return Got(data, (ref,))

    def _first(self, ref: Ref, paths: tuple[str, ...]) -> Reading[bytes]:
        for path in paths:
            reading = self._reading(ref, path)
            if isinstance(reading, Got) or reading.why is not Why.ABSENT:
                return reading
        return Missing(Why.NOT_COLLECTED, (ref,))

    def _at(self, ref: Ref, path: str) -> Reading[bytes]:
        """Read *path* of the tree for *ref*: what is not there was not collected, unless the directory is whole."""
        reading = self._reading(ref, path)
        if isinstance(reading, Missing) and reading.why is Why.ABSENT:
            return Missing(self._why_not(path), (ref,))
        return reading

    def _why_not(self, path: str) -> Why:
        known = self._errors.get(path)
        if known is not None:
            return known
        folder, _, name = path.rpartition("/")
        if WHOLE.fullmatch(folder) is None:
            return Why.NOT_COLLECTED
        listed = self._listed(folder)
        if listed is not None:
            return Why.NOT_COLLECTED if name in listed else Why.ABSENT
        try:
            return Why.ABSENT if self._ask(folder, Ask.LIST) else Why.NOT_COLLECTED
        except OSError:
            return Why.NOT_COLLECTED

    def _listed(self, folder: str) -> frozenset[str] | None:
        """The names that an ``ls -la`` captured beside says the directory had."""
        data = self._bytes(_LISTINGS[folder]) if folder in _LISTINGS else None
        if data is None:
            return None
        first = data.partition(b"\n\n")[0]
        lines = (line.split(None, 8) for line in first.split(b"\n", 1000)[:1000])
        named = (line[8] for line in lines if len(line) > 8)  # noqa: PLR2004 - ls -l: the ninth
        return frozenset(os.fsdecode(name.partition(b" ->")[0]) for name in named)

    @cached_property
    def _errors(self) -> dict[str, Why]:
        """``/sys/hypervisor/type: open: No such file or directory``: what the capture tried and could not read."""
        found: dict[str, Why] = {}
        for line in (self._bytes("capture-errors.txt") or b"").split(b"\n", 10_000)[:10_000]:
            path, _, rest = line.partition(b": ")
            why = _ERRORS.get(rest.rpartition(b": ")[2].strip())
            if why is not None and path.startswith(b"/"):
                found[os.fsdecode(path[1:])] = why
        return found

    # --- the host ----------------------------------------------------------------------------------------------------

    def _of_kernel(self, ref: Ref) -> Reading[bytes]:
        if ref.path == "dmesg":
            return self._first(ref, _KERNEL_LOGS)
        if ref.path.startswith("probe/"):
            return Missing(Why.NOT_COLLECTED, (ref,), "a captured host cannot be probed")
        return self._type(ref, ref.path) if ref.ask is Ask.STAT else self._at(ref, ref.path)

    def _type(self, ref: Ref, path: str) -> Reading[bytes]:
        """The type of a file: for a device what ``ls -l /dev/...`` said, for a copy its type, mode and size."""
        device = self._devices.get(path)
        if device is not None:
            return Got(device, (ref,))
        reading = self._at(ref, path)
        if isinstance(reading, Missing):
            return reading
        copy = procfs.file_stat(reading.value)
        return Got(b"%o 0 0 -1 -1 -1 %d" % (copy.mode, copy.size), (ref,))

    @cached_property
    def _devices(self) -> dict[str, bytes]:
        """The lines of ``ls -l /dev/random ...`` as answers to STAT, by path below the root."""
        found: dict[str, bytes] = {}
        for line in (self._bytes("ls-dev.txt") or b"").split(b"\n", 10_000)[:10_000]:
            match = _DEVICE.match(line[:400])
            if match is not None:
                kind, major, minor, name = match.groups()
                mode = 0o020000 if kind == b"c" else 0o060000
                found[f"dev/{os.fsdecode(name)}"] = _stat(mode, int(major), int(minor))
        return found

    # --- the process -------------------------------------------------------------------------------------------------

    def _of_process(self, ref: Ref) -> Reading[bytes]:
        if self.pid is None:
            return Missing(
                Why.NOT_COLLECTED, (ref,), "the tree holds no process, or several and no JVM"
            )
        path = f"proc/{self.pid}/{ref.path}"
        return self._descriptor(ref, path) if ref.ask is Ask.STAT else self._at(ref, path)

    def _descriptor(self, ref: Ref, path: str) -> Reading[bytes]:
        """The type of ``fd/N``: from the capture's ``fd.txt``, else what ``/dev`` had at the link's target."""
        known = self._descriptors.get(ref.path.removeprefix("fd/"))
        if known is not None:
            return Got(known, (ref,))
        if self._text_of_link(f"proc/{self.pid}/root") in (
            "/",
            "",
        ):  # not in a chroot, as far as we know
            device = self._devices.get(self._text_of_link(path).removeprefix("/"))
            if device is not None:
                return Got(device, (ref,))
        return Missing(Why.NOT_COLLECTED, (ref,))

    def _text_of_link(self, path: str) -> str:
        try:
            return os.fsdecode(self._ask(path, Ask.LINK))
        except OSError:
            return ""

    @cached_property
    def _descriptors(self) -> dict[str, bytes]:
        """``fd.txt`` (number, type, device, inode, rdev, mode, link, parted by tabs) as answers to STAT."""
        found: dict[str, bytes] = {}
        for line in (self._bytes(f"proc/{self.pid}/fd.txt") or b"").split(b"\n", 100_000):
            fields = line.split(b"\t", 6)
            mode = _TYPES.get(fields[1]) if len(fields) > 5 else None  # noqa: PLR2004 - up to the mode
            if mode is not None and fields[0].isdigit():
                major, _, minor = fields[4].partition(b":")
                if major.isdigit() and minor.isdigit():
                    found[os.fsdecode(fields[0])] = _stat(mode, int(major), int(minor))
        return found

    def _of_root(self, ref: Ref) -> Reading[bytes]:
        """Below ``proc/PID/root`` where that was captured as a directory, else below the tree."""
        if ref.ask is Ask.STAT:
            return self._type(ref, f"{self._root_path}{ref.path}")
        reading = self._at(ref, f"{self._root_path}{ref.path}")
        if isinstance(reading, Missing) and ref.path.endswith("/security/java.security"):
            return self._first(ref, ("jvm/java.security", "java.security"))
        return reading

    @cached_property
    def _root_path(self) -> str:
        path = f"proc/{self.pid}/root"
        return f"{path}/" if self._store.is_folder(self._top + path) else ""

    # --- what the JVM answered ---------------------------------------------------------------------------------------

    def _reply(self, ref: Ref) -> Reading[bytes]:
        reading = self._first(ref, _REPLIES.get(ref.path, ()))
        if isinstance(reading, Got) and ref.path == "properties":
            return Got(_without_pid(reading.value), reading.origins)
        return reading


def _stat(mode: int, major: int, minor: int) -> bytes:
    return b"%o %d %d -1 -1 -1 -1" % (mode, major, minor)


def _without_pid(data: bytes) -> bytes:
    """Without the line ``1234:`` that jcmd puts before a JVM's answer."""
    first, newline, rest = data.partition(b"\n")
    return rest if newline and first.strip().rstrip(b":").isdigit() else data
