"""Exit codes, and where each kind of output goes: the report to stdout, the rest to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.finding import Finding, Fired, Severity
from seedstall.model.report import Failure, Report
from seedstall.model.verdict import Status


class Exit(IntEnum):
    """The exit codes of the contract."""

    CLEAR = 0
    FAILED = 1
    USAGE = 2
    NO_TARGET = 3
    UNKNOWN = 4
    FOUND = 10
    INTERRUPTED = 130


THRESHOLDS = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "note": Severity.NOTE,
}


def exit_code(told: Sequence[Report | Failure], fail_on: str = "warning") -> Exit:
    """The worst over all cases: a finding at or above the threshold, then an unknown verdict.

    A case of several that could not be looked at is as good as unknown.
    """
    limit = THRESHOLDS.get(fail_on)
    reports = [r for r in told if isinstance(r, Report)]
    if limit is not None and any(f.severity >= limit for r in reports for f in findings(r)):
        return Exit.FOUND
    if len(reports) < len(told) or any(r.verdict.status is Status.UNKNOWN for r in reports):
        return Exit.UNKNOWN
    return Exit.CLEAR


def findings(report: Report) -> list[Finding]:
    """All findings of a report, explained ones too."""
    return [f for o in report.outcomes if isinstance(o, Fired) for f in o.findings]


def put(text: str, output: Path | None = None) -> None:
    """Write a report: to *output*, or to stdout. Names that are not UTF-8 are shown, never lost."""
    data = text.encode("utf-8", "backslashreplace")
    if output is not None and str(output) != "-":
        try:
            output.write_bytes(data)
        except OSError as error:
            message = f"{output}: {error.strerror}"
            raise SeedstallError(
                message, "name a file in a folder that you may write to"
            ) from error
        return
    put_bytes(data)


def tell(text: str, output: Path | None = None) -> None:
    """Write a report for people: on a terminal in its width and with its colours, in the encoding that it reads."""
    stream = sys.stdout
    if (output is not None and str(output) != "-") or stream is None:  # pyright: ignore[reportUnnecessaryComparison]
        put(text, output)
        return
    seen = stream.isatty()
    if seen or os.environ.get("FORCE_COLOR"):
        from seedstall.render import terminal  # noqa: PLC0415 - for people alone

        text = terminal.fold(text, _columns()) if seen else text
        text = terminal.coloured(text) if _colours(seen=seen) else text
    # A Windows console, or a terminal in an old locale: what it has no letter for is shown by its number.
    put_bytes(text.encode(stream.encoding or "utf-8", "backslashreplace"))


def _columns() -> int:
    """The terminal's width: what COLUMNS says, else what the terminal does; 0 where neither tells."""
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdecimal():
        return int(said[:6])
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 0


def _colours(*, seen: bool) -> bool:
    """Whether colours are wanted: https://no-color.org, FORCE_COLOR, and a terminal that is not dumb."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (seen and os.environ.get("TERM", "") != "dumb")


def put_bytes(data: bytes) -> None:
    """Write to stdout.

    Raises:
        SeedstallError: it is closed, or full.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - started with stdout closed
        raise SeedstallError("stdout is closed: the report has nowhere to go", "say -o FILE")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        close_stdout()
        raise SeedstallError(f"stdout: {error.strerror}", "say -o FILE") from error


def refuse_overwriting(output: Path | None, targets: Sequence[str]) -> None:
    """A report must not replace the evidence it is about.

    Raises:
        UsageError: *output* is one of the targets.
    """
    if output is None or not output.exists():
        return
    for target in targets:
        if Path(target).exists() and output.samefile(target):
            message = f"-o {output} would overwrite the target {target}"
            raise UsageError(message, "name another file")


def say(text: str) -> None:
    """A line of progress or warning, to stderr."""
    sys.stderr.write(text + "\n")


def complain(error: SeedstallError) -> None:
    """``error:`` and ``hint:`` lines."""
    from seedstall.model.redact import redact, visible  # noqa: PLC0415

    say(f"error: {redact(visible(str(error)))}")
    if error.hint:
        say(f"hint: {redact(visible(error.hint))}")


def close_stdout() -> None:
    """After a broken pipe: nothing more can be written, and Python must not try at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
