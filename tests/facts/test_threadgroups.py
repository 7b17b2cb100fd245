from __future__ import annotations

import time

import pytest
from tests.facts_by_hand import dumped, seeds, stack, task, thread

from seedstall.facts.threadgroups import (
    LONGEST,
    MOST_GROUPS,
    MOST_NAMES,
    MOST_STACKS,
    thread_groups,
)
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import KernelTask, Syscall, Tasks
from seedstall.model.threadgroups import Mark, ThreadGroup, ThreadGroups
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump, ThreadDumps
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.source.base import Held

NOT_THERE = Missing(Why.NOT_COLLECTED, ())


def groups(
    *threads: JavaThread, evidence: SeedEvidence | None = None, tasks: Tasks | Missing = NOT_THERE
) -> ThreadGroups:
    dumps = ThreadDumps((ThreadDump(origin="dump.txt", threads=threads),))
    return thread_groups(Held({}), dumps, tasks, evidence)


def at(name: str, *frames: str, state: str = "WAITING", **more: object) -> JavaThread:
    made = tuple(Frame(f.rpartition(".")[0], f.rpartition(".")[2], "X.java:1") for f in frames)
    return JavaThread(name=name, frames=made, state=state, nid=hash(name) & 0xFFFF, **more)  # type: ignore[arg-type]


def sleeper(name: str) -> JavaThread:
    return at(name, "java.lang.Thread.sleep", "com.acme.Poller.run", state="TIMED_WAITING")


def test_threads_are_grouped_by_what_they_wait_for_seeding_first_then_where_main_is() -> None:
    wait = dumped("http-1")
    assert wait.java is not None
    found = groups(
        at("Reference Handler", "java.lang.ref.Reference.waitForReferencePendingList"),
        *(sleeper(f"poller-{n}") for n in range(5)),
        JavaThread("GC Thread#0"),
        at(
            "main",
            "java.net.Inet4AddressImpl.lookupAllHostAddr",
            "com.acme.Main.main",
            state="RUNNABLE",
        ),
        at(
            "pool-1",
            "jdk.internal.misc.Unsafe.park",
            "java.util.concurrent.ThreadPoolExecutor.getTask",
        ),
        wait.java,
        evidence=seeds(wait),
    )

    assert [(g.words, g.count, g.seeding, g.cause) for g in found.groups] == [
        ("waits for random bytes", 1, True, ""),
        ("waits for an answer of the name service", 1, False, "other:dns"),
        ("sleeps", 5, False, "other:waiting"),
        ("waits for work in a pool", 1, False, ""),
        ("waits for references to clear", 1, False, ""),
        ("has no Java stack (the JVM's own)", 1, False, ""),
    ]
    assert (found.threads, found.told_by, found.left_out) == (10, "dump", 0)


def test_a_waits_device_is_named_and_queued_threads_are_a_group_of_their_own() -> None:
    reading, queued = dumped(), dumped("http-1", role=SeedRole.QUEUED)
    assert reading.java is not None
    assert queued.java is not None
    reading = SeedWait(java=reading.java, stack=stack(), task=task(), dump=reading.dump)
    found = groups(reading.java or thread(), queued.java, evidence=seeds(reading, queued=(queued,)))

    assert [g.words for g in found.groups] == [
        "waits for random bytes from /dev/random",
        "waits for a generator that another thread is seeding",
    ]


def only(found: ThreadGroups) -> ThreadGroup:
    (group,) = found.groups
    return group


def test_the_frames_are_marked() -> None:
    wait = dumped()
    assert wait.java is not None
    (shown,) = only(groups(wait.java, evidence=seeds(wait))).stacks

    assert [f.mark for f in shown.frames] == [Mark.READ, Mark.READ, Mark.SEED, Mark.CALLER]
    assert (shown.thread, shown.origin, shown.threads) == ("main", "dump.txt:7", 1)


def test_lock_lines_stand_below_their_frame() -> None:
    locks = (
        LockLine(LockAct.WAITING_TO_LOCK, "com.acme.Pool", "0xabc", 0),
        LockLine(LockAct.LOCKED, "com.acme.Job", None, 1),
        LockLine(LockAct.OWNED, "com.acme.Free", "0xdef", 0),
    )
    (shown,) = only(
        groups(at("main", "com.acme.Pool.take", "com.acme.Job.run", state="BLOCKED", locks=locks))
    ).stacks

    assert [f.locks for f in shown.frames] == [
        ("waiting to lock <0xabc> (a com.acme.Pool)",), ("locked (a com.acme.Job)",),
    ]  # fmt: skip


def test_a_stack_that_is_not_known_is_no_idle_thread() -> None:
    found = groups(JavaThread("lost", note="its frames are damaged", cut=True))

    assert only(found).words == "has a stack that could not be read"
    assert only(found).stacks[0].note == "its frames are damaged"


def test_without_a_dump_the_kernel_tells() -> None:
    tasks = Tasks((
        task(),
        KernelTask(34, 34, "Finalizer", syscall=Syscall(202, "futex", ())),
        KernelTask(35, 35, "C2", running=True),
        KernelTask(36, 36, "x", wchan="ep_poll"),
        KernelTask(37, 37, "y"),
    ))  # fmt: skip
    found = thread_groups(Held({}), NOT_THERE, tasks, None)

    assert found.told_by == "kernel"
    assert {(g.words, g.names[0], g.seeding) for g in found.groups} == {
        ("is in read of /dev/random", "java (33)", True),
        ("is in futex", "Finalizer (34)", False),
        ("runs", "C2 (35)", False),
        ("sleeps in the kernel's ep_poll", "x (36)", False),
        ("is in a call that was not seen", "y (37)", False),
    }
    assert found.groups[0].seeding


def test_with_neither_it_says_why() -> None:
    with pytest.raises(Unavailable):
        thread_groups(Held({}), NOT_THERE, NOT_THERE, None)


def test_the_newest_dump_counts_and_a_report_on_single_threads_does_not_hide_the_others() -> None:
    one = ThreadDump("a", (sleeper("main"), sleeper("other")), taken_at="2026-01-01 10:00:00")
    two = ThreadDump(
        "a",
        (at("main", "com.acme.A.b", state="RUNNABLE"), sleeper("other")),
        taken_at="2026-01-01 10:00:05",
    )
    watch = ThreadDump("a", (sleeper("main"),), taken_at="2026-01-01 10:00:09", lists_all=False)

    assert (
        thread_groups(Held({}), ThreadDumps((one, two)), NOT_THERE, None).groups[0].words == "runs"
    )
    assert thread_groups(Held({}), ThreadDumps((one, two, watch)), NOT_THERE, None).threads == 2


def test_a_dump_of_any_size_gives_a_bounded_picture_soon() -> None:
    many = [
        at(
            f"{'n' * 3000}-{n}",
            *(f"com.acme.C{n % 97}.m{d}" for d in range(100)),
            state=f"S{n % 60}",
            line=n,
        )
        for n in range(10_000)
    ]
    begun = time.process_time()
    found = groups(*many)

    assert time.process_time() - begun < 20  # a guard against a quadratic walk, not a measurement
    assert len(found.groups) == MOST_GROUPS
    assert found.threads == 10_000
    assert sum(g.count for g in found.groups) + found.left_out == 10_000
    for group in found.groups:
        assert len(group.names) <= MOST_NAMES
        assert len(group.stacks) == MOST_STACKS < group.stacks_in_all
        assert all(len(name) < LONGEST + 40 for name in group.names)
        assert all(len(s.frames) + s.more == 100 for s in group.stacks)
