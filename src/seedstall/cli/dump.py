"""``seedstall dump``: a JVM's own thread dump, without a JDK."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seedstall.effect.attach import Attacher
    from seedstall.model.errors import SeedstallError
    from seedstall.model.evidence import Missing


def dump(
    target: Annotated[
        str, typer.Argument(metavar="PID", help="A JVM, or the script or service that started it.")
    ],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done to the target, and stop.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=600, help="Seconds to wait for the answer.")
    ] = 5.0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the dump there.")
    ] = None,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Show passwords and tokens as they are.")
    ] = False,
) -> None:
    """Print the thread dump of a JVM, by its attach protocol.

    The JVM is not asked where that could harm it. Exit codes: 0 printed, 1 refused or no answer,
    3 no such process or not a JVM.
    """
    from seedstall.cli.console import put  # noqa: PLC0415
    from seedstall.effect.attach import Attacher  # noqa: PLC0415
    from seedstall.model.evidence import Got  # noqa: PLC0415

    attacher = Attacher(_jvm(target), timeout_s=timeout, dry_run=dry_run)
    reading = attacher.ask("threaddump")
    if dry_run and attacher.actions:
        put(_plan(attacher), output)
        return
    if not isinstance(reading, Got):
        raise _failure(attacher.pid, reading)
    put(_shown(reading.value, redacted=not no_redact), output)


def _jvm(target: str) -> int:
    from seedstall.cli.console import say  # noqa: PLC0415
    from seedstall.model.errors import UsageError  # noqa: PLC0415
    from seedstall.source import detect  # noqa: PLC0415

    resolved = detect.resolve(target)
    if resolved.pid is None:
        message = f"{target} is not a process"
        raise UsageError(message, "dump takes the PID of a JVM; for a file say seedstall diagnose")
    pid, *others = detect.jvms_of(resolved)
    if others:
        message = f"{target} started several JVMs: {', '.join(map(str, (pid, *others)))}"
        raise UsageError(message, "name one of them")
    if pid != resolved.pid:
        say(f"{target} is not a JVM itself; below it: {pid}")
    return pid


def _plan(attacher: Attacher) -> str:
    return "".join(f"{action.pid}: would {action.what}\n" for action in attacher.actions)


def _failure(pid: int, missing: Missing) -> SeedstallError:
    from seedstall.model.errors import NoSuchTargetError, SeedstallError  # noqa: PLC0415
    from seedstall.model.evidence import Why  # noqa: PLC0415

    if missing.why is Why.VANISHED:
        return NoSuchTargetError(f"process {pid} is gone: {missing.detail or 'it ended'}")
    hint = f"seedstall diagnose --passive {pid} looks at it without touching it"
    return SeedstallError(f"no thread dump of {pid}, {missing.why}: {missing.detail}", hint)


def _shown(answer: bytes, *, redacted: bool) -> str:
    """The dump as text: a program names its own threads, so no control character reaches a terminal."""
    from seedstall.model.redact import redact, visible  # noqa: PLC0415

    text = answer.decode("utf-8", "surrogateescape")
    lines = ("\t".join(visible(part) for part in line.split("\t")) for line in text.split("\n"))
    return "\n".join(redact(line) if redacted else line for line in lines)
