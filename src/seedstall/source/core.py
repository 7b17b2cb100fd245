"""An ELF core as a source: the same files that a live host shows, as far as a core holds them.

What a core never holds is said so (`model.core.CANNOT_TELL`). Files come from below ``--sysroot`` where that was given.
What the core left out of mapped files is read from those files only where they are the ones that were mapped
(`coreimage.CoreMemory.backing`).
"""

from __future__ import annotations

import errno
import os
import stat
from functools import cached_property

from seedstall.model.core import NO_FILES
from seedstall.model.errors import NoSuchTargetError, SeedstallError
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import elfcore, javahome
from seedstall.parse.hotspot.memory import span
from seedstall.source import probe, rooted
from seedstall.source.closing import Closing
from seedstall.source.coreimage import CoreMemory, File, Gap
from seedstall.source.coreprocess import HEADER, CoreProcess, Process

NO_DESCRIPTORS = "a core holds no table of open descriptors"
NOBODY_TO_ASK = "a core cannot be asked"
IMAGE_LIMIT = 64 << 20
VDSO_LIMIT = 64 << 10
PERFORMANCE_LIMIT = 1 << 20
_PERFORMANCE = b"/tmp/hsperfdata_"
_NOT_OF_AN_IMAGE = ("dev", "proc", "sys", "run", "tmp")
"""What an image or a host holds there today says nothing of then."""
_MACHINES = {
    3: "i386", 8: "mips", 20: "powerpc", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64",
    243: "riscv64", 258: "loongarch64",
}  # fmt: skip
_MAX_DIGITS = 10


class CoreSource(Closing):
    """The process of a core file. Close it, or use it in a ``with``."""

    def __init__(self, path: str, sysroot: str = "", *, opened: File | None = None) -> None:
        """Open it and read its notes. *opened* is the unpacked file, where *path* is a packed one.

        Raises:
            SeedstallError: it cannot be read, is of another architecture, or *sysroot* is no directory.
            NoSuchTargetError: it is no core, or not of a JVM.
        """
        self.name = path
        self._fds: list[int] = []
        self._file = opened if opened is not None else _opened(path)
        try:
            self._root = self._sysroot(sysroot)
            found = self._read_notes()
            self.memory = CoreMemory(
                self._file, found.segments, found.notes.files, self._open_file, told=bool(sysroot)
            )
            self.process = CoreProcess(found, self.memory)
            self._require_jvm()
            if self.library and sysroot:
                # A sysroot of another JDK is found out before anything is read there.
                self.memory.backing(self.library)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the descriptors back; an unpacked file goes with them."""
        for held in (self.__dict__.get("memory"), self.__dict__.get("_file")):
            if isinstance(held, CoreMemory | File):
                held.close()
        while self.__dict__.get("_fds"):
            os.close(self._fds.pop())

    # --- opening it ------------------------------------------------------------------------------------------------

    def _sysroot(self, path: str) -> int | None:
        if not path:
            return None
        try:
            fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            hint = "give a directory that holds usr/, lib/ and the JDK"
            raise SeedstallError(f"--sysroot {path}: {error.strerror}", hint) from error
        self._fds.append(fd)
        return fd

    def _read_notes(self) -> Process:
        read = self._file.read
        try:
            top = elfcore.head(read(0, elfcore.HEADER))
        except ValueError as error:
            raise NoSuchTargetError(f"{self.name}: {error}") from error
        if not top.is_core:
            raise NoSuchTargetError(f"{self.name} is a program, not a core", "name a core or a PID")
        if (top.machine, top.bits) != (elfcore.X86_64, 64):
            raise self._foreign(top)
        try:
            headers = list(elfcore.program_headers(read, top))
        except ValueError as error:
            raise SeedstallError(f"{self.name} is damaged: {error}") from error
        segments = [s for kind, s in headers if not elfcore.is_note(kind)]
        notes = elfcore.notes(read, [(s.offset, s.held) for k, s in headers if elfcore.is_note(k)])
        self.size = self._file.size
        self.expected = max((s.offset + s.held for _, s in headers), default=0)
        self.is_cut = self.size < self.expected or notes.cut
        return Process(notes, elfcore.auxiliary(notes.auxv), segments)

    def _foreign(self, top: elfcore.Head) -> SeedstallError:
        told = _MACHINES.get(top.machine, f"machine {top.machine}")
        return SeedstallError(
            f"{self.name} is a core of a {top.bits}-bit {told} process: only x86_64 cores are read",
            "jhsdb jstack --exe $JAVA_HOME/bin/java --core FILE > dump.txt, on such a host",
        )

    def _require_jvm(self) -> None:
        """Say what else it is a core of.

        Raises:
            NoSuchTargetError: that.
            SeedstallError: it does not say.
        """
        process = self.process
        if self.library:
            return
        if not process.notes.files:
            raise SeedstallError(self._why_unknown(), "look at it with gdb; a whole core is needed")
        if process.exe.endswith(b"/java") or process.comm == b"java":
            return  # a launcher that had not loaded its JVM yet: its threads and settings can be told
        from seedstall.parse import nativeimage  # noqa: PLC0415 - hardly ever a native image

        if not nativeimage.is_native_image(process.exe_sections):
            raise NoSuchTargetError(
                f"{self.name} is a core of {process.told_name}, not of a JVM",
                "no libjvm.so is mapped in it",
            )

    def _why_unknown(self) -> str:
        if not self.process.maps:
            return f"{self.name} is cut in its first headers, or damaged: it holds no memory"
        if self.is_cut:
            return f"{self.name} is cut before it says what it is of: {self.held}"
        return f"{self.name} does not say which files its process had mapped (NT_FILE)"

    @property
    def held(self) -> str:
        """``12 of 400 MiB are there``."""
        return f"{self.size >> 20} of {self.expected >> 20} MiB are there"

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not."""
        match ref.space:
            case Space.PROCESS:
                return self._of_process(ref)
            case Space.MEMORY:
                return self._of_memory(ref)
            case Space.ROOT:
                return self._of_root(ref)
            case Space.KERNEL:
                return self._of_kernel(ref)
            case Space.ATTACH | Space.INPUT:
                detail = NOBODY_TO_ASK if ref.space is Space.ATTACH else ""
                return Missing(Why.NOT_COLLECTED, (ref,), detail)

    def _of_memory(self, ref: Ref) -> Reading[bytes]:
        try:
            address, length = span(ref.path)
        except ValueError as error:
            return Missing(Why.MALFORMED, (ref,), str(error))
        return self._told(ref, self.memory.read(address, length))

    def _of_kernel(self, ref: Ref) -> Reading[bytes]:
        if ref != probe.VDSO:
            return Missing(Why.NOT_COLLECTED, (ref,))
        start = self.process.auxv.get(elfcore.AT_SYSINFO_EHDR, 0)
        return self._told(ref, self.memory.from_here(start, VDSO_LIMIT))

    def _told(self, ref: Ref, found: bytes | Gap) -> Reading[bytes]:
        """What the core says, or that it does not; where it is cut, no longer."""
        if isinstance(found, Gap):
            return Missing(found.why, (ref,), found.detail)
        if found:
            return Got(found, (ref,))
        if self.is_cut:
            return Missing(Why.TRUNCATED, (ref,), f"the core is cut: {self.held}")
        return Missing(Why.NOT_COLLECTED, (ref,))

    def _of_process(self, ref: Ref) -> Reading[bytes]:
        process = self.process
        if ref.path.startswith("task/"):
            return self._of_thread(ref)
        answers = {
            Ref(Space.PROCESS, "task", Ask.LIST): lambda: b"".join(
                b"%d\0" % tid for tid in sorted(process.threads)
            ),
            Ref(Space.PROCESS, "exe", Ask.LINK): lambda: process.exe,
            Ref(Space.PROCESS, "exe-header"): lambda: HEADER,
            Ref(Space.PROCESS, "exe-sections"): lambda: process.exe_sections,
            Ref(Space.PROCESS, "cmdline"): process.cmdline,
            Ref(Space.PROCESS, "environ"): process.environ,
            Ref(Space.PROCESS, "auxv"): lambda: process.notes.auxv,
            Ref(Space.PROCESS, "maps"): lambda: process.maps,
            Ref(Space.PROCESS, "stat"): lambda: process.stat(process.pid),
            Ref(Space.PROCESS, "status"): lambda: process.status(process.pid),
            Ref(Space.PROCESS, "comm"): lambda: process.comm and process.comm + b"\n",
            Ref(Space.PROCESS, "core"): self._about,
        }
        answer = answers.get(ref)
        if answer is not None:
            return self._told(ref, answer())
        detail = NO_DESCRIPTORS if ref.path.partition("/")[0] == "fd" else ""
        return Missing(Why.NOT_COLLECTED, (ref,), detail)

    def _of_thread(self, ref: Ref) -> Reading[bytes]:
        _, number, name = (*ref.path.split("/", 2), "", "")[:3]
        fits = number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS
        if not fits or int(number) not in self.process.threads:
            why = Why.TRUNCATED if self.is_cut else Why.ABSENT
            return Missing(why, (ref,), "no such thread in the core")
        data = self.process.of_thread(int(number), name)
        return Got(data, (ref,)) if data else Missing(Why.NOT_COLLECTED, (ref,))

    # --- files -------------------------------------------------------------------------------------------------------

    def _of_root(self, ref: Ref) -> Reading[bytes]:
        path = ref.path.strip("/")
        held = self._performance_data(ref, path)
        if held is not None:
            return held
        if ref.ask is Ask.CONTENT and self.library and path == os.fsdecode(self.library)[1:]:
            return self._library_file(ref)
        if self._root is None:
            return Missing(Why.NOT_COLLECTED, (ref,), NO_FILES)
        if path.partition("/")[0] in _NOT_OF_AN_IMAGE:
            return Missing(Why.NOT_COLLECTED, (ref,))
        refused = self.memory.refusals.get(self.library, "")
        library = os.fsdecode(self.library)
        home = javahome.home_of_library(library) or library
        if refused and f"/{path}".startswith(f"{home}/"):
            return Missing(Why.REFUSED, (ref,), refused)
        return rooted.reading(self._root, ref)

    @cached_property
    def library(self) -> bytes:
        """The path of the virtual machine's library; empty where none is mapped."""
        found = javahome.mapped_library(self.process.maps)
        return os.fsencode(found[0]) if found is not None else b""

    def _library_file(self, ref: Ref) -> Reading[bytes]:
        """The virtual machine's library: its image in memory, which has no sections, else the very file."""
        image = self.memory.image_of(self.library, IMAGE_LIMIT)
        if image:
            return Got(elfcore.without_sections(image), (ref,))
        file = self.memory.backing(self.library)
        if isinstance(file, File) and file.size <= IMAGE_LIMIT:
            return Got(file.read(0, file.size), (ref,))
        refused = self.memory.refusals.get(self.library, "")
        return Missing(Why.REFUSED if refused else Why.NOT_COLLECTED, (ref,), refused or NO_FILES)

    def _performance_data(self, ref: Ref, path: str) -> Reading[bytes] | None:
        """HotSpot maps its performance file shared, and has such mappings dumped: the core holds it."""
        found = self._performance_files
        if ref.ask is Ask.LIST and path == "tmp" and found:
            folders = sorted({name.split("/")[1] for name in found})
            return Got(b"".join(os.fsencode(folder) + b"\0" for folder in folders), (ref,))
        file = found.get(path)
        size = min(file.end - file.start, PERFORMANCE_LIMIT) if file is not None else 0
        data = self.memory.read(file.start, size) if file is not None else b""
        if not data or isinstance(data, Gap):
            return None
        return Got(data if ref.ask is Ask.CONTENT else b"100600 0 0 -1 -1 -1 %d" % size, (ref,))

    @cached_property
    def _performance_files(self) -> dict[str, elfcore.MappedFile]:
        return {
            os.fsdecode(f.path[1:]).removesuffix(javahome.DELETED): f
            for f in self.process.notes.files
            if f.path.startswith(_PERFORMANCE) and f.path.count(b"/") == 3  # noqa: PLR2004 - /tmp/hsperfdata_USER/PID
        }

    def _open_file(self, path: bytes) -> File | str:
        """The file that was mapped as *path*: below the sysroot, else this host's own. Told is why there is none."""
        relative = os.fsdecode(path).removesuffix(javahome.DELETED).lstrip("/")
        try:
            return File(_for_reading(rooted.locate(self._files_root, relative)))
        except OSError as error:
            return f"/{relative}: {error.strerror}"

    @cached_property
    def _files_root(self) -> int:
        if self._root is not None:
            return self._root
        fd = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._fds.append(fd)
        return fd

    def _about(self) -> bytes:
        """Lines of name, blank, value for the fact `CoreDump`."""
        notes = self.process.notes
        told: dict[str, object] = {
            "name": self.name,
            "by": "kernel" if notes.by_kernel else "gdb",
            "signal": notes.signal if notes.signal is not None else "",
            "size": self.size,
            "expected": self.expected,
            "threads": len(self.process.threads),
            "build-id": self.memory.build_id(self.library).hex(),
            "libjvm": os.fsdecode(self.library),
            "libjvm-refused": self.memory.refusals.get(self.library, ""),
            "sysroot": int(self._root is not None),
        }
        lines = (f"{key} {str(value).replace(chr(10), ' ')}\n" for key, value in told.items())
        return "".join(lines).encode("utf-8", "surrogateescape")


def _opened(path: str) -> File:
    try:
        return File(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY))
    except OSError as error:
        hint = "run as a user that may read it"
        raise SeedstallError(f"{path}: {error.strerror}", hint) from error


def _for_reading(located: int) -> int:
    """A descriptor to read from, of the regular file that an O_PATH descriptor stands for. That one is closed."""
    try:
        if not stat.S_ISREG(os.fstat(located).st_mode):
            raise rooted.NotOpenedError(errno.EINVAL, "not a regular file")
        return os.open(f"/proc/self/fd/{located}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(located)
