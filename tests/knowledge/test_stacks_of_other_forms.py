"""What forms without HotSpot's words leave open: who waits for the lock or the class that another thread has."""

from __future__ import annotations

import pytest

from seedstall.knowledge.stacks import BLOCKED_IN_VM, SEEDER_HOLDER, behind, classify
from seedstall.model.seeding import SeedRole, SeedStack
from seedstall.model.threads import Frame, JavaThread


def frames(*names: str) -> tuple[Frame, ...]:
    parts = (name.rpartition(".") for name in names)
    return tuple(Frame(class_name, method) for class_name, _, method in parts)


READ = ("java.io.FileInputStream.readBytes", "java.io.FileInputStream.read")
SUN = "sun.security.provider."
CALL = ("java.security.SecureRandom.nextBytes", "com.example.App.token")
SHA1_QUEUED = (f"{SUN}SecureRandom.engineNextBytes", *CALL)
SHA1_READER = (
    *READ,
    f"{SUN}SeedGenerator$URLSeedGenerator.getSeedBytes",
    f"{SUN}SeedGenerator.generateSeed",
    f"{SUN}SecureRandom$SeederHolder.<clinit>",
    *SHA1_QUEUED,
)
NATIVE_QUEUED = (
    f"{SUN}NativePRNG$RandomIO.getMixRandom",
    f"{SUN}NativePRNG$RandomIO.implNextBytes",
    f"{SUN}NativePRNG$Blocking.engineNextBytes",
    *CALL,
)
NATIVE_READER = (*READ, f"{SUN}NativePRNG$RandomIO.readFully", *NATIVE_QUEUED)


def thread(*names: str, state: str = "", activity: str = "") -> JavaThread:
    return JavaThread("t", frames(*names), state=state, activity=activity)


def told(queued: JavaThread, *reading: JavaThread) -> SeedStack:
    stack = classify(queued)
    assert stack is not None
    return behind(stack, queued, reading)


@pytest.mark.parametrize("state", ["", "RUNNABLE"])
def test_behind_a_static_initialiser(state: str) -> None:
    found = told(thread(*SHA1_QUEUED, state=state), thread(*SHA1_READER))
    assert (found.role, found.lock_class) == (SeedRole.QUEUED, SEEDER_HOLDER)


def test_without_states_behind_a_lock() -> None:
    assert told(thread(*NATIVE_QUEUED), thread(*NATIVE_READER)).role is SeedRole.QUEUED


def test_a_state_that_is_there_counts() -> None:
    running = thread(*NATIVE_QUEUED, state="RUNNABLE")
    assert told(running, thread(*NATIVE_READER)).role is SeedRole.WORKING
    by_hotspot = thread(*SHA1_QUEUED, state="RUNNABLE", activity="runnable")
    assert told(by_hotspot, thread(*SHA1_READER)).role is SeedRole.WORKING


def test_nobody_reads_nobody_queues() -> None:
    assert told(thread(*SHA1_QUEUED)).role is SeedRole.WORKING
    assert told(thread(*SHA1_QUEUED), thread(*NATIVE_READER)).role is SeedRole.WORKING


def test_the_agents_blocked_is_a_queue_only_at_a_generators_own_frame() -> None:
    for names in (SHA1_QUEUED, NATIVE_QUEUED):
        stack = classify(thread(*names, activity=BLOCKED_IN_VM))
        assert stack is not None
        assert stack.role is SeedRole.QUEUED
    waiting = thread("java.lang.Object.wait", "com.example.App.run", activity=BLOCKED_IN_VM)
    assert classify(waiting) is None


@pytest.mark.parametrize(
    "cls",
    [
        "com.ibm.crypto.provider.X",
        "com.ibm.crypto.fips.provider.X",
        "com.ibm.securerandom.provider.X",
    ],
)
def test_ibms_generators_read_their_seed(cls: str) -> None:
    stack = classify(thread(*READ, f"{cls}.engineNextBytes", *CALL))
    assert stack is not None
    assert stack.role is SeedRole.READING
    assert stack.caller_frame == "com.example.App.token"


def test_somebody_elses_generator_may_read_anything() -> None:
    assert classify(thread(*READ, "com.example.Spi.engineNextBytes", *CALL)) is None
