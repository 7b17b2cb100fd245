from __future__ import annotations

import pytest

from seedstall.facts.feeders import feeders
from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.evidence import Ask, Ref, Space, Unavailable, Why
from seedstall.model.kernel import KernelRandom, RunningDaemon
from seedstall.source.base import Held

A7 = frozenset(
    [
        "boot_id",
        "entropy_avail",
        "poolsize",
        "read_wakeup_threshold",
        "urandom_min_reseed_secs",
        "uuid",
        "write_wakeup_threshold",
    ]
)


def at(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


def pool(write_wakeup: int = 896) -> KernelRandom:
    return decide(
        KernelEvidence(
            release="4.15.0-193-generic", files=A7, entropy_avail=12, write_wakeup=write_wakeup
        )
    )


PROCESSES: dict[Ref, bytes | Why] = {
    at("proc", Ask.LIST): b"1\0002\00077\0sys\0version\0",
    at("proc/1/comm"): b"systemd\n",
    at("proc/2/comm"): b"kthreadd\n",
    at("proc/77/comm"): b"sshd\n",
}
UNITS: dict[Ref, bytes | Why] = {
    at("etc/systemd/system", Ask.LIST): b"",
    at("usr/lib/systemd/system", Ask.LIST): b"rngd.service\0sshd.service\0",
}
NO_UNITS: dict[Ref, bytes | Why] = {at("usr/lib/systemd/system", Ask.LIST): b"sshd.service\0"}


def test_a_daemon_that_runs() -> None:
    held = {
        **PROCESSES,
        **UNITS,
        at("proc/77/comm"): b"rngd\n",
        at("proc/77/cmdline"): b"/sbin/rngd\0-f\0",
    }
    found = feeders(Held(held), pool())

    assert found.running == (RunningDaemon("rngd", 77, "/sbin/rngd -f"),)
    assert found.processes_seen


def test_a_name_that_the_kernel_cut() -> None:
    held = {**PROCESSES, **UNITS, at("proc/77/comm"): b"jitterentropy-r\n"}

    assert feeders(Held(held), pool()).running[0].name == "jitterentropy-rngd"


def test_installed_and_dead() -> None:
    found = feeders(Held({**PROCESSES, **UNITS}), pool(write_wakeup=3072))

    assert found.running == ()
    assert found.installed == (("rngd", "/usr/lib/systemd/system/rngd.service"),)
    assert found.ran == "rngd 6"


def test_init_scripts_of_rhel_6() -> None:
    held = {**PROCESSES, at("etc/init.d", Ask.LIST): b"functions\0rngd\0haveged\0"}

    assert [name for name, _ in feeders(Held(held), pool()).installed] == ["haveged", "rngd"]


def test_nothing_installed_is_known_without_the_processes() -> None:
    found = feeders(Held({**PROCESSES, **NO_UNITS, at("proc/2/comm"): Why.ABSENT}), pool())

    assert found.installed == ()
    assert not found.processes_seen


@pytest.mark.parametrize(
    ("second", "why"),
    [(Why.ABSENT, Why.DENIED), (Why.DENIED, Why.DENIED), (Why.NOT_COLLECTED, Why.NOT_COLLECTED)],
)
def test_whether_it_runs_cannot_be_said_in_a_container_or_from_a_part_of_the_processes(
    second: Why, why: Why
) -> None:
    with pytest.raises(Unavailable) as raised:
        feeders(Held({**PROCESSES, **UNITS, at("proc/2/comm"): second}), pool())

    assert raised.value.missing.why is why


def test_a_daemon_that_has_run_and_processes_that_cannot_be_seen() -> None:
    held = {**PROCESSES, **NO_UNITS, at("proc/2/comm"): Why.ABSENT}
    with pytest.raises(Unavailable):
        feeders(Held(held), pool(write_wakeup=1024))


def test_nothing_read_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        feeders(Held({}), pool())


def test_the_hardware_generator() -> None:
    held = {
        **PROCESSES,
        **NO_UNITS,
        at("sys/class/misc/hw_random/rng_current"): b"virtio_rng.0\n",
    }
    assert feeders(Held(held), pool()).self_feeding
    held[at("sys/class/misc/hw_random/rng_current")] = b"none\n"
    found = feeders(Held(held), pool())
    assert (found.hwrng, found.self_feeding) == ("", False)
