import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.seedsource import (
    Target,
    destination,
    effective_source,
    is_special,
    normal_path,
    reads_include,
)
from seedstall.model.jdk import JdkVersion


def test_only_two_strings_are_special() -> None:
    assert is_special("file:/dev/random")
    assert is_special("file:/dev/urandom")
    for other in (
        "file:/dev/urandom ",
        "FILE:/dev/urandom",
        "file:///dev/urandom",
        "/dev/urandom",
        "",
    ):
        assert not is_special(other)


def test_the_system_property_wins_unless_it_is_empty() -> None:
    assert effective_source("file:/x", "file:/y") == "file:/x"
    assert effective_source("", "file:/y") == "file:/y"
    assert effective_source(None, "file:/y") == "file:/y"
    assert effective_source(None, None) == ""


@pytest.mark.parametrize(
    ("source", "target", "path"),
    [
        ("", Target.EMPTY, ""),
        ("file:/dev/random", Target.RANDOM, "/dev/random"),
        ("file:/dev/./random", Target.RANDOM, "/dev/random"),
        ("file:///dev/urandom", Target.URANDOM, "/dev/urandom"),
        ("file:////dev//urandom/", Target.URANDOM, "/dev/urandom"),
        ("file:/dev/../dev/urandom", Target.URANDOM, "/dev/urandom"),
        ("file:/dev/%75random", Target.URANDOM, "/dev/urandom"),
        (" url:FILE:/dev/urandom\t", Target.URANDOM, "/dev/urandom"),
        ("file:/dev/.urandom", Target.FILE, "/dev/.urandom"),
        ("file:/dev/hwrng", Target.RANDOM_LIKE, "/dev/hwrng"),
        ("file:/dev/zero", Target.NO_RANDOMNESS, "/dev/zero"),
        ("file:dev/urandom", Target.RELATIVE, "dev/urandom"),
        ("file:", Target.BROKEN, ""),
        ("/dev/urandom", Target.BROKEN, ""),
        ("random:/dev/x", Target.BROKEN, ""),
        ("NativePRNG", Target.BROKEN, ""),
        ("http://127.0.0.1:1/x", Target.REMOTE, ""),
        ("file://dev/urandom", Target.REFUSED, ""),
        ("file:/dev/urandom#x", Target.REFUSED, ""),
        ("file:/dev/urandom?x", Target.REFUSED, ""),
        ('"file:/dev/urandom"', Target.BROKEN, ""),
    ],
)
def test_destination(source: str, target: Target, path: str) -> None:
    end = destination(source)
    assert (end.target, end.path) == (target, path)


def test_include_is_read_from_24_on() -> None:
    assert not reads_include(JdkVersion(23, 2))
    assert reads_include(JdkVersion(24))


@given(st.text(max_size=60))
def test_any_string_ends_somewhere(source: str) -> None:
    assert destination(source).target in Target


@given(st.text(alphabet="/.adev", max_size=30))
def test_a_normal_path_is_a_fixed_point(path: str) -> None:
    once = normal_path(path)
    assert normal_path(once) == once
    assert once.startswith("/")
    assert "//" not in once


def test_hostile_strings_are_done_with_at_once() -> None:
    start = time.perf_counter()
    for source in (
        "file:" + "/../" * 200_000,
        "a" * 1_000_000 + ":",
        "file:/" + "%41" * 300_000,
        " " * 1_000_000,
    ):
        destination(source)
    assert time.perf_counter() - start < 1
