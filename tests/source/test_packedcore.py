"""Packed cores: recognised by what is in them, unpacked into a file without a name, within limits."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import cores

from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Ask, Got, Ref, Space
from seedstall.source import detect, packedcore
from seedstall.source.detect import Kind

WHOLE = cores.of_jvm().bytes()
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "bzip2": lambda data: bz2.compress(data, 1),
    "zstd": zstandard.ZstdCompressor().compress,
    "lz4": lz4.frame.compress,
}
pytestmark = pytest.mark.usefixtures("room")


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where cores are unpacked."""
    folder = tmp_path / "room"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture(params=PACKERS)
def packed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"core.java.0.boot.77.{request.param}"
    path.write_bytes(PACKERS[request.param](WHOLE))
    return path


def test_a_packed_core_is_read_like_any_other(packed: Path, room: Path) -> None:
    target = detect.resolve(str(packed))
    assert target.kind is Kind.CORE
    before = {p.name for p in Path("/proc/self/fd").iterdir()}
    with detect.core(target, "") as source:
        assert source.size == len(WHOLE)
        reading = source.read(Ref(Space.PROCESS, "task", Ask.LIST))
        assert isinstance(reading, Got)
        assert reading.value == b"77\x0078\x0079\0"
        assert (
            list(room.iterdir()) == []
        )  # it has no name: nothing is left however this process ends
    assert {p.name for p in Path("/proc/self/fd").iterdir()} == before


def test_zeros_take_no_room(tmp_path: Path) -> None:
    core = cores.of_jvm()
    core.memory.append((1 << 40, bytes(32 << 20), 32 << 20, 6))
    path = tmp_path / "core.gz"
    path.write_bytes(gzip.compress(core.bytes(), 1))
    file = packedcore.unpacked(str(path))
    assert file.size > 32 << 20
    assert os.fstat(file._fd).st_blocks * 512 < 1 << 20


def test_what_holds_no_core_is_none(tmp_path: Path) -> None:
    for name, pack in PACKERS.items():
        path = tmp_path / f"log.{name}"
        path.write_bytes(pack(b"Full thread dump\n" * 100))
        assert not packedcore.is_packed_core(str(path), path.read_bytes()[:512])


@pytest.mark.parametrize("kind", PACKERS)
def test_a_core_that_was_cut_in_packing_is_a_cut_core(kind: str, tmp_path: Path) -> None:
    core = cores.of_jvm()
    core.memory.append((1 << 40, NOISE, 512 << 10, 6))
    whole = core.bytes()
    data = PACKERS[kind](whole)
    path = tmp_path / "core"
    path.write_bytes(data[: len(data) * 2 // 3])
    with packedcore.unpacked(str(path)) as file:
        assert 4096 <= file.size < len(whole)
        assert file.read(0, file.size) == whole[: file.size]
    with detect.core(detect.resolve(str(path)), "") as source:
        assert source.is_cut


@pytest.mark.parametrize(("size", "write"), [(8192, 1 << 40), (1 << 40, 4096)])
def test_too_large_is_refused(
    packed: Path, monkeypatch: pytest.MonkeyPatch, size: int, write: int
) -> None:
    monkeypatch.setattr(packedcore, "SIZE_LIMIT", size)
    monkeypatch.setattr(packedcore, "WRITE_LIMIT", write)
    with pytest.raises(SeedstallError, match="unpacks to more than") as caught:
        packedcore.unpacked(str(packed))
    assert "TMPDIR" in caught.value.hint


def test_a_directory_that_is_not_there(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/nowhere")
    with pytest.raises(SeedstallError, match="cannot be unpacked in /nowhere"):
        packedcore.unpacked(str(packed))


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_without_a_library_the_command_is_told(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_kind: str) -> Callable[[], object]:
        raise ImportError

    monkeypatch.setattr(packedcore, "_maker", none)
    path = tmp_path / f"core.java 1.{kind}"
    path.write_bytes(PACKERS[kind](WHOLE))
    target = detect.resolve(str(path))
    assert target.kind is Kind.CORE
    with pytest.raises(SeedstallError, match=f"packed with {kind}") as caught:
        detect.core(target, "")
    assert caught.value.hint == f"{kind} -dc '{path}' > core; then seedstall diagnose core"


def test_of_another_architecture_only_the_head_is_unpacked(tmp_path: Path) -> None:
    core = cores.of_jvm()
    core.machine = 183
    core.memory.append((1 << 40, os.urandom(4 << 20), 4 << 20, 6))
    path = tmp_path / "core.gz"
    path.write_bytes(gzip.compress(core.bytes(), 0))
    with packedcore.unpacked(str(path)) as file:
        assert file.size <= 1 << 20
    with pytest.raises(SeedstallError, match="aarch64"):
        detect.core(detect.resolve(str(path)), "")


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.sampled_from(sorted(PACKERS)),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=6),
)
def test_damaged_streams_end_in_our_errors_or_a_cut_core(
    tmp_path: Path, kind: str, flips: list[tuple[int, int]]
) -> None:
    data = bytearray(PACKED[kind])
    for at, byte in flips:
        data[4 + at % (len(data) - 4)] = byte
    path = tmp_path / "core"
    path.write_bytes(data)
    packedcore.is_packed_core(str(path), bytes(data[:512]))
    try:
        with packedcore.unpacked(str(path)) as file:
            assert file.size <= packedcore.SIZE_LIMIT
    except SeedstallError:
        pass


NOISE = random.Random(1).randbytes(512 << 10)  # noqa: S311 - any bytes that do not pack
PACKED = {name: pack(WHOLE) for name, pack in PACKERS.items()}
