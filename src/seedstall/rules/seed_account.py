"""What the seeding rules say of a wait: its clauses, and its evidence with the place of each piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seedstall.knowledge.callers import is_jdk
from seedstall.knowledge.syscalls import READS
from seedstall.model.core import CoreDump
from seedstall.model.duration import duration
from seedstall.model.finding import Evidence
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.kernel import (
    BlockingModel,
    Distribution,
    KernelRandom,
    Machine,
    PoolState,
)
from seedstall.model.record import dataclass
from seedstall.model.redact import visible
from seedstall.model.security import FipsSetup
from seedstall.model.seeding import Algorithm, Device, Operation, SeedRole, SeedSource, SeedStack
from seedstall.model.tasks import UNOPENED, FileKind, KernelTask, Syscall
from seedstall.model.waits import SeedWait
from seedstall.parse.wrappers import SHELLS


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known beside the wait itself; each may be missing."""

    kernel: KernelRandom | None = None
    source: SeedSource | None = None
    jdk: JdkVersion | None = None
    product: Product | None = None
    pid: int | None = None
    distribution: Distribution | None = None
    core: CoreDump | None = None
    machine: Machine | None = None
    fips: FipsSetup | None = None
    in_container: bool = False
    live: bool = False
    """Whether ``pid`` is a process of this very host, which can still be saved or freed."""


SHOWN_FRAMES = 12


def name_of(wait: SeedWait) -> str:
    """The thread's name, fit for a terminal and for one line."""
    return visible(wait.name)[:80]


def since(wait: SeedWait) -> str:
    """``has waited at least 3 min 5 s`` or ``waits``."""
    return f"has waited at least {duration(wait.since_ms)}" if wait.since_ms else "waits"


def purpose(stack: SeedStack | None) -> str:
    """`` to seed SHA1PRNG for Tomcat session ids``: what the bytes are for, from the stack."""
    if stack is None:
        return ""
    if stack.operation is Operation.GENERATE_SEED:
        what = f" in {engine(stack)}.generateSeed"
    elif stack.algorithm in (Algorithm.SHA1PRNG, Algorithm.DRBG):
        what = f" to seed {engine(stack)}"
    else:
        what = f" for the first bytes of {engine(stack)}"
    caller = stack.caller or (f"{stack.caller_frame}" if stack.caller_frame else "")
    return what + (f" for {visible(caller)[:120]}" if caller else "")


def own_frame(wait: SeedWait) -> str:
    """The program's own frame nearest to a read that no generator makes; ``""`` where none is seen."""
    frames = wait.java.frames if wait.java is not None else ()
    return next((f.name for f in frames if not is_jdk(f.class_name)), "")


def reader(wait: SeedWait) -> str:
    """What the bytes are for: the generator's purpose, or the program's own code that reads the device."""
    if wait.stack is not None or not own_frame(wait):
        return purpose(wait.stack)
    return f" for {visible(own_frame(wait))[:120]}, which reads the device itself"


def engine(stack: SeedStack) -> str:
    """The generator's name, or the class that tells where it is not the JDK's own."""
    if stack.algorithm is not Algorithm.OTHER:
        return str(stack.algorithm)
    return visible(stack.seed_frame.rpartition(".")[0] or "a generator")


def place_of(wait: SeedWait, expected: Device, source: SeedSource | None) -> str:
    """``in read of /dev/random (fd 22, 20 bytes)``: where it waits, as exactly as was seen."""
    task = wait.task
    if task is not None and wait.in_random_read:
        return f"in {_call(task)}"
    if wait.stack is not None and wait.stack.role is SeedRole.THREADED:
        return "for the JDK's threaded seeder (no device is read)"
    if wait.stack is not None and wait.stack.network:
        return "for its seed URL, over the network"
    device = str(expected) if expected in (Device.RANDOM, Device.URANDOM) else ""
    if expected is Device.OTHER and source is not None:
        device = visible(source.value)[:80]
    return f"in the read of {device or 'its seed source'}"


def _call(task: KernelTask) -> str:
    call = task.syscall
    if call is not None and call.name == "getrandom":
        return f"getrandom({call.args[1]} bytes)"
    if task.file is not None and task.file.fd == UNOPENED:
        return f"the opening of {visible(task.file.path)}"
    if task.file is not None:
        length = _length(call)
        return f"{call.name if call else 'read'} of {visible(task.file.path)} (fd {task.file.fd}{length})"
    return f"the kernel's {task.wchan}"


def _length(call: Syscall | None) -> str:
    """How many bytes a read asks for."""
    if call is None or call.name not in READS or len(call.args) < 3:  # noqa: PLR2004 - the third is the length
        return ""
    return f", {call.args[2]} bytes"


def kernel_clause(kernel: KernelRandom | None) -> str:
    """Why the device does or does not block on this kernel, in a clause."""
    if kernel is None or kernel.model is BlockingModel.UNKNOWN:
        return "whether this kernel's /dev/random blocks is not known (say --kernel RELEASE)"
    if kernel.model is BlockingModel.BLOCKING_POOL:
        bits = "" if kernel.entropy_avail is None else f", {kernel.entropy_avail} bits now"
        return f"this kernel's /dev/random blocks (blocking pool{bits})"
    if kernel.model is BlockingModel.NEVER:
        return "this kernel's own /dev/random never blocks"
    if kernel.state is PoolState.NOT_READY:
        return "this kernel's generator is not seeded yet"
    return "this kernel's own /dev/random blocks only until it is seeded at boot"


def device_clause(task: KernelTask | None) -> str:
    """What the descriptor really is, where it is not the kernel's device."""
    file = task.file if task is not None else None
    if file is None or file.kind in (FileKind.RANDOM, FileKind.URANDOM, FileKind.UNKNOWN):
        return ""
    if not file.is_device:
        return f"but {visible(file.path)}, the seed source that was set, is a {file.kind}, no random device"
    return f"but {visible(file.path)} here is a {file.kind}, not the kernel's device"


def evidence_of(
    wait: SeedWait, pid: int | None, core: CoreDump | None = None
) -> Iterator[Evidence]:
    """Everything that was seen of one wait, with its place."""
    if wait.task is not None and core is not None:
        yield from _core_evidence(wait.task, core)
    elif wait.task is not None:
        yield from _task_evidence(wait, wait.task, pid)
    if wait.java is not None and wait.dump is not None:
        yield from _stack_evidence(wait)


def _task_evidence(wait: SeedWait, task: KernelTask, pid: int | None) -> Iterator[Evidence]:
    where = f"/proc/{pid or 'PID'}/task/{task.tid}"
    if task.syscall is not None:
        args = " ".join(f"{a:#x}" for a in task.syscall.args[:3])
        name = task.syscall.name or f"system call {task.syscall.number}"
        yield Evidence(origin=f"{where}/syscall", excerpt=f"{name} {args}, state {task.state}")
    if task.file is not None and task.file.fd != UNOPENED:
        device = f", {task.file.kind}" if task.file.kind is not FileKind.UNKNOWN else ""
        number = f" {task.file.rdev[0]}:{task.file.rdev[1]}" if task.file.rdev else ""
        yield Evidence(
            origin=f"/proc/{pid or 'PID'}/fd/{task.file.fd}",
            excerpt=f"{visible(task.file.path)}{device}{number}",
        )
    if task.wchan is not None:
        yield Evidence(origin=f"{where}/wchan", excerpt=visible(task.wchan))
    if wait.since_ms is not None and wait.since_from.startswith("task/"):
        origin = f"/proc/{pid or 'PID'}/{wait.since_from}"
        yield Evidence(origin=origin, excerpt=f"it last ran {duration(wait.since_ms)} ago")


def _core_evidence(task: KernelTask, core: CoreDump) -> Iterator[Evidence]:
    """What a core's registers show, and the Java object that the thread reads through."""
    where = f"{visible(core.name)}: thread {task.tid}"
    if task.syscall is not None:
        args = " ".join(f"{a:#x}" for a in task.syscall.args[:3])
        name = task.syscall.name or f"system call {task.syscall.number}"
        asleep = ", broken off in its sleep" if task.asleep else ""
        yield Evidence(origin=where, excerpt=f"{name} {args}{asleep}")
    if task.file is not None:
        path = visible(task.file.path)
        yield Evidence(
            origin=where, excerpt=f"fd {task.file.fd} is {path}, by the Java object it reads"
        )


def child_evidence(task: KernelTask) -> Iterator[Evidence]:
    """What the kernel shows of a child process's wait."""
    where = f"/proc/{task.pid or task.tid}"
    if task.pid not in (None, task.tid):
        where += f"/task/{task.tid}"
    if task.syscall is not None:
        yield Evidence(origin=f"{where}/syscall", excerpt=f"{_call(task)}, state {task.state}")
    if task.wchan is not None:
        yield Evidence(origin=f"{where}/wchan", excerpt=visible(task.wchan))


def script_name(argv: Sequence[str]) -> str:
    """What a script is called by people: the file that the shell reads, ``sh -c ...``, else the program."""
    program = argv[0].rpartition("/")[2].lstrip("-") if argv else ""
    if program not in SHELLS:
        return program or "it"
    for word in argv[1:]:
        if word.startswith("-") and "c" in word[1:]:
            return f"{program} -c"
        if not word.startswith(("-", "+")):
            return word.rpartition("/")[2] or program
    return program


def _stack_evidence(wait: SeedWait) -> Iterator[Evidence]:
    java, dump = wait.java, wait.dump
    if java is None or dump is None:
        return
    place = f"{dump.origin}:{java.line}" if java.line else dump.origin
    nid = f" nid={java.nid:#x}" if java.nid is not None else ""
    used = ""
    if java.cpu_ms is not None and java.elapsed_ms is not None:
        used = f", {duration(java.cpu_ms)} of CPU in {duration(java.elapsed_ms)}"
    head = f"{name_of(wait)}{nid} {java.state or 'state not shown'}{used}"
    if wait.dumps_seen > 1:
        head += f", {_stay(wait)}"
    yield Evidence(origin=place, excerpt="\n".join((head, *_frames(wait))))


def _stay(wait: SeedWait) -> str:
    """``in place in 3 of 3 dumps over 20.0 s, CPU 0.0 s``: what a series of dumps says of one thread."""
    words = f"in place in {wait.dumps_seen} of {max(wait.dumps, wait.dumps_seen)} dumps"
    if wait.over_ms is None:
        return words
    words += f" over {duration(wait.over_ms)}"
    if wait.cpu_between_ms is None:
        return words
    left = "" if wait.since_ms else ": it may have left and come back"
    return f"{words}, CPU {wait.cpu_between_ms / 1000:.1f} s{left}"


def _frames(wait: SeedWait) -> Iterator[str]:
    """The frames that matter: the seed read and its caller, what lies between them left out if long."""
    frames = wait.java.frames if wait.java is not None else ()
    caller = wait.stack.caller_frame if wait.stack is not None else own_frame(wait)
    at = next((i for i, f in enumerate(frames) if f.name == caller), len(frames))
    for frame in frames[: min(SHOWN_FRAMES, at + 1)]:
        yield f"  at {visible(frame.name)[:160]}"
    if at >= SHOWN_FRAMES and at < len(frames):
        yield f"  ... {at - SHOWN_FRAMES} more"
        yield f"  at {visible(frames[at].name)[:160]}"


def kernel_evidence(around: Surroundings) -> Iterator[Evidence]:
    """What the kernel's own files or its release say."""
    if around.kernel is not None:
        release = f"{around.kernel.release}: " if around.kernel.release else ""
        yield Evidence(origin="kernel", excerpt=f"{release}{around.kernel.reason}")


def source_evidence(around: Surroundings) -> Iterator[Evidence]:
    """The effective seed source, with the place that set it."""
    if around.source is not None:
        assumed = " (assumed: the shipped default)" if around.source.assumed else ""
        yield Evidence(
            origin=around.source.place, excerpt=f"seed source {around.source.value!r}{assumed}"
        )
