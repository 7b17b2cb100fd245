"""The attach socket, with this very process in the JVM's place: every answer, and every kind of silence."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from seedstall.effect import listener as module
from seedstall.effect.listener import Deadline, Listener
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.jvm import JvmProcess

Answer = Callable[[socket.socket, bytes], None]

QUESTION = b"1\0threaddump\0\0\0\0"


@pytest.fixture
def tmp(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the socket lies. Names of sockets are short: the test stands in its folder."""
    monkeypatch.chdir(tmp_path)
    return Path(".java_pid7")


def ourselves(uid: int | None = None, pid: int | None = None) -> JvmProcess:
    return JvmProcess(
        pid=os.getpid() if pid is None else pid,
        inner_pid=7,
        uid=os.geteuid() if uid is None else uid,
        gid=os.getegid(),
        state="S",
        start_ticks=1,
        threads=1,
    )


class Jvm:
    """Answers one question as it is told to."""

    def __init__(self, door: Path, answer: Answer) -> None:
        self.heard = b""
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(door))
        self._server.listen(1)
        self._answer = answer
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        client, _ = self._server.accept()
        with client:
            while self.heard.count(b"\0") < 5:
                self.heard += client.recv(1000)
            self._answer(client, self.heard)

    def close(self) -> None:
        self._server.close()
        self._thread.join(10)


def asked(tmp: int, door: Path, answer: Answer, seconds: float = 10.0) -> tuple[bytes, bytes]:
    jvm = Jvm(door, answer)
    try:
        listener = Listener(ourselves(), tmp, Deadline(seconds))
        connection = listener.connect()
        assert connection is not None
        with closing(connection):
            return listener.ask(connection, "threaddump"), jvm.heard
    finally:
        jvm.close()


def refusal(tmp: int, door: Path, answer: Answer, seconds: float = 10.0) -> Missing:
    with pytest.raises(Unavailable) as caught:
        asked(tmp, door, answer, seconds)
    return caught.value.missing


# --- the answer ------------------------------------------------------------------------------------------------------


def test_question_and_answer(tmp: int, door: Path) -> None:
    answer, heard = asked(tmp, door, lambda client, _: client.sendall(b"0\nFull thread dump\n"))
    assert (answer, heard) == (b"Full thread dump\n", QUESTION)


def test_an_answer_in_pieces(tmp: int, door: Path) -> None:
    def drip(client: socket.socket, _: bytes) -> None:
        for byte in b"0\nslow but sure":
            client.sendall(bytes([byte]))
            time.sleep(0.002)

    assert asked(tmp, door, drip)[0] == b"slow but sure"


def test_a_large_answer(tmp: int, door: Path) -> None:
    assert (
        len(asked(tmp, door, lambda c, _: c.sendall(b"0\n" + b"x" * 10_000_000))[0]) == 10_000_000
    )


def test_an_endless_answer_is_cut_off(
    tmp: int, door: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REPLY_LIMIT", 1 << 20)

    def flood(client: socket.socket, _: bytes) -> None:
        try:
            while True:
                client.sendall(b"x" * 65536)
        except OSError:
            return

    assert refusal(tmp, door, flood).why is Why.TRUNCATED


def test_an_error(tmp: int, door: Path) -> None:
    missing = refusal(tmp, door, lambda c, _: c.sendall(b"1\nOperation threaddump not recognized!"))
    assert (missing.why, missing.detail) == (
        Why.REFUSED,
        "it answered with an error: Operation threaddump not recognized!",
    )
    door.unlink()
    assert refusal(tmp, door, lambda c, _: c.sendall(b"101\n")).detail.endswith("no text")


def test_a_jvm_that_hangs_up_on_strangers(tmp: int, door: Path) -> None:
    """JDK 8 on root, any JVM on another group: closed without a word."""
    missing = refusal(tmp, door, lambda *_: None)
    assert missing.why is Why.DENIED
    assert f"uid {os.geteuid()}, gid {os.getegid()}" in missing.detail


def test_a_jvm_that_takes_the_question_and_is_silent(tmp: int, door: Path) -> None:
    began = time.monotonic()
    missing = refusal(tmp, door, lambda *_: time.sleep(1), 0.2)
    assert missing.why is Why.TIMED_OUT
    assert time.monotonic() - began < 5


def test_a_jvm_that_stops_in_mid_answer(tmp: int, door: Path) -> None:
    def stop(client: socket.socket, _: bytes) -> None:
        client.sendall(b"0\nFull thr")
        time.sleep(1)

    assert refusal(tmp, door, stop, 0.2).why is Why.TIMED_OUT


def test_an_answer_that_drips_for_ever_is_given_up_in_time(tmp: int, door: Path) -> None:
    """Each byte comes before a time-out: the whole has one."""

    def drip(client: socket.socket, _: bytes) -> None:
        try:
            for _turn in range(3000):
                client.sendall(b"x")
                time.sleep(0.001)
        except OSError:
            return

    began = time.monotonic()
    assert refusal(tmp, door, drip, 0.2).why is Why.TIMED_OUT
    assert time.monotonic() - began < 1.5


# --- the door --------------------------------------------------------------------------------------------------------


def test_where_there_is_no_socket(tmp: int, door: Path) -> None:
    listener = Listener(ourselves(), tmp, Deadline(1))
    assert not listener.there
    assert listener.connect() is None
    assert listener.path == f"/proc/{os.getpid()}/root/tmp/.java_pid7"


def test_where_nobody_listens_any_more(tmp: int, door: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(door))
    listener = Listener(ourselves(), tmp, Deadline(1))
    assert listener.there
    assert listener.connect() is None


@pytest.mark.parametrize("kind", ["link", "file", "fifo"])
def test_something_else_in_its_place(tmp: int, door: Path, tmp_path: Path, kind: str) -> None:
    if kind == "link":
        with socket.socket(socket.AF_UNIX) as real:
            real.bind("real")
        door.symlink_to("real")
    elif kind == "file":
        door.write_text("")
    else:
        os.mkfifo(door)
    with pytest.raises(Unavailable) as caught:
        Listener(ourselves(), tmp, Deadline(1)).connect()
    assert caught.value.missing.why is Why.REFUSED
    assert "not the JVM's socket" in caught.value.missing.detail


def listening(door: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(door))
    server.listen(1)
    return server


def test_a_socket_of_another_user(tmp: int, door: Path) -> None:
    with listening(door), pytest.raises(Unavailable) as caught:
        Listener(ourselves(uid=os.geteuid() + 1), tmp, Deadline(1)).connect()
    assert "belongs to uid" in caught.value.missing.detail


def test_another_process_listens(tmp: int, door: Path) -> None:
    with listening(door), pytest.raises(Unavailable) as caught:
        Listener(ourselves(pid=os.getppid()), tmp, Deadline(1)).connect()
    assert f"process {os.getpid()} listens" in caught.value.missing.detail


def test_a_full_queue_is_given_up_in_time(tmp: int, door: Path) -> None:
    began = time.monotonic()
    with listening(door):
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(5)]
        for client in waiting:
            client.settimeout(0)
            client.connect_ex(str(door))
        with pytest.raises(Unavailable) as caught:
            Listener(ourselves(), tmp, Deadline(0.2)).connect()
        for client in waiting:
            client.close()
    assert caught.value.missing.why is Why.TIMED_OUT
    assert time.monotonic() - began < 5


def test_no_descriptor_is_lost(tmp: int, door: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    test_where_there_is_no_socket(tmp, door)
    test_where_nobody_listens_any_more(tmp, door)
    door.unlink()
    test_another_process_listens(tmp, door)
    door.unlink()
    test_a_full_queue_is_given_up_in_time(tmp, door)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_deadline() -> None:
    assert Deadline(-1).over
    assert Deadline(-1).left > 0, "0 would mean not to wait at all"
    assert not Deadline(60).over
    assert 59 < Deadline(60).left <= 60
