from __future__ import annotations

from dataclasses import replace

from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.finding import When
from seedstall.model.kernel import Distribution, Machine
from seedstall.rules import pool_remedies

POOL = decide(KernelEvidence(release="4.15.0-193-generic"))
NO_POOL = decide(KernelEvidence(release="6.8.0-31-generic"))
UBUNTU = Distribution("ubuntu", "18.04", ("debian",), "Ubuntu 18.04.6 LTS")


def test_the_commands_of_the_hosts_distribution() -> None:
    (fix,) = pool_remedies.feeder(UBUNTU, POOL, "feed it")

    assert (fix.surface, fix.title, fix.needs_root, fix.restart) == (
        "haveged",
        "feed it",
        True,
        False,
    )
    assert fix.params["commands"].splitlines() == [
        "apt-get update",
        "apt-get install -y haveged",
        "systemctl enable --now haveged",
    ]


def test_nothing_where_it_would_be_useless() -> None:
    assert pool_remedies.feeder(UBUNTU, NO_POOL, "feed it") == ()
    assert list(pool_remedies.notes(UBUNTU, NO_POOL)) == []


def test_what_is_said_besides() -> None:
    said = " ".join(pool_remedies.notes(UBUNTU, POOL))

    assert "2023-05-31" in said
    assert "4.15.0-194" in said


QEMU = Machine("QEMU or KVM", ("virtio-libvirt", "virtio-proxmox", "virtio-qemu"), told_by="dmi")
EL6 = decide(KernelEvidence(release="2.6.32-754.35.1.el6.x86_64"))


def test_a_device_for_a_virtual_machine_whose_kernel_feeds_itself_from_it() -> None:
    found = {fix.surface: fix for fix in pool_remedies.virtio(QEMU, POOL)}
    assert list(found) == list(QEMU.surfaces)
    live = {name for name, fix in found.items() if fix.when is When.NOW}
    assert live == {"virtio-libvirt", "virtio-qemu"}
    assert {name for name, fix in found.items() if fix.restart} == {"virtio-proxmox"}
    assert {fix.where for fix in found.values()} == {"hypervisor"}


def test_no_device_where_it_would_not_help() -> None:
    fed = replace(POOL, feeders=("virtio_rng.0, fed by the kernel",))
    for machine, kernel in (
        (None, POOL),
        (Machine("", told_by="dmi"), POOL),
        (Machine("Amazon EC2", (), "none"), POOL),
        (QEMU, NO_POOL),
        (QEMU, EL6),  # before 3.17 the kernel does not feed its pool from it
        (QEMU, fed),
    ):
        assert list(pool_remedies.virtio(machine, kernel)) == []


def test_a_kernel_without_the_pool_only_where_the_release_has_one() -> None:
    (fix,) = pool_remedies.kernel_update(UBUNTU, POOL)
    assert (fix.surface, fix.restart, fix.needs_root) == ("kernel-update", True, True)
    assert "linux-image-generic" in fix.params["commands"]
    assert pool_remedies.kernel_update(UBUNTU, NO_POOL) == ()
    assert pool_remedies.kernel_update(None, EL6) == ()
