"""Tar archives: every form that tar programs write, and what nobody writes by accident."""

from __future__ import annotations

import contextlib
import tarfile
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archives import END, header, member, packed, padded

from seedstall.parse import tar


def read(data: bytes, piece: int = 1 << 16) -> dict[bytes, bytes]:
    archive = tar.Tar(iter([data[at : at + piece] for at in range(0, len(data), piece)]))
    return {found.name: archive.data(1 << 20) for found in archive if found.kind == tar.FILE}


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("piece", [1, 511, 513, 1 << 16])
def test_every_form_of_tar(form: int, piece: int) -> None:
    files = {"a/b.txt": b"x" * 700, "./c": b"", "d/" * 30 + "end": b"deep"}
    if form != tarfile.USTAR_FORMAT:
        files |= {"long/" + "n" * 200: b"long", "ä/ö": b"umlaut"}
    data = packed(files, form, "w")
    found = read(data, piece)
    assert found == {n.removeprefix("./").encode(): d for n, d in files.items()}


def test_links_and_directories_have_no_content() -> None:
    data = header("l", 700, tarfile.SYMTYPE, "/etc/passwd") + header("d/", 700, tarfile.DIRTYPE)
    data += member("f", b"12") + END
    archive = tar.Tar(iter((data,)))
    assert [(h.name, h.kind, h.target) for h in archive] == [
        (b"l", tar.LINK, b"/etc/passwd"),
        (b"d", tar.DIRECTORY, b""),
        (b"f", tar.FILE, b""),
    ]


def test_what_is_not_asked_for_is_passed_over_and_the_limit_is_held() -> None:
    archive = tar.Tar(iter((member("a", b"x" * 5000) + member("b", b"y" * 5000) + END,)))
    assert [archive.data(10) for h in archive if h.name == b"b"] == [b"y" * 10]


def begun(data: bytes) -> tuple[list[bytes], bytes]:
    """The members of an archive that is cut, and what there is of the last."""
    found: list[bytes] = []
    archive = tar.Tar(iter((data,)))
    try:
        for _ in archive:
            found.append(archive.data(1 << 20))  # noqa: PERF401 - what was found before the end counts
    except tar.CutError as error:
        return found, error.args[1]
    raise AssertionError("it was not cut")


def test_one_that_is_cut_gives_what_there_is() -> None:
    one, two = b"1" * 600, b"2" * 600
    data = member("a", one) + member("b", two)
    assert begun(data) == ([one, two], b""), "only its closing blocks are missing"
    for end in range(0, 512 + 600, 100):
        assert begun(data[:end]) == ([], b"1" * max(0, end - 512)) or end < 512, end
    assert begun(data[: 512 + 1024]) == ([one], b"")
    assert begun(data[: 512 + 1024 + 512 + 5]) == ([one], b"22222")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/cron.d/x", "an absolute path"),
        ("a/../../x", "leads out of it"),
        ("..", "leads out of it"),
        ("d/" * 65 + "x", "directories, the limit is 64"),
        ("n" * 5000, "a path of 5000 bytes"),
    ],
)
def test_paths_that_lead_out_or_have_no_end(name: str, why: str) -> None:
    with pytest.raises(tar.UnsafeError, match=why):
        read(member(name, b"x") + END)


def test_a_nul_byte_in_a_path_is_named() -> None:
    told = b"12 path=a\0b\n"
    data = header("p", len(told), tarfile.XHDTYPE) + padded(told) + member("x", b"") + END
    with pytest.raises(tar.UnsafeError, match=r"a NUL byte in a path: a\\0b"):
        read(data)


def test_headers_have_a_limit() -> None:
    long = header("././@LongLink", 1 << 40, tarfile.GNUTYPE_LONGNAME)
    with pytest.raises(tar.UnsafeError, match="extended headers"):
        read(long + b"\0" * 4096)
    many = (header("././@LongLink", 2, tarfile.GNUTYPE_LONGNAME) + padded(b"a\0")) * 100
    with pytest.raises(tar.UnsafeError, match="extended headers"):
        read(many + member("x", b"") + END)


def test_sparse_files_are_none() -> None:
    told = b"22 GNU.sparse.major=1\n"
    data = header("p", len(told), tarfile.XHDTYPE) + padded(told) + member("x", b"") + END
    with pytest.raises(tar.UnsafeError, match="sparse"):
        read(data)


def test_a_pax_header_of_digits_takes_no_time() -> None:
    """CVE-2024-6232: tarfile's own expression for it goes quadratic."""
    told = b"1" * 60_000
    data = header("p", len(told), tarfile.XHDTYPE) + padded(told) + END
    began = time.process_time()
    with pytest.raises(ValueError, match="pax header"):
        read(data)
    assert time.process_time() - began < 5


def test_sizes_that_are_none() -> None:
    block = bytearray(header("x"))
    block[124:136] = b"\xff" * 12
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    with pytest.raises(ValueError, match="more than"):
        read(bytes(block))


@given(st.binary(max_size=2000))
def test_any_bytes_raise_value_errors_alone(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        read(data)


@given(st.integers(0, 3000), st.integers(0, 255))
def test_any_damage_raises_value_errors_alone(at: int, value: int) -> None:
    data = bytearray(packed({"a": b"x" * 600, "long/" + "n" * 150: b"y" * 10}, mode="w"))
    data[at % len(data)] = value
    with contextlib.suppress(ValueError):
        read(bytes(data))
