"""A JVM in pid and mount namespaces of its own, as in a container: its thread ids are not the host's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.live.rig import JDKS_SINCE_9, Jdk, report_of, until, wait_of
from tests.machine import Seedstall

from seedstall.effect.demo import PROBE
from seedstall.effect.starvation import DryDevice, Starved, waiting_thread

pytestmark = [pytest.mark.jvm, pytest.mark.root]


# The checkout may itself lie below /tmp: what runs is shown elsewhere before /tmp is covered.
IN_THE_BOX = """
mount -t tmpfs none /mnt
mkdir /mnt/java && mount --bind "$1" /mnt/java
cp -r "$2" /mnt/probe
mount -t tmpfs none /tmp
exec /mnt/java/bin/java -cp /mnt/probe SeedProbe SHA1PRNG nextBytes
"""


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def inner_id(path: str) -> int:
    """The id in the innermost pid namespace: NSpid's last (proc(5))."""
    (line,) = [x for x in Path(path).read_text().splitlines() if x.startswith("NSpid:")]
    return int(line.split()[-1])


@pytest.fixture
def boxed(jdk: Jdk, device: DryDevice, namespaces: None, tmp_path: Path) -> Starved:
    """`unshare`, whose child is the JVM: pid 1 of its namespace, with its own /proc and /tmp."""
    process = device.start(
        [
            *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *("sh", "-ec", IN_THE_BOX, "sh", str(jdk.java.parent.parent), str(PROBE)),
        ]
    )
    until(lambda: waiting_thread(jvm_of(process), device.path) is not None, process)
    return process


def jvm_of(process: Starved) -> int:
    return next(iter(children(process.pid)), -1)


@pytest.mark.parametrize("jdk", [JDKS_SINCE_9[1], JDKS_SINCE_9[3]], indirect=True)
def test_inner_and_outer_thread_ids_are_joined(
    boxed: Starved, device: DryDevice, seedstall: Seedstall
) -> None:
    pid = jvm_of(boxed)
    tid = waiting_thread(pid, device.path)
    assert tid is not None
    inner = inner_id(f"/proc/{pid}/task/{tid}/status")
    assert inner != tid

    report = report_of(seedstall, pid)
    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["confidence"]) == (
        "stalled",
        "blocking-seed",
        "confirmed",
    )
    wait = wait_of(report)
    assert wait["name"] == "main"
    assert wait["nid"] == inner
    assert wait["tid"] == tid
    assert report["facts"]["jvm"]["inner_pid"] == 1
    assert report["facts"]["jvm"]["in_container"]
    assert waiting_thread(pid, device.path) == tid, "it lives on"


@pytest.mark.parametrize("jdk", [JDKS_SINCE_9[1]], indirect=True)
def test_what_started_the_container_may_be_named(boxed: Starved, seedstall: Seedstall) -> None:
    report = report_of(seedstall, boxed.pid)
    assert report["verdict"]["cause"] == "blocking-seed"
    assert report["facts"]["jvm"]["pid"] == jvm_of(boxed)
