from __future__ import annotations

import pytest

from seedstall.engine.case import Case
from seedstall.engine.run import run
from seedstall.facts.devices import random_devices
from seedstall.model.evidence import Ask, Ref, Space, Why
from seedstall.model.finding import Clear, Finding, Fired, Inconclusive, Outcome, Severity
from seedstall.model.kernel import DeviceNode, RandomDevices
from seedstall.model.verdict import Cause, Status
from seedstall.render.fixes import render_fix
from seedstall.rules.ss303_random_device_replaced import random_device_replaced
from seedstall.source.base import Held

OWN = DeviceNode("/dev/random", "the character device 1:8", (1, 8))
OWN_U = DeviceNode("/dev/urandom", "the character device 1:9", (1, 9))


def check(random: DeviceNode = OWN, urandom: DeviceNode | None = OWN_U) -> list[Finding]:
    return list(random_device_replaced(RandomDevices(random, urandom, "as the JVM sees it")))


def test_the_kernels_own_are_clear() -> None:
    assert check() == []
    assert check(urandom=None) == []


@pytest.mark.parametrize(
    ("node", "cause", "severity"),
    [
        (DeviceNode("/dev/random", "a FIFO"), Cause.BLOCKING_SEED, Severity.WARNING),
        (DeviceNode("/dev/random", "a socket"), Cause.BLOCKING_SEED, Severity.WARNING),
        (DeviceNode("/dev/random", "a regular file"), Cause.HARMFUL_FIX, Severity.WARNING),
        (
            DeviceNode("/dev/random", "the character device 1:5", (1, 5)),
            Cause.HARMFUL_FIX,
            Severity.WARNING,
        ),
        (
            DeviceNode("/dev/random", "missing", exists=False),
            Cause.THREADED_SEED,
            Severity.WARNING,
        ),
        (
            DeviceNode("/dev/random", "a block device 1:8", (1, 8)),
            Cause.HARMFUL_FIX,
            Severity.WARNING,
        ),
    ],
)
def test_what_stands_in_its_place(node: DeviceNode, cause: Cause, severity: Severity) -> None:
    (finding,) = check(node)

    assert (finding.cause, finding.severity) == (cause, severity)
    assert finding.status is Status.AT_RISK
    (fix,) = finding.fixes
    assert "mknod -m 666 /dev/random c 1 8\n" in render_fix(fix)
    assert "as the JVM sees it" in finding.evidence[0].excerpt


def test_urandom_in_its_place_is_a_harmless_note() -> None:
    node = DeviceNode("/dev/random", "the character device 1:9", (1, 9), "urandom")
    (finding,) = check(node)

    assert (finding.cause, finding.status) == (Cause.NONE, Status.CLEAR)
    assert finding.severity is Severity.NOTE
    assert finding.evidence[0].excerpt.startswith("link to urandom")


def test_random_in_urandoms_place_waits() -> None:
    node = DeviceNode("/dev/urandom", "the character device 1:8", (1, 8))
    (finding,) = check(urandom=node)

    assert finding.cause is Cause.BLOCKING_SEED


def test_a_hostile_link_is_made_visible() -> None:
    node = DeviceNode("/dev/random", "a FIFO", link="x\x1b[31m")
    (finding,) = check(node)

    assert "\x1b" not in finding.evidence[0].excerpt


def outcome(reading: bytes | Why) -> Outcome:
    case = Case(Held({Ref(Space.ROOT, "dev/random", Ask.STAT): reading}), (random_devices,))
    (only,) = run((random_device_replaced,), case)
    return only


def test_through_the_engine() -> None:
    assert isinstance(outcome(b"10644 0 0 5 0 0 0"), Fired)
    assert isinstance(outcome(Why.ABSENT), Fired)
    assert isinstance(outcome(b"20666 1 8 5 0 0 0"), Clear)
    assert isinstance(outcome(Why.DENIED), Inconclusive)
    assert isinstance(outcome(Why.NOT_COLLECTED), Inconclusive)
    assert isinstance(outcome(b"rubbish"), Inconclusive)
