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
from seedstall.model.security import FipsSetup
from seedstall.model.seeding import (
    Algorithm,
    Device,
    Instance,
    Operation,
    SeedRole,
    SeedSetting,
    SeedSource,
    SeedStack,
)
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules.seed_account import Surroundings
from seedstall.rules.seed_log import is_dry
from seedstall.rules.seed_remedies import (
    egd_cannot_help,
    egd_refused,
    strong_refused,
    unfixable_by_property,
)

EGD = "java.security.egd"
RANDOM_DEVICE = (1, 8)
HARMLESS_MS = 1000
"""A seeding line of up to a second is no reason to change anything."""
JDK8 = 8
EGD_INSTEAD = "java.security.egd is the setting for that"
OWN_READ = (
    "no SecureRandom is in its stack: the program itself reads the device, and no setting of the JDK reaches that;"
    " its own code or settings name what it reads"
)


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
    if reason := egd_refused(next(iter(waits), None), _around(case)):
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
    if reason := non_blocking_refused(case):
        return Judgement(Need.USELESS, reason)
    source = case.value(SeedSource)
    if source is not None and (source.strong_algorithms or "").startswith(value):
        return Judgement(
            Need.IN_PLACE, f"securerandom.strongAlgorithms is {source.strong_algorithms}"
        )
    if reason := _beyond_strong(case, source):
        return Judgement(Need.USELESS, reason)
    if not _waits(case) and (reason := _device_never_waits(case)):
        return Judgement(Need.USELESS, reason)
    return Judgement(Need.WANTED, notes=tuple(_strong_notes(case)))


def non_blocking_refused(case: Case) -> str:
    """Why this JVM's providers refuse ``NativePRNGNonBlocking``, under FIPS above all; ``""`` where they do not."""
    return strong_refused(next(iter(_waits(case)), None), _around(case))


def strong_only(case: Case) -> bool:
    """Whether every wait that was seen is one that only ``securerandom.strongAlgorithms`` reaches."""
    seen = [w.stack for w in _waits(case)]
    return bool(seen) and all(
        stack is not None
        and (stack.instance is Instance.STRONG or stack.algorithm is Algorithm.NATIVE_PRNG_BLOCKING)
        for stack in seen
    )


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


def unseen(case: Case, target: str, *, live: bool) -> str:
    """The clause that *target* shows neither a wait nor a seed setting; ``""`` where it shows one.

    Of a *live* process that could not be looked into, only that is said: what was not seen may be there all the same.
    """
    source = case.value(SeedSource)
    if source is not None and source.setting in (SeedSetting.EGD, SeedSetting.GIVEN):
        return ""
    seeds = case.value(SeedEvidence)
    if seeds is not None and _shows_a_wait(seeds):
        return ""
    if live and (seeds is None or not seeds.shows_a_start):
        return f"whether a thread of {target} waits for random bytes could not be seen"
    return f"nothing in {target} shows a wait for random bytes"


def _shows_a_wait(seeds: SeedEvidence) -> bool:
    """Whether a thread, a log or a measurement shows one, now or in an earlier dump."""
    lines = seeds.log.seeding if seeds.log is not None else ()
    told = seeds.observations.items if seeds.observations is not None else ()
    return bool(
        seeds.waits
        or seeds.queued
        or seeds.over
        or any(line.took_ms > HARMLESS_MS for line in lines)
        or any(o.kind in ("strace-random-read", "threaded-seeder") or is_dry(o) for o in told)
    )


def _around(case: Case) -> Surroundings:
    """The provider set-up, which may refuse what is meant to cure."""
    return Surroundings(fips=case.value(FipsSetup))


def _waits(case: Case) -> list[SeedWait]:
    """Threads seen waiting for random bytes, in a dump or in the kernel."""
    seeds = case.value(SeedEvidence)
    return [w for w in seeds.waits if w.role is SeedRole.READING] if seeds is not None else []


def _beyond_egd(waits: list[SeedWait]) -> str:
    """Why the property reaches none of the waits; ``""`` where it may reach one."""
    reasons = [_egd_cannot_help(w) for w in waits]
    return f"{waits[0].name} waits, but {reasons[0]}" if all(reasons) else ""


def _egd_cannot_help(wait: SeedWait) -> str:
    return OWN_READ if _reads_by_itself(wait) else egd_cannot_help(wait.stack)


def _reads_by_itself(wait: SeedWait) -> bool:
    """Whether the program's own code reads the device: its stack was seen, and no seed class is in it."""
    return wait.stack is None and wait.java is not None


def _beyond_strong(case: Case, source: SeedSource | None) -> str:
    """Why ``securerandom.strongAlgorithms`` reaches nothing that was seen waiting; ``""`` where it may, or none was."""
    seeds = case.value(SeedEvidence)
    if seeds is None:
        return ""
    waits = (*seeds.waits, *seeds.queued, *seeds.over)
    lines = seeds.log.seeding if seeds.log is not None else ()
    slow = [line for line in lines if line.took_ms > HARMLESS_MS]
    if any(_maybe_strong(w, source) for w in waits):
        return ""
    if any(_algorithm_maybe_strong(line.algorithm, source) for line in slow):
        return ""
    if waits:
        verb = "waits" if seeds.waits or seeds.queued else "waited"
        return _why_not_strong(waits[0], verb)
    if slow:
        where = f"{slow[0].origin}:{slow[0].line}"
        return f"what was slow is {slow[0].algorithm} ({where}) and not getInstanceStrong(): {EGD_INSTEAD}"
    return ""


def _why_not_strong(wait: SeedWait, verb: str) -> str:
    if wait.stack is None:
        return f"{wait.name} {verb}, but {OWN_READ}"
    if wait.stack.algorithm is Algorithm.PKCS11:
        return f"{wait.name} {verb}, but {egd_cannot_help(wait.stack)}, nor has securerandom.strongAlgorithms"
    algorithm = wait.stack.algorithm
    what = "the seeding" if algorithm is Algorithm.OTHER else f"{algorithm}'s seeding"
    return f"{wait.name} {verb} in {what} and not in getInstanceStrong(): {EGD_INSTEAD}"


def _maybe_strong(wait: SeedWait, source: SeedSource | None) -> bool:
    """Whether the thread may have got its generator by getInstanceStrong(), as far as was looked."""
    if wait.stack is None:
        return wait.java is None
    if wait.stack.instance is Instance.STRONG:
        return True
    return any(_algorithm_maybe_strong(a, source) for a in _algorithms(wait.stack))


def _algorithms(stack: SeedStack) -> tuple[str, ...]:
    return (stack.algorithm, *stack.candidates)


def _algorithm_maybe_strong(algorithm: str, source: SeedSource | None) -> bool:
    """Whether getInstanceStrong() gives that generator here; ``""`` is one that is not named.

    It takes the first of ``securerandom.strongAlgorithms`` that there is; shipped on Linux is NativePRNGBlocking:SUN.
    """
    if algorithm in ("", Algorithm.NATIVE_PRNG_BLOCKING):
        return True
    listed = source.strong_algorithms if source is not None else None
    first = (listed or "").partition(",")[0].partition(":")[0].strip()
    return algorithm.lower() == first.lower()


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
    partly = [reason for w in waits if (reason := _egd_cannot_help(w))]
    if partly:
        yield f"it helps some of the waiting threads only: {partly[0]}"
    if any(unfixable_by_property(w.stack, jdk) for w in waits):
        yield (
            "on JDK 6 and 7 it helps only where the program takes the default generator: an explicit NativePRNG"
            " reads /dev/random in generateSeed whatever the property says"
        )
    if waits and all(w.stack is None and w.java is None for w in waits):
        yield (
            "the dump does not show the thread that waits: it may be one of a native library, which no Java setting"
            " reaches"
            if _dumped(case)
            else "which generator waits was not looked at (no thread dump): if it is getInstanceStrong(),"
            " only --surface strong-algorithms helps; --attach, or seedstall diagnose, says which"
        )
    kernel = case.value(KernelRandom)
    if waits and kernel is not None and kernel.can_block is False and _device_never_waits(case):
        yield f"a thread was seen waiting, and yet {_device_never_waits(case)}"


def _dumped(case: Case) -> bool:
    seeds = case.value(SeedEvidence)
    return seeds is not None and bool(seeds.dumps)


def _strong_notes(case: Case) -> Iterator[str]:
    waits = _waits(case)
    if not any(w.stack is not None for w in waits):
        if _dumped(case):
            yield "the dump shows no thread that waits in getInstanceStrong(): the file reaches nothing else"
        else:
            yield (
                "whether a thread waits in getInstanceStrong() was not looked at (no thread dump), and the file"
                " reaches nothing else: a thread dump (of a PID: --attach) says which generator waits"
            )
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
