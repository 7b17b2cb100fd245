"""SS103: the kernel's generator is not seeded yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.knowledge.kernel import BOOT_S, waits_for_random
from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.jvm import JvmProcess
from seedstall.model.kernel import CrngState, Distribution, KernelRandom, Machine
from seedstall.model.rule import rule
from seedstall.model.seeding import SeedRole
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules import now_remedies as now
from seedstall.rules import pool_remedies
from seedstall.rules import seed_account as account

GRND_RANDOM = 2


@rule("SS103", "crng-not-ready")
def crng_not_ready(
    crng: CrngState,
    kernel: KernelRandom | None,
    seeds: SeedEvidence | None,
    process: JvmProcess | None,
    distribution: Distribution | None = None,
    machine: Machine | None = None,
) -> Iterator[Finding]:
    """The kernel's generator has not been seeded since boot.

    ## What it detects
    ``getrandom`` that would wait (asked for zero bytes with GRND_NONBLOCK: nothing is drawn), a kernel log that
    reaches back to boot without ``crng init done``, a counter that still climbs in the first minutes, or a
    thread inside ``getrandom`` or ``wait_for_random_bytes``.

    ## Why it matters
    Until then ``getrandom`` waits, and on kernels without the blocking pool so does ``/dev/random``. From 5.4 on the
    kernel seeds itself by timer jitter, which takes seconds. Roughly 4.14.40 to 5.3 have no such help: a virtual
    machine without a hardware source waited 754 seconds. Python, Go and systemd wait as well: no setting of the JVM
    cures it.

    ## Fix
    A virtio-rng device or RDRAND for the virtual machine, ``random.trust_cpu=on`` on the kernel's command line (4.19
    and later), or a newer kernel.
    """
    if crng.ready:
        return
    waiting = [w for w in (seeds.waits if seeds is not None else ()) if _waits(w, kernel)]
    if waiting:
        yield replace(
            _stalled(waiting, crng, kernel, process),
            fixes=tuple(_fixes(kernel, distribution, machine)),
        )
    else:
        yield _early(crng, kernel)


def _fixes(
    kernel: KernelRandom | None, distribution: Distribution | None, machine: Machine | None
) -> Iterator[Fix]:
    """From 5.4 on (and with the back-ports) the kernel helps itself; before, what feeds its pool feeds this as well."""
    if kernel is None:
        return
    if not kernel.can_block:
        yield now.wait_for_it("the kernel seeds itself by timer jitter", "0.5 to 3 s")
        return
    yield from pool_remedies.feeder(
        distribution, kernel, "feed the host's pool: its generator is seeded from it"
    )
    yield from pool_remedies.virtio(machine, kernel)
    yield now.once(
        "stir-pool",
        "type at the host's own console (not over ssh), or keep its disk busy",
        now.DISK,
        takes="5 bits a key of 128 wanted; 754 s were seen on an idle machine",
    )


def _waits(wait: SeedWait, kernel: KernelRandom | None) -> bool:
    """Whether this thread waits for the CRNG: on a kernel with the pool a read of the device waits for that instead."""
    task = wait.task
    if task is not None and task.wchan is not None:
        return waits_for_random(task.wchan) == "crng"
    if task is not None and task.syscall is not None and task.syscall.name == "getrandom":
        return len(task.syscall.args) < 3 or not task.syscall.args[2] & GRND_RANDOM  # noqa: PLR2004 - the third is flags
    no_pool = kernel is not None and kernel.can_block is False
    return no_pool and (wait.in_random_read or (task is None and wait.role is SeedRole.READING))


def _stalled(
    waiting: list[SeedWait],
    crng: CrngState,
    kernel: KernelRandom | None,
    process: JvmProcess | None,
) -> Finding:
    wait = max(waiting, key=lambda w: (w.task is not None, w.stack is not None, w.since_ms or 0))
    others = f"; {len(waiting) - 1} more likewise" if len(waiting) > 1 else ""
    return Finding(
        message=f"{account.name_of(wait)} waiting for the kernel's first seeding",
        sentence=(
            f"{account.name_of(wait)} {account.since(wait)} for the kernel's generator, which is not seeded yet"
            f"{_age(crng)}{others}"
        ),
        cause=Cause.CRNG_NOT_READY,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED if wait.task is not None else Confidence.LIKELY,
        evidence=(
            *account.evidence_of(wait, process.pid if process is not None else None),
            *_evidence(crng, kernel),
        ),
        notes=_notes(kernel),
        explains=(Cause.BLOCKING_SEED, Cause.PRNG_CONTENTION),
        since_ms=wait.since_ms,
    )


def _early(crng: CrngState, kernel: KernelRandom | None) -> Finding:
    """Nobody is seen to wait. Where the pool serves /dev/random, a JVM is not concerned: it is only worth knowing."""
    pool = kernel is not None and kernel.can_block is True
    late = crng.uptime_s is not None and crng.uptime_s > BOOT_S
    if pool:
        text = "getrandom waits, /dev/urandom does not, and /dev/random goes by its own pool"
    else:
        text = "a program that reads /dev/random or calls getrandom now waits"
        text += "" if late else ", a few seconds as a rule"
    return Finding(
        message="a kernel generator that is not seeded",
        sentence=f"the kernel's generator is not seeded yet{_age(crng)}: {text}",
        cause=Cause.NONE if pool else Cause.CRNG_NOT_READY,
        status=Status.CLEAR if pool else Status.AT_RISK,
        severity=Severity.INFO if pool else Severity.WARNING if late else Severity.NOTE,
        confidence=Confidence.LIKELY,
        evidence=_evidence(crng, kernel),
        notes=_notes(kernel) if late else (),
    )


def _age(crng: CrngState) -> str:
    if crng.uptime_s is None:
        return ""
    return f" ({duration(crng.uptime_s * 1000)} after boot)"


def _evidence(crng: CrngState, kernel: KernelRandom | None) -> tuple[Evidence, ...]:
    told = Evidence(origin=crng.told_by, excerpt=crng.excerpt)
    if kernel is None:
        return (told,)
    return (
        told,
        Evidence(origin="kernel", excerpt=f"{kernel.release}: {kernel.reason}".lstrip(": ")),
    )


def _notes(kernel: KernelRandom | None) -> tuple[str, ...]:
    jitter = (
        ""
        if kernel is None or kernel.can_block
        else "; this kernel seeds itself by timer jitter in seconds"
    )
    return (
        "java.security.egd does not cure this: the whole host waits" + jitter,
        "for the next boot: virtio-rng or RDRAND for the virtual machine, random.trust_cpu=on (4.19 and later)",
    )
