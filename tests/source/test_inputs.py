"""Files handed over: regular, piped, packed, too large, not readable; and what the user says."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.machine import CHECKOUT

from seedstall.model.errors import UsageError
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.source import pipe
from seedstall.source.detect import Kind, Target
from seedstall.source.inputs import InputSource, given, said_jdk, said_kernel

LIST = Ref(Space.INPUT, "", Ask.LIST)


def file(path: Path) -> Target:
    return Target(str(path), Kind.FILE, path=str(path))


def read(path: Path, limit: int = 1 << 20) -> Reading[bytes]:
    return InputSource([file(path)], limit).read(Ref(Space.INPUT, str(path)))


def why(reading: Reading[bytes]) -> Why:
    assert isinstance(reading, Missing), "it was read"
    return reading.why


def test_names_and_contents(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("b.txt", "a.txt", "\udce4.txt")]
    for path in paths:
        path.write_bytes(path.name.encode("utf-8", "surrogateescape"))
    source = InputSource(map(file, paths))
    listed = source.read(LIST)
    assert isinstance(listed, Got)
    assert listed.value == b"".join(os.fsencode(p) + b"\0" for p in sorted(map(str, paths)))
    for path in paths:
        ref = Ref(Space.INPUT, str(path))
        assert source.read(ref) == Got(path.name.encode("utf-8", "surrogateescape"), (ref,))


def test_each_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("one")
    source = InputSource([file(path)])
    ref = Ref(Space.INPUT, str(path))
    first = source.read(ref)
    path.write_text("two")
    assert source.read(ref) == first


def test_anything_else_was_not_handed_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    source = InputSource([file(path)])
    for ref in (
        Ref(Space.INPUT, "other"),
        Ref(Space.INPUT, "given/jdk"),
        Ref(Space.INPUT, str(path), Ask.STAT),
        Ref(Space.KERNEL, str(path)),
    ):
        assert why(source.read(ref)) is Why.NOT_COLLECTED
    assert why(InputSource([]).read(LIST)) is Why.NOT_COLLECTED


def test_why_a_file_could_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert why(read(path)) is Why.ABSENT
    path.write_text("x" * 100)
    assert isinstance(read(path, 100), Got)
    assert why(read(path, 99)) is Why.TRUNCATED
    assert why(read(tmp_path)) is Why.REFUSED
    assert why(read(Path("/dev/zero"))) is Why.REFUSED
    assert why(read(Path("/dev/random"))) is Why.REFUSED
    assert why(read(Path("/proc/kmsg"))) is Why.REFUSED


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    """``diagnose <(journalctl -u tomcat)``."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(b"line\n" * 100_000))
    writer.start()
    reading = read(fifo)
    writer.join()
    assert isinstance(reading, Got)
    assert reading.value == b"line\n" * 100_000


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "catalina.out.gz"
    path.write_bytes(gzip.compress(b"first ") + gzip.compress(b"second"))
    reading = read(path)
    assert isinstance(reading, Got)
    assert reading.value == b"first second"


def test_damaged_and_explosive_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    packed = gzip.compress(b"\0" * (64 << 20))
    path.write_bytes(packed)
    assert why(read(path)) is Why.TRUNCATED
    for damaged in (gzip.compress(b"some text")[:-6], b"\x1f\x8bnonsense"):
        path.write_bytes(damaged)
        assert read(path) == Got(damaged, (Ref(Space.INPUT, str(path)),)), (
            "what stands before the damage is found in it"
        )


def test_standard_input(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT / 'src')!r})\n"
        "from seedstall.source.detect import resolve; from seedstall.source.inputs import InputSource\n"
        "from seedstall.model.evidence import Ref, Space\n"
        "print(InputSource([resolve('-')]).read(Ref(Space.INPUT, '-')).value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"a dump", capture_output=True, check=True
    )
    assert done.stdout == b"b'a dump'\n"


def test_what_the_user_says() -> None:
    said = given(jdk="1.8.0_151", egd="", kernel="3.10.0-957.el7")
    assert said.read(Ref(Space.INPUT, "given/jdk")) == Got(
        b"1.8.0_151", (Ref(Space.INPUT, "given/jdk"),)
    )
    release = Ref(Space.KERNEL, "proc/sys/kernel/osrelease")
    assert said.read(release) == Got(b"3.10.0-957.el7", (release,))
    assert why(said.read(Ref(Space.INPUT, "given/egd"))) is Why.NOT_COLLECTED
    assert why(said.read(LIST)) is Why.NOT_COLLECTED


def test_a_pipe_that_falls_silent_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``diagnose <(tail -f catalina.out)``."""
    monkeypatch.setattr(pipe, "SILENCE_S", 0.2)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = os.open(fifo, os.O_RDWR)
    try:
        os.write(writer, b"a line")
        assert why(read(fifo)) is Why.TIMED_OUT
        os.write(writer, b"x" * 200)
        assert why(read(fifo, 100)) is Why.TRUNCATED
    finally:
        os.close(writer)


@pytest.mark.parametrize("text", ["zzz", "banana", "-1", " "])
def test_what_the_user_says_must_be_a_version(text: str) -> None:
    for say in (said_jdk, said_kernel):
        with pytest.raises(UsageError) as caught:
            say(text)
        assert caught.value.hint
    with pytest.raises(UsageError):
        given(jdk=text)
    with pytest.raises(UsageError):
        given(kernel=text)


@pytest.mark.parametrize("text", ["", "17", "8u151", "1.7.0_80", "11.0.13+8"])
def test_versions_a_user_says(text: str) -> None:
    assert said_jdk(text) == text


@pytest.mark.parametrize("text", ["", "3.10.0-957.el7.x86_64", "4.4.0-210-generic", "6.8"])
def test_releases_a_user_says(text: str) -> None:
    assert said_kernel(text) == text
