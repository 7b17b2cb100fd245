"""Readings as a bundle: laid out (docs/bundles.md), redacted, packed, and written at one stroke."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seedstall.effect.folder import open_folder
from seedstall.model.bundle import HEAD, JVM_DUMP, LOGS, MANIFEST, MEMORY_DUMP, TAKES, Head, place
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import anonymise, procfs
from seedstall.parse import bundle as spelled
from seedstall.source.base import Recorder, Source

LARGEST = 64 << 20
"""Bytes of one file that is put into a bundle."""
MOST_OF_LOG = 16 << 20
"""Bytes of a log that is handed over, its last: taking secrets out of it takes a second for some MiB."""
WRITING_S = 2.0
"""Of the time that a capture may take, what is left for packing and writing."""
_KEPT = (MEMORY_DUMP, Ref(Space.INPUT, "given/samples"))
"""Of what is said beside the evidence."""
_TMP = Ref(Space.ROOT, "tmp", Ask.LIST)
Readings = Mapping[Ref, Reading[bytes]]
Shown = Callable[[str, bytes], bytes]
"""What becomes of a file before it is written: by its path in the bundle."""


class Bounded:
    """A source that answers until a time is over, and then says that it is. What it was asked last is known."""

    def __init__(self, inner: Source, deadline: float) -> None:
        """Answer from *inner* until *deadline* (`time.monotonic`)."""
        self._inner = inner
        self._deadline = deadline
        self.asked: Ref | None = None
        """What is being read now."""

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read it, if there is time."""
        if time.monotonic() >= self._deadline:
            return Missing(Why.TIMED_OUT, (ref,), "the time for the capture was over")
        self.asked = ref
        try:
            return self._inner.read(ref)
        finally:
            self.asked = None


class Watchdog:
    """Calls *give_up* in a thread of its own if it is not stopped before *deadline*.

    A read of ``/proc/PID/maps`` waits for the process's own memory lock, and one of a file for a server that is gone:
    nothing but another thread can end such a capture in time.
    """

    def __init__(self, deadline: float, give_up: Callable[[], None]) -> None:
        """Begin to wait."""
        self._give_up = give_up
        self._first = threading.Lock()
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._over)
        self._timer.daemon = True
        self._timer.start()

    def _over(self) -> None:
        if self._first.acquire(blocking=False):
            self._give_up()

    def stop(self) -> None:
        """The work is done: who waited gives up no more. If it has begun to, it ends this process: wait for that."""
        self._timer.cancel()
        if not self._first.acquire(blocking=False):
            self._timer.join()


@dataclass(slots=True)
class Take:
    """One take: what was read, and the dump that was made of the JVM's memory, as text."""

    recorder: Recorder
    bounded: Bounded
    memory_dump: str = ""

    def readings(self) -> Readings:
        """What is known by now; of what is being read still, that it takes too long."""
        known = dict(self.recorder.readings)
        asked = self.bounded.asked
        if asked is not None and asked.space is not Space.MEMORY and asked not in known:
            known[asked] = Missing(Why.TIMED_OUT, (asked,), "reading it did not come to an end")
        return known


def take(source: Source, deadline: float) -> Take:
    """A take that reads *source* until *deadline*."""
    bounded = Bounded(source, deadline)
    return Take(Recorder(bounded), bounded)


@dataclass(slots=True)
class Bundle:
    """The files of a bundle, by path, before they are packed."""

    head: Head
    shown: Shown
    names: anonymise.Anonymiser | None = None
    """Other names for whose it is."""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def add_take(self, number: int, readings: Readings, memory_dump: str = "") -> None:
        """Lay out one take; the first stands at the top."""
        prefix = "" if number == 1 else f"{TAKES}{number}/"
        lines: list[bytes] = []
        for ref in sorted(readings, key=lambda r: (r.space, r.path, r.ask)):
            path = place(ref, self.head.pid)
            if path is None or (ref.path.startswith("given/") and ref not in _KEPT):
                continue
            line = self._laid_out(prefix, path, ref, readings[ref])
            lines += [line] if line else []
        if memory_dump:
            dump = memory_dump.encode("utf-8", "surrogateescape")
            self._add(f"{prefix}{JVM_DUMP}-memory.txt", dump)
        self.files[prefix + MANIFEST] = b"".join(dict.fromkeys(lines))

    def learn(self, readings: Readings, logs: Iterable[bytes] = ()) -> None:
        """Know whose names are to be replaced, from all that will be written, before anything is."""
        names = self.names
        if names is None:
            return
        for ref, reading in readings.items():
            path = place(ref, self.head.pid)
            if path is not None and isinstance(reading, Got) and ref.ask is Ask.CONTENT:
                names.learn(path, reading.value)
        for log in logs:
            names.learn(LOGS, log)

    def _laid_out(self, prefix: str, path: str, ref: Ref, reading: Reading[bytes]) -> bytes:
        """The reading as a file, or as the line of the manifest that is returned."""
        if isinstance(reading, Got) and ref.ask is Ask.CONTENT and len(reading.value) > LARGEST:
            reading = Missing(Why.NOT_COLLECTED, (ref,), f"larger than {LARGEST >> 20} MiB")
        if isinstance(reading, Got) and ref.ask is Ask.CONTENT:
            self._add(prefix + path, reading.value)
            return b""
        names = self.names
        shown = self._named(path)
        if isinstance(reading, Missing):
            # Also what was not collected: in a directory that is listed it would read as absent.
            detail = os.fsdecode(self.shown(MANIFEST, os.fsencode(reading.detail)))
            detail = names.text(detail) if names is not None else detail
            reading = Missing(reading.why, reading.origins, detail)
            return spelled.missing_line(shown, ref.ask, reading)
        answer = self.shown(MANIFEST, reading.value)
        if ref == _TMP:  # what people keep there is nobody's business
            kept = (n for n in answer.split(b"\0")[:-1] if n.startswith(b"hsperfdata_"))
            answer = b"".join(name + b"\0" for name in kept)
        if names is not None and ref.ask is Ask.LINK:
            answer = names.link(answer)
        if (
            names is not None
            and ref.ask is Ask.LIST
            and not path.startswith(("proc/", "sys/class/"))
        ):
            answer = names.names(answer)
        return spelled.answer_line(shown, ref.ask, answer)

    def _add(self, path: str, data: bytes) -> None:
        """A file, without its secrets and under other names where that is wished."""
        data = self.shown(path, data)
        if self.names is not None:
            data = self.names.file(path, data)
        self.files[self._named(path)] = data

    def _named(self, path: str) -> str:
        """The path that a file has in the bundle: its name may be a secret, or tell whose it is."""
        parts = (self.shown(MANIFEST, os.fsencode(part)) for part in path.split("/"))
        path = "/".join(map(os.fsdecode, parts))
        return self.names.member(path) if self.names is not None else path

    def add_log(self, name: str, data: bytes) -> None:
        """A text that was handed over."""
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        path = LOGS + "/".join(parts or ["log"])
        count = 1
        while self._named(path) in self.files:  # ../x.log beside x.log
            count += 1
            path = f"{LOGS}{count}/{'/'.join(parts or ['log'])}"
        self._add(path, data)

    def members(self) -> Iterator[tuple[str, bytes]]:
        """The files in their order, the head first; none below another."""
        yield HEAD, spelled.head_text(self.head)
        folders: set[str] = set()
        for path in sorted(self.files):
            parts = path.split("/")
            folders.update("/".join(parts[:n]) for n in range(1, len(parts)))
        for path, data in sorted(self.files.items()):
            if path not in folders:
                yield path, data


def packed(bundle: Bundle, folder: str, now: float) -> bytes:
    """The bundle as a tar archive, packed by gzip, below the directory *folder*."""
    import gzip  # noqa: PLC0415 - only when something is captured
    import io  # noqa: PLC0415 - see above
    import tarfile  # noqa: PLC0415 - see above

    made = io.BytesIO()
    with (
        gzip.GzipFile(
            fileobj=made, mode="wb", compresslevel=6, mtime=int(now), filename=""
        ) as stream,
        tarfile.open(
            fileobj=stream, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8"
        ) as archive,
    ):
        for path, data in bundle.members():
            info = tarfile.TarInfo(f"{folder}/{path}")
            info.size = len(data)
            info.mode = 0o600
            info.mtime = int(now)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


class Output:
    """Where the bundle goes: looked at before anything is read, since what hangs is captured once."""

    def __init__(self, path: str, *, force: bool) -> None:
        """Open its directory.

        Raises:
            UsageError: it is there already, and nobody said that it may go.
            SeedstallError: it cannot be written there.
        """
        self._path = path
        self._force = force
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._folder = open_folder(root, str(Path(path).absolute()))
            self._temporary = self._folder.fresh_name(self._folder.name)
            self._refuse()
            os.close(self._create())
            self._folder.remove(self._temporary)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(root)

    def _create(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self._temporary, flags, 0o600, dir_fd=self._folder.fd)

    def _failed(self, error: OSError) -> SeedstallError:
        what = f"{self._path}: {error.strerror or error}"
        return SeedstallError(what, "name a file in a folder that you may write to")

    def _refuse(self) -> None:
        """What is there is replaced with ``--force`` alone, and only a file: never /dev/null, as root can."""
        try:
            found = os.stat(self._folder.name, dir_fd=self._folder.fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not self._force:
            raise _is_there(self._path)
        if not stat.S_ISREG(found.st_mode):
            what = f"{self._path} is no file: it is not replaced"
            raise UsageError(what, "name a file, or - for standard output")

    def write(self, data: bytes) -> None:
        """Write it with mode 0600; nothing is there under its name before it is whole.

        Raises:
            UsageError: it has come to be there meanwhile.
            SeedstallError: it cannot be written.
        """
        folder = self._folder
        try:
            fd = self._create()
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                self._name_it()
            finally:
                folder.remove(self._temporary)
            folder.sync()
        except OSError as error:
            raise self._failed(error) from error

    def _name_it(self) -> None:
        folder = self._folder
        if self._force:
            self._refuse()
            if not folder.put(self._temporary, folder.name):
                raise OSError(errno.EBUSY, "it is a mount point")
            return
        try:
            if not folder.put_new(self._temporary, folder.name):  # no hard links there
                self._refuse()
                folder.put(self._temporary, folder.name)
        except FileExistsError as error:
            raise _is_there(self._path) from error


def _is_there(path: str) -> UsageError:
    return UsageError(f"{path} is there already", "name another file, or say --force")


def log_of(path: str) -> tuple[bytes, bool]:
    """A text to be put into a bundle, its end where it is long; and whether that is all of it.

    Raises:
        SeedstallError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not imported here
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MOST_OF_LOG))
            return file.read(MOST_OF_LOG), size <= MOST_OF_LOG
    except OSError as error:
        raise SeedstallError(
            f"{path}: {error.strerror}", "run as a user that may read it"
        ) from error


def got_of(readings: Readings) -> int:
    """How many readings have a value."""
    return sum(isinstance(reading, Got) for reading in readings.values())


def other_names(readings: Readings) -> anonymise.Anonymiser:
    """The names of this host and its users, to be found in everything, with others in their place."""
    hosts: list[str] = []
    users: list[str] = []

    def text(ref: Ref) -> str:
        found = readings.get(ref)
        return os.fsdecode(found.value) if isinstance(found, Got) else ""

    hosts.append(text(Ref(Space.KERNEL, "proc/sys/kernel/hostname")))
    for variable in text(Ref(Space.PROCESS, "environ")).split("\0"):
        name, _, value = variable.partition("=")
        hosts += [value] if anonymise.HOST_VARIABLES.fullmatch(name) else []
        users += [value] if name in anonymise.USER_VARIABLES else []
        users += [value.rpartition("/")[2]] if name == "HOME" else []
    for ref in readings:
        for folder in ("hsperfdata_", "home/"):
            _, found, rest = f"/{ref.path}".partition(f"/{folder}")
            if ref.space is Space.ROOT and found:
                users.append(rest.partition("/")[0])
    tmp = readings.get(_TMP)
    listed = procfs.names(tmp.value) if isinstance(tmp, Got) else ()
    marked = (name.partition("hsperfdata_") for name in listed)
    users += [user for before, mark, user in marked if mark and not before]
    return anonymise.Anonymiser(hosts, users)
