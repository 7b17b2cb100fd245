"""``seedstall dump``: a JVM's own thread dump, without a JDK."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seedstall.cli import options

if TYPE_CHECKING:
    from seedstall.effect.attach import Attacher
    from seedstall.model.errors import SeedstallError
    from seedstall.model.evidence import Missing
    from seedstall.source.base import Source
    from seedstall.source.core import CoreSource


def dump(
    target: Annotated[
        str,
        typer.Argument(
            metavar="PID", help="A JVM, or the script or service that started it; or a core file."
        ),
    ],
    *,
    memory: Annotated[
        bool,
        typer.Option(
            "--memory", help="Read it from its memory: no signal, no pause, no answer needed."
        ),
    ] = False,
    sysroot: options.Sysroot = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done to the target, and stop.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, max=600, metavar="SECONDS", help="How long to wait for the answer."),
    ] = 5.0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the dump there.")
    ] = None,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Show passwords and tokens as they are.")
    ] = False,
) -> None:
    """Print the thread dump of a JVM, by its attach protocol or out of its memory.

    The JVM is not asked where that could harm it.
    """
    from seedstall.cli.console import put, say  # noqa: PLC0415

    if not target.isdigit() and (core := _core(target, sysroot)) is not None:
        with core:
            put(_remembered(core, target, redacted=not no_redact), output)
        return
    if memory:
        put(_from_memory(jvm_named(target), dry_run=dry_run, redacted=not no_redact), output)
        return
    from seedstall.effect.attach import Attacher  # noqa: PLC0415
    from seedstall.model.evidence import Got  # noqa: PLC0415

    attacher = Attacher(
        jvm_named(target), timeout_s=timeout, dry_run=dry_run, openj9=True, tell=say
    )
    reading = attacher.ask("threaddump")
    if dry_run and attacher.actions:
        put(_plan(attacher), output)
        return
    if not isinstance(reading, Got):
        raise _failure(attacher.pid, reading, asked=True)
    put(_shown(reading.value, redacted=not no_redact), output)


def _from_memory(pid: int, *, dry_run: bool, redacted: bool) -> str:
    from seedstall.source.host import HostSource  # noqa: PLC0415

    if dry_run:
        return f"{pid}: would read its memory (/proc/{pid}/mem), which stops and changes nothing\n"
    with HostSource(pid) as source:
        return _remembered(source, pid, redacted=redacted)


def _core(target: str, sysroot: str) -> CoreSource | None:
    """The core that *target* names, if it names one."""
    from seedstall.model.errors import UsageError  # noqa: PLC0415
    from seedstall.source import detect  # noqa: PLC0415

    resolved = detect.resolve(target)
    if resolved.kind is detect.Kind.CORE:
        return detect.core(resolved, sysroot)
    if sysroot:
        raise UsageError(f"--sysroot is of a core, and {target} is none", "name the core file")
    return None


def _remembered(source: Source, name: int | str, *, redacted: bool) -> str:
    """The dump as text. Where there are no Java stacks to be had: the kernel's threads, and why, as an error."""
    from seedstall.facts.memory import memory_dump  # noqa: PLC0415
    from seedstall.facts.process import jvm_process, tasks_besides  # noqa: PLC0415
    from seedstall.model.evidence import Unavailable, Why  # noqa: PLC0415
    from seedstall.render.threads import dump_text, kernel_text  # noqa: PLC0415

    try:
        process = jvm_process(source)
    except Unavailable as error:
        raise _failure(name, error.missing) from error
    try:
        dump = memory_dump(source)
    except Unavailable as error:
        missing = error.missing
        if missing.why is not Why.VANISHED:
            threads = tasks_besides(source, process, frozenset())
            put_threads(kernel_text(threads, missing.detail or str(missing)))
        raise _failure(name, missing) from error
    known = frozenset(thread.nid for thread in dump.threads if thread.nid is not None)
    return dump_text(dump, tasks_besides(source, process, known), redacted=redacted)


def put_threads(text: str) -> None:
    """What is known of the threads all the same goes to stdout; the error follows on stderr."""
    from seedstall.cli.console import put  # noqa: PLC0415

    put(text, None)


def jvm_named(target: str, command: str = "dump") -> int:
    """The one JVM that *target* is, or that it started.

    Raises:
        UsageError: it is no process, or started several.
        NoSuchTargetError: there is none.
    """
    from seedstall.cli.console import say  # noqa: PLC0415
    from seedstall.model.errors import UsageError  # noqa: PLC0415
    from seedstall.source import detect  # noqa: PLC0415

    resolved = detect.resolve(target)
    if resolved.pid is None:
        message = f"{target} is not a process"
        takes = "the PID of a JVM, or a core" if command == "dump" else "the PID of a JVM"
        hint = f"{command} takes {takes}; for another file say seedstall diagnose"
        raise UsageError(message, hint)
    pid, *others = detect.jvms_of(resolved)
    if others:
        message = f"{target} started several JVMs: {', '.join(map(str, (pid, *others)))}"
        raise UsageError(message, "name one of them")
    if pid != resolved.pid:
        say(f"{target} is not a JVM itself; below it: {pid}")
    return pid


def _plan(attacher: Attacher) -> str:
    return "".join(f"{action.pid}: would {action.what}\n" for action in attacher.actions)


def _failure(pid: int | str, missing: Missing, *, asked: bool = False) -> SeedstallError:
    """*asked* is whether the JVM was to be asked: then its memory may tell all the same."""
    from seedstall.model.errors import NoSuchTargetError, SeedstallError  # noqa: PLC0415
    from seedstall.model.evidence import Why  # noqa: PLC0415

    if missing.why is Why.VANISHED:
        return NoSuchTargetError(f"process {pid} is gone: {missing.detail or 'it ended'}")
    passive = "--passive " if isinstance(pid, int) else ""
    hint = f"seedstall diagnose {passive}{pid} looks at it without touching it"
    if asked and missing.why in (Why.REFUSED, Why.TIMED_OUT):
        hint = f"seedstall dump --memory {pid} needs no answer of it; {hint}"
    if missing.why is Why.DENIED and os.geteuid():
        hint = f"sudo seedstall dump {pid}"
    return SeedstallError(f"no thread dump of {pid}, {missing.why}: {missing.detail}", hint)


def _shown(answer: bytes, *, redacted: bool) -> str:
    """The dump as text: a program names its own threads, so no control character reaches a terminal."""
    from seedstall.model.redact import redact, visible  # noqa: PLC0415

    text = answer.decode("utf-8", "surrogateescape")
    lines = ("\t".join(visible(part) for part in line.split("\t")) for line in text.split("\n"))
    return "\n".join(redact(line) if redacted else line for line in lines)
