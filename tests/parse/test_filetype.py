"""What is no text is told by its first bytes, and no text is taken for it."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.filetype import filetype

PICTURES = {
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR": "PNG",
    b"\xff\xd8\xff\xe0\0\x10JFIF": "JPEG",
    b"GIF89a\1\0": "GIF",
    b"RIFF\x24\0\0\0WEBPVP8 ": "WebP",
    b"\0\0\0\x18ftypheic": "HEIC",
}
OTHERS = {
    b"JAVA PROFILE 1.0.2\0\0\0\0\x08": "hprof",
    b"FLR\0\0\2\0\1": "flight recording",
    b"%PDF-1.7\n": "PDF",
    b"\xca\xfe\xba\xbe\0\0\0\x3d": "class file",
    b"\xd4\xc3\xb2\xa1\2\0\4\0": "pcap",
    b"\n\r\r\n\x1c\0\0\0": "pcapng",
    b"SQLite format 3\0\x10\0": "SQLite",
    b"LPKSHHRH\0\0\0\0": "journal",
    b"PERFILE2h\0": "perf",
    b"MZ\x90\0\3\0\0\0\4": "Windows",
}


@pytest.mark.parametrize(("head", "word"), [*PICTURES.items(), *OTHERS.items()])
def test_it_is_named_with_what_to_hand_over(head: bytes, word: str) -> None:
    found = filetype(head + b"\0" * 500)

    assert found is not None
    assert word in found.what
    assert found.instead


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("META-INF/MANIFEST.MF", "jar"),
        ("WEB-INF/web.xml", "war"),
        ("[Content_Types].xml", "Office"),
        ("logs/catalina.out", None),
    ],
)
def test_an_archive_is_told_by_its_first_file(name: str, word: str | None) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "x")
    found = filetype(packed.getvalue()[:512])

    assert (found is None) == (word is None)
    assert found is None or (word or "") in found.what


@given(st.text(alphabet=st.characters(min_codepoint=9, max_codepoint=0x2FFF), max_size=200))
def test_no_text_is_taken_for_one(text: str) -> None:
    """Unless it begins as one does: a text that begins with ``%PDF-`` is a PDF."""
    found = filetype(text.encode())

    assert found is None or not text[:1].isalnum() or "PROFILE" in text or text[:2] in ("MM", "II")
