from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.machine import FORBID_NAMESPACES

from seedstall.effect.starvation import Drip, DryDevice, How, Starved, waiting_thread
from seedstall.model.errors import SeedstallError

SRC = Path(__file__).parents[2] / "src"
READER = ["head", "-c", "8", "/dev/random"]


@pytest.fixture
def device() -> Iterator[DryDevice]:
    with DryDevice() as dry:
        yield dry


def until(condition: object, limit_s: float = 10.0) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def gone(pid: int) -> bool:
    """No such process, or only its zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def output_of(process: Starved) -> str:
    assert process.output is not None
    return process.output.read().decode()


@pytest.fixture
def in_namespace(device: DryDevice) -> DryDevice:
    if device.start(["true"]).how is How.EGD:
        pytest.skip("needs root or user namespaces")
    return device


@pytest.mark.root
def test_a_reader_waits_in_the_device_until_it_is_ended(in_namespace: DryDevice) -> None:
    process = in_namespace.start(READER)
    assert until(process.waiting_thread)
    assert process.waiting_thread() == process.pid
    assert Path(f"/proc/{process.pid}/fd/3").readlink() == Path("/dev/random")
    process.end()
    assert process.poll() == -signal.SIGTERM
    assert gone(process.pid)


@pytest.mark.root
def test_nothing_outside_sees_it(in_namespace: DryDevice) -> None:
    process = in_namespace.start(READER)
    assert until(process.waiting_thread)
    assert stat.S_ISCHR(Path("/dev/random").stat().st_mode)
    assert "/dev/random" not in Path("/proc/self/mountinfo").read_text()
    assert " /dev/random " in Path(f"/proc/{process.pid}/mountinfo").read_text()


def test_closing_takes_away_the_fifo_and_ends_what_runs() -> None:
    with DryDevice() as device:
        process = device.start(["sleep", "100"])
        directory = device.path.parents[1]
        assert stat.S_ISFIFO(device.path.stat().st_mode)
    assert not directory.exists()
    assert gone(process.pid)
    device.close()


def test_the_command_takes_over_the_process(device: DryDevice) -> None:
    process = device.start(["sh", "-c", "echo $$"], output=subprocess.PIPE)
    assert process.wait(10) == 0
    assert output_of(process) == f"{process.pid}\n"


@pytest.mark.root
def test_a_device_that_drips_gives_what_is_asked_for_late() -> None:
    with DryDevice(Drip(every_s=0.2, amount=4)) as device:
        start = time.monotonic()
        process = device.start(READER)
        assert process.how is not How.EGD
        assert process.wait(10) == 0
        assert time.monotonic() - start >= 0.35


@pytest.mark.root
def test_drips_do_not_pile_up_for_a_late_reader() -> None:
    with DryDevice(Drip(every_s=0.5, amount=4)) as device:
        time.sleep(1.7)
        process = device.start(READER)
        assert until(process.waiting_thread), "three drips came, one of them was there"
        assert process.wait(10) == 0


@pytest.mark.root
def test_a_root_directory_has_the_device_inside(in_namespace: DryDevice, tmp_path: Path) -> None:
    process = in_namespace.start(READER, root=Path("/"), cwd=tmp_path)
    assert until(process.waiting_thread)
    assert Path(f"/proc/{process.pid}/cwd").readlink() == tmp_path


def test_signals_are_at_their_defaults_whatever_ours_are(device: DryDevice) -> None:
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        process = device.start(["sleep", "100"])
    finally:
        signal.signal(signal.SIGQUIT, before)
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    ours = (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ)
    assert int(fields["SigIgn"], 16) & sum(1 << (number - 1) for number in ours) == 0
    assert int(fields["SigBlk"], 16) == 0


def test_the_whole_group_is_ended_and_nothing_else(device: DryDevice) -> None:
    other = subprocess.Popen(["sleep", "100"])
    try:
        process = device.start(["sh", "-c", "sleep 100 & echo $!; wait"], output=subprocess.PIPE)
        assert process.output is not None
        child = int(process.output.readline())
        process.end()
        assert until(lambda: gone(child))
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_children_that_outlive_the_leader_are_ended_too(device: DryDevice) -> None:
    process = device.start(["sh", "-c", "sleep 100 & echo $!"], output=subprocess.PIPE)
    assert process.wait(10) == 0
    assert process.output is not None
    child = int(process.output.readline())
    assert not gone(child)
    process.end()
    assert until(lambda: gone(child))


def test_a_command_that_is_not_there_is_said(device: DryDevice) -> None:
    with pytest.raises(SeedstallError, match="/no/such/program: No such file"):
        device.start(["/no/such/program"])


def test_a_starved_program_does_not_outlive_its_starter(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import os, signal
        from seedstall.effect.starvation import DryDevice
        device = DryDevice()
        print(device.start(["sleep", "100"]).pid, device.path, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    starter = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(SRC), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert starter.returncode == -signal.SIGKILL
    assert until(lambda: gone(int(starter.stdout.split()[0])))


def test_without_namespaces_the_fifo_is_named_by_egd(device: DryDevice) -> None:
    env = {**os.environ, "JAVA_TOOL_OPTIONS": "-Xmx64m"}
    process = device.start(
        ["sh", "-c", 'echo "$JAVA_TOOL_OPTIONS"'], env=env, how=How.EGD, output=subprocess.PIPE
    )
    assert process.how is How.EGD
    assert process.wait(10) == 0
    expected = f"-Xmx64m -Djava.security.egd=file://{device.path}"
    assert output_of(process).strip() == expected
    assert expected.endswith("/dev/random")


START_ONE = """
from seedstall.effect.starvation import DryDevice
with DryDevice() as device:
    process = device.start(["true"])
    print(process.how, process.wait(10))
"""


def test_where_namespaces_are_forbidden_it_falls_back_and_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORBID_NAMESPACES + START_ONE],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["egd", "0"], done.stderr


PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3", sys.executable)
LATE_ENOUGH = (
    "import os, sys; assert sys.version_info >= (3, 11) and os.access(sys.executable, os.X_OK)"
)


def runs(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True, cwd="/").returncode == 0


@pytest.mark.root
def test_a_normal_user_starves_through_a_user_namespace() -> None:
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    expected = How.USER if runs([*nobody, "unshare", "-rm", "true"]) else How.EGD
    # The checkout and its interpreter may lie where that user may not look.
    python = next((p for p in PYTHONS if runs([*nobody, p, "-c", LATE_ENOUGH])), None)
    if python is None:
        pytest.skip("needs a Python 3.11 that user 65534 may run: apt-get install python3")
    with tempfile.TemporaryDirectory() as copy:
        Path(copy).chmod(0o755)
        shutil.copytree(SRC / "seedstall", Path(copy) / "seedstall")
        done = subprocess.run(
            [*nobody, python, "-c", START_ONE],
            env={"PYTHONPATH": copy, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.split() == [str(expected), "0"], done.stderr


def test_an_open_descriptor_is_no_wait(device: DryDevice) -> None:
    process = device.start(
        ["sh", "-c", f"exec 3<>{device.path}; echo; exec sleep 100"], output=subprocess.PIPE
    )
    assert process.output is not None
    assert process.output.readline() == b"\n"
    time.sleep(0.1)
    assert process.waiting_thread() is None
    assert waiting_thread(process.pid, Path("/no/such/device")) is None
    assert waiting_thread(2**22 + 1, device.path) is None
