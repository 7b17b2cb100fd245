"""The attach file and the signal, on processes of our own."""

from __future__ import annotations

import dataclasses
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedstall.effect.trigger import STALE_S, Trigger, send_sigquit
from seedstall.facts.process import jvm_process
from seedstall.model.evidence import Unavailable, Why
from seedstall.source.host import HostSource

CATCHER = """
import signal, sys
signal.signal(signal.SIGQUIT, lambda *_: print("quit", flush=True))
print("up", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def target(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that catches SIGQUIT, in a working directory of its own."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    program = subprocess.Popen([sys.executable, "-c", CATCHER], cwd=folder, stdout=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stdout.readline() == b"up\n"
    yield program
    program.kill()
    program.communicate()


@pytest.fixture
def source(target: subprocess.Popen[bytes]) -> Iterator[HostSource]:
    with HostSource(target.pid) as host:
        yield host


@pytest.fixture
def tmp(tmp_path: Path) -> Iterator[int]:
    """What stands for the target's /tmp."""
    (tmp_path / "tmp").mkdir()
    fd = os.open(tmp_path / "tmp", os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.fixture
def trigger(source: HostSource, tmp: int) -> Iterator[Trigger]:
    made = Trigger(source, jvm_process(source), tmp)
    yield made
    made.close()


def files(tmp_path: Path) -> list[str]:
    return sorted(str(p.relative_to(tmp_path)) for p in tmp_path.glob("*/.*"))


def test_it_lies_in_tmp_and_goes_again(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes]
) -> None:
    trigger.place()
    name = f".attach_pid{target.pid}"
    assert files(tmp_path) == [f"tmp/{name}"]
    assert trigger.path == f"/proc/{target.pid}/root/tmp/{name}"
    made = (tmp_path / "tmp" / name).stat()
    assert (made.st_uid, made.st_mode & 0o777, made.st_size) == (os.geteuid(), 0o600, 0)
    assert trigger.there
    trigger.close()
    trigger.close()
    assert files(tmp_path) == []


@pytest.mark.root
def test_it_belongs_to_the_targets_user(source: HostSource, tmp: int, tmp_path: Path) -> None:
    process = jvm_process(source)
    theirs = dataclasses.replace(process, uid=34567, gid=34568)
    (tmp_path / "cwd").chmod(0o777)
    for mode, where in ((0o777, "tmp"), (0o755, "cwd")):
        (tmp_path / "tmp").chmod(mode)
        made = Trigger(source, theirs, tmp)
        made.place()
        (name,) = files(tmp_path)
        assert name.startswith(f"{where}/"), "the second place, where /tmp takes no file"
        assert made.path.endswith(f"/{'root/tmp' if where == 'tmp' else 'cwd'}/{made.name}")
        found = (tmp_path / name).stat()
        assert (found.st_uid, found.st_gid) == (34567, 34568)
        made.close()
        assert files(tmp_path) == []


def test_where_nothing_can_be_placed_it_says_so(
    trigger: Trigger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(trigger, "_create", refuse)
    with pytest.raises(Unavailable) as caught:
        trigger.place()
    assert caught.value.missing.why is Why.DENIED
    assert caught.value.missing.detail.count("Read-only file system") == 2


def test_where_another_owner_is_forced_on_it_it_is_taken_away(
    trigger: Trigger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS with root squashed: a JVM would not accept it."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(trigger, "_process", trigger._process)
    object.__setattr__(trigger._process, "uid", os.geteuid() + 1)
    monkeypatch.setattr(os, "geteuid", lambda: 1)  # not root: ids are not taken on
    with pytest.raises(Unavailable):
        trigger.place()
    assert files(tmp_path) == []


def stale(tmp_path: Path, target: subprocess.Popen[bytes], age_s: float, where: str) -> Path:
    path = tmp_path / f"{where}/.attach_pid{target.pid}"
    path.write_text("")
    os.utime(path, (time.time() - age_s, time.time() - age_s))
    return path


@pytest.mark.parametrize("where", ["cwd", "tmp"])
def test_a_stale_one_serves_and_is_taken_away(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes], where: str
) -> None:
    stale(tmp_path, target, STALE_S + 5, where)
    trigger.place()
    assert not trigger.fresh
    trigger.close()
    assert files(tmp_path) == []


@pytest.mark.parametrize("where", ["cwd", "tmp"])
def test_a_fresh_one_is_another_clients(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes], where: str
) -> None:
    path = stale(tmp_path, target, 1, where)
    trigger.place()
    assert trigger.fresh
    trigger.close()
    assert path.exists()


@pytest.mark.parametrize("where", ["cwd", "tmp"])
@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_what_a_jvm_would_not_accept_is_refused_and_left(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes], kind: str, where: str
) -> None:
    path = tmp_path / f"{where}/.attach_pid{target.pid}"
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.raises(Unavailable) as caught:
        trigger.place()
    assert caught.value.missing.why is Why.REFUSED
    assert "remove it" in caught.value.missing.detail
    trigger.close()
    assert files(tmp_path) == [f"{where}/{path.name}"]
    assert not (tmp_path / "elsewhere").exists()


def test_one_that_came_in_its_place_is_left(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes]
) -> None:
    trigger.place()
    path = tmp_path / f"tmp/.attach_pid{target.pid}"
    path.rename(tmp_path / "kept")  # so that its inode is not given out again
    path.write_text("another client's")
    trigger.close()
    assert path.read_text() == "another client's"


def test_one_that_is_gone_is_no_error(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes]
) -> None:
    trigger.place()
    (tmp_path / f"tmp/.attach_pid{target.pid}").unlink()
    assert not trigger.there
    trigger.close()


# --- the signal ------------------------------------------------------------------------------------------------------


def test_the_signal_arrives(source: HostSource, target: subprocess.Popen[bytes]) -> None:
    send_sigquit(source, jvm_process(source))
    assert target.stdout is not None
    assert target.stdout.readline() == b"quit\n"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM, errno.EBADF])
def test_without_pidfd_it_arrives_after_a_second_look(
    source: HostSource,
    target: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    """Before 5.1, and under a seccomp filter."""

    def lacking(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(signal, "pidfd_send_signal", lacking)
    process = jvm_process(source)
    send_sigquit(source, process)
    assert target.stdout is not None
    assert target.stdout.readline() == b"quit\n"
    object.__setattr__(process, "start_ticks", process.start_ticks - 1)
    with pytest.raises(Unavailable) as caught:
        send_sigquit(source, process)
    assert caught.value.missing.why is Why.VANISHED, "the pid belongs to another process"


def test_a_python_without_pidfd(
    source: HostSource, target: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(signal, "pidfd_send_signal")
    send_sigquit(source, jvm_process(source))
    assert target.stdout is not None
    assert target.stdout.readline() == b"quit\n"


def test_one_that_has_ended_is_not_signalled(
    source: HostSource, target: subprocess.Popen[bytes]
) -> None:
    process = jvm_process(source)
    target.kill()
    target.wait()
    with pytest.raises(Unavailable) as caught:
        send_sigquit(source, process)
    assert caught.value.missing.why is Why.VANISHED


def test_one_that_lost_its_handler_meanwhile_is_not_signalled() -> None:
    """It called exec between the look and the signal."""
    program = subprocess.Popen(["sleep", "60"])
    try:
        with HostSource(program.pid) as source:
            with pytest.raises(Unavailable) as caught:
                send_sigquit(source, jvm_process(source))
            assert caught.value.missing.why is Why.REFUSED
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()
