"""Every folder of fixtures/ with a scenario.toml: its inputs give the report that stands beside them.

``UPDATE_REPORTS=1 pytest tests/scenarios`` writes the reports anew; what a scenario must find stands in its
``[expect]`` all the same, so that a wrong report cannot be accepted by accident.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import tarfile
import tomllib
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from seedstall.cli.app import application
from seedstall.cli.cases import Said
from seedstall.facts.samples import SAMPLES
from seedstall.render.schema import schema
from seedstall.rules import ALL
from seedstall.source import inputs
from seedstall.source.base import Combined, Held, Source

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCENARIOS = sorted(p.parent for p in FIXTURES.glob("*/scenario.toml"))
UPDATE = os.environ.get("UPDATE_REPORTS") == "1"


def prepared(scenario: Path, folder: Path) -> tuple[dict[str, object], list[str]]:
    """The scenario's description, and its command line, with its inputs laid out in *folder*."""
    told = tomllib.loads((scenario / "scenario.toml").read_text(encoding="utf-8"))
    for name in told.get("inputs", []):
        archive, _, member = name.partition("!")
        source = FIXTURES / archive if member else scenario / name
        if member:
            _unpack(source, member, folder)
        elif source.is_dir():
            _copy_tree(source, folder / name)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(source.read_bytes())
    for name in told.get("removed", []):
        gone = folder / name
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    if (scenario / "overlay").is_dir():
        shutil.copytree(scenario / "overlay", folder, symlinks=True, dirs_exist_ok=True)
    for name in told.get("fifos", []):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / name)
    return told, ["diagnose", *told["targets"], *told.get("options", [])]


def _unpack(archive: Path, member: str, folder: Path) -> None:
    """One member (a file, or a folder with all below it) of a packed fixture; its own name last."""
    if archive.suffix == ".xz" and ".tar" not in archive.name:
        (folder / member).write_bytes(lzma.decompress(archive.read_bytes()))
        return
    with tarfile.open(archive) as tar:
        wanted = [m for m in tar if m.name == member or m.name.startswith(member + "/")]
        assert wanted, f"{archive.name} holds no {member}"
        # Captured trees hold links as they were (/proc/PID/fd): they are laid down, never followed.
        tar.extractall(folder, wanted, filter="fully_trusted")
    if "/" in member:
        (folder / member).rename(folder / Path(member).name)


def _copy_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True)


def hand_samples(told: dict[str, object], scenario: Path, patch: pytest.MonkeyPatch) -> None:
    """A recording of samples goes beside what the user says of the target, as ``run`` hands it over."""
    name = told.get("samples")
    if name is None:
        return
    data = (scenario / str(name)).read_bytes()

    def source(said: Said) -> Source:
        return Combined(inputs.given(said.jdk, said.egd, said.kernel), Held({SAMPLES: data}))

    patch.setattr(Said, "source", source)


def run(arguments: list[str]) -> tuple[int, str]:
    result = CliRunner().invoke(application(), arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda p: p.name)
def test_report(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, command = prepared(scenario, tmp_path)
    hand_samples(told, scenario, monkeypatch)
    monkeypatch.chdir(tmp_path)
    expect = told["expect"]
    assert isinstance(expect, dict)

    code, text = run(command)
    json_code, raw = run([*command, "--format", "json"])
    document = json.loads(raw)
    jsonschema.validate(document, schema())

    verdict = document["verdict"]
    codes = sorted({f["code"] for f in document["findings"]})
    assert code == json_code == expect["exit"], text
    assert {k: verdict[k] for k in expect if k in verdict and k != "codes"} == {
        k: v for k, v in expect.items() if k in verdict and k != "codes"
    }, text
    assert codes == expect["codes"], text
    assert document["crashed"] == []
    assert text.startswith(expect["status"]), text
    _compare(scenario / "report.txt", text)


def _compare(file: Path, text: str) -> None:
    text = re.sub(r"\bseedstall \d+\.\d+\.\d+\b", "seedstall VERSION", text)
    if UPDATE:
        file.write_text(text, encoding="utf-8", newline="")
    assert text == file.read_bytes().decode(), (
        f"{file.parent.name}: UPDATE_REPORTS=1 if it should be so"
    )


def outcomes(document: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    fired = {f["code"]: "firing" for f in document["findings"]}
    blind = {i["code"]: "inconclusive" for i in document["inconclusive"]}
    return {rule.code: fired.get(rule.code) or blind.get(rule.code) or "clear" for rule in ALL}


def test_every_rule_has_a_firing_a_clear_and_an_inconclusive_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[str]] = {rule.code: set() for rule in ALL}
    for scenario in SCENARIOS:
        folder = tmp_path / scenario.name
        folder.mkdir()
        told, command = prepared(scenario, folder)
        monkeypatch.chdir(folder)
        with monkeypatch.context() as patch:
            hand_samples(told, scenario, patch)
            _, raw = run([*command, "--format", "json"])
        for code, outcome in outcomes(json.loads(raw)).items():
            seen[code].add(outcome)

    lacking = {
        code: sorted({"firing", "clear", "inconclusive"} - found) for code, found in seen.items()
    }
    assert {code: kinds for code, kinds in lacking.items() if kinds} == {}
