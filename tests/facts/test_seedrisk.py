"""What a JVM's settings and its kernel say of the next seed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.facts_by_hand import DEFAULT_SOURCE, JDK7, JDK8, JDK17, NO_POOL, POOL

from seedstall.facts.seedrisk import seed_risk
from seedstall.model.evidence import Missing, Why
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.kernel import (
    BlockingModel,
    DeviceNode,
    KernelRandom,
    PoolState,
    RandomDevices,
)
from seedstall.model.seeding import Risk, SeedRisk, SeedSource
from seedstall.source.base import Held

TOMCAT = Product(key="tomcat", title="Apache Tomcat")
URANDOM = replace(DEFAULT_SOURCE, value="file:/dev/urandom")
ODD = replace(DEFAULT_SOURCE, value="file:/dev/./random")
KERNEL_DEVICE = RandomDevices(DeviceNode("/dev/random", "the character device 1:8", (1, 8)))
FIFO = RandomDevices(DeviceNode("/dev/random", "a FIFO"))
UNKNOWN_KERNEL = replace(POOL, model=BlockingModel.UNKNOWN, reason="release 4.18 alone")
FULL = replace(POOL, state=PoolState.OK, entropy_avail=3000)
FED = replace(POOL, feeders=("virtio_rng.0, fed by the kernel",))
UNSEEDED = replace(NO_POOL, state=PoolState.NOT_READY)
DENIED = Missing(Why.DENIED, (), "run as root")


def risk(
    kernel: KernelRandom | Missing = POOL,
    seed: SeedSource | Missing = DEFAULT_SOURCE,
    jdk: JdkVersion | Missing = JDK17,
    product: Product | None = TOMCAT,
    devices: RandomDevices | None = KERNEL_DEVICE,
) -> SeedRisk:
    return seed_risk(Held({}), kernel, seed, jdk, product, None, devices, None)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (risk(), Risk.WILL_BLOCK),
        (risk(jdk=JDK8), Risk.WILL_BLOCK),
        (risk(seed=ODD, product=None), Risk.WILL_BLOCK),
        (risk(jdk=JDK7, seed=URANDOM), Risk.WILL_BLOCK),
        (risk(FULL), Risk.MAY_BLOCK),
        (risk(FED), Risk.MAY_BLOCK),
        (risk(seed=URANDOM), Risk.CANNOT_BLOCK),
        (risk(seed=URANDOM, product=None), Risk.CANNOT_BLOCK),
        (risk(NO_POOL), Risk.CANNOT_BLOCK),
        (risk(NO_POOL, seed=DENIED, jdk=DENIED, product=None, devices=None), Risk.UNKNOWN),
        (risk(UNSEEDED), Risk.UNKNOWN),
        (risk(UNKNOWN_KERNEL), Risk.UNKNOWN),
        (risk(DENIED), Risk.UNKNOWN),
        (risk(seed=DENIED), Risk.UNKNOWN),
        (risk(jdk=DENIED), Risk.UNKNOWN),
        (risk(product=None), Risk.UNKNOWN),
        (risk(NO_POOL, devices=FIFO), Risk.UNKNOWN),
        (risk(NO_POOL, seed=URANDOM, devices=FIFO), Risk.CANNOT_BLOCK),
    ],
)
def test_settings_program_kernel_and_device_together(told: SeedRisk, expected: Risk) -> None:
    assert told.risk is expected
    assert told.why


def test_the_reason_names_what_decides() -> None:
    assert "session ids" in risk().why
    assert "12 bits" in risk().why
    assert "a FIFO" in risk(NO_POOL, devices=FIFO).why
    assert "run as root" in risk(seed=DENIED).why
    assert "generateSeed()" in risk(product=None).why
    assert "could not be looked at" in risk(NO_POOL, devices=None).why
    threaded = risk(seed=replace(DEFAULT_SOURCE, value="/dev/urandom"))
    assert "threaded seeder" in threaded.why
