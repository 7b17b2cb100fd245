"""Tomcat's own places: setenv.sh, and the files of the distributions' packages."""

from __future__ import annotations

from dataclasses import replace

from seedstall.engine.need import Need, egd_need
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Missing, Why
from seedstall.model.jvm import Launch, TomcatHome
from seedstall.model.surface import SetenvScript
from seedstall.parse import setenv
from seedstall.remedy import place, value
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

EGD = setenv.EGD
SETENV_PATCH = "setenv.patch"


def tomcat_setenv(request: Request) -> Answer:
    """A patch of the instance's bin/setenv.sh, and the same as a file to write."""
    if request.given is not None:
        script = SetenvScript(_base_of(request.given.path), request.given.content)
        return _setenv(request, script)
    reading = request.case.get(SetenvScript)
    if isinstance(reading, Missing):
        return _setenv_unseen(request, reading)
    return _setenv(request, reading.value)


def _base_of(path: str) -> str:
    """CATALINA_BASE of a setenv.sh that was named."""
    return path.rpartition("/")[0].rpartition("/")[0] or "/"


def setenv_place(request: Request) -> Place:
    """The instance's setenv.sh.

    Raises:
        UsageError: the target is no Tomcat.
        SeedstallError: it could not be looked at.
    """
    reading = request.case.get(SetenvScript)
    if isinstance(reading, Missing):
        raise _no_script(request, reading)
    return _place_of(request, reading.value)


def _place_of(request: Request, script: SetenvScript) -> Place:
    named = place.given(request)
    if named is not None:
        return replace(named, base=script.base, shown=script.base, within=(script.base,))
    return Place(
        script.path,
        script.content,
        script.path,
        script.base,
        homes(request),
        inside=request.pid is not None and not script.on_host,
    )


def homes(request: Request) -> tuple[str, ...]:
    """CATALINA_BASE and CATALINA_HOME, as the process sees them."""
    home = request.case.value(TomcatHome)
    return (home.base, home.home) if home is not None else ()


def _no_script(request: Request, missing: Missing) -> SeedstallError:
    if isinstance(request.case.get(TomcatHome), Missing):
        return UsageError(
            f"{request.target} is no Tomcat: {place.what(request)}",
            place.fitting(request, "tomcat-setenv"),
        )
    if missing.why is Why.DENIED:
        message = f"setenv.sh could not be read: {missing}"
        return SeedstallError(message, "run as root or as the user that runs Tomcat")
    return SeedstallError(f"setenv.sh could not be looked at: {missing}")


def _setenv_unseen(request: Request, missing: Missing) -> Answer:
    """Without an instance to look at: a patch that makes a new file."""
    if request.pid is not None:
        raise _no_script(request, missing)
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    content = _new_script(request, inherits=False)
    line = setenv.assignment(request.egd)
    notes = (
        (
            "the instance's own bin/setenv.sh was not seen: this makes a new file;"
            f" where there is one (in CATALINA_BASE or CATALINA_HOME), put this line at its end instead: {line}"
        ),
        *value.about(request),
        *value.told(judgement),
    )
    return _patched(request, None, content, None, notes)


def _setenv(request: Request, script: SetenvScript) -> Answer:
    wanted = request.egd
    if script.content is None:
        return _new_setenv(request, script)
    edit = _edited(script.content, request, script.path, bash=script.bash)
    if edit.content == script.content:
        return Answer(
            reason=f"{script.path} sets {wanted} already (line {edit.line}){_restart(request)}"
        )
    in_environment = b"_JAVA_OPTIONS" not in script.content
    judgement = egd_need(request.case, wanted, in_environment=in_environment)
    # A wrong setting in this very file is put right even where another place makes up for it now.
    if not edit.replaced or judgement.need is Need.USELESS:
        nothing = value.refused(request, judgement)
        if nothing is not None:
            return nothing
    replaced = tuple(f"line {number}: {option} goes" for number, option in edit.replaced)
    notes = (*replaced, *edit.notes, *value.about(request), *value.told(judgement))
    return _patched(request, script.content, edit.content, script, notes)


def _new_setenv(request: Request, script: SetenvScript) -> Answer:
    wanted, inherited = request.egd, script.inherited
    notes: tuple[str, ...] = ()
    if inherited is not None:
        edit = _edited(inherited, request, script.inherited_from, bash=script.bash)
        if edit.content == inherited:
            where = f"{script.inherited_from}, which this instance uses,"
            return Answer(
                reason=f"{where} sets {wanted} already (line {edit.line}){_restart(request)}"
            )
        notes += (
            (
                f"this instance has no setenv.sh and uses {script.inherited_from}:"
                " the new file sources that one first, since it would take its place"
            ),
            *(
                f"{script.inherited_from}:{n}: {o} stays, the new setting comes later and wins"
                for n, o in edit.replaced
            ),
        )
    judgement = egd_need(request.case, wanted)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    content = _new_script(request, inherits=inherited is not None)
    return _patched(
        request, None, content, script, (*notes, *value.about(request), *value.told(judgement))
    )


def _new_script(request: Request, *, inherits: bool) -> bytes:
    return templates.render(
        "fix/tomcat-setenv/setenv.sh.j2",
        egd=request.egd,
        inherits=inherits,
        comment=value.comment(request),
    ).encode()


def _edited(content: bytes, request: Request, path: str, *, bash: bool | None) -> setenv.ShellEdit:
    wanted = request.egd
    try:
        edit = setenv.set_egd(content, wanted, bash=bash)
        if edit.content == content:
            return edit
        # Also a comment of an earlier --apply, where the value below it is another now.
        true = edit.content.replace(setenv.COMMENT.encode(), value.comment(request).encode())
        return replace(edit, content=true)
    except ValueError as error:
        message = f"{path} cannot be edited safely: {error}"
        raise SeedstallError(message, f"by hand: {setenv.assignment(wanted)}") from error


def _restart(request: Request) -> str:
    """What to do where the file is right and the process is not."""
    launch = request.case.value(Launch)
    if launch is None or launch.property_value(EGD) == request.egd:
        return ""
    return ": it takes effect when this Tomcat is started again"


def _patched(
    request: Request,
    old: bytes | None,
    new: bytes,
    script: SetenvScript | None,
    notes: tuple[str, ...],
) -> Answer:
    if script is not None and script.launcher is False:
        notes += (
            (
                "neither catalina.sh nor daemon.sh stands in CATALINA_HOME: a Tomcat that a package starts in its"
                " own way may never read setenv.sh; look for tomcat.conf (--surface rhel-tomcat)"
            ),
        )
    if script is not None:
        where = replace(_place_of(request, script), content=old)
        return place.patched(request, where, new, notes, patch_file=SETENV_PATCH)
    unseen = Place("CATALINA_BASE/bin/setenv.sh", None, base="CATALINA_BASE")
    found = place.patched(request, unseen, new, notes, patch_file=SETENV_PATCH)
    return replace(found, write=None)


ANSWERS = {"tomcat-setenv": tomcat_setenv}
PLACES = {"tomcat-setenv": setenv_place}
