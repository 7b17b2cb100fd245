"""A real jarsigner of JDK 8 that hangs at the time-stamp's nonce, as in the post the project began with."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.live.rig import report_of, surfaces, until, wait_of
from tests.machine import CHECKOUT, JDK8_ROOT, Seedstall, jdk8_bin

from seedstall.effect.starvation import DryDevice, Starved

pytestmark = [pytest.mark.jdk8, pytest.mark.root]

PASSWORD = "Zauberlehrling"  # noqa: S105 - of a key store that lives as long as its test
FIX = "-J-Djava.security.egd=file:/dev/urandom"


@dataclass(frozen=True)
class Signing:
    """A jar and a key store inside the JDK 8's root, and a time-stamping authority."""

    inside: Path
    """The directory as it is outside the root."""
    programs: Path
    url: str

    def within(self, name: str) -> str:
        return str(Path("/") / self.inside.relative_to(JDK8_ROOT) / name)

    def command(self, *options: str) -> list[str]:
        return [
            str(self.programs / "jarsigner"),
            *options,
            *("-tsa", self.url, "-keystore", self.within("keys.jks"), "-storepass", PASSWORD),
            *(self.within("app.jar"), "signer"),
        ]


@pytest.fixture
def tsa() -> Iterator[str]:
    """The address of a stand-in for a time-stamping authority."""
    server = subprocess.Popen(
        [sys.executable, CHECKOUT / "scripts/tsa"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/"
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


@pytest.fixture
def signing(tsa: str, device: DryDevice, namespaces: None) -> Iterator[Signing]:
    programs = jdk8_bin()
    assert programs is not None
    inside = Path(tempfile.mkdtemp(dir=JDK8_ROOT / "tmp"))
    try:
        with zipfile.ZipFile(inside / "app.jar", "w") as jar:
            jar.writestr("hello.txt", "hello")
        signing = Signing(inside, programs, tsa)
        # new SecureRandom() alone: keytool does not stall on 8, dry device or not.
        keytool = [
            str(programs / "keytool"),
            *("-genkeypair", "-alias", "signer", "-dname", "CN=signer", "-keyalg", "RSA"),
            *("-keystore", signing.within("keys.jks")),
            *("-storepass", PASSWORD, "-keypass", PASSWORD),
        ]
        made = device.start(keytool, root=JDK8_ROOT, output=subprocess.PIPE)
        assert made.wait(60) == 0, made.output and made.output.read()
        yield signing
    finally:
        shutil.rmtree(inside)


@pytest.fixture
def hung(signing: Signing, device: DryDevice) -> Starved:
    process = device.start(signing.command(), root=JDK8_ROOT)
    until(lambda: process.waiting_thread() is not None, process)
    return process


def test_it_is_diagnosed_by_pid(hung: Starved, seedstall: Seedstall) -> None:
    done = seedstall("diagnose", hung.pid)
    assert done.returncode == 10
    first = done.stdout.splitlines()[0]
    assert first.startswith('stalled (blocking-seed, confirmed): "main" ')
    assert "/dev/random" in first
    assert "SHA1PRNG" in first
    assert "jarsigner" in first
    assert PASSWORD not in done.stdout + done.stderr

    report = report_of(seedstall, hung.pid)
    assert surfaces(report) == ["jarsigner"]
    assert wait_of(report)["nid"] == hung.waiting_thread()
    assert report["facts"]["jvm"]["main"] == "jarsigner"
    assert PASSWORD not in str(report)


def test_the_printed_command_line_signs_on_the_same_device(
    hung: Starved, signing: Signing, device: DryDevice, seedstall: Seedstall
) -> None:
    fix = seedstall("fix", hung.pid, "--surface", "jarsigner")
    assert fix.returncode == 0, fix.stderr
    assert FIX in fix.stdout.split()
    assert PASSWORD not in fix.stdout
    hung.end()

    start = time.monotonic()
    process = device.start(signing.command(FIX), root=JDK8_ROOT, output=subprocess.PIPE)
    # The stand-in refuses to stamp: that answer comes after the nonce that hung.
    assert process.wait(60) == 1
    assert process.output is not None
    assert b"500" in process.output.read()
    assert time.monotonic() - start < 20
