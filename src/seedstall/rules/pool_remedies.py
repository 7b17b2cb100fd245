"""What to do about a host whose pool runs dry: a daemon, a device for the virtual machine, another kernel."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Disposition, Fix, When
from seedstall.model.kernel import Distribution, KernelRandom, Machine

VIRTIO = "give the virtual machine a virtio-rng device"
SOON = "within seconds"


def feeder(distribution: Distribution | None, kernel: KernelRandom, title: str) -> tuple[Fix, ...]:
    """An entropy daemon on the host, as its distribution packages it; nothing where it would be useless."""
    from seedstall.knowledge.distributions import feeder_commands  # noqa: PLC0415 - start-up time

    advice = feeder_commands(distribution, kernel)
    if advice.useless:
        return ()
    params = {"commands": "\n".join(advice.commands)} if advice.commands else {}
    return (
        Fix(
            surface=advice.daemon,
            title=title,
            when=When.NOW,
            where="host",
            restart=False,
            needs_root=True,
            disposition=Disposition.REVIEW,
            takes=SOON,
            params=params,
        ),
    )


def virtio(machine: Machine | None, kernel: KernelRandom) -> Iterator[Fix]:
    """The device that the host's hypervisor can give it, where its kernel feeds the pool from it by itself.

    libvirt and QEMU add it to a machine that runs; Proxmox and Firecracker at the machine's next start.
    """
    if machine is None or not machine.surfaces or not kernel.can_block:
        return
    if any("virtio" in feeder for feeder in kernel.feeders):
        return  # it has one
    from seedstall.knowledge.hypervisors import LIVE  # noqa: PLC0415 - start-up time
    from seedstall.knowledge.release import fed_by_hwrng, read_release  # noqa: PLC0415

    release = read_release(kernel.release)
    if release is None or not fed_by_hwrng(release, "virtio_rng.0", None):
        return
    for surface in machine.surfaces:
        live = surface in LIVE
        yield Fix(
            surface=surface,
            title=VIRTIO,
            when=When.NOW if live else When.NEXT_START,
            where="hypervisor",
            restart=not live,
            needs_root=True,
            disposition=Disposition.REVIEW,
            takes=f"{SOON} of its being attached" if live else "from the machine's next start on",
        )


def kernel_update(distribution: Distribution | None, kernel: KernelRandom) -> tuple[Fix, ...]:
    """A kernel within the release that has no pool, where the distribution has one."""
    from seedstall.knowledge.daemons import kernel_commands  # noqa: PLC0415 - start-up time

    advice = kernel_commands(distribution, kernel)
    if advice.useless or advice.unsure or not advice.commands:
        return ()
    return (
        Fix(
            surface="kernel-update",
            title="a kernel without the blocking pool: no program of the host waits any more",
            needs_root=True,
            disposition=Disposition.REVIEW,
            takes="a reboot",
            params={"commands": "\n".join(advice.commands), "note": advice.note},
        ),
    )


def notes(distribution: Distribution | None, kernel: KernelRandom) -> Iterator[str]:
    """What a person must know before typing it, and the kernel that does away with the pool."""
    from seedstall.knowledge.distributions import feeder_commands  # noqa: PLC0415 - start-up time

    advice = feeder_commands(distribution, kernel)
    if advice.note:
        yield advice.note
    if advice.kernel_update:
        yield f"a kernel without the pool does away with the wait for good: {advice.kernel_update}"
