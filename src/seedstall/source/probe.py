"""Questions to the running kernel that change nothing: no byte is read, nothing waits (facts: kernel, section 8).

Answers are readings like any other, so that they can be recorded. They are about the kernel of the place this program
runs in: right on a host and in a container, meaningless for a captured tree.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Why

GRND_NONBLOCK = 1
GRND_INSECURE = 4
"""Since 5.6 and in every back-port of it; EINVAL on kernels with the blocking pool (35 of 35 booted)."""
RANDOM_DEVICE = (1, 8)
RNDGETENTCNT = 0x80045200
"""On alpha, mips, powerpc and sparc ``_IOR`` is built differently: see `_count_request`."""

INSECURE = Ref(Space.KERNEL, "probe/getrandom-insecure")
"""``0`` or the errno's name of getrandom(0 bytes, GRND_INSECURE)."""
NONBLOCK = Ref(Space.KERNEL, "probe/getrandom-nonblock")
"""``0`` (the CRNG is seeded) or ``EAGAIN`` of getrandom(0 bytes, GRND_NONBLOCK)."""
POLL = Ref(Space.KERNEL, "probe/poll")
"""``revents`` of the device, decimal: 1 readable, 4 writable."""
COUNT = Ref(Space.KERNEL, "probe/entropy-count")
"""The entropy count by ioctl: the same number as ``entropy_avail``, without a process or a file of its own."""

VDSO = Ref(Space.KERNEL, "probe/vdso")
"""The library that the kernel maps into every process: our own, which is the same for all of this architecture."""

CLOCK = "probe/schedclock/"
"""Followed by a CPU's number: the ``sched`` file of a thread of ours that has just been put on that CPU, whose
``se.exec_start`` is that CPU's scheduler clock now."""


def read(ref: Ref, device: str = "/dev/random") -> Reading[bytes]:
    """Answer a question about this kernel and its *device*; ``NOT_COLLECTED`` for anything else."""
    if ref == INSECURE:
        return _getrandom(ref, GRND_INSECURE)
    if ref == NONBLOCK:
        return _getrandom(ref, GRND_NONBLOCK)
    if ref in (POLL, COUNT):
        return _ask_device(ref, device)
    if ref == VDSO:
        return _own_vdso(ref)
    if ref.path.startswith(CLOCK):
        return _clock(ref, ref.path.removeprefix(CLOCK))
    return Missing(Why.NOT_COLLECTED, (ref,))


def _clock(ref: Ref, cpu: str) -> Reading[bytes]:
    """Read our own stamp on that CPU: the scheduler sets it anew when we are moved there."""
    if not cpu.isdigit() or not hasattr(os, "sched_setaffinity"):
        return Missing(Why.NOT_COLLECTED, (ref,))
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {int(cpu)})
        with open("/proc/self/sched", "rb") as file:  # noqa: PTH123 - a file of the kernel's
            return Got(file.read(65536), (ref,))
    except (OSError, ValueError, OverflowError) as error:
        return Missing(Why.DENIED, (ref,), f"cannot run on CPU {cpu}: {error}")
    finally:
        os.sched_setaffinity(0, before)


def _own_vdso(ref: Ref) -> Reading[bytes]:
    try:
        with open("/proc/self/maps", "rb") as maps:  # noqa: PTH123 - a file of the kernel's
            line = next((line for line in maps if line.endswith(b"[vdso]\n")), b"")
        first, _, last = line.partition(b" ")[0].partition(b"-")
        if not last:
            return Missing(Why.ABSENT, (ref,), "no vDSO is mapped")
        start = int(first, 16)
        fd = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return Got(os.pread(fd, int(last, 16) - start, start), (ref,))
        finally:
            os.close(fd)
    except (OSError, ValueError, OverflowError) as error:
        return Missing(Why.DENIED, (ref,), str(error))


def _ask_device(ref: Ref, device: str) -> Reading[bytes]:
    try:
        fd = _open_random(device)
    except FileNotFoundError:
        return Missing(Why.ABSENT, (ref,), f"{device} does not exist")
    except PermissionError as error:
        return Missing(Why.DENIED, (ref,), f"{device}: {error.strerror}")
    except OSError as error:
        return Missing(Why.REFUSED, (ref,), str(error))
    try:
        return Got(_revents(fd) if ref == POLL else _entropy_count(fd), (ref,))
    except OSError as error:
        return Missing(Why.DENIED, (ref,), f"{device}: {error.strerror}")
    finally:
        os.close(fd)


def _getrandom(ref: Ref, flags: int) -> Reading[bytes]:
    """Ask for no bytes: the kernel checks the flags (and whether it is seeded) and hands nothing out."""
    ask = getattr(os, "getrandom", None)  # Python built on a C library before glibc 2.25 lacks it
    if ask is None:
        return Missing(Why.NOT_COLLECTED, (ref,), "this Python cannot call getrandom")
    try:
        ask(0, flags)
    except OSError as error:
        return Got(errno.errorcode.get(error.errno or 0, "?").encode(), (ref,))
    return Got(b"0", (ref,))


def _open_random(device: str) -> int:
    """Open *device* if, and only if, it is the kernel's device 1:8.

    A FIFO in its place (a test rig, some containers) is not even opened, which could wake its writer: the path is first
    taken with O_PATH, looked at, and only then opened through that very descriptor.

    Raises:
        OSError: it is something else, or cannot be opened.
    """
    _require_random(device, os.stat(device))  # noqa: PTH116 - O_PATH is unknown before 2.6.39: look first
    path_fd = os.open(device, os.O_PATH | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_random(device, os.fstat(path_fd))
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(f"/proc/self/fd/{path_fd}", flags)
    finally:
        os.close(path_fd)


def _require_random(device: str, found: os.stat_result) -> None:
    rdev = (os.major(found.st_rdev), os.minor(found.st_rdev))
    if not stat.S_ISCHR(found.st_mode) or rdev != RANDOM_DEVICE:
        raise OSError(f"{device} here is not the kernel's device 1:8: it is not opened")


def _revents(fd: int) -> bytes:
    import select  # noqa: PLC0415 - start-up time

    poller = select.poll()
    poller.register(fd, select.POLLIN | select.POLLOUT)
    return str(sum(revents for _, revents in poller.poll(0))).encode()


def _entropy_count(fd: int) -> bytes:
    import fcntl  # noqa: PLC0415 - start-up time

    answer = fcntl.ioctl(fd, _count_request(os.uname().machine), b"\0" * 4)
    return str(int.from_bytes(answer, sys.byteorder)).encode()


def _count_request(machine: str) -> int:
    """``_IOR('R', 0, int)``: these families keep direction and size in other bits (asm/ioctl.h)."""
    odd = machine.startswith(("alpha", "mips", "ppc", "powerpc", "sparc"))
    return 0x40045200 if odd else RNDGETENTCNT
