"""Real shells, to hold the parser's account against."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

SHELLS = tuple(s for s in ("dash", "bash", "busybox") if shutil.which(s))
VARIABLES = ("JAVA_OPTS", "CATALINA_OPTS", "_JAVA_OPTIONS")
# Whatever way the file ends: a trap tells, as after it catalina.sh goes on.
_HARNESS = """\
tell() { printf '%s\\036' "${JAVA_OPTS-}" "${CATALINA_OPTS-}" "${_JAVA_OPTIONS-}"; }
trap tell EXIT
. "$0"
"""


@dataclass(frozen=True)
class Sourced:
    """What a shell made of a file. ``values`` are bytes of `VARIABLES`."""

    values: tuple[bytes, ...]
    errors: str

    @property
    def java(self) -> bytes:
        return self.values[0]

    @property
    def catalina(self) -> bytes:
        return self.values[1]


def program(shell: str) -> list[str]:
    return ["busybox", "sh"] if shell == "busybox" else [shell]


def sourced(shell: str, data: bytes, **environment: str) -> Sourced:
    """Source *data* as catalina.sh does."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "setenv.sh"
        file.write_bytes(data)
        done = subprocess.run(
            [*program(shell), "-c", _HARNESS, str(file)],
            capture_output=True,
            check=False,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", **environment},
        )
    values = tuple(done.stdout.split(b"\x1e")[-4:-1])
    assert len(values) == len(VARIABLES), done
    return Sourced(values, done.stderr.decode("utf-8", "replace"))


def valid(shell: str, data: bytes) -> str:
    """What the shell complains of in the file's syntax; ``""`` for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "setenv.sh"
        file.write_bytes(data)
        done = subprocess.run(
            [*program(shell), "-n", str(file)], capture_output=True, check=False, text=True
        )
    return done.stderr if done.returncode else ""
