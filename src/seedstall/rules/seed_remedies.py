"""Which remedy fits a seeding wait: by generator, JDK, product and kernel (facts: jdk, section 8)."""

from __future__ import annotations

from dataclasses import replace

from seedstall.knowledge.seeding import right_egd
from seedstall.model.finding import Disposition, Fix, When
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.kernel import BlockingModel
from seedstall.model.log import ServerLog
from seedstall.model.seeding import Algorithm, Instance, Operation, SeedStack
from seedstall.model.tasks import UNOPENED
from seedstall.model.waits import SeedWait
from seedstall.rules import pool_remedies
from seedstall.rules.seed_account import Surroundings

JDK8 = 8
EGD_SURFACES = frozenset(("tomcat-setenv", "jarsigner", "java-opts"))
_PLACES = {"tomcat": ["tomcat-setenv"], "jarsigner": ["jarsigner"]}
"""Where the product that a stack's caller names keeps its flags, where no process tells the product."""
FEED = "feed the host's entropy pool: the waiting JVM goes on by itself"
FEED_ALL = "feed the host's entropy pool, for every program on it"
NONBLOCKING = "NativePRNGNonBlocking:SUN"


def no_egd_for(wait: SeedWait | None) -> str:
    """Why no value of ``java.security.egd`` cures this wait: its generator, or that no generator reads at all."""
    if wait is None:
        return ""
    if wait.task is not None and wait.task.file is not None and wait.task.file.fd == UNOPENED:
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
    product = around.product
    return tuple(
        replace(fix, when=When.NEXT_START, title=FEED_ALL) if fix.when is When.NOW else fix
        for fix in remedies(wait, around, product)
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
    fixes = list(host_fixes(around, device_replaced=elsewhere))
    if stack is not None and stack.algorithm is Algorithm.PKCS11:
        return tuple(fixes)
    if egd_cannot_help(stack):
        fixes.append(strong())
    elif not no_egd_for(wait) and not set_already(around):
        fixes.extend(egd_fixes(stack, around.jdk, product))
    return tuple(fixes)


def host_fixes(around: Surroundings, *, device_replaced: bool = False) -> tuple[Fix, ...]:
    """A feeder for the host, where its pool is what runs dry."""
    kernel = around.kernel
    if kernel is None or kernel.model is not BlockingModel.BLOCKING_POOL or device_replaced:
        return ()
    return pool_remedies.feeder(around.distribution, kernel, FEED)


def feeder() -> Fix:
    """An entropy daemon on a host of which nothing is known: frees the waiting process within seconds."""
    return Fix(
        surface="rngd",
        title=FEED,
        when=When.NOW,
        restart=False,
        needs_root=True,
        disposition=Disposition.REVIEW,
    )


def strong() -> Fix:
    """The only setting that reaches getInstanceStrong (8+)."""
    return Fix(
        surface="strong-algorithms",
        title=f"let getInstanceStrong() use {NONBLOCKING}",
        disposition=Disposition.REVIEW,
        params={"value": NONBLOCKING},
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
