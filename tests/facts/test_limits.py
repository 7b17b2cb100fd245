from __future__ import annotations

import pytest

from seedstall.facts.limits import cpu_throttling, freezer, paging
from seedstall.model.evidence import Ref, Space, Unavailable, Why
from seedstall.model.limits import Freezer, Paging
from seedstall.source.base import Held

V2 = b"31 24 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
V1 = (
    b"31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    b"32 24 0:28 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
)
GROUP1 = b"4:cpu,cpuacct:/docker/1f\n7:freezer:/docker/1f\n"


def host(groups: bytes, mounts: bytes, **files: bytes) -> Held:
    held: dict[Ref, bytes | Why] = {
        Ref(Space.PROCESS, "cgroup"): groups,
        Ref(Space.KERNEL, "proc/self/mountinfo"): mounts,
    }
    held |= {Ref(Space.KERNEL, path.replace("__", "/")): data for path, data in files.items()}
    return Held(held)


def at(path: str, data: bytes, groups: bytes = b"0::/docker/1f\n", mounts: bytes = V2) -> Held:
    return host(groups, mounts, **{f"sys/fs/cgroup/{path}": data})


def test_version_2_counts_microseconds() -> None:
    data = b"usage_usec 9\nnr_periods 400\nnr_throttled 310\nthrottled_usec 28000000\n"
    found = cpu_throttling(at("docker/1f/cpu.stat", data), None)
    assert (found.periods, found.throttled, found.stopped_ms) == (400, 310, 28_000)
    assert found.path == "sys/fs/cgroup/docker/1f/cpu.stat"


def test_version_1_counts_nanoseconds() -> None:
    data = b"nr_periods 400\nnr_throttled 310\nthrottled_time 28000000000\n"
    found = cpu_throttling(at("cpu,cpuacct/docker/1f/cpu.stat", data, GROUP1, V1), None)
    assert found.stopped_ms == 28_000


def test_the_group_above_counts_where_the_own_has_no_quota() -> None:
    data = b"nr_periods 400\nnr_throttled 310\nthrottled_usec 28000000\n"
    assert cpu_throttling(at("docker/cpu.stat", data), None).path == "sys/fs/cgroup/docker/cpu.stat"


@pytest.mark.parametrize(
    "data", [b"", b"usage_usec 9\n", b"nr_periods 0\nthrottled_usec 0\n", b"\xff"]
)
def test_no_quota(data: bytes) -> None:
    with pytest.raises(Unavailable):
        cpu_throttling(at("docker/1f/cpu.stat", data), None)
    with pytest.raises(Unavailable):
        cpu_throttling(Held({}), None)


@pytest.mark.parametrize(
    ("path", "data", "frozen"),
    [
        ("docker/1f/cgroup.events", b"populated 1\nfrozen 1\n", True),
        ("docker/cgroup.events", b"populated 1\nfrozen 1\n", True),
        ("docker/1f/cgroup.events", b"populated 1\nfrozen 0\n", False),
    ],
)
def test_a_frozen_group(path: str, data: bytes, frozen: bool) -> None:  # noqa: FBT001
    assert bool(freezer(at(path, data)).path) == frozen


def test_a_frozen_group_of_version_1() -> None:
    path = "freezer/docker/1f/freezer.state"
    assert freezer(at(path, b"FROZEN\n", GROUP1, V1)) == Freezer("sys/fs/cgroup/freezer/docker/1f")
    assert freezer(at(path, b"THAWED\n", GROUP1, V1)) == Freezer()


def test_groups_that_are_not_seen_are_not_thawed() -> None:
    with pytest.raises(Unavailable):
        freezer(Held({}))
    with pytest.raises(Unavailable):
        freezer(host(b"4:freezer:/../other\n", V1))


def test_swap_and_faults() -> None:
    stat = b"7 (java) S 1 7 7 0 -1 4194560 100 0 4321 0 5 6 0 0 20 0 9 0 5 6 7\n"
    held: dict[Ref, bytes | Why] = {
        Ref(Space.PROCESS, "status"): b"Name:\tjava\nVmRSS:\t  400 kB\nVmSwap:\t 300 kB\n",
        Ref(Space.PROCESS, "stat"): stat,
        Ref(
            Space.KERNEL, "proc/pressure/memory"
        ): b"some avg10=12.34 avg60=1.00 avg300=0 total=9\n",
    }
    assert paging(Held(held)) == Paging(400, 300, 4321, 12.34)
    del held[Ref(Space.KERNEL, "proc/pressure/memory")]
    assert paging(Held(held)).pressure is None
    with pytest.raises(Unavailable):
        paging(Held({}))
