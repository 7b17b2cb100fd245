"""The collector for hosts without Python, run in every shell that such hosts have, and its bundles read."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import seedstall
from seedstall.effect.collector import script
from seedstall.model.report import Report, Verdict

SHELLS = ("dash", "bash", "bash --posix", "mksh", "busybox sh")
APPLETS = (
    "cat",
    "tr",
    "sleep",
    "od",
    "head",
    "dd",
    "ls",
    "stat",
    "readlink",
    "date",
    "grep",
    "dmesg",
    "tail",
    "rm",
    "taskset",
)


def shell(words: str) -> list[str]:
    """The shell as a command; skipped where this machine has none (in CI that fails)."""
    command = words.split()
    found = shutil.which(command[0])
    if found is None:
        pytest.skip(f"needs {command[0]}: apt-get install {command[0]}")
    return [found, *command[1:]]


def library() -> str:
    """The script's functions, without the line that starts it."""
    return script().rpartition("\n{\n")[0] + "\nprepare\n"


def collected(
    command: Sequence[str],
    *arguments: object,
    env: Mapping[str, str] | None = None,
    cwd: Path | str = "/",
) -> subprocess.CompletedProcess[bytes]:
    """Run the script as ``ssh host sh -s -- ARGUMENTS`` does."""
    return subprocess.run(
        [*command, "-s", "--", *map(str, arguments)],
        input=script().encode(),
        capture_output=True,
        timeout=110,
        check=False,
        env=env,
        cwd=cwd,
    )


def bundle(command: Sequence[str], *arguments: object, **how: Any) -> bytes:
    """The bundle that it writes; nothing else may be said."""
    done = collected(command, *arguments, **how)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout


def members(data: bytes) -> dict[str, bytes]:
    """What is in it, by path below its folder."""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            assert member.isreg(), member.name
            assert member.mode == 0o644
            file = archive.extractfile(member)
            assert file is not None
            found[member.name.partition("/")[2]] = file.read()
    return found


def manifest(data: bytes, path: str = "manifest.tsv") -> dict[tuple[str, str], str]:
    """Its manifest: path and status to detail."""
    lines = members(data)[path].decode().splitlines()
    fields = [line.split("\t") for line in lines]
    assert all(len(f) == 3 for f in fields)
    return {(f[0], f[1]): f[2] for f in fields}


def verdict(data: bytes) -> Verdict:
    """What a diagnosis says of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bundle.tar")
        path.write_bytes(data)
        (report,) = seedstall.diagnose(str(path))
    assert isinstance(report, Report), report
    return report.verdict


def bare(folder: Path, *names: str) -> dict[str, str]:
    """An environment whose PATH has these programs alone: busybox's own."""
    box = shell("busybox")[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).symlink_to(box)
    return {"PATH": str(folder)}
