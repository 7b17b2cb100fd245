"""A damaged or cut dump never reads as a complete one: each way that one was taken for whole stands here."""

import re
import time

import pytest
from tests.texts import live, probes

from seedstall.knowledge.stacks import classify
from seedstall.model.threads import ThreadDump
from seedstall.parse.threaddump import thread_dumps

PROBES = (
    "8.none.def.generateSeed.txt",
    "11.none.def.generateSeed.x4.txt",
    "17.none.sha1.nextBytes.txt",
    "21.none.strong.nextBytes.txt",
    "25.none.drbg.nextBytes.x4.txt",
)
CUTTABLE = probes()["17.none.sha1.nextBytes.txt"]
STALLED = CUTTABLE.index(b'"probe-0"')


def only(text: bytes) -> ThreadDump:
    (dump,) = thread_dumps(text, "x")
    return dump


@pytest.mark.parametrize("name", PROBES)
def test_cut_at_any_line_it_is_complete_only_below_all_java_threads(name: str) -> None:
    text = probes()[name]
    last_java = min(text.index(b'"VM Thread"'), text.index(b'"VM Periodic Task Thread"'))

    for match in re.finditer(rb"\n", text):
        for dump in thread_dumps(text[: match.start()], "x"):
            if dump.complete:
                assert match.start() > last_java
                assert any(classify(thread) for thread in dump.threads)


@pytest.mark.parametrize("name", PROBES)
def test_a_java_thread_taken_out_is_missed(name: str) -> None:
    """From 10 on the dump says how many there are."""
    text = probes()[name]
    lacking = re.sub(rb'(?s)\n"Finalizer".*?\n(?=\n)', b"", text)

    dump = only(lacking)

    assert len(dump.threads) == len(only(text).threads) - 1
    assert dump.complete == name.startswith("8.")


@pytest.mark.parametrize("name", PROBES)
def test_a_header_that_cannot_be_read_is_missed(name: str) -> None:
    text = probes()[name]
    place = text.index(b'"Finalizer"')

    dump = only(text[:place] + b"Finalizer: " + text[place:].replace(b'"', b"", 2))

    assert not dump.complete


LOSSES = {
    "taken out": (rb"(?m)^\tat .*\n", b""),
    "beyond recognition": (rb"(?m)^\tat .*$", b"\t????"),
    "spoilt": (rb"(?m)^\tat ([^(\n]+)\(", rb"\tat \1 ?? ("),
    "cut at a column": (rb"(?m)^(\tat .{9}).*$", rb"\1"),
}


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("loss", LOSSES)
def test_lost_frames_are_counted(name: str, loss: str) -> None:
    text = re.sub(*LOSSES[loss], probes()[name])
    whole = only(probes()[name])

    dump = only(text)

    assert not dump.complete
    assert dump.unread == sum(bool(thread.frames) for thread in whole.threads)


@pytest.mark.parametrize("lines", range(1, 8))
def test_cut_within_the_stack_that_matters(lines: int) -> None:
    end = STALLED
    for _ in range(lines):
        end = CUTTABLE.index(b"\n", end) + 1

    for feed in (0, 1):
        dump = only(CUTTABLE[: end - feed])
        assert not dump.complete
        assert dump.unread == 1
        assert dump.threads[-1].cut == (lines > 2)


def test_threads_that_have_no_frames_are_not_unread() -> None:
    for name in PROBES:
        dump = only(probes()[name])
        without = {t.name for t in dump.threads if t.state and not t.frames}
        assert "Signal Dispatcher" in without
        assert dump.unread == 0


def test_log_lines_below_a_header_are_no_lost_frames() -> None:
    log = b"\n30-Nov-2026 14:21:18.123 INFO [exec-1] com.foo.Bar.baz request (x) done"
    text = re.sub(rb'(?m)^("Signal Dispatcher".*)$', lambda m: m[1] + log, CUTTABLE)

    assert (only(text).complete, only(text).unread) == (True, 0)
    unknown = re.sub(rb"[ ]+\[0x[0-9a-f]+\]$", b"", text, flags=re.MULTILINE)
    assert only(unknown).unread == 1


def test_a_tail_of_the_jvms_own_threads_ends_a_dump() -> None:
    text = CUTTABLE[: CUTTABLE.index(b"JNI global")]

    assert only(text).complete
    assert not only(text[: text.index(b'"VM Periodic Task Thread"')]).complete


def test_a_stack_without_its_callers_is_cut_wherever_it_stands() -> None:
    text = re.sub(
        rb"(?m)^(\tat java\.io\.FileInputStream\.read\(.*\n)(?:\t.*\n)+", rb"\1", CUTTABLE
    )

    dump = only(text)

    assert [t.name for t in dump.threads if t.cut] == ["probe-0"]
    assert (dump.complete, dump.unread) == (False, 1)


def test_no_text_makes_the_joining_of_lines_slow() -> None:
    head = b'"main" #1 prio=5 os_prio=0\ntid=0x1 nid=0x2 runnable\n[0x3]\n'
    for rest in (
        b"x\n" * 500_000,
        b"\tat\n" * 300_000,
        b'"\n' * 500_000,
        b"\tat x y" * 150_000,
        b"$ " * 500_000,
    ):
        for text in (head + rest, head + head + b"\tat " + rest):
            start = time.process_time()
            thread_dumps(text, "x")
            assert time.process_time() - start < 5


def test_a_long_dump_with_unread_threads_is_still_read() -> None:
    text = live("jdk17-316-threads.txt").replace(b"SecureRandom", b"Secure?? Random")

    dump = only(text)

    assert len(dump.threads) == 316
    assert not dump.complete
    assert dump.unread > 0
