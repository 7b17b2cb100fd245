"""Archives made by hand, as nobody's tar writes them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping

HEAD = b"seedstall-bundle\t1\ntool\ttest 1\npid\t8712\n"


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, target: str = "") -> bytes:
    """One header block (and those that a long name needs), whatever it claims."""
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, target
    return info.tobuf(tarfile.GNU_FORMAT)


def padded(data: bytes) -> bytes:
    """A member's content up to the block's end."""
    return data + b"\0" * (-len(data) % 512)


def member(name: str, data: bytes) -> bytes:
    """A regular file."""
    return header(name, len(data)) + padded(data)


END = b"\0" * 1024


def packed(files: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT, mode: str = "w:gz") -> bytes:
    """A decent archive of these files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()
