import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from benchmarks.gen_dumps import series as moments
from tests.texts import live, post, probes, tomcat_logs

from seedstall.engine.case import Case
from seedstall.facts import inputs
from seedstall.facts.inputs import InputTexts
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.model.log import Observations, ServerLog
from seedstall.model.threads import ThreadDumps
from seedstall.parse import packed
from seedstall.source.base import Held
from seedstall.source.detect import Kind, Target
from seedstall.source.inputs import InputSource

DUMP = Ref(Space.ATTACH, "threaddump")
HANG = live("tomcat10-jdk17-hang.txt")
JARSIGNER = live("jarsigner-jdk8-hang.txt")


def case(files: dict[str, bytes | Why], attach: bytes | Why | None = None) -> Case:
    """A case of these files, in this order, and of this answer to the attach."""
    held: dict[Ref, bytes | Why] = {Ref(Space.INPUT, name): data for name, data in files.items()}
    if files:
        names = "".join(f"{name}\0" for name in files)
        held[Ref(Space.INPUT, "", Ask.LIST)] = names.encode()
    if attach is not None:
        held[DUMP] = attach
    return Case(Held(held), inputs.PROVIDERS)


def why(reading: Reading[object]) -> Missing:
    assert isinstance(reading, Missing)
    return reading


def test_dumps_of_every_input_and_the_live_one_last() -> None:
    reading = case({"a.txt": HANG, "b.log": b"x\n" + JARSIGNER + HANG}, JARSIGNER).get(ThreadDumps)

    assert isinstance(reading, Got)
    assert [(d.origin, len(d.threads)) for d in reading.value.dumps] == [
        ("a.txt", 22),
        ("b.log", 12),
        ("b.log", 22),
        ("attach", 12),
    ]
    assert Ref(Space.INPUT, "a.txt") in reading.origins
    assert DUMP in reading.origins


def test_a_live_dump_alone() -> None:
    reading = case({}, HANG).get(ThreadDumps)

    assert isinstance(reading, Got)
    assert [d.origin for d in reading.value.dumps] == ["attach"]


@pytest.mark.parametrize(
    "reason", [Why.REFUSED, Why.DENIED, Why.TIMED_OUT, Why.VANISHED, Why.ABSENT]
)
def test_why_the_jvm_was_not_asked_survives(reason: Why) -> None:
    assert why(case({}, reason).get(ThreadDumps)) == Missing(reason, (DUMP,))
    assert why(case({"a.txt": b"x"}, reason).get(ThreadDumps)) == Missing(reason, (DUMP,))


def test_a_dump_that_was_handed_over_does_where_the_attach_is_refused() -> None:
    reading = case({"a.txt": HANG}, Why.REFUSED).get(ThreadDumps)

    assert isinstance(reading, Got)
    assert [d.origin for d in reading.value.dumps] == ["a.txt"]


def test_no_input_and_no_attach_is_not_collected() -> None:
    assert why(case({}).get(ThreadDumps)).why is Why.NOT_COLLECTED
    assert why(case({}).get(ServerLog)).why is Why.NOT_COLLECTED
    assert why(case({}).get(Observations)).why is Why.NOT_COLLECTED


def test_inputs_without_a_dump_are_named() -> None:
    missing = why(case({"a.txt": b"prose", "b.txt": b"more"}).get(ThreadDumps))

    assert missing.why is Why.NOT_COLLECTED
    assert missing.origins == (Ref(Space.INPUT, "a.txt"), Ref(Space.INPUT, "b.txt"))
    assert "no thread dump" in missing.detail


def test_finished_probes_hold_neither_dump_nor_log() -> None:
    for name, text in probes().items():
        known = case({name: text})
        blocked = text.rstrip().endswith(b"BLOCKED")
        assert isinstance(known.get(ThreadDumps), Got) is blocked
        assert why(known.get(ServerLog)).why is Why.NOT_COLLECTED


def test_an_answer_without_a_thread_is_malformed() -> None:
    missing = why(case({}, b"this feature is disabled\n").get(ThreadDumps))

    assert (missing.why, missing.origins) == (Why.MALFORMED, (DUMP,))
    assert "this feature is disabled" in missing.detail


def test_an_input_that_could_not_be_read_is_the_reason_where_nothing_was_found() -> None:
    denied: dict[str, bytes | Why] = {"a.txt": b"prose", "b.txt": Why.DENIED}

    for kind in (ThreadDumps, ServerLog, Observations):
        assert why(case(denied).get(kind)) == Missing(Why.DENIED, (Ref(Space.INPUT, "b.txt"),))
    assert isinstance(case({**denied, "c.txt": HANG}).get(ThreadDumps), Got)


def test_packed_inputs() -> None:
    files: dict[str, bytes | Why] = {"a.gz": gzip.compress(HANG), "b.xz": lzma.compress(JARSIGNER)}
    reading = case(files).get(ThreadDumps)

    assert isinstance(reading, Got)
    assert [(d.origin, len(d.threads)) for d in reading.value.dumps] == [("a.gz", 22), ("b.xz", 12)]


def test_a_bomb_is_refused_by_name_and_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "STREAM_LIMIT", 12 << 20)
    bomb = gzip.compress(b"one line\n" * (2 << 20), compresslevel=1)

    missing = why(case({"bomb.gz": bomb}).get(ThreadDumps))

    assert missing.why is Why.MALFORMED
    assert "bomb.gz" in missing.detail
    assert "12 MiB" in missing.detail


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_long_input_is_read_in_pieces(pack: Callable[[bytes], bytes]) -> None:
    told = list(islice(moments("17", seed=True), 12))
    data = "".join(moment.text for moment in told).encode()
    assert len(data) > inputs.HELD

    known = case({"catalina.out": pack(data)})

    dumps = known.value(ThreadDumps)
    assert dumps is not None
    assert [d.total for d in dumps.dumps] == [moment.threads for moment in told]
    assert [bool(d.omitted) for d in dumps.dumps] == [True] * 10 + [False] * 2
    log = known.value(ServerLog)
    assert log is not None
    assert log.lines == data.count(b"\n") + 1


def test_a_long_member_of_an_archive_and_its_neighbour() -> None:
    data = "".join(moment.text for moment in islice(moments("17", seed=True), 12)).encode()
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/catalina.out", data)
        archive.writestr("jstack.txt", HANG)

    dumps = case({"ticket.zip": whole.getvalue()}).value(ThreadDumps)

    assert dumps is not None
    assert [d.origin for d in dumps.dumps] == ["ticket.zip!logs/catalina.out"] * 12 + [
        "ticket.zip!jstack.txt"
    ]


def test_each_input_is_decoded_once() -> None:
    known = case({"a.txt": HANG.decode().encode("utf-16")})

    first, second = known.get(InputTexts), known.get(InputTexts)

    assert first is second
    assert isinstance(first, Got)
    assert first.value.texts[0][1].data == HANG


def test_logs_are_joined_in_order() -> None:
    logs = tomcat_logs()
    reading = case(
        {"1.log": logs["out.en.txt"], "2.txt": b"prose", "3.log": logs["tomcat10-de.log"]}
    ).get(ServerLog)

    assert isinstance(reading, Got)
    log = reading.value
    assert [(s.origin, s.took_ms) for s in log.seeding] == [("1.log", 3980), ("3.log", 1838)]
    assert [(s.origin, s.took_ms) for s in log.starts] == [("1.log", 5239), ("3.log", 4971)]
    assert log.lines == 201 + 46
    assert log.last_line is not None
    assert log.last_line[0] == "3.log"
    assert (log.product, log.product_version) == ("Tomcat", "10.1.60")
    assert log.jvm_version.startswith("17.0.15")


def test_measurements_of_all_inputs() -> None:
    reading = case({"mail": post("004"), "post": post("001")}).get(Observations)

    assert isinstance(reading, Got)
    assert [item.origin for item in reading.value.items] == ["mail"] * 4 + ["post"] * 5
    assert why(case({"a.txt": HANG}).get(Observations)).why is Why.NOT_COLLECTED


def test_what_the_user_says_is_no_text() -> None:
    known = Case(Held({Ref(Space.INPUT, "given/jdk"): b"17"}), inputs.PROVIDERS)

    assert why(known.get(InputTexts)).why is Why.NOT_COLLECTED


def test_what_is_no_text_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    """A ticket holds pictures and heap dumps beside the log."""
    with zipfile.ZipFile(tmp_path / "ticket.zip", "w") as archive:
        archive.writestr("screen.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        archive.writestr("java.hprof", b"JAVA PROFILE 1.0.2\0\0\0\0\x08" + bytes(9 << 20))
        archive.writestr("app.jar", b"PK\x03\x04" + bytes(26) + b"META-INF/MANIFEST.MF")
        archive.writestr("note.txt", "hello\n")
    name = str(tmp_path / "ticket.zip")
    found = inputs.input_texts(InputSource([Target(name, Kind.FILE, path=name)]))

    assert [inner for inner, _ in found.texts] == [f"{name}!note.txt"]
    told = [missing.detail for missing in found.unread]
    assert [any(word in why for why in told) for word in ("PNG", "hprof", "jar")] == [True] * 3


@pytest.mark.parametrize("pause", [0, 95])
def test_a_silence_between_two_parts_of_a_long_log_is_one(
    pause: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "HELD", 1 << 10)
    monkeypatch.setattr("seedstall.parse.longtext.PART", 1)
    monkeypatch.setattr("seedstall.parse.longtext.PIECE", 4 << 10)
    line = "{:02d}:{:02d}:{:02d}.000 INFO [main] org.apache.catalina.core.X.y {}\n"
    begin = line.format(10, 0, 0, "x").replace(
        "core.X.y", "startup.Catalina.load Initialised in [310] milliseconds"
    )
    before = [line.format(10, 0, 1 + n // 40, "a" * 40) for n in range(400)]
    after = [
        line.format(10, (60 + pause) // 60, pause % 60 + n // 100, "b" * 40) for n in range(400)
    ]
    log = (begin + "".join(before + after)).encode()
    assert len(log) > 32 << 10
    held = case({"a.log": Why.TRUNCATED})
    rest, long = inputs._read_long(
        "a.log", iter([log[at : at + 4096] for at in range(0, len(log), 4096)]), []
    )
    texts = InputTexts((("a.log", rest),), (), {"a.log": long})
    found = inputs.server_log_of_case(held._source, texts)
    longest = found.silences[0]

    assert longest.line == 401
    assert longest.until_line == 402
    assert longest.ms == (60 + pause - 10) * 1000
