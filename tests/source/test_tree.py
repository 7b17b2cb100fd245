"""Captured trees: real old kernels, and what must not be read out of what is not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.old_kernels import BLOCKED, FREE, unpacked

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import procfs
from seedstall.source import detect
from seedstall.source.tree import TreeSource, is_tree, logs_in

TREE = "seed-4.4.0-210"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JVM on 4.4 that waits for its seed."""
    return unpacked(TREE, tmp_path_factory.mktemp("tree"))


@pytest.fixture
def copy(tree: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return shutil.copytree(tree, tmp_path / "copy", symlinks=True)


def value(reading: Reading[bytes]) -> bytes:
    assert isinstance(reading, Got), reading
    return reading.value


def why(tree: Path, space: Space, path: str, ask: Ask = Ask.CONTENT) -> Why:
    with TreeSource(tree) as source:
        reading = source.read(Ref(space, path, ask))
    assert isinstance(reading, Missing), "it was read"
    return reading.why


def read(tree: Path, space: Space, path: str, ask: Ask = Ask.CONTENT) -> bytes:
    with TreeSource(tree) as source:
        return value(source.read(Ref(space, path, ask)))


@pytest.mark.parametrize("name", [*BLOCKED, *FREE])
def test_every_tree_has_its_jvm(name: str, tmp_path: Path) -> None:
    path = unpacked(name, tmp_path)
    assert is_tree(path)
    with TreeSource(path) as source:
        assert source.pid == (BLOCKED[name][0] if name in BLOCKED else FREE[name])
        assert source.jvms == (source.pid,)
        assert b"Full thread dump" in value(source.read(Ref(Space.ATTACH, "threaddump")))


def test_the_spaces_of_a_host(tree: Path) -> None:
    assert read(tree, Space.KERNEL, "proc/sys/kernel/osrelease") == b"4.4.0-210-generic\n"
    assert read(tree, Space.KERNEL, "dmesg").startswith(b"[    0.000000] ")
    assert read(tree, Space.PROCESS, "cmdline").split(b"\0")[-3:-1] == [b"Seed", b"SHA1PRNG"]
    assert read(tree, Space.PROCESS, "task/126/wchan") == b"_random_read.part.33"
    assert b"securerandom.source=" in read(
        tree, Space.ROOT, "usr/lib/jvm/java-8-openjdk-amd64/jre/lib/security/java.security"
    )
    assert len(read(tree, Space.ROOT, "tmp/hsperfdata_app/120")) == 32768
    assert read(tree, Space.ATTACH, "properties").startswith(b"#Mon Nov 30"), (
        "without jcmd's line of the pid"
    )


def test_descriptors_are_links_as_captured(tree: Path) -> None:
    assert read(tree, Space.PROCESS, "fd/22", Ask.LINK) == b"/dev/random"
    assert procfs.file_stat(read(tree, Space.PROCESS, "fd/22", Ask.STAT)) == procfs.FileStat(
        0o020000, (1, 8), -1, -1, -1, -1
    )
    assert len(procfs.names(read(tree, Space.PROCESS, "fd", Ask.LIST))) == 23
    assert why(tree, Space.PROCESS, "fd/22") is not None
    assert read(tree, Space.PROCESS, "exe", Ask.LINK).endswith(b"/jre/bin/java")


def test_their_links_lead_nowhere_here(copy: Path, tmp_path: Path) -> None:
    """What the captured links point to on this machine is never read."""
    (tmp_path / "secret").write_text("secret")
    (copy / "proc/120/fd/99").symlink_to(tmp_path / "secret")
    (copy / "etc").symlink_to("/etc")
    (copy / "usr/out").symlink_to("../../../../../../etc")
    assert why(copy, Space.PROCESS, "fd/99") in (Why.ABSENT, Why.NOT_COLLECTED)
    assert why(copy, Space.KERNEL, "etc/passwd") in (Why.NOT_COLLECTED, Why.MALFORMED)
    assert why(copy, Space.ROOT, "usr/out/passwd") in (Why.NOT_COLLECTED, Why.MALFORMED)


def test_without_types_the_listing_of_dev_tells(copy: Path) -> None:
    (copy / "proc/120/fd.txt").unlink()
    assert read(copy, Space.PROCESS, "fd/22", Ask.STAT) == b"20000 1 8 -1 -1 -1 -1"
    assert why(copy, Space.PROCESS, "fd/1", Ask.STAT) is Why.NOT_COLLECTED
    (copy / "proc/120/root").symlink_to("/chroot")
    assert why(copy, Space.PROCESS, "fd/22", Ask.STAT) is Why.NOT_COLLECTED, "another /dev"
    (copy / "proc/120/root").unlink()
    (copy / "proc/120/root").symlink_to("/")
    assert read(copy, Space.PROCESS, "fd/22", Ask.STAT) == b"20000 1 8 -1 -1 -1 -1"
    (copy / "ls-dev.txt").unlink()
    assert why(copy, Space.PROCESS, "fd/22", Ask.STAT) is Why.NOT_COLLECTED


def test_types_of_other_files(tree: Path) -> None:
    assert read(tree, Space.KERNEL, "dev/random", Ask.STAT) == b"20000 1 8 -1 -1 -1 -1"
    assert read(tree, Space.ROOT, "dev/urandom", Ask.STAT) == b"20000 1 9 -1 -1 -1 -1"
    told = procfs.file_stat(read(tree, Space.ROOT, "tmp/hsperfdata_app/120", Ask.STAT))
    assert (told.mode & 0o170000, told.size, told.uid) == (0o100000, 32768, -1)
    assert why(tree, Space.ROOT, "etc/passwd", Ask.STAT) is Why.NOT_COLLECTED


# --- what is not there -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "path"),
    [
        (Space.KERNEL, "etc/os-release"),
        (Space.KERNEL, "proc/lrng_type"),
        (Space.KERNEL, "proc/sys/crypto/fips_enabled"),
        (Space.KERNEL, "probe/poll"),
        (Space.PROCESS, "no-such-file"),
        (Space.PROCESS, "task/126/sched"),
        (Space.ROOT, "home/app/.hotspotrc"),
        (Space.ATTACH, "agentProperties"),
        (Space.MEMORY, "0+1"),
        (Space.INPUT, "dump.txt"),
    ],
)
def test_what_is_not_in_the_tree_was_not_collected(tree: Path, space: Space, path: str) -> None:
    assert why(tree, space, path) is Why.NOT_COLLECTED


@pytest.mark.parametrize(
    ("space", "path", "ask"),
    [
        (Space.KERNEL, "proc/sys/kernel/random/fips_random", Ask.CONTENT),
        (Space.KERNEL, "sys/class/misc/hw_random/rng_selected", Ask.CONTENT),
        (Space.PROCESS, "fd/99", Ask.LINK),
        (Space.PROCESS, "task/999", Ask.LIST),
    ],
)
def test_in_a_directory_captured_whole_it_is_absent(
    tree: Path, space: Space, path: str, ask: Ask
) -> None:
    assert why(tree, space, path, ask) is Why.ABSENT


def test_no_pool_is_told_by_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = unpacked("noblock-6.8.0-31", tmp_path)
    assert why(path, Space.KERNEL, "proc/sys/kernel/random/read_wakeup_threshold") is Why.ABSENT


def test_a_listing_beside_outweighs_the_copy(copy: Path) -> None:
    """The directory had the file; the copy of it failed."""
    (copy / "proc/sys/kernel/random/read_wakeup_threshold").unlink()
    assert (
        why(copy, Space.KERNEL, "proc/sys/kernel/random/read_wakeup_threshold") is Why.NOT_COLLECTED
    )
    (copy / "ls-proc-sys-kernel-random.txt").unlink()
    assert why(copy, Space.KERNEL, "proc/sys/kernel/random/read_wakeup_threshold") is Why.ABSENT


def test_an_empty_directory_was_not_collected(copy: Path) -> None:
    (copy / "ls-proc-sys-kernel-random.txt").unlink()
    shutil.rmtree(copy / "proc/sys/kernel/random")
    (copy / "proc/sys/kernel/random").mkdir()
    assert why(copy, Space.KERNEL, "proc/sys/kernel/random/entropy_avail") is Why.NOT_COLLECTED
    shutil.rmtree(copy / "proc/sys/kernel/random")
    assert why(copy, Space.KERNEL, "proc/sys/kernel/random/entropy_avail") is Why.NOT_COLLECTED


def test_what_the_capture_could_not_read_is_told_as_it_was(copy: Path) -> None:
    assert why(copy, Space.KERNEL, "sys/hypervisor/type") is Why.ABSENT
    (copy / "capture-errors.txt").write_text(
        "/proc/120/environ: open: Permission denied\nrubbish\n"
    )
    (copy / "proc/120/environ").unlink()
    assert why(copy, Space.PROCESS, "environ") is Why.DENIED


def test_a_dump_by_another_name(copy: Path) -> None:
    (copy / "jvm/threaddump.txt").rename(copy / "jstack.txt")
    assert b"Full thread dump" in read(copy, Space.ATTACH, "threaddump")
    (copy / "jstack.txt").unlink()
    assert why(copy, Space.ATTACH, "threaddump") is Why.NOT_COLLECTED


def test_java_security_beside_the_dump(copy: Path) -> None:
    found = next(copy.glob("usr/**/java.security"))
    found.rename(copy / "jvm/java.security")
    asked = "opt/elsewhere/conf/security/java.security"
    assert b"securerandom.source=" in read(copy, Space.ROOT, asked)


def test_a_root_captured_as_a_directory_is_the_targets(copy: Path) -> None:
    (copy / "proc/120/root/etc").mkdir(parents=True)
    (copy / "proc/120/root/etc/os-release").write_text("ID=container\n")
    assert read(copy, Space.ROOT, "etc/os-release") == b"ID=container\n"
    assert why(copy, Space.KERNEL, "etc/os-release") is Why.NOT_COLLECTED


# --- which process ---------------------------------------------------------------------------------------------------


def other(copy: Path, pid: int, cmdline: bytes = b"sh\0") -> Path:
    folder = copy / f"proc/{pid}"
    folder.mkdir()
    (folder / "cmdline").write_bytes(cmdline)
    return folder


def test_of_several_processes_the_jvm_is_meant(copy: Path) -> None:
    other(copy, 7)
    other(copy, 9, b"java\0")
    with TreeSource(copy) as source:
        assert source.pid == 120
    with TreeSource(copy, 9) as source:
        assert source.pid == 9


def test_without_maps_the_captures_note_then_the_name_tells(copy: Path) -> None:
    other(copy, 7)
    (copy / "proc/120/maps").unlink()
    with TreeSource(copy) as source:
        assert source.pid == 120, "jvm/pid"
    (copy / "jvm/pid").unlink()
    with TreeSource(copy) as source:
        assert source.pid == 120, "its threads' wait channels"
    other(copy, 200, b"java\0-version\0")
    with TreeSource(copy) as source:
        assert source.pid == 200, "called java"


def test_a_tree_without_processes_still_has_a_kernel(copy: Path) -> None:
    shutil.rmtree(copy / "proc/120")
    assert is_tree(copy)
    with TreeSource(copy) as source:
        assert source.pid is None
    assert why(copy, Space.PROCESS, "stat") is Why.NOT_COLLECTED
    assert read(copy, Space.KERNEL, "proc/sys/kernel/random/poolsize") == b"4096\n"


def test_other_directories_are_no_trees(tmp_path: Path) -> None:
    assert not is_tree(tmp_path)
    (tmp_path / "proc/net").mkdir(parents=True)
    assert not is_tree(tmp_path)
    assert not is_tree(tmp_path / "none")
    (tmp_path / "trap").mkdir()
    (tmp_path / "trap/proc").symlink_to("/proc")
    assert not is_tree(tmp_path / "trap"), "this host's processes are not the tree's"


def test_logs_in_a_tree(copy: Path) -> None:
    (copy / "catalina.out").write_text("")
    (copy / "logs").mkdir()
    (copy / "logs/localhost.log").write_text("")
    (copy / "logs/link").symlink_to("/etc/passwd")
    assert [Path(p).name for p in logs_in(copy)] == ["catalina.out", "localhost.log"]
    shutil.rmtree(copy / "logs")
    (copy / "logs").symlink_to("/etc")
    assert [Path(p).name for p in logs_in(copy)] == ["catalina.out"]
    (log,) = detect.logs_of(detect.resolve(str(copy)))
    assert (log.kind, log.path) == (detect.Kind.FILE, str(copy / "catalina.out"))
