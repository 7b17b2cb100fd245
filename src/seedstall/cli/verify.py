"""``seedstall verify``: proof by experiment, on that very java, with a random device that is dry."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seedstall.cli import options
from seedstall.cli.console import Exit, put, say
from seedstall.model.errors import NoSuchTargetError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seedstall.cli.subject import Chosen
    from seedstall.effect.experiment import Laboratory
    from seedstall.model.trial import Question, Series, Trial, Use

MOST_AT_ONCE = 4
NO_JVM = "is that a java program, and do this shell's limits (ulimit -v, -u, -n) leave one room?"
CELL_S = 0.6
"""What a cell takes as a rule, on one processor: a JVM's start, and the time it is kept waiting."""


class Format(StrEnum):
    """How the result is written."""

    TEXT = "text"
    JSON = "json"


class Only(StrEnum):
    """A first use by a short name."""

    DEFAULT = "default"
    GENERATE_SEED = "generateSeed"
    SHA1PRNG = "SHA1PRNG"
    DRBG = "DRBG"
    STRONG = "strong"


def verify(
    pid: Annotated[
        str,
        typer.Argument(
            metavar="[PID]",
            help="A JVM: its java is tried with its user, seed settings and files. It is only read.",
            show_default=False,
        ),
    ] = "",
    *,
    java: Annotated[
        Path | None,
        typer.Option("--java", metavar="PATH", help="Try this java program, or Java home."),
    ] = None,
    sysroot: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="--java is a path below this root directory (its own C library)."
        ),
    ] = None,
    egd: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="The present java.security.egd, where not in evidence."),
    ] = None,
    set_egd: Annotated[
        str | None,
        typer.Option(
            "--set-egd", metavar="VALUE", help="Prove this java.security.egd, not the right one."
        ),
    ] = None,
    only: Annotated[
        list[Only] | None,
        typer.Option("--only", help="Try this use alone (may be repeated); strong then counts."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all-uses", help="Also setSeed, and generateSeed of each.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(min=1, max=600, metavar="SECONDS", help="The longest that one JVM may take."),
    ] = 20.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be started, and stop.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    exit_zero: options.ExitZero = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Prove a setting: run the very JVM on a dry random device, before and after the fix.

    Every cell is a JVM of its own, with a class that asks for its first random bytes, and ends within the time-out.
    Of a PID its /proc is read, nothing else: its own flags (collector, agents, ports, heap) are not used.
    """
    _check(pid, java, sysroot, (egd, set_egd))
    from seedstall.cli.subject import of_java, of_process  # noqa: PLC0415 - when the command runs
    from seedstall.engine import experiment as engine  # noqa: PLC0415
    from seedstall.model.trial import FIX  # noqa: PLC0415

    chosen = of_process(pid, egd, set_egd) if pid else of_java(java, sysroot, egd, set_egd)
    with chosen:
        uses = _uses(only or [], every=every)
        cells = engine.questions(chosen.settings, uses)
        if not quiet or dry_run:
            say(_beforehand(chosen, cells, timeout))
        if dry_run:
            put("".join(f"{use}, {setting}\n" for use, setting in cells), output)
            return
        series = _tried(chosen, cells, timeout, quiet=quiet)
        notes = list(chosen.notes)
        if FIX not in {s.name for s in chosen.settings}:
            notes.append(
                "that java.security.egd is set already: no other was tried"
                if set_egd is not None
                else "the recommended java.security.egd is set already: no other was tried"
            )
        settings = engine.told(chosen.settings, series)
        told = engine.account(
            series, settings, asked_for=uses if only else (), kernel=chosen.kernel
        )
    from seedstall.render import verify as page  # noqa: PLC0415

    if form is Format.JSON:
        text = page.as_json(told, series, settings, subject={"path": chosen.words}, notes=notes)
    else:
        text = page.render(
            told,
            series,
            settings,
            subject=f"{chosen.words}{_version(series)}",
            notes=notes,
            quiet=quiet,
            verbose=verbose,
            width=_columns() if output is None else None,
        )
    put(text, output)
    if not exit_zero:
        codes = {"at-risk": Exit.FOUND, "clear": Exit.CLEAR}
        raise typer.Exit(codes.get(str(told.status), Exit.UNKNOWN))


def _check(pid: str, java: Path | None, sysroot: Path | None, values: Sequence[str | None]) -> None:
    if pid and (java or sysroot):
        raise UsageError("a PID contradicts --java and --sysroot", "name one of them")
    if pid and not (pid.isascii() and pid.isdigit()):
        raise UsageError(
            f"{pid[:60]} is no PID", "seedstall list names the JVMs; or say --java PATH"
        )
    if sysroot and not java:
        raise UsageError("--sysroot without --java", "say --java PATH, as seen inside of it")
    if any(value is not None and not value.isprintable() for value in values):
        raise UsageError("a control character in the value of an option")


def _uses(only: Sequence[Only], *, every: bool) -> tuple[Use, ...]:
    from seedstall.engine.experiment import EVERY_USE, USES  # noqa: PLC0415

    if only:
        return tuple(use for use, name in zip(USES, Only, strict=True) if name in only)
    return EVERY_USE if every else USES


def _columns() -> int | None:
    """Of the terminal that shows it."""
    import shutil  # noqa: PLC0415

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _at_once() -> int:
    return min(MOST_AT_ONCE, len(os.sched_getaffinity(0)))


def _beforehand(chosen: Chosen, cells: Sequence[Question], timeout: float) -> str:
    rounds = -(-len(cells) // _at_once())
    # One cell may take its limit twice: until the JVM is there, and from then on.
    most = 2 * timeout * (rounds + 1)
    return (
        f"{len(cells)} starts of {chosen.words} with a dry random device, {_at_once()} at a time:"
        f" about {rounds * CELL_S + 1:.0f} s, at most {most:.0f} s; nothing else on the host sees that device"
    )


def _tried(chosen: Chosen, cells: Sequence[Question], timeout: float, *, quiet: bool) -> Series:
    """All cells; the first alone, since nothing else is worth a start where this java is none."""
    from seedstall.cli.subject import refused_by_the_host  # noqa: PLC0415
    from seedstall.effect.experiment import Laboratory  # noqa: PLC0415
    from seedstall.model.trial import Outcome, Series  # noqa: PLC0415

    progress = _Progress(len(cells), shown=not quiet and sys.stderr.isatty())
    with (
        refused_by_the_host(),
        Laboratory(
            chosen.subject, chosen.settings, at_once=_at_once(), limit_s=timeout
        ) as laboratory,
    ):
        first = _first(laboratory, cells, progress)
        rest = laboratory.series([c for c in cells if c not in first], progress.tell)
    progress.end()
    trials = {t.question: t for t in (*first.values(), *rest.trials)}
    seconds = progress.seconds()
    if all(t.outcome is Outcome.FAILED for t in trials.values()):
        raise _no_java(chosen, next(iter(trials.values())))
    return Series(tuple(trials[c] for c in cells), rest.how, seconds, rest.no_namespace)


def _first(
    laboratory: Laboratory, cells: Sequence[Question], progress: _Progress
) -> dict[Question, Trial]:
    from seedstall.model.trial import Outcome  # noqa: PLC0415

    found: dict[Question, Trial] = {}
    for cell in cells:
        (trial,) = laboratory.series([cell], progress.tell).trials
        found[cell] = trial
        if trial.outcome is Outcome.FAILED and not laboratory.came_up:
            raise NoSuchTargetError(f"no JVM came up: {trial.why}", NO_JVM)
        if trial.outcome is not Outcome.NOT_COVERED:
            break
    return found


def _no_java(chosen: Chosen, trial: Trial) -> NoSuchTargetError:
    return NoSuchTargetError(f"{chosen.words}: nothing could be measured: {trial.why}")


def _version(series: Series) -> str:
    said = next((t.said for t in series.trials if t.said), None)
    return f" ({said.get('java', '')}, {said.get('vendor', '')})" if said else ""


class _Progress:
    """A line on a terminal that tells how far it came; elsewhere nothing."""

    def __init__(self, total: int, *, shown: bool) -> None:
        import time  # noqa: PLC0415

        self._clock = time.monotonic
        self._begin = self._clock()
        self._total = total
        self._done = 0
        self._shown = shown

    def tell(self, trial: Trial) -> None:
        self._done += 1
        if self._shown:
            use, setting = trial.question
            line = f"{self._done}/{self._total} {use}, {setting}: {trial.outcome}"
            # A line that wraps cannot be written over.
            sys.stderr.write(f"\r\x1b[K{line[: (_columns() or 80) - 1]}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")

    def seconds(self) -> float:
        return self._clock() - self._begin
