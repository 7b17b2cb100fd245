from __future__ import annotations

from dataclasses import replace

import pytest
from tests.facts_by_hand import dumped, seeds, task
from tests.samples_by_hand import MAIN, WORKER, read, recording, span

from seedstall.facts.startaccount import account
from seedstall.facts.timeline import MOST_BARS, MOST_EVENTS, MOST_LANES, timelines
from seedstall.model.evidence import Unavailable
from seedstall.model.log import BeginLine, SeedingLine, ServerLog, Silence, StartLine
from seedstall.model.recording import RUNNING
from seedstall.model.samples import StartSamples
from seedstall.model.standing import Place, Standing, Standings
from seedstall.model.tasks import Tasks
from seedstall.model.threads import JavaThread, ThreadDump, ThreadDumps
from seedstall.model.timeline import Kind, Timeline
from seedstall.model.verdict import Cause
from seedstall.model.waits import SeedEvidence
from seedstall.source.base import Held


def lines(
    samples: StartSamples | None = None,
    evidence: SeedEvidence | None = None,
    dumps: ThreadDumps | None = None,
    tasks: Tasks | None = None,
    standings: Standings | None = None,
) -> tuple[Timeline, ...]:
    return timelines(Held({}), samples, evidence, dumps, tasks, standings).lines


def times(line: Timeline) -> list[tuple[str, int, int, str]]:
    return [(line.lanes[bar.lane], bar.since_ms, bar.until_ms, str(bar.kind)) for bar in line.bars]


def test_nothing_that_tells_a_time_is_no_time_line() -> None:
    with pytest.raises(Unavailable):
        lines()
    with pytest.raises(Unavailable):
        lines(
            evidence=seeds(dumped()), dumps=ThreadDumps((ThreadDump("a", (JavaThread("main"),)),))
        )


def test_samples_give_the_thread_that_counts_and_every_wait_in_a_lane_of_its_own() -> None:
    told = account(
        recording(
            read(MAIN, 0, 600), span(MAIN, 600, 800, RUNNING, (), cpu_ms=200), span(MAIN, 800, 1000),
            read(WORKER, 100, 300), read(WORKER, 500, 900),
        )
    )  # fmt: skip
    (line,) = lines(told)

    assert (line.told_by, line.zero, line.span_ms) == ("samples", "the launch", 1000)
    assert times(line) == [
        ('"main"', 0, 600, "seeding"), ('"main"', 600, 800, "working"), ('"main"', 800, 1000, "waiting"),
        *[(line.lanes[lane], *rest) for lane, rest in _WAITS],
    ]  # fmt: skip
    assert line.bars[0].words == "waiting for random bytes"


_WAITS = [(1, (0, 600, "seeding")), (2, (100, 300, "seeding")), (2, (500, 900, "seeding"))]


def test_a_live_process_tells_since_when_at_the_least() -> None:
    wait = replace(dumped(), task=task(), since_ms=185_000, since_from="task/33/sched")
    (line,) = lines(evidence=seeds(wait), tasks=Tasks((task(),), age_ms=200_000))

    assert times(line) == [('"main"', 15_000, 200_000, "seeding")]
    (bar,) = line.bars
    assert (bar.open, bar.at_least, bar.origin) == (True, True, "task/33/sched")
    assert bar.words == "waits for random bytes from /dev/random"


def test_another_cause_is_shown_likewise() -> None:
    place = Place(Cause.DNS, "waits for an answer of the name service", "java.net.X.y")
    standing = Standing(JavaThread("main"), place, since_ms=5_000, since_from="two dumps")
    (line,) = lines(tasks=Tasks((), age_ms=9_000), standings=Standings((standing,)))

    assert times(line) == [('"main"', 4_000, 9_000, "waiting")]


def series(*ages_ms: float) -> tuple[SeedEvidence, ThreadDumps]:
    wait = dumped()
    assert wait.java is not None
    dumps = tuple(
        ThreadDump("jstack.txt", (replace(wait.java, elapsed_ms=age, cpu_ms=5.0),), line=n)
        for n, age in enumerate(ages_ms, 1)
    )
    last = replace(wait, java=dumps[-1].threads[0], over_ms=int(ages_ms[-1] - ages_ms[0]) or None)
    return seeds(last), ThreadDumps(dumps)


def test_dumps_give_moments_and_what_stood_between_them() -> None:
    evidence, dumps = series(4000, 9000, 14_000)
    (line,) = lines(evidence=evidence, dumps=dumps)

    assert (line.told_by, line.zero, line.span_ms) == ("dumps", "the JVM's start", 14_000)
    assert times(line) == [('"main"', 4000, 14_000, "seeding")]
    assert [(e.at_ms, e.words, e.origin) for e in line.events] == [
        (4000, "thread dump 1", "jstack.txt:1"), (9000, "thread dump 2", "jstack.txt:2"),
        (14_000, "thread dump 3", "jstack.txt:3"),
    ]  # fmt: skip


def test_dumps_with_a_time_line_alone_count_from_the_first() -> None:
    dumps = ThreadDumps(tuple(
        ThreadDump("a", (JavaThread("main", nid=n),), taken_at=f"2026-01-01 10:00:{n:02}") for n in (5, 5 + 20)
    ))  # fmt: skip
    dumps = ThreadDumps(
        tuple(replace(d, threads=(JavaThread("main", nid=1),)) for d in dumps.dumps)
    )
    (line,) = lines(dumps=dumps)

    assert (line.zero, line.span_ms, line.bars) == ("the first dump", 20_000, ())


def server_log(**more: object) -> ServerLog:
    begin = BeginLine(
        "c.out", 1, "Tomcat", "version", "30-Nov-2026 23:59:55.000 INFO [main] x Server version"
    )
    seeding = SeedingLine(
        "c.out",
        8,
        4000,
        "SHA1PRNG",
        thread="main",
        stamp="01-Dec-2026 00:00:00.500",
        excerpt="took",
    )
    start = StartLine("c.out", 9, 5500, "startup", stamp="01-Dec-2026 00:00:01.000")
    values: dict[str, object] = {
        "begins": (begin,),
        "seeding": (seeding,),
        "starts": (start,),
        **more,
    }
    return ServerLog(**values)  # type: ignore[arg-type]


def test_a_log_gives_the_start_its_seeding_and_its_silence_past_midnight_too() -> None:
    silence = Silence("c.out", 7, 8, 3900, "23:59:56.600 a", "00:00:00.500 b")
    done = StartLine("c.out", 8, 4500, stamp="01-Dec-2026 00:00:00.900")
    (line,) = lines(evidence=seeds(log=server_log(silences=(silence,), deployments=(done,))))

    assert (line.told_by, line.zero, line.span_ms) == ("log", "the first line of the start", 6000)
    assert times(line) == [
        ("the start, as the server counts it", 500, 6000, "working"),
        ('seeding in "main"', 1500, 5500, "seeding"),
        ("web applications", 1400, 5900, "working"),
        ("longest silence", 1600, 5500, "silent"),
    ]
    assert line.bars[1].origin == "c.out:8"


@pytest.mark.parametrize(
    ("lacking", "zero"),
    [
        ({"begins": ()}, "the start"),
        ({"begins": (), "starts": ()}, "the start"),
        ({"starts": ()}, "the first line of the start"),
    ],
)
def test_a_log_that_lacks_lines_still_shows_its_seeding(
    lacking: dict[str, object], zero: str
) -> None:
    (line,) = lines(evidence=seeds(log=server_log(**lacking)))

    assert line.zero == zero
    assert any(bar.until_ms - bar.since_ms == 4000 for bar in line.bars)


def test_a_log_without_times_gives_none() -> None:
    line = SeedingLine("c.out", 8, 4000, excerpt="Creation of SecureRandom took [4000] ms")

    with pytest.raises(Unavailable):
        lines(evidence=seeds(log=ServerLog(seeding=(line,))))


def test_every_time_line_is_bounded_and_counts_what_it_leaves_out() -> None:
    waits = [replace(dumped(f"{'t' * 1000}{n}"), since_ms=1000, since_from="x") for n in range(50)]
    (line,) = lines(evidence=seeds(*waits), tasks=Tasks((), age_ms=9000))

    assert len(line.lanes) == len(line.bars) == MOST_LANES
    assert line.left_out == 50 - MOST_LANES
    assert all(len(name) < 300 for name in line.lanes)


def test_samples_of_any_length_are_no_more_than_five_hundred_stretches() -> None:
    spans = [
        span(MAIN, n, n + 1, RUNNING if n % 2 else 202, (), cpu_ms=n % 2) for n in range(20_000)
    ]
    (line,) = lines(account(recording(*spans, watched_ms=20_000)))

    assert len(line.bars) <= 500 < MOST_BARS
    assert len(line.events) <= MOST_EVENTS
    assert {bar.kind for bar in line.bars} <= set(Kind)
