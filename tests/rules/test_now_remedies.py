"""What frees what hangs now, by cause: a command for that very process, with nothing in it that a target says."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from tests import facts_by_hand as by_hand

from seedstall.knowledge.products import PRODUCTS
from seedstall.model.finding import Disposition, Finding, Severity, When
from seedstall.model.jvm import JvmProcess, LiveProcess, Product
from seedstall.model.kernel import CrngState
from seedstall.model.limits import CpuThrottling, Freezer
from seedstall.model.standing import Debugged
from seedstall.model.tasks import UNOPENED, FileKind
from seedstall.model.threads import ThreadDump, ThreadDumps
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedWait
from seedstall.rules import now_remedies
from seedstall.rules.seed_account import Surroundings
from seedstall.rules.ss103_crng_not_ready import crng_not_ready
from seedstall.rules.ss501_stopped import stopped
from seedstall.rules.ss502_deadlock import deadlock
from seedstall.rules.ss532_debugger_wait import debugger_wait
from seedstall.rules.ss535_cpu_throttled import cpu_throttled

LIVE = LiveProcess(8712)
PROCESS = JvmProcess(8712, 8712, 0, 0, "S", 1, 20)
AROUND = Surroundings(kernel=by_hand.POOL, pid=8712, live=True)
HOSTILE = "sys/fs/cgroup/a b;$(reboot)\n"


def commands(finding: Finding) -> list[str]:
    return [fix.params["command"] for fix in finding.fixes if fix.when is When.NOW]


# --- the pool


@pytest.mark.parametrize(
    ("lengths", "entropy", "keys"), [((), 0, 52), ((20, 14, 8), 0, 26), ((2,), 60, 1), ((), 63, 39)]
)
def test_keys_are_counted_by_what_is_still_wanted(
    lengths: tuple[int, ...], entropy: int, keys: int
) -> None:
    wait = replace(by_hand.dumped(), task=by_hand.task(), lengths=lengths)
    around = replace(AROUND, kernel=replace(by_hand.POOL, entropy_avail=entropy))
    (fix,) = now_remedies.stir(wait, around)
    assert fix.needs_root, "who may read every file"
    assert fix.disposition is Disposition.REVIEW, "it reads the whole disk"
    assert f"about {keys} keys" in fix.title
    assert "with a busy disk" in fix.takes


def test_nothing_is_stirred_where_the_pool_holds_enough_or_there_is_none() -> None:
    wait = replace(by_hand.dumped(), task=by_hand.task())
    full = replace(AROUND, kernel=replace(by_hand.POOL, entropy_avail=4000))
    assert list(now_remedies.stir(wait, full)) == []
    assert list(now_remedies.stir(wait, replace(AROUND, kernel=by_hand.NO_POOL))) == []
    assert list(now_remedies.stir(None, AROUND)) == []


def test_a_fifo_is_fed_and_nothing_else() -> None:
    def fed(kind: FileKind, fd: int = 22) -> list[str]:
        task = by_hand.task(kind)
        assert task.file is not None
        wait = SeedWait(task=replace(task, file=replace(task.file, fd=fd)))
        return [f.params["command"] for f in now_remedies.feed_device(wait, AROUND)]

    assert "of=/proc/8712/fd/22 " in fed(FileKind.FIFO)[0]
    assert fed(FileKind.RANDOM) == fed(FileKind.REGULAR) == fed(FileKind.SOCKET) == []
    # Still being opened, since nobody has it open for writing: by its name in the process's own root.
    assert "of=/proc/8712/root/dev/random " in fed(FileKind.FIFO, UNOPENED)[0]


# --- before it is ended


def test_whether_ending_it_is_safe_goes_by_what_waits() -> None:
    def cost(wait: SeedWait | None, product: Product | None = None) -> str:
        around = replace(AROUND, product=product)
        (fix,) = now_remedies.last_resort(wait, around, alone=True)
        assert fix.title.startswith("nothing but a restart frees it: ")
        return fix.title

    tomcat = Product("tomcat", "Apache Tomcat", ())
    plain = replace(by_hand.dumped(), stack=replace(by_hand.stack(), product=""))
    assert "still starting and serves nobody" in cost(plain, tomcat)
    assert "a job that runs in main" in cost(plain)
    assert "a job that runs in main" in cost(plain, Product("java", "Nightly", ()))
    assert "a job that runs in main" in cost(plain, Product("maven", "Maven", ()))
    assert "it may serve already" in cost(by_hand.dumped("http-nio-8080-exec-1"), tomcat)
    assert "the JAR is untouched" in cost(plain, Product("jarsigner", "jarsigner", ()))
    assert "was not seen" in cost(SeedWait(task=by_hand.task()))


def stalled(*fixes: object, status: Status = Status.STALLED) -> Finding:
    return Finding(
        message="",
        sentence="",
        cause=Cause.WAITING,
        status=status,
        severity=Severity.WARNING,
        confidence=1,  # type: ignore[arg-type]
        fixes=fixes,  # type: ignore[arg-type]
    )


def test_what_is_saved_stands_where_a_restart_may_follow() -> None:
    def names(finding: Finding, live: LiveProcess | None = LIVE) -> list[str]:
        (found,) = now_remedies.with_capture((finding,), live)
        return [fix.surface for fix in found.fixes]

    end = now_remedies.restart(8712, "", alone=True)
    let_go = now_remedies.once("continue", "", "")
    later = replace(let_go, when=When.NEXT_START)
    assert names(stalled()) == ["capture"]
    assert names(stalled(later)) == ["capture", "continue"]
    assert names(stalled(let_go, end, later)) == ["continue", "capture", "restart", "continue"]
    assert names(stalled(let_go)) == ["continue"]  # nothing ends it
    assert names(stalled(), None) == []
    assert names(stalled(status=Status.SLOW)) == []
    assert names(replace(stalled(), severity=Severity.NOTE)) == []


# --- other causes


def test_a_stopped_one_and_a_traced_one() -> None:
    (finding,) = stopped(replace(PROCESS, state="T"))
    assert commands(finding) == ["kill -CONT 8712"]
    (finding,) = stopped(replace(PROCESS, state="t"))
    assert commands(finding) == ["grep TracerPid /proc/8712/status"]


def test_the_names_of_control_groups_are_no_shell() -> None:
    (finding,) = stopped(PROCESS, Freezer(HOSTILE))
    words = shlex.split(commands(finding)[0], comments=True)
    assert words[:3] == ["echo", "0", ">"]
    assert len(words) == 4
    slow = CpuThrottling(100, 90, 9_000, f"{HOSTILE}/cpu.stat", 10_000)
    (finding,) = cpu_throttled(slow)
    words = shlex.split(commands(finding)[0])
    assert words[:3] == ["echo", "max", ">"]
    assert len(words) == 4


def test_the_quota_of_both_versions() -> None:
    def typed(path: str) -> list[str]:
        (finding,) = cpu_throttled(CpuThrottling(100, 90, 9_000, path, 10_000))
        return commands(finding)

    assert typed("sys/fs/cgroup/x/cpu.stat") == ["echo max > /sys/fs/cgroup/x/cpu.max"]
    assert typed("sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.stat") == [
        "echo -1 > /sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us"
    ]


def test_a_deadlock_ends_with_the_process_alone() -> None:
    dumps = ThreadDumps((ThreadDump(origin="attach", threads=(), deadlocks=(("a", "b"),)),))
    (finding,) = deadlock(dumps, None, LIVE)
    (fix,) = finding.fixes
    assert (fix.surface, fix.disposition) == ("restart", Disposition.REVIEW)
    assert "nothing but a restart" in fix.title
    (finding,) = deadlock(dumps)
    assert finding.fixes == ()


@pytest.mark.parametrize(
    ("address", "typed"),
    [
        ("127.0.0.1:5005", "/dev/tcp/127.0.0.1/5005"),
        ("*:5005", "/dev/tcp/127.0.0.1/5005"),
        ("5005", "/dev/tcp/127.0.0.1/5005"),
        ("127.0.0.1:0", ""),
        ("", ""),
        ("$(reboot):1", ""),
        ("a b:5005", ""),
    ],
)
def test_a_debugger_where_its_port_is_told(address: str, typed: str) -> None:
    for agent in ("-agentlib:jdwp=", "-Xrunjdwp:"):
        option = f"{agent}transport=dt_socket,server=y,suspend=y,address={address}"
        (finding,) = debugger_wait(Debugged(option, "cmdline[1]", suspended=True, pid=8712), None)
        found = commands(finding)
        assert len(found) == bool(typed)
        assert not typed or f"3<>{typed};" in found[0]


def test_a_kernel_that_is_not_seeded_yet() -> None:
    waits = by_hand.seeds(
        replace(by_hand.dumped(), task=by_hand.task(wchan="wait_for_random_bytes"))
    )
    young = CrngState(False, "dmesg", "no line", 5.0)  # noqa: FBT003 - the first field: ready
    (finding,) = crng_not_ready(young, by_hand.NO_POOL, waits, None)
    assert [(f.surface, f.takes) for f in finding.fixes] == [("wait", "0.5 to 3 s")]
    (finding,) = crng_not_ready(young, by_hand.POOL, waits, None)
    assert [f.surface for f in finding.fixes][:1] == ["rngd"]
    assert finding.fixes[-1].surface == "stir-pool"


def test_the_programs_that_are_no_servers_are_known_ones() -> None:
    assert now_remedies.JOBS - {"", "java"} <= {row.key for row in PRODUCTS}
