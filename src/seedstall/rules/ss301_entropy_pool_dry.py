"""SS301: the entropy pool of a kernel whose /dev/random blocks is dry."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.refill import BUSY_RATE, SEED_BYTES, bits_short, wait_ms
from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.kernel import Distribution, KernelRandom, Machine, PoolLevel, PoolState
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import pool_remedies

COUNT_FILE = "/proc/sys/kernel/random/entropy_avail"


def may_block(kernel: KernelRandom) -> bool:
    """A kernel without the blocking pool has nothing that could run dry, whatever its count says."""
    return kernel.can_block is not False


@rule("SS301", "entropy-pool-dry", when=may_block)
def entropy_pool_dry(
    level: PoolLevel,
    kernel: KernelRandom,
    distribution: Distribution | None,
    machine: Machine | None = None,
) -> Iterator[Finding]:
    """The entropy pool holds less than a read of ``/dev/random`` needs.

    ## What it detects
    A kernel with the blocking pool (``read_wakeup_threshold`` is among the files of ``/proc/sys/kernel/random``) whose
    ``entropy_avail`` is below that threshold: 64 bits, 128 on 5.3 to 5.5, where the CRNG takes the first 128.
    Below 200 bits it is a note: one JVM seed may wait. On other kernels the count means nothing, and none of
    this is asked: 5.6 to 5.17 run for weeks at 2 bits.

    ## Why it matters
    The next program that seeds from ``/dev/random`` waits until the bits have come in: 20 bytes took 324 s on a booted
    4.15 with 40 disk interrupts a second, and did not come at all in five minutes on an idle one. Up to 1024 bits
    that the blocking pool holds already are not visible: one read may still pass.

    ## Fix
    An entropy daemon on the host (``seedstall fix TARGET --surface rngd``), a virtio-rng device for a virtual machine,
    or a kernel without the pool. Or let the JVM seed from ``/dev/urandom``.
    """
    if level.state not in (PoolState.AT_RISK, PoolState.LOW):
        return
    dry = level.state is PoolState.AT_RISK
    fed = [feeder for feeder in kernel.feeders if "fed by the kernel" in feeder]
    yield Finding(
        message=f"an entropy pool of {level.bits} bits",
        sentence=_sentence(level, kernel),
        cause=Cause.BLOCKING_SEED,
        status=Status.AT_RISK,
        severity=Severity.WARNING if dry else Severity.NOTE,
        confidence=Confidence.LIKELY if dry and not fed else Confidence.POSSIBLE,
        evidence=(
            Evidence(
                origin=COUNT_FILE, excerpt=f"{level.bits} (a read waits below {level.threshold})"
            ),
            Evidence(origin="kernel", excerpt=f"{kernel.release}: {kernel.reason}".lstrip(": ")),
            *(Evidence(origin="feeder", excerpt=feeder) for feeder in kernel.feeders),
        ),
        fixes=(
            *pool_remedies.feeder(distribution, kernel, "feed the host's entropy pool"),
            *pool_remedies.virtio(machine, kernel),
            *pool_remedies.kernel_update(distribution, kernel),
        ),
        notes=(_how_long(level), *pool_remedies.notes(distribution, kernel)),
    )


def _sentence(level: PoolLevel, kernel: KernelRandom) -> str:
    what = f"the entropy pool of {kernel.release or 'this kernel'} holds {level.bits} bits"
    if level.state is PoolState.AT_RISK:
        return f"{what}: a read of /dev/random waits below {level.threshold}"
    return f"{what}: one JVM that seeds from /dev/random may wait"


def _how_long(level: PoolLevel) -> str:
    first = level.bits < level.threshold and level.threshold > 64  # noqa: PLR2004 - the CRNG's share on 5.3-5.5
    short = bits_short(SEED_BYTES, level.bits, crng_first=first)
    busy = wait_ms(SEED_BYTES, level.bits, BUSY_RATE, crng_first=first)
    return (
        f"a seed of {SEED_BYTES} bytes needs {short} more bits: about {duration(busy or 0)} with 40 disk interrupts a"
        " second, and no end on an idle host; `seedstall kernel --for 10s` measures the rate"
    )
