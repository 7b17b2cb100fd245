from __future__ import annotations

import os
import select
import threading
import time
from pathlib import Path

import pytest

from seedstall.model.evidence import Got, Missing, Ref, Space, Why
from seedstall.source import probe


def test_this_kernel_answers_without_being_read() -> None:
    """Every kernel that Python 3.11 meets answers; which answer it is, its files must agree with."""
    reading = probe.read(probe.INSECURE)

    assert isinstance(reading, Got)
    has_pool = Path("/proc/sys/kernel/random/read_wakeup_threshold").exists()
    if reading.value not in (b"EPERM", b"ENOSYS"):  # a seccomp filter
        assert reading.value == (b"EINVAL" if has_pool else b"0")


def test_the_device_is_polled() -> None:
    reading = probe.read(probe.POLL)

    assert isinstance(reading, Got)
    assert int(reading.value) & (select.POLLIN | select.POLLOUT)


def test_the_count_by_ioctl_is_the_files() -> None:
    reading = probe.read(probe.COUNT)

    assert isinstance(reading, Got)
    shown = int(Path("/proc/sys/kernel/random/entropy_avail").read_text())
    assert abs(int(reading.value) - shown) <= 256


def test_nothing_else_is_answered() -> None:
    reading = probe.read(Ref(Space.KERNEL, "probe/other"))

    assert isinstance(reading, Missing)
    assert reading.why is Why.NOT_COLLECTED


@pytest.mark.parametrize("o_path", [os.O_PATH, 0], ids=["O_PATH", "before 2.6.39"])
def test_a_fifo_in_its_place_is_not_even_opened(
    o_path: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writer, waiting for a reader, must not be woken; kernels that do not know O_PATH ignore it."""
    monkeypatch.setattr(os, "O_PATH", o_path)
    fifo = tmp_path / "random"
    os.mkfifo(fifo)
    opened = threading.Event()

    def write() -> None:
        os.close(os.open(fifo, os.O_WRONLY))
        opened.set()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    time.sleep(0.2)  # until it waits in open(2)

    for ref in (probe.POLL, probe.COUNT):
        reading = probe.read(ref, str(fifo))
        assert isinstance(reading, Missing)
        assert reading.why is Why.REFUSED
        assert "1:8" in reading.detail
    assert not opened.wait(0.3)

    os.close(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK))  # let the writer go
    writer.join(5)
    assert opened.is_set()


def test_a_fifo_put_there_after_the_look_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "random"
    os.mkfifo(fifo)
    before = os.stat("/dev/random")  # noqa: PTH116 - what is replaced below
    monkeypatch.setattr(os, "stat", lambda _: before)
    reading = probe.read(probe.POLL, str(fifo))
    monkeypatch.undo()

    assert isinstance(reading, Missing)
    assert reading.why is Why.REFUSED


@pytest.mark.parametrize("device", ["/dev/urandom", "/dev/null", "/proc/self/status"])
def test_anything_but_1_8_is_refused(device: str) -> None:
    reading = probe.read(probe.POLL, device)

    assert isinstance(reading, Missing)
    assert reading.why is Why.REFUSED


def test_a_link_to_the_device_is_the_device(tmp_path: Path) -> None:
    link = tmp_path / "random"
    link.symlink_to("/dev/random")

    assert isinstance(probe.read(probe.POLL, str(link)), Got)


def test_a_missing_device_is_absent(tmp_path: Path) -> None:
    reading = probe.read(probe.POLL, str(tmp_path / "random"))

    assert isinstance(reading, Missing)
    assert reading.why is Why.ABSENT


def test_a_filter_is_an_answer_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(size: int, flags: int) -> bytes:
        assert size == 0
        raise PermissionError(1, f"Operation not permitted: {flags}")

    monkeypatch.setattr(os, "getrandom", refuse)
    reading = probe.read(probe.INSECURE)

    assert isinstance(reading, Got)
    assert reading.value == b"EPERM"


def test_a_python_without_getrandom_collects_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getrandom")
    reading = probe.read(probe.NONBLOCK)

    assert isinstance(reading, Missing)
    assert reading.why is Why.NOT_COLLECTED


def test_only_zero_bytes_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def record(size: int, flags: int = 0) -> bytes:
        asked.append((size, flags))
        return b""

    monkeypatch.setattr(os, "getrandom", record)
    probe.read(probe.INSECURE)
    probe.read(probe.NONBLOCK)

    assert asked == [(0, 4), (0, 1)]


def test_no_descriptor_is_left_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        probe.read(probe.POLL)
        probe.read(probe.COUNT)
        probe.read(probe.POLL, "/dev/null")

    assert len(list(Path("/proc/self/fd").iterdir())) == before
