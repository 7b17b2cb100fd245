"""Run as a program of its own: put a FIFO in the place of /dev/random, then become the command.

    python -I -S namespace.py STATUS_FD HOW FIFO ROOT -- COMMAND...

The command takes over this process, so its pid is the one that the starter knows. Everything happens
in a mount namespace that this process alone is in: nothing outside sees it, and it is gone with the last
process in it. This is a program, not a function for a forked child, because what it does (ctypes,
files) is not safe between fork and exec of a process with threads.

Nothing of seedstall is imported: it runs without the site's packages, in about 15 ms.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

# linux/sched.h, linux/mount.h, linux/prctl.h: the same numbers on every architecture.
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None, use_errno=True)


def call(what: str, result: int) -> None:
    """Raise OSError, with *what* as its file name, where a call of the C library failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def bind(source: str, target: str) -> None:
    """Show *source*, with all that is mounted below it, in the place of *target*."""
    result = libc.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND | MS_REC, None)
    call(f"mount {target}", result)


def enter() -> str:
    """Move into a mount namespace of our own: plain where allowed, else inside a user namespace.

    Returns ``mount`` or ``user``. Mounts made from now on are seen by this process and its children alone.
    """
    how = _unshare()
    # systemd makes / shared: without this the mounts would spread to the whole host.
    call("mount /", libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    return how


def _unshare() -> str:
    if os.geteuid() == 0 and libc.unshare(CLONE_NEWNS) == 0:
        return "mount"
    uid, gid = os.geteuid(), os.getegid()
    call("unshare", libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    # user_namespaces(7): gid_map may be written without privilege only after setgroups is denied.
    # Each id stands for itself, not for root: the JVM goes on as the user it would have been, and
    # an attach from outside meets the same uid on both sides.
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
    return "user"


def furnish(root: str) -> None:
    """Show /proc and /dev below *root* where they lack: a JVM finds its own libraries through /proc/self/exe."""
    if not Path(root, "proc/self").exists():
        bind("/proc", f"{root}/proc")
    if not Path(root, "dev/random").exists():
        bind("/dev", f"{root}/dev")


def _isolate(fifo: str, root: str) -> str:
    """Cover ``/dev/random`` (below *root*) with *fifo*, for this process only."""
    how = enter()
    if root:
        furnish(root)
    bind(fifo, f"{root}/dev/random")
    return how


def restore_signals() -> None:
    """Let the command start as from a login shell.

    A shell's ``&`` leaves SIGINT and SIGQUIT ignored, and a JVM whose SIGQUIT is ignored gives no thread
    dump; Python ignores SIGPIPE and SIGXFSZ. All four would be inherited.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def main(argv: list[str]) -> int:
    """Do what the module says; the status descriptor tells the starter how far it came."""
    status, how, fifo, root = int(argv[1]), argv[2], argv[3], argv[4]
    command = argv[6:]
    os.set_inheritable(status, False)  # noqa: FBT003 - positional-only
    try:
        done = how if how == "egd" else _isolate(fifo, root)
        # A hung JVM must not outlive the one that hung it, however that one ends.
        call("prctl", libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
        if root:
            directory = Path.cwd()
            os.chroot(root)
            os.chdir(directory if directory.is_dir() else "/")
        restore_signals()
        os.write(status, f"how {done}\n".encode())
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        text = f"failed {error.filename or command[0]}: {error.strerror}\n"
        os.write(status, text.encode(errors="replace"))
    return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv))
