"""A core as the files of ``/proc/PID``, as memory, and as what it is not."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import time
from pathlib import Path

import pytest
from tests import cores

from seedstall.facts.memory import memory_dump
from seedstall.model.core import NO_FILES
from seedstall.model.errors import NoSuchTargetError, SeedstallError
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.parse import procfs
from seedstall.parse.hotspot.memory import spelled
from seedstall.source import probe
from seedstall.source.base import Source
from seedstall.source.core import CoreSource

LIBRARY = os.fsdecode(cores.LIBRARY[1:])


@pytest.fixture
def tiny(tmp_path: Path) -> CoreSource:
    return CoreSource(cores.of_jvm().write(tmp_path / "core.77"))


def asked(source: Source, path: str, ask: Ask = Ask.CONTENT, space: Space = Space.PROCESS) -> bytes:
    reading = source.read(Ref(space, path, ask))
    assert isinstance(reading, Got), str(reading)
    return reading.value


def why(source: Source, path: str, ask: Ask = Ask.CONTENT, space: Space = Space.PROCESS) -> Missing:
    reading = source.read(Ref(space, path, ask))
    assert isinstance(reading, Missing), str(reading)
    return reading


def memory(source: Source, address: int, length: int) -> bytes | Missing:
    reading = source.read(Ref(Space.MEMORY, spelled(address, length)))
    return reading.value if isinstance(reading, Got) else reading


# --- the process -----------------------------------------------------------------------------------------------------


def test_the_whole_command_line_and_environment(tiny: CoreSource) -> None:
    assert procfs.cmdline(asked(tiny, "cmdline")) == tuple(map(os.fsdecode, cores.ARGV))
    assert procfs.environ(asked(tiny, "environ")) == {"HOME": "/root", "TOKEN": "s3cret"}


def test_without_its_stack_the_command_line_is_what_the_note_has(tmp_path: Path) -> None:
    core = cores.of_jvm()
    del core.memory[4]
    with CoreSource(core.write(tmp_path / "core")) as source:
        assert procfs.cmdline(asked(source, "cmdline"))[-1] == "Main"
        assert why(source, "environ").why is Why.NOT_COLLECTED
    core.notes[3] = cores.prpsinfo(77, b"/opt/jdk/bin/java " + b"-Dlong=" + b"x" * 100)
    with CoreSource(core.write(tmp_path / "core")) as source:
        assert not asked(source, "cmdline").endswith(b"\0")  # cut, and shown to be


def test_stat_and_status(tiny: CoreSource) -> None:
    stat, status = procfs.stat(asked(tiny, "stat")), procfs.status(asked(tiny, "status"))
    assert (stat.pid, stat.comm, stat.state, stat.threads, stat.cpu_ms) == (
        77,
        "java",
        "S",
        3,
        1750,
    )
    assert (status.pid, status.tgid, status.uids[1], status.gids[1]) == (77, 77, 1000, 1001)
    assert status.ns_pids == (77,)


def test_threads(tiny: CoreSource) -> None:
    assert procfs.names(asked(tiny, "task", Ask.LIST)) == ("77", "78", "79")
    call = procfs.syscall(asked(tiny, "task/77/syscall"))
    assert (call.number, call.args[:3]) == (0, (4, 0x7000, 20))
    assert procfs.syscall(asked(tiny, "task/79/syscall")).number is None
    assert procfs.stat(asked(tiny, "task/79/stat")).state == "R"
    assert procfs.stat(asked(tiny, "task/78/stat")).comm == ""
    assert b"rip 0x2000\n" in asked(tiny, "task/78/registers")
    assert why(tiny, "task/80/stat").why is Why.ABSENT
    assert why(tiny, "task/77/wchan").why is Why.NOT_COLLECTED
    assert why(tiny, "task/x/stat").why is Why.ABSENT
    assert why(tiny, "task/" + "9" * 50 + "/stat").why is Why.ABSENT


def test_what_no_core_holds_was_not_collected(tiny: CoreSource) -> None:
    assert why(tiny, "fd", Ask.LIST).detail == "a core holds no table of open descriptors"
    assert why(tiny, "fd/4", Ask.LINK).why is Why.NOT_COLLECTED
    assert why(tiny, "threaddump", space=Space.ATTACH).detail == "a core cannot be asked"
    assert why(tiny, "proc/sys/kernel/osrelease", space=Space.KERNEL).why is Why.NOT_COLLECTED
    assert why(tiny, "x", space=Space.INPUT).why is Why.NOT_COLLECTED
    assert why(tiny, "cwd", Ask.LINK).why is Why.NOT_COLLECTED


def test_the_program_and_its_mappings(tiny: CoreSource) -> None:
    assert asked(tiny, "exe", Ask.LINK) == cores.PROGRAM
    maps = asked(tiny, "maps")
    assert procfs.maps_any(maps, "libjvm.so")
    assert b"[stack]\n" in maps
    assert b"[vdso]\n" in maps
    assert procfs.elf_machine(asked(tiny, "exe-header")) == (62, 64)


def test_the_kernels_version_in_the_vdso(tiny: CoreSource) -> None:
    reading = tiny.read(probe.VDSO)
    assert isinstance(reading, Got)
    assert reading.value == cores.vdso()


@pytest.mark.parametrize("libc", [b"/usr/lib/libc.so.6", b"/lib/ld-musl-x86_64.so.1"])
def test_a_thread_of_another_pid_namespace_has_two_ids(tmp_path: Path, libc: bytes) -> None:
    """gcore from outside: the note has the host's id, glibc's own copy is the JVM's."""
    core = cores.of_jvm()
    head = bytearray(4096)
    head[16:24] = cores.HEAP.to_bytes(8, "little")
    head[0x2D0:0x2D4] = (5).to_bytes(4, "little")
    core.memory[2] = (cores.HEAP, bytes(head), 4096, 6)
    core.notes[1] = cores.prstatus(78, 230, thread_pointer=cores.HEAP)
    core.notes[-1] = cores.nt_file(
        [(cores.LIBJVM, cores.LIBJVM + 8192, 0, cores.LIBRARY), (1 << 40, 1 << 41, 0, libc)]
    )
    with CoreSource(core.write(tmp_path / "core")) as source:
        found = procfs.status(asked(source, "task/78/status")).ns_pids
    assert found == ((78, 5) if b"libc.so" in libc else (78,))


# --- memory ----------------------------------------------------------------------------------------------------------


def test_memory_of_segments(tiny: CoreSource) -> None:
    assert memory(tiny, cores.HEAP, 5) == b"heaph"
    # Over the end of one segment into the next.
    assert memory(tiny, cores.HEAP + 4092, 8) == b"hhhh\xca\xfe\xc0\xc0"


@pytest.mark.parametrize(
    ("address", "length"),
    [(0x10, 8), (cores.HEAP - 4, 8), (cores.HEAP + 8192 - 4, 8), (2**64 - 8, 8)],
)
def test_memory_that_is_not_there(tiny: CoreSource, address: int, length: int) -> None:
    answer = memory(tiny, address, length)
    assert isinstance(answer, Missing)
    assert answer.why is Why.ABSENT


@pytest.mark.parametrize("path", ["", "x+1", "10", "10+0", "10+99999999999", "-1+1", "0+20000000"])
def test_spans_that_are_none(tiny: CoreSource, path: str) -> None:
    assert why(tiny, path, space=Space.MEMORY).why is Why.MALFORMED


def sysroot(tmp_path: Path, library: bytes) -> str:
    root = tmp_path / "root"
    place = root / LIBRARY
    place.parent.mkdir(parents=True)
    place.write_bytes(library)
    (root / "opt/jdk/release").write_text('JAVA_VERSION="17.0.9"\n')
    return str(root)


def test_pages_left_out_come_from_the_very_file(tmp_path: Path) -> None:
    path = cores.of_jvm(build=b"\xab" * 20).write(tmp_path / "core")
    root = sysroot(tmp_path, cores.library(b"\xab" * 20).replace(b"\1" * 4096, b"\2" * 4096))
    with CoreSource(path, root) as source:
        assert memory(source, cores.LIBJVM + 4096 - 1, 2) == b"\1\2"
        assert asked(source, "opt/jdk/release", space=Space.ROOT).startswith(b"JAVA_VERSION")
        assert asked(source, LIBRARY, space=Space.ROOT)[:4] == b"\x7fELF"


def test_another_library_is_refused_with_both_build_ids(tmp_path: Path) -> None:
    path = cores.of_jvm(build=b"\xab" * 20).write(tmp_path / "core")
    with CoreSource(path, sysroot(tmp_path, cores.library(b"\xcd" * 20))) as source:
        answer = memory(source, cores.LIBJVM + 4096, 8)
        assert isinstance(answer, Missing)
        assert answer.why is Why.REFUSED
        assert "cd" * 20 in answer.detail
        assert "ab" * 20 in answer.detail
        # Nothing else of that JDK is believed either: its release file would tell a version that never ran.
        assert why(source, "opt/jdk/release", space=Space.ROOT).why is Why.REFUSED
        assert why(source, LIBRARY, space=Space.ROOT).why is Why.REFUSED


def test_libraries_without_a_build_id_are_told_by_their_headers(tmp_path: Path) -> None:
    path = cores.of_jvm(build=b"").write(tmp_path / "core")
    with CoreSource(path, sysroot(tmp_path, cores.library())) as source:
        assert memory(source, cores.LIBJVM + 4096, 2) == b"\1\1"
    other = tmp_path / "other"
    other.mkdir()
    with CoreSource(path, sysroot(other, cores.library(size=3 * 4096))) as source:
        answer = memory(source, cores.LIBJVM + 4096, 2)
        assert isinstance(answer, Missing)
        assert "headers differ" in answer.detail


def test_without_a_sysroot_a_core_has_no_files(tiny: CoreSource) -> None:
    assert why(tiny, "opt/jdk/release", space=Space.ROOT).detail == NO_FILES
    assert why(tiny, LIBRARY, space=Space.ROOT).why is Why.NOT_COLLECTED


def test_a_library_that_the_core_holds_whole_needs_no_file(tmp_path: Path) -> None:
    path = cores.of_jvm(held_library=8192).write(tmp_path / "core")
    with CoreSource(path) as source:
        assert asked(source, LIBRARY, space=Space.ROOT)[4096:] == b"\1" * 4096


def test_devices_and_tmp_of_a_sysroot_are_not_of_then(tmp_path: Path) -> None:
    root = sysroot(tmp_path, cores.library(b"\xab" * 20))
    (Path(root) / "dev").mkdir()
    with CoreSource(cores.of_jvm().write(tmp_path / "core"), root) as source:
        assert why(source, "dev/random", Ask.STAT, Space.ROOT).why is Why.NOT_COLLECTED


def test_links_of_a_sysroot_stay_inside_it(tmp_path: Path) -> None:
    root = sysroot(tmp_path, cores.library(b"\xab" * 20))
    (Path(root) / "etc").mkdir()
    (Path(root) / "etc/passwd").symlink_to("/etc/hostname")
    with CoreSource(cores.of_jvm().write(tmp_path / "core"), root) as source:
        assert why(source, "etc/passwd", space=Space.ROOT).why is Why.ABSENT


def test_the_performance_file_lies_in_the_core(tiny: CoreSource) -> None:
    assert asked(tiny, "tmp", Ask.LIST, Space.ROOT) == b"hsperfdata_app\0"
    assert asked(tiny, "tmp/hsperfdata_app/77", space=Space.ROOT)[:4] == b"\xca\xfe\xc0\xc0"
    assert procfs.file_stat(asked(tiny, "tmp/hsperfdata_app/77", Ask.STAT, Space.ROOT)).uid == -1


# --- what is refused -------------------------------------------------------------------------------------------------


def refusal(path: str, kind: type[SeedstallError] = SeedstallError, root: str = "") -> str:
    with pytest.raises(kind) as caught:
        CoreSource(path, root)
    return f"{caught.value} {caught.value.hint}"


def test_other_architectures(tmp_path: Path) -> None:
    core = cores.of_jvm()
    core.machine = 183
    assert "64-bit aarch64" in refusal(core.write(tmp_path / "core"))
    core.machine = 9999
    assert "machine 9999" in refusal(core.write(tmp_path / "core"))


def test_other_programs_are_named(tmp_path: Path) -> None:
    core = cores.of_jvm()
    core.notes[3] = cores.prpsinfo(77, b"sleep 100", b"sleep")
    core.notes[-1] = cores.nt_file([(cores.EXE, cores.EXE + 4096, 0, b"/bin/sleep")])
    told = refusal(core.write(tmp_path / "core"), NoSuchTargetError)
    assert "a core of sleep 100, not of a JVM" in told


def test_a_java_that_has_not_loaded_its_vm_is_one_all_the_same(tmp_path: Path) -> None:
    core = cores.of_jvm()
    core.notes[-1] = cores.nt_file([(cores.EXE, cores.EXE + 4096, 0, b"/opt/jdk/bin/java")])
    with CoreSource(core.write(tmp_path / "core")) as source:
        assert procfs.cmdline(asked(source, "cmdline"))[0].endswith("java")


def test_programs_and_texts(tmp_path: Path) -> None:
    core = cores.of_jvm()
    core.kind = 3
    assert "a program, not a core" in refusal(core.write(tmp_path / "core"), NoSuchTargetError)
    (tmp_path / "text").write_text("text")
    assert "not an ELF file" in refusal(str(tmp_path / "text"), NoSuchTargetError)
    assert "No such file" in refusal(str(tmp_path / "none"))


def test_a_sysroot_that_is_none(tmp_path: Path) -> None:
    path = cores.of_jvm().write(tmp_path / "core")
    assert "--sysroot" in refusal(path, root=str(tmp_path / "none"))
    assert "--sysroot" in refusal(path, root=path)


# --- cut and damaged -------------------------------------------------------------------------------------------------


def test_a_core_that_is_cut_says_how_much_is_there(tmp_path: Path) -> None:
    path = tmp_path / "core"
    whole = cores.of_jvm().bytes()
    path.write_bytes(whole[: 3 * 4096])
    with CoreSource(str(path)) as source:
        assert source.is_cut
        assert len(procfs.names(asked(source, "task", Ask.LIST))) == 3
        answer = memory(source, cores.HEAP, 8)
        assert isinstance(answer, Missing)
        assert answer.why is Why.TRUNCATED
        assert why(source, "environ").why in (Why.TRUNCATED, Why.NOT_COLLECTED)
        assert procfs.cmdline(asked(source, "cmdline"))[-1] == "Main"  # of the note
    for size in (0, 10, 64, 300):
        path.write_bytes(whole[:size])
        refusal(str(path))


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bytes_neither_hang_nor_crash_nor_grow(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - damage to be had again
    whole = cores.of_jvm(held_library=8192).bytes()
    path = tmp_path / "core"
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):
        flipped = bytearray(whole)
        for _ in range(chance.choice((1, 4, 40))):
            flipped[chance.randrange(chance.choice((64, 512, 2048, len(flipped))))] = (
                chance.randrange(256)
            )
        path.write_bytes(flipped)
        try:
            with CoreSource(str(path)) as source:
                look_at_all(source)
        except SeedstallError:
            continue
    assert time.process_time() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def look_at_all(source: CoreSource) -> None:
    """Everything that facts ask of it."""
    for name in (
        "cmdline",
        "environ",
        "auxv",
        "maps",
        "stat",
        "status",
        "exe-header",
        "exe-sections",
        "core",
    ):
        source.read(Ref(Space.PROCESS, name))
    for tid in list(source.process.threads)[:4]:
        for name in ("stat", "status", "syscall", "registers"):
            source.read(Ref(Space.PROCESS, f"task/{tid}/{name}"))
    for ref in (
        Ref(Space.PROCESS, "exe", Ask.LINK),
        Ref(Space.ROOT, "tmp", Ask.LIST),
        Ref(Space.ROOT, LIBRARY),
        probe.VDSO,
    ):
        source.read(ref)
    with contextlib.suppress(Unavailable):
        memory_dump(source, time_s=2)


def test_closing_gives_every_descriptor_back(tmp_path: Path) -> None:
    path = cores.of_jvm().write(tmp_path / "core")
    root = sysroot(tmp_path, cores.library(b"\xab" * 20))
    before = {p.name for p in Path("/proc/self/fd").iterdir()}
    for _ in range(3):
        with CoreSource(path, root) as source:
            memory(source, cores.LIBJVM + 4096, 8)
        with pytest.raises(SeedstallError):
            CoreSource(path, str(tmp_path / "none"))
    assert {p.name for p in Path("/proc/self/fd").iterdir()} == before
