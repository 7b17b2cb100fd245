"""Seeding in the JDK's own terms: generators, operations, seed sources, and what a stack shows of them."""

from __future__ import annotations

from enum import StrEnum

from seedstall.model.record import dataclass


class Algorithm(StrEnum):
    """The generators of the SUN provider, by their standard names, and others."""

    NATIVE_PRNG = "NativePRNG"
    NATIVE_PRNG_BLOCKING = "NativePRNGBlocking"
    NATIVE_PRNG_NONBLOCKING = "NativePRNGNonBlocking"
    SHA1PRNG = "SHA1PRNG"
    DRBG = "DRBG"
    PKCS11 = "PKCS11"
    OTHER = "other"
    """Another provider's (Bouncy Castle, IBMJCE); the class tells."""


class Instance(StrEnum):
    """How the program gets its generator."""

    DEFAULT = "default"
    """``new SecureRandom()``."""
    STRONG = "strong"
    """``SecureRandom.getInstanceStrong()`` (8+)."""
    NATIVE_PRNG = "NativePRNG"
    NATIVE_PRNG_BLOCKING = "NativePRNGBlocking"
    NATIVE_PRNG_NONBLOCKING = "NativePRNGNonBlocking"
    SHA1PRNG = "SHA1PRNG"
    DRBG = "DRBG"


class Operation(StrEnum):
    """What is asked of the generator. ``nextInt`` and the like are ``nextBytes``."""

    NEXT_BYTES = "nextBytes"
    GENERATE_SEED = "generateSeed"
    SET_SEED = "setSeed"


class Device(StrEnum):
    """Where the bytes come from."""

    RANDOM = "/dev/random"
    URANDOM = "/dev/urandom"
    THREADED = "threaded"
    """`ThreadedSeedGenerator`: scheduler noise, at least 250 ms a byte, no device at all."""
    OTHER = "other"
    """A file or URL of the configuration's own."""
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a JDK does for one (seed source, instance, operation).

    ``algorithm`` is ``None`` where the JDK has no such generator. ``can_block`` is whether the read
    waits on a kernel whose ``/dev/random`` blocks, ``None`` where what is read is not known. ``fixed_delay_ms`` is the
    threaded seeder's cost at the least. ``egd_helps`` is whether any value of ``java.security.egd`` changes the device.
    ``source`` says where the fact is from (JDK bug id, file, or "measured"). ``doubt`` says why the answer may not
    hold, ``""`` where nothing speaks against it: a version nobody looked at, a file that may or may not be there.
    """

    algorithm: Algorithm | None
    device: Device
    can_block: bool | None
    fixed_delay_ms: int | None = None
    egd_helps: bool = True
    source: str = ""
    doubt: str = ""


class SeedRole(StrEnum):
    """What a thread with seed frames is doing."""

    READING = "reading"
    """Inside the read (or open) of the seed device."""
    QUEUED = "queued"
    """Waits for the lock or the class initialisation that a seeding thread holds."""
    THREADED = "threaded"
    """Waits for the threaded seeder's next byte."""
    WORKING = "working"
    """Runs Java code of a generator: hashing, copying; no wait was seen."""
    LOOKUP = "lookup"
    """In a seeder's host-name look-up or directory listing: not entropy (JDK 6, 7 before 7u65)."""


@dataclass(frozen=True, slots=True)
class SeedStack:
    """What the classifier says of one thread's stack.

    ``caller`` names who asked in plain words ("Tomcat session-id generation") or is ``""``;
    ``caller_frame`` is the ``class.method`` it was told by, or the first frame outside the JDK's
    own; ``seed_frame`` the innermost seed class's ``class.method``. ``lock_class`` is the class of the lock
    a queued thread waits for.
    """

    algorithm: Algorithm
    operation: Operation
    role: SeedRole
    seed_frame: str
    caller: str = ""
    caller_frame: str = ""
    lock_class: str = ""
    instance: Instance | None = None
    """How the instance must have been got, where the stack says it (Blocking: strong or by name)."""
    candidates: tuple[Algorithm, ...] = ()
    """Where the stack is cut before the frame that tells the generator (``algorithm`` is OTHER): those it can be."""
    product: str = ""
    """Key of the product whose code asked (``tomcat``, ``jarsigner``), ``""`` where it is nobody's in particular."""
    network: bool = False
    """Whether it reads its seed over the network: a seed URL that is no file. No device is read then."""


class Risk(StrEnum):
    """Whether a JVM's seed will have to wait, by its settings and its kernel."""

    WILL_BLOCK = "will-block"
    """It draws from a device that waits when the pool is dry, and the pool is low or nobody knows."""
    MAY_BLOCK = "may-block"
    """The same, with a pool that is full or fed now."""
    CANNOT_BLOCK = "cannot-block"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SeedRisk:
    """That, with the reason in a clause for people."""

    risk: Risk
    why: str


class SeedSetting(StrEnum):
    """Which setting decided the seed source, strongest first."""

    GIVEN = "given"
    """Said by the user (``--egd``)."""
    EGD = "java.security.egd"
    SECURITY_PROPERTY = "securerandom.source"
    BUILT_IN = "built-in default"
    """Nothing was read: the JDK version's shipped default is assumed, and said to be."""


@dataclass(frozen=True, slots=True)
class SeedSource:
    """The effective seed source string of a JVM, exactly as the provider compares it.

    ``value`` is compared literally (``file:/dev/urandom`` is special, ``file:/dev/./urandom`` is not).
    ``place`` says where it was set, for people: ``cmdline``, ``JAVA_TOOL_OPTIONS``, a file with its line.
    ``strong_algorithms`` is ``securerandom.strongAlgorithms``, ``None`` where unknown.
    ``overridden`` lists weaker settings as ``(place, value)``. ``assumed`` is true where the value is the shipped
    default of the version because no file could be read.
    """

    value: str
    setting: SeedSetting
    place: str
    strong_algorithms: str | None = None
    overridden: tuple[tuple[str, str], ...] = ()
    assumed: bool = False
