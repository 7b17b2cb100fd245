"""Where we are: the host's release files, or a container that hides them."""

from __future__ import annotations

from seedstall.knowledge.release import read_release
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.kernel import Distribution, KernelRandom
from seedstall.parse import kernelfiles
from seedstall.source.base import Source


def kernel_ref(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    """A path below the host's root."""
    return Ref(Space.KERNEL, path, ask)


def first_line(source: Source, path: str) -> str:
    """The first line of a file, ``""`` where it could not be had or is empty."""
    reading = source.read(kernel_ref(path))
    if not isinstance(reading, Got) or not reading.value.strip():
        return ""
    return kernelfiles.line(reading.value)


def container(source: Source) -> str:
    """The kind of container that this source's root and ``/proc`` belong to; ``""`` on a host, or where not known.

    The host's pid namespace shows the kernel's own threads: process 2 is ``kthreadd``. A container with the host's pids
    (``--pid=host``) has another mount namespace than process 1.
    """
    second = source.read(kernel_ref("proc/2/comm"))
    if isinstance(second, Missing) and second.why is not Why.ABSENT:
        return ""
    if isinstance(second, Missing) or second.value.strip() != b"kthreadd":
        return _container_sign(source) or "a pid namespace of its own"
    return "" if _same_mounts(source) else _container_sign(source)


# The first mount namespace of a boot: 0xF0000000 (mnt:[4026531840], one more from 5.1 on), 0xEFFFFFF8 from 6.18 on.
_FIRST_MOUNTS = (b"mnt:[4026531840]", b"mnt:[4026531841]", b"mnt:[4026531832]")


def _same_mounts(source: Source) -> bool:
    ours = source.read(kernel_ref("proc/self/ns/mnt", Ask.LINK))
    if not isinstance(ours, Got):
        return False
    first = source.read(kernel_ref("proc/1/ns/mnt", Ask.LINK))
    return ours.value in _FIRST_MOUNTS or (isinstance(first, Got) and ours.value == first.value)


def _container_sign(source: Source) -> str:
    for path, name in ((".dockerenv", "Docker"), ("run/.containerenv", "Podman")):
        if isinstance(source.read(kernel_ref(path, Ask.STAT)), Got):
            return name
    return first_line(source, "run/systemd/container")[:40]


def distribution(source: Source, kernel: KernelRandom | None) -> Distribution:
    """The host's distribution: by its release files, else guessed from the suffix of the kernel release.

    Inside a container the files are the image's, not the host's, and do not count.

    Raises:
        Unavailable: neither says anything.
    """
    from seedstall.knowledge.distributions import guessed_distribution  # noqa: PLC0415 - start-up time

    held = container(source)
    found = None if held else _release_files(source)
    if found is not None:
        return found
    guess = (
        guessed_distribution(read_release(kernel.release)) if kernel and kernel.release else None
    )
    if guess is not None:
        return guess
    detail = f"in a container ({held}): its files are the image's" if held else ""
    raise Unavailable(Missing(Why.NOT_COLLECTED, (kernel_ref("etc/os-release"),), detail))


def _release_files(source: Source) -> Distribution | None:
    for path in ("etc/os-release", "usr/lib/os-release"):
        reading = source.read(kernel_ref(path))
        if isinstance(reading, Got) and (values := kernelfiles.os_release(reading.value)).get("ID"):
            return Distribution(
                id=values["ID"].lower(),
                version=values.get("VERSION_ID", ""),
                like=tuple(values.get("ID_LIKE", "").lower().split()),
                pretty=values.get("PRETTY_NAME", ""),
                files=(path,),
            )
    # RHEL and CentOS 5 and 6 have no os-release; Amazon Linux 1 has system-release.
    for path in ("etc/centos-release", "etc/redhat-release", "etc/system-release"):
        reading = source.read(kernel_ref(path))
        if isinstance(reading, Got):
            identity, version, text = kernelfiles.release_line(reading.value)
            return Distribution(id=identity, version=version, pretty=text, files=(path,))
    return None


PROVIDERS = (distribution,)
