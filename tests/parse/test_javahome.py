"""java.home from the paths that /proc shows."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.javahome import (
    home_of_library,
    home_of_program,
    inside,
    mapped_library,
    running_library,
)

LINE = "7f2515400000-7f2515653000 r--p 00000000 fe:00 2155521                    "


def maps(*paths: str) -> bytes:
    return "".join(f"{LINE}{path}\n" for path in paths).encode()


def test_the_library_is_found_among_the_maps() -> None:
    data = maps(
        "/usr/bin/java", "/opt/jdk/lib/libjvm.so.debug", "/opt/jdk/lib/server/libjvm.so", "[heap]"
    )
    assert mapped_library(data) == ("/opt/jdk/lib/server/libjvm.so", False)


def test_one_that_was_replaced_is_told() -> None:
    data = maps("/opt/jdk/lib/server/libjvm.so (deleted)")
    assert mapped_library(data) == ("/opt/jdk/lib/server/libjvm.so", True)


def test_odd_paths() -> None:
    data = maps("/opt/my jdk\\012x/lib/server/libjvm.so")
    assert mapped_library(data) == ("/opt/my jdk\nx/lib/server/libjvm.so", False)
    assert mapped_library(maps("/opt/sdk/lib/default/libj9vm29.so")) is not None
    assert mapped_library(b"/libjvm.so") is None
    assert mapped_library(b"") is None


@pytest.mark.parametrize(
    ("path", "home"),
    [
        ("/usr/lib/jvm/java-17/lib/server/libjvm.so", "/usr/lib/jvm/java-17"),
        ("/usr/lib/jvm/java-8/jre/lib/amd64/server/libjvm.so", "/usr/lib/jvm/java-8/jre"),
        ("/opt/jdk/lib/minimal/libjvm.so", "/opt/jdk"),
        ("/opt/ibm/jre/lib/amd64/default/libj9vm29.so", "/opt/ibm/jre"),
        ("/lib/server/libjvm.so", None),
        ("/opt/libjvm.so", None),
        ("/usr/lib/a/b/c/libjvm.so", None),
    ],
)
def test_home_of_library(path: str, home: str | None) -> None:
    assert home_of_library(path) == home


@pytest.mark.parametrize(
    ("path", "home"),
    [
        ("/opt/jdk/bin/java", "/opt/jdk"),
        ("/opt/jdk/jre/bin/java", "/opt/jdk/jre"),
        ("/bin/java", None),
        ("/usr/sbin/thing", None),
        ("java", None),
    ],
)
def test_home_of_program(path: str, home: str | None) -> None:
    assert home_of_program(path) == home


@pytest.mark.parametrize(
    ("path", "root", "seen"),
    [
        ("/srv/jail/usr/bin/java", "/srv/jail", "/usr/bin/java"),
        ("/usr/bin/java", "/", "/usr/bin/java"),
        ("/srv/jailed/java", "/srv/jail", "/srv/jailed/java"),
        ("/srv/jail", "/srv/jail", "/"),
    ],
)
def test_inside(path: str, root: str, seen: str) -> None:
    assert inside(path, root) == seen


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(data: bytes) -> None:
    mapped_library(data)
    mapped_library(data + b" /libjvm.so" + data)


def test_many_lines_are_quick() -> None:
    start = time.monotonic()
    mapped_library(b"/libjvm.so" * 300_000)
    mapped_library(maps(*["/x/libjvm.so.1"] * 50_000))
    assert time.monotonic() - start < 5


# --- which of them it runs -------------------------------------------------------------------------------------------


def mapped(mode: str, path: str) -> bytes:
    return f"7f2515400000-7f2515653000 {mode} 00000000 fe:00 2155521    {path}\n".encode()


@pytest.mark.parametrize(
    ("maps", "library"),
    [
        (mapped("r--p", "/j/libjvm.so") + mapped("r-xp", "/j/libjvm.so"), "/j/libjvm.so"),
        (mapped("--xp", "/j/libjvm.so"), "/j/libjvm.so"),  # execute-only, aarch64
        (mapped("r--p", "/j/libjvm.so") + mapped("rw-p", "/j/libjvm.so"), "/j/libjvm.so"),  # qemu
        (mapped("r-xp", "/j/libjvm.so (deleted)"), "/j/libjvm.so"),
        (mapped("r-xp", "/j/libj9vm29.so"), "/j/libj9vm29.so"),
        (mapped("r-xp", "/j/libj9vm24.so"), "/j/libj9vm24.so"),
        (mapped("r-xp", "/j/libjvm.so") + mapped("r-xp", "/j/libj9vm29.so"), "/j/libj9vm29.so"),
        # read as a file by a debugger, a profiler, a backup
        (mapped("r--p", "/j/libjvm.so"), None),
        (mapped("r--s", "/j/libjvm.so") + mapped("rw-s", "/j/libjvm.so"), None),
        (mapped("r-xp", "/j/libjvm.so.debug"), None),
        (mapped("r-xp", "/j/libj9vmchk29.so"), None),
        (mapped("r-xp", "/j/libjvm.so/other"), None),
    ],
)
def test_the_library_it_runs(maps: bytes, library: str | None) -> None:
    assert running_library(maps) == library


@given(st.binary(max_size=200))
def test_any_maps(noise: bytes) -> None:
    running_library(noise + mapped("r-xp", "/j/libj9vm") + noise)
    mapped_library(noise + b"/libjvm.so" + noise)


def test_a_million_names_are_not_all_looked_at() -> None:
    start = time.perf_counter()
    assert running_library(mapped("r--s", "/libjvm.so") * 100_000) is None
    assert time.perf_counter() - start < 1
