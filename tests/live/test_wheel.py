"""The wheel, installed where no checkout is: templates, probe and commands are all inside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.machine import CHECKOUT

NOBODY = 65534
PARTS = ("src", "templates", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md")
HUNG_DUMP = """\
2026-11-30 14:16:16
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):

"main" #1 prio=5 os_prio=0 cpu=1050.39ms elapsed=8.21s tid=0x00007f07c4018f90 nid=0x2456 runnable  [0x00007f07cc1fc000]
   java.lang.Thread.State: RUNNABLE
\tat java.io.FileInputStream.readBytes(java.base@17.0.15/Native Method)
\tat java.io.FileInputStream.read(java.base@17.0.15/FileInputStream.java:276)
\tat java.io.FilterInputStream.read(java.base@17.0.15/FilterInputStream.java:132)
\tat sun.security.provider.SeedGenerator$URLSeedGenerator.getSeedBytes(java.base@17.0.15/SeedGenerator.java:544)
\tat sun.security.provider.SeedGenerator.generateSeed(java.base@17.0.15/SeedGenerator.java:144)
\tat sun.security.provider.SecureRandom$SeederHolder.<clinit>(java.base@17.0.15/SecureRandom.java:211)
\tat sun.security.provider.SecureRandom.engineNextBytes(java.base@17.0.15/SecureRandom.java:229)
\tat java.security.SecureRandom.nextBytes(java.base@17.0.15/SecureRandom.java:758)
\tat org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom(SessionIdGeneratorBase.java:290)
"""


def pip(python: Path, *arguments: object) -> None:
    """Three tries: an index is reached over a network."""
    command = [str(python), "-m", "pip", "--quiet", "--retries", "5", *map(str, arguments)]
    if any(subprocess.run(command, check=False).returncode == 0 for _ in range(3)):
        return
    pytest.skip("needs the package index: pip could not install from it")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts' directory of a fresh environment that holds the wheel and nothing of the checkout."""
    place = tmp_path_factory.mktemp("wheel")
    copy = place / "copy"
    copy.mkdir()
    for name in PARTS:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(
                CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(CHECKOUT / name, copy / name)
    subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
    programs = place / "venv/bin"
    pip(programs / "python", "wheel", "--no-deps", "--wheel-dir", place / "dist", copy)
    (wheel,) = (place / "dist").glob("seedstall-*.whl")
    shutil.rmtree(copy)
    pip(programs / "python", "install", wheel)
    return programs


def run(installed: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [installed / "seedstall", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        cwd=installed,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")},
    )


@pytest.fixture(scope="module")
def one_file(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make shiv`` makes, of the packages that are installed already.

    The extension modules that fit this version of Python alone are left out: any later one finds them missing.
    """
    place = tmp_path_factory.mktemp("shiv")
    pip(installed / "python", "install", "--target", place / "shiv", "shiv")
    (packages,) = (installed.parent / "lib").glob("python3*/site-packages")
    copy = place / "packages"
    shutil.copytree(
        packages,
        copy,
        ignore=shutil.ignore_patterns("*.cpython-*.so", "__pycache__", "pip", "pip-*"),
    )
    made = place / "seedstall.pyz"
    command = (
        sys.executable,
        "-m",
        "shiv",
        "-e",
        "seedstall.__main__:main",
        "-p",
        "/usr/bin/env python3",
    )
    subprocess.run(
        [*command, "-o", made, "--site-packages", copy],
        check=True,
        env=os.environ | {"PYTHONPATH": str(place / "shiv")},
    )
    return made


def _somebody() -> tuple[str, int | None]:
    """A Python that anybody may run, and somebody else to run it as: as root, where the system has such a one."""
    system = shutil.which("python3", path="/usr/bin:/bin")
    old = "import sys; sys.exit(sys.version_info < (3, 11))"
    if os.geteuid() or not system or subprocess.run([system, "-c", old], check=False).returncode:
        return sys.executable, None
    return system, NOBODY


@pytest.mark.network
@pytest.mark.timeout(400)
def test_the_one_file_runs_elsewhere_and_as_somebody_else(one_file: Path) -> None:
    python, somebody = _somebody()
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="seedstall-one-file-") as name:
        place = Path(name)
        place.chmod(0o777)
        copy = shutil.copy(one_file, place / "seedstall.pyz")
        for _ in ("it unpacks itself", "it finds that unpacked"):
            done = subprocess.run(
                [python, copy, "diagnose", "-"],
                input=HUNG_DUMP,
                capture_output=True,
                text=True,
                check=False,
                cwd="/",
                env={"PATH": os.defpath, "SHIV_ROOT": f"{place}/unpacked"},
                user=somebody,
                group=somebody,
                extra_groups=None if somebody is None else [],
            )
            assert done.returncode == 10, done.stderr
            assert done.stdout.startswith("stalled (blocking-seed")


@pytest.mark.network
@pytest.mark.timeout(400)
def test_it_fixes_where_no_checkout_is(installed: Path) -> None:
    done = run(installed, "fix", "-", "--jdk", "17", "--surface", "tomcat-setenv", stdin=HUNG_DUMP)
    assert done.returncode == 0, done.stderr
    assert "+++ b/bin/setenv.sh" in done.stdout
    assert "-Djava.security.egd=file:/dev/urandom" in done.stdout


@pytest.mark.network
@pytest.mark.timeout(400)
def test_it_diagnoses_and_explains_where_no_checkout_is(installed: Path) -> None:
    done = run(installed, "diagnose", "-", stdin=HUNG_DUMP)
    assert done.returncode == 10, done.stderr
    assert done.stdout.startswith("stalled (blocking-seed")
    assert run(installed, "explain", "SS101").returncode == 0
    assert run(installed, "--version").stdout.startswith("seedstall ")


@pytest.mark.network
@pytest.mark.jvm
@pytest.mark.timeout(400)
def test_the_probe_is_inside(installed: Path, java: Path) -> None:
    done = run(installed, "demo", "--java", str(java))
    assert done.returncode == 0, done.stdout + done.stderr
