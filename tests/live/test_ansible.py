"""contrib/ansible: several hosts at once, nothing installed on them, the verdicts back on the controller."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.live import daemons, patients
from tests.live.rig import until
from tests.machine import CHECKOUT, java_of

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice, How, waiting_thread

pytestmark = pytest.mark.jvm

PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")


def line(name: str, host: daemons.Host, more: str = "") -> str:
    """A host of the inventory; *more* of ssh's options, and of the host's variables after a comma."""
    ssh = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ControlMaster=no"
    options, _, variables = more.partition(",")
    return (
        f"{name} ansible_host=127.0.0.1 ansible_user={host.user} ansible_ssh_private_key_file={host.key}"
        f" ansible_ssh_args='{options or '-F /dev/null'} {ssh} -o IdentitiesOnly=yes -o LogLevel=ERROR'"
        f" {variables or f'ansible_port={host.port}'}"
    )


def played(folder: Path, lines: list[str], *words: str) -> str:
    """What the playbook of the collection says of these hosts."""
    inventory = folder / "hosts"
    inventory.write_text("\n".join(lines) + "\n", encoding="ascii")
    program = folder / "seedstall"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m seedstall "$@"\n', encoding="ascii")
    program.chmod(0o755)
    done = subprocess.run(
        [
            *(PLAYBOOK, "-i", inventory, "seedstall.hosts.diagnose"),
            *("-e", f"dest={folder}/bundles", "-e", f"seedstall_program={program}", *words),
        ],
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT / "src"),
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / "contrib/ansible"),
            "ANSIBLE_HOME": str(folder / "home"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_CACHE_PLUGIN": "ansible.builtin.jsonfile",
            "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(folder / "facts"),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_several_hosts(tmp_path: Path) -> None:
    """One hangs, one is well, one is a process that is not there, one cannot be reached."""
    if not PLAYBOOK.exists():
        pytest.skip("needs ansible-core: pip install ansible-core")
    if not java_of(17).exists():
        pytest.skip("needs JDK 17: make jvms")
    command = [str(java_of(17)), "-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes"]
    (tmp_path / "ssh").mkdir()
    well = patients.start(patients.command(17, ()), "/tmp")
    try:
        with DryDevice() as device, daemons.sshd(tmp_path / "ssh") as host:
            hung = device.start(command)
            if hung.how is How.EGD:
                pytest.skip(
                    "needs mount namespaces: run the tests as root, or allow user namespaces"
                )
            until(lambda: hung.waiting_thread() is not None, hung)
            well.wait_until(lambda: b"up" in well.said)
            pids = {"web1": hung.pid, "web2": well.pid, "web3": 4194304}
            port = f",ansible_port={host.port}"
            lines = [line(name, host, f"{port} pid={pid}") for name, pid in pids.items()]
            said = played(tmp_path, [*lines, line("gone", host, ",ansible_port=1")])
            assert "gone                       : ok=1" in said, "it does not stop the others"
            assert "UNREACHABLE" in said
            assert '"main" has waited' in said.replace('\\"', '"')
            assert "seedstall-collect: there is no process 4194304" in said
            assert sorted(p.name for p in (tmp_path / "bundles").iterdir()) == [
                f"web1-{hung.pid}.tar",
                f"web2-{well.pid}.tar",
            ]
            assert "changed=0" in said
            assert "changed=1" not in said
            facts = told_facts(tmp_path / "facts")
            assert (facts["web1"]["status"], facts["web1"]["cause"]) == ("stalled", "blocking-seed")
            assert facts["web2"]["cause"] == "other:io", "it reads its standard input"
    finally:
        well.end()


@pytest.mark.root
@pytest.mark.matrix
@pytest.mark.timeout(400)
def test_hosts_in_namespaces(tmp_path: Path) -> None:
    """Three hosts with processes, a network and a name of their own; no pid is named. First as a check."""
    if not PLAYBOOK.exists():
        pytest.skip("needs ansible-core: pip install ansible-core")
    java = [str(java_of(17)), "-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes"]
    apart = ["unshare", "--pid", "--net", "--uts", "--fork", "--mount-proc"]
    (tmp_path / "ssh").mkdir()
    with DryDevice() as device, daemons.sshd(tmp_path / "ssh") as host:
        lines = []
        for number in range(3):
            process = device.start([*apart, *(java if number else ["sleep", "1000"])])
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            until(lambda path=children: path.read_text() != "", process)  # type: ignore[misc]
            pid = int(children.read_text())
            if number:
                until(lambda pid=pid: waiting_thread(pid, device.path) is not None, process)  # type: ignore[misc]
            # No port: what answers is an sshd that is started there, as inetd would.
            config = tmp_path / f"ssh/host{number}"
            config.write_text(
                f"Host *\nProxyCommand nsenter --target {pid} --pid --net --uts --mount"
                f" {daemons.SSHD} -i -f {tmp_path}/ssh/config\n"
            )
            lines.append(line(f"host{number}", host, f"-F {config}"))
        checked = played(tmp_path, lines, "--check")
        assert not (tmp_path / "bundles").exists(), "nothing is kept"
        assert checked.count(" has waited ") == 2
        assert '"main' not in checked.replace("\\", ""), "and no JVM was asked"
        said = played(tmp_path, lines, "-e", "at_a_time=2")
        assert said.replace("\\", "").count('"main" has waited ') == 2
        assert sorted(p.name for p in (tmp_path / "bundles").iterdir()) == [
            "host1-1.tar",
            "host2-1.tar",
        ]
        facts = told_facts(tmp_path / "facts")
    assert {jvm["cause"] for jvm in facts.values()} == {"blocking-seed"}


def told_facts(folder: Path) -> dict[str, Any]:
    """The only JVM of each host, from the facts that stay with it (Ansible's own cache, of 2.19 with an envelope)."""
    told: dict[str, Any] = {}
    for path in folder.iterdir():
        held = json.loads(path.read_text(encoding="utf-8"))
        held = json.loads(held["__payload__"]) if "__payload__" in held else held
        if "seedstall" in held and held["seedstall"]["jvms"]:
            (told[path.name.removeprefix("s1_")],) = held["seedstall"]["jvms"]
    return told
