"""Whether seedstall ever harms a JVM, leaves anything behind or stumbles over JVMs that come and go.

    PYTHONPATH=. python benchmarks/soak.py [ATTACHES] [JVMS]

First so many guarded attaches to one JVM (1,000), and a fiftieth of that number of JVMs asked as soon as they are up.
Then so many JVMs (100) are started and ended, eight at a time, each after a time of its own, while `seedstall list`,
`diagnose --all` and `diagnose --all --attach` run in turn without a pause. Whatever goes wrong ends it with code 1.

Needs the JVMs of `make jvms`; 17 takes the attaches, all of them come and go.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.live.patients import Patient, command, start
from tests.machine import CHECKOUT, java_of

from seedstall.effect.attach import Attacher
from seedstall.engine.listing import listing
from seedstall.model.evidence import Got

AT_ONCE = 8
LIFE_S = (0.0, 8.0)
"""How long a JVM lives, from its exec on: a start takes 0.3 s on an idle machine, more here."""
ENDED_BY_US = {
    -signal.SIGKILL,
    -signal.SIGTERM,
    128 + signal.SIGTERM,
}
"""What a JVM exits with that was sent one of these: at SIGTERM it runs its hooks and exits by itself."""
TOOLS = (
    ("list",),
    ("diagnose", "--all"),
    ("diagnose", "--all", "--attach"),
)
SETTLE_S = 2.0
FINE = {0, 3, 4, 10}
"""Exit codes of a command that did its work: 3 where no JVM was there."""


class SpoiledError(Exception):
    """Something that must never happen."""


def require(what: str, *, holds: bool) -> None:
    """Go on only if that *holds*.

    Raises:
        SpoiledError: it does not; *what* says what that means.
    """
    if not holds:
        raise SpoiledError(what)


def descriptors(pid: int) -> int:
    """How many a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def leftovers(folder: Path, pids: set[int]) -> list[str]:
    """Attach files of ours, of one of these JVMs, in its directory or in /tmp."""
    found = [p for place in (folder, Path("/tmp")) for p in place.glob(".attach_pid*")]  # noqa: S108 - where attach files lie
    return [str(p) for p in found if p.name.removeprefix(".attach_pid") in map(str, pids)]


@contextmanager
def patient(feature: int = 17) -> Iterator[tuple[Patient, Path]]:
    """A JVM that is up, in a directory of its own."""
    with tempfile.TemporaryDirectory() as name:
        running = start(command(feature), name)
        try:
            running.wait_until(lambda: b"up" in running.said)
            yield running, Path(name)
        finally:
            running.end()


# --- one JVM, asked again and again ----------------------------------------------------------------------------------


@dataclass
class Attaches:
    """What so many attaches to one JVM took, in milliseconds, and what was counted before and after."""

    times: list[float]
    ours: tuple[int, int]
    theirs: tuple[int, int]

    def __str__(self) -> str:
        """The figures, in a line."""
        ordered = sorted(self.times)
        return (
            f"{len(ordered)} guarded attaches to one JVM: median {statistics.median(ordered):.1f} ms,"
            f" 99 % within {ordered[int(len(ordered) * 0.99)]:.1f} ms, slowest {ordered[-1]:.1f} ms;"
            f" descriptors ours {self.ours[0]} -> {self.ours[1]}, its {self.theirs[0]} -> {self.theirs[1]};"
            " no file left, it lives and answers"
        )


def attach_often(count: int) -> Attaches:
    """Ask one JVM for so many dumps.

    Raises:
        SpoiledError: one failed, something leaked, or the JVM took harm.
    """
    with patient() as (jvm, folder):
        ask(jvm.pid)  # the first one starts its listener, and imports what we need
        ours, theirs = descriptors(os.getpid()), descriptors(jvm.pid)
        times: list[float] = []
        for _ in range(count):
            begin = time.perf_counter()
            ask(jvm.pid)
            times.append((time.perf_counter() - begin) * 1000)
        # It closes its end of the last connection a moment after we have the answer.
        end = time.monotonic() + SETTLE_S
        while descriptors(jvm.pid) > theirs and time.monotonic() < end:
            time.sleep(0.01)
        told = Attaches(times, (ours, descriptors(os.getpid())), (theirs, descriptors(jvm.pid)))
        require("a descriptor of ours stays open", holds=told.ours[1] <= ours)
        require("a descriptor of the JVM's stays open", holds=told.theirs[1] <= theirs)
        left = leftovers(folder, {jvm.pid})
        require(f"files are left: {left}", holds=not left)
        require("a dump stands in its own output", holds=not jvm.dumped)
        require("it does not answer", holds=jvm.is_well())
        return told


def ask(pid: int) -> None:
    """One guarded attach, from the look at the process to the whole dump."""
    reading = Attacher(pid).ask("threaddump")
    require(f"no dump: {reading}", holds=isinstance(reading, Got))
    whole = isinstance(reading, Got) and b"Full thread dump" in reading.value
    require("the dump is none", holds=whole)


def attach_first(count: int) -> None:
    """So many JVMs, each asked as soon as it is up: each time the listener has to be called for by SIGQUIT."""
    for _ in range(count):
        with patient() as (jvm, folder):
            ask(jvm.pid)
            require("files are left", holds=not leftovers(folder, {jvm.pid}))
            require("a dump stands in its own output", holds=not jvm.dumped)
            require("it does not answer", holds=jvm.is_well())


# --- JVMs that come and go -------------------------------------------------------------------------------------------


@dataclass
class Churn:
    """What ran while JVMs came and went."""

    jvms: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    seen: int = 0
    """JVMs told of by `list`, all runs together."""
    attached: int = 0
    """Attaches that `diagnose --attach` lists."""
    took_s: float = 0.0

    def __str__(self) -> str:
        """The figures, in a line."""
        runs = ", ".join(f"{count} x {name}" for name, count in sorted(self.runs.items()))
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(self.codes.items()))
        return (
            f"{self.jvms} JVMs started and ended in {self.took_s:.0f} s, meanwhile {runs} (exit codes {codes});"
            f" {self.seen} rows listed, {self.attached} attaches; no error, no file left,"
            " none ended but by our own signal"
        )


@dataclass
class Tool:
    """One running command and where it writes."""

    words: tuple[str, ...]
    process: subprocess.Popen[bytes]
    folder: Path

    def output(self, name: str) -> str:
        """What it wrote."""
        return (self.folder / name).read_text(encoding="utf-8")


def churn(
    count: int,
    features: tuple[int, ...],
    tell: Callable[[str], None],
    least_runs: int = 0,
    life_s: tuple[float, float] = LIFE_S,
    at_once: int = AT_ONCE,
) -> Churn:
    """Start and end so many JVMs while the tools run; more where these have not run so often by then.

    Raises:
        SpoiledError: a tool failed, or a JVM ended by anything but our own signal.
    """
    told = Churn()
    chance = random.Random(17)  # noqa: S311 - the same lives in each run
    living: dict[int, tuple[Patient, float]] = {}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool, judged = _started(folder, 0), False
        pids: set[int] = set()
        try:
            while (more := _more(told, count, least_runs)) or living or not judged:
                if more and len(living) < at_once:
                    feature = features[told.jvms % len(features)]
                    jvm = start(command(feature), name)
                    pids.add(jvm.pid)
                    living[jvm.pid] = jvm, time.monotonic() + chance.uniform(*life_s)
                    told.jvms += 1
                    if told.jvms % 10 == 0:
                        tell(f"{told.jvms} JVMs, {sum(told.runs.values())} runs")
                _end_those_due(living, chance)
                if not _runs(tool) and not judged:
                    _judge(tool, told)
                    judged = True
                    if _more(told, count, least_runs):
                        tool, judged = _started(folder, sum(told.runs.values())), False
                time.sleep(0.01)
        finally:
            for jvm, _ in living.values():
                jvm.end()
            if _runs(tool):
                tool.process.terminate()
                tool.process.wait()
        left = leftovers(folder, pids)
        require(f"files are left: {left}", holds=not left)
    told.took_s = time.monotonic() - begin
    return told


def _more(told: Churn, count: int, least_runs: int) -> bool:
    return told.jvms < count or sum(told.runs.values()) < least_runs


def _runs(tool: Tool) -> bool:
    return tool.process.poll() is None


def _end_those_due(living: dict[int, tuple[Patient, float]], chance: random.Random) -> None:
    for jvm, due in list(living.values()):
        ended = jvm.process.poll()
        require(f"a JVM ended by itself, with {ended}: {jvm.said!r}", holds=ended is None)
        if time.monotonic() < due:
            continue
        while jvm.hear():
            pass
        # One that is not up yet may fail at SIGTERM with an error of its own (21: "Bad level: 2"), as if harmed.
        gently = b"up" in jvm.said and chance.random() < 0.5
        jvm.process.send_signal(signal.SIGTERM if gently else signal.SIGKILL)
        code = jvm.process.wait(30)
        said = jvm.said + _rest(jvm)
        require(f"a JVM ended with {code}: {said!r}", holds=code in ENDED_BY_US)
        require("a dump stands in its own output", holds=b"Full thread dump" not in said)
        jvm.end()
        del living[jvm.pid]


def _rest(jvm: Patient) -> bytes:
    return jvm.process.stdout.read() if jvm.process.stdout is not None else b""


def _started(folder: Path, turn: int) -> Tool:
    words = TOOLS[turn % len(TOOLS)]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "seedstall", *words, "--format", "json"],
            stdout=out,
            stderr=err,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        )
    return Tool(words, process, folder)


def _judge(tool: Tool, told: Churn) -> None:
    code, name = tool.process.returncode, " ".join(tool.words)
    complaint = tool.output("err")
    require(f"{name} exited with {code}: {complaint}", holds=code in FINE)
    require(f"{name} failed: {complaint}", holds="Traceback" not in complaint)
    told.runs[name] += 1
    told.codes[code] += 1
    document = json.loads(tool.output("out") or "{}")
    require(f"{name} said nothing", holds=bool(document) or code == 3)
    told.seen += len(document.get("jvms", ()))
    for case in document.get("cases", ()):
        crashed = case.get("crashed", ())
        require(f"{name}: a rule crashed: {crashed}", holds=not crashed)
        told.attached += sum("attach" in action["what"] for action in case.get("actions", ()))


def list_often(count: int) -> int:
    """Look at all JVMs so many times in one process; the descriptors it lost, which must be none."""
    listing()
    before = descriptors(os.getpid())
    for _ in range(count):
        listing()
    return descriptors(os.getpid()) - before


def main() -> None:
    """Run it all, and print the figures."""
    attaches = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    jvms = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    features = tuple(n for n in (11, 17, 21, 25) if java_of(n).exists())
    if 17 not in features:
        sys.exit("error: no JVM\nhint: make jvms")
    try:
        print(attach_often(attaches))
        attach_first(max(1, attaches // 50))
        print(f"{max(1, attaches // 50)} more JVMs asked as soon as they were up: none took harm")
        with patient():
            lost = list_often(max(1, jvms))
        require(f"{lost} descriptors lost", holds=lost <= 0)
        print(f"{max(1, jvms)} lists in one process: no descriptor lost")
        print(churn(jvms, features, lambda text: print(text, file=sys.stderr), jvms // 5))
    except SpoiledError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
