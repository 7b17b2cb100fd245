"""What is done once, or in no place at all: what the diagnosis itself says is what ``fix`` prints."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests import facts_by_hand as by_hand
from tests.engine.held import HeldFacts

from seedstall.knowledge.surfaces import ADVICE
from seedstall.model.jvm import JvmProcess, LiveProcess
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import FileKind
from seedstall.model.waits import SeedEvidence, SeedStacks
from seedstall.remedy.choice import of_case
from seedstall.remedy.registry import answer
from seedstall.remedy.request import Answer, Request
from seedstall.render.fixes import render_fix
from seedstall.rules.seed_remedies import application_call
from seedstall.source.base import Held

PROCESS = JvmProcess(8712, 8712, 0, 0, "S", 1, 20)
STOPPED = replace(PROCESS, state="T")
FED = replace(by_hand.dumped(), task=by_hand.task(FileKind.FIFO))
HUNG = (by_hand.JDK17, by_hand.NO_POOL, by_hand.DEFAULT_SOURCE, PROCESS, LiveProcess(8712))


def request(*facts: object) -> Request:
    return Request(HeldFacts(*facts), Held({}), "8712", 8712)


def asked(surface: str, *facts: object) -> Answer:
    return answer(surface, request(*facts))


def lines(found: Answer) -> list[str]:
    return [x for x in found.output.decode().splitlines() if not x.startswith("#")]


def test_a_fifo_is_fed_by_the_jvms_own_descriptor() -> None:
    found = asked("feed-device", by_hand.seeds(FED), *HUNG)
    (line,) = lines(found)
    assert "of=/proc/8712/fd/22 " in line
    assert "nocreat" in line
    assert "how long it takes: at once" in found.notes


def test_what_is_saved_before_the_end() -> None:
    assert lines(asked("capture", by_hand.seeds(FED), *HUNG)) == [
        "seedstall capture 8712 -o hung-8712.tar.gz"
    ]
    found = asked("restart", by_hand.seeds(FED), *HUNG)
    assert lines(found) == ["kill 8712"]
    assert any("still starting and serves nobody" in note for note in found.notes)


def test_of_a_capture_nothing_can_be_saved_or_ended() -> None:
    for surface in ("capture", "restart", "feed-device"):
        found = asked(surface, by_hand.seeds(FED), *HUNG[:-1])
        assert found.output == b""
        assert "nothing in 8712 asks for it" in found.reason


def test_a_stopped_process_goes_on() -> None:
    assert lines(asked("continue", STOPPED)) == ["kill -CONT 8712"]
    assert of_case(request(STOPPED)) == "continue"


def test_threads_that_share_a_generator_get_one_each() -> None:
    queued = tuple(
        replace(by_hand.dumped(f"w{n}"), stack=by_hand.stack(SeedRole.QUEUED)) for n in range(4)
    )
    seeds = SeedEvidence(queued=queued, threads=9, dumps=1)
    found = asked("application-call", seeds, SeedStacks(seeds), by_hand.NO_POOL)
    assert "ThreadLocal.withInitial" in found.output.decode()
    assert of_case(request(seeds, SeedStacks(seeds), by_hand.NO_POOL)) == "application-call"


@pytest.mark.parametrize("surface", ADVICE)
def test_where_nothing_asks_for_it_nothing_is_printed(surface: str) -> None:
    found = asked(surface, by_hand.JDK17, by_hand.NO_POOL)
    assert found.output == b""
    assert "asks for it" in found.reason


@pytest.mark.jvm
def test_what_is_told_of_the_code_compiles(full_jdk: Path, tmp_path: Path) -> None:
    def told(call: str) -> str:
        (fix,) = application_call(call, by_hand.dumped())
        return render_fix(fix)

    assert "// org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom" in told("strong")
    source = f"""
    import java.io.*; import java.security.*;
    class Told {{
        void strong() throws Exception {{ {told("strong")} }}
        void seed(int n) {{ {told("generate-seed")} }}
        InputStream device() throws Exception {{ return {told("device").splitlines()[-1]}; }}
        {told("contention")}
    }}
    """
    file = tmp_path / "Told.java"
    file.write_text(source, "utf-8")
    done = subprocess.run(
        [full_jdk / "javac", "--release", "8", "-Xlint:-options", "-d", tmp_path, file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_only_a_fifo_is_fed(tmp_path: Path) -> None:
    """When it is typed, the JVM may have gone on, and its descriptor be that of a JAR."""
    (line,) = lines(asked("feed-device", by_hand.seeds(FED), *HUNG))
    jar = tmp_path / "app.jar"
    jar.write_bytes(b"PK")
    command = line.replace("/proc/8712/fd/22", str(jar))
    assert str(jar) in command
    assert subprocess.run(["sh", "-c", command], check=False).returncode != 0
    assert jar.read_bytes() == b"PK"
