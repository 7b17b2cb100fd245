"""Where the time of a watched start went, from recordings made by hand."""

from __future__ import annotations

import dataclasses
import time

import pytest
from tests.samples_by_hand import (
    CONNECT,
    EPOLL,
    FUTEX,
    GC,
    GETRANDOM,
    JOINED,
    MAIN,
    PID,
    POLL,
    RECV,
    TIMED,
    WAIT4,
    WORKER,
    process,
    read,
    recording,
    span,
)

from seedstall.facts.samples import SAMPLES, start_samples
from seedstall.facts.startaccount import account
from seedstall.model.evidence import Missing, Unavailable
from seedstall.model.recording import (
    OUTSIDE,
    RUNNING,
    UNSEEN,
    WCHAN,
    Counters,
    Place,
    SampledThread,
)
from seedstall.model.samples import Doing, Ending, StartSamples
from seedstall.model.threads import Frame, JavaThread, ThreadDump, ThreadDumps
from seedstall.model.verdict import Progress
from seedstall.parse.samples import recorded
from seedstall.source.base import Held


def table(told: StartSamples) -> dict[Doing, int]:
    assert sum(share.ms for share in told.table) == pytest.approx(told.watched_ms, abs=3)
    return {share.doing: share.ms for share in told.table}


def test_a_recording_handed_over_is_replayed_as_a_live_one() -> None:
    told = recording(read(MAIN, 0, 900))
    held = Held({SAMPLES: recorded(told)})
    assert start_samples(held, None) == account(told)


def test_without_a_recording_there_is_no_fact() -> None:
    with pytest.raises(Unavailable) as caught:
        start_samples(Held({}), None)
    assert isinstance(caught.value.missing, Missing)


def test_a_seeding_main_thread() -> None:
    told = account(recording(read(MAIN, 0, 900), span(MAIN, 900, 1000, RUNNING, (), cpu_ms=100)))
    assert table(told) == {Doing.RANDOM: 900, Doing.CPU: 100}
    assert told.table[0].where == "read of /dev/random (fd 4)"
    (wait,) = told.waits
    assert (wait.name, wait.ms, wait.over, wait.lengths) == ("main", 900, True, (20,))


def test_a_seeding_that_main_waits_for_is_what_it_waited_for() -> None:
    """A web application deployed by another thread; the main thread joins it."""
    told = account(recording(span(MAIN, 0, 1000), read(WORKER, 100, 900)))
    assert table(told) == {Doing.RANDOM: 800, Doing.WAITING: 200}
    assert told.table[0].thread == "pool-1-thread-1"


def test_a_seeding_beside_a_main_thread_that_works_costs_it_nothing() -> None:
    told = account(recording(span(MAIN, 0, 1000, RUNNING, (), cpu_ms=1000), read(WORKER, 100, 900)))
    assert table(told) == {Doing.CPU: 1000}
    assert [wait.ms for wait in told.waits] == [800]


def test_seedings_of_two_threads_overlap_and_are_not_added_up() -> None:
    told = account(
        recording(
            span(MAIN, 0, 1000),
            read(WORKER, 100, 600),
            read(200, 400, 900),
            threads=(SampledThread(PID, 200, 200, "pool-1-thread-2", 10),),
        )
    )
    assert table(told)[Doing.RANDOM] == 800


def test_a_read_caught_on_its_way_is_no_wait() -> None:
    """A busy NativePRNG reads /dev/urandom all the time, and waits in none of them."""
    urandom = Place(5, "/dev/urandom", "urandom")
    call = (5, 0x7F00, 256, 0)
    told = account(recording(span(MAIN, 0, 1000, 0, call, cpu_ms=998, place=0), places=(urandom,)))
    assert table(told)[Doing.CPU] == 998
    assert told.waits == ()


@pytest.mark.parametrize(
    ("call", "args", "place", "state", "doing"),
    [
        (FUTEX, TIMED, None, "S", Doing.SLEEPING),
        (FUTEX, JOINED, None, "S", Doing.WAITING),
        (FUTEX, (1, 129, 1, 0), None, "S", Doing.OTHER),
        (CONNECT, (6, 1, 2, 3), Place(6, "socket:[1]", "socket"), "S", Doing.CONNECT),
        (POLL, (1, 1, 5, 0), Place(-1, "", "socket", "10.0.0.7:1", 2, "tcp"), "S", Doing.CONNECT),
        (POLL, (1, 1, 5, 0), Place(-1, "", "socket", "10.0.0.2:53", 1, "udp"), "S", Doing.DNS),
        (POLL, (1, 1, 5, 0), None, "S", Doing.NETWORK),
        (RECV, (6, 1, 2, 3), Place(6, "socket:[1]", "socket"), "S", Doing.NETWORK),
        (0, (6, 1, 2, 3), Place(6, "socket:[1]", "socket"), "S", Doing.NETWORK),
        (0, (0, 1, 2, 3), Place(0, "pipe:[1]", "fifo"), "S", Doing.READ),
        (0, (7, 1, 2, 3), Place(7, "/srv/a.jar", "file"), "D", Doing.DISK),
        (OUTSIDE, (), None, "D", Doing.DISK),
        (EPOLL, (6, 1, 2, 3), None, "S", Doing.ACCEPT),
        (WAIT4, (6, 1, 2, 3), None, "S", Doing.CHILD),
        (GETRANDOM, (1, 32, 0, 0), None, "S", Doing.RANDOM),
        (0, (4, 1, 20, 0), Place(4, "/dev/random", "fifo"), "D", Doing.RANDOM),
        (FUTEX, JOINED, None, "T", Doing.STOPPED),
        (UNSEEN, (), None, "S", Doing.UNSEEN),
        (9999, (1, 1, 1, 1), None, "S", Doing.OTHER),
    ],
)
def test_each_kind_of_wait(
    call: int, args: tuple[int, ...], place: Place | None, state: str, doing: Doing
) -> None:
    one = span(MAIN, 0, 1000, call, args, state=state, place=0 if place else -1)
    told = account(recording(one, places=(place,) if place else ()))
    assert table(told) == {doing: 1000}


def test_what_others_run_while_main_waits_is_work_and_the_collectors_is_its_own() -> None:
    told = account(
        recording(
            span(MAIN, 0, 1000),
            span(WORKER, 0, 1000, RUNNING, (), cpu_ms=600),
            span(GC, 0, 1000, RUNNING, (), cpu_ms=300),
        )
    )
    assert table(told) == {Doing.CPU: 600, Doing.GC: 300, Doing.WAITING: 100}


def test_a_queue_that_is_counted_late_belongs_to_the_time_before() -> None:
    told = account(
        recording(
            span(MAIN, 0, 400, RUNNING, (), cpu_ms=100),
            span(MAIN, 400, 1000, FUTEX, TIMED, queued_ms=700, cpu_ms=50),
        )
    )
    assert table(told) == {Doing.QUEUED: 700, Doing.CPU: 150, Doing.OTHER: 150}


def test_a_limit_that_holds_it_back_is_told_from_a_queue() -> None:
    one = span(MAIN, 0, 1000, RUNNING, (), cpu_ms=200, queued_ms=800)
    told = account(recording(one, throttled=((0, 5000), (500, 305_000), (900, 605_000))))
    assert table(told) == {Doing.THROTTLED: 600, Doing.CPU: 200, Doing.QUEUED: 200}
    unlimited = account(recording(one, throttled=((0, 0),)))
    assert table(unlimited) == {Doing.QUEUED: 800, Doing.CPU: 200}


def test_the_way_to_the_jvm_is_the_last_programs_that_was_waited_for() -> None:
    processes = (
        process(90, "catalina.sh", 0, 1000),
        process(91, "curl", 100, 590),
        process(PID, "java", 600, 1000, jvm=True),
    )
    told = account(recording(span(MAIN, 600, 1000, RUNNING, (), cpu_ms=400), processes=processes))
    assert table(told) == {Doing.LAUNCH: 600, Doing.CPU: 400}
    assert told.table[0].where == "curl"


def test_a_script_that_waits_for_random_bytes_is_named() -> None:
    processes = (
        process(91, "openssl", 0, 590),
        process(PID, "java", 600, 1000, jvm=True),
    )
    openssl = SampledThread(91, 91, 91, "openssl", 5)
    told = account(
        recording(
            read(91, 0, 500),
            span(MAIN, 600, 1000, RUNNING, (), cpu_ms=400),
            processes=processes,
            threads=(openssl,),
        )
    )
    assert table(told) == {Doing.RANDOM: 500, Doing.CPU: 400, Doing.LAUNCH: 100}
    assert [(w.name, w.jvm) for w in told.waits] == [("openssl", False)]


def test_nothing_came_up() -> None:
    told = account(recording(processes=(process(PID, "sh", 0, 1000),)))
    assert not told.jvm
    assert table(told) == {Doing.LAUNCH: 1000}


def test_lengths_that_shrink_are_progress_and_one_that_stands_is_none() -> None:
    drips = recording(
        read(MAIN, 0, 300, 20),
        read(MAIN, 320, 600, 14),
        read(MAIN, 600, 1000, 8),
        ending=Ending.TIME,
    )
    (wait,) = account(drips).waits
    assert (wait.lengths, wait.count, wait.over) == ((20, 14, 8), 1, False)
    assert wait.progress is Progress.PROGRESSING
    (stuck,) = account(recording(read(MAIN, 0, 3000), watched_ms=3000, ending=Ending.TIME)).waits
    assert stuck.progress is Progress.STUCK
    (short,) = account(recording(read(MAIN, 600, 1000), ending=Ending.TIME)).waits
    assert short.progress is None, "too short to tell"


def test_a_thread_that_moved_on_to_the_next_seed_is_progress() -> None:
    told = recording(
        read(MAIN, 0, 300),
        span(MAIN, 300, 600, RUNNING, (), cpu_ms=300),
        read(MAIN, 600, 1000),
        ending=Ending.TIME,
    )
    (wait,) = account(told).waits
    assert (wait.count, wait.ms, wait.last_ms) == (2, 700, 400)
    assert wait.progress is Progress.PROGRESSING


@pytest.mark.parametrize(
    ("ending", "over"), [(Ending.EXIT, True), (Ending.KILLED, False), (Ending.TIME, False)]
)
def test_a_wait_at_the_end_is_over_only_where_the_program_ended_by_itself(
    ending: Ending, *, over: bool
) -> None:
    (wait,) = account(recording(read(MAIN, 0, 1000), ending=ending)).waits
    assert wait.over is over


@pytest.mark.parametrize(
    ("ending", "code", "jvm_until", "ended"),
    [
        (Ending.EXIT, 0, 1000, False),  # between the last look and the end it may have left it
        (Ending.EXIT, 124, 1000, True),  # timeout(1)
        (Ending.KILLED, 137, 1000, True),
        (Ending.TIME, None, 1000, False),  # it waits still
        (Ending.TIME, None, 600, True),  # its script goes on
        (Ending.TIME, 0, 600, False),
    ],
)
def test_a_jvm_that_ends_in_its_wait_did_not_go_on(
    ending: Ending, code: int | None, jvm_until: int, *, ended: bool
) -> None:
    jvm = process(PID, "java", 0, jvm_until, jvm=True)
    told = recording(read(MAIN, 0, jvm_until), ending=ending, processes=(jvm,))
    (wait,) = account(dataclasses.replace(told, exit_code=code)).waits
    assert wait.ended is ended
    assert not (wait.over and ended)


def test_a_program_before_the_jvm_ends_because_its_wait_is_over() -> None:
    processes = (process(PID, "java", 500, 1000, jvm=True), process(90, "openssl", 0, 500))
    thread = SampledThread(90, 90, 90, "openssl", 1)
    told = recording(read(90, 0, 500), ending=Ending.KILLED, processes=processes, threads=(thread,))
    (wait,) = account(told).waits
    assert (wait.over, wait.ended, wait.jvm) == (True, False, False)


def test_the_main_thread_of_a_program_that_embeds_the_jvm_is_its_first() -> None:
    """jsvc; on JDK 8 the second thread is the collector's, and bears no name of its own."""
    told = recording(span(MAIN, 0, 1000, FUTEX, JOINED, cpu_ms=1))
    busy = span(PID, 0, 1000, RUNNING, (), cpu_ms=900)
    first = account(dataclasses.replace(told, spans=(busy, *told.spans[1:]))).table[0]
    assert (first.doing, first.tid) == (Doing.CPU, PID)


def test_the_dump_names_the_thread_and_the_code_that_waited_then() -> None:
    frames = (Frame("java.lang.Thread", "sleep"), Frame("a.B", "c"))
    thread = JavaThread(name="deployer", nid=WORKER, frames=frames)
    main = JavaThread(name="main", nid=MAIN, frames=frames)
    dumps = ThreadDumps((ThreadDump(origin="attach", threads=(main, thread)),))
    told = account(
        recording(
            span(MAIN, 0, 700, FUTEX, TIMED),
            span(MAIN, 700, 1000, RUNNING, (), cpu_ms=300),
            dumped_ms=400,
        ),
        dumps,
    )
    sleeping, working = told.table
    assert (sleeping.frame, sleeping.caller) == ("java.lang.Thread.sleep", "a.B.c")
    assert (working.frame, working.caller) == ("", ""), "it was not seen at work"


def test_a_long_and_busy_recording_is_accounted_for_in_time() -> None:
    spans = []
    for tid in range(MAIN, MAIN + 20):
        for at in range(0, 40_000, 40):
            spans += [
                span(tid, at, at + 20, FUTEX, JOINED, cpu_ms=1),
                span(tid, at + 20, at + 40, RUNNING, (), cpu_ms=15),
            ]
    threads = [SampledThread(PID, tid, tid, f"w{tid}", 20) for tid in range(104, MAIN + 20)]
    told = recording(*spans, watched_ms=40_000, threads=threads)
    began = time.process_time()
    account(told)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("wchan", "doing"),
    [
        ("_random_read.part.35", Doing.RANDOM),
        ("wait_for_random_bytes.part.0", Doing.RANDOM),
        ("futex_do_wait", Doing.WAITING),
        ("hrtimer_nanosleep", Doing.SLEEPING),
        ("inet_csk_accept", Doing.ACCEPT),
        ("anon_pipe_read", Doing.READ),
        ("something_new", Doing.OTHER),
    ],
)
def test_where_calls_may_not_be_seen_the_wait_channel_tells(wchan: str, doing: Doing) -> None:
    """Yama 1: the same user may read the wait channel, and not the system call."""
    one = span(MAIN, 0, 1000, UNSEEN, (), place=0)
    told = account(recording(one, places=(Place(-1, wchan, WCHAN),)))
    assert table(told) == {doing: 1000}
    assert told.visible
    assert bool(told.waits) is (doing is Doing.RANDOM)


def test_the_jvms_own_counts_are_what_came_in_between() -> None:
    told = account(recording(counters=(Counters(0, 5, 100, 4096), Counters(900, 25, 900, 1 << 20))))
    assert (told.major_faults, told.read_kib, told.rss_kib) == (20, 1020, 900)
    hidden = account(recording(counters=(Counters(0, 5, 100, -1), Counters(900, 25, 900, 9))))
    assert hidden.read_kib is None, "not allowed to see is not nothing"
    assert account(recording()).read_kib is None
