"""SS544: the process lies in swap."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.limits import Paging
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status

LEAST_KIB = 64 << 10
PART = 0.2
"""Of its memory, from which swap is felt: a collector walks all of the heap."""
FAULTS = 1_000
PRESSED = 10.0
"""Per cent of the time in which something on the host waited for memory."""


@rule("SS544", "swapped-out")
def swapped_out(paging: Paging) -> Iterator[Finding]:
    """A good part of the JVM's memory lies in swap.

    ## What it detects
    ``VmSwap`` against ``VmRSS`` in ``/proc/PID/status``, the major faults in ``/proc/PID/stat``, and the host's
    memory pressure (``/proc/pressure/memory``).

    ## Why it matters
    Each page that is fetched back waits for a disk, and a collection touches all of the heap: a start that takes
    seconds takes minutes, with the CPU idle, which looks just like waiting for entropy.

    ## Fix
    More memory, a smaller heap, or fewer neighbours. ``swapoff`` alone only moves the trouble to the OOM killer.
    """
    whole = paging.resident_kib + paging.swapped_kib
    if paging.swapped_kib < LEAST_KIB or paging.swapped_kib < PART * whole:
        return
    felt = paging.major_faults >= FAULTS or (paging.pressure or 0.0) >= PRESSED
    part = f"{paging.swapped_kib / whole:.0%}".replace("%", " %")
    told = f"{paging.swapped_kib >> 10} MiB of it ({part}) lie in swap"
    pressure = f", memory pressure {paging.pressure:.0f} %" if paging.pressure is not None else ""
    yield Finding(
        message="a JVM that lies in swap",
        sentence=f"not entropy: the JVM has been put out of memory: {told}",
        cause=Cause.MEMORY,
        status=Status.SLOW,
        severity=Severity.WARNING if felt else Severity.NOTE,
        confidence=Confidence.LIKELY if felt else Confidence.POSSIBLE,
        evidence=(
            Evidence(
                origin=f"/proc/{paging.pid or 'PID'}/status",
                excerpt=(
                    f"VmRSS {paging.resident_kib} kB, VmSwap {paging.swapped_kib} kB,"
                    f" {paging.major_faults} major faults{pressure}"
                ),
            ),
        ),
        notes=("vmstat 1 shows whether pages come in (si) while it is slow",),
    )
