"""Facts made by hand: what rules and renderers are tested on without a machine."""

from __future__ import annotations

from seedstall.model.jdk import JdkVersion
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom, PoolState
from seedstall.model.log import SeedingLine, ServerLog, StartLine
from seedstall.model.seeding import (
    Algorithm,
    Operation,
    SeedRole,
    SeedSetting,
    SeedSource,
    SeedStack,
)
from seedstall.model.tasks import FileKind, KernelTask, OpenFile, Syscall
from seedstall.model.threads import Frame, JavaThread, ThreadDump
from seedstall.model.waits import SeedEvidence, SeedWait

JDK8 = JdkVersion(8, 151, "1.8.0_151")
JDK7 = JdkVersion(7, 80, "1.7.0_80")
JDK17 = JdkVersion(17, 15, "17.0.15")
POOL = KernelRandom(
    model=BlockingModel.BLOCKING_POOL,
    certainty=Certainty.HIGH,
    reason="read_wakeup_threshold is there",
    state=PoolState.AT_RISK,
    release="3.10.0-957.el7",
    entropy_avail=12,
)
NO_POOL = KernelRandom(
    model=BlockingModel.UNTIL_INIT,
    certainty=Certainty.HIGH,
    reason="no read_wakeup_threshold",
    state=PoolState.READY,
    release="6.8.0-31-generic",
    entropy_avail=256,
)
DEFAULT_SOURCE = SeedSource("file:/dev/random", SeedSetting.SECURITY_PROPERTY, "java.security:117")
CALLER = "org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom"


def stack(
    role: SeedRole = SeedRole.READING,
    algorithm: Algorithm = Algorithm.SHA1PRNG,
    operation: Operation = Operation.NEXT_BYTES,
) -> SeedStack:
    return SeedStack(
        algorithm=algorithm,
        operation=operation,
        role=role,
        seed_frame="sun.security.provider.SeedGenerator$URLSeedGenerator.getSeedBytes",
        caller="Tomcat session ids",
        product="tomcat",
        caller_frame=CALLER,
    )


def thread(name: str = "main", nid: int | None = 0x21) -> JavaThread:
    frames = (
        Frame("java.io.FileInputStream", "readBytes", "Native Method"),
        Frame("java.io.FileInputStream", "read"),
        Frame("sun.security.provider.SeedGenerator$URLSeedGenerator", "getSeedBytes"),
        Frame(CALLER.rpartition(".")[0], CALLER.rpartition(".")[2]),
    )
    return JavaThread(name=name, frames=frames, nid=nid, state="RUNNABLE", line=7)


def task(kind: FileKind = FileKind.RANDOM, wchan: str | None = None) -> KernelTask:
    return KernelTask(
        tid=33,
        inner_tid=33,
        comm="java",
        state="S",
        wchan=wchan,
        syscall=Syscall(0, "read", (22, 0x7F00, 20)),
        file=OpenFile(22, "/dev/random", kind),
    )


def dumped(name: str = "main", **kinds: object) -> SeedWait:
    one = thread(name)
    dump = ThreadDump(origin="dump.txt", threads=(one,))
    return SeedWait(java=one, stack=stack(**kinds), dump=dump, dumps_seen=1)  # type: ignore[arg-type]


def seeds(*waits: SeedWait, **more: object) -> SeedEvidence:
    return SeedEvidence(waits=waits, threads=max(1, len(waits)), dumps=1, **more)  # type: ignore[arg-type]


def log(took_ms: int, start_ms: int | None = None) -> ServerLog:
    line = SeedingLine("catalina.out", 10, took_ms, "SHA1PRNG", excerpt=f"took [{took_ms}]")
    starts = (
        (StartLine("catalina.out", 20, start_ms, f"startup in {start_ms} ms"),) if start_ms else ()
    )
    return ServerLog(seeding=(line,), starts=starts, product="Tomcat", lines=20)
