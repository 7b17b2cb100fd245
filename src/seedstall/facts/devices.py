"""What the device files are: the kernel's own, or something in their place."""

from __future__ import annotations

import stat

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.kernel import DeviceNode, RandomDevices
from seedstall.parse import kernelfiles
from seedstall.source.base import Source


def random_devices(source: Source) -> RandomDevices:
    """What ``/dev/random`` and ``/dev/urandom`` are where the target sees them; without a target, on this host.

    Raises:
        Unavailable: it could not be looked at.
    """
    space, place = Space.ROOT, "as the JVM sees it"
    reading = source.read(Ref(space, "dev/random", Ask.STAT))
    if isinstance(reading, Missing) and reading.why is Why.NOT_COLLECTED:
        space, place = Space.KERNEL, "on this host"
        reading = source.read(Ref(space, "dev/random", Ask.STAT))
    if isinstance(reading, Missing) and reading.why is not Why.ABSENT:
        raise Unavailable(reading)
    other = source.read(Ref(space, "dev/urandom", Ask.STAT))
    return RandomDevices(
        random=_node(source, space, "dev/random", reading),
        urandom=None if _unknown(other) else _node(source, space, "dev/urandom", other),
        place=place,
    )


def _unknown(reading: Reading[bytes]) -> bool:
    return isinstance(reading, Missing) and reading.why is not Why.ABSENT


def _node(source: Source, space: Space, path: str, reading: Reading[bytes]) -> DeviceNode:
    link = source.read(Ref(space, path, Ask.LINK))
    target = link.value[:512].decode("utf-8", "replace") if isinstance(link, Got) else ""
    if isinstance(reading, Missing):
        return DeviceNode(f"/{path}", "missing", link=target, exists=False)
    found = kernelfiles.node(reading.value)
    device = found.rdev if stat.S_ISCHR(found.mode) or stat.S_ISBLK(found.mode) else None
    return DeviceNode(f"/{path}", _kind(found.mode, device), device, target)


def _kind(mode: int, device: tuple[int, int] | None) -> str:
    kinds = {
        stat.S_IFIFO: "a FIFO",
        stat.S_IFREG: "a regular file",
        stat.S_IFDIR: "a directory",
        stat.S_IFSOCK: "a socket",
        stat.S_IFBLK: "a block device",
        stat.S_IFCHR: "the character device",
    }
    kind = kinds.get(stat.S_IFMT(mode), "something else")
    return f"{kind} {device[0]}:{device[1]}" if device else kind


PROVIDERS = (random_devices,)
