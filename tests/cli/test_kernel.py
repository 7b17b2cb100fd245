from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from tests.engine.test_kernel import DIRECTORY, FULL, NO_POOL, POOL, at
from typer.testing import CliRunner

from seedstall.cli import kernel as command
from seedstall.model.errors import NoSuchTargetError, UsageError
from seedstall.model.evidence import Got, Reading, Ref, Why
from seedstall.source import host
from seedstall.source.base import Held

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(command.kernel)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_this_host_is_asked_and_answers() -> None:
    code, shown = run()
    pool = Path("/proc/sys/kernel/random/read_wakeup_threshold").exists()

    assert shown.splitlines()[0].split()[0].rstrip(":") in ("clear", "at-risk", "unknown")
    assert ("blocking pool: a read waits" in shown) is pool
    if shown.startswith("clear"):
        assert code == 0


def test_this_host_as_json() -> None:
    code, shown = run("--format", "json")
    document = json.loads(shown)

    assert document["schema"] == 1
    assert document["verdict"]["status"] in ("clear", "at-risk", "unknown")
    if document["verdict"]["status"] == "clear":
        assert code == 0


@pytest.mark.parametrize(
    ("release", "code", "status"),
    [
        ("3.10.0-957.el7", 10, "at-risk"),
        ("4.15.0-193-generic", 10, "at-risk"),
        ("4.15.0-194-generic", 0, "clear"),
        ("6.8.0-31-generic", 0, "clear"),
        ("4.19.0-gvisor", 0, "clear"),
        ("4.15.0-1139-aws", 4, "unknown"),
        ("5.3.18-150300.59.90-default", 4, "unknown"),
    ],
)
def test_exit_codes_by_release(release: str, code: int, status: str) -> None:
    assert run("--kernel", release, "-q")[0] == code
    assert run("--kernel", release, "-q")[1].startswith(status)
    assert run("--kernel", release, "-q", "--exit-zero")[0] == 0


def test_the_threshold_moves() -> None:
    assert run("--kernel", "3.10.0-957.el7", "-q", "--fail-on", "error")[0] == 0
    assert run("--kernel", "4.15.0-1139-aws", "-q", "--fail-on", "never")[0] == 4


def test_what_is_no_release_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no kernel release"):
        run("--kernel", "el7")


def test_a_target_and_a_release_contradict() -> None:
    with pytest.raises(UsageError, match="contradict"):
        run("/proc", "--kernel", "6.8.0")


def test_a_target_that_is_not_there() -> None:
    with pytest.raises(NoSuchTargetError):
        run("/nowhere/at/all")


def test_a_folder_without_a_kernel(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no captured kernel"):
        run(str(tmp_path))


def captured(folder: Path, values: dict[str, int], release: str) -> Path:
    directory = folder / "proc/sys/kernel/random"
    directory.mkdir(parents=True)
    for name, value in values.items():
        (directory / name).write_text(f"{value}\n")
    (folder / "proc/sys/kernel/osrelease").write_text(f"{release}\n")
    return folder


def test_a_captured_tree(tmp_path: Path) -> None:
    values = {
        "entropy_avail": 54,
        "poolsize": 4096,
        "read_wakeup_threshold": 64,
        "write_wakeup_threshold": 896,
    }
    tree = captured(tmp_path, values, "4.15.0-193-generic")
    code, shown = run(str(tree))

    assert code == 10
    assert shown.startswith(
        "at-risk (blocking-seed, likely): the entropy pool of 4.15.0-193-generic"
    )
    assert "not measured" in shown


def test_a_captured_tree_of_the_same_version_without_the_pool(tmp_path: Path) -> None:
    values = {"entropy_avail": 256, "poolsize": 256, "write_wakeup_threshold": 256}
    code, shown = run(str(captured(tmp_path, values, "4.15.0-194-generic")))

    assert (code, shown.split()[0]) == (0, "clear")


def test_the_report_goes_into_a_file(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    code, shown = run("--kernel", "6.8.0-31-generic", "-o", str(file))

    assert (code, shown) == (0, "")
    assert file.read_text().startswith("clear")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("10", 10), ("0", 0), ("500ms", 0.5), ("2m", 120), ("1.5s", 1.5), ("1h", 3600)],
)
def test_lengths_of_time(text: str, seconds: float) -> None:
    assert command._seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "soon", "-1s", "1 s", "10d", "1e3", "nan", "2h", "1..5", "9" * 40]
)
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(UsageError):
        command._seconds(text or "x")


class Filling(Held):
    """A host whose pool gains a bit at each look."""

    def __init__(self, contents: dict[Ref, bytes | Why]) -> None:
        super().__init__(contents)
        self.bits: Iterator[int] = iter(range(31, 10_000))

    def read(self, ref: Ref) -> Reading[bytes]:
        if ref == at(f"{DIRECTORY}/entropy_avail"):
            return Got(b"%d\n" % next(self.bits), (ref,))
        return super().read(ref)


def test_a_live_pool_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "HostSource", lambda *_: Filling(POOL))
    code, shown = run("--for", "1s", "--format", "json")
    refill = json.loads(shown)["facts"]["kernel"]["refill"]

    assert code == 10
    assert refill["measured_s"] >= 1.0
    assert refill["bits_gained"] >= 1
    assert refill["seed_ms"] > 0


@pytest.mark.parametrize("held", [FULL, NO_POOL])
def test_a_pool_that_is_full_and_one_that_is_none_are_not_watched(
    held: dict[Ref, bytes | Why], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it was watched")

    monkeypatch.setattr(host, "HostSource", lambda *_: Held(held))
    monkeypatch.setattr(command, "_watched", never)

    assert run("-q")[0] == 0


def test_it_is_not_watched_for_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "HostSource", lambda *_: Held(POOL))
    code, shown = run("--for", "0")

    assert code == 10
    assert "not measured" in shown
