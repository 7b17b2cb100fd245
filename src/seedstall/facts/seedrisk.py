"""Whether a JVM's next seed has to wait: its seed source, what it draws, its kernel and its device, put together."""

from __future__ import annotations

from seedstall.knowledge.products import NEW, Asks, asked
from seedstall.knowledge.seeding import behaviour
from seedstall.knowledge.seedsource import Target, destination
from seedstall.model.evidence import Missing
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, Product
from seedstall.model.kernel import KernelRandom, PoolState, RandomDevices
from seedstall.model.security import SeedFile
from seedstall.model.seeding import Behaviour, Device, Risk, SeedRisk, SeedSource
from seedstall.source.base import Source

RANDOM = (1, 8)


def seed_risk(
    _source: Source,
    kernel: KernelRandom | Missing,
    seed: SeedSource | Missing,
    jdk: JdkVersion | Missing,
    product: Product | None,
    launch: Launch | None,
    devices: RandomDevices | None,
    file: SeedFile | None,
) -> SeedRisk:
    """What the settings and the kernel say; where one of them is not known, that.

    A kernel whose device never blocks makes every setting harmless, unless something else stands in the device's
    place.
    """
    replaced = _replaced(devices)
    calm = _calm(kernel, devices)
    if calm is not None and not replaced:
        return calm
    if isinstance(seed, Missing):
        why = f"its seed source is not known: {seed.detail or str(seed.why)}"
        return SeedRisk(Risk.UNKNOWN, why)
    if isinstance(jdk, Missing):
        return SeedRisk(Risk.UNKNOWN, f"its JDK is not known: {jdk.detail or str(jdk.why)}")
    readable = file.readable if file is not None else None
    draws = [(asks, _drawn(asks, seed, jdk, readable)) for asks in asked(product, launch, jdk)]
    for asks, told in draws:
        if told.device is Device.RANDOM and told.can_block:
            return _of_device(f"{asks.why} reads /dev/random", kernel, replaced)
    return _of_others(seed, draws)


def _of_others(seed: SeedSource, draws: list[tuple[Asks, Behaviour]]) -> SeedRisk:
    """Of a program that is not known to read a device that blocks."""
    asks, told = draws[0]
    if told.can_block is None or (told.doubt and asks is not NEW):
        return SeedRisk(Risk.UNKNOWN, told.doubt or told.source)
    if asks is NEW and destination(seed.value).target is Target.RANDOM:
        text = "new SecureRandom() reads /dev/urandom here; generateSeed() and getInstanceStrong() would wait"
        return SeedRisk(Risk.UNKNOWN, text)
    return SeedRisk(Risk.CANNOT_BLOCK, _harmless(asks, told))


def _harmless(asks: Asks, told: Behaviour) -> str:
    if told.device is Device.THREADED:
        return (
            f"{asks.why} reads no device: the threaded seeder takes seconds, and waits for nobody"
        )
    device = told.device if told.device in (Device.URANDOM, Device.RANDOM) else "another source"
    return f"{asks.why} reads {device}; only getInstanceStrong() might wait"


def _drawn(asks: Asks, seed: SeedSource, jdk: JdkVersion, readable: bool | None) -> Behaviour:  # noqa: FBT001 - three answers
    strong = seed.strong_algorithms
    return behaviour(
        jdk, seed.value, asks.instance, asks.operation, strong=strong, readable=readable
    )


def _replaced(devices: RandomDevices | None) -> str:
    """What stands in the place of the kernel's device, ``""`` where it is that very device or was not seen."""
    if devices is None or devices.random.rdev == RANDOM:
        return ""
    return devices.random.kind


def _calm(kernel: KernelRandom | Missing, devices: RandomDevices | None) -> SeedRisk | None:
    """What the kernel alone decides."""
    if isinstance(kernel, Missing):
        return SeedRisk(Risk.UNKNOWN, f"the kernel is not known: {kernel.detail or kernel.why}")
    if kernel.can_block is None:
        return SeedRisk(Risk.UNKNOWN, kernel.reason)
    if kernel.can_block:
        return None
    if kernel.state is PoolState.NOT_READY:
        text = "the kernel's generator is not seeded yet: any seed waits until it is"
        return SeedRisk(Risk.UNKNOWN, text)
    if devices is None:
        text = "this kernel's /dev/random does not block after boot; whether it sees that one could not be looked at"
        return SeedRisk(Risk.UNKNOWN, text)
    return SeedRisk(Risk.CANNOT_BLOCK, "this kernel's /dev/random does not block after boot")


def _of_device(who: str, kernel: KernelRandom | Missing, replaced: str) -> SeedRisk:
    if replaced:
        text = f"{who}, which is {replaced} here: whether that gives bytes is not known"
        return SeedRisk(Risk.UNKNOWN, text)
    fed = isinstance(kernel, KernelRandom) and (
        kernel.state is PoolState.OK or any("fed by the kernel" in f for f in kernel.feeders)
    )
    bits = kernel.entropy_avail if isinstance(kernel, KernelRandom) else None
    now = "" if bits is None else f" ({bits} bits in its pool now)"
    risk = Risk.MAY_BLOCK if fed else Risk.WILL_BLOCK
    return SeedRisk(risk, f"{who}, which blocks on this kernel{now}")


PROVIDERS = (seed_risk,)
