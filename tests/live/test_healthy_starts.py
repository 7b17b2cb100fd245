"""Fifty healthy starts, each looked at in some moment of it, on a busy machine: no finding is an error."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.tomcats import Tomcat, instance
from tests.machine import CHECKOUT, Seedstall, java_of

pytestmark = [pytest.mark.jvm, pytest.mark.tomcat, pytest.mark.matrix]

BUSY = "while True: pass"


@pytest.fixture(scope="module", autouse=True)
def load() -> Iterator[None]:
    """Another program on each of two CPUs: a start takes about twice as long."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    yield
    for process in busy:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def jar(full_jdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A jar of many entries, and a key store with a key."""
    folder = tmp_path_factory.mktemp("jar")
    (folder / "content").write_bytes(random.Random(1).randbytes(2_000_000))  # noqa: S311 - no secret, the same each time
    subprocess.run([full_jdk / "jar", "cf", "a.jar", "content"], cwd=folder, check=True)
    key = [
        "-genkeypair",
        "-alias",
        "a",
        "-keyalg",
        "RSA",
        "-dname",
        "CN=a",
        "-storepass",
        "changeit",
    ]
    subprocess.run(
        [full_jdk / "keytool", *key, "-keystore", folder / "ks"], check=True, capture_output=True
    )
    return folder


def commands(full_jdk: Path, jar: Path, base: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """How each kind of program is started: arguments, and variables besides."""
    tomcat: Tomcat = instance(base / "instance", java_of(17).parent.parent)
    env = {"CATALINA_BASE": str(tomcat.base), "JAVA_HOME": str(java_of(17).parent.parent)}
    classes = str(CHECKOUT / "tests/live/patient")
    sign = ["-keystore", "ks", "-storepass", "changeit", "a.jar", "a"]
    sources = [str(path) for path in sorted((CHECKOUT / "tests/programs").rglob("*.java"))]
    return {
        "tomcat": (["/usr/share/tomcat10/bin/catalina.sh", "run"], env),
        "jarsigner": ([str(full_jdk / "jarsigner"), *sign], {}),
        "javac": ([str(full_jdk / "javac"), "-d", str(base / "out"), *sources], {}),
        "plain": ([str(java_of(21)), "-cp", classes, "Patient"], {}),
        "older": ([str(java_of(11)), "-cp", classes, "Patient"], {}),
    }


@pytest.mark.timeout(900)
def test_fifty_healthy_starts(
    seedstall: Seedstall, full_jdk: Path, jar: Path, tmp_path: Path
) -> None:
    chosen = random.Random(20261130)  # noqa: S311 - the same each time
    kinds = commands(full_jdk, jar, tmp_path)
    looked = 0
    for number in range(50):
        kind = list(kinds)[number % len(kinds)]
        command, env = kinds[kind]
        process = subprocess.Popen(
            command,
            cwd=jar,
            env={**os.environ, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        try:
            time.sleep(chosen.uniform(0.05, 4.0 if kind == "tomcat" else 1.2))
            ran = seedstall("diagnose", process.pid, "--format", "json")
        finally:
            os.killpg(process.pid, 9)
            process.communicate()
        if ran.returncode == 3:  # it has ended by then, or is no JVM yet
            continue
        for report in cases(ran.stdout):
            looked += 1
            grave = [f for f in report.get("findings", ()) if f["severity"] == "error"]
            assert not grave, (kind, grave)
            assert report.get("crashed", []) == [], kind
    assert looked >= 30


def cases(text: str) -> list[Any]:
    document = json.loads(text)
    return list(document.get("cases", [document]))
