from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from seedstall.cli import bench as command
from seedstall.effect import bench as effect
from seedstall.model.errors import NoSuchTargetError, SeedstallError, UsageError
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom
from seedstall.model.measure import Measurement

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(command.bench)


def run(*arguments: object) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result.stdout, result.stderr


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (("kernel", "12"), UsageError, "measures this host"),
        (("kernel", "--java", "/usr/bin/java"), UsageError, "measures this host"),
        (("jvm", "x"), UsageError, "is no PID"),
        (("jvm", "1", "--java", "/x"), UsageError, "contradicts"),
        (("jvm", "--sysroot", "/"), UsageError, "--sysroot without --java"),
        (("jvm", "--java", "/x", "--egd", "a\x1b"), UsageError, "control character"),
        (("jvm", "--java", "/no/such"), NoSuchTargetError, "no java program"),
        (("kernel", "--baseline", "/no/such"), UsageError, "No such file"),
        (("kernel", "--baseline", "/dev/null"), UsageError, "Expecting value"),
    ],
)
def test_what_it_cannot_do_is_said(
    arguments: tuple[str, ...], error: type[SeedstallError], told: str
) -> None:
    with pytest.raises(error, match=told):
        run(*arguments)


class Fake:
    """Stands for the measurements: what was asked of them, and figures."""

    def __init__(self) -> None:
        self.random: list[bool] = []
        self.first: list[str] = []
        self.value = 100.0

    def reads(self, _meter: object, *, random: bool, told: Any) -> Iterator[Measurement]:
        assert callable(told)
        self.random.append(random)
        yield Measurement("bulk /dev/urandom", "bulk reads", "MB/s", (self.value,))

    def bytes(self, path: str, _limit: float) -> dict[str, Any]:
        self.first.append(path)
        return {"bytes": 6, "ms": 102_000.0}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setattr(effect, "small_reads", made.reads)
    monkeypatch.setattr(effect, "bulk_reads", made.reads)
    monkeypatch.setattr(effect, "shared_reads", lambda *_: iter(()))
    monkeypatch.setattr(effect.Meter, "first", lambda _, path, limit: made.bytes(path, limit))
    return made


def on(monkeypatch: pytest.MonkeyPatch, model: BlockingModel) -> None:
    kernel = KernelRandom(model, Certainty.HIGH, "", release="4.4.0", entropy_avail=300)
    monkeypatch.setattr(command, "_kernel", lambda: kernel)


@pytest.mark.parametrize("model", [BlockingModel.BLOCKING_POOL, BlockingModel.UNKNOWN])
def test_a_pool_is_never_drained_unasked(
    model: BlockingModel, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, model)
    out, err = run("kernel")
    assert fake.random == [False, False]
    assert fake.first == []
    assert "1024 of /dev/random: not tried" in out
    assert "note: /dev/random was left alone (say --drain): " in out
    assert "300 bits are there now" in out
    assert "300 bits" not in err


def test_when_asked_the_price_is_told_first_and_no_loop_drains(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, BlockingModel.BLOCKING_POOL)
    out, err = run("kernel", "--drain")
    assert "300 bits are there now" in err
    assert fake.random == [False, False], "a loop would take hours"
    assert fake.first == ["/dev/random"]
    assert "6 of 1024 asked of /dev/random in 102000.00 ms (as dd bs=1024 count=1)" in out


def test_where_nothing_can_be_drained_all_is_read(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, BlockingModel.UNTIL_INIT)
    out, _ = run("kernel")
    assert fake.random == [True, True]
    assert fake.first == ["/dev/random"]
    assert "left alone" not in out


def test_a_run_is_compared_with_an_earlier_one(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on(monkeypatch, BlockingModel.UNTIL_INIT)
    before = tmp_path / "before.json"
    run("kernel", "--format", "json", "-o", before)
    fake.value = 250.0
    out, _ = run("kernel", "--baseline", before)
    assert "bulk /dev/urandom: 100 -> 250, 2.50 times" in out
    told = json.loads(run("kernel", "--baseline", before, "--format", "json")[0])
    assert told["changes"][0]["ratio"] == 2.5
    with pytest.raises(UsageError, match="is of bench kernel"):
        run("jvm", "--baseline", before)


def test_it_is_drawn(fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on(monkeypatch, BlockingModel.UNTIL_INIT)
    picture = tmp_path / "plot.svg"
    out, _ = run("kernel", "--plot", picture, "--format", "svg")
    assert out == picture.read_text()
    assert out.startswith("<svg ")


def test_progress_is_told_now_and_then_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at = [0.0]
    monkeypatch.setattr(command, "monotonic", lambda: at[0])
    for shown in (True, False):
        progress = command._Progress(shown=shown)
        progress.begin(9, 71, 2580)
        for at[0] in (1.0, 9.9, 10.0, 11.0, 20.1):
            progress.tell(Measurement(f"at {at[0]}", "small reads", "ns", (1.0,)))
        progress.end()
        first, *rest = capsys.readouterr().err.splitlines() or [""]
        assert ("at most 43 min" in first) == shown
        told = ["3 of 9 figures: at 10.0", "5 of 9 figures: at 20.1"]
        assert rest == (told if shown else [])
        at[0] = 0.0
