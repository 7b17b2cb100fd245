from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.spelling import close, distance

NAME = st.text(alphabet="abc.", max_size=8)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("egd", "egd", 0),
        ("edg", "egd", 1),
        ("eg", "egd", 1),
        ("eggd", "egd", 1),
        ("ebd", "egd", 1),
        ("secuirty", "security", 1),
        ("", "egd", 3),
        ("policy", "egd", 6),
    ],
)
def test_distances(one: str, other: str, expected: int) -> None:
    assert distance(one, other) == expected


@given(NAME, NAME)
def test_it_is_symmetric_and_zero_for_the_same_alone(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0) == (one == other)


def test_what_is_close() -> None:
    assert close("java.secuirty.edg", "java.security.egd")
    assert not close("java.security.acl", "java.security.egd")
