"""``seedstall run``: launch a command, watch its JVM start, say where the time went."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seedstall.cli import options
from seedstall.cli.diagnose import Format, Manner, rendered
from seedstall.model.errors import SeedstallError, UsageError

if TYPE_CHECKING:
    from seedstall.cli.watched import Watched
    from seedstall.effect.capture import Output
    from seedstall.effect.launch import Launched, Signals
    from seedstall.effect.passthrough import Passthrough
    from seedstall.effect.watch import Goal

SETTINGS = {"allow_interspersed_args": False}
"""What stands behind the command's name is the command's, with or without ``--`` before it."""


def run(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="What to launch, after --.")
    ],
    *,
    until: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="The start ends when TEXT is printed: the output then passes through a pipe of ours.",
        ),
    ] = "",
    until_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Look for TEXT in this log instead; no pipe is needed."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            metavar="N",
            help="The start ends when the JVM listens there (Tomcat does before it is up).",
        ),
    ] = None,
    for_: Annotated[
        str, typer.Option("--for", metavar="TIME", help="Watch no longer than that: 30, 500ms, 2m.")
    ] = "",
    passive: Annotated[
        bool, typer.Option("--passive", help="Never attach: no thread dump of a stall.")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="The same.")] = False,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1, max=600, metavar="SECONDS", help="How long to wait for the JVM's dump."
        ),
    ] = 5.0,
    exit_verdict: Annotated[
        bool, typer.Option("--exit-verdict", help="Exit with our code, not the command's.")
    ] = False,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what was seen into a bundle as well: diagnose FILE says it again.",
        ),
    ] = None,
    kernel: options.Kernel = "",
    jdk: options.Jdk = "",
    egd: options.Egd = "",
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    fail_on: options.FailFrom = options.FailOn.WARNING,
    no_redact: options.NoRedact = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Launch a command, watch its JVM start, and say where the time went.

    Streams, terminal, signals and exit code are the command's. The report goes to stderr or to
    -o FILE, at the command's end, or as soon as --until, --port or --for say that the start is over.
    """
    from seedstall.cli import cases, watched  # noqa: PLC0415 - imported when the command runs
    from seedstall.cli.console import complain, exit_code, say  # noqa: PLC0415
    from seedstall.effect import launch, watch  # noqa: PLC0415

    if until_file is not None and not until:
        message = "--until-file needs --until: what to look for in it"
        raise UsageError(message)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] - started with stderr closed
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to our end
    said = cases.Said(kernel=kernel, jdk=jdk, egd=egd)
    said.source()
    bundle = _bundle(capture)
    seconds = watched.seconds_of("--for", for_)
    with launch.Signals() as signals:
        goal = _goal(until, until_file, port, seconds)
        if goal.ends:
            launch.adopt_orphans()
        child = _launched(command, signals, goal.output)
        case = watched.Watched(
            said, goal, attach=not (passive or no_attach), timeout_s=timeout, tell=say
        )
        try:
            report = case.report_of(lambda w: _watch(child, signals, w, goal))
            manner = Manner(quiet, verbose, not no_redact, many=False)
            text = rendered([report], form, manner)
            _write(text, output)
            if bundle is not None:
                _save(case, bundle, redacted=not no_redact)
        except BrokenPipeError:
            report = None
        except SeedstallError as error:
            # The command is the user's; that we have nothing to say of it does not end it.
            complain(error)
            report = None
        except Exception as error:  # noqa: BLE001 - the same holds for our own faults
            say(f"error: seedstall itself failed: {type(error).__name__}: {error}")
            report = None
        code = watch.see_it_out(child, signals, say)
        if goal.output is not None:
            watch.drain(goal.output, child, signals)
    if exit_verdict:
        code = exit_code([report], fail_on) if report is not None else 1
    raise typer.Exit(code)


def _bundle(path: Path | None) -> Output | None:
    """Where the bundle goes: refused before the command is launched, and not after its start."""
    if path is None:
        return None
    from seedstall.effect.capture import Output  # noqa: PLC0415 - seldom

    return Output(str(path), force=False)


def _save(case: Watched, bundle: Output, *, redacted: bool) -> None:
    """What the report was made of, as a bundle."""
    from seedstall.cli.captured import Captured, Manner  # noqa: PLC0415 - seldom

    manner = Manner(attach=False, memory=False, redacted=redacted)
    Captured(case.pid, manner, bundle.write, case.evidence).run(1, 0.0, 20.0)


def _goal(until: str, until_file: Path | None, port: int | None, seconds: float | None) -> Goal:
    from seedstall.effect.passthrough import LogFile, Passthrough  # noqa: PLC0415
    from seedstall.effect.watch import Goal  # noqa: PLC0415

    text = os.fsencode(until)
    words = f"'{until}'" if until else f"port {port}" if port is not None else ""
    log = LogFile(until_file, text) if until_file is not None else None
    output = Passthrough(text) if until and log is None and _writable() else None
    return Goal(output=output, log=log, port=port, seconds=seconds, words=words)


def _writable() -> bool:
    """Whether there is an output to pass through.

    Raises:
        UsageError: stdout or stderr is closed: a pipe would take its number.
    """
    try:
        for fd in (1, 2):
            os.fstat(fd)
    except OSError as error:
        message = "--until reads the output, and stdout or stderr is closed"
        raise UsageError(message, "say --until-file FILE, or >/dev/null") from error
    return True


def _launched(command: list[str], signals: Signals, output: Passthrough | None) -> Launched:
    from seedstall.effect import launch  # noqa: PLC0415

    try:
        child = launch.launch(command, signals, output.streams if output is not None else None)
    except SeedstallError:
        if output is not None:
            output.abandon()
        raise
    if output is not None:
        output.start()
    return child


def _watch(child: Launched, signals: Signals, case: Watched, goal: Goal) -> bytes:
    """The recording of the watch; a wrapper that leaves a JVM behind is followed where an end was asked for."""
    from seedstall.cli.console import say  # noqa: PLC0415
    from seedstall.effect import watch  # noqa: PLC0415
    from seedstall.parse.samples import recorded  # noqa: PLC0415

    one = watch.Watch(goal, stalled=case.stalled, found=case.found)
    return recorded(watch.watch_start(child, signals, one, say, orphans=goal.ends))


def _write(text: str, output: Path | None) -> None:
    """To *output*, or to stderr; there too where *output* cannot be written: a start is not watched twice."""
    from seedstall.cli.console import complain, put  # noqa: PLC0415

    if output is not None:
        try:
            put(text, output)
        except SeedstallError as error:
            complain(error)
        else:
            return
    sys.stderr.flush()
    sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stderr.buffer.flush()
