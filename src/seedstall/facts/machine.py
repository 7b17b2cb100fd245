"""What the host runs on, and whether the target is a process of this very host."""

from __future__ import annotations

from seedstall.facts.host import first_line, kernel_ref
from seedstall.knowledge.hypervisors import Hypervisor, by_acpi, by_dmi, by_xen
from seedstall.model.bundle import BUNDLE
from seedstall.model.evidence import Got, Missing, Unavailable, Why
from seedstall.model.jvm import JvmProcess, LiveProcess
from seedstall.model.kernel import Machine
from seedstall.source import probe
from seedstall.source.base import Source

VENDOR = "sys/class/dmi/id/sys_vendor"
PRODUCT = "sys/class/dmi/id/product_name"
XEN = "sys/hypervisor/type"
TABLE = "sys/firmware/acpi/tables/FACP"
"""Readable for root alone; Firecracker shows no DMI."""


def machine(source: Source) -> Machine:
    """The hypervisor below the host, by what its firmware says.

    Raises:
        Unavailable: nothing of it could be read.
    """
    vendor = first_line(source, VENDOR)[:80]
    if vendor:
        found = by_dmi(vendor, first_line(source, PRODUCT)[:80])
        return _told(found, VENDOR)
    if (found := by_xen(first_line(source, XEN))) is not None:
        return _told(found, XEN)
    reading = source.read(kernel_ref(TABLE))
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    return _told(by_acpi(reading.value), TABLE)


def _told(found: Hypervisor | None, by: str) -> Machine:
    if found is None:
        return Machine("", told_by=f"/{by}")
    return Machine(found.title, found.surfaces, found.none, f"/{by}")


def live_process(source: Source, process: JvmProcess) -> LiveProcess:
    """The process, where it is one of this host that can still be saved or ended, and not a capture of one.

    Raises:
        Unavailable: it is a bundle, a captured tree, or a core.
    """
    if isinstance(source.read(BUNDLE), Got):
        raise Unavailable(Missing(Why.NOT_COLLECTED, (BUNDLE,), "no process of this host"))
    asked = source.read(probe.NONBLOCK)
    if isinstance(asked, Got) or asked.why is not Why.NOT_COLLECTED:
        return LiveProcess(process.pid)
    raise Unavailable(Missing(Why.NOT_COLLECTED, (probe.NONBLOCK,), "no process of this host"))


PROVIDERS = (machine, live_process)
