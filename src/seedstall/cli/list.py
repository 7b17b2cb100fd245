"""``seedstall list``: every JVM of this host."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seedstall.cli import options
from seedstall.cli.console import put
from seedstall.model.errors import SeedstallError, UsageError

if TYPE_CHECKING:
    from seedstall.model.listing import Listing

USUAL_S = 2.0
SHORTEST_S = 0.1
LONGEST_S = 86_400.0
CLEAR = "\x1b[H\x1b[J"
"""Cursor to the corner, and all below it away (ECMA-48 CUP, ED): less flicker than a cleared screen."""


class Format(StrEnum):
    """How the table is written."""

    TEXT = "text"
    JSON = "json"
    PROMETHEUS = "prometheus"


def list_(
    seconds: Annotated[
        float | None,
        typer.Argument(
            metavar="[SECONDS]", help="With --watch, how long between two looks.", show_default="2"
        ),
    ] = None,
    *,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Look again and again, in place on a terminal. Ctrl-C ends it."
        ),
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    no_redact: options.NoRedact = False,
    quiet: options.Quiet = False,
) -> None:
    """List every JVM of this host, all users' and in containers, with its seed source and whether it waits.

    By what each process has mapped, and by /proc alone: nothing is signalled, connected to or read of its memory.
    """
    pause = _pause(seconds, watch=watch)
    from seedstall.engine.listing import listing  # noqa: PLC0415 - when the command runs

    manner = _Manner(form, redacted=not no_redact, quiet=quiet, watched=watch)
    while True:
        manner.show(listing(), output)
        if not watch:
            return
        import time  # noqa: PLC0415

        time.sleep(pause)


def _pause(seconds: float | None, *, watch: bool) -> float:
    """Seconds between two looks.

    Raises:
        UsageError: a number without ``--watch`` (a PID?), or one that is no pause.
    """
    if seconds is None:
        return USUAL_S
    if not watch:
        raise UsageError(
            "list takes no target", f"seedstall diagnose {seconds:g} looks at one process"
        )
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise UsageError(
            f"--watch {seconds:g}: not a pause", f"say {SHORTEST_S:g} to {LONGEST_S:g} seconds"
        )
    return seconds


def _replace(output: Path, text: str) -> None:
    """Write a file that is whole at any moment: node_exporter reads it when it likes."""
    if str(output) == "-" or (output.exists() and not output.is_file()):
        put(text, output)
        return
    import os  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    part = ""
    try:
        # Not a name that others could have laid a link under.
        fd, part = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, 0o644)
            file.write(text.encode("utf-8", "backslashreplace"))
        Path(part).replace(output)
    except OSError as error:
        if part:
            Path(part).unlink(missing_ok=True)
        message = f"{output}: {error.strerror}"
        raise SeedstallError(message, "name a file in a folder that you may write to") from error


class _Manner:
    """How each table is shown."""

    def __init__(self, form: Format, *, redacted: bool, quiet: bool, watched: bool) -> None:
        self._form = form
        self._redacted = redacted
        self._quiet = quiet
        self._watched = watched
        self._first = True

    def show(self, found: Listing, output: Path | None) -> None:
        """Print one table: over the last one on a terminal, below it elsewhere."""
        screen = self._screen() if output is None or str(output) == "-" else None
        text = self._rendered(found, screen)
        if screen and self._watched:
            text = CLEAR + text
        elif self._watched and not self._first and self._form is Format.TEXT:
            text = f"\n{text}"
        self._first = False
        if output is not None and self._form is Format.PROMETHEUS:
            _replace(output, text)
        else:
            put(text, output)

    def _rendered(self, found: Listing, screen: tuple[int, int] | None) -> str:
        from seedstall.render import listing as render  # noqa: PLC0415

        if self._form is Format.JSON:
            return render.json(found, redacted=self._redacted, one_line=self._watched)
        if self._form is Format.PROMETHEUS:
            return render.prometheus(found, redacted=self._redacted)
        return render.text(found, redacted=self._redacted, quiet=self._quiet, screen=screen)

    def _screen(self) -> tuple[int, int] | None:
        """Columns and lines of the terminal that the table goes to; ``None`` where it goes elsewhere.

        Only what is written over and over must not be longer than the terminal: 0 lines is no limit.
        """
        import shutil  # noqa: PLC0415
        import sys  # noqa: PLC0415

        if self._form is not Format.TEXT or sys.stdout is None or not sys.stdout.isatty():  # pyright: ignore[reportUnnecessaryComparison] - started with stdout closed
            return None
        columns, lines = shutil.get_terminal_size()
        return max(20, columns), max(3, lines - 1) if self._watched else 0
