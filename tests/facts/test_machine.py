from __future__ import annotations

import pytest

from seedstall.facts.machine import live_process, machine
from seedstall.model.evidence import Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.source import probe
from seedstall.source.base import Held
from seedstall.source.host import HostSource

PROCESS = JvmProcess(8712, 8712, 0, 0, "S", 1, 20)


def at(path: str) -> Ref:
    return Ref(Space.KERNEL, path)


VENDOR, PRODUCT = at("sys/class/dmi/id/sys_vendor"), at("sys/class/dmi/id/product_name")
TABLE = at("sys/firmware/acpi/tables/FACP")


def test_by_dmi() -> None:
    found = machine(Held({VENDOR: b"QEMU\n", PRODUCT: b"Standard PC (Q35 + ICH9, 2009)\n"}))
    assert found.surfaces == ("virtio-libvirt", "virtio-proxmox", "virtio-qemu")
    assert found.told_by == "/sys/class/dmi/id/sys_vendor"


def test_metal_is_told_from_not_known() -> None:
    assert machine(Held({VENDOR: b"Dell Inc.\n", PRODUCT: b"PowerEdge\n"})).title == ""
    with pytest.raises(Unavailable):
        machine(Held({}))
    with pytest.raises(Unavailable) as error:
        machine(Held({TABLE: Why.DENIED}))
    assert error.value.missing.why is Why.DENIED


def test_xen_and_firecracker_have_no_dmi() -> None:
    assert machine(Held({at("sys/hypervisor/type"): b"xen\n"})).title == "Xen"
    found = machine(Held({TABLE: b"FACP\x14\x01\0\0\x06fFIRECKFCVMFADT"}))
    assert (found.title, found.surfaces) == ("Firecracker", ("virtio-firecracker",))


def test_a_capture_holds_no_process_that_could_be_saved() -> None:
    with pytest.raises(Unavailable):
        live_process(Held({}), PROCESS)
    assert live_process(Held({probe.NONBLOCK: b"0"}), PROCESS).pid == 8712
    # A seccomp filter that refuses the call: it is this host's all the same.
    assert live_process(Held({probe.NONBLOCK: Why.DENIED}), PROCESS).pid == 8712
    source = HostSource()
    try:
        assert live_process(source, PROCESS).pid == 8712
    finally:
        source.close()
