from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedstall.parse import kernelfiles
from seedstall.parse.kernelfiles import Message, Node

PARSERS: tuple[Callable[[bytes], object], ...] = (
    kernelfiles.names,
    kernelfiles.count,
    kernelfiles.switch,
    kernelfiles.line,
    kernelfiles.uptime_s,
    kernelfiles.generators,
    kernelfiles.cpu_flags,
    kernelfiles.random_messages,
    kernelfiles.log_release,
    kernelfiles.os_release,
    kernelfiles.release_line,
    kernelfiles.node,
    lambda data: kernelfiles.random_symbols(data, frozenset(("random_read",))),
)


@pytest.mark.parametrize("parser", PARSERS)
@given(data=st.binary(max_size=3000))
@settings(max_examples=60)
def test_any_bytes_raise_only_value_error(parser: Callable[[bytes], object], data: bytes) -> None:
    with contextlib.suppress(ValueError):  # anything else fails the test
        parser(data)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    "piece",
    [b"random: \n", b"[", b"[ 1.1] ", b"kernel: ", b"ID=\\\n", b'A="', b"0", b" ", b"a a\n"],
)
def test_a_large_hostile_input_takes_no_time(
    parser: Callable[[bytes], object], piece: bytes
) -> None:
    data = piece * (2_000_000 // len(piece))
    begin = time.perf_counter()
    with contextlib.suppress(ValueError):
        parser(data)
    assert time.perf_counter() - begin < 3


def test_numbers_of_bits() -> None:
    assert kernelfiles.count(b"4096\n") == 4096
    assert kernelfiles.count(b"0\n") == 0


@pytest.mark.parametrize("data", [b"", b"-1\n", b"12 13\n", b"0x10", b"9" * 30, b"99999999999"])
def test_what_is_no_number_of_bits(data: bytes) -> None:
    with pytest.raises(ValueError, match="bits"):
        kernelfiles.count(data)


def test_switches() -> None:
    assert kernelfiles.switch(b"1\n")
    assert not kernelfiles.switch(b"0\n")
    with pytest.raises(ValueError, match="neither"):
        kernelfiles.switch(b"2\n")


def test_uptime() -> None:
    assert kernelfiles.uptime_s(b"47.86 18.30\n") == 47.86
    with pytest.raises(ValueError, match="uptime"):
        kernelfiles.uptime_s(b"soon")


def test_generators_without_the_word_none() -> None:
    assert kernelfiles.generators(b"virtio_rng.0 none\n") == ("virtio_rng.0",)
    assert kernelfiles.generators(b"\n") == ()


def test_cpu_flags_of_the_first_cpu() -> None:
    info = b"processor\t: 0\nflags\t\t: fpu tsc rdrand\n\nprocessor\t: 1\nflags\t\t: fpu\n"
    assert kernelfiles.cpu_flags(info) == {"fpu", "tsc", "rdrand"}
    assert kernelfiles.cpu_flags(b"cpu : POWER8\n") == frozenset()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b"[    3.304435] random: crng init done",
            Message(3.304435, "crng init done"),
        ),
        # Ubuntu 5.4.0-125, booted: without the prefix.
        (b"[  138.555846] crng init done", Message(138.555846, "crng init done")),
        (
            b"<5>[    0.000000] random: get_random_bytes called from start_kernel+0x99/0x500 with crng_init=0",
            Message(0.0, "get_random_bytes called from start_kernel+0x99/0x500 with crng_init=0"),
        ),
        (
            b"Nov 30 15:33:01 lab kernel: [    4.1] random: fast init done",
            Message(4.1, "fast init done"),
        ),
        (
            b"Nov 30 15:33:01 lab kernel: random: crng init done",
            Message(None, "crng init done"),
        ),
        (
            b"[Mon Nov 30 15:33:01 2026] random: nonblocking pool is initialized",
            Message(None, "nonblocking pool is initialized"),
        ),
        (b"[    0.000000] Starting gVisor...", Message(0.0, "Starting gVisor...")),
    ],
)
def test_lines_of_the_random_driver(line: bytes, message: Message) -> None:
    log = b"[    0.1] x86/fpu: x87 FPU\n" + line + b"\n[    9.9] cfg80211: random: no\n"
    assert kernelfiles.random_messages(log) == (message,)


def test_other_lines_with_the_word_are_not_the_drivers() -> None:
    log = b"[    1.0] Randomizing mmap base\n[    2.0] mydriver: my random: value\n"
    assert kernelfiles.random_messages(log) == ()


def test_a_flood_of_messages_is_bounded() -> None:
    log = b"[    1.0] random: crng init done\n" * 10_000
    assert len(kernelfiles.random_messages(log)) == kernelfiles.MAX_MESSAGES


def test_the_release_in_a_log() -> None:
    log = b"[    0.000000] Linux version 4.15.0-193-generic (buildd@x) (gcc) #204-Ubuntu SMP\n[ 1.0] x\n"
    assert kernelfiles.log_release(log).startswith("Linux version 4.15.0-193-generic")
    assert kernelfiles.log_release(b"[  1.0] random: crng init done") == ""


def test_symbols() -> None:
    text = (
        b"0000000000000000 t random_read\nffffffff81d34ae0 t random_read_iter\n0 T blocking_poolx\n"
    )
    wanted = frozenset(("random_read", "random_read_iter", "blocking_pool"))
    assert kernelfiles.random_symbols(text, wanted) == {"random_read", "random_read_iter"}


def test_os_release_with_quotes() -> None:
    text = b'# comment\nID="rhel"\nVERSION_ID=\'8.10\'\nPRETTY_NAME="A \\"B\\" \\$C"\nID_LIKE="fedora"\nbad line\n'
    values = kernelfiles.os_release(text)
    assert values["ID"] == "rhel"
    assert values["VERSION_ID"] == "8.10"
    assert values["PRETTY_NAME"] == 'A "B" $C'


@pytest.mark.parametrize(
    ("text", "identity", "version"),
    [
        (b"CentOS release 6.10 (Final)\n", "centos", "6.10"),
        (b"CentOS release 5.11 (Final)\n", "centos", "5.11"),
        (b"CentOS Linux release 7.9.2009 (Core)\n", "centos", "7.9.2009"),
        (b"Red Hat Enterprise Linux Server release 6.10 (Santiago)\n", "rhel", "6.10"),
        (b"Amazon Linux AMI release 2018.03\n", "amzn", "2018.03"),
        (b"Scientific Linux release 6.9 (Carbon)\n", "scientific", "6.9"),
    ],
)
def test_release_files_before_os_release(text: bytes, identity: str, version: str) -> None:
    assert kernelfiles.release_line(text)[:2] == (identity, version)


def test_a_release_line_of_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="release line"):
        kernelfiles.release_line(b"root:x:0:0\n")


def test_stat_answers() -> None:
    assert kernelfiles.node(b"20666 1 8 -1 -1 -1 -1") == Node(0o020666, (1, 8))
    with pytest.raises(ValueError, match="stat"):
        kernelfiles.node(b"28666 1 8")
    with pytest.raises(ValueError, match="device"):
        kernelfiles.node(b"20666 1 x")
