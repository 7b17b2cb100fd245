"""The kernel's random devices: which model they follow, in which state they are, what feeds them."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from seedstall.model.record import dataclass


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
    conflict: str = ""
    """Another release that the evidence names, against the one a person gave: in words, ``""`` where there is none."""

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
    guessed: bool = False
    """Taken from the suffix of the kernel release (``el7``, ``amzn2``), not from a file: said to be a guess."""


class PoolLevel(NamedTuple):
    """How full the pool of a kernel is whose ``/dev/random`` blocks: bits, and below how many a read waits."""

    bits: int
    threshold: int
    state: PoolState


class CrngState(NamedTuple):
    """Whether the kernel's generator (what getrandom and urandom draw from) is seeded, and what says so."""

    ready: bool
    told_by: str
    excerpt: str = ""
    uptime_s: float | None = None


class RunningDaemon(NamedTuple):
    """An entropy daemon found among the processes. ``command`` is its command line, ``""`` where not had."""

    name: str
    pid: int
    command: str = ""


class Feeders(NamedTuple):
    """What feeds the pool from outside the kernel, and what should.

    ``installed`` are daemons with a unit or init script, as ``(name, file)``. ``ran`` is the daemon that must have
    run since boot, by the threshold it leaves behind, or ``""``. ``processes_seen`` is false where the host's
    process list could not be had whole: then nothing can be said to be down. ``hwrng`` is the kernel's hardware
    generator in use, ``self_feeding`` whether the kernel feeds its pool from it without any daemon.
    """

    running: tuple[RunningDaemon, ...] = ()
    installed: tuple[tuple[str, str], ...] = ()
    ran: str = ""
    processes_seen: bool = False
    hwrng: str = ""
    self_feeding: bool = False


class DeviceNode(NamedTuple):
    """What a path in ``/dev`` is. ``kind`` in plain words; ``rdev`` for devices; ``link`` where it is a symbolic link.

    ``exists`` is false where we looked and it is not there.
    """

    path: str
    kind: str
    rdev: tuple[int, int] | None = None
    link: str = ""
    exists: bool = True


class RandomDevices(NamedTuple):
    """``/dev/random`` and ``/dev/urandom`` as a program sees them: in ``place`` ("the JVM's root", "this host")."""

    random: DeviceNode
    urandom: DeviceNode | None = None
    place: str = ""


class Machine(NamedTuple):
    """What the host itself runs on. ``title`` is ``""`` for a machine of metal, or one whose maker is not known.

    ``surfaces`` give a virtual machine a virtio-rng device, likeliest first; ``none`` says what holds where its
    hypervisor has no such device, or asks for something of its own.
    """

    title: str
    surfaces: tuple[str, ...] = ()
    none: str = ""
    told_by: str = ""
