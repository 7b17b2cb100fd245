"""How each JDK seeds SecureRandom on Linux: which generator, which device, whether it can block.

The tables hold for the SUN provider, the first one for SecureRandom in every stock JDK. A provider before it
(SunPKCS11-NSS-FIPS, BCFIPS, OpenJCEPlus, IBMJCE) decides for itself. "Measured" means run under strace on 8u504,
11.0.13, 17.0.15, 21.0.8 and 25.0.3, and the 7u classes on an 8u504 VM; the rest is read in the sources of
that release.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from seedstall.knowledge.egd import EgdAdvice, right_egd, strong_advice
from seedstall.knowledge.seedsource import (
    DRBG_SINCE,
    JEP_123,
    URL_URANDOM,
    Destination,
    Target,
    destination,
    effective_source,
    is_special,
    shipped_source,
    shipped_strong,
)
from seedstall.model.jdk import LAST_ONE_DOT, JdkVersion, VmFamily
from seedstall.model.seeding import Algorithm, Behaviour, Device, Instance, Operation

__all__ = [
    "EgdAdvice",
    "behaviour",
    "bytes_wanted",
    "default_algorithm",
    "effective_source",
    "first_reads",
    "is_special",
    "jarsigner_nonce_blocks",
    "next_bytes_synchronized",
    "right_egd",
    "seeding_looks_up_host",
    "shipped_source",
    "shipped_strong",
    "strong_advice",
    "strong_algorithm",
    "threaded_delay_ms",
]

OLDEST_KNOWN = 6
NEWEST_KNOWN = 26
BIG_BUFFER_UPDATE = 112
"""8u112 (and 9): NativePRNG reads 256 bytes ahead instead of 32, and ``nextBytes`` is no longer synchronized
(JDK-8098581)."""
NO_HOST_LOOKUP_UPDATE = 65
"""7u65, 8: seeding no longer asks for the local host's name (JDK-8035834)."""

SHA1PRNG_SEED = 20
DRBG_SEED = 32
THREADED_MS_PER_BYTE = 250
"""``ThreadedSeedGenerator`` takes at least this long for one byte (8 to 25 measured)."""
THREADED_MS = {Algorithm.SHA1PRNG: (5_000, 5_800), Algorithm.DRBG: (8_000, 8_700)}
"""What the first ``nextBytes`` costs with the threaded seeder, in milliseconds, as measured on idle machines."""


class _Reads(Enum):
    """Where an operation takes its bytes."""

    URANDOM = auto()
    RANDOM = auto()
    SEEDER = auto()
    """``SeedGenerator``: the seed source, or the threaded seeder."""
    SOURCE_ELSE_RANDOM = auto()
    """The seed source if it is a readable ``file:`` URL, else ``/dev/random``."""
    NOTHING = auto()


_NATIVE = "sun/security/provider/NativePRNG.java"
_SEEDER = "sun/security/provider/SeedGenerator.java"
_MEASURED_8 = "measured on 8, 11, 17, 21, 25"
_MEASURED_7 = "measured with the 7u classes; 6 has the same code"

_Table: TypeAlias = dict[Operation, tuple[_Reads, str]]

_NATIVE_OLD: _Table = {
    Operation.NEXT_BYTES: (_Reads.URANDOM, f"{_NATIVE}; {_MEASURED_7}"),
    Operation.GENERATE_SEED: (_Reads.RANDOM, f"hard-wired, {_NATIVE}, JDK-6202721; {_MEASURED_7}"),
    Operation.SET_SEED: (_Reads.URANDOM, f"{_NATIVE} seeds its mixer; {_MEASURED_7}"),
}
_NATIVE_MIXED: _Table = {
    Operation.NEXT_BYTES: (_Reads.URANDOM, f"{_NATIVE}, MIXED; {_MEASURED_8}"),
    Operation.GENERATE_SEED: (
        _Reads.SOURCE_ELSE_RANDOM,
        f"JDK-6425477 (JEP 123), {_NATIVE}; {_MEASURED_8}",
    ),
    Operation.SET_SEED: (_Reads.URANDOM, f"{_NATIVE} seeds its mixer; {_MEASURED_8}"),
}
_BLOCKING: _Table = dict.fromkeys(Operation, (_Reads.RANDOM, f"{_NATIVE}, BLOCKING; {_MEASURED_8}"))
_NONBLOCKING: _Table = dict.fromkeys(
    Operation, (_Reads.URANDOM, f"{_NATIVE}, NONBLOCKING; {_MEASURED_8}")
)
_SOFTWARE: _Table = {
    Operation.NEXT_BYTES: (_Reads.SEEDER, f"{_SEEDER}; measured on 7u, 8, 11, 17, 21, 25"),
    Operation.GENERATE_SEED: (_Reads.SEEDER, f"{_SEEDER}; measured on 7u, 8, 11, 17, 21, 25"),
    Operation.SET_SEED: (
        _Reads.NOTHING,
        "the given bytes are the seed; measured on 7u, 8, 11, 17, 21, 25",
    ),
}
_OLD = {Algorithm.NATIVE_PRNG: _NATIVE_OLD, Algorithm.SHA1PRNG: _SOFTWARE}
_NEW = {
    Algorithm.NATIVE_PRNG: _NATIVE_MIXED,
    Algorithm.NATIVE_PRNG_BLOCKING: _BLOCKING,
    Algorithm.NATIVE_PRNG_NONBLOCKING: _NONBLOCKING,
    Algorithm.SHA1PRNG: _SOFTWARE,
}
_NEWER = {**_NEW, Algorithm.DRBG: _SOFTWARE}
"""What reads what, by era: up to 7, 8, from 9 on (JEP 273). A generator that is not in it does not exist there."""

_NAMED = {
    Instance.NATIVE_PRNG: Algorithm.NATIVE_PRNG,
    Instance.NATIVE_PRNG_BLOCKING: Algorithm.NATIVE_PRNG_BLOCKING,
    Instance.NATIVE_PRNG_NONBLOCKING: Algorithm.NATIVE_PRNG_NONBLOCKING,
    Instance.SHA1PRNG: Algorithm.SHA1PRNG,
    Instance.DRBG: Algorithm.DRBG,
}


class _Seeder(NamedTuple):
    """What ``SeedGenerator`` (or NativePRNG's seed file) comes down to."""

    device: Device
    doubt: str = ""


def behaviour(
    jdk: JdkVersion,
    source: str,
    instance: Instance,
    operation: Operation,
    *,
    strong: str | None = None,
    readable: bool | None = None,
) -> Behaviour:
    """What that JDK does on first use.

    *source* is the effective seed source string (see `effective_source`; `shipped_source` where nothing is set).
    *strong* is ``securerandom.strongAlgorithms``, ``None`` for the shipped value. *readable* says whether the file
    that *source* names is there and can be read by the JVM; where it is ``None`` the two random devices are taken to be
    there, any other file not (the answer then says so in ``doubt``).
    """
    end = destination(source)
    table = _era(jdk)
    if end.target is Target.REFUSED and jdk.feature >= JEP_123:
        return Behaviour(None, Device.NONE, can_block=False, source=_REFUSED)
    missing = _missing_device(end, readable)
    algorithm = _algorithm(jdk, source, instance, strong, missing)
    if algorithm is Algorithm.OTHER:
        return Behaviour(algorithm, Device.UNKNOWN, None, egd_helps=False, source=_OTHER_PROVIDER)
    if algorithm is None or algorithm not in table or _unavailable(algorithm, missing):
        return Behaviour(
            None, Device.NONE, can_block=False, egd_helps=False, source=_no_such(jdk, instance)
        )
    reads, where = table[algorithm][operation]
    seeder = _device(reads, jdk, source, end, readable)
    doubts = (_doubt(jdk, instance, source), seeder.doubt)
    return Behaviour(
        algorithm,
        seeder.device,
        can_block=_can_block(seeder.device),
        fixed_delay_ms=_fixed_delay(algorithm, operation)
        if seeder.device is Device.THREADED
        else None,
        egd_helps=_egd_helps(instance, reads),
        source=where,
        doubt="; ".join(filter(None, doubts)),
    )


_OTHER_PROVIDER = "securerandom.strongAlgorithms names another provider, which decides for itself"
_REFUSED = (
    "java.io.File refuses a file URL with a host, query or fragment: NativePRNG throws while the SUN provider loads,"
    " and there is no SecureRandom at all; measured on 8, 11, 17, 21, 25"
)


def _era(jdk: JdkVersion) -> dict[Algorithm, _Table]:
    if jdk.feature < JEP_123:
        return _OLD
    return _NEW if jdk.feature < DRBG_SINCE else _NEWER


def default_algorithm(jdk: JdkVersion, source: str) -> Algorithm:
    """What ``new SecureRandom()`` is, both devices being there.

    Up to 7 only ``file:/dev/urandom`` gives NativePRNG; from 8 on either special string does (JEP 123). Anything else
    gives SHA1PRNG up to 8 and DRBG from 9 on: by the order of registration before, by
    ``SunEntries.DEF_SECURE_RANDOM_ALGO`` since 11.0.7 (JDK-8228613).
    """
    if jdk.feature < JEP_123:
        return Algorithm.NATIVE_PRNG if source == URL_URANDOM else Algorithm.SHA1PRNG
    return Algorithm.NATIVE_PRNG if is_special(source) else _software_default(jdk)


def _software_default(jdk: JdkVersion) -> Algorithm:
    return Algorithm.SHA1PRNG if jdk.feature < DRBG_SINCE else Algorithm.DRBG


def _algorithm(
    jdk: JdkVersion, source: str, instance: Instance, strong: str | None, missing: frozenset[Device]
) -> Algorithm | None:
    if instance is Instance.DEFAULT:
        chosen = default_algorithm(jdk, source)
        return _software_default(jdk) if _unavailable(chosen, missing) else chosen
    if instance is Instance.STRONG:
        listed = shipped_strong(jdk) if strong is None else strong
        return strong_algorithm(jdk, listed or "", missing)
    return _NAMED[instance]


def strong_algorithm(
    jdk: JdkVersion, strong: str, missing: frozenset[Device] = frozenset()
) -> Algorithm | None:
    """What ``getInstanceStrong()`` is: the first entry of *strong* that exists; ``None`` where none does, or before 8.

    Entries are ``ALGORITHM[:PROVIDER]``, separated by commas, blanks around them ignored; algorithm names in any case.
    An entry of another provider than SUN may exist there: OTHER.
    """
    if jdk.feature < JEP_123:
        return None
    for entry in strong.split(","):
        name, _, provider = entry.strip().partition(":")
        known = next((a for a in _NEWER if a.lower() == name.strip().lower()), None)
        if provider.strip() not in ("", "SUN"):
            return Algorithm.OTHER
        if known is not None and known in _era(jdk) and not _unavailable(known, missing):
            return known
    return None


def _missing_device(end: Destination, readable: bool | None) -> frozenset[Device]:  # noqa: FBT001 - three answers
    """The device that cannot be read, where the seed source names it and it was looked at."""
    if readable is not False or end.target not in (Target.RANDOM, Target.URANDOM):
        return frozenset()
    return frozenset((Device(str(end.target)),))


def _unavailable(algorithm: Algorithm | None, missing: frozenset[Device]) -> bool:
    """Whether NativePRNG (or a variant) is not registered for want of a device (``NativePRNG.initIO``)."""
    if algorithm is Algorithm.NATIVE_PRNG:
        return bool(missing)
    if algorithm is Algorithm.NATIVE_PRNG_BLOCKING:
        return Device.RANDOM in missing
    return algorithm is Algorithm.NATIVE_PRNG_NONBLOCKING and Device.URANDOM in missing


def _device(
    reads: _Reads,
    jdk: JdkVersion,
    source: str,
    end: Destination,
    readable: bool | None,  # noqa: FBT001 - three answers
) -> _Seeder:
    if reads is _Reads.SEEDER:
        return _seeder(jdk, source, end, readable)
    if reads is _Reads.SOURCE_ELSE_RANDOM:
        seeder = _seeder(jdk, source, end, readable)
        is_file = end.target not in (Target.REMOTE, Target.BROKEN, Target.EMPTY)
        readable_file = is_file and seeder.device is not Device.THREADED
        return seeder if readable_file else _Seeder(Device.RANDOM, seeder.doubt if is_file else "")
    fixed = {
        _Reads.URANDOM: Device.URANDOM,
        _Reads.RANDOM: Device.RANDOM,
        _Reads.NOTHING: Device.NONE,
    }
    return _Seeder(fixed[reads])


def _seeder(
    jdk: JdkVersion,
    source: str,
    end: Destination,
    readable: bool | None,  # noqa: FBT001 - three answers
) -> _Seeder:
    """What ``SeedGenerator``'s static initialiser settles on."""
    if is_special(source) and jdk.feature < JEP_123:
        # NativeSeedGenerator opens /dev/random, whichever of the two strings it is (JDK-6202721).
        return _Seeder(Device.RANDOM)
    if end.target in (Target.BROKEN, Target.EMPTY, Target.REFUSED):
        return _Seeder(Device.THREADED)
    if readable is not None:
        return _Seeder(_read_from(end) if readable else Device.THREADED)
    return _unseen(end)


def _read_from(end: Destination) -> Device:
    return (
        Device(str(end.target)) if end.target in (Target.RANDOM, Target.URANDOM) else Device.OTHER
    )


def _unseen(end: Destination) -> _Seeder:
    """The same for a file that nobody looked at."""
    if end.target in (Target.RANDOM, Target.URANDOM, Target.NO_RANDOMNESS):
        return _Seeder(_read_from(end))
    if end.target is Target.RANDOM_LIKE:
        return _Seeder(Device.OTHER, f"only if {end.path} is there: else the threaded seeder")
    if end.target is Target.REMOTE:
        return _Seeder(
            Device.THREADED, "only if the URL does not answer: else its bytes are the seed"
        )
    where = f"{end.path} in the working directory" if end.target is Target.RELATIVE else end.path
    return _Seeder(Device.THREADED, f"only if {where} cannot be read: else its bytes are the seed")


def _can_block(device: Device) -> bool | None:
    if device is Device.RANDOM:
        return True
    return None if device in (Device.OTHER, Device.UNKNOWN) else False


def _fixed_delay(algorithm: Algorithm, operation: Operation) -> int:
    """The threaded seeder's cost at the least; for ``generateSeed`` that of one byte, since N is the caller's."""
    if operation is Operation.GENERATE_SEED:
        return THREADED_MS_PER_BYTE
    return threaded_delay_ms(DRBG_SEED if algorithm is Algorithm.DRBG else SHA1PRNG_SEED)


def threaded_delay_ms(count: int) -> int:
    """What the threaded seeder takes for *count* bytes at the least, in milliseconds."""
    return THREADED_MS_PER_BYTE * count


def _egd_helps(instance: Instance, reads: _Reads) -> bool:
    """Whether another value of egd changes the device.

    The default instance always reacts, since the string also chooses the generator.
    """
    return instance is Instance.DEFAULT or reads in (_Reads.SEEDER, _Reads.SOURCE_ELSE_RANDOM)


def _no_such(jdk: JdkVersion, instance: Instance) -> str:
    if instance is Instance.STRONG:
        return f"getInstanceStrong() finds no generator on JDK {jdk.feature} with that list, or does not exist"
    return f"JDK {jdk.feature} has no {instance} here"


def _doubt(jdk: JdkVersion, instance: Instance, source: str) -> str:
    """Why the tables may not hold for this JDK."""
    if jdk.family is VmFamily.GRAAL_NATIVE:
        return "a native image fixes its seed source and generators when it is built"
    if (
        jdk.family is VmFamily.OPENJ9
        and jdk.feature <= LAST_ONE_DOT
        and "ibm" in jdk.vendor.lower()
    ):
        return "IBM's JDK puts its own provider (IBMJCE) first"
    if jdk.feature < OLDEST_KNOWN:
        return f"JDK {jdk.feature} was not looked at: taken for {OLDEST_KNOWN}"
    if jdk.feature > NEWEST_KNOWN:
        return f"JDK {jdk.feature} was not looked at: taken for {NEWEST_KNOWN}"
    if instance is Instance.DEFAULT and jdk.feature in (12, 13) and not is_special(source):
        return "JDK 12 and 13 may choose another default generator (JDK-8228613)"
    return ""


def first_reads(
    algorithm: Algorithm, operation: Operation, jdk: JdkVersion | None
) -> tuple[int, ...] | None:
    """The reads of a generator's first use, in bytes; ``()`` where it reads nothing.

    ``None`` where it depends on the caller (``generateSeed(N)``), on an update not known (NativePRNG's buffer on
    8, the 8192 bytes that a buffered stream asked for on 6 before JDK-6998583), or on another provider.
    """
    if algorithm in (Algorithm.SHA1PRNG, Algorithm.DRBG):
        return _software_reads(algorithm, operation, jdk)
    if algorithm in (Algorithm.PKCS11, Algorithm.OTHER) or operation is Operation.GENERATE_SEED:
        return None
    if operation is Operation.SET_SEED:
        return (SHA1PRNG_SEED,)
    big = jdk.at_least(LAST_ONE_DOT, BIG_BUFFER_UPDATE) if jdk is not None else None
    return None if big is None else (SHA1PRNG_SEED, 256 if big else 32)


def _software_reads(
    algorithm: Algorithm, operation: Operation, jdk: JdkVersion | None
) -> tuple[int, ...] | None:
    if operation is Operation.SET_SEED:
        return ()
    if operation is Operation.GENERATE_SEED:
        return None
    if algorithm is Algorithm.DRBG:
        return (DRBG_SEED,)
    return None if jdk is not None and jdk.feature <= OLDEST_KNOWN else (SHA1PRNG_SEED,)


def bytes_wanted(algorithm: Algorithm, operation: Operation, jdk: JdkVersion | None) -> int | None:
    """The bytes that a generator's first use wants in all (20, 32, 20 + 256); ``None`` as for `first_reads`."""
    reads = first_reads(algorithm, operation, jdk)
    return None if reads is None else sum(reads)


_DEFAULT_NONCE_SINCE = {11: 21, 17: 8}
"""Update of each long-term release that took JDK-8293858; Oracle's 11.0.20 had it one earlier."""
_DEFAULT_NONCE_FEATURE = 20


def jarsigner_nonce_blocks(jdk: JdkVersion) -> bool | None:
    """Whether ``jarsigner -tsa`` draws its 64-bit nonce from an explicit SHA1PRNG, hence from the seed source.

    It does up to all of 8u (8u504 measured), 9 to 19, 11.0.20 and 17.0.7; JDK-8293858 (20, 11.0.21, 17.0.8) made it
    the default generator. ``None`` where the update decides and is not known.
    """
    if jdk.feature not in _DEFAULT_NONCE_SINCE:
        return jdk.feature < _DEFAULT_NONCE_FEATURE
    update = _DEFAULT_NONCE_SINCE[jdk.feature]
    if jdk.feature == 11 and "oracle" in jdk.vendor.lower():  # noqa: PLR2004 - the release
        update -= 1
    fixed = jdk.at_least(jdk.feature, update)
    return None if fixed is None else not fixed


def next_bytes_synchronized(jdk: JdkVersion) -> bool | None:
    """Whether ``SecureRandom.nextBytes`` of a SUN generator locks it: up to 8u111 (JDK-8098581, JDK-7004967)."""
    free = jdk.at_least(LAST_ONE_DOT, BIG_BUFFER_UPDATE)
    return None if free is None else not free


def seeding_looks_up_host(jdk: JdkVersion) -> bool | None:
    """Whether seeding asks for the local host's name (a DNS stall looks like it): before 7u65 and 8 (JDK-8035834).

    Late builds of OpenJDK 6 (from March 2014) do not, Oracle's 6 was not looked at: ``None``.
    """
    if jdk.feature < JEP_123 - 1:
        return None
    free = jdk.at_least(JEP_123 - 1, NO_HOST_LOOKUP_UPDATE)
    return None if free is None else not free
