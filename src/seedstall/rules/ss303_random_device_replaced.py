"""SS303: /dev/random, as the JVM sees it, is not the kernel's device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.jvm import JvmProcess
from seedstall.model.kernel import DeviceNode, RandomDevices
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.verdict import Cause, Status
from seedstall.rules import seed_remedies as remedies

RANDOM = (1, 8)
URANDOM = (1, 9)


@rule("SS303", "random-device-replaced")
def random_device_replaced(
    devices: RandomDevices, process: JvmProcess | None = None
) -> Iterator[Finding]:
    """Something else stands where the kernel's random device should be.

    ## What it detects
    ``/dev/random`` below the JVM's own root that is not the character device 1:8 (``/dev/urandom``: 1:9): a FIFO, a
    regular file, a link, ``/dev/urandom`` in its place, or nothing at all. Without a JVM to look through, the host's
    own.

    ## Why it matters
    A FIFO or a socket waits for whoever feeds it, on any kernel. Without the device the JDK falls back to its threaded
    seeder: 5 to 9 seconds at every start. A regular file gives every process the same "random" bytes: keys made from
    it can be guessed. ``/dev/urandom`` in its place is an old cure that works, and is gone at the next boot where a
    link in ``/dev`` made it.

    ## Fix
    Give the place the kernel's own device: ``mknod -m 666 /dev/random c 1 8``, or the bind mount of the container.
    """
    for node, own in ((devices.random, RANDOM), (devices.urandom, URANDOM)):
        if node is None or (node.rdev == own and "character" in node.kind):
            continue
        inside = process is not None and process.in_container
        yield _finding(node, own, devices.place, container=inside)


class _Harm(NamedTuple):
    """What the replacement does to a JVM that reads it."""

    text: str
    cause: Cause
    status: Status
    severity: Severity


def _harm(node: DeviceNode, own: tuple[int, int]) -> _Harm:
    name = visible(node.path)
    if not node.exists:
        text = (
            f"{name} is missing: the JDK seeds itself by threads instead, 5 to 9 s at every start"
        )
        return _Harm(text, Cause.THREADED_SEED, Status.AT_RISK, Severity.WARNING)
    if node.rdev == URANDOM and own == RANDOM:
        text = f"{name} is /dev/urandom: it does not block, and a link in /dev is gone at the next boot"
        return _Harm(text, Cause.NONE, Status.CLEAR, Severity.NOTE)
    if node.rdev == RANDOM and own == URANDOM:
        text = f"{name} is /dev/random: what should never wait waits with it"
        return _Harm(text, Cause.BLOCKING_SEED, Status.AT_RISK, Severity.WARNING)
    if node.kind in ("a FIFO", "a socket"):
        text = f"{name} is {node.kind}: a read waits for whoever feeds it, on any kernel"
        return _Harm(text, Cause.BLOCKING_SEED, Status.AT_RISK, Severity.WARNING)
    text = f"{name} is {node.kind}: what is read from it is not random, and keys made from it can be guessed"
    return _Harm(text, Cause.HARMFUL_FIX, Status.AT_RISK, Severity.WARNING)


def _finding(node: DeviceNode, own: tuple[int, int], place: str, *, container: bool) -> Finding:
    harm = _harm(node, own)
    what = f"link to {visible(node.link)}: {node.kind}" if node.link else node.kind
    return Finding(
        message=f"{visible(node.path)} replaced",
        sentence=f"{harm.text} ({place})",
        cause=harm.cause,
        status=harm.status,
        severity=harm.severity,
        confidence=Confidence.CONFIRMED if harm.severity is Severity.NOTE else Confidence.LIKELY,
        evidence=(Evidence(origin=visible(node.path), excerpt=f"{what} ({place})"),),
        fixes=(remedies.nothing("it does not block; make it anew where a reboot takes it away"),)
        if harm.severity is Severity.NOTE
        else (remedies.device_node(node.path, container=container),),
    )
