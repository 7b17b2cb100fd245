from __future__ import annotations

from dataclasses import replace

import pytest
from tests.parse.threaddump import forms

from seedstall.facts import dumpseries
from seedstall.model.threads import Frame, JavaThread, ThreadDump
from seedstall.parse.threaddump import thread_dumps

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


# --- several forms of one JVM -----------------------------------------------------------------------------------------


def read(stall: str, *names: str) -> list[ThreadDump]:
    held = forms.files(stall)
    return [dump for name in names for dump in thread_dumps(held[name], name)]


@pytest.mark.parametrize("stall", ["jdk21", "jdk25", "jdk25-deadlock"])
def test_a_file_of_jcmd_and_a_text_of_jstack_are_one_jvm(stall: str) -> None:
    for name in ("to-file.json", "to-file.txt"):
        (group,) = dumpseries.series(read(stall, name, "thread-print.txt"))
        waits, over = dumpseries.waits(group)
        assert len(group) == 2
        assert len(waits) == 4
        assert over == []
        assert {wait.dumps_seen for wait in waits} == {2}


def test_all_forms_of_one_jvm_are_one_jvm() -> None:
    names = ("info.txt", "actuator.json", "visualvm.txt", "jhsdb.txt", "thread-print.txt")
    (group,) = dumpseries.series(read("jdk17", *names))
    waits, _ = dumpseries.waits(group)

    assert len(group) == 5
    assert {(wait.dumps_seen, wait.dumps) for wait in waits} == {(5, 5)}
    assert len(waits) == 4


def test_forms_of_two_jvms_are_two() -> None:
    """The same program, started twice: only ids and the time tell."""
    mixed = [*read("jdk25", "to-file.json"), *read("jdk25-deadlock", "thread-print.txt")]
    assert len(dumpseries.series(mixed)) == 2
    mixed = [*read("jdk25", "to-file.json"), *read("jdk25-deadlock", "to-file.json")]
    assert len(dumpseries.series(mixed)) == 2
    mixed = [*read("jdk17", "jhsdb.txt"), *read("jdk17-deadlock", "thread-print.txt")]
    assert len(dumpseries.series(mixed)) == 2
    mixed = [*read("jdk21", "to-file.txt"), *read("jdk25", "thread-print.txt")]
    assert len(dumpseries.series(mixed)) == 2


def test_where_two_may_be_meant_neither_is_taken() -> None:
    """``ThreadInfo`` has no process id: of two nodes of one program it may be either."""
    nodes = read("jdk17", "thread-print.txt")
    other = replace(
        nodes[0],
        threads=tuple(replace(t, nid=t.nid + 9000 if t.nid else None) for t in nodes[0].threads),
    )
    groups = dumpseries.series([nodes[0], other, *read("jdk17", "info.txt")])

    assert len(groups) == 3


def test_a_bare_stack_is_nobodys() -> None:
    bare = ThreadDump("mail.txt", (JavaThread("", SEED),), form="")
    assert len(dumpseries.series([dump(10), bare])) == 2


# --- what a series says -----------------------------------------------------------------------------------------------


def test_a_real_series_of_texts() -> None:
    (group,) = dumpseries.series(read("jdk17-series", "0.txt", "1.txt", "2.txt"))
    waits, over = dumpseries.waits(group)

    reading = [wait for wait in waits if wait.role == "reading"]
    assert len(waits) == 4
    assert over == []
    assert len(reading) == 2
    for wait in reading:
        assert (wait.dumps_seen, wait.dumps) == (3, 3)
        assert wait.over_ms is not None
        assert 15_000 < wait.over_ms < 30_000
        assert wait.since_ms == wait.over_ms
        assert wait.cpu_between_ms is not None
        assert wait.cpu_between_ms < 5


def test_a_real_series_of_files_without_cpu() -> None:
    """Its times are there, CPU is not: only what happens once in a JVM's life cannot have come back."""
    (group,) = dumpseries.series(read("jdk25-series", "2.json", "0.json", "1.json"))
    waits, _ = dumpseries.waits(group)

    by_name = {wait.java.name: wait for wait in waits if wait.java}
    seeder, strong = by_name["seeder"], by_name['strong "quoted" 1']
    for wait in (seeder, strong):
        assert (wait.dumps_seen, wait.dumps) == (3, 3)
        assert wait.over_ms is not None
        assert 15_000 < wait.over_ms < 30_000
        assert wait.cpu_between_ms is None
    assert seeder.since_ms == seeder.over_ms
    assert strong.since_ms is None


def test_texts_and_files_in_turn_are_ordered_by_both_clocks() -> None:
    names = ("2.txt", "0.json", "2.json", "1.txt", "0.txt", "1.json")
    (group,) = dumpseries.series(read("jdk25-series", *names))

    # Within a second, which is all that a text says, either may be the first.
    assert [dump.origin[0] for dump in group] == ["0", "0", "1", "1", "2", "2"]
    waits, _ = dumpseries.waits(group)
    (strong,) = [w for w in waits if w.java and w.java.name == 'strong "quoted" 1']
    assert strong.dumps_seen == 6
    assert strong.since_ms is not None


def test_a_javacores_own_time_and_cpu_say_since_when() -> None:
    text = forms.javacore("jdk17")
    later = text.replace("at 20:05:30:417", "at 20:06:30:417")
    moved = later.replace("total: 0.034", "total: 9.034").replace("0:06:30", "0:07:30")
    one, two, three = (thread_dumps(t, "c")[0] for t in (text, later, moved))

    (group,) = dumpseries.series([two, one])
    assert {w.since_ms for w in dumpseries.waits(group)[0]} == {60_000}
    (group,) = dumpseries.series([one, two, three])
    ((wait, *_), _) = dumpseries.waits(group)
    assert (wait.dumps_seen, wait.over_ms, wait.cpu_between_ms) == (3, 120_000, 9000)
    assert wait.since_ms is None or wait.since_ms < 120_000


def test_local_time_and_utc_are_set_side_by_side() -> None:
    local = replace(dump(10), taken_at="2026-11-30 20:30:05")
    utc = replace(dump(10), taken_at="2026-11-30T15:00:00.5Z")

    local_ms, utc_ms = dumpseries._times([local, utc])

    assert local_ms is not None
    assert utc_ms is not None
    assert local_ms - utc_ms == 4500
