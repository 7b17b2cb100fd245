"""``seedstall diagnose``: the main job."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from seedstall.cli import options
from seedstall.cli.console import exit_code, put, refuse_overwriting, say
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
            help="A PID, a file (thread dump, log, strace, mail), a captured tree, a folder, or -. "
            "Several targets are one case.",
        ),
    ] = None,
    *,
    all_jvms: Annotated[bool, typer.Option("--all", help="Every JVM of this host.")] = False,
    kernel: options.Kernel = "",
    jdk: options.Jdk = "",
    egd: options.Egd = "",
    one_case: Annotated[
        bool, typer.Option("--one-case", help="A folder's files are one case, not one each.")
    ] = False,
    passive: Annotated[
        bool, typer.Option("--passive", help="Never signal, connect to or read into the target.")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="Never attach.")] = False,
    attach: Annotated[
        bool, typer.Option("--attach", help="Attach even if /proc alone gives an answer.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done to the target, and stop.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=600, help="Seconds to wait for the target's dump.")
    ] = 5.0,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    exit_zero: options.ExitZero = False,
    fail_on: options.FailFrom = options.FailOn.WARNING,
    no_redact: options.NoRedact = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Say why this JVM is slow or hung, what it costs, and what to do.

    Exit codes: 0 nothing found, 1 seedstall failed, 2 usage, 3 no such target or not a JVM,
    4 unknown, 10 found.
    """
    if not targets and not all_jvms:
        message = "no target"
        raise UsageError(message, "name a PID, a file or a folder, or say --all")
    if attach and (passive or no_attach):
        message = "--attach contradicts --passive and --no-attach"
        raise UsageError(message)
    refuse_overwriting(output, targets or [])
    from seedstall.cli import cases  # noqa: PLC0415 - sources are imported when a command runs

    touch = cases.Touch(
        attach=not (passive or no_attach), dry_run=dry_run, timeout_s=timeout, insist=attach
    )
    said = cases.Said(kernel=kernel, jdk=jdk, egd=egd)
    plan = cases.plan(targets or [], said, touch, every_jvm=all_jvms, one_case=one_case)
    for notice in plan.notices:
        say(notice)
    if dry_run:
        put("".join(f"{line}\n" for line in cases.would_do(plan)), output)
        return
    told = [cases.looked_at(case) for case in plan.cases]
    manner = _Manner(quiet, verbose, not no_redact, plan.many)
    put(_rendered(told, form, manner), output)
    if not exit_zero:
        raise typer.Exit(exit_code(told, fail_on))


class _Manner(NamedTuple):
    """How much is shown."""

    quiet: bool
    verbose: int
    redacted: bool
    many: bool


def _rendered(told: Sequence[Report | Failure], form: Format, manner: _Manner) -> str:
    if form is Format.JSON:
        from seedstall.render import jsontext  # noqa: PLC0415

        return jsontext.render(told, many=manner.many, redacted=manner.redacted)
    if form is not Format.TEXT:
        from seedstall.render import page  # noqa: PLC0415

        return page.render(told, form.value, redacted=manner.redacted)
    from seedstall.render import text  # noqa: PLC0415

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
    return ("" if manner.quiet else "\n").join(pages)
