"""`fix` on real processes: what it writes, through their own root, and what it takes back."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from tests.live.rig import JDK8, JDKS_SINCE_9, Jdk, Rig, until
from tests.live.test_container import jvm_of
from tests.machine import Seedstall

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice, Starved, waiting_thread

pytestmark = [pytest.mark.jvm, pytest.mark.root]
ONE_JDK = pytest.mark.parametrize("jdk", [JDKS_SINCE_9[1]], indirect=True)

MINE = b'# J\xc3\xa4hrlich\nCATALINA_OPTS="-Djava.security.egd=file:/dev/random -Xmx64m"\n'
RIGHT = MINE.replace(b"/random", b"/urandom")


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """A CATALINA_BASE, as far as `fix` goes."""
    (tmp_path / "instance/bin").mkdir(parents=True)
    return tmp_path / "instance"


def tomcat_like(jdk: Jdk, base: str, *options: str) -> list[str]:
    """The probe, started as catalina.sh starts Tomcat."""
    home = [f"-Dcatalina.base={base}", f"-Dcatalina.home={base}"]
    return [str(jdk.java), *options, *home, "-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes"]


@pytest.fixture
def hung(jdk: Jdk, device: DryDevice, namespaces: None, instance: Path) -> Starved:
    process = device.start(tomcat_like(jdk, str(instance)))
    until(lambda: process.waiting_thread() is not None, process)
    return process


@ONE_JDK
def test_nothing_is_written_until_asked_and_all_is_taken_back(
    hung: Starved, instance: Path, seedstall: Seedstall
) -> None:
    file = instance / "bin/setenv.sh"
    file.write_bytes(MINE)
    file.chmod(0o750)
    os.chown(file, 65534, 4242)
    fix = ("fix", hung.pid, "--surface", "tomcat-setenv")
    for arguments in ((), ("--dry-run",), ("--apply", "--dry-run"), ("-o", instance / "p")):
        done = seedstall(*fix, *arguments)
        assert done.returncode == 0, done.stderr
        assert file.read_bytes() == MINE
        assert [p.name for p in (instance / "bin").iterdir()] == ["setenv.sh"]
    subprocess.run(["patch", "-p1", "--dry-run", "-i", instance / "p"], cwd=instance, check=True)

    done = seedstall(*fix, "--apply")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert file.read_bytes() == RIGHT
    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (65534, 4242, 0o750)
    (copy,) = instance.glob("bin/setenv.sh.seedstall-*Z")
    assert copy.read_bytes() == MINE

    again = seedstall(*fix, "--apply")
    assert (again.returncode, again.stdout) == (0, "")
    assert "already" in again.stderr
    assert file.read_bytes() == RIGHT

    assert seedstall("fix", hung.pid, "--undo").returncode == 0
    assert file.read_bytes() == MINE
    assert [p.name for p in (instance / "bin").iterdir()] == ["setenv.sh"]
    assert seedstall("fix", hung.pid, "--undo").returncode == 1
    assert hung.waiting_thread() is not None, "the process itself was left alone"


@ONE_JDK
def test_a_file_that_seedstall_made_goes(
    hung: Starved, instance: Path, seedstall: Seedstall
) -> None:
    (instance / "bin").rmdir()
    assert seedstall("fix", hung.pid, "--surface", "tomcat-setenv", "--apply").returncode == 0
    assert (instance / "bin/setenv.sh").stat().st_mode & 0o777 == 0o644
    assert seedstall("fix", instance, "--undo").returncode == 0, "the process may have ended"
    assert not any((instance / "bin").iterdir())


@ONE_JDK
def test_what_may_not_be_read_is_no_missing_file(
    hung: Starved, instance: Path, seedstall: Seedstall
) -> None:
    (instance / "bin/setenv.sh").write_bytes(b'CATALINA_OPTS="never closed\n')
    done = seedstall("fix", hung.pid, "--surface", "tomcat-setenv")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be edited safely: line 1" in done.stderr


@ONE_JDK
def test_a_container_is_written_in_its_own_root(
    jdk: Jdk, device: DryDevice, namespaces: None, tmp_path: Path, seedstall: Seedstall
) -> None:
    """The instance lies in a file system that only the container sees, behind a link of that root."""
    script = (
        'mount -t tmpfs none /mnt && mkdir -p /mnt/real/bin && cp "$1" /mnt/real/bin/setenv.sh'
        ' && ln -s /mnt/real /mnt/instance && shift && exec "$@"'
    )
    before = tmp_path / "setenv.sh"
    before.write_bytes(MINE)
    process = device.start(
        [
            *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *("sh", "-c", script, "sh", str(before), *tomcat_like(jdk, "/mnt/instance")),
        ]
    )
    until(lambda: waiting_thread(jvm_of(process), device.path) is not None, process)
    pid = jvm_of(process)
    inside = Path(f"/proc/{pid}/root/mnt/real/bin")

    printed = seedstall("fix", process.pid, "--surface", "tomcat-setenv", "-o", tmp_path / "p")
    assert printed.returncode == 0, printed.stderr
    assert "inside a container" in printed.stderr
    head = (tmp_path / "p").read_bytes().splitlines()[0]
    assert head == b"# patch -p1 -d /proc/%d/root/mnt/instance < setenv.patch" % pid

    done = seedstall("fix", pid, "--surface", "tomcat-setenv", "--apply")
    assert done.returncode == 0, done.stderr
    assert (inside / "setenv.sh").read_bytes() == RIGHT
    assert not Path("/mnt/real").exists()
    assert not Path("/mnt/instance").exists()
    assert seedstall("fix", pid, "--undo").returncode == 0
    assert (inside / "setenv.sh").read_bytes() == MINE


@ONE_JDK
def test_no_link_leads_out_of_the_instance(
    hung: Starved, instance: Path, tmp_path: Path, seedstall: Seedstall
) -> None:
    """Root's own link, into a file of root's: the change would reach whatever else uses that file."""
    outside = tmp_path / "profile"
    outside.write_bytes(b"PATH=/bin\n")
    (instance / "bin/setenv.sh").symlink_to(outside)
    fix = ("fix", hung.pid, "--surface", "tomcat-setenv", "--apply")
    for arguments in ((), ("--dry-run",)):
        done = seedstall(*fix, *arguments)
        assert done.returncode == 1
        assert f"leads to {outside}, outside CATALINA_BASE" in done.stderr
        assert f"patch {outside} setenv.patch" in done.stderr
        assert "wrote" not in done.stderr
    assert outside.read_bytes() == b"PATH=/bin\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["instance", "profile"]


@ONE_JDK
def test_a_link_inside_the_instance_is_followed_and_its_file_named(
    hung: Starved, instance: Path, seedstall: Seedstall
) -> None:
    real = instance / "bin/options.sh"
    real.write_bytes(MINE)
    (instance / "bin/setenv.sh").symlink_to("options.sh")
    done = seedstall("fix", hung.pid, "--surface", "tomcat-setenv", "--apply")
    assert done.returncode == 0, done.stderr
    assert f"wrote {real} (where {instance}/bin/setenv.sh leads)" in done.stderr
    assert (instance / "bin/setenv.sh").is_symlink()
    assert real.read_bytes() == RIGHT


@ONE_JDK
def test_a_patch_is_not_printed_over_its_file(
    hung: Starved, instance: Path, seedstall: Seedstall
) -> None:
    file = instance / "bin/setenv.sh"
    file.write_bytes(MINE)
    (instance / "other").hardlink_to(file)
    for out in (file, instance / "other"):
        done = seedstall("fix", hung.pid, "--surface", "tomcat-setenv", "-o", out)
        assert (done.returncode, done.stdout) == (2, "")
        assert file.read_bytes() == MINE


@pytest.mark.parametrize("jdk", [JDK8, JDKS_SINCE_9[1]], indirect=True)
@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (("SHA1PRNG", "nextBytes"), "SHA1PRNG's seeding"),
        (("default", "generateSeed"), "NativePRNG's seeding"),
    ],
)
def test_strong_algorithms_are_not_printed_for_others_that_wait(
    rig: Rig, seedstall: Seedstall, asked: tuple[str, str], what: str
) -> None:
    fix = ("fix", rig.hung(*asked).pid, "--surface", "strong-algorithms")
    passive = seedstall(*fix)
    assert passive.returncode == 0
    assert "strongAlgorithms" in passive.stdout, "which generator waits was not looked at"
    assert "was not looked at (no thread dump)" in passive.stderr
    done = seedstall(*fix, "--attach")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"waits in {what} and not in getInstanceStrong()" in done.stderr


@ONE_JDK
def test_a_link_that_tomcats_user_planted_is_not_followed(
    hung: Starved, instance: Path, tmp_path: Path, seedstall: Seedstall
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"PATH=/bin\n")
    link = instance / "bin/setenv.sh"
    link.symlink_to(victim)
    os.chown(link, 65534, 65534, follow_symlinks=False)
    done = seedstall("fix", hung.pid, "--surface", "tomcat-setenv", "--apply")
    assert done.returncode == 1
    assert "link that user 65534 made" in done.stderr
    assert victim.read_bytes() == b"PATH=/bin\n"


@ONE_JDK
def test_a_jdk_tool_and_other_programs(hung: Starved, seedstall: Seedstall) -> None:
    done = seedstall("fix", hung.pid, "--surface", "java-opts")
    assert done.stdout == "-Djava.security.egd=file:/dev/urandom\n"
    done = seedstall("fix", hung.pid, "--surface", "jarsigner")
    assert (done.returncode, done.stdout) == (2, "")
    done = seedstall("fix", hung.pid, "--surface", "rngd")
    assert (done.returncode, done.stdout) == (0, "")
    assert "a FIFO" in done.stderr


@pytest.mark.parametrize("jdk", [JDKS_SINCE_9[2]], indirect=True)
def test_options_of_the_environment_beat_every_file(
    jdk: Jdk, device: DryDevice, namespaces: None, instance: Path, seedstall: Seedstall
) -> None:
    env = {**os.environ, "_JAVA_OPTIONS": "-Djava.security.egd=file:/dev/random"}
    process = device.start(tomcat_like(jdk, str(instance)), env=env)
    until(lambda: process.waiting_thread() is not None, process)
    for surface in ("tomcat-setenv", "java-opts"):
        done = seedstall("fix", process.pid, "--surface", surface)
        assert (done.returncode, done.stdout) == (0, "")
        assert "_JAVA_OPTIONS" in done.stderr
