"""How fast a pool fills, and how long a read of ``/dev/random`` takes at that rate.

Booted kernels (facts: kernel, section 14): 4.4 and 4.15 hand out 6 bytes for every 64 bits that come in, since what
is moved into the blocking pool is credited at three quarters (commit 30e37ec516ae, 3.13); the counter saws between 0
and 63. 5.4 gives nothing until the CRNG has taken its first 128 bits. With 40 disk interrupts a second 0.6 bit/s came
in and 20 bytes took 324 s (4.15) and 543 s (5.4); on an idle guest nothing came in for 300 s and more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from seedstall.knowledge.kernel import CRNG_FIRST, READ_WAKEUP

SEED_BYTES = 20
"""What SHA1PRNG asks for (a SHA-1 digest's length)."""
MAX_BYTES = 1 << 16

BUSY_RATE = 0.6
"""Bits a second with 40 disk interrupts a second (4.4, 4.15, 5.4 booted)."""
CREDIT = (3, 4)
"""Part of a transfer into the (nearly empty) blocking pool that is credited there."""


class Refill(NamedTuple):
    """Entropy counted over a while: ``gained`` bits in ``seconds``, falls of the counter left out.

    ``first`` and ``last`` are the counter's values; ``taken`` is how often a reader (or the CRNG) emptied it.
    """

    gained: int
    seconds: float
    first: int
    last: int
    taken: int = 0

    @property
    def rate(self) -> float:
        """Bits a second."""
        return self.gained / self.seconds if self.seconds > 0 else 0.0


def measured(samples: Sequence[tuple[float, int]]) -> Refill | None:
    """The refill that (seconds, bits) samples show; ``None`` for fewer than two, or for no time between them.

    A fall means that somebody took entropy between two samples: what came in besides is not known and not counted.
    """
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:  # noqa: PLR2004 - two ends of a span
        return None
    steps = [late[1] - early[1] for early, late in itertools.pairwise(samples)]
    return Refill(
        gained=sum(step for step in steps if step > 0),
        seconds=samples[-1][0] - samples[0][0],
        first=samples[0][1],
        last=samples[-1][1],
        taken=sum(step < 0 for step in steps),
    )


def bits_short(wanted: int, entropy: int, *, crng_first: bool = False) -> int:
    """Bits that have still to come in until *wanted* bytes are read, with *entropy* bits in the pool now.

    *crng_first*: 5.3-5.5 before "crng init done", where the CRNG takes the first 128 bits. What lies in the blocking
    pool already (up to 1024 bits, not visible) can make it less.
    """
    short = 0
    if crng_first:
        short, entropy = max(0, CRNG_FIRST - entropy), 0
    wanted = min(wanted, MAX_BYTES)
    while wanted > 0:
        if entropy < READ_WAKEUP:
            short += READ_WAKEUP - entropy
            entropy = READ_WAKEUP
        moved = min(max(wanted * 8, READ_WAKEUP), entropy)
        wanted -= moved * CREDIT[0] // (CREDIT[1] * 8)
        entropy -= moved
    return short


def wait_ms(wanted: int, entropy: int, rate: float, *, crng_first: bool = False) -> int | None:
    """Milliseconds that a read of *wanted* bytes still takes at *rate* bits a second.

    0 if the pool holds enough; ``None`` at no rate: then there is no end to be told.
    """
    short = bits_short(wanted, entropy, crng_first=crng_first)
    if short == 0:
        return 0
    if rate <= 0 or not math.isfinite(rate):
        return None
    return int(short / rate * 1000)


def wait_at_least_ms(
    wanted: int, entropy: int, refill: Refill, *, crng_first: bool = False
) -> int | None:
    """What can be said where nothing came in: at less than one bit in the time watched it takes longer than this."""
    if refill.gained or refill.seconds <= 0:
        return None
    return wait_ms(wanted, entropy, 1 / refill.seconds, crng_first=crng_first)
