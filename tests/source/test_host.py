"""The live host as a source: processes of our own, real JVMs' files, nothing of it touched."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.machine import CHECKOUT

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.parse import procfs
from seedstall.source import host, permission
from seedstall.source.host import HostSource

Child = subprocess.Popen[bytes]


@pytest.fixture
def child() -> Iterator[Child]:
    """A process of ours, blocked in a read of a pipe."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait_for(lambda: b"pipe" in Path(f"/proc/{process.pid}/wchan").read_bytes())
    yield process
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def process(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.PROCESS, path, ask)


def kernel(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


def root(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.ROOT, path, ask)


def value(reading: Reading[bytes]) -> bytes:
    assert isinstance(reading, Got), reading
    return reading.value


def why(reading: Reading[bytes]) -> Why:
    assert isinstance(reading, Missing), "it was read"
    return reading.why


# --- the process -----------------------------------------------------------------------------------------------------


def test_files_of_the_process(child: Child) -> None:
    with HostSource(child.pid) as source:
        assert value(source.read(process("cmdline"))) == b"cat\0"
        assert procfs.stat(value(source.read(process("stat")))).pid == child.pid
        assert value(source.read(process("task", Ask.LIST))) == f"{child.pid}\0".encode()
        assert value(source.read(process("fd/0", Ask.LINK))).startswith(b"pipe:[")
        told = procfs.file_stat(value(source.read(process("fd/1", Ask.STAT))))
        assert (told.mode & 0o170000, told.rdev) == (0o020000, (1, 3)), "/dev/null"
        assert procfs.elf_machine(value(source.read(process("exe-header"))))[1] in (32, 64)
        assert source.read(process("comm")).origins == (process("comm"),)


def test_what_it_waits_in(child: Child) -> None:
    with HostSource(child.pid) as source:
        call = procfs.syscall(value(source.read(process(f"task/{child.pid}/syscall"))))
        assert call.args[0] == 0
        assert "pipe" in (
            procfs.wchan(value(source.read(process(f"task/{child.pid}/wchan")))) or ""
        )


def test_a_wait_channel_is_sampled_again(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread caught just before it sleeps reads 0 the first time."""
    answers = [b"0", b"0", b"_random_read.part.33"]
    monkeypatch.setattr(host, "_content", lambda *_: answers.pop(0))
    with HostSource(child.pid) as source:
        assert value(source.read(process("task/1/wchan"))) == b"_random_read.part.33"


@pytest.mark.parametrize(
    "path", ["root/etc/passwd", "cwd/x", "task/1/root/etc/passwd", "map_files/x"]
)
def test_paths_that_lead_out_of_proc_are_refused(child: Child, path: str) -> None:
    with HostSource(child.pid) as source:
        for ask in Ask:
            assert why(source.read(process(path, ask))) is Why.REFUSED


def test_what_its_descriptors_are_open_on_is_never_read(child: Child) -> None:
    with HostSource(child.pid) as source:
        for path in ("fd/0", "fd/1", "exe", "cwd", "root"):
            assert why(source.read(process(path))) in (Why.REFUSED, Why.MALFORMED)


def test_absent_and_vanished_are_told_apart(child: Child) -> None:
    with HostSource(child.pid) as source:
        assert why(source.read(process("no-such-file"))) is Why.ABSENT
        assert why(source.read(process("fd/77", Ask.LINK))) is Why.ABSENT
        assert why(source.read(process("task/999999999/stat"))) is Why.VANISHED
        assert why(source.read(process(f"task/{child.pid}/no-such-file"))) is Why.ABSENT
        child.kill()
        child.wait()
        assert why(source.read(process("stat"))) is Why.VANISHED
        assert why(source.read(process("cmdline"))) is Why.VANISHED
        assert why(source.read(root("etc/passwd"))) is Why.VANISHED
    with HostSource(child.pid) as later:
        reading = later.read(process("stat"))
        assert isinstance(reading, Missing)
        assert (reading.why, reading.detail) == (Why.VANISHED, f"there is no process {child.pid}")


def test_a_zombies_files_are_gone_and_not_absent(child: Child) -> None:
    """Ended, and not yet waited for: ``stat`` is there still, its root, memory and descriptors are not."""
    gone = (
        root("dev/random", Ask.STAT),
        root("etc/passwd"),
        process("exe", Ask.LINK),
        process("cmdline"),
        process("maps"),
        process("fd", Ask.LIST),
        process("no-such-file"),
        process(host.EXE_HEADER),
    )
    with HostSource(child.pid) as source, HostSource(child.pid) as entered:
        value(entered.read(root("dev/random", Ask.STAT)))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert procfs.stat(value(source.read(process("stat")))).state == "Z"
        for ref in gone:
            assert why(source.read(ref)) is Why.VANISHED, ref
        assert why(entered.read(root("dev/no-such-device", Ask.STAT))) is Why.VANISHED


@pytest.mark.root
def test_a_containers_mounts_go_with_it(tmp_path: Path) -> None:
    """Its root is held open, and the ``/dev`` that was mounted there is not in it any more."""
    script = 'mount -t tmpfs none "$1" && touch "$1/there" && echo && exec sleep 60'
    inside = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path)], stdout=subprocess.PIPE
    )
    assert inside.stdout is not None
    if not inside.stdout.readline():
        pytest.skip("may not mount here")
    there = root(f"{tmp_path}/there", Ask.STAT)
    with HostSource(inside.pid) as source:
        value(source.read(there))
        inside.kill()
        os.waitid(os.P_PID, inside.pid, os.WEXITED | os.WNOWAIT)
        assert why(source.read(there)) is Why.VANISHED
    inside.communicate()


@pytest.mark.root
def test_a_zombie_is_not_called_forbidden_to_its_own_user() -> None:
    """What a zombie had belongs to root: EACCES, and no permission would help."""
    told = as_stranger(
        "pid = os.posix_spawn('/bin/true', ['true'], {})\n"
        "os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\n"
        "s = HostSource(pid)\n"
        "for path in ('environ', 'maps', 'auxv'):\n"
        "    print(s.read(Ref(Space.PROCESS, path)).why)\n"
        "print(s.read(Ref(Space.PROCESS, 'fd', Ask.LIST)).why)\n"
        "print(s.read(Ref(Space.ROOT, 'dev/random', Ask.STAT)).why)\n"
    )
    assert told.split("\n")[:-1] == ["vanished"] * 5


@pytest.mark.parametrize("why_not", [Why.ABSENT, Why.TIMED_OUT, Why.DENIED])
def test_what_a_jvm_did_not_answer_because_it_ended(child: Child, why_not: Why) -> None:
    def ask(command: str) -> Reading[bytes]:
        return Missing(why_not, (Ref(Space.ATTACH, command),))

    with HostSource(child.pid, ask) as source:
        assert why(source.read(Ref(Space.ATTACH, "threaddump"))) is why_not
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert why(source.read(Ref(Space.ATTACH, "properties"))) is Why.VANISHED


def test_a_process_on_its_way_out_is_told_by_its_flags(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its root is given up before its state is Z: PF_EXITING is set by then."""
    line = Path(f"/proc/{child.pid}/stat").read_bytes()
    head, _, rest = line.rpartition(b") ")
    fields = rest.split()
    fields[0], fields[6] = b"R", str(int(fields[6]) | 0x4).encode()
    with HostSource(child.pid) as source:
        assert why(source.read(root("no-such-file"))) is Why.ABSENT
        monkeypatch.setattr(host, "_content", lambda *_: head + b") " + b" ".join(fields))
        assert why(source.read(root("no-such-file"))) is Why.VANISHED


def test_a_jvms_library_may_be_larger_than_other_files(tmp_path: Path) -> None:
    for name in ("libjvm.so", "other.so"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(20 << 20)
    with HostSource(os.getpid()) as source:
        assert len(value(source.read(root(f"{tmp_path}/libjvm.so")))) == 20 << 20
        assert why(source.read(root(f"{tmp_path}/other.so"))) is Why.TRUNCATED
        os.truncate(tmp_path / "libjvm.so", 65 << 20)
        assert why(source.read(root(f"{tmp_path}/libjvm.so"))) is Why.TRUNCATED


def test_the_next_owner_of_a_pid_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The descriptor stands for the process, not for the number."""
    first = subprocess.Popen(["sleep", "60"])
    source = HostSource(first.pid)
    first.kill()
    first.wait()
    last_pid = Path("/proc/sys/kernel/ns_last_pid")
    try:
        last_pid.write_text(str(first.pid - 1))
    except OSError as error:
        pytest.skip(f"needs to choose a pid (CAP_CHECKPOINT_RESTORE): {error}")
    second = subprocess.Popen(["sleep", "60"])
    try:
        if second.pid != first.pid:
            pytest.skip("another process took the pid first")
        assert why(source.read(process("cmdline"))) is Why.VANISHED
    finally:
        second.kill()
        second.wait()
        source.close()


def test_without_a_pid_there_is_only_the_host() -> None:
    with HostSource() as source:
        assert why(source.read(process("stat"))) is Why.NOT_COLLECTED
        assert why(source.read(root("etc"))) is Why.NOT_COLLECTED
        assert value(source.read(kernel("proc/sys/kernel/ostype"))) == b"Linux\n"


def test_what_only_a_later_source_can_know(child: Child) -> None:
    with HostSource(child.pid) as source:
        assert why(source.read(Ref(Space.INPUT, "", Ask.LIST))) is Why.NOT_COLLECTED


def test_closed_it_reads_nothing_and_holds_nothing(child: Child) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    source = HostSource(child.pid)
    source.read(root("etc", Ask.LIST))
    source.close()
    source.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert why(source.read(process("stat"))) in (Why.VANISHED, Why.NOT_COLLECTED)
    del source
    HostSource(child.pid)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# --- permissions -----------------------------------------------------------------------------------------------------


def as_stranger(code: str) -> str:
    """What that code prints when uid 34567 runs it."""
    prelude = (
        f"import os, sys; sys.path.insert(0, {str(CHECKOUT / 'src')!r})\n"
        "from seedstall.source.host import *\n"
        "from seedstall.source import host\n"
        "from seedstall.model.evidence import *\n"
        "from seedstall.parse import procfs\n"
        "import seedstall.source.rooted\n"
        "os.setgroups([]); os.setgid(34567); os.setuid(34567)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", prelude + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.root
def test_a_stranger_reads_what_everybody_may_and_is_told_the_rest(child: Child) -> None:
    told = as_stranger(
        f"s = HostSource({child.pid})\n"
        "print(procfs.stat(s.read(Ref(Space.PROCESS, 'stat')).value).comm)\n"
        f"for path in ('environ', 'maps', 'task/{child.pid}/syscall'):\n"
        "    print(s.read(Ref(Space.PROCESS, path)))\n"
        "print(s.read(Ref(Space.PROCESS, 'fd', Ask.LIST)))\n"
        "print(s.read(Ref(Space.ROOT, 'etc/passwd')))\n"
        "print(s.read(Ref(Space.PROCESS, 'wchan')))\n"
    ).splitlines()
    assert told[0] == "cat"
    assert all(
        "denied: the process belongs to uid 0: run as that user or as root" in line
        for line in told[1:6]
    )
    assert told[6].startswith("Got(value=b'0'"), "no error, and no truth"


def test_the_reason_is_found_out_once_for_all_files(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    asked: list[int] = []

    def explain(process: int) -> str:
        asked.append(process)
        return "so it is"

    with HostSource(child.pid) as source:
        monkeypatch.setattr(host, "_ask_proc", refuse)
        monkeypatch.setattr(permission, "explain", explain)
        for path in ("task/1/syscall", "environ", "maps"):
            reading = source.read(process(path))
            assert isinstance(reading, Missing)
            assert reading.detail == "so it is"
        assert asked == [source.process_fd]
        reading = source.read(process("task/1/stack"))
        assert isinstance(reading, Missing)
        assert "CAP_SYS_ADMIN" in reading.detail


@pytest.mark.root
def test_a_process_hidden_by_hidepid_is_not_called_gone(tmp_path: Path) -> None:
    """In a mount namespace of its own, /proc with hidepid=2, seen by another user."""
    code = (
        f"import os, sys; sys.path.insert(0, {str(CHECKOUT / 'src')!r})\n"
        "from seedstall.source.host import HostSource; from seedstall.model.evidence import *\n"
        "import seedstall.source.rooted\n"
        "os.setgroups([]); os.setgid(34567); os.setuid(34567)\n"
        f"print(HostSource({os.getpid()}).read(Ref(Space.PROCESS, 'stat')))\n"
        "print(HostSource(2**22 - 1).read(Ref(Space.PROCESS, 'stat')))\n"
    )
    script = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    if "mount" in done.stderr:
        pytest.skip(f"needs mount namespaces: {done.stderr}")
    hidden, gone = done.stdout.splitlines()
    assert "denied: /proc hides the processes of others (hidepid)" in hidden
    assert "vanished: there is no process" in gone


# --- its root, and the host's own ------------------------------------------------------------------------------------


@pytest.mark.root
def test_its_root_is_its_own(tmp_path: Path) -> None:
    """A process in a chroot: an absolute link there leads inside it."""
    inside = tmp_path / "inside"
    (inside / "etc").mkdir(parents=True)
    (inside / "etc/name").write_text("inside")
    (inside / "link").symlink_to("/etc/name")
    (inside / "out").symlink_to("/etc/passwd")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.chroot(inside)
        os.write(writer, b"!")
        signal.pause()
    try:
        os.read(reader, 1)
        with HostSource(pid) as source:
            assert value(source.read(root("link"))) == b"inside"
            assert why(source.read(root("out"))) is Why.ABSENT
            assert why(source.read(root("../../../../etc/passwd"))) is Why.ABSENT
            assert value(source.read(root("", Ask.LIST))) == b"etc\0link\0out\0"
            assert b"root:" in value(source.read(kernel("etc/passwd"))), (
                "the host's, not the target's"
            )
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reader)
        os.close(writer)


def test_the_host_is_asked_the_same_questions() -> None:
    with HostSource() as source:
        assert b"entropy_avail" in value(source.read(kernel("proc/sys/kernel/random", Ask.LIST)))
        told = procfs.file_stat(value(source.read(kernel("dev/null", Ask.STAT))))
        assert told.rdev == (1, 3)
        assert value(source.read(kernel("proc/self", Ask.LINK))) == str(os.getpid()).encode()
        assert why(source.read(kernel("dev/null"))) is Why.REFUSED
        assert why(source.read(kernel("no/such/file"))) is Why.ABSENT
        assert why(source.read(kernel("proc\0"))) is Why.ABSENT


def test_the_kernel_is_probed_through_its_own_module() -> None:
    with HostSource() as source:
        assert source.read(kernel("probe/no-such-probe")) == Missing(
            Why.NOT_COLLECTED, (kernel("probe/no-such-probe"),)
        )
        assert isinstance(source.read(kernel("probe/getrandom-insecure")), Got)


def test_the_kernels_log_reads_as_dmesg_prints_it() -> None:
    with HostSource() as source:
        reading = source.read(kernel("dmesg"))
    if isinstance(reading, Missing):
        assert reading.why in (Why.DENIED, Why.NOT_COLLECTED)
        pytest.skip(f"no kernel log here: {reading}")
    printed = subprocess.run(["dmesg"], capture_output=True, check=False).stdout.splitlines()
    if printed:
        assert set(printed[:20]) & set(reading.value.splitlines())


def test_a_record_of_the_kernels_log() -> None:
    assert host._log_line(b"6,339,5140900,-;random: crng init done\n SUBSYSTEM=x\n") == (
        b"[    5.140900] random: crng init done\n"
    )
    assert host._log_line(b"nonsense") == b"[    0.000000] \n"


# --- what a running JVM answers --------------------------------------------------------------------------------------


def test_a_jvm_is_asked_once_for_each_thing(child: Child) -> None:
    asked: list[str] = []

    def attach(command: str) -> Reading[bytes]:
        asked.append(command)
        return Got(command.encode())

    with HostSource(child.pid, attach) as source:
        for _ in range(2):
            assert value(source.read(Ref(Space.ATTACH, "threaddump"))) == b"threaddump"
            assert value(source.read(Ref(Space.ATTACH, "properties"))) == b"properties"
    assert asked == ["threaddump", "properties"]


def test_a_jvm_not_to_be_asked_is_not_asked(child: Child) -> None:
    with HostSource(child.pid) as source:
        assert why(source.read(Ref(Space.ATTACH, "threaddump"))) is Why.REFUSED


# --- which processes are JVMs ----------------------------------------------------------------------------------------


def test_other_processes_are_no_jvms(child: Child) -> None:
    assert not host.is_jvm(child.pid)
    assert not host.is_jvm(2**22 - 1)
    assert child.pid not in host.all_jvms()
    assert host.jvms_below(os.getpid()) == () or child.pid not in host.jvms_below(os.getpid())
    assert host.command(child.pid) == "cat"


@pytest.mark.jvm
def test_jvms_are_found_below_what_started_them(java: Path, tmp_path: Path) -> None:
    classes = CHECKOUT / "tests/live/patient"
    script = subprocess.Popen(
        ["sh", "-c", f"sleep 100 & {java} -cp {classes} Patient; true"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0,
    )
    try:
        assert script.stdout is not None
        assert script.stdout.readline() == b"up\n"
        (jvm,) = host.jvms_below(script.pid)
        assert not host.is_jvm(script.pid)
        assert host.is_jvm(jvm)
        assert jvm in host.all_jvms()
        assert host.command(jvm).endswith(" Patient")
    finally:
        os.killpg(script.pid, signal.SIGKILL)
        script.communicate()


@pytest.mark.parametrize("depth", [1, 40, 400])
def test_a_long_command_keeps_its_program_and_its_end(tmp_path: Path, depth: int) -> None:
    argument = "/" + "deep/" * depth
    child = subprocess.Popen(
        ["tail", "-f", "--retry", argument, "--pid=1", "/dev/null"], stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: host.command(child.pid).startswith("tail"))
        command = host.command(child.pid)
        assert command.endswith("--pid=1 /dev/null")
        assert len(command) <= 100
        assert ("…" in command) == (depth > 1)
    finally:
        child.kill()
        child.wait()


@pytest.mark.root
def test_to_a_stranger_a_jvm_is_known_by_its_name(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("java", "other"):
        (tmp_path / name).symlink_to("/bin/sleep")
    running = [subprocess.Popen([tmp_path / name, "60"]) for name in ("java", "other")]
    try:
        pids = [p.pid for p in running]
        wait_for(lambda: all("sleep" in str(Path(f"/proc/{pid}/exe").readlink()) for pid in pids))
        assert as_stranger(f"print([host.is_jvm(pid) for pid in {pids}])") == "[True, False]\n"
    finally:
        for p in running:
            p.kill()
            p.wait()


# --- memory ----------------------------------------------------------------------------------------------------------


def memory_at(address: int, length: int) -> Ref:
    return Ref(Space.MEMORY, f"{address:x}+{length:x}")


def test_memory_is_read_as_it_is_now_and_counted() -> None:
    import ctypes

    held = ctypes.create_string_buffer(b"first")
    with HostSource(os.getpid()) as source:
        ref = memory_at(ctypes.addressof(held), 5)
        assert source.read(ref) == Got(b"first", (ref,))
        held.value = b"later"
        assert source.read(ref) == Got(b"later", (ref,))
        assert (source.memory_reads, source.memory_bytes) == (2, 10)


@pytest.mark.parametrize(
    "path", ["", "zz+1", "0+10", "ffffffffff600000+8", "7fffffffffff0000+1000", "10000+0"]
)
def test_memory_that_is_not_there_is_absent(path: str) -> None:
    with HostSource(os.getpid()) as source:
        reading = source.read(Ref(Space.MEMORY, path))
    assert isinstance(reading, Missing)
    assert reading.why is Why.ABSENT


def test_memory_is_refused_where_it_is_not_to_be_read() -> None:
    with HostSource(os.getpid(), memory_too=False) as source:
        reading = source.read(memory_at(4096, 8))
    assert isinstance(reading, Missing)
    assert reading.why is Why.REFUSED


def test_memory_of_a_process_that_ended_has_vanished() -> None:
    child = subprocess.Popen(["sleep", "60"])
    # Its parent goes on as soon as the old memory is gone: the new program may not be mapped yet.
    wait_for(lambda: "libc" in Path(f"/proc/{child.pid}/maps").read_text())
    with HostSource(child.pid) as source:
        maps = source.read(Ref(Space.PROCESS, "maps"))
        assert isinstance(maps, Got)
        start = int(maps.value.partition(b"-")[0], 16)
        ref = memory_at(start, 4)
        assert source.read(ref) == Got(b"\x7fELF", (ref,))
        child.kill()
        child.wait()
        reading = source.read(ref)
    assert isinstance(reading, Missing)
    assert reading.why is Why.VANISHED
