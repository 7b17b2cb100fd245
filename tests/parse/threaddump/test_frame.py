import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.threads import Frame, LockAct, LockLine
from seedstall.parse.threaddump.frame import Doubt, Lock, Mark, State, body, line


@pytest.mark.parametrize(
    ("text", "class_name", "method", "location"),
    [
        ("\tat a.B.c(Native Method)", "a.B", "c", "Native Method"),
        ("at a.B.<init>(B.java:1)", "a.B", "<init>", "B.java:1"),
        ("\tat java.io.F.read(java.base@17.0.15/F.java:276)", "java.io.F", "read", "F.java:276"),
        (
            "\tat java.io.F.read(java.base@11.0.13/Unknown Source)",
            "java.io.F",
            "read",
            "Unknown Source",
        ),
        (
            "\tat java.io.F.read([email protected]/Native Method)",
            "java.io.F",
            "read",
            "Native Method",
        ),
        ("    at java.base/java.io.F.read(F.java:1)", "java.io.F", "read", "F.java:1"),
        ("\tat app//com.foo.Bar.baz(Bar.java:1)", "com.foo.Bar", "baz", "Bar.java:1"),
        ("\tat app/m@1.2/com.foo.Bar.baz(Bar.java:1)", "com.foo.Bar", "baz", "Bar.java:1"),
        (
            "\tat p.AbstractDrbg$$Lambda$2/0x0000000100067040.getEntropy(Unknown Source)",
            "p.AbstractDrbg$$Lambda$2/0x0000000100067040",
            "getEntropy",
            "Unknown Source",
        ),
        (
            "\tat Deep300$$Lambda/0x0000000029041000.run(Unknown Source)",
            "Deep300$$Lambda/0x0000000029041000",
            "run",
            "Unknown Source",
        ),
        ("\tat at a.B.c(B.java:1)", "a.B", "c", "B.java:1"),
        ("> at a.B.c (B.java:1)", "a.B", "c", "B.java:1"),
        ("12  at a.B.c(B.java:1)", "a.B", "c", "B.java:1"),
        ("\tat a.B.c(B.java:1) ~[na:1.8.0_181]", "a.B", "c", "B.java:1"),
        ("\ta.B.c(B.java:1)", "a.B", "c", "B.java:1"),
        ("java.io.F.read(java.base@17.0.15/Native Method)", "java.io.F", "read", "Native Method"),
        ("\tat a.B $ C.c(B.java:1)", "a.B$C", "c", "B.java:1"),
        ("\tat a . B.c(B.java:1)", "a.B", "c", "B.java:1"),
        (
            "\tat a.B $  $ Lambda/0x1f.run(Unknown Source)",
            "a.B$$Lambda/0x1f",
            "run",
            "Unknown Source",
        ),
        ("\tat a.\u00dcber.c(U.java:1)", "a.\u00dcber", "c", "U.java:1"),
    ],
)
def test_frames(text: str, class_name: str, method: str, location: str) -> None:
    assert line(text.encode()) == Frame(class_name, method, location)


@pytest.mark.parametrize(
    ("text", "lock"),
    [
        ("\t- locked <0x1f> (a X)", Lock(LockAct.LOCKED, "X", "0x1f")),
        ("\t- waiting to lock <0x1f> (a X)", Lock(LockAct.WAITING_TO_LOCK, "X", "0x1f")),
        (
            "\t- waiting to re-lock in wait() <0x1f> (a X)",
            Lock(LockAct.WAITING_TO_LOCK, "X", "0x1f"),
        ),
        ("\t- waiting on <0x1f> (a X)", Lock(LockAct.WAITING_ON, "X", "0x1f")),
        ("\t- parking to wait for  <0x1f> (a X)", Lock(LockAct.PARKING, "X", "0x1f")),
        ("\t- waiting on <no object reference available>", Lock(LockAct.WAITING_ON, "", None)),
        (
            "\t- waiting on the Class initialization monitor for p.S$H",
            Lock(LockAct.CLASS_INIT, "p.S$H", None),
        ),
        ("\t- eliminated <owner is scalar replaced> (a X)", Lock(LockAct.ELIMINATED, "X", None)),
        (
            "\t- locked <0x1f> (a java.lang.Class for p.X)",
            Lock(LockAct.LOCKED, "java.lang.Class for p.X", "0x1f"),
        ),
        ("\t- locked <0x1f> (a X $ Y)", Lock(LockAct.LOCKED, "X$Y", "0x1f")),
        ("- locked <> (a X)", Lock(LockAct.LOCKED, "X", None)),
        ("- locked  (a X)", Lock(LockAct.LOCKED, "X", None)),
        ("    - locked <p.X@3fbcd7d7>", Lock(LockAct.LOCKED, "p.X", "3fbcd7d7")),
        ("\t- <0x1f> (a X)", Lock(LockAct.OWNED, "X", "0x1f")),
    ],
)
def test_locks(text: str, lock: Lock) -> None:
    assert line(text.encode()) == lock


@pytest.mark.parametrize(
    "text",
    [
        "- None",
        "- locked out users",
        "- waiting for godot",
        "   Carrying virtual thread #22",
        "   No compile task",
        "at least (one) thing",
        "12:00:01 INFO [main] a.b.C done",
        "\tat a.B.c d(x)",
        "look at java.util.List.of(x) for that",
        "see java.util.List.of(List.java:3)",
        "java.util.List.of(x)",
        "at least. one (thing)",
        "foo(Native Method)",
        "\t...",
        "x" * 20_000,
    ],
)
def test_other_lines(text: str) -> None:
    assert line(text.encode()) is Mark.FOREIGN


@pytest.mark.parametrize(
    "text",
    [
        "\tat",
        "\tat java.io.FileInputSt",
        "\t- locked <0x00",
        "\t- locked <0x1f> (a X",
        "java.lang.Thr",
        "\t- wai",
    ],
)
def test_cut_lines(text: str) -> None:
    assert line(text.encode()) is Mark.CUT


def test_states() -> None:
    assert line(b"   java.lang.Thread.State: WAITING (on object monitor)") == State("WAITING")
    assert line(b"java.lang.Thread.State: TIMED_WAITING (parking)") == State("TIMED_WAITING")
    assert line(b"   java.lang.Thread.State: RUNNA") is Mark.CUT


def test_depths_and_owned_synchronizers() -> None:
    read = body(
        b"   java.lang.Thread.State: RUNNABLE\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n"
        b"\t- locked <0x1> (a X)\n\tat a.B.e(B.java:3)\n\t- locked <0x2> (a Y)\n\t- locked <0x3> (a Z)\n\n"
        b"   Locked ownable synchronizers:\n\t- <0x4> (a W)\n"
    )

    assert read.state == "RUNNABLE"
    assert [f.method for f in read.frames] == ["c", "d", "e"]
    assert read.offsets == [1, 2, 4]
    assert read.locks == (
        LockLine(LockAct.LOCKED, "X", "0x1", 1),
        LockLine(LockAct.LOCKED, "Y", "0x2", 2),
        LockLine(LockAct.LOCKED, "Z", "0x3", 2),
        LockLine(LockAct.OWNED, "W", "0x4", 2),
    )


def test_many_other_lines_do_not_shift_the_frames() -> None:
    read = body(
        b"log\n" * 100 + b"\tat a.B.c(B.java:1)\n" + b"log\n" * 100 + b"\tat a.B.d(B.java:1)"
    )

    assert (read.offsets, [f.method for f in read.frames]) == ([100, 201], ["c", "d"])


def test_a_folded_frame_is_joined_and_a_cut_one_kept_as_far_as_it_goes() -> None:
    folded = body(b"\tat a.B.c(\nB.java:1)\n\tat a.B.d(B.java:2)\n")
    cut = body(b"\tat a.B.c(B.java:1)\n\tat a.B.d(B.ja")

    assert [f.location for f in folded.frames] == ["B.java:1", "B.java:2"]
    assert not folded.cut
    assert [(f.method, f.location) for f in cut.frames] == [("c", "B.java:1"), ("d", "B.ja")]
    assert cut.cut


@pytest.mark.parametrize(
    ("below", "doubt"),
    [
        ("\tat a.B.c(B.java:1)\n   No compile task\n\t- None\n   Compiling: 1 a.B::c", Doubt.NONE),
        ("   Carrying virtual thread #22\n\tat a.B.c(B.java:1)", Doubt.NONE),
        ("12:00:01 INFO [main] a.b.C done\n\tat a.B.c(B.java:1)", Doubt.LINES),
        ("\tat a.B.c(B.java:1)\n\tat java.io.FileInputSt\n\tat a.B.d(B.java:2)", Doubt.FRAMES),
        ("\tat a.B.c(B.java:1)\n\tat a??? (B.java:2)", Doubt.FRAMES),
        ("a%%B%%c (Native Method)\n\tat a.B.c(B.java:1)", Doubt.FRAMES),
    ],
)
def test_lines_that_cannot_be_read_are_told(below: str, doubt: Doubt) -> None:
    assert body(below.encode()).doubt is doubt


@pytest.mark.parametrize(
    ("frames", "cut"),
    [
        ("FileInputStream.readBytes", True),
        ("FileInputStream.readBytes FileInputStream.read FilterInputStream.read", True),
        ("FileInputStream.readBytes FileInputStream.read Reader.read", False),
        ("Reader.read FileInputStream.read", False),
    ],
)
def test_a_stack_of_reading_alone_has_lost_its_callers(frames: str, *, cut: bool) -> None:
    read = body("".join(f"\tat java.io.{name}(X.java:1)\n" for name in frames.split()).encode())

    assert read.cut is cut


@given(st.binary(max_size=300))
def test_any_line(data: bytes) -> None:
    read = line(data)
    if isinstance(read, Frame):
        assert read.class_name
        assert read.method
