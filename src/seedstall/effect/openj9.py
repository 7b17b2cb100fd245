"""Asking an OpenJ9 JVM (IBM Java, Semeru) for its thread dump, by its own attach protocol.

Written from the facts in OpenJ9's public source (``openj9.internal.tools.attach.target``,
``runtime/jcl/common/attach.c``, ``runtime/port/sysvipc/j9shsem.c``) and tested against a stand-in: **untested on a
live one**.

No signal is sent. Each JVM has a directory below ``/tmp/.com_ibm_tools_attach`` and waits for one System V semaphore
that all of them share, named by ``_notifier`` there. A client puts a port and a key into ``replyInfo`` of the JVM's
directory and raises the semaphore once for each JVM, since it cannot choose which one wakes: each looks for a
``replyInfo`` of its own, and then waits for the lock on its ``attachNotificationSync``, which the client holds
meanwhile, so that none takes two turns. The one that is meant connects to the port on the loopback and says the key.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from socket import socket as Socket  # noqa: N812 - a class
from typing import Self

from seedstall.effect.caller import as_its_user, held_signals
from seedstall.effect.listener import POLL_S, REPLY_LIMIT, Deadline
from seedstall.model.evidence import Ask, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.parse import openj9, procfs
from seedstall.source import rooted
from seedstall.source.host import HostSource

UNTESTED = (
    "OpenJ9's attach protocol is spoken as its public source describes it: untested on a live one"
)
COMMON = "tmp/.com_ibm_tools_attach"
MAX_JVMS = 256
"""Directories of JVMs: each is woken. More are no host of today's, or a trap."""
_SETTING = "-Dcom.ibm.tools.attach."
_PROJECT = 0xA1
_OURS = "seedstall"
"""How a key of ours starts, so that a file left by a run that was killed is known."""
_NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_GREETING_LIMIT = 200
_STRANGERS = 20
_SMALL = 1 << 16


def _refuse(detail: str, why: Why = Why.REFUSED) -> Unavailable:
    return Unavailable(Missing(why, (), detail))


def plan(host: HostSource, process: JvmProcess) -> tuple[str, ...]:
    """What `ask` would do, step by step.

    Raises:
        Unavailable: it would do nothing, and why.
    """
    with _meeting(host, process) as meeting:
        return (
            "lock _attachlock, attachNotificationSync",
            f"create {meeting.path}/replyInfo",
            f"raise the semaphore of _notifier for each of {len(meeting.jvms)} OpenJ9 JVMs",
            "listen on the loopback, and ask Thread.print",
            f"remove {meeting.path}/replyInfo",
        )


def ask(host: HostSource, process: JvmProcess, deadline: Deadline) -> bytes:
    """The JVM's thread dump.

    Raises:
        Unavailable: it may not be asked, does not come, or answers with an error.
        OSError: the system does not play along.
    """
    with _meeting(host, process) as meeting, Door() as door:
        with held_signals():
            connection = _called(meeting, door, process, deadline)
        with connection:
            return _talk(connection, deadline)


# --- where it can be met ---------------------------------------------------------------------------------------------


class Meeting:
    """The directories of one JVM, checked. ``jvms`` are the names of all that share its semaphore."""

    def __init__(self, common: int, own: int, path: str, jvms: tuple[str, ...], key: int) -> None:
        """Descriptors of the common directory and the JVM's own."""
        self.common = common
        self.own = own
        self.path = path
        self.jvms = jvms
        self.key = key


@contextmanager
def _meeting(host: HostSource, process: JvmProcess) -> Generator[Meeting]:
    _require_same_namespaces(host)
    with ExitStack() as opened:
        where = _common_path(host)
        try:
            common = rooted.locate(host.root_fd, where + "/")
        except FileNotFoundError:
            off = "no OpenJ9 JVM has its attach API on there (-Dcom.ibm.tools.attach.enable=no?)"
            raise _refuse(f"/{where} is not there: {off}") from None
        opened.callback(os.close, common)
        jvms = _jvms(common)
        name = _directory_of(common, jvms, process)
        own = os.open(name, os.O_PATH | os.O_DIRECTORY | _NO_LINK, dir_fd=common)
        opened.callback(os.close, own)
        found = os.fstat(own)
        if found.st_uid != process.uid or found.st_mode & 0o022:
            raise _refuse(
                f"/{where}/{name} belongs to uid {found.st_uid}, or others may write to it"
            )
        notifier = os.stat("_notifier", dir_fd=common, follow_symlinks=False)
        if not stat.S_ISREG(notifier.st_mode):
            raise _refuse(f"/{where}/_notifier is {rooted.kind_of(notifier.st_mode)}")
        from seedstall.effect.semaphore import key_of  # noqa: PLC0415 - ctypes

        path = f"/proc/{process.pid}/root/{where}/{name}"
        yield Meeting(common, own, path, jvms, key_of(notifier, _PROJECT))


def _require_same_namespaces(host: HostSource) -> None:
    """It connects to its own loopback, and waits for a semaphore of its own IPC namespace."""
    for name in ("net", "ipc"):
        ours = host.read(Ref(Space.KERNEL, f"proc/self/ns/{name}", Ask.LINK))
        theirs = host.read(Ref(Space.PROCESS, f"ns/{name}", Ask.LINK))
        if isinstance(theirs, Missing):
            raise Unavailable(theirs)
        if isinstance(ours, Missing) or ours.value != theirs.value:
            how = f"nsenter -t {host.pid} -n -i seedstall dump {host.pid}"
            raise _refuse(f"it is in another {name} namespace than we: {how}")


def _common_path(host: HostSource) -> str:
    """Below its root; ``-Dcom.ibm.tools.attach.directory`` may name another."""
    reading = host.read(Ref(Space.PROCESS, "cmdline"))
    argv = procfs.cmdline(reading.value) if not isinstance(reading, Missing) else ()
    named = [
        w.removeprefix(f"{_SETTING}directory=")
        for w in argv
        if w.startswith(f"{_SETTING}directory=")
    ]
    if f"{_SETTING}enable=no" in argv:
        raise _refuse(f"its attach API is switched off ({_SETTING}enable=no)")
    if named and not named[-1].startswith("/"):
        raise _refuse(f"its attach directory is relative to where it was started: {named[-1]}")
    return named[-1].strip("/") if named else COMMON


def _jvms(common: int) -> tuple[str, ...]:
    """The directories that OpenJ9 counts: one post to the semaphore for each."""
    names = procfs.names(rooted.listing(common))
    jvms = tuple(n for n in names if not n.startswith((".trash_", "_")))
    if len(jvms) > MAX_JVMS:
        raise _refuse(
            f"{len(jvms)} JVMs have their attach directories there, and each would be woken"
        )
    return jvms


def _directory_of(common: int, jvms: tuple[str, ...], process: JvmProcess) -> str:
    """The one whose advertisement names the process: mostly called by its pid, unless an id was given."""
    usual = str(process.inner_pid)
    for name in sorted(jvms, key=lambda n: not n.startswith(usual)):
        with suppress(OSError, ValueError):
            text, owner = _read(common, f"{name}/attachInfo")
            if openj9.advertisement(text).pid == process.inner_pid and owner == process.uid:
                return name
    raise _refuse(
        "no attachInfo is there for it: still starting, or its attach API is switched off"
    )


def _read(folder: int, path: str) -> tuple[bytes, int]:
    """A small regular file, and its owner; the last component is no link, nor the one before."""
    parent, _, name = path.rpartition("/")
    within = os.open(parent or ".", os.O_PATH | os.O_DIRECTORY | _NO_LINK, dir_fd=folder)
    try:
        found = os.stat(name, dir_fd=within, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _SMALL:
            raise OSError(errno.EINVAL, "not a small regular file", path)
        fd = os.open(name, os.O_RDONLY | _NO_LINK, dir_fd=within)
        try:
            return os.read(fd, _SMALL), os.fstat(fd).st_uid
        finally:
            os.close(fd)
    finally:
        os.close(within)


# --- calling it ------------------------------------------------------------------------------------------------------


class Door:
    """Listens on the loopback, IPv4 and where it is there IPv6, at one port: Java may prefer either."""

    def __init__(self) -> None:
        """Listen.

        Raises:
            OSError: there is no loopback.
        """
        from socket import AF_INET, AF_INET6, IPPROTO_IPV6, IPV6_V6ONLY  # noqa: PLC0415 - 5 ms

        self.key = _key()
        four = Socket(AF_INET)
        four.bind(("127.0.0.1", 0))
        self.port: int = four.getsockname()[1]
        self._listening = [four]
        with suppress(OSError):
            six = Socket(AF_INET6)
            try:
                six.setsockopt(IPPROTO_IPV6, IPV6_V6ONLY, 1)
                six.bind(("::1", self.port))
            except OSError:
                six.close()
                raise
            self._listening.append(six)
        for each in self._listening:
            each.settimeout(0)
            each.listen(5)

    def __enter__(self) -> Self:
        """Use it in a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        for each in self._listening:
            each.close()

    def visitor(self, deadline: Deadline) -> Socket:
        """A connection that says the key. Others are hung up on.

        Raises:
            Unavailable: none came in time.
        """
        strangers = 0
        while not deadline.over and strangers < _STRANGERS:
            for each in self._listening:
                with suppress(BlockingIOError):
                    connection, _ = each.accept()
                    if self._is_known(connection, deadline):
                        return connection
                    connection.close()
                    strangers += 1
            time.sleep(POLL_S)
        raise _refuse(
            "it did not connect in time: unable to run Java code, or its attach API is off",
            Why.TIMED_OUT,
        )

    def _is_known(self, connection: Socket, deadline: Deadline) -> bool:
        try:
            said = _message(connection, deadline, _GREETING_LIMIT, patience_s=1.0)
        except (OSError, Unavailable):
            return False
        return said.split(b" ")[:2] == [b"ATTACH_CONNECTED", self.key.encode()]


def _key() -> str:
    """64 bits that cannot be guessed, without ever waiting for them: that may be what the JVM waits for too."""
    try:
        return f"{_OURS}.{os.getrandom(8, os.GRND_NONBLOCK).hex()}"
    except BlockingIOError:
        raise _refuse(
            "the kernel's own generator is not ready: no key can be made that cannot be guessed"
        ) from None


def _called(meeting: Meeting, door: Door, process: JvmProcess, deadline: Deadline) -> Socket:
    """The JVM's connection. Every file, lock and post of ours is taken back by then, whatever happens.

    In OpenJ9's own client's order: first ``replyInfo`` goes, so that none connects twice, then the locks, then the
    posts that nobody took; last the lock on all clients.
    """
    from seedstall.effect.semaphore import Semaphore  # noqa: PLC0415 - ctypes

    turns = len(meeting.jvms)
    with as_its_user(process), ExitStack() as undo:
        _lock_or_wait(meeting.common, "_attachlock", undo, deadline)
        try:
            semaphore = Semaphore(meeting.key)
        except FileNotFoundError:
            raise _refuse(
                "the semaphore that it waits for is not there: still starting, or ending"
            ) from None
        if turns > 2:  # noqa: PLR2004 - as OpenJ9's own client: time for those that were woken to wait again
            undo.callback(time.sleep, 0.1 * min(turns, 10))
        undo.callback(semaphore.take_back)
        for name in meeting.jvms:
            with suppress(OSError):  # another user's, or gone
                _lock(meeting.common, f"{name}/attachNotificationSync", undo)
        _write_reply(meeting, door, process, undo)
        semaphore.post(turns)
        return door.visitor(deadline)


def _lock_or_wait(folder: int, name: str, undo: ExitStack, deadline: Deadline) -> None:
    """The lock of all clients; its file is made where no client came before us."""
    while True:
        try:
            _lock(folder, name, undo)
        except FileNotFoundError:
            with suppress(FileExistsError):
                fd = os.open(
                    name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666, dir_fd=folder
                )
                try:
                    os.fchmod(fd, 0o666)  # every user's clients lock it
                finally:
                    os.close(fd)
        except BlockingIOError:
            if deadline.over:
                raise _refuse(
                    "another client is attaching to an OpenJ9 JVM", Why.TIMED_OUT
                ) from None
            time.sleep(POLL_S)
        else:
            return


def _lock(folder: int, name: str, undo: ExitStack) -> None:
    """Lock a file for writing, as OpenJ9 does (fcntl) and as C clients do (flock); never waits.

    Raises:
        OSError: BlockingIOError where it is locked.
    """
    import fcntl  # noqa: PLC0415 - nobody else needs it

    fd = os.open(name, os.O_WRONLY | _NO_LINK, dir_fd=folder)
    try:
        _require_regular(fd)
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None
        raise
    undo.callback(os.close, fd)


def _require_regular(fd: int) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def _write_reply(meeting: Meeting, door: Door, process: JvmProcess, undo: ExitStack) -> None:
    """Under the lock of all clients: a file that is there was left by one that was killed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
    with suppress(FileNotFoundError):
        left, _ = _read(meeting.own, "replyInfo")
        if not left.startswith(_OURS.encode()):
            raise _refuse(
                f"{meeting.path}/replyInfo is there already, left by another client: remove it"
            )
        os.unlink("replyInfo", dir_fd=meeting.own)
    fd = os.open("replyInfo", flags, 0o600, dir_fd=meeting.own)
    try:
        undo.callback(_removed, meeting.own)
        os.fchmod(fd, 0o600)
        if os.fstat(fd).st_uid != process.uid:
            os.fchown(fd, process.uid, process.gid)
        os.write(fd, f"{door.key}\n{door.port}\n".encode())
    finally:
        os.close(fd)


def _removed(folder: int) -> None:
    with suppress(OSError):
        os.unlink("replyInfo", dir_fd=folder)


# --- the question ----------------------------------------------------------------------------------------------------


def _talk(connection: Socket, deadline: Deadline) -> bytes:
    try:
        connection.settimeout(deadline.left)
        connection.sendall(b"ATTACH_DIAGNOSTICS:Thread.print\0")
        reply = _message(connection, deadline, REPLY_LIMIT)
        with suppress(OSError):
            connection.sendall(b"ATTACH_DETACH\0")
    except TimeoutError:
        raise _refuse(
            "it took the question and its answer did not come to an end in time", Why.TIMED_OUT
        ) from None
    except (BrokenPipeError, ConnectionResetError):
        raise _refuse("it hung up") from None
    try:
        return openj9.result(reply)
    except ValueError as error:
        raise _refuse(f"it answered with an error: {error}") from None


def _message(
    connection: Socket, deadline: Deadline, limit: int, patience_s: float | None = None
) -> bytes:
    """What comes, up to the NUL byte that ends it.

    Raises:
        Unavailable: it is too long, or ends without one.
        TimeoutError: it does not end in time.
    """
    if patience_s is not None:
        deadline = Deadline(min(patience_s, deadline.left))
    parts: list[bytes] = []
    size = 0
    while size <= limit:
        if deadline.over:
            raise TimeoutError
        connection.settimeout(deadline.left)
        data = connection.recv(1 << 18)
        if not data:
            raise _refuse("it hung up in the middle of its answer")
        parts.append(data)
        size += len(data)
        if data.endswith(b"\0"):
            return b"".join(parts)[:-1]
    raise _refuse(f"its answer is longer than {limit >> 10} KiB", Why.TRUNCATED)
