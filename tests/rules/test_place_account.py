"""The rules on places: how bad it is, how sure, what is said; each rule fires on its own place and on no other's."""

from __future__ import annotations

import pytest

from seedstall.knowledge.places import ASLEEP
from seedstall.model.evidence import Missing, Why
from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.rule import Rule
from seedstall.model.standing import Place, Standing, Standings
from seedstall.model.tasks import KernelTask, Syscall
from seedstall.model.threads import Frame, JavaThread, ThreadDump
from seedstall.model.verdict import Cause, Progress, Status
from seedstall.rules import ALL

NONE = Missing(Why.NOT_COLLECTED)
RULES = {rule.code: rule for rule in ALL if "SS521" <= rule.code <= "SS531" or rule.code == "SS534"}
OWN = {
    "SS521": Cause.DNS,
    "SS522": Cause.CONNECT,
    "SS523": Cause.JAR_SCAN,
    "SS524": Cause.CLASS_INIT,
    "SS525": Cause.FILE_LOCK,
    "SS526": Cause.CHILD,
    "SS527": Cause.NATIVE_INIT,
    "SS528": Cause.AGENT,
    "SS529": Cause.MIGRATION,
    "SS530": Cause.CONTENTION,
    "SS531": Cause.IO,
    "SS534": Cause.WAITING,
}
MAIN = JavaThread("main", (Frame("a.B", "wait"), Frame("a.Main", "main")), state="WAITING", line=7)
TASK = KernelTask(4, 4, "java", "S", syscall=Syscall(7, "poll", ()))


def standing(cause: Cause, **more: object) -> Standing:
    works = cause in (Cause.JAR_SCAN, Cause.APPLICATION)
    place = Place(cause, "waits there", "a.B.wait", "a.Main.main", working=works)
    return standing_at(place, **more)


def standing_at(place: Place, **more: object) -> Standing:
    return Standing(MAIN, place, ThreadDump("d.txt", (MAIN,)), **more)  # type: ignore[arg-type]


def findings(rule: Rule[...], *found: Standing, age_ms: int | None = None) -> list[Finding]:
    texts = (NONE,) if rule.code == "SS529" else ()
    return list(rule(Standings(found, age_ms=age_ms), *texts))


def test_each_rule_is_here() -> None:
    assert RULES.keys() == OWN.keys()


@pytest.mark.parametrize("code", OWN)
@pytest.mark.parametrize("other", OWN)
def test_a_rule_fires_on_its_own_place_alone(code: str, other: str) -> None:
    told = findings(RULES[code], standing(OWN[other], since_ms=60_000))
    assert bool(told) == (code == other)
    for finding in told:
        assert finding.cause is OWN[code]
        assert finding.sentence.startswith('not entropy: "main" waits there, called by a.Main.main')
        assert finding.evidence[0].origin == "d.txt:7"
        assert finding.notes


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.code)
def test_a_start_that_is_over_is_clear(rule: Rule[...]) -> None:
    assert findings(rule) == []


@pytest.mark.parametrize(
    ("cause", "since", "severity", "confidence", "status"),
    [
        (Cause.DNS, 60_000, Severity.ERROR, Confidence.CONFIRMED, Status.STALLED),
        (Cause.DNS, 3_000, Severity.WARNING, Confidence.CONFIRMED, Status.STALLED),
        (Cause.DNS, None, Severity.WARNING, Confidence.LIKELY, Status.STALLED),
        (Cause.CHILD, 60_000, Severity.WARNING, Confidence.LIKELY, Status.STALLED),
        (Cause.CONNECT, 60_000, Severity.WARNING, Confidence.LIKELY, Status.STALLED),
        (Cause.JAR_SCAN, None, Severity.NOTE, Confidence.LIKELY, Status.SLOW),
        (Cause.WAITING, 3_600_000, Severity.NOTE, Confidence.POSSIBLE, Status.STALLED),
        (Cause.WAITING, None, Severity.NOTE, Confidence.POSSIBLE, Status.STALLED),
        (Cause.APPLICATION, None, Severity.NOTE, Confidence.POSSIBLE, Status.SLOW),
    ],
)
def test_how_bad_and_how_sure(
    cause: Cause, since: int | None, severity: Severity, confidence: Confidence, status: Status
) -> None:
    code = next((code for code, own in OWN.items() if own is cause), "SS534")
    (finding,) = findings(RULES[code], standing(cause, since_ms=since))
    assert (finding.severity, finding.confidence, finding.status) == (severity, confidence, status)
    assert finding.since_ms == since


@pytest.mark.parametrize("code", OWN)
@pytest.mark.parametrize("since", [None, 0, 500, 1_900])
def test_a_healthy_start_stands_somewhere_at_any_moment(code: str, since: int | None) -> None:
    live = standing(OWN[code], since_ms=since, task=TASK)
    assert findings(RULES[code], live, age_ms=1_500) == []


def test_where_the_scheduler_forgot_since_when_it_is_as_little_known_as_of_a_text() -> None:
    live = standing(Cause.DNS, task=TASK)
    (old,) = findings(RULES["SS521"], live, age_ms=60_000)
    assert (old.severity, old.confidence) == (Severity.WARNING, Confidence.LIKELY)
    assert findings(RULES["SS521"], live, age_ms=3_000) == []


def test_a_connection_that_is_not_made_for_long_is_an_error() -> None:
    place = Place(Cause.CONNECT, "waits there", "x", connecting=True)
    (finding,) = RULES["SS522"](Standings((Standing(MAIN, place, since_ms=60_000),)))
    assert finding.severity is Severity.ERROR
    assert finding.progress is Progress.STUCK


def test_a_scan_is_as_long_as_the_process_is_old() -> None:
    live = standing(Cause.JAR_SCAN, since_ms=1, task=TASK)
    (old,) = findings(RULES["SS523"], live, age_ms=60_000)
    (young,) = findings(RULES["SS523"], live, age_ms=10_000)
    assert (old.severity, young.severity) == (Severity.WARNING, Severity.NOTE)
    assert old.progress is None


def test_a_place_with_a_name_tells_more_than_mains_without() -> None:
    waiting, named = standing(Cause.WAITING), standing(Cause.DNS)
    assert findings(RULES["SS534"], waiting, named) == []
    assert len(findings(RULES["SS521"], waiting, named)) == 1


def test_the_owner_and_the_far_end_are_told() -> None:
    owner = JavaThread("owner", (Frame("a.Pool", "open"),), line=20)
    beyond = Place(Cause.CONNECT, "waits for a connection", "sun.nio.ch.Net.connect", "a.Pool.open")
    held = standing(Cause.CONTENTION, owner=owner, owner_place=beyond, on="10.0.0.7:5432")
    (finding,) = findings(RULES["SS522"], held)
    assert (
        '"owner" has it, and waits for a connection (10.0.0.7:5432), called by a.Pool.open'
        in finding.sentence
    )
    assert [e.origin for e in finding.evidence] == ["d.txt:7", "d.txt:20"]


def test_a_circle_is_an_error_at_once() -> None:
    (finding,) = findings(RULES["SS524"], standing(Cause.CLASS_INIT, circle=("main", "second")))
    assert finding.severity is Severity.ERROR
    assert 'deadlock that the JVM does not report: "main" and "second"' in finding.sentence


def test_hostile_names_are_shown_not_obeyed() -> None:
    thread = JavaThread("a\x1b[31m\u202eb", (Frame("x\x1b.Y", "z"),))
    place = Place(Cause.DNS, "waits", "x\x1b.Y.z", "x\x1b.Y.z")
    (finding,) = RULES["SS521"](Standings((Standing(thread, place, ThreadDump("d", (thread,))),)))
    told = finding.sentence + finding.message + "".join(e.excerpt for e in finding.evidence)
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_a_worker_that_waits_for_orders_is_no_more_than_a_note() -> None:
    orders = standing(Cause.IO, since_ms=3_600_000, task=TASK, of_input=True)
    (finding,) = findings(RULES["SS531"], orders)
    assert (finding.severity, finding.confidence) == (Severity.NOTE, Confidence.POSSIBLE)
    (batch,) = findings(RULES["SS526"], standing(Cause.CHILD, since_ms=3_600_000))
    assert "is well" in batch.notes[-1]


def test_a_read_in_one_dump_is_a_moment() -> None:
    place = Place(Cause.IO, "reads a file", "x", "a.Main.main", momentary=True)
    (once,) = findings(RULES["SS531"], Standing(MAIN, place))
    (twice,) = findings(RULES["SS531"], Standing(MAIN, place, dumps_seen=2))
    assert (once.severity, twice.severity) == (Severity.NOTE, Severity.WARNING)


@pytest.mark.parametrize(("busy", "told"), [(500, True), (30_000, False)])
def test_a_loop_that_tries_again_and_again_wakes_in_between(busy: int, told: bool) -> None:  # noqa: FBT001
    words = "sleeps between two tries"
    place = Place(Cause.WAITING, words, "java.lang.Thread.sleep", "a.Main.main")
    one = Standing(MAIN, place, task=TASK, since_ms=100, busy_ms=busy, alive_ms=60_000)
    assert bool(findings(RULES["SS534"], one, age_ms=60_000)) == told


def test_a_thread_that_sleeps_by_its_own_will_waits_for_nothing() -> None:
    place = Place(Cause.WAITING, ASLEEP, "java.lang.Thread.sleep", "a.Main.main")
    assert findings(RULES["SS534"], standing_at(place, since_ms=3_600_000)) == []
    assert findings(RULES["SS534"], standing_at(place)) == []


def test_a_migration_at_work_is_no_lock() -> None:
    place = Place(Cause.MIGRATION, "runs a schema migration", "x", working=True)
    one = Standing(MAIN, place, task=TASK, since_ms=20_000)
    (finding,) = findings(RULES["SS529"], one, age_ms=20_000)
    assert (finding.severity, finding.status) == (Severity.NOTE, Status.SLOW)


def test_evidence_names_the_process() -> None:
    held = standing(Cause.DNS, task=TASK, since_ms=60_000, since_from="task/4/sched")
    (finding,) = RULES["SS521"](Standings((held,), pid=8712))
    origins = [evidence.origin for evidence in finding.evidence]
    assert origins[1:] == ["/proc/8712/task/4/syscall", "/proc/8712/task/4/sched"]


def test_a_wait_for_a_disk_is_told() -> None:
    task = KernelTask(4, 4, "java", "D", syscall=Syscall(0, "read", (5,)))
    (finding,) = findings(RULES["SS531"], standing(Cause.IO, task=task, since_ms=5_000))
    assert "in state D" in finding.sentence


@pytest.mark.parametrize(
    ("on", "command"),
    [
        ("10.0.0.7:5432", "nc -vz 10.0.0.7 5432 tries"),
        ("[::1]:80", "nc -vz ::1 80 tries"),
        ("10.0.0.7:1 or 10.0.0.8:2", "nc -vz HOST PORT tries"),
        ("one of 7 connections", "nc -vz HOST PORT tries"),
        ("", "nc -vz HOST PORT tries"),
    ],
)
def test_what_to_type_has_the_far_end_where_it_is_known(on: str, command: str) -> None:
    (finding,) = findings(RULES["SS522"], standing(Cause.CONNECT, since_ms=5_000, on=on))
    assert command in finding.notes[0]
