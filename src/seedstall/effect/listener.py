"""The attach socket of a JVM: found safely, reached as the JVM demands, talked through."""

from __future__ import annotations

import os
import stat
import sys
import time

# Not socket: its import takes 4-8 ms, most of it for enumerations of constants that nothing here uses.
from _socket import AF_UNIX, SO_PEERCRED, SOCK_STREAM, SOL_SOCKET
from _socket import socket as Socket  # noqa: N812 - a class

from seedstall.effect.caller import as_its_user, interrupted
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.source import rooted

REPLY_LIMIT = 64 << 20
"""Bytes of an answer: 20,000 threads with deep stacks make about 50 MiB."""
POLL_S = 0.001


class Deadline:
    """The end of all waiting for one question."""

    def __init__(self, seconds: float) -> None:
        """From now on."""
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left; never 0, which would mean not to wait at all."""
        return max(0.001, self._end - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether it has passed, or the user wants to stop."""
        return time.monotonic() >= self._end or interrupted()


class Listener:
    """The socket ``/tmp/.java_pidN`` of one JVM, below a descriptor of the JVM's own ``/tmp``."""

    def __init__(self, process: JvmProcess, tmp: int, deadline: Deadline) -> None:
        """Nothing is done yet."""
        self.path = f"/proc/{process.pid}/root/tmp/.java_pid{process.inner_pid}"
        """Where it lies, for people."""
        self._name = f".java_pid{process.inner_pid}"
        self._process = process
        self._tmp = tmp
        self._deadline = deadline

    @property
    def there(self) -> bool:
        """Whether the JVM's socket lies there. It may be left over from another.

        Raises:
            Unavailable: something else lies there, or a socket of somebody else.
        """
        found = self._find()
        if found is None:
            return False
        os.close(found)
        return True

    def _find(self) -> int | None:
        try:
            fd = os.open(self._name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._tmp)
        except FileNotFoundError:
            return None
        found = os.fstat(fd)
        reason = ""
        if not stat.S_ISSOCK(found.st_mode):
            reason = f"{self.path} is {rooted.kind_of(found.st_mode)}, not the JVM's socket"
        elif found.st_uid != self._process.uid:
            reason = f"{self.path} belongs to uid {found.st_uid}, not to the JVM's user {self._process.uid}"
        if reason:
            os.close(fd)
            raise Unavailable(
                Missing(Why.REFUSED, (), f"{reason}: planted, or left over; remove it")
            )
        return fd

    def connect(self) -> Socket | None:
        """A connection to the JVM; ``None`` where it does not listen (yet, or no more).

        Raises:
            Unavailable: another process listens there, or it takes no client in time.
        """
        found = self._find()
        if found is None:
            return None
        connection = Socket(AF_UNIX, SOCK_STREAM)
        try:
            if self._reach(connection, found):
                self._require_jvm(connection)
                return connection
        except BaseException:
            connection.close()
            raise
        finally:
            os.close(found)
        connection.close()
        return None

    def _reach(self, connection: Socket, found: int) -> bool:
        """Connect through the descriptor, so that what the name leads to cannot be changed meanwhile."""
        while True:
            connection.settimeout(self._deadline.left)
            try:
                with as_its_user(self._process):
                    connection.connect(f"/proc/self/fd/{found}")
            except (ConnectionRefusedError, FileNotFoundError):
                return False
            except BlockingIOError:  # its queue of waiting clients is full
                if self._deadline.over:
                    late = "its attach socket takes no more clients: it does not get to answer them"
                    raise Unavailable(Missing(Why.TIMED_OUT, (), late)) from None
                time.sleep(POLL_S)
            else:
                return True

    def _require_jvm(self, connection: Socket) -> None:
        """The kernel tells who listens, however the socket got its name (unix(7), SO_PEERCRED)."""
        peer = connection.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)
        owner = int.from_bytes(peer[:4], "little" if sys.byteorder == "little" else "big")
        if owner != self._process.pid:
            detail = f"process {owner} listens at {self.path}, not the JVM: it is not asked"
            raise Unavailable(Missing(Why.REFUSED, (), detail))

    def ask(self, connection: Socket, command: str) -> bytes:
        """Put the question, and read the answer to its end, into memory and at once: the JVM may pause for it.

        Raises:
            Unavailable: no answer for us, not in time, too long, or an error.
        """
        connection.settimeout(self._deadline.left)
        try:
            connection.sendall(b"1\0%s\0\0\0\0" % command.encode())
            reply = self._read(connection)
        except (BrokenPipeError, ConnectionResetError):
            reply = b""
        except TimeoutError:
            late = (
                "it took the question and its answer did not come to an end in time: short of CPU, or unable to"
                " reach a safepoint"
            )
            raise Unavailable(Missing(Why.TIMED_OUT, (), late)) from None
        if not reply:
            raise Unavailable(Missing(Why.DENIED, (), self._unheard()))
        code, _, answer = reply.partition(b"\n")
        if code.strip() != b"0":
            told = answer[:200].decode("utf-8", "replace").strip()
            raise Unavailable(
                Missing(Why.REFUSED, (), f"it answered with an error: {told or 'no text'}")
            )
        return answer

    def _read(self, connection: Socket) -> bytes:
        parts: list[bytes] = []
        size = 0
        while size <= REPLY_LIMIT:
            if self._deadline.over:  # an answer that drips would else go on until it is too long
                raise TimeoutError
            connection.settimeout(self._deadline.left)
            data = connection.recv(1 << 18)
            if not data:
                return b"".join(parts)
            parts.append(data)
            size += len(data)
        raise Unavailable(
            Missing(Why.TRUNCATED, (), f"its answer is longer than {REPLY_LIMIT >> 20} MiB")
        )

    def _unheard(self) -> str:
        theirs = (self._process.uid, self._process.gid)
        return (
            "it closed the connection without an answer: a JVM answers only its own user and group"
            f" (uid {theirs[0]}, gid {theirs[1]}); we are uid {os.geteuid()}, gid {os.getegid()}"
        )
