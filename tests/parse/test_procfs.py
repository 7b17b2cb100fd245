"""Parsers of /proc: real lines of old and new kernels, the running kernel as oracle, and any bytes at all."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse import procfs

STAT = (
    b"126 (java) S 1 0 0 0 -1 4210752 2116 0 70 0 156 239 0 0 20 0 10 0 604 2441166848 6254 18446744073709551615"
    b" 93838674505728 93838674510229 140736456081104 0 0 0 4 2 16800973 1 0 0 -1 0 0 0 161 0 0 0 0 0 0 0 0 0 0\n"
)


def own(name: str) -> bytes:
    return Path("/proc/self", name).read_bytes()


# --- stat, status ----------------------------------------------------------------------------------------------------


def test_a_stat_line_of_4_4() -> None:
    assert procfs.stat(STAT) == procfs.Stat(
        pid=126,
        comm="java",
        state="S",
        ppid=1,
        cpu_ms=3950,
        threads=10,
        start_ticks=604,
        processor=0,
    )
    short = b" ".join(STAT.split(b" ")[:30])
    assert procfs.stat(short) == procfs.stat(STAT)._replace(processor=-1)


@pytest.mark.parametrize(
    "comm",
    ["C2 CompilerThre", "a) S 1 (b", "((", "))", ") R 1 1 1", "", " ", "\\n", "GC\tThread#0"],
)
def test_a_name_may_hold_anything(comm: str) -> None:
    line = STAT.replace(b"(java)", b"(" + comm.encode() + b")")
    assert procfs.stat(line)._replace(comm="") == procfs.stat(STAT)._replace(comm="")
    assert procfs.stat(line).comm == comm


def test_our_own_stat() -> None:
    found = procfs.stat(own("stat"))
    assert (found.pid, found.ppid, found.state) == (os.getpid(), os.getppid(), "R")
    assert found.threads == len(list(Path("/proc/self/task").iterdir()))
    assert found.cpu_ms == pytest.approx(time.process_time() * 1000, abs=200)
    assert os.sysconf("SC_CLK_TCK") == procfs.TICKS_PER_SECOND


def test_our_own_status() -> None:
    found = procfs.status(own("status"))
    assert (found.pid, found.tgid, found.tracer) == (os.getpid(), os.getpid(), 0)
    assert found.uids == (os.getuid(), os.geteuid(), *found.uids[2:])
    assert found.gids == (os.getgid(), os.getegid(), *found.gids[2:])
    assert found.ns_pids[-1] >= 1
    assert found.caught is not None
    assert procfs.has_signal(found.caught, signal.SIGINT), "Python handles it"
    assert found.ignored is not None
    assert procfs.has_signal(found.ignored, signal.SIGPIPE)


def test_blocked_and_pending_signals_are_told() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    try:
        os.kill(os.getpid(), signal.SIGUSR2)
        found = procfs.status(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/status").read_bytes())
        assert found.blocked is not None
        assert procfs.has_signal(found.blocked, signal.SIGUSR2)
        assert found.pending is not None
        assert procfs.has_signal(found.pending, signal.SIGUSR2)
        assert not procfs.has_signal(found.pending, signal.SIGQUIT)
        signal.sigwait([signal.SIGUSR2])
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])


def test_a_status_before_4_1_has_no_inner_ids() -> None:
    text = b"Name:\tjava\nState:\tS (sleeping)\nTgid:\t7\nPid:\t7\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nThreads:\t12\n"
    found = procfs.status(text)
    assert found.ns_pids == ()
    assert (found.uids[1], found.gids[1], found.threads) == (2, 6, 12)
    assert (found.caught, found.pending) == (None, None), "gVisor tells none"


# --- what a thread waits in ------------------------------------------------------------------------------------------


def test_the_three_forms_of_syscall() -> None:
    blocked = procfs.syscall(
        b"0 0x4 0x7fff0e8fe360 0x200 0x0 0x0 0x5b7ae0 0x7fff0e8fe348 0x441b7d\n"
    )
    assert blocked == procfs.Call(
        running=False,
        number=0,
        args=(4, 0x7FFF0E8FE360, 0x200, 0, 0, 0x5B7AE0),
        stack_pointer=0x7FFF0E8FE348,
        program_counter=0x441B7D,
    )
    assert procfs.syscall(b"running\n") == procfs.Call(running=True)
    elsewhere = procfs.syscall(b"-1 0x7fffc2787ab8 0x7f5c1cdc5efe\n")
    assert (elsewhere.running, elsewhere.number) == (False, None)
    assert elsewhere.stack_pointer == 0x7FFFC2787AB8
    assert elsewhere.program_counter == 0x7F5C1CDC5EFE


def test_where_a_library_is_loaded_to_be_run() -> None:
    lines = (
        b"7f10-7f20 r--p 00000000 08:01 7 /data/libjvm.so",
        b"7f30-7f40 r--p 00000000 08:01 9 /jdk/lib/server/libjvm.so (deleted)",
        b"7f40-7f50 r-xp 00010000 08:01 9 /jdk/lib/server/libjvm.so (deleted)",
        b"7f60-7f70 r-xp 00000000 08:01 9 /jdk/lib/server/libjvm.so.old",
    )
    assert procfs.loaded_at(b"\n".join(lines) + b"\n", b"/libjvm.so") == 0x7F30
    assert procfs.loaded_at(lines[0], b"/libjvm.so") is None
    assert procfs.loaded_at(b"", b"/libjvm.so") is None


@pytest.mark.parametrize(
    "line", [b"", b"0", b"walking", b"-1", b"0 0x4 0x1", b"0 4 4 4 4 4 4 4 4", b"x" * 10**6]
)
def test_no_other_form(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"syscall|number"):
        procfs.syscall(line)


def test_a_wait_channel_of_0_says_nothing() -> None:
    assert procfs.wchan(b"_random_read.part.33") == "_random_read.part.33"
    assert procfs.wchan(b"0") is None
    assert procfs.wchan(b"") is None


def test_the_last_run_of_a_thread() -> None:
    assert (
        procfs.last_ran_ms(
            b"java (126, #threads: 10)\nse.exec_start      :     13601.234567\nse.x : 1\n"
        )
        == 13601
    )
    assert procfs.last_ran_ms(b"java (126, #threads: 10)\n") is None
    assert procfs.last_ran_ms(b"se.exec_start : soon\n") is None
    assert procfs.last_ran_ms(b"se.exec_start :        0.000000\n") is None, "moved to another CPU"


def test_the_inner_pid_of_a_kernel_before_4_1() -> None:
    assert procfs.sched_pid(b"a (b) (7, #threads: 20)\n---\n") == 7
    assert procfs.sched_pid(b"nothing") is None


# --- maps ------------------------------------------------------------------------------------------------------------

MAPS = rb"""562ad2d43000-562ad2d44000 r--p 00000000 08:00 401                        /usr/lib/jvm/8/jre/bin/java
562ad3f8d000-562ad3fae000 rw-p 00000000 00:00 0                          [heap]
7fcdf8000000-7fcdf8021000 rw-p 00000000 00:00 0
7fce0c000000-7fce0c100000 r-xp 00000000 08:00 402                        /opt/my jdk/lib/server/libjvm.so (deleted)
7fce0c100000-7fce0c200000 r-xp 00000000 08:00 402                        /opt/my jdk/lib/server/libjvm.so (deleted)
7fce0d000000-7fce0d100000 r-xp 00000000 08:00 403                        /opt/a\012b.so
"""


def test_mapped_files_each_once() -> None:
    assert procfs.mapped_files(MAPS) == (
        "/usr/lib/jvm/8/jre/bin/java",
        "/opt/my jdk/lib/server/libjvm.so",
        "/opt/a\nb.so",
    )


def test_a_library_is_known_by_its_whole_name() -> None:
    assert procfs.maps_any(MAPS, "libjvm.so")
    assert not procfs.maps_any(MAPS, "libjv")
    assert not procfs.maps_any(MAPS, "jvm.so", "libjvm")
    assert procfs.maps_any(b"7f-8f r-xp 0 08:00 4 /x/libjvm.so", "libj9vm29.so", "libjvm.so")
    assert not procfs.maps_any(b"7f-8f r-xp 0 08:00 4 /x/libjvm.so.debug\n", "libjvm.so")


def test_how_much_of_a_file_is_mapped() -> None:
    library = b"/opt/my jdk/lib/server/libjvm.so (deleted)"
    assert procfs.mapped_size(MAPS, library) == 0x200000
    assert procfs.mapped_size(MAPS, b"/usr/lib/jvm/8/jre/bin/java") == 0x1000
    assert procfs.mapped_size(MAPS, b"/nothing") == 0
    assert procfs.mapped_size(b"zz-+1 r /a\n9-1 r /a\n", b"/a") == 0


def test_our_own_maps() -> None:
    assert any("/libc" in path for path in procfs.mapped_files(own("maps")))


# --- limits, mounts, control groups ----------------------------------------------------------------------------------


def test_our_own_limits() -> None:
    found = procfs.limits(own("limits"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    told = tuple(None if n == resource.RLIM_INFINITY else n for n in (soft, hard))
    assert found["Max processes"] == told
    assert found["Max open files"] == resource.getrlimit(resource.RLIMIT_NOFILE)
    assert found["Max cpu time"] == (None, None)


MOUNTS = rb"""23 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 23 0:26 / /sys/fs/cgroup ro shared:9 - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw,nsdelegate
32 30 0:28 /docker/1f /sys/fs/cgroup/cpu,cpuacct rw master:11 - cgroup cgroup rw,cpu,cpuacct
33 30 0:29 /docker/1f /sys/fs/cgroup/my\040pids rw master:12 - cgroup cgroup rw,pids
99 23 0:50 / /mnt/share rw - nfs4 server:/export rw,vers=4.2
"""


def test_mounts_of_some_types() -> None:
    found = procfs.mounts(MOUNTS, "cgroup")
    assert [(m.id, m.root, m.point, m.kind) for m in found] == [
        (31, "/", "/sys/fs/cgroup/unified", "cgroup2"),
        (32, "/docker/1f", "/sys/fs/cgroup/cpu,cpuacct", "cgroup"),
        (33, "/docker/1f", "/sys/fs/cgroup/my pids", "cgroup"),
    ]
    assert found[1].options == ("rw", "cpu", "cpuacct")
    assert [m.id for m in procfs.mounts(MOUNTS, "nfs", "fuse")] == [99]
    assert len(procfs.mounts(MOUNTS)) == 6


def test_our_own_mounts() -> None:
    assert "/" in [m.point for m in procfs.mounts(own("mountinfo"))]


def test_lines_of_cgroup() -> None:
    assert procfs.cgroups(
        b"8:pids:/docker/1f\n3:cpu,cpuacct:/a:b\n1:name=systemd:/\n0::/system.slice\n"
    ) == (
        procfs.Cgroup(("pids",), "/docker/1f"),
        procfs.Cgroup(("cpu", "cpuacct"), "/a:b"),
        procfs.Cgroup(("name=systemd",), "/"),
        procfs.Cgroup((), "/system.slice"),
    )


def test_folders_of_a_group_and_its_ancestors() -> None:
    mounted = procfs.mounts(MOUNTS, "cgroup")
    inside = procfs.cgroups(b"8:pids:/docker/1f/deep/er\n0::/a/b\n")
    assert procfs.cgroup_folders(inside, mounted, "pids") == (
        "/sys/fs/cgroup/my pids/deep/er",
        "/sys/fs/cgroup/my pids/deep",
        "/sys/fs/cgroup/my pids",
        "/sys/fs/cgroup/unified/a/b",
        "/sys/fs/cgroup/unified/a",
        "/sys/fs/cgroup/unified",
    )
    assert procfs.cgroup_folders(procfs.cgroups(b"0::/\n"), mounted, "pids") == (
        "/sys/fs/cgroup/unified",
    )


@pytest.mark.parametrize(
    "lines", [b"8:pids:/docker/2f\n", b"0::/../other\n", b"8:pids:/a/../../b\n"]
)
def test_a_group_elsewhere_is_not_visible(lines: bytes) -> None:
    assert (
        procfs.cgroup_folders(procfs.cgroups(lines), procfs.mounts(MOUNTS, "cgroup"), "pids")
        is None
    )


def test_where_nothing_is_mounted_only_the_root_group_is_known() -> None:
    assert procfs.cgroup_folders(procfs.cgroups(b"8:pids:/\n0::/\n"), (), "pids") == ()
    assert procfs.cgroup_folders(procfs.cgroups(b"8:pids:/x\n"), (), "pids") is None


# --- the rest --------------------------------------------------------------------------------------------------------


def test_arguments_and_environment() -> None:
    assert procfs.cmdline(b"java\0-cp\0\0a b\0") == ("java", "-cp", "", "a b")
    assert procfs.cmdline(b"") == ()
    assert procfs.cmdline(b"nginx: master process") == ("nginx: master process",)
    assert procfs.environ(b"A=1\0B=x=y\0A=2\0nonsense\0") == {"A": "1", "B": "x=y"}
    assert (
        procfs.environ(own("environ")).items()
        <= dict(os.environ).items() | procfs.environ(own("environ")).items()
    )


def test_the_clock_and_the_crowd() -> None:
    assert procfs.uptime_ms(b"16.21 10.94\n") == 16210
    assert procfs.uptime_ms(b"350735 1\n") == 350_735_000
    assert procfs.uptime_ms(Path("/proc/uptime").read_bytes()) == pytest.approx(
        time.clock_gettime(time.CLOCK_BOOTTIME) * 1000, abs=500
    )
    assert procfs.all_threads(b"0.20 0.18 0.12 1/80 11206\n") == 80


def test_the_mount_of_a_descriptor() -> None:
    with Path("/proc/self/stat").open("rb") as file:
        told = procfs.mount_id(own(f"fdinfo/{file.fileno()}"))
    proc = [m.id for m in procfs.mounts(own("mountinfo"), "proc") if m.point == "/proc"]
    assert told in proc
    assert procfs.mount_id(b"pos:\t0\nflags:\t02\n") is None


def test_answers_to_stat_and_list() -> None:
    assert procfs.file_stat(b"20666 1 8 10 0 0 0") == procfs.FileStat(0o020666, (1, 8), 10, 0, 0, 0)
    assert procfs.names(b"a\0bc\0") == ("a", "bc")
    assert procfs.names(b"") == ()


def test_machines_of_executables() -> None:
    assert procfs.elf_machine(Path("/proc/self/exe").read_bytes()[:64])[1] in (32, 64)
    head = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\x00"
    assert procfs.elf_machine(head + b"\x3e\x00" + b"\0" * 44) == (62, 64)
    assert procfs.elf_machine(b"\x7fELF\x01" + head[5:] + b"\x03\x00" + b"\0" * 44) == (3, 32)
    s390x = b"\x7fELF\x02\x02" + b"\0" * 10 + b"\x00\x02\x00\x16"
    assert procfs.elf_machine(s390x) == (22, 64)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        (b"processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu vme\n", "x86_64"),
        (b"processor\t: 0\nBogoMIPS\t: 48.00\nCPU architecture: 8\n", "aarch64"),
        (b"model name\t: ARMv7 Processor rev 10 (v7l)\nCPU architecture: 7\n", "arm"),
        (b"processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\n", "riscv64"),
        (b"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "ppc64"),
        (b"vendor_id       : IBM/S390\n", "s390x"),
    ],
)
def test_machines_of_processors(text: bytes, machine: str) -> None:
    assert procfs.cpu_machine(text) == machine


# --- any bytes -------------------------------------------------------------------------------------------------------


def folders(data: bytes) -> object:
    return procfs.cgroup_folders(procfs.cgroups(data), procfs.mounts(MOUNTS, "cgroup"), "pids")


PARSERS: list[Callable[[bytes], object]] = [
    procfs.stat,
    procfs.status,
    procfs.syscall,
    procfs.wchan,
    procfs.mapped_files,
    lambda data: procfs.maps_any(data, "libjvm.so"),
    lambda data: procfs.mapped_size(data, b"/a"),
    procfs.limits,
    procfs.mounts,
    lambda data: procfs.mounts(data, "cgroup"),
    procfs.cgroups,
    folders,
    procfs.cmdline,
    procfs.environ,
    procfs.uptime_ms,
    procfs.all_threads,
    procfs.last_ran_ms,
    procfs.sched_pid,
    procfs.mount_id,
    procfs.file_stat,
    procfs.names,
    procfs.elf_machine,
    procfs.cpu_machine,
]
SAMPLES = [
    STAT,
    MAPS,
    MOUNTS,
    own("status"),
    own("limits"),
    b"8:pids:/a\n",
    b"0 0x4 0x1 0x2 0x0 0x0 0x0 0x1 0x2\n",
]


@pytest.mark.parametrize("parser", PARSERS)
@given(data=st.binary(max_size=400))
def test_any_bytes_raise_only_value_errors(parser: Callable[[bytes], object], data: bytes) -> None:
    only_value_error(parser, data)


@pytest.mark.parametrize("parser", PARSERS)
@given(
    sample=st.sampled_from(SAMPLES),
    at=st.integers(0, 2000),
    byte=st.binary(max_size=3),
    cut=st.integers(0, 3),
)
def test_damaged_files_raise_only_value_errors(
    parser: Callable[[bytes], object], sample: bytes, at: int, byte: bytes, cut: int
) -> None:
    at %= len(sample)
    only_value_error(parser, sample[:at] + byte + sample[at + cut :])


def only_value_error(parser: Callable[[bytes], object], data: bytes) -> None:
    with contextlib.suppress(ValueError):
        parser(data)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    "piece",
    [
        b"\\",
        b"(",
        b")",
        b" ",
        b"\n",
        b"0 ",
        b"/libjvm.so",
        b"a:b\n",
        b"9",
        b"\0",
        b"x - cgroup y\n",
        b"1:a:/b/../c\n",
        b"se.exec_start:",
    ],
)
def test_long_files_take_no_longer_than_their_length(
    parser: Callable[[bytes], object], piece: bytes
) -> None:
    data = piece * (2_000_000 // len(piece))
    began = time.process_time()
    only_value_error(parser, data)
    assert time.process_time() - began < 3.0
