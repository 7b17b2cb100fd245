import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.threaddump.header import Header, header, number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '"n" #8 daemon prio=5 os_prio=0 tid=0x00007f nid=0x4f29 runnable [0x00007f]',
            Header("n", 0x4F29, "runnable", daemon=True, tid=b"0x00007f", stack=True, java_id=8),
        ),
        (
            '"n" #3 [16833] prio=5 os_prio=0 cpu=19.72ms elapsed=2.16s tid=0x1 nid=16833 in Object.wait()  [0x2]',
            Header(
                "n",
                16833,
                "in Object.wait()",
                cpu_ms=19.72,
                elapsed_ms=2160.0,
                tid=b"0x1",
                stack=True,
                java_id=3,
            ),
        ),
        (
            '"VM Thread" os_prio=0 cpu=0.61ms elapsed=2.12s tid=0x1 nid=16846 runnable  ',
            Header("VM Thread", 16846, "runnable", cpu_ms=0.61, elapsed_ms=2120.0, tid=b"0x1"),
        ),
        (
            '"n" prio=10 tid=0x1 nid=0x3f5e waiting on condition [0x2..0x3]',
            Header("n", 0x3F5E, "waiting on condition", tid=b"0x1", stack=True),
        ),
        (
            '"n" #1 prio=5 os_prio=1 cpu=1.0ms elapsed=2.0s allocated=1B defined_classes=0 tid=0x1 nid=0x2 x [0x3]',
            Header("n", 2, "x", cpu_ms=1.0, elapsed_ms=2000.0, tid=b"0x1", stack=True, java_id=1),
        ),
        (
            '"GC task thread#0 (ParallelGC)" os_prio=0 tid=0x1 nid=0x2 runnable ',
            Header("GC task thread#0 (ParallelGC)", 2, "runnable", tid=b"0x1"),
        ),
        (
            '"a "b" c" #1 prio=5 tid=0x1 nid=0x2 runnable [0x3]',
            Header('a "b" c', 2, "runnable", tid=b"0x1", stack=True, java_id=1),
        ),
        (
            'main" #1 prio=5 tid=0x1 nid=0x2 runnable [0x3]',
            Header("main", 2, "runnable", tid=b"0x1", stack=True, java_id=1),
        ),
        (
            '12:00 | "main" #1 prio=5 tid=0x1 nid=0x2 runnable [0x3]',
            Header("main", 2, "runnable", tid=b"0x1", stack=True, java_id=1),
        ),
        (
            '"n" #1 prio=5 tid=0x1 nid=NA runnable [0x3]',
            Header("n", None, "runnable", tid=b"0x1", stack=True, java_id=1),
        ),
        (
            '"n" #1 [77] daemon prio=5 os_prio=0 tid=0x1  [0x3]',
            Header("n", 77, daemon=True, tid=b"0x1", stack=True, java_id=1),
        ),
        ('"n" - Thread t@12', Header("n", tid=b"12", java_id=12)),
        (
            '"n" #4 daemon prio=9 tid=0x1 nid=0x2 runnable  [0x0000000000000000]',
            Header("n", 2, "runnable", daemon=True, tid=b"0x1", stack=False, java_id=4),
        ),
        (
            'n" #4 daemon prio=9 tid=0x1 nid=0x2 runnable [0x00000000..0x00000000]',
            Header("n", 2, "runnable", daemon=True, tid=b"0x1", stack=False, java_id=4),
        ),
        (
            '"n" #1 future=9 prio=5 os_prio=0 tid=0x1 other=x nid=0x2 runnable [0x3]',
            Header("n", 2, "runnable", tid=b"0x1", stack=True, java_id=1),
        ),
    ],
)
def test_headers_of_all_releases(text: str, expected: Header) -> None:
    assert header(text.encode()) == expected


@pytest.mark.parametrize(
    "text", ["", "main", 'he said "main"', '"dead-1":', "\tat a.B.c(B.java:1)"]
)
def test_other_lines(text: str) -> None:
    assert header(text.encode()) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"0x4f29", 0x4F29),
        (b"4347", 4347),
        (b"NA", None),
        (b"", None),
        (b"-1", None),
        (b"0x" + b"f" * 20, None),
    ],
)
def test_ids(text: bytes, value: int | None) -> None:
    assert number(text) == value


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_line(before: bytes, after: bytes) -> None:
    header(before + b'" #1 prio=5 tid=0x' + after)
    header(b'"' + before + b'" ' + after)
