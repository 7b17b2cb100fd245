"""Output on its way through us: whole, in order, and searched."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from seedstall.effect.passthrough import LogFile

DRIVER = """
import os, subprocess, sys
from seedstall.effect.passthrough import Passthrough
through = Passthrough(sys.argv[1].encode())
ends = through.streams
child = subprocess.Popen(sys.argv[2:], stdout=ends[1], stderr=ends[2])
through.start()
code = child.wait()
while not through.ended(0.1):
    pass
os.write(int(os.environ["SEEN"]), b"seen" if through.seen else b"not seen")
"""


def through(
    text: str, program: str, **streams: object
) -> tuple[subprocess.CompletedProcess[bytes], bool]:
    reader, writer = os.pipe()
    options: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    done = subprocess.run(  # type: ignore[call-overload]
        [sys.executable, "-c", DRIVER, text, sys.executable, "-c", program],
        pass_fds=[writer],
        env={**os.environ, "SEEN": str(writer)},
        timeout=30,
        check=False,
        **options,
    )
    os.close(writer)
    with open(reader, "rb") as told:  # noqa: PTH123
        return done, told.read() == b"seen"


def test_every_byte_of_both_streams_comes_through() -> None:
    size = 3_000_000
    program = f"import sys; sys.stdout.buffer.write(bytes(range(256)) * {size // 256}); sys.stderr.write('e' * {size})"
    done, seen = through("never said", program)
    assert done.stdout == bytes(range(256)) * (size // 256)
    assert done.stderr == b"e" * size
    assert not seen


def test_lines_of_two_streams_into_one_file_stay_in_order() -> None:
    program = "import os\nfor i in range(500):\n os.write(1 + i % 2, b'%d\\n' % i)"
    done, _ = through("x", program, stderr=subprocess.STDOUT)
    assert done.stdout == b"".join(b"%d\n" % i for i in range(500))


def test_a_text_that_falls_across_two_writes_is_seen() -> None:
    program = (
        "import os, time\nos.write(2, b'Server sta')\ntime.sleep(0.2)\nos.write(2, b'rtup in 3')"
    )
    assert through("Server startup in", program)[1]


def test_a_reader_that_went_away_is_felt_by_the_program() -> None:
    """As without us: ``program | head -1`` ends the program by SIGPIPE."""
    reader, writer = os.pipe()
    os.close(reader)
    program = "import os, signal\nsignal.signal(13, 0)\nwhile True: os.write(1, b'y' * 4096)"
    done, _ = through("x", program, stdout=writer)
    os.close(writer)
    assert done.returncode == 0, "the driver ended: its program did"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_bytes(b"Server startup in [1] milliseconds\n")
    return path


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_log_says_it_only_after_the_launch(log: Path) -> None:
    told = LogFile(log, b"Server startup in")
    assert not told.says(), "that was an earlier start"
    append(log, b"Server sta")
    assert not told.says()
    append(log, b"rtup in [9]")
    assert told.says()


@pytest.mark.parametrize("renew", [lambda p: p.write_bytes(b""), lambda p: p.rename(f"{p}.1")])
def test_a_log_that_was_renewed_is_read_from_its_beginning(
    log: Path, renew: Callable[[Path], object]
) -> None:
    told = LogFile(log, b"Server startup in")
    renew(log)
    assert not told.says()
    append(log, b"Server startup in")
    assert told.says()


def test_a_log_that_comes_later_is_waited_for(tmp_path: Path) -> None:
    told = LogFile(tmp_path / "later.log", b"up")
    assert not told.says()
    append(tmp_path / "later.log", b"it is up\n")
    assert told.says()


def test_what_it_costs_is_little() -> None:
    """10 MB pass in well under a second of CPU."""
    program = "import sys; sys.stdout.write('x' * 10_000_000)"
    began = time.monotonic()
    done, _ = through("never", program)
    assert len(done.stdout) == 10_000_000
    assert time.monotonic() - began < 20
