"""Run as a program of its own: a FIFO in the place of each random device, then become the command.

    python -I -S chamber.py SOCKET NAME=VALUE... -- COMMAND...

As namespace.py, with more: both devices are covered, and the command may run in another process's mount namespace,
root and directory, as another user. What it needs (the FIFOs, the probe's class, files of ``copy``) lies on a tmpfs
that only it sees; its place takes the place of ``@DIR@`` in the command. So no file is left, whatever happens, and the
target's own files are neither hidden nor written to. The FIFOs' open ends go to the starter through SOCKET.

Options: ``process=FD`` (of a /proc/PID: its mount namespace and root), ``root=DIR``, ``cwd=DIR``, ``uid=N``,
``gid=N``, ``groups=N,N``, ``copy=FILE`` (each), ``file=NAME:FD`` (each: what that descriptor holds),
``keep=PATH`` (each: is not to be covered by the tmpfs), ``dir=DIR``
(no namespace: everything lies there already), ``check=1`` (do all but the command), ``bare=1`` (cover no device),
``parent=PID`` (of the starter: where that has ended, nothing is started).
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

# Everything is imported here: after the mount namespace is another's, so are the files that a later import reads.
if not __package__:
    sys.path.append(str(Path(__file__).parents[2]))

from seedstall.effect import namespace

CLONE_NEWNS = namespace.CLONE_NEWNS
PLACES = ("/dev/shm", "/mnt", "/media", "/srv", "/opt", "/run", "/var/tmp", "/tmp")  # noqa: S108 - mount points
"""Where the tmpfs may lie: the first that is there and holds nothing that the command needs."""
HERE = "@DIR@"
DEVICES = ("/dev/random", "/dev/urandom")
TMPFS_SIZE = 16 << 20
"""Of a JVM that fills all it finds, too, no more memory is taken than that."""
NO_CORE = 1
"""The limit at which the kernel hands no core to a pipe's program either, as it does at 0 (fs/coredump.c)."""


class Options:
    """What stands before ``--``."""

    def __init__(self, words: Sequence[str]) -> None:
        """Take *words* apart, each ``NAME=VALUE``."""
        self._pairs = [word.partition("=")[::2] for word in words]

    def all(self, name: str) -> list[str]:
        """Every value of *name*."""
        return [value for key, value in self._pairs if key == name]

    def one(self, name: str) -> str:
        """The value of *name*, ``""`` where it was not given."""
        return (self.all(name) or [""])[-1]


def isolate(options: Options, files: dict[str, bytes]) -> tuple[str, str, list[int]]:
    """Make the place; returns how, where it is, and the FIFOs' open ends (of random, of urandom)."""
    process, root = options.one("process"), options.one("root")
    chrooted = _join(int(process)) if process else False
    how = namespace.enter()
    if chrooted:
        # After the mounts were made private, which is done from the top.
        os.chroot(".")
        os.chdir("/")
    if root:
        namespace.furnish(root)
        os.chroot(root)
        os.chdir("/")
    if not Path("/proc/self/stat").exists():
        # Another pid namespace's: a JVM finds its libraries through /proc/self.
        _mount("proc", "/proc", "proc")
    place = _place([*options.all("keep"), options.one("cwd")])
    # Of the JVM's user, too: where its error file finds no room, a JVM that crashes writes it into its working
    # directory, which is the target's.
    _mount("tmpfs", place, "tmpfs", f"mode=1777,size={TMPFS_SIZE}")
    for name, content in files.items():
        Path(place, name).write_bytes(content)
        Path(place, name).chmod(0o644)
    covered = () if options.one("bare") else DEVICES
    return how, place, [_cover(place, device) for device in covered]


def _join(process: int) -> bool:
    """Enter the mount namespace and the root directory of the process whose ``/proc/PID`` that descriptor is.

    The root becomes the working directory: unshare(2) moves that one to the copy of its mount. Whether it is no root of
    the whole namespace, but a chroot's, is the answer.
    """
    root = os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=process)
    ours, theirs = Path("/proc/self/ns/mnt").stat(), os.stat("ns/mnt", dir_fd=process)
    if (ours.st_dev, ours.st_ino) != (theirs.st_dev, theirs.st_ino):
        mounts = os.open("ns/mnt", os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
        namespace.call("setns mnt", namespace.libc.setns(mounts, CLONE_NEWNS))
    os.fchdir(root)
    here, there = Path("/").stat(), Path().stat()
    return (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino)


def _place(needed: Sequence[str]) -> str:
    # Not Path.resolve, which raises where links go round in circles.
    wanted = [os.path.realpath(path) for path in needed if path]  # noqa: TID251 - see above
    for place in PLACES:
        inside = f"{place}/"
        if Path(place).is_dir() and not any((path + "/").startswith(inside) for path in wanted):
            return place
    raise OSError(2, "no directory is free for a tmpfs", "mount tmpfs")


def _mount(kind: str, target: str, source: str, data: str = "") -> None:
    flags = 2 | 4  # MS_NOSUID, MS_NODEV
    words = (source.encode(), target.encode(), kind.encode())
    result = namespace.libc.mount(*words, flags, data.encode() or None)
    namespace.call(f"mount {target}", result)


def _cover(place: str, device: str) -> int:
    """A FIFO over *device*, where that is there at all; its open end."""
    fifo = f"{place}/{device.rpartition('/')[2]}.fifo"
    os.mkfifo(fifo)
    Path(fifo).chmod(0o666)
    if Path(device).exists():
        namespace.bind(fifo, device)
    return os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def become(options: Options) -> None:
    """Take on the user, and what a starved program must not do: leave a core, outlive its starter."""
    cwd, uid = options.one("cwd"), options.one("uid")
    if cwd and Path(cwd).is_dir():
        os.chdir(cwd)
    if uid:
        os.setgroups([int(word) for word in options.one("groups").split(",") if word])
        gid = int(options.one("gid"))
        os.setresgid(gid, gid, gid)
        os.setresuid(int(uid), int(uid), int(uid))
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    core = NO_CORE if most == resource.RLIM_INFINITY else min(NO_CORE, most)
    resource.setrlimit(resource.RLIMIT_CORE, (core, core))
    # After the change of user, which takes it away.
    death = namespace.libc.prctl(namespace.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    namespace.call("prctl", death)
    if os.getppid() != int(options.one("parent")):
        raise OSError(3, "its starter has ended", "it")


def _held(word: str) -> tuple[str, bytes]:
    """What the descriptor of ``NAME:FD`` holds."""
    name, _, number = word.rpartition(":")
    with os.fdopen(int(number), "rb") as file:
        file.seek(0)
        return name, file.read()


def main(argv: list[str]) -> int:
    """Do what the module says; the socket tells the starter how far it came."""
    end = argv.index("--")
    options, command = Options(argv[2:end]), argv[end + 1 :]
    with socket.socket(fileno=int(argv[1])) as starter:
        starter.set_inheritable(False)
        try:
            files = {Path(path).name: Path(path).read_bytes() for path in options.all("copy")}
            files |= dict(map(_held, options.all("file")))
            how, place, ends = "egd", options.one("dir"), list[int]()
            if options.one("process"):
                os.set_inheritable(int(options.one("process")), False)  # noqa: FBT003 - positional-only
            if not place:
                how, place, ends = isolate(options, files)
            become(options)
            namespace.restore_signals()
            socket.send_fds(starter, [f"how {how}\n".encode()], ends)
            if not options.one("check"):
                words = [word.replace(HERE, place) for word in command]
                os.execvp(words[0], words)  # noqa: S606 - no shell is wanted
        except OSError as error:
            text = f"failed {error.filename or command[0]}: {error.strerror}\n"
            starter.sendall(text.encode(errors="replace"))
            return 127
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
