"""``seedstall kernel``: what this host's random devices do, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from seedstall.cli import options
from seedstall.cli.console import Exit, exit_code, put, say, tell
from seedstall.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from seedstall.engine.kernel import KernelCase
    from seedstall.knowledge.refill import Refill
    from seedstall.model.report import Report
    from seedstall.source.base import Source

WATCH_S = 10.0
"""How long a pool is watched that is not full: at 0.6 bit/s six bits come in."""
MAX_WATCH_S = 3600.0
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}


class Format(StrEnum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


def kernel(
    target: Annotated[
        str,
        typer.Argument(
            metavar="[TARGET]",
            help="A captured tree, or a PID (what waits in it is told too). Without one, this host.",
            show_default=False,
        ),
    ] = "",
    *,
    release: Annotated[
        str,
        typer.Option("--kernel", metavar="RELEASE", help="Judge this uname -r (or -a) alone."),
    ] = "",
    watch: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="TIME",
            help="Watch the entropy count that long (10s, 2m; 0 for not at all).",
            show_default="10s where a pool is not full",
        ),
    ] = "",
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    exit_zero: options.ExitZero = False,
    fail_on: options.FailFrom = options.FailOn.WARNING,
    no_redact: options.NoRedact = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Say whether this host's /dev/random can block, why, and what feeds its pool.

    Nothing is read from the random devices: the kernel's files are, and it is asked for zero bytes.
    """
    if target and release:
        raise UsageError("a target and --kernel contradict", "the target has a kernel of its own")
    seconds = _seconds(watch) if watch else None
    from seedstall.engine.kernel import kernel_case  # noqa: PLC0415 - when the command runs
    from seedstall.knowledge.refill import measured  # noqa: PLC0415

    source, live = _source(target, release)
    case = kernel_case(source, target or release or "this host")
    refill = None
    if live and (case.worth_watching if seconds is None else seconds > 0):
        refill = _watched(case, WATCH_S if seconds is None else seconds, measured)
    report = case.report(refill)
    text = _rendered(report, form, quiet=quiet, verbose=verbose, redacted=not no_redact)
    (tell if form is Format.TEXT else put)(text, output)
    if not exit_zero:
        raise typer.Exit(_exit(report, fail_on))


def _source(target: str, release: str) -> tuple[Source, bool]:
    """Where the kernel is read, and whether it is this very host, now.

    Raises:
        NoSuchTargetError: the target is not there.
        UsageError: it is a file, or a folder that holds no captured kernel.
    """
    from seedstall.source import detect, host, inputs  # noqa: PLC0415
    from seedstall.source.detect import Kind  # noqa: PLC0415

    if release:
        return inputs.given(kernel=_known(release)), False
    if not target:
        return host.HostSource(), True
    found = detect.resolve(target)
    if found.kind is Kind.PID:
        return host.HostSource(found.pid), True
    if found.kind is Kind.BUNDLE:
        from seedstall.source import gathered  # noqa: PLC0415 - only for bundles

        return gathered.opened(found.path, found.member)[0], False
    if found.kind is Kind.TREE:
        return detect.tree(found), False
    message = f"{target} holds no captured kernel"
    raise UsageError(
        message, "name a tree with proc/sys/kernel/random in it, a PID, or say --kernel RELEASE"
    )


def _known(release: str) -> str:
    """The release, if it is one.

    Raises:
        UsageError: no version stands in it.
    """
    from seedstall.knowledge.release import read_release  # noqa: PLC0415

    if read_release(release) is None:
        message = f"{release[:60]!r} is no kernel release"
        raise UsageError(message, "give what uname -r prints there, such as 3.10.0-957.el7.x86_64")
    return release


def _seconds(text: str) -> float:
    """``10s``, ``2m``, ``500ms``, ``10``.

    Raises:
        UsageError: it is no length of time, or an hour is not enough for it.
    """
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = UNITS.get(text[len(number) :])
    digits = number.replace(".", "", 1)
    if unit is None or not (digits.isascii() and digits.isdigit()) or len(digits) > 9:  # noqa: PLR2004
        raise UsageError(f"--for {text[:20]}: not a length of time", "say 10s, 2m or 0")
    seconds = float(number) * unit
    if seconds > MAX_WATCH_S:
        raise UsageError(f"--for {text}: at most an hour", "say 10s, 2m or 0")
    return seconds


def _watched(
    case: KernelCase, seconds: float, measured: Callable[[list[tuple[float, int]]], Refill | None]
) -> Refill | None:
    """Read the count once a second, in this one process.

    On a kernel with the pool every process that starts takes from it (its stack canary and address layout), so a loop
    of ``cat`` in a shell drains what it wants to measure.
    """
    import time  # noqa: PLC0415

    from seedstall.engine.kernel import ENTROPY  # noqa: PLC0415
    from seedstall.model.evidence import Got  # noqa: PLC0415
    from seedstall.parse.kernelfiles import count  # noqa: PLC0415

    say(f"watching the entropy count for {seconds:g} s ...")
    samples: list[tuple[float, int]] = []
    begin = time.monotonic()
    while True:
        reading = case.source.read(ENTROPY)
        now = time.monotonic() - begin
        if not isinstance(reading, Got):
            return None
        samples.append((now, count(reading.value)))
        if now >= seconds:
            return measured(samples)
        time.sleep(min(1.0, max(0.01, seconds - now)))


def _rendered(report: Report, form: Format, *, quiet: bool, verbose: int, redacted: bool) -> str:
    if form is Format.JSON:
        from seedstall.render import jsontext  # noqa: PLC0415

        return jsontext.render([report], redacted=redacted)
    if form is not Format.TEXT:
        from seedstall.render import page  # noqa: PLC0415

        return page.render([report], form.value, redacted=redacted)
    from seedstall.render.kernel import render  # noqa: PLC0415

    return render(report, verbose=verbose, quiet=quiet, redacted=redacted)


def _exit(report: Report, fail_on: options.FailOn) -> Exit:
    """As `diagnose`; besides, a kernel that blocks with a pool nobody could look at is at risk without a finding."""
    from seedstall.model.verdict import Status  # noqa: PLC0415

    code = exit_code([report], fail_on.value)
    bare = report.verdict.status is Status.AT_RISK and report.verdict.finding is None
    if code is Exit.CLEAR and bare and fail_on in (options.FailOn.WARNING, options.FailOn.NOTE):
        return Exit.FOUND
    return code
