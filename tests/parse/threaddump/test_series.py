"""What is read by comparing is what the careful reader reads, but for the threads that do not matter over time."""

from dataclasses import replace
from itertools import islice

import pytest
from benchmarks.gen_dumps import series as moments
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.texts import live, probes

from seedstall.model.threads import ThreadDump
from seedstall.parse.longtext import thinned
from seedstall.parse.threaddump import thread_dumps
from seedstall.parse.threaddump.series import BANNER, Irregular, Series, Walked

DUMPS = {name: data for name, data in probes().items() if BANNER in data}


def without_places(dump: ThreadDump) -> ThreadDump:
    """Without the lines of frames: of a long series they are left out."""
    threads = tuple(
        replace(t, frames=tuple(replace(f, line=0) for f in t.frames)) for t in dump.threads
    )
    return replace(dump, threads=threads)


def walked(data: bytes) -> list[ThreadDump]:
    """The dumps that were read by comparing."""
    reader = Series("x")
    found: list[ThreadDump] = []
    at = data.find(BANNER)
    while at >= 0:
        below = data.find(BANNER, at + 1)
        read = reader.read(data, at, data.count(b"\n", 0, at) + 1)
        if isinstance(read, Walked):
            found.append(read.dump)
            assert read.feeds == data.count(b"\n", at, read.end)
        at = below
    return found


@pytest.mark.parametrize("jdk", ["17", "25"])
@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("seed", [False, True])
def test_a_series_is_read_as_the_careful_reader_reads_it(
    jdk: str, *, unique: bool, seed: bool
) -> None:
    told = list(islice(moments(jdk, seed=seed, unique=unique), 4))
    data = "".join(moment.text for moment in told).encode()

    careful = thread_dumps(data, "x")
    found = walked(data)

    assert [dump.total for dump in found] == [moment.threads for moment in told]
    for mine, theirs in zip(found, careful, strict=True):
        assert without_places(mine) == without_places(thinned(theirs))
    assert found[0].threads == thinned(careful[0]).threads


@pytest.mark.parametrize("name", DUMPS)
def test_a_probes_dump_is_read_so_or_not_at_all(name: str) -> None:
    data = DUMPS[name]
    careful = thread_dumps(data, "x")

    found = walked(data + data)

    assert len(found) in (0, 2 * len(careful))
    for mine, theirs in zip(found, careful, strict=False):
        assert without_places(mine) == without_places(thinned(theirs))


def test_most_real_dumps_are_read_so() -> None:
    read = [name for name, data in DUMPS.items() if walked(data)]

    assert len(read) > 0.9 * len(DUMPS), sorted(set(DUMPS) - set(read))


def test_deadlocks_are_the_dumps_own() -> None:
    data = live("jdk17-316-threads.txt")
    (careful,) = thread_dumps(data, "x")
    assert careful.deadlocks

    (found,) = walked(data + b"\n")

    assert found.deadlocks == careful.deadlocks
    assert found.total == len(careful.threads)


DAMAGE = {
    "a log line between frames": (b"\n\tat ", b"\n12:00:00 INFO x\n\tat "),
    "a cut frame": (
        b"\n\tat java.lang.Thread.run",
        b"\n\tat java.lang.Thr\n\tat java.lang.Thread.run",
    ),
    "a header without ids": (b" nid=", b" "),
    "a prefix": (b"\n", b"\napp | "),
    "no last line": (b"JNI global ref", b"JNI"),
    "a lost quote": (b'\n"', b"\n"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_dump_is_left_to_the_careful_reader(kind: str) -> None:
    text = next(moments("17", seed=True)).text.encode()
    old, new = DAMAGE[kind]
    broken = text[:9000] + text[9000:].replace(old, new, 3 if kind != "a prefix" else -1)
    assert broken != text

    assert walked(broken) == []


@pytest.mark.parametrize("cut", range(3000, 60000, 1777))
def test_a_dump_that_goes_on_is_said_to_be_cut(cut: int) -> None:
    data = next(moments("25")).text.encode()
    at = data.find(BANNER)

    assert Series("x").read(data[: at + cut], at, 1) is Irregular.CUT


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_change_of_a_byte_is_noticed_or_harmless(data: st.DataObject) -> None:
    """Never a thread more or less than the careful reader finds, and never a generator missed."""
    text = DUMPS[data.draw(st.sampled_from(sorted(DUMPS)))]
    at = data.draw(st.integers(0, len(text) - 1))
    byte = data.draw(st.sampled_from([b"\n", b'"', b"\n\n", b"x", b"\t", b"", b"\0", b"("]))
    broken = text + text[:at] + byte + text[at + 1 :]

    found = walked(broken)

    careful = {dump.line: dump for dump in thread_dumps(broken, "x")}
    for mine in found:
        theirs = careful[mine.line]
        # A header with a doubled quote has no name for the careful reader; a stack with a torn frame is none there.
        assert theirs.total <= mine.total <= theirs.total + 1
        assert {t.name for t in thinned(theirs).threads} <= {t.name for t in mine.threads}
