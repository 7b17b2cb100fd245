"""Which surface is meant: by the file that was named, or by what the target is and waits for."""

from __future__ import annotations

from fnmatch import fnmatchcase

from seedstall.engine.need import strong_only
from seedstall.knowledge.surfaces import BY_NAME, SURFACES, Surface
from seedstall.model.errors import UsageError
from seedstall.model.finding import When
from seedstall.model.jvm import Product
from seedstall.model.settings import Format
from seedstall.model.surface import SetenvScript
from seedstall.model.waits import SeedEvidence
from seedstall.remedy.place import is_there
from seedstall.remedy.request import GivenFile, Request
from seedstall.rules.seed_remedies import surfaces

TELLING = (Format.DOCKERFILE, Format.UNIT, Format.SECURITY)
"""What a content alone tells where no surface is named; much else (a log, a description) looks like YAML or shell."""


def edits(surface: Surface, file: GivenFile) -> bool:
    """Whether *file* is one that *surface* edits: by its name, else by what stands in it."""
    if named(file.path, surface.name):
        return True
    return bool(surface.formats) and _form(file) in surface.formats


def named(path: str, surface: str = "") -> bool:
    """Whether *path* has the name of a file that *surface* edits; without it, that any surface does."""
    rows = (BY_NAME[surface],) if surface else SURFACES
    return any(fnmatchcase(path, pattern) for row in rows for pattern in row.names)


def _form(file: GivenFile) -> object:
    from seedstall.parse.configfile import decode  # noqa: PLC0415 - the formats, where a name does not tell
    from seedstall.parse.configfile.recognise import recognise  # noqa: PLC0415

    return recognise(file.path, decode(file.content))


def of_file(file: GivenFile) -> tuple[str, ...]:
    """The surfaces that edit such a file: those that its name tells, else those that its content does."""
    by_name = [s.name for s in SURFACES if any(fnmatchcase(file.path, p) for p in s.names)]
    if by_name:
        return tuple(by_name)
    form = _form(file)
    return tuple(s.name for s in SURFACES if form in s.formats) if form in TELLING else ()


def _of_verdict(request: Request) -> str | None:
    from seedstall import rules  # noqa: PLC0415 - the rules, where nobody named a surface
    from seedstall.engine.conclude import conclude  # noqa: PLC0415
    from seedstall.engine.run import run  # noqa: PLC0415

    outcomes = tuple(run(rules.ALL, request.case))
    finding = conclude(outcomes, request.case.value(SeedEvidence)).finding
    fixes = finding.fixes if finding is not None else ()
    later = [fix for fix in fixes if fix.when is When.NEXT_START]
    return next((fix.surface for fix in (*later, *fixes) if fix.surface in BY_NAME), None)


def of_case(request: Request) -> str:
    """The surface that is the first answer for this target: what the diagnosis would have the next start do.

    Where it is no setting that helps (a flag to be taken out, the device node, a stopped process), it is that.

    Raises:
        UsageError: the target tells none.
    """
    if (told := _of_verdict(request)) is not None:
        return _as_packaged(request, told)
    if strong_only(request.case):
        return "strong-algorithms"
    product = request.case.value(Product)
    seeds = request.case.value(SeedEvidence)
    stacks = [w.stack for w in seeds.waits if w.stack is not None] if seeds is not None else []
    if product is None and not stacks and request.pid is None:
        raise UsageError("no --surface", f"one of: {', '.join(BY_NAME)}")
    return _as_packaged(request, surfaces(stacks[0] if stacks else None, product)[0])


def _as_packaged(request: Request, surface: str) -> str:
    """Red Hat's package starts Tomcat without the script that would source setenv.sh."""
    script = request.case.value(SetenvScript) if surface == "tomcat-setenv" else None
    if script is None or script.launcher is not False:
        return surface
    return "rhel-tomcat" if is_there(request, "/etc/tomcat/tomcat.conf") else surface
