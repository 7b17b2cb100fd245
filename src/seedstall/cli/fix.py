"""``seedstall fix``: the remedy for one place, printed; written only when asked to."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from seedstall.cli import options
from seedstall.cli.console import put, say
from seedstall.model.errors import SeedstallError, UsageError

if TYPE_CHECKING:
    from seedstall.cli.cases import Planned, Said, Touch
    from seedstall.cli.surfaces import Request, Write
    from seedstall.effect.undo import Undone


def fix(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help="A PID, and files that belong to it; or files alone; with --jdk none is needed. "
            "For --undo also the setenv.sh itself, or its CATALINA_BASE.",
        ),
    ] = None,
    *,
    surface: Annotated[
        str, typer.Option("--surface", metavar="NAME", help="The place: --list names them.")
    ] = "",
    set_egd: Annotated[
        str | None,
        typer.Option(
            "--set-egd", metavar="VALUE", help="This java.security.egd, not the recommended one."
        ),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write it: at one stroke, with a dated copy beside it.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back what --apply wrote last.")
    ] = False,
    names: Annotated[bool, typer.Option("--list", help="Name the places.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what --apply or --undo would write, and write nothing."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Print it even where nothing waits for random bytes.")
    ] = False,
    kernel: options.Kernel = "",
    jdk: options.Jdk = "",
    egd: options.Egd = "",
    sysroot: options.Sysroot = "",
    attach: Annotated[
        bool, typer.Option("--attach", help="Ask the JVM for a thread dump: which generator waits?")
    ] = False,
    passive: Annotated[
        bool, typer.Option("--passive", help="Never signal or connect to the target (the default).")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="The same.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Print there, not to stdout."),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No notes on stderr.")] = False,
) -> None:
    """Print the patch, snippet or commands for one place; --apply writes, --undo takes back.

    What is in place already, or would be useless, prints nothing on stdout and says so on stderr: exit code 0.
    """
    if names:
        put(_listing(), output)
        return
    _check(targets or [jdk] * bool(jdk), surface, apply=apply, undo=undo)
    _check_output(output, targets or [])
    _check_touch(attach=attach, never=passive or no_attach)
    tell = _Teller(quiet=quiet)
    if undo and (script := _script_named(targets or [])) is not None:
        _undo_file(script, tell, dry_run=dry_run)
        return
    from seedstall.cli import cases, surfaces  # noqa: PLC0415 - sources are imported when a command runs

    said = cases.Said(kernel=kernel, jdk=jdk, egd=egd, sysroot=sysroot)
    touch = cases.Touch(attach=attach, memory=attach)
    case = _case(targets or [], said, touch, tell)
    request = _request(case, set_egd, force=force or not targets)
    if undo:
        _undo(request, tell, dry_run=dry_run)
        return
    answer = surfaces.answer(surface, request)
    if not answer.output:
        tell.say(f"nothing printed: {answer.reason}")
    tell.notes(answer.notes)
    if not answer.output:
        return
    if answer.write is not None and output is not None:
        _refuse_same(output, request, answer.write)
    if not (apply or dry_run):
        _print(answer.output, output)
    elif answer.write is None or request.pid is None:
        raise _not_written(surface, request.pid)
    else:
        if dry_run or output is not None:
            _print(answer.output, output)
        _apply(request, answer.write, tell, dry_run=dry_run)


def _case(targets: list[str], said: Said, touch: Touch, tell: _Teller) -> Planned:
    """The one that is meant. Of a JVM that has ended nothing is left to look at: its user knows that it waited."""
    from seedstall.cli import cases  # noqa: PLC0415

    if not targets:
        return cases.Planned("what was said", said.source())
    plan = cases.plan(targets, said, touch, one_case=True, scripts_too=False)
    tell.notes(plan.notices)
    return _only(plan.cases)


def _listing() -> str:
    from seedstall.render.fixes import SURFACES  # noqa: PLC0415

    return "".join(f"{s.name:<18} {s.title}\n" for s in SURFACES)


def _check(targets: list[str] | None, surface: str, *, apply: bool, undo: bool) -> None:
    from seedstall.render.fixes import BY_NAME  # noqa: PLC0415

    known = f"one of: {', '.join(BY_NAME)}"
    if undo and not surface:
        surface = "tomcat-setenv"
    if not surface:
        raise UsageError("no --surface", known)
    if surface not in BY_NAME:
        raise UsageError(f"no surface is called {surface}", known)
    if apply and undo:
        raise UsageError("--apply contradicts --undo")
    if undo and surface != "tomcat-setenv":
        raise UsageError(
            f"--surface {surface} is printed, never written: there is nothing to take back"
        )
    if not targets:
        raise UsageError("no target", "name a PID, a thread dump or a log, or say --jdk VERSION")


def _check_touch(*, attach: bool, never: bool) -> None:
    if attach and never:
        raise UsageError("--attach contradicts --passive and --no-attach")


def _check_output(output: Path | None, targets: list[str]) -> None:
    """Refuse an output that takes the place of what the output is made from, or for.

    Raises:
        UsageError: it is a setenv.sh, which would then hold a patch of itself, or a file that was handed over.
    """
    if output is None or str(output) == "-":
        return
    if "setenv.sh" in (output.name, _real_name(output)):
        raise UsageError(
            f"-o {output}: what is printed is no setenv.sh and would take the place of one",
            "name a file for the patch (-o setenv.patch); --apply writes setenv.sh itself",
        )
    for target in targets:
        if _same_file(output, Path(target)):
            raise UsageError(f"-o {output}: that is {target}, which is read", "name another file")


def _refuse_same(output: Path, request: Request, write: Write) -> None:
    """Refuse to print a patch into the very file that it is for, under whatever name."""
    inside = Path(f"/proc/{request.pid}/root{write.path}")
    if request.pid is not None and _same_file(output, inside):
        raise UsageError(
            f"-o {output}: that is {write.path} itself, which the patch is for",
            "name a file for the patch (-o setenv.patch); --apply writes setenv.sh itself",
        )


def _real_name(path: Path) -> str:
    try:
        return path.resolve().name
    except (OSError, RuntimeError):  # links in a circle (RuntimeError up to Python 3.12)
        return path.name


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _only(found: tuple[Planned, ...]) -> Planned:
    if len(found) != 1:
        names = ", ".join(case.target for case in found)
        raise UsageError(f"several cases: {names}", "a fix is for one of them: name it alone")
    (case,) = found
    return case


def _request(case: Planned, value: str | None, *, force: bool) -> Request:
    from seedstall.cli.surfaces import Request, check_value  # noqa: PLC0415
    from seedstall.engine.case import Case  # noqa: PLC0415
    from seedstall.facts import providers, surfaces  # noqa: PLC0415

    facts = Case(case.source, dict.fromkeys((*providers(), *surfaces.PROVIDERS)))
    pid = int(case.target) if case.target.isdecimal() else None
    request = Request(facts, case.source, case.target, pid, value or "", force=force)
    if value is not None:
        check_value(value, request.jdk)
    return request


class _Teller:
    """What people are told, on stderr: nothing of it is a secret or moves a terminal's cursor."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def notes(self, lines: Iterable[str]) -> None:
        for line in lines:
            if not self.quiet:
                self.say(f"note: {line}")

    def say(self, line: str) -> None:
        from seedstall.model.redact import redact, visible  # noqa: PLC0415

        say(redact(visible(line)))


def _print(data: bytes, output: Path | None) -> None:
    """The bytes as they are: a patch of a file that is no UTF-8 must apply to it. A terminal is shown no controls."""
    if output is not None and str(output) != "-":
        try:
            output.write_bytes(data)
        except OSError as error:
            message = f"{output}: {error.strerror}"
            raise SeedstallError(
                message, "name a file in a folder that you may write to"
            ) from error
        return
    if sys.stdout.isatty():
        from seedstall.model.redact import visible  # noqa: PLC0415

        text = data.decode("utf-8", "backslashreplace")
        put("".join(visible(c) if c not in "\n\t" else c for c in text))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _not_written(surface: str, pid: int | None) -> UsageError:
    if surface == "tomcat-setenv" and pid is None:
        return UsageError("--apply needs the process whose setenv.sh is meant", "name its PID")
    return UsageError(f"--surface {surface} is printed, never written", "leave --apply out")


def _apply(request: Request, write: Write, tell: _Teller, *, dry_run: bool) -> None:
    from seedstall.effect.apply import apply, destination, stamp  # noqa: PLC0415

    with _Root(request) as root:
        if dry_run:
            path = destination(root.fd, write.path, within=write.within)
            copy = (
                f", the old one to be kept as {path}.seedstall-{stamp()}"
                if write.read is not None
                else ""
            )
            tell.say(f"would write {_real(write.path, path)} ({len(write.content)} bytes){copy}")
            return
        done = apply(root.fd, write.path, write.content, read=write.read, within=write.within)
    kept = f"; the old one is {done.backup} beside it" if done.backup else ""
    tell.say(f"wrote {_real(write.path, done.path)}{kept}")
    tell.notes(done.notes)
    tell.notes(
        (
            "it takes effect at the next start: the running JVM keeps its settings",
            f"seedstall fix {request.pid} --undo takes it back",
            f"once that process has ended, seedstall fix {shlex.quote(done.path)} --undo does",
        )
    )


def _undo(request: Request, tell: _Teller, *, dry_run: bool) -> None:
    from seedstall.cli.surfaces import homes, script_of  # noqa: PLC0415
    from seedstall.effect.undo import undo  # noqa: PLC0415

    if request.pid is None:
        message = "--undo needs the process whose setenv.sh is meant, or that file"
        raise UsageError(message, "name its PID, the setenv.sh, or the CATALINA_BASE")
    path = script_of(request).path
    with _Root(request) as root:
        done = undo(root.fd, path, dry_run=dry_run, within=homes(request))
    _tell_undone(done, path, tell, dry_run=dry_run)


def _script_named(targets: list[str]) -> Path | None:
    """The setenv.sh that is named itself or by its CATALINA_BASE: the process it was written for may have ended."""
    if len(targets) != 1 or targets[0].isdecimal():
        return None
    named = Path(targets[0]).absolute()
    if named.is_dir():
        return named / ("setenv.sh" if named.name == "bin" else "bin/setenv.sh")
    return named if named.name == "setenv.sh" else None


def _undo_file(script: Path, tell: _Teller, *, dry_run: bool) -> None:
    from seedstall.effect.undo import undo  # noqa: PLC0415

    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        done = undo(root, str(script), dry_run=dry_run, within=(str(script.parent.parent),))
    finally:
        os.close(root)
    _tell_undone(done, str(script), tell, dry_run=dry_run)


def _tell_undone(done: Undone, path: str, tell: _Teller, *, dry_run: bool) -> None:
    path = _real(path, done.path)
    would = "would have " if dry_run else ""
    if done.restored:
        tell.say(f"{would}put {path} back from {done.restored}")
    else:
        tell.say(f"{would}removed {path}, which --apply had made")
    tell.notes(done.notes)


def _real(path: str, real: str) -> str:
    """The file that is written, and the name it was reached by where a link led there."""
    return path if path == real else f"{real} (where {path} leads)"


class _Root:
    """The root directory of the very process that was looked at, for writing below it."""

    def __init__(self, request: Request) -> None:
        from seedstall.model.evidence import Got, Ref, Space  # noqa: PLC0415
        from seedstall.source.host import HostSource  # noqa: PLC0415

        self._source = HostSource(request.pid)
        stat = Ref(Space.PROCESS, "stat")
        now, then = self._source.read(stat), request.source.read(stat)
        if not (
            isinstance(now, Got)
            and isinstance(then, Got)
            and _start(now.value) == _start(then.value)
        ):
            raise SeedstallError(f"process {request.pid} has ended: nothing was written")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    @property
    def fd(self) -> int:
        try:
            return self._source.root_fd
        except OSError as error:
            message = f"the root of process {self._source.pid} cannot be entered: {error.strerror}"
            raise SeedstallError(message, "run as root or as its user") from error


def _start(stat: bytes) -> int:
    from seedstall.parse import procfs  # noqa: PLC0415

    return procfs.stat(stat).start_ticks
