"""The captured trees of ``fixtures/old-kernels``, unpacked for a test."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.machine import CHECKOUT

PACKED = CHECKOUT / "fixtures/old-kernels"
BLOCKED = {
    "seed-4.4.0-210": (120, 126),
    "seed-4.15.0-193": (152, 158),
    "jarsigner-4.15.0-193": (154, 160),
    "contend-nativeprngblocking-4.15.0-193": (151, 167),
}
"""Process and thread that wait in the random device."""
FREE = {"noblock-4.15.0-194": 295, "noblock-6.8.0-31": 259}
"""The process, where nothing waits."""


def unpacked(name: str, folder: Path) -> Path:
    """The tree *name* below *folder*. Its links are kept as captured: they lead nowhere here."""
    with tarfile.open(PACKED / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="tar")
    return folder / name
