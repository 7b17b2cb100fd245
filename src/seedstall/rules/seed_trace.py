"""What system calls and kernel stacks say of seeding, where no Java stack stands beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from seedstall.knowledge.seeding import right_egd
from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.kernel import KernelRandom
from seedstall.model.log import Observation
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence
from seedstall.rules import seed_remedies as remedies

LONG_MS = 1000
_LATE_MS = 20_000
"""A generator of the kernel's that was seeded so long after boot kept those waiting that needed it before."""
_RANDOM = "/dev/random"
_NO_STACK = "which Java code asks does not stand in a trace: a thread dump shows it"
_ONE_THREAD = "the trace shows one thread only (strace without -f, or one file of -ff): the others are not seen"

Items = tuple[Observation, ...]


def from_trace(items: Items, seeds: SeedEvidence, kernel: KernelRandom | None) -> Iterator[Finding]:
    """The wait that the calls show: one that had not come back, else the longest that had; else what they do not show.

    On a kernel whose own device does not block, a read that a trace or a listing catches may be on its way: that alone
    is a possibility. A read that took long took long on any kernel (a device put in its place).
    """
    calls = [named for o in items if (named := _named(o, items)) is not None]
    waits = [o for o in items if o.kind == "kernel-wait"]
    open_ended = [o for o in calls if o.text == "unfinished"]
    pool = [o for o in waits if o.value]
    if open_ended:
        finding = _stalled(max(open_ended, key=lambda o: o.ms or 0), items)
        passing = (
            kernel is not None
            and kernel.can_block is False
            and not (finding.since_ms or 0) > LONG_MS
        )
        yield replace(finding, confidence=Confidence.POSSIBLE) if passing else finding
    elif pool:
        yield _in_kernel(pool, items, kernel)
    elif slow := _slowest(calls):
        yield _slow(*slow, items)
    elif over := [o for o in items if o.kind == "kernel-wait-over" and o.value]:
        yield _over(over, items)
    else:
        yield from _of_the_crng(items, waits, seeds)


def _named(call: Observation, items: Items) -> Observation | None:
    """A call on the device: by its own word, or by the descriptor that lsof or ls names in the same case."""
    if call.kind == "strace-random-read":
        return call
    if call.kind not in ("strace-read", "proc-read"):
        return None
    same = {o.text for o in items if o.kind == "open-descriptor" and o.value == call.value}
    if same != {_RANDOM}:
        return None
    return replace(call, text="unfinished") if call.kind == "proc-read" else call


def _slowest(calls: list[Observation]) -> tuple[Observation, int] | None:
    """The longest of the calls and what all of its thread took: those of two threads overlap."""
    by_thread: defaultdict[tuple[str, str], list[Observation]] = defaultdict(list)
    for call in calls:
        by_thread[call.origin, call.thread].append(call)
    sums = {key: sum(c.ms or 0 for c in group) for key, group in by_thread.items()}
    worst = max(sums, key=lambda key: sums[key], default=None)
    if worst is None or sums[worst] <= LONG_MS:
        return None
    return max(by_thread[worst], key=lambda c: c.ms or 0), sums[worst]


def _stalled(call: Observation, items: Items) -> Finding:
    waits = f"has waited there for at least {duration(call.ms)}" if call.ms else "waits there"
    sentence = (
        f"the trace ends inside a read of /dev/random: whoever was traced {waits} for random bytes"
        if call.kind != "proc-read"
        else "a thread is inside a read of /dev/random: it waits there for random bytes"
    )
    return Finding(
        message="a read of /dev/random that had not come back",
        sentence=sentence,
        cause=Cause.BLOCKING_SEED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence(call, items)),
        fixes=remedies.egd_fixes(None, None, None),
        notes=(_NO_STACK, right_egd(None).why),
        since_ms=call.ms,
    )


def _in_kernel(waits: list[Observation], items: Items, kernel: KernelRandom | None) -> Finding:
    first = waits[0]
    more = f" ({len(waits)} such places)" if len(waits) > 1 else ""
    return Finding(
        message="a thread in the kernel's wait for entropy",
        sentence=f"a thread waits in the kernel's {first.text}, the reader of /dev/random's pool{more}",
        cause=Cause.BLOCKING_SEED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence(first, items)),
        fixes=(remedies.feeder(kernel), *remedies.egd_fixes(None, None, None)),
        notes=(_NO_STACK, right_egd(None).why),
    )


def _over(waits: list[Observation], items: Items) -> Finding:
    """Of a table of samples: how long one wait took is not said, since several processes may stand in it."""
    first = waits[0]
    rows = f"{len(waits)} rows" if len(waits) > 1 else "a row"
    return Finding(
        message="a thread was in the kernel's wait for entropy, and is no more",
        sentence=f"a thread waited in the kernel's {first.text}, the reader of /dev/random's pool, in {rows} of a"
        " table; its last row shows no wait any more",
        cause=Cause.BLOCKING_SEED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence(first, items)),
        fixes=remedies.egd_fixes(None, None, None),
        notes=(_NO_STACK, right_egd(None).why),
    )


def _slow(worst: Observation, total: int, items: Items) -> Finding:
    size = f" for {worst.value} bytes" if worst.kind == "strace-random-read" and worst.value else ""
    took = (
        f"a read of /dev/random took {duration(worst.ms or 0)}{size}"
        if total == worst.ms
        else f"a thread's reads of /dev/random took {duration(total)}, the longest"
        f" {duration(worst.ms or 0)}{size}"
    )
    return Finding(
        message="a read of /dev/random that took long",
        sentence=f"{took}: whoever was traced waited there for random bytes",
        cause=Cause.BLOCKING_SEED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=tuple(_evidence(worst, items)),
        fixes=remedies.egd_fixes(None, None, None),
        notes=(_NO_STACK, right_egd(None).why),
        cost_ms=total,
    )


def _evidence(first: Observation, items: Items) -> Iterator[Evidence]:
    yield _place(first)
    if first.kind in ("strace-read", "proc-read"):
        named = [o for o in items if o.kind == "open-descriptor" and o.value == first.value]
        yield from map(_place, named[:1])
    yield from map(_place, [o for o in items if o.kind in ("entropy-avail", "feeder-state")][:3])


def _place(seen: Observation) -> Evidence:
    return Evidence(origin=f"{seen.origin}:{seen.line}", excerpt=seen.excerpt)


def _of_the_crng(items: Items, waits: list[Observation], seeds: SeedEvidence) -> Iterator[Finding]:
    """Waits for the kernel's first seeding, and what a trace or a log of the kernel does not decide."""
    long = [o for o in items if o.kind == "strace-getrandom" and (o.ms or 0) > LONG_MS]
    ends = [o for o in items if o.kind == "strace-getrandom" and o.text == "unfinished"]
    if ends or waits:
        yield _crng((ends or waits)[0], Status.STALLED, None)
    elif long:
        worst = max(long, key=lambda o: o.ms or 0)
        yield _crng(worst, Status.SLOW, worst.ms)
    late = [o for o in items if o.kind == "crng-ready" and (o.ms or 0) > _LATE_MS]
    if late and not (ends or waits or long):
        yield _undecided(
            late[0],
            Cause.CRNG_NOT_READY,
            f"the kernel's generator was seeded {duration(late[0].ms or 0)} after boot: what needed it"
            " before waited so long",
            "a service that starts at boot shows it in its own log; on a kernel with a blocking pool /dev/random may"
            " still block after that line",
        )
    one = [o for o in items if o.kind == "strace-one-thread"]
    if one and not (ends or waits or long or seeds.threads):
        yield _undecided(
            one[0], Cause.NONE, _ONE_THREAD, "trace with -f, and -T for what each call took"
        )


def _crng(seen: Observation, status: Status, cost: int | None) -> Finding:
    where = f"in the kernel's {seen.text}" if seen.kind == "kernel-wait" else "in getrandom"
    verb = "waits" if status is Status.STALLED else f"waited {duration(cost or 0)}"
    return Finding(
        message="a wait for the kernel's first seeding",
        sentence=f"a thread {verb} {where}: the kernel's generator was not seeded yet",
        cause=Cause.CRNG_NOT_READY,
        status=status,
        severity=Severity.ERROR if status is Status.STALLED else Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=(_place(seen),),
        notes=("no setting of Java's cures it: the host lacks a source of entropy early at boot",),
        cost_ms=cost,
    )


def _undecided(seen: Observation, cause: Cause, sentence: str, note: str) -> Finding:
    return Finding(
        message=sentence.partition(":")[0],
        sentence=sentence,
        cause=cause,
        status=Status.UNKNOWN,
        severity=Severity.NOTE,
        confidence=Confidence.POSSIBLE,
        evidence=(_place(seen),),
        notes=(note,),
    )
