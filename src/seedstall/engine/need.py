"""Whether a seed setting would change anything for this JVM, or is there already."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from seedstall.engine.case import Case
from seedstall.knowledge.seeding import behaviour
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, OptionOrigin
from seedstall.model.kernel import KernelRandom, RandomDevices
from seedstall.model.record import dataclass
from seedstall.model.seeding import Device, Instance, Operation, SeedRole, SeedSetting, SeedSource
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules.seed_remedies import egd_cannot_help, unfixable_by_property

EGD = "java.security.egd"
RANDOM_DEVICE = (1, 8)
HARMLESS_MS = 1000
"""A seeding line of up to a second is no reason to change anything."""
JDK8 = 8


class Need(Enum):
    """What a setting would do."""

    WANTED = auto()
    IN_PLACE = auto()
    USELESS = auto()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The need, why in one clause, and what else a person should know."""

    need: Need
    reason: str = ""
    notes: tuple[str, ...] = ()


def egd_need(case: Case, value: str, *, in_environment: bool = True) -> Judgement:
    """What ``-Djava.security.egd=VALUE`` would do for the next start of this JVM.

    With *in_environment* false a stronger setting in ``_JAVA_OPTIONS`` does not count: the file that sets it is edited.
    """
    option = launch.last_property(EGD) if (launch := case.value(Launch)) is not None else None
    if in_environment and option is not None and option.origin is OptionOrigin.JAVA_OPTIONS:
        now = option.text.partition("=")[2]
        if now != value:
            reason = (
                f"_JAVA_OPTIONS sets it to {now!r} and beats every other place: change it there"
            )
            return Judgement(Need.USELESS, reason)
    jdk = case.value(JdkVersion)
    waits = _waits(case)
    if waits and (reason := _beyond_egd(waits)):
        return Judgement(Need.USELESS, reason)
    source = case.value(SeedSource)
    if source is not None and source.value == value:
        return Judgement(
            Need.IN_PLACE, f"this JVM's seed source is {value} already ({source.place})"
        )
    if not waits and (reason := _never_waits(case, jdk, source)):
        return Judgement(Need.USELESS, reason)
    return Judgement(Need.WANTED, notes=tuple(_notes(case, waits, jdk)))


def strong_need(case: Case, value: str) -> Judgement:
    """What ``securerandom.strongAlgorithms=VALUE`` would do for the next start of this JVM."""
    jdk = case.value(JdkVersion)
    if jdk is not None and jdk.feature < JDK8:
        reason = f"JDK {jdk} has no getInstanceStrong() and no securerandom.strongAlgorithms (both came with 8)"
        return Judgement(Need.USELESS, reason)
    source = case.value(SeedSource)
    if source is not None and (source.strong_algorithms or "").startswith(value):
        return Judgement(
            Need.IN_PLACE, f"securerandom.strongAlgorithms is {source.strong_algorithms}"
        )
    waits = _waits(case)
    if not waits and (reason := _device_never_waits(case)):
        return Judgement(Need.USELESS, reason)
    return Judgement(Need.WANTED, notes=tuple(_strong_notes(case, waits)))


def feeder_need(case: Case) -> Judgement:
    """What an entropy daemon on the host would do, as far as the JVM's device tells; the kernel decides the rest."""
    devices = case.value(RandomDevices)
    if devices is not None and devices.random.rdev != RANDOM_DEVICE:
        reason = (
            f"/dev/random {devices.place} is {devices.random.kind} and not the kernel's device 1:8:"
            " no daemon can feed that"
        )
        return Judgement(Need.USELESS, reason)
    return Judgement(Need.WANTED)


def _waits(case: Case) -> list[SeedWait]:
    """Threads seen waiting for random bytes, in a dump or in the kernel."""
    seeds = case.value(SeedEvidence)
    return [w for w in seeds.waits if w.role is SeedRole.READING] if seeds is not None else []


def _beyond_egd(waits: list[SeedWait]) -> str:
    """Why the property reaches none of the waits; ``""`` where it may reach one."""
    reasons = [egd_cannot_help(w.stack) for w in waits]
    return f"{waits[0].name} waits, but {reasons[0]}" if all(reasons) else ""


def _never_waits(case: Case, jdk: JdkVersion | None, source: SeedSource | None) -> str:
    """Why nothing waits as it is: the device does not block, no setting is broken, no log says otherwise."""
    seeds = case.value(SeedEvidence)
    lines = seeds.log.seeding if seeds is not None and seeds.log is not None else ()
    if any(line.took_ms > HARMLESS_MS for line in lines):
        return ""
    if source is not None and source.setting in (SeedSetting.EGD, SeedSetting.GIVEN):
        return ""  # a setting to be put right
    if source is not None and _threaded(jdk, source.value):
        return ""
    return _device_never_waits(case)


def _threaded(jdk: JdkVersion | None, source: str) -> bool:
    if jdk is None:
        return ":" not in source
    return behaviour(jdk, source, Instance.SHA1PRNG, Operation.NEXT_BYTES).device is Device.THREADED


def _device_never_waits(case: Case) -> str:
    kernel = case.value(KernelRandom)
    if kernel is None or kernel.can_block is not False:
        return ""
    devices = case.value(RandomDevices)
    if devices is not None and devices.random.rdev != RANDOM_DEVICE:
        return ""
    return f"on this kernel /dev/random does not block after boot ({kernel.reason})"


def _notes(case: Case, waits: list[SeedWait], jdk: JdkVersion | None) -> Iterator[str]:
    partly = [reason for w in waits if (reason := egd_cannot_help(w.stack))]
    if partly:
        yield f"it helps some of the waiting threads only: {partly[0]}"
    if any(unfixable_by_property(w.stack, jdk) for w in waits):
        yield (
            "on JDK 6 and 7 it helps only where the program takes the default generator: an explicit NativePRNG"
            " reads /dev/random in generateSeed whatever the property says"
        )
    if waits and all(w.stack is None for w in waits):
        yield (
            "which generator waits was not looked at (no thread dump): if it is getInstanceStrong(),"
            " only --surface strong-algorithms helps; --attach, or seedstall diagnose, says which"
        )
    kernel = case.value(KernelRandom)
    if waits and kernel is not None and kernel.can_block is False and _device_never_waits(case):
        yield f"a thread was seen waiting, and yet {_device_never_waits(case)}"


def _strong_notes(case: Case, waits: list[SeedWait]) -> Iterator[str]:
    stacks = [w.stack for w in waits if w.stack is not None]
    if stacks and not any(egd_cannot_help(s) for s in stacks):
        yield "no waiting thread was seen in getInstanceStrong(): java.security.egd is the setting for those"
    launch = case.value(Launch)
    if launch is not None and (named := launch.property_value("java.security.properties")):
        yield (
            f"this JVM has -Djava.security.properties={named} already, and only the last one counts:"
            " put the line into that file instead"
        )
    yield (
        "the numbers then come from /dev/urandom: under a FIPS or similar rule ask first"
        " whether that is allowed"
    )
