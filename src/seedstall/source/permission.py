"""Why the kernel does not let us look into a process, and what would help.

The facts: ptrace(2) ("Ptrace access mode checking"), proc(5), Documentation/admin-guide/LSM/Yama.rst. The kernel itself
says EACCES or EPERM and no more; what stands in ``status``, which everybody may read, tells the rest.
"""

from __future__ import annotations

import os
from pathlib import Path

from seedstall.parse import procfs

HIDEPID = "/proc hides the processes of others (hidepid): run as its user or as root"
STACK = "needs CAP_SYS_PTRACE and, since Linux 4.19, CAP_SYS_ADMIN in the initial user namespace"
"""For ``stack``, which asks for more than the rest."""
_CAP_SYS_PTRACE = 19


def explain(process: int) -> str:
    """The reason why files of the process are denied whose ``/proc/PID`` *process* is a descriptor of."""
    theirs = status(process)
    if theirs is None:
        return HIDEPID
    yama, ours = ptrace_scope(), os.geteuid()
    if yama == "3":
        return "kernel.yama.ptrace_scope is 3: nobody may"
    if can_trace():
        return f"CAP_SYS_PTRACE did not help: {_module()}"
    if ours not in (0, theirs.uids[1]):
        return f"the process belongs to uid {theirs.uids[1]}: run as that user or as root"
    if ours and yama in ("1", "2"):
        return f"kernel.yama.ptrace_scope is {yama}: needs CAP_SYS_PTRACE (root)"
    return f"needs CAP_SYS_PTRACE: {_of_its_own(process, theirs)}"


def _of_its_own(process: int, theirs: procfs.Status) -> str:
    """What keeps a process from its own user, or from a root without CAP_SYS_PTRACE."""
    if os.geteuid() != theirs.uids[1]:
        return f"we are root without it, and the process belongs to uid {theirs.uids[1]}"
    if theirs.uids[1] and _owner_of_status(process) != theirs.uids[1]:
        return "the process is not dumpable (it changed its user, or its program has capabilities)"
    if theirs.cap_eff & ~_capabilities():
        return "the process holds capabilities that we lack"
    return _module()


def _owner_of_status(process: int) -> int | None:
    """The files of what is not dumpable are shown as root's, its directory is not (task_dump_owner, fs/proc/base.c)."""
    try:
        return os.stat("status", dir_fd=process).st_uid
    except OSError:
        return None


def _module() -> str:
    """The security module at work, as far as it can be seen, else that it may be one."""
    try:
        modules = Path("/sys/kernel/security/lsm").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        modules = ""
    strict = [m for m in modules.split(",") if m in ("selinux", "apparmor", "smack", "tomoyo")]
    if strict:
        return f"{' or '.join(strict)} may forbid it: its log (dmesg, audit) says so"
    return "a security module, a seccomp filter or another user namespace may forbid it"


def can_trace() -> bool:
    """Whether we have CAP_SYS_PTRACE, in our own user namespace."""
    return bool(_capabilities() >> _CAP_SYS_PTRACE & 1)


def _capabilities() -> int:
    try:
        return procfs.status(Path("/proc/self/status").read_bytes()).cap_eff
    except (OSError, ValueError):
        return 0


def status(process: int) -> procfs.Status | None:
    """The ``status`` of that process, which only ``hidepid`` keeps from anybody."""
    try:
        fd = os.open("status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
        try:
            return procfs.status(os.read(fd, 1 << 16))
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return None


def ptrace_scope() -> str:
    """Yama's setting, ``0`` to ``3``; ``""`` where there is no Yama."""
    try:
        return Path("/proc/sys/kernel/yama/ptrace_scope").read_text(encoding="ascii").strip()
    except OSError:
        return ""
