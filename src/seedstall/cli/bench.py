"""``seedstall bench``: measure this host's random devices, or a JVM's generators, and say what the figures mean."""

from __future__ import annotations

import os
import platform
import sys
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from seedstall.cli import options
from seedstall.cli.console import put, say
from seedstall.model.errors import SeedstallError, UsageError

if TYPE_CHECKING:
    from seedstall.cli.subject import Chosen
    from seedstall.model.kernel import KernelRandom
    from seedstall.model.measure import Before, Bench, Change, Measurement

ROUNDS = 5
"""Rounds of readers at once."""
MOST_READERS = 64
BUSY = 1.0
"""Programs more than processors (four of our own threads count, too) from which a machine is called busy."""
EVERY_S = 10.0
"""Seconds between two lines of progress where stderr is no terminal."""
MAX_BASELINE = 8 << 20
PYTHON_S = 0.06
"""What starting a process of ours costs beside its measurement."""
FIRST_S = 0.45
"""A JVM's start and 10,000 calls."""
RUN_S = 0.09
"""One run of one team of threads, on two processors."""


class What(StrEnum):
    """What is measured."""

    KERNEL = "kernel"
    JVM = "jvm"


class Generator(StrEnum):
    """A generator by its name."""

    DEFAULT = "default"
    NATIVE_PRNG = "NativePRNG"
    NATIVE_PRNG_NONBLOCKING = "NativePRNGNonBlocking"
    SHA1PRNG = "SHA1PRNG"
    DRBG = "DRBG"


class Format(StrEnum):
    """How the figures are written."""

    TEXT = "text"
    JSON = "json"
    SVG = "svg"


def bench(
    what: Annotated[
        What, typer.Argument(help="This host's random devices, or a JVM's generators.")
    ],
    pid: Annotated[
        str,
        typer.Argument(metavar="[PID]", help="jvm: the java of this JVM.", show_default=False),
    ] = "",
    *,
    java: Annotated[
        Path | None,
        typer.Option("--java", metavar="PATH", help="jvm: this java program, or Java home."),
    ] = None,
    sysroot: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="jvm: --java is a path below this root directory."),
    ] = None,
    egd: Annotated[
        str | None, typer.Option(metavar="VALUE", help="jvm: the present java.security.egd.")
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(min=0.01, max=60, metavar="S", help="kernel: the time for each figure."),
    ] = 0.3,
    readers: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            max=MOST_READERS,
            metavar="N",
            help="Readers, or threads, at once (may be repeated).",
            show_default="1, 2, 4",
        ),
    ] = None,
    size: Annotated[
        int, typer.Option(min=1024, max=1 << 26, help="jvm: bytes drawn in one run.")
    ] = 1_000_000,
    runs: Annotated[int, typer.Option(min=2, max=1000, help="jvm: runs after the warm-up.")] = 10,
    starts: Annotated[
        int, typer.Option(min=1, max=100, help="jvm: JVMs started for each first use.")
    ] = 3,
    generator: Annotated[
        list[Generator] | None,
        typer.Option(help="jvm: this generator alone (may be repeated)."),
    ] = None,
    drain: Annotated[
        bool,
        typer.Option("--drain", help="Read /dev/random even where that takes from a pool."),
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Compare with the JSON of an earlier run."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the figures there as SVG, too.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure the random devices, or a JVM's generators: medians, spread, what they mean.

    A pool that blocks is never drained without --drain, which first says what it costs. A class file of ours is all
    that a JVM runs; nothing is asked of the JVM that a PID names.
    """
    jvm = what is What.JVM
    _check(pid, java, sysroot, egd, jvm=jvm)
    before = _baseline(baseline, what)
    progress = _Progress(shown=not quiet)
    counts = tuple(sorted(set(readers or (1, 2, 4))))
    from seedstall.engine import bench as engine  # noqa: PLC0415 - when the command runs

    if jvm:
        from seedstall.cli.subject import refused_by_the_host  # noqa: PLC0415

        chosen = _chosen(pid, java, sysroot, egd)
        with chosen, refused_by_the_host():
            amount = Amount(counts, size, runs, starts, tuple(generator or ()))
            found = _of_jvm(chosen, amount, progress, drain=drain)
        sentence = engine.jvm_sentence(found, processors(), busy=bool(_busy()))
    else:
        kernel = _kernel()
        found = _of_kernel(kernel, seconds, counts, progress, drain=drain)
        sentence = engine.kernel_sentence(found, kernel, processors())
    progress.end()
    _put(found, sentence, before, form, output, plot, quiet=quiet)


def _check(
    pid: str, java: Path | None, sysroot: Path | None, egd: str | None, *, jvm: bool
) -> None:
    if not jvm and (pid or java or sysroot or egd is not None):
        raise UsageError("bench kernel measures this host", "say bench jvm for a java or a PID")
    if pid and (java or sysroot):
        raise UsageError("a PID contradicts --java and --sysroot", "name one of them")
    if pid and not (pid.isascii() and pid.isdigit()):
        raise UsageError(f"{pid[:60]} is no PID", "seedstall list names the JVMs")
    if sysroot and not java:
        raise UsageError("--sysroot without --java", "say --java PATH, as seen inside of it")
    if egd is not None and not egd.isprintable():
        raise UsageError("a control character in the value of an option")


def processors() -> int:
    """Those that we may run on."""
    return len(os.sched_getaffinity(0))


def _baseline(path: Path | None, what: What) -> Before | None:
    """The earlier run.

    Raises:
        UsageError: it cannot be read, or is of another bench.
    """
    if path is None:
        return None
    from seedstall.render.bench import earlier  # noqa: PLC0415

    hint = f"--baseline wants what seedstall bench {what} --format json wrote"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BASELINE)
        found = earlier(data.decode())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint) from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}", hint) from error
    if found.what != what:
        raise UsageError(f"{path} is of bench {found.what[:20]}", hint)
    return found


def _put(
    found: Bench,
    sentence: str,
    before: Before | None,
    form: Format,
    output: Path | None,
    plot: Path | None,
    *,
    quiet: bool,
) -> None:
    from seedstall.model.measure import change, differences  # noqa: PLC0415
    from seedstall.model.redact import redact  # noqa: PLC0415
    from seedstall.render import bench as page  # noqa: PLC0415

    changes: list[Change] = []
    given = before is not None
    for measurement in found.measurements:
        earlier = before.figures.get(measurement.key) if before is not None else None
        compared = change(measurement, earlier) if earlier is not None else None
        changes += [compared] if compared is not None else []
    told = [(name, redact(value)) for name, value in found.facts]
    other = differences(before.facts, told) if before is not None else ()
    if plot is not None:
        put(page.drawing(found, sentence), plot)
    if form is Format.JSON:
        text = page.as_json(found, sentence, changes, other)
    elif form is Format.SVG:
        text = page.drawing(found, sentence)
    else:
        text = page.render(found, sentence, changes, compared=given, other=other, quiet=quiet)
    put(text, output)


# --- the kernel -------------------------------------------------------------------------------------------------------


def _kernel() -> KernelRandom | None:
    from seedstall.engine.diagnosis import case_of  # noqa: PLC0415
    from seedstall.model.kernel import KernelRandom  # noqa: PLC0415
    from seedstall.source.host import HostSource  # noqa: PLC0415

    with HostSource() as source:
        return case_of(source).value(KernelRandom)


def _entropy() -> str:
    try:
        return Path("/proc/sys/kernel/random/entropy_avail").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return "?"


def _of_kernel(
    kernel: KernelRandom | None,
    seconds: float,
    counts: tuple[int, ...],
    progress: _Progress,
    *,
    drain: bool,
) -> Bench:
    """All figures. A pool that may block is not read in a loop even with --drain: that would take hours."""
    from seedstall.effect import bench as effect  # noqa: PLC0415
    from seedstall.engine.bench import drain_cost, kernel_notes  # noqa: PLC0415
    from seedstall.model.measure import Bench  # noqa: PLC0415

    free = kernel is not None and kernel.can_block is False
    if kernel is not None and drain and not free:
        say(drain_cost(kernel))
    meter = effect.Meter(seconds)
    before = _entropy()
    calls, turns = 2 + 5 * len(effect.SIZES), 2 * effect.TURNS
    shared = ROUNDS * len(counts)
    each = seconds * 1.1 + PYTHON_S
    usual = calls * each + turns * (seconds / 2 + PYTHON_S) + shared * each
    most = (calls + turns) * (3 * seconds + effect.GRACE_S) + shared * (
        seconds + 2 * effect.GRACE_S
    )
    progress.begin(calls + 2 + 2 * len(counts), usual, most)
    found: list[Measurement] = []
    for part in (
        effect.small_reads(meter, random=free, told=progress.tell),
        effect.bulk_reads(meter, random=free, told=progress.tell),
        effect.shared_reads(meter, counts, ROUNDS, progress.tell),
    ):
        found += part
    first = _first_bytes(meter, may=free or drain)
    facts = [
        *_host(),
        ("kernel", kernel.release if kernel is not None else platform.release()),
        ("entropy", f"{before} bits before, {_entropy()} after"),
        ("first bytes", first),
        ("each figure", f"{seconds:g} s"),
        ("timer", f"asking the clock takes {meter.timer_ns or 0:.0f} ns, once a batch"),
    ]
    bench = Bench("kernel", tuple(found), tuple(facts))
    notes = [*kernel_notes(bench, kernel), *_busy()]
    if not free and kernel is not None and not drain:
        notes.append(f"/dev/random was left alone (say --drain): {drain_cost(kernel)}")
    return Bench("kernel", bench.measurements, bench.facts, tuple(notes))


def _host() -> list[tuple[str, str]]:
    return [
        ("processors", f"{processors()} of {os.cpu_count()}"),
        ("load", f"{os.getloadavg()[0]:.1f} programs wanted a processor in the last minute"),
        ("python", f"{platform.python_version()} ({platform.machine()})"),
    ]


def _first_bytes(meter: object, *, may: bool) -> str:
    from seedstall.effect import bench as effect  # noqa: PLC0415

    if not may or not isinstance(meter, effect.Meter):
        return f"{effect.FIRST_SIZE} of /dev/random: not tried"
    answer = meter.first(effect.RANDOM, effect.FIRST_LIMIT_S)
    if "error" in answer:
        return f"{effect.FIRST_SIZE} of /dev/random: {answer['error']}"
    return (
        f"{answer.get('bytes')} of {effect.FIRST_SIZE} asked of /dev/random in {answer.get('ms', 0):.2f} ms"
        f" (as dd bs={effect.FIRST_SIZE} count=1)"
    )


# --- a JVM ------------------------------------------------------------------------------------------------------------


def _chosen(pid: str, java: Path | None, sysroot: Path | None, egd: str | None) -> Chosen:
    from seedstall.cli.subject import of_java, of_process  # noqa: PLC0415

    return of_process(pid, egd, None) if pid else of_java(java, sysroot, egd, None)


class Amount(NamedTuple):
    """How much of a JVM is measured."""

    counts: tuple[int, ...]
    size: int
    runs: int
    starts: int
    generators: tuple[str, ...]


def _of_jvm(chosen: Chosen, amount: Amount, progress: _Progress, *, drain: bool) -> Bench:
    from seedstall.effect.benchjvm import (  # noqa: PLC0415
        FIRST_USES,
        GENERATORS,
        RUN_LIMIT_S,
        WARM_UP,
        Egd,
        JvmBench,
    )
    from seedstall.effect.experiment import LIMIT_S  # noqa: PLC0415
    from seedstall.engine.bench import jvm_notes  # noqa: PLC0415
    from seedstall.knowledge.egd import UNSPECIAL_URANDOM  # noqa: PLC0415
    from seedstall.knowledge.seedsource import URL_URANDOM  # noqa: PLC0415
    from seedstall.model.measure import Bench  # noqa: PLC0415

    free = chosen.kernel is not None and chosen.kernel.can_block is False
    if drain and not free and chosen.kernel is not None:
        from seedstall.engine.bench import drain_cost  # noqa: PLC0415

        say(drain_cost(chosen.kernel))
    present = chosen.settings[0]
    egds = [Egd("as it is", present.egd, present.source, present.options)]
    egds += [
        Egd(value, value, value, present.options)
        for value in (URL_URANDOM, UNSPECIAL_URANDOM)
        if value not in (present.egd, present.source)
    ]
    ways = sum(2 if count > 1 else 1 for count in amount.counts)
    with JvmBench(
        chosen.subject, drain=drain or free, starts=amount.starts, only=amount.generators
    ) as bench:
        firsts = amount.starts * len(egds) * len(bench.chosen(FIRST_USES))
        rates = len(bench.chosen(GENERATORS))
        # Each run lasts 40 ms or longer: more threads have less of a processor each.
        one = (WARM_UP + amount.runs) * ways * RUN_S * max(1.0, amount.size / 1e6)
        usual = firsts * FIRST_S + rates * (one + FIRST_S)
        progress.begin(firsts + ways * rates, usual, (firsts * LIMIT_S + rates * RUN_LIMIT_S))
        found = [
            *bench.first_uses(egds, progress.tell),
            *bench.rates(egds[0], amount.counts, amount.size, amount.runs, progress.tell),
        ]
        if not any(m.values for m in found):
            why = found[0].failure if found else "nothing was tried"
            raise SeedstallError(f"{chosen.words}: nothing could be measured: {why}")
        facts = (
            ("java", f"{chosen.words} ({bench.java}, {bench.vm})"),
            *_host(),
            ("present", present.words or "the JDK's own seed source"),
            (
                "each run",
                f"{amount.size:,} bytes, again and again for 40 ms; {amount.runs} runs after the warm-up",
            ),
            ("timer", f"System.nanoTime takes {bench.timer_ns or 0:.0f} ns"),
        )
    told = Bench("jvm", tuple(found), facts)
    notes = (*jvm_notes(told), *_busy(), *chosen.notes)
    return Bench("jvm", told.measurements, facts, notes)


def _busy() -> list[str]:
    """Figures of a machine that does something else are low, and threads that do not meet do not queue."""
    load = os.getloadavg()[0]
    if load <= processors() + BUSY:
        return []
    return [
        f"this machine is busy (load {load:.1f}): figures are low, and threads that do not meet do not queue"
    ]


class _Progress:
    """How far it came: a line that is written over on a terminal, a line now and then elsewhere."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._terminal = shown and sys.stderr.isatty()
        self._total = self._done = 0
        self._said = 0.0

    def begin(self, total: int, seconds: float, most: float) -> None:
        """Say how long it takes, about and at most: beforehand, since that decides whether somebody waits for it."""
        self._total = total
        self._said = monotonic()
        if self._shown:
            longer = ", longer since this machine is busy" if _busy() else ""
            say(
                f"measuring {total} figures: about {seconds:.0f} s{longer}, at most {most / 60:.0f} min"
            )

    def tell(self, measurement: Measurement) -> None:
        self._done += 1
        if self._terminal:
            bar = "#" * (20 * min(self._done, self._total) // max(1, self._total))
            sys.stderr.write(
                f"\r\x1b[K[{bar:<20}] {self._done}/{self._total} {measurement.key[:60]}"
            )
            sys.stderr.flush()
        elif self._shown and monotonic() - self._said >= EVERY_S:
            self._said = monotonic()
            say(f"{self._done} of {self._total} figures: {measurement.key[:60]}")

    def end(self) -> None:
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
