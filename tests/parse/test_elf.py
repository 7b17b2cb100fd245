"""What programs and libraries of a JDK say of their version."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.machine import JDK8_ROOT, java_of, jdk8_bin

from seedstall.parse.elf import jvm_banner, jvm_vendor, launcher_version
from seedstall.parse.elfcore import without_sections
from seedstall.parse.jdkversion import vm_banner

BANNER_8 = b"OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE (1.8.0_504-8u504-ga-1-b01), built on Aug 20 2026"


def elf_file(rodata: bytes) -> bytes:
    """A 64-bit ELF file with the sections that the reader asks for, and nothing else."""
    names = b"\0.rodata\0.shstrtab\0"
    at = 64
    body = rodata + names
    section = "<IIQQQQIIQQ"
    table = struct.pack(section, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    table += struct.pack(section, 1, 1, 2, 0, at, len(rodata), 0, 0, 1, 0)
    table += struct.pack(section, 9, 3, 0, 0, at + len(rodata), len(names), 0, 0, 1, 0)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at + len(body), 0, 64, 0, 0, 64, 3, 2)
    return ident + head + body + table


def test_a_library_says_its_line() -> None:
    line = jvm_banner(elf_file(b"noise\0" + BANNER_8 + b'by "x"\0more'))
    assert line == BANNER_8.decode().partition(",")[0]
    version = vm_banner(line)
    assert version is not None
    assert (version.feature, version.update) == (8, 504)


def test_a_line_of_another_shape_is_passed_over() -> None:
    data = elf_file(b"\0what JRE (is that\0" + BANNER_8 + b"\0")
    assert "1.8.0_504" in jvm_banner(data)


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"MZ" * 100, elf_file(b""), elf_file(b"nothing here")]
)
def test_what_says_nothing_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"ELF|constants|say"):
        jvm_banner(data)


@pytest.mark.parametrize(
    "text",
    [
        "1.8.0_504-8u504-ga-1-b01",
        "1.7.0_80-b15",
        "17.0.15+6-Debian-1deb12u1",
        "25.0.2+10-LTS",
        "11.0.13+8",
    ],
)
def test_a_launcher_says_its_version(text: str) -> None:
    data = b"\x7fELF\0\0java\0openjdk\0" + b"1.8\0" + text.encode() + b"\0" + b"0.0\0"
    assert launcher_version(data) == text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x7fELF\0nothing\0",
        b"\x7fELF\x0011.0.1+2\x0017.0.1+3\0",
        b"11.0.1+2\0",
        b"\x7fELF\x0011.0.1\0",
    ],
)
def test_a_launcher_that_says_nothing_sure_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"ELF|say"):
        launcher_version(data)


@settings(deadline=None)
@given(st.data())
def test_damaged_files_raise_only_value_error(data: st.DataObject) -> None:
    whole = bytearray(elf_file(BANNER_8))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    for read in (jvm_banner, launcher_version):
        try:
            read(bytes(whole))
        except ValueError:
            continue


@given(st.binary(max_size=400))
def test_any_bytes_raise_only_value_error(tail: bytes) -> None:
    for read in (jvm_banner, launcher_version):
        try:
            read(b"\x7fELF" + tail)
        except ValueError:
            continue


@pytest.mark.parametrize(
    "filling",
    [b" JRE (" * 500_000, b"VM (1) for x" * 300_000, b"A" * 3_000_000, b"1.8.0_" * 500_000],
)
def test_long_hostile_files_are_quick(filling: bytes) -> None:
    start = time.monotonic()
    for read in (jvm_banner, launcher_version):
        with pytest.raises(ValueError, match="say"):
            read(elf_file(b"\0" + filling))
    assert time.monotonic() - start < 5


@pytest.mark.jvm
@pytest.mark.parametrize("feature", [11, 17, 21, 25])
def test_real_ones(feature: int) -> None:
    java = java_of(feature)
    if not java.exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    same_in_both(java, java.parent.parent / "lib/server/libjvm.so", feature)


@pytest.mark.jvm
@pytest.mark.jdk8
def test_a_real_8() -> None:
    programs = jdk8_bin()
    assert programs is not None
    jre = JDK8_ROOT / programs.relative_to("/").parent / "jre"
    library = next(jre.glob("lib/*/server/libjvm.so"))
    same_in_both(jre / "bin/java", library, 8)
    same_in_both(jre.parent / "bin/jarsigner", library, 8)


def same_in_both(program: Path, library: Path, feature: int) -> None:
    text = launcher_version(program.read_bytes())
    version = vm_banner(jvm_banner(library.read_bytes()))
    assert version is not None
    assert version.feature == feature
    assert version.text == text


# --- who made it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constants", "vendor"),
    [
        (b"x\0Eclipse Adoptium\0y", "Eclipse Adoptium"),
        (b"x\0Oracle Corporation\0Debian\0", "Debian"),  # 8 has Oracle's name in every build
        (b"x\x0017.0.9+9-Debian\0Oracle Corporation\0", "Oracle Corporation"),
        (b"x\x0017.0.9+9-Debian\0", "Debian"),  # the linker lets it end the longer one
        (b"x\0Eclipse Adoptium", ""),
        (b"x\0Somebody\0", ""),
    ],
)
def test_a_vendor(constants: bytes, vendor: str) -> None:
    assert jvm_vendor(elf_file(constants)) == vendor
    with pytest.raises(ValueError, match="ELF"):
        jvm_vendor(constants)


def test_an_image_from_memory_has_no_sections_and_says_its_line_all_the_same() -> None:
    whole = elf_file(b"noise\0" + BANNER_8 + b"\0Debian\0")
    image = without_sections(whole)
    assert jvm_banner(image) == BANNER_8.decode().partition(",")[0]
    assert jvm_vendor(image) == "Debian"


@pytest.mark.jvm
@pytest.mark.parametrize("feature", [11, 17, 21, 25])
def test_vendors_of_real_libraries(feature: int) -> None:
    library = java_of(feature).parent.parent / "lib/server/libjvm.so"
    if not library.exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    assert jvm_vendor(library.read_bytes()) == "Eclipse Adoptium"
