"""Real JVMs to be diagnosed: started on a dry random device, ended by their own process group."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.live import patients
from tests.live.patients import Patient
from tests.live.rig import JDK8, JDKS_SINCE_9, Jdk, Rig
from tests.machine import JDK8_ROOT, java_of, jdk8_bin

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice, How


@pytest.fixture(params=(JDK8, *JDKS_SINCE_9))
def jdk(request: pytest.FixtureRequest) -> Jdk:
    """Each JDK in turn."""
    feature: int = request.param
    if feature == 8:
        programs = jdk8_bin()
        assert programs is not None  # else the test was skipped by its marker
        return Jdk(feature, programs / "java", JDK8_ROOT)
    java = java_of(feature)
    if not java.exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    return Jdk(feature, java)


@pytest.fixture
def device() -> Iterator[DryDevice]:
    """A random device that gives nothing."""
    with DryDevice() as dry:
        yield dry


@pytest.fixture
def namespaces(device: DryDevice) -> None:
    """Skip where the device cannot really lie over /dev/random."""
    with device.start(["true"]) as process:
        if process.how is How.EGD:
            pytest.skip("needs mount namespaces: run the tests as root, or allow user namespaces")


@pytest.fixture
def rig(jdk: Jdk, device: DryDevice, namespaces: None) -> Iterator[Rig]:
    """That JDK on that device."""
    with tempfile.TemporaryDirectory(dir=jdk.root / "tmp" if jdk.root else None) as folder:
        shutil.copy(PROBE / "SeedProbe.class", folder)
        yield Rig(jdk, device, Path(folder))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that every user may read and write, as a JVM's working directory."""
    made = Path(tempfile.mkdtemp(prefix="patient-"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Patient]]:
    """Start a patient; all are ended with the test."""
    started: list[Patient] = []

    def begin(
        feature: int = 17, *options: str, up: bool = True, main: str = "Patient", **how: object
    ) -> Patient:
        if feature != 8 and not java_of(feature).exists():
            pytest.skip(f"needs JDK {feature}: make jvms")
        command = patients.command(feature, options, main=main)
        patient = patients.start(command, folder, **how)  # type: ignore[arg-type]
        started.append(patient)
        if up:
            patient.wait_until(lambda: b"up" in patient.said)
        return patient

    yield begin
    for patient in started:
        patient.end()
