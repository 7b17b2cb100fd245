"""The attach file and the signal, on processes of our own."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seedstall.effect import trigger as module
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
    assert (made.st_uid, made.st_mode & 0o777) == (os.geteuid(), 0o600)
    signature = (tmp_path / "tmp" / name).read_text()
    assert re.fullmatch(rf"seedstall {os.getpid()} \d+ pid:\[\d+\]\n", signature)
    assert trigger.there
    trigger.close()
    trigger.close()
    assert files(tmp_path) == []


@pytest.mark.root
def test_it_belongs_to_the_targets_user(source: HostSource, tmp: int, tmp_path: Path) -> None:
    process = jvm_process(source)
    theirs = dataclasses.replace(process, uid=34567, gid=34568)
    (tmp_path / "cwd").chmod(0o777)
    (tmp_path / "tmp").chmod(0o777)
    made = Trigger(source, theirs, tmp)
    made.place()
    (name,) = files(tmp_path)
    found = (tmp_path / name).stat()
    assert (found.st_uid, found.st_gid) == (34567, 34568)
    made.close()
    assert files(tmp_path) == []


@pytest.mark.root
def test_a_tmp_that_its_user_may_not_write_takes_no_socket_either(
    source: HostSource, tmp: int, tmp_path: Path
) -> None:
    theirs = dataclasses.replace(jvm_process(source), uid=34567, gid=34568)
    (tmp_path / "cwd").chmod(0o777)
    (tmp_path / "tmp").chmod(0o755)
    with pytest.raises(Unavailable) as caught:
        Trigger(source, theirs, tmp).place()
    assert caught.value.missing.why is Why.REFUSED
    assert "its /tmp takes no file (Permission denied)" in caught.value.missing.detail
    assert files(tmp_path) == []


def is_nameless(flags: int) -> bool:
    return flags & os.O_TMPFILE == os.O_TMPFILE


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT])
def test_where_there_are_no_nameless_files_it_is_named_at_once(
    trigger: Trigger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """NFS, and kernels before 3.11."""
    real = os.open

    def lacking(path: str, flags: int, *rest: int, dir_fd: int | None = None) -> int:
        if is_nameless(flags):
            raise OSError(number, os.strerror(number))
        return real(path, flags, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", lacking)
    trigger.place()
    (name,) = files(tmp_path)
    assert (tmp_path / name).read_text().startswith("seedstall ")
    trigger.close()
    assert files(tmp_path) == []


def test_it_has_no_name_before_it_is_complete(
    trigger: Trigger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL at any moment leaves none that is not known as ours."""
    seen: list[str] = []
    real = os.write

    def look(fd: int, data: bytes) -> int:
        seen.extend(files(tmp_path))
        return real(fd, data)

    monkeypatch.setattr(os, "write", look)
    trigger.place()
    assert seen == []
    assert len(files(tmp_path)) == 1


def refusing(number: int) -> Callable[..., int]:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EDQUOT])
def test_where_no_socket_could_be_made_it_is_not_called(
    trigger: Trigger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real = os.open

    def full(path: str, flags: int, *rest: int, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT or is_nameless(flags):
            raise OSError(number, os.strerror(number))
        return real(path, flags, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(Unavailable) as caught:
        trigger.place()
    assert caught.value.missing.why is Why.REFUSED
    assert os.strerror(number) in caught.value.missing.detail
    assert files(tmp_path) == []


def test_where_nothing_can_be_placed_it_says_so(
    trigger: Trigger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trigger, "_create", refusing(errno.EIO))
    with pytest.raises(Unavailable) as caught:
        trigger.place()
    assert caught.value.missing.why is Why.DENIED
    assert caught.value.missing.detail.count("Input/output error") == 2


def test_on_a_full_disk_an_empty_one_serves(
    trigger: Trigger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "write", refusing(errno.ENOSPC))
    trigger.place()
    assert len(files(tmp_path)) == 1
    trigger.close()
    assert files(tmp_path) == []


# --- what a run that was killed left ---------------------------------------------------------------------------------


def signed(tmp_path: Path, target: subprocess.Popen[bytes], text: str, where: str = "tmp") -> Path:
    path = tmp_path / f"{where}/.attach_pid{target.pid}"
    path.write_text(text)
    return path


def gone() -> str:
    """The signature of a process that has ended."""
    pid = subprocess.Popen(["true"])
    pid.wait()
    return f"seedstall {pid.pid} 1 {os.readlink('/proc/self/ns/pid')}\n"  # noqa: PTH115


@pytest.fixture
def at_work() -> Iterator[str]:
    """The signature of another seedstall that lives."""
    other = subprocess.Popen(["sleep", "60"])
    yield module._signature(str(other.pid)).decode()
    other.kill()
    other.wait()


def test_the_file_of_a_killed_run_serves_at_once_and_goes(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes]
) -> None:
    """However young: its author is known to be gone."""
    signed(tmp_path, target, gone())
    trigger.place()
    assert not trigger.fresh
    trigger.close()
    assert files(tmp_path) == []


def test_the_file_of_a_run_at_work_is_its_own(
    trigger: Trigger, tmp_path: Path, target: subprocess.Popen[bytes], at_work: str
) -> None:
    """However old: it may have been told to wait for ten minutes."""
    path = signed(tmp_path, target, at_work)
    os.utime(path, (1, 1))
    trigger.place()
    assert trigger.fresh
    assert trigger.busy
    trigger.close()
    assert path.exists()


def test_the_next_run_sweeps_what_a_killed_one_left(
    source: HostSource, tmp: int, tmp_path: Path, target: subprocess.Popen[bytes], at_work: str
) -> None:
    """Its own kind alone, of whatever JVM: nobody else's, no link, no pipe."""
    process = jvm_process(source)
    ours = tmp_path / "tmp/.attach_pid77"
    ours.write_text(gone())
    elsewhere = gone().replace("pid:[", "pid:[9")
    keep = {
        ".attach_pid1": at_work,
        ".attach_pid2": "",
        ".attach_pid3": gone() + "and more",
        ".attach_pid4": "seedstall 99999999999999999999 1 pid:[1]\n",
        ".attach_pid5": elsewhere,  # its author cannot be looked up from here, and it is young
        "other": gone(),
    }
    for name, text in keep.items():
        (tmp_path / "tmp" / name).write_text(text)
    os.mkfifo(tmp_path / "tmp/.attach_pid6")
    (tmp_path / "elsewhere").write_text(gone())
    (tmp_path / "tmp/.attach_pid7").symlink_to(tmp_path / "elsewhere")
    before = sorted(p.name for p in (tmp_path / "tmp").iterdir())
    assert module.leftovers(tmp) == (".attach_pid77",)
    assert module.sweep(tmp, process) == (".attach_pid77",)
    after = sorted(p.name for p in (tmp_path / "tmp").iterdir())
    assert set(before) - set(after) == {".attach_pid77"}
    assert (tmp_path / "elsewhere").exists()
    os.utime(tmp_path / "tmp/.attach_pid5", (1, 1))
    assert module.sweep(tmp, process) == (".attach_pid5",)


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
