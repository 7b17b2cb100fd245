"""The program: its commands, and the one place where errors become exit codes."""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from seedstall import __version__
from seedstall.cli.console import Exit, close_stdout, complain, say
from seedstall.model.errors import SeedstallError, UsageError

COMMANDS = ("diagnose", "list", "run", "fix", "dump", "capture", "kernel", "lint", "explain", "demo", "verify", "bench")
"""Each is a function of that name in the module of that name; ``list_`` where Python has one of that name (PEP 8)."""


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback signature
    if wanted:
        typer.echo(f"seedstall {__version__}")
        raise typer.Exit


def seedstall(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Say why a Java program hangs or crawls at start, prove it, and write the fix."""


def application(commands: Sequence[str] = COMMANDS) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="seedstall",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(seedstall)
    for name in commands:
        module = importlib.import_module(f"seedstall.cli.{name}")
        command = app.command(name, context_settings=getattr(module, "SETTINGS", None))
        command(getattr(module, name, None) or getattr(module, f"{name}_"))
    return app


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM: every ``finally`` runs (an attach in progress takes its file away), then we end.

    Not KeyboardInterrupt, which the command-line library would turn into exit code 1.
    """


def _interrupt(number: int, _frame: object) -> None:
    raise Interrupted(number)


def main() -> None:
    """Run, and turn what goes wrong into the contract's exit codes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, a shell's background job
            signal.signal(number, _interrupt)
    # Only the command that is meant is imported and built: all of them cost 20 ms more.
    meant = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted = (meant,) if meant in COMMANDS else COMMANDS
    try:
        code = application(("explain",) if meant == "--version" else wanted)(standalone_mode=False)
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
