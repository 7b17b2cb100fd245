"""Whatever looks like a dump in some form and is none, is cut, or is mixed: no error, and nothing invented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parse.threaddump import forms

from seedstall.parse.threaddump import thread_dumps

PIECES = [
    b'"a" Id=1 RUNNABLE',
    b'"a" daemon prio=5 Id=2 BLOCKED on a.B@1 owned by "b" Id=3',
    b'"a" id=4 state=WAITING',
    b"    - waiting on <0x1> (a b.C)",
    b"\t-  locked a.B@1f",
    b"\t-  blocked on a.B@1f",
    b"\tNumber of locked synchronizers = 1",
    b"\t...",
    b"\tat a.b.C.d(C.java:1)",
    b"a.b.C.d(C.java:1)",
    b" - a.b.C.d(int) @bci=1, line=2 (Interpreted frame)",
    b"0x1\t* a.b.C.d(int) bci:1 line:2 (Interpreted frame)",
    b"Thread 12: (state = BLOCKED)",
    b"----------------- 12 -----------------",
    b"Attaching to process ID 1, please wait...",
    b"JVM version is 25.504-b01",
    b"Found one Java-level deadlock:",
    b'"a" #1 prio=5 tid=0x1 nid=0x2 runnable [0x3]',
    b"   JavaThread state: _thread_blocked",
    b"   java.lang.Thread.State: RUNNABLE",
    b'"a" - Thread t@1',
    b"Full thread dump OpenJDK VM (17.0.1+1 mixed mode):",
    b"Name: a",
    b"State: RUNNABLE",
    b"Total blocked: 0  Total waited: 0",
    b"Stack trace: ",
    b"0SECTION       TITLE subcomponent dump routine",
    b"1TIDATETIME    Date: 2026/11/30 at 20:05:30",
    b'3XMTHREADINFO      "a" J9VMThread:0x1, state:R, prio=5',
    b"3XMTHREADINFO1            (native thread ID:0x1)",
    b"3XMTHREADBLOCK     Blocked on: a/B@0x1 Owned by: <unowned>",
    b"4XESTACKTRACE                at a/b/C.d(C.java:1(Compiled Code))",
    b"5XESTACKTRACE                   (entered lock: a/B@0x1, entry count: 1)",
    b"1LKDEADLOCK    Deadlock detected !!!",
    b'2LKDEADLOCKTHR  Thread "a" (0x1)',
    b'[{"threadName": "a", "stackTrace": [{"className": "a.B", "methodName": "c"}]}',
    b', {"threadName": "b", "stackTrace": [], "lockInfo": {"className": 1}}',
    b"]",
    b'{"threadDump": {"processId": "1", "threadContainers": [{"threads": [',
    b'{"tid": "1", "name": "a", "stack": ["a.B.c(D.java:1)"]}',
    b"]}]}}",
    b'#1 "a" RUNNABLE 2026-11-30T20:05:30.1Z',
    b"Thread Thread[a,5,main] has been blocked for 3000 ms, time limit is 2000 ms",
    b'WSVR0605W: Thread "a" (1) has been active for 1 milliseconds',
    b"",
    b"",
    b"words",
]


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=20), max_size=40))
def test_pieces_of_all_forms_in_any_order(pieces: list[bytes]) -> None:
    text = b"\n".join(pieces)
    lines = text.count(b"\n") + text.count(b"\r") + 1
    for dump in thread_dumps(text, "x"):
        for thread in dump.threads:
            assert 0 <= thread.line <= lines
            assert all(0 <= frame.line <= lines for frame in thread.frames)
            assert all(lock.depth >= 0 for lock in thread.locks)


WHOLE = {
    "info.txt": forms.files("jdk17")["info.txt"],
    "actuator.json": forms.files("jdk17")["actuator.json"],
    "jhsdb.txt": forms.files("jdk17-deadlock")["jhsdb.txt"],
    "jhsdb-mixed.txt": forms.files("jdk17")["jhsdb-mixed.txt"],
    "to-file.json": forms.files("jdk25")["to-file.json"],
    "to-file.txt": forms.files("jdk21")["to-file.txt"],
    "visualvm.txt": forms.files("jdk11")["visualvm.txt"],
    "agent8": forms.agent8("jdk8").encode(),
    "javacore": forms.javacore("jdk17").encode(),
    "jconsole": forms.jconsole("jdk25").encode(),
}


ENDS = (b")", b"(state = BLOCKED)", b"blocked", b"- None", b'"')


@pytest.mark.parametrize("name", WHOLE)
@given(st.data())
def test_cut_anywhere(name: str, data: st.DataObject) -> None:
    text = WHOLE[name]
    cut = text[: data.draw(st.integers(0, len(text)))]
    (whole,) = thread_dumps(text, "x")

    found = [t.name for dump in thread_dumps(cut, "x") for t in dump.threads]

    # A name cut short is a name; nothing but the last can be.
    assert found[:-1] == [t.name for t in whole.threads][: max(0, len(found) - 1)]
    # Forms without a last line end in a blank one: what is cut there cannot be told from what is whole.
    if len(found) < len(whole.threads) and not cut.rstrip(b"\n").endswith(ENDS):
        assert not any(dump.complete for dump in thread_dumps(cut, "x"))


@pytest.mark.parametrize("name", WHOLE)
@given(st.data())
def test_a_byte_changed_anywhere(name: str, data: st.DataObject) -> None:
    text = WHOLE[name]
    at = data.draw(st.integers(200, len(text) - 1))  # behind what tells the form
    byte = data.draw(st.sampled_from([b"\n", b'"', b"\0", b"(", b"\xff", b"", b"{", b"]"]))
    changed = text[:at] + byte + text[at + 1 :]

    found = sum(len(dump.threads) for dump in thread_dumps(changed, "x"))

    assert found >= 1
