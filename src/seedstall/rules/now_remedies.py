"""What frees the process that hangs now, and what to save before it is ended.

Each is something that is done once: what to type stands in the fix itself (``command`` among its params). How long it
takes is from booted kernels (facts: kernel, section 14): about 5 bits come in with each key typed at the host's own
console, 0.6 bits a second with a busy disk, and nothing for minutes on an idle machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from seedstall.knowledge.refill import BUSY_RATE, SEED_BYTES, bits_short, wait_ms
from seedstall.model.duration import duration
from seedstall.model.finding import Disposition, Finding, Fix, Severity, When
from seedstall.model.jvm import LiveProcess
from seedstall.model.kernel import BlockingModel
from seedstall.model.redact import visible
from seedstall.model.tasks import UNOPENED, FileKind
from seedstall.model.verdict import Status
from seedstall.model.waits import SeedWait, read_length
from seedstall.rules.seed_account import Surroundings

BITS_A_KEY = 5
FED_BYTES = 4096
"""More than any generator asks for at its first use (20, 32 or 276 bytes)."""
STARTING = ("main", "localhost-startStop-1", "Catalina-utility-1")
JOBS = frozenset(
    (
        *("", "java", "jdk-tool", "jarsigner", "keytool", "maven", "maven-fork", "gradle"),
        *("gradle-worker", "ant", "sbt", "spark", "hadoop", "jenkins-agent"),
    )
)
"""Programs of `knowledge.products` whose main thread works, or may: the others' only starts a server."""
DISK = "find / -xdev -type f -exec cat {} + > /dev/null"
"""Reads that miss the cache: each is an interrupt."""


def once(
    surface: str,
    title: str,
    command: str,
    *,
    takes: str = "",
    root: bool = False,
    restart: bool = False,
    review: bool = False,
    where: str = "host",
) -> Fix:
    """Something that is done once, now, and is no setting."""
    return Fix(
        surface=surface,
        title=title,
        when=When.NOW,
        where=where,
        restart=restart,
        needs_root=root,
        disposition=Disposition.REVIEW if restart or review else Disposition.SAFE,
        takes=takes,
        params={"command": command},
    )


def word(path: str) -> str:
    """A path as one word of a shell: whoever runs in a control group may have named it."""
    import shlex  # noqa: PLC0415 - start-up time

    return shlex.quote(path)


def stir(wait: SeedWait | None, around: Surroundings) -> Iterator[Fix]:
    """Keys or a busy disk: the only way without installing anything."""
    kernel = around.kernel
    if wait is None or kernel is None or kernel.model is not BlockingModel.BLOCKING_POOL:
        return
    wanted = _wanted(wait)
    entropy = kernel.entropy_avail or 0
    keys = math.ceil(bits_short(wanted, entropy) / BITS_A_KEY)
    if not keys:
        return
    busy = wait_ms(wanted, entropy, BUSY_RATE) or 0
    yield once(
        "stir-pool",
        f"type about {keys} keys at the host's own console, or keep its disk busy",
        DISK,
        takes=f"about {duration(busy)} with a busy disk",
        root=True,
        review=True,
    )


def _wanted(wait: SeedWait) -> int:
    """Bytes that are still to come, by the newest look at the read itself."""
    if wait.lengths:
        return wait.lengths[-1]
    length = read_length(wait.task.syscall) if wait.task is not None else None
    return length if length is not None and 0 < length <= FED_BYTES else SEED_BYTES


def feed_device(wait: SeedWait, around: Surroundings) -> Iterator[Fix]:
    """Bytes into the FIFO that stands in the device's place: whoever should feed it does not."""
    file = wait.task.file if wait.task is not None else None
    if file is None or file.kind is not FileKind.FIFO or around.pid is None or not around.live:
        return
    # By its descriptor: neither a mount nor a name of that path has a part in it. Where it is still being opened, by
    # its name in the process's own root. Without O_CREAT, which fs.protected_fifos refuses in a sticky directory. The
    # JVM may have gone on by the time that this is typed, and the number be that of a JAR: only a FIFO is written to.
    place = f"/proc/{around.pid}/fd/{file.fd}"
    if file.fd == UNOPENED:
        place = word(f"/proc/{around.pid}/root{visible(file.path)}")
    yield once(
        "feed-device",
        "feed, as root or as its user, the FIFO that the JVM reads in the device's place",
        f"test -p {place} && dd if=/dev/urandom of={place} bs={FED_BYTES} count=1 conv=nocreat,notrunc status=none",
        takes="at once",
    )


def last_resort(
    wait: SeedWait | None, around: Surroundings, *, alone: bool, again: bool = True
) -> Iterator[Fix]:
    """The restart, with what it costs; the engine puts before it what is to be saved first.

    *alone*: nothing else frees it. *again*: without another setting the next start waits likewise.
    """
    if around.pid is None or not around.live or around.core is not None:
        return
    more = ", but set what stands below first, or it waits again" if again else ""
    yield restart(around.pid, f"{_cost(wait, around)}{more}", alone=alone)


def save(pid: int) -> Fix:
    """The bundle that outlives the process: thread dump, ``/proc``, this report."""
    return once(
        "capture",
        "before you end it, save what that destroys",
        f"seedstall capture {pid} -o hung-{pid}.tar.gz",
        takes="seconds",
    )


def restart(pid: int, cost: str, *, alone: bool) -> Fix:
    """The end of the process by SIGTERM, which runs its shutdown hooks."""
    title = "nothing but a restart frees it" if alone else "restart it"
    return once(
        "restart",
        f"{title}: {cost}",
        f"kill {pid}",
        takes="seconds, a minute where shutdown hooks run",
        restart=True,
    )


def _cost(wait: SeedWait | None, around: Surroundings) -> str:
    """Whether ending it is safe, as far as the thread tells that waits."""
    product = around.product.key if around.product is not None else ""
    if product == "jarsigner":
        return "safe, the JAR is untouched until jarsigner has ended (it writes NAME.sig)"
    name = wait.java.name if wait is not None and wait.java is not None else ""
    asks = wait.stack.product if wait is not None and wait.stack is not None else ""
    server = bool({product, asks} - JOBS)
    if name in STARTING and (server or name != "main"):
        return "safe, it is still starting and serves nobody"
    if name == "main":
        return "safe where it is still starting; a job that runs in main loses what it has done"
    if name:
        return "it may serve already, and what its other threads work on is lost"
    return "whether it serves already was not seen"


def wait_for_it(why: str, takes: str) -> Fix:
    """It ends by itself."""
    return once("wait", f"nothing: {why}", why, takes=takes)


def with_capture(findings: Sequence[Finding], live: LiveProcess | None) -> tuple[Finding, ...]:
    """The findings, each that a restart may answer with what is to be saved before it."""
    if live is None:
        return tuple(findings)
    return tuple(_saved(finding, live.pid) for finding in findings)


def _saved(finding: Finding, pid: int) -> Finding:
    if finding.status is not Status.STALLED or finding.severity < Severity.WARNING:
        return finding
    now = [fix for fix in finding.fixes if fix.when is When.NOW]
    at = next((i for i, fix in enumerate(finding.fixes) if fix.surface == "restart"), None)
    if at is None and now:
        return finding  # what frees it does not end it
    at = len(now) if at is None else at
    return replace(finding, fixes=(*finding.fixes[:at], save(pid), *finding.fixes[at:]))
