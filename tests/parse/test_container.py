"""Texts inside texts: what comes out, and that line numbers are those of the original."""

import base64
import gzip
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.damage import WRAPPINGS
from tests.texts import live

from seedstall.parse.container import is_quoted_printable, opened
from seedstall.parse.text import Lines, Text, plain
from seedstall.parse.threaddump import thread_dumps

HANG = live("tomcat10-jdk17-hang.txt").decode()
FRAME = "SessionIdGeneratorBase.createSecureRandom"


def opened_lines(text: str) -> list[tuple[int, str]]:
    made = plain(text)
    numbers = made.numbers or range(1, made.data.count(b"\n") + 2)
    return list(zip(numbers, made.data.decode().split("\n"), strict=True))


def test_a_line_that_docker_parted() -> None:
    pieces = [
        {"log": "at org.a", "stream": "stdout"},
        {"log": ".B.c(D.java:1)\n", "stream": "stdout"},
    ]
    text = "\n".join(
        json.dumps(piece) for piece in (*pieces, {"log": "next\n", "stream": "stderr"})
    )

    assert opened_lines(text) == [(1, "at org.a.B.c(D.java:1)"), (3, "next")]


def test_the_last_object_may_be_cut() -> None:
    text = '{"log":"a\\n","stream":"stdout"}\n{"log":"b\\n","stream":"stdout"}\n{"log":"c\\td'

    assert opened_lines(text) == [(1, "a"), (2, "b"), (3, "c\td")]


def test_a_loggers_object_is_told_as_a_log_line() -> None:
    told = {
        "@timestamp": "2026-11-30T14:21:18.1Z",
        "level": "WARN",
        "thread_name": "main",
        "logger_name": "a.B",
        "message": "x",
    }

    assert opened_lines("\n".join([json.dumps(told)] * 2))[0] == (
        1,
        "2026-11-30T14:21:18.1Z WARN [main] a.B - x",
    )


def test_bytes_of_the_journal() -> None:
    told = {"__REALTIME_TIMESTAMP": "1", "MESSAGE": list(b"caf\xe9 x"), "_PID": "1"}

    assert opened_lines("\n".join([json.dumps(told)] * 2))[0] == (
        1,
        "caf\N{REPLACEMENT CHARACTER} x",
    )


def test_an_exported_field_with_line_feeds() -> None:
    value = b"one\ntwo"
    entry = (
        b"__REALTIME_TIMESTAMP=1\nMESSAGE\n" + len(value).to_bytes(8, "little") + value + b"\n\n"
    )
    data = entry + b"__REALTIME_TIMESTAMP=2\nMESSAGE=three\n\n"

    assert opened(Text(data)).data == b"one\ntwo\nthree"


def test_pieces_of_two_streams() -> None:
    at = "2026-11-30T14:21:00.123456789Z"
    text = (
        f"{at} stdout P a \n{at} stderr F err\n{at} stdout P b \n{at} stdout F c\n{at} stdout F d"
    )

    assert opened_lines(text) == [
        (1, f"{at} stdout F a b c"),
        (2, f"{at} stderr F err"),
        (5, f"{at} stdout F d"),
    ]


def test_a_soft_break_in_a_name() -> None:
    text = 'Hello,\n"main" tid=3D0x1 nid=3D=\n0x2\nx =3D 1'

    assert opened_lines(text) == [(1, "Hello,"), (2, '"main" tid=0x1 nid=0x2'), (4, "x = 1")]


@pytest.mark.parametrize("text", [b"-Da=3D", b"a=3Db\nc=d\n", b"x\n=\n=3D\n", b"no sign =\nhere\n"])
def test_options_are_no_quoted_printable(text: bytes) -> None:
    assert not is_quoted_printable(text)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_base64_by_itself(pack: type[bytes]) -> None:
    encoded = base64.encodebytes(pack(HANG.encode()))

    (dump,) = thread_dumps(encoded, "x")

    assert len(dump.threads) == 22


def test_base64_of_a_picture_is_left_alone() -> None:
    encoded = base64.encodebytes(bytes(range(256)) * 40)

    assert plain(encoded).data == encoded


@pytest.mark.parametrize(
    "wrapping",
    [
        *(
            "docker's JSON",
            "journalctl -o json",
            "journalctl -o export",
            "logstash",
            "CRI in pieces",
        ),
        *(
            "quoted-printable",
            "a list of lines in JSON",
            "a mail, 8bit",
            "a mail, quoted-printable",
        ),
    ],
)
def test_line_numbers_are_those_of_the_original(wrapping: str) -> None:
    wrapped = WRAPPINGS[wrapping](HANG)
    lines = (
        (wrapped.decode() if isinstance(wrapped, bytes) else wrapped)
        .replace("\r\n", "\n")
        .split("\n")
    )

    (dump,) = thread_dumps(wrapped, "x")

    frames = [f for t in dump.threads for f in t.frames if FRAME in f.name]
    assert frames
    for frame in frames:
        near = "".join(lines[frame.line - 1 : frame.line + 2]).replace("=", "")
        assert "createSecu" in near


def test_line_numbers_of_a_base64_part_are_near() -> None:
    wrapped = WRAPPINGS["a mail, base64"](HANG)
    assert isinstance(wrapped, bytes)
    lines = wrapped.replace(b"\r\n", b"\n").split(b"\n")

    (dump,) = thread_dumps(wrapped, "x")

    for thread in dump.threads:
        # A line of 76 characters is the encoding of 57 bytes, by itself.
        near = base64.b64decode(b"".join(lines[thread.line - 2 : thread.line + 3]))
        assert thread.name.encode() in near


def test_an_alternative_is_taken_once() -> None:
    text = (
        'From: a\nTo: b\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary="x"\n\n'
        f"--x\nContent-Type: text/plain\n\n{HANG}\n--x\nContent-Type: text/html\n\n<pre>{HANG}</pre>\n--x--\n"
    )

    assert len(thread_dumps(text, "x")) == 1


def test_a_mailbox_of_two_mails() -> None:
    mail = f"From a@b Mon Nov 30 14:21:18 2026\nFrom: a\nSubject: s\nMIME-Version: 1.0\n\n{HANG}\n"

    assert [len(d.threads) for d in thread_dumps(mail + "\n" + mail, "x")] == [22, 22]


WORDS = [
    *(
        '{"log":"a\\n"}',
        '"MESSAGE": ',
        '"a b",\n',
        "=3D",
        "=\n",
        "tid=3D0x1",
        "\n",
        "MESSAGE=",
        "__REALTIME_TIMESTAMP=1\n",
    ),
    *(
        "From: a\n",
        "MIME-Version: 1.0\n",
        "Content-Type: multipart/mixed; boundary=b\n",
        "--b\n",
        "--b--\n",
        "QUFB" * 15 + "\n",
    ),
    *(
        "2026-11-30T14:21:00.1Z stdout P ",
        "2026-11-30T14:21:00.1Z stdout F ",
        "Content-Transfer-Encoding: base64\n",
    ),
]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=40).map("".join))
def test_any_text(text: str) -> None:
    made = plain(text)
    lines = Lines(made)

    last = len(text.replace("\r", "\n").split("\n"))
    assert made.numbers is None or len(made.numbers) == made.data.count(b"\n") + 1
    assert all(1 <= lines.at(at) <= last for at in range(len(made.data)))


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    opened(Text(b"From: a\nTo: b\nMIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n" + data))
    opened(Text(b"__REALTIME_TIMESTAMP=1\nMESSAGE\n" + data))


def test_a_long_collectors_log_is_read_quickly() -> None:
    line = (
        json.dumps(
            {"log": "\tat a.b.C.d(C.java:1)\n", "stream": "stdout", "time": "2026-11-30T14:21:00Z"}
        )
        + "\n"
    )

    start = time.process_time()
    plain(line * 100_000)

    assert time.process_time() - start < 4
