from __future__ import annotations

from dataclasses import replace

import pytest

from seedstall.model.jvm import JvmProcess
from seedstall.model.limits import Freezer
from seedstall.model.verdict import Cause, Status
from seedstall.rules.ss501_stopped import stopped

RUNNING = JvmProcess(pid=77, inner_pid=77, uid=0, gid=0, state="S", start_ticks=1, threads=20)


@pytest.mark.parametrize("state", ["T", "t"])
def test_a_stopped_jvm_is_stalled_and_no_matter_of_entropy(state: str) -> None:
    (finding,) = stopped(replace(RUNNING, state=state))

    assert (finding.cause, finding.status) == (Cause.STOPPED, Status.STALLED)
    assert "nothing in it runs" in finding.sentence


@pytest.mark.parametrize("state", ["S", "R", "D"])
def test_a_running_jvm_is_clear(state: str) -> None:
    assert list(stopped(replace(RUNNING, state=state))) == []


def test_a_frozen_jvm_is_stalled_whatever_state_it_shows() -> None:
    (finding,) = stopped(RUNNING, Freezer("sys/fs/cgroup/docker/1f"))

    assert (finding.cause, finding.status) == (Cause.STOPPED, Status.STALLED)
    assert "frozen" in finding.sentence
    assert list(stopped(RUNNING, Freezer())) == []
