"""The program: its commands, and the one place where errors become exit codes."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from seedstall import __version__
from seedstall.cli.console import Exit, close_stdout, complain
from seedstall.cli.demo import demo
from seedstall.cli.diagnose import diagnose
from seedstall.cli.dump import dump
from seedstall.cli.explain import explain
from seedstall.cli.fix import fix
from seedstall.cli.kernel import kernel
from seedstall.model.errors import SeedstallError

app = typer.Typer(
    name="seedstall",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback signature
    if wanted:
        typer.echo(f"seedstall {__version__}")
        raise typer.Exit


@app.callback()
def seedstall(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Say why a Java program hangs or crawls at start, prove it, and write the fix."""


for command in (diagnose, fix, dump, kernel, explain, demo):
    app.command()(command)


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM: every ``finally`` runs (an attach in progress takes its file away), then we end.

    Not KeyboardInterrupt, which the command-line library would turn into exit code 1.
    """


def _interrupt(number: int, _frame: object) -> None:
    raise Interrupted(number)


def main() -> None:
    """Run, and turn what goes wrong into the contract's exit codes."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app()
    except SeedstallError as error:
        complain(error)
        sys.exit(error.code)
    except BrokenPipeError:
        close_stdout()
        sys.exit(Exit.CLEAR)
    except Interrupted as interrupt:
        sys.exit(128 + interrupt.args[0])
