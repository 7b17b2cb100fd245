"""Which permission was missing: every kind of refusal by what ``status`` and the host tell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedstall.parse import procfs
from seedstall.source import permission
from seedstall.source.permission import explain

PTRACE = 1 << 19
EVERYTHING = 0x1FFFFFFFFFF


@pytest.fixture
def child() -> Iterator[int]:
    """A descriptor of ``/proc/PID`` of a program of ours."""
    program = subprocess.Popen(["sleep", "60"])
    fd = os.open(f"/proc/{program.pid}", os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)
    program.kill()
    program.wait()


class World:
    """What the host is made to say."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def is_so(
        self,
        *,
        ours: int,
        theirs: int | None,
        yama: str = "",
        capabilities: int = 0,
        held: int = 0,
        shown_as: int | None = None,
        modules: str = "",
    ) -> None:
        told = procfs.status(Path("/proc/self/status").read_bytes())
        if theirs is not None:
            told = told._replace(uids=(theirs,) * 4, cap_eff=held)
        self._patch.setattr(permission, "status", lambda _: told if theirs is not None else None)
        self._patch.setattr(permission, "ptrace_scope", lambda: yama)
        self._patch.setattr(permission, "_capabilities", lambda: capabilities)
        self._patch.setattr(os, "geteuid", lambda: ours)
        shown = theirs if shown_as is None else shown_as
        self._patch.setattr(permission, "_owner_of_status", lambda _: shown)
        real = Path.read_text

        def read(path: Path, encoding: str = "utf-8") -> str:
            return modules if path.name == "lsm" else real(path, encoding)

        self._patch.setattr(Path, "read_text", read)


@pytest.mark.parametrize(
    ("world", "told"),
    [
        ({"ours": 1000, "theirs": None}, "hidepid"),
        ({"ours": 1000, "theirs": 0}, "the process belongs to uid 0: run as that user or as root"),
        ({"ours": 1000, "theirs": 2000, "yama": "1"}, "belongs to uid 2000"),
        (
            {"ours": 1000, "theirs": 1000, "yama": "1"},
            "kernel.yama.ptrace_scope is 1: needs CAP_SYS_PTRACE (root)",
        ),
        ({"ours": 1000, "theirs": 1000, "yama": "2"}, "kernel.yama.ptrace_scope is 2"),
        ({"ours": 0, "theirs": 1000, "yama": "3", "capabilities": EVERYTHING}, "is 3: nobody may"),
        ({"ours": 0, "theirs": 0, "capabilities": EVERYTHING}, "CAP_SYS_PTRACE did not help"),
        (
            {
                "ours": 0,
                "theirs": 0,
                "capabilities": EVERYTHING,
                "modules": "capability,yama,selinux",
            },
            "CAP_SYS_PTRACE did not help: selinux may forbid it",
        ),
        (
            {"ours": 0, "theirs": 1000, "capabilities": EVERYTHING & ~PTRACE},
            "needs CAP_SYS_PTRACE: we are root without it, and the process belongs to uid 1000",
        ),
        (
            {"ours": 1000, "theirs": 1000, "shown_as": 0},
            "needs CAP_SYS_PTRACE: the process is not dumpable",
        ),
        (
            {"ours": 0, "theirs": 0, "held": 1 << 21},
            "needs CAP_SYS_PTRACE: the process holds capabilities that we lack",
        ),
        (
            {"ours": 1000, "theirs": 1000},
            "a security module, a seccomp filter or another user namespace",
        ),
        ({"ours": 1000, "theirs": 1000, "modules": "lockdown,apparmor"}, "apparmor may forbid it"),
    ],
)
def test_what_was_missing_is_named(
    world: dict[str, object], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    World(monkeypatch).is_so(**world)  # type: ignore[arg-type]
    said = explain(3)
    monkeypatch.undo()
    assert told in said


def test_of_a_real_process(child: int) -> None:
    """Where nothing is denied, the answer is of no use, but it is one."""
    found = permission.status(child)
    assert found is not None
    assert found.uids[1] == os.geteuid()
    assert permission._owner_of_status(child) == os.geteuid()
    assert explain(child)
    assert permission.can_trace() is bool(permission._capabilities() & PTRACE)
    assert permission.ptrace_scope() in ("", "0", "1", "2", "3")


def test_of_a_process_that_is_gone() -> None:
    program = subprocess.Popen(["true"])
    fd = os.open(f"/proc/{program.pid}", os.O_RDONLY | os.O_DIRECTORY)
    program.wait()
    assert permission.status(fd) is None
    assert permission._owner_of_status(fd) is None
    os.close(fd)
