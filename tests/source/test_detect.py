"""What words on the command line mean, and what is said of those that mean nothing."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from tests.old_kernels import unpacked

from seedstall.model.errors import NoSuchTargetError, SeedstallError
from seedstall.source import detect, host
from seedstall.source.detect import Kind, Target, resolve
from seedstall.source.tree import TreeSource


def failure(text: str | Path, kind: type[SeedstallError] = NoSuchTargetError) -> tuple[str, str]:
    with pytest.raises(kind) as caught:
        resolve(str(text))
    return str(caught.value), caught.value.hint


def test_standard_input() -> None:
    assert resolve("-") == Target("-", Kind.STDIN)


def test_files_and_folders(tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_text("Full thread dump")
    assert resolve(str(dump)) == Target(str(dump), Kind.FILE, path=str(dump))
    assert resolve(str(tmp_path)) == Target(str(tmp_path), Kind.DIRECTORY, path=str(tmp_path))
    os.mkfifo(tmp_path / "fifo")
    assert resolve(str(tmp_path / "fifo")).kind is Kind.FILE


def test_a_captured_tree(tmp_path: Path) -> None:
    target = resolve(str(unpacked("seed-4.4.0-210", tmp_path)))
    assert target.kind is Kind.TREE
    with detect.tree(target) as source:
        assert isinstance(source, TreeSource)
        assert source.pid == 120


def test_a_process() -> None:
    pid = os.getpid()
    assert resolve(str(pid)) == Target(str(pid), Kind.PID, pid)


def test_a_process_goes_before_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / str(os.getpid())).write_text("")
    assert resolve(str(os.getpid())).kind is Kind.PID
    assert resolve(f"./{os.getpid()}").kind is Kind.FILE
    (tmp_path / "4194303").write_text("")
    assert failure("4194303")[1] == "for the file of that name say ./4194303"


def test_what_is_not_there() -> None:
    assert failure("no-such-file") == (
        "there is no file no-such-file",
        "a target is a PID, a file, a folder or -",
    )
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert failure(str(gone.pid))[0] == f"there is no process {gone.pid}"
    assert "no pid" in failure("9" * 30)[0]
    failure("a\0b")
    failure("x" * 5000)
    failure("\u0661\u0662")  # digits, but not ours


def test_a_thread_leads_to_its_process() -> None:
    ready, done = threading.Event(), threading.Event()
    tid: list[int] = []

    def wait() -> None:
        tid.append(threading.get_native_id())
        ready.set()
        done.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        ready.wait()
        assert failure(str(tid[0])) == (
            f"{tid[0]} is a thread of process {os.getpid()}",
            f"name {os.getpid()}",
        )
    finally:
        done.set()
        thread.join()


def test_a_process_that_is_no_jvm_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        target = resolve(str(process.pid))
        with pytest.raises(NoSuchTargetError) as caught:
            detect.jvms_of(target)
        assert (
            str(caught.value)
            == f"process {process.pid} is not a JVM, and none is below it: sleep 60"
        )
        monkeypatch.setattr(host, "jvms_below", lambda _: (7, 8))
        assert detect.jvms_of(target) == (7, 8)
        monkeypatch.setattr(host, "is_jvm", lambda _: True)
        assert detect.jvms_of(target) == (process.pid,)
    finally:
        process.kill()
        assert os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT) is not None
        assert "zombie" in str(detect.not_a_jvm(Target(str(process.pid), Kind.PID, process.pid)))
        process.wait()


def test_a_file_has_no_jvms(tmp_path: Path) -> None:
    with pytest.raises(NoSuchTargetError, match="not a process"):
        detect.jvms_of(Target("x", Kind.FILE, path="x"))


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x04\x00\x3e\x00", "ELF core"),
        (b"\x7fELF\x02\x02\x01" + b"\0" * 9 + b"\x00\x04\x00\x16", "ELF core"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x03\x00\x3e\x00", "a program"),
        (b"JAVA PROFILE 1.0.2\0", "heap dump"),
        (b"FLR\0\0\2", "flight recording"),
        (b"PK\x03\x04", "zip"),
        (b"\0" * 257 + b"ustar", "tar archive"),
    ],
)
def test_what_is_recognised_and_not_read_is_named(tmp_path: Path, head: bytes, words: str) -> None:
    path = tmp_path / "given"
    path.write_bytes(head + b"\0" * 100)
    message, hint = failure(path, SeedstallError)
    assert words in message
    assert hint


def test_devices_and_sockets_are_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("door")
        assert "device or socket" in failure("door")[0]
    assert "device or socket" in failure("/dev/zero")[0]


def test_files_below_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.txt", "a.txt", "in/c.txt", ".hidden", ".git/x"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to(".")
    found = detect.files_below(resolve(str(tmp_path)))
    assert [t.name for t in found] == [str(tmp_path / n) for n in ("a.txt", "b.txt", "in/c.txt")]
    assert {t.kind for t in found} == {Kind.FILE}
    monkeypatch.setattr(detect, "MAX_FILES", 2)
    with pytest.raises(SeedstallError, match="more than 2 files"):
        detect.files_below(resolve(str(tmp_path)))
