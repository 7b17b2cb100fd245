"""Whether a printed patch applies: with ``patch`` and with ``git apply``, from the directory that its head names."""

from __future__ import annotations

import subprocess
from pathlib import Path


def applied(patch: bytes, name: str, old: bytes | None, tmp_path: Path, new: bytes) -> None:
    """Both programs make *new* of *old*, the file *name* below the directory patched; a second time both refuse."""
    for number, command in enumerate((("patch", "-p1", "-s", "-f", "-r", "-"), ("git", "apply"))):
        base = tmp_path / f"patching{number}-{abs(hash((name, old, new)))}"
        file = base / name
        file.parent.mkdir(parents=True)
        if old is not None:
            file.write_bytes(old)
        done = subprocess.run(command, cwd=base, input=patch, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        assert file.read_bytes() == new
