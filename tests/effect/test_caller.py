"""What our own process takes on for a handshake is given back, whatever happens."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from seedstall.effect.caller import HELD, STOPS, as_its_user, held_signals, interrupted
from seedstall.model.jvm import JvmProcess

Ids = tuple[int, int]


def process(uid: int, gid: int) -> JvmProcess:
    return JvmProcess(pid=1, inner_pid=1, uid=uid, gid=gid, state="S", start_ticks=1, threads=1)


class Stopped(Exception):  # noqa: N818 - what a signal handler raises
    """The user wants to stop."""


@pytest.mark.parametrize("number", HELD)
def test_signals_come_at_the_end(number: signal.Signals) -> None:
    def stop(*_: object) -> None:
        raise Stopped

    before = signal.signal(number, stop)
    seen: list[str] = []
    try:
        with pytest.raises(Stopped):
            held_while(number, seen)
    finally:
        signal.signal(number, before)
    assert seen == ["went on"]
    assert not interrupted()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []).isdisjoint(HELD)


def held_while(number: signal.Signals, seen: list[str]) -> None:
    with held_signals():
        assert not interrupted()
        os.kill(os.getpid(), number)
        time.sleep(0.01)
        assert interrupted() is (number in STOPS)
        seen.append("went on")


def test_every_signal_that_ends_or_stops_us_is_held() -> None:
    """But for those that cannot be, those of a fault of our own, and what Python ignores or nobody sends."""
    harmless = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
    faults = {
        *(signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV),
        *(signal.SIGSYS, signal.SIGTRAP),
    }
    ignored = {signal.SIGPIPE, signal.SIGXFSZ}
    never = {signal.SIGKILL, signal.SIGSTOP}
    named = {n for n in signal.Signals if n < signal.SIGRTMIN and n.name != "SIGSTKFLT"}
    assert named - harmless - faults - ignored - never == set(HELD)


def test_held_within_held_stays_held() -> None:
    with held_signals():
        with held_signals():
            pass
        assert set(HELD) <= signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []).isdisjoint(HELD)


def ids() -> Ids:
    return os.geteuid(), os.getegid()


@pytest.mark.root
def test_ids_are_taken_and_given_back() -> None:
    before = ids()
    with as_its_user(process(34567, 34568)):
        assert ids() == (34567, 34568)
    assert ids() == before
    with pytest.raises(Stopped), as_its_user(process(34567, 34568)):
        raise Stopped
    assert ids() == before


@pytest.mark.root
def test_with_another_thread_they_are_left_alone() -> None:
    """setxid(3) waits for every thread, and one may be in a read that nothing ends."""
    before, stop = ids(), threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    with as_its_user(process(34567, 34568)):
        assert ids() == before
    stop.set()
    with as_its_user(process(34567, 34568)):  # it is just ending
        assert ids() == (34567, 34568)
    other.join()
    assert ids() == before


@pytest.mark.root
def test_where_they_cannot_be_taken_we_go_as_we_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's root without CAP_SETUID: the call fails, whichever of the two it is."""
    before, real = ids(), os.seteuid

    def refuse(uid: int) -> None:
        if uid != before[0]:
            raise PermissionError
        real(uid)

    monkeypatch.setattr(os, "seteuid", refuse)
    with as_its_user(process(34567, 34568)):
        assert os.geteuid() == before[0]
    assert ids() == before


def test_the_same_user_and_no_root_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "seteuid", None)
    with as_its_user(process(*ids())):
        pass
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with as_its_user(process(34567, 34568)):
        pass
