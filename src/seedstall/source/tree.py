"""A captured tree: a directory that holds ``proc/PID``, ``proc/sys/kernel/random``, perhaps ``jvm/threaddump.txt``.

It answers in the same spaces as a live host. What matters is what it must not say: a file that is not in the tree was
as a rule *not collected*. Only in a directory that is captured whole (`WHOLE`) does absence mean absence.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from types import TracebackType

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import procfs
from seedstall.source import rooted

WHOLE = re.compile(r"proc/sys/kernel/random|sys/class/misc/hw_random|proc/[0-9]+/(task|fd|ns)")
"""Directories that a capture takes with all they hold, or not at all."""

_THREAD_DUMPS = ("jvm/threaddump.txt", "threaddump.txt", "jvm/jstack.txt", "jstack.txt")
_PROPERTIES = ("jvm/jcmd-VM.system_properties.txt", "jcmd-VM.system_properties.txt")
_KERNEL_LOGS = ("dmesg", "dmesg.txt", "var/log/dmesg")
_LISTINGS = {
    "proc/sys/kernel/random": "ls-proc-sys-kernel-random.txt",
    "sys/class/misc/hw_random": "ls-sys-class-misc-hw_random.txt",
}
_LOGS = ("catalina.out", "catalina*.log", "logs/*")
_DEVICE = re.compile(rb"([bc])([rwxsStT-]{9})\S* +\d+ +\S+ +\S+ +(\d+), *(\d+) .{1,40} /dev/(\S+)$")
_TYPES = {"chr": 0o020000, "blk": 0o060000, "reg": 0o100000, "dir": 0o040000, "fifo": 0o010000, "sock": 0o140000}
_SHORT = {"char": "chr", "character": "chr", "block": "blk", "file": "reg", "pipe": "fifo", "socket": "sock"}


def is_tree(path: str | Path) -> bool:
    """Whether that directory is a captured tree."""
    return (Path(path) / "proc/sys/kernel/random").is_dir() or bool(processes(path))


def processes(path: str | Path) -> tuple[int, ...]:
    """The pids whose ``/proc`` the tree holds, lowest first."""
    try:
        names = os.listdir(Path(path) / "proc")
    except OSError:
        return ()
    return tuple(sorted(int(n) for n in names[: rooted.MAX_NAMES] if n.isdecimal() and n.isascii()))


def logs_in(path: str | Path) -> tuple[str, ...]:
    """The server's own logs in the tree, to be handed over as inputs of the same case."""
    found = {p for pattern in _LOGS for p in Path(path).glob(pattern) if p.is_file() and not p.is_symlink()}
    return tuple(sorted(map(str, found)))


class TreeSource:
    """One process of a captured tree, and its host. Close it, or use it in a ``with``."""

    def __init__(self, path: str | Path, pid: int | None = None) -> None:
        """Open the tree. Without *pid* its JVM is found: what maps libjvm, else the only process there is.

        Raises:
            OSError: there is no such directory.
        """
        self.root = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._open = True
        self._pids = processes(path)
        self.pid = pid if pid is not None else self._jvm()

    def __enter__(self) -> TreeSource:
        """Use it in a ``with``."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def __del__(self) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give the descriptor back."""
        if getattr(self, "_open", False):
            self._open = False
            os.close(self.root)

    @property
    def jvms(self) -> tuple[int, ...]:
        """The captured processes that map a JVM."""
        return tuple(pid for pid in self._pids if self._maps_jvm(pid))

    def _maps_jvm(self, pid: int) -> bool:
        data = self._bytes(f"proc/{pid}/maps")
        return data is not None and procfs.maps_any(data, "libjvm.so", "libj9vm29.so")

    def _jvm(self) -> int | None:
        if len(self._pids) == 1:
            return self._pids[0]
        return next(iter(self.jvms), None)

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
            return rooted.ask(self.root, path, Ask.CONTENT)
        except OSError:
            return None

    def _first(self, ref: Ref, paths: tuple[str, ...]) -> Reading[bytes]:
        for path in paths:
            reading = rooted.reading(self.root, ref, path)
            if isinstance(reading, Got) or reading.why is not Why.ABSENT:
                return reading
        return Missing(Why.NOT_COLLECTED, (ref,))

    def _at(self, ref: Ref, path: str) -> Reading[bytes]:
        """Read *path* of the tree for *ref*: what is not there was not collected, unless the directory is whole."""
        reading = rooted.reading(self.root, ref, path)
        if isinstance(reading, Missing) and reading.why is Why.ABSENT and not self._whole(path):
            return Missing(Why.NOT_COLLECTED, (ref,))
        return reading

    def _whole(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if WHOLE.fullmatch(folder) is None:
            return False
        listed = self._listed(folder)
        if listed is not None:
            return name not in listed
        try:
            return rooted.ask(self.root, folder, Ask.LIST) != b""
        except OSError:
            return False

    def _listed(self, folder: str) -> frozenset[str] | None:
        """The names that a listing captured beside says the directory had."""
        data = self._bytes(_LISTINGS[folder]) if folder in _LISTINGS else None
        if data is None:
            return None
        names = [line.split(None, 9)[8] for line in data.split(b"\n", 1000) if len(line.split(None, 9)) > 8]  # noqa: PLR2004
        return frozenset(os.fsdecode(name) for name in names)

    # --- the host ----------------------------------------------------------------------------------------------------

    def _of_kernel(self, ref: Ref) -> Reading[bytes]:
        if ref.path == "dmesg":
            return self._first(ref, _KERNEL_LOGS)
        if ref.path.startswith("probe/"):
            return Missing(Why.NOT_COLLECTED, (ref,), "a captured host cannot be probed")
        if ref.ask is Ask.STAT:
            return self._device(ref, ref.path)
        return self._at(ref, ref.path)

    def _device(self, ref: Ref, path: str) -> Reading[bytes]:
        """The type of a file: that of a copy says nothing, a listing of ``/dev`` does."""
        line = self._devices.get(path.removeprefix("dev/")) if path.startswith("dev/") else None
        return Missing(Why.NOT_COLLECTED, (ref,)) if line is None else Got(line, (ref,))

    @cached_property
    def _devices(self) -> dict[str, bytes]:
        """``ls -l /dev/random ...`` as answers to STAT."""
        found: dict[str, bytes] = {}
        for line in (self._bytes("ls-dev.txt") or b"").split(b"\n", 10_000)[:10_000]:
            match = _DEVICE.match(line[:400])
            if match is not None:
                kind, _, major, minor, name = match.groups()
                mode = 0o020666 if kind == b"c" else 0o060660
                found[os.fsdecode(name)] = b"%o %d %d -1 -1 -1 -1" % (mode, int(major), int(minor))
        return found

    # --- the process -------------------------------------------------------------------------------------------------

    def _of_process(self, ref: Ref) -> Reading[bytes]:
        if self.pid is None:
            return Missing(Why.NOT_COLLECTED, (ref,), "the tree holds no process, or several and no JVM")
        path = f"proc/{self.pid}/{ref.path}"
        if ref.ask is Ask.STAT:
            return self._descriptor(ref)
        return self._at(ref, path)

    def _descriptor(self, ref: Ref) -> Reading[bytes]:
        """The type of ``fd/N``: from the capture's ``fd.txt``, else from what ``/dev`` had at the link's target."""
        known = self._descriptors.get(ref.path.removeprefix("fd/"))
        if known is not None:
            return Got(known, (ref,))
        link = rooted.reading(self.root, ref, f"proc/{self.pid}/{ref.path}") if False else None  # noqa: SIM210
        return Missing(Why.NOT_COLLECTED, (ref,)) if link is None else link

    @cached_property
    def _descriptors(self) -> dict[str, bytes]:
        return {}

    def _of_root(self, ref: Ref) -> Reading[bytes]:
        return self._at(ref, ref.path)

    def _reply(self, ref: Ref) -> Reading[bytes]:
        return self._first(ref, _THREAD_DUMPS)
