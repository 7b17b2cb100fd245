"""``seedstall list`` on real JVMs: one that waits, one that does not, and nothing done to either."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.live.patients import command, start
from tests.machine import CHECKOUT, Seedstall, java_of, shown

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice
from seedstall.render.schema import schema

pytestmark = pytest.mark.jvm


@dataclass
class Host:
    """JVMs by what they are doing."""

    hung: int
    well: int
    script: int


@pytest.fixture(scope="module")
def running() -> Iterator[Host]:
    """A JVM that a script started and that waits for its seed, and one that is well."""
    if not java_of(17).exists():
        pytest.skip("needs JDK 17: make jvms")
    with DryDevice() as device, tempfile.TemporaryDirectory() as folder:
        script = device.start(
            [
                *("sh", "-c", '"$@"; true', "sh", str(java_of(17)), "-cp", str(PROBE)),
                *("SeedProbe", "SHA1PRNG", "nextBytes"),
            ]
        )
        well = start(command(17), folder)
        try:
            hung = below(script.pid)
            well.wait_until(lambda: b"up" in well.said)
            wait_until_hung(hung, device)
            yield Host(hung, well.pid, script.pid)
            assert well.is_well()
            assert not well.files()
        finally:
            well.end()


def below(pid: int) -> int:
    """The one child of a process, once it is there."""
    for _ in range(500):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        if text.strip():
            return int(text.split()[0])
        time.sleep(0.02)
    raise AssertionError("it started nothing")


def wait_until_hung(pid: int, device: DryDevice) -> None:
    from seedstall.effect.starvation import waiting_thread

    for _ in range(1500):
        if waiting_thread(pid, device.path) is not None:
            return
        time.sleep(0.02)
    raise AssertionError("it does not wait")


def rows(seedstall: Seedstall) -> dict[int, Any]:
    done = seedstall("list", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    jsonschema.validate(told, schema())
    return {jvm["pid"]: jvm for jvm in told["jvms"]}


def test_what_waits_and_what_does_not(running: Host, seedstall: Seedstall) -> None:
    listed = rows(seedstall)
    hung, well = listed[running.hung], listed[running.well]
    assert (hung["stalled"], hung["cause"]) == (True, "blocking-seed")
    assert "/dev/random" in hung["sentence"]
    assert hung["since_ms"] >= 0
    assert hung["seed"]["risk"] == "will-block", "it is seen to"
    assert (well["stalled"], well["cause"]) == (False, "none")
    assert running.script not in listed
    for jvm, program in ((hung, "SeedProbe"), (well, "Patient")):
        assert jvm["jdk"].startswith("17")
        assert jvm["program"] == program
        assert jvm["seed"]["source"] == "file:/dev/random"
        assert jvm["uid"] == os.getuid()
        assert 0 <= jvm["age_ms"] < 300_000
        assert jvm["unread"] == []


def test_the_first_line_and_prometheus_say_the_same(running: Host, seedstall: Seedstall) -> None:
    text = seedstall("list").stdout
    assert f"{running.hung} (SeedProbe)" in text.splitlines()[0]
    assert f"seedstall diagnose {running.hung}" in text
    metrics = seedstall("list", "--format", "prometheus").stdout
    (stalled,) = [
        line
        for line in metrics.splitlines()
        if line.startswith(f'seedstall_jvm_stalled{{pid="{running.hung}"')
    ]
    assert stalled.endswith(" 1")


@pytest.mark.root
def test_a_stranger_is_told_what_is_not_known(running: Host) -> None:
    code = (
        f"import os, sys; sys.path.insert(0, {str(shown(CHECKOUT / 'src'))!r})\n"
        "import json as _, seedstall.cli.list, seedstall.engine.listing, seedstall.render.listing\n"
        "from seedstall import facts, rules; facts.providers()\n"
        "from seedstall.engine.listing import listing\n"
        "from seedstall.render.listing import json\n"
        "listing()  # imports what is imported late\n"
        "os.setgroups([]); os.setgid(34567); os.setuid(34567)\n"
        "print(json(listing()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    by_pid = {jvm["pid"]: jvm for jvm in told["jvms"]}
    for pid in (running.hung, running.well):
        row = by_pid[pid]
        assert row["told_by"] == "name"
        assert row["stalled"] is None
        assert row["seed"]["source"] is None
        assert "uid 0" in row["sentence"]
        assert {u["what"] for u in row["unread"]} >= {"jdk", "seed_source", "threads"}
        assert (row["uid"], row["program"]) == (
            0,
            "SeedProbe" if pid == running.hung else "Patient",
        )
    assert sum(u["count"] for u in told["unseen"]) > 0
    assert any("root" in u["why"] for u in told["unseen"])


def test_watched_on_a_terminal_it_stays_in_place_and_ends_with_130(running: Host) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "seedstall", "list", "--watch", "0.1"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
    ) as process:
        os.close(theirs)
        said = b""
        end = time.monotonic() + 30
        while said.count(b"\x1b[H\x1b[J") < 3 and time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                said += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(ours)
    assert said.count(b"wait") >= 3
    assert said.count(b"\x1b") == 2 * said.count(b"\x1b[H\x1b[J"), "nothing else is sent"


def test_watched_elsewhere_it_prints_table_after_table(running: Host) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "seedstall", "list", "--watch", "0.1", "--format", "json"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 143
    for line in lines:
        jsonschema.validate(json.loads(line), schema())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("8712",), "takes no target"), (("--watch", "0"), "pause"), (("--format", "x"), "format")],
)
def test_usage(seedstall: Seedstall, arguments: tuple[str, ...], words: str) -> None:
    done = seedstall("list", *arguments)
    assert done.returncode == 2
    assert words in done.stderr.lower()


def test_a_file_for_node_exporter_is_replaced_whole(seedstall: Seedstall, tmp_path: Path) -> None:
    file = tmp_path / "seedstall.prom"
    file.write_text("old\n")
    before = file.stat().st_ino
    done = seedstall("list", "--format", "prometheus", "-o", file)
    assert (done.returncode, done.stdout) == (0, "")
    assert file.read_text(encoding="utf-8").startswith("# HELP seedstall_jvms ")
    assert file.stat().st_ino != before
    assert [p.name for p in tmp_path.iterdir()] == [file.name]
    refused = seedstall("list", "--format", "prometheus", "-o", tmp_path / "none/x.prom")
    assert refused.returncode == 1
    assert "none" in refused.stderr
