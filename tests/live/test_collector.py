"""`capture --script` on real JVMs: in every shell, as root and not, without /tmp, through sshd, and cut on its way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.live import collectors, daemons, patients, tomcats
from tests.live.collectors import (
    APPLETS,
    SHELLS,
    bare,
    bundle,
    collected,
    manifest,
    members,
    shell,
    verdict,
)
from tests.live.patients import STRANGER, Patient, unharmed
from tests.live.rig import until
from tests.machine import JDK8_ROOT, java_of, jdk8_bin, run_seedstall

import seedstall
from seedstall.effect.collector import script
from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice, How, waiting_thread
from seedstall.model.evidence import Got, Missing, Ref, Space
from seedstall.model.report import Report, Verdict
from seedstall.source import gathered
from seedstall.source.base import Recorder
from seedstall.source.host import HostSource

pytestmark = pytest.mark.jvm

STALLED = ("stalled", "blocking-seed", "confirmed")


class Hung(NamedTuple):
    """A JVM that hangs, its waiting thread, and where it writes."""

    pid: int
    tid: int
    log: Path


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hung]:
    """One for all tests here: nothing that they do may free or harm it."""
    if not java_of(17).exists():
        pytest.skip("needs JDK 17: make jvms")
    log = tmp_path_factory.mktemp("hung") / "stdout.log"
    secrets = {
        "JAVA_TOOL_OPTIONS": "-Ddb.password=geheim1",
        "DB_PASSWORD": "geheim2",
        "OTHER": "geheim3",
    }
    command = [
        str(java_of(17)),
        "-Dmy.token=geheim4",
        "-cp",
        str(PROBE),
        "SeedProbe",
        "SHA1PRNG",
        "nextBytes",
    ]
    with DryDevice() as device, log.open("wb") as output:
        process = device.start(command, env={**os.environ, **secrets}, output=output)
        if process.how is How.EGD:
            pytest.skip("needs mount namespaces: run the tests as root, or allow user namespaces")
        until(lambda: process.waiting_thread() is not None, process)
        tid = process.waiting_thread()
        assert tid is not None
        yield Hung(process.pid, tid, log)
        assert process.poll() is None, "it lives on"
        assert process.waiting_thread() == tid


def told(answer: Verdict) -> tuple[str, str, str]:
    return (
        str(answer.status),
        str(answer.cause),
        answer.confidence.name.lower() if answer.confidence else "",
    )


@pytest.mark.parametrize(
    "words",
    [
        *("dash", "busybox sh"),
        *(pytest.param(w, marks=pytest.mark.matrix) for w in ("bash", "mksh", "bash --posix")),
    ],
)
def test_the_same_verdict_in_every_shell(hung: Hung, words: str, tmp_path: Path) -> None:
    """In busybox with its own programs alone; in an empty folder, in which nothing is left."""
    command = shell(words)
    env = bare(tmp_path / "bin", *APPLETS) if words.startswith("busybox") else None
    work = tmp_path / "work"
    work.mkdir()
    data = bundle(command, "--pid", hung.pid, "--passive", env=env, cwd=work)
    assert list(work.iterdir()) == []
    answer = verdict(data)
    assert told(answer) == STALLED
    assert f"thread {hung.tid} " in answer.sentence
    assert b"geheim" not in data
    found = members(data)
    for name in ("stat", "maps", "exe-header", "status"):
        assert f"proc/{hung.pid}/{name}" in found
    assert found[f"proc/{hung.pid}/exe-header"][:4] == b"\x7fELF"
    assert found["proc/version"] == Path("/proc/version").read_bytes()
    assert found["proc/sys/kernel/osrelease"] == Path("/proc/sys/kernel/osrelease").read_bytes()
    release = java_of(17).resolve().parent.parent / "release"
    assert found[f"root{release}"] == release.read_bytes()


def test_with_a_dump_it_says_what_the_live_diagnosis_says(hung: Hung) -> None:
    data = bundle(shell("dash"), "--pid", hung.pid)
    assert b"Full thread dump" in members(data)["jvm/threaddump.txt"]
    (live,) = seedstall.diagnose(str(hung.pid))
    assert isinstance(live, Report)
    answer = verdict(data)
    assert told(answer) == told(live.verdict) == STALLED
    assert answer.sentence.startswith('"main" has waited')
    assert "to seed SHA1PRNG for SeedProbe.use" in answer.sentence
    assert "did\tasked" in members(data)["seedstall-bundle"].decode()
    assert b"Full thread dump" not in hung.log.read_bytes(), (
        "jstack asked, and no signal alone was sent"
    )


def test_all_that_the_live_diagnosis_reads_is_collected(hung: Hung, tmp_path: Path) -> None:
    """What it does not send is told, and can be counted on the fingers."""
    from seedstall.engine.diagnosis import diagnose_case

    with HostSource(hung.pid, memory_too=False) as live:
        seen = Recorder(live)
        diagnose_case(seen, str(hung.pid))
    path = tmp_path / "bundle.tar"
    path.write_bytes(bundle(shell("dash"), "--pid", hung.pid, "--passive"))
    (held,) = gathered.opened(str(path))
    lacking = {}
    for ref, reading in seen.readings.items():
        if ref.space is Space.INPUT or ref == Ref(Space.ATTACH, "threaddump"):
            continue
        answer = held.read(ref)
        if isinstance(reading, Got) != isinstance(answer, Got):
            lacking[str(ref)] = str(answer) if isinstance(answer, Missing) else "got"
        elif (
            isinstance(answer, Missing)
            and isinstance(reading, Missing)
            and reading.why is not answer.why
        ):
            lacking[str(ref)] = str(answer.why)
    not_sent = {
        "kernel:probe/getrandom-insecure",
        "kernel:probe/getrandom-nonblock",
        "kernel:probe/poll",
        "kernel:probe/vdso",
        # It holds the command line, and with it the test's secrets.
        f"root:tmp/hsperfdata_{_user(hung.pid)}/{hung.pid}",
        "process:core",
    }
    told_of_threads = {name for name in lacking if name.startswith("process:task/")}
    assert set(lacking) - told_of_threads <= not_sent, lacking
    assert len(told_of_threads) <= 4, "threads come and go"


def _user(pid: int) -> str:
    return next(p.parent.name for p in Path("/tmp").glob(f"hsperfdata_*/{pid}")).removeprefix(
        "hsperfdata_"
    )


def test_with_cat_tr_and_sleep_alone(hung: Hung, tmp_path: Path) -> None:
    """A host that has next to nothing: what cannot be read is told, and the rest is enough to suspect it."""
    env = bare(tmp_path / "bin", "cat", "tr", "sleep")
    data = bundle([*shell("dash")], "--pid", hung.pid, "--passive", env=env)
    lines = manifest(data)
    assert (f"proc/{hung.pid}/exe-header", "not-collected") in lines
    assert (f"proc/{hung.pid}/fd", "not-collected") in lines
    answer = verdict(data)
    assert answer.status == "unknown"
    assert f"what thread {hung.tid} reads from is not known" in answer.sentence
    assert members(data)[f"proc/{hung.pid}/task/{hung.tid}/syscall"].startswith(b"0 0x")


def test_without_cat_it_says_so(tmp_path: Path) -> None:
    done = collected(shell("dash"), env=bare(tmp_path / "bin", "sleep", "tr"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"there is no cat on this host" in done.stderr


@pytest.mark.root
@pytest.mark.matrix
def test_without_tmp_on_a_read_only_system(hung: Hung) -> None:
    """As in a container with readOnlyRootFilesystem: no place can be written to at all."""
    cover = "; ".join(
        f"mount -t tmpfs -o ro none {place}" for place in ("/tmp", "/var/tmp", "/dev/shm")
    )
    rest = "mount -o remount,ro,bind / 2>/dev/null || mount -o remount,ro / 2>/dev/null; true"
    inside = [*shell("dash"), "-c", f'{cover}; {rest}; exec "$@"', "sh", *shell("mksh")]
    data = bundle(["unshare", "--mount", *inside], "--pid", hung.pid, "--passive")
    assert told(verdict(data)) == STALLED


@pytest.mark.root
def test_another_users_jvm_is_told_to_be_closed(hung: Hung) -> None:
    command = [
        "setpriv",
        f"--reuid={STRANGER}",
        f"--regid={STRANGER}",
        "--clear-groups",
        *shell("dash"),
    ]
    data = bundle(command, "--pid", hung.pid, "--signal")
    lines = manifest(data)
    reason = "the process belongs to uid 0: run as that user or as root"
    for name in ("maps", "environ", "fd"):
        assert lines[f"proc/{hung.pid}/{name}", "denied"] == reason
    assert lines[f"proc/{hung.pid}/task/{hung.tid}/syscall", "denied"] == reason
    assert reason in lines["jvm/threaddump.txt", "refused"]
    answer = verdict(data)
    assert answer.status == "unknown"
    assert reason in answer.sentence


def test_a_script_that_was_cut_does_nothing(hung: Hung) -> None:
    text = script().encode()
    for end in (len(text) // 3, len(text) // 2, len(text) - 1500, len(text) - 12, len(text) - 4):
        for words in ("dash", "busybox sh"):
            done = subprocess.run(
                [*shell(words), "-s", "--", "--pid", str(hung.pid)],
                input=text[:end],
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert done.stdout == b"", end


def test_a_reader_that_goes_away_ends_it_and_nothing_stays(hung: Hung) -> None:
    process = subprocess.Popen(
        [*shell("dash"), "-s", "--", "--pid", str(hung.pid), "--passive", "--takes", "50"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(script().encode())
    process.stdin.close()
    process.stdout.read(512)
    process.stdout.close()
    assert process.wait(60) in (141, 1, -signal.SIGPIPE)
    ends = time.monotonic() + 30
    while _session(process.pid):
        assert time.monotonic() < ends, _session(process.pid)
        time.sleep(0.1)


def _session(leader: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stat = path.read_text(errors="replace")
        except OSError:
            continue
        if stat.rpartition(") ")[2].split()[3] == str(leader):
            found.append(stat[:60])
    return found


def test_what_hangs_is_left_behind_in_time(tmp_path: Path) -> None:
    """A read that never ends, and one that cannot even be killed (its end is left to itself); all shells at once."""
    os.mkfifo(tmp_path / "fifo")
    text = (
        collectors.library()
        + f'within 1 show "{tmp_path}/fifo"; put "$error, "\n'
        + f'within 1 cat "{tmp_path}/fifo"; put "$ended:$value, "\n'
        + 'end_tree() { kill -9 "$1"; }; within 1 sleep 20.0625; put "$ended$nl"\n'
    )
    begun = time.monotonic()
    with ThreadPoolExecutor() as pool:
        said = list(pool.map(lambda words: _said(words, text), SHELLS))
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        if _reads(path, "20.0625"):
            os.kill(int(path.parent.name), signal.SIGKILL)
    assert said == [b"a FIFO or device, late:, late\n"] * len(SHELLS)
    assert time.monotonic() - begun < 19, "none waited for the one that could not be killed"
    readers = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _reads(p, str(tmp_path / "fifo"))]
    assert readers == []


def _said(words: str, text: str) -> bytes:
    return subprocess.run(
        [*shell(words), "-s"], input=text.encode(), stdout=subprocess.PIPE, check=True
    ).stdout


def _reads(path: Path, name: str) -> bool:
    try:
        return name.encode() in path.read_bytes().split(b"\0")
    except OSError:
        return False


# --- kill -3 ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[bytes], Path]]]:
    """Start a JVM whose output goes to a file; all are ended with the test."""
    started = []

    def begin(*options: str) -> tuple[subprocess.Popen[bytes], Path]:
        if not java_of(17).exists():
            pytest.skip("needs JDK 17: make jvms")
        log = tmp_path / "catalina.out"
        with log.open("wb") as output:
            process = subprocess.Popen(
                patients.command(17, options),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                process_group=0,
            )
        started.append(process)
        ends = time.monotonic() + 60
        while b"up" not in log.read_bytes():
            assert time.monotonic() < ends
            time.sleep(0.05)
        return process, log

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def test_kill_3_gives_a_dump_where_it_is_allowed(
    logged: Callable[..., tuple[subprocess.Popen[bytes], Path]], tmp_path: Path
) -> None:
    process, log = logged()
    before = log.stat().st_size
    env = {"PATH": bare(tmp_path / "bin", *APPLETS)["PATH"]}
    # Without its own jstack in reach: a JRE has none.
    text = script().replace('"$home/bin/jstack" "${home%/jre}/bin/jstack" jstack', "jstack")
    done = subprocess.run(
        [*shell("dash"), "-s", "--", "--pid", str(process.pid), "--signal"],
        input=text.encode(),
        capture_output=True,
        env=env,
        check=True,
    )
    dump = members(done.stdout)["jvm/threaddump.txt"]
    assert dump.startswith(b"Full thread dump ")
    assert b"JNI global ref" in dump
    assert dump in log.read_bytes()[before:]
    assert f"did\tkill -3 {process.pid}" in members(done.stdout)["seedstall-bundle"].decode()
    assert process.poll() is None


def test_kill_3_is_refused_where_it_would_end_the_jvm(
    logged: Callable[..., tuple[subprocess.Popen[bytes], Path]],
) -> None:
    process, _ = logged("-Xrs")
    done = collected(shell("dash"), "--pid", process.pid, "--signal")
    assert done.returncode == 0
    reason = manifest(done.stdout)["jvm/threaddump.txt", "refused"]
    assert "jstack: it does not handle SIGQUIT" in reason
    assert "kill -3: it does not handle SIGQUIT" in reason
    assert process.poll() is None


def test_stopped_ones_and_those_that_write_to_a_pipe_are_left_alone() -> None:
    if not java_of(17).exists():
        pytest.skip("needs JDK 17: make jvms")
    patient: Patient = patients.start(patients.command(17, ()), "/tmp")
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        text = script().replace(
            '"$home/bin/jstack" "${home%/jre}/bin/jstack" jstack', "/none/jstack"
        )
        command = [*shell("dash"), "-s", "--", "--pid", str(patient.pid), "--signal"]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
        assert (
            "its standard output is no file (pipe:"
            in manifest(done.stdout)["jvm/threaddump.txt", "refused"]
        )
        unharmed(patient)
        os.kill(patient.pid, signal.SIGSTOP)
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
        assert "it is stopped" in manifest(done.stdout)["jvm/threaddump.txt", "refused"]
        os.kill(patient.pid, signal.SIGCONT)
        unharmed(patient)
    finally:
        patient.end()


# --- which JVM -------------------------------------------------------------------------------------------------------


def test_which_jvm_is_meant(hung: Hung) -> None:
    done = collected(shell("dash"), "--list")
    listed = dict(line.split(" ", 1) for line in done.stdout.decode().splitlines())
    assert listed[str(hung.pid)] == "SeedProbe"
    done = collected(shell("dash"), "--pid", 4194304)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"there is no process 4194304: nothing is written" in done.stderr
    done = collected(shell("dash"), "--pid", "x")
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_time_that_is_over_is_told(hung: Hung) -> None:
    """What could not be read any more is not taken for what is not there."""
    data = bundle(shell("dash"), "--pid", hung.pid, "--timeout", "0")
    assert (f"proc/{hung.pid}/task/{hung.tid}/syscall", "timed-out") in manifest(data)
    answer = verdict(data)
    assert answer.status == "unknown"
    assert "the time for all of it (0 s) was over" in answer.sentence


@pytest.mark.matrix
def test_several_looks(hung: Hung) -> None:
    data = bundle(shell("dash"), "--pid", hung.pid, "--passive", "--takes=2", "--every=0")
    found = members(data)
    assert f"takes/2/proc/{hung.pid}/task/{hung.tid}/syscall" in found
    assert "takes/2/manifest.tsv" in found
    assert told(verdict(data)) == STALLED


# --- other hosts, other targets --------------------------------------------------------------------------------------

OLD_HOST = """
mount -t tmpfs none /proc/sys/kernel/random
cd /proc/sys/kernel/random
echo 12 >entropy_avail; echo 4096 >poolsize; echo 64 >read_wakeup_threshold; echo 896 >write_wakeup_threshold
echo 3.10.0-957.el7.x86_64 >"$1/release"
mount --bind "$1/release" /proc/sys/kernel/osrelease
cd /
shift
exec "$@"
"""


@pytest.mark.root
def test_a_kernel_with_a_pool(hung: Hung, tmp_path: Path) -> None:
    """Its own files are laid over ours: what feeds the pool is looked for as well."""
    command = ["unshare", "--mount", "sh", "-c", OLD_HOST, "sh", str(tmp_path), *shell("dash")]
    data = bundle(command, "--pid", hung.pid, "--passive")
    found, lines = members(data), manifest(data)
    assert found["proc/sys/kernel/random/entropy_avail"] == b"12\n"
    assert found[f"proc/{hung.pid}/task/{hung.tid}/syscall"].startswith(b"0 0x")
    assert str(os.getpid()) in lines["proc", "list"].split("/")
    assert ("etc/init.d", "list") in lines or ("etc/init.d", "list:absent") in lines
    answer = verdict(data)
    assert told(answer) == STALLED


def test_a_script_that_is_held_up() -> None:
    """No JVM yet: the process that it waits for is in the bundle too."""
    with DryDevice() as device:
        process = device.start(["sh", "-c", "head -c 1 /dev/random; true"])
        if process.how is How.EGD:
            pytest.skip("needs mount namespaces: run the tests as root, or allow user namespaces")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until(lambda: children.read_text() != "", process)
        child = children.read_text().strip()
        until(lambda: Path(f"/proc/{child}/wchan").read_text().endswith("pipe_read"), process)
        data = bundle(shell("dash"), "--pid", process.pid)
    answer = verdict(data)
    assert told(answer) == STALLED
    assert answer.sentence.startswith(f"head (pid {child}), which sh -c started, waits in read")


@pytest.mark.root
@pytest.mark.jdk8
@pytest.mark.matrix
def test_a_jdk_8_in_a_root_of_its_own() -> None:
    """Debian's JDK 8: no release file, and its java.security is a link that begins at its own root."""
    programs = jdk8_bin()
    assert programs is not None
    with DryDevice() as device, tempfile.TemporaryDirectory(dir=JDK8_ROOT / "tmp") as folder:
        shutil.copy(PROBE / "SeedProbe.class", folder)
        place = Path("/") / Path(folder).relative_to(JDK8_ROOT)
        command = [str(programs / "java"), "-cp", str(place), "SeedProbe", "SHA1PRNG", "nextBytes"]
        process = device.start(command, root=JDK8_ROOT)
        until(lambda: process.waiting_thread() is not None, process)
        path = Path(folder, "bundle.tar")
        path.write_bytes(bundle(shell("dash"), "--pid", process.pid))
        (report,) = seedstall.diagnose(str(path))
    assert isinstance(report, Report)
    assert told(report.verdict) == STALLED
    jvm = report.facts["jvm"]
    assert isinstance(jvm, dict)
    assert jvm["feature"] == 8
    assert "java.security:117" in str(report.outcomes)


@pytest.mark.root
@pytest.mark.matrix
def test_in_a_container_and_from_its_host() -> None:
    """As `kubectl exec -i POD -- sh -s` has it: a pid namespace, in which the JVM is the first process."""
    if not java_of(17).exists():
        pytest.skip("needs JDK 17: make jvms")
    java = [str(java_of(17)), "-cp", str(PROBE), "SeedProbe", "SHA1PRNG", "nextBytes"]
    with DryDevice() as device:
        process = device.start(["unshare", "--pid", "--fork", "--mount-proc", *java])
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until(lambda: children.read_text() != "", process)
        pid = int(children.read_text())
        until(lambda: waiting_thread(pid, device.path) is not None, process)
        inside = bundle(["nsenter", f"--target={pid}", "--pid", "--mount", *shell("dash")])
        outside = bundle(shell("dash"), "--pid", pid)
    assert "proc/1/stat" in members(inside)
    assert verdict(inside).sentence.startswith('"main" has waited')
    assert told(verdict(inside)) == told(verdict(outside)) == STALLED
    assert f"proc/{pid}/stat" in members(outside)
    reason = manifest(outside)["jvm/threaddump.txt", "refused"]
    assert "run this inside it" in reason


# --- through ssh -----------------------------------------------------------------------------------------------------


@pytest.mark.matrix
def test_through_ssh_as_it_is_printed_to_be_typed(hung: Hung, tmp_path: Path) -> None:
    """``seedstall capture --script | ssh host sh -s -- --pid N > bundle.tar``, then ``diagnose`` there."""
    printed = run_seedstall("capture", "--script")
    assert printed.returncode == 0, printed.stderr
    with daemons.sshd(tmp_path) as host:
        done = subprocess.run(
            host.command("sh", "-s", "--", "--pid", str(hung.pid)),
            input=printed.stdout.encode(),
            capture_output=True,
            timeout=60,
            check=True,
        )
    assert done.stderr == b""
    answer = verdict(done.stdout)
    assert told(answer) == STALLED
    assert answer.sentence.startswith('"main" has waited')


@pytest.mark.tomcat
@pytest.mark.matrix
def test_a_tomcat_that_hangs_through_ssh(tmp_path: Path, full_jdk: Path) -> None:
    """Started by catalina.sh; named is the script, and what is looked at is the JVM."""
    (tmp_path / "ssh").mkdir()
    server = tomcats.instance(tmp_path / "base", full_jdk.parent)
    with DryDevice() as device, daemons.sshd(tmp_path / "ssh") as host:
        process = server.start(device)
        until(lambda: process.waiting_thread() is not None, process)
        done = subprocess.run(
            host.command("sh", "-s", "--", "--pid", str(process.pid)),
            input=script().encode(),
            capture_output=True,
            timeout=60,
            check=True,
        )
        (live,) = seedstall.diagnose(str(process.pid))
    assert isinstance(live, Report)
    answer = verdict(done.stdout)
    assert told(answer) == told(live.verdict) == STALLED
    assert answer.sentence.split(";")[0].endswith("to seed SHA1PRNG for Tomcat session ids")
    assert f"root{server.base}/bin/setenv.sh" in {path for path, _ in manifest(done.stdout)}
