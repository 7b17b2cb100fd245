"""SS101: a thread waits for random bytes from a device that blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.knowledge.kernel import waits_for_random
from seedstall.knowledge.seeding import right_egd
from seedstall.knowledge.stacks import expected_device
from seedstall.knowledge.syscalls import READS
from seedstall.model.core import CoreDump
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import JvmProcess, LiveProcess, Product
from seedstall.model.kernel import (
    BlockingModel,
    Distribution,
    KernelRandom,
    Machine,
    PoolState,
)
from seedstall.model.log import SeedingLine, ServerLog, StartLine
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.security import FipsSetup
from seedstall.model.seeding import Algorithm, Device, Operation, SeedRole, SeedSource
from seedstall.model.tasks import FileKind, KernelTask, WaitingChildren
from seedstall.model.verdict import Cause, Progress, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules import now_remedies, seed_log, seed_samples
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies
from seedstall.rules.seed_account import Surroundings

STUCK_MS = 1000
"""A thread that has not run for that long made no progress in it."""


@rule("SS101", "blocking-seed")
def blocking_seed(
    seeds: SeedEvidence,
    kernel: KernelRandom | None,
    source: SeedSource | None,
    jdk: JdkVersion | None,
    product: Product | None,
    process: JvmProcess | None,
    distribution: Distribution | None,
    children: WaitingChildren | None,
    core: CoreDump | None = None,
    machine: Machine | None = None,
    fips: FipsSetup | None = None,
    live: LiveProcess | None = None,
) -> Iterator[Finding]:
    """A thread waits for random bytes from a device that blocks.

    ## What it detects
    A thread inside ``read(2)`` of ``/dev/random`` (or ``getrandom``), seen through ``/proc/PID/task/TID/syscall``
    and ``fd/``, the kernel's wait channel, or a Java stack caught in the seed read: SHA1PRNG and DRBG seeding,
    ``NativePRNG.generateSeed``, ``NativePRNGBlocking`` and ``getInstanceStrong``. Also a server log that says that
    creating a ``SecureRandom`` took longer than a second, and a measured read of the device that took that long.
    An open descriptor on ``/dev/random`` proves nothing: every JVM that loaded the SUN provider has some.

    ## Why it matters
    On kernels before 5.6 (and not patched in mid-2022) ``/dev/random`` is metered by an entropy count. An idle
    virtual machine gains about one bit a second or none: the 20 bytes of a SHA1PRNG seed can take minutes,
    and every start pays again.

    ## Fix
    JDK 8 and later: ``-Djava.security.egd=file:/dev/urandom``. JDK 6 and 7: ``file:/dev/./urandom``, since they
    compare ``file:/dev/urandom`` literally and then read ``/dev/random`` all the same (JDK-6202721).
    ``getInstanceStrong`` ignores the property: set ``securerandom.strongAlgorithms``. On a kernel with a blocking
    pool an entropy daemon, virtio-rng or a newer kernel removes the wait for every program.
    """
    readers = [w for w in seeds.waits if w.role is SeedRole.READING]
    around = Surroundings(
        kernel,
        source,
        jdk,
        product,
        process.pid if process else None,
        distribution,
        core,
        machine,
        fips,
        in_container=process is not None and process.in_container,
        live=live is not None,
    )
    caught = [w for w in readers if _blocks(w, kernel) and not _passes_by(w, around)]
    stuck = [w for w in caught if not _went_on(w, seeds.log)]
    if stuck:
        yield _stalled(stuck, seeds, around)
        return
    yield from _from_children(children, around)
    if seeds.samples is not None:
        yield from seed_samples.from_samples(seeds, around)
    else:
        yield from _over(seeds, caught, around)
    yield from seed_log.from_log(seeds, around, caught)
    yield from seed_log.from_measurements(seeds, kernel)


def _blocks(wait: SeedWait, kernel: KernelRandom | None) -> bool:
    """Whether this read is a wait and not a read caught on its way.

    On a kernel whose own device does not block any more, a thread inside a read of that very device is on its way
    (or the kernel is not seeded yet, which is SS103's). A read that was broken off in its sleep did wait: then the
    device is not the kernel's own.
    """
    task = wait.task
    if task is not None and task.wchan is not None and waits_for_random(task.wchan) == "pool":
        return True
    if task is not None and _waits_for_crng(task):
        return False
    if kernel is None or kernel.can_block is not False or (task is not None and task.asleep):
        return True
    if task is not None and wait.in_random_read:
        return _replaced(task)
    return task is None or _reads_unknown(task)


def _reads_unknown(task: KernelTask) -> bool:
    """Whether the kernel's view leaves open what it reads: a bundle without descriptors, a call that may not be seen.

    Then the stack alone speaks, as in a dump without a process.
    """
    call = task.syscall
    return not task.running and task.file is None and (call is None or call.name in READS)


def _over(seeds: SeedEvidence, caught: list[SeedWait], around: Surroundings) -> Iterator[Finding]:
    """A wait that an earlier dump shows and a later dump, or a start that followed, says is over."""
    if seed_log.slow_lines(seeds.log):
        return
    past = [w for w in seeds.over if w.role is SeedRole.READING and not _passes_by(w, around)]
    restarted = not past and bool(caught)
    wait = next(iter(past or caught), None)
    if wait is None or wait.dump is None:
        return
    when = f" at {wait.dump.taken_at}" if wait.dump.taken_at else ""
    ended = "a start that completed follows it" if restarted else "a later dump no longer shows it"
    yield Finding(
        message=f"{account.name_of(wait)} that waited for random bytes",
        sentence=f"{account.name_of(wait)} waited{when} in the seed read{account.reader(wait)}; {ended}",
        cause=Cause.BLOCKING_SEED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence([wait], seeds, around)),
        fixes=remedies.for_the_next_start(wait, around),
        notes=tuple(_notes(wait, around)),
        explains=(Cause.BLOCKING_SEED, Cause.PRNG_CONTENTION, Cause.INEFFECTIVE_FIX),
    )


def _waits_for_crng(task: KernelTask) -> bool:
    """Whether it waits for the kernel's first seeding, which is SS103's: getrandom without GRND_RANDOM (2)."""
    if task.wchan is not None and waits_for_random(task.wchan) == "crng":
        return True
    call = task.syscall
    return call is not None and call.name == "getrandom" and not call.args[2] & 2


def _passes_by(wait: SeedWait, around: Surroundings) -> bool:
    """Whether a dump alone shows a read of ``/dev/urandom`` that was merely caught on its way.

    NativePRNG refills its buffer from there again and again, in microseconds: a busy program is often caught in it.
    Its very first read (``getMixRandom``) happens once in a JVM's life: caught there, it waits.
    """
    if wait.task is not None or wait.java is None or wait.stack is None or wait.dumps_seen > 1:
        return False
    family = (Algorithm.NATIVE_PRNG, Algorithm.NATIVE_PRNG_NONBLOCKING)
    if wait.stack.algorithm not in family or wait.stack.operation is not Operation.NEXT_BYTES:
        return False
    value = around.source.value if around.source is not None else None
    if expected_device(wait.stack, around.jdk, value) is not Device.URANDOM:
        return False
    return all(frame.method != "getMixRandom" for frame in wait.java.frames)


def _went_on(wait: SeedWait, log: ServerLog | None) -> bool:
    """Whether the same text says that the wait ended: then it was slow and is not stalled.

    A dump inside a log whose seeding line comes later; or a bare stack pasted beside such a line, where the order of
    the pieces tells nothing.
    """
    if log is None or wait.dump is None or wait.in_random_read:
        return False
    dump = wait.dump
    later: tuple[SeedingLine | StartLine, ...] = (*log.seeding, *log.starts)
    return any(line.origin == dump.origin and line.line > dump.line for line in later) or (
        not dump.vm and any(line.origin == dump.origin for line in log.seeding)
    )


def _replaced(task: KernelTask | None) -> bool:
    """Whether what it reads is not the kernel's device: by its type, else by a name that is no device's."""
    file = task.file if task is not None else None
    if file is None:
        return False
    if file.kind is FileKind.UNKNOWN:
        return file.gives_randomness and not file.is_device
    return file.kind not in (FileKind.RANDOM, FileKind.URANDOM)


def _confidence(wait: SeedWait, seeds: SeedEvidence, around: Surroundings) -> Confidence:
    """Confirmed needs the wait seen in the kernel, or the stack with a second witness."""
    kernel = around.kernel
    measured = seeds.observations.items if seeds.observations is not None else ()
    if wait.task is not None and wait.in_random_read:
        return Confidence.CONFIRMED
    if remedies.set_already(around):
        return Confidence.POSSIBLE  # the setting contradicts what the stack shows
    asleep = wait.task is not None and wait.task.asleep
    pool = kernel is not None and kernel.model is BlockingModel.BLOCKING_POOL
    # A release that the log contradicts is no second witness.
    if asleep or (pool and kernel is not None and not kernel.conflict):
        return Confidence.CONFIRMED
    if wait.dumps_seen > 1 or seed_log.slow_lines(seeds.log) or any(map(seed_log.is_dry, measured)):
        return Confidence.CONFIRMED
    if kernel is not None and kernel.can_block is False:
        return Confidence.POSSIBLE
    return Confidence.LIKELY


def _stalled(waits: list[SeedWait], seeds: SeedEvidence, around: Surroundings) -> Finding:
    # The one with both a stack and a kernel thread tells most; then the one that has waited longest.
    wait = max(waits, key=lambda w: (w.stack is not None, w.task is not None, w.since_ms or 0))
    others = f"; {len(waits) - 1} more wait likewise" if len(waits) > 1 else ""
    queue = f"; {len(seeds.queued)} more queue behind it" if seeds.queued else ""
    replaced = _replaced(wait.task)
    return Finding(
        message=f"{account.name_of(wait)} waiting for random bytes{account.reader(wait)}",
        sentence=_sentence(wait, around)
        + others
        + queue
        + seed_samples.clause(seeds.samples, wait),
        cause=Cause.CONNECT if _by_network(wait) else Cause.BLOCKING_SEED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=_confidence(wait, seeds, around),
        evidence=tuple(_evidence(waits, seeds, around)),
        fixes=remedies.remedies(wait, around, around.product, device_replaced=replaced),
        notes=tuple(_notes(wait, around)),
        explains=(
            Cause.BLOCKING_SEED,
            Cause.PRNG_CONTENTION,
            Cause.FEEDER_DOWN,
            Cause.INEFFECTIVE_FIX,
        ),
        cost_ms=seed_log.cost_ms(seeds.log) or seed_samples.cost_ms(seeds.samples),
        startup_ms=seed_log.startup_ms(seeds.log) or seed_samples.startup_ms(seeds.samples),
        since_ms=wait.since_ms,
        progress=_progress(wait),
    )


def _from_children(children: WaitingChildren | None, around: Surroundings) -> Iterator[Finding]:
    """A program that the JVM or its script started (gpg, openssl) and that waits for random bytes itself."""
    if children is None:
        return
    waiting = [t for t in children.tasks if _blocks(SeedWait(task=t), around.kernel)]
    script = children.script
    for task in waiting[:1]:
        name = visible(task.comm)[:40]
        where = account.place_of(SeedWait(task=task), Device.RANDOM, None)
        why = account.device_clause(task) or account.kernel_clause(around.kernel)
        parent = visible(account.script_name(script))[:60] if script else "this JVM"
        pid = task.pid or task.tid
        yield Finding(
            message=f"{name}, a child of {parent}, waiting for random bytes",
            sentence=f"{name} (pid {pid}), which {parent} started, waits {where}; {why}",
            cause=Cause.BLOCKING_SEED,
            status=Status.STALLED,
            severity=Severity.ERROR,
            confidence=Confidence.CONFIRMED,
            evidence=tuple(account.child_evidence(task)),
            fixes=_of_child(task, around),
            notes=(_childs_cure(task, jvm=task.pid in children.jvms),),
            explains=(Cause.BLOCKING_SEED, Cause.FEEDER_DOWN, Cause.CHILD),
        )


def _of_child(task: KernelTask, around: Surroundings) -> tuple[Fix, ...]:
    wait = SeedWait(task=task)
    itself = replace(around, pid=task.pid or task.tid)
    fed = now_remedies.feed_device(wait, itself)
    return (*fed, *remedies.host_fixes(around, wait, device_replaced=_replaced(task)))


def _childs_cure(task: KernelTask, *, jvm: bool) -> str:
    if jvm:
        return f"it is a JVM itself: seedstall diagnose {task.pid} has its own cure"
    cure = "give it the kernel's own /dev/random" if _replaced(task) else "feed the host's pool"
    return f"no setting of a JVM reaches this program: {cure}"


def _progress(wait: SeedWait) -> Progress | None:
    """Stuck or getting on, only where samples say it."""
    if wait.progress is not None:
        return wait.progress
    if len(wait.lengths) > 1:
        return Progress.PROGRESSING if wait.lengths[-1] < wait.lengths[0] else Progress.STUCK
    if wait.since_ms and wait.since_ms >= STUCK_MS:
        return Progress.STUCK
    return None


def _sentence(wait: SeedWait, around: Surroundings) -> str:
    expected = Device.UNKNOWN
    if wait.stack is not None:
        value = around.source.value if around.source is not None else None
        expected = expected_device(wait.stack, around.jdk, value)
    where = account.place_of(wait, expected, around.source)
    why = account.device_clause(wait.task) or _kernel_clause(wait, expected, around.kernel)
    return f"{account.name_of(wait)} {account.since(wait)} {where}{account.reader(wait)}; {why}"


def _by_network(wait: SeedWait) -> bool:
    """Whether the seed source is a URL of another host: no device of this kernel is read."""
    return wait.stack is not None and wait.stack.network


def _kernel_clause(wait: SeedWait, expected: Device, kernel: KernelRandom | None) -> str:
    """Why the device blocks; where the stack reads another device, what is known of that one."""
    if _by_network(wait):
        return "no device is read: the host that the URL names does not answer"
    file = wait.task.file if wait.task is not None else None
    urandom = file.is_urandom_path if file is not None else expected is Device.URANDOM
    if urandom:
        return "/dev/urandom waits only until the kernel's generator is seeded, or where it was replaced"
    seen = wait.task is not None and not wait.task.asleep
    contradicts = not seen and kernel is not None and kernel.can_block is False
    if contradicts and kernel is not None and kernel.state is not PoolState.NOT_READY:
        return f"yet {account.kernel_clause(kernel)}: look whether it is device 1:8 (ls -l /dev/random)"
    return account.kernel_clause(kernel)


def _notes(wait: SeedWait, around: Surroundings) -> Iterator[str]:
    reason = remedies.no_egd_for(wait)
    set_already = remedies.set_already(around)
    refused = (
        remedies.strong_refused(wait, around)
        if remedies.egd_cannot_help(wait.stack)
        else remedies.egd_refused(wait, around)
    )
    if reason:
        yield reason
    if refused:
        yield refused
    if reason or refused:
        pass
    elif set_already:
        yield set_already
    elif remedies.unfixable_by_property(wait.stack, around.jdk):
        yield (
            "on JDK 6 and 7 an explicit NativePRNG reads /dev/random in generateSeed whatever the property says:"
            " the flag helps only where the program takes the default generator; else feed the pool"
        )
    else:
        yield right_egd(around.jdk).why
    yield from (told.conflict for told in (around.jdk, around.kernel) if told and told.conflict)
    if around.jdk is None:
        yield "which JDK it is does not stand in the evidence: say --jdk VERSION for the value that fits it best"
    unknown = around.kernel is None or around.kernel.model is BlockingModel.UNKNOWN
    if unknown and not _by_network(wait):
        yield 'the kernel does not stand in the evidence: say --kernel "$(uname -r)" of that host'
    if _replaced(wait.task):
        file = wait.task.file if wait.task is not None else None
        yield (
            "an entropy daemon cannot feed this: give the JVM the kernel's own /dev/random (character device 1:8)"
            if file is None or file.is_device
            else f"an entropy daemon cannot feed this: the seed source that was set is {visible(file.path)}"
        )


def _evidence(
    waits: list[SeedWait], seeds: SeedEvidence, around: Surroundings
) -> Iterator[Evidence]:
    for wait in waits[:3]:
        yield from account.evidence_of(wait, around.pid, around.core)
    if seeds.queued:
        names = ", ".join(account.name_of(w) for w in seeds.queued[:8])
        yield Evidence(origin="thread dump", excerpt=f"queued behind it: {names}")
    yield from account.kernel_evidence(around)
    yield from account.source_evidence(around)
    for line in seed_log.slow_lines(seeds.log):
        yield Evidence(origin=f"{line.origin}:{line.line}", excerpt=line.excerpt)
