"""SS302: an entropy daemon is installed, and does not feed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.kernel import Distribution, Feeders, KernelRandom, PoolState
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import pool_remedies
from seedstall.rules import seed_remedies as remedies
from seedstall.rules.ss301_entropy_pool_dry import COUNT_FILE, may_block

THRESHOLD_FILE = "/proc/sys/kernel/random/write_wakeup_threshold"


@rule("SS302", "feeder-down", when=may_block)
def feeder_down(
    feeders: Feeders, kernel: KernelRandom, distribution: Distribution | None
) -> Iterator[Finding]:
    """An entropy daemon is installed on this host, but it does not feed the pool.

    ## What it detects
    A unit or init script of rngd (rng-tools), haveged or jitterentropy-rngd without such a process; a
    ``write_wakeup_threshold`` that only such a daemon sets (1024 haveged, 2048 rngd 5, 3072 rngd 6), without one that
    still runs; or a daemon that runs while the pool is dry all the same, because it has no source. Only on kernels
    with the blocking pool: on others no daemon is needed.

    ## Why it matters
    The host was meant to be cured. rngd before 6.3 ends at once without a hardware source ("can't open any entropy
    source"); a daemon inside an unprivileged container may not add entropy; a unit that is enabled can be dropped
    from the boot by an ordering cycle (amazon-eks-ami#572).

    ## Fix
    Look why it is down (``systemctl status rngd``, ``journalctl -u rngd``), start and enable it on the host; without a
    hardware source take rng-tools 6.3 or later, or haveged.
    """
    if feeders.running:
        if kernel.state is PoolState.AT_RISK:
            yield _starved(feeders, kernel, distribution)
        return
    if feeders.processes_seen and (feeders.installed or feeders.ran):
        yield _down(feeders, kernel, distribution)


def _down(feeders: Feeders, kernel: KernelRandom, distribution: Distribution | None) -> Finding:
    names = ", ".join(name for name, _ in feeders.installed) or feeders.ran
    harmless = kernel.state is PoolState.OK and feeders.self_feeding
    how = (
        "is installed and does not run"
        if feeders.installed
        else "has run since boot and runs no more"
    )
    cured = f"; {feeders.hwrng} feeds the pool without it" if harmless else ""
    return Finding(
        message=f"{names} not running",
        sentence=f"{names} {how}, on a kernel whose /dev/random blocks{cured}",
        cause=Cause.NONE if harmless else Cause.FEEDER_DOWN,
        status=Status.CLEAR if harmless else Status.AT_RISK,
        severity=Severity.NOTE if harmless or kernel.state is PoolState.OK else Severity.WARNING,
        confidence=Confidence.CONFIRMED if feeders.ran else Confidence.LIKELY,
        evidence=(
            *(Evidence(origin=file, excerpt=f"starts {name}") for name, file in feeders.installed),
            Evidence(origin="/proc/*/comm", excerpt="no entropy daemon among the processes"),
            *_mark(feeders, kernel),
            *_level(kernel),
        ),
        fixes=(remedies.nothing(f"{feeders.hwrng} feeds the pool without a daemon"),)
        if harmless
        else _start(feeders, kernel, distribution),
        notes=() if harmless else tuple(pool_remedies.notes(distribution, kernel)),
    )


_SURFACES = {"rngd": "rngd", "haveged": "haveged", "jitterentropy-rngd": "jitterentropy"}


def _start(
    feeders: Feeders, kernel: KernelRandom, distribution: Distribution | None
) -> tuple[Fix, ...]:
    """The one that is installed, by the unit or script that starts it; else the distribution's own."""
    title = "start and enable the entropy daemon"
    found = pool_remedies.feeder(distribution, kernel, title)
    named = next(((s, file) for n, file in feeders.installed if (s := _SURFACES.get(n))), None)
    if named is None or not found:
        return found
    surface, file = named
    unit = visible(file.rpartition("/")[2])
    commands = (
        f"systemctl enable --now {unit.removesuffix('.service')}"
        if unit.endswith(".service")
        else f"service {unit} start"
    )
    return (replace(found[0], surface=surface, params={"commands": commands}),)


def _starved(feeders: Feeders, kernel: KernelRandom, distribution: Distribution | None) -> Finding:
    daemon = feeders.running[0]
    return Finding(
        message=f"{daemon.name} running without feeding",
        sentence=(
            f"{daemon.name} (pid {daemon.pid}) runs, but the pool is dry all the same:"
            " it has no source, or may not add to the pool"
        ),
        cause=Cause.FEEDER_DOWN,
        status=Status.AT_RISK,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=(
            *(
                Evidence(origin=f"/proc/{d.pid}/cmdline", excerpt=d.command or d.name)
                for d in feeders.running
            ),
            *_level(kernel),
        ),
        fixes=pool_remedies.feeder(
            distribution, kernel, "give the host a daemon that has a source"
        ),
        notes=tuple(pool_remedies.notes(distribution, kernel)),
    )


def _mark(feeders: Feeders, kernel: KernelRandom) -> Iterator[Evidence]:
    if feeders.ran:
        text = f"{kernel.write_wakeup}: {feeders.ran} has run since boot"
        yield Evidence(origin=THRESHOLD_FILE, excerpt=text)


def _level(kernel: KernelRandom) -> Iterator[Evidence]:
    if kernel.entropy_avail is not None:
        yield Evidence(origin=COUNT_FILE, excerpt=f"{kernel.entropy_avail} bits")
