"""When things happened in a start, from samples, the process's own clock, several dumps or a server's log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from seedstall.facts.dumpseries import moments, series
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.log import Run, SeedingLine, ServerLog, Silence, StartLine
from seedstall.model.samples import Doing, StartSamples
from seedstall.model.seeding import SeedRole
from seedstall.model.standing import Standings
from seedstall.model.tasks import Tasks
from seedstall.model.threads import ThreadDumps
from seedstall.model.timeline import Bar, Event, Kind, Timeline, Timelines
from seedstall.model.verdict import Cause
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.source.base import Source

MOST_LANES = 12
MOST_BARS = 600
MOST_EVENTS = 60
MOST_LINES = 4
LONGEST = 160
"""Characters kept of a name or an excerpt."""

_WORK = frozenset((Doing.CPU, Doing.GC, Doing.LAUNCH))
_ELSE = frozenset((Doing.UNSEEN, Doing.OTHER))


def timelines(
    _source: Source,
    samples: StartSamples | None,
    seeds: SeedEvidence | None,
    dumps: ThreadDumps | None,
    tasks: Tasks | None,
    standings: Standings | None,
) -> Timelines:
    """Every time line that the case's evidence gives.

    Raises:
        Unavailable: nothing in it tells a time.
    """
    log = seeds.log if seeds is not None else None
    found = [
        *_of_samples(samples),
        *_of_process(seeds, tasks, standings),
        *_of_dumps(seeds, dumps),
        *_of_log(log),
    ]
    if not found:
        raise Unavailable(Missing(Why.NOT_COLLECTED, (), "nothing tells when things happened"))
    return Timelines(tuple(found[:MOST_LINES]))


def _line(
    told_by: str,
    zero: str,
    span_ms: int,
    lanes: Sequence[str],
    bars: Sequence[Bar],
    events: Iterable[Event] = (),
) -> Timeline:
    """A time line within its bounds."""
    events = sorted(events)
    shown = [bar for bar in bars if bar.lane < MOST_LANES]
    beyond = max(0, len(lanes) - MOST_LANES) + max(0, len(shown) - MOST_BARS)
    return Timeline(
        told_by=told_by,
        zero=zero,
        span_ms=span_ms,
        lanes=tuple(map(_short, lanes[:MOST_LANES])),
        bars=tuple(bar._replace(words=_short(bar.words)) for bar in shown[:MOST_BARS]),
        events=tuple(e._replace(words=_short(e.words)) for e in events[:MOST_EVENTS]),
        left_out=beyond + max(0, len(events) - MOST_EVENTS),
    )


# --- samples


def _of_samples(samples: StartSamples | None) -> Iterator[Timeline]:
    if samples is None or not samples.line:
        return
    whose = next((s.thread for s in samples.table if s.thread), "main")
    bars = [Bar(0, s.since_ms, s.until_ms, _kind(s.doing), str(s.doing)) for s in samples.line]
    lanes = [f'"{whose}"' if whose == "main" else "the start's own thread"]
    for lane, wait in enumerate(samples.waits, 1):
        lanes.append(f'"{wait.name}" ({wait.tid})')
        what = f"{wait.call} of {wait.file.path}" if wait.file is not None else wait.call
        bars += (
            Bar(lane, since, until, Kind.SEEDING, what, f"samples of thread {wait.tid}", last)
            for since, until, last in _spans(wait.spans, over=wait.over)
        )
    zero = "the launch" if samples.from_start else "the first look"
    yield _line("samples", zero, samples.watched_ms, lanes, bars)


def _spans(spans: Sequence[tuple[int, int]], *, over: bool) -> Iterator[tuple[int, int, bool]]:
    for at, (since, until) in enumerate(spans, 1):
        yield since, until, not over and at == len(spans)


def _kind(doing: Doing) -> Kind:
    if doing is Doing.RANDOM:
        return Kind.SEEDING
    if doing in _WORK:
        return Kind.WORKING
    return Kind.OTHER if doing in _ELSE else Kind.WAITING


# --- a process that is there


def _of_process(
    seeds: SeedEvidence | None, tasks: Tasks | None, standings: Standings | None
) -> Iterator[Timeline]:
    """From its launch to the moment we looked: who has stood where he stands since when, at the least."""
    age = tasks.age_ms if tasks is not None else None
    if not age or tasks is None or tasks.of_core:
        return
    rows = [*_seed_rows(seeds), *_standing_rows(standings)]
    if not rows:
        return
    bars = [
        Bar(lane, max(0, age - since), age, kind, words, origin, open=True, at_least=True)
        for lane, (_, since, kind, words, origin) in enumerate(rows)
    ]
    yield _line("process", "the launch", age, [name for name, *_ in rows], bars)


_Row = tuple[str, int, Kind, str, str]
"""The thread, since when, what kind, in words, and what says it."""


def _seed_rows(seeds: SeedEvidence | None) -> Iterator[_Row]:
    for wait in (*seeds.waits, *seeds.queued) if seeds is not None else ():
        if wait.since_ms:
            yield wait.name, wait.since_ms, Kind.SEEDING, _seed_words(wait), wait.since_from


def _seed_words(wait: SeedWait) -> str:
    if wait.role is SeedRole.QUEUED:
        return "waits for a generator that another thread is seeding"
    file = wait.task.file if wait.task is not None else None
    return f"waits for random bytes from {file.path}" if file is not None else "waits for its seed"


def _standing_rows(standings: Standings | None) -> Iterator[_Row]:
    for one in standings.standings if standings is not None else ():
        if one.since_ms:
            kind = Kind.WORKING if one.root.cause is Cause.APPLICATION else Kind.WAITING
            yield f'"{one.thread.name}"', one.since_ms, kind, one.root.words, one.since_from


# --- dumps


def _of_dumps(seeds: SeedEvidence | None, dumps: ThreadDumps | None) -> Iterator[Timeline]:
    """The last series: when each dump was taken, and what stood in its place from one to another."""
    if dumps is None or not dumps.dumps:
        return
    group = series(dumps.dumps)[-1]
    told, from_launch = moments(group)
    times = [at for at in told if at is not None]
    if not times:
        return
    zero = 0.0 if from_launch else min(times)
    end = round(max(times) - zero)
    if end <= 0:
        return
    events = [
        Event(round(at - zero), f"thread dump {number}", _place(dump.origin, dump.line))
        for number, (dump, at) in enumerate(zip(group, told, strict=True), 1)
        if at is not None
    ]
    lanes: list[str] = []
    bars: list[Bar] = []
    newest = {id(thread) for thread in group[-1].threads}
    for wait in (*seeds.waits, *seeds.queued) if seeds is not None else ():
        if wait.java is None or id(wait.java) not in newest:
            continue
        since = max(wait.since_ms or 0, wait.over_ms or 0)
        if not since:
            continue  # seen once: when it began, nothing tells
        origin = f"{wait.dumps_seen} of {wait.dumps} dumps" if wait.dumps else ""
        bars.append(
            Bar(
                len(lanes), max(0, end - since), end, Kind.SEEDING, _seed_words(wait), origin,
                open=True, at_least=True,
            )
        )  # fmt: skip
        lanes.append(wait.name)
    if not bars and len(times) < 2:  # noqa: PLR2004 - one moment
        return
    zero_words = "the JVM's start" if from_launch else "the first dump"
    yield _line("dumps", zero_words, end, lanes or ["dumps"], bars, events)


def _place(origin: str, line: int) -> str:
    return f"{origin}:{line}" if line else origin


# --- a server's log


def _of_log(log: ServerLog | None) -> Iterator[Timeline]:
    """The last start of each input, as far as its lines have times."""
    if log is None:
        return
    for run in islice(log.last_runs(), MOST_LINES):
        line = _of_run(run, log)
        if line is not None:
            yield line


class _Sheet:
    """The lanes and bars of one start of a log; times count from its first line."""

    def __init__(self, begun: int) -> None:
        self._begun = begun
        self.lanes: list[str] = []
        self.bars: list[Bar] = []

    def enter(self, lane: str, ended: int | None, ms: int, kind: Kind, words: str, at: str) -> None:
        """Something that took *ms* and was over at *ended*, a time of day."""
        from seedstall.parse.serverstart import passed_ms  # noqa: PLC0415 - of a log only

        if ended is None or ms <= 0:
            return
        if lane not in self.lanes:
            self.lanes.append(lane)
        until = max(passed_ms(self._begun, ended), ms)
        self.bars.append(Bar(self.lanes.index(lane), until - ms, until, kind, words, at))


def _of_run(run: Run, log: ServerLog) -> Timeline | None:
    from seedstall.parse.serverstart import time_of_day  # noqa: PLC0415 - of a log only

    begun = _begun(run)
    if begun is None:
        return None
    sheet = _Sheet(begun)
    if run.start is not None:
        took, place = run.start.took_ms, _place(run.start.origin, run.start.line)
        words = f"up after {took} ms"
        sheet.enter(_WHOLE, _ended(run.start), took, Kind.WORKING, words, place)
    for line in run.seeding[:MOST_BARS]:
        lane = f'seeding in "{line.thread}"' if line.thread else "seeding"
        words = f"seeding took {line.took_ms} ms"
        place = _place(line.origin, line.line)
        sheet.enter(lane, _ended(line), line.took_ms, Kind.SEEDING, words, place)
    for done in islice((d for d in log.deployments if _within(d, run)), MOST_BARS):
        words, place = f"deployed in {done.took_ms} ms", _place(done.origin, done.line)
        sheet.enter("web applications", _ended(done), done.took_ms, Kind.WORKING, words, place)
    for gap in islice((gap for gap in log.silences if _within(gap, run)), 1):
        words = f"nothing was logged between line {gap.line} and {gap.until_line}"
        place = _place(gap.origin, gap.line)
        ended = time_of_day(gap.after)
        sheet.enter("longest silence", ended, gap.ms, Kind.SILENT, words, place)
    if not sheet.bars:
        return None
    first = run.begin
    events = [Event(0, "its first line", _place(first.origin, first.line))] if first else []
    zero = "the first line of the start" if first is not None else "the start"
    span = max(bar.until_ms for bar in sheet.bars)
    return _line("log", zero, span, sheet.lanes, sheet.bars, events)


_WHOLE = "the start, as the server counts it"


def _ended(line: SeedingLine | StartLine) -> int | None:
    """The time of day at which it was written: what it tells of was over."""
    from seedstall.parse.serverstart import time_of_day  # noqa: PLC0415 - of a log only

    return time_of_day(line.stamp or line.excerpt)


def _begun(run: Run) -> int | None:
    """When this start began: by its first line, else by what its last or its seeding line says it took."""
    from seedstall.parse.serverstart import time_of_day  # noqa: PLC0415 - of a log only

    if run.begin is not None and (begun := time_of_day(run.begin.excerpt)) is not None:
        return begun
    told: list[SeedingLine | StartLine] = [run.start] if run.start is not None else []
    for line in (*told, *run.seeding):
        ended = _ended(line)
        if ended is not None and line.took_ms:
            return (ended - line.took_ms) % _DAY
    return None


def _within(line: StartLine | Silence, run: Run) -> bool:
    """Whether it stands between the lines of this start."""
    if line.origin != run.origin:
        return False
    first = run.begin.line if run.begin is not None else 0
    last = run.start.line if run.start is not None else line.line
    return first <= line.line <= last


_DAY = 86_400_000


def _short(text: str) -> str:
    text = text.replace("\n", " ")
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}... ({len(text) - LONGEST} characters more)"


PROVIDERS = (timelines,)
