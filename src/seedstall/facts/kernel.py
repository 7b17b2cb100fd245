"""The kernel's random devices: which model they follow, how full the pool is, whether the CRNG is seeded.

`KernelRandom` reads a dozen small files. What costs more (the kernel log, kallsyms, every process's name) is read only
by the facts and in the cases that need it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from seedstall.facts import devices, feeders, host
from seedstall.facts.host import container, first_line, kernel_ref
from seedstall.knowledge import kernel as knowledge
from seedstall.knowledge.kernel import KernelEvidence, crng_ready, decide, waits_for_random
from seedstall.knowledge.release import read_release
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.kernel import (
    BlockingModel,
    CrngState,
    KernelRandom,
    PoolLevel,
    PoolState,
)
from seedstall.model.log import Observations, ServerLog
from seedstall.model.redact import visible
from seedstall.model.tasks import Tasks
from seedstall.parse import kernelfiles
from seedstall.source import probe
from seedstall.source.base import Source

RANDOM_FILES = Ref(Space.KERNEL, "proc/sys/kernel/random", Ask.LIST)
RELEASE = Ref(Space.KERNEL, "proc/sys/kernel/osrelease")
HWRNG = feeders.HWRNG


def _count(source: Source, name: str) -> int | None:
    """A sysctl's number. One that is not a number is as if it could not be had: the other files still decide."""
    reading = source.read(kernel_ref(f"proc/sys/kernel/random/{name}"))
    if not isinstance(reading, Got):
        return None
    try:
        return kernelfiles.count(reading.value)
    except ValueError:
        return None


def kernel_random(
    source: Source, log: ServerLog | None = None, texts: Observations | None = None
) -> KernelRandom:
    """What this kernel's ``/dev/random`` does, by its files, its probe, or its release text alone.

    A Tomcat log tells its host's release ("OS Version"), and a ticket has ``uname -a`` or the values of the kernel's
    files in it: they speak where nothing else does.

    Raises:
        Unavailable: nothing of the kernel could be had.
    """
    seen = _evidence(source)
    told = log.os_release if log is not None and not (seen.release or seen.files) else ""
    if told:
        kernel = decide(seen._replace(release=told))
        return replace(kernel, reason=f"{kernel.reason} (OS Version in the server's log)")
    if not (seen.release or seen.files) and (pasted := _pasted(seen, texts)):
        return pasted
    if not (seen.release or seen.files) and (mapped := _vdso_release(source)):
        # A core's one word on its kernel. Which distribution patched it does not stand there as a rule.
        kernel = decide(seen._replace(release=mapped))
        return replace(kernel, reason=f"{kernel.reason} (the version in the vDSO)")
    kernel = decide(seen)
    if kernel.model is BlockingModel.UNKNOWN or _state_open(kernel):
        seen = _with_log(source, seen)
        kernel = decide(seen)
    if kernel.model is BlockingModel.UNKNOWN:
        seen = seen._replace(symbols=_symbols(source))
        kernel = decide(seen)
    if not (kernel.release or seen.files or seen.release) and kernel.model is BlockingModel.UNKNOWN:
        raise Unavailable(_nothing(source))
    if kernel.model is BlockingModel.BLOCKING_POOL and (name := container(source)):
        kernel = decide(seen._replace(container=name))
    conflict = _conflict(seen, log)
    return replace(kernel, conflict=conflict) if conflict else kernel


_VERSION = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}(?![0-9])")


def _conflict(seen: KernelEvidence, log: ServerLog | None) -> str:
    """What the log says of its host's kernel where only a release was given, and it is of another series.

    Files of the host itself are believed: a log lives longer than the kernel that it was written on.
    """
    if log is None or seen.files or seen.version:
        return ""
    given, told = _VERSION.match(seen.release), _VERSION.match(log.os_release)
    if given is None or told is None or given[0] == told[0]:
        return ""
    return (
        f"the kernel is said to be {visible(seen.release)[:80]}, but the log says OS Version"
        f" {visible(log.os_release)[:80]}: check which kernel it ran on (--kernel)"
    )


def _vdso_release(source: Source) -> str:
    reading = source.read(probe.VDSO)
    if isinstance(reading, Missing):
        return ""
    from seedstall.parse.vdso import vdso  # noqa: PLC0415 - of a core alone

    try:
        return vdso(reading.value).release
    except ValueError:
        return ""


def _nothing(source: Source) -> Missing:
    readings = (source.read(RANDOM_FILES), source.read(RELEASE))
    lost = [r for r in readings if isinstance(r, Missing)]
    why = next((r.why for r in lost if r.why is not Why.NOT_COLLECTED), Why.NOT_COLLECTED)
    return Missing(why, (RANDOM_FILES, RELEASE), "the kernel is not known: say --kernel RELEASE")


def _state_open(kernel: KernelRandom) -> bool:
    return kernel.model is BlockingModel.UNTIL_INIT and kernel.state is PoolState.UNKNOWN


def _evidence(source: Source) -> KernelEvidence:
    files, whole = _files(source)
    poolsize = _count(source, "poolsize")
    current = first_line(source, HWRNG + "rng_current")
    quality = first_line(source, HWRNG + "rng_quality") if current not in ("", "none") else ""
    insecure = source.read(probe.INSECURE)
    pool = knowledge.POOL_SIGN in files
    return KernelEvidence(
        release=first_line(source, RELEASE.path),
        version=first_line(source, "proc/version"),
        files=files,
        whole=whole,
        entropy_avail=_count(source, "entropy_avail"),
        poolsize=poolsize,
        read_wakeup=_count(source, knowledge.POOL_SIGN) if pool else None,
        write_wakeup=_count(source, "write_wakeup_threshold"),
        fips=_fips(source),
        lrng=_lrng(source),
        insecure=insecure.value.decode("ascii", "replace") if isinstance(insecure, Got) else "",
        poll=None if pool else _poll(source),
        hwrng=current[:80],
        hwrng_quality=int(quality) if quality.isdecimal() and len(quality) < 8 else None,  # noqa: PLR2004 - at most 1024
    )


def _files(source: Source) -> tuple[frozenset[str], bool]:
    """The names in ``/proc/sys/kernel/random``, and whether a name that is missing there really is absent."""
    listing = source.read(RANDOM_FILES)
    if isinstance(listing, Got):
        return frozenset(kernelfiles.names(listing.value)), True
    readings = {
        name: source.read(kernel_ref(f"proc/sys/kernel/random/{name}"))
        for name in (*sorted(knowledge.SIBLINGS), knowledge.POOL_SIGN)
    }
    sign = readings[knowledge.POOL_SIGN]
    looked = isinstance(sign, Missing) and sign.why is Why.ABSENT
    return frozenset(n for n, r in readings.items() if isinstance(r, Got)), looked


def _fips(source: Source) -> bool | None:
    reading = source.read(kernel_ref("proc/sys/crypto/fips_enabled"))
    if not isinstance(reading, Got):
        return False if reading.why is Why.ABSENT else None  # absent: built without FIPS
    try:
        return kernelfiles.switch(reading.value)
    except ValueError:
        return None


def _lrng(source: Source) -> str | None:
    reading = source.read(kernel_ref("proc/lrng_type"))
    if isinstance(reading, Got):
        return reading.value[:4096].decode("utf-8", "replace")
    return "" if reading.why is Why.DENIED else None  # it is there, and may not be read


def _poll(source: Source) -> int | None:
    reading = source.read(probe.POLL)
    if not isinstance(reading, Got) or not reading.value[:6].isdigit():
        return None
    return int(reading.value[:6])


def _pasted(seen: KernelEvidence, texts: Observations | None) -> KernelRandom | None:
    """The kernel that the texts of the case speak of, where they speak of one: two releases are two machines."""
    items = texts.items if texts is not None else ()
    releases = {o.text: o for o in items if o.kind == "kernel-release"}
    files = next((o for o in items if o.kind == "read-wakeup"), None)
    if len(releases) > 1 or not (releases or files):
        return None
    told = next(iter(releases.values()), files)
    if told is None:
        return None
    held = {o.kind: o.value for o in items if o.origin == told.origin and o.value is not None}
    kernel = decide(
        seen._replace(
            release=next(iter(releases), ""),
            files=frozenset(("read_wakeup_threshold",) if files is not None else ()),
            whole=False,
            entropy_avail=held.get("entropy-avail"),
            poolsize=held.get("poolsize"),
        )
    )
    if kernel.model is BlockingModel.UNKNOWN:
        return None
    return replace(kernel, reason=f"{kernel.reason} ({told.origin}:{told.line})")


def _with_log(source: Source, seen: KernelEvidence) -> KernelEvidence:
    """What the kernel log, the uptime and the CPU add: asked only where the files leave something open."""
    log = source.read(kernel_ref("dmesg"))
    uptime = _uptime(source)
    return seen._replace(
        messages=_messages(log),
        version=seen.version
        or (kernelfiles.log_release(log.value) if isinstance(log, Got) else ""),
        uptime_s=uptime,
        cycle_counter=_cycle_counter(source) if (uptime or 0) > knowledge.BOOT_S else None,
    )


def _messages(log: Reading[bytes]) -> tuple[str, ...] | None:
    if not isinstance(log, Got):
        return None
    return tuple(m.text for m in kernelfiles.random_messages(log.value))


def _uptime(source: Source) -> float | None:
    reading = source.read(kernel_ref("proc/uptime"))
    try:
        return kernelfiles.uptime_s(reading.value) if isinstance(reading, Got) else None
    except ValueError:
        return None


def _cycle_counter(source: Source) -> bool | None:
    """Whether the CPU has a time stamp counter, without which timer jitter cannot seed the CRNG (x86 only)."""
    reading = source.read(kernel_ref("proc/cpuinfo"))
    flags = kernelfiles.cpu_flags(reading.value) if isinstance(reading, Got) else frozenset[str]()
    return "tsc" in flags if "fpu" in flags else None


def _symbols(source: Source) -> frozenset[str]:
    reading = source.read(kernel_ref("proc/kallsyms"))
    if not isinstance(reading, Got):
        return frozenset()
    return kernelfiles.random_symbols(reading.value, knowledge.SYMBOLS)


def pool_level(_source: Source, kernel: KernelRandom) -> PoolLevel:
    """How full the blocking pool is.

    Raises:
        Unavailable: the model is not known, there is no such pool, or its count was not had.
    """
    count = kernel_ref("proc/sys/kernel/random/entropy_avail")
    if kernel.model is BlockingModel.UNKNOWN:
        raise Unavailable(Missing(Why.NOT_COLLECTED, (RANDOM_FILES,), kernel.reason))
    if kernel.model is not BlockingModel.BLOCKING_POOL:
        raise Unavailable(Missing(Why.ABSENT, (RANDOM_FILES,), "this kernel has no blocking pool"))
    if kernel.entropy_avail is None:
        raise Unavailable(
            Missing(Why.NOT_COLLECTED, (count,), "how full the pool is, is not known")
        )
    threshold = knowledge.wait_threshold(read_release(kernel.release), kernel.read_wakeup)
    return PoolLevel(kernel.entropy_avail, threshold, kernel.state)


def crng_state(source: Source, kernel: KernelRandom, tasks: Tasks | None) -> CrngState:
    """Whether the kernel's generator is seeded: by the probe, a thread that waits, the model's state, the kernel log.

    Raises:
        Unavailable: none of them says so.
    """
    asked = source.read(probe.NONBLOCK)
    uptime = _uptime(source)
    if isinstance(asked, Got) and asked.value in (b"0", b"EAGAIN"):
        text = f"getrandom(0 bytes, GRND_NONBLOCK): {asked.value.decode()}"
        return CrngState(asked.value == b"0", probe.NONBLOCK.path, text, uptime)
    for task in tasks.tasks if tasks is not None else ():
        if task.wchan is not None and waits_for_random(task.wchan) == "crng":
            return CrngState(False, f"task/{task.tid}/wchan", task.wchan, uptime)  # noqa: FBT003 - the first field: ready
    if kernel.model is BlockingModel.NEVER or kernel.state is PoolState.READY:
        return CrngState(True, "the kernel's state", kernel.reason, uptime)  # noqa: FBT003 - the first field: ready
    return _by_log(source, kernel, uptime)


def _by_log(source: Source, kernel: KernelRandom, uptime: float | None) -> CrngState:
    log = source.read(kernel_ref("dmesg"))
    messages = _messages(log)
    if line := crng_ready(messages):
        return CrngState(True, "dmesg", line, uptime)  # noqa: FBT003 - the first field: ready
    if kernel.state is PoolState.NOT_READY:
        text = f"entropy_avail {kernel.entropy_avail}, no line that says the CRNG is ready"
        return CrngState(False, "proc/sys/kernel/random", text, uptime)  # noqa: FBT003 - the first field: ready
    if isinstance(log, Missing):
        raise Unavailable(log)
    if not _tells_seeding(log.value, messages or ()):
        raise Unavailable(
            Missing(Why.TRUNCATED, log.origins, "the log does not reach back to boot")
        )
    last = f"; last: {messages[-1][:120]}" if messages else ""
    text = f"the log, whole since boot, has no line that says the CRNG is seeded{last}"
    return CrngState(False, "dmesg", text, uptime)  # noqa: FBT003 - the first field: ready


def _tells_seeding(log: bytes, messages: tuple[str, ...]) -> bool:
    """Whether the log reaches back to boot, of a kernel that logs its first seeding (3.13+)."""
    if knowledge.log_from_boot(messages):
        return True
    release = read_release(kernelfiles.log_release(log))
    return release is not None and release.at_least(3, 13)


PROVIDERS = (
    kernel_random,
    pool_level,
    crng_state,
    *host.PROVIDERS,
    *feeders.PROVIDERS,
    *devices.PROVIDERS,
)
