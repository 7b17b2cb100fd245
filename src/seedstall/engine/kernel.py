"""One host's random devices as a report: what `seedstall kernel` says."""

from __future__ import annotations

from collections.abc import Sequence

from seedstall.engine.case import Case
from seedstall.engine.conclude import fired, rank
from seedstall.engine.diagnosis import case_of
from seedstall.engine.run import run
from seedstall.facts.host import container
from seedstall.knowledge.distributions import feeder_commands
from seedstall.knowledge.kernel import CRNG_FIRST, waits_for_random
from seedstall.knowledge.refill import (
    BUSY_RATE,
    SEED_BYTES,
    Refill,
    bits_short,
    wait_at_least_ms,
    wait_ms,
)
from seedstall.model.evidence import Missing, Ref, Space
from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.kernel import (
    BlockingModel,
    Certainty,
    CrngState,
    DeviceNode,
    Distribution,
    Feeders,
    KernelRandom,
    PoolLevel,
    PoolState,
    RandomDevices,
)
from seedstall.model.record import dataclass
from seedstall.model.report import Report, Verdict
from seedstall.model.rule import Rule
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedWait, read_length
from seedstall.rules.ss103_crng_not_ready import crng_not_ready
from seedstall.rules.ss301_entropy_pool_dry import entropy_pool_dry
from seedstall.rules.ss302_feeder_down import feeder_down
from seedstall.rules.ss303_random_device_replaced import random_device_replaced
from seedstall.source.base import Source

RULES: tuple[Rule[...], ...] = (
    crng_not_ready,
    entropy_pool_dry,
    feeder_down,
    random_device_replaced,
)
ENTROPY = Ref(Space.KERNEL, "proc/sys/kernel/random/entropy_avail")


@dataclass(frozen=True, slots=True)
class KernelCase:
    """The case of one host, kept open so that its pool can be watched before it is reported."""

    source: Source
    case: Case
    target: str

    @property
    def worth_watching(self) -> bool:
        """Whether the pool is one that fills and drains, and is not full."""
        kernel = self.case.value(KernelRandom)
        return kernel is not None and kernel.can_block is True and kernel.state is not PoolState.OK

    def report(self, refill: Refill | None = None) -> Report:
        """The report, with the refill that was measured (`knowledge.refill.measured`) if it was."""
        outcomes = tuple(run(RULES, self.case))
        found = sorted(fired(outcomes), key=lambda item: rank(item[1]), reverse=True)
        return Report(
            target=self.target,
            verdict=_verdict(self.case, found),
            outcomes=outcomes,
            facts={
                "jvm": {},
                "kernel": _facts(self.case, container(self.source), refill),
                "threads": {},
                "logs": {},
            },
        )


def kernel_case(source: Source, target: str) -> KernelCase:
    """Open the case of one host (or one process's, for what waits in it)."""
    return KernelCase(source, case_of(source), target)


def _verdict(case: Case, found: Sequence[tuple[str, Finding]]) -> Verdict:
    reading = case.get(KernelRandom)
    if isinstance(reading, Missing):
        return Verdict(
            status=Status.UNKNOWN,
            cause=Cause.NONE,
            confidence=None,
            sentence=f"nothing of the kernel could be had: {reading.detail or reading.why}",
        )
    kernel = reading.value
    if found and found[0][1].severity >= Severity.WARNING:
        return _of(found)
    if kernel.model is BlockingModel.UNKNOWN:
        return _plain(kernel, Status.UNKNOWN, None, _unknown(kernel))
    if found and found[0][1].status is not Status.CLEAR:
        return _of(found)
    status = (
        Status.AT_RISK if kernel.can_block and kernel.state is PoolState.UNKNOWN else Status.CLEAR
    )
    note = found[0][1] if found else None
    return _plain(kernel, status, _confidence(kernel), _sentence(kernel), note)


def _of(found: Sequence[tuple[str, Finding]]) -> Verdict:
    code, winner = found[0]
    also = dict.fromkeys(f.cause for _, f in found[1:] if f.cause not in (winner.cause, Cause.NONE))
    return Verdict(
        status=winner.status,
        cause=winner.cause,
        confidence=winner.confidence,
        sentence=winner.sentence,
        code=code,
        since_ms=winner.since_ms,
        also=tuple(also),
        finding=winner,
    )


def _plain(
    kernel: KernelRandom,
    status: Status,
    confidence: Confidence | None,
    sentence: str,
    note: Finding | None = None,
) -> Verdict:
    risky = status is Status.AT_RISK and kernel.can_block
    return Verdict(
        status=status,
        cause=Cause.BLOCKING_SEED if risky else Cause.NONE,
        confidence=confidence,
        sentence=sentence,
        finding=note,
    )


def _confidence(kernel: KernelRandom) -> Confidence:
    """As sure as the evidence: files that were looked at confirm, a release text makes it likely."""
    if kernel.certainty is Certainty.LOW:
        return Confidence.POSSIBLE
    if kernel.from_release_only or kernel.certainty is Certainty.MEDIUM:
        return Confidence.LIKELY
    return Confidence.CONFIRMED


def _name(kernel: KernelRandom) -> str:
    return f"/dev/random of {kernel.release}" if kernel.release else "/dev/random of this kernel"


def _unknown(kernel: KernelRandom) -> str:
    return f"whether {_name(kernel)} blocks is not known: {kernel.reason}"


def _sentence(kernel: KernelRandom) -> str:
    if kernel.model is BlockingModel.NEVER:
        return f"{_name(kernel)} never blocks: {kernel.reason}"
    if kernel.model is BlockingModel.UNTIL_INIT:
        ready = ", and it is seeded" if kernel.state is PoolState.READY else ""
        return f"{_name(kernel)} does not block once it is seeded at boot{ready}: {kernel.reason}"
    if kernel.state is PoolState.OK:
        return f"{_name(kernel)} blocks when its entropy pool runs dry; it holds {kernel.entropy_avail} bits now"
    return f"{_name(kernel)} blocks when its entropy pool is dry ({kernel.reason}); how full it is, is not known"


# --- what is told besides, JSON-ready -------------------------------------------------------------------------------


def _facts(case: Case, inside: str, refill: Refill | None) -> dict[str, object]:
    reading = case.get(KernelRandom)
    if isinstance(reading, Missing):
        what = ", ".join(map(str, reading.origins))
        return {"missing": str(reading.why), "what": what, "detail": reading.detail}
    kernel = reading.value
    return {
        "release": kernel.release or None,
        "model": str(kernel.model),
        "certainty": str(kernel.certainty),
        "reason": kernel.reason,
        "row": kernel.row,
        "from_release_only": kernel.from_release_only,
        "state": str(kernel.state),
        "entropy_avail": kernel.entropy_avail,
        "poolsize": kernel.poolsize,
        "read_wakeup_threshold": kernel.read_wakeup,
        "write_wakeup_threshold": kernel.write_wakeup,
        "feeders": list(kernel.feeders),
        "special": list(kernel.special),
        "container": inside or None,
        "crng": _crng(case),
        "daemons": _daemons(case),
        "devices": _devices(case),
        "advice": _advice(case, kernel),
        "refill": _refill(case, refill),
        "waiting": _waiting(case, refill),
    }


def _crng(case: Case) -> dict[str, object] | None:
    crng = case.value(CrngState)
    if crng is None:
        return None
    return {"ready": crng.ready, "told_by": crng.told_by, "excerpt": crng.excerpt}


def _daemons(case: Case) -> dict[str, object]:
    reading = case.get(Feeders)
    if isinstance(reading, Missing):
        return {"missing": str(reading.why), "detail": reading.detail}
    feeders = reading.value
    return {
        "running": [{"name": d.name, "pid": d.pid} for d in feeders.running],
        "installed": [{"name": name, "file": file} for name, file in feeders.installed],
        "has_run": feeders.ran or None,
        "all_processes_seen": feeders.processes_seen,
        "hwrng": feeders.hwrng or None,
        "kernel_feeds_from_it": feeders.self_feeding,
    }


def _devices(case: Case) -> dict[str, object] | None:
    devices = case.value(RandomDevices)
    if devices is None:
        return None
    return {
        "/dev/random": _node(devices.random),
        "/dev/urandom": _node(devices.urandom) if devices.urandom is not None else None,
        "seen": devices.place,
    }


def _node(node: DeviceNode) -> str:
    return f"link to {node.link}: {node.kind}" if node.link else node.kind


def _advice(case: Case, kernel: KernelRandom) -> dict[str, object]:
    distribution = case.value(Distribution)
    advice = feeder_commands(distribution, kernel)
    return {
        "distribution": (distribution.pretty or distribution.id) if distribution else None,
        "distribution_guessed": distribution.guessed if distribution else None,
        "commands": list(advice.commands),
        "useless": advice.useless or None,
        "note": advice.note or None,
        "eol": advice.eol,
        "kernel_update": advice.kernel_update or None,
    }


def _refill(case: Case, refill: Refill | None) -> dict[str, object] | None:
    """What came in while we watched, and how long a seed takes at that rate: only where there is a pool to fill."""
    level = case.value(PoolLevel)
    if level is None:
        return None
    first = _crng_first(case, level)
    bits = refill.last if refill is not None else level.bits
    short = bits_short(SEED_BYTES, bits, crng_first=first)
    told: dict[str, object] = {
        "seed_bytes": SEED_BYTES,
        "bits_short": short,
        "measured_s": None,
        "bits_per_s": None,
        "seed_ms": 0 if not short else None,
        "seed_at_least_ms": None,
        "seed_ms_with_40_interrupts_per_s": wait_ms(SEED_BYTES, bits, BUSY_RATE, crng_first=first),
    }
    if refill is not None:
        told |= {
            "measured_s": round(refill.seconds, 1),
            "bits_per_s": round(refill.rate, 2),
            "bits_gained": refill.gained,
            "times_taken": refill.taken,
            "seed_ms": wait_ms(SEED_BYTES, bits, refill.rate, crng_first=first),
            "seed_at_least_ms": wait_at_least_ms(SEED_BYTES, bits, refill, crng_first=first),
        }
    return told


def _crng_first(case: Case, level: PoolLevel) -> bool:
    """Whether the next 128 bits are the CRNG's (5.3-5.5 before it is seeded)."""
    crng = case.value(CrngState)
    return level.threshold >= CRNG_FIRST and crng is not None and not crng.ready


def _waiting(case: Case, refill: Refill | None) -> list[dict[str, object]]:
    """Threads of the target that wait in the pool now, and how long each still has to."""
    seeds, level = case.value(SeedEvidence), case.value(PoolLevel)
    if seeds is None or level is None:
        return []
    return [_wait(wait, case, level, refill) for wait in seeds.waits[:100] if _in_pool(wait)]


def _in_pool(wait: SeedWait) -> bool:
    task = wait.task
    if task is None:
        return False
    if task.wchan is not None:
        return waits_for_random(task.wchan) == "pool"
    return wait.in_random_read


def _wait(wait: SeedWait, case: Case, level: PoolLevel, refill: Refill | None) -> dict[str, object]:
    left = read_length(wait.task.syscall) if wait.task is not None else None
    first = _crng_first(case, level)
    bits = refill.last if refill is not None else level.bits
    rate = refill.rate if refill is not None else 0.0
    return {
        "name": wait.java.name if wait.java is not None else None,
        "tid": wait.task.tid if wait.task is not None else None,
        "since_ms": wait.since_ms,
        "bytes_left": left,
        "bits_short": bits_short(left, bits, crng_first=first) if left else None,
        "ms_left": wait_ms(left, bits, rate, crng_first=first) if left and rate else None,
        "ms_left_with_40_interrupts_per_s": wait_ms(left, bits, BUSY_RATE, crng_first=first)
        if left
        else None,
    }
