"""What words on the command line mean, and what is said of those that mean nothing."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from tests import cores
from tests.old_kernels import unpacked

from seedstall.model.errors import NoSuchTargetError, SeedstallError, UsageError
from seedstall.model.evidence import Got, Ref, Space
from seedstall.source import detect, host, pipe
from seedstall.source.detect import Kind, Target, resolve
from seedstall.source.inputs import InputSource
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
        (b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x03\x00\x3e\x00", "a program"),
        (b"JAVA PROFILE 1.0.2\0", "heap dump"),
        (b"FLR\0\0\2", "flight recording"),
    ],
)
def test_what_is_recognised_and_not_read_is_named(tmp_path: Path, head: bytes, words: str) -> None:
    path = tmp_path / "given"
    path.write_bytes(head + b"\0" * 100)
    message, hint = failure(path, NoSuchTargetError)
    assert words in message
    assert hint


@pytest.mark.parametrize(
    "head",
    [
        b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x04\x00\x3e\x00",
        b"\x7fELF\x02\x02\x01" + b"\0" * 9 + b"\x00\x04\x00\x16",
    ],
)
def test_a_core_is_told_by_its_content(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "given"
    path.write_bytes(head + b"\0" * 100)
    assert resolve(str(path)) == Target(str(path), Kind.CORE, path=str(path))


def test_cores_of_a_folder(tmp_path: Path) -> None:
    cores.of_jvm().write(tmp_path / "core.77")
    (tmp_path / "core.78.gz").write_bytes(gzip.compress(cores.of_jvm().bytes()))
    (tmp_path / "core.txt").write_text("text")
    found = detect.files_below(resolve(str(tmp_path)))
    assert [target.kind for target in found] == [Kind.CORE, Kind.CORE, Kind.FILE]


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


def test_a_fifo_that_nobody_writes_to_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe, "NOBODY_S", 0.2)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    message, hint = failure(fifo)
    assert message.startswith(f"nobody writes to {fifo}: ")
    assert hint


def test_a_writer_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe, "SILENCE_S", 0.2)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = os.open(fifo, os.O_RDWR)
    try:
        assert "said nothing" in failure(fifo)[0]
    finally:
        os.close(writer)


def test_a_late_writer_of_a_fifo_is_waited_for(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = subprocess.Popen(
        ["sh", "-c", "sleep 0.3; echo a; sleep 0.3; echo dump", "sh"], stdout=subprocess.PIPE
    )
    with subprocess.Popen(
        ["sh", "-c", 'sleep 0.3; exec cat > "$1"', "sh", str(fifo)], stdin=writer.stdout
    ):
        target = resolve(str(fifo))
        reading = InputSource([target]).read(Ref(Space.INPUT, str(fifo)))
    writer.communicate()
    assert isinstance(reading, Got)
    assert reading.value == b"a\ndump\n"


@pytest.mark.parametrize("text", [b"a dump", b""])
def test_process_substitution(text: bytes) -> None:
    """``diagnose <(journalctl)`` is ``/dev/fd/63``, a pipe without a name: its end is an end at once."""
    ours, theirs = os.pipe()
    os.write(theirs, text)
    os.close(theirs)
    try:
        name = f"/dev/fd/{ours}"
        reading = InputSource([resolve(name)]).read(Ref(Space.INPUT, name))
    finally:
        os.close(ours)
    assert isinstance(reading, Got)
    assert reading.value == text


@pytest.mark.parametrize(
    "path", ["/proc/kmsg", "/proc/self/maps", "/proc/version", "/sys/kernel/uevent_seqnum"]
)
def test_files_of_the_kernels_own_are_never_read(path: str) -> None:
    """A read of /proc/kmsg waits for the next message, and takes it from whoever logs them."""
    message, hint = failure(path)
    assert "the kernel's" in message
    assert "PID" in hint


@pytest.mark.parametrize("text", ["", " ", "0", "000"])
def test_an_unset_variable_is_a_usage_error(text: str) -> None:
    _, hint = failure(text, UsageError)
    assert hint
    assert "hidepid" not in hint
