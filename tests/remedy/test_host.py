from __future__ import annotations

import json
import re
import shlex
import subprocess
import xml.etree.ElementTree as ET

import pytest
from tests.engine.held import HeldFacts
from tests.facts_by_hand import JDK17, NO_POOL, POOL, stack, task

from seedstall.knowledge.hypervisors import VIRTIO
from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.kernel import Distribution, Feeders, Machine, RunningDaemon
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.remedy.registry import answer
from seedstall.remedy.request import Answer, Request
from seedstall.source.base import Held

CENTOS7 = Distribution("centos", "7", ("rhel",), "CentOS 7")
UBUNTU = Distribution("ubuntu", "18.04", ("debian",), "Ubuntu 18.04.6 LTS")
BIONIC = decide(KernelEvidence(release="4.15.0-193-generic"))
QEMU = Machine("QEMU or KVM", ("virtio-libvirt", "virtio-proxmox", "virtio-qemu"), told_by="/dmi")
AWS = Machine("Amazon EC2", (), "it has no virtio-rng", "/dmi")
WAITS = SeedEvidence(waits=(SeedWait(stack=stack(), task=task()),))


def asked(surface: str, *facts: object, force: bool = False) -> Answer:
    case = HeldFacts(JDK17, WAITS, *facts)
    return answer(surface, Request(case, Held({}), "4711", 4711, force=force))


@pytest.mark.parametrize("surface", ["rngd", "haveged"])
def test_a_daemon_for_that_host(surface: str) -> None:
    found = asked(surface, POOL, CENTOS7)
    text = found.output.decode()
    assert surface in text
    assert "vault.centos.org" in text or "epel-archive" in text
    assert "as root, on the host" in found.notes


def test_ubuntu_has_the_kernel_too() -> None:
    assert any("kernel-update" in note for note in asked("haveged", BIONIC, UBUNTU).notes)
    found = asked("kernel-update", BIONIC, UBUNTU)
    assert "apt-get install -y linux-image-generic" in found.output.decode()
    assert any("4.15.0-194" in note for note in found.notes)


@pytest.mark.parametrize("surface", ["rngd", "haveged", "jitterentropy", "kernel-update", *VIRTIO])
def test_nothing_is_printed_where_nothing_is_needed(surface: str) -> None:
    found = asked(surface, NO_POOL, UBUNTU, QEMU)
    assert found.output == b""
    assert "no read_wakeup_threshold" in found.reason


@pytest.mark.parametrize("surface", ["rngd", "haveged", "jitterentropy", "kernel-update"])
def test_nothing_is_printed_while_the_kernel_is_not_known(surface: str) -> None:
    found = asked(surface, Distribution("amzn", "2"))
    assert found.output == b""
    assert "--kernel RELEASE" in found.reason


def test_a_daemon_that_runs_is_not_installed_again() -> None:
    running = Feeders(running=(RunningDaemon("haveged", 12),), processes_seen=True)
    assert "runs already" in asked("haveged", BIONIC, UBUNTU, running).reason
    assert asked("haveged", BIONIC, UBUNTU, running, force=True).output


def test_a_device_that_its_hypervisor_has() -> None:
    for surface in QEMU.surfaces:
        found = asked(surface, BIONIC, UBUNTU, QEMU)
        assert found.output, surface
        assert "this machine runs on QEMU or KVM (/dmi)" in found.notes
    assert "--surface virtio-libvirt or" in asked("virtio-firecracker", BIONIC, QEMU).reason
    assert asked("virtio-libvirt", BIONIC, AWS).reason.endswith("it has no virtio-rng")
    assert asked("virtio-libvirt", BIONIC, AWS, force=True).output
    metal = Machine("", told_by="/dmi")
    assert "no virtual machine" in asked("virtio-qemu", BIONIC, metal).reason
    has = Feeders(hwrng="virtio_rng.0", processes_seen=True)
    assert "has one already" in asked("virtio-qemu", BIONIC, QEMU, has).reason


def test_an_old_guest_needs_rngd_besides() -> None:
    old = decide(KernelEvidence(release="2.6.32-754.35.1.el6.x86_64"))
    assert any("start rngd in the guest" in n for n in asked("virtio-libvirt", old, QEMU).notes)


# --- the texts themselves


def text_of(surface: str) -> str:
    return asked(surface).output.decode()


def commands(text: str) -> list[list[str]]:
    return [shlex.split(line) for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("surface", VIRTIO)
def test_they_are_shell(surface: str) -> None:
    done = subprocess.run(
        ["bash", "-n"], input=text_of(surface), text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_libvirts_xml() -> None:
    text = text_of("virtio-libvirt")
    document = text.partition("<<'END'\n")[2].partition("END\n")[0]
    rng = ET.fromstring(document)  # noqa: S314 - our own template
    backend, rate = rng.find("backend"), rng.find("rate")
    assert (rng.tag, rng.get("model")) == ("rng", "virtio")
    assert backend is not None
    assert (backend.get("model"), backend.text) == ("random", "/dev/urandom")
    assert rate is not None
    assert (
        int(rate.get("bytes", "")) * 8 // 2 > 128
    )  # more than a CRNG's seed, at half the kernel's credit
    assert commands(text)[-1][:2] == ["virsh", "attach-device"]
    assert {"--live", "--config"} <= set(commands(text)[-1])


def test_qemus_options_and_monitor_name_the_same_object() -> None:
    text = text_of("virtio-qemu")
    words = commands(text)[0]
    given = dict(zip(words[1::2], words[2::2], strict=True))
    backend = dict(p.split("=") for p in given["-object"].split(",")[1:])
    device = dict(p.split("=") for p in given["-device"].split(",")[1:])
    assert backend == {"id": "rng0", "filename": "/dev/urandom"}
    assert device["rng"] == backend["id"]
    monitor = re.findall(r"# +(object_add|device_add) (\S+)", text)
    assert monitor == [("object_add", given["-object"]), ("device_add", given["-device"])]


def test_proxmoxs_option() -> None:
    words = commands(text_of("virtio-proxmox"))[0]
    assert words[:4] == ["qm", "set", "VMID", "--rng0"]
    assert dict(p.split("=") for p in words[4].split(",")) == {
        "source": "/dev/urandom",
        "max_bytes": "1024",
        "period": "1000",
    }


def test_firecrackers_request_and_file() -> None:
    text = text_of("virtio-firecracker")
    words = commands(text)[0]
    body = json.loads(words[words.index("-d") + 1])
    bucket = body["rate_limiter"]["bandwidth"]
    assert set(bucket) == {"size", "one_time_burst", "refill_time"}
    assert all(isinstance(v, int) and v > 0 for v in bucket.values())
    assert words[words.index("-X") + 1 :][:2] == ["PUT", "http://localhost/entropy"]
    (line,) = [x for x in text.splitlines() if x.startswith('#   "entropy"')]
    assert json.loads("{" + line.lstrip("# ") + "}") == {"entropy": body}
