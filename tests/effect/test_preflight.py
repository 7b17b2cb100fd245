"""Each guard by itself, on hand-made readings: kernels, control groups and limits that this machine has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedstall.effect import preflight
from seedstall.effect.preflight import QUESTION, SIGNAL, refusal
from seedstall.facts.process import jvm_process
from seedstall.model.evidence import Ask, Missing, Ref, Space, Why
from seedstall.source.base import Held

HOME = "/usr/lib/jvm/java-17"


def process(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.PROCESS, path, ask)


def kernel(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


def stat(state: str = "S") -> bytes:
    return f"77 (java) {state} 1 0 0 0 -1 0 0 0 0 0 1 1 0 0 20 0 20 0 500 0 0\n".encode()


def status(
    *,
    uid: int = 1000,
    caught: str = "2000000181005ccf",
    blocked: str = "0",
    pending: str = "0",
    tracer: int = 0,
    caps: str = "0",
    threads: int = 20,
    table: int = 64,
    size_kb: int = 5_000_000,
    data_kb: int = 400_000,
) -> bytes:
    return (
        f"Name:\tjava\nState:\tS\nTgid:\t77\nPid:\t77\nTracerPid:\t{tracer}\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n"
        f"Gid:\t5\t5\t5\t5\nFDSize:\t{table}\nNSpid:\t77\nVmSize:\t{size_kb} kB\nVmData:\t{data_kb} kB\n"
        f"Threads:\t{threads}\nSigPnd:\t0\nShdPnd:\t{pending}\nSigBlk:\t{blocked}\n"
        f"SigIgn:\t0\nSigCgt:\t{caught}\nCapEff:\t{caps}\n"
    ).encode()


def maps(*libraries: str) -> bytes:
    return b"".join(f"7f00-7f01 r-xp 00000000 08:00 4  {path}\n".encode() for path in libraries)


def limits(
    processes: str, files: str = "1024", space: str = "unlimited", data: str = "unlimited"
) -> bytes:
    rows = {
        "Max data size": (data, "bytes"),
        "Max processes": (processes, "processes"),
        "Max open files": (files, "files"),
        "Max address space": (space, "bytes"),
    }
    head = "Limit                     Soft Limit           Hard Limit           Units     \n"
    lines = (f"{n:<26}{v:<21}{'unlimited':<21}{unit:<10}\n" for n, (v, unit) in rows.items())
    return (head + "".join(lines)).encode()


MOUNTS = (
    b"31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    b"33 30 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    b"34 30 0:30 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
)
INITIAL_USER, INITIAL_PID = b"user:[4026531837]", b"pid:[4026531836]"

WELL: dict[Ref, bytes | Why] = {
    process("stat"): stat(),
    process("status"): status(),
    process("maps"): maps(f"{HOME}/bin/java", f"{HOME}/lib/server/libjvm.so"),
    process("exe", Ask.LINK): f"{HOME}/bin/java".encode(),
    process("cmdline"): b"java\0-jar\0x.jar\0",
    process("environ"): b"HOME=/\0",
    process("cgroup"): b"8:pids:/app\n7:freezer:/app\n0::/app.slice/unit\n",
    process("limits"): limits("4096"),
    process("ns/user", Ask.LINK): INITIAL_USER,
    kernel("proc/uptime"): b"100.0 1\n",
    kernel("proc/loadavg"): b"0.1 0.1 0.1 1/300 400\n",
    kernel("proc/self/mountinfo"): MOUNTS,
    kernel("proc/self/ns/user", Ask.LINK): INITIAL_USER,
    kernel("proc/self/ns/pid", Ask.LINK): INITIAL_PID,
    kernel("proc/sys/kernel/threads-max"): b"96365\n",
    kernel("proc/sys/kernel/pid_max"): b"32768\n",
    kernel("proc/sys/fs/file-nr"): b"1434\t0\t2466183\n",
    kernel("proc/sys/vm/max_map_count"): b"65530\n",
    kernel("proc/sys/vm/overcommit_memory"): b"0\n",
    process("fd", Ask.STAT): b"40500 0 0 5 1000 5 60",
    kernel("sys/fs/cgroup/pids/app/pids.max"): b"max\n",
    kernel("sys/fs/cgroup/pids/app/pids.current"): b"20\n",
    kernel("sys/fs/cgroup/pids/pids.max"): Why.ABSENT,
    kernel("sys/fs/cgroup/pids/pids.current"): Why.ABSENT,
    **{
        kernel(f"sys/fs/cgroup/unified{folder}/pids.{name}"): Why.ABSENT
        for folder in ("", "/app.slice", "/app.slice/unit")
        for name in ("max", "current")
    },
    Ref(Space.ROOT, "tmp", Ask.LIST): b"hsperfdata_app\x00",
    Ref(Space.ROOT, "tmp/hsperfdata_app/77"): b"java.rt.vmArgs\0-Xmx1g\0",
}


def verdict(
    changes: dict[Ref, bytes | Why], guards: tuple[preflight.Guard, ...] = SIGNAL
) -> Missing | None:
    source = Held({**WELL, **changes})
    return refusal(source, jvm_process(source), guards)


def refused(changes: dict[Ref, bytes | Why], *words: str) -> None:
    found = verdict(changes, QUESTION + SIGNAL)
    assert found is not None, "it was let through"
    for word in words:
        assert word in found.detail


def test_a_jvm_in_good_health_may_be_asked() -> None:
    assert verdict({}, QUESTION) is None
    assert verdict({}, SIGNAL) is None


# --- always ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "words"), [("Z", "zombie"), ("X", "zombie"), ("T", "kill -CONT"), ("t", "kill -CONT")]
)
def test_ended_and_stopped(state: str, words: str) -> None:
    found = verdict({process("stat"): stat(state)}, QUESTION)
    assert found is not None
    assert (found.why, words in found.detail) == (Why.REFUSED, True)


def test_stopped_in_a_debugger() -> None:
    refused(
        {process("stat"): stat("t"), process("status"): status(tracer=99)},
        "stopped by its debugger (process 99)",
    )


@pytest.mark.parametrize(
    ("libraries", "words"),
    [
        (("/lib/libc.so.6",), "no libjvm.so is mapped"),
        (("/opt/j9/lib/default/libj9vm29.so", "/opt/j9/lib/server/libjvm.so"), "OpenJ9"),
    ],
)
def test_other_programs(libraries: tuple[str, ...], words: str) -> None:
    found = verdict({process("maps"): maps(*libraries)}, QUESTION)
    assert found is not None
    assert words in found.detail


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("freezer/app/freezer.state", b"FROZEN\n"),
        ("freezer/app/freezer.state", b"FREEZING\n"),
        ("freezer/freezer.state", b"FROZEN\n"),
        ("unified/app.slice/unit/cgroup.events", b"populated 1\nfrozen 1\n"),
        ("unified/app.slice/unit/cgroup.freeze", b"1\n"),
        ("unified/app.slice/cgroup.freeze", b"1\n"),
    ],
)
def test_frozen_itself_or_by_an_ancestor(path: str, text: bytes) -> None:
    found = verdict({kernel(f"sys/fs/cgroup/{path}"): text}, QUESTION)
    assert found is not None
    assert "frozen" in found.detail


def test_thawed_again() -> None:
    changes: dict[Ref, bytes | Why] = {
        kernel("sys/fs/cgroup/freezer/app/freezer.state"): b"THAWED\n",
        kernel("sys/fs/cgroup/unified/app.slice/unit/cgroup.events"): b"populated 1\nfrozen 0\n",
        kernel("sys/fs/cgroup/unified/app.slice/unit/cgroup.freeze"): b"0\n",
    }
    assert verdict(changes, QUESTION) is None


# --- before a signal -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("caught", ["0", "2000000181005ccb", "fffffffffffffffb"])
def test_without_a_handler(caught: str) -> None:
    refused({process("status"): status(caught=caught)}, "would end it", "-Xrs")


def test_where_the_kernel_does_not_tell_handlers() -> None:
    """gVisor."""
    lines = [line for line in status().split(b"\n") if not line.startswith(b"Sig")]
    refused({process("status"): b"\n".join(lines)}, "does not tell which signals")


@pytest.mark.parametrize(
    "changes",
    [
        {process("cmdline"): b"java\0-XX:+DisableAttachMechanism\0X\0"},
        {process("environ"): b"JAVA_TOOL_OPTIONS=-Xmx1g -XX:+DisableAttachMechanism\0"},
        {process("environ"): b"JDK_JAVA_OPTIONS=-XX:+DisableAttachMechanism\0"},
        {
            process("cmdline"): b"java\0-XX:-DisableAttachMechanism\0X\0",
            process("environ"): b"_JAVA_OPTIONS=-XX:+DisableAttachMechanism\0",
        },
        {Ref(Space.ROOT, "tmp/hsperfdata_app/77"): b"java.rt.vmFlags\0+DisableAttachMechanism\0"},
    ],
)
def test_where_attaching_is_switched_off(changes: dict[Ref, bytes | Why]) -> None:
    refused(changes, "switched off", "kill -3")


@pytest.mark.parametrize(
    "changes",
    [
        {process("cmdline"): b"java\0@/etc/app.args\0X\0"},
        {process("cmdline"): b"java\0-XX:Flags=/etc/app.flags\0X\0"},
        {process("cmdline"): b"java\0-XX:VMOptionsFile=/etc/app.options\0X\0"},
        {process("environ"): b"JDK_JAVA_OPTIONS=@/etc/app.args\0"},
    ],
)
def test_options_in_a_file_are_known_by_the_performance_data_alone(
    changes: dict[Ref, bytes | Why],
) -> None:
    assert verdict(changes) is None
    hidden = {**changes, Ref(Space.ROOT, "tmp/hsperfdata_app/77"): Why.ABSENT}
    refused(hidden, "publishes none of them", "cannot be told")


@pytest.mark.parametrize(
    "changes",
    [
        {process("cmdline"): b"java\0-Xrs\0X\0"},
        {process("environ"): b"JAVA_TOOL_OPTIONS=-XX:+ReduceSignalUsage\0"},
        {Ref(Space.ROOT, "tmp/hsperfdata_app/77"): b"java.rt.vmArgs\0-Xrs\0"},
    ],
)
def test_with_reduced_signals_the_handler_is_the_programs(changes: dict[Ref, bytes | Why]) -> None:
    refused(changes, "-Xrs", "not for the JVM")


def test_where_it_is_switched_on_again() -> None:
    assert (
        verdict(
            {
                process(
                    "cmdline"
                ): b"java\0-XX:+DisableAttachMechanism\0-XX:-DisableAttachMechanism\0X\0"
            }
        )
        is None
    )


@pytest.mark.parametrize(
    ("exe", "library", "well"),
    [
        ("/usr/lib/jvm/8/jre/bin/java", "/usr/lib/jvm/8/jre/lib/amd64/server/libjvm.so", True),
        ("/usr/lib/jvm/8/bin/jarsigner", "/usr/lib/jvm/8/jre/lib/amd64/server/libjvm.so", True),
        ("/usr/lib/jvm/17/bin/jshell", "/usr/lib/jvm/17/lib/server/libjvm.so", True),
        (
            "/usr/lib/jvm/17/bin/java (deleted)",
            "/usr/lib/jvm/17/lib/server/libjvm.so (deleted)",
            True,
        ),
        ("/usr/bin/jsvc", "/usr/lib/jvm/17/lib/server/libjvm.so", True),
        ("/opt/app/bin/App", "/opt/app/lib/runtime/lib/server/libjvm.so", True),
        ("/usr/bin/uwsgi", "/usr/lib/jvm/17/lib/server/libjvm.so", False),
        ("/usr/bin/python3.11", "/usr/lib/jvm/17/lib/server/libjvm.so", False),
        ("/opt/bin/server", "/opt/java/lib/server/libjvm.so", False),
    ],
)
def test_whose_handler_it_is(exe: str, library: str, *, well: bool) -> None:
    changes: dict[Ref, bytes | Why] = {
        process("exe", Ask.LINK): exe.encode(),
        process("maps"): maps(library),
    }
    if well:
        assert verdict(changes) is None
    else:
        refused(changes, exe, "a program with a JVM inside")


def test_pending_and_blocked() -> None:
    refused({process("status"): status(pending="4")}, "still pending")
    everywhere: dict[Ref, bytes | Why] = {
        process("status"): status(blocked="4"),
        process("task", Ask.LIST): b"77\x0078\x0079\x00",
        process("task/77/status"): status(blocked="4"),
        process("task/78/status"): status(blocked="ffffffff"),
        process("task/79/status"): Why.VANISHED,
    }
    refused(everywhere, "every thread of it blocks SIGQUIT")
    assert verdict({**everywhere, process("task/78/status"): status(blocked="2")}) is None, (
        "the VM thread takes it"
    )


@pytest.mark.parametrize(
    ("comm", "well"), [(b"strace\n", True), (b"gdb\n", False), (Why.DENIED, False)]
)
def test_debugged(comm: bytes | Why, *, well: bool) -> None:
    changes: dict[Ref, bytes | Why] = {
        process("status"): status(tracer=99),
        kernel("proc/99/comm"): comm,
    }
    assert (verdict(changes) is None) is well


# --- room for one more thread ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "limit", "current", "well"),
    [
        ("pids/app", "20", "20", False),
        ("pids/app", "22", "20", False),
        ("pids/app", "23", "20", True),
        ("pids", "100", "100", False),
        ("unified/app.slice/unit", "20", "20", False),
        ("unified/app.slice", "500", "499", False),
        ("unified/app.slice", "max", "499", True),
    ],
)
def test_the_limit_of_a_group_or_an_ancestor(
    folder: str, limit: str, current: str, *, well: bool
) -> None:
    changes: dict[Ref, bytes | Why] = {
        kernel(f"sys/fs/cgroup/{folder}/pids.max"): f"{limit}\n".encode(),
        kernel(f"sys/fs/cgroup/{folder}/pids.current"): f"{current}\n".encode(),
    }
    if well:
        assert verdict(changes) is None
    else:
        refused(changes, f"pids.max of /sys/fs/cgroup/{folder}: {current} of {limit}")


@pytest.mark.parametrize(
    "changes",
    [
        {process("cgroup"): b"0::/../other\n"},
        {process("cgroup"): b"8:pids:/elsewhere\n", kernel("proc/self/mountinfo"): b""},
        {process("cgroup"): Why.DENIED},
        {kernel("sys/fs/cgroup/pids/app/pids.max"): Why.DENIED},
        {kernel("sys/fs/cgroup/pids/app/pids.max"): b"many\n"},
        {kernel("proc/self/mountinfo"): Why.DENIED},
        {kernel("proc/sys/kernel/threads-max"): Why.NOT_COLLECTED},
        {process("limits"): Why.DENIED},
        {process("maps"): Why.DENIED},
        {process("exe", Ask.LINK): Why.DENIED},
        {kernel("proc/loadavg"): b"none\n"},
        {
            kernel("proc/self/mountinfo"): MOUNTS
            + b"9 8 0:9 /proc/loadavg /proc/loadavg rw - fuse.lxcfs lxcfs rw\n"
        },
    ],
)
def test_what_cannot_be_seen_is_never_taken_for_room(changes: dict[Ref, bytes | Why]) -> None:
    refused(changes, "cannot make sure that the JVM comes to no harm")


def test_a_kernel_without_control_groups() -> None:
    assert verdict({process("cgroup"): Why.ABSENT}) is None


def test_the_hosts_limits() -> None:
    refused({kernel("proc/sys/kernel/threads-max"): b"302\n"}, "kernel.threads-max: 300 of 302")
    refused({kernel("proc/sys/kernel/pid_max"): b"300\n"}, "kernel.pid_max: 300 of 300")
    assert verdict({kernel("proc/sys/kernel/pid_max"): b"303\n"}) is None


CROWD: dict[Ref, bytes | Why] = {
    kernel("proc", Ask.LIST): b"1\x0077\x0080\x0081\x00self\x00sys\x00",
    kernel("proc/1/status"): status(uid=0, threads=500),
    kernel("proc/77/status"): status(threads=20),
    kernel("proc/80/status"): status(threads=9),
    kernel("proc/81/status"): Why.VANISHED,
}


def user_limit(most: str, **changed: object) -> dict[Ref, bytes | Why]:
    return {**CROWD, process("limits"): limits(most), process("status"): status(**changed)}  # type: ignore[arg-type]


def test_the_threads_of_its_user_are_counted_where_it_matters() -> None:
    refused(user_limit("30"), "RLIMIT_NPROC of uid 1000: 29 of 30")
    assert verdict(user_limit("32")) is None
    assert verdict({process("limits"): limits("303")}) is None, (
        "fewer threads on the host: nothing to count"
    )
    assert verdict({process("limits"): limits("unlimited")}) is None


@pytest.mark.parametrize(
    "changed", [{"uid": 0}, {"caps": "200000"}, {"caps": "1000000"}, {"caps": "1fffffffff"}]
)
def test_who_is_above_the_limit(changed: dict[str, object]) -> None:
    assert verdict(user_limit("1", **changed)) is None
    elsewhere = {**user_limit("1", **changed), process("ns/user", Ask.LINK): b"user:[4026532000]"}
    refused(elsewhere, "no room")
    inside = {
        **elsewhere,
        kernel("proc/self/ns/user", Ask.LINK): b"user:[4026532000]",
    }
    refused(inside, "no room")


def test_other_capabilities_do_not_lift_it() -> None:
    refused(user_limit("1", caps="80000"), "no room")


def test_a_user_whose_threads_cannot_all_be_seen() -> None:
    """A container: the same uid may run others outside."""
    refused(
        {**user_limit("30"), kernel("proc/self/ns/pid", Ask.LINK): b"pid:[4026532111]"},
        "cannot be counted",
    )
    refused({**user_limit("30"), kernel("proc/80/status"): Why.DENIED}, "cannot make sure")


def test_this_kernel_has_the_initial_namespaces_by_those_numbers() -> None:
    """include/linux/proc_ns.h: where the kernel's own threads are in sight, we are in the first pid namespace."""
    kthreadd = Path("/proc/2/comm")
    first = kthreadd.exists() and kthreadd.read_text() == "kthreadd\n"
    assert (str(Path("/proc/self/ns/pid").readlink()) == preflight._INITIAL_PID) is first


# --- room for anything else ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "table", "size", "listed", "well"),
    [
        ("unlimited", 64, 60, 60, True),
        ("1024", 64, 60, 60, True),
        ("72", 64, 1000, 1000, True),  # no need to count
        ("71", 64, 60, 60, True),
        ("68", 64, 60, 60, True),
        ("67", 64, 60, 60, False),
        ("60", 64, 60, 60, False),
        ("67", 64, 0, 60, False),  # before Linux 6.2 the directory has no size
        ("68", 64, 0, 60, True),
    ],
)
def test_room_for_descriptors(most: str, table: int, size: int, listed: int, *, well: bool) -> None:
    changes: dict[Ref, bytes | Why] = {
        process("limits"): limits("4096", files=most),
        process("status"): status(table=table),
        process("fd", Ask.STAT): f"40500 0 0 5 1000 5 {size}".encode(),
        process("fd", Ask.LIST): b"".join(b"%d\0" % n for n in range(listed)),
    }
    if well:
        assert verdict(changes, QUESTION) is None
    else:
        refused(changes, f"RLIMIT_NOFILE: 60 of {most}", "end for good")


def test_room_for_files_on_the_host() -> None:
    refused({kernel("proc/sys/fs/file-nr"): b"1000\t0\t1007\n"}, "fs.file-nr: 1000 of 1007")
    assert verdict({kernel("proc/sys/fs/file-nr"): b"1000\t0\t1008\n"}, QUESTION) is None


GB = 1 << 30


@pytest.mark.parametrize(
    ("options", "space", "data", "told"),
    [
        ("", "unlimited", "unlimited", ""),
        ("", str(5_000_000 * 1024 + (67 << 20)), "unlimited", ""),
        ("", str(5_000_000 * 1024 + (66 << 20)), "unlimited", "RLIMIT_AS: 4882 of 4948 MiB"),
        ("", str(5_000_000 * 1024), "unlimited", "RLIMIT_AS"),
        ("", "unlimited", str(400_000 * 1024 + (66 << 20)), "RLIMIT_DATA"),
        ("-Xss100m", str(5_000_000 * 1024 + (67 << 20)), "unlimited", "RLIMIT_AS"),
        ("-Xss512k", str(5_000_000 * 1024 + (67 << 20)), "unlimited", ""),
        (
            "-XX:ThreadStackSize=102400",
            str(5_000_000 * 1024 + (67 << 20)),
            "unlimited",
            "RLIMIT_AS",
        ),
        ("-XX:VMThreadStackSize=512", str(5_000_000 * 1024 + (67 << 20)), "unlimited", ""),
        ("-Xss99999999999g", str(5_000_000 * 1024 + (67 << 20)), "unlimited", "RLIMIT_AS"),
    ],
)
def test_room_in_memory(options: str, space: str, data: str, told: str) -> None:
    changes: dict[Ref, bytes | Why] = {
        process("limits"): limits("4096", space=space, data=data),
        process("environ"): f"JAVA_TOOL_OPTIONS={options}\0".encode(),
    }
    if told:
        refused(changes, told, "little room for memory")
    else:
        assert verdict(changes, QUESTION) is None


def test_room_where_the_kernel_promises_no_more_than_it_has() -> None:
    def committed(kb: int, mode: bytes = b"2\n") -> dict[Ref, bytes | Why]:
        meminfo = f"MemTotal: 9 kB\nCommitLimit:    8000000 kB\nCommitted_AS: {kb} kB\n"
        return {
            kernel("proc/sys/vm/overcommit_memory"): mode,
            kernel("proc/meminfo"): meminfo.encode(),
        }

    assert verdict(committed(7_900_000), QUESTION) is None
    refused(committed(7_990_000), "CommitLimit: 7802 of 7812 MiB")
    assert verdict(committed(7_990_000, b"0\n"), QUESTION) is None


def test_room_for_mappings() -> None:
    refused({kernel("proc/sys/vm/max_map_count"): b"33\n"}, "vm.max_map_count: 2 of 33")
    assert verdict({kernel("proc/sys/vm/max_map_count"): b"34\n"}) is None


@pytest.mark.parametrize(
    "changes",
    [
        {kernel("proc/sys/fs/file-nr"): Why.DENIED},
        {kernel("proc/sys/fs/file-nr"): b"none\n"},
        {kernel("proc/sys/vm/max_map_count"): Why.ABSENT},
        {process("limits"): limits("9", files="60"), process("fd", Ask.STAT): Why.DENIED},
        {
            process("limits"): limits("4096", space="1"),
            process("status"): status().replace(b"VmSize", b"VmOther"),
        },
        {kernel("proc/sys/vm/overcommit_memory"): b"2\n", kernel("proc/meminfo"): Why.ABSENT},
    ],
)
def test_what_cannot_be_seen_is_no_room_either(changes: dict[Ref, bytes | Why]) -> None:
    assert verdict(changes, QUESTION + SIGNAL) is not None


def test_a_stopped_jvm_is_asked_for_nothing_more() -> None:
    """The first reason is the one that is told."""
    refused({process("stat"): stat("T"), process("limits"): limits("0", files="0")}, "stopped")
