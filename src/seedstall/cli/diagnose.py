"""``seedstall diagnose``: the main job."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from seedstall.cli import options
from seedstall.cli.console import Exit, exit_code, put, refuse_overwriting, say, tell
from seedstall.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seedstall.model.report import Failure, Report


class Format(StrEnum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


def diagnose(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help="A PID, a file (thread dump, log, strace, mail, core), a captured tree, a folder, or -. "
            "Several targets are one case.",
        ),
    ] = None,
    *,
    all_jvms: Annotated[bool, typer.Option("--all", help="Every JVM of this host.")] = False,
    kernel: options.Kernel = "",
    jdk: options.Jdk = "",
    egd: options.Egd = "",
    sysroot: options.Sysroot = "",
    one_case: Annotated[
        bool, typer.Option("--one-case", help="A folder's files are one case, not one each.")
    ] = False,
    passive: Annotated[
        bool, typer.Option("--passive", help="Never signal, connect to or read into the target.")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="Never attach.")] = False,
    attach: Annotated[
        bool, typer.Option("--attach", help="Attach at once, before its memory is read.")
    ] = False,
    for_: Annotated[
        str,
        typer.Option(
            "--for", metavar="TIME", help="Sample it so long: stuck, or slow? 10, 500ms, 2m."
        ),
    ] = "",
    wait: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Wait for a JVM with NAME in its command line, and watch its start.",
        ),
    ] = "",
    wait_for: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="SECONDS", help="How long --wait waits for the launch."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done to the target, and stop.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1, max=600, metavar="SECONDS", help="How long to wait for the target's dump."
        ),
    ] = 5.0,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    exit_zero: options.ExitZero = False,
    fail_on: options.FailFrom = options.FailOn.WARNING,
    no_redact: options.NoRedact = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Say why this JVM is slow or hung, what it costs, and what to do."""
    if not targets and not all_jvms and not wait:
        message = "no target"
        raise UsageError(message, "name a PID, a file or a folder, or say --all")
    _check_waiting(wait, wait_for)
    if attach and (passive or no_attach):
        message = "--attach contradicts --passive and --no-attach"
        raise UsageError(message)
    refuse_overwriting(output, targets or [])
    from seedstall.cli import cases  # noqa: PLC0415 - sources are imported when a command runs

    touch = cases.Touch(
        attach=not (passive or no_attach),
        dry_run=dry_run,
        timeout_s=timeout,
        insist=attach,
        memory=not passive,
    )
    said = cases.Said(kernel=kernel, jdk=jdk, egd=egd, sysroot=sysroot)
    seconds: float | None = None
    if for_ or wait:
        from seedstall.cli.watched import FIRST_S, awaited, seconds_of  # noqa: PLC0415 - seldom

        seconds = seconds_of("--for", for_) or FIRST_S
        if wait:
            targets = [*(targets or []), awaited(wait, wait_for, say)]
    plan = cases.plan(targets or [], said, touch, every_jvm=all_jvms, one_case=one_case)
    for notice in plan.notices:
        say(notice)
    if dry_run:
        put("".join(f"{line}\n" for line in cases.would_do(plan)), output)
        return
    if seconds is not None:
        from seedstall.cli.watched import sampled  # noqa: PLC0415 - seldom

        plan = sampled(plan, seconds, from_start=bool(wait))
    told = cases.all_looked_at(
        plan, detailed=bool(verbose) or form is not Format.TEXT, bar=not quiet
    )
    # Those that came and went were looked at: nobody interrupted it.
    planned = len(told) if plan.come_and_go else len(plan.cases)
    manner = Manner(quiet, verbose, not no_redact, plan.many, planned)
    (tell if form is Format.TEXT else put)(rendered(told, form, manner), output)
    if len(told) < len(plan.cases) and not plan.come_and_go:
        say(f"interrupted: {len(plan.cases) - len(told)} of {len(plan.cases)} not looked at")
        raise typer.Exit(Exit.INTERRUPTED)
    if not exit_zero:
        raise typer.Exit(exit_code(told, fail_on))


def _check_waiting(name: str, seconds: float | None) -> None:
    if seconds is not None and not name:
        message = "--wait-for is how long --wait waits"
        raise UsageError(message, "say --wait NAME as well; --for TIME samples a JVM that runs")


class Manner(NamedTuple):
    """How much is shown."""

    quiet: bool
    verbose: int
    redacted: bool
    many: bool
    planned: int = 0
    """How many cases there are, of which some may not have been looked at."""


def rendered(told: Sequence[Report | Failure], form: Format, manner: Manner) -> str:
    """The reports as text, in that form."""
    if form is Format.JSON:
        from seedstall.render import jsontext  # noqa: PLC0415

        return jsontext.render(
            told, many=manner.many, redacted=manner.redacted, planned=manner.planned
        )
    if form is not Format.TEXT:
        from seedstall.render import page  # noqa: PLC0415

        return page.render(told, form.value, redacted=manner.redacted, planned=manner.planned)
    from seedstall.render import summary, text  # noqa: PLC0415

    pages = [
        text.render(
            r,
            verbose=manner.verbose,
            quiet=manner.quiet,
            redacted=manner.redacted,
            named=manner.many,
        )
        for r in told
    ]
    if max(len(told), manner.planned) >= summary.FEWEST and not manner.quiet:
        planned = max(len(told), manner.planned)
        # Before the cases, which may be thousands of lines: the first line is the answer of the whole.
        lines = summary.lines(told, planned, redacted=manner.redacted)
        pages.insert(0, "\n".join([summary.answer(told, planned), "", *lines]) + "\n")
    return ("" if manner.quiet else "\n").join(pages)
