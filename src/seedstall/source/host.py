"""A live process on this host, and the host's own kernel. Passive: nothing is signalled, stopped or written to.

Everything of the process is read through one descriptor of ``/proc/PID``: should the process end and its pid be given
to another, reads fail instead of telling of a stranger.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.model.jdk import VmFamily
from seedstall.parse import javahome, nativeimage, procfs
from seedstall.parse.hotspot import memory
from seedstall.source import permission, rooted
from seedstall.source.closing import Closing

PROCESS_LIMIT = 64 << 20
"""``maps`` of a process with many mappings is the largest (2^16 of them, 100 bytes each)."""
LIBRARY_LIMIT = 64 << 20
"""libjvm.so has 15 to 25 MB (8 to 25 seen), more with its symbols inside."""
LIBRARY = "libjvm.so"
WCHAN_SAMPLES = 3
EXE_HEADER = "exe-header"
"""Asked of `Space.PROCESS`: the first bytes of the executable, which may be large and which nobody wants whole."""
EXE_SECTIONS = "exe-sections"
"""Asked of `Space.PROCESS`: the names of the executable's ELF sections, each ended by a NUL byte."""
KERNEL_LOG = "dmesg"

_JAVA_NAMES = ("java", "jsvc", "javaw")


class HostSource(Closing):
    """One process and its host. Without a pid, only the host.

    ``Space.KERNEL`` is this host's own file system, never the target's; ``Space.ROOT`` is the target's, links resolved
    inside it. ``Space.ATTACH`` asks *attach*, once for each command; ``Space.MEMORY`` is refused
    without *memory_too*. Close it, or use it in a ``with``.
    """

    def __init__(
        self,
        pid: int | None = None,
        attach: Callable[[str], Reading[bytes]] | None = None,
        *,
        memory_too: bool = True,
    ) -> None:
        """Open ``/proc/PID``. A process that is not there is told by every reading, not here."""
        self.pid = pid
        self._forbid_memory = not memory_too
        self.memory_reads = 0
        self.memory_bytes = 0
        """What was read of its memory so far."""
        self._attach = attach
        self._replies: dict[str, Reading[bytes]] = {}
        self._fds: list[int] = []
        self._absence: OSError | None = None
        self._over = False
        self.process_fd = -1
        """Of ``/proc/PID``, open for reading; the kernel takes it for a pidfd too (5.1). -1 where not to be had."""
        if pid is not None:
            try:
                self.process_fd = os.open(
                    f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
                )
                self._fds.append(self.process_fd)
            except OSError as error:
                self._absence = error

    def close(self) -> None:
        """Give the descriptors back. It answers nothing about the process afterwards."""
        while self._fds:
            os.close(self._fds.pop())
        self.process_fd = -1
        self.__dict__.pop("root_fd", None)
        self.__dict__.pop("_memory_fd", None)

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not."""
        match ref.space:
            case Space.PROCESS:
                return self._of_process(ref)
            case Space.KERNEL:
                return self._of_kernel(ref)
            case Space.ROOT:
                return self._of_root(ref)
            case Space.ATTACH:
                return self._reply(ref)
            case Space.MEMORY:
                return self._of_memory(ref)
            case Space.INPUT:
                return Missing(Why.NOT_COLLECTED, (ref,))

    # --- the process -------------------------------------------------------------------------------------------------

    def _of_process(self, ref: Ref) -> Reading[bytes]:
        if self.process_fd < 0:
            return self._no_process(ref)
        try:
            data = _ask_proc(self.process_fd, ref.path, ref.ask)
        except OSError as error:
            return self._failed(ref, error)
        # Of a process without memory (a zombie) maps, cmdline and fd are empty and no error.
        if not data and "/" not in ref.path and self._is_over():
            return Missing(Why.VANISHED, (ref,), ENDED)
        return Got(data, (ref,))

    def _failed(self, ref: Ref, error: OSError) -> Missing:
        why = rooted.why(error)
        if why in (Why.ABSENT, Why.DENIED) and self._is_over():
            # What a process gave up at its end is ENOENT to root, and EACCES to its own user: a zombie's files are
            # root's (task_dump_owner, fs/proc/base.c).
            return Missing(Why.VANISHED, (ref,), ENDED)
        if why is Why.DENIED:
            return Missing(why, (ref,), self._hint(ref.path))
        if why is Why.ABSENT and not self._thread_there(ref.path):
            why = Why.VANISHED
        return Missing(why, (ref,), error.strerror or "")

    def _thread_there(self, path: str) -> bool:
        """Whether the thread is there that *path* names: an ENOENT below ``task/TID`` means either."""
        parts = path.split("/", 2)
        if parts[0] != "task" or len(parts) < 3:  # noqa: PLR2004 - task/TID/FILE
            return True
        try:
            os.stat(f"task/{parts[1]}/stat", dir_fd=self.process_fd)
        except OSError:
            return False
        return True

    def _is_over(self) -> bool:
        """Whether the process has ended or is ending: then what it had is gone, and that says nothing of it."""
        if not self._over:
            self._over = _ended(self.process_fd)
        return self._over

    def _no_process(self, ref: Ref) -> Missing:
        error = self._absence
        if self.pid is None or error is None:
            return Missing(Why.NOT_COLLECTED, (ref,), "no process was named")
        if rooted.why(error) is Why.DENIED or hidden(self.pid):
            return Missing(Why.DENIED, (ref,), permission.HIDEPID)
        return Missing(Why.VANISHED, (ref,), f"there is no process {self.pid}")

    def _hint(self, path: str) -> str:
        """Which permission would help."""
        return permission.STACK if path.endswith("stack") else self._forbidden

    @cached_property
    def _forbidden(self) -> str:
        """The same for all its files: found out once, since a process has thousands of them."""
        return permission.explain(self.process_fd)

    # --- its root ----------------------------------------------------------------------------------------------------

    @cached_property
    def root_fd(self) -> int:
        """An O_PATH descriptor of the root directory as the process has it.

        Raises:
            OSError: it cannot be had.
        """
        if self.process_fd < 0:
            raise self._absence or OSError(errno.ESRCH, os.strerror(errno.ESRCH))
        fd = os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.process_fd)
        self._fds.append(fd)
        return fd

    def _of_root(self, ref: Ref) -> Reading[bytes]:
        if self.process_fd < 0:
            return self._no_process(ref)
        try:
            root = self.root_fd
        except OSError as error:
            return self._failed(Ref(ref.space, "root"), error)
        limit = LIBRARY_LIMIT if ref.path.endswith(LIBRARY) else rooted.LIMIT
        reading = rooted.reading(root, ref, limit=limit)
        if isinstance(reading, Missing) and reading.why is Why.ABSENT and self._is_over():
            # The mounts of its namespace (a container's /dev) went with its last process.
            return Missing(Why.VANISHED, (ref,), ENDED)
        return reading

    # --- its memory --------------------------------------------------------------------------------------------------

    @cached_property
    def _memory_fd(self) -> int:
        """A descriptor of ``/proc/PID/mem``, for reading only.

        It stays with the program that runs now: after an exec it reads nothing.

        Raises:
            OSError: it cannot be had: PTRACE_MODE_ATTACH is asked for once, when it is opened.
        """
        fd = os.open("mem", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.process_fd)
        self._fds.append(fd)
        return fd

    def _of_memory(self, ref: Ref) -> Reading[bytes]:
        """Memory is read as the kernel copies it: nothing is stopped, nothing written."""
        if self._forbid_memory:
            return Missing(Why.REFUSED, (ref,), "its memory was not to be read")
        if self.process_fd < 0:
            return self._no_process(ref)
        try:
            return Got(self._copied(*memory.span(ref.path)), (ref,))
        except memory.BadAddressError as error:
            return Missing(Why.ABSENT, (ref,), str(error))
        except ProcessLookupError:
            return Missing(Why.VANISHED, (ref,), ENDED)
        except OSError as error:
            return self._failed(ref, error)

    def _copied(self, address: int, length: int) -> bytes:
        """That span of its memory.

        Raises:
            BadAddressError: not all of it is mapped and readable.
            ProcessLookupError: it has given up its memory: it has ended, or runs another program now.
            OSError: its memory may not be opened.
        """
        fd = self._memory_fd
        try:
            data = os.pread(fd, length, address)
        except OverflowError as error:  # off_t is signed: the upper half is the kernel's
            raise memory.BadAddressError("not an address of user space") from error
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            raise memory.BadAddressError("not mapped, or not to be read") from error
        self.memory_reads += 1
        self.memory_bytes += len(data)
        if not data:
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
        if len(data) < length:
            raise memory.BadAddressError(f"only {len(data)} bytes are mapped there")
        return data

    # --- the host ----------------------------------------------------------------------------------------------------

    def _of_kernel(self, ref: Ref) -> Reading[bytes]:
        if ref.path.startswith("probe/"):
            from seedstall.source import probe  # noqa: PLC0415 - only `kernel` and the kernel's facts ask

            return probe.read(ref)
        try:
            if ref.path == KERNEL_LOG:
                return Got(_kernel_log(), (ref,))
            return Got(_ask_host(ref.path, ref.ask), (ref,))
        except OSError as error:
            why = rooted.why(error)
            if ref.path == KERNEL_LOG:
                why = Why.NOT_COLLECTED if why is Why.ABSENT else why
                return Missing(why, (ref,), "kernel.dmesg_restrict is on: needs CAP_SYSLOG (root)")
            if (
                why is Why.ABSENT
                and ref.path.startswith("proc/")
                and not Path("/proc/uptime").exists()
            ):
                return Missing(why, (ref,), SUBSET)
            return Missing(why, (ref,), error.strerror or "")

    # --- what a running JVM answers ----------------------------------------------------------------------------------

    def _reply(self, ref: Ref) -> Reading[bytes]:
        if self._attach is None:
            return Missing(Why.REFUSED, (ref,), "the JVM was not to be asked")
        if ref.path not in self._replies:
            reply = self._attach(ref.path)
            if isinstance(reply, Missing) and self.process_fd >= 0 and self._is_over():
                reply = Missing(Why.VANISHED, (ref,), ENDED)
            self._replies[ref.path] = reply
        return self._replies[ref.path]


ENDED = "the process ended while we looked"


SUBSET = "this /proc shows processes alone (mounted with subset=pid): run where it is mounted whole"


def hidden(pid: int) -> bool:
    """Whether a process that ``/proc`` does not show exists all the same. Signal 0 is none: it only asks."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return not Path(f"/proc/{pid}").exists()
    except (OSError, OverflowError):
        return False
    return not Path(f"/proc/{pid}").exists()


_EXITING = 0x4
"""PF_EXITING (include/linux/sched.h, the same since 2.6): set before memory, files and root are given up."""


def _ended(process: int) -> bool:
    """Whether the process of that descriptor of ``/proc/PID`` is gone, dead (``Z``, ``X``) or on its way there.

    The descriptor stands for one process: the next of the same number would not be found through it.
    """
    try:
        data = _content(process, "stat")
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ESRCH)
    fields = data.rpartition(b") ")[2].split(None, 8)
    if not fields or fields[0] in (b"Z", b"X", b"x"):
        return True
    flags = fields[6] if len(fields) > 6 and fields[6].isdigit() else b"0"  # noqa: PLR2004 - field 9, proc(5)
    return bool(int(flags) & _EXITING)


_NEVER_THROUGH = ("root/", "cwd/", "map_files/", "exe/")


def _ask_proc(process: int, path: str, question: Ask) -> bytes:
    """Answer from ``/proc/PID``. Its links lead anywhere: none is followed for its content."""
    if any(name in path for name in _NEVER_THROUGH):
        raise rooted.NotOpenedError(
            errno.EINVAL, "a path that leads out of /proc: ask for it in the root space"
        )
    match question:
        case Ask.CONTENT:
            if path.endswith("wchan"):
                return _wchan(process, path)
            if path in (EXE_HEADER, EXE_SECTIONS):
                return _head(process, "exe", 64) if path == EXE_HEADER else _sections(process)
            return _content(process, path)
        case Ask.LINK:
            return os.fsencode(os.readlink(path, dir_fd=process))
        case Ask.STAT:
            return rooted.stat_answer(os.stat(path, dir_fd=process))
        case Ask.LIST:
            fd = os.open(path or ".", _READ | os.O_DIRECTORY, dir_fd=process)
            try:
                return rooted.list_open(fd)
            finally:
                os.close(fd)


_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def _content(process: int, path: str) -> bytes:
    try:
        fd = os.open(path, _READ | os.O_NOFOLLOW, dir_fd=process)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise rooted.NotOpenedError(errno.EINVAL, "a link of /proc is not followed") from error
        raise
    try:
        return rooted.read_all(fd, PROCESS_LIMIT)
    finally:
        os.close(fd)


def _wchan(process: int, path: str) -> bytes:
    """Sampled again while it reads ``0``: a thread may be caught just before it sleeps."""
    data = b""
    for _ in range(WCHAN_SAMPLES):
        data = _content(process, path)
        if data not in (b"0", b""):
            break
    return data


def _head(process: int, path: str, size: int) -> bytes:
    located = os.open(path, os.O_PATH | os.O_CLOEXEC, dir_fd=process)
    try:
        if not stat.S_ISREG(os.fstat(located).st_mode):
            raise rooted.NotOpenedError(errno.EINVAL, "not a regular file")
        fd = os.open(f"/proc/self/fd/{located}", _READ)
        try:
            return os.pread(fd, size, 0)
        finally:
            os.close(fd)
    finally:
        os.close(located)


def _sections(process: int) -> bytes:
    """Not of a program on a disk whose server may be gone: to read it would hang, and it may be any process's."""
    located = os.open("exe", os.O_PATH | os.O_CLOEXEC, dir_fd=process)
    try:
        mount = procfs.mount_id(Path(f"/proc/self/fdinfo/{located}").read_bytes())
        if any(
            m.id == mount for m in procfs.mounts(_content(process, "mountinfo"), *procfs.REMOTE)
        ):
            raise rooted.NotOpenedError(errno.EINVAL, "its program is on another host's disk")
        if not stat.S_ISREG(os.fstat(located).st_mode):
            raise rooted.NotOpenedError(errno.EINVAL, "not a regular file")
        fd = os.open(f"/proc/self/fd/{located}", _READ)
        try:
            return nativeimage.section_names(lambda at, size: os.pread(fd, size, at))
        except (ValueError, OverflowError) as error:
            raise rooted.NotOpenedError(errno.EINVAL, str(error)) from error
        finally:
            os.close(fd)
    finally:
        os.close(located)


def _ask_host(path: str, question: Ask) -> bytes:
    if "\0" in path:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    folder, _, name = path.rpartition("/")
    if name == EXE_HEADER:  # of another process than the target: a child of it
        process = os.open(f"/{folder}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return _head(process, "exe", 64)
        finally:
            os.close(process)
    follow = os.O_NOFOLLOW if question is Ask.LINK else 0
    fd = os.open(f"/{path.lstrip('/')}", os.O_PATH | os.O_CLOEXEC | follow)
    try:
        match question:
            case Ask.CONTENT:
                return rooted.content(fd)
            case Ask.LIST:
                return rooted.listing(fd)
            case Ask.STAT:
                return rooted.stat_answer(os.fstat(fd))
            case Ask.LINK:
                return os.fsencode(os.readlink("", dir_fd=fd))
    finally:
        os.close(fd)


_KMSG = (1, 11)
_RECORD = 8192
"""CONSOLE_EXT_LOG_MAX (kernel/printk): a smaller buffer gets EINVAL."""


def _kernel_log() -> bytes:
    """The kernel's log as dmesg(1) prints it, from ``/dev/kmsg`` (one record a read), the oldest first."""
    fd = os.open("/dev/kmsg", _READ)
    try:
        device = os.fstat(fd)
        if not stat.S_ISCHR(device.st_mode) or _device(device) != _KMSG:
            raise FileNotFoundError(errno.ENOENT, "/dev/kmsg is not the kernel's log here")
        lines: list[bytes] = []
        size = 0
        while size < rooted.LIMIT:
            try:
                record = os.read(fd, _RECORD)
            except BlockingIOError:
                break
            except (
                BrokenPipeError
            ):  # the record was overwritten while we read: the next one is there
                continue
            line = _log_line(record)
            size += len(line)
            lines.append(line)
        return b"".join(lines)
    finally:
        os.close(fd)


def _device(found: os.stat_result) -> tuple[int, int]:
    return os.major(found.st_rdev), os.minor(found.st_rdev)


def _log_line(record: bytes) -> bytes:
    """``6,339,5140900,-;text`` as ``[    5.140900] text`` (Documentation/ABI/testing/dev-kmsg)."""
    head, _, text = record.partition(b"\n")[0].partition(b";")
    fields = head.split(b",")
    micros = int(fields[2]) if len(fields) > 2 and fields[2].isdigit() else 0  # noqa: PLR2004
    return b"[%5d.%06d] %s\n" % (*divmod(micros, 1_000_000), text)


# --- which processes are JVMs ----------------------------------------------------------------------------------------


def virtual_machine(source: HostSource) -> Reading[VmFamily | None]:
    """Which Java virtual machine the process runs, by what it has mapped to run; ``None`` where it runs none.

    ``Missing`` where what it maps may not be read.
    """
    maps = source.read(Ref(Space.PROCESS, "maps"))
    if isinstance(maps, Missing):
        return maps
    library = javahome.running_library(maps.value)
    if library is not None:
        j9 = javahome.is_openj9(library)
        return Got(VmFamily.OPENJ9 if j9 else VmFamily.HOTSPOT, maps.origins)
    native = _is_native_image(source, maps.value)
    return Got(VmFamily.GRAAL_NATIVE if native else None, maps.origins)


def _is_native_image(source: HostSource, maps: bytes) -> bool:
    """Asked only of a program that is large enough: no file of the many others is touched."""
    exe = source.read(Ref(Space.PROCESS, "exe", Ask.LINK))
    if isinstance(exe, Missing) or procfs.mapped_size(maps, exe.value) < nativeimage.LEAST_SIZE:
        return False
    names = source.read(Ref(Space.PROCESS, EXE_SECTIONS))
    return isinstance(names, Got) and nativeimage.is_native_image(names.value)


def is_jvm(pid: int) -> bool:
    """Whether it runs a Java virtual machine; where its maps may not be read, whether its program is called one."""
    with HostSource(pid) as source:
        found = virtual_machine(source)
        if isinstance(found, Got):
            return found.value is not None
        return found.why is Why.DENIED and is_called_java(source)


def is_called_java(source: HostSource) -> bool:
    """Whether its first argument names a program of Java's."""
    argv = command_line(source)
    return bool(argv) and Path(argv[0]).name in _JAVA_NAMES


def command_line(source: HostSource) -> tuple[str, ...]:
    """Its arguments, or its name in brackets where it has none."""
    reading = source.read(Ref(Space.PROCESS, "cmdline"))
    argv = procfs.cmdline(reading.value) if isinstance(reading, Got) else ()
    if argv:
        return argv
    comm = source.read(Ref(Space.PROCESS, "comm"))
    return (f"[{os.fsdecode(comm.value).strip()}]",) if isinstance(comm, Got) else ()


def command(pid: int, limit: int = 100) -> str:
    """A process's command line for people; its name in brackets where it has none.

    Above *limit* characters its middle is left out: the program stands first, a JVM's main class last.
    """
    with HostSource(pid) as source:
        line = " ".join(command_line(source))
    if len(line) <= limit:
        return line
    head = limit // 3
    return f"{line[:head]}…{line[head + 1 - limit :]}"


def all_jvms() -> tuple[int, ...]:
    """Every JVM on this host that we may see, lowest pid first."""
    with os.scandir("/proc") as entries:
        pids = sorted(int(e.name) for e in entries if e.name.isascii() and e.name.isdigit())
    return tuple(pid for pid in pids if is_jvm(pid))


def jvms_below(pid: int) -> tuple[int, ...]:
    """The JVMs among a process's descendants, lowest pid first: what a script or service wrapper started."""
    return tuple(below for below in descendants(pid) if is_jvm(below))


def descendants(pid: int) -> tuple[int, ...]:
    """All that a process started, and what those started, lowest pid first."""
    import psutil  # noqa: PLC0415 - 15 ms, and only where the target is no JVM itself

    try:
        return tuple(sorted(child.pid for child in psutil.Process(pid).children(recursive=True)))
    except psutil.Error:
        return ()
