"""The client as a whole, where no JVM is needed: identity, permissions, and the signals of ours it holds back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedstall.effect import attach, preflight
from seedstall.effect.attach import Attacher
from seedstall.model.evidence import Missing, Reading, Ref, Space, Why


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def missing(reading: Reading[bytes]) -> Missing:
    assert isinstance(reading, Missing), "it was asked"
    return reading


def test_what_is_no_jvm_is_not_touched(sleeper: subprocess.Popen[bytes]) -> None:
    attacher = Attacher(sleeper.pid)
    reading = missing(attacher.ask("threaddump"))
    assert reading == Missing(
        Why.REFUSED,
        (Ref(Space.ATTACH, "threaddump"),),
        "it is not a HotSpot JVM, or not one yet: no libjvm.so is mapped",
    )
    assert attacher.actions == ()
    assert sleeper.poll() is None


@pytest.mark.parametrize(
    "command", ["", "load", "jcmd", "threaddump\0-l", "threaddump -l", "datadump"]
)
def test_commands_that_do_something_are_unknown(command: str) -> None:
    reading = missing(Attacher(os.getpid()).ask(command))
    assert reading.why is Why.REFUSED


def test_a_later_owner_of_the_pid_is_not_asked(sleeper: subprocess.Popen[bytes]) -> None:
    attacher = Attacher(sleeper.pid)
    attacher.ask("threaddump")
    assert attacher._start_ticks is not None
    attacher._start_ticks -= 1
    reading = missing(attacher.ask("threaddump"))
    assert (reading.why, "another process" in reading.detail) == (Why.VANISHED, True)


def test_a_process_without_handler_is_safe_even_without_guards(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last look before the signal is no guard that could be forgotten."""
    monkeypatch.setattr(preflight, "QUESTION", ())
    monkeypatch.setattr(preflight, "SIGNAL", ())
    reading = missing(Attacher(sleeper.pid, timeout_s=1).ask("threaddump"))
    assert reading.why is Why.REFUSED
    assert "SIGQUIT" in reading.detail
    assert sleeper.poll() is None
    assert not list(Path(f"/proc/{sleeper.pid}/cwd").glob(".attach_pid*"))


def test_a_target_that_misbehaves_never_raises(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, why in (
        (OSError(5, "Input/output error"), Why.MALFORMED),
        (PermissionError(13, "Permission denied"), Why.DENIED),
        (ValueError("not a stat line"), Why.MALFORMED),
    ):

        def fail(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(attach, "jvm_process", fail)
        assert missing(Attacher(sleeper.pid).ask("threaddump")).why is why


def test_a_process_that_is_gone() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert missing(Attacher(gone.pid).ask("threaddump")).why is Why.VANISHED
