"""Whether the process is in a container, and in which: by its control group, its pid namespace, its root."""

from __future__ import annotations

from seedstall.facts.jdk import root_path
from seedstall.knowledge.containers import container_of
from seedstall.model.evidence import Got, Ref, Space
from seedstall.model.jvm import Container, JvmProcess
from seedstall.parse import procfs
from seedstall.source.base import Source

GROUPS = Ref(Space.PROCESS, "cgroup")


def container(source: Source, process: JvmProcess) -> Container:
    """The container of a process.

    A group of its own names the runtime and the id. A pid namespace below ours, or a root directory that is not ours,
    says that there is one (or a chroot) and not which.

    Raises:
        ValueError: its ``cgroup`` file is malformed.
    """
    reading = source.read(GROUPS)
    groups = procfs.cgroups(reading.value) if isinstance(reading, Got) else ()
    named = container_of(group.path for group in groups)
    if named is not None:
        return Container(inside=True, id=named[1], runtime=named[0], told_by="cgroup")
    if process.in_container:
        return Container(inside=True, told_by="NSpid")
    root = root_path(source)
    if root != "/":
        return Container(inside=True, runtime="chroot", told_by=f"root {root}")
    return Container(inside=False)


PROVIDERS = (container,)
