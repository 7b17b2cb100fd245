"""The version that a vDSO names, and what it exports."""

from __future__ import annotations

import contextlib
import platform
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import cores

from seedstall.model.evidence import Got
from seedstall.parse.vdso import vdso
from seedstall.source import probe


def test_the_version_code() -> None:
    assert vdso(cores.vdso(0x06_12_2C)).release == "6.18.44"
    assert vdso(cores.vdso(0x03_0A_00)).release == "3.10.0"


def test_the_build_salt_of_a_distribution_is_the_whole_release() -> None:
    image = cores.vdso(0x04_12_00, b"4.18.0-553.el8_10.x86_64\0")
    assert vdso(image).release == "4.18.0-553.el8_10.x86_64"


@pytest.mark.parametrize(
    "salt",
    [b"", b"6.1.102-1.182.amzn2023.x86_64\0", b"4.18.0\0", b"4.18.01-x\0", b"4.18.0-\x1b[2J\0"],
)
def test_a_salt_of_another_kernel_is_not_believed(salt: bytes) -> None:
    assert vdso(cores.vdso(0x04_12_00, salt)).release == "4.18.0"


@pytest.mark.parametrize("image", [b"", b"\x7fELF", cores.library(), b"\0" * 4096])
def test_what_names_no_version_is_refused(image: bytes) -> None:
    with pytest.raises(ValueError, match=r"ELF|version"):
        vdso(image)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the note is x86's")
def test_our_own_kernels() -> None:
    reading = probe.read(probe.VDSO)
    assert isinstance(reading, Got)
    found = vdso(reading.value)
    release = platform.release().split("-")[0]
    assert release.startswith(found.release.rpartition(".")[0])
    major, minor = (int(part) for part in release.split(".")[:2])
    if (major, minor) < (5, 10):  # no back-port is known
        assert found.getrandom is False
    assert found.getrandom is not None


@given(st.binary(max_size=300), st.integers(0, 4095), st.integers(0, 255))
def test_hostile_images_raise_only_value_errors(data: bytes, at: int, byte: int) -> None:
    flipped = bytearray(cores.vdso())
    flipped[at] = byte
    start = time.process_time()
    for image in (data, b"\x7fELF\2\1\1" + data, bytes(flipped)):
        with contextlib.suppress(ValueError):
            vdso(image)
    assert time.process_time() - start < 1
