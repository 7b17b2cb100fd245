import bz2
import gzip
import importlib.util
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.packed import members, unpacked

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
    ("data", "kind"),
    [
        (b"\x04\x22\x4d\x18...", "lz4 -dc FILE"),
        (b"7z\xbc\xaf\x27\x1c...", "7z x FILE"),
        (b"Rar!\x1a\x07...", "unrar x FILE"),
        (b"\x1f\x9d...", "uncompress -c FILE"),
    ],
)
def test_other_archives_are_named_with_the_command_that_unpacks_them(
    data: bytes, kind: str
) -> None:
    with pytest.raises(ValueError, match=kind):
        unpacked(data)


def test_zstd_is_unpacked_where_a_library_is_there_and_else_named_with_its_command() -> None:
    """Frames of zstd 1.5: a raw block of eight bytes."""
    frame = bytes.fromhex("28b52ffd2008410000") + b"text\ntxt"
    try:
        import compression.zstd  # type: ignore[import-not-found,unused-ignore] # noqa: F401
    except ImportError:
        has = importlib.util.find_spec("zstandard") is not None
    else:
        has = True
    if has:
        assert unpacked(frame) == b"text\ntxt"
    else:
        with pytest.raises(ValueError, match=r"zstd -dc FILE \| seedstall diagnose -"):
            unpacked(frame)


def zipped(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def test_the_files_of_archives_and_what_is_packed_in_them() -> None:
    inner = zipped(a=b"one", b=gzip.compress(b"two"), c=zipped(d=b"three"))

    assert [(m.name, m.data) for m in members(inner)] == [
        ("a", b"one"),
        ("b", b"two"),
        ("c!d", b"three"),
    ]
    assert [(m.name, m.data) for m in members(b"text")] == [("", b"text")]


def test_archives_in_archives_end_somewhere() -> None:
    data = b"text"
    for _ in range(8):
        data = zipped(a=data)

    assert b"text" not in b"".join(m.data for m in members(data))


def test_bombs_in_archives_are_refused_with_the_limit_named() -> None:
    with pytest.raises(ValueError, match="the limit"):
        members(zipped(a=b"\0" * (3 << 20)), limit=1 << 20)
    with pytest.raises(ValueError, match="the limit"):
        members(zipped(a=bytes(600 << 10), b=bytes(600 << 10)), limit=1 << 20)
    with pytest.raises(ValueError, match="the limit"):
        members(zipped(a=gzip.compress(b"\0" * (3 << 20))), limit=1 << 20)


def test_a_damaged_archive_is_said_to_be_one() -> None:
    whole = zipped(a=bytes(range(256)) * 50)

    with pytest.raises(ValueError, match="not a whole zip"):
        members(whole[:12])
    (first,) = members(whole[: len(whole) // 2])
    assert (first.name, first.lack) == ("a", "cut short")


def test_an_archive_without_its_list_is_read_by_the_headers_of_its_files() -> None:
    texts = {name: (f"{name} line\n" * 9_000).encode() for name in ("a.txt", "b.txt", "c.txt")}
    whole = zipped(**texts)
    streamed = io.BytesIO()
    out: Any = _Unseekable(streamed)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in texts.items():
            archive.writestr(name, data)
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        for name, data in texts.items():
            archive.writestr(name, data)
    for archived in (whole, streamed.getvalue(), stored.getvalue()):
        lost = archived[: archived.index(b"PK\x01\x02")]

        *found, rest = members(lost)
        assert {member.name: member.data for member in found} == texts
        assert not any(member.lack for member in found)
        assert "list of its files is lost" in rest.lack

        *found, last = members(lost[:-200])
        assert [member.name for member in found] == ["a.txt", "b.txt"]
        assert last.name == "c.txt"
        assert "cut short" in last.lack
        with pytest.raises(ValueError, match="the limit"):
            members(lost, limit=100_000)


class _Unseekable:
    """A pipe: sizes stand behind each file's content."""

    def __init__(self, to: io.BytesIO) -> None:
        self._to = to

    def write(self, data: bytes) -> int:
        return self._to.write(data)

    def flush(self) -> None:
        pass


@given(st.sampled_from([b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh9", b""]), st.binary(max_size=200))
def test_any_bytes(sign: bytes, rest: bytes) -> None:
    with suppress(ValueError):
        assert len(unpacked(sign + rest, limit=1000)) <= 1000


@pytest.mark.parametrize("kind", PACK)
def test_of_what_is_cut_short_that_which_stands_before_it(kind: str) -> None:
    content = b"".join(b"%d\n" % (number * number) for number in range(400_000))
    packed = PACK[kind](content)

    (found,) = members(packed[: len(packed) * 3 // 4])

    assert content.startswith(found.data)
    assert len(found.data) > len(content) // 2
    assert "cut short" in found.lack


def tarred(**files: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def test_a_damaged_file_of_an_archive_is_named_and_the_others_are_read() -> None:
    good, bad = b"good\n" * 500, bytes(range(256)) * 500
    archive = zipped(a=bad, b=good, c=gzip.compress(good)[:12])
    damaged = archive[:60] + b"\xff" * 20 + archive[80:]

    a, b, c = members(damaged)

    assert "damaged" in a.lack
    assert (b.name, b.data, b.lack) == ("b", good, "")
    assert c.name == "c"
    assert "cut short" in c.lack


def test_the_files_of_a_tar_archive_that_was_cut() -> None:
    whole = tarred(a=b"one", b=b"x" * 5000)

    first, second = members(gzip.compress(whole[:3000]))

    assert (first.name, first.data, first.lack) == ("a", b"one", "")
    assert (second.name, second.data, second.lack) == ("b", b"x" * (3000 - 1536), "cut short")
