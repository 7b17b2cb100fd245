"""The systemd service that a process belongs to, as its unit and drop-ins on this host describe it."""

from __future__ import annotations

from seedstall.knowledge.containers import container_of
from seedstall.knowledge.services import UNIT_FOLDERS, UnitName, unit_of
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.record import dataclass
from seedstall.parse import procfs
from seedstall.parse.edit.unit import Unit, order_of
from seedstall.source.base import Source

MAX_DROP_INS = 200


@dataclass(frozen=True, slots=True)
class Service:
    """A service. ``fragment`` is its unit file, ``""`` where none was found; ``drop_ins`` the files merged after it."""

    name: UnitName
    unit: Unit
    fragment: str = ""
    drop_ins: tuple[str, ...] = ()


def service(source: Source) -> Service:
    """The service by the process's control group.

    Raises:
        Unavailable: the group could not be read, names no service, or names one inside a container.
    """
    group = Ref(Space.PROCESS, "cgroup")
    reading = source.read(group)
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    paths = tuple(g.path for g in procfs.cgroups(reading.value))
    if container_of(paths) is not None:
        raise Unavailable(Missing(Why.ABSENT, (group,), "it runs in a container"))
    name = unit_of(paths)
    if name is None:
        raise Unavailable(Missing(Why.ABSENT, (group,), "its control group is no service's"))
    return described(source, name)


def described(source: Source, name: UnitName) -> Service:
    """The unit of that name with its drop-ins, in the order in which systemd reads them."""
    unit = Unit()
    if name.user:  # a user's manager looks in other folders, and in that user's home
        return Service(name, unit)
    fragment = ""
    for path in (f"{folder}/{n}" for n in name.names for folder in UNIT_FOLDERS):
        content = _content(source, path)
        if content is not None:
            fragment = path
            unit.take(path, content)
            break
    drop_ins = _drop_ins(source, name)
    for path in drop_ins:
        unit.take(path, _content(source, path) or b"")
    return Service(name, unit, fragment, tuple(drop_ins))


def _drop_ins(source: Source, name: UnitName) -> list[str]:
    """Of files of one name the one in the folder that beats the others."""
    kind = name.name.rpartition(".")[2]
    found: dict[str, str] = {}
    for directory in (*name.names, kind):
        for folder in UNIT_FOLDERS:
            below = f"{folder}/{directory}.d"
            reading = source.read(Ref(Space.KERNEL, below.lstrip("/"), Ask.LIST))
            names = reading.value.split(b"\0") if isinstance(reading, Got) else []
            for one in order_of(n.decode("utf-8", "surrogateescape") for n in names):
                found.setdefault(one, f"{below}/{one}")
    return [found[one] for one in sorted(found)[:MAX_DROP_INS]]


def _content(source: Source, path: str) -> bytes | None:
    reading = source.read(Ref(Space.KERNEL, path.lstrip("/")))
    return reading.value if isinstance(reading, Got) else None


PROVIDERS = (service,)
