"""``seedstall capture``: everything that a diagnosis of this JVM reads, in one file for somebody else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seedstall.source.base import Source


def capture(
    target: Annotated[
        str,
        typer.Argument(
            metavar="PID",
            help="A JVM, or the script or service that started it; or a bundle or captured tree, to be packed anew.",
        ),
    ] = "",
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Logs of it that belong into the bundle."),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The bundle (.tar.gz); - is stdout."),
    ] = None,
    takes: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="Look so often: stuck, or slow?")
    ] = 1,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="With --takes: so long apart: 5, 500ms, 1m.")
    ] = "5s",
    timeout: Annotated[
        float,
        typer.Option(
            min=1, max=3600, metavar="SECONDS", help="All of it; --takes adds its own time."
        ),
    ] = 20.0,
    passive: Annotated[
        bool, typer.Option("--passive", help="Never signal, connect to or read into the target.")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="Never attach.")] = False,
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise", help="Rename hosts, users, addresses and paths, the same everywhere."
        ),
    ] = False,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Keep passwords and tokens as they are.")
    ] = False,
    script: Annotated[
        bool,
        typer.Option(
            "--script",
            help="Print a shell script that captures where there is no Python: ssh HOST sh -s.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Say nothing of what is missing.")
    ] = False,
) -> None:
    """Put all that a diagnosis of this JVM reads into one file, without its secrets.

    Safe to run first: /proc, then its memory, then one attach behind every guard, all within
    --timeout. On another machine: seedstall diagnose FILE.
    """
    from seedstall.cli.captured import Captured, Manner  # noqa: PLC0415 - when the command runs
    from seedstall.cli.console import put_bytes, say  # noqa: PLC0415
    from seedstall.cli.dump import jvm_named  # noqa: PLC0415
    from seedstall.cli.watched import seconds_of  # noqa: PLC0415
    from seedstall.effect import capture as effect  # noqa: PLC0415
    from seedstall.model.errors import UsageError  # noqa: PLC0415

    if script:
        from seedstall.effect.collector import script as collector  # noqa: PLC0415

        put_bytes(collector().encode())
        return
    if not target:
        message = "capture needs a PID"
        raise UsageError(
            message, "seedstall list shows the JVMs; --script prints a collector for other hosts"
        )
    if output is None:
        message = "capture needs -o FILE"
        raise UsageError(message, f"seedstall capture {target} -o hung-{target}.tar.gz")
    place = None if str(output) == "-" else effect.Output(str(output), force=force)
    if place is None and sys.stdout.isatty():
        message = "a bundle is no text for a terminal"
        raise UsageError(message, "-o FILE, or -o - | ssh HOST 'cat > FILE'")
    write = place.write if place is not None else put_bytes
    held, pid = _held(target)
    if held is None:
        pid = jvm_named(target, "capture")
    interval = seconds_of("--every", every) or 0.0
    manner = Manner(
        attach=not (passive or no_attach),
        memory=not passive,
        redacted=not no_redact,
        anonymised=anonymise,
        logs=tuple((name, *effect.log_of(name)) for name in files or []),
    )
    work = Captured(pid, manner, write, held)
    work.run(takes, interval, timeout)
    if not quiet:
        for line in work.told(str(output)):
            say(line)


def _held(target: str) -> tuple[Source | None, int | None]:
    """What somebody captured already, to be packed anew (with --anonymise), and its process; nothing for a process."""
    from seedstall.model.errors import UsageError  # noqa: PLC0415
    from seedstall.source import detect, gathered  # noqa: PLC0415

    if target.isdigit():
        return None, None
    resolved = detect.resolve(target)
    if resolved.kind not in (detect.Kind.TREE, detect.Kind.BUNDLE):
        return None, None
    first, *others = gathered.opened(resolved.path, resolved.member)
    if others:
        message = f"{target} holds {1 + len(others)} cases"
        raise UsageError(message, f"name one of them: {first.name}")
    return first, first.pid
