"""A dump out of memory as text, and back: nothing that a rule looks at is lost on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.jdk import JdkVersion, VmFamily
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump
from seedstall.parse.remembered import remembered
from seedstall.render.threads import dump_text

DUMP = ThreadDump(
    "memory",
    (
        JavaThread(
            "main",
            (
                Frame("java.io.FileInputStream", "readBytes", "Native Method"),
                Frame("Seed$1", "<clinit>", "Seed.java:12"),
            ),
            (LockLine(LockAct.LOCKED, "java.lang.Object", "0x00000000e0000000", 1),),
            2926,
            "RUNNABLE",
            "runnable",
            java_id=1,
            reads="/dev/random",
        ),
        JavaThread(
            "cut (short)",
            (),
            (),
            2927,
            "RUNNABLE",
            "runnable",
            daemon=True,
            cut=True,
            note="it ran",
        ),
    ),
    vm="OpenJDK 64-Bit Server VM (17.0.9+9)",
    jdk=JdkVersion(17, 9, "17.0.9+9", family=VmFamily.HOTSPOT, told_by="memory"),
    complete=True,
    unread=1,
)


def test_it_comes_back() -> None:
    back = remembered(dump_text(DUMP, redacted=False).encode())
    assert back.origin == "memory"
    assert back.complete
    assert back.unread == 1
    assert [t.name for t in back.threads] == ["main", "cut (short)"]
    main, cut = back.threads
    assert main.frames == DUMP.threads[0].frames
    assert (main.nid, main.state, main.reads, main.cut, main.line) == (
        2926,
        "RUNNABLE",
        "/dev/random",
        False,
        0,
    )
    assert [(k.act, k.class_name, k.depth) for k in main.locks] == [
        (LockAct.LOCKED, "java.lang.Object", 1)
    ]
    assert (cut.cut, cut.note, cut.frames) == (True, "it ran", ())
    assert back.jdk is not None
    assert (back.jdk.feature, back.jdk.told_by) == (17, "memory")


def test_threads_that_were_lost_stay_lost() -> None:
    text = dump_text(DUMP, redacted=False).replace("to their end: 1.", "to their end: 3.")
    assert not remembered(text.encode()).complete


@pytest.mark.parametrize("data", [b"", b"nothing", dump_text(DUMP).encode() * 2])
def test_what_is_no_such_dump(data: bytes) -> None:
    with pytest.raises(ValueError, match="thread dumps in it"):
        remembered(data)


@given(st.binary(max_size=500))
def test_any_bytes(data: bytes) -> None:
    try:
        remembered(data)
    except ValueError:
        return
