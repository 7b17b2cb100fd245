"""The program: its commands, and the one place where errors become exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from seedstall import __version__
from seedstall.cli.command import Command, Group
from seedstall.cli.completion import VARIABLE, Shell
from seedstall.cli.console import Exit, close_stdout, complain, say
from seedstall.model.errors import SeedstallError, UsageError

COMMANDS = (
    "diagnose",
    "list",
    "run",
    "fix",
    "dump",
    "capture",
    "kernel",
    "lint",
    "explain",
    "demo",
    "verify",
    "bench",
)
"""Each is a function of that name in the module of that name; ``list_`` where Python has one of that name (PEP 8)."""


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback signature
    if wanted:
        typer.echo(f"seedstall {__version__}")
        raise typer.Exit


def _completion(shell: Shell | None) -> None:
    if shell is not None:
        from seedstall.cli.completion import script  # noqa: PLC0415 - when asked for

        typer.echo(script(shell), nl=False)
        raise typer.Exit


def seedstall(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    completion: Annotated[
        Shell | None,
        typer.Option(
            "--show-completion",
            callback=_completion,
            is_eager=True,
            help="Print what makes this shell complete our command lines; its startup file evaluates it.",
        ),
    ] = None,
) -> None:
    """Say why a Java program hangs or crawls at start, prove it, and write the fix."""


def application(commands: Sequence[str] = COMMANDS) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="seedstall",
        cls=Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(seedstall)
    for name in commands:
        module = importlib.import_module(f"seedstall.cli.{name}")
        command = app.command(name, cls=Command, context_settings=getattr(module, "SETTINGS", None))
        command(getattr(module, name, None) or getattr(module, f"{name}_"))
    return app


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM: every ``finally`` runs (an attach in progress takes its file away), then we end.

    Not KeyboardInterrupt, which the command-line library would turn into exit code 1.
    """


def _interrupt(number: int, _frame: object) -> None:
    raise Interrupted(number)


def _asked_by_a_shell() -> tuple[str, ...]:
    """What must be there to complete a command line."""
    from seedstall.cli.completion import command_meant, prepare  # noqa: PLC0415 - when asked for

    prepare()
    return command_meant(COMMANDS)


def main() -> None:
    """Run, and turn what goes wrong into the contract's exit codes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, a shell's background job
            signal.signal(number, _interrupt)
    # Only the command that is meant is imported and built: all of them cost 20 ms more.
    meant = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted: tuple[str, ...] = (meant,) if meant in COMMANDS else COMMANDS
    if VARIABLE in os.environ:
        wanted = _asked_by_a_shell()
    try:
        code = application(("explain",) if meant in {"--version", "--show-completion"} else wanted)(
            standalone_mode=False, complete_var=VARIABLE
        )
        sys.exit(code if isinstance(code, int) else Exit.CLEAR)
    except SeedstallError as error:
        complain(error)
        sys.exit(error.code)
    except BrokenPipeError:
        close_stdout()
        sys.exit(Exit.CLEAR)
    except Interrupted as interrupt:
        sys.exit(128 + interrupt.args[0])
    except Exception as error:
        usage = getattr(error, "format_message", None)  # the command-line library's own errors
        if usage is None:
            raise
        text = usage()
        if text.startswith("Usage:"):  # no command at all: the help itself
            say(text)
        else:
            where = f"{meant} " if meant in COMMANDS else ""
            complain(UsageError(text, f"seedstall {where}--help tells how"))
        sys.exit(Exit.USAGE)
