"""SS101: a thread waits for random bytes from a device that blocks."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.kernel import waits_for_random
from seedstall.knowledge.seeding import right_egd
from seedstall.knowledge.stacks import expected_device
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import JvmProcess, Product
from seedstall.model.kernel import BlockingModel, KernelRandom, PoolState
from seedstall.model.log import Observation, SeedingLine, ServerLog
from seedstall.model.rule import rule
from seedstall.model.seeding import Device, SeedRole, SeedSource
from seedstall.model.tasks import FileKind, KernelTask
from seedstall.model.verdict import Cause, Progress, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies

HARMLESS_MS = 1000
"""Tomcat prints its line above 100 ms; up to a second it is harmless."""
THREADED_SHA1_MS = range(4_900, 5_900)
THREADED_DRBG_MS = range(7_900, 9_100)
"""What the threaded seeder costs (measured 5.0-5.8 s and 8.0-8.7 s): such a line may be either."""
SLOW_DD_MS = 1000


@rule("SS101", "blocking-seed")
def blocking_seed(
    seeds: SeedEvidence,
    kernel: KernelRandom | None,
    source: SeedSource | None,
    jdk: JdkVersion | None,
    product: Product | None,
    process: JvmProcess | None,
) -> Iterator[Finding]:
    """A thread waits for random bytes from a device that blocks.

    ## What it detects
    A thread inside ``read(2)`` of ``/dev/random`` (or ``getrandom``), seen through ``/proc/PID/task/TID/syscall`` and
    ``fd/``, the kernel's wait channel, or a Java stack caught in the seed read: SHA1PRNG and DRBG
    seeding, ``NativePRNG.generateSeed``, ``NativePRNGBlocking`` and ``getInstanceStrong``. Also a server log that says that
    creating a ``SecureRandom`` took longer than a second, and a measured read of the device that took that long.
    An open descriptor on ``/dev/random`` proves nothing: every JVM that loaded the SUN provider has some.

    ## Why it matters
    On kernels before 5.6 (and not patched in mid-2022) ``/dev/random`` is metered by an entropy count. An idle
    virtual machine gains about one bit a second or none: the 20 bytes of a SHA1PRNG seed can take minutes,
    and every start pays again.

    ## Fix
    JDK 8 and later: ``-Djava.security.egd=file:/dev/urandom``. JDK 6 and 7: ``file:/dev/./urandom``, since they compare
    ``file:/dev/urandom`` literally and then read ``/dev/random`` all the same (JDK-6202721). ``getInstanceStrong`` ignores
    the property: set ``securerandom.strongAlgorithms``. On a kernel with a blocking pool an entropy daemon, virtio-rng or a
    newer kernel removes the wait for every program.
    """
    readers = [w for w in seeds.waits if w.role is SeedRole.READING]
    caught = [w for w in readers if _blocks(w, kernel)]
    stuck = [w for w in caught if not _went_on(w, seeds.log)]
    if stuck:
        yield _stalled(stuck, seeds, kernel, source, jdk, product, process)
    else:
        yield from _from_log(seeds, kernel, source, jdk, product, caught)
    if not stuck:
        yield from _from_measurements(seeds)


def _blocks(wait: SeedWait, kernel: KernelRandom | None) -> bool:
    """Whether this read is a wait and not a read caught on its way.

    On a kernel whose own device does not block any more, a thread inside a read of that very device is on its way
    (or the kernel is not seeded yet, which is SS103's).
    """
    task = wait.task
    if task is not None and task.wchan is not None and waits_for_random(task.wchan) == "pool":
        return True
    if kernel is None or kernel.can_block is not False:
        return True
    if task is not None and wait.in_random_read:
        return _replaced(task)
    return task is None


def _went_on(wait: SeedWait, log: ServerLog | None) -> bool:
    """Whether the same text says that the wait ended: then it was slow and is not stalled.

    A dump inside a log whose seeding line comes later; or a bare stack pasted beside such a line, where the order of
    the pieces tells nothing.
    """
    if log is None or wait.dump is None or wait.in_random_read:
        return False
    return any(
        line.origin == wait.dump.origin and (line.line > wait.dump.line or not wait.dump.vm)
        for line in log.seeding
    )


def _replaced(task: KernelTask | None) -> bool:
    file = task.file if task is not None else None
    return file is not None and file.kind not in (
        FileKind.RANDOM,
        FileKind.URANDOM,
        FileKind.UNKNOWN,
    )


def _confidence(wait: SeedWait, seeds: SeedEvidence, kernel: KernelRandom | None) -> Confidence:
    """Confirmed needs the wait seen in the kernel, or the stack with a second witness."""
    if wait.task is not None and wait.in_random_read:
        return Confidence.CONFIRMED
    if kernel is not None and kernel.model is BlockingModel.BLOCKING_POOL:
        return Confidence.CONFIRMED
    if wait.dumps_seen > 1 or _slow_lines(seeds.log):
        return Confidence.CONFIRMED
    if any(_dry(o) for o in (seeds.observations.items if seeds.observations else ())):
        return Confidence.CONFIRMED
    if kernel is not None and kernel.can_block is False:
        return Confidence.POSSIBLE
    return Confidence.LIKELY


def _stalled(
    waits: list[SeedWait],
    seeds: SeedEvidence,
    kernel: KernelRandom | None,
    source: SeedSource | None,
    jdk: JdkVersion | None,
    product: Product | None,
    process: JvmProcess | None,
) -> Finding:
    # The one with both a stack and a kernel thread tells most; then the one that has waited longest.
    wait = max(waits, key=lambda w: (w.stack is not None, w.task is not None, w.since_ms or 0))
    pid = process.pid if process is not None else None
    queue = f"; {len(seeds.queued)} more queue behind it" if seeds.queued else ""
    others = f"; {len(waits) - 1} more wait likewise" if len(waits) > 1 else ""
    return Finding(
        message=f"{account.name_of(wait)} waiting for random bytes{account.purpose(wait.stack)}",
        sentence=_sentence(wait, kernel, source, jdk) + others + queue,
        cause=Cause.BLOCKING_SEED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=_confidence(wait, seeds, kernel),
        evidence=tuple(_evidence(waits, seeds, kernel, source, pid)),
        fixes=remedies.remedies(
            wait.stack, jdk, product, kernel, device_replaced=_replaced(wait.task)
        ),
        notes=tuple(_notes(wait, kernel, jdk)),
        explains=(
            Cause.PRNG_CONTENTION,
            Cause.FEEDER_DOWN,
            Cause.INEFFECTIVE_FIX,
        ),
        cost_ms=_cost(seeds.log),
        startup_ms=_startup(seeds.log),
        since_ms=wait.since_ms,
        progress=_progress(wait),
    )


def _progress(wait: SeedWait) -> Progress | None:
    """Stuck or getting on, only where samples say it."""
    if len(wait.lengths) > 1:
        return Progress.PROGRESSING if wait.lengths[-1] < wait.lengths[0] else Progress.STUCK
    if wait.dumps_seen > 1 and wait.since_ms:
        return Progress.STUCK
    return None


def _sentence(
    wait: SeedWait, kernel: KernelRandom | None, source: SeedSource | None, jdk: JdkVersion | None
) -> str:
    expected = expected_device(wait.stack, jdk, source) if wait.stack else Device.UNKNOWN
    clauses = [
        f"{account.name_of(wait)} {account.since(wait)} {account.place_of(wait, expected, source)}"
        f"{account.purpose(wait.stack)}",
        account.device_clause(wait.task) or _kernel_clause(wait, expected, kernel),
    ]
    return "; ".join(c for c in clauses if c)


def _kernel_clause(wait: SeedWait, expected: Device, kernel: KernelRandom | None) -> str:
    """Why the device blocks; where the stack reads another device, what is known of that one."""
    file = wait.task.file if wait.task is not None else None
    urandom = file.is_urandom_path if file is not None else expected is Device.URANDOM
    if urandom:
        return "/dev/urandom waits only until the kernel's generator is seeded, or where it was replaced"
    contradicts = wait.task is None and kernel is not None and kernel.can_block is False
    if contradicts and kernel is not None and kernel.state is not PoolState.NOT_READY:
        return f"yet {account.kernel_clause(kernel)}: look whether it is device 1:8 (ls -l /dev/random)"
    return account.kernel_clause(kernel)


def _notes(
    wait: SeedWait, kernel: KernelRandom | None, jdk: JdkVersion | None
) -> Iterator[str]:
    reason = remedies.egd_cannot_help(wait.stack, jdk)
    if reason:
        yield reason
    elif remedies.unfixable_by_property(wait.stack, jdk):
        yield (
            "on JDK 6 and 7 an explicit NativePRNG reads /dev/random in generateSeed whatever the property says:"
            " the flag helps only where the program takes the default generator; else feed the pool"
        )
    else:
        yield right_egd(jdk).why
    if jdk is None:
        yield "which JDK it is does not stand in the evidence: say --jdk VERSION for the value that fits it best"
    if kernel is None or kernel.model is BlockingModel.UNKNOWN:
        yield "the kernel does not stand in the evidence: say --kernel \"$(uname -r)\" of that host"
    if _replaced(wait.task):
        yield "an entropy daemon cannot feed this: give the JVM the kernel's own /dev/random (mknod c 1 8, or the mount)"


def _evidence(
    waits: list[SeedWait],
    seeds: SeedEvidence,
    kernel: KernelRandom | None,
    source: SeedSource | None,
    pid: int | None,
) -> Iterator[Evidence]:
    for wait in waits[:3]:
        yield from account.evidence_of(wait, pid)
    if seeds.queued:
        names = ", ".join(account.name_of(w) for w in seeds.queued[:8])
        yield Evidence(origin="thread dump", excerpt=f"queued behind it: {names}")
    if kernel is not None:
        release = f"{kernel.release}: " if kernel.release else ""
        yield Evidence(origin="kernel", excerpt=f"{release}{kernel.reason}")
    if source is not None:
        assumed = " (assumed: the shipped default)" if source.assumed else ""
        yield Evidence(origin=source.place, excerpt=f"seed source {source.value!r}{assumed}")
    for line in _slow_lines(seeds.log):
        yield Evidence(origin=f"{line.origin}:{line.line}", excerpt=line.excerpt)


def _slow_lines(log: ServerLog | None) -> list[SeedingLine]:
    return [line for line in log.seeding if line.took_ms > HARMLESS_MS] if log is not None else []


def _cost(log: ServerLog | None) -> int | None:
    """The longest seeding line: concurrent ones overlap, so the maximum counts and not the sum."""
    return max((line.took_ms for line in log.seeding), default=None) if log is not None else None


def _startup(log: ServerLog | None) -> int | None:
    return log.starts[-1].took_ms if log is not None and log.starts else None


def _from_log(
    seeds: SeedEvidence,
    kernel: KernelRandom | None,
    source: SeedSource | None,
    jdk: JdkVersion | None,
    product: Product | None,
    caught: list[SeedWait],
) -> Iterator[Finding]:
    log = seeds.log
    if log is None or not log.seeding:
        return
    line = max(log.seeding, key=lambda entry: entry.took_ms)
    if _is_threaded(seeds, source):
        return
    either = line.took_ms in THREADED_SHA1_MS or line.took_ms in THREADED_DRBG_MS
    start = next((s for s in log.starts if s.line > line.line or s.origin != line.origin), None)
    harmless = line.took_ms <= HARMLESS_MS
    evidence = [Evidence(origin=f"{line.origin}:{line.line}", excerpt=line.excerpt)]
    if start is not None:
        evidence.append(Evidence(origin=f"{start.origin}:{start.line}", excerpt=start.excerpt))
    for wait in caught[:1]:
        evidence.extend(account.evidence_of(wait, None))
    if kernel is not None:
        evidence.append(Evidence(origin="kernel", excerpt=f"{kernel.release}: {kernel.reason}"))
    either = either and not caught
    yield Finding(
        message=f"a SecureRandom seeded in {account.duration(line.took_ms)}",
        sentence=_log_sentence(line, start.took_ms if start else None, either=either),
        cause=Cause.NONE if harmless else Cause.BLOCKING_SEED,
        status=Status.CLEAR if harmless else Status.SLOW,
        severity=Severity.NOTE if harmless else Severity.WARNING,
        confidence=_log_confidence(kernel, caught, either=either and not harmless),
        evidence=tuple(evidence),
        fixes=()
        if harmless
        else remedies.remedies(
            caught[0].stack if caught else None, jdk, product or _tomcat(log), kernel
        ),
        notes=tuple(_log_notes(jdk, kernel, either=either, harmless=harmless)),
        cost_ms=line.took_ms,
        startup_ms=start.took_ms if start else None,
    )


def _tomcat(log: ServerLog) -> Product | None:
    if log.product.lower() != "tomcat":
        return None
    return Product(key="tomcat", title="Apache Tomcat", surfaces=("tomcat-setenv", "java-opts"))


def _is_threaded(seeds: SeedEvidence, source: SeedSource | None) -> bool:
    """Whether SS102 speaks of this line: a dump shows the threaded seeder, or the seed URL is known broken."""
    if any(w.role is SeedRole.THREADED for w in seeds.waits):
        return True
    return source is not None and ":" not in source.value


def _log_confidence(
    kernel: KernelRandom | None, caught: list[SeedWait], *, either: bool
) -> Confidence:
    if caught or (kernel is not None and kernel.can_block):
        return Confidence.CONFIRMED
    if either or (kernel is not None and kernel.can_block is False):
        return Confidence.POSSIBLE
    return Confidence.LIKELY


def _log_sentence(line: SeedingLine, start_ms: int | None, *, either: bool) -> str:
    algorithm = line.algorithm or "its generator"
    what = f"seeding {algorithm} for Tomcat session ids took {account.duration(line.took_ms)}"
    if start_ms:
        share = min(1.0, line.took_ms / start_ms)
        what += f" of a start of {account.duration(start_ms)} ({share:.0%})"
    if line.took_ms <= HARMLESS_MS:
        return what + ": harmless"
    if either:
        return what + ": a dripping /dev/random, or the threaded seeder after a bad seed URL"
    return what


def _log_notes(
    jdk: JdkVersion | None, kernel: KernelRandom | None, *, either: bool, harmless: bool
) -> Iterator[str]:
    if harmless:
        return
    if either:
        yield (
            "which of the two it is, a thread dump during the start, the egd value (--egd) or the device decides:"
            " the threaded seeder always takes about 5.0-5.8 s (SHA1PRNG) or 8.0-8.7 s (DRBG)"
        )
    if kernel is None:
        yield "the kernel does not stand in the evidence: say --kernel \"$(uname -r)\" of that host"
    elif kernel.can_block is False:
        yield (
            "on this kernel /dev/random does not block after boot: look for a replaced device, an early boot, or a bad"
            " seed URL before you blame entropy"
        )
    yield right_egd(jdk).why


def _dry(observation: Observation) -> bool:
    """A read of the device itself that took longer than a second."""
    return observation.kind == "dd-random" and (observation.ms or 0) > SLOW_DD_MS


def _from_measurements(seeds: SeedEvidence) -> Iterator[Finding]:
    """A ``dd`` of the device that stood still: the device blocks, whoever reads it."""
    items = seeds.observations.items if seeds.observations is not None else ()
    slow = [o for o in items if _dry(o)]
    if not slow or _slow_lines(seeds.log):
        return
    worst = max(slow, key=lambda o: o.ms or 0)
    counts = [o for o in items if o.kind == "entropy-avail"]
    bits = f", entropy_avail {counts[0].value}" if counts and counts[0].value is not None else ""
    yield Finding(
        message="a dry /dev/random",
        sentence=(
            f"/dev/random is dry: {worst.value} bytes took {account.duration(worst.ms or 0)}{bits};"
            " a Java program that seeds from it waits as long"
        ),
        cause=Cause.BLOCKING_SEED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=tuple(
            Evidence(origin=f"{o.origin}:{o.line}", excerpt=o.excerpt) for o in (*slow, *counts[:2])
        ),
        fixes=(*remedies.egd_fixes(None, None, None), remedies.feeder()),
        notes=(
            "no thread or log of the Java program stands here: a thread dump or its log would confirm it",
            right_egd(None).why,
        ),
        cost_ms=None,
    )
