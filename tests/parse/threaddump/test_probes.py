"""All 159 probes of real JVMs (7's provider, 8, 11, 17, 21, 25), against an independent reading of the same text."""

import re

import pytest
from tests.texts import probes

from seedstall.model.threads import LockAct
from seedstall.parse.threaddump import thread_dumps

BLOCKED = sorted(n for n, text in probes().items() if text.rstrip().endswith(b"BLOCKED"))
FINISHED = sorted(n for n, text in probes().items() if text.rstrip().endswith(b"FINISHED"))


def counted(text: str) -> list[tuple[str, int, str, int]]:
    """Name, nid, state and number of frames of each thread, by the simplest reading there is."""
    found: list[tuple[str, int, str, int]] = []
    for block in re.split(r'^(?=")', text, flags=re.MULTILINE):
        match = re.match(r'"([^"]+)" .*nid=(0x[0-9a-f]+|\d+) ', block)
        if match:
            state = re.search(r"Thread\.State: ([A-Z_]+)", block)
            frames = len(re.findall(r"^\tat ", block, re.MULTILINE))
            nid = int(match[2], 0)
            found.append((match[1], nid, state[1] if state else "", frames))
    return found


def test_numbers() -> None:
    assert (len(BLOCKED), len(FINISHED)) == (111, 48)


@pytest.mark.parametrize("name", FINISHED)
def test_a_finished_probe_holds_no_dump(name: str) -> None:
    assert thread_dumps(probes()[name], name) == ()


@pytest.mark.parametrize("name", BLOCKED)
def test_a_blocked_probe_holds_one_whole_dump(name: str) -> None:
    text = probes()[name]

    (dump,) = thread_dumps(text, name)

    assert [(t.name, t.nid, t.state, len(t.frames)) for t in dump.threads] == counted(text.decode())
    assert len(dump.threads) == len(re.findall(rb'^"', text, re.MULTILINE))
    assert dump.complete
    assert dump.unread == 0
    assert not any(thread.cut for thread in dump.threads)
    assert dump.jdk is not None
    assert dump.jdk.feature == (8 if name.startswith("7src") else int(name.partition(".")[0]))
    assert re.fullmatch(r"2026-11-30 \d\d:\d\d:\d\d", dump.taken_at)
    assert dump.origin == name


@pytest.mark.parametrize("name", BLOCKED)
def test_every_line_number_is_that_of_the_input(name: str) -> None:
    lines = probes()[name].decode().split("\n")

    (dump,) = thread_dumps(probes()[name], name)

    assert lines[dump.line - 1].startswith("Full thread dump")
    for thread in dump.threads:
        assert lines[thread.line - 1].startswith(f'"{thread.name}"')
        for frame in thread.frames:
            assert f"at {frame.name}(" in lines[frame.line - 1]
            assert frame.location in lines[frame.line - 1]


def test_the_trailing_word_disturbs_nothing() -> None:
    name = "25.none.sha1.nextBytes.x4.txt"
    text = probes()[name]

    assert thread_dumps(text.removesuffix(b"BLOCKED\n"), name) == thread_dumps(text, name)


def test_waiters_for_a_class_name_it() -> None:
    (dump,) = thread_dumps(probes()["17.none.sha1.nextBytes.x4.txt"], "x")

    waiting = [lock for t in dump.threads for lock in t.locks if lock.act is LockAct.CLASS_INIT]

    assert len(waiting) == 3
    assert {lock.class_name for lock in waiting} == {
        "sun.security.provider.SecureRandom$SeederHolder"
    }


def test_the_lock_queue_of_a_probe() -> None:
    (dump,) = thread_dumps(probes()["8.none.def.generateSeed.x4.txt"], "x")

    threads = [t for t in dump.threads if t.name.startswith("probe-")]
    owners = [t for t in threads if t.state == "RUNNABLE"]
    waiters = [t for t in threads if t.state == "BLOCKED"]

    assert (len(owners), len(waiters)) == (1, 3)
    (held,) = [k for k in owners[0].locks if k.act is LockAct.LOCKED]
    assert owners[0].frames[held.depth].method == "implGenerateSeed"
    for waiter in waiters:
        assert waiter.activity == "waiting for monitor entry"
        assert [k.address for k in waiter.locks if k.act is LockAct.WAITING_TO_LOCK] == [
            held.address
        ]
