"""Entropy daemons: which run, and which are installed."""

from __future__ import annotations

from seedstall.facts.host import first_line, kernel_ref
from seedstall.knowledge import kernel as knowledge
from seedstall.knowledge.release import fed_by_hwrng, read_release
from seedstall.model.evidence import Ask, Got, Missing, Reading, Unavailable, Why
from seedstall.model.kernel import Feeders, KernelRandom, RunningDaemon
from seedstall.parse import kernelfiles
from seedstall.source.base import Source

HWRNG = "sys/class/misc/hw_random/"
MAX_PROCESSES = 1 << 16

# By `comm`, which the kernel cuts at 15 bytes (facts: kernel, section 7).
DAEMONS = {
    "rngd": "rngd",
    "haveged": "haveged",
    "jitterentropy-r": "jitterentropy-rngd",
    "ekeyd": "ekeyd",
    "ekey-egd-linux": "ekeyd-egd-linux",
    "clrngd": "clrngd",
    "audio-entropyd": "audio-entropyd",
    "timer_entropyd": "timer_entropyd",
}
# Units and init scripts, and the daemon each starts.
UNITS = {
    "rngd.service": "rngd",
    "rng-tools.service": "rngd",
    "rng-tools5.service": "rngd",
    "rng-tools-debian.service": "rngd",
    "haveged.service": "haveged",
    "jitterentropy.service": "jitterentropy-rngd",
    "jitterentropy-rngd.service": "jitterentropy-rngd",
    "rngd": "rngd",
    "rng-tools": "rngd",
    "rng-tools5": "rngd",
    "rng-tools-debian": "rngd",
    "haveged": "haveged",
    "ekeyd": "ekeyd",
    "ekeyd-egd-linux": "ekeyd-egd-linux",
    "clrngd": "clrngd",
}
_UNIT_DIRECTORIES = (
    "etc/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
)
_SCRIPT_DIRECTORIES = ("etc/init.d", "etc/rc.d/init.d")


def feeders(source: Source, kernel: KernelRandom) -> Feeders:
    """Entropy daemons that run, and those that are installed.

    Raises:
        Unavailable: one is installed or has run (or nothing tells whether), and the host's processes could not be seen.
    """
    listing = source.read(kernel_ref("proc", Ask.LIST))
    seen = first_line(source, "proc/2/comm") == "kthreadd"
    running = _running(source, listing.value) if isinstance(listing, Got) else ()
    installed, looked = _installed(source)
    ran = knowledge.daemon_mark(kernel.write_wakeup) if kernel.can_block else ""
    if not seen and not running and (installed or ran or not looked):
        raise Unavailable(_unseen(source, listing))
    current = first_line(source, HWRNG + "rng_current")
    release = read_release(kernel.release)
    quality = first_line(source, HWRNG + "rng_quality")
    value = int(quality) if quality.isdecimal() and len(quality) < 8 else None  # noqa: PLR2004 - at most 1024
    return Feeders(
        running=running,
        installed=installed,
        ran=ran,
        processes_seen=seen,
        hwrng="" if current == "none" else current[:80],
        self_feeding=bool(
            current not in ("", "none") and release and fed_by_hwrng(release, current, value)
        ),
    )


def _unseen(source: Source, listing: Reading[bytes]) -> Missing:
    if isinstance(listing, Missing):
        return listing
    second = source.read(kernel_ref("proc/2/comm"))
    if isinstance(second, Missing) and second.why is Why.NOT_COLLECTED:
        return Missing(second.why, listing.origins, "the capture does not hold all processes")
    detail = "the host's processes are not all visible from here (a container, or hidepid)"
    return Missing(Why.DENIED, listing.origins, detail)


def _running(source: Source, listing: bytes) -> tuple[RunningDaemon, ...]:
    found: list[RunningDaemon] = []
    pids = [n for n in kernelfiles.names(listing) if n.isascii() and n.isdigit() and len(n) < 9]  # noqa: PLR2004 - PID_MAX_LIMIT is 4194304
    for pid in pids[:MAX_PROCESSES]:
        reading = source.read(kernel_ref(f"proc/{pid}/comm"))
        comm = (
            reading.value[:32].strip().decode("utf-8", "replace")
            if isinstance(reading, Got)
            else ""
        )
        if (name := DAEMONS.get(comm)) is not None:
            words = source.read(kernel_ref(f"proc/{pid}/cmdline"))
            command = words.value[:1024] if isinstance(words, Got) else b""
            text = command.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
            found.append(RunningDaemon(name, int(pid), text))
    return tuple(found)


def _installed(source: Source) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Daemons with a unit or an init script, each once, and whether any such directory could be listed."""
    found: dict[str, str] = {}
    looked = False
    for directory in (*_UNIT_DIRECTORIES, *_SCRIPT_DIRECTORIES):
        listing = source.read(kernel_ref(directory, Ask.LIST))
        if not isinstance(listing, Got):
            continue
        looked = True
        for name in kernelfiles.names(listing.value):
            if (daemon := UNITS.get(name)) is not None:
                found.setdefault(daemon, f"/{directory}/{name}")
    return tuple(sorted(found.items())), looked


PROVIDERS = (feeders,)
