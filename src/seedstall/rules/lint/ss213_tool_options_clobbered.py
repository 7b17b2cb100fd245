"""SS213: JAVA_TOOL_OPTIONS that takes the place of another one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.model.finding import Confidence, Disposition, Evidence, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import ConfigFile, Scope, Setting, Settings, Variable
from seedstall.model.verdict import Cause
from seedstall.parse.configfile import change
from seedstall.rules.lint import line

NAMES = frozenset(("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"))
_PLAIN = re.compile(r"[A-Za-z0-9 /:.,=+@_-]+")
_MANIFEST = frozenset((Setting.KUBERNETES, Setting.COMPOSE))


@rule("SS213", "tool-options-clobbered")
def tool_options_clobbered(settings: Settings) -> Iterator[Finding]:
    """A manifest sets ``JAVA_TOOL_OPTIONS`` anew, and what was in it is lost.

    ## What it detects
    The variable set twice in one container; set in a manifest where a Dockerfile handed over with it sets it too; set
    beside ``envFrom`` that brings it; set in a pod for which an agent's annotation asks.

    ## Why it matters
    Environment variables are replaced, not joined. An agent, a heap size or the seed setting that the image had in
    ``JAVA_TOOL_OPTIONS`` is gone without a word. Of injectors OpenTelemetry's operator appends to a plain value and
    gives up before a ``valueFrom``; others overwrite it.

    ## Fix
    ``$(JAVA_TOOL_OPTIONS) -D...`` adds to what earlier entries and ``envFrom`` set. Where neither sets the name, it
    stays as it stands, and the JVM does not start (``Unrecognized option: $(JAVA_TOOL_OPTIONS)``): what the image sets
    is repeated, and what an injector sets is left to the injector.
    """
    images = [(f, v) for f in settings.files for v in f.variables if _from_image(v)]
    for file in settings.files:
        earlier: dict[tuple[int, str], Variable] = {}
        adding = {(v.scope, v.name) for v in file.variables if _adds(v)}
        for variable in file.variables:
            if variable.name not in NAMES or variable.how not in _MANIFEST:
                continue
            scope = file.scopes[variable.scope]
            before = earlier.get((variable.scope, variable.name))
            earlier[variable.scope, variable.name] = variable
            if _adds(variable):
                continue
            if (variable.scope, variable.name) in adding:
                continue
            lost = _lost(settings, file, variable, scope, before, images)
            if lost is not None:
                yield lost


def _from_image(variable: Variable) -> bool:
    return variable.how is Setting.DOCKER and variable.name in NAMES and variable.exported


def _adds(variable: Variable) -> bool:
    return f"$({variable.name})" in variable.value.text or variable.name in variable.refs


def _lost(
    settings: Settings,
    file: ConfigFile,
    variable: Variable,
    scope: Scope,
    before: Variable | None,
    images: list[tuple[ConfigFile, Variable]],
) -> Finding | None:
    if before is not None:
        place = line.evidence(file, before.value.place()[0])
        what = f"the one at {place.origin}"
        return _found(file, variable, what, (place,), sure=True, named=True)
    brought = _brought(settings, variable, scope)
    if brought is not None:
        return _found(
            file,
            variable,
            f"the one of {scope.sources[0]} at {brought.origin}",
            (brought,),
            sure=True,
            named="envFrom" in scope.sources,
        )
    image = next(((f, v) for f, v in images if v.name == variable.name), None)
    if image is not None and image[1].value.text.strip() not in variable.value.text:
        place = line.evidence(image[0], image[1].value.place()[0])
        what = f"the image's at {place.origin}"
        return _found(file, variable, what, (place,), sure=True, repeat=image[1].value.text)
    if scope.injected and variable.how is Setting.KUBERNETES:
        what = f"one that an injector adds ({scope.injected})"
        return _found(file, variable, what, (), sure=False)
    return None


def _brought(settings: Settings, variable: Variable, scope: Scope) -> Evidence | None:
    """The same variable in a ConfigMap or environment file handed over, where the container takes such in."""
    if not scope.sources:
        return None
    for other in settings.files:
        for found in other.variables:
            inside = found.how is Setting.ENVIRONMENT_FILE or (
                found.how is Setting.KUBERNETES and not other.scopes[found.scope].container
            )
            where = (
                other.name
                if found.how is Setting.ENVIRONMENT_FILE
                else other.scopes[found.scope].name
            )
            if not any(_same(where, name) for name in scope.taken):
                continue
            if found.name == variable.name and inside and found is not variable:
                return line.evidence(other, found.value.place()[0])
    return None


def _same(held: str, taken: str) -> bool:
    """Whether a file or an object is the one that is taken in: of paths the last part tells."""
    return held.rpartition("/")[2] == taken.rpartition("/")[2]


def _found(
    file: ConfigFile,
    variable: Variable,
    what: str,
    also: tuple[Evidence, ...],
    *,
    sure: bool,
    repeat: str = "",
    named: bool = False,
) -> Finding:
    """*repeat* is what an image sets: nothing in a manifest can refer to it. *named* is whether ``$(NAME)`` can."""
    name = variable.name
    start = variable.value.place()[0]
    edits: list[change.Splice] = []
    if _PLAIN.fullmatch(repeat):
        edits = [(start, start, f"{repeat} ")]
    elif named and variable.how is Setting.KUBERNETES:
        edits = [(start, start, f"$({name}) ")]
    doubt = "" if sure else ", unless the injector appends to it"
    return line.made(
        file,
        start,
        message=f"{name} that replaces {what}",
        does=f"{name} is set anew and replaces {what}: what that held is lost{doubt}",
        cause=Cause.HARMFUL_FIX,
        severity=Severity.WARNING if sure else Severity.NOTE,
        confidence=Confidence.CONFIRMED if sure else Confidence.POSSIBLE,
        fixes=line.corrected(file, edits, f"{name} with both", Disposition.REVIEW),
        notes=_notes(name, sure=sure, repeat=repeat),
        also=also,
    )


def _notes(name: str, *, sure: bool, repeat: str) -> tuple[str, ...]:
    if repeat:
        return ("$(NAME) does not reach the image's variables: repeat what it sets",)
    if sure:
        return ()
    note = (
        f"see what {name} of a pod that runs holds; $({name}) does not reach what is injected: it stays as it stands,"
        " and the JVM does not start"
    )
    return (note,)
