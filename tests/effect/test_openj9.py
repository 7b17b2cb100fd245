"""OpenJ9's attach protocol against a stand-in (openj9_peer.py): no live one is at hand, and the command says so."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.effect import openj9_peer
from tests.machine import Seedstall

from seedstall.effect import openj9, preflight
from seedstall.effect.attach import Attacher
from seedstall.effect.semaphore import Semaphore, key_of
from seedstall.model.evidence import Got, Missing, Reading, Unavailable, Why

PEER = Path(openj9_peer.__file__)
DUMP = (
    "JRE 17 Linux amd64-64-Bit Compressed References\n\n"
    '"main" prio=5 Id=1 RUNNABLE\n\tat app.Main.main(Main.java:7)\n\\o/ €'
)
IPC_RMID, GETVAL = 0, 12


class Peer:
    """A stand-in that runs. ``group`` shares one /tmp, and so one semaphore."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        said = process.stdout.readline().split()
        assert said[:1] == ["up"], said
        self.semaphore = int(said[1])

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    @property
    def common(self) -> Path:
        return Path(f"/proc/{self.pid}/root/tmp/.com_ibm_tools_attach")

    def left(self) -> list[str]:
        return sorted(p.name for p in self.common.glob("*/replyInfo"))

    def posts(self) -> int:
        return int(openj9_peer.libc.semctl(self.semaphore, 0, GETVAL))


Start = Callable[..., Peer]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start stand-ins, the first of them in a mount namespace of its own with an empty /tmp, the others with it."""
    (tmp_path / "libj9vm29.so").write_bytes(bytes(4096))
    started: list[Peer] = []

    def begin(mode: str = "well", uid: int = 0) -> Peer:
        command = [sys.executable, str(PEER), str(tmp_path), mode, str(uid)]
        command += [str(started[0].pid)] if started else []
        started.append(Peer(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)))
        return started[-1]

    yield begin
    for peer in started:
        peer.process.kill()
        peer.process.communicate()
    for each in {peer.semaphore for peer in started if peer.semaphore >= 0}:
        openj9_peer.libc.semctl(each, 0, IPC_RMID)


def ask(peer: Peer, timeout_s: float = 10.0) -> Reading[bytes]:
    return Attacher(peer.pid, timeout_s=timeout_s, openj9=True).ask("threaddump")


def missing(reading: Reading[bytes]) -> Missing:
    assert isinstance(reading, Missing), reading
    return reading


def unharmed(peer: Peer) -> None:
    assert peer.process.poll() is None
    assert peer.left() == [], "nothing of ours is left"
    assert peer.posts() == 0, "no post of ours is left"


pytestmark = pytest.mark.root


def test_it_answers(start: Start) -> None:
    peer = start()
    told: list[str] = []
    attacher = Attacher(peer.pid, timeout_s=10, openj9=True, tell=told.append)
    reading = attacher.ask("threaddump")
    assert isinstance(reading, Got), reading
    assert reading.value.decode() == DUMP
    assert [peer.line(), peer.line()] == ["ATTACH_DIAGNOSTICS:Thread.print", "ATTACH_DETACH"]
    assert told == [f"{peer.pid}: {openj9.UNTESTED}"]
    assert [a.what for a in attacher.actions] == [
        "OpenJ9 attach Thread.print (untested on a live one)"
    ]
    assert {p.name for p in peer.common.iterdir()} == {
        "_attachlock",
        "_notifier",
        str(peer.pid),
    }
    assert (peer.common / "_attachlock").stat().st_mode & 0o777 == 0o666, (
        "every user's clients lock it"
    )
    unharmed(peer)


def test_one_of_another_user_answers_root(start: Start) -> None:
    peer = start(uid=34567)
    reading = ask(peer)
    assert isinstance(reading, Got), reading
    assert os.geteuid() == 0
    unharmed(peer)


def test_the_one_that_is_meant_answers_and_the_others_sleep_on(start: Start) -> None:
    peers = [start(), start(uid=34567), start("named")]
    for peer in (peers[1], peers[2]):
        reading = ask(peer)
        assert isinstance(reading, Got), reading
        assert peer.line() == "ATTACH_DIAGNOSTICS:Thread.print"
        for each in peers:
            unharmed(each)


@pytest.mark.parametrize(
    ("mode", "why", "words"),
    [
        ("error", Why.REFUSED, "it answered with an error: Command not recognized"),
        ("old", Why.REFUSED, "ATTACH_ERR command invalid"),
        ("hang-up", Why.REFUSED, "hung up"),
        ("silent", Why.TIMED_OUT, "did not connect in time"),
        ("drip", Why.TIMED_OUT, "did not come to an end in time"),
        ("endless", Why.TRUNCATED, "longer than"),
        ("off", Why.REFUSED, "attach API"),
    ],
)
def test_one_that_does_not_answer_as_it_should(
    start: Start, mode: str, why: Why, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openj9, "REPLY_LIMIT", 1 << 20)
    peer = start(mode)
    began = time.monotonic()
    told = missing(ask(peer, 0.5))
    assert (told.why, words in told.detail) == (why, True), told
    assert time.monotonic() - began < 5
    assert peer.process.poll() is None
    assert peer.left() == []


@pytest.mark.parametrize("mode", ["strangers", "six"])
def test_who_does_not_know_the_key_is_hung_up_on(start: Start, mode: str) -> None:
    peer = start(mode)
    assert isinstance(ask(peer), Got)
    unharmed(peer)


def test_diagnose_never_asks_one_by_itself(start: Start) -> None:
    peer = start()
    told = missing(Attacher(peer.pid).ask("threaddump"))
    assert "seedstall dump PID" in told.detail
    assert "javacore" in told.detail
    assert not (peer.common / "_attachlock").exists()


def test_the_command_says_that_it_is_untested(start: Start, seedstall: Seedstall) -> None:
    peer = start()
    planned = seedstall("dump", "--dry-run", peer.pid)
    assert (
        f"{peer.pid}: would create /proc/{peer.pid}/root/tmp/.com_ibm_tools_attach/{peer.pid}/replyInfo"
        in (planned.stdout)
    )
    assert not (peer.common / "_attachlock").exists(), "a dry run does nothing"
    done = seedstall("dump", peer.pid)
    assert done.returncode == 0, done.stderr
    assert '"main" prio=5' in done.stdout
    assert "untested on a live one" in done.stderr


def test_at_its_thread_limit_it_is_not_asked(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts a thread for us, and writes heap dumps when it cannot."""
    peer = start()
    full = (*preflight.OPENJ9[:3], lambda *_: preflight._full("pids.max of /x", 20, 20))
    monkeypatch.setattr(preflight, "OPENJ9", full)
    assert "no room for one more thread" in missing(ask(peer)).detail
    unharmed(peer)


def test_one_that_is_stopped_is_left_alone(start: Start) -> None:
    peer = start()
    os.kill(peer.pid, signal.SIGSTOP)
    end = time.monotonic() + 5
    while "T (stopped)" not in Path(f"/proc/{peer.pid}/status").read_text():
        assert time.monotonic() < end
    assert "stopped" in missing(ask(peer)).detail
    os.kill(peer.pid, signal.SIGCONT)
    unharmed(peer)


# --- traps -----------------------------------------------------------------------------------------------------------


def test_a_directory_of_another_user_is_not_used(start: Start) -> None:
    peer = start()
    own = peer.common / str(peer.pid)
    os.chown(own, 34567, 34567)
    assert "belongs to uid 34567" in missing(ask(peer)).detail
    os.chown(own, 0, 0)
    own.chmod(0o777)
    assert "others may write to it" in missing(ask(peer)).detail
    unharmed(peer)


def test_an_advertisement_of_another_process_or_user_is_none(start: Start) -> None:
    peer = start()
    info = peer.common / str(peer.pid) / "attachInfo"
    text = info.read_text()
    info.write_text(text.replace(f"processId={peer.pid}", "processId=1"))
    assert "no attachInfo" in missing(ask(peer)).detail
    info.write_text(text)
    os.chown(info, 34567, 34567)
    assert "no attachInfo" in missing(ask(peer)).detail
    info.unlink()
    info.symlink_to("/etc/passwd")
    assert "no attachInfo" in missing(ask(peer)).detail
    unharmed(peer)


@pytest.mark.parametrize("name", ["_notifier", "_attachlock"])
def test_links_and_pipes_in_the_common_directory_are_not_followed(start: Start, name: str) -> None:
    peer = start()
    file = peer.common / name
    file.unlink(missing_ok=True)
    file.symlink_to("/etc/passwd")
    missing(ask(peer))
    file.unlink()
    os.mkfifo(file)
    began = time.monotonic()
    missing(ask(peer, 0.5))
    assert time.monotonic() - began < 3
    assert peer.left() == []


def test_without_its_semaphore_none_is_made(start: Start) -> None:
    peer = start()
    notifier = peer.common / "_notifier"
    notifier.rename(peer.common / "_kept")  # another inode, another key
    notifier.touch()
    assert "the semaphore that it waits for is not there" in missing(ask(peer)).detail
    with pytest.raises(FileNotFoundError):
        Semaphore(key_of(notifier.stat(), 0xA1))


def test_in_another_network_it_is_said_how(start: Start, tmp_path: Path) -> None:
    peer = start()
    unshared = ["unshare", "--net", sys.executable, "-m", "seedstall", "dump", str(peer.pid)]
    done = subprocess.run(
        unshared,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": SOURCES},
    )
    assert f"nsenter -t {peer.pid} -n -i seedstall dump {peer.pid}" in done.stderr
    unharmed(peer)


SOURCES = str(Path(openj9.__file__).parent.parent.parent)


# --- others at work, and our own end ---------------------------------------------------------------------------------


def test_another_client_at_work_is_waited_for(start: Start) -> None:
    import fcntl

    peer = start()
    with (peer.common / "_attachlock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a C client does
        assert missing(ask(peer, 0.3)).detail == "another client is attaching to an OpenJ9 JVM"
    assert isinstance(ask(peer), Got)
    unharmed(peer)


def test_what_a_killed_run_left_is_taken_away(start: Start) -> None:
    peer = start()
    left = peer.common / str(peer.pid) / "replyInfo"
    left.write_text("seedstall.0011\n1\n")
    left.chmod(0o600)
    assert isinstance(ask(peer), Got)
    left.write_text("0011\n1\n")
    assert "left by another client" in missing(ask(peer)).detail
    assert left.read_text() == "0011\n1\n"
    left.unlink()
    unharmed(peer)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_it_leaves_nothing(start: Start, number: signal.Signals) -> None:
    peer = start("silent")
    code = (
        f"import sys; sys.path.insert(0, {SOURCES!r})\n"
        "from seedstall.effect.attach import Attacher\n"
        f"Attacher({peer.pid}, timeout_s=30, openj9=True).ask('threaddump')"
    )
    client = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while not peer.left():
        assert time.monotonic() < end
        time.sleep(0.005)
    client.send_signal(number)
    assert client.wait(10) in (-number, 1, 130)
    unharmed(peer)


# --- the semaphore ---------------------------------------------------------------------------------------------------


def test_the_key_is_that_of_the_c_library(tmp_path: Path) -> None:
    for n in range(20):
        file = tmp_path / str(n)
        file.touch()
        assert key_of(file.stat(), 0xA1) == openj9_peer.key_of(file)


def test_no_more_is_taken_back_than_was_posted() -> None:
    key = 0x5EED0001
    made = openj9_peer.libc.semget(key, 1, 0o1000 | 0o600)
    try:
        ours = Semaphore(key)

        def value() -> int:
            return int(openj9_peer.libc.semctl(made, 0, GETVAL))

        ours.take_back()
        assert value() == 0
        openj9_peer.libc.semop(made, ctypes.byref(openj9_peer.Operation(0, 5, 0)), 1)  # another's
        ours.post(3)
        assert value() == 8
        ours.take_back()
        ours.take_back()
        assert value() == 5
    finally:
        openj9_peer.libc.semctl(made, 0, IPC_RMID)
    ours.take_back()  # it is gone: no error
    with pytest.raises(OSError):  # noqa: PT011 - EINVAL or EIDRM
        ours.post(1)


def test_a_kernel_without_random_bytes_makes_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not wait for what the JVM may be waiting for."""

    def unready(*_: object) -> bytes:
        raise BlockingIOError

    monkeypatch.setattr(os, "getrandom", unready)
    with pytest.raises(Unavailable) as caught:
        openj9._key()
    assert "not ready" in caught.value.missing.detail
