"""The places of `fix` on real products: hung before, written by ``--apply``, fine after, taken back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.engine.held import HeldFacts
from tests.facts_by_hand import JDK17
from tests.live.rig import JDKS_SINCE_9, Jdk, until
from tests.live.test_fix import tomcat_like
from tests.live.tomcats import STARTED, Tomcat, instance
from tests.machine import CHECKOUT, IN_CI, Seedstall

from seedstall.effect.starvation import DryDevice, Starved
from seedstall.facts.service import Service, described
from seedstall.knowledge.services import UnitName
from seedstall.parse.edit.unit import Unit
from seedstall.remedy.registry import answer
from seedstall.remedy.request import Request
from seedstall.source.host import HostSource

pytestmark = [pytest.mark.jvm, pytest.mark.root]
OPTION = "-Djava.security.egd=file:/dev/urandom"
UNIT = Path("/lib/systemd/system/tomcat10.service")
BASE = Path("/var/lib/tomcat10")
DEFAULTS = Path("/etc/default")


@dataclass(frozen=True)
class Packaged:
    """Debian's own Tomcat, started as its unit does, in a mount namespace where its files are ours to change."""

    tomcat: Tomcat
    defaults: Path

    def start(self, device: DryDevice, *drop_ins: bytes) -> Starved:
        unit = Unit()
        unit.take(str(UNIT), UNIT.read_bytes())
        for data in drop_ins:
            unit.take("drop-in", data)
        environment = {name: given.value for name, given in unit.environment.items()}
        assert environment["CATALINA_BASE"] == str(BASE)
        (command,) = unit.starts
        mounts = 'mount --bind "$1" "$2" && mount --bind "$3" "$4" && shift 4 && exec "$@"'
        with self.tomcat.log.open("wb") as log:
            return device.start(
                [
                    *("unshare", "--mount", "--propagation", "private", "sh", "-c", mounts, "sh"),
                    *map(str, (self.tomcat.base, BASE, self.defaults, DEFAULTS)),
                    *command.value.split(),
                ],
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment},
                output=log,
            )


@pytest.fixture
def packaged(tmp_path: Path, java: Path, namespaces: None) -> Packaged:
    for file in (UNIT, DEFAULTS / "tomcat10"):
        if not file.exists():
            assert not IN_CI, f"{file} is lacking (package tomcat10)"
            pytest.skip(f"no {file}")
    defaults = tmp_path / "default"
    shutil.copytree(DEFAULTS, defaults)
    with (defaults / "tomcat10").open("a", encoding="utf-8") as opened:
        opened.write(f"JAVA_HOME={java.parent.parent}\n")
    return Packaged(instance(tmp_path / "instance", java.parent.parent), defaults)


def hung(packaged: Packaged, device: DryDevice) -> Starved:
    process = packaged.start(device)
    until(lambda: process.waiting_thread() is not None, process)
    return process


def starts_all_the_same(packaged: Packaged, device: DryDevice, *drop_ins: bytes) -> None:
    """That it starts at all on a device that never yields is the proof; how long it takes depends on the machine."""
    again = packaged.start(device, *drop_ins)
    until(lambda: STARTED in packaged.tomcat.log_text(), again)
    assert OPTION in Path(f"/proc/{again.pid}/cmdline").read_text().split("\0") or drop_ins
    again.end()


@pytest.mark.tomcat
def test_debians_tomcat_by_its_default_file(
    packaged: Packaged, device: DryDevice, seedstall: Seedstall
) -> None:
    process = hung(packaged, device)
    file = packaged.defaults / "tomcat10"
    before = file.read_bytes()
    done = seedstall("fix", process.pid, "--surface", "debian-tomcat", "--apply")
    assert done.returncode == 0, done.stderr
    assert file.read_bytes().startswith(before)
    assert "systemctl restart tomcat10" in done.stderr
    assert "by ucf" in done.stderr or "conffile" in done.stderr
    assert OPTION.encode() not in (DEFAULTS / "tomcat10").read_bytes(), "the host's own"
    process.end()
    starts_all_the_same(packaged, device)
    assert seedstall("fix", file, "--undo").returncode == 0
    assert file.read_bytes() == before


@pytest.mark.tomcat
def test_debians_tomcat_by_a_drop_in(packaged: Packaged, device: DryDevice) -> None:
    """The unit is the real one, and hangs without it, as above; what systemd itself makes of such a drop-in is held in
    tests/remedy/test_service.py.
    """
    host = HostSource()
    service: Service = described(host, UnitName("tomcat10.service"))
    asked = Request(HeldFacts(JDK17, service), host, "tomcat10", 1)
    found = answer("systemd", asked)
    host.close()
    assert found.write is not None
    assert found.write.path == "/etc/systemd/system/tomcat10.service.d/seedstall.conf"
    starts_all_the_same(packaged, device, found.write.content)
    assert OPTION in packaged.tomcat.log_text(), "Picked up JAVA_TOOL_OPTIONS"


SECURITY = Path("/etc/java-17-openjdk/security")


def test_the_java_security_of_that_jdk(
    device: DryDevice, namespaces: None, tmp_path: Path, full_jdk: Path, seedstall: Seedstall
) -> None:
    """Debian's file is a link into /etc; another directory is mounted there, for this process alone."""
    if not SECURITY.is_dir():
        assert not IN_CI, f"{SECURITY} is lacking (package openjdk-17-jdk)"
        pytest.skip(f"no {SECURITY}")
    from seedstall.effect.demo import PROBE

    ours = tmp_path / "security"
    shutil.copytree(SECURITY, ours)
    mount = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    command = [
        *("unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh"),
        *map(str, (ours, SECURITY, full_jdk / "java", "-cp", PROBE)),
        *("SeedProbe", "SHA1PRNG", "nextBytes"),
    ]
    process = device.start(command)
    until(lambda: process.waiting_thread() is not None, process)
    done = seedstall("fix", process.pid, "--surface", "java-security", "--apply")
    assert done.returncode == 0, done.stderr
    assert b"\nsecurerandom.source=file:/dev/urandom\n" in (ours / "java.security").read_bytes()
    assert "/etc/java-17-openjdk/security/java.security" in done.stderr
    assert "is a link" in done.stderr
    assert "conffile of package openjdk-17" in done.stderr
    again = device.start(command)
    assert again.wait(60) == 0
    undone = seedstall("fix", process.pid, "--surface", "java-security", "--undo")
    assert undone.returncode == 0, undone.stderr
    assert (ours / "java.security").read_bytes() == (SECURITY / "java.security").read_bytes()


@pytest.mark.parametrize("jdk", [JDKS_SINCE_9[1]], indirect=True)
@pytest.mark.parametrize("over", [False, True])
def test_a_service_whose_file_system_is_read_only(
    jdk: Jdk,
    device: DryDevice,
    namespaces: None,
    tmp_path: Path,
    seedstall: Seedstall,
    over: bool,  # noqa: FBT001 - a parameter
) -> None:
    """ProtectSystem=strict, as Debian's tomcat10 has it: the host's own mount is written through.

    With *over* another file is mounted over setenv.sh in that directory: the one the process sees is meant.
    """
    base = tmp_path / "instance"
    (base / "bin").mkdir(parents=True)
    file, other = base / "bin/setenv.sh", tmp_path / "other"
    file.write_bytes(b"# the host's\n")
    other.write_bytes(b"# the service's\n")
    mounts = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
    mounts += ' && mount --bind "$2" "$1/bin/setenv.sh"' if over else ""
    process = device.start(
        [
            *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
            *(f'{mounts} && shift 2 && exec "$@"', "sh", str(base), str(other)),
            *tomcat_like(jdk, str(base)),
        ]
    )
    until(lambda: process.waiting_thread() is not None, process)
    done = seedstall("fix", process.pid, "--surface", "tomcat-setenv", "--apply")
    assert file.read_bytes().startswith(b"# the host's\n")
    if over:
        assert (done.returncode, file.read_bytes()) == (1, b"# the host's\n")
        assert "Read-only file system: nothing was written" in done.stderr
        assert other.read_bytes() == b"# the service's\n"
        return
    assert done.returncode == 0, done.stderr
    assert OPTION.encode() in file.read_bytes()
    assert seedstall("fix", process.pid, "--undo").returncode == 0
    assert file.read_bytes() == b"# the host's\n"


SYSTEMD_GROUPS = (
    Path("/sys/fs/cgroup/systemd"),
    Path("/sys/fs/cgroup/unified"),
    Path("/sys/fs/cgroup"),
)


@pytest.fixture
def group() -> Iterator[Path]:
    """The control group of a service, as systemd would make it: no manager runs where this test may."""
    if Path("/run/systemd/system").exists():
        pytest.skip("systemd runs here: its control groups are its own")
    name = f"seedstall-test{os.getpid()}.service"
    for parent in SYSTEMD_GROUPS:
        made = parent / name
        try:
            if (parent / "cgroup.procs").exists():
                made.mkdir()
                break
        except OSError:
            continue
    else:
        pytest.skip("no control group can be made here")
    yield made
    for _ in range(100):
        try:
            made.rmdir()
            break
        except OSError:
            time.sleep(0.1)


@pytest.mark.parametrize("jdk", [JDKS_SINCE_9[1]], indirect=True)
def test_a_drop_in_for_the_unit_of_a_process(
    jdk: Jdk, group: Path, device: DryDevice, namespaces: None, tmp_path: Path
) -> None:
    """seedstall sees units of its own, in a mount namespace; the process is in the service's control group."""
    (tmp_path / "instance/bin").mkdir(parents=True)
    units = tmp_path / "units"
    units.mkdir()
    (units / group.name).write_text(
        '[Service]\nEnvironment="JAVA_TOOL_OPTIONS=-Xmx64m" B=2\nExecStart=/srv/run.sh\n', "utf-8"
    )
    process = device.start(
        [
            *("sh", "-c", 'echo 0 > "$1/cgroup.procs" && shift && exec "$@"', "sh", str(group)),
            *tomcat_like(jdk, str(tmp_path / "instance")),
        ]
    )
    until(lambda: process.waiting_thread() is not None, process)

    def fix(*arguments: str) -> subprocess.CompletedProcess[str]:
        mount = 'mount --bind "$1" /etc/systemd/system && shift && exec "$@"'
        return subprocess.run(
            [
                *("unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh", units),
                *(sys.executable, "-m", "seedstall", "fix", str(process.pid)),
                *("--surface", "systemd", *arguments),
            ],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )

    done = fix("--apply")
    assert done.returncode == 0, done.stderr
    assert f"wrote /etc/systemd/system/{group.name}.d/seedstall.conf" in done.stderr
    assert "systemctl daemon-reload && systemctl restart" in done.stderr
    (drop_in,) = units.glob(f"{group.name}.d/*.conf")
    assert f'Environment="JAVA_TOOL_OPTIONS=-Xmx64m {OPTION}"\n' in drop_in.read_text("utf-8")
    assert "already" in fix("--apply").stderr
    assert fix("--undo").returncode == 0
    assert not drop_in.exists()
