from __future__ import annotations

from dataclasses import replace

import pytest
from tests import facts_by_hand as by_hand
from tests.facts.test_dumpseries import dump

from seedstall.facts.waits import seed_evidence, seed_stacks
from seedstall.model.evidence import Missing, Ref, Space, Unavailable, Why
from seedstall.model.seeding import Device, SeedRole
from seedstall.model.tasks import KernelTask, Syscall, Tasks
from seedstall.model.threads import Frame, JavaThread, ThreadDump, ThreadDumps
from seedstall.model.waits import SeedEvidence
from seedstall.parse.hotspot.stacks import RUNS_JAVA
from seedstall.rules.seed_account import place_of
from seedstall.rules.seed_remedies import no_egd_for
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


@pytest.mark.parametrize(
    ("complete", "note", "starts"),
    [(False, "", False), (True, "it leads nowhere: 0x7", False), (True, RUNS_JAVA, True)],
    ids=["lost threads", "an unread stack", "a thread that ran"],
)
def test_threads_lost_in_the_jvms_memory_are_not_made_up_for(
    *, complete: bool, note: str, starts: bool
) -> None:
    """What a system call does not show may wait all the same: behind a generator's lock."""
    threads = dump(10, waiting=False).threads
    if note:
        threads = (replace(threads[0], frames=(), cut=True, note=note), *threads[1:])
    read = ThreadDump("memory", threads, vm="x", complete=complete, unread=1)

    evidence = seed_evidence(EMPTY, ThreadDumps((read,)), SEEN, None, None)

    assert evidence.shows_a_start is starts
    assert bool(evidence.partial) is not starts


def test_nothing_at_all_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        seed_evidence(EMPTY, NO_DUMP, Missing(Why.NOT_COLLECTED), None, None)


def test_an_empty_evidence_shows_no_start() -> None:
    assert not SeedEvidence().shows_a_start


# --- a core: calls are seen, descriptors are not ---------------------------------------------------------------------

UNKNOWN_READ = KernelTask(33, 33, "", "S", syscall=Syscall(0, "read", (4, 0x7F00, 20)), asleep=True)


def evidence_of(dumps: ThreadDumps | Missing, *tasks: KernelTask) -> SeedEvidence:
    return seed_evidence(EMPTY, dumps, Tasks(tasks), None, None, None)


def test_a_read_of_nobody_knows_what_hides_what_is_looked_for() -> None:
    with pytest.raises(Unavailable) as caught:
        evidence_of(NO_DUMP, *SEEN.tasks, UNKNOWN_READ)

    assert caught.value.missing.why is Why.NOT_COLLECTED
    assert caught.value.missing.detail.startswith("what thread 33 reads from is not known")


def test_a_fifo_in_the_devices_place_waits_as_any_pipe_does() -> None:
    """Where the descriptor is not known, a pipe's wait channel does not say that it is none; a terminal's does."""
    for channel in ("pipe_read", "anon_pipe_read", "pipe_wait"):
        with pytest.raises(Unavailable):
            evidence_of(NO_DUMP, *SEEN.tasks, replace(UNKNOWN_READ, wchan=channel))
    assert (
        evidence_of(NO_DUMP, *SEEN.tasks, replace(UNKNOWN_READ, wchan="n_tty_read")).partial == ""
    )


def test_threads_that_nobody_looked_at_keep_it_from_being_clear() -> None:
    told = "1 of its 3 threads were not looked at: timed out"
    some = replace(SEEN, unseen=told)
    assert seed_evidence(EMPTY, NO_DUMP, some, None, None, None).partial == told
    with pytest.raises(Unavailable) as caught:
        seed_evidence(EMPTY, NO_DUMP, Tasks((), unseen=told), None, None, None)
    assert told in caught.value.missing.detail


def test_the_java_object_says_what_is_read() -> None:
    java = replace(by_hand.thread(nid=33), reads="/dev/random")
    dumps = ThreadDumps((ThreadDump("memory", (java,), vm="x"),))

    (wait,) = evidence_of(dumps, UNKNOWN_READ).waits

    assert wait.in_random_read
    assert wait.task is not None
    assert wait.task.file is not None
    assert (wait.task.file.fd, wait.task.file.path) == (4, "/dev/random")


def test_code_of_the_programs_own_that_reads_the_device_is_found_by_that_object_too() -> None:
    java = JavaThread("worker", (Frame("com.foo.Own", "read"),), nid=33, reads="/dev/random")
    dumps = ThreadDumps((ThreadDump("memory", (java,), vm="x"),))

    (wait,) = evidence_of(dumps, UNKNOWN_READ).waits

    assert wait.java is java
    assert wait.in_random_read


def test_what_the_kernel_says_of_a_descriptor_goes_before_what_java_says() -> None:
    java = replace(by_hand.thread(nid=33), reads="/elsewhere")
    dumps = ThreadDumps((ThreadDump("memory", (java,), vm="x"),))

    (wait,) = evidence_of(dumps, by_hand.task()).waits

    assert wait.task is not None
    assert wait.task.file is not None
    assert wait.task.file.path == "/dev/random"


def test_a_read_by_a_thread_without_a_java_stack_keeps_a_dump_from_being_clear() -> None:
    plain = dump(10, waiting=False)
    native = evidence_of(ThreadDumps((plain,)), UNKNOWN_READ)
    assert native.partial == "what thread 33 reads from is not known"
    assert not native.shows_a_start
    own = replace(plain, threads=(replace(plain.threads[0], nid=33),))
    assert evidence_of(ThreadDumps((own,)), UNKNOWN_READ).shows_a_start


OPENER = KernelTask(
    33,
    33,
    "java",
    "S",
    wchan="wait_for_partner",
    syscall=Syscall(257, "openat", (0xFFFFFF9C, 0x7F00, 0)),
    fifo="/dev/random",
)
NATIVE_IO = Frame("sun.security.provider.NativePRNG$RandomIO", "<init>")


def test_who_opens_a_fifo_that_may_be_the_device_hides_what_is_looked_for() -> None:
    with pytest.raises(Unavailable) as caught:
        evidence_of(NO_DUMP, *SEEN.tasks, OPENER)

    assert "whether it opens that one is not known" in caught.value.missing.detail


def test_the_generator_that_opens_its_device_waits_for_random_bytes() -> None:
    opening = (Frame("java.io.FileInputStream", "open0"), NATIVE_IO, Frame("com.foo.Main", "main"))
    java = JavaThread("main", opening, nid=33, state="RUNNABLE")
    dumps = ThreadDumps((ThreadDump("memory", (java,), vm="x"),))

    (wait,) = evidence_of(dumps, OPENER).waits

    assert wait.in_random_read
    assert wait.role is SeedRole.READING
    assert "the opening of /dev/random" in place_of(wait, Device.UNKNOWN, None)
    assert "whatever its seed source is" in no_egd_for(wait)


def test_code_of_the_programs_own_that_opens_a_fifo_is_no_seeding() -> None:
    opening = (Frame("java.io.FileInputStream", "open0"), Frame("com.foo.Own", "read"))
    java = JavaThread("main", opening, nid=33, state="RUNNABLE")
    dumps = ThreadDumps((ThreadDump("memory", (java,), vm="x"),))

    assert evidence_of(dumps, OPENER).waits == ()


def test_threads_of_a_core_whose_stacks_cannot_be_read_are_never_clear() -> None:
    """Damage to a note loses a thread without a trace."""
    tasks = replace(SEEN, of_core=True)
    with pytest.raises(Unavailable) as caught:
        seed_evidence(EMPTY, NO_DUMP, tasks, None, None, None)
    assert caught.value.missing.detail.startswith("the core's Java stacks could not be read")
    plain = ThreadDumps((dump(10, waiting=False),))
    assert seed_evidence(EMPTY, plain, tasks, None, None, None).shows_a_start


def report(*, waiting: bool) -> ThreadDump:
    """A server's watch on one thread, as its log has it."""
    (thread, *_) = dump(10, waiting=waiting).threads
    return ThreadDump(
        "catalina.out",
        (replace(thread, name="exec-1"),),
        complete=False,
        form="log",
        lists_all=False,
    )


def test_a_report_on_one_thread_is_no_look_at_the_jvm() -> None:
    evidence = evidence_of(ThreadDumps((report(waiting=False),)))

    assert (evidence.threads, evidence.partial, evidence.shows_a_start) == (0, "", False)


def test_a_report_on_one_thread_takes_no_look_away() -> None:
    evidence = evidence_of(ThreadDumps((dump(10, waiting=False), report(waiting=False))))

    assert (evidence.threads, evidence.shows_a_start) == (2, True)


def test_a_report_on_a_thread_that_waits_counts() -> None:
    evidence = evidence_of(ThreadDumps((report(waiting=True),)))

    assert [wait.name for wait in evidence.waits] == ['"exec-1"']
