"""The kernel's random devices: which model they follow, in which state they are, what feeds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class BlockingModel(StrEnum):
    """How ``/dev/random`` behaves on a kernel."""

    BLOCKING_POOL = "blocking-pool"
    """Metered by an entropy count for the whole uptime (before 5.6, and not back-ported)."""
    UNTIL_INIT = "blocks-only-until-init"
    """Waits once, until the CRNG is seeded (5.6+, and the mid-2022 back-ports)."""
    NEVER = "never"
    """Served by something else: gVisor, WSL1, RHEL in FIPS mode."""
    UNKNOWN = "unknown"


class Certainty(StrEnum):
    """How sure a statement about the kernel is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class PoolState(StrEnum):
    """Whether a read of ``/dev/random`` would wait now."""

    AT_RISK = "at risk"
    """The next read that finds nothing cached waits (below 64 bits; below 128 on 5.4)."""
    LOW = "low"
    """One JVM seed may wait (below 200 bits)."""
    OK = "ok"
    READY = "ready"
    NOT_READY = "not ready"
    """The CRNG is not seeded yet: seconds, early at boot."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class KernelRandom:
    """What is known of this host's ``/dev/random``.

    ``reason`` is one line for people and names the evidence (the file set, the release). Bits are entropy bits.
    ``release`` is ``uname -r`` text, ``""`` where unknown. ``from_release_only`` is true where only the version
    text decided. ``feeder`` lists what feeds the pool (``virtio_rng.0``, ``haveged running``).
    ``special`` names containers, gVisor, WSL, FIPS, LRNG.
    """

    model: BlockingModel
    certainty: Certainty
    reason: str
    state: PoolState = PoolState.UNKNOWN
    release: str = ""
    entropy_avail: int | None = None
    poolsize: int | None = None
    read_wakeup: int | None = None
    write_wakeup: int | None = None
    feeders: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    from_release_only: bool = False
    row: int | None = None
    """The row of the decision table (facts: kernel, section 11) that decided."""

    @property
    def can_block(self) -> bool | None:
        """Whether ``/dev/random`` can block after boot; ``None`` where unknown."""
        if self.model is BlockingModel.UNKNOWN:
            return None
        return self.model is BlockingModel.BLOCKING_POOL


@dataclass(frozen=True, slots=True)
class Distribution:
    """The host's distribution, from its ``/etc/os-release`` (never the container's)."""

    id: str
    version: str = ""
    like: tuple[str, ...] = ()
    pretty: str = ""
    files: tuple[str, ...] = field(default=())
