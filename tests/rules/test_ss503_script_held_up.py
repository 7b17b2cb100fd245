"""SS503: what a script waits for before there is a JVM."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests import facts_by_hand as by_hand

from seedstall.model.finding import Confidence, Finding
from seedstall.model.jvm import JvmProcess
from seedstall.model.tasks import Descendant, FileKind, KernelTask, OpenFile, ScriptWait, Syscall
from seedstall.model.verdict import Cause, Status
from seedstall.rules.program_account import doing
from seedstall.rules.ss503_script_held_up import script_held_up

PROCESS = JvmProcess(100, 100, 0, 0, "S", 1, 1, comm="bash")
WAITS = KernelTask(100, 100, "bash", "S", syscall=Syscall(61, "wait4", (-1, 0, 0)))


def task(name: str, **more: object) -> KernelTask:
    return KernelTask(101, 101, "curl", "S", syscall=Syscall(1, name, (3, 0, 0)), **more)  # type: ignore[arg-type]


def held(*chain: Descendant, others: int = 0) -> Finding:
    wait = ScriptWait(
        ("/bin/bash", "-x", "/opt/tomcat/bin/catalina.sh", "run"), WAITS, chain, others
    )
    (finding,) = script_held_up(PROCESS, wait)
    return finding


CURL = Descendant(
    101, ("curl", "-u", "me:pw", "https://me:hunter2@vault/x"), task("poll"), age_ms=45_000
)


def test_the_program_and_its_wait_are_named() -> None:
    finding = held(CURL)
    assert finding.sentence.startswith("no JVM is there yet: catalina.sh waits for curl -u me:pw")
    assert "(pid 101, for 45.0 s), which waits in poll" in finding.sentence
    assert (finding.cause, finding.status) == (Cause.CHILD, Status.STALLED)
    assert finding.confidence is Confidence.CONFIRMED
    assert [e.origin for e in finding.evidence] == ["/proc/100/syscall", "/proc/101/syscall"]
    assert "hunter2" not in str(finding)


def test_the_last_of_a_chain_counts_and_others_beside_it_make_it_likely() -> None:
    shell = Descendant(102, ("sh", "-c", "x"), WAITS)
    finding = held(shell, CURL, others=2)
    assert "waits for curl" in finding.sentence
    assert finding.sentence.endswith("; 2 more beside it")
    assert finding.confidence is Confidence.LIKELY
    assert len(finding.evidence) == 3


def test_one_just_started_may_pass() -> None:
    assert any("may pass" in note for note in held(replace(CURL, age_ms=300)).notes)
    assert not any("may pass" in note for note in held(CURL).notes)


def test_a_stopped_script_is_what_holds_it_up() -> None:
    wait = ScriptWait(("sh", "start.sh"), replace(WAITS, state="T"), (CURL,))
    (finding,) = script_held_up(PROCESS, wait)
    assert (finding.cause, finding.status) == (Cause.STOPPED, Status.STALLED)
    assert "start.sh is stopped" in finding.sentence
    (fix,) = finding.fixes
    assert (fix.surface, fix.params["command"]) == ("continue", "kill -CONT 100")


def test_hostile_arguments_are_shown_and_cut() -> None:
    finding = held(replace(CURL, argv=("\x1b[31m" + "x" * 10_000,)))
    assert "\\x1b[31m" in finding.sentence
    assert len(finding.sentence) < 400


def test_without_such_a_wait_it_is_clear() -> None:
    assert list(script_held_up(PROCESS, None)) == []


FILE = OpenFile(3, "/dev/tty", FileKind.CHAR)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (task("clock_nanosleep"), "sleeps"),
        (task("read", file=FILE), "waits for input from /dev/tty"),
        (task("read", file=replace(FILE, path="pipe:[1]", kind=FileKind.FIFO)), "in read of pipe:"),
        (
            task("flock", file=replace(FILE, path="/run/x", kind=FileKind.REGULAR)),
            "flock of /run/x",
        ),
        (task("connect", file=replace(FILE, path="socket:[1]")), "connect of socket:"),
        (task("connect"), "waits for a connection"),
        (task("getrandom"), "not seeded"),
        (task("oddcall"), "oddcall"),
        (replace(task("read"), state="T"), "stopped"),
        (replace(task("read"), state="R"), "working"),
        (replace(task("read"), denied=("syscall",)), "run as root"),
        (replace(task("read"), syscall=None, wchan="pipe_read"), "pipe_read"),
        (replace(task("read"), syscall=None), "waits"),
        (by_hand.task(), "read of /dev/random"),
    ],
)
def test_what_it_does_is_said_in_words(one: KernelTask, words: str) -> None:
    assert words in doing(one)
