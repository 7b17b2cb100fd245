"""What a thread's stack says of seeding, by ``class.method`` alone.

Line numbers change with every update, and stripped images have none. Shapes were taken from dumps of 8u504, 11.0.13,
17.0.15, 21.0.8, 25.0.3 and of the 7u provider; what the older ones look like is read in their sources.
A read counts only where the generator stands right beside it: nothing but streams between the two. The same
``FileInputStream.readBytes`` under anything else is a pipe, a socket or a jar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from seedstall.knowledge.callers import Found, caller_of
from seedstall.knowledge.seeding import behaviour
from seedstall.model.jdk import JdkVersion
from seedstall.model.seeding import (
    Algorithm,
    Device,
    Instance,
    Operation,
    SeedRole,
    SeedSource,
    SeedStack,
)
from seedstall.model.threads import Frame, JavaThread, LockAct

_INNER = 64
"""Frames looked at from the top for a generator: a name service's or class loader's own stack may stand above it."""
_CHAIN = 64
"""Frames of a generator: DRBG, the deepest, has 17."""

API = "java.security.SecureRandom"
SEEDER_HOLDER = "sun.security.provider.SecureRandom$SeederHolder"
"""Waiting for its static initialiser is the queue of SHA1PRNG; 8 and 11 do not print what they wait for."""


BLOCKED_IN_VM = "blocked in the VM"
"""`JavaThread.activity` of a thread that the agent shows waiting, whatever for."""


class _Kind(Enum):
    """The part of a generator that a frame belongs to."""

    SEEDER = auto()
    NATIVE = auto()
    SHA1 = auto()
    DRBG = auto()
    PKCS11 = auto()
    FOREIGN = auto()
    """Another provider's generator."""
    API = auto()


_SUN = {
    "SeedGenerator": _Kind.SEEDER,
    "NativeSeedGenerator": _Kind.SEEDER,
    "FileInputStreamPool": _Kind.SEEDER,
    "NativePRNG": _Kind.NATIVE,
    # IBM's JDK 8 has copies under com.ibm.crypto.provider, this one with the variants inside.
    "NativePRNG_Unix": _Kind.NATIVE,
    "SecureRandom": _Kind.SHA1,
    "DRBG": _Kind.DRBG,
    "AbstractDrbg": _Kind.DRBG,
    "AbstractHashDrbg": _Kind.DRBG,
    "HashDrbg": _Kind.DRBG,
    "HmacDrbg": _Kind.DRBG,
    "CtrDrbg": _Kind.DRBG,
}
_IBM = ("com.ibm.crypto.", "com.ibm.securerandom.")
"""IBMJCE, IBMJCEFIPS and (its package not seen in a real stack) what IBMSecureRandom.jar holds."""
_SUN_PACKAGES = ("sun.security.provider.", "com.ibm.crypto.provider.")
_API_METHODS = frozenset(("nextBytes", "next", "generateSeed", "getSeed", "setSeed", "reseed"))
_ENGINES = {
    "engineNextBytes": Operation.NEXT_BYTES,
    "engineGenerateSeed": Operation.GENERATE_SEED,
    "engineSetSeed": Operation.SET_SEED,
    "engineReseed": Operation.NEXT_BYTES,
}
"""The methods of ``SecureRandomSpi``: any class that has one is a generator."""
_OPERATIONS = {
    **_ENGINES,
    "generateSeed": Operation.GENERATE_SEED,
    "getSeed": Operation.GENERATE_SEED,
    "implGenerateSeed": Operation.GENERATE_SEED,
    "setSeed": Operation.SET_SEED,
    "implSetSeed": Operation.SET_SEED,
}
_PKCS11_NATIVE = frozenset(("C_GenerateRandom", "C_SeedRandom"))
_BOUNCY = (".drbg.", ".prng.", ".crypto.fips.", ".EntropyUtil")

_STREAMS = (
    "java.io.FileInputStream",
    "java.io.FilterInputStream",
    "java.io.BufferedInputStream",
    "java.io.InputStream",
    "java.io.DataInputStream",
    "java.lang.ref.",
    "java.security.AccessController",
    "jdk.internal.misc.Blocker",
    "jdk.internal.event.",
    "jdk.jfr.",
)
"""Between a generator and its read or open: on 9 and later one FilterInputStream, before JDK-6998583 two
BufferedInputStreams, with JFR ``FileInputStream.traceReadBytes``."""
_NETWORK = ("java.net.", "sun.net.", "sun.nio.ch.", "sun.security.ssl.", "java.nio.")
"""The same for a seed URL that is no file."""
_LOOKUPS = (
    "java.net.",
    "sun.net.",
    "java.io.UnixFileSystem",
    "java.io.File.",
    "sun.nio.fs.",
    "java.nio.file.",
)
_COMPUTING = (
    "java.",
    "jdk.",
    "sun.",
    "javax.crypto.",
    "com.sun.crypto.",
    "com.ibm.",
    "org.bouncycastle.",
)
_WAITS = ("java.lang.Object.wait", "java.lang.Thread.sleep")
_NO_WORK = (
    *_WAITS,
    "java.io.",
    "java.net.",
    "java.nio.",
    "sun.net.",
    "sun.nio.",
    "java.util.concurrent.locks.",
    "java.util.jar.",
    "java.util.zip.",
    "java.lang.ClassLoader",
    "jdk.internal.loader.",
    "jdk.internal.misc.Unsafe.park",
    "sun.misc.Unsafe.park",
)
"""What waits or reads for another reason where it stands above a generator: class loading, a library's own lock."""


class _Call(NamedTuple):
    """One frame, its spelling mended."""

    cls: str
    method: str
    kind: _Kind | None

    @property
    def name(self) -> str:
        return f"{self.cls}.{self.method}"


class _Cut(NamedTuple):
    """A stack cut in three: above the generator, the generator up to ``SecureRandom``'s own methods, who called it."""

    inner: Sequence[_Call]
    chain: Sequence[_Call]
    outer: Sequence[_Call]


def classify(thread: JavaThread) -> SeedStack | None:
    """What *thread* is doing in a random generator; ``None`` if nothing, or nothing that can be told.

    Where the stack is cut so that the generator cannot be told, ``algorithm`` is OTHER and ``candidates`` names
    those it can be. ``None`` also for the threaded seeder's own threads (`is_threaded_seeder`).
    """
    calls = [_call(frame.class_name, frame.method) for frame in thread.frames[: _INNER + _CHAIN]]
    start = next((i for i, call in enumerate(calls[:_INNER]) if call.kind is not None), None)
    if start is None or _is_noise(calls[start]):
        return None
    cut = _cut(calls, start, thread)
    role = _role(cut, thread)
    if role is None:
        return None
    found = caller_of(call.name for call in cut.outer)
    algorithm, candidates = _algorithm(cut.chain)
    return SeedStack(
        algorithm=algorithm,
        operation=_operation(cut.chain),
        role=role,
        seed_frame=cut.chain[0].name,
        caller=found.words,
        caller_frame=found.frame,
        lock_class=_lock_class(cut, thread) if role is SeedRole.QUEUED else "",
        instance=_instance(algorithm, found),
        candidates=candidates,
        product=found.product,
        network=role is SeedRole.READING and _over_network(cut.inner),
    )


def behind(stack: SeedStack, thread: JavaThread, reading: Sequence[JavaThread]) -> SeedStack:
    """*stack*, or the same as QUEUED where it must wait for one of the threads that are *reading* in the same dump.

    Forms without HotSpot's words do not tell (``ThreadInfo``, ``Thread.dump_to_file``, the serviceability agent): a
    thread that waits for a class's initialisation is RUNNABLE there, and JDK 21's files have no states at all. It
    stands at a method in which a reader holds the lock, or whose class the reader initialises.
    """
    if stack.role is not SeedRole.WORKING or thread.activity or not thread.frames:
        return stack
    top = _call(thread.frames[0].class_name, thread.frames[0].method)
    if top.kind in (None, _Kind.API):
        return stack
    for reader in reading:
        calls = [_call(frame.class_name, frame.method) for frame in reader.frames[:_CHAIN]]
        if top.kind is _Kind.SHA1 and any(
            call.name == f"{SEEDER_HOLDER}.<clinit>" for call in calls
        ):
            return replace(stack, role=SeedRole.QUEUED, lock_class=SEEDER_HOLDER)
        held = thread.state == "" and any(call.name == top.name for call in calls)
        if held and top.kind in (_Kind.NATIVE, _Kind.DRBG):
            return replace(stack, role=SeedRole.QUEUED)
    return stack


def seed_span(frames: Sequence[Frame]) -> tuple[int, int]:
    """The generator's frames in a stack, as indices from and to (not with) the first of who called it.

    Above them is what the generator does: the read of its seed. ``(0, 0)`` where there is no generator.
    """
    calls = [_call(frame.class_name, frame.method) for frame in frames[: _INNER + _CHAIN]]
    start = next((i for i, call in enumerate(calls[:_INNER]) if call.kind is not None), None)
    if start is None:
        return 0, 0
    return start, _chain_end(calls, start)


def is_seeder(frame: Frame) -> bool:
    """Whether *frame* is one of a generator's."""
    return _call(frame.class_name, frame.method).kind not in (None, _Kind.API)


def is_threaded_seeder(thread: JavaThread) -> bool:
    """Whether this is one of ThreadedSeedGenerator's own threads, which make noise for as long as the JVM lives.

    Only while one of them runs or sleeps in ``BogusThread`` is somebody being seeded.
    """
    return any(_is_noise(_call(frame.class_name, frame.method)) for frame in thread.frames[:_INNER])


def _is_noise(call: _Call) -> bool:
    return call.method == "run" and "$ThreadedSeedGenerator" in call.cls


@lru_cache(maxsize=4096)
def _call(class_name: str, method: str) -> _Call:
    """The same few thousand frames make up any dump."""
    cls = _mended(class_name)
    return _Call(cls, method, _kind(cls, method))


def _mended(class_name: str) -> str:
    """Without lambda numbers, module and loader; with dots where a javacore has slashes."""
    name = class_name.partition("$$Lambda")[0].rpartition("//")[2]
    if "/" not in name:
        return name
    return name.rpartition("/")[2] if "." in name else name.replace("/", ".")


def _kind(cls: str, method: str) -> _Kind | None:
    if cls == API:
        return _Kind.API if method in _API_METHODS else None
    if cls.startswith(_SUN_PACKAGES):
        simple = cls.rpartition(".")[2].partition("$")[0]
        if simple in _SUN:
            return _SUN[simple]
    if cls.startswith("sun.security.pkcs11."):
        return _Kind.PKCS11 if "P11SecureRandom" in cls or method in _PKCS11_NATIVE else None
    return _Kind.FOREIGN if _is_bouncy(cls) or method in _ENGINES else None


def _is_bouncy(cls: str) -> bool:
    return "org.bouncycastle." in cls and any(part in cls for part in _BOUNCY)


def _cut(calls: Sequence[_Call], start: int, thread: JavaThread) -> _Cut:
    """Cut at the first of ``SecureRandom``'s own methods: a generator that feeds on another calls it through them."""
    end = _chain_end(calls, start)
    chain = [call for call in calls[start:end] if call.kind is not None]
    rest = [
        _call(frame.class_name, frame.method)
        for frame in thread.frames[len(calls) : len(calls) + _CHAIN]
    ]
    return _Cut(calls[:start], chain, [*calls[end:], *rest])


def _chain_end(calls: Sequence[_Call], start: int) -> int:
    end = start
    while end < len(calls) and calls[end].kind is not _Kind.API and _goes_on(calls, end):
        end += 1
    while end < len(calls) and calls[end].kind is _Kind.API:
        end += 1
    return end


def _goes_on(calls: Sequence[_Call], at: int) -> bool:
    """Whether the generator's frames go on here: they may have privileged calls and lambda glue among them."""
    if calls[at].kind is not None:
        return True
    glue = calls[at].cls.startswith(
        ("java.security.AccessController", "java.lang.invoke.", "java.security.Provider")
    )
    follower = next(
        (call for call in calls[at + 1 : at + 4] if not call.cls.startswith("java.")), None
    )
    return glue and follower is not None and follower.kind not in (None, _Kind.API)


def _role(cut: _Cut, thread: JavaThread) -> SeedRole | None:
    first = cut.chain[0]
    inner = cut.inner
    if "$ThreadedSeedGenerator" in first.cls and first.method.startswith("getSeedByte"):
        return SeedRole.THREADED if _all_of(inner, _WAITS) else None
    if any(call.method == "getSystemEntropy" for call in cut.chain):
        return SeedRole.LOOKUP if _has(inner, _LOOKUPS) else _busy(inner)
    if _is_blocked(thread):
        ours = not inner or _reads_seeds(first)
        return SeedRole.QUEUED if ours and _all_of(inner, _STREAMS) else None
    if _awaits_class(cut, thread):
        return SeedRole.QUEUED
    if inner and _all_of(inner, (*_STREAMS, *_NETWORK)) and _reads(cut):
        return SeedRole.READING
    return _busy(inner) if first.kind is not _Kind.API or not inner else None


def _reads(cut: _Cut) -> bool:
    """Whether the frames above the generator are a read of its seed: of a file, or of a seed URL in the seeder."""
    if not _has(cut.inner, ("java.io.", *_NETWORK)):
        return False
    if _all_of(cut.inner, _STREAMS):
        return _reads_seeds(cut.chain[0])
    return cut.chain[0].kind is _Kind.SEEDER or "URLSeeded" in cut.chain[0].cls


def _reads_seeds(call: _Call) -> bool:
    """Whether what this class reads is its seed: the JDK's classes, and the providers whose sources say so.

    What anybody else's ``SecureRandomSpi`` reads (a pipe to a security module's tool, a file of its own) is not known.
    """
    if call.kind is _Kind.FOREIGN:
        return _is_bouncy(call.cls) or call.cls.startswith(_IBM)
    return call.kind not in (None, _Kind.API, _Kind.PKCS11)


def _over_network(inner: Sequence[_Call]) -> bool:
    """Whether the read goes to a server. A ``file:`` URL opened as any other has its handler among the frames."""
    if _has(inner, ("java.io.FileInputStream", "sun.net.www.protocol.file.")):
        return False
    return _has(inner, _NETWORK)


def _busy(inner: Sequence[_Call]) -> SeedRole | None:
    """Java code of the generator, if all that stands above it computes."""
    works = _all_of(inner, _COMPUTING) and not _has(inner, _NO_WORK)
    return SeedRole.WORKING if works else None


def _is_blocked(thread: JavaThread) -> bool:
    return thread.state == "BLOCKED" or any(
        lock.act is LockAct.WAITING_TO_LOCK for lock in thread.locks
    )


def _awaits_class(cut: _Cut, thread: JavaThread) -> bool:
    """Whether it waits for another thread's static initialiser.

    The state is RUNNABLE then; the header says ``in Object.wait()`` although no frame waits; 17 and later print what
    for. The serviceability agent says of this wait and of one for a monitor only that the thread is blocked.
    """
    if cut.inner:
        return False
    named = any(lock.act is LockAct.CLASS_INIT and lock.depth == 0 for lock in thread.locks)
    return named or any(words in thread.activity for words in ("Object.wait", BLOCKED_IN_VM))


def _lock_class(cut: _Cut, thread: JavaThread) -> str:
    for lock in thread.locks:
        if lock.act in (LockAct.WAITING_TO_LOCK, LockAct.CLASS_INIT):
            return lock.class_name
    hidden = cut.chain[0].kind is _Kind.SHA1 and not _is_blocked(thread)
    return SEEDER_HOLDER if hidden and cut.chain[0].method == "engineNextBytes" else ""


def _all_of(calls: Sequence[_Call], prefixes: tuple[str, ...]) -> bool:
    return all(call.name.startswith(prefixes) for call in calls)


def _has(calls: Sequence[_Call], prefixes: tuple[str, ...]) -> bool:
    return any(call.name.startswith(prefixes) for call in calls)


_FAMILY = (
    Algorithm.NATIVE_PRNG,
    Algorithm.NATIVE_PRNG_BLOCKING,
    Algorithm.NATIVE_PRNG_NONBLOCKING,
)
_SOFTWARE = (Algorithm.SHA1PRNG, Algorithm.DRBG)


def _algorithm(chain: Sequence[_Call]) -> tuple[Algorithm, tuple[Algorithm, ...]]:
    """The generator, or OTHER and those it can be. The outermost frame decides.

    NativePRNG has a SHA1PRNG inside it as mixer, and DRBG another DRBG.
    """
    for call in reversed(chain):
        told = _told(call)
        if told is not None:
            return told, ()
        if call.kind is _Kind.NATIVE:
            return Algorithm.OTHER, _FAMILY
    cut_short = any(call.kind is _Kind.SEEDER for call in chain)
    return Algorithm.OTHER, _SOFTWARE if cut_short else ()


def _told(call: _Call) -> Algorithm | None:
    if call.kind is _Kind.NATIVE:
        return _native(call)
    fixed = {
        _Kind.SHA1: Algorithm.SHA1PRNG,
        _Kind.DRBG: Algorithm.DRBG,
        _Kind.PKCS11: Algorithm.PKCS11,
        _Kind.FOREIGN: Algorithm.OTHER,
    }
    return fixed.get(call.kind) if call.kind is not None else None


def _native(call: _Call) -> Algorithm | None:
    """Which variant; ``RandomIO`` and the initialisation's inner classes are common to all."""
    if call.cls.endswith("$Blocking"):
        return Algorithm.NATIVE_PRNG_BLOCKING
    if call.cls.endswith("$NonBlocking"):
        return Algorithm.NATIVE_PRNG_NONBLOCKING
    outermost = call.method in _ENGINES or call.method in ("<clinit>", "<init>", "isAvailable")
    return Algorithm.NATIVE_PRNG if outermost and "$" not in call.cls else None


def _operation(chain: Sequence[_Call]) -> Operation:
    """What was asked, by the outermost frame that says it; a seed on the way to it is still ``nextBytes``."""
    engines = [_ENGINES[call.method] for call in chain if call.method in _ENGINES]
    if engines:
        return engines[-1]
    ours = [call for call in chain if call.kind is not _Kind.SEEDER]
    told = [_OPERATIONS[call.method] for call in ours if call.method in _OPERATIONS]
    return told[-1] if told else Operation.NEXT_BYTES


def _instance(algorithm: Algorithm, found: Found) -> Instance | None:
    """How it must have been got. The blocking variant is hardly ever asked for by name: getInstanceStrong gives it."""
    if algorithm is Algorithm.NATIVE_PRNG_BLOCKING:
        return Instance.STRONG
    asked = found.asks_for
    return asked if asked is not None and asked.value == algorithm.value else None


def expected_device(
    stack: SeedStack, jdk: JdkVersion | None, source: SeedSource | str | None
) -> Device:
    """The device this stack's read goes to, as far as stack, version and seed source tell; else UNKNOWN.

    *source* ``None``: not known (an assumed default is a `SeedSource` too).
    """
    if stack.role is SeedRole.THREADED:
        return Device.THREADED
    if stack.network:
        return Device.OTHER
    value = source.value if isinstance(source, SeedSource) else source
    found = {_expected(a, stack, jdk, value) for a in stack.candidates or (stack.algorithm,)}
    return found.pop() if len(found) == 1 else Device.UNKNOWN


def _expected(
    algorithm: Algorithm, stack: SeedStack, jdk: JdkVersion | None, source: str | None
) -> Device:
    if algorithm in (Algorithm.OTHER, Algorithm.PKCS11):
        return Device.UNKNOWN
    instance = Instance(algorithm.value)
    # RandomIO's constructor opens the seed source first; what was asked of the generator does not matter yet.
    opening = stack.seed_frame.endswith(_OPENING)
    operation = Operation.GENERATE_SEED if opening else stack.operation
    # A thread inside the read has the file open: it is there.
    readable = True if stack.role is SeedRole.READING else None
    values = _ANY_SOURCE if source is None else (source,)
    devices = {
        behaviour(version, value, instance, operation, readable=readable).device
        for version in ([jdk] if jdk is not None else _versions(algorithm))
        for value in values
    }
    device = devices.pop() if len(devices) == 1 else Device.UNKNOWN
    return Device.UNKNOWN if device is Device.NONE else device


_OPENING = ("NativePRNG$RandomIO.<init>", "FileInputStreamPool.getInputStream")
"""Where a seed source that is a FIFO without a writer stops whoever loads the SUN provider (8 to 25 seen)."""
_ANY_SOURCE = ("file:/dev/random", "file:/dev/urandom", "file:/dev/./random", "file:/dev/./urandom")
"""Where all of these give one device, the seed source does not matter."""


def _versions(algorithm: Algorithm) -> list[JdkVersion]:
    """One JDK of each behaviour that has this generator."""
    since = {
        Algorithm.DRBG: (9,),
        Algorithm.NATIVE_PRNG_BLOCKING: (8,),
        Algorithm.NATIVE_PRNG_NONBLOCKING: (8,),
    }
    return [JdkVersion(feature) for feature in since.get(algorithm, (7, 8))]
