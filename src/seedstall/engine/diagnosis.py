"""One case from source to report: facts on demand, rules, verdict, and the facts worth telling."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from seedstall import facts, rules
from seedstall.engine.case import Case, Known
from seedstall.engine.conclude import conclude, explained
from seedstall.engine.run import run
from seedstall.facts.inputs import InputTexts
from seedstall.model.bundle import Gathering
from seedstall.model.core import CANNOT_TELL, Binaries, CoreDump
from seedstall.model.evidence import Missing
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import JvmProcess, Launch, Product
from seedstall.model.kernel import KernelRandom
from seedstall.model.redact import redact_argv
from seedstall.model.report import Action, Report
from seedstall.model.rule import Rule
from seedstall.model.samples import StartSamples
from seedstall.model.seeding import SeedSource
from seedstall.model.threads import ThreadDumps
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.rules import start_account
from seedstall.source.base import Source


def case_of(source: Source) -> Case:
    """A case that can find every fact."""
    return Case(source, facts.providers())


def diagnose_case(
    source: Source,
    target: str,
    *,
    chosen: Iterable[Rule[...]] | None = None,
    actions: Callable[[], Iterable[Action]] = tuple,
    words: str = "",
    known: Known | None = None,
    detailed: bool = True,
) -> Report:
    """Run the rules over one source. *actions* is asked last: what was done to the target by then.

    Without *detailed* the report lacks facts that no rule wants and the short text does not show.

    *known* are facts of its host that were found already, for another JVM.
    """
    case = Case(source, facts.providers(pages=detailed), known)
    outcomes = tuple(run(rules.ALL if chosen is None else chosen, case))
    return Report(
        target=target,
        words=words,
        verdict=conclude(outcomes, case.value(SeedEvidence)),
        outcomes=outcomes,
        explained=explained(outcomes),
        actions=tuple(actions()),
        facts={
            "jvm": _jvm(case, detailed=detailed),
            "kernel": _kernel(case),
            "threads": _threads(case, detailed=detailed),
            "logs": _logs(case),
            **_core(case),
            **_start(case),
            **_inputs(case),
            **_bundle(case),
            **_timelines(case, detailed=detailed),
        },
    )


def _inputs(case: Case) -> dict[str, object]:
    """What was handed over and could not be read, or not to its end."""
    inputs = case.value(InputTexts)
    unread = [missing.detail or str(missing) for missing in inputs.unread] if inputs else []
    gathering = case.value(Gathering)
    unread += gathering.lacks if gathering is not None else ()
    return {"inputs": {"not_read": unread}} if unread else {}


def _bundle(case: Case) -> dict[str, object]:
    """Of a bundle: who made it, when, and what was done to the target then."""
    gathering = case.value(Gathering)
    if gathering is None or not gathering.head.tool:
        return {}
    head = gathering.head
    told: dict[str, object] = {
        "format": head.version,
        "tool": head.tool,
        "taken": head.taken or None,
        "by_uid": head.others.get("by-uid"),
        "redacted": head.redacted or None,
        "anonymised": head.anonymised,
        "done_to_target": list(head.did),
    }
    return {"bundle": told}


def _missing(reading: Missing) -> dict[str, object]:
    what = ", ".join(map(str, reading.origins))
    return {"missing": str(reading.why), "what": what, "detail": reading.detail}


def _jvm(case: Case, *, detailed: bool) -> dict[str, object]:
    told: dict[str, object] = {}
    jdk = case.get(JdkVersion)
    if isinstance(jdk, Missing):
        told["jdk"] = None
        told["jdk_missing"] = _missing(jdk)
    else:
        told["jdk"] = str(jdk.value)
        told["feature"] = jdk.value.feature
        told["vm"] = str(jdk.value.family)
    if (process := case.value(JvmProcess)) is not None:
        told.update(
            pid=process.pid,
            inner_pid=process.inner_pid,
            uid=process.uid,
            state=process.state,
            age_ms=process.age_ms,
            in_container=process.in_container,
        )
    if (launch := case.value(Launch)) is not None:
        told["main"] = launch.tool or launch.main_class or launch.jar or launch.module
        told["options"] = list(redact_argv([option.text for option in launch.options]))
    if detailed and (found := case.value(Binaries)) is not None:
        told["binaries"] = _binaries(found)
    if (product := case.value(Product)) is not None:
        told["product"] = product.title
    if (source := case.value(SeedSource)) is not None:
        told["seed_source"] = {
            "value": source.value,
            "setting": str(source.setting),
            "place": source.place,
            "assumed": source.assumed,
            "strong_algorithms": source.strong_algorithms,
        }
    return told


def _binaries(found: Binaries) -> dict[str, object]:
    """What the program and its libraries say of themselves; the program's own word on its version is in ``jdk``."""
    vdso = found.vdso
    return {
        "machine": found.machine or None,
        "bits": found.bits,
        "libc": found.libc or None,
        "vm_banner": found.banner or None,
        "vm_vendor": found.vendor or None,
        "native_image": found.native_image,
        "vdso_getrandom": vdso.getrandom if vdso is not None else None,
        "vdso_release": vdso.release if vdso is not None else None,
    }


def _core(case: Case) -> dict[str, object]:
    """Of a core: how it was written, how much of it is there, and what it cannot tell."""
    core = case.value(CoreDump)
    if core is None:
        return {}
    told: dict[str, object] = {
        "file": core.name,
        "written_by": "kernel" if core.by_kernel else "gdb",
        "signal": core.signal,
        "bytes": core.size,
        "bytes_expected": core.expected,
        "cut": core.is_cut,
        "threads": core.threads,
        "libjvm": core.library or None,
        "libjvm_build_id": core.build_id or None,
        "libjvm_refused": core.refused or None,
        "sysroot": core.sysroot,
        "cannot_tell": list(CANNOT_TELL),
    }
    return {"core": told}


def _kernel(case: Case) -> dict[str, object]:
    reading = case.get(KernelRandom)
    if isinstance(reading, Missing):
        return _missing(reading)
    kernel = reading.value
    return {
        "release": kernel.release or None,
        "model": str(kernel.model),
        "certainty": str(kernel.certainty),
        "reason": kernel.reason,
        "state": str(kernel.state),
        "entropy_avail": kernel.entropy_avail,
        "poolsize": kernel.poolsize,
        "feeders": list(kernel.feeders),
        "special": list(kernel.special),
    }


def _timelines(case: Case, *, detailed: bool) -> dict[str, object]:
    if not detailed:
        return {}
    from seedstall.engine import picture  # noqa: PLC0415 - for pages and programs

    return picture.timelines(case)


def _groups(case: Case, *, detailed: bool) -> dict[str, object]:
    if not detailed:
        return {}
    from seedstall.engine import picture  # noqa: PLC0415 - the same

    return picture.threads(case)


def _threads(case: Case, *, detailed: bool) -> dict[str, object]:
    reading = case.get(SeedEvidence)
    if isinstance(reading, Missing):
        return {**_missing(reading), **_groups(case, detailed=detailed)}
    seeds = reading.value
    read = case.value(ThreadDumps)
    return {
        "dumps": seeds.dumps,
        "java_threads": seeds.threads,
        "dumps_read": len(read.dumps) if read is not None else 0,
        "threads_in_dumps": sum(dump.total for dump in read.dumps) if read is not None else 0,
        "kernel_threads": seeds.tasks,
        "waiting_for_seed": [_wait(w) for w in seeds.waits[:100]],
        "queued": [_wait(w) for w in seeds.queued[:100]],
        "not_seen": list(seeds.blind),
        **_groups(case, detailed=detailed),
    }


def _wait(wait: SeedWait) -> dict[str, object]:
    stack, task, java = wait.stack, wait.task, wait.java
    return {
        "name": java.name if java is not None else None,
        "nid": java.nid if java is not None else None,
        "tid": task.tid if task is not None else None,
        "algorithm": str(stack.algorithm) if stack is not None else None,
        "operation": str(stack.operation) if stack is not None else None,
        "role": str(wait.role),
        "caller": (stack.caller or stack.caller_frame or None) if stack is not None else None,
        "device": task.file.path if task is not None and task.file is not None else None,
        "wchan": task.wchan if task is not None else None,
        "since_ms": wait.since_ms,
    }


def _start(case: Case) -> dict[str, object]:
    """Where the time of a watched start went; nothing where none was watched."""
    samples = case.value(StartSamples)
    if samples is None:
        return {}
    return {
        "start": {
            "watched_ms": samples.watched_ms,
            "from_launch": samples.from_start,
            "ended_by": str(samples.ending),
            "exit_code": samples.exit_code,
            "span": start_account.span(samples),
            "samples": samples.samples,
            "interval_ms": samples.interval_ms,
            "cost_of_a_core": round(samples.cost, 4),
            "major_faults": samples.major_faults,
            "read_kib": samples.read_kib,
            "rss_kib": samples.rss_kib,
            "went_to": [
                {
                    "what": share.doing.name.lower().replace("_", "-"),
                    "words": str(share.doing),
                    "ms": share.ms,
                    "thread": share.thread or None,
                    "tid": share.tid,
                    "where": share.where or None,
                    "caller": share.caller or None,
                    "who": start_account.who(share),
                }
                for share in samples.table
            ],
        }
    }


def _logs(case: Case) -> dict[str, object]:
    seeds = case.value(SeedEvidence)
    if seeds is None or seeds.log is None:
        return {}
    return {
        "product": seeds.log.product or None,
        "lines": seeds.log.lines,
        "seeding_ms": [line.took_ms for line in seeds.log.seeding],
        "startup_ms": [line.took_ms for line in seeds.log.starts],
    }
