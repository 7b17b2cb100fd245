"""``seedstall fix``: the remedy for one place, printed; written only when asked to."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seedstall.cli import completion, options
from seedstall.cli.console import put
from seedstall.cli.fixwriting import Teller, file_named, file_taken_back, taken_back, written
from seedstall.model.errors import SeedstallError, UsageError

if TYPE_CHECKING:
    from seedstall.cli.cases import Planned, Said, Touch
    from seedstall.remedy.request import GivenFile, Request, Write


def fix(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help="A PID, and files that belong to it; or files alone; with --jdk none is needed. "
            "A file that the surface edits (setenv.sh, a Dockerfile, a unit) is edited; for --undo it may be"
            " named alone.",
        ),
    ] = None,
    *,
    surface: Annotated[
        str,
        typer.Option(
            "--surface",
            metavar="NAME",
            help="The place: --list names them.",
            autocompletion=completion.surfaces,
        ),
    ] = "",
    set_egd: Annotated[
        str | None,
        typer.Option(
            "--set-egd", metavar="VALUE", help="This java.security.egd, not the recommended one."
        ),
    ] = None,
    container: Annotated[
        str,
        typer.Option(
            "--container",
            metavar="NAME",
            help="The service or container of a manifest that is meant.",
        ),
    ] = "",
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
    named = targets or []
    _check(named or [jdk] * bool(jdk), surface, apply=apply, undo=undo)
    _check_output(output, named)
    _check_touch(attach=attach, never=passive or no_attach)
    tell = Teller(quiet=quiet)
    if undo and (file := file_named(named)) is not None:
        file_taken_back(file, tell, dry_run=dry_run)
        return
    from seedstall.cli import cases  # noqa: PLC0415 - sources are imported when a command runs
    from seedstall.knowledge.surfaces import ADVICE  # noqa: PLC0415
    from seedstall.remedy import registry  # noqa: PLC0415

    given, named = _given(named, surface)
    said = cases.Said(kernel=kernel, jdk=jdk, egd=egd, sysroot=sysroot)
    # What only a diagnosis asks for is looked for as a diagnosis does: in the JVM's memory, without stopping it.
    told = surface in ADVICE and not passive
    touch = cases.Touch(attach=attach, memory=attach or told)
    case = _case(named, said, touch, tell)
    request = _request(case, set_egd, force=force or not named, given=given, container=container)
    if undo:
        taken_back(request, surface, tell, dry_run=dry_run)
        return
    surface = surface or _chosen(request, tell)
    answer = registry.answer(surface, request)
    if not answer.output:
        tell.say(f"nothing printed: {answer.reason}")
    tell.notes(answer.notes)
    if not answer.output:
        return
    if answer.write is not None and output is not None:
        _refuse_same(output, request, answer.write)
    if not (apply or dry_run):
        _print(answer.output, output)
    elif answer.write is None:
        raise _not_written(surface, request)
    else:
        if dry_run or output is not None:
            _print(answer.output, output)
        written(request, surface, answer.write, tell, dry_run=dry_run)


def _case(targets: list[str], said: Said, touch: Touch, tell: Teller) -> Planned:
    """The one that is meant. Of a JVM that has ended nothing is left to look at: its user knows that it waited."""
    from seedstall.cli import cases  # noqa: PLC0415
    from seedstall.remedy.registry import NOTHING_READ  # noqa: PLC0415

    if not targets:
        return cases.Planned(NOTHING_READ, said.source())
    plan = cases.plan(targets, said, touch, one_case=True, scripts_too=False)
    tell.notes(plan.notices)
    return _only(plan.cases)


def _listing() -> str:
    from seedstall.knowledge.surfaces import SURFACES, Group  # noqa: PLC0415

    lines: list[str] = []
    for group in Group:
        rows = [s for s in SURFACES if s.group is group]
        if rows:
            lines.append(f"{group}:")
            lines += [f"  {s.name:<20} {s.title}{' [--apply]' if s.writes else ''}" for s in rows]
    return "\n".join((*lines, ""))


def _check(targets: list[str], surface: str, *, apply: bool, undo: bool) -> None:
    from seedstall.knowledge.surfaces import BY_NAME  # noqa: PLC0415

    if surface and surface not in BY_NAME:
        raise UsageError(f"no surface is called {surface}", f"one of: {', '.join(BY_NAME)}")
    if apply and undo:
        raise UsageError("--apply contradicts --undo")
    if undo and surface and not BY_NAME[surface].writes:
        raise UsageError(
            f"--surface {surface} is printed, never written: there is nothing to take back"
        )
    if not targets:
        raise UsageError("no target", "name a PID, a thread dump or a log, or say --jdk VERSION")


def _given(named: list[str], surface: str) -> tuple[GivenFile | None, list[str]]:
    """The file among the targets that is to be edited, and the other targets.

    Raises:
        UsageError: there are several.
    """
    from seedstall.knowledge.surfaces import BY_NAME  # noqa: PLC0415
    from seedstall.remedy import choice  # noqa: PLC0415

    files = {name: file for name in named if (file := _read(name, surface)) is not None}
    if surface:
        chosen = [n for n, file in files.items() if choice.edits(BY_NAME[surface], file)]
    else:
        chosen = [n for n, file in files.items() if choice.of_file(file)]
    if len(chosen) > 1:
        raise UsageError(f"several files to edit: {', '.join(chosen)}", "name one")
    for one in chosen:
        _check_here(one, files[one])
        return files[one], [name for name in named if name != one]
    return None, named


def _check_here(name: str, file: GivenFile) -> None:
    """Refuse a file that this host has under no path: ``/proc/PID/root`` leads into the root of a container.

    Raises:
        UsageError: it is such a file.
    """
    if not _same_file(Path(name), Path(file.path)):
        message = f"{name} leads into another process's root: it is not {file.path} of this host"
        raise UsageError(message, "name that process's PID, with --surface where several fit")


def _read(name: str, surface: str) -> GivenFile | None:
    """A file that may be edited; ``None`` where it is none, or one that only the other kinds of target fit.

    Raises:
        SeedstallError: its name is that of a file to edit, and it is larger than any.
    """
    from seedstall.effect.folder import LIMIT  # noqa: PLC0415
    from seedstall.remedy import choice  # noqa: PLC0415
    from seedstall.remedy.request import GivenFile  # noqa: PLC0415
    from seedstall.source import rooted  # noqa: PLC0415

    if name.isdecimal() or name == "-":
        return None
    try:
        if not Path(name).is_file():
            return None
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = rooted.read_all(fd, LIMIT)
        finally:
            os.close(fd)
    except rooted.TooLargeError as error:
        if choice.named(str(_absolute(name)), surface):
            message = f"{name} is {error.strerror}, and no settings file is"
            raise SeedstallError(message, "name the file to edit itself") from error
        return None
    except (OSError, ValueError):  # not to be read: a target says so itself
        return None
    real = _absolute(name)
    direct = Path(name).name == real.name and _same_file(Path(name).parent, real.parent)
    return GivenFile(str(real), data, name if direct else "", str(Path(name).absolute()))


def _absolute(name: str) -> Path:
    """The file itself: ``patch`` writes through no link. A link's own name is resolved by who writes."""
    path = Path(name)
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def _chosen(request: Request, tell: Teller) -> str:
    """The surface, where none was said: the file's, else the first answer for the target."""
    from seedstall.remedy import choice  # noqa: PLC0415

    if request.given is None:
        found = choice.of_case(request)
        tell.notes(
            (f"--surface {found}, by what the target is; seedstall fix --list has the others",)
        )
        return found
    fitting = list(choice.of_file(request.given))
    if len(fitting) > 1:
        raise UsageError(
            f"no --surface, and several edit {request.given.path}", f"one of: {', '.join(fitting)}"
        )
    return fitting[0]


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
    inside = Path(write.path if write.host else f"/proc/{request.pid}/root{write.path}")
    if _same_file(output, inside):
        raise UsageError(
            f"-o {output}: that is {write.path} itself, which the patch is for",
            "name a file for the patch (-o fix.patch); --apply writes the file itself",
        )


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _real_name(path: Path) -> str:
    try:
        return path.resolve().name
    except (OSError, RuntimeError):  # links in a circle (RuntimeError up to Python 3.12)
        return path.name


def _only(found: tuple[Planned, ...]) -> Planned:
    if len(found) != 1:
        names = ", ".join(case.target for case in found)
        raise UsageError(f"several cases: {names}", "a fix is for one of them: name it alone")
    (case,) = found
    return case


def _request(
    case: Planned,
    value: str | None,
    *,
    force: bool,
    given: GivenFile | None = None,
    container: str = "",
) -> Request:
    from seedstall.engine.case import Case  # noqa: PLC0415
    from seedstall.facts import providers, service, surfaces  # noqa: PLC0415
    from seedstall.remedy.request import Request  # noqa: PLC0415
    from seedstall.remedy.value import check_value  # noqa: PLC0415
    from seedstall.source.host import HostSource  # noqa: PLC0415

    facts = Case(
        case.source, dict.fromkeys((*providers(), *surfaces.PROVIDERS, *service.PROVIDERS))
    )
    pid = int(case.target) if case.target.isdecimal() else None
    host = HostSource() if given is not None else None
    request = Request(
        facts,
        case.source,
        case.target,
        pid,
        value or "",
        force=force,
        given=given,
        host=host,
        container=container,
    )
    if value is not None:
        check_value(value, request.jdk)
    return request


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


def _not_written(surface: str, request: Request) -> UsageError:
    from seedstall.knowledge.surfaces import BY_NAME  # noqa: PLC0415

    if BY_NAME[surface].writes and request.pid is None:
        return UsageError(
            "--apply needs the process whose file is meant, or that file",
            "name its PID, or the file to edit",
        )
    if BY_NAME[surface].writes:
        return UsageError(f"--surface {surface} has nothing to write here", "leave --apply out")
    return UsageError(f"--surface {surface} is printed, never written", "leave --apply out")
