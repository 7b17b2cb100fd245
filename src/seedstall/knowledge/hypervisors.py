"""Which hypervisor a virtual machine runs on, and how that one gives it a virtio-rng device.

What a machine says of itself: the vendor and product of its DMI table, the maker of its ACPI tables
(Firecracker, which has no DMI), ``/sys/hypervisor/type`` (Xen). QEMU says the same below libvirt, Proxmox and by
itself, so all three ways are named there. A guest's kernel feeds its pool from virtio-rng by itself from 3.17 on and
on RHEL 7.3 and later (`knowledge.release.fed_by_hwrng`); before, rngd has to read ``/dev/hwrng``.
"""

from __future__ import annotations

from typing import NamedTuple

LIBVIRT = "virtio-libvirt"
QEMU = "virtio-qemu"
PROXMOX = "virtio-proxmox"
FIRECRACKER = "virtio-firecracker"
VIRTIO = (LIBVIRT, QEMU, PROXMOX, FIRECRACKER)
"""The surfaces that give a virtual machine the device."""
LIVE = frozenset((LIBVIRT, QEMU))
"""They add it to a machine that runs. Proxmox does at the machine's next start, Firecracker only before its boot."""


class Hypervisor(NamedTuple):
    """What a machine runs on. ``surfaces`` give it virtio-rng; ``none`` says why there is no such device there."""

    title: str
    surfaces: tuple[str, ...] = ()
    none: str = ""


_ANY_QEMU = (LIBVIRT, PROXMOX, QEMU)
_RDRAND = "it has no virtio-rng: rngd with RDRAND, or haveged, feeds the guest's pool"

# The beginning of the DMI vendor, part of the product, and what that is. First match wins.
_DMI: tuple[tuple[str, str, Hypervisor], ...] = (
    (
        "openstack foundation",
        "",
        Hypervisor(
            "OpenStack Nova",
            (LIBVIRT,),
            "in OpenStack the image asks for it (hw_rng_model=virtio) and the flavor allows it"
            " (hw_rng:allowed=True)",
        ),
    ),
    ("red hat", "", Hypervisor("KVM (Red Hat)", (LIBVIRT, QEMU))),
    ("ovirt", "", Hypervisor("oVirt", (LIBVIRT,))),
    ("qemu", "", Hypervisor("QEMU or KVM", _ANY_QEMU)),
    ("bochs", "", Hypervisor("QEMU or KVM", _ANY_QEMU)),  # QEMU before 2.0
    ("", "kvm", Hypervisor("KVM", _ANY_QEMU)),
    ("amazon ec2", "", Hypervisor("Amazon EC2", (), _RDRAND)),
    (
        "google",
        "",
        Hypervisor("Google Compute Engine", (), "what devices it has is Google's choice"),
    ),
    ("vmware", "", Hypervisor("VMware", (), _RDRAND)),
    ("microsoft corporation", "virtual machine", Hypervisor("Hyper-V", (), _RDRAND)),
    ("innotek", "", Hypervisor("VirtualBox", (), _RDRAND)),
    ("xen", "", Hypervisor("Xen", (), _RDRAND)),
    (
        "digitalocean",
        "",
        Hypervisor("DigitalOcean", (), "what devices it has is the provider's choice"),
    ),
    ("hetzner", "", Hypervisor("Hetzner", (), "what devices it has is the provider's choice")),
    (
        "cloud hypervisor",
        "",
        Hypervisor("Cloud Hypervisor", (), "its --rng src=/dev/urandom gives the guest one"),
    ),
)
ACPI_FIRECRACKER = b"FIRECK"
"""The maker of Firecracker's ACPI tables (since 1.8)."""
_OEM = slice(10, 16)
"""Where an ACPI table's header names its maker (ACPI specification, 5.2.6)."""


def by_dmi(vendor: str, product: str) -> Hypervisor | None:
    """The hypervisor that a DMI vendor and product name; ``None``: a machine of metal, or one not known."""
    vendor, product = vendor.strip().casefold(), product.strip().casefold()
    for begins, part, hypervisor in _DMI:
        if vendor.startswith(begins) and part in product and (begins or part):
            return hypervisor
    return None


def by_acpi(table: bytes) -> Hypervisor | None:
    """Firecracker, by the header of one of its ACPI tables."""
    if table[_OEM] == ACPI_FIRECRACKER:
        return Hypervisor("Firecracker", (FIRECRACKER,))
    return None


def by_xen(kind: str) -> Hypervisor | None:
    """Xen, by ``/sys/hypervisor/type``: a paravirtual guest has no DMI table."""
    return Hypervisor("Xen", (), _RDRAND) if kind.strip() == "xen" else None
