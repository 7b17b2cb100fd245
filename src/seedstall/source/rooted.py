"""Reading below a directory that may be hostile: a container's root, a captured tree.

Every symbolic link is resolved inside that directory, as chroot(2) would: an absolute link starts at it, ``..`` stops
at it. Nothing but a regular file or a directory is ever opened: a path is first located with O_PATH, which has no
effect on a FIFO or device, and only then read.

Two ways to resolve, with the same answers: a walk by directory descriptors, one component at a time, none of them a
link; and openat2(2) with RESOLVE_IN_ROOT (Linux 5.6). A walk takes 10-40 us, openat2 about 3, but needs ctypes, whose
import takes 2-5 ms: the first `WALKS_BEFORE_CTYPES` paths are walked, a command that reads more loads it.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Why

if TYPE_CHECKING:
    import ctypes

LIMIT = 8 << 20
"""Bytes of one file: beyond, the reading is `Why.TRUNCATED`."""
MAX_NAMES = 100_000
"""Names of one directory."""
MAX_LINKS = 40
"""Links on one path, as the kernel has it (MAXSYMLINKS)."""
MAX_DEPTH = 256
"""Directories held open during a walk."""
WALKS_BEFORE_CTYPES = 64

_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class NotOpenedError(OSError):
    """What lies there is no regular file (a FIFO, a device, a socket): opening it could do something."""


class TooLargeError(OSError):
    """It holds more than the limit."""


def locate(root: int, path: str, *, follow: bool = True) -> int:
    """An O_PATH descriptor of *path* below the directory descriptor *root*. The caller closes it.

    The last component's link is followed unless told otherwise.

    Raises:
        OSError: as open(2) would.
    """
    global _walks  # noqa: PLW0603 - the process's own count, see the module's text
    if "\0" in path:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if _walks >= WALKS_BEFORE_CTYPES:
        fd = _ask_kernel(root, path, follow=follow)
        if fd is not None:
            return fd
    _walks += 1
    return walk(root, path, follow=follow)


_walks = 0


def walk(root: int, path: str, *, follow: bool = True) -> int:
    """`locate` by directory descriptors, on any kernel."""
    todo = deque(_parts(path))
    trail = [os.dup(root)]
    links = 0
    try:
        while todo:
            part = todo.popleft()
            if part in (".", ".."):
                if part == ".." and len(trail) > 1:
                    os.close(trail.pop())
                continue
            fd = os.open(part, _PATH, dir_fd=trail[-1])
            trail.append(fd)
            mode = os.fstat(fd).st_mode
            if stat.S_ISLNK(mode) and (todo or follow):
                links += 1
                target = _link_text(fd, links, path)
                os.close(trail.pop())
                if target.startswith("/"):
                    _close(trail[1:])
                    del trail[1:]
                todo.extendleft(reversed(_parts(target)))
            elif todo and not stat.S_ISDIR(mode):
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            elif len(trail) > MAX_DEPTH or len(todo) > 2 * MAX_DEPTH:
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        return trail.pop()
    finally:
        _close(trail)


def _link_text(fd: int, links: int, path: str) -> str:
    if links > MAX_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    target = os.readlink("", dir_fd=fd)
    if not target:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return target


def _parts(path: str) -> list[str]:
    """The components. A closing slash asks for a directory: it becomes a last ``.``."""
    parts = [part for part in path.split("/") if part]
    return [*parts, "."] if path.endswith("/") and parts else parts


def _close(descriptors: list[int]) -> None:
    for fd in descriptors:
        os.close(fd)


# openat2(2): the same number on every architecture; linux/openat2.h.
_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_IN_ROOT = 0x10
_kernel_can = True


def _ask_kernel(root: int, path: str, *, follow: bool) -> int | None:
    """`locate` by openat2; ``None`` where the kernel (ENOSYS) or a seccomp filter (EPERM) has none for us."""
    global _kernel_can  # noqa: PLW0603 - a fact about this kernel, found out once
    if not _kernel_can:
        return None
    try:
        return openat2(root, path, follow=follow)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL):
            _kernel_can = False
            return None
        # A rename raced with ".." (EAGAIN), or a magic link, whose text the walk takes like any other.
        if error.errno in (errno.EAGAIN, errno.EXDEV, errno.ELOOP):
            return None
        raise


def openat2(root: int, path: str, *, follow: bool = True) -> int:
    """`locate` by the kernel itself.

    Raises:
        OSError: as open(2) would; ENOSYS before Linux 5.6.
    """
    import ctypes  # noqa: PLC0415 - see _libc

    flags = os.O_PATH | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    how = (ctypes.c_uint64 * 3)(flags, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    fd = _libc().syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(root),
        ctypes.c_char_p(os.fsencode(path or ".")),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if not isinstance(fd, int) or fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return fd


@functools.cache
def _libc() -> ctypes.CDLL:
    import ctypes  # noqa: PLC0415 - 2-5 ms

    return ctypes.CDLL(None, use_errno=True)


def content(fd: int, limit: int = LIMIT) -> bytes:
    """The bytes of the regular file that an O_PATH descriptor stands for.

    Raises:
        NotOpenedError: it is no regular file.
        TooLargeError: it is larger than *limit*.
        OSError: it cannot be read.
    """
    mode = os.fstat(fd).st_mode
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise NotOpenedError(errno.EINVAL, f"{kind_of(mode)} is never opened")
    opened = os.open(f"/proc/self/fd/{fd}", _READ)
    try:
        return read_all(opened, limit)
    finally:
        os.close(opened)


def read_all(fd: int, limit: int = LIMIT) -> bytes:
    """Everything up to the end.

    Raises:
        TooLargeError: there is more than *limit*.
        OSError: it cannot be read.
    """
    data = os.read(fd, min(65536, limit + 1))
    if not data:
        return data
    parts = [data]
    size = len(data)
    while data:
        if size > limit:
            raise TooLargeError(errno.EFBIG, f"larger than {limit >> 10} KiB")
        data = os.read(fd, min(1 << 20, limit + 1 - size))
        parts.append(data)
        size += len(data)
    return b"".join(parts)


def chunks(fd: int, size: int) -> Iterator[bytes]:
    """Everything up to the end, *size* bytes at a time; a pipe's as they come.

    Raises:
        OSError: it cannot be read.
    """
    data = os.read(fd, size)
    while data:
        yield data
        data = os.read(fd, size)


def listing(fd: int) -> bytes:
    """The answer to `Ask.LIST` for the directory that an O_PATH descriptor stands for.

    Raises:
        TooLargeError: there are more than `MAX_NAMES`.
        OSError: it is no directory, or cannot be read.
    """
    opened = os.open(".", _READ | os.O_DIRECTORY, dir_fd=fd)
    try:
        return list_open(opened)
    finally:
        os.close(opened)


def list_open(fd: int) -> bytes:
    """`listing` of a directory opened for reading."""
    found: list[bytes] = []
    with os.scandir(fd) as entries:
        for entry in entries:
            if len(found) >= MAX_NAMES:
                raise TooLargeError(errno.EFBIG, f"more than {MAX_NAMES} names")
            found.append(os.fsencode(entry.name))
    return b"".join(name + b"\0" for name in sorted(found))


def stat_answer(found: os.stat_result) -> bytes:
    """The answer to `Ask.STAT`."""
    major, minor = os.major(found.st_rdev), os.minor(found.st_rdev)
    numbers = (major, minor, found.st_ino, found.st_uid, found.st_gid, found.st_size)
    return f"{found.st_mode:o} {' '.join(map(str, numbers))}".encode()


def kind_of(mode: int) -> str:
    """What a file of that mode is, for people."""
    kinds = {
        stat.S_IFIFO: "a FIFO",
        stat.S_IFCHR: "a character device",
        stat.S_IFBLK: "a block device",
        stat.S_IFSOCK: "a socket",
        stat.S_IFDIR: "a directory",
        stat.S_IFLNK: "a symbolic link",
    }
    return kinds.get(stat.S_IFMT(mode), "a file")


_PSEUDO = ("proc", "sysfs", "tracefs", "debugfs", "securityfs", "configfs", "devpts", "cgroup")


def pseudo_kind(device: int) -> str:
    """The type of a file system of the kernel's own (``proc``) that *device* (``st_dev``) is; ``""`` of any other.

    Its files are regular by their mode, yet a read may wait for ever or take what it reads from others
    (``/proc/kmsg``, ``trace_pipe``).
    """
    if os.major(device) != 0:
        return ""
    mark = f" {os.major(device)}:{os.minor(device)} ".encode()
    try:
        with open("/proc/self/mountinfo", "rb") as mounts:  # noqa: PTH123 - pathlib is not imported here
            lines = (line for line in mounts if mark in line)
            kinds = (line.partition(b" - ")[2].partition(b" ")[0].decode() for line in lines)
            return next((kind for kind in kinds if kind.startswith(_PSEUDO)), "")
    except (OSError, UnicodeError):
        return ""


def ask(root: int, path: str, question: Ask, limit: int = LIMIT) -> bytes:
    """Answer *question* about *path* below the directory descriptor *root*.

    Raises:
        OSError: it cannot be answered.
    """
    fd = locate(root, path, follow=question is not Ask.LINK)
    try:
        match question:
            case Ask.CONTENT:
                return content(fd, limit)
            case Ask.LIST:
                return listing(fd)
            case Ask.STAT:
                return stat_answer(os.fstat(fd))
            case Ask.LINK:
                return os.fsencode(os.readlink("", dir_fd=fd))
    finally:
        os.close(fd)


_WHY = {
    errno.ENOENT: Why.ABSENT,
    errno.ENOTDIR: Why.ABSENT,
    errno.ENXIO: Why.ABSENT,
    errno.ENODEV: Why.ABSENT,
    errno.ESRCH: Why.VANISHED,
    errno.EACCES: Why.DENIED,
    errno.EPERM: Why.DENIED,
    errno.ETIMEDOUT: Why.TIMED_OUT,
}


def why(error: OSError) -> Why:
    """The reason that an error of the system stands for."""
    if isinstance(error, NotOpenedError):
        return Why.REFUSED
    if isinstance(error, TooLargeError):
        return Why.TRUNCATED
    return _WHY.get(error.errno or 0, Why.MALFORMED)


def reading(root: int, ref: Ref, path: str | None = None, limit: int = LIMIT) -> Reading[bytes]:
    """`ask` as a reading: the bytes, or the reason."""
    try:
        return Got(ask(root, ref.path if path is None else path, ref.ask, limit), (ref,))
    except OSError as error:
        return Missing(why(error), (ref,), error.strerror or "")
