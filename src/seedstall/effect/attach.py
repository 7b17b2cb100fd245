"""Asking a running HotSpot JVM for its thread dump or properties, by its own attach protocol and without a JDK.

The protocol (attachListener_linux.cpp, JDK 6 to 25): a client puts a file ``.attach_pidN`` where the target looks for
it and sends SIGQUIT; the JVM then makes a socket ``/tmp/.java_pidN``. On it the client writes ``1 NUL command NUL NUL
NUL NUL`` and reads a result code, a newline and the answer. N is the pid in the target's own namespace, ``/tmp`` the
target's, whatever its ``java.io.tmpdir``. The JVM answers only a peer with its own effective ids, from 11 on also root.

Only commands that look are known here. ``threaddump`` is asked without ``-l``, which walks the heap. No agent is ever
loaded and no management agent started: in a JVM whose default SecureRandom hangs that blocks the Attach Listener for
good.
"""

from __future__ import annotations

import itertools
import time
from _socket import socket as Socket  # noqa: N812 - a class; see seedstall.effect.listener
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from os import close

from seedstall.effect import preflight
from seedstall.effect.caller import held_signals, interrupted
from seedstall.effect.listener import POLL_S, Deadline, Listener
from seedstall.effect.trigger import Trigger, leftovers, path_of, send_sigquit, sweep
from seedstall.facts.process import jvm_process
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.model.report import Action
from seedstall.parse import procfs
from seedstall.source import rooted
from seedstall.source.base import Recorder
from seedstall.source.host import HostSource

COMMANDS = ("threaddump", "properties")
_CLIENT_AT_WORK_S = 1.0
_GRACE_S = 0.25
"""How long the file stays after Ctrl-C for a JVM that was signalled: without it, it prints a dump into its output."""
_TURNS_TO_LOOK = 50
_LOOKS_BEFORE_CALLING_AGAIN = 3


class Attacher:
    """Asks one JVM, guarded. Nothing happens until `ask`."""

    def __init__(
        self,
        pid: int,
        *,
        timeout_s: float = 5.0,
        dry_run: bool = False,
        openj9: bool = False,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """Know whom to ask. *timeout_s* bounds each question, from the first look to the last byte.

        With *dry_run* the guards are run, and `actions` says what would be done. With *openj9* such a JVM is asked too,
        by a protocol that was never tried on a live one: only where a person named that JVM for its dump. *tell* is
        told what a person must know although the signal that stops us leaves no time for an answer.
        """
        self.pid = pid
        self._tell: Callable[[str], None] = tell or _untold
        self._openj9 = openj9
        self._timeout_s = timeout_s
        self._dry_run = dry_run
        self._start_ticks: int | None = None
        self._actions: list[Action] = []

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done to the target: one for each question that reached it, ``sigquit+attach threaddump``.

        ``sigquit`` stands where a signal called for the listener, ``attach`` where the question was put. ``pause_ms``
        is the time from the question to the answer's last byte: the JVM's own pause lies within it. With *dry_run* one
        for each file, signal and socket that would be used.
        """
        return tuple(self._actions)

    def ask(self, command: str) -> Reading[bytes]:
        """The JVM's answer to *command*, or why there is none.

        ``REFUSED`` by a guard, ``DENIED`` by a permission, ``VANISHED``, ``TIMED_OUT``, ``TRUNCATED``. Never raises for
        a target that does not behave.
        """
        ref = Ref(Space.ATTACH, command)
        if command not in COMMANDS:
            return Missing(Why.REFUSED, (ref,), f"only {' and '.join(COMMANDS)} are ever asked")
        try:
            with HostSource(self.pid) as host:
                return Got(self._answer(host, command), (ref,))
        except Unavailable as error:
            missing = error.missing
            return Missing(missing.why, (ref,), missing.detail or str(missing))
        except ValueError as error:
            return Missing(Why.MALFORMED, (ref,), str(error))
        except OSError as error:
            return Missing(rooted.why(error), (ref,), f"attach: {error.strerror or error}")

    def _answer(self, host: HostSource, command: str) -> bytes:
        deadline = Deadline(self._timeout_s)
        looked = Recorder(host)
        process = jvm_process(looked)
        self._require_same(process)
        if self._openj9 and command == "threaddump" and preflight.is_openj9(looked):
            return self._asked_of_openj9(host, looked, process, deadline)
        _require(preflight.refusal(looked, process, preflight.QUESTION))
        with _tmp_of(host) as tmp:
            listener = Listener(process, tmp, deadline)
            if self._dry_run:
                self._actions += [self._removal(name) for name in leftovers(tmp)]
                self._plan(listener, looked, process, command)
            self._actions += [self._removal(name) for name in sweep(tmp, process)]
            connection = listener.connect() or _called_by_other(host, listener)
            if connection is not None:
                return self._talk(listener, connection, command, "attach")
            _require(preflight.refusal(Recorder(host), process, preflight.SIGNAL))
            call = _Call(host, process, Trigger(host, process, tmp), listener, self._tell)
            try:
                connection = call.connection(deadline)
            except BaseException:
                if call.signals:
                    self._actions.append(Action(what=call.told, pid=self.pid))
                raise
            how = f"{call.told}+attach" if call.signals else "attach"
            return self._talk(listener, connection, command, how)

    def _asked_of_openj9(
        self, host: HostSource, looked: Recorder, process: JvmProcess, deadline: Deadline
    ) -> bytes:
        from seedstall.effect import openj9  # noqa: PLC0415 - sockets and ctypes, and rarely

        self._tell(f"{self.pid}: {openj9.UNTESTED}")
        _require(preflight.refusal(looked, process, preflight.OPENJ9))
        if self._dry_run:
            self._actions += [
                Action(what=step, pid=self.pid) for step in openj9.plan(host, process)
            ]
            raise Unavailable(Missing(Why.REFUSED, (), "dry run: nothing was done"))
        started = time.monotonic()
        try:
            return openj9.ask(host, process, deadline)
        finally:
            taken = int((time.monotonic() - started) * 1000) + 1
            told = "OpenJ9 attach Thread.print (untested on a live one)"
            self._actions.append(Action(what=told, pid=self.pid, pause_ms=taken))

    def _removal(self, name: str) -> Action:
        return Action(what=f"remove /tmp/{name}, left by a seedstall that was killed", pid=self.pid)

    def _talk(self, listener: Listener, connection: Socket, command: str, how: str) -> bytes:
        started = time.monotonic()
        try:
            with closing(connection):
                return listener.ask(connection, command)
        finally:
            taken = int((time.monotonic() - started) * 1000) + 1
            self._actions.append(Action(what=f"{how} {command}", pid=self.pid, pause_ms=taken))

    def _require_same(self, process: JvmProcess) -> None:
        """The first question settles which process is meant: a later owner of the pid is not asked."""
        if self._start_ticks is None:
            self._start_ticks = process.start_ticks
        if self._start_ticks != process.start_ticks:
            raise Unavailable(Missing(Why.VANISHED, (), f"pid {self.pid} is another process now"))

    def _plan(
        self, listener: Listener, looked: Recorder, process: JvmProcess, command: str
    ) -> None:
        """What would be done; the guards are asked all the same."""
        steps = [f"connect to {listener.path} and ask {command}"]
        if not listener.there:
            _require(preflight.refusal(looked, process, preflight.SIGNAL))
            file = path_of(process)
            steps = [f"create {file}", "send SIGQUIT", f"remove {file}", *steps]
        self._actions += [Action(what=step, pid=self.pid) for step in steps]
        raise Unavailable(Missing(Why.REFUSED, (), "dry run: nothing was done"))


def _untold(_text: str) -> None:
    """Where nobody listens."""


def _require(refused: Missing | None) -> None:
    if refused is not None:
        raise Unavailable(refused)


@contextmanager
def _tmp_of(host: HostSource) -> Generator[int]:
    """A descriptor of the target's ``/tmp``: a link there leads inside the target's root, never out of it."""
    found = host.read(Ref(Space.ROOT, "tmp/", Ask.STAT))
    if isinstance(found, Missing):
        raise Unavailable(found)
    fd = rooted.locate(host.root_fd, "tmp/")
    try:
        yield fd
    finally:
        close(fd)


def _called_by_other(host: HostSource, listener: Listener) -> Socket | None:
    """The socket that another client has just called for: its SIGQUIT is on its way, a second would print a dump."""
    deadline = Deadline(_CLIENT_AT_WORK_S)
    while _pending(host) and not deadline.over:
        time.sleep(POLL_S)
        connection = listener.connect()
        if connection is not None:
            return connection
    return None


def _pending(host: HostSource) -> bool:
    reading = host.read(Ref(Space.PROCESS, "status"))
    if isinstance(reading, Missing):
        return False
    return procfs.has_signal(procfs.status(reading.value).pending or 0, preflight.SIGQUIT)


def _ended(host: HostSource) -> bool:
    reading = host.read(Ref(Space.PROCESS, "stat"))
    return isinstance(reading, Missing) or procfs.stat(reading.value).state in "ZX"


def _listens(host: HostSource) -> bool:
    """Whether the Attach Listener's thread is there: by its name, which the kernel knows from 9 on."""
    listed = host.read(Ref(Space.PROCESS, "task", Ask.LIST))
    tids = procfs.names(listed.value) if isinstance(listed, Got) else ()
    names = (host.read(Ref(Space.PROCESS, f"task/{tid}/comm")) for tid in tids)
    return any(isinstance(name, Got) and name.value == b"Attach Listener\n" for name in names)


class _Call:
    """Makes the JVM start its Attach Listener: file, signal, wait."""

    def __init__(
        self,
        host: HostSource,
        process: JvmProcess,
        trigger: Trigger,
        listener: Listener,
        tell: Callable[[str], None],
    ) -> None:
        self.signals = 0
        self._tell = tell
        self._without_socket = 0
        self._host = host
        self._process = process
        self._trigger = trigger
        self._listener = listener

    @property
    def told(self) -> str:
        """The signals sent, as an action tells them."""
        return "+".join(["sigquit"] * self.signals)

    def connection(self, deadline: Deadline) -> Socket:
        """A connection to the listener that was called for. The file is gone afterwards, whatever happens.

        Raises:
            Unavailable: it cannot be called, or did not come in time.
        """
        with held_signals(), closing(self._trigger):
            return self._placed() or self._signalled(deadline)

    def _placed(self) -> Socket | None:
        """Place the file. Where another client is at work, take the socket that it has called for."""
        for _ in range(3):
            self._trigger.place()
            if self._trigger.fresh:
                early = self._wait(Deadline(_CLIENT_AT_WORK_S))
                if early is not None:
                    return early
                if self._trigger.busy and self._trigger.there:
                    detail = "another seedstall is attaching to it, and has waited for a second: not called again"
                    raise Unavailable(Missing(Why.REFUSED, (), detail))
            if self._trigger.there:
                return None
        raise Unavailable(Missing(Why.REFUSED, (), "other clients keep attaching to it"))

    def _signalled(self, deadline: Deadline) -> Socket:
        early = self._listener.connect()
        if early is not None:
            return early
        if interrupted():
            raise Unavailable(Missing(Why.REFUSED, (), "interrupted before anything was sent"))
        self._signal()
        connection = self._wait(deadline)
        if connection is None:
            if interrupted() and not self._came_after_all():
                # In a moment the signal ends us: nobody would read a reason.
                self._tell(f"{self._process.pid}: interrupted: {self._unanswered()}")
            raise Unavailable(Missing(Why.TIMED_OUT, (), self._unanswered()))
        return connection

    def _signal(self) -> None:
        send_sigquit(self._host, self._process)
        self.signals += 1

    def _wait(self, deadline: Deadline) -> Socket | None:
        for turn in itertools.count(1):
            connection = self._listener.connect()
            if connection is not None or deadline.over:
                return connection
            if turn % _TURNS_TO_LOOK == 0:
                self._look_again()
            time.sleep(POLL_S)
        return None

    def _came_after_all(self) -> bool:
        """Whether the JVM takes the signal while its file is still there: then no dump is spilled."""
        end = time.monotonic() + _GRACE_S
        while time.monotonic() < end:
            connection = self._listener.connect()
            if connection is not None:
                connection.close()
                return True
            time.sleep(POLL_S)
        return False

    def _look_again(self) -> None:
        """Give up on a JVM that has ended; call a second time for a socket that was lost.

        A JVM that starts takes away a socket left by an earlier one of its pid (AttachListener::vm_start), and may take
        away the one just made (seen on 17 and 25, one in a hundred). Its listener waits all the same; at another
        SIGQUIT it finds its socket gone and makes it again (JDK-8225690, 11.0.4).
        """
        if _ended(self._host):
            raise Unavailable(Missing(Why.VANISHED, (), "it ended while we waited"))
        if self.signals == 1:
            self._without_socket = self._without_socket + 1 if _listens(self._host) else 0
            if self._without_socket >= _LOOKS_BEFORE_CALLING_AGAIN:
                self._signal()

    def _unanswered(self) -> str:
        """What became of the signal: a person must know where a dump may turn up later."""
        if _pending(self._host):
            return (
                "the SIGQUIT is still pending: when the JVM gets to it, it will print a thread dump into its own"
                " standard output (as after kill -3), which does it no harm"
            )
        return (
            "it took the SIGQUIT and opened no attach socket: a thread dump may stand in its own standard output"
            " (as after kill -3)"
        )
