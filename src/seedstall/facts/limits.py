"""What a control group's CPU quota did to the process (sched/cpu-throttling in the kernel's Documentation)."""

from __future__ import annotations

from seedstall.model.evidence import Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.model.limits import CpuThrottling, Freezer, Paging
from seedstall.parse import procfs
from seedstall.source.base import Source

_GROUPS = Ref(Space.PROCESS, "cgroup")
_MOUNTS = Ref(Space.KERNEL, "proc/self/mountinfo")


def cpu_throttling(source: Source, process: JvmProcess | None) -> CpuThrottling:
    """The figures of the nearest control group that has a CPU quota.

    Raises:
        Unavailable: the process's groups cannot be seen from here, or none has such figures.
        ValueError: a file is malformed.
    """
    age = process.age_ms if process is not None else None
    for folder in _folders(source, "cpu"):
        path = f"{folder}/cpu.stat"
        data = _content(source, path)
        periods, throttled = procfs.cpu_periods(data)
        stopped = procfs.throttled_us(data)
        if stopped is not None and periods:
            return CpuThrottling(periods, throttled, stopped // 1000, path, age)
    # Most groups have no quota: nobody need be told.
    raise Unavailable(Missing(Why.NOT_COLLECTED, (Ref(Space.KERNEL, "cpu.stat"),)))


def freezer(source: Source) -> Freezer:
    """Whether its control group is frozen, by version 1's ``freezer.state`` or version 2's ``cgroup.events`` (5.2).

    Raises:
        Unavailable: its groups cannot be seen from here.
        ValueError: a file is malformed.
    """
    folders = _folders(source, "freezer")
    for folder in folders:
        state = _content(source, f"{folder}/freezer.state").strip()
        if state in (b"FROZEN", b"FREEZING") or b"frozen 1" in _content(
            source, f"{folder}/cgroup.events"
        ):
            return Freezer(folder)
    return Freezer()


def paging(source: Source, process: JvmProcess | None = None) -> Paging:
    """What of it is in swap, and its major faults.

    Raises:
        Unavailable: its ``status`` or ``stat`` cannot be had.
        ValueError: one is malformed.
    """
    status, stat = (source.read(Ref(Space.PROCESS, name)) for name in ("status", "stat"))
    if isinstance(status, Missing):
        raise Unavailable(status)
    if isinstance(stat, Missing):
        raise Unavailable(stat)
    resident, swapped = procfs.memory(status.value)
    told = procfs.pressure(_content(source, "proc/pressure/memory"))
    pid = process.pid if process is not None else 0
    return Paging(resident, swapped, procfs.major_faults(stat.value), told, pid)


def _folders(source: Source, controller: str) -> tuple[str, ...]:
    """Its control groups with that controller, and those above.

    Raises:
        Unavailable: they are not visible from here (a container sees only its own).
    """
    groups, mounts = source.read(_GROUPS), source.read(_MOUNTS)
    if isinstance(groups, Missing):
        raise Unavailable(groups)
    if isinstance(mounts, Missing):
        raise Unavailable(mounts)
    folders = procfs.cgroup_folders(
        procfs.cgroups(groups.value), procfs.mounts(mounts.value, "cgroup"), controller
    )
    if folders is None:
        raise Unavailable(Missing(Why.NOT_COLLECTED, (_GROUPS,), "its control groups are not seen"))
    return tuple(folder.strip("/") for folder in folders)


def _content(source: Source, path: str) -> bytes:
    reading = source.read(Ref(Space.KERNEL, path))
    return reading.value if isinstance(reading, Got) else b""


PROVIDERS = (cpu_throttling, freezer, paging)
