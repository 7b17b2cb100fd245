"""A JVM's generators, timed in JVMs of their own: the first use, what comes after, and what threads get together."""

from __future__ import annotations

import secrets
import select
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from seedstall.effect.chamber import HERE
from seedstall.effect.experiment import LIMIT_S, PROBE, Subject
from seedstall.effect.probejvm import Launch, Orphans, ProbeJvm, number
from seedstall.effect.starvation import How
from seedstall.knowledge.seedsource import URL_RANDOM, URL_URANDOM, Target, destination, is_special
from seedstall.model.measure import AFTERWARDS, BY_THREADS, FIRST_USE, QUEUED, Measurement

CALLS = 10_000
STARTS = 3
CHUNK = 16
"""Bytes a call: a session id's, a UUID's. The lock is taken once a call, so that small calls show it."""
WARM_UP = 5
PLAIN = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:-UsePerfData",  # see experiment.FRUGAL
    "-XX:+DisableAttachMechanism",
    "-Xmx64m",
    f"-XX:ErrorFile={HERE}/hs_err",
)
"""The compilers as they are: what is measured here is their work."""
FIRST_USES = ("default", "NativePRNG", "NativePRNGNonBlocking", "SHA1PRNG", "DRBG")
GENERATORS = (
    "NativePRNG",
    "NativePRNGNonBlocking",
    "SHA1PRNG",
    "DRBG/Hash_DRBG,SHA-256",
    "DRBG/HMAC_DRBG,SHA-256",
    "DRBG/CTR_DRBG,AES-128",
    "default",
)
RUN_LIMIT_S = 240.0
LEFT_OUT = "left out: it takes 20 bytes or more of a pool that may run dry (--drain)"
MB = 1e6

Told = Callable[[Measurement], None]


class Egd(NamedTuple):
    """A seed source to be compared: ``value`` is ``None`` for the JDK's own; ``source`` is what is then in force."""

    name: str
    value: str | None
    source: str = ""
    options: tuple[str, ...] = ()

    def reads_random(self, generator: str) -> bool:
        """Whether that generator's first ``nextBytes`` draws from ``/dev/random`` (8 and later)."""
        source = self.value or self.source or URL_RANDOM
        if destination(source).target is not Target.RANDOM:
            return False
        return generator.startswith(("SHA1PRNG", "DRBG")) or (
            generator == "default" and not is_special(source)
        )


class JvmBench:
    """Starts JVMs of one subject, one at a time. A context manager: its files are gone with it."""

    def __init__(
        self,
        subject: Subject,
        *,
        drain: bool,
        starts: int = STARTS,
        only: Sequence[str] = (),
    ) -> None:
        """*drain* is whether ``/dev/random`` may be read. *only* are the generators meant, all where it is empty."""
        self._subject = subject
        self._drain = drain
        self._starts = starts
        self._only = only
        self._orphans = Orphans()
        self._folder: Path | None = None
        """Only where there is no namespace, which would leave nothing whatever ends us."""
        self._place: list[str] = []
        self.java = ""
        self.vm = ""
        self.timer_ns: float | None = None

    def chosen(self, names: Sequence[str]) -> list[str]:
        """Those of *names* that are meant; ``DRBG`` means each of its configurations."""
        return [n for n in names if not self._only or n.partition("/")[0] in self._only]

    def _started(self, egd: Egd, words: Sequence[str]) -> ProbeJvm:
        subject, token = self._subject, secrets.token_hex(8)
        self._place = self._place or self._found_place()
        place = self._place
        value = [f"-Djava.security.egd={egd.value}"] if egd.value is not None else []
        command = [subject.java, *PLAIN, *value, *egd.options, "-cp", HERE, "SeedMeter"]
        command += [words[0], token, *words[1:]]
        return ProbeJvm(
            Launch(place, command, subject.environment(), subject.process_fd, token, None)
        )

    def _found_place(self) -> list[str]:
        """Where our class lies: in a namespace if one may be had, else in a directory of our own."""
        subject = self._subject
        place = ["bare=1", f"copy={PROBE}", *subject.words()]
        tried = Launch(
            [*place, "check=1"], [subject.java], subject.environment(), subject.process_fd, ""
        )
        if subject.root is not None or subject.process_fd >= 0:
            return place
        with ProbeJvm(tried) as check:
            if check.answer in tuple(How):
                return place
        self._folder = Path(tempfile.mkdtemp(prefix="seedstall-"))
        self._folder.chmod(0o755)  # the JVM may be another user's
        shutil.copy(PROBE, self._folder)
        return [f"dir={self._folder}", *subject.words()]

    def _ended(self, jvm: ProbeJvm, limit_s: float) -> str:
        """Let it run to its end; ``""``, or why it gave no result."""
        if jvm.answer not in tuple(How):
            return jvm.answer
        end, gone = time.monotonic() + limit_s, False
        while time.monotonic() < end:
            select.select([jvm.output], [], [], 0.05)
            more = jvm.read()
            if jvm.flooded:
                return f"it prints without end: {jvm.tail()}"
            if not gone and jvm.said("ready") is not None:
                jvm.go()
                gone = True
            failed = jvm.said("failed")
            if failed is not None:
                return failed.get("error", "")[:200]
            if not more:
                code = jvm.code()
                return "" if code in (0, None) else f"exit code {code}: {jvm.tail()}"
        return f"not done within {limit_s:g} s"

    def first_uses(self, egds: Sequence[Egd], told: Told) -> Iterator[Measurement]:
        """The first use of each generator under each seed source, and the middle one of the calls after it."""
        cells = [(egd, generator) for egd in egds for generator in self.chosen(FIRST_USES)]
        first: dict[tuple[Egd, str], list[float]] = {cell: [] for cell in cells}
        further: dict[tuple[Egd, str], list[float]] = {cell: [] for cell in cells}
        failures: dict[tuple[Egd, str], str] = {
            cell: LEFT_OUT for cell in cells if cell[0].reads_random(cell[1]) and not self._drain
        }
        for _ in range(self._starts):
            for cell in cells:
                if cell not in failures:
                    failure = self._first(*cell, first[cell], further[cell])
                    failures.update({cell: failure} if failure else {})
                    told(_of_first(cell, first[cell], ""))
        for cell in cells:
            yield _of_first(cell, first[cell], failures.get(cell, ""))
        for cell in cells:
            key = f"{cell[1]}, {cell[0].name}, afterwards"
            values = tuple(further[cell])
            yield Measurement(key, AFTERWARDS, "ns", values, self.timer_ns, failures.get(cell, ""))

    def _first(self, egd: Egd, generator: str, first: list[float], further: list[float]) -> str:
        """One start; why it gave no result, or ``""``."""
        with self._started(egd, ("first", generator, "nextBytes", str(CALLS))) as jvm:
            failure = self._ended(jvm, LIMIT_S)
            done, after = jvm.said("done") or {}, jvm.said("further") or {}
        self.java, self.vm = done.get("java", self.java), done.get("vm", self.vm)
        nanos, median = number(done.get("nanos", "")), number(after.get("median", ""))
        self._keep_timer(after)
        if failure or nanos is None or median is None:
            return failure or "no result"
        first.append(nanos / 1e6)
        further.append(float(median))
        return ""

    def _keep_timer(self, said: dict[str, str]) -> None:
        timer = number(said.get("timer", ""))
        self.timer_ns = self.timer_ns if timer is None else float(timer)

    def rates(
        self, egd: Egd, threads: Sequence[int], size: int, runs: int, told: Told
    ) -> Iterator[Measurement]:
        """Megabytes a second, by generator, number of threads, and own or shared instances.

        Seeds come from ``/dev/urandom`` for all but the default generator, which the setting chooses.
        """
        quiet = Egd("", URL_URANDOM)
        ways = [f"{way}:{n}" for n in threads for way in ("own", "shared") if n > 1 or way == "own"]
        found: list[Measurement] = []
        for generator in self.chosen(GENERATORS):
            setting = egd if generator == "default" else quiet
            if setting.reads_random(generator) and not self._drain:
                continue
            words = ("rate", generator, str(size), str(CHUNK), str(WARM_UP), str(runs), *ways)
            with self._started(setting, words) as jvm:
                failure = self._ended(jvm, RUN_LIMIT_S)
                said = list(jvm.all_said("run"))
                self._keep_timer(jvm.said("rating") or {})
            for way in ways:
                turns = [line for line in said if line.get("of") == way]
                found += _of_threads(generator, way, turns, failure)
                told(found[-1])
        for group in (BY_THREADS, QUEUED):
            yield from (m for m in found if m.group == group)

    def close(self) -> None:
        """End what is left of the JVMs, and take the files away."""
        self._orphans.end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


def _of_first(cell: tuple[Egd, str], values: Sequence[float], failure: str) -> Measurement:
    key = f"{cell[1]}, {cell[0].name}"
    return Measurement(key, FIRST_USE, "ms", tuple(values), failure=failure)


def _of_threads(
    generator: str, way: str, turns: Sequence[dict[str, str]], failure: str
) -> Iterator[Measurement]:
    """What they drew, and which part of their time they slept: neither ran nor waited for a processor."""
    threads = int(way.partition(":")[2])
    drawn, slept = list[float](), list[float]()
    for turn in turns:
        told = ("bytes", "nanos", "each", "busy")
        count, nanos, each, busy = (number(turn.get(name, "")) for name in told)
        if count and nanos:
            drawn.append(count * 1e9 / nanos / MB)
        if each and busy is not None:
            slept.append(max(0.0, 100 * (1 - busy / each)))
    key = rate_key(generator, way)
    yield Measurement(key, BY_THREADS, "MB/s", tuple(drawn), failure=failure)
    if threads > 1:
        yield Measurement(f"{key}: queued", QUEUED, "%", tuple(slept), failure=failure)


def rate_key(generator: str, way: str) -> str:
    """``SHA1PRNG, 4 threads, own``."""
    kind, _, count = way.partition(":")
    if count == "1":
        return f"{generator}, 1 thread"
    return f"{generator}, {count} threads, {'own instances' if kind == 'own' else 'one shared'}"
