"""strace in all its layouts: what waited for random bytes, how long, and what did not."""

# ruff: noqa: E501 - lines of logs and traces stand as they are printed

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.texts import archive

from seedstall.parse.observation import observations

OPENED = 'openat(AT_FDCWD, "/dev/random", O_RDONLY) = 4\n'


def seen(text: bytes | str) -> list[tuple[str, int, int | None, int | None, str]]:
    return [
        (o.kind, o.line, o.value, o.ms, o.text)
        for o in observations(text, "x").items
        if o.kind not in ("strace-one-thread", "kernel-release")
    ]


@pytest.mark.parametrize(
    ("text", "value", "ms"),
    [
        # -T
        (f'{OPENED}read(4, "ab", 20) = 6 <115.772000>\n', 6, 115_772),
        (f'[pid 12] {OPENED}[pid 12] read(4, "ab", 20) = 6 <115.772000>\n', 6, 115_772),
        (f'12 14:00:00 {OPENED}12 14:00:01 read(4, "ab", 20) = 6 <115.772000>\n', 6, 115_772),
        # -y, -yy: the open need not be shown
        ('x(1) = 0\nread(4</dev/random>, "ab", 20) = 6 <115.772>\n', 6, 115_772),
        ('x(1) = 0\nread(4</dev/random<char 1:8>>, "ab", 20) = 6 <115.772>\n', 6, 115_772),
        ('x(1) = 0\nreadv(4</dev/random>, [{iov_base="", iov_len=8}], 1) = 8 <2.0>\n', 8, 2000),
        # two halves with times
        (
            f'12 14:00:00.000000 {OPENED}12 14:00:00.5 read(4,  <unfinished ...>\n13 14:00:01.0 x(1) = 0\n12 14:01:10.500000 <... read resumed>"ab", 20) = 20\n'.replace(
                "00.5 ", "00.500000 "
            ).replace("01.0 ", "01.000000 "),
            20,
            70_000,
        ),
        (
            f"12 1700000000.000000 {OPENED}12 1700000001.000000 read(4,  <unfinished ...>\n12 1700000071.000000 <... read resumed>) = 20\n",
            20,
            70_000,
        ),
        (
            "12 23:59:50 "
            + OPENED
            + "12 23:59:50 read(4,  <unfinished ...>\n12 00:00:20 <... read resumed>) = 20\n",
            20,
            30_000,
        ),
        # the next line's time
        (
            f'14:00:00.000000 {OPENED}14:00:00.100000 read(4, "ab", 20) = 20\n14:01:10.100000 close(4) = 0\n',
            20,
            70_000,
        ),
        (
            f'     0.000000 {OPENED}     0.000100 read(4, "ab", 20) = 20\n    70.000000 close(4) = 0\n',
            20,
            70_000,
        ),
        # descriptors that were handed on
        (OPENED + 'dup2(4, 9) = 9\nread(9, "ab", 20) = 20 <3.0>\n', 20, 3000),
        (OPENED + 'fcntl(4, F_DUPFD_CLOEXEC, 0) = 9\nread(9, "ab", 20) = 20 <3.0>\n', 20, 3000),
        ("x(1) = 0\n" + 'getrandom("ab", 20, GRND_RANDOM) = 20 <3.0>\n', 20, 3000),
        (OPENED + "poll([{fd=4, events=POLLIN}], 1, -1) = 1 <3.0>\n", 1, 3000),
        (OPENED + "select(5, [4], NULL, NULL, NULL) = 1 <3.0>\n", 1, 3000),
    ],
)
def test_what_a_read_took(text: str, value: int, ms: int) -> None:
    (found,) = seen(text)

    assert (found[0], found[2], found[3], found[4]) == ("strace-random-read", value, ms, "")


@pytest.mark.parametrize(
    "text",
    [
        'pipe2([4, 5], O_CLOEXEC) = 0\nread(4, "ab", 20) = 20 <115.0>\n',
        'socket(AF_INET, SOCK_STREAM, 0) = 4\nread(4, "ab", 20) = 20 <115.0>\n',
        'openat(AT_FDCWD, "/dev/urandom", O_RDONLY) = 4\nread(4, "ab", 20) = 20 <0.1>\n',
        OPENED
        + 'close(4) = 0\nsocket(AF_INET, SOCK_STREAM, 0) = 4\nread(4, "ab", 20) = 20 <115.0>\n',
        OPENED + 'dup2(7, 4) = 4\nread(4, "ab", 20) = 20 <0.2>\n',
        OPENED + 'openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 4\nread(4, "ab", 20) = 20 <115.0>\n',
        "x(1) = 0\nread(4<pipe:[123]>,  <unfinished ...>\n",
        "x(1) = 0\nread(4<TCP:[10.0.0.1:80->10.0.0.2:99]>,  <unfinished ...>\n",
        'x(1) = 0\ngetrandom("ab", 20, GRND_NONBLOCK) = 20 <0.1>\n',
        OPENED + "poll([{fd=4, events=POLLIN}, {fd=5, events=POLLIN}], 2, -1) = 1 <3.0>\n",
        "the JVM calls read(4, buffer, 20) and waits\n",
    ],
)
def test_what_is_no_wait_for_random_bytes(text: str) -> None:
    assert seen(text) == []


def test_a_trace_that_ends_in_it() -> None:
    text = f"12 14:00:00.000000 {OPENED}12 14:00:01.000000 read(4,  <unfinished ...>\n13 14:03:01.000000 futex(0x7) = 0\n"

    assert seen(text) == [("strace-random-read", 2, None, 180_000, "unfinished")]
    assert seen(OPENED + "read(4, ") == [("strace-random-read", 2, None, None, "unfinished")]


def test_a_descriptor_that_the_trace_does_not_name() -> None:
    """``strace -p`` begins in the middle: only long reads are told, by their number."""
    text = '[pid 12] read(22, "", 14) = 6 <306.1>\n[pid 13] read(9, "", 14) = 6 <0.1>\n[pid 14] read(8,  <unfinished ...>\n'

    assert seen(text) == [
        ("strace-read", 1, 22, 306_100, ""),
        ("strace-read", 3, 8, None, "unfinished"),
    ]


def test_getrandom_without_its_flag_waits_for_the_first_seeding() -> None:
    assert seen('x(1) = 0\ngetrandom("ab", 16, 0) = 16 <12.5>\n') == [
        ("strace-getrandom", 2, 16, 12_500, "")
    ]


def test_one_thread_only() -> None:
    text = 'execve("/usr/bin/java") = 0\nread(3, "", 8) = 8\nread(3, "", 8) = 8\nclose(3) = 0\n'

    assert [o.kind for o in observations(text, "x").items] == ["strace-one-thread"]
    many = "".join(f"[pid {i % 3}] {line}\n" for i, line in enumerate(text.splitlines()))
    assert [o.kind for o in observations(many, "x").items] == []


def test_threads_are_told_apart() -> None:
    text = f"[pid 12] {OPENED}[pid 12] read(4,  <unfinished ...>\n[pid 13] read(4,  <unfinished ...>\n[pid 12] <... read resumed>) = 3 <2.0>\n"

    items = [o for o in observations(text, "x").items if o.kind == "strace-random-read"]
    assert [(o.thread, o.text) for o in items] == [("12", ""), ("13", "unfinished")]


def test_real_traces() -> None:
    for name, text in archive("live/local17-25").items():
        if name.endswith("strace.txt"):
            assert seen(text) == [("strace-random-read", 3, None, None, "unfinished")], name


WORDS = [
    *(
        OPENED,
        "read(4, ",
        "<unfinished ...>\n",
        ") = 3 <0.1>\n",
        "[pid 3] ",
        "<... read resumed>",
        "close(4) = 0\n",
    ),
    *(
        "14:00:00.000001 ",
        "1700000000.000001 ",
        "     0.000001 ",
        "getrandom(",
        "dup2(4, 5) = 5\n",
        "poll([{fd=4",
    ),
]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=40).map("".join))
def test_any_text(text: str) -> None:
    for item in observations(text, "x").items:
        assert item.line >= 1
        assert item.ms is None or item.ms >= 0


def test_a_long_trace_is_read_quickly() -> None:
    text = "".join(
        f'[pid {i % 50}] 14:00:{i % 60:02}.000001 read({i % 30}, "abc", 20) = 20 <0.000012>\n'
        for i in range(40_000)
    )

    start = time.process_time()
    observations(OPENED + text, "x")

    assert time.process_time() - start < 5
