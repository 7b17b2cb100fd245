"""Real JVMs that hang on a dry random device, diagnosed by PID: every JDK, every way to hang."""

from __future__ import annotations

import time

import pytest
from tests.live.rig import JDKS_SINCE_9, Rig, report_of, surfaces, threads, until, wait_of
from tests.machine import Seedstall

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize(
    ("instance", "operation", "algorithm"),
    [
        ("SHA1PRNG", "nextBytes", "SHA1PRNG"),
        ("NativePRNG", "generateSeed", "NativePRNG"),
        ("default", "getSeed", "NativePRNG"),
        ("strong", "nextBytes", "NativePRNGBlocking"),
    ],
)
def test_the_thread_in_the_device_is_found_and_named(
    rig: Rig, seedstall: Seedstall, instance: str, operation: str, algorithm: str
) -> None:
    found_and_named(rig, seedstall, instance, operation, algorithm)


@pytest.mark.parametrize("jdk", JDKS_SINCE_9, indirect=True)
def test_drbg_is_found_and_named_too(rig: Rig, seedstall: Seedstall) -> None:
    """JEP 273: it came with 9. Here the JVM itself is asked."""
    found_and_named(rig, seedstall, "DRBG", "nextBytes", "DRBG", "--attach")


def found_and_named(
    rig: Rig, seedstall: Seedstall, instance: str, operation: str, algorithm: str, *options: str
) -> None:
    process = rig.hung(instance, operation)
    tid = process.waiting_thread()
    report = report_of(seedstall, process.pid, *options)

    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["confidence"]) == (
        "stalled",
        "blocking-seed",
        "confirmed",
    )
    assert "main" in verdict["sentence"]
    assert "/dev/random" in verdict["sentence"]
    assert algorithm in verdict["sentence"]

    wait = wait_of(report)
    assert wait["name"] == "main"
    assert wait["tid"] == tid
    assert wait["nid"] == tid, "the dump's nid is the kernel's thread id"
    assert wait["algorithm"] == algorithm
    assert wait["device"].endswith("/dev/random")
    assert report["facts"]["jvm"]["feature"] == rig.jdk.feature

    (finding,) = [f for f in report["findings"] if f["code"] == "SS101"]
    origins = [piece["origin"] for piece in finding["evidence"]]
    assert f"/proc/{process.pid}/task/{tid}/syscall" in origins
    (action,) = report["actions"]
    if options:
        assert any(origin.startswith("attach:") for origin in origins), "the stack, from its dump"
        assert action["what"] == "sigquit+attach threaddump"
    else:
        assert "memory" in origins, "the stack, from its memory"
        assert action["what"].startswith(f"read memory of {process.pid}: ")
        assert action["what"].endswith(" reads, no pause")

    if instance == "strong":
        assert "java-opts" not in surfaces(report)
        assert "egd" not in " ".join(fix["title"] for fix in finding["fixes"])
    else:
        titles = [fix["title"] for fix in finding["fixes"] if fix["surface"] == "java-opts"]
        assert titles == ["-Djava.security.egd=file:/dev/urandom"]

    assert action["pid"] == process.pid
    assert process.poll() is None, "the target lives on"
    assert process.waiting_thread() == tid


@pytest.mark.parametrize(
    ("instance", "operation"),
    [("SHA1PRNG", "nextBytes"), ("NativePRNG", "generateSeed")],
)
def test_the_fix_that_is_told_frees_the_program_on_the_same_device(
    rig: Rig, seedstall: Seedstall, instance: str, operation: str
) -> None:
    process = rig.hung(instance, operation)
    report = report_of(seedstall, process.pid)
    (finding,) = [f for f in report["findings"] if f["code"] == "SS101"]
    (title,) = [fix["title"] for fix in finding["fixes"] if fix["surface"] == "java-opts"]
    process.end()
    assert rig.start(instance, operation, options=title.split()).wait(10) == 0


def test_the_properties_file_frees_get_instance_strong_where_egd_does_not(
    rig: Rig, seedstall: Seedstall
) -> None:
    process = rig.hung("strong", "nextBytes", options=["-Djava.security.egd=file:/dev/urandom"])
    fix = seedstall("fix", process.pid, "--surface", "strong-algorithms")
    assert fix.returncode == 0, fix.stderr
    process.end()
    (rig.folder / "strong.properties").write_text(fix.stdout, encoding="utf-8")
    option = f"-Djava.security.properties={rig.within('strong.properties')}"
    assert option.replace(rig.within("strong.properties"), "/path/to/this/file") in fix.stdout
    assert rig.start("strong", "nextBytes", options=[option]).wait(10) == 0


def test_the_queue_behind_it_is_counted_and_not_blamed(rig: Rig, seedstall: Seedstall) -> None:
    process = rig.hung("NativePRNG", "generateSeed", "4")
    until(lambda: len(threads(process.pid)) > 4, process)
    time.sleep(0.5)
    report = report_of(seedstall, process.pid)
    assert report["verdict"]["cause"] == "blocking-seed"
    assert len(report["facts"]["threads"]["waiting_for_seed"]) == 1
    assert len(report["facts"]["threads"]["queued"]) == 3
    assert "3 more queue behind it" in report["verdict"]["sentence"]


def test_a_seed_url_without_scheme_is_the_threaded_seeder(rig: Rig, seedstall: Seedstall) -> None:
    process = rig.start("SHA1PRNG", "nextBytes", options=["-Djava.security.egd=/dev/urandom"])
    # It takes five seconds on every machine (250 ms a byte); a third of it is enough to be seen in it.
    time.sleep(1.7)
    assert process.poll() is None
    report = report_of(seedstall, process.pid)
    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["confidence"]) == (
        "stalled",
        "threaded-seed",
        "confirmed",
    )
    assert wait_of(report)["name"] == "main"
    assert "rngd" not in surfaces(report)
    assert "java-opts" in surfaces(report)


def test_passive_finds_the_wait_without_touching_it(rig: Rig, seedstall: Seedstall) -> None:
    process = rig.hung("SHA1PRNG", "nextBytes")
    report = report_of(seedstall, process.pid, "--passive")
    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["confidence"]) == (
        "stalled",
        "blocking-seed",
        "confirmed",
    )
    assert report["actions"] == []
    assert wait_of(report)["tid"] == process.waiting_thread()
    assert "Attach Listener" not in threads(process.pid).values()
