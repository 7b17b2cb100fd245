"""An sshd of the tests' own on the loopback, as the user who runs them, with keys made for it."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.live.tomcats import free_port

SSHD = Path("/usr/sbin/sshd")


@dataclass(frozen=True)
class Host:
    """One sshd."""

    port: int
    key: Path
    user: str

    def options(self) -> list[str]:
        """What ssh is told: nothing of the user's own is read."""
        return [
            *("-F", "/dev/null", "-p", str(self.port), "-i", str(self.key)),
            *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"),
            *("-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"),
        ]

    def command(self, *words: str) -> Sequence[str]:
        """An ssh to it."""
        return ["ssh", *self.options(), f"{self.user}@127.0.0.1", *words]


@contextmanager
def sshd(folder: Path) -> Iterator[Host]:
    """Start it; it is ended with the block. *folder* is for its files."""
    if not SSHD.exists() or shutil.which("ssh-keygen") is None:
        pytest.skip("needs sshd: apt-get install openssh-server openssh-client")
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True
        )
    shutil.copy(folder / "user.pub", folder / "authorized")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where it separates its privileges
    port = free_port()
    (folder / "config").write_text(
        f"""Port {port}
ListenAddress 127.0.0.1
HostKey {folder / "host"}
AuthorizedKeysFile {folder / "authorized"}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
LogLevel ERROR
""",
        encoding="ascii",
    )
    daemon = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", folder / "config"], stderr=subprocess.DEVNULL, process_group=0
    )
    host = Host(port, folder / "user", getpass.getuser())
    try:
        ends = time.monotonic() + 30
        while subprocess.run(host.command("true"), check=False, capture_output=True).returncode:
            assert daemon.poll() is None, "it ended"
            assert time.monotonic() < ends, "it does not answer"
            time.sleep(0.05)
        yield host
    finally:
        daemon.terminate()
        daemon.wait()
