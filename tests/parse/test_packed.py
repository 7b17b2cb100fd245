import bz2
import gzip
import lzma
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.packed import unpacked

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}


@pytest.mark.parametrize("kind", PACK)
def test_content_of_all_streams(kind: str) -> None:
    pack = PACK[kind]

    assert unpacked(pack(b"some text")) == b"some text"
    assert unpacked(pack(b"some ") + pack(b"text")) == b"some text"
    assert unpacked(pack(b"")) == b""


def test_other_data_is_left_alone() -> None:
    for data in (b"", b"text", b"\x1f\x8b", b"BZ"):
        assert unpacked(data) == data


@pytest.mark.parametrize("kind", PACK)
def test_a_bomb_is_refused_with_the_limit_named(kind: str) -> None:
    with pytest.raises(ValueError, match="more than 1 MiB"):
        unpacked(PACK[kind](b"\0" * (30 << 20)), limit=1 << 20)
    assert len(unpacked(PACK[kind](b"\0" * (1 << 20)), limit=1 << 20)) == 1 << 20


@pytest.mark.parametrize("kind", PACK)
def test_a_cut_or_damaged_file_is_said_to_be_one(kind: str) -> None:
    whole = PACK[kind](bytes(range(256)) * 50)

    for part in (whole[:-1], whole[: len(whole) // 2], whole[:12]):
        with pytest.raises(ValueError, match=r"whole|cut short"):
            unpacked(part)


@pytest.mark.parametrize(
    ("data", "kind"), [(b"PK\x03\x04...", "zip"), (b"\x28\xb5\x2f\xfd...", "zstd")]
)
def test_other_archives_are_named(data: bytes, kind: str) -> None:
    with pytest.raises(ValueError, match=kind):
        unpacked(data)


@given(st.sampled_from([b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh9", b""]), st.binary(max_size=200))
def test_any_bytes(sign: bytes, rest: bytes) -> None:
    with suppress(ValueError):
        assert len(unpacked(sign + rest, limit=1000)) <= 1000
