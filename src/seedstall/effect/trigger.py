"""The file that makes a JVM take SIGQUIT for a request to attach, and the signal itself.

A JVM that finds ``.attach_pidN`` of its own user in its working directory, or else in ``/tmp``, starts its Attach
Listener; without the file it prints a dump into its own output (AttachListener::is_init_trigger, JDK 6 to 25).

Other clients place it in the working directory. We take ``/tmp``, since a JVM that starts stands in
``/tmp/hsperfdata_USER`` for a moment, to clean it up (perfMemory_posix.cpp): a file placed there then is not found
later, and the dump goes to its output (seen on 17, 21 and 25, one in five at 3 to 8 ms after exec).

The JVM looks at the file's owner alone. So ours holds a line that says whose it is: one that SIGKILL made us leave
behind is known by it, and is taken away by the next run (`sweep`).
"""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from itertools import islice
from pathlib import Path

from seedstall.effect import preflight
from seedstall.effect.caller import as_its_user
from seedstall.model.evidence import Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.parse import procfs
from seedstall.source import rooted
from seedstall.source.host import HostSource

STALE_S = 10.0
"""An unsigned file older than this was left behind by a client that was killed; a younger one may be one's at work."""
NAME = ".attach_pid"
SWEPT = 50
"""Files looked at in one `sweep`."""
_FOREIGN_S = 3600.0
"""Age of a signed file whose author cannot be looked up, since it ran in another pid namespace: none asks that long."""
_SIGNATURE_LIMIT = 100
_NO_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)
"""Answers to O_TMPFILE of file systems without it, and of kernels before 3.11."""
_NO_SOCKET_EITHER = (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES)
"""Errors of ``/tmp`` that its owner would meet as well: a socket needs a name there just as our file does."""


def path_of(process: JvmProcess, where: str = "root/tmp") -> str:
    """Where the file of that process lies, for people."""
    return f"/proc/{process.pid}/{where}/{NAME}{process.inner_pid}"


def _signature(pid: int | str = "self") -> bytes:
    """What stands in a file of ours: the author's pid, its start and the pid namespace in which both hold.

    Raises:
        OSError, ValueError: there is no such process.
    """
    stat_of = Path(f"/proc/{pid}/stat").read_bytes()
    namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - a link text, no path
    return b"seedstall %d %d %s\n" % (
        int(stat_of.split(b" ", 1)[0]),
        procfs.stat(stat_of).start_ticks,
        namespace.encode(),
    )


class _Author(Enum):
    """Who left an attach file."""

    UNKNOWN = "another program, or none that can be told"
    AT_WORK = "a seedstall at work"
    GONE = "a seedstall that is gone"


_SIGNED = re.compile(rb"seedstall (\d{1,10}) \d{1,20} (pid:\[\d{1,12}\])\n")


def _author(folder: int, name: str) -> _Author:
    """Who signed the file."""
    try:
        text, age_s = _text(folder, name)
    except OSError:
        return _Author.UNKNOWN
    signed = _SIGNED.fullmatch(text)
    if signed is None:
        return _Author.UNKNOWN
    try:
        if signed[2].decode() == os.readlink("/proc/self/ns/pid"):  # noqa: PTH115 - a link text, no path
            gone = _signature(signed[1].decode()) != text
        else:
            gone = age_s > _FOREIGN_S
    except (OSError, ValueError):
        gone = True
    return _Author.GONE if gone else _Author.AT_WORK


def _text(folder: int, name: str) -> tuple[bytes, float]:
    """What stands in a regular file as short as a signature, and its age in seconds. Nothing else is opened."""
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode) or found.st_size > _SIGNATURE_LIMIT:
        return b"", 0.0
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        return os.read(fd, _SIGNATURE_LIMIT), time.time() - found.st_mtime
    finally:
        os.close(fd)


def leftovers(tmp: int) -> tuple[str, ...]:
    """The files in that ``/tmp`` that runs of ours left when SIGKILL ended them. Never raises.

    One is known by its signature, never by its name alone. It would make the next JVM of that pid start its listener
    at a ``kill -3``, where a person waits for a dump.
    """
    return tuple(name for name in _attach_files(tmp) if _author(tmp, name) is _Author.GONE)


def _attach_files(tmp: int) -> list[str]:
    """A ``/tmp`` holds thousands of names, and this is asked at each attach: none but ours is kept or put in order."""
    try:
        opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=tmp)
    except OSError:
        return []
    try:
        with os.scandir(opened) as entries:
            names = (entry.name for entry in islice(entries, rooted.MAX_NAMES))
            return list(islice((name for name in names if name.startswith(NAME)), SWEPT))
    except OSError:
        return []
    finally:
        os.close(opened)


def sweep(tmp: int, process: JvmProcess) -> tuple[str, ...]:
    """Take the `leftovers` away; the names of those that went. Never raises."""
    return tuple(name for name in leftovers(tmp) if _unlinked(tmp, name, process))


def _unlinked(folder: int, name: str, process: JvmProcess) -> bool:
    try:
        with as_its_user(process):
            os.unlink(name, dir_fd=folder)
    except OSError:
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            return False
    return True


class Trigger:
    """The file, from `place` to `close`. Use it inside `caller.held_signals`."""

    def __init__(self, host: HostSource, process: JvmProcess, tmp: int) -> None:
        """For that process; *tmp* is a descriptor of its ``/tmp``."""
        self.name = f"{NAME}{process.inner_pid}"
        self.path = path_of(process)
        """Where it lies, for people."""
        self.fresh = False
        """Whether it is another client's, placed a moment ago."""
        self.busy = False
        """Whether that client is a seedstall at work, which will take it away when it likes."""
        self._host = host
        self._process = process
        self._tmp = tmp
        self._cwd = -1
        self._folder = -1
        self._found: os.stat_result | None = None
        self._to_remove = False
        self._as_owner = False

    def place(self) -> None:
        """Create the file, or accept one that is there already and would serve.

        Raises:
            Unavailable: one is there that the JVM would not accept, or none can be created.
        """
        cwd = (self._working_directory(), path_of(self._process, "cwd"))
        tmp = (self._tmp, path_of(self._process))
        self._folder, self.path = cwd
        if self._folder >= 0 and self.there:  # it would be found first
            self._accept()
            return
        failures: list[str] = []
        for self._folder, self.path in (tmp, cwd):
            try:
                self._create()
            except FileExistsError:
                self._accept()
                return
            except OSError as error:
                if (
                    self._folder == self._tmp
                    and self._as_owner
                    and error.errno in _NO_SOCKET_EITHER
                ):
                    detail = (
                        f"its /tmp takes no file ({error.strerror}), so that the JVM could not make its attach socket"
                        " there: it would not answer"
                    )
                    raise Unavailable(Missing(Why.REFUSED, (), detail)) from error
                failures.append(f"{self.path}: {error.strerror}")
            else:
                return
        raise Unavailable(
            Missing(Why.DENIED, (), f"cannot place the attach file: {'; '.join(failures)}")
        )

    def _working_directory(self) -> int:
        """The target's own, by the kernel's link; -1 where it may not be had or is gone."""
        if self._cwd < 0:
            with suppress(OSError):
                flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
                self._cwd = os.open("cwd", flags, dir_fd=self._host.process_fd)
        return self._cwd

    def _create(self) -> None:
        """As the target's user where we can: it may lie in a file system that knows no root of ours (EOVERFLOW).

        It gets its name when it is complete, signature and all (O_TMPFILE, linkat): SIGKILL leaves none that is not
        known as ours. Where the file system has no nameless files (NFS), it is named at once.
        """
        with as_its_user(self._process):
            self._as_owner = os.geteuid() == self._process.uid
            fd, named = self._opened()
        try:
            with suppress(OSError, ValueError):  # a full disk: it serves all the same
                os.write(fd, _signature())
            self._give_to_its_user(fd)
            if not named:
                with as_its_user(self._process):
                    os.link(
                        f"/proc/self/fd/{fd}",
                        self.name,
                        dst_dir_fd=self._folder,
                        follow_symlinks=True,
                    )
            self._found = os.fstat(fd)
            self._to_remove = True
        except OSError:
            if named:
                os.unlink(self.name, dir_fd=self._folder)
            raise
        finally:
            os.close(fd)

    def _opened(self) -> tuple[int, bool]:
        """A new file in the folder, open for writing; whether it has its name already."""
        try:
            flags = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
            return os.open(".", flags, 0o600, dir_fd=self._folder), False
        except OSError as error:
            if error.errno not in _NO_NAMELESS:
                raise
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self.name, flags, 0o600, dir_fd=self._folder), True

    def _give_to_its_user(self, fd: int) -> None:
        if os.fstat(fd).st_uid != self._process.uid:
            os.fchown(fd, self._process.uid, self._process.gid)
            if os.fstat(fd).st_uid != self._process.uid:
                raise PermissionError(errno.EPERM, "the file system gives it to another user")

    def _accept(self) -> None:
        """A file that is there already serves if it is the JVM's user's: an old one was left by a client that died."""
        found = self._stat()
        if found is None:  # its client has just taken it away: its socket is there by now
            self.fresh = True
            return
        if not stat.S_ISREG(found.st_mode) or found.st_uid != self._process.uid:
            detail = (
                f"{self.path} is there already and is no file of uid {self._process.uid}: with it the JVM would print"
                " its dump into its own output; remove it"
            )
            raise Unavailable(Missing(Why.REFUSED, (), detail))
        author = _author(self._folder, self.name)
        if author is _Author.AT_WORK:
            self.busy = True
        self._found = found
        young = abs(time.time() - found.st_mtime) < STALE_S
        self.fresh = author is _Author.AT_WORK or (author is _Author.UNKNOWN and young)
        self._to_remove = not self.fresh

    def _stat(self) -> os.stat_result | None:
        try:
            return os.stat(self.name, dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return None

    @property
    def there(self) -> bool:
        """Whether the file lies there now."""
        return self._stat() is not None

    def remove(self) -> None:
        """Take our file away, or the stale one that served; never one that has come in its place. Never raises."""
        found, now = self._found, self._stat()
        if not self._to_remove or found is None or now is None:
            return
        self._to_remove = False
        if (now.st_dev, now.st_ino) != (found.st_dev, found.st_ino):
            return
        _unlinked(self._folder, self.name, self._process)

    def close(self) -> None:
        """Remove the file, and give the descriptor back."""
        self.remove()
        if self._cwd >= 0:
            os.close(self._cwd)
            self._cwd = -1


def send_sigquit(host: HostSource, process: JvmProcess) -> None:
    """Send SIGQUIT to the process that was looked at, and to no other.

    The descriptor of ``/proc/PID`` through which it was looked at serves as pidfd (Linux 5.1). On older kernels its
    start time is compared a last time.

    Raises:
        Unavailable: it ended, or no longer handles the signal.
        OSError: it may not be signalled.
    """
    reading = host.read(Ref(Space.PROCESS, "status"))
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    caught = procfs.status(reading.value).caught
    if caught is None or not procfs.has_signal(caught, preflight.SIGQUIT):
        raise Unavailable(Missing(Why.REFUSED, (), "it does not handle SIGQUIT any more"))
    try:
        if not _sent_by_descriptor(host.process_fd):
            _send_by_pid(process)
    except ProcessLookupError:
        raise Unavailable(_ended()) from None


def _sent_by_descriptor(process_fd: int) -> bool:
    """Whether the kernel and this Python could: not before 5.1, nor where a seccomp filter forbids it (EPERM)."""
    send: Callable[[int, int], None] | None = getattr(signal, "pidfd_send_signal", None)
    if send is None:
        return False
    try:
        send(process_fd, signal.SIGQUIT)
    except ProcessLookupError:
        raise
    except OSError:
        return False
    return True


def _send_by_pid(process: JvmProcess) -> None:
    with HostSource(process.pid) as now:
        again = now.read(Ref(Space.PROCESS, "stat"))
    if not isinstance(again, Got) or procfs.stat(again.value).start_ticks != process.start_ticks:
        raise Unavailable(_ended())
    os.kill(process.pid, signal.SIGQUIT)


def _ended() -> Missing:
    return Missing(Why.VANISHED, (), "it has ended")
