"""Every signal, file, socket and read on a live JVM is one that docs/what-it-does-to-your-jvm.md names: by strace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.live.patients import STRANGER, Patient, unharmed
from tests.machine import CHECKOUT

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace"),
]

Start = Callable[..., Patient]
PAGE = CHECKOUT / "docs/what-it-does-to-your-jvm.md"

# Whatever could change something outside us, or look into another process.
WATCHED = (
    "%process,%network,%ipc,open,openat,openat2,creat,kill,tkill,tgkill,pidfd_send_signal,rt_sigqueueinfo,"
    "rt_tgsigqueueinfo,pidfd_open,pidfd_getfd,ptrace,process_vm_readv,process_vm_writev,process_madvise,kcmp,setns,"
    "unshare,mount,umount2,pivot_root,chroot,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
    "mkdir,mkdirat,mknod,mknodat,rmdir,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate,ftruncate,fallocate,"
    "utimensat,setxattr,lsetxattr,fsetxattr,removexattr,setpriority,sched_setaffinity,sched_setscheduler,prlimit64,"
    "ioprio_set,migrate_pages,move_pages,write,pwrite64,writev,pwritev,flock,setuid,setgid,setreuid,setregid,setresuid,"
    "setresgid,readlink,readlinkat,name_to_handle_at,perf_event_open,bpf,io_uring_setup,userfaultfd"
)
HARMLESS = re.compile(
    r"(execve\(\"[^\"]*python|exit_group|recvfrom|getsockopt|prlimit64\(0,|getpeername|shutdown|exit\(|sched_setaffinity\(0,|"
    r"clone3?\([^)]*CLONE_THREAD)"
)
"""Our own start and end, a thread of ours, what only answers us, and on which CPU we run (to read its clock)."""


@dataclass
class Trace:
    """What one command did outside itself."""

    acts: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    """First components below /proc/PID of the target."""

    def take(self, line: str, pid: int) -> None:
        """Note what a line of strace's tells."""
        call = re.sub(r"^\d+ +", "", line)
        if HARMLESS.match(call) or call.startswith(("---", "+++")):
            return
        name, _, rest = call.partition("(")
        if name in ("openat", "readlink", "readlinkat"):
            self._opened(name, rest, pid)
            return
        act = act_of(name, rest, pid)
        if not act.startswith("write /tmp/#"):  # a part of its creation
            self.acts.add(act or call)

    def _opened(self, name: str, rest: str, pid: int) -> None:
        path = path_of(rest, pid)
        if "O_TMPFILE" in rest and path == "/tmp/.":
            return  # it gets its name by linkat
        if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", rest):
            self.acts.add(f"create {path}")
            return
        if path.startswith("/proc/N/") and "= -1 ENOENT" not in rest:
            parts = path.split("/")[3:]
            names = [p for p in parts if not p.isdigit() and p != "N"]
            self.reads.update(names[:2] if parts[0] == "task" else names[:1])
        device = re.search(r"= \d+<(/dev/u?random)>$", rest)
        if device and name == "openat" and "O_PATH" not in rest:
            self.acts.add(f"open {device[1]}")


def path_of(rest: str, pid: int) -> str:
    """With -y a descriptor stands with its path: openat(3</proc/77>, "stat", O_RDONLY) = 4."""
    found = re.match(r'(?:(?:\d+|AT_FDCWD)<([^>]*)>)?(?:, )?(?:"([^"]*)")?', rest)
    folder, file = (found[1] or "", found[2] or "") if found else ("", "")
    path = file if file.startswith("/") else f"{folder}/{file}".rstrip("/")
    return str(path.replace(str(pid), "N"))


def act_of(name: str, rest: str, pid: int) -> str:
    """What the page calls that system call; nothing where it has no word for it."""
    if name in ("fchown", "unlinkat"):
        return f"{'chown' if name == 'fchown' else 'remove'} {path_of(rest, pid)}"
    if name == "linkat":
        target = re.search(r'<([^>]*)>, "([^"]*)", AT_SYMLINK_FOLLOW', rest)
        return f"create {target[1]}/{target[2]}".replace(str(pid), "N") if target else ""
    if name in ("pidfd_send_signal", "kill"):
        number = re.search(r", (SIG\w+|0)", rest)
        return f"signal {number[1] if number else rest}"
    if name in ("setresuid", "setresgid") and re.match(r"-1, \d+, -1", rest):
        return "effective ids of the JVM's user"
    if name == "write":
        return "write to stdout or stderr" if rest[0] in "12" else f"write {path_of(rest, pid)}"
    known = {
        "socket": ("AF_UNIX", "socket AF_UNIX"),
        "connect": ("/proc/self/fd/", "connect /tmp/.java_pidN"),
        "sendto": (r'"1\0threaddump\0\0\0\0"', "send threaddump"),
    }
    mark, act = known.get(name, ("\0", ""))
    return act if mark in rest else ""


@pytest.fixture
def traced(tmp_path: Path) -> Callable[..., Trace]:
    """Run seedstall under strace."""

    def run(patient: Patient, *arguments: object) -> Trace:
        log = tmp_path / "strace.txt"
        done = subprocess.run(
            [
                *("strace", "-f", "-y", "-qq", "-s", "64", "-e", f"trace={WATCHED}", "-o", log),
                *(sys.executable, "-m", "seedstall", *map(str, arguments)),
            ],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        assert done.returncode in (0, 4, 10), done.stderr
        trace = Trace()
        for line in whole_calls(log.read_text(errors="replace")):
            trace.take(line, patient.pid)
        return trace

    return run


def whole_calls(log: str) -> Iterator[str]:
    """The lines of strace's, each call whole: where two of our threads call at once, it prints one in two parts."""
    begun: dict[str, str] = {}
    for line in log.splitlines():
        task, _, call = line.partition(" ")
        if call.endswith("<unfinished ...>"):
            begun[task] = call.removesuffix("<unfinished ...>")
        else:
            resumed = re.match(r" *<\.\.\. \w+ resumed>", call)
            yield (begun.pop(task, "") + call[resumed.end() :] if resumed else call).lstrip()


def section(title: str) -> str:
    return PAGE.read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def named(title: str) -> set[str]:
    """The acts of a table: what stands in backticks at the start of its rows."""
    return set(re.findall(r"^\| `([^`]+)`", section(title), re.MULTILINE))


def readable() -> set[str]:
    return set(re.findall(r"`(\w+)`", section("What is read").partition("`fd` is read as")[0]))


CONDITIONAL = {"chown /tmp/.attach_pidN", "signal 0", "write to our own file"}
"""Only where something is as it rarely is; `effective ids` is in the test of another user's JVM."""


def test_the_page_names_all_that_is_done(start: Start, traced: Callable[..., Trace]) -> None:
    patient = start(17)
    passive = traced(patient, "diagnose", "--passive", patient.pid)
    assert passive.acts <= {"write to stdout or stderr", "open /dev/random"}
    assert "mem" not in passive.reads

    planned = traced(patient, "dump", "--dry-run", patient.pid)
    assert planned.acts <= {"write to stdout or stderr"}
    assert not Path(f"/tmp/.java_pid{patient.pid}").exists()

    plain = traced(patient, "diagnose", patient.pid)
    called = traced(patient, "diagnose", "--attach", patient.pid)
    asked = traced(patient, "dump", patient.pid)
    assert "signal SIGQUIT" in plain.acts | called.acts
    assert asked.acts == {
        "socket AF_UNIX",
        "connect /tmp/.java_pidN",
        "send threaddump",
        "write to stdout or stderr",
    }

    done = plain.acts | called.acts | asked.acts
    page = named("Signals, files and sockets")
    assert done - page == set(), "the page does not name it"
    assert page - done - CONDITIONAL <= {"effective ids of the JVM's user"}, (
        "the page names what is not done"
    )
    reads = passive.reads | planned.reads | plain.reads | called.reads | asked.reads
    assert reads - readable() == set()
    unharmed(patient)


@pytest.mark.root
def test_on_another_users_jvm_its_ids_are_taken_too(
    start: Start, traced: Callable[..., Trace]
) -> None:
    patient = start(17, ids=(STRANGER, STRANGER))
    done = traced(patient, "dump", patient.pid).acts
    assert "effective ids of the JVM's user" in done
    assert done - named("Signals, files and sockets") == set()
    unharmed(patient)
