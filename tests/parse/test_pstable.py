"""What ps prints: real lines of procps, and what is none."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sosreports import JAVA, PS, PS_THREADS

from seedstall.parse.pstable import Row, rows


def test_threads() -> None:
    found = list(rows(PS_THREADS))
    assert found[2] == Row(8712, 8713, 1, "S", "random", "tomcat", 3, JAVA)
    assert [row.tid for row in found] == [1, 8712, 8713, 8714]


def test_processes_without_the_lines_of_their_threads() -> None:
    first, java = rows(PS)
    assert (first.pid, first.command, first.cpu_s) == (1, "/usr/lib/systemd/systemd", 113)
    assert (java.pid, java.user, java.wchan, java.command) == (8712, "tomcat", "", JAVA)


def test_a_table_with_dates() -> None:
    (row,) = rows(
        b"F S   UID   PID  PPID WCHAN                                 STARTED TT           TIME CMD\n"
        b"4 S     0  2916     1 futex_do_wait      Mon Nov 30 22:50:36 2026 ?     1-02:00:03 java -x  y\n"
    )
    assert (row.pid, row.wchan, row.cpu_s, row.command) == (
        2916,
        "futex_do_wait",
        93_603,
        "java -x  y",
    )


@pytest.mark.parametrize(
    "options", ["-elfL", "auxwww", "alxwww", "axo flags,state,pid,ppid,wchan:20,lstart,time,cmd"]
)
def test_the_ps_of_this_machine(options: str) -> None:
    done = subprocess.run(["ps", *options.split()], capture_output=True, check=True)
    assert os.getpid() in {row.pid for row in rows(done.stdout)}


@pytest.mark.parametrize(
    "data", [b"", b"PID CMD\n", b"PID CMD\nx y\n", b"PID CMD\n1\n", b"a PID\n1 2\n", b"\0" * 9]
)
def test_what_is_no_table(data: bytes) -> None:
    assert list(rows(data)) == []


@given(st.binary(max_size=500))
def test_any_bytes(data: bytes) -> None:
    list(rows(data))
    list(rows(b"F S UID PID PPID LWP WCHAN STARTED TIME CMD\n" + data))
