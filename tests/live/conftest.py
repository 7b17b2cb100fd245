"""Real JVMs to be diagnosed: started on a dry random device, ended by their own process group."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
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
