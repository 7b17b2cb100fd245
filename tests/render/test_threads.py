from __future__ import annotations

import pytest
from tests.live.owndump import compared
from tests.memoryimages import RELEASES, image

from seedstall.facts.memory import memory_dump
from seedstall.model.tasks import KernelTask, Syscall
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump
from seedstall.parse.threaddump import thread_dumps
from seedstall.render.threads import dump_text, kernel_text


@pytest.mark.parametrize("feature", RELEASES)
def test_our_own_reader_reads_all_that_was_printed(feature: int) -> None:
    dump = memory_dump(image(feature))
    (read,) = thread_dumps(dump_text(dump, redacted=False).encode(), "x")
    assert read.complete
    assert read.unread == 0
    assert read.jdk is not None
    assert read.jdk.feature == feature
    found = compared(dump, read)
    assert found.differences == []
    assert found.threads == len(dump.threads)
    assert [t.nid for t in read.threads] == [t.nid for t in dump.threads]


PARTIAL = JavaThread(
    "busy \x1b[31m",
    (Frame("a.B", "c", "B.java:3"),),
    nid=12,
    state="RUNNABLE",
    cut=True,
    note="it runs Java code",
    address=0x7F01,
)
EMPTY = JavaThread(
    "silent", nid=13, state="RUNNABLE", cut=True, note="no registers", address=0x7F02
)


def test_a_stack_that_is_not_known_is_unread_to_every_reader() -> None:
    dump = ThreadDump(
        "memory", (PARTIAL, EMPTY), vm="OpenJDK 64-Bit Server VM (17.0.9+9)", unread=2
    )
    text = dump_text(dump)
    assert "\tat ... (unknown: it runs Java code)" in text
    assert "\x1b" not in text
    (read,) = thread_dumps(text.encode(), "x")
    assert read.unread == 2
    assert not read.complete


def test_a_deadlock_is_told_as_the_jvm_does() -> None:
    threads = tuple(
        JavaThread(
            name,
            (Frame("a.B", "c"),),
            (LockLine(LockAct.WAITING_TO_LOCK, "a.L", f"0x{number:016x}"),),
            nid=number,
            state="BLOCKED",
            address=number,
        )
        for number, name in ((1, "one"), (2, "two"))
    )
    dump = ThreadDump("memory", threads, vm="VM (17.0.9+9)", deadlocks=(("one", "two"),))
    (read,) = thread_dumps(dump_text(dump).encode(), "x")
    assert read.deadlocks == (("one", "two"),)


def test_without_java_stacks_the_kernels_threads_and_the_reason_stand_alone() -> None:
    task = KernelTask(5, 4, "C2 Compiler", "S", syscall=Syscall(202, "futex", ()))
    text = kernel_text([task], "this is JDK 23")
    assert text.splitlines()[0] == "no Java stacks: this is JDK 23"
    assert "4 S C2 Compiler      futex" in text
