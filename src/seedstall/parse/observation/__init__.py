"""Measurements that stand in mails, tickets and posts: what programs printed that look at the machine or the process.

Nothing is inferred: each observation is a figure or a state that the text gives for a machine, with its line. Advice
("256 means a new kernel", "should be above 1000"), commands without their output and releases named as a boundary
("before 5.6.0") are none. One module a subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from seedstall.model.log import Observation, Observations
from seedstall.parse.observation import (
    counts,
    descriptors,
    devices,
    kernellog,
    said,
    strace,
    threads,
    timing,
)
from seedstall.parse.observation.seen import Seen, whole_line
from seedstall.parse.text import Input, Lines, ends, plain

Kind = Callable[[bytes], Iterable[Seen]]

_EVERYWHERE: Final[tuple[Kind, ...]] = (
    counts.counts,
    said.threaded,
    said.releases,
    said.programs,
    said.benchmark,
    said.netty,
)
_WHERE_TOLD: Final[tuple[tuple[tuple[bytes, ...], Kind], ...]] = (
    ((b"/dev/",), devices.dd),
    ((b"/dev/",), devices.tables),
    ((b"/dev/",), descriptors.opened),
    ((b"/dev/random", b"getrandom(", b"<unfinished", b"resumed>", b") = "), strace.traced),
    ((b"random_read", b"wait_for_random", b"crng_wait", b"getrandom"), threads.waiting),
    ((b" 0x",), threads.calls),
    ((b"/proc/sys/kernel/random",), counts.listed),
    ((b"random: ",), kernellog.messages),
    ((b".service", b"entropy source", b"RNG device", b"haveged"), kernellog.feeders),
    ((b"real", b"user ", b"Elapsed (wall"), timing.timed),
    ((b"nr_periods",), timing.throttled),
)
"""What programs print that look at the machine, and the words it has: in a long text it is looked for where they stand
near one of its ends, since a search of 200 MB for each of thirty words takes longer than all else."""
_SHORT: Final = 4 << 20


def _told(data: bytes, words: tuple[bytes, ...]) -> bool:
    sample = data if len(data) <= _SHORT else ends(data)
    return any(word in sample for word in words)


def observations(data: Input, origin: str) -> Observations:
    """Find the measurements in *data*, in its order; empty where there are none. Never raises."""
    text = plain(data)
    kinds = (*_EVERYWHERE, *(kind for words, kind in _WHERE_TOLD if _told(text.data, words)))
    found = sorted((seen for kind in kinds for seen in kind(text.data)), key=lambda s: s.offset)
    lines = Lines(text)
    return Observations(
        tuple(
            Observation(
                seen.kind,
                origin,
                lines.at(seen.offset),
                whole_line(text.data, seen.offset),
                seen.value,
                seen.ms,
                seen.text,
                seen.thread,
            )
            for seen in found
        )
    )
