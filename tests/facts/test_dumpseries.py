from __future__ import annotations

from dataclasses import replace

from seedstall.facts import dumpseries
from seedstall.model.threads import Frame, JavaThread, ThreadDump

VM = "OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode)"
SEED = (
    Frame("java.io.FileInputStream", "readBytes"),
    Frame("java.io.FileInputStream", "read"),
    Frame("sun.security.provider.SeedGenerator$URLSeedGenerator", "getSeedBytes"),
    Frame("sun.security.provider.SeedGenerator", "generateSeed"),
    Frame("sun.security.provider.SecureRandom$SeederHolder", "<clinit>"),
    Frame("sun.security.provider.SecureRandom", "engineNextBytes"),
    Frame("java.security.SecureRandom", "nextBytes"),
)


def dump(
    age_s: float, *, waiting: bool = True, cpu_ms: float = 30, origin: str = "d.txt", pid: int = 0
) -> ThreadDump:
    frames = SEED if waiting else (Frame("App", "serve"),)
    main = JavaThread(
        "main", frames, nid=pid + 2, state="RUNNABLE", cpu_ms=cpu_ms, elapsed_ms=age_s * 1000
    )
    handler = JavaThread("Reference Handler", nid=pid + 3, elapsed_ms=age_s * 1000 - 1)
    stamp = f"2026-11-30 14:{int(age_s) // 60:02}:{int(age_s) % 60:02}"
    return ThreadDump(origin, (main, handler), vm=VM, taken_at=stamp)


def test_two_dumps_of_a_thread_that_did_not_move_say_since_when() -> None:
    (group,) = dumpseries.series([dump(10), dump(190)])
    (wait,), over = dumpseries.waits(group)

    assert (wait.dumps_seen, wait.since_ms) == (2, 180_000)
    assert over == []


def test_three_dumps_add_up() -> None:
    (group,) = dumpseries.series([dump(10), dump(20), dump(60)])
    (wait,), _ = dumpseries.waits(group)

    assert (wait.dumps_seen, wait.since_ms) == (3, 50_000)


def test_a_thread_that_used_cpu_in_between_may_have_come_back() -> None:
    (group,) = dumpseries.series([dump(10), dump(190, cpu_ms=9000)])
    (wait,), _ = dumpseries.waits(group)

    assert wait.dumps_seen == 2
    assert wait.since_ms is None


def test_the_jvms_clock_orders_dumps_not_their_place() -> None:
    (group,) = dumpseries.series([dump(190, waiting=False), dump(10)])
    now, (over,) = dumpseries.waits(group)

    assert now == []
    assert over.dump is not None
    assert over.dump.taken_at == "2026-11-30 14:00:10"


def test_two_files_of_one_jvm_are_one_series() -> None:
    (group,) = dumpseries.series(
        [dump(190, waiting=False, origin="b.txt"), dump(10, origin="a.txt")]
    )

    assert [d.origin for d in group] == ["a.txt", "b.txt"]


def test_the_same_dump_pasted_twice_is_one_moment() -> None:
    (group,) = dumpseries.series([dump(10), replace(dump(10), line=400)])
    (wait,), _ = dumpseries.waits(group)

    assert wait.dumps_seen == 1


def test_another_jvms_dump_does_not_end_a_wait() -> None:
    groups = dumpseries.series([dump(10), dump(50, waiting=False, pid=7000)])

    assert len(groups) == 2
    assert sum(len(dumpseries.waits(group)[0]) for group in groups) == 1
