"""`seedstall verify` as a person runs it, on real JVMs: what it measures is what strace measured (the oracle)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import patients, seedmeter
from tests.live.rig import JDK8, JDKS_SINCE_9, Jdk, Rig
from tests.live.seedmeter import Row, expected
from tests.machine import CHECKOUT, FORBID_NAMESPACES, Seedstall, java_of

from seedstall.knowledge.seedsource import URL_URANDOM
from seedstall.model.jdk import JdkVersion
from seedstall.model.seeding import Device, Instance, Operation
from seedstall.parse.jdkversion import jdk_version

MINUTES = 600


def named(jdk: Jdk) -> list[str]:
    """That java, and the root it lives in."""
    return ["--java", str(jdk.java), *(["--sysroot", str(jdk.root)] if jdk.root else [])]


def verified(*arguments: object, code: int = 10) -> Any:
    """What it says, as JSON."""
    command = [sys.executable, "-m", "seedstall", "verify", *map(str, arguments)]
    done = subprocess.run(
        [*command, "--format", "json"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=MINUTES,
    )
    assert done.returncode == code, done.stdout[-3000:] + done.stderr
    return json.loads(done.stdout)


def faults(told: Any, egds: dict[str, str]) -> Iterator[str]:
    """Where what was measured is not what the oracle's tables say; *egds* as the oracle spells them, by setting."""
    jdk = jdk_version(f"java.version={told['java']['version']}")
    for trial in told["trials"]:
        if trial["setting"] not in egds:
            continue
        row = Row(
            egds[trial["setting"]], Instance(trial["instance"]), Operation(trial["operation"])
        )
        yield from (f"{row} on {jdk}: {fault}" for fault in _compared(trial, row, jdk))


def _compared(trial: Any, row: Row, jdk: JdkVersion) -> Iterator[str]:
    table = expected(row, jdk)
    outcomes = {
        Device.RANDOM: "blocks",
        Device.URANDOM: "goes-on",
        Device.THREADED: "delayed",
        Device.NONE: "goes-on" if table.algorithm else "no-generator",
    }
    seen = (trial["outcome"], trial["device"])
    if seen != (outcomes[table.device], str(table.device)):
        yield f"expected {outcomes[table.device]} {table.device}, measured {seen}: {trial}"
    # NativePRNG's variants call themselves NativePRNGBlocking or, on some releases, Blocking.
    wanted = str(table.algorithm or "")
    if trial["algorithm"] not in (wanted, wanted.removeprefix("NativePRNG")):
        yield f"expected {wanted}, measured {trial['algorithm']}"


@pytest.mark.jvm
def test_what_it_measures_is_the_oracles(java: Path) -> None:
    uses = [word for use in ("default", "SHA1PRNG", "strong") for word in ("--only", use)]
    told = verified("--java", java, *uses)
    assert told["means"] in ("mount", "user")
    assert list(faults(told, {"present": "unset", "fix": URL_URANDOM})) == []
    assert told["differences"] == []
    assert len(told["trials"]) == 7
    assert (
        " SHA1PRNG.nextBytes and getInstanceStrong().nextBytes read /dev/random and block; with"
        " -Djava.security.egd=file:/dev/urandom and securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN"
        " they do not: measured on "
    ) in told["sentence"]
    (strong,) = [t for t in told["trials"] if t["setting"] == "strong"]
    assert (strong["outcome"], strong["device"]) == ("goes-on", "/dev/urandom")
    waited = [t for t in told["trials"] if t["outcome"] == "blocks"]
    assert all(t["held_ms"] >= 400 and t["bytes_of_random"] >= 20 for t in waited)


@pytest.mark.parametrize("jdk", [JDK8], indirect=True)
def test_a_java_with_its_own_c_library(jdk: Jdk) -> None:
    told = verified(*named(jdk), "--only", "SHA1PRNG")
    assert list(faults(told, {"present": "unset", "fix": URL_URANDOM})) == []
    assert told["sentence"].startswith(
        "with the present setting (securerandom.source=file:/dev/random) SHA1PRNG.nextBytes reads"
        " /dev/random and blocks; with -Djava.security.egd=file:/dev/urandom it does not: measured on 1.8.0_"
    )


@pytest.mark.matrix
@pytest.mark.parametrize("jdk", [JDK8], indirect=True)
def test_a_jvm_in_a_chroot_is_tried_there(rig: Rig) -> None:
    """One that hangs in its own seed: it goes on waiting."""
    hung = rig.hung("SHA1PRNG", "nextBytes")
    told = verified(hung.pid, "--only", "SHA1PRNG")
    assert list(faults(told, {"present": "unset", "fix": URL_URANDOM})) == []
    assert "/jre/lib/security/java.security:" in told["settings"]["present"]["words"]
    assert any("is not the kernel's but a FIFO" in note for note in told["notes"])
    assert hung.waiting_thread() is not None


@pytest.mark.jvm
def test_without_namespaces_it_says_what_it_could_not_cover(java: Path, tmp_path: Path) -> None:
    """As in a container whose seccomp profile refuses unshare(2)."""
    script = f"{FORBID_NAMESPACES}\nfrom seedstall.cli.app import main\nmain()\n"
    uses = [word for use in ("SHA1PRNG", "generateSeed", "strong") for word in ("--only", use)]
    done = subprocess.run(
        [sys.executable, "-c", script, "verify", "--java", str(java), *uses],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src"), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 10, done.stdout + done.stderr
    assert "SHA1PRNG.nextBytes               /dev/random BLOCKS" in done.stdout
    assert "getInstanceStrong().nextBytes    not covered" in done.stdout
    assert "no egd reaches getInstanceStrong(): it takes a mount namespace" in done.stdout
    assert "new SecureRandom().generateSeed could not be tried: " in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.matrix
@pytest.mark.jvm
@pytest.mark.root
def test_a_jvm_of_our_own_place_is_tried_there_without_namespaces(folder: Path) -> None:
    """Another user's, so that its user is taken on all the same."""
    ids = (65534, 65534)
    patient = patients.start(
        patients.command(17, ["-Djava.security.egd=file:/dev/./random"]), folder, ids=ids
    )
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        script = f"{FORBID_NAMESPACES}\nfrom seedstall.cli.app import main\nmain()\n"
        done = subprocess.run(
            [sys.executable, "-c", script, "verify", str(patient.pid), "--only", "SHA1PRNG"],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert patient.is_well()
    finally:
        patient.end()
    assert done.returncode == 10, done.stdout + done.stderr
    assert "SHA1PRNG.nextBytes  /dev/random BLOCKS (" in done.stdout
    assert "a FIFO named by java.security.egd in the device's place" in done.stdout


BLIND = """
from seedstall.cli.app import main
from seedstall.effect import experiment
experiment.thread_inside = lambda *_: None
experiment.BLIND_S = 1.0
main()
"""


@pytest.mark.matrix
@pytest.mark.jvm
def test_where_no_system_call_may_be_seen_it_is_told_by_what_goes_on_when_fed(java: Path) -> None:
    """As below a Yama or a security module that hides ``/proc/PID/task/TID/syscall``."""
    done = subprocess.run(
        [sys.executable, "-c", BLIND, "verify", "--java", str(java), "--only", "SHA1PRNG", "-v"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 10, done.stdout + done.stderr
    assert "SHA1PRNG.nextBytes  /dev/random BLOCKS (" in done.stdout
    assert "it went on when bytes were put into /dev/random, and took them" in done.stdout


IN_THE_BOX = """
mount -t tmpfs none /mnt
echo securerandom.source=file:/dev/./random >/mnt/éxtra.security
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""


@pytest.mark.jvm
@pytest.mark.root
def test_a_jvm_is_tried_in_its_place_and_is_left_alone(folder: Path) -> None:
    """Another user's, in mount and pid namespaces of its own, whose security properties lie there alone."""
    log = folder / "gc.log"
    options = ("-Djava.security.properties=/mnt/éxtra.security", f"-Xlog:gc:file={log}")
    box = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    # In the C locale the JVM could not name that file, and would go on without it.
    command = [
        *box,
        "env",
        "LC_ALL=C.UTF-8",
        "sh",
        "-ec",
        IN_THE_BOX,
        "sh",
        *patients.command(17, options),
    ]
    patient = patients.start(command, folder)
    try:
        patient.wait_until(lambda: b"up" in patient.said)
        before = (log.stat().st_mtime_ns, log.stat().st_size)
        told = verified(patient.pid, "--only", "default", "--only", "SHA1PRNG")
        assert patient.is_well()
        assert (log.stat().st_mtime_ns, log.stat().st_size) == before
    finally:
        patient.end()
    present = "file:/dev/./random, /mnt/éxtra.security:1"
    assert told["settings"]["present"]["words"] == present
    assert list(faults(told, {"present": "file:/dev/./random", "fix": URL_URANDOM})) == []
    assert "new SecureRandom() is DRBG now, and NativePRNG with the fix" in told["notes"]


SCRIPTS = {
    "junk": ("#!/bin/sh\necho SHA1PRNG 12\n", "it ended with exit code 0: SHA1PRNG 12"),
    "flood": ("#!/bin/sh\nexec yes\n", "it prints without end: y"),
    "daemon": ("#!/bin/sh\nsetsid sleep 98765 &\nsleep 98765 &\nexit 3\n", "exit code 3"),
    "escapes": (r"""printf '\033[2Jgone\n'; kill -9 $$""", r"ended by signal 9: \x1b[2Jgone"),
    "no program": ("\x7fELF", "Exec format error"),
    "reads": ("#!/bin/sh\nhead -c 1 /dev/random\n", "it reads /dev/random before any JVM"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_java_that_is_none_is_said_to_be_and_leaves_nothing(
    name: str, seedstall: Seedstall, tmp_path: Path
) -> None:
    text, told = SCRIPTS[name]
    fake, temporary = tmp_path / "java", tmp_path / "tmp"
    temporary.mkdir()
    fake.write_text(text if text.startswith(("#!", "\x7f")) else f"#!/bin/sh\n{text}\n")
    fake.chmod(0o755)
    done = seedstall("verify", "--java", fake, "--timeout", "1", env={"TMPDIR": str(temporary)})
    if name == "reads" and "mount namespace" in done.stderr:
        pytest.skip("needs mount namespaces: run the tests as root, or allow user namespaces")
    assert done.returncode == 3, done.stdout + done.stderr
    assert told in done.stderr
    assert done.stdout == ""
    assert list(temporary.iterdir()) == []
    assert not [line for line in _processes() if "98765" in line]


def _processes() -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield (folder / "cmdline").read_text(errors="replace")
        except OSError:
            continue


@pytest.mark.jvm
def test_interrupted_it_leaves_nothing(java: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "seedstall", "verify", "--java", str(java)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src"), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    marks = [f"/proc/{process.pid}/task/{process.pid}/children"]
    deadline = time.monotonic() + 60
    while not (children := Path(marks[0]).read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 128 + 15
    assert list(tmp_path.iterdir()) == []
    while any(Path(f"/proc/{pid}/exe").exists() for pid in children):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.jvm
def test_a_dry_run_starts_nothing(java: Path, seedstall: Seedstall) -> None:
    done = seedstall("verify", "--java", java, "--only", "DRBG", "--dry-run")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["DRBG.nextBytes, present", "DRBG.nextBytes, fix"]
    assert f"2 starts of {java} with a dry random device" in done.stderr


EGDS = tuple(dict.fromkeys(row.egd for row in seedmeter.rows()))


@pytest.mark.matrix
@pytest.mark.parametrize("egd", EGDS)
@pytest.mark.parametrize("jdk", [JDK8, *JDKS_SINCE_9], indirect=True)
def test_every_use_of_every_jdk_is_the_oracles(jdk: Jdk, egd: str) -> None:
    value = Row(egd, Instance.DEFAULT, Operation.NEXT_BYTES).value
    options = [] if value is None else ["--egd", value, "--set-egd", value]
    told = verified(*named(jdk), *options, "--all-uses", "--timeout", "100", "--exit-zero", code=0)
    settings = {"present": egd, "fix": URL_URANDOM} if value is None else {"present": egd}
    assert list(faults(told, settings)) == []
    tried = {(t["instance"], t["operation"]) for t in told["trials"] if t["setting"] == "present"}
    assert tried == {(r.instance, r.operation) for r in seedmeter.rows() if r.egd == egd}
    assert told["differences"] == []


def test_the_matrix_is_that_of_the_oracle() -> None:
    assert len(EGDS) == 13
    assert java_of(17).name == "java"
