from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.effect import chamber
from seedstall.effect.probejvm import STORED, Fifo, _in_memory, fields, number


@pytest.fixture
def fifo(tmp_path: Path) -> Fifo:
    path = tmp_path / "device"
    os.mkfifo(path)
    return Fifo(os.open(path, os.O_RDWR | os.O_NONBLOCK))


def reader(fifo: Fifo) -> int:
    return os.open(f"/proc/self/fd/{fifo._end}", os.O_RDWR | os.O_NONBLOCK)


@pytest.mark.parametrize("count", [0, 1, 20, 276, STORED // 2])
def test_what_is_missing_was_read(fifo: Fifo, count: int) -> None:
    fifo.fill()
    other = reader(fifo)
    if count:
        assert len(os.read(other, count)) == count
    assert fifo.taken() == count
    os.close(other)
    fifo.close()


def test_what_was_read_before_the_mark_does_not_count(fifo: Fifo) -> None:
    fifo.fill()
    other = reader(fifo)
    os.read(other, 100)
    fifo.mark()
    os.read(other, 20)
    assert fifo.taken() == 20
    os.close(other)
    fifo.close()


def test_what_is_written_to_it_is_not_taken_for_ours(fifo: Fifo) -> None:
    """As `setSeed` does, between two of our fillings."""
    fifo.fill()
    other = reader(fifo)
    os.read(other, 20)
    os.write(other, bytes(20))
    fifo.fill()
    assert fifo.taken() == 20
    os.close(other)
    fifo.close()


def test_an_empty_one_that_was_written_to_gave_nothing(fifo: Fifo) -> None:
    other = reader(fifo)
    os.write(other, bytes(20))
    assert fifo.taken() == 0
    os.close(other)
    fifo.close()


def test_it_stays_filled_while_somebody_drains_it(fifo: Fifo) -> None:
    other, drained = reader(fifo), 0
    for _ in range(10):
        fifo.fill()
        drained += len(os.read(other, STORED))
    assert fifo.taken() == drained
    os.close(other)
    fifo.close()


def test_links_that_go_round_in_circles_leave_a_place_for_the_tmpfs(tmp_path: Path) -> None:
    """Whose target is hostile can lay such a link in the way of a path that it names."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert chamber._place([str(loop), "/nonexistent/x"]) in chamber.PLACES


def test_files_are_handed_over_in_memory() -> None:
    fd = _in_memory(b"a=b\n")
    assert chamber._held(f"x:y:{fd}") == ("x:y", b"a=b\n")


@given(st.binary(max_size=2000))
def test_any_line_is_taken_apart(line: bytes) -> None:
    for name, value in fields(line).items():
        assert isinstance(name, str)
        assert value.isprintable() or value == ""


def test_values_are_decoded_and_shown() -> None:
    assert fields(b" java=17.0.1+9 source=file%3A%2Fx%1b[2J") == {
        "java": "17.0.1 9",
        "source": "file:/x\\x1b[2J",
    }


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12), ("", None), ("-1", None), ("9" * 30, None)]
)
def test_numbers_are_bounded(text: str, value: int | None) -> None:
    assert number(text) == value


def test_the_place_hides_nothing_that_is_needed() -> None:
    assert chamber._place([]) == next(p for p in chamber.PLACES if Path(p).is_dir())
    assert chamber._place(["/dev/shm/jdk/bin/java"]) != "/dev/shm"
    with pytest.raises(OSError, match="no directory is free"):
        chamber._place([f"{place}/x" for place in chamber.PLACES])
