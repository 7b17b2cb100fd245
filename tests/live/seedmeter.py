"""What a real JVM reads for a seed, measured: by strace, or by a FIFO in the place of each random device.

A device that is open proves nothing, since the SUN provider opens both while it loads: only bytes that were read
count. The threaded seeder reads no device; it is told by its threads' name, which every JDK gives them.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from tests.machine import JDK8_ROOT, java_of, jdk8_bin

from seedstall.effect.demo import PROBE
from seedstall.knowledge.kernel import POOL_SIGN
from seedstall.knowledge.seeding import (
    behaviour,
    effective_source,
    first_reads,
    shipped_source,
    threaded_delay_ms,
)
from seedstall.model.jdk import JdkVersion
from seedstall.model.seeding import Behaviour, Device, Instance, Operation
from seedstall.parse.jdkversion import jdk_version

ORACLE = Path(__file__).parent.parent / "knowledge/jdk-seeding-matrix.csv"
DEVICES = (Device.RANDOM, Device.URANDOM)
ON_PATH = "java-on-path"
NONE = "none"
"""No device, or no such generator."""
SYSTEM_CALL = "getrandom"
"""No JDK seeds so yet. The C library does for its own ends, 8 bytes or fewer at a time."""
LEAST_SEED = 16
"""Bytes of the smallest seed of any generator: what getrandom gives below that is the C library's."""
THREADED_NAME = "SeedGenerator T"
"""``SeedGenerator Thread``, as far as the kernel keeps a name (sun/security/provider/SeedGenerator.java)."""
PROBE_BYTES = 20
"""What SeedProbe asks of ``generateSeed``."""

LIMIT_S = 100.0
"""Longer than the threaded seeder's 9 s on a machine that has much else to do."""
STORED = 4096
"""Bytes in each FIFO: no first use reads as many."""


class Row(NamedTuple):
    """One question of the matrix. ``egd`` is as the oracle spells it: ``unset``, ``empty`` or the value."""

    egd: str
    instance: Instance
    operation: Operation

    @property
    def value(self) -> str | None:
        """What ``java.security.egd`` is set to; ``None`` where it is not."""
        return {"unset": None, "empty": ""}.get(self.egd, self.egd)


@dataclass(frozen=True)
class Jvm:
    """A JVM of the machine. ``java`` is its path inside ``root``; without one the JVM is not there."""

    name: str
    java: Path | None
    root: Path | None = None

    def __str__(self) -> str:
        return self.name

    def command(self, row: Row, classes: Path) -> list[str]:
        """A fresh JVM that tells its version on stderr and runs the probe once."""
        assert self.java is not None, f"no {self.name} here"
        chroot = [] if self.root is None else ["chroot", str(self.root)]
        within = classes if self.root is None else "/" / classes.relative_to(self.root)
        egd = [] if row.value is None else [f"-Djava.security.egd={row.value}"]
        # One collector thread and one compiler: a start costs half, and neither has to do with seeds.
        frugal = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        probe = ["-cp", str(within), "SeedProbe", row.instance, row.operation]
        return [*chroot, str(self.java), "-showversion", *frugal, *egd, *probe]

    @contextmanager
    def classes(self) -> Generator[Path]:
        """A directory with the probe that this JVM can see."""
        with tempfile.TemporaryDirectory(dir=self.root / "tmp" if self.root else None) as folder:
            shutil.copy(PROBE / "SeedProbe.class", folder)
            yield Path(folder)


class Cell(NamedTuple):
    """One row on one JVM."""

    jvm: Jvm
    row: Row

    def __str__(self) -> str:
        return " ".join((self.jvm.name, repr(self.row.egd), self.row.instance, self.row.operation))


class Measured(NamedTuple):
    """What was seen. ``device`` names all that was read, ``reads`` the bytes of each read, in order."""

    jdk: JdkVersion
    algorithm: str
    device: str
    reads: tuple[int, ...] | None = None
    """``None`` where they cannot be told apart (FIFO)."""
    milliseconds: int | None = None
    """From asking for the generator to its first bytes; ``None`` where there was no generator."""


def rows() -> list[Row]:
    """Every seed source of the oracle with every instance and operation of it, each once."""
    with ORACLE.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    uses = {(line["instance"].removeprefix("alg:"), line["operation"]) for line in lines}
    sources = dict.fromkeys(line["egd"] for line in lines)
    return [Row(egd, Instance(i), Operation(o)) for egd in sources for i, o in sorted(uses)]


def jdk8() -> Jvm:
    """The JDK 8 with its own C library."""
    programs = jdk8_bin()
    return Jvm("jdk8", programs / "java" if programs else None, JDK8_ROOT)


def jvms() -> list[Jvm]:
    """Those of `make jvms` (there or not), any other beside them, and the PATH's if it is another one."""
    beside = {int(p.name) for p in java_of(0).parents[4].glob("*") if p.name.isdecimal()}
    places = {n: java_of(n) for n in sorted({11, 17, 21, 25} | beside)}
    found = [Jvm(f"jdk{n}", java if java.exists() else None) for n, java in places.items()]
    on_path = shutil.which("java")
    if on_path and Path(on_path).resolve() not in {java.resolve() for java in places.values()}:
        found.append(Jvm(ON_PATH, Path(on_path).resolve()))
    return found


def expected(row: Row, jdk: JdkVersion) -> Behaviour:
    """What the tables say."""
    source = effective_source(row.value, shipped_source(jdk))
    return behaviour(jdk, source, row.instance, row.operation)


def difference(cell: Cell, measured: Measured) -> str:
    """What was measured against the tables, in one line that names all of it; ``""`` where they agree."""
    table = expected(cell.row, measured.jdk)
    faults: list[str] = []

    def compare(what: str, wanted: object, seen: object) -> None:
        if wanted != seen:
            faults.append(f"{what}: expected {wanted}, measured {seen}")

    compare("algorithm", str(table.algorithm or NONE), measured.algorithm)
    compare("device read", str(table.device), measured.device)
    if table.algorithm is not None and table.device in DEVICES:
        reads = first_reads(table.algorithm, cell.row.operation, measured.jdk)
        if None not in (reads, measured.reads):
            compare("bytes of each read", reads, measured.reads)
    least = _least_ms(table, cell.row.operation)
    if least is not None and (measured.milliseconds is None or measured.milliseconds < least):
        faults.append(f"delay: expected {least} ms at least, measured {measured.milliseconds}")
    if not faults:
        return ""
    row = cell.row
    asked = f"egd {row.egd!r}, instance {row.instance}, operation {row.operation}"
    return f"{cell.jvm} (JDK {measured.jdk}), {asked}: {'; '.join(faults)}"


def _least_ms(table: Behaviour, operation: Operation) -> int | None:
    """The threaded seeder's cost for this probe at the least."""
    if table.fixed_delay_ms is None:
        return None
    if operation is Operation.GENERATE_SEED:
        return threaded_delay_ms(PROBE_BYTES)
    return table.fixed_delay_ms


@dataclass(frozen=True)
class _Ended:
    """A program that came to its end by itself."""

    code: int
    out: str
    err: str

    def measured(self, device: str, reads: tuple[int, ...] | None) -> Measured:
        """Read what JVM and probe say. Anything but a result or a lacking generator is no measurement."""
        said = f"exit {self.code}: {self.out[-500:]!r} {self.err[-2000:]!r}"
        if self.code == 1 and "NoSuchAlgorithmException" in self.err:
            return Measured(jdk_version(self.err), NONE, device, reads)
        result = re.fullmatch(r"(\S+) (\d+)\n", self.out)
        assert self.code == 0, said
        assert result is not None, said
        return Measured(jdk_version(self.err), result[1], device, reads, int(result[2]))


def _run(command: Sequence[str], look: Callable[[int], None] | None = None) -> _Ended:
    """Run *command* to its end, calling *look* with its process id now and then."""
    env = {k: v for k, v in os.environ.items() if "JAVA" not in k}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        process_group=0,
    ) as process:
        deadline = time.monotonic() + LIMIT_S
        while True:
            try:
                out, err = process.communicate(timeout=0.2)
            except subprocess.TimeoutExpired:
                if look is not None:
                    look(process.pid)
                if time.monotonic() > deadline:
                    # The group: a JVM whose strace alone is killed would run on.
                    os.killpg(process.pid, signal.SIGKILL)
                    message = f"took longer than {LIMIT_S:.0f} s: {' '.join(command)}"
                    raise AssertionError(message) from None
            else:
                return _Ended(process.returncode, out, err)


def by_strace(cell: Cell, classes: Path) -> Measured:
    """Measure with strace: every read of every thread, with the file it read."""
    calls = "read,readv,pread64,preadv,getrandom,prctl"
    with tempfile.TemporaryDirectory() as folder:
        # A file for each thread: a call is never broken in two lines by another thread's.
        strace = ["strace", "-ff", "-qq", "-y", "-s", "16", "-e", f"trace={calls}"]
        ended = _run([*strace, "-o", f"{folder}/trace", *cell.jvm.command(cell.row, classes)])
        traces = sorted(Path(folder).iterdir())
        lines = [line for t in traces for line in t.read_text(errors="replace").splitlines()]
    # Each JVM starts threads and names them: without a name strace did not follow them.
    assert any(line.startswith("prctl(PR_SET_NAME, ") for line in lines), ended
    devices, reads = _reads(lines, str(cell.jvm.root or ""))
    if any(f'"{THREADED_NAME}' in line for line in lines):
        devices.add(Device.THREADED)
    return ended.measured(" + ".join(sorted(devices)) or NONE, tuple(reads))


_READ = re.compile(r"\w+\(\d+<([^>]+)>.*\) += (\d+)")
_GETRANDOM = re.compile(r"getrandom\(.*\) += (\d+)")


def _reads(lines: Sequence[str], root: str) -> tuple[set[str], list[int]]:
    """The devices that bytes were read of, and how many at a time."""
    devices: set[str] = set()
    sizes: list[int] = []
    for line in lines:
        read, call = _READ.match(line), _GETRANDOM.match(line)
        if read and read[1].removeprefix(root) in DEVICES and int(read[2]) > 0:
            devices.add(read[1].removeprefix(root))
            sizes.append(int(read[2]))
        elif call and int(call[1]) >= LEAST_SEED:
            devices.add(SYSTEM_CALL)
            sizes.append(int(call[1]))
    return devices, sizes


_COVER = """
mount --bind "$1" "$3/dev/random"
mount --bind "$2" "$3/dev/urandom"
test -p "$3/dev/random"
test -p "$3/dev/urandom"
shift 3
exec "$@"
"""


def by_fifo(cell: Cell, classes: Path) -> Measured:
    """Measure with a full FIFO over each device, in a mount namespace of the JVM's own: what is missing was read."""
    names: set[str] = set()

    def look(pid: int) -> None:
        for comm in Path(f"/proc/{pid}/task").glob("*/comm"):
            try:
                names.add(comm.read_text(encoding="ascii", errors="replace").strip())
            except OSError:
                continue  # that thread has ended

    with _Fifo() as random, _Fifo() as urandom:
        cover = [str(random.path), str(urandom.path), str(cell.jvm.root or "")]
        shell = ["sh", "-ec", _COVER, "sh", *cover]
        ended = _run([*_namespace(), *shell, *cell.jvm.command(cell.row, classes)], look)
        fifos = zip(DEVICES, (random, urandom), strict=True)
        devices = [str(device) for device, fifo in fifos if fifo.taken()]
    if THREADED_NAME in names:
        devices.append(Device.THREADED)
    return ended.measured(" + ".join(devices) or NONE, None)


class _Fifo:
    """A FIFO full of bytes."""

    MARK = b"s"

    def __enter__(self) -> Self:
        self._directory = Path(tempfile.mkdtemp())
        self.path = self._directory / "device"
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        os.write(self._end, self.MARK * STORED)
        return self

    def taken(self) -> int:
        """How many of the bytes are gone. ``setSeed`` writes zeros behind them, which do not count."""
        try:
            return STORED - os.read(self._end, 1 << 16).count(self.MARK)
        except BlockingIOError:
            return STORED

    def __exit__(self, *exception: object) -> None:
        os.close(self._end)
        shutil.rmtree(self._directory)


def _namespace() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", "--propagation", "private", *user]


def _works(*command: str) -> bool:
    return shutil.which(command[0]) is not None and _run(command).code == 0


def has_fifos() -> bool:
    """Whether a mount namespace can be had."""
    return _works(*_namespace(), "true")


Meter = Callable[[Cell, Path], Measured]


def meter() -> Meter | None:
    """How this machine can measure; ``None`` if it cannot.

    A kernel whose ``/dev/random`` has a pool of its own is not drained by hundreds of probes: there FIFOs are taken
    even where strace would do.
    """
    has_pool = Path("/proc/sys/kernel/random", POOL_SIGN).exists()
    if not has_pool and _works("strace", "-qq", "-o", "/dev/null", "true"):
        return by_strace
    return by_fifo if has_fifos() else None
