"""The file that makes a JVM take SIGQUIT for a request to attach, and the signal itself.

A JVM that finds ``.attach_pidN`` of its own user in its working directory, or else in ``/tmp``, starts its Attach
Listener; without the file it prints a dump into its own output (AttachListener::is_init_trigger, JDK 6 to 25).

Other clients place it in the working directory. We take ``/tmp``, since a JVM that starts stands in
``/tmp/hsperfdata_USER`` for a moment, to clean it up (perfMemory_posix.cpp): a file placed there then is not found
later, and the dump goes to its output (seen on 17, 21 and 25, one in five at 3 to 8 ms after exec).
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import time
from collections.abc import Callable
from contextlib import suppress

from seedstall.effect import preflight
from seedstall.effect.caller import as_its_user
from seedstall.model.evidence import Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.parse import procfs
from seedstall.source.host import HostSource

STALE_S = 10.0
"""A file older than this was left behind by a client that was killed; a younger one may belong to one at work."""


def path_of(process: JvmProcess, where: str = "root/tmp") -> str:
    """Where the file of that process lies, for people."""
    return f"/proc/{process.pid}/{where}/.attach_pid{process.inner_pid}"


class Trigger:
    """The file, from `place` to `close`. Use it inside `caller.held_signals`."""

    def __init__(self, host: HostSource, process: JvmProcess, tmp: int) -> None:
        """For that process; *tmp* is a descriptor of its ``/tmp``."""
        self.name = f".attach_pid{process.inner_pid}"
        self.path = path_of(process)
        """Where it lies, for people."""
        self.fresh = False
        """Whether it is another client's, placed a moment ago."""
        self._host = host
        self._process = process
        self._tmp = tmp
        self._cwd = -1
        self._folder = -1
        self._found: os.stat_result | None = None
        self._to_remove = False

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
        """As the target's user where we can: it may lie in a file system that knows no root of ours (EOVERFLOW)."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with as_its_user(self._process):
            fd = os.open(self.name, flags, 0o600, dir_fd=self._folder)
        try:
            self._found = os.fstat(fd)
            self._to_remove = True
            if self._found.st_uid != self._process.uid:
                os.fchown(fd, self._process.uid, self._process.gid)
                if os.fstat(fd).st_uid != self._process.uid:
                    raise PermissionError(errno.EPERM, "the file system gives it to another user")
        except OSError:
            self.remove()
            raise
        finally:
            os.close(fd)

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
        self._found = found
        self.fresh = abs(time.time() - found.st_mtime) < STALE_S
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
        try:
            with as_its_user(self._process):
                os.unlink(self.name, dir_fd=self._folder)
        except OSError:
            with suppress(OSError):
                os.unlink(self.name, dir_fd=self._folder)

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
