"""Asking a running HotSpot JVM for its thread dump or properties, by its own attach protocol and without a JDK.

The protocol (attachListener_linux.cpp, since JDK 6): a client puts a file ``.attach_pidN`` into the target's working
directory or ``/tmp`` and sends SIGQUIT; the JVM, finding a file of its own user there, starts its Attach Listener, which
makes a socket ``/tmp/.java_pidN``. On it the client writes ``1 NUL command NUL NUL NUL NUL`` and reads a result code,
a newline and the answer. N is the pid in the target's own namespace, ``/tmp`` the target's, whatever its
``java.io.tmpdir``. The JVM answers only a peer with its own effective ids, from 11 on also root.

Only commands that look are known here. ``threaddump`` is asked without ``-l``, which walks the heap. No agent is ever
loaded and no management agent started: in a JVM whose default SecureRandom hangs that blocks the Attach Listener for
good.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from seedstall.effect import preflight
from seedstall.facts.process import jvm_process
from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.model.report import Action
from seedstall.parse import procfs
from seedstall.source import rooted
from seedstall.source.base import Recorder
from seedstall.source.host import HostSource

COMMANDS = ("threaddump", "properties")
REPLY_LIMIT = 64 << 20
"""Bytes of an answer: 20,000 threads with deep stacks make about 50 MiB."""
_POLL_S = 0.001
_STALE_S = 10.0
"""A trigger file older than this was left behind; a younger one may be another client's at work."""
_CLIENT_AT_WORK_S = 1.0


class Attacher:
    """Asks one JVM, guarded. Nothing happens until `ask`.

    ``actions`` lists what was done to the target, or with *dry_run* what would be.
    """

    def __init__(self, pid: int, *, timeout_s: float = 5.0, dry_run: bool = False) -> None:
        """Know whom to ask; *timeout_s* bounds each question, from the first look to the last byte."""
        self.pid = pid
        self._timeout_s = timeout_s
        self._dry_run = dry_run
        self._start_ticks: int | None = None
        self._actions: list[Action] = []

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done, in order. ``pause_ms`` is the time from question to last byte: the JVM's pause lies in it."""
        return tuple(self._actions)

    def ask(self, command: str) -> Reading[bytes]:
        """The JVM's answer to *command*, or why there is none.

        ``REFUSED`` by a guard, ``DENIED`` by a permission, ``VANISHED``, ``TIMED_OUT``, ``TRUNCATED``. Never raises for a
        target that does not behave.
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
        deadline = time.monotonic() + self._timeout_s
        looked = Recorder(host)
        process = jvm_process(looked)
        self._same(process)
        with _Door(host, process, self._actions, deadline) as door:
            connected = None if self._dry_run else door.connect()
            ready = connected is not None or (self._dry_run and door.socket_there())
            try:
                refused = preflight.refusal(looked, process, socket_ready=ready)
                if refused is not None:
                    raise Unavailable(refused)
                if self._dry_run:
                    door.plan(command, ready=ready)
                    raise Unavailable(Missing(Why.REFUSED, (), "dry run: nothing was done"))
                if connected is None:
                    connected = door.open()
                return door.talk(connected, command)
            finally:
                if connected is not None:
                    connected.close()

    def _same(self, process: JvmProcess) -> None:
        """The first question settles which process is meant: a later owner of the pid is not asked."""
        if self._start_ticks is None:
            self._start_ticks = process.start_ticks
        if self._start_ticks != process.start_ticks:
            raise Unavailable(Missing(Why.VANISHED, (), f"pid {self.pid} belongs to another process now"))
