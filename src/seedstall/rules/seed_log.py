"""What a server log and a measured read of the device say of seeding: the findings that need no thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.knowledge.seeding import right_egd
from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.kernel import KernelRandom
from seedstall.model.log import BeginLine, Observation, Run, SeedingLine, ServerLog, StartLine
from seedstall.model.redact import visible
from seedstall.model.seeding import SeedRole
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies
from seedstall.rules.seed_account import Surroundings

HARMLESS_MS = 1000
"""Tomcat prints its line above 100 ms; up to a second it is harmless."""
THREADED_SHA1_MS = range(4_900, 5_900)
THREADED_DRBG_MS = range(7_900, 9_100)
"""What the threaded seeder costs (measured 5.0-5.8 s and 8.0-8.7 s): such a line may be either."""
SLOW_DD_MS = 1000


def slow_lines(log: ServerLog | None) -> list[SeedingLine]:
    """The seeding lines above a second."""
    return [line for line in log.seeding if line.took_ms > HARMLESS_MS] if log is not None else []


def cost_ms(log: ServerLog | None) -> int | None:
    """The longest seeding line: concurrent ones overlap, so the maximum counts and not the sum."""
    return max((line.took_ms for line in log.seeding), default=None) if log is not None else None


def startup_ms(log: ServerLog | None) -> int | None:
    """The last start the log tells."""
    return (log.starts[-1].took_ms or None) if log is not None and log.starts else None


def from_log(
    seeds: SeedEvidence, around: Surroundings, caught: list[SeedWait]
) -> Iterator[Finding]:
    """What the last start of each log lost to seeding; where it was well, what an earlier one lost.

    *caught* are threads that the same text shows in the seed read: the wait is over, and they prove what it was.
    """
    log = seeds.log
    yield from _told_by_netty(seeds)
    if log is None:
        return
    unfinished = log.unfinished
    seen = bool(seeds.threads or (seeds.tasks and seeds.syscalls_seen))
    if unfinished is not None and not seen and not any(map(_slow_run, log.last_runs())):
        yield _breaks_off(unfinished, log)
        return
    if not log.seeding or _is_threaded(seeds, around):
        return
    told = log.runs()
    now = max(log.last_runs(), key=_cost)
    before = max(told, key=_cost)
    if _cost(now) > HARMLESS_MS:
        yield _slow(now, log, around, caught)
    elif _cost(before) > HARMLESS_MS and before.worst is not None:
        yield _earlier(now, before, before.worst)
    elif now.worst is not None:
        yield _harmless(now.worst, now.start)


def _slow_run(run: Run) -> bool:
    return _cost(run) > HARMLESS_MS


def _breaks_off(begin: BeginLine, log: ServerLog) -> Finding:
    """The last start has no end in the log: it hangs, or the log was cut, and only the first is a stall.

    Tomcat seeds its session ids right after it scanned the application's jars, and says so only when it is done: a
    Tomcat that hangs there shows the scan's hint as its last line.
    """
    last = log.last_line
    scanned = last is not None and any(
        word in last[2] for word in ("TldScanner", "TldConfig", "TldLocationsCache")
    )
    where = f' (its last line is {last[0]}:{last[1]}: "{visible(last[2])[:160]}")' if last else ""
    silent = (
        ": Tomcat seeds its session ids right there and is silent until that is done, so it may wait for random bytes"
        if scanned
        else ""
    )
    lines = [Evidence(origin=f"{begin.origin}:{begin.line}", excerpt=begin.excerpt)]
    if last is not None:
        lines.append(Evidence(origin=f"{last[0]}:{last[1]}", excerpt=last[2]))
    return Finding(
        message="a start that the log does not see to its end",
        sentence=f"the last start in the log has no end{where}{silent}",
        cause=Cause.BLOCKING_SEED if scanned else Cause.NONE,
        status=Status.UNKNOWN,
        severity=Severity.NOTE,
        confidence=Confidence.POSSIBLE,
        evidence=tuple(lines),
        notes=(
            "whether it hangs there or the log was cut does not stand here: diagnose its PID, or a dump of it",
        ),
    )


def _told_by_netty(seeds: SeedEvidence) -> Iterator[Finding]:
    """Netty's ``ThreadLocalRandom`` gave up waiting for its seed after 3 s (4.0 and 4.1) and went on without.

    It is a limit of wall-clock time: a full heap and a CPU limit trip it too, so it proves nothing by itself.
    """
    items = seeds.observations.items if seeds.observations is not None else ()
    late = [o for o in items if o.kind == "netty-seed-late"]
    if late:
        first = late[0]
        yield Finding(
            message="a seed that Netty did not get within its time",
            sentence=(
                f"Netty waited {first.value or 3} s for a seed and went on without ({first.origin}:{first.line}):"
                " a slow seed source, a full heap or a starved CPU"
            ),
            cause=Cause.BLOCKING_SEED,
            status=Status.UNKNOWN,
            severity=Severity.NOTE,
            confidence=Confidence.POSSIBLE,
            evidence=(Evidence(origin=f"{first.origin}:{first.line}", excerpt=first.excerpt),),
            notes=(
                "the limit is one of wall-clock time: long collections and a throttled CPU trip it as well",
            ),
            cost_ms=1000 * (first.value or 3),
        )


def _cost(run: Run) -> int:
    return run.worst.took_ms if run.worst is not None else 0


def _earlier(now: Run, before: Run, line: SeedingLine) -> Finding:
    well = f"took {duration(now.start.took_ms)}" if now.start is not None else "was well"
    return Finding(
        message=f"an earlier start that lost {duration(line.took_ms)} to seeding",
        sentence=(
            f"the last start in the log {well}; an earlier one lost {duration(line.took_ms)} to seeding"
            f" ({line.origin}:{line.line})"
        ),
        cause=Cause.NONE,
        status=Status.CLEAR,
        severity=Severity.NOTE,
        confidence=Confidence.CONFIRMED,
        evidence=(*_lines(line, before.start), *_lines(now.worst, now.start)),
        cost_ms=now.worst.took_ms if now.worst is not None else None,
        startup_ms=now.start.took_ms if now.start is not None else None,
    )


def _harmless(line: SeedingLine, start: StartLine | None) -> Finding:
    return Finding(
        message=f"a SecureRandom seeded in {duration(line.took_ms)}",
        sentence=f"{_what(line, start)}: harmless",
        cause=Cause.NONE,
        status=Status.CLEAR,
        severity=Severity.NOTE,
        confidence=Confidence.CONFIRMED,
        evidence=tuple(_lines(line, start)),
        fixes=(remedies.nothing("a seeding of up to a second is no reason to change anything"),),
        cost_ms=line.took_ms,
        startup_ms=start.took_ms if start is not None else None,
    )


def _slow(run: Run, log: ServerLog, around: Surroundings, caught: list[SeedWait]) -> Finding:
    line = max(run.seeding, key=lambda entry: entry.took_ms)
    # A start line that is shorter than its seeding belongs to another start.
    start = run.start if run.start is not None and run.start.took_ms >= line.took_ms else None
    ambiguous = line.took_ms in THREADED_SHA1_MS or line.took_ms in THREADED_DRBG_MS
    either = ambiguous and not caught and (around.source is None or around.source.assumed)
    evidence = list(_lines(line, start))
    for wait in caught[:1]:
        evidence.extend(account.evidence_of(wait, None))
    evidence.extend(account.kernel_evidence(around))
    either_clause = ": a dripping /dev/random, or the threaded seeder after a bad seed URL"
    elsewhere = around.kernel is not None and around.kernel.can_block is False and not caught
    doubt = (
        "; yet this kernel's own /dev/random does not block after boot"
        if elsewhere and not either
        else ""
    )
    known = replace(around, product=around.product or remedies.product_of(log))
    return Finding(
        message=f"a SecureRandom that took {duration(line.took_ms)} to seed",
        sentence=_what(line, start) + (either_clause if either else doubt),
        cause=Cause.BLOCKING_SEED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=_confidence(around, caught, either=either),
        evidence=tuple(evidence),
        fixes=remedies.for_the_next_start(caught[0] if caught else None, known),
        notes=tuple(_notes(around, either=either)),
        cost_ms=line.took_ms,
        startup_ms=start.took_ms if start is not None else None,
    )


def _lines(line: SeedingLine | None, start: StartLine | None) -> Iterator[Evidence]:
    if line is not None:
        yield Evidence(origin=f"{line.origin}:{line.line}", excerpt=line.excerpt)
    if start is not None:
        yield Evidence(origin=f"{start.origin}:{start.line}", excerpt=start.excerpt)


def _what(line: SeedingLine, start: StartLine | None) -> str:
    algorithm = line.algorithm or "its generator"
    what = f"seeding {algorithm} for Tomcat session ids took {duration(line.took_ms)}"
    if start is None or not start.took_ms:
        return what
    share = min(1.0, line.took_ms / start.took_ms)
    return f"{what} of a start of {duration(start.took_ms)} ({share:.0%})"


def threaded_seeder_told(seeds: SeedEvidence) -> Observation | None:
    """The piece of text that names the threaded seeder: Tomcat's warning of its threads, or the JDK's own trace."""
    items = seeds.observations.items if seeds.observations is not None else ()
    return next((o for o in items if o.kind == "threaded-seeder"), None)


def _is_threaded(seeds: SeedEvidence, around: Surroundings) -> bool:
    """Whether SS102 speaks of this line: a dump or the text shows the threaded seeder, or the URL has no scheme."""
    if any(w.role is SeedRole.THREADED for w in seeds.waits) or threaded_seeder_told(seeds):
        return True
    return around.source is not None and ":" not in around.source.value


def _confidence(around: Surroundings, caught: list[SeedWait], *, either: bool) -> Confidence:
    kernel = around.kernel
    if remedies.set_already(around) and not caught:
        return Confidence.POSSIBLE
    witness = kernel is not None and kernel.can_block and not kernel.conflict
    if caught or (witness and not either):
        return Confidence.CONFIRMED
    if either or (kernel is not None and kernel.can_block is False):
        return Confidence.POSSIBLE
    return Confidence.LIKELY


def _notes(around: Surroundings, *, either: bool) -> Iterator[str]:
    if either:
        yield (
            "which of the two it is, a thread dump during the start, the egd value (--egd) or the device decides:"
            " the threaded seeder always takes about 5.0-5.8 s (SHA1PRNG) or 8.0-8.7 s (DRBG)"
        )
    if around.kernel is None:
        yield 'the kernel does not stand in the evidence: say --kernel "$(uname -r)" of that host'
    elif around.kernel.conflict:
        yield around.kernel.conflict
    elif around.kernel.can_block is False:
        yield (
            "on this kernel /dev/random does not block after boot: look for a replaced device, an early boot, or a bad"
            " seed URL before you blame entropy"
        )
    yield remedies.set_already(around) or right_egd(around.jdk).why


def is_dry(observation: Observation) -> bool:
    """Whether it is a read of the device itself that stood still: below a byte a millisecond, for over a second.

    10 MB in 1.2 s is a slow machine and no dry pool.
    """
    took, size = observation.ms or 0, observation.value
    return observation.kind == "dd-random" and took > SLOW_DD_MS and (size is None or size < took)


def from_measurements(seeds: SeedEvidence, kernel: KernelRandom | None = None) -> Iterator[Finding]:
    """What was measured without a thread dump: reads of the device that stood still, by ``dd``, a trace, the kernel."""
    items = seeds.observations.items if seeds.observations is not None else ()
    if not items or slow_lines(seeds.log):
        return
    from seedstall.rules import seed_trace  # noqa: PLC0415 - only where something was measured

    slow = [o for o in items if is_dry(o)]
    if slow:
        yield _dry(slow, items, kernel)
    else:
        yield from seed_trace.from_trace(items, seeds, kernel)


def _dry(
    slow: list[Observation], items: tuple[Observation, ...], kernel: KernelRandom | None
) -> Finding:
    worst = max(slow, key=lambda o: o.ms or 0)
    counts = [o for o in items if o.kind == "entropy-avail" and o.value is not None]
    daemons = [o for o in items if o.kind == "feeder-state"]
    bits = f", entropy_avail {counts[0].value}" if counts else ""
    size = f"{worst.value} bytes" if worst.value is not None else "a read"
    return Finding(
        message="a dry /dev/random",
        sentence=(
            f"/dev/random is dry: {size} took {duration(worst.ms or 0)}{bits};"
            " a Java program that seeds from it waits as long"
        ),
        cause=Cause.BLOCKING_SEED,
        status=Status.SLOW,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        evidence=tuple(
            Evidence(origin=f"{o.origin}:{o.line}", excerpt=o.excerpt)
            for o in (*slow, *counts[:2], *daemons[:2])
        ),
        fixes=(remedies.feeder(kernel), *remedies.egd_fixes(None, None, None)),
        notes=(
            *(f"{o.text}: it feeds nothing" for o in daemons[:1] if not o.value),
            "no thread or log of the Java program stands here: a thread dump or its log would confirm it",
            right_egd(None).why,
        ),
    )
