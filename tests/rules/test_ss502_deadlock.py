from __future__ import annotations

import pytest
from tests import facts_by_hand as by_hand
from tests.samples_by_hand import samples

from seedstall.model.samples import Doing, Ending
from seedstall.model.threads import ThreadDump, ThreadDumps
from seedstall.model.verdict import Cause, Status
from seedstall.rules.ss502_deadlock import deadlock


def dumps(*cycle: str) -> ThreadDumps:
    threads = (by_hand.thread("dead-1"), by_hand.thread("dead-2", 0x22))
    return ThreadDumps((ThreadDump("d.txt", threads, deadlocks=(cycle,) if cycle else ()),))


def test_the_jvms_own_finding_is_believed() -> None:
    (finding,) = deadlock(dumps("dead-1", "dead-2"))

    assert (finding.cause, finding.status) == (Cause.DEADLOCK, Status.STALLED)
    assert '"dead-1", "dead-2"' in finding.sentence
    assert len(finding.evidence) == 2


@pytest.mark.parametrize("ending", [Ending.EXIT, Ending.KILLED])
def test_of_a_process_that_has_ended_it_is_told_in_the_past(ending: Ending) -> None:
    over = samples((Doing.WAITING, 5_000), ending=ending, dumped=True)
    (finding,) = deadlock(dumps("dead-1", "dead-2"), over)
    assert finding.status is Status.ENDED
    assert "until the process ended" in finding.sentence
    lasts = samples((Doing.WAITING, 5_000), ending=Ending.TIME, dumped=True)
    assert [f.status for f in deadlock(dumps("dead-1", "dead-2"), lasts)] == [Status.STALLED]


def test_a_dump_without_one_is_clear() -> None:
    assert list(deadlock(dumps())) == []


def test_hostile_names_are_shown_not_obeyed() -> None:
    (finding,) = deadlock(dumps("a\x1b[31m", "b"))

    assert "\x1b" not in finding.sentence
