"""What samples of a start say of waits for random bytes that are over, and what such a wait cost."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.redact import visible
from seedstall.model.samples import Doing, Ending, SampledWait, StartSamples
from seedstall.model.tasks import FileKind, KernelTask, Syscall
from seedstall.model.verdict import Cause, Progress, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies
from seedstall.rules import start_account as start
from seedstall.rules.seed_account import Surroundings

HARMLESS_MS = 1000
"""As for Tomcat's own line: up to a second it is harmless."""


def cost_ms(samples: StartSamples | None) -> int | None:
    """What waiting for random bytes cost the watched start; ``None`` where none was watched from its beginning."""
    if samples is None or not samples.from_start:
        return None
    return samples.ms(Doing.RANDOM)


def startup_ms(samples: StartSamples | None) -> int | None:
    """How long that start took, or takes so far."""
    return samples.watched_ms if samples is not None and samples.from_start else None


def clause(samples: StartSamples | None, wait: SeedWait) -> str:
    """``; 13.2 s of 14.6 s (90 %) from launch on went to it``, and whether it gets on."""
    if samples is None:
        return ""
    cost = cost_ms(samples)
    share = f"; {start.of_whole(samples, cost)} {start.span(samples)} went to it" if cost else ""
    return share + _movement(samples, wait)


def _movement(samples: StartSamples, wait: SeedWait) -> str:
    watched = duration(samples.watched_ms)
    if wait.progress is Progress.STUCK:
        return f"; stuck: it got nothing in the {watched} watched"
    if wait.progress is Progress.PROGRESSING:
        left = ", ".join(map(str, wait.lengths[:8]))
        return f"; it gets on in the {watched} watched: {left} bytes still asked for"
    return ""


def from_samples(seeds: SeedEvidence, around: Surroundings) -> Iterator[Finding]:
    """The waits that the samples saw, where none lasts."""
    samples = seeds.samples
    if samples is None or not samples.waits:
        return
    told = max(samples.waits, key=lambda wait: (not wait.over, wait.ms))
    cost = samples.ms(Doing.RANDOM)
    died = told.ended
    lasts = not told.over and not died
    wait = _joined(told, seeds)
    yield Finding(
        message=f"{account.name_of(wait)} that waited for random bytes",
        sentence=_sentence(samples, told, wait, around, cost=cost, died=died, lasts=lasts),
        cause=Cause.BLOCKING_SEED if died or lasts or cost > HARMLESS_MS else Cause.NONE,
        status=_status(cost, died=died, lasts=lasts),
        severity=_severity(cost, died=died, lasts=lasts),
        confidence=Confidence.CONFIRMED,
        evidence=tuple(_evidence(samples, wait, around)),
        fixes=_fixes(told, wait, around) if wait.stack or cost > HARMLESS_MS else (),
        notes=tuple(filter(None, (_note(told, wait),))),
        explains=(Cause.BLOCKING_SEED, Cause.PRNG_CONTENTION, Cause.INEFFECTIVE_FIX, Cause.WAITING),
        cost_ms=cost_ms(samples),
        startup_ms=startup_ms(samples),
        progress=told.progress if lasts else None,
    )


def _replaced(told: SampledWait) -> bool:
    return told.file is not None and told.file.kind in (FileKind.FIFO, FileKind.REGULAR)


def _fixes(told: SampledWait, wait: SeedWait, around: Surroundings) -> tuple[Fix, ...]:
    """What a program beside the JVM (a script's openssl, a child) waits for is no matter of a JVM's settings."""
    if told.jvm:
        return remedies.for_the_next_start(wait, around)
    return remedies.host_fixes(around, device_replaced=_replaced(told))


def _note(told: SampledWait, wait: SeedWait) -> str:
    if told.jvm:
        return remedies.no_egd_for(wait)
    cure = "give it the kernel's own /dev/random" if _replaced(told) else "feed the host's pool"
    return f"no setting of this JVM reaches that program: {cure}"


def _status(cost: int, *, died: bool, lasts: bool) -> Status:
    if died:
        return Status.ENDED
    if lasts:
        return Status.STALLED
    return Status.SLOW if cost > HARMLESS_MS else Status.CLEAR


def _severity(cost: int, *, died: bool, lasts: bool) -> Severity:
    if died or lasts:
        return Severity.ERROR
    return Severity.WARNING if cost > HARMLESS_MS else Severity.NOTE


def _joined(told: SampledWait, seeds: SeedEvidence) -> SeedWait:
    """The sampled wait with the stack that a dump caught it in."""
    length = told.lengths[-1] if told.lengths else 0
    args = (told.file.fd if told.file is not None else 0, 0, length)
    call = Syscall(-1, told.call, (0, length, 0) if told.call == "getrandom" else args)
    task = KernelTask(
        tid=told.tid, inner_tid=told.inner_tid, comm=told.name, syscall=call, file=told.file
    )
    for seen in (*seeds.waits, *seeds.over):
        if seen.java is not None and seen.java.nid == told.inner_tid and told.jvm:
            return SeedWait(java=seen.java, stack=seen.stack, dump=seen.dump, task=task)
    # The program's own code that reads the device: no frame of its stack says so, the dump's moment does.
    caught = seeds.samples is not None and any(
        s.doing is Doing.RANDOM and s.tid == told.tid and s.frame for s in seeds.samples.table
    )
    main = seeds.main if caught else None
    return SeedWait(task=task, java=main if main and main.nid == told.inner_tid else None)


def _sentence(
    samples: StartSamples,
    told: SampledWait,
    wait: SeedWait,
    around: Surroundings,
    *,
    cost: int,
    died: bool,
    lasts: bool,
) -> str:
    name = account.name_of(wait) if wait.java is not None else f'"{visible(told.name)[:60]}"'
    if not told.jvm:
        name += " (not the JVM)"
    place = (
        f"{told.call or 'read'} of {visible(told.file.path)} (fd {told.file.fd})"
        if told.file
        else told.call
    )
    # Another thread's wait beside a start that went on costs the start nothing.
    spent = start.of_whole(samples, cost or told.ms)
    beside = "" if cost else ", beside a start that went on"
    how = _end(samples) if died else "still waits" if lasts else "went on"
    device = account.device_clause(wait.task)
    why = device or account.kernel_clause(around.kernel)
    harmless = "" if died or lasts or cost > HARMLESS_MS else ": harmless"
    return (
        f"{spent} {start.span(samples)} waiting for random bytes{beside}: {name}"
        f" in {place}{account.reader(wait)}, and {how}{harmless}; {why}"
    )


def _end(samples: StartSamples) -> str:
    """How a program ended that waited when it was last seen: ``timeout 60 java ...`` exits with 124 by itself."""
    if samples.ending is Ending.KILLED:
        return "was ended while it waited"
    return "was last seen waiting when it ended"


def _evidence(samples: StartSamples, wait: SeedWait, around: Surroundings) -> Iterator[Evidence]:
    yield from start.evidence(samples, Doing.RANDOM)
    for told in samples.waits[:3]:
        lengths = (
            f", asked for {', '.join(map(str, told.lengths[:12]))} bytes" if told.lengths else ""
        )
        times = f" in {told.count} waits" if told.count > 1 else ""
        name = visible(told.name)[:60]
        # Of another program than the JVM the thread's own folder is the one that is known.
        where = f"{around.pid or 'PID'}/task/{told.tid}" if told.jvm else told.tid
        yield Evidence(
            origin=f"/proc/{where}/syscall",
            excerpt=f'"{name}" {told.call} for {duration(told.ms)}{times}{lengths}',
        )
    if wait.java is not None and wait.dump is not None:
        yield from account.evidence_of(
            SeedWait(java=wait.java, stack=wait.stack, dump=wait.dump), around.pid
        )
    yield from account.kernel_evidence(around)
    yield from account.source_evidence(around)
