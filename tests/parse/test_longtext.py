"""A long text read in pieces gives what it gives as a whole; and what it holds meanwhile is bounded."""

import gzip
from collections.abc import Iterator
from itertools import islice

import pytest
from benchmarks.gen_dumps import series as moments
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.texts import live, probes, tomcat_logs

from seedstall.model.threads import ThreadDump
from seedstall.parse import longtext
from seedstall.parse.longtext import LongText
from seedstall.parse.observation import observations
from seedstall.parse.serverlog import server_log
from seedstall.parse.text import Text
from seedstall.parse.threaddump import thread_dumps

SEEDING = (
    b"30-Nov-2026 14:21:01.123 WARNING [main] org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom"
    b" Creation of SecureRandom instance for session ID generation using [SHA1PRNG] took [386,690] milliseconds.\n"
)


def read(data: bytes, size: int) -> tuple[tuple[ThreadDump, ...], list[Text]]:
    long = LongText("x")
    parts: list[Text] = []
    for at in range(0, len(data), size):
        parts += long.feed(data[at : at + size])
    parts += long.finish()
    return long.dumps, parts


def shape(dumps: tuple[ThreadDump, ...]) -> list[tuple[int, int, str, int, bool]]:
    return [(d.line, d.total, d.taken_at, d.unread, d.complete) for d in dumps]


def names(dumps: tuple[ThreadDump, ...]) -> list[list[tuple[str, list[str]]]]:
    return [[(t.name, [f.name for f in t.frames]) for t in d.threads] for d in dumps]


MIXED = b"".join(
    [
        *(moment.text.encode() for moment in islice(moments("17", seed=True), 3)),
        SEEDING,
        live("jdk25-315-threads.txt"),
        b"\n",
        *(data for name, data in probes().items() if name.startswith(("11", "21"))),
        *(moment.text.encode() for moment in islice(moments("25"), 2)),
    ]
)


@pytest.mark.parametrize("size", [65_536, 300_000, 1 << 30])
def test_pieces_of_any_size_give_what_the_whole_gives(size: int) -> None:
    careful = thread_dumps(MIXED, "x")

    dumps, (rest,) = read(MIXED, size)

    assert shape(dumps) == shape(careful)
    assert names(dumps[-2:]) == names(careful[-2:])
    assert server_log(rest, "x").seeding == server_log(MIXED, "x").seeding


def test_all_but_the_last_dumps_keep_the_threads_that_matter() -> None:
    data = "".join(moment.text for moment in islice(moments("17", seed=True), 5)).encode()

    dumps, _ = read(data, 200_000)

    assert [len(d.threads) for d in dumps] == [5, 5, 5, 314, 314]
    assert {d.total for d in dumps} == {314}
    assert all(any("startStop" in t.name for t in d.threads) for d in dumps)
    careful = thread_dumps(data, "x")
    for mine, theirs in zip(dumps, careful, strict=True):
        lines = {t.name: t.line for t in theirs.threads}
        assert all(t.line == lines[t.name] for t in mine.threads)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_wide_encodings(codec: str) -> None:
    text = "".join(moment.text for moment in islice(moments("17", seed=True), 3))

    dumps, _ = read(text.encode(codec), 100_001)[0], None

    assert shape(dumps) == shape(thread_dumps(text, "x"))


def test_carriage_returns_and_prefixes() -> None:
    data = next(moments("17", seed=True)).text.encode() * 3
    for made in (data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\napp-1  | ")):
        assert shape(read(made, 100_000)[0]) == shape(thread_dumps(made, "x"))


def test_other_forms_between_dumps_are_found_and_stand_in_their_place() -> None:
    dump = next(moments("17")).text.encode()
    watch = (
        b"2026-11-30 10:00:00 WARNING Thread Thread[#31,vert.x-eventloop-thread-0,5,main] has been blocked for 5023 ms,"
        b" time limit is 2000 ms\nio.vertx.core.VertxException: Thread blocked\n"
        b"\tat java.base/java.lang.Thread.sleep(Native Method)\n\tat app.Verticle.start(Verticle.java:12)\n\n"
    )
    data = dump + watch + dump

    careful = thread_dumps(data, "x")
    dumps, _ = read(data, 200_000)

    assert [(d.line, d.form) for d in dumps] == [(d.line, d.form) for d in careful]


def test_line_numbers_of_what_stands_between() -> None:
    dump = next(moments("17")).text.encode()
    data = dump + SEEDING + dump + b"$ cat /proc/sys/kernel/random/entropy_avail\n7\n" + dump

    _, (rest,) = read(data, 50_000)

    (line,) = server_log(rest, "x").seeding
    assert data.split(b"\n")[line.line - 1] + b"\n" == SEEDING
    (seen,) = observations(rest, "x").items
    assert data.split(b"\n")[seen.line - 1] == b"7"


def test_parts_and_the_reads_of_a_device_opened_in_an_earlier_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(longtext, "PART", 10_000)
    trace = (
        b'1 openat(AT_FDCWD, "/dev/random", O_RDONLY) = 7\n'
        + b"1 futex(0x1) = 0\n" * 2000
        + b'1 read(7, "x", 8) = 8 <12.5>\n'
    )

    _, parts = read(trace, 4000)

    assert len(parts) > 1
    found = {(o.kind, o.line, o.ms) for part in parts for o in observations(part, "x").items}
    assert ("strace-random-read", 2002, 12_500) in found


def test_real_logs_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longtext, "PART", 5_000)
    for name, data in tomcat_logs().items():
        whole = server_log(data, "x")
        logs = [server_log(part, "x") for part in read(data, 3_000)[1]]
        assert [s.line for log in logs for s in log.seeding] == [s.line for s in whole.seeding], (
            name
        )
        assert [s.line for log in logs for s in log.starts] == [s.line for s in whole.starts], name


def endless(unit: bytes, total: int) -> Iterator[bytes]:
    piece = unit * (50_000 // len(unit))
    for _ in range(total // len(piece)):
        yield piece


HEADER = b'"x" #1 prio=5 tid=0x1 nid=0x2 runnable  [0x00007f0000000000]\n'
MONSTERS: dict[str, tuple[bytes, bytes]] = {
    "one line": (b"", b"a"),
    "one line of zeros": (b"", b"\0"),
    "one thread": (b"Full thread dump VM (1):\n\n" + HEADER, b"\tat a.b(C.java:1)\n"),
    "one thread without a banner": (HEADER, b"\tat a.b(C.java:1)\n"),
    "one dump": (b"Full thread dump VM (1):\n\n", HEADER + b"\tat a.b(C.java:1)\n\n"),
    "banners": (b"", b"Full thread dump VM (1):\n"),
    "banners in one line": (b"", b"Full thread dump VM (1): "),
    "dumps without an end": (
        b"",
        b"Full thread dump VM (1):\n\n" + HEADER + b"\tat a.b(C.java:1)\n\n",
    ),
    "a list without an end": (
        b"Full thread dump VM (1):\nThreads class SMR info:\n",
        b"0x00007f,\n",
    ),
    "deadlocks": (
        b"Full thread dump VM (1):\n\n" + HEADER + b"\nJNI global refs: 1\n\n",
        b"Found one Java-level deadlock:\n",
    ),
}


@pytest.mark.parametrize("kind", MONSTERS)
def test_no_monster_is_held(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever does not end takes a bounded amount of memory: the limits here are a 64th of the real ones."""
    monkeypatch.setattr(longtext, "MOST", longtext.MOST // 64)
    monkeypatch.setattr(longtext, "PART", longtext.PART // 64)
    monkeypatch.setattr(longtext, "PIECE", longtext.PIECE // 64)
    monkeypatch.setattr(longtext, "USUAL", longtext.USUAL // 64)
    head, unit = MONSTERS[kind]
    long = LongText("x")
    list(long.feed(head))
    held = 0
    for part in long.parts(endless(unit, 2_000_000)):
        assert len(part.data) < longtext.PART + longtext.MOST + (1 << 18)
        held = max(held, len(long._left))

    assert held <= longtext.MOST + (1 << 18)


PIECES = [
    b"Full thread dump VM (1):\n",
    b"2026-11-30 14:28:52\n",
    b"\n",
    HEADER,
    b"\tat a.b(C.java:1)\n",
    b"   java.lang.Thread.State: RUNNABLE\n",
    b"JNI global refs: 1\n",
    b"12:00:00 INFO a.b.C x\n",
    b"Found one Java-level deadlock:\n",
    b"\xff\xfe",
    b"\r\n",
    b"\0",
    b"Threads class SMR info:\n",
    b'"',
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=40)), max_size=60),
    st.integers(1, 200),
)
def test_any_bytes(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    long = LongText("x")
    for at in range(0, len(data), size):
        list(long.feed(data[at : at + size]))
    list(long.finish())


@settings(max_examples=5, deadline=None)
@given(st.data())
def test_the_number_of_threads_does_not_depend_on_the_pieces(data: st.DataObject) -> None:
    size = data.draw(st.integers(20_000, 500_000))
    assert shape(read(MIXED, size)[0]) == shape(read(MIXED, 1 << 30)[0])


def test_a_packed_text_is_unpacked_as_it_comes() -> None:
    from seedstall.parse.packed import streamed

    packed = gzip.compress(MIXED[: len(MIXED) // 2]) + gzip.compress(MIXED[len(MIXED) // 2 :])
    pieces = (packed[at : at + 1000] for at in range(0, len(packed), 1000))
    long = LongText("x")
    list(long.parts(streamed(pieces)))

    assert shape(long.dumps) == shape(read(MIXED, 1 << 30)[0])


STANDING = """\
"{name}" Id={number} RUNNABLE
\tat java.io.FileInputStream.readBytes(Native Method)
\tat {place}.a(A.java:1)
\tat {place}.run(A.java:2)

"""


def test_a_dump_in_another_form_that_goes_on_in_the_next_part_is_one_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two moments would be a wait that a later dump no longer shows, where it is the same dump."""
    monkeypatch.setattr(longtext, "PART", 4000)

    def dump(first: int) -> str:
        places = ["sun.security.provider.SeedGenerator", *["com.foo.Bar"] * 199]
        return "".join(
            STANDING.format(name=f"t-{number}", number=number, place=place)
            for number, place in enumerate(places, first)
        )

    (one,), parts = read(dump(1).encode(), 2048)

    assert len(parts) > 2
    assert one.total == 200
    assert one.threads[0].frames[1].class_name == "sun.security.provider.SeedGenerator"

    monkeypatch.setattr(longtext, "_MOST_KEPT", 50)
    found, _ = read((dump(1) + dump(1)).encode(), 2048)
    assert [d.total for d in found] == [200, 200], "threads that come again are another moment's"
