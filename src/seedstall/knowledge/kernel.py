"""Which model a kernel's ``/dev/random`` follows, in which state it is, and what a thread in it waits for.

The decision goes by the *files* of ``/proc/sys/kernel/random``: in 35 kernels that were booted and about a hundred
source trees, ``read_wakeup_threshold`` is there exactly when the blocking pool is compiled in. A version number
misleads both ways, since the removal (5.6) was back-ported in mid-2022 down to 4.9. Rows are those of the decision
table (facts: kernel, section 11); the release text speaks only where there are no files.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from seedstall.knowledge.release import (
    POOL_REMOVED,
    KernelRelease,
    Maker,
    Statement,
    by_release,
    drains_at_reseed,
    fed_by_hwrng,
    has_extrng,
    read_release,
)
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom, PoolState

POOL_SIGN = "read_wakeup_threshold"
SIBLINGS = frozenset(("entropy_avail", "poolsize", "write_wakeup_threshold"))
GVISOR_FILES = frozenset(("boot_id", "uuid"))
"""All that gVisor's own procfs shows (pkg/sentry/fsimpl/proc/tasks_sys.go)."""

NEW_POOLSIZE = 256
"""5.18 (commit 6e8ec2552c7d) and every back-port: no kernel with the pool has it."""
READ_WAKEUP = 64
CRNG_FIRST = 128
"""5.3 to 5.5: until the CRNG has taken its 128 bits, a reader of /dev/random gets none (5.4.0-125 booted)."""
LOW = 200
"""Below this, one JVM seed may wait."""
BOOT_S = 120.0
"""After two minutes a kernel with a cycle counter has seeded itself by timer jitter (seconds at most, measured)."""

POOL_SYMBOLS = frozenset(
    ("blocking_pool", "random_read_wait", "random_read_wakeup_bits", "random_read_wakeup_thresh")
)
NEW_SYMBOLS = frozenset(("random_read_iter",))
SYMBOLS = POOL_SYMBOLS | NEW_SYMBOLS | {"random_read"}

POLLIN = 1

# What an entropy daemon leaves behind in write_wakeup_threshold on a kernel with the pool (facts: kernel, section 2).
_DAEMON_MARKS = {1024: "haveged", 2048: "rngd 5", 3072: "rngd 6"}

_WAITS = (
    r"\.?(?:(?P<pool>_?random_read)|random_read_iter|urandom_read\w*|wait_for_random_bytes|crng_wait_ready"
    r"|(?:__\w+_)?(?:sys|SyS)_getrandom)(?:\.(?:part|isra|constprop|cold)\.?\d*)*"
)
_MAX_SYMBOL = 128


def waits_for_random(symbol: str) -> Literal["pool", "crng"] | None:
    """What a wait channel of that name waits for: entropy in the pool, or the CRNG's first seeding.

    ``_random_read.part.NN`` is the pool's reader up to 5.5 (``random_read`` on 2.6.32 and 3.10); ``getrandom`` without
    GRND_RANDOM, ``wait_for_random_bytes`` and 5.18's ``random_read_iter`` wait for the CRNG. ``0`` (running, not
    permitted, or not yet asleep) and all else is ``None``.
    """
    if len(symbol) > _MAX_SYMBOL:
        return None
    found = re.fullmatch(_WAITS, symbol)
    if found is None:
        return None
    return "pool" if found.group("pool") else "crng"


def waits_for_partner(symbol: str | None) -> bool:
    """Whether an open(2) with that wait channel waits until somebody opens the other end of its FIFO.

    ``wait_for_partner`` (fs/pipe.c, from 5.10 on; seen on 6.18); before, it slept in ``pipe_wait``.
    """
    return symbol is not None and symbol.partition(".")[0] in ("wait_for_partner", "pipe_wait")


class KernelEvidence(NamedTuple):
    """Everything that was had of one kernel; what was not had is ``None``, ``""`` or empty.

    ``files`` are the names in ``/proc/sys/kernel/random``; ``whole`` is false where they were found one by one, so that
    a name's absence says nothing. ``version`` is ``uname -v`` or ``/proc/version``. ``lrng`` is the text of
    ``/proc/lrng_type``. ``messages`` are the kernel log's lines on random numbers, ``None`` without a log.
    ``insecure`` is the answer to getrandom(0 bytes, GRND_INSECURE): ``"0"`` or an errno's name; ``poll`` the revents
    of the device. ``cycle_counter`` is whether the CPU has one. ``hwrng`` is ``rng_current``.
    """

    release: str = ""
    version: str = ""
    files: frozenset[str] = frozenset()
    whole: bool = True
    entropy_avail: int | None = None
    poolsize: int | None = None
    read_wakeup: int | None = None
    write_wakeup: int | None = None
    fips: bool | None = None
    lrng: str | None = None
    messages: tuple[str, ...] | None = None
    uptime_s: float | None = None
    insecure: str = ""
    poll: int | None = None
    symbols: frozenset[str] = frozenset()
    cycle_counter: bool | None = None
    hwrng: str = ""
    hwrng_quality: int | None = None
    container: str = ""


class _Known(NamedTuple):
    """The evidence with its release taken apart."""

    seen: KernelEvidence
    release: KernelRelease | None


def decide(seen: KernelEvidence) -> KernelRandom:
    """The model and the state that the evidence shows. Never raises; says ``unknown`` where it is not known."""
    known = _Known(seen, read_release(seen.release or seen.version, seen.version))
    said = _model(known)
    disagrees = _disagreement(seen, said)
    return KernelRandom(
        model=said.model,
        certainty=Certainty.LOW if disagrees else said.certainty,
        reason=said.reason + (f" (but {disagrees})" if disagrees else ""),
        state=_state(known, said),
        release=known.release.text if known.release else seen.release[:80],
        entropy_avail=seen.entropy_avail,
        poolsize=seen.poolsize,
        read_wakeup=seen.read_wakeup,
        write_wakeup=seen.write_wakeup,
        feeders=tuple(_feeders(known)),
        special=tuple(_special(known)),
        from_release_only=_only_release(seen, said),
        row=said.row or None,
    )


_RELEASE_ROWS = frozenset((8, 9, 10, 11, 12, 13, 22))
_NO_ROW = 0
"""The table has no row for the active probe and for symbols; both come before the release text."""


def _only_release(seen: KernelEvidence, said: Statement) -> bool:
    bare = not seen.files and not seen.messages
    return bool(seen.release or seen.version) and (
        said.row in _RELEASE_ROWS or (said.row == 1 and bare)
    )


def _model(known: _Known) -> Statement:
    seen, release = known
    if (told := _gvisor(known)) is not None:
        return told
    if seen.lrng is not None:
        return Statement(
            BlockingModel.UNTIL_INIT,
            Certainty.MEDIUM,
            2,
            "/proc/lrng_type is there: the LRNG patch replaces the kernel's generator, its counts mean something else",
        )
    if seen.fips and release is not None and has_extrng(release):
        high = release.el == 8  # noqa: PLR2004 - RHEL 8: read in its source
        return Statement(
            BlockingModel.NEVER,
            Certainty.HIGH if high else Certainty.MEDIUM,
            3,
            "FIPS mode is on: the kernel's crypto DRBG serves /dev/random and does not wait",
        )
    told = _by_files(known)
    if told is not None:
        return told
    if release is not None and release.maker in (Maker.WSL1, Maker.GVISOR):
        return by_release(release)
    return _by_probe(known) or _by_symbols(seen) or _by_text(known)


def _gvisor(known: _Known) -> Statement | None:
    seen, release = known
    by_name = release is not None and release.maker is Maker.GVISOR
    by_log = any("Starting gVisor" in m for m in seen.messages or ())
    # A real kernel's directory holds more, but a capture may hold only these two: its release tells them apart.
    by_files = seen.files == GVISOR_FILES and (release is None or release.text == "4.4.0")
    if by_name or by_log or by_files:
        sign = "its release" if by_name else "its log" if by_log else "the files of its /proc"
        certainty = Certainty.HIGH if by_name or by_log else Certainty.MEDIUM
        return Statement(
            BlockingModel.NEVER,
            certainty,
            1,
            f"gVisor by {sign}: it reads its own generator, which never blocks",
        )
    return None


def _by_files(known: _Known) -> Statement | None:
    seen, release = known
    if POOL_SIGN in seen.files:
        return Statement(
            BlockingModel.BLOCKING_POOL,
            Certainty.HIGH,
            4,
            f"/proc/sys/kernel/random has {POOL_SIGN}, which only kernels with the blocking pool have",
        )
    siblings = seen.files >= SIBLINGS and seen.whole
    if seen.poolsize == NEW_POOLSIZE:
        certainty = Certainty.HIGH if siblings else Certainty.MEDIUM
        missing = f", no {POOL_SIGN}" if siblings else ""
        return _until(certainty, 5, f"poolsize is 256{missing}: the blocking pool was removed")
    if not siblings:
        return None
    text = f"/proc/sys/kernel/random has no {POOL_SIGN}: the blocking pool was removed"
    if release is not None and release.branch >= POOL_REMOVED:
        return _until(Certainty.HIGH, 6, text)
    whose = f"{release.text} is before 5.6" if release is not None else "its release is not known"
    return _until(Certainty.MEDIUM, 7, f"{text}, though {whose}")


def _until(certainty: Certainty, row: int, reason: str) -> Statement:
    return Statement(BlockingModel.UNTIL_INIT, certainty, row, reason)


def _by_probe(known: _Known) -> Statement | None:
    """The flag GRND_INSECURE came with the removal (5.6), and with every back-port: 35 of 35 kernels booted agree."""
    call = "getrandom(0 bytes, GRND_INSECURE)"
    if known.seen.insecure == "0":
        return _until(
            Certainty.HIGH, _NO_ROW, f"{call} is accepted, as only kernels without the pool do"
        )
    if known.seen.insecure == "EINVAL":
        return Statement(
            BlockingModel.BLOCKING_POOL,
            Certainty.HIGH,
            _NO_ROW,
            f"{call} is refused with EINVAL, as kernels with the pool do",
        )
    return None  # EPERM and ENOSYS may be a seccomp filter's answer


def _by_symbols(seen: KernelEvidence) -> Statement | None:
    pool = sorted(seen.symbols & POOL_SYMBOLS)
    if pool:
        return Statement(
            BlockingModel.BLOCKING_POOL,
            Certainty.MEDIUM,
            _NO_ROW,
            f"/proc/kallsyms names {pool[0]}",
        )
    new = sorted(seen.symbols & (NEW_SYMBOLS | {"random_read"}))
    if new:
        return _until(
            Certainty.MEDIUM,
            _NO_ROW,
            f"/proc/kallsyms names {new[0]} and nothing of the blocking pool",
        )
    return None


def _by_text(known: _Known) -> Statement:
    if known.release is None:
        given = known.seen.release[:60]
        reason = f"{given!r} is no kernel release" if given else "nothing of this kernel is known"
        return Statement(BlockingModel.UNKNOWN, Certainty.LOW, 13, reason)
    return by_release(known.release)


def _disagreement(seen: KernelEvidence, said: Statement) -> str:
    """The probe against the files: then one of them is not this kernel's (a mounted /proc, a filter)."""
    if said.row not in (4, 5, 6, 7):
        return ""
    if said.model is BlockingModel.BLOCKING_POOL and seen.insecure == "0":
        return "getrandom accepts GRND_INSECURE, as kernels without the pool do"
    if said.model is BlockingModel.UNTIL_INIT and seen.insecure == "EINVAL":
        return "getrandom refuses GRND_INSECURE, as kernels with the pool do"
    return ""


def _state(known: _Known, said: Statement) -> PoolState:
    if said.model is BlockingModel.NEVER:
        return PoolState.OK
    if said.model is BlockingModel.BLOCKING_POOL:
        return _pool_state(known)
    if said.model is BlockingModel.UNTIL_INIT:
        return _crng_state(known)
    return PoolState.UNKNOWN


def wait_threshold(release: KernelRelease | None, read_wakeup: int | None) -> int:
    """Bits below which a read of the pool that finds nothing cached waits."""
    first = CRNG_FIRST if release is not None and (5, 3) <= release.branch <= (5, 5) else 0
    return max(READ_WAKEUP if read_wakeup is None else read_wakeup, first)


def _pool_state(known: _Known) -> PoolState:
    seen = known.seen
    if seen.entropy_avail is None:
        # The device is readable from read_wakeup_threshold on; how full it is beyond that is not told.
        dry = seen.poll is not None and not seen.poll & POLLIN
        return PoolState.AT_RISK if dry else PoolState.UNKNOWN
    if seen.entropy_avail < wait_threshold(known.release, seen.read_wakeup):
        return PoolState.AT_RISK
    return PoolState.LOW if seen.entropy_avail < LOW else PoolState.OK


def _crng_state(known: _Known) -> PoolState:
    """Ready or not. A low ``entropy_avail`` alone never alarms: 5.6-5.17 run for weeks at 2 bits."""
    seen = known.seen
    if seen.lrng is not None:
        return _lrng_state(seen)
    if seen.poll is not None:
        return PoolState.READY if seen.poll & POLLIN else PoolState.NOT_READY
    full = seen.poolsize == NEW_POOLSIZE and seen.entropy_avail == NEW_POOLSIZE
    if full or crng_ready(seen.messages):
        return PoolState.READY
    return _by_age(known)


def _by_age(known: _Known) -> PoolState:
    seen = known.seen
    if seen.uptime_s is None:
        return PoolState.UNKNOWN
    if seen.uptime_s > BOOT_S:
        return PoolState.UNKNOWN if seen.cycle_counter is False else PoolState.READY
    drains = known.release is not None and drains_at_reseed(known.release)
    counting = seen.poolsize == NEW_POOLSIZE and seen.entropy_avail is not None
    if (counting and not drains) or log_from_boot(seen.messages):
        return PoolState.NOT_READY
    return PoolState.UNKNOWN


def _lrng_state(seen: KernelEvidence) -> PoolState:
    text = seen.lrng or ""
    if "minimally seeded: true" in text or "fully seeded: true" in text:
        return PoolState.READY
    if "fully seeded: false" in text:
        return PoolState.NOT_READY
    late = seen.uptime_s is not None and seen.uptime_s > BOOT_S
    return PoolState.READY if late else PoolState.UNKNOWN


def crng_ready(messages: tuple[str, ...] | None) -> str:
    """The line of the kernel log that says the CRNG is seeded, ``""`` if there is none.

    ``crng init done``, ``crng done (trusting CPU's manufacturer)``, and 4.7's ``nonblocking pool is initialized``; a
    reseeding is only announced once it was seeded. On a kernel with the pool none of them is an all-clear for
    /dev/random.
    """
    signs = ("crng init done", "crng done", "crng reseeded", "nonblocking pool is initialized")
    return next((m for m in messages or () if m.startswith(signs)), "")


def log_from_boot(messages: tuple[str, ...] | None) -> bool:
    """Whether the log still holds the boot: then a line that is not in it was not written."""
    early = ("with crng_init=0", "fast init done", "uninitialized urandom read")
    return any(sign in m for m in messages or () for sign in early)


def daemon_mark(write_wakeup: int | None) -> str:
    """Which daemon has run since boot, by the threshold that it sets on a kernel with the pool; ``""`` if none."""
    return _DAEMON_MARKS.get(write_wakeup or 0, "")


def _feeders(known: _Known) -> list[str]:
    seen, release = known
    found: list[str] = []
    if seen.hwrng and seen.hwrng != "none":
        feeds = release is not None and fed_by_hwrng(release, seen.hwrng, seen.hwrng_quality)
        found.append(f"{seen.hwrng} ({'fed by the kernel' if feeds else 'needs a daemon'})")
    if POOL_SIGN in seen.files and (daemon := daemon_mark(seen.write_wakeup)):
        found.append(f"{daemon} has run since boot (write_wakeup_threshold {seen.write_wakeup})")
    return found


def _special(known: _Known) -> list[str]:
    seen, release = known
    maker = release.maker if release is not None else None
    found = [str(maker)] if maker in (Maker.WSL1, Maker.WSL2) else []
    if _gvisor(known) is not None:
        found.append("gVisor")
    if seen.fips:
        found.append("FIPS mode")
    elif (
        seen.fips is None
        and release is not None
        and has_extrng(release)
        and POOL_SIGN in seen.files
    ):
        found.append("FIPS mode not known: with fips=1 this kernel's /dev/random would not block")
    if seen.lrng is not None:
        found.append("LRNG")
    if seen.container:
        found.append(f"container ({seen.container}): the kernel is the host's")
    return found
