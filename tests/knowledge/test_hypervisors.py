from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.hypervisors import VIRTIO, by_acpi, by_dmi, by_xen

# sys_vendor, product_name as machines have them
KNOWN = [
    ("QEMU", "Standard PC (i440FX + PIIX, 1996)", "QEMU or KVM", True),
    ("QEMU", "Standard PC (Q35 + ICH9, 2009)", "QEMU or KVM", True),
    ("Red Hat", "KVM", "KVM (Red Hat)", True),
    ("oVirt", "RHEL", "oVirt", True),
    ("OpenStack Foundation", "OpenStack Nova", "OpenStack Nova", True),
    ("Amazon EC2", "m5.large", "Amazon EC2", False),
    ("Google", "Google Compute Engine", "Google Compute Engine", False),
    ("VMware, Inc.", "VMware Virtual Platform", "VMware", False),
    ("Microsoft Corporation", "Virtual Machine", "Hyper-V", False),
    ("innotek GmbH", "VirtualBox", "VirtualBox", False),
    ("Xen", "HVM domU", "Xen", False),
    ("Hetzner", "vServer", "Hetzner", False),
]


@pytest.mark.parametrize(
    ("vendor", "product", "title", "offers"), KNOWN, ids=[f"{k[0]}-{k[1]}" for k in KNOWN]
)
def test_by_what_its_firmware_says(vendor: str, product: str, title: str, *, offers: bool) -> None:
    found = by_dmi(vendor, product)

    assert found is not None
    assert found.title == title
    assert bool(found.surfaces) == offers
    assert set(found.surfaces) <= set(VIRTIO)
    assert found.surfaces or found.none


@pytest.mark.parametrize(
    ("vendor", "product"),
    [
        ("Dell Inc.", "PowerEdge R740"),
        ("Microsoft Corporation", "Surface Laptop"),
        ("", ""),
        ("LENOVO", "20QD"),
    ],
)
def test_a_machine_of_metal(vendor: str, product: str) -> None:
    assert by_dmi(vendor, product) is None


def test_firecracker_by_its_acpi_table() -> None:
    # The first bytes of FACP on a Firecracker 1.8 guest.
    table = bytes.fromhex("4641435014010000066646495245434b4643564d46414454")
    found = by_acpi(table)
    assert found is not None
    assert found.surfaces == ("virtio-firecracker",)
    assert by_acpi(table.replace(b"FIRECK", b"BOCHS ")) is None


def test_xen() -> None:
    assert by_xen("xen\n") is not None
    assert by_xen("") is None


@given(st.text(max_size=80), st.text(max_size=80), st.binary(max_size=40))
def test_anything_else_is_not_known_or_known(vendor: str, product: str, table: bytes) -> None:
    by_dmi(vendor, product)
    by_acpi(table)
