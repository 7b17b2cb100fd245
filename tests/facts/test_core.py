"""What is known of a core, and what a program's binaries say of themselves."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests import cores
from tests.machine import Seedstall, run_seedstall

from seedstall.engine.diagnosis import case_of
from seedstall.facts import core as provider
from seedstall.model.core import Binaries, CoreDump, Vdso
from seedstall.model.evidence import Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JavaHome, JvmProcess, Launch
from seedstall.model.kernel import KernelRandom
from seedstall.model.tasks import Tasks
from seedstall.model.threads import ThreadDumps
from seedstall.model.waits import SeedEvidence
from seedstall.source import probe
from seedstall.source.base import Held
from seedstall.source.core import CoreSource


@pytest.fixture
def seedstall() -> Seedstall:
    return run_seedstall


def test_a_core_and_its_facts(tmp_path: Path) -> None:
    path = cores.of_jvm().write(tmp_path / "core.77")
    case = case_of(CoreSource(path))
    assert case.value(CoreDump) == CoreDump(
        path,
        by_kernel=True,
        signal=6,
        size=28672,
        expected=28672,
        threads=3,
        library="/opt/jdk/lib/server/libjvm.so",
        build_id="ab" * 20,
    )
    launch = case.value(Launch)
    assert launch is not None
    assert launch.main_class == "Main"
    process = case.value(JvmProcess)
    assert process is not None
    assert (process.pid, process.uid, process.age_ms) == (77, 1000, None)
    kernel = case.value(KernelRandom)
    assert kernel is not None
    assert kernel.release == "3.10.0"
    assert "vDSO" in kernel.reason
    tasks = case.value(Tasks)
    assert tasks is not None
    reader = tasks.tasks[0]
    assert reader.asleep
    assert reader.file is None
    assert reader.syscall is not None
    assert reader.syscall.name == "read"


def test_a_read_of_nobody_knows_what_is_never_clear(tmp_path: Path) -> None:
    """Without the Java stacks a core shows a read, and not of what: nothing may be called clear."""
    case = case_of(CoreSource(cores.of_jvm().write(tmp_path / "core.77")))
    dumps = case.get(ThreadDumps)
    assert isinstance(dumps, Missing)
    seeds = case.get(SeedEvidence)
    assert isinstance(seeds, Missing)
    assert seeds.detail.startswith("what thread 77 reads from is not known; no Java stack either")


def test_a_cut_core_says_so_where_its_stacks_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "core"
    path.write_bytes(cores.of_jvm().bytes()[: 3 * 4096])
    case = case_of(CoreSource(str(path)))
    dumps = case.get(ThreadDumps)
    assert isinstance(dumps, Missing)
    assert dumps.why is Why.TRUNCATED
    assert dumps.detail.startswith("the core is cut, 0 of 0 MiB are there")
    found = case.value(CoreDump)
    assert found is not None
    assert found.is_cut


@pytest.mark.parametrize("text", [b"", b"by kernel", b"size x\nexpected 1\nthreads 1\n"])
def test_what_is_no_account_of_a_core(text: bytes) -> None:
    with pytest.raises((ValueError, KeyError)):
        provider.core_dump(Held({provider.CORE: text}))
    with pytest.raises(Unavailable):
        provider.core_dump(Held({}))


# --- binaries --------------------------------------------------------------------------------------------------------


def told(maps: bytes, home: JavaHome | None = None, **more: bytes) -> Binaries:
    held: dict[Ref, bytes | Why] = {Ref(Space.PROCESS, "maps"): maps}
    held |= {Ref(Space.PROCESS, name.replace("_", "-")): data for name, data in more.items()}
    return provider.binaries(Held(held), home, None)


@pytest.mark.parametrize(
    ("file", "libc"),
    [
        ("/lib/x86_64-linux-gnu/libc.so.6", "glibc"),
        ("/lib64/libc-2.17.so", "glibc"),
        ("/lib/ld-musl-x86_64.so.1", "musl"),
        ("/usr/lib/libc.musl-x86_64.so.1", "musl"),
        ("/opt/libc.so.600", ""),
        ("/srv/libc-2.x", ""),
    ],
)
def test_the_c_library(file: str, libc: str) -> None:
    assert told(f"7f00-7f01 r-xp 00000000 00:00 0 {file}\n".encode()).libc == libc


def test_machine_and_native_image() -> None:
    found = told(
        b"",
        exe_header=b"\x7fELF\2\1\1" + bytes(9) + b"\3\0\xb7\0",
        exe_sections=b".text\0.svm_heap\0",
    )
    assert (found.machine, found.bits, found.native_image) == ("aarch64", 64, True)
    assert told(b"", exe_header=b"text").machine == ""
    assert not told(b"", exe_sections=b".text\0").native_image


def test_the_vdso() -> None:
    held: dict[Ref, bytes | Why] = {
        Ref(Space.PROCESS, "maps"): b"",
        probe.VDSO: cores.vdso(0x060C00),
    }
    assert provider.binaries(Held(held), None, None).vdso == Vdso("6.12.0", None)
    held[probe.VDSO] = b"junk"
    assert provider.binaries(Held(held), None, None).vdso is None


def test_without_mappings_there_is_nothing_to_say() -> None:
    with pytest.raises(Unavailable):
        provider.binaries(Held({}), None, None)


# --- the command line ------------------------------------------------------------------------------------------------


def test_what_diagnose_says_of_a_core(seedstall: Seedstall, tmp_path: Path) -> None:
    path = cores.of_jvm().write(tmp_path / "core.77")
    done = seedstall("diagnose", path, "--format", "json")
    assert done.returncode == 4, done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"]["status"] == "unknown"
    assert report["facts"]["core"]["libjvm_build_id"] == "ab" * 20
    assert "how long it had waited" in report["facts"]["core"]["cannot_tell"]
    assert report["facts"]["jvm"]["main"] == "Main"
    assert "s3cret" not in done.stdout


def test_a_folder_of_cores_is_a_case_each_and_one_refused_does_not_stop_the_others(
    seedstall: Seedstall, tmp_path: Path
) -> None:
    cores.of_jvm().write(tmp_path / "core.77")
    foreign = cores.of_jvm()
    foreign.machine = 183
    (tmp_path / "core.78.gz").write_bytes(gzip.compress(foreign.bytes()))
    done = seedstall("diagnose", tmp_path, "--format", "json")
    first, second = json.loads(done.stdout)["cases"]
    assert first["facts"]["core"]["threads"] == 3
    assert "aarch64" in second["error"]
    assert done.returncode == 4  # the worse of what was found: unknown


def test_a_sysroot_without_a_core_is_a_usage_error(seedstall: Seedstall, tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text("text")
    done = seedstall("diagnose", tmp_path / "dump.txt", "--sysroot", "/")
    assert done.returncode == 2
    assert "--sysroot" in done.stderr


def test_logs_beside_a_core_are_one_case(seedstall: Seedstall, tmp_path: Path) -> None:
    path = cores.of_jvm().write(tmp_path / "core.77")
    log = tmp_path / "catalina.out"
    log.write_text(
        "30-Nov-2026 14:21:18.123 WARNING [main] org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom"
        " Creation of SecureRandom instance for session ID generation using [SHA1PRNG] took [172,345] milliseconds.\n"
    )
    done = seedstall("diagnose", path, log, "--format", "json", "--kernel", "3.10.0-957.el7")
    report = json.loads(done.stdout)
    assert report["verdict"]["code"] == "SS101"
    assert report["facts"]["core"]["threads"] == 3
    assert report["facts"]["kernel"]["release"] == "3.10.0-957.el7"
    assert report["verdict"]["cost_ms"] == 172345
