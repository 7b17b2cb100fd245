from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from seedstall.effect.demo import PROBE

CHECKOUT = Path(__file__).parents[2]
CLASSES = ("SeedProbe", "SeedMeter")
COMPILER = 17
"""The javac that made the committed class file; another one's bytes may differ."""


def run(java: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(java), "-cp", str(PROBE), "SeedProbe", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if "JAVA" not in k},
    )


@pytest.mark.jvm
def test_the_committed_class_is_what_the_source_compiles_to(full_jdk: Path, tmp_path: Path) -> None:
    version = subprocess.run(
        [full_jdk / "javac", "-version"], capture_output=True, text=True, check=True
    )
    if f"javac {COMPILER}." not in version.stdout:
        pytest.skip(
            f"needs javac {COMPILER}, as the class was made by it: {version.stdout.strip()}"
        )
    subprocess.run(
        [CHECKOUT / "scripts/build-probe", tmp_path],
        check=True,
        env={**os.environ, "PATH": f"{full_jdk}:{os.environ['PATH']}"},
    )
    assert {p.name for p in tmp_path.iterdir()} == {f"{name}.class" for name in CLASSES}
    for name in CLASSES:
        made, committed = (folder / f"{name}.class" for folder in (tmp_path, PROBE))
        assert made.read_bytes() == committed.read_bytes(), f"{name}: run scripts/build-probe"


@pytest.mark.parametrize("name", CLASSES)
def test_the_class_is_for_java_8(name: str) -> None:
    head = (PROBE / f"{name}.class").read_bytes()[:8]
    assert head == bytes.fromhex("cafebabe00000034")  # 0x34 is 52: JVMS table 4.1-A


@pytest.mark.jvm
@pytest.mark.parametrize(
    ("instance", "algorithm"),
    [
        ("default", "NativePRNG"),
        ("strong", "(NativePRNG)?Blocking"),
        ("SHA1PRNG", "SHA1PRNG"),
        ("DRBG", "DRBG"),
    ],
)
@pytest.mark.parametrize("operation", ["nextBytes", "generateSeed", "setSeed", "getSeed"])
def test_it_prints_algorithm_and_milliseconds(
    java: Path, instance: str, algorithm: str, operation: str
) -> None:
    done = run(java, instance, operation)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"{algorithm} \d+\n", done.stdout)


@pytest.mark.jvm
def test_each_thread_prints_its_own(java: Path) -> None:
    done = run(java, "SHA1PRNG", "nextBytes", "5")
    assert re.fullmatch(r"(SHA1PRNG \d+\n){5}", done.stdout)


@pytest.mark.jvm
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ((), 2, "usage: SeedProbe"),
        (("default", "shuffle"), 1, "no such operation: shuffle"),
        (("ROT13", "nextBytes"), 1, "ROT13 SecureRandom not available"),
    ],
)
def test_it_says_what_it_cannot_do(
    java: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done = run(java, *arguments)
    assert done.returncode == code
    assert told in done.stderr
    assert done.stdout == ""
