from __future__ import annotations

import pytest
from tests import facts_by_hand as by_hand
from tests.facts.test_dumpseries import dump

from seedstall.facts.waits import seed_evidence, seed_stacks
from seedstall.model.evidence import Missing, Ref, Space, Unavailable, Why
from seedstall.model.seeding import SeedRole
from seedstall.model.tasks import KernelTask, Syscall, Tasks
from seedstall.model.threads import ThreadDump, ThreadDumps
from seedstall.model.waits import SeedEvidence
from seedstall.source.base import Held

REFUSED = Missing(Why.REFUSED, (Ref(Space.ATTACH, "threaddump"),), "the JVM is stopped")
NO_DUMP = Missing(Why.NOT_COLLECTED, (Ref(Space.ATTACH, "threaddump"),))
HIDDEN = Tasks(
    (KernelTask(2, 2, "java", "S", denied=("syscall",)),), denied=("uid 0: run as root",)
)
SEEN = Tasks((KernelTask(2, 2, "java", "S", syscall=Syscall(202, "futex", (1, 2, 3))),))
EMPTY = Held({})


def test_threads_whose_calls_are_hidden_show_nothing_and_say_why() -> None:
    with pytest.raises(Unavailable) as caught:
        seed_evidence(EMPTY, NO_DUMP, HIDDEN, None, None)

    assert caught.value.missing.why is Why.DENIED
    assert "run as root" in caught.value.missing.detail


def test_threads_whose_calls_are_seen_show_that_none_waits() -> None:
    evidence = seed_evidence(EMPTY, REFUSED, SEEN, None, None)

    assert evidence.shows_a_start
    assert evidence.waits == ()


def test_without_stacks_their_rules_hear_the_guards_reason() -> None:
    evidence = seed_evidence(EMPTY, REFUSED, SEEN, None, None)

    with pytest.raises(Unavailable) as caught:
        seed_stacks(EMPTY, evidence, REFUSED)
    assert caught.value.missing.detail == "the JVM is stopped"


def test_java_and_kernel_thread_are_joined_by_nid() -> None:
    tasks = Tasks((by_hand.task(),))
    dumps = ThreadDumps((ThreadDump("attach", (by_hand.thread(nid=33),), vm="x"),))

    (wait,) = seed_evidence(EMPTY, dumps, tasks, None, None).waits

    assert wait.java is not None
    assert wait.task is not None
    assert wait.role is SeedRole.READING


def test_a_reader_without_seed_frames_is_the_programs_own_and_has_its_name() -> None:
    plain = dump(10, waiting=False)
    task = by_hand.task()
    tasks = Tasks((KernelTask(2, 2, "java", "S", syscall=task.syscall, file=task.file),))

    (wait,) = seed_evidence(EMPTY, ThreadDumps((plain,)), tasks, None, None).waits

    assert wait.stack is None
    assert wait.name == '"main"'


@pytest.mark.parametrize(
    "damage", [{"complete": False}, {"unread": 3}], ids=["cut", "unreadable frames"]
)
def test_a_damaged_dump_without_a_wait_does_not_show_a_start(damage: dict[str, int]) -> None:
    whole = dump(10, waiting=False)
    cut = ThreadDump("d.txt", whole.threads, vm=whole.vm, **damage)  # type: ignore[arg-type]

    evidence = seed_evidence(EMPTY, ThreadDumps((cut,)), NO_DUMP, None, None)

    assert evidence.partial
    assert not evidence.shows_a_start


def test_what_the_kernel_shows_makes_up_for_a_damaged_dump() -> None:
    cut = ThreadDump("d.txt", dump(10, waiting=False).threads, vm="x", complete=False)

    assert seed_evidence(EMPTY, ThreadDumps((cut,)), SEEN, None, None).shows_a_start


def test_nothing_at_all_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        seed_evidence(EMPTY, NO_DUMP, Missing(Why.NOT_COLLECTED), None, None)


def test_an_empty_evidence_shows_no_start() -> None:
    assert not SeedEvidence().shows_a_start
