"""Stacks without a proper header, and what looks like one and is none."""

import pytest

from seedstall.parse.threaddump import thread_dumps

STACK = """\
\tat java.io.FileInputStream.readBytes(Native Method)
\tat java.io.FileInputStream.read(FileInputStream.java:255)
\tat sun.security.provider.NativePRNG$RandomIO.readFully(NativePRNG.java:424)
"""


def threads(text: str) -> list[tuple[str, str, int, int]]:
    return [
        (t.name, t.state, len(t.frames), t.line) for d in thread_dumps(text, "x") for t in d.threads
    ]


def test_a_stack_by_itself_is_a_thread_without_a_name() -> None:
    assert threads(STACK) == [("", "", 3, 1)]
    assert threads(f"It hangs here:\n{STACK}\nHelp!\n") == [("", "", 3, 2)]
    assert threads(f"It hangs here:\n\n{STACK}") == [("", "", 3, 3)]
    assert not thread_dumps(STACK, "x")[0].complete


def test_two_stacks_in_one_text() -> None:
    assert threads(f"first:\n{STACK}\nthen:\n{STACK}") == [("", "", 3, 2), ("", "", 3, 7)]


def test_a_header_trimmed_by_hand_gives_the_name() -> None:
    state = "   java.lang.Thread.State: RUNNABLE\n"
    assert threads(f'"main" #1 prio=5\n{state}{STACK}') == [("main", "RUNNABLE", 3, 1)]
    assert threads(f'"main" runnable\n{STACK}') == [("main", "", 3, 1)]
    assert threads(f'"main"\n{STACK}') == [("main", "", 3, 1)]
    assert threads(f"Thread \u201cmain\u201d:\n{STACK}") == [("main", "", 3, 1)]
    assert threads(f"{state}{STACK}") == [("", "RUNNABLE", 3, 1)]


def test_a_header_without_ids_among_whole_ones() -> None:
    whole = f'"a" #1 prio=5 tid=0x1 nid=0x2 runnable [0x3]\n{STACK}\n'
    assert threads(f'{whole}"b" daemon prio=5\n{STACK}\n{whole.replace("0x1", "0x9")}') == [
        ("a", "", 3, 1),
        ("b", "", 3, 6),
        ("a", "", 3, 11),
    ]


@pytest.mark.parametrize(
    "above",
    [
        "java.lang.IllegalStateException: no",
        'Exception in thread "main" java.lang.OutOfMemoryError: x',
        "Caused by: java.io.IOException",
        "30-Nov-2026 14:23:31 SEVERE [main] a.b.C.d failed\njava.net.BindException: in use\n more of it",
        "org.foo.MyFault",
        "org.foo.Boom: it failed",
        "org.foo.BoomSignal",
        "a.b.SqlException: no such" + "\ncolumn" * 20,
        "10:00:00 ERROR x.Y failed\na.b.FooException: {\n\n  body\n\n}",
        "10:00:00 ERROR a.b.FooException: {\n\n  body\n\n}\n",
        "2026-11-30 10:00:00.123 ERROR 1 --- [main] o.s.boot.SpringApplication : run failed",
    ],
)
def test_a_stack_below_an_exception_is_no_thread(above: str) -> None:
    assert threads(f"{above}\n{STACK}") == []


@pytest.mark.parametrize(
    "above",
    [
        "We had a java.net.BindException: in use, too. Now it hangs:\n",
        "java.net.BindException: in use\n\nis solved; now it hangs here\n",
        "10:00:00 ERROR a.b.C thread main is stuck:",
        "10:00:00 INFO a.b.C: thread main is at",
        f"java.net.BindException: in use\n{STACK}\nis solved; now it hangs here",
    ],
)
def test_a_stack_far_below_an_exception_is_one(above: str) -> None:
    assert [found[2] for found in threads(f"{above}\n{STACK}")] == [3]


def test_the_rest_of_a_stack_whose_exception_was_cut_off_is_no_thread() -> None:
    for below in (
        "Caused by: java.io.IOException: x\n",
        "\t... 12 more\n",
        "\t... 3 common frames omitted",
    ):
        assert threads(STACK + below) == []


def test_causes_and_elided_frames_are_no_threads() -> None:
    text = (
        f"java.lang.RuntimeException: a\n{STACK}Caused by: java.lang.Error: b\n{STACK}\t... 23 more\n"
        f"\tSuppressed: java.io.IOException\n{STACK}"
    )
    assert threads(text) == []


def test_exceptions_in_a_log_beside_a_dump_add_nothing_to_it() -> None:
    dump = (
        "Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):\n\n"
        f'"a" #1 prio=5 tid=0x1 nid=0x2 runnable [0x3]\n{STACK}\nJNI global refs: 1\n\n'
    )
    error = f"12:00:00 ERROR a.b.C x\njava.lang.Error: b\n{STACK}\n12:00:01 INFO a.b.C blocked:\n{STACK}\n"
    assert threads(error + dump + error) == [("a", "", 3, 14)]


def test_prose_is_no_stack() -> None:
    for text in (
        "at least one of them",
        "look at java.util.List.of(x) for that",
        "meet me at noon.\nat once.\n",
        "\tat com.foo.Bar.baz(Bar.java:12)\n",
        "",
        "\n\n\n",
    ):
        assert thread_dumps(text, "x") == ()
