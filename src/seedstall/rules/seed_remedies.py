"""Which remedy fits a seeding wait: by generator, JDK, product and kernel (facts: jdk, section 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.knowledge.seeding import right_egd
from seedstall.model.finding import Disposition, Fix, When
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.kernel import BlockingModel, KernelRandom
from seedstall.model.log import ServerLog
from seedstall.model.redact import redact, visible
from seedstall.model.security import FipsProvider
from seedstall.model.seeding import Algorithm, Instance, Operation, SeedStack
from seedstall.model.tasks import UNOPENED
from seedstall.model.waits import SeedWait
from seedstall.rules import now_remedies, pool_remedies
from seedstall.rules.seed_account import Surroundings, own_frame

JDK8 = 8
RANDOM_PATH = "/dev/random"
_PLACES = {"tomcat": ["tomcat-setenv"], "jarsigner": ["jarsigner"]}
"""Where the product that a stack's caller names keeps its flags, where no process tells the product."""
FEED = "feed the host's entropy pool: the waiting JVM goes on by itself"
FEED_UNSEEN = "feed the host's entropy pool: what waits for its bytes goes on by itself"
FEED_ALL = "feed the host's entropy pool, for every program on it"
NONBLOCKING = "NativePRNGNonBlocking:SUN"


def no_egd_for(wait: SeedWait | None) -> str:
    """Why no value of ``java.security.egd`` cures this wait: its generator, or that no generator reads at all."""
    if wait is None:
        return ""
    file = wait.task.file if wait.task is not None else None
    if file is not None and file.fd == UNOPENED and file.is_device:
        # Seen on 11, 17, 21 and 25: NativePRNG opens both devices when the SUN provider is loaded.
        return "the JDK opens /dev/random at the first use of any generator, whatever its seed source is"
    if wait.stack is None and wait.java is not None and wait.java.frames:
        return "the program reads the device itself: no setting of the JDK's generators reaches it"
    return egd_cannot_help(wait.stack)


def egd_cannot_help(stack: SeedStack | None) -> str:
    """Why no value of ``java.security.egd`` cures this wait; ``""`` where one does.

    getInstanceStrong and NativePRNGBlocking ignore it on every JDK; on 6 and 7 an explicit NativePRNG's
    generateSeed reads ``/dev/random`` whatever the property says.
    """
    if stack is None:
        return ""
    if stack.algorithm is Algorithm.NATIVE_PRNG_BLOCKING or stack.instance is Instance.STRONG:
        return (
            "no value of java.security.egd changes what getInstanceStrong() and NativePRNGBlocking read;"
            " securerandom.strongAlgorithms does"
        )
    if stack.algorithm is Algorithm.PKCS11:
        return "a PKCS#11 token makes these bytes; java.security.egd has no part in it"
    return ""


def set_already(around: Surroundings) -> str:
    """Where the recommended value is in force already: then it is not what the wait needs."""
    source = around.source
    if source is None or source.assumed or source.value != right_egd(around.jdk).value:
        return ""
    return (
        f"the seed source is {source.value} already ({source.place}), and that does not read /dev/random: look what"
        " /dev/urandom is there, and whether the setting was in force when the wait began"
    )


def for_the_next_start(wait: SeedWait | None, around: Surroundings) -> tuple[Fix, ...]:
    """The fixes where nothing waits any more: none of them frees anything now."""
    fixes = remedies(wait, replace(around, live=False), around.product)
    return tuple(
        replace(fix, when=When.NEXT_START, title=FEED_ALL if fix.title == FEED else fix.title)
        for fix in fixes
        if fix.surface != "stir-pool"
    )


def remedies(
    wait: SeedWait | None,
    around: Surroundings,
    product: Product | None,
    *,
    device_replaced: bool = False,
) -> tuple[Fix, ...]:
    """The fixes in the order in which a person wants them: what frees the process now, then the next start."""
    stack = wait.stack if wait is not None else None
    elsewhere = (
        device_replaced or bool(set_already(around)) or (stack is not None and stack.network)
    )
    host = host_fixes(around, wait, device_replaced=elsewhere)
    fed = now_remedies.feed_device(wait, around) if wait is not None and device_replaced else ()
    now = [*fed, *(fix for fix in host if fix.when is When.NOW)]
    alone = not now and around.kernel is not None
    now += now_remedies.last_resort(wait, around, alone=alone)
    later = [] if elsewhere else [fix for fix in host if fix.when is When.NEXT_START]
    if device_replaced and wait is not None and wait.task is not None:
        file = wait.task.file
        # A seed source with a name of its own is no device that was lost: another is to be named.
        if file is None or file.is_device:
            path = file.path if file is not None else RANDOM_PATH
            later.insert(0, device_node(path, container=_in_container(around)))
    return (*now, *settings(wait, around, product), *later)


def settings(wait: SeedWait | None, around: Surroundings, product: Product | None) -> Iterator[Fix]:
    """What is set or written differently for the next start, as far as the provider set-up takes it."""
    stack = wait.stack if wait is not None else None
    if stack is not None and stack.algorithm is Algorithm.PKCS11:
        return
    if egd_cannot_help(stack):
        if not strong_refused(wait, around):
            yield strong()
            yield from application_call("strong", wait)
        elif of_bouncy_castle(wait, around) and not (
            around.fips is not None and around.fips.hybrid
        ):
            yield hybrid()
    elif no_egd_for(wait):
        if wait is not None and wait.task is not None and wait.java is not None:
            yield from application_call("device", wait)
    elif not set_already(around) and not egd_refused(wait, around):
        yield from egd_fixes(stack, around.jdk, product)
        if unfixable_by_property(stack, around.jdk):
            yield from application_call("generate-seed", wait)


# --- FIPS -------------------------------------------------------------------------------------------------------------


def of_bouncy_castle(wait: SeedWait | None, around: Surroundings) -> bool:
    """Whether the bytes are for BCFIPS: by its provider list, or by the stack of a program that adds it itself."""
    if around.fips is not None and around.fips.provider is FipsProvider.BOUNCY_CASTLE:
        return True
    frames = wait.java.frames if wait is not None and wait.java is not None else ()
    return any(
        f.class_name.startswith("org.bouncycastle.crypto.fips.")
        or f.class_name.partition("$")[0].endswith(".BouncyCastleFipsProvider")
        for f in frames
    )


def strong_refused(wait: SeedWait | None, around: Surroundings) -> str:
    """Why ``NativePRNGNonBlocking:SUN`` would not do in this JVM's provider set-up; ``""`` where it would."""
    fips = around.fips
    if of_bouncy_castle(wait, around):
        return (
            f"{NONBLOCKING} is not offered: BCFIPS takes its entropy there, and /dev/urandom is no approved source for"
            " it (bcgit/bc-java#1431)"
        )
    if fips is None:
        return ""
    if fips.active:
        return (
            f"{NONBLOCKING} is not offered: in the FIPS set-up of this JVM ({visible(fips.place)}) the provider SUN has"
            f" no generators, and {fips.provider} makes the bytes"
        )
    if fips.sun is False:
        return (
            f"{NONBLOCKING} is not offered: the provider SUN is not in this JVM's list of providers"
        )
    return ""


def egd_refused(wait: SeedWait | None, around: Surroundings) -> str:
    """Why ``java.security.egd`` has no part in this JVM; ``""`` where it has, or where a generator was seen to seed."""
    fips = around.fips
    if fips is None or (wait is not None and wait.stack is not None):
        return ""  # what was seen to seed is there, whatever the files say
    if fips.active and fips.provider is not FipsProvider.BOUNCY_CASTLE:
        return (
            f"{fips.provider} makes the random bytes in the FIPS set-up of this JVM ({visible(fips.place)}):"
            " java.security.egd has no part in it"
        )
    if fips.sun is False:
        return "the provider SUN is not in this JVM's list of providers: nothing reads java.security.egd"
    return ""


def hybrid() -> Fix:
    """BCFIPS's own chain of generators, which waits for the device at its start alone (BC-FJA user guide, 2.3)."""
    return Fix(
        surface="bcfips-hybrid",
        title="let BCFIPS reseed in the background (C:HYBRID); its first seed still waits",
        disposition=Disposition.REVIEW,
    )


# --- in the code, and the device itself -------------------------------------------------------------------------------

_CALLS = {
    "strong": "new SecureRandom(), or NativePRNGNonBlocking by name, instead of getInstanceStrong()",
    "generate-seed": "new SecureRandom() and nextBytes instead of an explicit NativePRNG's generateSeed",
    "device": "/dev/urandom instead of /dev/random where it opens the device itself",
    "contention": "one generator for each thread instead of a shared one",
}


def application_call(call: str, wait: SeedWait | None) -> Iterator[Fix]:
    """The change in the program's own code, where the JDK's settings do not reach it, or only take the place of it."""
    frame = _own_code(wait)
    where = f" ({frame})" if frame else ""
    yield Fix(
        surface="application-call",
        title=f"in the code: {_CALLS[call]}{where}",
        where="build",
        disposition=Disposition.REVIEW,
        params={"call": call, "frame": frame},
    )


def _own_code(wait: SeedWait | None) -> str:
    if wait is None:
        return ""
    return visible(own_frame(wait) or (wait.stack.caller_frame if wait.stack is not None else ""))[
        :120
    ]


def device_node(path: str, *, container: bool = False) -> Fix:
    """The kernel's own device where something else, or nothing, stands in its place."""
    urandom = path.endswith("urandom")
    return Fix(
        surface="device-node",
        title=f"give the JVM the kernel's own {visible(path)[:80]} (character device 1:{9 if urandom else 8})",
        where="container" if container else "host",
        needs_root=True,
        disposition=Disposition.REVIEW,
        params={"path": visible(path), "minor": "9" if urandom else "8"},
    )


def remove_flag(option: str, place: str, why: str) -> Fix:
    """A setting that does nothing any more, or nothing but harm: without it the JDK does the right thing."""
    return Fix(
        surface="remove-flag",
        title=f"take {visible(redact(option))[:120]} out ({visible(place)[:80]}): {why}",
        disposition=Disposition.REVIEW,
        params={"option": visible(redact(option))[:200], "place": visible(place)[:200], "why": why},
    )


def nothing(why: str) -> Fix:
    """The advice to leave everything as it is."""
    return Fix(
        surface="none",
        title=f"nothing: {why}",
        when=When.NOW,
        restart=False,
        params={"why": why},
    )


def _in_container(around: Surroundings) -> bool:
    return around.in_container


def host_fixes(
    around: Surroundings, wait: SeedWait | None = None, *, device_replaced: bool = False
) -> tuple[Fix, ...]:
    """A feeder for the host, where its pool is what runs dry; a device for its machine; a kernel without the pool."""
    kernel = around.kernel
    if kernel is None or kernel.model is not BlockingModel.BLOCKING_POOL or device_replaced:
        return ()
    return (
        *pool_remedies.feeder(around.distribution, kernel, FEED),
        *pool_remedies.virtio(around.machine, kernel),
        *now_remedies.stir(wait, around),
        *pool_remedies.kernel_update(around.distribution, kernel),
    )


def feeder(kernel: KernelRandom | None) -> Fix:
    """An entropy daemon on a host of which little is known: no JVM was seen that waits there.

    Without its kernel `seedstall fix` cannot say whether it helps: the release is for the reader to fill in.
    """
    return Fix(
        surface="rngd",
        title=FEED_UNSEEN,
        when=When.NOW,
        restart=False,
        needs_root=True,
        disposition=Disposition.REVIEW,
        params={} if kernel is not None else {"say": "--kernel RELEASE"},
    )


def strong(value: str = NONBLOCKING) -> Fix:
    """The only setting that reaches getInstanceStrong (8+)."""
    return Fix(
        surface="strong-algorithms",
        title=f"let getInstanceStrong() use {value}",
        disposition=Disposition.REVIEW,
        params={"value": value},
    )


def egd_fixes(
    stack: SeedStack | None, jdk: JdkVersion | None, product: Product | None
) -> tuple[Fix, ...]:
    """The seed source that is right for that JDK, in the place where this program keeps its flags."""
    advice = right_egd(jdk)
    # On 8 and later the recommended value keeps the default generator; `/./` on 6 and 7 makes it SHA1PRNG.
    safe = jdk is not None and jdk.feature >= JDK8
    return tuple(
        Fix(
            surface=surface,
            title=f"-Djava.security.egd={advice.value}",
            disposition=Disposition.SAFE if safe else Disposition.REVIEW,
            params={"egd": advice.value, "why": advice.why},
        )
        for surface in surfaces(stack, product)
    )


def surfaces(stack: SeedStack | None, product: Product | None) -> tuple[str, ...]:
    """Where the flag goes: the product's own place first, else the plain flag."""
    from seedstall.knowledge.surfaces import EGD_SURFACES  # noqa: PLC0415 - start-up time

    known = [s for s in product.surfaces if s in EGD_SURFACES] if product is not None else []
    if not known and stack is not None:
        known = _PLACES.get(stack.product, [])
    if known and known[0] == "jarsigner":
        return ("jarsigner",)
    return tuple(dict.fromkeys((*known, "java-opts")))


def product_of(log: ServerLog | None) -> Product | None:
    """The product whose lines a log holds, where no process tells it."""
    if log is None or log.product.lower() != "tomcat":
        return None
    return Product(key="tomcat", title="Apache Tomcat", surfaces=("tomcat-setenv", "java-opts"))


def unfixable_by_property(stack: SeedStack | None, jdk: JdkVersion | None) -> bool:
    """JDK 6 and 7: an explicit NativePRNG's generateSeed is hard-wired to ``/dev/random``."""
    return (
        stack is not None
        and jdk is not None
        and jdk.feature < JDK8
        and stack.algorithm is Algorithm.NATIVE_PRNG
        and stack.operation is Operation.GENERATE_SEED
    )
