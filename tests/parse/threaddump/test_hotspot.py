import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.texts import archive, live, post, tomcat_logs

from seedstall.model.threads import Frame, LockAct, LockLine, ThreadDump
from seedstall.parse.threaddump import thread_dumps

HANG = live("tomcat10-jdk17-hang.txt")
JARSIGNER = live("jarsigner-jdk8-hang.txt")


def only(text: bytes | str) -> ThreadDump:
    (dump,) = thread_dumps(text, "x")
    return dump


# ---------------------------------------------------------------- real dumps


def test_a_hung_tomcat() -> None:
    dump = only(HANG)

    main = dump.threads[0]
    assert len(dump.threads) == 22
    assert (main.name, main.nid, main.state, main.activity) == (
        "main",
        0x2456,
        "RUNNABLE",
        "runnable",
    )
    assert (main.cpu_ms, main.elapsed_ms, main.daemon, main.line) == (1050.39, 8210.0, False, 12)
    assert main.frames[0] == Frame("java.io.FileInputStream", "readBytes", "Native Method", 14)
    assert main.locks[0] == LockLine(
        LockAct.LOCKED, "sun.security.provider.SecureRandom", "0x0000000693d1c570", 6
    )
    assert dump.vm == "OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing)"
    assert dump.taken_at == "2026-11-30 14:16:16"
    assert dump.complete


def test_native_threads_are_threads_without_a_state() -> None:
    native = [t for t in only(HANG).threads if t.name in ("VM Thread", "GC Thread#0", "G1 Service")]

    assert [(t.state, t.frames, t.nid is not None) for t in native] == [("", (), True)] * 3


def test_jdk8_prints_nid_in_hexadecimal_and_25_in_decimal() -> None:
    main = {t.name: t.nid for t in only(JARSIGNER).threads}["main"]
    (ours,) = [t for t in only(live("jdk25-315-threads.txt")).threads if t.name == "main"]

    assert main == 0x4902
    assert f"[{ours.nid}]".encode() in live("jdk25-315-threads.txt")


@pytest.mark.parametrize(
    ("name", "threads"), [("jdk17-316-threads.txt", 316), ("jdk25-315-threads.txt", 315)]
)
def test_names_in_a_deadlock_report_are_no_threads(name: str, threads: int) -> None:
    dump = only(live(name))

    assert len(dump.threads) == threads
    assert dump.deadlocks == (("dead-1", "dead-2"),)
    assert dump.complete


def test_jstack_l_of_21_and_25() -> None:
    texts = archive("live/virtual")
    for name in ("jdk21-jstack-l.txt", "jdk25-jstack-l.txt", "jdk21-thread-print-l-e.txt"):
        dump = only(texts[name])
        named = {thread.name: thread for thread in dump.threads}
        owned = [k for k in named["own"].locks if k.act is LockAct.OWNED]
        parked = [k for k in named["wait"].locks if k.act is LockAct.PARKING]

        assert dump.complete
        assert [k.class_name for k in owned] == [
            "java.util.concurrent.locks.ReentrantLock$NonfairSync"
        ]
        assert owned[0].address == parked[0].address


def test_names_may_be_empty_or_hold_quotes_tabs_and_line_feeds() -> None:
    names = {t.name for t in only(archive("live/virtual")["jdk25-kill-3.txt"]).threads}

    assert {"", 'odd "name" with\nnewline', "tab\tname \u00e9\u4e2d"} <= names


def test_a_carrier_without_nid_has_it_in_brackets() -> None:
    text = archive("live/virtual")["jdk21-kill-3.txt"]
    (carrier,) = [t for t in only(text).threads if t.name == "ForkJoinPool-1-worker-1"]

    assert b"tid=0x00007f6bcc241250  [" in text
    assert carrier.nid == 18486


def test_a_dump_inside_a_log_in_each_language() -> None:
    for name, text in tomcat_logs().items():
        dumps = thread_dumps(text, name)
        if b"Full thread dump" not in text:
            assert dumps == ()
            continue
        (dump,) = dumps
        assert len(dump.threads) == 21, name
        assert dump.complete
        assert dump.taken_at.startswith("2026-11-30 14:4")


def test_a_pasted_thread_in_a_post() -> None:
    dump = only(post("000"))

    (thread,) = dump.threads
    assert (thread.name, thread.nid, thread.line) == ("main", 0xDA0, 63)
    assert thread.frames[0].name == "java.io.FileInputStream.readBytes"
    assert thread.frames[5].name == "sun.security.provider.SecureRandom$SeederHolder.<clinit>"
    assert thread.frames[0].location == "Native Method"
    assert not dump.complete
    for number in ("001", "002", "004"):
        assert thread_dumps(post(number), "x") == ()


# ---------------------------------------------------------------- old and rare forms

SIX = """\
2012-06-14 14:12:22
Full thread dump Java HotSpot(TM) 64-Bit Server VM (20.1-b02 mixed mode):

"main" prio=10 tid=0x00007f2d3c001000 nid=0x3f5e runnable [0x00007f2d40a3b000]
   java.lang.Thread.State: RUNNABLE
\tat java.io.FileInputStream.readBytes(Native Method)
\tat java.io.FileInputStream.read(FileInputStream.java:198)
\tat sun.security.provider.NativePRNG$RandomIO.readFully(NativePRNG.java:185)

"VM Thread" prio=10 tid=0x00007f2d3c0f2000 nid=0x3f60 runnable{0}

JNI global references: 883

""".replace("{0}", " ")


def test_jdk6_prints_neither_number_nor_os_prio() -> None:
    dump = only(SIX)

    assert [(t.name, t.nid, t.state) for t in dump.threads] == [
        ("main", 0x3F5E, "RUNNABLE"),
        ("VM Thread", 0x3F60, ""),
    ]
    assert dump.jdk is not None
    assert dump.jdk.feature == 6
    assert dump.complete


def test_several_dumps_of_one_text_come_in_order() -> None:
    log = b"16-Oct-2019 14:23:31.999 INFO [main] a.b.C.d started\n"
    text = log + HANG + log * 3 + JARSIGNER + log + HANG

    dumps = thread_dumps(text, "catalina.out")

    assert [len(d.threads) for d in dumps] == [22, 12, 22]
    assert [d.complete for d in dumps] == [True] * 3
    assert [d.line for d in dumps] == sorted(d.line for d in dumps)
    lines = text.decode().split("\n")
    for dump in dumps:
        for thread in dump.threads:
            assert lines[thread.line - 1].startswith(f'"{thread.name}"')
            assert all(f.method in lines[f.line - 1] for f in thread.frames)


def test_without_banners_a_thread_seen_again_begins_the_next_dump() -> None:
    bare = re.sub(rb"(?m)^(?:Full thread dump|\d{4}-).*\n", b"", HANG)
    cut = bare[: bare.index(b"JNI global")]

    assert [len(d.threads) for d in thread_dumps(bare * 2, "x")] == [22, 22]
    assert [len(d.threads) for d in thread_dumps(cut * 3, "x")] == [22, 22, 22]
    assert not any(d.complete for d in thread_dumps(bare * 2, "x"))


def test_two_deadlock_cycles() -> None:
    report = """
Found one Java-level deadlock:
=============================
"a":
  waiting to lock monitor 0x01 (object 0x02, a X),
  which is held by "b"
"b":
  waiting to lock monitor 0x03 (object 0x04, a X),
  which is held by "a"

Java stack information for the threads listed above:
===================================================
"a":
\tat p.A.run(A.java:1)
"b":
\tat p.B.run(B.java:1)

"""
    text = HANG.decode() + report + report.replace('"a"', '"c"') + "Found 2 deadlocks.\n\nafter\n"

    dump = only(text)

    assert dump.deadlocks == (("a", "b"), ("c", "b"))
    assert len(dump.threads) == 22


def test_a_deadlock_report_by_itself() -> None:
    text = live("jdk17-316-threads.txt")

    dump = only(text[text.index(b"Found one Java-level") :])

    assert (dump.deadlocks, dump.threads, dump.complete) == ((("dead-1", "dead-2"),), (), False)


def test_visualvm_has_names_and_stacks_but_no_kernel_ids() -> None:
    text = re.sub(
        rb'(?m)^("[^\n]*") #(\d+) [^\n]*tid=[^\n]*$',
        rb"\1 - Thread t@\2",
        live("jdk17-316-threads.txt"),
    )
    text = re.sub(rb'(?m)^"[^\n]*" os_prio[^\n]*\n\n', b"", text)

    dump = only(text)

    assert len(dump.threads) == 308
    assert {t.nid for t in dump.threads} == {None}
    assert sum(len(t.frames) for t in dump.threads) > 15_000


# ---------------------------------------------------------------- cut anywhere


@pytest.mark.parametrize("end", range(300, 3000, 7))
def test_cut_at_any_byte_nothing_false_is_said(end: int) -> None:
    whole = only(HANG).threads
    part = HANG[:end]

    for dump in thread_dumps(part, "x"):
        assert not dump.complete
        for thread, truth in zip(dump.threads, whole, strict=False):
            assert truth.name.startswith(thread.name)
            assert thread.nid in (None, truth.nid)
            assert thread.state in ("", truth.state)
            names = [f.name for f in thread.frames]
            assert names == [f.name for f in truth.frames[: len(names)]]


def test_cut_in_a_frame() -> None:
    (thread,) = only(HANG[: HANG.index(b"SeedGenerator.java:544") + 6]).threads

    assert thread.cut
    assert (
        thread.frames[-1].name
        == "sun.security.provider.SeedGenerator$URLSeedGenerator.getSeedBytes"
    )


def test_cut_in_a_header() -> None:
    at = HANG.index(b"nid=0x2460")
    for length, nid in ((0, None), (6, None), (8, None), (11, 0x2460)):
        thread = only(HANG[: at + length]).threads[-1]
        assert (thread.name, thread.nid, thread.cut) == ("Reference Handler", nid, True)

    early = only(HANG[: HANG.index(b'"Reference Handler"') + 24]).threads[-1]
    assert (early.name, early.nid, early.cut) == ("Reference Handler", None, True)


def test_a_text_that_starts_within_a_thread_keeps_its_frames() -> None:
    text = HANG[HANG.index(b"\tat org.apache.catalina.util.SessionIdGeneratorBase.create") :]

    dump = only(text)

    assert len(dump.threads) == 22
    assert dump.threads[0].name == ""
    assert dump.threads[0].frames[0].method == "createSecureRandom"
    assert not dump.complete


# ---------------------------------------------------------------- speed and size


def series(copies: int) -> bytes:
    """A series of dumps of one JVM: its stacks stay, its clocks move."""
    one = live("jdk17-316-threads.txt").decode()
    parts = re.split(r"elapsed=([\d.]+)s", one.partition("\nFound one")[0] + "\n")
    log = "30-Nov-2026 10:00:00.123 INFO [main] org.apache.catalina.startup.Catalina.load x\n" * 20
    return "".join(
        log
        + "".join(
            p if i % 2 == 0 else f"elapsed={float(p) + 5 * copy:.2f}s" for i, p in enumerate(parts)
        )
        for copy in range(copies)
    ).encode()


def test_a_series_is_read_right_and_quickly() -> None:
    text = series(30)

    start = time.process_time()
    dumps = thread_dumps(text, "x")
    took = time.process_time() - start

    assert len(dumps) == 30
    assert {len(d.threads) for d in dumps} == {316}
    seeding = [t for t in dumps[-1].threads if t.name == "localhost-startStop-1"]
    assert seeding[0].frames[0].line > seeding[0].line > 500_000
    assert (
        len(text) / 1e6 / took > 20
    )  # a laptop does 150; this guards against another order of magnitude


def test_frames_of_a_long_series_share_their_memory() -> None:
    dumps = thread_dumps(series(8), "x")

    late = [t for t in dumps[-1].threads if t.name.startswith("exec-") or "http" in t.name][:20]
    assert all(t.line for d in dumps for t in d.threads)
    assert all(
        len(t.frames) == len(s.frames)
        for t, s in zip(dumps[0].threads, dumps[7].threads, strict=True)
    )
    assert [f.line for t in late for f in t.frames if f.line] == []


# ---------------------------------------------------------------- any input

piece = st.sampled_from(
    [
        b'"main" #1 prio=5 os_prio=0 tid=0x1 nid=0x2 runnable  [0x3]\n',
        b'"x',
        b'y" #1 [12] daemon prio=5 tid=0x4 nid=12 in Object.wait() \n',
        b"   java.lang.Thread.State: RUNNABLE\n",
        b"\tat a.B.c(D.java:1)\n",
        b"\tat a.B",
        b"\t- locked <0x1> (a X)\n",
        b"\n",
        b"\r",
        b"Full thread dump OpenJDK VM (1):\n",
        b"JNI global refs: 1\n",
        b"Found one Java-level deadlock:\n",
        b"Found 1 deadlock.\n",
        b"<br/>",
        b"&lt;",
        b"> ",
        b"p | ",
        b"\\n\\tat ",
        b" tid=0x",
        b"\xff\xfe",
        b"\x00",
        b"Exception: x\n",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(piece, st.binary(max_size=8)), max_size=40).map(b"".join))
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    for dump in thread_dumps(data, "x"):
        assert dump.threads or dump.deadlocks
        assert dump.line >= 1
        for thread in dump.threads:
            assert thread.line >= 1
            assert all(lock.depth < max(1, len(thread.frames)) for lock in thread.locks)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    thread_dumps(text, "x")
