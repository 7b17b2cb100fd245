"""A command as our child: exit codes, signals, streams; each in a process of its own, as the command line does it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seedstall.effect.launch import LaunchError, Signals, launch

DRIVER = """
import sys
from seedstall.effect import launch, watch
with launch.Signals() as signals:
    child = launch.launch(sys.argv[1:], signals)
    sys.stderr.write(f"{child.pid}\\n")
    code = watch.see_it_out(child, signals, lambda text: sys.stderr.write(text + "\\n"))
sys.exit(code)
"""
ASLEEP = "import signal,time\nprint('up', flush=True)\ntime.sleep(60)"
TELLS = """
import signal, sys, time
def told(number, frame):
    print(signal.Signals(number).name, flush=True)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGUSR1, signal.SIGQUIT):
    signal.signal(number, told)
print("up", flush=True)
for line in sys.stdin:
    print(line.strip(), flush=True)
"""


def start(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        restore_signals=True,
    )


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


ORPHANS = """
import sys
from seedstall.effect import launch, watch
with launch.Signals() as signals:
    launch.adopt_orphans()
    one = watch.Watch(watch.Goal(words="'never'"), stalled=print, found=print)
    child = launch.launch(sys.argv[1:], signals)
    watch.watch_start(child, signals, one, print, orphans=True)
    print(len(child.before), len(child.left()))
"""


def test_children_that_we_had_before_are_not_waited_for() -> None:
    """A container's start script: ``feeder & exec seedstall run --until up -- java ...``."""
    script = 'sleep 60 >/dev/null & echo $!; exec "$@"'
    command = ["sh", "-c", script, "sh", sys.executable, "-c", ORPHANS, "true"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        try:
            assert process.stdout.read() == "1 0\n"
        finally:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("code", [0, 3, 143, 255])
def test_the_exit_code_is_the_commands(code: int) -> None:
    process = start(*python(f"raise SystemExit({code})"))
    process.communicate(timeout=20)
    assert process.returncode == code


def test_a_command_that_a_signal_ends_is_128_and_its_number() -> None:
    process = start(*python("import os; os.kill(os.getpid(), 9)"))
    process.communicate(timeout=20)
    assert process.returncode == 128 + 9


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_what_ends_us_ends_the_command(number: signal.Signals) -> None:
    text = f"import signal\nsignal.signal({number.value}, signal.SIG_DFL)\n{ASLEEP}"
    process = start(*python(text))
    assert line(process) == "up"
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == 128 + number


def test_each_signal_sent_to_us_is_passed_on_once_and_input_goes_through() -> None:
    process = start(*python(TELLS))
    assert line(process) == "up"
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGWINCH,
        signal.SIGUSR1,
        signal.SIGQUIT,
    ):
        process.send_signal(number)
        assert line(process) == number.name
    assert process.stdin is not None
    process.stdin.write("by hand\n")
    process.stdin.flush()
    assert line(process) == "by hand", "and no signal came twice"
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_kill_3_is_kept_from_a_command_that_would_die_of_it() -> None:
    process = start(*python(ASLEEP))
    assert line(process) == "up"
    process.send_signal(signal.SIGQUIT)
    assert process.stderr is not None
    pid = int(process.stderr.readline())
    assert process.stderr.readline().startswith(f"SIGQUIT not passed on: process {pid} ")
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)


def test_stop_and_go_on_hold_for_both() -> None:
    """A shell that stops and continues its job: ours is one job, of two processes."""
    process = start(*python(ASLEEP))
    assert line(process) == "up"
    assert process.stderr is not None
    child = int(process.stderr.readline())
    process.send_signal(signal.SIGTSTP)
    await_state(process.pid, "T")
    await_state(child, "T")
    os.killpg(process.pid, signal.SIGCONT)
    await_state(child, "S")
    await_state(process.pid, "S")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 143


def await_state(pid: int, letter: str) -> None:
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != letter:
        assert time.monotonic() < end, f"{pid} is not {letter}"
        time.sleep(0.02)


def test_the_command_gets_its_signals_as_they_were() -> None:
    """None held back, none ignored that was not: a JVM that never gets SIGQUIT gives no dump."""
    show = "print(open('/proc/self/status').read())"
    process = start(
        *python(
            f"import os; os.execlp('grep', 'grep', '-E', 'SigBlk|SigIgn', '/proc/self/status')\n{show}"
        )
    )
    out, _ = process.communicate(timeout=20)
    masks = dict(entry.split(":\t") for entry in out.splitlines())
    assert int(masks["SigBlk"], 16) == 0
    assert not int(masks["SigIgn"], 16) & (1 << (signal.SIGQUIT - 1))


@pytest.mark.parametrize(
    ("name", "content", "mode", "code"),
    [
        ("no-such-command-of-ours", None, 0, 127),
        ("./missing/it", None, 0, 127),
        ("./plain", "text", 0o644, 126),
    ],
)
def test_what_cannot_be_run_says_why(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str | None,
    mode: int,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_text(content, encoding="ascii")
        Path(name).chmod(mode)
    with Signals() as signals, pytest.raises(LaunchError) as caught:
        launch([name], signals)
    assert caught.value.code == code
    assert name in str(caught.value)
    assert caught.value.hint


def test_a_script_without_an_interpreter_line_is_a_shells(tmp_path: Path) -> None:
    script = tmp_path / "start"
    script.write_text('exit "$1"\n', encoding="ascii")
    script.chmod(0o755)
    process = start(str(script), "7")
    process.communicate(timeout=20)
    assert process.returncode == 7
