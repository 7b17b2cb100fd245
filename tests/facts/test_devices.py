from __future__ import annotations

import os
from pathlib import Path

import pytest

from seedstall.facts.devices import random_devices
from seedstall.model.evidence import Ask, Ref, Space, Unavailable, Why
from seedstall.source.base import Held

RANDOM, URANDOM = b"20666 1 8 5 0 0 0", b"20666 1 9 6 0 0 0"


def stat(space: Space, name: str) -> Ref:
    return Ref(space, f"dev/{name}", Ask.STAT)


def test_the_kernels_own() -> None:
    found = random_devices(
        Held({stat(Space.ROOT, "random"): RANDOM, stat(Space.ROOT, "urandom"): URANDOM})
    )

    assert (found.random.rdev, found.place) == ((1, 8), "as the JVM sees it")
    assert found.urandom is not None
    assert found.urandom.rdev == (1, 9)


def test_the_hosts_where_there_is_no_process() -> None:
    found = random_devices(Held({stat(Space.KERNEL, "random"): RANDOM}))

    assert found.place == "on this host"
    assert found.urandom is None


def test_the_hosts_are_not_taken_for_a_root_that_may_not_be_entered() -> None:
    held: dict[Ref, bytes | Why] = {
        stat(Space.ROOT, "random"): Why.DENIED,
        stat(Space.KERNEL, "random"): RANDOM,
    }

    with pytest.raises(Unavailable) as raised:
        random_devices(Held(held))
    assert raised.value.missing.why is Why.DENIED


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (b"10644 0 0 5 0 0 0", "a FIFO"),
        (b"100644 0 0 5 0 0 0", "a regular file"),
        (b"40755 0 0 5 0 0 0", "a directory"),
        (b"140755 0 0 5 0 0 0", "a socket"),
        (b"60660 8 0 5 0 0 0", "a block device 8:0"),
        (b"20666 1 3 5 0 0 0", "the character device 1:3"),
    ],
)
def test_what_stands_in_its_place(mode: bytes, kind: str) -> None:
    found = random_devices(Held({stat(Space.ROOT, "random"): mode}))

    assert found.random.kind == kind
    assert found.random.exists


def test_of_a_process_that_ended_nothing_is_missing() -> None:
    held: dict[Ref, bytes | Why] = {
        stat(Space.ROOT, "random"): Why.VANISHED,
        stat(Space.KERNEL, "random"): RANDOM,
    }

    with pytest.raises(Unavailable) as raised:
        random_devices(Held(held))
    assert raised.value.missing.why is Why.VANISHED


def test_a_missing_one() -> None:
    found = random_devices(Held({stat(Space.ROOT, "random"): Why.ABSENT}))

    assert not found.random.exists


def test_a_link_is_told() -> None:
    held: dict[Ref, bytes | Why] = {
        stat(Space.ROOT, "random"): URANDOM,
        Ref(Space.ROOT, "dev/random", Ask.LINK): b"urandom",
    }
    found = random_devices(Held(held))

    assert (found.random.link, found.random.rdev) == ("urandom", (1, 9))


def test_the_type_bits_are_this_systems(tmp_path: Path) -> None:
    """The answer's mode is read with the same constants that the kernel uses."""
    os.mkfifo(tmp_path / "f")
    mode = (tmp_path / "f").stat().st_mode
    found = random_devices(Held({stat(Space.ROOT, "random"): b"%o 0 0 1 0 0 0" % mode}))

    assert found.random.kind == "a FIFO"
