"""The rules on what happened to a process: each on its lines, none on others'."""

from __future__ import annotations

import pytest

from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.finding import Confidence, Severity
from seedstall.model.incident import Incident, IncidentKind, Incidents
from seedstall.model.limits import CpuThrottling, Paging
from seedstall.model.rule import Rule
from seedstall.model.standing import Debugged, Place, Standing, Standings, WorkShares
from seedstall.model.threads import Frame, JavaThread, ThreadDump, ThreadDumps
from seedstall.model.verdict import Cause, Status
from seedstall.rules.ss529_schema_lock import schema_lock
from seedstall.rules.ss532_debugger_wait import debugger_wait
from seedstall.rules.ss533_provider_recursion import provider_recursion
from seedstall.rules.ss535_cpu_throttled import cpu_throttled
from seedstall.rules.ss536_cpu_spin import cpu_spin
from seedstall.rules.ss537_collecting import collecting
from seedstall.rules.ss538_out_of_memory import out_of_memory
from seedstall.rules.ss539_killed_while_starting import killed_while_starting
from seedstall.rules.ss542_resource_refused import resource_refused
from seedstall.rules.ss543_safepoint_wait import safepoint_wait
from seedstall.rules.ss544_swapped_out import swapped_out

NONE = Missing(Why.NOT_COLLECTED)


def incidents(*kinds: IncidentKind, value: int | None = None) -> Incidents:
    return Incidents(tuple(Incident(k, "t.txt", 3, f"{k} \x1b[31m", value) for k in kinds))


@pytest.mark.parametrize(
    ("kinds", "severity", "confidence", "words"),
    [
        ((IncidentKind.PROBE,), Severity.WARNING, Confidence.POSSIBLE, "that it was killed for it is not said"),
        ((IncidentKind.PROBE, IncidentKind.TERMINATED), Severity.ERROR, Confidence.LIKELY, "exit code 143"),
        ((IncidentKind.PROBE, IncidentKind.RESTARTS), Severity.ERROR, Confidence.LIKELY, "its probe failed"),
        ((IncidentKind.PROBE_KILL,), Severity.ERROR, Confidence.CONFIRMED, "its probe failed"),
        ((IncidentKind.START_TIMEOUT,), Severity.ERROR, Confidence.LIKELY, "TimeoutStartSec"),
        ((IncidentKind.SIGNAL,), Severity.WARNING, Confidence.POSSIBLE, "ended by a signal"),
        ((IncidentKind.TERMINATED,), Severity.NOTE, Confidence.POSSIBLE, "ended by a signal"),
        ((IncidentKind.RESTARTS,), Severity.WARNING, Confidence.POSSIBLE, "why is not said"),
    ],
)  # fmt: skip
def test_a_start_that_was_ended(
    kinds: tuple[IncidentKind, ...], severity: Severity, confidence: Confidence, words: str
) -> None:
    (finding,) = killed_while_starting(incidents(*kinds, value=143))
    assert (finding.cause, finding.status) == (Cause.KILLED, Status.ENDED)
    assert (finding.severity, finding.confidence) == (severity, confidence)
    assert words in finding.sentence
    assert "\x1b" not in finding.evidence[0].excerpt
    assert finding.evidence[0].origin == "t.txt:3"


def test_the_oom_killers_signal_is_memorys() -> None:
    both = incidents(IncidentKind.OUT_OF_MEMORY_KILL, IncidentKind.SIGNAL)
    assert list(killed_while_starting(both)) == []
    (finding,) = out_of_memory(both)
    assert (finding.cause, finding.status) == (Cause.MEMORY, Status.ENDED)
    (heap,) = out_of_memory(incidents(IncidentKind.HEAP))
    assert (heap.cause, heap.status) == (Cause.MEMORY, Status.SLOW)


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        (IncidentKind.PORT, Cause.APPLICATION),
        (IncidentKind.DISK, Cause.IO),
        (IncidentKind.FILES, Cause.IO),
    ],
)
def test_what_was_refused(kind: IncidentKind, cause: Cause) -> None:
    (finding,) = resource_refused(incidents(kind))
    assert finding.cause is cause


def test_a_safepoint() -> None:
    (finding,) = safepoint_wait(incidents(IncidentKind.SAFEPOINT))
    assert finding.cause is Cause.SAFEPOINT


@pytest.mark.parametrize(
    "rule", [killed_while_starting, out_of_memory, resource_refused, safepoint_wait]
)
def test_texts_that_say_nothing_of_it_are_clear(rule: object) -> None:
    assert list(rule(incidents())) == []  # type: ignore[operator]
    assert list(rule(incidents(IncidentKind.DEBUGGER))) == []  # type: ignore[operator]


# --- the debugger ----


def test_a_debugger_is_waited_for() -> None:
    seen = Debugged("-agentlib:jdwp=server=y", "cmdline[1]", suspended=True, listening=9)
    (finding,) = debugger_wait(seen, None)
    assert (finding.cause, finding.confidence) == (Cause.JDWP_SUSPEND, Confidence.CONFIRMED)
    (unseen,) = debugger_wait(Debugged("-Xrunjdwp:", "x", suspended=True), None)
    assert unseen.confidence is Confidence.LIKELY
    (told,) = debugger_wait(NONE, incidents(IncidentKind.DEBUGGER))
    assert told.confidence is Confidence.POSSIBLE, "one with suspend=n prints it as well"


def test_a_program_that_runs_refutes_the_text() -> None:
    assert list(debugger_wait(Debugged(), incidents(IncidentKind.DEBUGGER))) == []
    assert list(debugger_wait(NONE, incidents())) == []
    with pytest.raises(Unavailable):
        list(debugger_wait(NONE, None))


# --- providers ----


def turning(times: int) -> ThreadDumps:
    frames = (Frame("java.security.SecureRandom", "getInstanceStrong"), Frame("x.P", "new")) * times
    return ThreadDumps((ThreadDump("d", (JavaThread("main", frames),)),))


@pytest.mark.parametrize(("times", "fires"), [(1, False), (2, False), (3, True), (400, True)])
def test_a_strong_generator_asked_for_within_itself(times: int, fires: bool) -> None:  # noqa: FBT001
    told = list(provider_recursion(turning(times), NONE))
    assert bool(told) == fires
    for finding in told:
        assert finding.cause is Cause.PROVIDER_CONFIG


def test_no_strong_generator() -> None:
    (finding,) = provider_recursion(NONE, incidents(IncidentKind.NO_STRONG))
    assert finding.cause is Cause.PROVIDER_CONFIG
    with pytest.raises(Unavailable):
        list(provider_recursion(NONE, NONE))


# --- work ----


@pytest.mark.parametrize(
    ("periods", "throttled", "stopped", "age", "severity"),
    [
        (400, 310, 28_000, 45_000, Severity.ERROR),
        (400, 310, 28_000, None, Severity.WARNING),
        (400, 310, 28_000, 5_000, Severity.WARNING),
        (400, 120, 9_000, 45_000, Severity.WARNING),
        (400, 20, 9_000, 45_000, None),
        (9, 9, 9_000, 45_000, None),
        (400, 310, 900, 45_000, None),
    ],
)
def test_a_quota_that_stops(
    periods: int, throttled: int, stopped: int, age: int | None, severity: Severity | None
) -> None:
    told = list(cpu_throttled(CpuThrottling(periods, throttled, stopped, "cpu.stat", age)))
    assert [finding.severity for finding in told] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("busy", "queued", "alive", "fires"),
    [
        (19_000, 0, 20_000, True),
        (6_000, 12_000, 20_000, True),
        (1_000, 18_000, 20_000, False),
        (9_000, 0, 20_000, False),
        (8_000, 0, 9_000, False),
        (None, 0, 20_000, False),
    ],
)
def test_a_thread_that_never_waits(
    busy: int | None,
    queued: int,
    alive: int,
    fires: bool,  # noqa: FBT001
) -> None:
    place = Place(Cause.APPLICATION, "runs", "a.B.spin")
    thread = JavaThread("main", (Frame("a.B", "spin"),))
    one = Standing(thread, place, busy_ms=busy, queued_ms=queued, alive_ms=alive)
    assert bool(list(cpu_spin(Standings((one,))))) == fires


@pytest.mark.parametrize(
    ("collector", "total", "fires"),
    [(18_000, 20_000, True), (9_000, 20_000, False), (4_000, 4_100, False), (0, 0, False)],
)
def test_the_collector(collector: int, total: int, fires: bool) -> None:  # noqa: FBT001
    assert bool(list(collecting(WorkShares(collector, total, "x"), NONE))) == fires


def test_the_collectors_log() -> None:
    (finding,) = collecting(NONE, incidents(IncidentKind.COLLECTIONS))
    assert (finding.cause, finding.confidence) == (Cause.GC, Confidence.LIKELY)
    with pytest.raises(Unavailable):
        list(collecting(NONE, NONE))


@pytest.mark.parametrize(
    ("paging", "severity"),
    [
        (Paging(400_000, 300_000, 5_000), Severity.WARNING),
        (Paging(400_000, 300_000, 5, 40.0), Severity.WARNING),
        (Paging(400_000, 300_000, 5, 0.0), Severity.NOTE),
        (Paging(400_000, 300_000, 5), Severity.NOTE),
        (Paging(400_000, 40_000, 5_000), None),
        (Paging(4_000_000, 300_000, 5_000), None),
        (Paging(0, 0, 0), None),
    ],
)
def test_swap(paging: Paging, severity: Severity | None) -> None:
    told = list(swapped_out(paging))
    assert [finding.severity for finding in told] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (out_of_memory, IncidentKind.HEAP),
        (resource_refused, IncidentKind.PORT),
        (killed_while_starting, IncidentKind.START_TIMEOUT),
        (safepoint_wait, IncidentKind.SAFEPOINT),
    ],
)
def test_what_a_later_start_got_over_is_a_note(rule: Rule[...], kind: IncidentKind) -> None:
    (finding,) = rule(Incidents((Incident(kind, "t.txt", 3, "x", over=True),)))
    assert (finding.severity, finding.status) == (Severity.NOTE, Status.CLEAR)
    assert "the log goes on" in finding.sentence


def test_the_oom_killer_may_have_ended_another_program() -> None:
    def of(who: str) -> Severity:
        line = Incident(IncidentKind.OUT_OF_MEMORY_KILL, "t.txt", 3, "x", who=who)
        (finding,) = out_of_memory(Incidents((line,)))
        return finding.severity

    assert of("mysqld") is Severity.NOTE
    assert {of("java"), of("jsvc"), of("app.service"), of("")} == {Severity.ERROR}


def test_who_is_named_is_named() -> None:
    def first(rule: Rule[...], kind: IncidentKind) -> str:
        (finding,) = rule(Incidents((Incident(kind, "t.txt", 3, "x", who="w\x1b"),)))
        return str(finding.sentence)

    for rule, kind in (
        (killed_while_starting, IncidentKind.PROBE_KILL),
        (killed_while_starting, IncidentKind.START_TIMEOUT),
        (safepoint_wait, IncidentKind.SAFEPOINT),
    ):
        assert "w" in first(rule, kind)
        assert "\x1b" not in first(rule, kind)


def test_liquibase_says_itself_that_it_waits() -> None:
    line = Incident(IncidentKind.SCHEMA_LOCK, "t.txt", 3, "x", who="web1 (10.0.0.1)")
    (finding,) = schema_lock(NONE, Incidents((line,)))
    assert (finding.cause, finding.severity) == (Cause.MIGRATION, Severity.WARNING)
    assert "held by web1 (10.0.0.1)" in finding.sentence
    place = Place(Cause.MIGRATION, "waits for the lock of a schema migration", "l.x")
    (seen,) = schema_lock(Standings((Standing(JavaThread("main"), place),)), Incidents((line,)))
    assert [e.origin for e in seen.evidence][-1] == "t.txt:3"
    assert list(schema_lock(Standings(), Incidents(()))) == []
    for incidents_ in (NONE, Incidents(())):
        with pytest.raises(Unavailable):
            list(schema_lock(NONE, incidents_))
