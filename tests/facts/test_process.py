"""The process and its threads: captured kernels, hand-made readings, live programs on real descriptors."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.old_kernels import BLOCKED, FREE, unpacked

from seedstall.facts.process import PROVIDERS, jvm_process, tasks
from seedstall.model.evidence import Ask, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.model.seeding import SeedSetting, SeedSource
from seedstall.model.tasks import FileKind, KernelTask, OpenFile, Syscall, Tasks
from seedstall.source.base import Held, Recorder
from seedstall.source.host import HostSource
from seedstall.source.tree import TreeSource


def process(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.PROCESS, path, ask)


def kernel(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


# --- captured kernels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BLOCKED)
def test_the_thread_in_the_device_on_real_old_kernels(name: str, tmp_path: Path) -> None:
    pid, tid = BLOCKED[name]
    with TreeSource(unpacked(name, tmp_path)) as source:
        found = jvm_process(source)
        seen = tasks(source, found)
    assert (found.pid, found.inner_pid, found.uid, found.gid, found.state) == (
        pid,
        pid,
        1000,
        1000,
        "S",
    )
    assert not found.in_container
    assert found.threads == len(seen.tasks)
    assert found.age_ms == seen.age_ms is not None
    (waiting,) = [t for t in seen.tasks if t.file is not None]
    assert (waiting.tid, waiting.inner_tid, waiting.state) == (tid, tid, "S")
    assert waiting.wchan is not None
    assert waiting.wchan.startswith("_random_read.part.")
    assert waiting.syscall is not None
    assert (waiting.syscall.name, waiting.syscall.args[2]) == ("read", 20)
    assert waiting.file is not None
    assert (waiting.file.kind, waiting.file.rdev) == (FileKind.RANDOM, (1, 8))
    assert {f.kind for f in seen.random_files} == {FileKind.RANDOM, FileKind.URANDOM}
    assert (seen.machine, seen.denied) == ("x86_64", ())


@pytest.mark.parametrize("name", FREE)
def test_nobody_waits_where_nothing_blocks(name: str, tmp_path: Path) -> None:
    with TreeSource(unpacked(name, tmp_path)) as source:
        seen = tasks(source, jvm_process(source))
    assert seen.tasks
    assert all(t.file is None and t.wchan is None for t in seen.tasks)
    assert seen.random_files, "open descriptors prove nothing"


# --- hand-made readings ----------------------------------------------------------------------------------------------

STATUS = (
    b"Name:\tjava\nState:\tS (sleeping)\nTgid:\t4321\nPid:\t4321\nUid:\t1000\t1001\t1000\t1000\n"
    b"Gid:\t100\t101\t100\t100\nNSpid:\t4321\t77\t1\nThreads:\t2\nSigBlk:\t0\n"
)


def stat(pid: int, state: bytes = b"S", start: int = 1000) -> bytes:
    return b"%d (java) %s 1 0 0 0 -1 0 0 0 0 0 12 34 0 0 20 0 2 0 %d 0 0\n" % (pid, state, start)


def call(number: int, first: int, sp: int = 0x7FFF0E8FE348) -> bytes:
    return b"%d 0x%x 0x7fff0e8fe360 0x14 0x0 0x0 0x0 0x%x 0x441b7d\n" % (number, first, sp)


ELF_64 = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\x00\x3e\x00" + b"\0" * 44
ELF_386 = b"\x7fELF\x01\x01\x01" + b"\0" * 9 + b"\x02\x00\x03\x00" + b"\0" * 44

READINGS: dict[Ref, bytes | Why] = {
    process("stat"): stat(4321),
    process("status"): STATUS,
    kernel("proc/uptime"): b"60.50 1.0\n",
    process("task", Ask.LIST): b"4321\x004322\x00",
    process("task/4321/stat"): stat(4321),
    process("task/4322/stat"): stat(4322),
    process("task/4321/status"): STATUS,
    process("task/4322/status"): STATUS.replace(b"77\t1\n", b"78\t2\n"),
    process("task/4321/syscall"): call(202, 0),
    process("task/4322/syscall"): call(0, 5),
    process("task/4322/wchan"): b"_random_read.part.37",
    process("exe-header"): ELF_64,
    process("fd", Ask.LIST): b"0\x005\x00",
    process("fd/0", Ask.LINK): b"/dev/null",
    process("fd/5", Ask.LINK): b"/dev/random",
    process("fd/5", Ask.STAT): b"20666 1 8 10 0 0 0",
}


def with_readings(changes: dict[Ref, bytes | Why]) -> Held:
    return Held({**READINGS, **changes})


def threads(changes: dict[Ref, bytes | Why]) -> Tasks:
    source = with_readings(changes)
    return tasks(source, jvm_process(source))


def reader(changes: dict[Ref, bytes | Why]) -> KernelTask:
    return next(t for t in threads(changes).tasks if t.tid == 4322)


def test_a_jvm_in_a_container() -> None:
    assert jvm_process(with_readings({})) == JvmProcess(
        pid=4321,
        inner_pid=1,
        uid=1001,
        gid=101,
        state="S",
        start_ticks=1000,
        threads=2,
        age_ms=50_500,
        in_container=True,
        comm="java",
    )
    assert reader({}) == KernelTask(
        tid=4322,
        inner_tid=2,
        comm="java",
        state="S",
        wchan="_random_read.part.37",
        syscall=Syscall(0, "read", (5, 0x7FFF0E8FE360, 20, 0, 0, 0)),
        file=OpenFile(5, "/dev/random", FileKind.RANDOM, (1, 8)),
        cpu_ms=460,
    )


def test_before_4_1_sched_tells_the_inner_pid() -> None:
    old = STATUS.replace(b"NSpid:\t4321\t77\t1\n", b"")
    found = jvm_process(with_readings({process("status"): old}))
    assert (found.inner_pid, found.in_container) == (4321, False)
    found = jvm_process(
        with_readings({process("status"): old, process("sched"): b"java (7, #threads: 20)\n"})
    )
    assert (found.inner_pid, found.in_container) == (7, True)


@pytest.mark.parametrize("uptime", [Why.DENIED, b"", b"soon", b"3.0 1.0\n"])
def test_an_age_that_cannot_be_is_not_told(uptime: bytes | Why) -> None:
    """lxcfs shows the container's uptime."""
    assert jvm_process(with_readings({kernel("proc/uptime"): uptime})).age_ms is None


@pytest.mark.parametrize("path", ["stat", "status"])
def test_without_its_files_there_is_no_process(path: str) -> None:
    with pytest.raises(Unavailable) as caught:
        jvm_process(with_readings({process(path): Why.VANISHED}))
    assert caught.value.missing.why is Why.VANISHED


def test_a_thread_that_ends_meanwhile_is_left_out() -> None:
    for gone in (
        {process("task/4322/stat"): Why.VANISHED},
        {process("task/4322/stat"): stat(4322, b"Z")},
    ):
        assert [t.tid for t in threads(gone).tasks] == [4321]  # type: ignore[arg-type]


def test_threads_that_nobody_looked_at_are_told() -> None:
    """A capture whose time was over: the one that waits may be among them."""
    for why, told in ((Why.TIMED_OUT, "timed out"), (Why.NOT_COLLECTED, "not collected")):
        seen = threads({process("task/4322/stat"): why})
        assert seen.unseen == f"1 of its 2 threads were not looked at: {told}"
    assert threads({}).unseen == ""
    assert threads({process("task/4322/stat"): Why.VANISHED}).unseen == ""


def test_without_the_list_of_threads_there_are_none() -> None:
    source = with_readings({process("task", Ask.LIST): Why.DENIED})
    with pytest.raises(Unavailable):
        tasks(source, None)


def test_a_running_thread() -> None:
    task = reader(
        {process("task/4322/syscall"): b"running\n", process("task/4322/stat"): stat(4322, b"R")}
    )
    assert task.running
    assert (task.syscall, task.file, task.wchan) == (None, None, None)


def test_a_getrandom_has_no_descriptor() -> None:
    task = reader(
        {
            process("task/4322/syscall"): call(318, 0x7FFF),
            process("task/4322/wchan"): b"wait_for_random_bytes",
        }
    )
    assert task.syscall is not None
    assert (task.syscall.name, task.file, task.wchan) == (
        "getrandom",
        None,
        "wait_for_random_bytes",
    )


@pytest.mark.parametrize(
    ("wchan", "mode", "opens"),
    [
        (b"wait_for_partner", b"10666", True),
        (b"pipe_wait", b"10666", True),
        (b"wait_for_partner", b"20666", False),  # another FIFO: the device is the kernel's
        (b"folio_wait_bit", b"10666", False),  # a file on a slow disk
        (b"0", b"10666", False),
        (b"wait_for_partner", Why.DENIED, True),  # what the device is may not be seen
    ],
)
def test_a_thread_that_waits_in_the_opening_of_a_fifo(
    wchan: bytes, mode: bytes | Why, *, opens: bool
) -> None:
    device = mode + b" 0 0 10 0 0 0" if isinstance(mode, bytes) else mode
    task = reader(
        {
            process("task/4322/syscall"): call(257, 0xFFFFFF9C),
            process("task/4322/wchan"): wchan,
            Ref(Space.ROOT, "dev/random", Ask.STAT): device,
        }
    )
    assert task.fifo == ("/dev/random" if opens else "")
    assert task.file is None


def test_a_seed_source_with_a_name_of_its_own() -> None:
    """A FIFO that somebody feeds, a file on a slow disk: who waits on it waits for random bytes."""
    own = SeedSource("file:/srv/./seed", SeedSetting.EGD, "cmdline[1]")

    def first(changes: dict[Ref, bytes | Why]) -> KernelTask:
        source = with_readings(changes)
        return next(t for t in tasks(source, jvm_process(source), own).tasks if t.tid == 4322)

    link = Ref(Space.PROCESS, "fd/5", Ask.LINK)
    fifo = {Ref(Space.PROCESS, "fd/5", Ask.STAT): b"10600 0 0 10 0 0 0"}
    reads = first({link: b"/srv/seed", **fifo})
    assert reads.file == OpenFile(5, "/srv/seed", FileKind.FIFO, None, seeds=True)
    assert reads.file.gives_randomness
    assert not reads.file.is_device
    other = first({link: b"/srv/other", **fifo}).file
    assert other is not None
    assert not other.gives_randomness

    opening = {
        process("task/4322/syscall"): call(257, 0xFFFFFF9C),
        process("task/4322/wchan"): b"wait_for_partner",
        Ref(Space.ROOT, "dev/random", Ask.STAT): b"20666 0 0 10 0 0 0",
    }
    seed = Ref(Space.ROOT, "srv/seed", Ask.STAT)
    assert first({**opening, seed: b"10600 0 0 10 0 0 0"}).fifo == "/srv/seed"
    assert first({**opening, seed: b"100600 0 0 10 0 0 0"}).fifo == ""


def test_the_same_number_in_a_32_bit_process() -> None:
    changes: dict[Ref, bytes | Why] = {
        process("exe-header"): ELF_386,
        process("task/4322/syscall"): call(3, 5, 0xFFD0E8FE),
    }
    task = reader(changes)
    assert task.syscall is not None
    assert task.syscall.name == "read"
    assert task.file == OpenFile(5, "/dev/random", FileKind.RANDOM, (1, 8))
    assert threads(changes).machine == "i386"


@pytest.mark.parametrize(
    ("cpu", "number", "sp", "machine"),
    [
        (b"flags\t\t: fpu\n", 0, 0x7FFF0E8FE348, "x86_64"),
        (b"vendor_id\t: x\nflags\t\t: fpu\n", 3, 0xFFD0E8FE, "i386"),
        (b"CPU architecture: 8\n", 63, 0x7FFF0E8FE348, "aarch64"),
        (b"", 0, 0x7FFF0E8FE348, "x86_64"),
    ],
)
def test_without_the_executable_the_processor_and_the_stack_tell(
    cpu: bytes, number: int, sp: int, machine: str
) -> None:
    cpu = b"processor\t: 0\n" + cpu
    seen = threads(
        {
            process("exe-header"): Why.NOT_COLLECTED,
            kernel("proc/cpuinfo"): cpu,
            process("task/4321/syscall"): b"-1 0x1 0x2\n",
            process("task/4322/syscall"): call(number, 5, sp),
        }
    )
    assert seen.machine == machine
    assert [t.syscall.name for t in seen.tasks if t.syscall is not None] == ["read"]


def test_where_syscall_is_denied_the_wait_channel_is_read_and_the_gap_told() -> None:
    """Yama 1: the same user gets wchan and no syscall."""
    denied: dict[Ref, bytes | Why] = {
        process(f"task/{t}/syscall"): Why.DENIED for t in (4321, 4322)
    }
    seen = threads(denied)
    task = next(t for t in seen.tasks if t.tid == 4322)
    assert (task.syscall, task.wchan, task.denied) == (None, "_random_read.part.37", ("syscall",))
    assert seen.denied == ("syscall: denied",)


def test_a_wait_channel_of_0_is_not_allowed_or_running_never_not_blocked() -> None:
    task = reader({process("task/4322/syscall"): Why.DENIED, process("task/4322/wchan"): b"0"})
    assert (task.wchan, task.state, task.denied) == (None, "S", ("syscall",))


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (b"\x7fELF\x02\x02\x01" + bytes(11) + b"\x00\x2b", "ELF machine 43, 64-bit"),  # sparc64
        (b"\x7fELF\x01\x02\x01" + bytes(11) + b"\x00\x08", "ELF machine 8, 32-bit"),  # mips o32
        (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x26\x90", "ELF machine 36902, 64-bit"),  # alpha
    ],
)
def test_on_an_architecture_without_a_table_the_gap_is_told(header: bytes, told: str) -> None:
    """A number without a name must not pass for a call that is no read: the thread may wait in one."""
    changes: dict[Ref, bytes | Why] = {process("exe-header"): header}
    seen = threads(changes)
    assert seen.denied == (f"syscall: no table of system calls for {told}",)
    assert all(task.syscall is None for task in seen.tasks)
    task = reader(changes)
    assert (task.wchan, task.denied) == ("_random_read.part.37", ("syscall",))


def test_one_reason_for_several_files_is_told_once() -> None:
    denied: dict[Ref, bytes | Why] = {
        process("fd", Ask.LIST): Why.DENIED,
        **{process(f"task/{t}/syscall"): Why.DENIED for t in (4321, 4322)},
    }
    assert threads(denied).denied == ("syscall, fd: denied",)


def test_where_descriptors_are_denied_the_gap_is_told() -> None:
    seen = threads({process("fd", Ask.LIST): Why.DENIED, process("fd/5", Ask.LINK): Why.DENIED})
    assert seen.random_files == ()
    assert seen.denied == ("fd: denied",)


@pytest.mark.parametrize(
    ("link", "told", "kind"),
    [
        (b"/dev/random", b"10600 0 0 9 0 0 0", FileKind.FIFO),
        (b"/dev/random", b"100644 0 0 9 0 0 4096", FileKind.REGULAR),
        (b"/dev/urandom (deleted)", b"20666 1 9 9 0 0 0", FileKind.URANDOM),
        (b"/dev/hwrng", b"20600 10 183 9 0 0 0", FileKind.CHAR),
        (b"/srv/fifo", b"10600 0 0 9 0 0 0", FileKind.FIFO),
        (b"pipe:[123]", Why.DENIED, FileKind.FIFO),
        (b"socket:[123]", Why.DENIED, FileKind.SOCKET),
        (b"anon_inode:inotify", Why.DENIED, FileKind.OTHER),
        (b"/dev/random", Why.NOT_COLLECTED, FileKind.UNKNOWN),
        (b"/dev/random", b"nonsense", FileKind.UNKNOWN),
        (b"/srv/disk", b"60660 8 0 9 0 0 0", FileKind.OTHER),
    ],
)
def test_kinds_of_descriptors(link: bytes, told: bytes | Why, kind: FileKind) -> None:
    file = reader({process("fd/5", Ask.LINK): link, process("fd/5", Ask.STAT): told}).file
    assert file is not None
    assert file.kind is kind
    assert file.path == link.decode().removesuffix(" (deleted)")


def test_a_file_whose_server_may_be_gone_is_not_touched() -> None:
    """The JVM hangs in a read on NFS: a stat of it would hang us too."""
    changes: dict[Ref, bytes | Why] = {
        process("fd/5", Ask.LINK): b"/mnt/share/seed",
        process("fdinfo/5"): b"pos:\t0\nflags:\t0100000\nmnt_id:\t99\n",
        process("mountinfo"): b"99 23 0:50 / /mnt/share rw - nfs4 server:/export rw\n",
        process("fd/5", Ask.STAT): b"100644 0 0 9 0 0 4096",
    }
    source = Recorder(with_readings(changes))
    seen = tasks(source, None)
    assert [t.file for t in seen.tasks if t.file] == [
        OpenFile(5, "/mnt/share/seed", FileKind.UNKNOWN)
    ]
    assert process("fd/5", Ask.STAT) not in source.readings
    local = {**changes, process("mountinfo"): b"99 23 8:1 / /mnt/share rw - ext4 /dev/sda1 rw\n"}
    file = reader(local).file
    assert file is not None
    assert file.kind is FileKind.REGULAR


def test_a_wild_descriptor_number_is_no_descriptor() -> None:
    task = reader({process("task/4322/syscall"): call(0, 2**64 - 1)})
    assert task.syscall is not None
    assert task.file is None


def test_malformed_files_of_a_thread_leave_the_others() -> None:
    seen = threads({process("task/4321/stat"): b"\xff", process("task/4322/syscall"): b"0 1 2"})
    assert [(t.tid, t.syscall) for t in seen.tasks] == [(4322, None)]


def test_every_provider_is_listed() -> None:
    assert (jvm_process, tasks) == PROVIDERS


# --- live programs ---------------------------------------------------------------------------------------------------

BLOCKER = """
import os, sys, threading
def wait(fd):
    os.read(fd, 20)
fds = [os.open(path, os.O_RDONLY) for path in sys.argv[1:]]
for fd in fds:
    threading.Thread(target=wait, args=(fd,), daemon=True).start()
for n in range(50):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("up", flush=True)
threading.Event().wait()
"""


@pytest.fixture
def blocked(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A program of more than fifty threads, one of them in a read of a FIFO that stands for /dev/random."""
    fifo = tmp_path / "dev/random"
    fifo.parent.mkdir()
    os.mkfifo(fifo)
    keep = os.open(fifo, os.O_RDWR)
    program = subprocess.Popen(
        [sys.executable, "-c", BLOCKER, fifo, "/dev/urandom"], stdout=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"up\n"
    yield program, fifo
    program.kill()
    program.communicate()
    os.close(keep)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def live(pid: int) -> Tasks:
    with HostSource(pid) as source:
        return tasks(source, jvm_process(source))


def test_a_live_thread_in_a_fifo(blocked: tuple[subprocess.Popen[bytes], Path]) -> None:
    program, fifo = blocked
    wait_for(lambda: any(t.file is not None for t in live(program.pid).tasks))
    seen = live(program.pid)
    (waiting,) = [t for t in seen.tasks if t.file is not None]
    assert waiting.file is not None
    assert (waiting.file.kind, waiting.file.path, waiting.file.rdev) == (
        FileKind.FIFO,
        str(fifo),
        None,
    )
    assert waiting.file.is_random_path
    assert waiting.syscall is not None
    assert (waiting.syscall.name, waiting.syscall.args[2], waiting.state) == ("read", 20, "S")
    assert waiting.wchan is not None
    assert "pipe_read" in waiting.wchan
    assert {(f.path, f.kind) for f in seen.random_files} == {
        (str(fifo), FileKind.FIFO),
        ("/dev/urandom", FileKind.URANDOM),
    }
    assert seen.machine == os.uname().machine
    assert seen.denied == ()


def test_fifty_threads_are_read_in_little_time(
    blocked: tuple[subprocess.Popen[bytes], Path],
) -> None:
    program, _ = blocked
    taken: list[float] = []
    with HostSource(program.pid) as source:
        found = jvm_process(source)
        for _ in range(15):
            began = time.perf_counter()
            assert len(tasks(Recorder(source), found).tasks) > 50
            taken.append(time.perf_counter() - began)
    assert min(taken) < 0.016, "8 ms are the aim on an idle machine"


def test_our_own_process() -> None:
    with HostSource(os.getpid()) as source:
        found = jvm_process(source)
    assert (found.pid, found.uid, found.gid) == (os.getpid(), os.geteuid(), os.getegid())
    assert found.inner_pid == os.getpid()
    assert not found.in_container
    assert found.threads == threading.active_count()
    assert found.age_ms is not None
    assert 0 <= found.age_ms < 3_600_000


# --- a process that ends while we look -------------------------------------------------------------------------------


def test_a_zombie_has_vanished() -> None:
    ended = stat(4321, b"Z").replace(b" 20 0 2 0 ", b" 20 0 1 0 ")
    with pytest.raises(Unavailable) as raised:
        jvm_process(with_readings({process("stat"): ended}))
    assert raised.value.missing.why is Why.VANISHED


def test_a_leader_that_ended_before_its_threads_has_not() -> None:
    assert jvm_process(with_readings({process("stat"): stat(4321, b"Z")})).state == "Z"


@pytest.mark.parametrize("last", [stat(4322, b"Z"), stat(4322, b"X"), Why.VANISHED])
def test_without_a_thread_alive_there_are_no_tasks_to_tell_of(last: bytes | Why) -> None:
    ended: dict[Ref, bytes | Why] = {
        process("task/4321/stat"): stat(4321, b"Z"),
        process("task/4322/stat"): last,
    }
    with pytest.raises(Unavailable) as raised:
        tasks(with_readings(ended), None)
    assert raised.value.missing.why is Why.VANISHED
    one = tasks(with_readings({process("task/4321/stat"): stat(4321, b"Z")}), None)
    assert [task.tid for task in one.tasks] == [4322]
