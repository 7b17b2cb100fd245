"""``seedstall lint``: settings that do not do what they look like, in files."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seedstall.cli import options
from seedstall.cli.console import exit_code, put, refuse_overwriting, say, tell
from seedstall.model.errors import NoSuchTargetError, UsageError

if TYPE_CHECKING:
    from seedstall.model.report import Report
    from seedstall.source.base import Source
    from seedstall.source.detect import Target

STDIN = "-"
COMMAND = "command line"
LIMIT = 4 << 20


class Format(StrEnum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    MARKDOWN = "markdown"


def lint(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Dockerfile, Compose or Kubernetes YAML, systemd unit, setenv.sh, jvm.options, java.security, "
            "Maven or Gradle file; a folder of such; - for standard input; or a command line in quotes.",
        ),
    ],
    *,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    output: options.Output = None,
    jdk: Annotated[
        str, typer.Option(metavar="VERSION", help="The JDK that reads them, where they do not say.")
    ] = "",
    kernel: Annotated[
        str, typer.Option(metavar="RELEASE", help="The kernel they will run on (uname -r).")
    ] = "",
    exit_zero: options.ExitZero = False,
    fail_on: options.FailFrom = options.FailOn.WARNING,
    no_redact: options.NoRedact = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Find settings that do not do what they look like, with the corrected line of each."""
    from seedstall.engine.lint import lint_case  # noqa: PLC0415 - imported when the command runs

    refuse_overwriting(output, files)
    _check_jdk(jdk)
    report = lint_case(_source(files, jdk=jdk, kernel=kernel), " ".join(files))
    redacted = not no_redact
    text = _rendered(report, form, redacted=redacted, quiet=quiet, verbose=verbose)
    (tell if form is Format.TEXT else put)(text, output)
    if not exit_zero:
        raise typer.Exit(exit_code([report], fail_on))


def _check_jdk(jdk: str) -> None:
    from seedstall.parse.jdkversion import jdk_version  # noqa: PLC0415

    try:
        _ = jdk_version(jdk) if jdk else None
    except ValueError as error:
        raise UsageError(str(error), "say it as in 8u151, 11.0.7 or 17") from error


def _source(files: list[str], *, jdk: str, kernel: str) -> Source:
    """What was named: files, folders, standard input, or a command line itself."""
    from seedstall.model.evidence import Ask, Ref, Space  # noqa: PLC0415
    from seedstall.source.base import Combined, Held  # noqa: PLC0415
    from seedstall.source.inputs import InputSource, given  # noqa: PLC0415

    said = given(jdk=jdk, kernel=kernel)
    if len(files) == 1 and _is_command(files[0]):
        text = files[0].encode("utf-8", "surrogateescape")
        listing = Ref(Space.INPUT, "", Ask.LIST)
        held = Held({listing: COMMAND.encode() + b"\0", Ref(Space.INPUT, COMMAND): text})
        return Combined(held, said)
    targets = [target for name in files for target in _targets(name)]
    return Combined(InputSource(targets, LIMIT), said)


def _is_command(text: str) -> bool:
    """Whether an argument is no file and reads like a command line."""
    return " " in text and " -" in text and not Path(text[:255]).exists()


def _targets(name: str) -> list[Target]:
    from seedstall.source.detect import Kind, Target, files_below  # noqa: PLC0415

    if name == STDIN:
        return [Target(STDIN, Kind.STDIN)]
    path = Path(name)
    try:
        if path.is_dir():
            below = files_below(Target(name, Kind.DIRECTORY, path=name))
            known = [target for target in below if _is_settings(target)]
            _tell_unread(name, len(below) - len(known))
            return [target for target in known if _mentions(target)]
        if not path.exists():
            message = f"there is no file {name}"
            raise NoSuchTargetError(message, "name settings files, a folder, or - for stdin")
    except (OSError, ValueError) as error:
        raise NoSuchTargetError(f"{name[:200]}: {error}") from error
    return [Target(name, Kind.FILE, path=name)]


def _tell_unread(folder: str, count: int) -> None:
    if count:
        files = "1 file is" if count == 1 else f"{count} files are"
        say(f"note: {folder}: {files} no settings by name and not read; a file named itself is")


def _is_settings(target: Target) -> bool:
    """Whether a folder's file is settings by its name."""
    from seedstall.model.settings import Format as Kind  # noqa: PLC0415
    from seedstall.parse.configfile.recognise import recognise  # noqa: PLC0415

    return recognise(target.path, "") is not Kind.UNRECOGNISED


def _mentions(target: Target) -> bool:
    """Whether a settings file of a folder mentions anything of ours."""
    from seedstall.parse.configfile import mentions  # noqa: PLC0415

    try:
        with Path(target.path).open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError:
        return True  # reading it again says why it cannot be read
    return mentions(data)


def _rendered(report: Report, form: Format, *, redacted: bool, quiet: bool, verbose: int) -> str:
    match form:
        case Format.TEXT:
            from seedstall.render import lint as page  # noqa: PLC0415

            return page.render(report, verbose=verbose, quiet=quiet, redacted=redacted)
        case Format.SARIF:
            from seedstall.render import sarif  # noqa: PLC0415
            from seedstall.rules.lint import ALL  # noqa: PLC0415

            return sarif.render(report, ALL, redacted=redacted)
        case Format.JSON:
            from seedstall.render import jsontext  # noqa: PLC0415

            return jsontext.render([_masked(report) if redacted else report], redacted=redacted)
        case Format.MARKDOWN:
            from seedstall.render import page as markdown  # noqa: PLC0415

            shown = _masked(report) if redacted else report
            return markdown.render([shown], "markdown", redacted=redacted)


def _masked(report: Report) -> Report:
    """The report with the secrets out of its corrected lines."""
    from seedstall.model.finding import Finding, Fired, Fix  # noqa: PLC0415
    from seedstall.model.redact import redact  # noqa: PLC0415

    def fix(made: Fix) -> Fix:
        params = {key: redact(value) for key, value in made.params.items()}
        return replace(made, title=redact(made.title), params=params)

    def finding(made: Finding) -> Finding:
        return replace(made, fixes=tuple(map(fix, made.fixes)))

    outcomes = tuple(
        replace(o, findings=tuple(map(finding, o.findings))) if isinstance(o, Fired) else o
        for o in report.outcomes
    )
    return replace(report, outcomes=outcomes)
