"""``seedstall demo``: the stall with a real JVM, its diagnosis, the fix, and the difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seedstall.effect.demo import Trial
    from seedstall.model.report import Report

SHOWN_EVIDENCE = 5
SHOWN_LINES = 6
COLUMN = 14


def demo(
    *,
    java: Annotated[
        Path | None,
        typer.Option(
            "--java",
            metavar="PATH",
            help="The java program, or a Java home.",
            show_default="JAVA_HOME, PATH",
        ),
    ] = None,
) -> None:
    """Reproduce the stall with a real JVM, diagnose it, apply the fix, show the difference.

    A small program asks for its first random bytes on a /dev/random that is dry, for this program
    alone: nothing else on the host sees that device.
    """
    from seedstall.cli.console import Exit, put, say  # noqa: PLC0415
    from seedstall.effect import demo as effect  # noqa: PLC0415
    from seedstall.effect.starvation import HOW_IN_WORDS, DryDevice  # noqa: PLC0415

    program = effect.find_java(java)
    with DryDevice() as device:
        say(f"starting {program} on a dry random device ...")
        with effect.start_probe(device, program) as process:
            stalled = effect.await_stall(process)
            put(_row("device", HOW_IN_WORDS[process.how]))
            what = f"{program} -cp ... SeedProbe SHA1PRNG nextBytes (PID {process.pid})"
            put(_row("program", what))
            report = _diagnose(process.pid) if stalled else None
            if report is not None:
                put(_told(report))
            say(f"leaving it hung until {effect.HANG_S:.0f} s are over ...")
            before = effect.end_hung(process)
        flag = _flag(report)
        if flag:
            say(f"starting it again, with {flag} ...")
        after = effect.run_probe(device, program, [flag]) if flag else None
    put("\n" + _row("the fix", flag or "none was recommended"))
    put(_row("without it", _outcome(before)))
    put(_row("with it", _outcome(after)))
    for reason in (reasons := _broken_promises(report, before, after)):
        say(f"error: {reason}")
    if reasons:
        raise typer.Exit(Exit.FAILED)


def _diagnose(pid: int) -> Report:
    """As ``seedstall diagnose PID`` does it: through the public API."""
    from seedstall import diagnose  # noqa: PLC0415
    from seedstall.model.errors import SeedstallError  # noqa: PLC0415
    from seedstall.model.report import Failure  # noqa: PLC0415

    # The first, should this java be a script that starts more than one.
    told = diagnose(str(pid))[0]
    if isinstance(told, Failure):
        raise SeedstallError(told.error, told.hint)
    return told


def _told(report: Report) -> str:
    """The report's essential lines: its first one, and the evidence of the verdict."""
    from seedstall.model.redact import redact, visible  # noqa: PLC0415
    from seedstall.render.text import headline  # noqa: PLC0415

    lines = ["", "diagnosis", f"  {headline(report)}"]
    finding = report.verdict.finding
    for piece in finding.evidence[:SHOWN_EVIDENCE] if finding is not None else ():
        first, *rest = piece.excerpt.split("\n")
        lines.append(f"    {piece.origin:<34}  {first}")
        lines += [f"      {line}" for line in rest[:SHOWN_LINES]]
        if len(rest) > SHOWN_LINES:
            lines.append("        ...")
    return redact("".join(f"{visible(line)}\n" for line in lines))


def _flag(report: Report | None) -> str:
    from seedstall.effect.demo import flag_of  # noqa: PLC0415

    finding = report.verdict.finding if report is not None else None
    return flag_of(finding.fixes if finding is not None else ())


def _row(name: str, value: str) -> str:
    return f"{name:<{COLUMN}}{value}\n"


def _outcome(trial: Trial | None) -> str:
    if trial is None:
        return "not started"
    if trial.hung:
        return f"hung, ended after {trial.seconds:.1f} s"
    if trial.seeding_ms is None:
        return f"failed after {trial.seconds:.1f} s: {trial.output[:200]}"
    return f"{trial.seconds:.1f} s ({trial.algorithm} seeded in {trial.seeding_ms} ms)"


def _broken_promises(report: Report | None, before: Trial, after: Trial | None) -> list[str]:
    """What did not go as this command promises."""
    reasons: list[str] = []
    if not before.hung:
        reasons.append(f"the program did not hang on the dry device: {before.output[:200]}")
    elif report is None or (report.verdict.status, report.verdict.cause) != (
        "stalled",
        "blocking-seed",
    ):
        told = report.verdict.sentence if report is not None else "nothing"
        reasons.append(f"the stall was not recognised: {told}")
    if after is None or after.hung or after.seeding_ms is None:
        reasons.append("the program did not run with the fix")
    return reasons
