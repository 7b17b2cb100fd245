"""A command as our child: with our streams, terminal and process group, as if it had been typed without us.

It stays in our process group. So all that a terminal does to a foreground job (SIGINT, SIGQUIT, SIGTSTP, a new window
size, hang-up, SIGTTIN) reaches it from the kernel as it would without us, and a shell's job control holds both of us as
one job. What another process sends to us alone is passed on.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from seedstall.model.errors import SeedstallError
from seedstall.parse import procfs
from seedstall.source.family import children_of

NOT_FOUND = 127
NOT_RUN = 126
PASSED_ON = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGWINCH,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCONT,
    signal.SIGTSTP,
)
_TAKEN = frozenset((*PASSED_ON, signal.SIGCHLD))
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ENDED_BY_SIGNAL = frozenset(range(129, 160))
_PR_SET_CHILD_SUBREAPER = 36
"""linux/prctl.h, since 3.4."""


class LaunchError(SeedstallError):
    """The command cannot be run. Its code is a shell's: 127 not found, 126 found and not run."""

    def __init__(self, message: str, hint: str, code: int) -> None:
        """Say why."""
        super().__init__(message, hint)
        self.code = code


class Signals:
    """Our signals, taken one by one in place of handlers: each with the one who sent it. A context manager.

    Inside it Ctrl-C and SIGTERM do not end us: the command decides what they mean, and we end with it.
    """

    def __enter__(self) -> Self:
        """Hold them all back."""
        # A parent that ignores SIGCHLD would have the kernel take our child's exit code away (wait(2)).
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let them come again. What came in between was for the command."""
        while signal.sigtimedwait(_TAKEN, 0) is not None:
            continue
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)

    def wait(self, seconds: float | None) -> signal.struct_siginfo | None:
        """The next signal; ``None`` where none came in time. Without *seconds* until one comes."""
        if seconds is None:
            return signal.sigwaitinfo(_TAKEN)
        return signal.sigtimedwait(_TAKEN, max(0.0, seconds))


class Launched:
    """The command, running. ``jvm_pid`` is the JVM below it, once that is known: SIGQUIT is for it."""

    def __init__(self, pid: int) -> None:
        """Hold a child that nobody else waits for."""
        self.pid = pid
        self.before = frozenset[int]()
        """Children that we had before: a script's that started them and then gave way to us by exec."""
        self.jvm_pid: int | None = None
        self.status: int | None = None
        """As wait(2) gives it; ``None`` while it runs."""
        self.alone = False
        """Whether nobody is left below us: the command has ended, and no process has come to us from it."""
        self.interrupted = False
        """Whether somebody wanted an end when the command itself had ended already."""

    @property
    def exit_code(self) -> int | None:
        """The child's, 128 + N where signal N ended it; ``None`` while it runs."""
        if self.status is None:
            return None
        code = os.waitstatus_to_exitcode(self.status)
        return code if code >= 0 else 128 - code

    @property
    def killed(self) -> bool:
        """Whether a signal ended it. A JVM catches those that ask it to end, and exits with 128 + N by itself."""
        return self.exit_code in _ENDED_BY_SIGNAL

    def reap(self) -> None:
        """Take in the ends of children: the command's own, and of those that came to us (`adopt_orphans`)."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.alone = True
                return
            if pid == 0:
                self.alone = self.status is not None and not self.left()
                return
            if pid == self.pid:
                self.status = status

    def left(self) -> tuple[int, ...]:
        """The processes that came to us when their parents ended, and the command itself."""
        return tuple(pid for pid in children_of("self") if pid not in self.before)

    def pass_on(self, info: signal.struct_siginfo) -> str:
        """Do with a signal what would have become of it without us. What a person should know of it, else ``""``."""
        number = signal.Signals(info.si_signo)
        self.interrupted = self.status is not None and number in _ENDING
        # From the kernel (a terminal's): it went to the whole group, and the command has it already.
        if info.si_code <= 0 and self.status is None:
            if number is signal.SIGQUIT:
                return self._quit()
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)
        if number is signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)
        return ""

    def _quit(self) -> str:
        """``kill -3``: a thread dump of the JVM. Whoever does not handle it would die, which nobody wants by that."""
        pid = self.pid if self.jvm_pid is None else self.jvm_pid
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:
            return ""
        try:
            with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - a file of the kernel's
                masks = procfs.status(file.read(65536))
            handled = (masks.caught or 0) | (masks.ignored or 0)
            if not procfs.has_signal(handled, signal.SIGQUIT):
                return f"SIGQUIT not passed on: process {pid} does not handle it and would end"
            signal.pidfd_send_signal(pidfd, signal.SIGQUIT)
        except (OSError, ValueError):
            return ""
        finally:
            os.close(pidfd)
        return ""


def launch(
    command: Sequence[str],
    signals: Signals,
    streams: Mapping[int, int] | None = None,
    env: Mapping[str, str] | None = None,
) -> Launched:
    """Start *command*; *streams* maps its descriptors to ours where they differ (a pipe in the place of 1).

    Its signals are as ours were before *signals* held them back; the rest (directory, limits, open descriptors) is
    inherited as by any exec.

    Raises:
        LaunchError: it is not there, or cannot be run.
    """
    actions = [(os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in (streams or {}).items()]
    environ = dict(os.environ if env is None else env)
    words = list(command)
    before = frozenset(children_of("self"))
    for again in (False, True):
        try:
            pid = os.posix_spawnp(
                words[0],
                words,
                environ,
                file_actions=actions,
                setsigmask=signals.before,
                setsigdef=(
                    signal.SIGPIPE,
                    signal.SIGXFSZ,
                ),  # Python ignores them; a program must not
            )
        except OSError as error:
            if (
                error.errno == errno.ENOEXEC and not again
            ):  # a script without #!: as a shell does it
                words = ["/bin/sh", _found(words[0]), *words[1:]]
                continue
            raise _failure(command[0], error) from error
        child = Launched(pid)
        child.before = before
        return child
    raise AssertionError


def _found(name: str) -> str:
    import shutil  # noqa: PLC0415 - for a script without an interpreter line only

    return shutil.which(name) or name


def _failure(name: str, error: OSError) -> LaunchError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        where = "name the file that is to be run" if "/" in name else "it is not on the PATH"
        return LaunchError(f"{name}: command not found", where, NOT_FOUND)
    hint = "is it executable (chmod +x), and a program of this machine?"
    return LaunchError(f"{name}: {error.strerror}", hint, NOT_RUN)


def adopt_orphans() -> None:
    """Become the parent of processes whose own parent ends (PR_SET_CHILD_SUBREAPER). To be called before `launch`.

    A wrapper that puts the JVM into the background and ends (``catalina.sh start``) would leave nothing that leads
    from us to it. Where the kernel cannot, such a JVM is not found.
    """
    import ctypes  # noqa: PLC0415 - 2-5 ms, and only here

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
