"""The attach client on real JVMs: it gets what jstack gets, and harms nobody where others do."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import machine
from tests.live import patients
from tests.live.owndump import from_memory
from tests.live.patients import CLASSES, STRANGER, Patient, ask, refused, unharmed
from tests.machine import CHECKOUT, JDK8_ROOT, java_of

from seedstall.effect import preflight
from seedstall.effect.attach import Attacher
from seedstall.effect.listener import Listener
from seedstall.model.evidence import Got, Missing, Reading, Why
from seedstall.source import host, rooted

pytestmark = pytest.mark.jvm

JDKS = (11, 17, 21, 25)
Start = Callable[..., Patient]


def stacks(dump: str) -> dict[str, list[str]]:
    """Thread name to frames, of the threads that stand still."""
    found: dict[str, list[str]] = {}
    frames: list[str] = []
    for line in dump.splitlines():
        header = re.match(r'"([^"]*)"', line)
        if header is not None:
            frames = found.setdefault(header[1], [])
        elif line.startswith("\tat "):
            frames.append(line)
    return {name: frames for name, frames in found.items() if name != "Attach Listener"}


# --- what it gets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature", JDKS)
def test_the_dump_is_that_of_jstack(start: Start, feature: int) -> None:
    patient = start(feature)
    attacher = Attacher(patient.pid, timeout_s=20)
    first, second = attacher.ask("threaddump"), attacher.ask("threaddump")
    jstack = java_of(feature).parent / "jstack"
    told = subprocess.run(
        [jstack, str(patient.pid)], capture_output=True, text=True, check=True
    ).stdout

    assert isinstance(first, Got)
    assert isinstance(second, Got)
    ours = stacks(second.value.decode())
    assert ours == stacks(told)
    assert {"main", "idle-0", "idle-4"} <= ours.keys()
    assert ours["idle-0"], "it has frames"
    assert stacks(first.value.decode()).keys() == ours.keys()
    assert [a.what for a in attacher.actions] == ["sigquit+attach threaddump", "attach threaddump"]
    assert all(a.pid == patient.pid and (a.pause_ms or 0) > 0 for a in attacher.actions)
    unharmed(patient)


@pytest.mark.jdk8
@pytest.mark.root
def test_jdk_8_of_another_user_answers_root(start: Start) -> None:
    """It takes only a peer with its own effective ids: ours are ours again afterwards."""
    inside = Path(tempfile.mkdtemp(dir=JDK8_ROOT / "tmp"))
    inside.chmod(0o777)
    try:
        for name in CLASSES.glob("*.class"):
            shutil.copy(name, inside)
        classes = Path("/tmp") / inside.name
        patient = patients.start(
            patients.command(8, classes=classes),
            classes,
            root=JDK8_ROOT,
            ids=(STRANGER, STRANGER),
        )
        try:
            patient.wait_until(lambda: b"up" in patient.said)
            dump, properties = ask(patient), ask(patient, command="properties")
            assert isinstance(dump, Got)
            assert {"main", "idle-0"} <= stacks(dump.value.decode()).keys()
            assert isinstance(properties, Got)
            assert b"java.specification.version=1.8" in properties.value
            assert (os.geteuid(), os.getegid()) == (0, 0)
            unharmed(patient)
        finally:
            patient.end()
    finally:
        shutil.rmtree(inside)


@pytest.mark.root
def test_a_jvm_of_another_user_answers_root(start: Start) -> None:
    patient = start(21, ids=(STRANGER, STRANGER))
    assert isinstance(ask(patient), Got)
    unharmed(patient)


@pytest.mark.root
def test_its_own_user_needs_no_root(start: Start, folder: Path) -> None:
    patient = start(17, ids=(STRANGER, STRANGER))
    assert "Got" in as_user(STRANGER, patient.pid, folder)
    unharmed(patient)


@pytest.mark.root
def test_another_user_is_told_whose_it_is(start: Start, folder: Path) -> None:
    patient = start(17)
    told = as_user(STRANGER, patient.pid, folder)
    assert "Why.DENIED" in told
    assert "belongs to uid 0: run as that user or as root" in told
    unharmed(patient)


def as_user(uid: int, pid: int, folder: Path) -> str:
    """What the attach client tells a process of that user."""
    code = (
        f"import sys, os; sys.path.insert(0, {str(machine.shown(CHECKOUT / 'src'))!r})\n"
        "from seedstall.effect.attach import Attacher\n"
        f"os.setgroups([]); os.setgid({uid}); os.setuid({uid})\n"
        f"print(repr(Attacher({pid}, timeout_s=20).ask('threaddump'))[:400])"
    )
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    ).stdout


def test_properties_are_those_of_the_jvm(start: Start) -> None:
    patient = start(17, "-Dseen.by=the client")
    reading = ask(patient, command="properties")
    assert isinstance(reading, Got)
    assert b"\nseen.by=the client\n" in reading.value


def test_other_commands_are_never_asked(start: Start) -> None:
    patient = start()
    for command in ("load", "setflag", "dumpheap", "jcmd", "agentProperties", "threaddump -l"):
        refused(Attacher(patient.pid).ask(command), "only threaddump and properties")


def test_a_dry_run_does_nothing(start: Start) -> None:
    patient = start()
    attacher = Attacher(patient.pid, dry_run=True)
    refused(attacher.ask("threaddump"), "dry run")
    pid = patient.pid
    assert [a.what for a in attacher.actions] == [
        f"create /proc/{pid}/root/tmp/.attach_pid{pid}",
        "send SIGQUIT",
        f"remove /proc/{pid}/root/tmp/.attach_pid{pid}",
        f"connect to /proc/{pid}/root/tmp/.java_pid{pid} and ask threaddump",
    ]
    assert not Path(f"/tmp/.java_pid{pid}").exists()
    unharmed(patient)


def test_a_removed_socket_is_made_again(start: Start) -> None:
    """Cleaners of /tmp take it away; JDK-8225690 (11.0.4) makes the listener notice."""
    patient = start(21)
    assert isinstance(ask(patient), Got)
    Path(f"/tmp/.java_pid{patient.pid}").unlink()
    assert isinstance(ask(patient), Got)
    unharmed(patient)


@pytest.mark.parametrize("feature", JDKS)
def test_a_socket_lost_in_the_start_is_called_for_again(
    start: Start, feature: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A JVM that starts may take away the socket it has just made, and knows it no more than we."""
    patient = start(feature)
    lost: list[Path] = []
    connect = Listener.connect

    def lose(self: Listener) -> object:
        if door(patient).exists() and not lost:
            lost.append(door(patient))
            door(patient).unlink()
        return connect(self)

    monkeypatch.setattr(Listener, "connect", lose)
    attacher = Attacher(patient.pid, timeout_s=20)
    assert isinstance(attacher.ask("threaddump"), Got)
    assert lost
    assert [a.what for a in attacher.actions] == ["sigquit+sigquit+attach threaddump"]
    unharmed(patient)


# --- containers ------------------------------------------------------------------------------------------------------


def child_of(pid: int) -> int:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return int(text.split()[0])


def boxed(folder: Path, setup: str) -> Patient:
    """A patient in mount and pid namespaces of its own, started by the script *setup* as its arguments."""
    java = patients.command(17, threads=3)
    return patients.start([*UNSHARE, "sh", "-c", setup, "sh", *java], folder)


UNSHARE = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
OWN_TMP = 'mount -t tmpfs none /tmp && cd /tmp && exec "$@"'


@pytest.mark.root
def test_a_jvm_in_namespaces_of_its_own(folder: Path) -> None:
    patient = boxed(folder, OWN_TMP)
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        answers_from_inside(patient)
    finally:
        patient.end()


@pytest.mark.root
def test_a_jvm_in_a_user_namespace_of_its_own(folder: Path) -> None:
    """It is root inside and 100000 outside: our own root is nobody in there."""
    java = patients.command(17, threads=3)
    inside = [*UNSHARE, "sh", "-c", OWN_TMP, "sh", *java]
    patient = patients.start([sys.executable, "-c", IN_USER_NAMESPACE, *inside], folder)
    try:
        patient.wait_until(lambda: b"map" in patient.said)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{patient.pid}/{name}").write_text("0 100000 65536")
        assert patient.process.stdin is not None
        patient.process.stdin.write(b"\n")
        patient.process.stdin.flush()
        patient.wait_until(lambda: b"up" in patient.said)
        assert f"Uid:\t{100000}" in Path(f"/proc/{child_of(patient.pid)}/status").read_text()
        answers_from_inside(patient)
    finally:
        patient.end()


IN_USER_NAMESPACE = """
import ctypes, os, sys
assert ctypes.CDLL(None).unshare(0x10000000) == 0
print("map", flush=True)
os.read(0, 1)
os.setgid(0)
os.setuid(0)
os.execv("/usr/bin/" + sys.argv[1], sys.argv[1:])
"""


def answers_from_inside(patient: Patient) -> None:
    pid = child_of(patient.pid)
    Path(f"/tmp/.java_pid{pid}").unlink(missing_ok=True)  # of an earlier JVM with that pid
    attacher = Attacher(pid, timeout_s=20)
    reading = attacher.ask("threaddump")
    assert isinstance(reading, Got), reading
    assert "idle-2" in stacks(reading.value.decode())
    assert isinstance(attacher.ask("threaddump"), Got)
    assert [p.name for p in Path(f"/proc/{pid}/root/tmp").glob(".*")] == [".java_pid1"]
    assert not Path(f"/tmp/.java_pid{pid}").exists(), "nothing on the host"
    assert (os.geteuid(), os.getegid()) == (0, 0)
    assert patient.is_well()
    assert not patient.dumped


@pytest.mark.root
def test_a_jvm_in_a_user_namespace_without_a_root(folder: Path) -> None:
    """One id is mapped, and it is not 0: nobody in there is root, and our own root is nobody."""
    java = patients.command(17, threads=3)
    patient = patients.start([sys.executable, "-c", IN_ROOTLESS_NAMESPACE, *java], folder)
    try:
        patient.wait_until(lambda: b"map" in patient.said)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{patient.pid}/{name}").write_text("1000 101000 1")
        assert patient.process.stdin is not None
        patient.process.stdin.write(b"\n")
        patient.process.stdin.flush()
        patient.wait_until(lambda: b"up" in patient.said)
        assert "Uid:\t101000" in Path(f"/proc/{child_of(patient.pid)}/status").read_text()
        answers_from_inside(patient)
    finally:
        patient.end()


IN_ROOTLESS_NAMESPACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
assert libc.unshare(0x10000000) == 0
print("map", flush=True)
os.read(0, 1)
os.setgid(1000)
os.setuid(1000)
assert libc.unshare(0x20000 | 0x20000000) == 0  # mount and pid
if child := os.fork():
    os._exit(os.waitpid(child, 0)[1] & 255)
assert libc.mount(b"none", b"/", None, 0x44000, None) == 0
assert libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0
os.chdir("/tmp")
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.root
def test_a_jvm_in_a_rootless_container_answers_its_own_user(folder: Path) -> None:
    """As podman makes it: root inside is the user outside, who needs no other right."""
    java = patients.command(17, threads=3)
    rootless = [UNSHARE[0], "--user", "--map-root-user", *UNSHARE[1:]]
    patient = patients.start(
        [*rootless, "sh", "-c", OWN_TMP, "sh", *java], folder, ids=(STRANGER, STRANGER)
    )
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        pid = child_of(patient.pid)
        assert "Got" in as_user(STRANGER, pid, folder)
        assert [p.name for p in Path(f"/proc/{pid}/root/tmp").glob(".*")] == [".java_pid1"]
        assert isinstance(ask_pid(pid), Got), "and root"
        assert patient.is_well()
        assert not patient.dumped
    finally:
        patient.end()


def container(inside: Path) -> str:
    """Furnish a root directory of its own for a JVM; the mounts that it needs, as shell commands."""
    inside.mkdir()
    folders = ("usr", "etc", "dev", str(machine.shown_at)[1:])
    for name in (*folders, "proc"):
        (inside / name).mkdir(parents=True, exist_ok=True)
    for name in ("lib", "lib64", "bin"):
        if Path("/", name).is_symlink():
            (inside / name).symlink_to(Path("/", name).readlink())
        else:
            (inside / name).mkdir()
    binds = (f"mount --rbind /{name} {inside}/{name}" for name in folders)
    return " && ".join([*binds, f"mount -t proc proc {inside}/proc"])


LIKE_DOCKER = (*UNSHARE, "--uts", "--ipc", "--net", "--cgroup")
PIVOT = (
    "mount --bind {root} {root} && {binds} && cd {root} && mkdir -p old && pivot_root . old"
    ' && umount -l /old && {tmp} && exec "$@"'
)


@pytest.mark.root
def test_a_jvm_in_a_container_as_docker_makes_it(folder: Path) -> None:
    """Every namespace but the user's, a root of its own by pivot_root, /proc and /tmp its own, the JVM pid 1.

    TMPDIR and java.io.tmpdir lead elsewhere: HotSpot takes /tmp for its socket all the same.
    """
    root = folder / "root"
    binds = container(root)
    (root / "tmp").mkdir()
    (root / "elsewhere").mkdir(mode=0o777)
    setup = PIVOT.format(
        root=root,
        binds=binds,
        tmp="mount -t tmpfs none /tmp && export TMPDIR=/elsewhere && cd /elsewhere",
    )
    java = patients.command(17, ("-Djava.io.tmpdir=/elsewhere",), threads=3)
    patient = patients.start([*LIKE_DOCKER, "sh", "-c", setup, "sh", *java], folder)
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        answers_from_inside(patient)
        assert list((root / "elsewhere").iterdir()) == []
    finally:
        patient.end()


@pytest.mark.root
@pytest.mark.parametrize(
    ("tmp", "words"),
    [
        ("mount -t tmpfs -o ro none /tmp", "its /tmp takes no file (Read-only file system)"),
        pytest.param(
            "mount -t tmpfs -o nr_inodes=1 none /tmp",
            "its /tmp takes no file (No space left on device)",
            marks=pytest.mark.matrix,
        ),
        pytest.param("rmdir /tmp", "No such file or directory", marks=pytest.mark.matrix),
    ],
    ids=["read-only", "full", "missing"],
)
def test_a_jvm_whose_tmp_takes_no_socket_is_not_called(folder: Path, tmp: str, words: str) -> None:
    """It would take the signal and never answer."""
    root = folder / "root"
    binds = container(root)
    (root / "tmp").mkdir()
    setup = PIVOT.format(root=root, binds=binds, tmp=f"{tmp} && cd /")
    java = patients.command(17, threads=3)
    patient = patients.start([*LIKE_DOCKER, "sh", "-c", setup, "sh", *java], folder)
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        attacher = Attacher(child_of(patient.pid), timeout_s=20)
        reading = attacher.ask("threaddump")
        assert isinstance(reading, Missing), reading
        assert words in reading.detail
        assert attacher.actions == ()
        assert patient.is_well()
        assert not patient.dumped
    finally:
        patient.end()


@pytest.mark.root
@pytest.mark.parametrize("by_kernel", [True, False], ids=["openat2", "walk"])
def test_an_absolute_link_in_a_container_is_not_followed_on_the_host(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, by_kernel: bool
) -> None:
    """Its /tmp leads to /elsewhere: of its own root. The host has a trap of that name."""
    inside, trap = folder / "root", Path("/seedstall-elsewhere")
    binds = container(inside)
    (inside / "seedstall-elsewhere").mkdir()
    (inside / "tmp").symlink_to("/seedstall-elsewhere")
    trap.mkdir()
    monkeypatch.setattr(rooted, "WALKS_BEFORE_CTYPES", 0 if by_kernel else 1 << 60)
    walked: list[str] = []
    walk = rooted.walk

    def note(root: int, path: str, *, follow: bool = True) -> int:
        walked.append(path)
        return walk(root, path, follow=follow)

    monkeypatch.setattr(rooted, "walk", note)
    patient = boxed(folder, f'{binds} && exec chroot {inside} "$@"')
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        pid = child_of(patient.pid)
        assert isinstance(ask_pid(pid), Got)
        assert ("tmp/" in walked) is not by_kernel
        assert Path(f"/proc/{pid}/root/seedstall-elsewhere/.java_pid1").exists()
        assert list(trap.iterdir()) == [], "nothing happened on the host"
        assert patient.is_well()
    finally:
        patient.end()
        trap.rmdir()


def ask_pid(pid: int) -> Reading[bytes]:
    return Attacher(pid, timeout_s=20).ask("threaddump")


# --- before its handler stands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature", JDKS)
def test_without_a_handler_it_is_not_signalled(start: Start, feature: int) -> None:
    """With -Xrs it opens its socket when it starts, and that is used. Once it is gone, a signal would be death."""
    patient = start(feature, "-Xrs")
    patient.wait_until(door(patient).exists)
    attacher = Attacher(patient.pid, timeout_s=20)
    assert isinstance(attacher.ask("threaddump"), Got)
    assert [a.what for a in attacher.actions] == ["attach threaddump"]

    door(patient).unlink()
    refused(ask(patient), "does not handle SIGQUIT", "-Xrs")
    unharmed(patient)
    os.kill(patient.pid, signal.SIGQUIT)
    assert patient.process.wait(20) == -signal.SIGQUIT, "the harm that the guard prevents"


def test_a_handler_of_the_programs_own_is_not_called(start: Start) -> None:
    """With -Xrs, SigCgt holds SIGQUIT all the same where native code took it: here for its own end."""
    patient = start(25, "-Xrs", "--enable-native-access=ALL-UNNAMED", main="Quits")
    patient.wait_until(door(patient).exists)
    door(patient).unlink()
    assert int(status_of(patient, "SigCgt"), 16) & 0b100, "SigCgt alone would let it through"
    refused(ask(patient), "-Xrs", "not for the JVM")
    unharmed(patient)
    os.kill(patient.pid, signal.SIGQUIT)
    assert patient.process.wait(20) == 3, "the harm that the guard prevents"


def status_of(patient: Patient, key: str) -> str:
    lines = Path(f"/proc/{patient.pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(key))


@pytest.mark.parametrize("delay_ms", [0, 2, 5, 10, 40])
def test_a_starting_jvm_is_not_killed(start: Start, delay_ms: int) -> None:
    """A C client killed 10 to 13 of 15 at 0 and 2 ms after exec.

    At 3 to 8 ms a JVM stands in another directory for a moment: a file placed there is not found later.
    """
    for feature in (11, 17, 21, 25):
        patient = start(feature, up=False)
        time.sleep(delay_ms / 1000)
        reading = ask(patient)
        assert isinstance(reading, Got) or reading.why is Why.REFUSED, reading
        patient.wait_until(lambda patient=patient: b"up" in patient.said)  # type: ignore[misc]
        unharmed(patient)


@pytest.mark.parametrize(
    ("options", "env"),
    [
        (("-XX:+DisableAttachMechanism",), {}),
        (("-XX:-DisableAttachMechanism", "-XX:+DisableAttachMechanism"), {}),
        ((), {"JAVA_TOOL_OPTIONS": "-XX:+DisableAttachMechanism"}),
        ((), {"_JAVA_OPTIONS": "-XX:+DisableAttachMechanism"}),
        (("@disable.args",), {}),
        (("-XX:Flags=disable.flags",), {}),
        (("@disable.args", "-XX:-UsePerfData"), {}),
    ],
    ids=[
        *("option", "last wins", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"),
        *("argument file", "flag file", "argument file and no performance data"),
    ],
)
def test_where_attaching_is_disabled_nothing_is_spilled(
    start: Start, folder: Path, options: tuple[str, ...], env: dict[str, str]
) -> None:
    (folder / "disable.args").write_text("-XX:+DisableAttachMechanism")
    (folder / "disable.flags").write_text("+DisableAttachMechanism")
    patient = start(17, *options, env=env)
    refused(ask(patient, 1), "DisableAttachMechanism")
    unharmed(patient)
    os.kill(patient.pid, signal.SIGQUIT)
    patient.wait_until(
        lambda: b"Full thread dump" in patient.said
    )  # the harm: what a client without a guard gets


# --- not able to answer ----------------------------------------------------------------------------------------------


def test_a_stopped_jvm_is_left_alone(start: Start) -> None:
    patient = start()
    stop(patient)
    refused(ask(patient), "stopped")
    os.kill(patient.pid, signal.SIGCONT)
    unharmed(patient)
    assert isinstance(ask(patient), Got)


def stop(patient: Patient) -> None:
    os.kill(patient.pid, signal.SIGSTOP)
    wait_for_state(patient.pid, "T")


@pytest.mark.root  # or a Yama that lets siblings trace
def test_a_traced_jvm_is_left_alone(start: Start) -> None:
    """A debugger is shown each signal first: until it goes on, the thread stands still."""
    patient = start()
    tracer = subprocess.Popen(
        [sys.executable, "-c", SEIZE, str(patient.pid)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
    )
    assert tracer.stdout is not None
    assert tracer.stdout.readline() == b"seized\n"
    try:
        refused(ask(patient), f"being debugged by process {tracer.pid}")
        unharmed(patient)
        os.kill(patient.pid, signal.SIGQUIT)
        end = time.monotonic() + 10
        while "t" not in states_of(patient.pid):
            assert time.monotonic() < end
        refused(
            ask(patient), "being debugged by process" if leader(patient) != "t" else "stopped by"
        )
    finally:
        tracer.kill()
        tracer.communicate()


def leader(patient: Patient) -> str:
    return Path(f"/proc/{patient.pid}/stat").read_text().rpartition(")")[2].split()[0]


SEIZE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for tid in os.listdir(f"/proc/{sys.argv[1]}/task"):  # PTRACE_SEIZE stops nothing by itself
    assert libc.ptrace(0x4206, int(tid), None, None) == 0, ctypes.get_errno()
print("seized", flush=True)
sys.stdin.read()
"""


def states_of(pid: int) -> set[str]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks}


def wait_for_state(pid: int, state: str) -> None:
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != state:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.root
@pytest.mark.parametrize("version", [1, 2])
def test_a_frozen_jvm_is_left_alone(
    start: Start, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = start()
    with control_group("freezer" if version == 1 else "", patient.pid) as group:
        switch = group / ("freezer.state" if version == 1 else "cgroup.freeze")
        switch.write_text("FROZEN" if version == 1 else "1")
        try:
            refused(ask(patient), "control group is frozen", str(group))
            unasked = Path(f"/proc/{patient.pid}/status").read_text()
            assert "ShdPnd:\t0000000000000000" in unasked
            without_guards(monkeypatch)
            reading = ask(patient, 0.3)
            assert isinstance(reading, Missing)
            assert "still pending" in reading.detail
        finally:
            switch.write_text("THAWED" if version == 1 else "0")
        patient.wait_until(
            lambda: b"Full thread dump" in patient.said
        )  # the harm: at some later time
        assert patient.is_well()


@contextlib.contextmanager
def control_group(controller: str, pid: int, *, depth: int = 1) -> Iterator[Path]:
    """A group of its own for the process, in the hierarchy with that controller, ``""`` for version 2."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    kind = "cgroup" if controller else "cgroup2"
    points = [
        m[1] for m in mounts if m[2] == kind and (not controller or controller in m[3].split(","))
    ]
    if not points:
        pytest.skip(f"needs a {kind} hierarchy mounted, {controller}")
    made = [Path(points[0], "seedstall-test", *["inner"] * n) for n in range(depth)]
    for group in made:
        try:
            group.mkdir(exist_ok=True)
        except OSError as error:
            pytest.skip(f"needs writable control groups: {error}")
    (made[-1] / "cgroup.procs").write_text(str(pid))
    try:
        yield made[0]
    finally:
        with contextlib.suppress(ProcessLookupError):  # it has ended
            Path(points[0], "cgroup.procs").write_text(str(pid))
        for group in reversed(made):
            group.rmdir()


def test_a_zombie_is_no_target(start: Start) -> None:
    patient = start()
    os.kill(patient.pid, signal.SIGKILL)
    wait_for_state(patient.pid, "Z")

    answer = ask(patient)

    assert isinstance(answer, Missing)
    assert answer.why in (Why.REFUSED, Why.VANISHED)
    assert "zombie" in answer.detail or "ended" in answer.detail


def test_another_program_is_no_target(folder: Path) -> None:
    patient = patients.start(["sleep", "60"], folder)
    try:
        refused(ask(patient), "not a HotSpot JVM")
        assert patient.process.poll() is None
    finally:
        patient.end()


def test_a_program_with_a_jvm_inside_is_not_signalled(folder: Path) -> None:
    """Real embedding: this Python starts a JVM by JNI and takes SIGQUIT for itself afterwards."""
    patient = patients.start([sys.executable, "-c", EMBED, str(java_of(17).parent.parent)], folder)
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        assert host.is_jvm(patient.pid)
        refused(ask(patient), "a program with a JVM inside")
        assert patient.process.poll() is None
        os.kill(patient.pid, signal.SIGQUIT)
        assert patient.process.wait(20) == 7, "the harm that the guard prevents: it quits"
    finally:
        patient.end()


EMBED = """
import ctypes, os, signal, sys, time
class Option(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("extra", ctypes.c_void_p)]
class Arguments(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("count", ctypes.c_int), ("options", ctypes.POINTER(Option)),
                ("lenient", ctypes.c_ubyte)]
library = ctypes.CDLL(sys.argv[1] + "/lib/server/libjvm.so")
arguments = Arguments(0x00010008, 0, None, 0)
vm, env = ctypes.c_void_p(), ctypes.c_void_p()
assert library.JNI_CreateJavaVM(ctypes.byref(vm), ctypes.byref(env), ctypes.byref(arguments)) == 0
signal.signal(signal.SIGQUIT, lambda *_: os._exit(7))
print("up", flush=True)
while True:
    time.sleep(1)
"""


# --- no room for one more thread -------------------------------------------------------------------------------------


def threads_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


@contextlib.contextmanager
def others_of(uid: int, count: int) -> Iterator[None]:
    """So many processes of that user."""
    sleeps = [
        subprocess.Popen(["sleep", "600"], user=uid, group=uid, extra_groups=[])
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in sleeps:
            process.kill()
            process.wait()


MOST = 60


@pytest.mark.root
@pytest.mark.parametrize("feature", JDKS)
def test_at_its_users_thread_limit_it_is_not_asked(
    start: Start, feature: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = start(feature, ids=(STRANGER, STRANGER), nproc=MOST)
    with others_of(STRANGER, MOST - threads_of(patient.pid)):
        refused(
            ask(patient),
            "no room for one more thread",
            f"RLIMIT_NPROC of uid {STRANGER}: {MOST} of {MOST}",
        )
        unharmed(patient)

        monkeypatch.setattr(preflight, "SIGNAL", ())
        ask(patient, 5)
        assert patient.process.wait(20) == 1, "the harm that the guard prevents"


@pytest.mark.root
def test_with_room_for_a_few_threads_it_is_asked(start: Start) -> None:
    patient = start(17, ids=(STRANGER, STRANGER), nproc=MOST)
    with others_of(STRANGER, MOST - threads_of(patient.pid) - preflight.SPARE - 1):
        assert isinstance(ask(patient), Got)
        unharmed(patient)


@pytest.mark.root
def test_root_is_above_that_limit(start: Start) -> None:
    patient = start(17, nproc=1)
    assert isinstance(ask(patient), Got)
    unharmed(patient)


@pytest.mark.root
def test_at_the_limit_an_open_socket_is_used(start: Start) -> None:
    """No thread is needed for it."""
    patient = start(17, ids=(STRANGER, STRANGER), nproc=MOST)
    assert isinstance(ask(patient), Got)
    with others_of(STRANGER, MOST - threads_of(patient.pid)):
        assert isinstance(ask(patient), Got)
        unharmed(patient)


@pytest.mark.root
@pytest.mark.parametrize("depth", [1, 3])
def test_at_the_limit_of_its_control_group_it_is_not_asked(
    start: Start, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of an ancestor counts as well. Its memory shows all the same, and needs no thread of it."""
    patient = start(17)
    with control_group("pids", patient.pid, depth=depth) as group:
        (group / "pids.max").write_text(str(threads_of(patient.pid)))
        refused(ask(patient), "no room for one more thread", f"pids.max of {group}")
        read = from_memory(patient.pid)
        assert read.complete
        assert "main" in {thread.name for thread in read.threads if thread.frames}
        unharmed(patient)
        (group / "pids.max").write_text(str(threads_of(patient.pid) + 10))
        assert isinstance(ask(patient), Got)
        unharmed(patient)
    patient = start(17)
    with control_group("pids", patient.pid, depth=depth) as group:
        (group / "pids.max").write_text(str(threads_of(patient.pid)))
        without_guards(monkeypatch)
        ask(patient, 5)
        assert patient.process.wait(20) == 1, "the harm that the guard prevents"


OTHERS_IN_MATRIX = [
    17,
    *(pytest.param(n, marks=pytest.mark.matrix) for n in JDKS if n != 17),
]


@pytest.mark.parametrize("feature", OTHERS_IN_MATRIX)
def test_without_memory_for_a_stack_it_is_not_asked(
    start: Start, feature: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever keeps it from making a thread ends it: here ulimit -v."""
    patient = start(feature)
    used = int(status_of(patient, "VmSize")) << 10
    limit_of(patient, resource.RLIMIT_AS, used + 200_000)
    refused(ask(patient), "little room for memory (RLIMIT_AS")
    unharmed(patient)

    without_guards(monkeypatch)
    ask(patient, 5)
    assert patient.process.wait(20) == 1, "the harm that the guard prevents"


@pytest.mark.parametrize("feature", OTHERS_IN_MATRIX)
def test_at_its_limit_of_files_it_is_not_asked(
    start: Start, feature: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its listener ends at the first accept(2) that fails, and no client is ever answered again."""
    patient = start(feature)
    assert isinstance(ask(patient), Got)
    limit_of(patient, resource.RLIMIT_NOFILE, len(list(Path(f"/proc/{patient.pid}/fd").iterdir())))
    refused(ask(patient), "no room for one more file (RLIMIT_NOFILE")
    limit_of(patient, resource.RLIMIT_NOFILE, 1000)
    assert isinstance(ask(patient), Got)
    unharmed(patient)

    assert any(_deafened(patient, monkeypatch) for _ in range(5)), (
        "the harm that the guard prevents: with room again it is deaf"
    )
    assert patient.is_well()


def _deafened(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Ask without guards at the limit; whether it answers with room again: its accept(2) may have been quicker."""
    with monkeypatch.context() as unguarded:
        without_guards(unguarded)
        free = set(range(1000)) - {int(p.name) for p in Path(f"/proc/{patient.pid}/fd").iterdir()}
        limit_of(patient, resource.RLIMIT_NOFILE, min(free))
        ask(patient, 0.5)
    limit_of(patient, resource.RLIMIT_NOFILE, 1000)
    return isinstance(ask(patient, 1), Missing)


def limit_of(patient: Patient, kind: int, soft: int) -> None:
    _, hard = resource.prlimit(patient.pid, kind)
    resource.prlimit(patient.pid, kind, (soft, hard))


# --- strangers at the door -------------------------------------------------------------------------------------------


def door(patient: Patient) -> Path:
    return Path(f"/tmp/.java_pid{patient.pid}")


@pytest.fixture
def planted(start: Start) -> Iterator[Patient]:
    patient = start()
    yield patient
    door(patient).unlink(missing_ok=True)


def test_a_planted_link_is_not_followed(planted: Patient, folder: Path) -> None:
    door(planted).symlink_to(folder / "elsewhere")
    refused(ask(planted), "symbolic link")
    unharmed(planted)


def test_a_planted_file_is_not_used(planted: Patient) -> None:
    door(planted).write_text("")
    refused(ask(planted), "not the JVM's socket")
    unharmed(planted)


def test_a_socket_of_another_process_is_not_talked_to(planted: Patient) -> None:
    """Same user, same name, right type: the kernel tells who listens."""
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(door(planted)))
        trap.listen()
        refused(ask(planted), f"process {os.getpid()} listens", "not the JVM")
        trap.settimeout(0)
        connection, _ = trap.accept()
        assert connection.recv(100) == b"", "it was told nothing"
        connection.close()
    unharmed(planted)


@pytest.mark.root
def test_a_socket_of_another_user_is_not_used(planted: Patient) -> None:
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(door(planted)))
        trap.listen()
        os.chown(door(planted), STRANGER, STRANGER)
        refused(ask(planted), f"belongs to uid {STRANGER}")
    unharmed(planted)


def test_a_socket_left_by_an_earlier_jvm_of_that_pid_is_replaced(planted: Patient) -> None:
    """Containers: the JVM is pid 1 each time, /tmp is kept."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(door(planted)))
    assert isinstance(ask(planted), Got)
    unharmed(planted)


# --- attach files of others ------------------------------------------------------------------------------------------


def trigger(patient: Patient, folder: Path) -> Path:
    return folder / f".attach_pid{patient.pid}"


def test_a_stale_attach_file_is_used_and_taken_away(start: Start, folder: Path) -> None:
    patient = start()
    stale = trigger(patient, folder)
    stale.write_text("")
    os.utime(stale, (1, 1))
    assert isinstance(ask(patient), Got)
    unharmed(patient)


def test_the_file_of_a_client_at_work_is_left_to_it(start: Start, folder: Path) -> None:
    patient = start()
    trigger(patient, folder).write_text("")
    assert isinstance(ask(patient), Got)
    assert patient.files() == [trigger(patient, folder).name]
    trigger(patient, folder).unlink()
    unharmed(patient)


@pytest.mark.root
def test_an_attach_file_of_another_user_is_not_relied_on(start: Start, folder: Path) -> None:
    """The JVM would not accept it, and print its dump into its own output instead."""
    patient = start(17, ids=(STRANGER, STRANGER))
    foreign = trigger(patient, folder)
    foreign.write_text("")
    os.chown(foreign, STRANGER + 1, STRANGER + 1)
    refused(ask(patient), str(foreign.name), "remove it")
    assert patient.is_well()
    assert not patient.dumped
    os.kill(patient.pid, signal.SIGQUIT)
    patient.wait_until(
        lambda: b"Full thread dump" in patient.said
    )  # the harm: it does not accept the file


@pytest.mark.root
def test_a_read_only_working_directory_does_not_matter(start: Start, folder: Path) -> None:
    patient = start(17, ids=(STRANGER, STRANGER))
    folder.chmod(0o555)
    assert "Got" in as_user(STRANGER, patient.pid, folder)
    folder.chmod(0o777)
    unharmed(patient)


def test_two_clients_at_once_both_get_a_dump(start: Start, folder: Path) -> None:
    for _ in range(3):
        patient = start()
        code = (
            f"import sys; sys.path.insert(0, {str(machine.shown(CHECKOUT / 'src'))!r})\n"
            "from seedstall.effect.attach import Attacher; from seedstall.model.evidence import Got\n"
            f"sys.exit(not isinstance(Attacher({patient.pid}, timeout_s=20).ask('threaddump'), Got))"
        )
        clients = [subprocess.Popen([sys.executable, "-c", code], cwd=folder) for _ in range(4)]
        assert [client.wait(40) for client in clients] == [0, 0, 0, 0]
        assert patient.is_well()
        assert patient.files() == []


# --- no answer -------------------------------------------------------------------------------------------------------


def without_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that stops between the look and the signal, which no guard can exclude."""
    monkeypatch.setattr(preflight, "QUESTION", ())
    monkeypatch.setattr(preflight, "SIGNAL", ())


def test_after_the_time_limit_the_signal_is_accounted_for(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = start()
    without_guards(monkeypatch)
    stop(patient)
    attacher = Attacher(patient.pid, timeout_s=0.3)
    began = time.monotonic()
    reading = attacher.ask("threaddump")
    assert time.monotonic() - began < 2
    assert isinstance(reading, Missing)
    assert reading.why is Why.TIMED_OUT
    assert "still pending" in reading.detail
    assert "own standard output" in reading.detail
    assert [a.what for a in attacher.actions] == ["sigquit"]
    assert patient.files() == []
    os.kill(patient.pid, signal.SIGCONT)
    patient.wait_until(lambda: b"Full thread dump" in patient.said)
    assert patient.is_well()


def test_with_a_signal_pending_no_other_is_sent(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = start()
    stop(patient)
    os.kill(patient.pid, signal.SIGQUIT)
    monkeypatch.setattr(preflight, "QUESTION", ())
    refused(ask(patient), "still pending")
    os.kill(patient.pid, signal.SIGCONT)
    assert patient.is_well()


def test_a_connected_jvm_that_does_not_answer_is_given_up(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = start()
    assert isinstance(ask(patient), Got)
    without_guards(monkeypatch)
    stop(patient)
    reading = ask(patient, 0.3)
    assert isinstance(reading, Missing)
    assert reading.why is Why.TIMED_OUT
    os.kill(patient.pid, signal.SIGCONT)
    assert patient.is_well()
    assert isinstance(ask(patient), Got)


@pytest.mark.root  # or a Yama that lets siblings trace
def test_interrupted_after_the_signal_it_says_what_may_come(start: Start) -> None:
    """The JVM's own dispatcher of signals stands still: no guard can know, and the SIGQUIT is taken already."""
    patient = start()
    tasks = Path(f"/proc/{patient.pid}/task").iterdir()
    dispatcher = next(t.name for t in tasks if (t / "comm").read_text().startswith("Signal Disp"))
    tracer = subprocess.Popen(
        [sys.executable, "-c", HOLD, dispatcher], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    )
    assert tracer.stdout is not None
    assert tracer.stdout.readline() == b"held\n"
    try:
        done = machine.run_seedstall("diagnose", "--attach", "--timeout", "0.5", patient.pid)
        assert "not entropy" in done.stdout, "it goes on with what else there is"
        assert f"done to {patient.pid}: sigquit" in done.stdout
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            client = subprocess.Popen(
                [sys.executable, "-m", "seedstall", "dump", str(patient.pid), "--timeout", "30"],
                env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
                stderr=subprocess.PIPE,
                text=True,
            )
            patient.wait_until(lambda: bool(patient.files()))
            time.sleep(0.05)
            client.send_signal(number)
            _, told = client.communicate(timeout=20)
            assert client.returncode in (-number, 128 + number), told
            assert patient.files() == []
            assert f"{patient.pid}: interrupted: it took the SIGQUIT" in told
            assert "a thread dump may stand in its own standard output" in told
    finally:
        tracer.kill()
        tracer.communicate()
    patient.wait_until(lambda: b"Full thread dump" in patient.said)
    assert patient.is_well()


HOLD = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for request in (0x4206, 0x4207):  # PTRACE_SEIZE, PTRACE_INTERRUPT: that thread alone
    assert libc.ptrace(request, int(sys.argv[1]), None, None) == 0, ctypes.get_errno()
print("held", flush=True)
sys.stdin.read()
"""


def test_no_descriptor_is_lost(start: Start) -> None:
    patient = start()
    ask(patient)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        assert isinstance(ask(patient), Got)
    refused(Attacher(patient.pid, dry_run=True).ask("threaddump"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_process_that_is_gone_has_vanished() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    reading = ask_pid(gone.pid)
    assert isinstance(reading, Missing)
    assert reading.why is Why.VANISHED
