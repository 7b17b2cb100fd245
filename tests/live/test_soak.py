"""The soak of ``make soak``, in short: attaches to one JVM, and JVMs that come and go while all are looked at."""

from __future__ import annotations

import random
import subprocess

import pytest
from benchmarks import soak
from tests.live.patients import Patient
from tests.machine import java_of

pytestmark = pytest.mark.jvm
FEATURES = tuple(n for n in (17, 21) if java_of(n).exists())


@pytest.fixture(autouse=True)
def _jvms() -> None:
    if 17 not in FEATURES:
        pytest.skip("needs JDK 17: make jvms")


def test_attaches_in_a_row_leak_nothing_and_harm_nobody() -> None:
    told = soak.attach_often(20)
    assert len(told.times) == 20


@pytest.mark.matrix  # it looks at every JVM of the host: 5 to 36 s, by how many there are
def test_jvms_that_come_and_go_are_no_error_of_ours() -> None:
    told = soak.churn(5, FEATURES, lambda _: None, least_runs=3, life_s=(0.0, 3.0), at_once=3)
    assert sum(told.runs.values()) >= 3
    assert told.jvms >= 5


def test_a_jvm_that_ended_by_anything_but_us_is_noticed() -> None:
    """Else the soak could not fail."""
    with subprocess.Popen(["sh", "-c", "exit 3"], stdout=subprocess.PIPE) as process:
        process.wait()
        jvm = Patient(process)
        with pytest.raises(soak.SpoiledError, match="ended by itself, with 3"):
            soak._end_those_due({process.pid: (jvm, 0.0)}, random.Random(1))  # noqa: S311 - any
