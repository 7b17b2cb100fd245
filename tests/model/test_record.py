from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from dataclasses import field
from typing import Generic, TypeVar

import pytest

from seedstall.model.record import dataclass

T = TypeVar("T")


@dataclass(frozen=True)
class Base:
    a: int
    b: str = "x"


@dataclass(frozen=True, kw_only=True)
class Child(Base):
    c: tuple[int, ...] = ()
    d: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, order=True)
class Box(Generic[T]):
    value: T


def test_it_is_a_dataclass_with_all_that_belongs_to_one() -> None:
    child = Child(1, "y", c=(2,))

    assert child == Child(1, "y", c=(2,))
    assert repr(child) == "Child(a=1, b='y', c=(2,), d={})"
    assert dataclasses.replace(child, a=3).a == 3
    assert [f.name for f in dataclasses.fields(child)] == ["a", "b", "c", "d"]
    assert hash(Box(1)) == hash(Box(1))
    assert Box(1) < Box(2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        child.a = 2  # type: ignore[misc]
    match Box(7):
        case Box(value):
            assert value == 7


def test_wrong_arguments_are_refused_as_ever() -> None:
    with pytest.raises(TypeError):
        Base()  # type: ignore[call-arg]


def test_an_instance_from_another_process_is_whole() -> None:
    code = (
        "import pickle,sys; from seedstall.model.evidence import Ref, Space;"
        "sys.stdout.buffer.write(pickle.dumps(Ref(Space.KERNEL, 'proc/version')))"
    )
    data = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    code = (
        "import pickle,sys; one = pickle.loads(sys.stdin.buffer.read()); two = type(one)(one.space, one.path);"
        "assert one == two and hash(one) == hash(two), (one, two)"
    )
    subprocess.run([sys.executable, "-c", code], input=data, check=True)
    assert pickle.loads(pickle.dumps(Box(3))) == Box(3)  # noqa: S301 - our own bytes
