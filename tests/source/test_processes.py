"""Which processes of a host are JVMs: by what they have mapped to run, whatever they are called."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.parse.test_nativeimage import NATIVE

from seedstall.model.jdk import VmFamily
from seedstall.parse import nativeimage
from seedstall.source import host, processes
from seedstall.source.processes import Found

MAPPER = """
import mmap, sys
file = open(sys.argv[1], "r+b")
flags, protection = getattr(mmap, sys.argv[2]), eval(sys.argv[3], vars(mmap))
held = mmap.mmap(file.fileno(), 0, flags=flags, prot=protection)
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def started(*command: object) -> Iterator[int]:
    """The pid of a program that has said that it is ready."""
    with subprocess.Popen(
        [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
        process.kill()


def mapper(path: Path, flags: str, protection: str) -> tuple[object, ...]:
    return (sys.executable, "-c", MAPPER, path, flags, protection)


def found(pid: int) -> Found | None:
    return next((jvm for jvm in processes.scan().jvms if jvm.pid == pid), None)


@pytest.mark.parametrize(
    ("name", "flags", "protection", "vm"),
    [
        ("libjvm.so", "MAP_PRIVATE", "PROT_READ | PROT_EXEC", VmFamily.HOTSPOT),
        ("libj9vm29.so", "MAP_PRIVATE", "PROT_READ | PROT_EXEC", VmFamily.OPENJ9),
        ("libj9vm26.so", "MAP_PRIVATE", "PROT_READ | PROT_WRITE", VmFamily.OPENJ9),
        ("libjvm.so", "MAP_PRIVATE", "PROT_READ", None),
        ("libjvm.so", "MAP_SHARED", "PROT_READ | PROT_WRITE", None),
        ("libjvm.so.1", "MAP_PRIVATE", "PROT_READ | PROT_EXEC", None),
    ],
)
def test_by_the_library_that_it_runs(
    tmp_path: Path, name: str, flags: str, protection: str, vm: VmFamily | None
) -> None:
    library = tmp_path / name
    library.write_bytes(b"\0" * 4096)
    with started(*mapper(library, flags, protection)) as pid:
        assert found(pid) == (Found(pid, vm) if vm is not None else None)
        assert host.is_jvm(pid) == (vm is not None)


def with_sections(program: bytes, names: bytes) -> bytes:
    """A 64-bit little-endian ELF program with other section names: new headers at its end."""
    data = bytearray(program)
    header = 64
    place = len(data)
    data += names
    data[40:48] = len(data).to_bytes(8, "little")
    data[58:64] = b"\x40\0\x02\0\x01\0"
    data += b"\0" * header
    data += (0).to_bytes(24, "little") + place.to_bytes(8, "little")
    data += len(names).to_bytes(8, "little") + b"\0" * 24
    return bytes(data)


@pytest.mark.parametrize("names", [NATIVE, NATIVE.replace(b"svm", b"other")])
def test_a_native_image_by_its_heap(
    tmp_path: Path, names: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made of a copy of this Python, which may be a small program that loads a large library."""
    program = tmp_path / "app"
    program.write_bytes(with_sections(Path(sys.executable).resolve().read_bytes(), names))
    program.chmod(0o755)
    code = "print('ready', flush=True); import sys; sys.stdin.read()"
    with started(program, "-S", "-c", code) as pid:
        monkeypatch.setattr(nativeimage, "LEAST_SIZE", 1 << 40)
        assert found(pid) is None, "the file of a small program is not looked into"
        monkeypatch.setattr(nativeimage, "LEAST_SIZE", 4096)
        told = found(pid)
    assert told == (Found(pid, VmFamily.GRAAL_NATIVE) if names is NATIVE else None)


def test_other_processes_are_none_and_counted() -> None:
    scan = processes.scan()
    assert os.getpid() not in [jvm.pid for jvm in scan.jvms]
    assert scan.processes >= 1
    assert not scan.hidden
    assert processes.all_pids() == tuple(sorted(processes.all_pids()))


def test_one_that_ends_meanwhile_is_no_riddle(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setattr(processes, "all_pids", lambda: (gone.pid,))
    assert processes.scan() == processes.Scan((), 1, Counter(), hidden=False)
